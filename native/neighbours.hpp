// Nearest rows of a table, by blocked products. src/isotherm/kernels/tables.py has the same functions in NumPy.
//
// Rows are cut into lists: row i of list l is between lists[l] and lists[l + 1] - 1. A query looks through the lists that
// it probes. Squared distances are compared as |y|^2 - 2 x.y, which leaves out what is the same for all rows y.
#pragma once
#include <limits>
#include <utility>

#include "kernels.hpp"

namespace isotherm {

constexpr int kQueries = 32;     // queries in a tile
constexpr int64_t kGroup = 256;  // queries of one task

// A tile in vectors of the width that the instruction set has: the compiler moves wider ones through memory. Rows is how
// many rows are multiplied with a tile at once: the sums should fill the registers.
template <int Width>
struct Tile {
  static constexpr int parts = kQueries / Width;
  static constexpr int rows = Width == 16 ? 12 : Width == 8 ? 3 : 1;
  typedef float Part __attribute__((vector_size(sizeof(float) * Width), aligned(sizeof(float))));
  typedef int32_t Bits __attribute__((vector_size(sizeof(int32_t) * Width)));
};

struct Table {
  const float* rows;
  const float* squares;  // |y|^2
  const int64_t* lists;
  int64_t count;  // lists
  int64_t columns;
};

struct Queries {
  const float* rows;
  const int32_t* probes;  // (count, width), or null to look through all lists
  int64_t width;
  int64_t count;
};

using Near = std::pair<float, int32_t>;  // distance, row; the lower row wins a tie

// The nearest rows that were seen by one query. Rows are added to a buffer of twice the size, and cut when it is full.
class Nearest {
 public:
  Nearest(Near* buffer, int64_t wanted) : buffer_(buffer), wanted_(wanted) {}
  float limit() const { return limit_; }
  void add(float distance, int32_t row) {
    buffer_[size_++] = {distance, row};
    if (size_ == 2 * wanted_) cut();
  }
  void write(int32_t* rows) {
    std::sort(buffer_, buffer_ + size_);
    for (int64_t place = 0; place < wanted_; ++place) rows[place] = place < size_ ? buffer_[place].second : -1;
  }

 private:
  void cut() {
    std::nth_element(buffer_, buffer_ + wanted_ - 1, buffer_ + size_);
    size_ = wanted_;
    limit_ = buffer_[wanted_ - 1].first;
  }
  Near* buffer_;
  int64_t wanted_, size_ = 0;
  float limit_ = std::numeric_limits<float>::infinity();
};

// Whether all numbers are negative, by their sign bits.
template <class Bits>
ISOTHERM_INLINE inline bool all_negative(const Bits& bits) {
  int64_t words[sizeof bits / sizeof(int64_t)], joined = -1;
  std::memcpy(words, &bits, sizeof bits);
  for (const int64_t word : words) joined &= word;
  constexpr auto signs = static_cast<int64_t>(0x8000000080000000);
  return (joined & signs) == signs;
}

// Distances of `Rows` rows of the table from the queries of a tile; rows that are near enough are added.
template <int Width, int Rows>
ISOTHERM_INLINE inline void visit(const Table& table, int64_t first, const float* packed, Nearest* const* nearest,
                                  int filled, float* limits) {
  using Part = typename Tile<Width>::Part;
  using Bits = typename Tile<Width>::Bits;
  constexpr int parts = Tile<Width>::parts;
  const float* rows = table.rows + first * table.columns;
  Part sums[Rows][parts] = {};
  for (int64_t c = 0; c < table.columns; ++c) {
    Part queries[parts];
    for (int part = 0; part < parts; ++part)
      queries[part] = *reinterpret_cast<const Part*>(packed + c * kQueries + part * Width);
    for (int r = 0; r < Rows; ++r)
      for (int part = 0; part < parts; ++part) sums[r][part] += rows[r * table.columns + c] * queries[part];
  }
  Bits far = ~Bits{};  // signs of limit - distance: compilers turn a comparison of vectors into one of their lanes
  for (int r = 0; r < Rows; ++r)
    for (int part = 0; part < parts; ++part) {
      sums[r][part] = table.squares[first + r] - 2 * sums[r][part];
      far &= reinterpret_cast<Bits>(*reinterpret_cast<const Part*>(limits + part * Width) - sums[r][part]);
    }
  if (all_negative(far)) return;
  float distances[Rows][kQueries];  // a copy: an index that varies would keep the sums out of the registers
  for (int r = 0; r < Rows; ++r)
    for (int part = 0; part < parts; ++part) std::memcpy(distances[r] + part * Width, &sums[r][part], sizeof(Part));
  for (int q = 0; q < filled; ++q) {
    for (int r = 0; r < Rows; ++r)
      if (distances[r][q] <= nearest[q]->limit()) nearest[q]->add(distances[r][q], static_cast<int32_t>(first + r));
    limits[q] = nearest[q]->limit();
  }
}

// Looks through one list, for up to kQueries queries.
template <int Width>
ISOTHERM_INLINE inline void look_through(const Table& table, int64_t list, const float* const* queries, int filled,
                                         Nearest* const* nearest, float* packed) {
  for (int64_t c = 0; c < table.columns; ++c)
    for (int q = 0; q < kQueries; ++q) packed[c * kQueries + q] = q < filled ? queries[q][c] : 0;
  float limits[kQueries];
  for (int q = 0; q < kQueries; ++q) limits[q] = q < filled ? nearest[q]->limit() : -std::numeric_limits<float>::max();
  const int64_t end = table.lists[list + 1];
  int64_t row = table.lists[list];
  for (; row + Tile<Width>::rows <= end; row += Tile<Width>::rows)
    visit<Width, Tile<Width>::rows>(table, row, packed, nearest, filled, limits);
  for (; row < end; ++row) visit<Width, 1>(table, row, packed, nearest, filled, limits);
}

// Which queries of a group probe each list: queries[starts[l]] to queries[starts[l + 1] - 1] for list l.
struct Probers {
  std::vector<int64_t> starts;
  std::vector<int32_t> queries;

