// The hot loops, on bare arrays. src/isotherm/kernels/reference.py has the same functions in SciPy.
//
// A graph is in compressed sparse rows: indptr (n + 1), indices (entries), weights (entries), or null if all are one.
// A block is a row-major n x W array of temperatures, where W is 1, 2, 4, 8 or 16. In float32 a row fills at most one
// cache line. The columns of a row are the lanes of one register or of several (rows.hpp).
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "rows.hpp"

namespace isotherm {

// A row of the block is prefetched many entries before it is needed, into the second-level cache: the processor can
// keep more such requests in flight than requests for the first level. By processor time, with 2 to 16 columns, 256
// entries ahead were better than 64 by a tenth to two fifths. Blocks of at most kNear bytes fit the second level anyway
// and need no prefetch; larger ones are called far. Other loops read several rows for an entry, and look less far ahead.
constexpr int64_t kFarAhead = 256, kAhead = 32;
constexpr int kLevel2 = 2;  // the locality argument of __builtin_prefetch
constexpr int64_t kNear = 1 << 20;

template <class T>
struct Csr {
  const int64_t* indptr;
  const int32_t* indices;
  const T* weights;  // null: all one
  int64_t rows;
};

// What one pass over a block measured: one value per column, and a last one for the closing column. The closing column
// is minus the sum of the columns that `closing` marks; it stands for the class that was not solved for.
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

template <class Report>
ISOTHERM_ONCE Report total(const std::vector<Report>& parts) {
  Report all;
  for (const auto& part : parts) all.add(part);
  return all;
}

template <class Row>
ISOTHERM_INLINE inline void prefetch(const typename Row::Number* block, int64_t i) {
  const auto* const first = reinterpret_cast<const char*>(block + i * Row::kWidth);
  for (size_t line = 0; line < sizeof(Row); line += 64) __builtin_prefetch(first + line, 0, kLevel2);
}

// The largest magnitude of each column, and of the closing column.
template <class Row>
struct Largest {
  Row columns;
  typename Row::Number closing = 0;

  ISOTHERM_INLINE void add(const Row& value, const Row& marked) { add(value, lane_sum(value * marked)); }
  ISOTHERM_INLINE void add(const Row& value, typename Row::Number others) {
    columns = larger_magnitude(columns, value);
    closing = std::max(closing, std::abs(others));
  }
  template <int W>
  ISOTHERM_INLINE void put(double (&out)[W]) const {
    widened(columns).put(out);
    out[W - 1] = closing;
  }
};

// Sum, sum of squares and largest magnitude of each column, and of the closing column.
template <class Row>
struct Moments {
  Wide<Row> sum, square;
  double closing_sum = 0, closing_square = 0;
  Largest<Row> size;

  ISOTHERM_INLINE void add(const Row& value, const Row& marked) {
    const Wide<Row> wide = widened(value);
    sum += wide;
    square += wide * wide;
    const typename Row::Number others = lane_sum(value * marked);
    closing_sum -= others;
    closing_square += static_cast<double>(others) * others;
    size.add(value, others);
  }
  template <int W>
  ISOTHERM_INLINE void put(Report<W>& report) const {
    sum.put(report.sum);
    square.put(report.square);
    report.sum[W] = closing_sum;
    report.square[W] = closing_square;
    size.put(report.size);
  }
};

// (A x)_i, the sum over the neighbours of row i. A near block is summed in several independent chains, because within
// one chain each addition waits for the one before; for a far block memory is the limit, and one chain is enough.
template <class Row, bool Weighted, bool Far, class T>
ISOTHERM_INLINE inline Row gather(const Csr<T>& graph, const T* x, int64_t i, int64_t last) {
  constexpr int64_t chains = Far ? 1 : std::max(1, 4 / Row::kRegisters);
  const int64_t end = graph.indptr[i + 1], ahead = std::min(kFarAhead, last + 1 - end);
  const auto neighbour = [&](int64_t e) ISOTHERM_INLINE -> Row {
    if constexpr (Far) prefetch<Row>(x, graph.indices[e + ahead]);
    const Row row = Row::at(x, graph.indices[e]);
    if constexpr (Weighted) return row * graph.weights[e];
    else return row;
  };
  Row sums[chains] = {};
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
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  std::vector<Report<W>> parts(chunks.count());
  const int64_t last = graph.indptr[graph.rows] - 1;
  for_block_chunks(chunks, threads, [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    const Row marked = Row::at(closing);
    Largest<Row> step;
    Moments<Row> moments;
    for (int64_t i = begin; i < end; ++i) {
      const Row old = Row::at(x, i);
      const Row fresh = scale[i] > 0 ? gather<Row, Weighted, Far>(graph, x, i, last) * scale[i] : old;
      fresh.put(out, i);
      step.add(fresh - old, marked);
      moments.add(fresh, marked);
    }
    step.put(parts[chunk].step);
    step.put(parts[chunk].residual);
    moments.put(parts[chunk]);
  });
  return total(parts);
}

// out = scale (A x) on the rows of a slice of indptr; out is left as it is where scale = 0.
template <class T, int W, bool Weighted, bool Far>
void average(const Csr<T>& graph, const T* scale, const T* x, T* out, int threads) {
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  const int64_t last = graph.indptr[graph.rows] - 1;
  for_block_chunks(chunks, threads, [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t i = begin; i < end; ++i)
      if (scale[i] > 0) (gather<Row, Weighted, Far>(graph, x, i, last) * scale[i]).put(out, i);
  });
}

