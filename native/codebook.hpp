// Numbers node ids by first appearance, with an open-addressing hash table.
//
// A key is two 64-bit hashes, `word` and `check`. A table entry is also two words: the `word` of the key, and a tag,
// whose upper half is that of the `check` and whose lower half is the position plus one. A free entry is all zeros.
// The number of slots is a power of two.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "arrow.hpp"

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

  // The entry of a key, or the free entry where it belongs.
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

// Numbers pairs of keys, the source before the target. Returns where each new key first appears: 2 * row for a source,
// 2 * row + 1 for a target.
inline std::vector<int64_t> number(Table table, int64_t size, const Ends& source, const Ends& target, int64_t rows) {
  constexpr int64_t ahead = 32;
  std::vector<int64_t> first;
  const Ends* const ends[] = {&source, &target};
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t later = std::min(row + ahead, rows - 1);
    table.prefetch(source.words[later]);
    table.prefetch(target.words[later]);
    for (int side = 0; side < 2; ++side) {
      const uint64_t word = ends[side]->words[row], check = ends[side]->checks[row] & kHigh;
      if (row > 0 && word == ends[side]->words[row - 1] && check == (ends[side]->checks[row - 1] & kHigh)) {
        ends[side]->codes[row] = ends[side]->codes[row - 1];
        continue;
      }
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

// Two hashes of each text, with different seeds. A text equal to the one before reuses its key.
class TextHasher {
 public:
  TextHasher(uint64_t* words, uint64_t* checks) : words_(words), checks_(checks) {}

  void add(const View* views, int64_t count, const char* const* buffers) {
    constexpr int64_t ahead = 16;  // texts of a dictionary are far apart
    for (int64_t i = 0; i < count; ++i, ++words_, ++checks_) {
      const View& later = views[std::min(i + ahead, count - 1)];
      if (later.length > 12) __builtin_prefetch(buffers[later.buffer] + later.offset);
      const bool again = i > 0 && same(views[i], views[i - 1], buffers);
      const Key key = again ? Key{words_[-1], checks_[-1]} : key_of(views[i], buffers);
      *words_ = key.word;
      *checks_ = key.check;
    }
  }

 private:
  struct Key {
    uint64_t word, check;
  };

  static bool same(const View& a, const View& b, const char* const* buffers) {
    if (std::memcmp(&a, &b, 8) != 0) return false;  // length and start
    if (a == b || a.length <= 12) return a == b;
    return std::memcmp(buffers[a.buffer] + a.offset, buffers[b.buffer] + b.offset, a.length) == 0;
  }

  static uint64_t load(const char* text) {
    uint64_t value;
    std::memcpy(&value, text, sizeof value);
    return value;
  }

  // Each bit of the result depends on both factors. The constants below are digits of pi.
  static uint64_t fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
  }
  static Key mixed(Key key, uint64_t a, uint64_t b) {
    return {fold(a ^ 0x243f6a8885a308d3ull ^ key.word, b ^ 0x13198a2e03707344ull ^ key.word >> 32),
            fold(a ^ 0xa4093822299f31d0ull ^ key.check >> 32, b ^ 0x082efa98ec4e6c89ull ^ key.check)};
  }

  static Key key_of(const View& view, const char* const* buffers) {
    const uint64_t length = view.length;
    Key key{length * 0x452821e638d01377ull, length * 0xbe5466cf34e90c6cull};
    if (length <= 12) return finished(mixed(key, load(view.start), view.offset));
    const char* text = buffers[view.buffer] + view.offset;
    const char* const last = text + length - 16;  // may overlap the block before
    if (length < 16) return finished(mixed(key, load(text), load(last + 8)));
    for (; text < last; text += 16) key = mixed(key, load(text), load(text + 8));
    return finished(mixed(key, load(last), load(last + 8)));
  }
  static Key finished(Key key) {
    return {fold(key.word ^ 0xc0ac29b7c97c50ddull, 0x3f84d5b5b5470917ull),
            fold(key.check ^ 0x9216d5d98979fb1bull, 0xd1310ba698dfb5acull)};
  }

  uint64_t *words_, *checks_;
};

// Copies the entries of one table into a larger, empty one.
inline void rehash(const uint64_t* old, int64_t slots, Table table) {
  for (int64_t slot = 0; slot < slots; ++slot)
    if (old[2 * slot + 1] != 0) table.find(old[2 * slot], old[2 * slot + 1] & kHigh) = {old[2 * slot], old[2 * slot + 1]};
}

}  // namespace isotherm
