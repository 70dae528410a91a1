// The solve with an approximate factor of elimination.hpp, all columns of a block at once.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels.hpp"

namespace isotherm {

template <class T, int W>
ISOTHERM_INLINE inline typename Lanes<T, W>::Row& row_at(T* block, int64_t i) {
  return *reinterpret_cast<typename Lanes<T, W>::Row*>(block + i * W);
}

template <class T, int W>
ISOTHERM_INLINE inline const typename Lanes<T, W>::Row& row_at(const T* block, int64_t i) {
  return *reinterpret_cast<const typename Lanes<T, W>::Row*>(block + i * W);
}

// A factor as bare arrays.
template <class T>
struct FactorView {
  Csr<float> rows;  // indptr, targets, shares
  const T* pivots;
  const int64_t* domains;
  int64_t domain_count;
  Csr<float> back;  // from the rest to the domains

  int64_t rest() const { return domains[domain_count]; }
};

// z = M^-1 r: down the order, each node hands its share of r to those that outlive it; up the order, each takes its
// temperature from them. Domains are independent; reports r . z and the largest z, about the error of the temperatures.
template <class T, int W>
Report<W> precondition(const FactorView<T>& factor, const T* closing, const T* r, T* z, int threads) {
  using Row = typename Lanes<T, W>::Row;
  using Wide = typename Lanes<T, W>::Wide;
  const auto [indptr, targets, shares, rows] = factor.rows;
  const int64_t rest = factor.rest(), last = indptr[rows] - 1;
  const Row marked = *reinterpret_cast<const Row*>(closing);
  std::vector<Report<W>> parts(factor.domain_count + 1);
  const auto down = [=](int64_t begin, int64_t end, int64_t limit) ISOTHERM_INLINE {
    for (int64_t v = begin; v < end; ++v) {
      const Row own = row_at<T, W>(z, v);
      for (int64_t e = indptr[v]; e < indptr[v + 1] && targets[e] < limit; ++e) {
        __builtin_prefetch(&row_at<T, W>(z, targets[std::min(e + kAhead, last)]), 1);
        row_at<T, W>(z, targets[e]) += static_cast<T>(shares[e]) * own;
      }
    }
  };
  const auto up = [=, &parts](int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Row size = {};
    Wide dot = {};
    T closing_size = 0;
    for (int64_t v = end - 1; v >= begin; --v) {
      Row own = row_at<T, W>(z, v) * factor.pivots[v];
      for (int64_t e = indptr[v + 1] - 1; e >= indptr[v]; --e) {
        __builtin_prefetch(&row_at<T, W>(z, targets[std::max<int64_t>(e - kAhead, 0)]));
        own += static_cast<T>(shares[e]) * row_at<T, W>(z, targets[e]);
      }
      row_at<T, W>(z, v) = own;
      size = larger_magnitude(size, own);
      dot += __builtin_convertvector(own, Wide) * __builtin_convertvector(row_at<T, W>(r, v), Wide);
      closing_size = std::max(closing_size, std::abs(lane_sum<W>(own * marked)));
    }
    for (int c = 0; c < W; ++c) {
      parts[part].dot[c] = dot[c];
      parts[part].size[c] = size[c];
    }
    parts[part].size[W] = closing_size;
  };
  const Chunks domains{{factor.domains, factor.domains + factor.domain_count + 1}, indptr[rest] + rest};
  for_chunks(domains, threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    std::copy(r + begin * W, r + end * W, z + begin * W);
    down(begin, end, rest);
  });
  const auto [back_indptr, sources, back_shares, back_rows] = factor.back;
  const int64_t back_last = back_indptr[back_rows] - 1;
  for_chunks(entry_chunks(back_indptr, back_rows), threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    for (int64_t s = begin; s < end; ++s) {
      Row own = row_at<T, W>(r, rest + s);
      for (int64_t e = back_indptr[s]; e < back_indptr[s + 1]; ++e) {
        __builtin_prefetch(&row_at<T, W>(z, sources[std::min(e + kAhead, back_last)]));
        own += static_cast<T>(back_shares[e]) * row_at<T, W>(z, sources[e]);
      }
      row_at<T, W>(z, rest + s) = own;
    }
  });
  for_chunks(Chunks{{rest, rows}, 0}, 1, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    down(begin, end, end);
    up(factor.domain_count, begin, end);
  });
  for_chunks(domains, threads, [&](int64_t d, int64_t begin, int64_t end) ISOTHERM_INLINE { up(d, begin, end); });
  return total(parts);
}

}  // namespace isotherm
