// Node ids to positions, by first appearance: an open-addressing table of hashed keys.
//
// An entry is two words: the key, and in one more the upper half of its check and the position plus one; zeros where
// free. The number of slots is a power of two.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace isotherm {

struct Entry {
  uint64_t word, tag;
};

constexpr uint64_t kHigh = 0xffffffff00000000ull;

class Table {
 public:
  Table(uint64_t* words, int64_t slots)
      : entries_(reinterpret_cast<Entry*>(words)), mask_(slots - 1), shift_(64 - __builtin_ctzll(slots)) {}

  int64_t home(uint64_t word) const { return static_cast<int64_t>((word * 0x9e3779b97f4a7c15ull) >> shift_); }
  void prefetch(uint64_t word) const { __builtin_prefetch(entries_ + home(word), 1); }

  // The entry of a key, or the free one where it belongs.
  Entry& find(uint64_t word, uint64_t check) {
    for (int64_t slot = home(word);; slot = (slot + 1) & mask_) {
      Entry& entry = entries_[slot];
      if (entry.tag == 0 || (entry.word == word && (entry.tag & kHigh) == check)) return entry;
    }
  }

 private:
  Entry* entries_;
  int64_t mask_;
  int shift_;
};

struct Ends {
  const uint64_t *words, *checks;
  int32_t* codes;
};

// Numbers pairs of keys, the source before the target; returns where new ones are first seen: row times two, plus one
// for a target.
inline std::vector<int64_t> number(Table table, int64_t size, const Ends& source, const Ends& target, int64_t rows) {
  constexpr int64_t ahead = 12;
  std::vector<int64_t> first;
  const Ends* const ends[] = {&source, &target};
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t later = std::min(row + ahead, rows - 1);
    table.prefetch(source.words[later]);
    table.prefetch(target.words[later]);
    for (int side = 0; side < 2; ++side) {
      const uint64_t word = ends[side]->words[row], check = ends[side]->checks[row] & kHigh;
      Entry& entry = table.find(word, check);
      if (entry.tag == 0) {
        entry = {word, check | static_cast<uint64_t>(++size)};
        first.push_back(2 * row + side);
      }
      ends[side]->codes[row] = static_cast<int32_t>((entry.tag & ~kHigh) - 1);
    }
  }
  return first;
}

// Enters the keys of one table into another that is empty.
inline void rehash(const uint64_t* old, int64_t slots, Table table) {
  for (int64_t slot = 0; slot < slots; ++slot)
    if (old[2 * slot + 1] != 0) table.find(old[2 * slot], old[2 * slot + 1] & kHigh) = {old[2 * slot], old[2 * slot + 1]};
}

}  // namespace isotherm
