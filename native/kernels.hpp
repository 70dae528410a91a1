// The hot loops. Bare arrays in, bare arrays out; src/isotherm/kernels/reference.py says the same in SciPy.
//
// A graph is CSR: indptr (n + 1), indices (entries), weights (entries) or null where all weights are one.
// A block is a row-major n x W array of temperatures, W one of 2, 4, 8, 16, so that one row fills at most one
// cache line in float32 and the loop over its columns is a vector register.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>

#include "dispatch.hpp"

#define ISOTHERM_INLINE __attribute__((always_inline))

namespace isotherm {

// Rows of at most this many entries ahead are fetched before they are needed, into the second-level cache: more of
// those requests can be under way at once than of those for the first. A block that fits there is not far.
constexpr int64_t kAhead = 32;
constexpr int kLevel2 = 2;
constexpr int64_t kNear = 1 << 20;

template <class T>
struct Csr {
  const int64_t* indptr;
  const int32_t* indices;
  const T* weights;  // null: all one
  int64_t rows;
};

template <class T, int W>
struct Lanes {
  typedef T Row __attribute__((vector_size(sizeof(T) * W), aligned(sizeof(T))));
  typedef double Wide __attribute__((vector_size(sizeof(double) * W)));
};

// What one pass over a block measured, each with one value a column and a last one for the closing column:
// minus the sum of the columns that `closing` marks, which is the class that was not solved for.
template <int W>
struct Report {
  double dot[W + 1] = {};      // r . D^-1 r  or  p . q
  double step[W + 1] = {};     // largest change of a temperature
  double residual[W + 1] = {}; // largest residual of X = QX + RY
  double sum[W + 1] = {};
  double square[W + 1] = {};
  double size[W + 1] = {};     // largest temperature, in magnitude

  void add(const Report& other) {
    for (int c = 0; c <= W; ++c) {
      dot[c] += other.dot[c];
      step[c] = std::max(step[c], other.step[c]);
      residual[c] = std::max(residual[c], other.residual[c]);
      sum[c] += other.sum[c];
      square[c] += other.square[c];
      size[c] = std::max(size[c], other.size[c]);
    }
  }
};

template <int W>
Report<W> total(const std::vector<Report<W>>& parts) {
  Report<W> all;
  for (const auto& part : parts) all.add(part);
  return all;
}

template <class V>
ISOTHERM_INLINE inline V larger_magnitude(V best, V value) {
  const V magnitude = value < 0 ? -value : value;
  return magnitude > best ? magnitude : best;
}

template <int W, class V>
ISOTHERM_INLINE inline auto lane_sum(V value) {
  if constexpr (W == 1) {
    return value[0];
  } else {  // halves first: sums one after the other would wait for each other
    using Half = typename Lanes<std::remove_reference_t<decltype(value[0])>, W / 2>::Row;
    Half low, high;
    std::memcpy(&low, &value, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&value) + sizeof low, sizeof high);
    return lane_sum<W / 2>(low + high);
  }
}

// Sum over the neighbours of row i: (A x)_i. In several chains where they are near: each addition waits for the last.
template <class T, int W, bool Weighted, bool Far>
ISOTHERM_INLINE inline typename Lanes<T, W>::Row gather(const Csr<T>& graph, const T* x, int64_t i, int64_t last) {
  using Row = typename Lanes<T, W>::Row;
  constexpr int64_t chains = Far ? 1 : sizeof(Row) <= 64 ? 4 : 2;
  const auto neighbour = [&](int64_t e) ISOTHERM_INLINE -> Row {
    if constexpr (Far) {
      const T* ahead = x + static_cast<int64_t>(graph.indices[std::min(e + kAhead, last)]) * W;
      __builtin_prefetch(ahead, 0, kLevel2);
      if constexpr (sizeof(Row) > 64) __builtin_prefetch(reinterpret_cast<const char*>(ahead) + 64, 0, kLevel2);
    }
    const Row& row = *reinterpret_cast<const Row*>(x + static_cast<int64_t>(graph.indices[e]) * W);
    if constexpr (Weighted) return graph.weights[e] * row;
    else return row;
  };
  Row sums[chains] = {};
  const int64_t end = graph.indptr[i + 1];
  int64_t e = graph.indptr[i];
  for (; e + chains <= end; e += chains)
    for (int64_t c = 0; c < chains; ++c) sums[c] += neighbour(e + c);
  for (; e < end; ++e) sums[0] += neighbour(e);
  for (int64_t c = 1; c < chains; ++c) sums[0] += sums[c];
  return sums[0];
}

