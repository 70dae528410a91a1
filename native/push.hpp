// Residual heat that is moved on only where there is much of it.
#pragma once
#include <vector>

#include "kernels.hpp"

namespace isotherm {

// Each pass lowers the residual that is still worth moving by this factor. Large residuals are moved first, so that a
// node is visited a few times only.
constexpr double kLower = 4;

// One column of a block whose rows are `stride` apart.
template <class T>
struct Column {
  T* first;
  int64_t stride;
  T& operator[](int64_t i) const { return first[i * stride]; }
};

// Moves residual heat on until |r| <= least * degree everywhere, or until `most` entries were read. To move the residual
// of a node means to warm the node, x += r / degree, which passes the heat on to its neighbours. All the while
// (D - A) x + r stays the same in the interior, where degree > 0. Returns the largest residual that is left, relative to
// the degree.
template <class T>
double push(const Csr<T>& graph, const T* degree, double least, int64_t most, Column<T> x, Column<T> r) {
  constexpr uint8_t kListed = 1, kWaiting = 2;
  std::vector<uint8_t> state(graph.rows);
  std::vector<int32_t> listed, waiting;
  double level = least;
  const auto above = [&](int64_t i, double limit) { return std::abs(r[i]) > limit * degree[i]; };
  for (int64_t i = 0; i < graph.rows; ++i)
    if (degree[i] > 0 && above(i, least)) {
      state[i] = kListed;
      listed.push_back(static_cast<int32_t>(i));
      level = std::max(level, std::abs(r[i]) / degree[i] / kLower);
    }
  for (bool last = false; !last; level = std::max(level / kLower, least)) {
    last = level <= least;
    waiting.clear();
    for (const int32_t i : listed)
      if (above(i, level)) {
        waiting.push_back(i);
        state[i] |= kWaiting;
      }
    for (size_t next = 0; next < waiting.size(); ++next) {
      const int32_t i = waiting[next];
      const T warmth = r[i] / degree[i];
      most -= graph.indptr[i + 1] - graph.indptr[i];
      if (most < 0) {
        last = true;
        break;
      }
      state[i] &= ~kWaiting;
      x[i] += warmth;
      r[i] = 0;
      for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
        const int32_t j = graph.indices[e];
        if (degree[j] <= 0) continue;
        r[j] += graph.weights ? graph.weights[e] * warmth : warmth;
        if (!(state[j] & kListed) && above(j, least)) {
          listed.push_back(j);
          state[j] |= kListed;
        }
        if (!(state[j] & kWaiting) && above(j, level)) {
          state[j] |= kWaiting;
          waiting.push_back(j);
        }
      }
    }
  }
  double left = 0;
  for (int64_t i = 0; i < graph.rows; ++i)
    if (degree[i] > 0) left = std::max<double>(left, std::abs(r[i]) / degree[i]);
  return left;
}

// The same for the first columns of a block, each with limits of its own.
template <class T>
std::vector<double> push_columns(const Csr<T>& graph, const T* degree, const std::vector<double>& least, int64_t most,
                                 int64_t width, T* x, T* r, int threads) {
  const auto columns = static_cast<int64_t>(least.size());
  std::vector<double> left(columns);
  std::atomic<int64_t> next{0};
  on_threads(std::min<int64_t>(threads, columns) - 1, [&] {
    for (int64_t c; (c = next.fetch_add(1)) < columns;)
      left[c] = push<T>(graph, degree, least[c], most, {x + c, width}, {r + c, width});
  });
  return left;
}

}  // namespace isotherm