// A step of Chebyshev's recurrence: before = scale (A x) - shift x - before.
template <class T, int W, bool Weighted, bool Far>
void chebyshev(const Csr<T>& graph, const T* scale, T shift, const T* x, T* before, int threads) {
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  const int64_t last = graph.indptr[graph.rows] - 1;
  for_block_chunks(chunks, threads, [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t i = begin; i < end; ++i) {
      const Row sum = scale[i] > 0 ? gather<Row, Weighted, Far>(graph, x, i, last) * scale[i] : Row{};
      (sum - Row::at(x, i) * shift - Row::at(before, i)).put(before, i);
    }
  });
}

// q = (D - A) p on rows with a positive diagonal (the interior), 0 elsewhere; reports p . q.
template <class T, int W, bool Weighted, bool Far>
Report<W> laplacian(const Csr<T>& graph, const T* diagonal, const T* p, T* q, int threads) {
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  std::vector<Report<W>> parts(chunks.count());
  const int64_t last = graph.indptr[graph.rows] - 1;
  for_block_chunks(chunks, threads, [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    Wide<Row> dot;
    for (int64_t i = begin; i < end; ++i) {
      Row value;
      if (diagonal[i] > 0) {
        const Row own = Row::at(p, i);
        value = own * diagonal[i] - gather<Row, Weighted, Far>(graph, p, i, last);
        dot += widened(own) * widened(value);
      }
      value.put(q, i);
    }
    dot.put(parts[chunk].dot);
  });
  return total(parts);
}

// One cg step along the direction p: x += alpha p, r -= alpha q. Reports r . D^-1 r and what the stopping rule needs.
template <class T, int W>
Report<W> cg_step(int64_t rows, const T* scale, const T* closing, const T* alpha, const T* p, const T* q, T* x, T* r,
                  int threads) {
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Report<W>> parts(chunks.count());
  for_block_chunks(chunks, threads, [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    const Row marked = Row::at(closing), length = Row::at(alpha);
    Wide<Row> dot;
    Largest<Row> step, residual;
    Moments<Row> moments;
    for (int64_t i = begin; i < end; ++i) {
      const Row move = length * Row::at(p, i), value = Row::at(x, i) + move;
      value.put(x, i);
      step.add(move, marked);
      moments.add(value, marked);
      const Row rest = Row::at(r, i) - length * Row::at(q, i), scaled = rest * scale[i];
      rest.put(r, i);
      residual.add(scaled, marked);
      dot += widened(rest) * widened(scaled);
    }
    dot.put(parts[chunk].dot);
    step.put(parts[chunk].step);
    residual.put(parts[chunk].residual);
    moments.put(parts[chunk]);
  });
  return total(parts);
}