// One sweep, eq. 4 of the paper: out = D^-1 A x where scale = 1 / degree, out = x where scale = 0 (seeds, unreached).
template <class T, int W, bool Weighted, bool Far>
Report<W> sweep(const Csr<T>& graph, const T* scale, const T* closing, const T* x, T* out, int threads) {
  using Row = typename Lanes<T, W>::Row;
  using Wide = typename Lanes<T, W>::Wide;
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  std::vector<Report<W>> parts(chunks.count());
  const int64_t last = graph.indptr[graph.rows] - 1;
  const Row marked = *reinterpret_cast<const Row*>(closing);
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Row step = {}, size = {};
    Wide sum = {}, square = {};
    T closing_step = 0, closing_size = 0;
    double closing_sum = 0, closing_square = 0;
    for (int64_t i = begin; i < end; ++i) {
      const Row old = *reinterpret_cast<const Row*>(x + i * W);
      const Row fresh = scale[i] > 0 ? gather<T, W, Weighted, Far>(graph, x, i, last) * scale[i] : old;
      *reinterpret_cast<Row*>(out + i * W) = fresh;
      step = larger_magnitude(step, fresh - old);
      size = larger_magnitude(size, fresh);
      const Wide wide = __builtin_convertvector(fresh, Wide);
      sum += wide;
      square += wide * wide;
      closing_step = std::max(closing_step, std::abs(lane_sum<W>((fresh - old) * marked)));
      const T others = lane_sum<W>(fresh * marked);
      closing_size = std::max(closing_size, std::abs(others));
      closing_sum -= others;
      closing_square += static_cast<double>(others) * others;
    }
    Report<W>& part = parts[chunk];
    for (int c = 0; c < W; ++c) {
      part.step[c] = part.residual[c] = step[c];
      part.sum[c] = sum[c];
      part.square[c] = square[c];
      part.size[c] = size[c];
    }
    part.step[W] = part.residual[W] = closing_step;
    part.sum[W] = closing_sum;
    part.square[W] = closing_square;
    part.size[W] = closing_size;
  });
  return total(parts);
}

// out = scale (A x) on some rows of a graph, given by their part of indptr; where scale = 0, out stays as it is.
template <class T, int W, bool Weighted, bool Far>
void average(const Csr<T>& graph, const T* scale, const T* x, T* out, int threads) {
  using Row = typename Lanes<T, W>::Row;
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  const int64_t last = graph.indptr[graph.rows] - 1;
  for_chunks(chunks, threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    for (int64_t i = begin; i < end; ++i)
      if (scale[i] > 0)
        *reinterpret_cast<Row*>(out + i * W) = gather<T, W, Weighted, Far>(graph, x, i, last) * scale[i];
  });
}

// q = (D - A) p on rows with a positive diagonal (the interior), 0 elsewhere; reports p . q.
template <class T, int W, bool Weighted, bool Far>
Report<W> laplacian(const Csr<T>& graph, const T* diagonal, const T* p, T* q, int threads) {
  using Row = typename Lanes<T, W>::Row;
  using Wide = typename Lanes<T, W>::Wide;
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  std::vector<Report<W>> parts(chunks.count());
  const int64_t last = graph.indptr[graph.rows] - 1;
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Wide dot = {};
    for (int64_t i = begin; i < end; ++i) {
      Row value = {};
      if (diagonal[i] > 0) {
        const Row own = *reinterpret_cast<const Row*>(p + i * W);
        value = diagonal[i] * own - gather<T, W, Weighted, Far>(graph, p, i, last);
        dot += __builtin_convertvector(own, Wide) * __builtin_convertvector(value, Wide);
      }
      *reinterpret_cast<Row*>(q + i * W) = value;
    }
    for (int c = 0; c < W; ++c) parts[chunk].dot[c] = dot[c];
  });
  return total(parts);
}

