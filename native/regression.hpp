// Multinomial logistic regression by Newton's method; src/isotherm/kernels/regression.py says what it minimises.
#pragma once
#include <cmath>
#include <limits>

#include "rows.hpp"

namespace isotherm {

constexpr int64_t kLanes = 8;             // classes that are computed at once
constexpr int64_t kTogether = 4;          // rows that share what is read of the weights
constexpr int64_t kRowsOfChunk = 256;
constexpr int64_t kMostLight = 100'000;   // numbers; products of larger tables with the curvature are in float32
constexpr int kMostSteps = 50, kMostProducts = 100;  // of Newton's method, and of conjugate gradient in each step
constexpr double kDecrease = 1e-4, kLeastSize = 1e-6;  // least decrease, relative to the slope; least part of a step
constexpr double kRoundingOfLoss = 1e-13;  // decreases of the loss that are as small, relative to it, are rounding errors

// Rows (count, columns) with the class of each, and the penalty of each column; there are `classes` classes.
struct Taught {
  const double* rows;
  const int64_t* codes;
  const double* penalty;
  int64_t count, columns, classes;
};

// Weights and gradients are kept class by class in panels of kLanes: (panels, columns, kLanes). Lanes without a class
// stay 0. Light is the type of products with the curvature, which need not be exact.
template <class Light>
class Regression {
 public:
  using Numbers = std::vector<double>;

  Regression(const Taught& taught, int threads)
      : rows_(taught.rows), light_(rows_, rows_ + taught.count * taught.columns), codes_(taught.codes),
        penalty_(taught.penalty), columns_(taught.columns), classes_(taught.classes),
        panels_((classes_ + kLanes - 1) / kLanes), threads_(threads), chances_(taught.count * panels_ * kLanes),
        chunks_{{}, taught.count * columns_ * panels_ / 2} {
    for (int64_t first = 0; first < taught.count; first += kRowsOfChunk) chunks_.bounds.push_back(first);
    chunks_.bounds.push_back(taught.count);
  }

  // Starts from weights (columns, classes), and overwrites them.
  void fit(double* weights, double least_gradient, double enough) {
    Numbers x(panels_ * columns_ * kLanes);
    each_weight([&](int64_t place, int64_t own) { x[place] = weights[own]; });
    minimise(x, least_gradient, enough);
    each_weight([&](int64_t place, int64_t own) { weights[own] = x[place]; });
  }

 private:
  void minimise(Numbers& x, double least_gradient, double enough) {
    Numbers gradient, next(x.size()), there;
    double value = loss(x, gradient);
    const double first = std::sqrt(dot(gradient, gradient));
    for (int count = 0; count < kMostSteps; ++count) {
      const double length = std::sqrt(dot(gradient, gradient));
      if (length <= least_gradient * first) return;
      const Numbers step = newton_step(gradient, std::min(0.1, std::sqrt(length / first)));
      const double slope = dot(gradient, step);
      const bool flat = -slope <= std::max(kRoundingOfLoss * std::abs(value), enough);
      double size = 1, after = 0;
      for (;; size /= 2) {
        if (size < kLeastSize) return;  // only rounding errors are left
        for (size_t k = 0; k < x.size(); ++k) next[k] = x[k] + size * step[k];
        if (flat) return std::swap(x, next);  // perhaps too flat to compare values of the loss
        after = loss(next, there);
        if (after <= value + kDecrease * size * slope) break;
      }
      std::swap(x, next);
      std::swap(gradient, there);
      value = after;
    }
  }

  // Minus the inverse curvature times the gradient, by conjugate gradient, as far as the curvature is positive.
  Numbers newton_step(const Numbers& gradient, double tol) {
    Numbers step(gradient.size()), residual(gradient.size()), direction, product;
    for (size_t k = 0; k < gradient.size(); ++k) residual[k] = -gradient[k];
    direction = residual;
    double square = dot(residual, residual);
    const double enough = tol * tol * square;
    for (int count = 0; count < kMostProducts; ++count) {
      curve(direction, product);
      const double curvature = dot(direction, product);
      if (!(curvature > 0)) return count ? step : residual;
      const double length = square / curvature, before = square;
      for (size_t k = 0; k < step.size(); ++k) {
        step[k] += length * direction[k];
        residual[k] -= length * product[k];
      }
      square = dot(residual, residual);
      if (square <= enough) break;
      for (size_t k = 0; k < step.size(); ++k) direction[k] = residual[k] + square / before * direction[k];
    }
    return step;
  }

