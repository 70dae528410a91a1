// Exponentials and logarithms of several numbers at a time: four times as fast as the functions of the C library.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rows.hpp"

namespace isotherm {

// exp(x) for x <= 0, to about 15 digits; 0 below -708, just before results become denormal.
//
// With n = round(x / log 2) and r = x - n log 2, this is 2^n times the Taylor series of exp(r): |r| is at most
// log(2) / 2, and the first term left out below 2^-56. Adding 1.5 * 2^52 to a number rounds it to an integer, which the
// lowest bits of the sum then hold.
template <int Bytes>
struct Powers {
  static constexpr int kLanes = Bytes / 8;
  typedef double Lanes __attribute__((vector_size(Bytes)));
  typedef int64_t Bits __attribute__((vector_size(Bytes)));

  ISOTHERM_INLINE static Lanes of(Lanes x) {
    constexpr double kLowest = -708, kRound = 0x1.8p52, kLog2e = 0x1.71547652b82fep0;
    constexpr double kLog2High = 0x1.62e42fee00000p-1, kLog2Low = 0x1.a39ef35793c76p-33;
    const Bits low = x < kLowest;
    const Lanes within = low ? Lanes{} : x;
    const Lanes shifted = within * kLog2e + kRound, n = shifted - kRound;
    const Lanes r = (within - n * kLog2High) - n * kLog2Low;
    const Lanes square = r * r;
    Lanes even = Lanes{} + kEven[0], odd = Lanes{} + kOdd[0];  // two chains, because each addition waits for the last
    for (int k = 1; k < kTerms; ++k) {
      even = even * square + kEven[k];
      odd = odd * square + kOdd[k];
    }
    return (Lanes)(((Bits)(even + odd * r) + ((Bits)shifted << 52)) & ~low);
  }

 private:
  static constexpr int kTerms = 7;
  static constexpr double kEven[kTerms] = {1 / 479001600.0, 1 / 3628800.0, 1 / 40320.0, 1 / 720.0, 1 / 24.0, 0.5, 1};
  static constexpr double kOdd[kTerms] = {1 / 6227020800.0, 1 / 39916800.0, 1 / 362880.0, 1 / 5040.0,
                                          1 / 120.0,        1 / 6.0,        1};
};

// log(x) for positive normal numbers, to about 15 digits.
//
// With x = 2^n m and m between the square roots of 1/2 and 2, this is n log 2 plus the series of log(m) in
// f = (m - 1) / (m + 1): |f| is at most 0.172, and the first term left out below 2^-56.
template <int Bytes>
struct Logs {
  using Lanes = typename Powers<Bytes>::Lanes;
  typedef uint64_t Bits __attribute__((vector_size(Bytes)));

  ISOTHERM_INLINE static Lanes of(Lanes x) {
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kBias = 1024ull << 52, kTwo52 = 0x4330000000000000;
    constexpr double kLog2High = 0x1.62e42fee00000p-1, kLog2Low = 0x1.a39ef35793c76p-33;
    const Bits exponent = ((Bits)x - kRootOfHalf + kBias) >> 52;  // n + 1024
    const Lanes n = (Lanes)(exponent | kTwo52) - (0x1p52 + 1024);
    const Lanes m = (Lanes)((Bits)x - (exponent << 52) + kBias);
    const Lanes f = (m - 1) / (m + 1), square = f * f;
    Lanes series = Lanes{} + kTerms[0];
    for (int k = 1; k < kCount; ++k) series = series * square + kTerms[k];
    return n * kLog2High + (n * kLog2Low + f * series);
  }

 private:
  static constexpr int kCount = 11;
  static constexpr double kTerms[kCount] = {2 / 21.0, 2 / 19.0, 2 / 17.0, 2 / 15.0, 2 / 13.0, 2 / 11.0,
                                            2 / 9.0,  2 / 7.0,  2 / 5.0,  2 / 3.0,  2};
};

template <int Bytes>
ISOTHERM_INLINE inline typename Powers<Bytes>::Lanes lanes_at(const double* from) {
  typename Powers<Bytes>::Lanes found;
  std::memcpy(&found, from, sizeof found);
  return found;
}

template <class Lanes>
ISOTHERM_INLINE inline void put_lanes(const Lanes& lanes, double* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <class Lanes>
ISOTHERM_INLINE inline double sum_of(const Lanes& lanes) {
  double sum = 0;
  for (size_t lane = 0; lane < sizeof lanes / sizeof sum; ++lane) sum += lanes[lane];
  return sum;
}

// The sum of exp(row - top) over the columns of a row, none of which is above top. The last few columns are read
// together with some before them, which then count as minus infinity.
template <int Bytes, class T>
struct PowerSum {
  static constexpr int kLanes = Powers<Bytes>::kLanes;
  using Part = Row<T, kLanes, Bytes>;
  using Lanes = typename Powers<Bytes>::Lanes;
  int64_t columns, whole;  // all columns, and the first ones that fill whole registers
  Lanes last = {};         // 0 or minus infinity

  ISOTHERM_INLINE explicit PowerSum(int64_t k) : columns(k), whole(k / kLanes * kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) last[lane] = lane < kLanes - (k - whole) ? -INFINITY : 0;
  }

  ISOTHERM_INLINE double operator()(const T* row, double top) const {
    if (columns < kLanes) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c) sum += std::exp(row[c] - top);
      return sum;
    }
    Lanes total = {};
    for (int64_t c = 0; c < whole; c += kLanes) total += Powers<Bytes>::of(widened(Part::at(row + c)).lanes - top);
    if (whole < columns) total += Powers<Bytes>::of(widened(Part::at(row + columns - kLanes)).lanes - top + last);
    return sum_of(total);
  }
};

// A row of logits, padded to whole registers by minus infinity.
template <int Bytes>
struct PowerRow {
  static constexpr int kLanes = Powers<Bytes>::kLanes;
  using Lanes = typename Powers<Bytes>::Lanes;
  int64_t columns, size;
  std::vector<double> logits;

  explicit PowerRow(int64_t k) : columns(k), size((k + kLanes - 1) / kLanes * kLanes), logits(size, -INFINITY) {}

  // Logits become exp(logit - largest logit); returns their sum.
  ISOTHERM_INLINE double raise() {
    Lanes largest = lanes_at<Bytes>(logits.data()), total = {};
    for (int64_t c = kLanes; c < size; c += kLanes) {
      const Lanes part = lanes_at<Bytes>(&logits[c]);
      largest = part > largest ? part : largest;
    }
    double top = largest[0];
    for (int lane = 1; lane < kLanes; ++lane) top = std::max(top, largest[lane]);
    for (int64_t c = 0; c < size; c += kLanes) {
      const Lanes part = Powers<Bytes>::of(lanes_at<Bytes>(&logits[c]) - top);
      put_lanes(part, &logits[c]);
      total += part;
    }
    std::fill(logits.begin() + columns, logits.end(), -INFINITY);
    return sum_of(total);
  }
};

}  // namespace isotherm
