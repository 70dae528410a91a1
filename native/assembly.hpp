// Builds graphs in compressed rows: from a list of entries, from directed arcs, from a subset of the nodes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "memory.hpp"

namespace isotherm {

template <class T>
struct Entries {
  const int32_t *rows, *columns;
  const T* weights;  // null: all one
  int64_t count;
};

template <class T>
struct Sorted {
  int64_t* indptr;
  int32_t* indices;
  T* weights;
  int64_t rows;
};

// A stable sort of the entries of a row by column.
template <class T>
class RowSorter {
 public:
  ISOTHERM_INLINE void sort(int32_t* columns, T* weights, int64_t count) {
    if (count <= kShort) sort_short(columns, weights, static_cast<int32_t>(count));
    else if (!weights) std::sort(columns, columns + count);
    else sort_long(columns, weights, count);
  }

 private:
  typedef int32_t Lanes __attribute__((vector_size(32)));
  static constexpr int32_t kLanes = 8, kShort = 64;

  // The place of an entry is the number of entries before it. In a short row, comparing all pairs is fastest.
  ISOTHERM_INLINE void sort_short(int32_t* columns, T* weights, int32_t count) {
    alignas(Lanes) int32_t keys[kShort], places[kShort];
    T values[kShort];
    std::copy_n(columns, count, keys);
    if (weights) std::copy_n(weights, count, values);
    Lanes number = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int32_t first = 0; first < count; first += kLanes, number += kLanes) {
      const Lanes own = *reinterpret_cast<const Lanes*>(keys + first);
      Lanes place = {};
      for (int32_t e = 0; e < count; ++e) {
        const Lanes other = keys[e] - Lanes{}, its_number = e - Lanes{};
        place -= (other < own) | ((other == own) & (its_number < number));  // true is -1
      }
      *reinterpret_cast<Lanes*>(places + first) = place;
    }
    for (int32_t e = 0; e < count; ++e) columns[places[e]] = keys[e];
    if (weights)
      for (int32_t e = 0; e < count; ++e) weights[places[e]] = values[e];
  }

  void sort_long(int32_t* columns, T* weights, int64_t count) {
    pairs_.resize(count);
    for (int64_t e = 0; e < count; ++e) pairs_[e] = {columns[e], weights[e]};
    std::stable_sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) { return a.column < b.column; });
    for (int64_t e = 0; e < count; ++e) {
      columns[e] = pairs_[e].column;
      weights[e] = pairs_[e].weight;
    }
  }

  struct Pair {
    int32_t column;
    T weight;
  };
  std::vector<Pair> pairs_;
};

// Calls f(row, from, to) for each run of consecutive entries in the same row. Most edge lists are grouped by source.
template <class F>
void in_runs(const int32_t* rows, int64_t begin, int64_t end, const F& f) {
  for (int64_t from = begin, to = begin; from < end; from = to) {
    do ++to;
    while (to < end && rows[to] == rows[from]);
    f(rows[from], from, to);
  }
}

// A counting sort by row, followed by a sort of each row by column. Each thread takes a part of the list and has its
// own range of places in every row.
template <class T>
void assemble(const Entries<T>& list, const Sorted<T>& out, int threads) {
  constexpr int64_t ahead = 16;
  const int64_t parts = std::clamp<int64_t>(list.count / std::max(out.rows, kThreadWork), 1, threads);
  std::vector<std::unique_ptr<int64_t[]>> next(parts);
  const auto begin = [&](int64_t part) { return list.count / parts * part + std::min(part, list.count % parts); };

  in_parts(parts, [&](int64_t part) {
    next[part].reset(new int64_t[out.rows]());
    int64_t* const counts = next[part].get();
    in_runs(list.rows, begin(part), begin(part + 1), [&](int32_t row, int64_t from, int64_t to) {
      counts[row] += to - from;
    });
  });
  int64_t before = 0;
  for (int64_t row = 0; row < out.rows; ++row) {
    out.indptr[row] = before;
    for (auto& places : next) before += std::exchange(places[row], before);
  }
  out.indptr[out.rows] = before;
  in_parts(parts, [&](int64_t part) {
    int64_t* const places = next[part].get();
    in_runs(list.rows, begin(part), begin(part + 1), [&](int32_t row, int64_t from, int64_t to) {
      __builtin_prefetch(places + list.rows[std::min(to + ahead, list.count - 1)], 1);
      int64_t place = places[row];
      for (int64_t e = from; e < to; ++e, ++place) {
        out.indices[place] = list.columns[e];
        if (list.weights) out.weights[place] = list.weights[e];
      }
      places[row] = place;
    });
  });
  next.clear();
  for_chunks(entry_chunks(out.indptr, out.rows), threads, [&](int64_t, int64_t first, int64_t last) ISOTHERM_INLINE {
    RowSorter<T> sorter;
    for (int64_t row = first; row < last; ++row) {
      const int64_t start = out.indptr[row];
      sorter.sort(out.indices + start, out.weights ? out.weights + start : nullptr, out.indptr[row + 1] - start);
    }
  });
}