  // The loss and its gradient; keeps the probabilities of the classes, which `curve` needs.
  double loss(const Numbers& x, Numbers& gradient) {
    std::vector<double> values(chunks_.count());
    pass(rows_, x.data(), gradient, [&](int64_t chunk, int64_t row, double* logits) {
      Light* const chances = &chances_[row * panels_ * kLanes];
      double most = logits[0], sum = 0;
      for (int64_t k = 1; k < classes_; ++k) most = std::max(most, logits[k]);
      const double own = logits[codes_[row]] - most;
      for (int64_t k = 0; k < classes_; ++k) sum += logits[k] = std::exp(logits[k] - most);
      for (int64_t k = 0; k < classes_; ++k) chances[k] = static_cast<Light>(logits[k] /= sum);
      logits[codes_[row]] -= 1;
      values[chunk] += std::log(sum) - own;
    });
    double value = 0, pull = 0;
    for (const double each : values) value += each;
    each_weight([&](int64_t place, int64_t own) {
      const double pulled = penalty_[own / classes_] * x[place];
      pull += pulled * x[place];
      gradient[place] += pulled;
    });
    return value + pull / 2;
  }

  // The product of the curvature with a direction.
  void curve(const Numbers& direction, Numbers& product) {
    const std::vector<Light> light(direction.begin(), direction.end());
    pass(light_.data(), light.data(), product, [&](int64_t, int64_t row, Light* change) {
      const Light* const chances = &chances_[row * panels_ * kLanes];
      Light sum = 0;
      for (int64_t k = 0; k < classes_; ++k) sum += change[k] *= chances[k];
      for (int64_t k = 0; k < classes_; ++k) change[k] -= chances[k] * sum;
    });
    each_weight([&](int64_t place, int64_t own) { product[place] += penalty_[own / classes_] * direction[place]; });
  }

  // For each row, f(chunk, row, values) replaces its products with x (classes). The sums of the rows, weighted by what
  // f left there, go to `out`. One pass over the rows does both.
  template <class T, class F>
  void pass(const T* rows, const T* x, Numbers& out, const F& f) {
    const int64_t size = panels_ * columns_ * kLanes;
    std::vector<T> parts(chunks_.count() * size);
    for_block_chunks(chunks_, threads_, [&] { return std::vector<T>(kTogether * panels_ * kLanes); },
                     [&](auto registers, int64_t chunk, int64_t begin, int64_t end, std::vector<T>& room)
                         ISOTHERM_INLINE {
      using Row = isotherm::Row<T, kLanes, registers>;
      T* const part = parts.data() + chunk * size;
      for (int64_t first = begin; first < end; first += kTogether) {
        const T* own[kTogether];  // after the last row, it again, with values of 0
        for (int64_t r = 0; r < kTogether; ++r) own[r] = rows + std::min(first + r, end - 1) * columns_;
        const auto values = [&](int64_t r, int64_t panel) { return room.data() + (r * panels_ + panel) * kLanes; };
        for (int64_t panel = 0; panel < panels_; ++panel) {
          Row sums[kTogether];
          for (int64_t i = 0; i < columns_; ++i) {
            const Row weights = Row::at(x + panel * columns_ * kLanes, i);
            for (int64_t r = 0; r < kTogether; ++r) sums[r] += weights * own[r][i];
          }
          for (int64_t r = 0; r < kTogether; ++r) sums[r].put(values(r, panel));
        }
        for (int64_t r = 0; r < kTogether; ++r)
          if (first + r < end) f(chunk, first + r, values(r, 0));
          else std::fill(values(r, 0), values(r, panels_), T{0});
        for (int64_t panel = 0; panel < panels_; ++panel) {
          Row factors[kTogether];
          for (int64_t r = 0; r < kTogether; ++r) factors[r] = Row::at(values(r, panel));
          for (int64_t i = 0; i < columns_; ++i) {
            T* const sums = part + panel * columns_ * kLanes;
            Row sum = Row::at(sums, i);
            for (int64_t r = 0; r < kTogether; ++r) sum += factors[r] * own[r][i];
            sum.put(sums, i);
          }
        }
      }
    });
    out.assign(size, 0);
    for (int64_t chunk = 0; chunk < chunks_.count(); ++chunk)
      for (int64_t k = 0; k < size; ++k) out[k] += parts[chunk * size + k];
  }

  // Calls f(place in the panels, place in a table (columns, classes)) for each weight.
  template <class F>
  void each_weight(const F& f) const {
    for (int64_t i = 0; i < columns_; ++i)
      for (int64_t k = 0; k < classes_; ++k)
        f((k / kLanes * columns_ + i) * kLanes + k % kLanes, i * classes_ + k);
  }

  static double dot(const Numbers& a, const Numbers& b) {
    double sums[4] = {};
    for (size_t k = 0; k < a.size(); k += 4)  // whole panels are multiples of four
      for (int lane = 0; lane < 4; ++lane) sums[lane] += a[k + lane] * b[k + lane];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
  }

  const double* rows_;
  const std::vector<Light> light_;
  const int64_t* codes_;
  const double* penalty_;
  const int64_t columns_, classes_, panels_;
  const int threads_;
  std::vector<Light> chances_;
  Chunks chunks_;
};

inline void regress(const Taught& taught, double* weights, double least_gradient, double enough, int threads) {
  if (taught.count * taught.columns > kMostLight)
    Regression<float>(taught, threads).fit(weights, least_gradient, enough);
  else
    Regression<double>(taught, threads).fit(weights, least_gradient, enough);
}

}  // namespace isotherm
