// Conjugate gradient with the approximate factor of elimination.hpp as preconditioner, all columns of a block at once.
//
// The factor solves M z = r in two steps. Forward to y = L^-1 r: each node passes on what it has to its targets, by their
// shares. Back to z: z_v = pivot_v y_v + sum over its entries e of share_e z_{target_e}. Instead of the residual r only y
// is kept, and of a direction p only p and g = L^-1 (D - A) p. So an iteration visits each domain once: what it works on
// fits the cache of a core, and y, g, p and x are read and written once.
#pragma once
#include <algorithm>
#include <memory>
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

// Measurements of an iteration: one value per column, and one for the closing column, which only the size has.
template <int W>
struct Stride {
  double energy[W + 1] = {};     // r . z = y . pivots y
  double curvature[W + 1] = {};  // p . (D - A) p
  double cross[W + 1] = {};      // y . pivots g
  double square[W + 1] = {};     // g . pivots g
  double size[W + 1] = {};       // largest magnitude of z, which estimates the error of x

  void add(const Stride& other) {
    for (int c = 0; c <= W; ++c) {
      energy[c] += other.energy[c];
      curvature[c] += other.curvature[c];
      cross[c] += other.cross[c];
      square[c] += other.square[c];
      size[c] = std::max(size[c], other.size[c]);
    }
  }
};

template <class Row>
struct StrideSums {
  Wide<Row> energy, curvature, cross, square;
  Largest<Row> size;

  template <int W>
  ISOTHERM_INLINE void put(Stride<W>& out) const {
    energy.put(out.energy);
    curvature.put(out.curvature);
    cross.put(out.cross);
    square.put(out.square);
    size.put(out.size);
  }
};

// The state of cg on rows in order of elimination, and the step to take: x += alpha p, y -= alpha g, and then the next
// direction gain z + beta p.
template <class T>
struct Path {
  Csr<T> graph;
  const T *degree, *closing, *alpha, *gain, *beta;
  T *y, *g, *p, *x;
};

// Rows of a block, from row `first` on.
template <class T>
struct Window {
  T* rows;
  int64_t first;

  template <class Row>
  ISOTHERM_INLINE Row at(int64_t v) const { return Row::at(rows, v - first); }
  template <class Row>
  ISOTHERM_INLINE void put(int64_t v, const Row& row) const { row.put(rows, v - first); }
};

// Forward and back substitution, row by row. Domains are independent of each other. What they pass on to the rest,
// behind them, is gathered there; targets in the rest are the last of a row.
template <class T, int W>
struct Substitution {
  const FactorView<T>& factor;
  const int64_t rest = factor.rest(), rows = factor.rows.rows, last = factor.rows.indptr[rows] - 1;

  // z_v, given z at its targets: `own` has those in the same domain, or all of them if v is in the rest.
  template <bool Far, class Row>
  ISOTHERM_INLINE Row back(int64_t v, const Row& y, const Window<T>& own, const Window<T>& others) const {
    const auto& [indptr, targets, shares, _] = factor.rows;
    Row z = y * factor.pivots[v];
    int64_t e = indptr[v + 1] - 1;
    if constexpr (!Far)
      for (; e >= indptr[v] && targets[e] >= rest; --e) z += others.template at<Row>(targets[e]) * T{shares[e]};
    for (; e >= indptr[v]; --e) {
      if constexpr (Far) __builtin_prefetch(own.rows + W * (targets[std::max(e - kAhead, indptr[rest])] - rest));
      z += own.template at<Row>(targets[e]) * T{shares[e]};
    }
    return z;
  }

  // Passes on what node v has to its targets: those in the same domain, or all of them if v is in the rest.
  template <bool Far, class Row>
  ISOTHERM_INLINE void pass_on(int64_t v, const Row& has, const Window<T>& own) const {
    const auto& [indptr, targets, shares, _] = factor.rows;
    for (int64_t e = indptr[v]; e < indptr[v + 1] && (Far || targets[e] < rest); ++e) {
      if constexpr (Far) __builtin_prefetch(own.rows + W * (targets[std::min(e + kAhead, last)] - rest), 1);
      own.put(targets[e], own.template at<Row>(targets[e]) + has * T{shares[e]});
    }
  }