  Probers(const Queries& asked, int64_t begin, int64_t end, int64_t lists) : starts(lists + 1) {
    const int32_t* first = asked.probes + begin * asked.width;
    const int32_t* last = asked.probes + end * asked.width;
    for (const int32_t* list = first; list < last; ++list) ++starts[*list + 1];
    for (int64_t l = 0; l < lists; ++l) starts[l + 1] += starts[l];
    queries.resize(last - first);
    std::vector<int64_t> next(starts.begin(), starts.end() - 1);
    for (int64_t q = begin; q < end; ++q)
      for (int64_t p = 0; p < asked.width; ++p)
        queries[next[asked.probes[q * asked.width + p]]++] = static_cast<int32_t>(q - begin);
  }
};

// The `wanted` nearest rows of each query, nearest first, -1 where there are fewer. Queries are taken in groups, so
// queries that are near each other should stand together: they probe the same lists.
inline void nearest_rows(const Table& table, const Queries& asked, int64_t wanted, int32_t* out, int threads) {
  const int64_t groups = (asked.count + kGroup - 1) / kGroup;
  Chunks chunks{{}, asked.count * table.columns * 16};
  for (int64_t g = 0; g <= groups; ++g) chunks.bounds.push_back(std::min(g * kGroup, asked.count));
  for_chunks(chunks, threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    std::vector<float> packed(table.columns * kQueries + kQueries);
    float* aligned = packed.data() + (64 - reinterpret_cast<uintptr_t>(packed.data()) % 64) % 64 / sizeof(float);
    std::vector<Near> buffer((end - begin) * 2 * wanted);
    std::vector<Nearest> found;
    for (int64_t q = 0; q < end - begin; ++q) found.emplace_back(buffer.data() + q * 2 * wanted, wanted);
    std::vector<int32_t> everyone(asked.probes ? 0 : end - begin);
    for (size_t q = 0; q < everyone.size(); ++q) everyone[q] = static_cast<int32_t>(q);
    const Probers probers = asked.probes ? Probers(asked, begin, end, table.count) : Probers({}, 0, 0, 0);
    for (int64_t list = 0; list < table.count; ++list) {
      const int32_t* who = asked.probes ? probers.queries.data() + probers.starts[list] : everyone.data();
      const int64_t many = asked.probes ? probers.starts[list + 1] - probers.starts[list] : end - begin;
      for (int64_t first = 0; first < many; first += kQueries) {
        const int filled = static_cast<int>(std::min<int64_t>(kQueries, many - first));
        const float* queries[kQueries];
        Nearest* nearest[kQueries];
        for (int q = 0; q < filled; ++q) {
          queries[q] = asked.rows + (begin + who[first + q]) * table.columns;
          nearest[q] = &found[who[first + q]];
        }
        if (active_isa == Isa::avx512) look_through<16>(table, list, queries, filled, nearest, aligned);
        else if (active_isa == Isa::avx2) look_through<8>(table, list, queries, filled, nearest, aligned);
        else look_through<4>(table, list, queries, filled, nearest, aligned);
      }
    }
    for (int64_t q = 0; q < end - begin; ++q) found[q].write(out + (begin + q) * wanted);
  });
}

// The `wanted` nearest among the candidates of each query, by distances without the rounding of a difference of squares.
// A candidate below 0, or equal to the query's own row, is left out; -1 and infinity stand where there are fewer.
inline void refine(const Table& table, const Queries& asked, const int32_t* candidates, int64_t width,
                   const int32_t* own, int64_t wanted, int32_t* rows, double* distances, int threads) {
  for_chunks(even_chunks(asked.count, width * table.columns), threads,
             [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    std::vector<std::pair<double, int32_t>> found;
    for (int64_t q = begin; q < end; ++q) {
      found.clear();
      for (int64_t place = 0; place < width; ++place) {
        const int32_t row = candidates[q * width + place];
        if (row < 0 || row == own[q]) continue;
        const float* x = asked.rows + q * table.columns;
        const float* y = table.rows + row * table.columns;
        double sum = 0;
        for (int64_t c = 0; c < table.columns; ++c) {
          const double gap = static_cast<double>(x[c]) - y[c];
          sum += gap * gap;
        }
        found.emplace_back(sum, row);
      }
      std::sort(found.begin(), found.end());
      for (int64_t place = 0; place < wanted; ++place) {
        const bool filled = place < static_cast<int64_t>(found.size());
        rows[q * wanted + place] = filled ? found[place].second : -1;
        distances[q * wanted + place] = filled ? std::sqrt(found[place].first) : std::numeric_limits<double>::infinity();
      }
    }
  });
}

}  // namespace isotherm
