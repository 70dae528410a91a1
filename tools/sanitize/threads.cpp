// Runs every threaded kernel with four threads, for ThreadSanitizer, and compares the results with those of one thread.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "assembly.hpp"
#include "descent.hpp"
#include "elimination.hpp"
#include "kernels.hpp"
#include "layout.hpp"

using namespace isotherm;

namespace {

constexpr int64_t kRows = 330'000, kReach = 4;  // a ring on which each node has eight neighbours
constexpr int W = 16, kThreads = 4;
using Values = std::vector<float>;

struct Ring {
  std::vector<int32_t> rows, columns, indices;
  std::vector<int64_t> indptr;
  Values weights, sorted;

  explicit Ring(int threads) : indptr(kRows + 1) {
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t step = -kReach; step <= kReach; ++step) {
        if (step == 0) continue;
        rows.push_back(static_cast<int32_t>(i));
        columns.push_back(static_cast<int32_t>((i + step + kRows) % kRows));
        weights.push_back(static_cast<float>(1 + step * step));
      }
    indices.resize(rows.size());
    sorted.resize(rows.size());
    assemble<float>({rows.data(), columns.data(), weights.data(), static_cast<int64_t>(rows.size())},
                    {indptr.data(), indices.data(), sorted.data(), kRows}, threads);
  }
  Csr<float> csr() const { return {indptr.data(), indices.data(), sorted.data(), kRows}; }
};

Values waves() {
  Values values(kRows * W);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
  return values;
}

template <class Report>
void append(Values& all, const Report& report) {
  const auto* numbers = reinterpret_cast<const double*>(&report);
  for (size_t i = 0; i < sizeof report / sizeof *numbers; ++i) all.push_back(static_cast<float>(numbers[i]));
}

// All that the kernels on blocks leave behind.
Values blocks(const Csr<float>& graph, int threads) {
  const Values scale(kRows, 1.0f / 16), diagonal(kRows, 80), closing(W, 1), step(W, 0.25f);
  Values x = waves(), out(kRows * W), r = waves(), p = waves(), reports;
  append(reports, sweep<float, W, true, true>(graph, scale.data(), closing.data(), x.data(), out.data(), threads));
  average<float, W, true, true>(graph, scale.data(), x.data(), out.data(), threads);
  append(reports, laplacian<float, W, true, true>(graph, diagonal.data(), p.data(), out.data(), threads));
  append(reports, cg_step<float, W>(kRows, scale.data(), closing.data(), step.data(), p.data(), out.data(), x.data(),
                                    r.data(), threads));
  append(reports, moments<float, W>(kRows, closing.data(), x.data(), threads));
  append(reports, cg_turn<float, W>(kRows, scale.data(), scale.data(), step.data(), r.data(), p.data(), threads));
  cool<float, W>(kRows, scale.data(), step.data(), p.data(), threads);
  for (const Values* each : {&x, &out, &r, &p}) reports.insert(reports.end(), each->begin(), each->end());
  return reports;
}

// The approximate factor, and an iteration of cg with it.
Values factored(const Csr<float>& graph, int threads) {
  std::vector<uint8_t> interior(kRows, 1);
  for (int64_t i = 0; i < kRows; i += 1000) interior[i] = 0;
  const Factor factor = eliminate<float>(graph, interior.data(), 1, 4096, threads);
  const Values pivots(factor.pivots.begin(), factor.pivots.end()), closing(W, 0);
  const auto nodes = static_cast<int64_t>(factor.order.size());
  const FactorView<float> view{{factor.indptr.data(), factor.targets.data(), factor.shares.data(), nodes},
                               pivots.data(),
                               factor.domains.data(),
                               static_cast<int64_t>(factor.domains.size()) - 1,
                               {factor.back_indptr.data(), factor.back_sources.data(), factor.back_shares.data(),
                                static_cast<int64_t>(factor.back_indptr.size()) - 1}};
  const Values waving = waves(), ones(W, 1), half(W, 0.5f);
  const std::vector<double> q(waving.begin(), waving.end()), scale(kRows, 1);
  std::vector<int64_t> indptr;
  std::vector<int32_t> indices;
  Values weights, y(kRows * W), g = waves(), p = waves(), x(kRows * W);
  renumber<float>(graph, factor.order.data(), nodes, indptr, indices, weights);
  const Values degree(nodes, 80);
  const Path<float> path{{indptr.data(), indices.data(), weights.data(), nodes}, degree.data(), closing.data(),
                         half.data(), ones.data(), half.data(), y.data(), g.data(), p.data(), x.data()};
  Values reports;
  append(reports, forward<float, W>(view, scale.data(), q.data(), y.data(), threads));
  append(reports, descend<float, W, true>(view, path, threads));
  for (const Values* each : {&y, &g, &p, &x}) reports.insert(reports.end(), each->begin(), each->end());
  return reports;
}

Values doubled(const Csr<float>& graph, int threads) {
  const int64_t entries = graph.indptr[kRows];
  std::vector<int64_t> indptr(2 * kRows + 1);
  std::vector<int32_t> indices(2 * entries);
  Values weights(2 * entries);
  bipartite<float>(graph, {indptr.data(), indices.data(), weights.data(), 2 * kRows}, threads);
  return weights;
}

// Five steps of the map: where nodes go, how fast, and what acts on them.
Values placed(const Csr<float>& graph, int threads) {
  constexpr int64_t kSide = 64;
  const Lattice grid{kSide, -1, -1, kSide / 4.0f};
  const Values mass(kRows, 1), field(kSide * kSide * 2, 0.01f);
  Values positions = waves(), velocity(2 * kRows), gain(2 * kRows, 1), forces(2 * kRows);
  positions.resize(2 * kRows);
  for (int step = 0; step < 5; ++step) {
    pull_and_push(graph, positions.data(), mass.data(), 1, grid, field.data(), forces.data(), threads);
    advance(forces.data(), kRows, 0.01f, 0.5f, 0.05f, velocity.data(), gain.data(), positions.data(), threads);
  }
  for (const Values* each : {&velocity, &forces}) positions.insert(positions.end(), each->begin(), each->end());
  return positions;
}

Values everything(int threads) {
  const Ring ring(threads);
  const Csr<float> graph = ring.csr();
  Values all = blocks(graph, threads);
  for (const Values& more : {factored(graph, threads), doubled(graph, threads), placed(graph, threads)})
    all.insert(all.end(), more.begin(), more.end());
  const Scan found = scan<float>(graph, threads);
  all.push_back(found.ordered);
  all.push_back(found.symmetric);
  return all;
}

}  // namespace

int main() {
  if (everything(1) != everything(kThreads)) {
    std::puts("several threads give another result than one");
    return EXIT_FAILURE;
  }
  std::printf("every threaded kernel gives the same bits with 1 and %d threads\n", kThreads);
  return EXIT_SUCCESS;
}
