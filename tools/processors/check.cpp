// Compares the kernels on blocks with plain loops, for every width, precision and instruction set of this processor.
// `make arm` compiles it for ARM and runs it in an emulator.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels.hpp"

using namespace isotherm;

namespace {

constexpr int64_t kRows = 500, kEntries = 7;

template <class T>
struct Case {
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> indices;
  std::vector<T> weights, scale;

  Case() {
    std::mt19937 random(1);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t e = 0; e < i % kEntries; ++e) {
        indices.push_back(static_cast<int32_t>(random() % kRows));
        weights.push_back(static_cast<T>(1 + random() % 9));
      }
      indptr.push_back(static_cast<int64_t>(indices.size()));
      scale.push_back(static_cast<T>(i % 3));
    }
  }
  Csr<T> csr() const { return {indptr.data(), indices.data(), weights.data(), kRows}; }
};

double worst = 0;

void compare(double found, double expected) {
  worst = std::max(worst, std::abs(found - expected) / (1 + std::abs(expected)));
}

// q = (D - A) p with its dot product, and a step of cg with its largest step and its sums.
template <class T, int W>
void check() {
  const Case<T> data;
  std::mt19937 random(2);
  std::vector<T> p(kRows * W), q(kRows * W), x(kRows * W, 1), r(kRows * W, 2), half(W, T(0.5)), closing(W, 1);
  for (T& value : p) value = static_cast<T>(random() % 1000) / 1000;
  const Report<W> product = laplacian<T, W, true, true>(data.csr(), data.scale.data(), p.data(), q.data(), 1);
  const Report<W> step = cg_step<T, W>(kRows, data.scale.data(), closing.data(), half.data(), p.data(), q.data(),
                                       x.data(), r.data(), 1);
  for (int c = 0; c < W; ++c) {
    double dot = 0, sum = 0, largest = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      double expected = data.scale[i] * p[i * W + c];
      for (int64_t e = data.indptr[i]; e < data.indptr[i + 1]; ++e)
        expected -= static_cast<double>(data.weights[e]) * p[data.indices[e] * W + c];
      if (data.scale[i] == 0) expected = 0;
      compare(q[i * W + c], expected);
      compare(x[i * W + c], 1 + 0.5 * p[i * W + c]);
      compare(r[i * W + c], 2 - 0.5 * expected);
      dot += expected * p[i * W + c];
      sum += 1 + 0.5 * p[i * W + c];
      largest = std::max(largest, 0.5 * p[i * W + c]);
    }
    compare(product.dot[c], dot);
    compare(step.sum[c], sum);
    compare(step.step[c], largest);
  }
}

}  // namespace

int main() {
  for (const Isa isa : kIsas) {
    if (!processor_has(isa)) continue;
    active_isa = isa;
    check<float, 1>(), check<float, 2>(), check<float, 4>(), check<float, 8>(), check<float, 16>();
    const double single = worst;
    worst = 0;
    check<double, 1>(), check<double, 2>(), check<double, 4>(), check<double, 8>(), check<double, 16>();
    std::printf("%s: largest relative error %.1e in float32, %.1e in float64\n", name_of(isa), single, worst);
    if (!(single < 1e-5) || !(worst < 1e-12)) return EXIT_FAILURE;
    worst = 0;
  }
  return EXIT_SUCCESS;
}