// One step along the direction p: x += alpha p, r -= alpha q; reports r . D^-1 r and all that the stopping rule needs.
template <class T, int W>
Report<W> cg_step(int64_t rows, const T* scale, const T* closing, const T* alpha, const T* p, const T* q, T* x, T* r,
                  int threads) {
  using Row = typename Lanes<T, W>::Row;
  using Wide = typename Lanes<T, W>::Wide;
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Report<W>> parts(chunks.count());
  const Row marked = *reinterpret_cast<const Row*>(closing);
  const Row length = *reinterpret_cast<const Row*>(alpha);
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Row step = {}, residual = {}, size = {};
    Wide dot = {}, sum = {}, square = {};
    T closing_step = 0, closing_residual = 0, closing_size = 0;
    double closing_sum = 0, closing_square = 0;
    for (int64_t i = begin; i < end; ++i) {
      Row* value = reinterpret_cast<Row*>(x + i * W);
      Row* rest = reinterpret_cast<Row*>(r + i * W);
      const Row move = length * *reinterpret_cast<const Row*>(p + i * W);
      *value += move;
      *rest -= length * *reinterpret_cast<const Row*>(q + i * W);
      const Row scaled = *rest * scale[i];
      step = larger_magnitude(step, move);
      residual = larger_magnitude(residual, scaled);
      size = larger_magnitude(size, *value);
      dot += __builtin_convertvector(*rest, Wide) * __builtin_convertvector(scaled, Wide);
      const Wide wide = __builtin_convertvector(*value, Wide);
      sum += wide;
      square += wide * wide;
      closing_step = std::max(closing_step, std::abs(lane_sum<W>(move * marked)));
      closing_residual = std::max(closing_residual, std::abs(lane_sum<W>(scaled * marked)));
      const T others = lane_sum<W>(*value * marked);
      closing_size = std::max(closing_size, std::abs(others));
      closing_sum -= others;
      closing_square += static_cast<double>(others) * others;
    }
    Report<W>& part = parts[chunk];
    for (int c = 0; c < W; ++c) {
      part.dot[c] = dot[c];
      part.step[c] = step[c];
      part.residual[c] = residual[c];
      part.sum[c] = sum[c];
      part.square[c] = square[c];
      part.size[c] = size[c];
    }
    part.step[W] = closing_step;
    part.residual[W] = closing_residual;
    part.sum[W] = closing_sum;
    part.square[W] = closing_square;
    part.size[W] = closing_size;
  });
  return total(parts);
}

// Sum, sum of squares and largest magnitude of each column, and of the closing one.
template <class T, int W>
Report<W> moments(int64_t rows, const T* closing, const T* x, int threads) {
  using Row = typename Lanes<T, W>::Row;
  using Wide = typename Lanes<T, W>::Wide;
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Report<W>> parts(chunks.count());
  const Row marked = *reinterpret_cast<const Row*>(closing);
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Row size = {};
    Wide sum = {}, square = {};
    Report<W>& part = parts[chunk];
    for (int64_t i = begin; i < end; ++i) {
      const Row value = *reinterpret_cast<const Row*>(x + i * W);
      const Wide wide = __builtin_convertvector(value, Wide);
      const double others = lane_sum<W>(value * marked);
      size = larger_magnitude(size, value);
      sum += wide;
      square += wide * wide;
      part.sum[W] -= others;
      part.square[W] += others * others;
      part.size[W] = std::max(part.size[W], std::abs(others));
    }
    for (int c = 0; c < W; ++c) {
      part.sum[c] = sum[c];
      part.square[c] = square[c];
      part.size[c] = size[c];
    }
  });
  return total(parts);
}