// The transpose of the arcs: row i holds the arcs into node i, with column source, in ascending order. Each thread reads
// all arcs and writes those whose target is in its range.
template <class T>
void transpose(const Csr<T>& arcs, const Sorted<T>& out, int threads) {
  constexpr int64_t ahead = 16;
  const int64_t n = arcs.rows, entries = arcs.indptr[n];
  const int64_t parts = std::clamp<int64_t>(entries / kThreadWork, 1, threads);
  std::vector<int64_t> next(n + 1, 0), bounds(parts + 1, n);
  in_parts(parts, [&](int64_t part) {
    const int64_t low = n * part / parts, high = n * (part + 1) / parts;
    for (int64_t e = 0; e < entries; ++e)
      if (arcs.indices[e] >= low && arcs.indices[e] < high) ++next[arcs.indices[e] + 1];
  });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::copy(next.begin(), next.end(), out.indptr);
  for (int64_t part = 0; part < parts; ++part)
    bounds[part] = std::lower_bound(next.begin(), next.end(), entries / parts * part) - next.begin();
  in_parts(parts, [&](int64_t part) {
    const int64_t low = bounds[part], high = bounds[part + 1];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t e = arcs.indptr[i]; e < arcs.indptr[i + 1]; ++e) {
        const int64_t later = arcs.indices[std::min(e + ahead, entries - 1)];
        if (later >= low && later < high) __builtin_prefetch(out.indices + next[later], 1);
        if (arcs.indices[e] < low || arcs.indices[e] >= high) continue;
        const int64_t back = next[arcs.indices[e]]++;
        out.indices[back] = static_cast<int32_t>(i);
        if (arcs.weights) out.weights[back] = arcs.weights[e];
      }
  });
}

// The bipartite graph [[0, A], [A^T, 0]] of the arcs A. Rows 0 to n - 1 hold the arcs out of each node, with column
// n + target. Rows n to 2n - 1 hold the arcs into each node, with column source. For m arcs the outputs have sizes
// 2n + 1, 2m and 2m.
template <class T>
void bipartite(const Csr<T>& arcs, const Sorted<T>& out, int threads) {
  const int64_t n = arcs.rows, entries = arcs.indptr[n];
  transpose<T>(arcs, {out.indptr + n, out.indices + entries, out.weights ? out.weights + entries : nullptr, n}, threads);
  for (int64_t i = 0; i <= n; ++i) out.indptr[n + i] += entries;
  std::copy(arcs.indptr, arcs.indptr + n, out.indptr);
  for_chunks(even_chunks(entries, 1), threads, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      out.indices[e] = static_cast<int32_t>(arcs.indices[e] + n);
      if (arcs.weights) out.weights[e] = arcs.weights[e];
    }
  });
}

// Calls f(column, weight) for each column of a row of a + b, ascending; their rows ascend strictly.
template <class T, class F>
ISOTHERM_INLINE inline void for_sum(const Csr<T>& a, const Csr<T>& b, int64_t row, const F& f) {
  const auto weight = [](const Csr<T>& from, int64_t e) { return from.weights ? from.weights[e] : T(1); };
  int64_t e = a.indptr[row], g = b.indptr[row];
  const int64_t last = a.indptr[row + 1], end = b.indptr[row + 1];
  while (e < last && g < end) {
    const int32_t left = a.indices[e], right = b.indices[g];
    f(std::min(left, right), (left <= right ? weight(a, e) : T(0)) + (right <= left ? weight(b, g) : T(0)));
    e += left <= right;
    g += right <= left;
  }
  for (; e < last; ++e) f(a.indices[e], weight(a, e));
  for (; g < end; ++g) f(b.indices[g], weight(b, g));
}