  // What the domains pass on to row v of the rest.
  template <class Row>
  ISOTHERM_INLINE Row gathered(int64_t v, const T* y) const {
    const auto& [indptr, sources, shares, count] = factor.back;
    const int64_t end = indptr[count] - 1;
    Row sum;
    for (int64_t e = indptr[v - rest]; e < indptr[v - rest + 1]; ++e) {
      prefetch<Row>(y, sources[std::min(e + kAhead, end)]);
      sum += Row::at(y, sources[e]) * T{shares[e]};
    }
    return sum;
  }

  // Calls body(registers, domain, begin, end, own) for each domain, with memory for its rows.
  template <class Body>
  void each_domain(int64_t work, int threads, const Body& body) const {
    int64_t most = 0;
    for (int64_t d = 0; d < factor.domain_count; ++d)
      most = std::max(most, factor.domains[d + 1] - factor.domains[d]);
    const Chunks domains{{factor.domains, factor.domains + factor.domain_count + 1}, work};
    for_block_chunks(domains, threads, [&] { return std::vector<T>(most * W); }, body);
  }

  // Calls body(registers, part, begin, end) for parts of the rest, on several threads.
  template <class Body>
  void rest_in_parts(const Chunks& parts, int threads, const Body& body) const {
    for_block_chunks(parts, threads, [&](auto registers, int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
      body(registers, part, rest + begin, rest + end);
    });
  }

  // Calls body(registers) for the whole rest, whose rows depend on each other.
  template <class Body>
  void whole_rest(const Body& body) const {
    for_block_chunks(Chunks{{rest, rows}, 0}, 1,
                     [&](auto registers, int64_t, int64_t, int64_t) ISOTHERM_INLINE { body(registers); });
  }

  // Where rows of the rest read nodes of domains, each waits for memory several times.
  Chunks rest_chunks(bool waiting) const {
    Chunks chunks = even_chunks(rows - rest, 2 * W);
    if (waiting) chunks.work *= 8;
    return chunks;
  }
};

// y = L^-1 r for the residual r = -q. Reports r . M^-1 r as energy and the largest scale r as size.
template <class T, int W>
Stride<W> forward(const FactorView<T>& factor, const double* scale, const double* q, T* y, int threads) {
  const Substitution<T, W> solve{factor};
  const int64_t rest = solve.rest, rows = solve.rows;
  const Window<T> own{y, 0}, others{y + rest * W, rest};
  for_block_chunks(even_chunks(rows, W), threads, [&](auto, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    for (int64_t k = begin * W; k < end * W; ++k) y[k] = static_cast<T>(-q[k]);
  });
  solve.each_domain(factor.rows.indptr[rest], threads,
                    [&](auto registers, int64_t, int64_t begin, int64_t end, auto&) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t v = begin; v < end; ++v) solve.template pass_on<false>(v, Row::at(y, v), own);
  });
  solve.rest_in_parts(solve.rest_chunks(true), threads,
                      [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t v = begin; v < end; ++v) (Row::at(y, v) + solve.template gathered<Row>(v, y)).put(y, v);
  });
  solve.whole_rest([&](auto registers) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t v = rest; v < rows; ++v) solve.template pass_on<true>(v, Row::at(y, v), others);
  });
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Stride<W>> parts(chunks.count());
  for_block_chunks(chunks, threads, [&](auto registers, int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    Wide<Row> energy, size;
    for (int64_t v = begin; v < end; ++v) {
      energy += widened(Row::at(y, v)) * widened(Row::at(y, v) * factor.pivots[v]);
      size = larger_magnitude(size, Wide<Row>::at(q, v) * scale[v]);
    }
    energy.put(parts[part].energy);
    size.put(parts[part].size);
  });
  return total(parts);
}