// The next direction: p = D^-1 r + beta p; reports outflow . p, unless outflow is null.
template <class T, int W>
Report<W> cg_turn(int64_t rows, const T* scale, const T* outflow, const T* beta, const T* r, T* p, int threads) {
  using Row = typename Lanes<T, W>::Row;
  using Wide = typename Lanes<T, W>::Wide;
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Report<W>> parts(chunks.count());
  const Row keep = *reinterpret_cast<const Row*>(beta);
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Wide dot = {};
    for (int64_t i = begin; i < end; ++i) {
      Row* direction = reinterpret_cast<Row*>(p + i * W);
      *direction = *reinterpret_cast<const Row*>(r + i * W) * scale[i] + keep * *direction;
      if (outflow && outflow[i] > 0) dot += __builtin_convertvector(*direction * outflow[i], Wide);
    }
    for (int c = 0; c < W; ++c) parts[chunk].dot[c] = dot[c];
  });
  return total(parts);
}

// heat -= outflow warmth: what is left of the heat when the interior is so much warmer.
template <class T, int W>
void cool(int64_t rows, const T* outflow, const T* warmth, T* heat, int threads) {
  using Row = typename Lanes<T, W>::Row;
  const Row less = *reinterpret_cast<const Row*>(warmth);
  for_chunks(even_chunks(rows, W), threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    for (int64_t i = begin; i < end; ++i)
      if (outflow[i] > 0) *reinterpret_cast<Row*>(heat + i * W) -= outflow[i] * less;
  });
}

struct Scan {
  bool ordered;    // within each row the indices rise strictly: sorted, no duplicates
  bool symmetric;  // but for a chance of about 2^-60
  int64_t loops;   // entries on the diagonal
};

// A strong 64-bit mix (the finaliser of MurmurHash3) of the pair (i, j).
ISOTHERM_INLINE inline uint64_t mix(uint64_t i, uint64_t j) {
  uint64_t key = (i << 32 | j) + 0x9e3779b97f4a7c15ull;
  key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
  key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
  return key ^ key >> 33;
}

// One pass over the entries, without building the transpose: A is symmetric exactly when the sum over its entries
// of (mix(i, j) - mix(j, i)) * weight vanishes modulo 2^64, up to collisions.
template <class T>
Scan scan(const Csr<T>& graph, int threads) {
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  struct Part { uint64_t skew = 0; int64_t loops = 0; bool ordered = true; };
  std::vector<Part> parts(chunks.count());
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Part part;
    for (int64_t i = begin; i < end; ++i) {
      int64_t previous = -1;
      for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
        const int64_t j = graph.indices[e];
        uint64_t weight = 1;
        if (graph.weights) {
          std::memcpy(&weight, graph.weights + e, sizeof(T));
          weight = mix(weight >> 32, weight & 0xffffffffu) | 1;
        }
        part.skew += (mix(i, j) - mix(j, i)) * weight;
        part.ordered &= j > previous;
        part.loops += j == i;
        previous = j;
      }
    }
    parts[chunk] = part;
  });
  Part all;
  for (const Part& part : parts) {
    all.skew += part.skew;
    all.loops += part.loops;
    all.ordered &= part.ordered;
  }
  return {all.ordered, all.skew == 0, all.loops};
}

// Marks every node that a path joins to a seed. Nodes look for a marked neighbour while many of them find one, which
// takes a probe or two a node; the last ones are followed edge by edge.
inline void reach(const int64_t* indptr, const int32_t* indices, int64_t rows, uint8_t* reached) {
  std::vector<int32_t> fresh;
  int64_t found;
  do {
    fresh.clear();
    found = 0;
    for (int64_t i = 0; i < rows; ++i) {
      if (reached[i]) continue;
      for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
        if (!reached[indices[e]]) continue;
        reached[i] = 1;
        ++found;
        fresh.push_back(static_cast<int32_t>(i));
        break;
      }
    }
  } while (found > rows / 16);
  while (!fresh.empty()) {
    const int64_t i = fresh.back();
    fresh.pop_back();
    for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
      if (reached[indices[e]]) continue;
      reached[indices[e]] = 1;
      fresh.push_back(indices[e]);
    }
  }
}

}  // namespace isotherm
