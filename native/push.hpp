// Local push: residual heat is moved on only where there is much of it.
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

// The rows of a block whose residual, relative to the degree, is above the limit of a column, and the largest one.
struct Peaks {
  std::vector<int32_t> rows;
  double largest = 0;
};

// The peaks of the first columns of a block in the interior, where degree > 0. All columns are read in one pass; a
// column is read once more where a few rows have a peak of it.
template <class T, int W>
std::vector<Peaks> find_peaks(int64_t rows, const T* degree, const std::vector<double>& least, const T* r,
                              int threads) {
  constexpr int64_t kFew = 64;
  const auto columns = static_cast<int64_t>(least.size());
  const Chunks chunks = even_chunks(rows, W);
  std::vector<Peaks> parts(chunks.count() * columns), found(columns);
  for_block_chunks(chunks, threads, [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Row = isotherm::Row<T, W, registers>;
    Peaks* const own = parts.data() + chunk * columns;
    for (int64_t first = begin; first < end; first += kFew) {
      const int64_t stop = std::min(first + kFew, end);
      Row most;
      for (int64_t i = first; i < stop; ++i)
        if (degree[i] > 0) most = larger_magnitude(most, Row::at(r, i) * (1 / degree[i]));
      T largest[W];
      most.put(largest);
      for (int64_t c = 0; c < columns; ++c) {
        own[c].largest = std::max<double>(own[c].largest, largest[c]);
        if (largest[c] <= least[c]) continue;
        for (int64_t i = first; i < stop; ++i)
          if (degree[i] > 0 && std::abs(r[i * W + c]) > least[c] * degree[i])
            own[c].rows.push_back(static_cast<int32_t>(i));
      }
    }
  });
  for (int64_t part = 0; part < chunks.count() * columns; ++part) {
    Peaks& all = found[part % columns];
    all.rows.insert(all.rows.end(), parts[part].rows.begin(), parts[part].rows.end());
    all.largest = std::max(all.largest, parts[part].largest);
  }
  return found;
}

// Moves residual heat on until |r| <= least * degree everywhere, or until `most` entries were read; `peaks` are the rows
// where |r| is larger at the beginning. To move the residual of a node means to warm the node, x += r / degree, which
// passes the heat on to its neighbours. All the while (D - A) x + r stays the same in the interior, where degree > 0.
template <class T>
void push(const Csr<T>& graph, const T* degree, double least, int64_t most, Peaks peaks, Column<T> x, Column<T> r) {
  constexpr uint8_t kListed = 1, kWaiting = 2;
  std::vector<uint8_t> state(graph.rows);
  std::vector<int32_t>& listed = peaks.rows;
  std::vector<int32_t> waiting;
  double level = std::max(least, peaks.largest / kLower);
  const int64_t last = graph.indptr[graph.rows] - 1;
  const auto above = [&](int64_t i, double limit) { return std::abs(r[i]) > limit * degree[i]; };
  for (const int32_t i : listed) state[i] = kListed;
  for (bool done = false; !done; level = std::max(level / kLower, least)) {
    done = level <= least;
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
        done = true;
        break;
      }
      state[i] &= ~kWaiting;
      x[i] += warmth;
      r[i] = 0;
      for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
        __builtin_prefetch(&r[graph.indices[std::min(e + kAhead, last)]], 1);
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
}

// The same for the first columns of a block, each with limits of its own. Returns the largest residual that is left in
// each, relative to the degree.
template <class T, int W>
std::vector<double> push_columns(const Csr<T>& graph, const T* degree, const std::vector<double>& least, int64_t most,
                                 T* x, T* r, int threads) {
  const auto columns = static_cast<int64_t>(least.size());
  std::vector<Peaks> peaks = find_peaks<T, W>(graph.rows, degree, least, r, threads);
  std::atomic<int64_t> next{0};
  on_threads(std::min<int64_t>(threads, columns) - 1, [&] {
    for (int64_t c; (c = next.fetch_add(1)) < columns;)
      push<T>(graph, degree, least[c], most, std::move(peaks[c]), {x + c, W}, {r + c, W});
  });
  std::vector<double> left;
  for (const Peaks& each : find_peaks<T, W>(graph.rows, degree, least, r, threads)) left.push_back(each.largest);
  return left;
}

}  // namespace isotherm
