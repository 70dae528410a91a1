// Solves with the approximate factor of elimination.hpp, all columns of a block at once.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels.hpp"

namespace isotherm {

// A factor as bare arrays.
template <class T>
struct FactorView {
  Csr<float> rows;  // indptr, targets, shares
  const T* pivots;
  const int64_t* domains;
  int64_t domain_count;
  Csr<float> back;  // entries from the domains into the rest, by target

  int64_t rest() const { return domains[domain_count]; }
};

// z = M^-1 r by forward and back substitution. Forward, each node passes on its r to its targets by their shares. Back,
// each node takes its value from its targets. Domains are independent of each other. Reports r . z and the largest z,
// which estimates the error of the temperatures.
template <class T, int W>
Report<W> precondition(const FactorView<T>& factor, const T* closing, const T* r, T* z, int threads) {
  const auto [indptr, targets, shares, rows] = factor.rows;
  const int64_t rest = factor.rest(), last = indptr[rows] - 1;
  std::vector<Report<W>> parts(factor.domain_count + 1);
  const auto down = [=](auto registers, int64_t begin, int64_t end, int64_t limit) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t v = begin; v < end; ++v) {
      const Row own = Row::at(z, v);
      for (int64_t e = indptr[v]; e < indptr[v + 1] && targets[e] < limit; ++e) {
        __builtin_prefetch(z + int64_t{W} * targets[std::min(e + kAhead, last)], 1);
        (Row::at(z, targets[e]) + own * static_cast<T>(shares[e])).put(z, targets[e]);
      }
    }
  };
  const auto up = [=, &parts](auto registers, int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    const Row marked = Row::at(closing);
    Wide<Row> dot;
    Largest<Row> size;
    for (int64_t v = end - 1; v >= begin; --v) {
      Row own = Row::at(z, v) * factor.pivots[v];
      for (int64_t e = indptr[v + 1] - 1; e >= indptr[v]; --e) {
        __builtin_prefetch(z + int64_t{W} * targets[std::max<int64_t>(e - kAhead, 0)]);
        own += Row::at(z, targets[e]) * static_cast<T>(shares[e]);
      }
      own.put(z, v);
      size.add(own, marked);
      dot += widened(own) * widened(Row::at(r, v));
    }
    dot.put(parts[part].dot);
    size.put(parts[part].size);
  };
  const Chunks domains{{factor.domains, factor.domains + factor.domain_count + 1}, indptr[rest] + rest};
  for_block_chunks(domains, threads, [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    std::copy(r + begin * W, r + end * W, z + begin * W);
    down(registers, begin, end, rest);
  });
  const auto [back_indptr, sources, back_shares, back_rows] = factor.back;
  const int64_t back_last = back_indptr[back_rows] - 1;
  for_block_chunks(entry_chunks(back_indptr, back_rows), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t s = begin; s < end; ++s) {
      Row own = Row::at(r, rest + s);
      for (int64_t e = back_indptr[s]; e < back_indptr[s + 1]; ++e) {
        __builtin_prefetch(z + int64_t{W} * sources[std::min(e + kAhead, back_last)]);
        own += Row::at(z, sources[e]) * static_cast<T>(back_shares[e]);
      }
      own.put(z, rest + s);
    }
  });
  for_block_chunks(Chunks{{rest, rows}, 0}, 1, [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    down(registers, begin, end, end);
    up(registers, factor.domain_count, begin, end);
  });
  for_block_chunks(domains, threads, [&](auto registers, int64_t d, int64_t begin, int64_t end) ISOTHERM_INLINE {
    up(registers, d, begin, end);
  });
  return total(parts);
}

}  // namespace isotherm