// One iteration of cg: the step, z = M^-1 r, the next direction p, and its g.
template <class T, int W, bool Weighted>
Stride<W> descend(const FactorView<T>& factor, const Path<T>& path, int threads) {
  const auto& [graph, degree, closing, alpha, gain, beta, y, g, p, x] = path;
  const Substitution<T, W> solve{factor};
  const int64_t rest = solve.rest, rows = solve.rows, last = graph.indptr[graph.rows] - 1;
  const Chunks chunks = solve.rest_chunks(false);
  std::vector<Stride<W>> parts(factor.domain_count + 2 * chunks.count());
  const std::unique_ptr<T[]> memory(new T[(rows - rest) * W]);  // filled by the first loop
  const Window<T> others{memory.get(), rest};

  const auto settle = [&](auto& sums, int64_t v) ISOTHERM_INLINE {
    using Row = decltype(sums.size.columns);
    const Row left = Row::at(y, v) - Row::at(alpha) * Row::at(g, v);
    left.put(y, v);
    sums.energy += widened(left) * widened(left * factor.pivots[v]);
    return left;
  };
  const auto turn = [&](auto& sums, int64_t v, const auto& z) ISOTHERM_INLINE {
    using Row = decltype(sums.size.columns);
    const Row before = Row::at(p, v);
    sums.size.add(z, Row::at(closing));
    (Row::at(x, v) + Row::at(alpha) * before).put(x, v);
    (Row::at(gain) * z + Row::at(beta) * before).put(p, v);
  };
  const auto bend = [&](auto& sums, int64_t v, auto far) ISOTHERM_INLINE {
    using Row = decltype(sums.size.columns);
    const Row along = Row::at(p, v);
    const Row q = along * degree[v] - gather<Row, Weighted, far>(graph, p, v, last);
    sums.curvature += widened(along) * widened(q);
    return q;
  };
  const auto keep = [&](auto& sums, int64_t v, const auto& has) ISOTHERM_INLINE {
    using Row = decltype(sums.size.columns);
    has.put(g, v);
    const Wide<Row> scaled = widened(has * factor.pivots[v]);
    sums.square += scaled * widened(has);
    sums.cross += scaled * widened(Row::at(y, v));
  };

  solve.rest_in_parts(chunks, threads, [&](auto registers, int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
    StrideSums<Row<T, W, registers>> sums;
    for (int64_t v = begin; v < end; ++v) others.put(v, settle(sums, v));
    sums.put(parts[part]);
  });
  solve.whole_rest([&](auto registers) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t v = rows - 1; v >= rest; --v)
      others.put(v, solve.template back<true>(v, others.template at<Row>(v), others, others));
  });
  solve.rest_in_parts(chunks, threads, [&](auto registers, int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    StrideSums<Row> sums;
    for (int64_t v = begin; v < end; ++v) turn(sums, v, others.template at<Row>(v));
    sums.size.put(parts[part].size);
  });
  const int64_t work = 2 * factor.rows.indptr[rest] + graph.indptr[rest] + 2 * W * rest;
  solve.each_domain(work, threads, [&](auto registers, int64_t d, int64_t begin, int64_t end, auto& room) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    const Window<T> own{room.data(), begin};
    StrideSums<Row> sums;
    for (int64_t v = end - 1; v >= begin; --v) {
      const Row z = solve.template back<false>(v, settle(sums, v), own, others);
      own.put(v, z);
      turn(sums, v, z);
    }
    std::fill_n(room.data(), (end - begin) * W, T{0});
    for (int64_t v = begin; v < end; ++v) {
      const Row has = own.template at<Row>(v) + bend(sums, v, std::false_type{});
      solve.template pass_on<false>(v, has, own);
      keep(sums, v, has);
    }
    sums.put(parts[2 * chunks.count() + d]);
  });
  solve.rest_in_parts(solve.rest_chunks(true), threads,
                      [&](auto registers, int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    StrideSums<Row> sums;
    for (int64_t v = begin; v < end; ++v)
      others.put(v, bend(sums, v, std::true_type{}) + solve.template gathered<Row>(v, g));
    sums.curvature.put(parts[part].curvature);
  });
  solve.whole_rest([&](auto registers) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    for (int64_t v = rest; v < rows; ++v) solve.template pass_on<true>(v, others.template at<Row>(v), others);
  });
  solve.rest_in_parts(chunks, threads, [&](auto registers, int64_t part, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    StrideSums<Row> sums;
    for (int64_t v = begin; v < end; ++v) keep(sums, v, others.template at<Row>(v));
    sums.put(parts[chunks.count() + part]);
  });
  return total(parts);
}

}  // namespace isotherm
