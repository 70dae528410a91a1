// Cuts delimited text into columns, in the string view layout of Arrow.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "arrow.hpp"

namespace isotherm {

// Texts in the order of their rows: a view for each, and the bytes of those that do not fit their view.
class TextColumn {
 public:
  TextColumn(int64_t rows, int64_t bytes) : views_(new View[rows]), bytes_(new char[bytes + kStep]) {}

  // Adds a text. Up to `readable` bytes may be read, which are at least as many as it has.
  void add(const char* text, int64_t length, int64_t readable) {
    uint64_t start[2] = {};
    if (readable >= kStep) std::memcpy(start, text, kStep);
    else std::memcpy(start, text, std::min(length, kStep));
    uint64_t view[2];  // as two words, because a view that is written in parts is slow to copy
    if (length > kInline) {
      view[0] = start[0] << 32 | static_cast<uint64_t>(length);
      view[1] = static_cast<uint64_t>(used_) << 32;
      copy(text, length, readable);
    } else {
      start[0] &= length >= 8 ? ~0ull : (1ull << 8 * length) - 1;
      start[1] &= length > 8 ? (1ull << 8 * (length - 8)) - 1 : 0;
      view[0] = start[0] << 32 | static_cast<uint64_t>(length);
      view[1] = start[0] >> 32 | start[1] << 32;
    }
    std::memcpy(views_.get() + rows_++, view, sizeof view);
  }

  int64_t rows() const { return rows_; }
  int64_t bytes() const { return used_; }
  const View* views() const { return views_.get(); }
  const char* data() const { return bytes_.get(); }

 private:
  static constexpr int64_t kInline = 12, kStep = 16;

  // Whole steps are copied where there is room to read them: that is faster than to copy the exact number of bytes.
  void copy(const char* text, int64_t length, int64_t readable) {
    char* const to = bytes_.get() + used_;
    if (length + kStep <= readable)
      for (int64_t done = 0; done < length; done += kStep) std::memcpy(to + done, text + done, kStep);
    else
      std::memcpy(to, text, length);
    used_ += length;
  }

  std::unique_ptr<View[]> views_;
  std::unique_ptr<char[]> bytes_;
  int64_t rows_ = 0, used_ = 0;
};

// The lowest bit of each of eight bytes that equals a value.
inline uint64_t equal_bytes(uint64_t word, char value) {
  constexpr uint64_t ones = 0x0101010101010101ull, low = 0x7f7f7f7f7f7f7f7full;
  const uint64_t off = word ^ ones * static_cast<unsigned char>(value);
  return ~(((off & low) + low) | off | low) >> 7;
}

// A bit for each of 64 bytes that equals a value.
inline uint64_t marks_of(const uint64_t* words, char value) {
  uint64_t marks = 0;
  for (int k = 0; k < 8; ++k) marks |= (equal_bytes(words[k], value) * 0x0102040810204080ull >> 56) << 8 * k;
  return marks;
}

// Calls f(first, words) for 64 bytes after another; the last ones are filled up with zeros.
template <class F>
void in_words(const char* text, int64_t size, const F& f) {
  uint64_t words[8];
  int64_t first = 0;
  for (; size - first >= 64; first += 64) {
    std::memcpy(words, text + first, 64);
    f(first, words);
  }
  std::memset(words, 0, 64);
  std::memcpy(words, text + first, size - first);
  f(first, words);
}

inline int64_t count_breaks(const char* text, int64_t size) {
  int64_t count = 0;
  in_words(text, size, [&](int64_t, const uint64_t* words) {
    uint64_t sums = 0;  // one sum for each byte of the eight words, at most 8
    for (int k = 0; k < 8; ++k) sums += equal_bytes(words[k], '\n');
    count += static_cast<int64_t>(sums * 0x0101010101010101ull >> 56);
  });
  return count;
}

// The columns at some places, ascending, of text whose lines all end in a line break, perhaps after a carriage return.
// Empty if a line does not have `width` fields, or if a field is empty.
inline std::vector<TextColumn> split_rows(const char* text, int64_t size, char delimiter, int64_t width,
                                          const std::vector<int64_t>& places) {
  std::vector<TextColumn> columns;
  const int64_t rows = count_breaks(text, size);
  for (size_t k = 0; k < places.size(); ++k) columns.emplace_back(rows, size);
  int64_t start = 0, field = 0;
  size_t next = 0;
  bool whole = true;
  in_words(text, size, [&](int64_t first, const uint64_t* words) {
    uint64_t marks = whole ? marks_of(words, delimiter) | marks_of(words, '\n') : 0;
    for (; marks; marks &= marks - 1) {
      const int64_t place = first + __builtin_ctzll(marks);
      const bool last = text[place] == '\n';
      const int64_t end = place - (last && place > start && text[place - 1] == '\r');
      whole &= end > start && last == (field == width - 1);
      if (!whole) return;
      if (next < places.size() && places[next] == field) columns[next++].add(text + start, end - start, size - start);
      field = last ? 0 : field + 1;
      next = last ? 0 : next;
      start = place + 1;
    }
  });
  if (!whole || start != size) columns.clear();
  return columns;
}

// Hands a column over to a consumer of Arrow as an array of binary views; a consumer must check that it is text.
class ArrowColumn {
 public:
  static void give(TextColumn&& column, ArrowSchema* schema, ArrowArray* array) {
    *schema = {"vz", "", nullptr, 0, 0, nullptr, nullptr, [](ArrowSchema* own) { own->release = nullptr; }, nullptr};
    auto* const kept = new ArrowColumn(std::move(column));
    *array = {kept->column_.rows(), 0,       0,       4,   0, kept->buffers_, nullptr, nullptr,
              [](ArrowArray* own) {
                delete static_cast<ArrowColumn*>(own->private_data);
                own->release = nullptr;
              },
              kept};
  }

 private:
  explicit ArrowColumn(TextColumn&& column)
      : column_(std::move(column)), sizes_{column_.bytes()},
        buffers_{nullptr, column_.views(), column_.data(), sizes_} {}

  TextColumn column_;
  int64_t sizes_[1];
  const void* buffers_[4];  // validity, views, bytes, numbers of bytes
};

}  // namespace isotherm