// Sum, sum of squares and largest magnitude of each column and of the closing column.
template <class T, int W>
Report<W> moments(int64_t rows, const T* closing, const T* x, int threads) {
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Report<W>> parts(chunks.count());
  for_block_chunks(chunks, threads, [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    const Row marked = Row::at(closing);
    Moments<Row> moments;
    for (int64_t i = begin; i < end; ++i) moments.add(Row::at(x, i), marked);
    moments.put(parts[chunk]);
  });
  return total(parts);
}

// The next cg direction: p = D^-1 r + beta p. Reports outflow . p, unless outflow is null.
template <class T, int W>
Report<W> cg_turn(int64_t rows, const T* scale, const T* outflow, const T* beta, const T* r, T* p, int threads) {
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Report<W>> parts(chunks.count());
  for_block_chunks(chunks, threads, [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    const Row keep = Row::at(beta);
    Wide<Row> dot;
    for (int64_t i = begin; i < end; ++i) {
      const Row direction = Row::at(r, i) * scale[i] + keep * Row::at(p, i);
      direction.put(p, i);
      // In a narrow block, adding 0 takes less time than a branch that is hard to predict.
      if (outflow && (W <= 2 || outflow[i] > 0)) dot += widened(direction * outflow[i]);
    }
    dot.put(parts[chunk].dot);
  });
  return total(parts);
}

// heat -= outflow * warmth: the right-hand side after the whole interior is raised by `warmth`, one value per column.
template <class T, int W>
void cool(int64_t rows, const T* outflow, const T* warmth, T* heat, int threads) {
  for_block_chunks(even_chunks(rows, W), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    const Row less = Row::at(warmth);
    for (int64_t i = begin; i < end; ++i)
      if (outflow[i] > 0) (Row::at(heat, i) - less * outflow[i]).put(heat, i);
  });
}

// Sums over groups of rows, weighted: out (groups, W) += weight x. A row with a negative group is in none.
template <class T, int W>
void group_sums(int64_t rows, const int32_t* group, const T* weight, const T* x, int64_t groups, double* out,
                int threads) {
  const Chunks chunks = even_chunks(rows, W);
  std::vector<double> parts(chunks.count() * groups * W);
  for_block_chunks(chunks, threads, [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    double* const sums = parts.data() + chunk * groups * W;
    int32_t current = -1;
    Wide<Row> run;  // the sum of rows of the same group, one after the other
    const auto finish = [&]() ISOTHERM_INLINE {
      if (current >= 0) (Wide<Row>::at(sums, current) + run).put(sums, current);
    };
    for (int64_t i = begin; i < end; ++i) {
      if (group[i] < 0) continue;
      if (group[i] != current) {
        finish();
        current = group[i];
        run = {};
      }
      run += widened(weight ? Row::at(x, i) * weight[i] : Row::at(x, i));
    }
    finish();
  });
  for (int64_t chunk = 0; chunk < chunks.count(); ++chunk)
    for (int64_t k = 0; k < groups * W; ++k) out[k] += parts[chunk * groups * W + k];
}

// x += weight * amounts of the group of each row; amounts is (groups, W).
template <class T, int W>
void group_shift(int64_t rows, const int32_t* group, const T* weight, const T* amounts, T* x, int threads) {
  for_block_chunks(even_chunks(rows, W), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t i = begin; i < end; ++i)
      if (group[i] >= 0 && (!weight || weight[i] != 0)) {
        const Row amount = Row::at(amounts, group[i]);
        (Row::at(x, i) + (weight ? amount * weight[i] : amount)).put(x, i);
      }
  });
}

struct Scan {
  bool ordered;    // indices rise strictly within each row: sorted, no duplicates
  bool symmetric;  // wrong with a probability of about 2^-60
  int64_t loops;   // entries on the diagonal
};

// A random number drawn in each process, so that nobody can craft a matrix whose hashes cancel out by design.
inline const uint64_t secret = [] {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}();

// A strong 64-bit mix (the finaliser of MurmurHash3) of the pair (i, j).
ISOTHERM_INLINE inline uint64_t mix(uint64_t i, uint64_t j) {
  uint64_t key = (i << 32 | j) + secret;
  key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
  key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
  return key ^ key >> 33;
}

// One pass over the entries, without building the transpose. A is symmetric if and only if, up to hash collisions, the
// sum over its entries of (mix(i, j) - mix(j, i)) * weight is 0 modulo 2^64.
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

}  // namespace isotherm