// A + A^T for a matrix A whose rows ascend strictly; no weights are needed if A has none and no entry in both places.
template <class T>
void add_transpose(const Csr<T>& arcs, Room<int64_t>& indptr, Room<int32_t>& indices, Room<T>& weights, int threads) {
  const int64_t n = arcs.rows, entries = arcs.indptr[n];
  Room<int64_t> starts(n + 1);
  Room<int32_t> sources(entries);
  Room<T> carried(arcs.weights ? entries : 0);
  transpose<T>(arcs, {starts.data(), sources.data(), arcs.weights ? carried.data() : nullptr, n}, threads);
  const Csr<T> back{starts.data(), sources.data(), arcs.weights ? carried.data() : nullptr, n};
  // Not for_chunks, which would treat denormal weights as 0.
  const int64_t parts = std::clamp<int64_t>(entries / kThreadWork, 1, threads);
  const auto bound = [&](int64_t part) {
    return part == parts ? n : std::lower_bound(arcs.indptr, arcs.indptr + n, entries / parts * part) - arcs.indptr;
  };
  indptr.assign(n + 1, 0);
  in_parts(parts, [&](int64_t part) {
    for (int64_t row = bound(part), end = bound(part + 1); row < end; ++row) {
      int64_t count = 0;
      for_sum(arcs, back, row, [&](int32_t, T) { ++count; });
      indptr[row + 1] = count;
    }
  });
  std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
  const bool weighted = arcs.weights || indptr[n] < 2 * entries;
  indices.resize(indptr[n]);
  weights.resize(weighted ? indptr[n] : 0);
  in_parts(parts, [&](int64_t part) {
    for (int64_t row = bound(part), end = bound(part + 1); row < end; ++row) {
      int64_t place = indptr[row];
      for_sum(arcs, back, row, [&](int32_t column, T weight) {
        indices[place] = column;
        if (weighted) weights[place] = weight;
        ++place;
      });
    }
  });
}

// The sum of a power of the weights in each row.
template <class T>
void row_sums(const Csr<T>& graph, int power, double* sums, int threads) {
  const int64_t n = graph.rows, entries = graph.indptr[n];
  // Not for_chunks, which would treat denormal weights as 0.
  const int64_t parts = std::clamp<int64_t>(entries / kThreadWork, 1, threads);
  in_parts(parts, [&](int64_t part) {
    const auto bound = [&](int64_t cut) {
      return cut == parts ? n : std::lower_bound(graph.indptr, graph.indptr + n, entries / parts * cut) - graph.indptr;
    };
    for (int64_t row = bound(part), end = bound(part + 1); row < end; ++row) {
      double sum = 0;
      for (int64_t e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
        double value = graph.weights[e];
        for (int k = 1; k < power; ++k) value *= static_cast<double>(graph.weights[e]);
        sum += value;
      }
      sums[row] = sum;
    }
  });
}

// The mixing steps of SplitMix64: a pseudo-random permutation of 64-bit integers.
inline uint64_t mixed(uint64_t x) {
  x *= 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// A weight in units of `unit`, as an integer that ignores rounding errors: ten bits of its mantissa, to nearest.
inline uint64_t rounded_bits(double weight, double unit) {
  const double value = weight / unit;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits + (uint64_t{1} << 41)) >> 42;
}

// New colours: each node hashes its colour with the colours and weights around it, in any order.
template <class T>
void mix_colours(const Csr<T>& graph, double unit, const uint64_t* before, uint64_t* after, int threads) {
  const int64_t n = graph.rows, entries = graph.indptr[n];
  const int64_t parts = std::clamp<int64_t>(entries / kThreadWork, 1, threads);
  const uint64_t one = rounded_bits(1, unit);
  in_parts(parts, [&](int64_t part) {
    const auto bound = [&](int64_t cut) {
      return cut == parts ? n : std::lower_bound(graph.indptr, graph.indptr + n, entries / parts * cut) - graph.indptr;
    };
    for (int64_t row = bound(part), end = bound(part + 1); row < end; ++row) {
      uint64_t sum = 0;
      for (int64_t e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
        const uint64_t weight = graph.weights ? rounded_bits(graph.weights[e], unit) : one;
        sum += mixed(before[graph.indices[e]] ^ weight);
      }
      after[row] = mixed(before[row] + 3 * sum);
    }
  });
}

// The submatrix of the nodes in `order`, renumbered: node order[v] becomes v.
template <class T>
void renumber(const Csr<T>& graph, const int32_t* order, int64_t nodes, std::vector<int64_t>& indptr,
              std::vector<int32_t>& indices, std::vector<T>& weights) {
  std::vector<int32_t> place(graph.rows, -1);
  for (int64_t v = 0; v < nodes; ++v) place[order[v]] = static_cast<int32_t>(v);
  indptr.assign(1, 0);
  indptr.reserve(nodes + 1);
  if (nodes == graph.rows) {
    indices.reserve(graph.indptr[nodes]);
    if (graph.weights) weights.reserve(graph.indptr[nodes]);
  }
  for (int64_t v = 0; v < nodes; ++v) {
    for (int64_t e = graph.indptr[order[v]]; e < graph.indptr[order[v] + 1]; ++e) {
      const int32_t other = place[graph.indices[e]];
      if (other < 0) continue;
      indices.push_back(other);
      if (graph.weights) weights.push_back(graph.weights[e]);
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
}

}  // namespace isotherm
