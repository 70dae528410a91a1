// Numbers node ids by first appearance, with an open-addressing hash table.
//
// Whoever writes a file chooses its ids. So the hash has a secret, which is drawn anew for each code book: nobody can
// foresee which ids share a slot. Ids whose hashes agree are compared, so that the numbers do not depend on the secret.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "memory.hpp"
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace isotherm {

constexpr uint32_t kInlineText = 12;  // bytes of a text that fit into a view

// Hashes of ids, by multiplications to 128 bits with secret factors.
class Hasher {
 public:
  using Secret = std::array<uint64_t, 4>;
  explicit Hasher(const Secret& secret) : secret_(secret) {
    secret_[3] |= 1;  // no factor is zero
  }

  uint64_t of(int64_t id) const { return finished(mixed(0, static_cast<uint64_t>(id), 0)); }

  uint64_t of(const View& view, const char* const* buffers) const {
    if (view.length <= kInlineText) return finished(mixed(view.length, load(view.start), view.offset));
    return of(buffers[view.buffer] + view.offset, view.length);
  }

  // A text that is longer than a view.
  uint64_t of(const char* text, uint64_t length) const {
    const char* const last = text + length - 16;  // may overlap the block before
    if (length < 16) return finished(mixed(length, load(text), load(last + 8)));
    uint64_t hash = length;
    for (; text < last; text += 16) hash = mixed(hash, load(text), load(text + 8));
    return finished(mixed(hash, load(last), load(last + 8)));
  }

 private:
  static uint64_t load(const char* text) {
    uint64_t value;
    std::memcpy(&value, text, sizeof value);
    return value;
  }
  // Each bit of the result depends on both factors.
  static uint64_t fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
  }
  uint64_t mixed(uint64_t hash, uint64_t a, uint64_t b) const {
    return fold(a ^ secret_[0] ^ hash, b ^ secret_[1] ^ (hash << 32 | hash >> 32));
  }
  uint64_t finished(uint64_t hash) const { return fold(hash ^ secret_[2], secret_[3]); }

  Secret secret_;
};

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

// Zeros that take no memory before they are used.
template <class T>
std::unique_ptr<T[], Freed> zeros(size_t count) {
  auto* const memory = static_cast<T*>(std::calloc(count, sizeof(T)));
  if (!memory) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  constexpr size_t page = LargePages<T>::kPage;
  const size_t begin = (reinterpret_cast<size_t>(memory) + page - 1) / page * page;
  const size_t end = (reinterpret_cast<size_t>(memory) + count * sizeof(T)) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  return std::unique_ptr<T[], Freed>(memory);
}

// An id that a code book keeps: an integer, or a text in the form of a view, with a pointer in place of the offset of a
// long text. A text that ends in a zero byte is kept as long ones are, since the zeros after a short one mean nothing.
struct Key {
  uint64_t start, rest;  // the integer, the pointer or the last bytes of a short text are its `rest`

  static constexpr uint32_t kFar = 1u << 31;
  bool far() const { return static_cast<uint32_t>(start) > kInlineText; }
  uint32_t length() const { return static_cast<uint32_t>(start) & ~kFar; }
  const char* text() const {
    return far() ? reinterpret_cast<const char*>(rest) : reinterpret_cast<const char*>(this) + 4;
  }
};
static_assert(sizeof(Key) == sizeof(View) && sizeof(const char*) == 8, "keys hold views and pointers");

// Texts that stay where they are, each after its length, and in one cache line if it fits into one.
class Arena {
 public:
  const char* keep(const char* text, uint32_t length) {
    const size_t needed = sizeof length + length;
    size_t gap = left_ ? -reinterpret_cast<size_t>(next_) % kLine : 0;
    if (gap >= needed || needed > kLine) gap = 0;
    if (gap + needed > left_) {
      left_ = std::max(needed, std::clamp(bytes_, kLeast, kMost));
      next_ = blocks_.emplace_back(left_).data();
      bytes_ += left_;
      gap = 0;
    }
    char* const kept = next_ + gap + sizeof length;
    std::memcpy(kept - sizeof length, &length, sizeof length);
    std::memcpy(kept, text, length);
    next_ += gap + needed;
    left_ -= gap + needed;
    return kept;
  }
  static uint32_t length_of(const char* kept) {
    uint32_t length;
    std::memcpy(&length, kept - sizeof length, sizeof length);
    return length;
  }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kLine = 64, kLeast = size_t(1) << 16, kMost = size_t(1) << 25;  // bytes
  std::vector<Room<char>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0, bytes_ = 0;
};

// A place of the hash table. It holds an integer or a short text as a whole, so that one cache line tells whether an id
// is the same.
struct Slot {
  uint32_t tag;          // the first bytes of a short text, the lower half of the hash of a long one
  uint32_t number : 31;  // the code plus one; 0 if the slot is free
  uint32_t far : 1;      // whether `rest` is a pointer
  uint64_t rest;         // the `rest` of the key
};

// Whether two texts of the same length are equal; faster than memcmp where they are short.
inline bool equal_texts(const char* one, const char* other, uint32_t length) {
  const auto differ = [&](uint32_t place) {
    uint64_t a, b;
    std::memcpy(&a, one + place, sizeof a);
    std::memcpy(&b, other + place, sizeof b);
    return a ^ b;
  };
  if (length < 8 || length > 64) return std::memcmp(one, other, length) == 0;
  uint64_t off = differ(length - 8);  // overlaps the word before
  for (uint32_t place = 0; place + 8 < length; place += 8) off |= differ(place);
  return off == 0;
}

// Common to ends of edges of both kinds of ids: the hash of each id, and where its number goes.
struct End {
  const uint64_t* hashes;
  int32_t* codes;
};

struct IntegerEnd : End {
  const int64_t* ids;

  bool again(int64_t row) const { return ids[row] == ids[row - 1]; }
  bool is(const Slot& slot, int64_t row) const { return slot.rest == static_cast<uint64_t>(ids[row]); }
  Key kept(int64_t row, Arena&) const { return {0, static_cast<uint64_t>(ids[row])}; }
  static const char* far_text(const Slot&) { return nullptr; }
  static const char* own_text(int64_t) { return nullptr; }
  static uint64_t hash(const Hasher& hasher, const Key& key) { return hasher.of(static_cast<int64_t>(key.rest)); }
};

struct TextEnd : End {
  const View* views;
  const char* const* buffers;

  const char* text(int64_t row) const {
    const View& view = views[row];
    return view.length > kInlineText ? buffers[view.buffer] + view.offset : reinterpret_cast<const char*>(&view) + 4;
  }
  bool again(int64_t row) const {
    if (hashes[row] != hashes[row - 1]) return false;
    if (views[row] == views[row - 1]) return true;
    const uint32_t length = views[row].length;
    return length > kInlineText && length == views[row - 1].length && !std::memcmp(text(row), text(row - 1), length);
  }
  bool is(const Slot& slot, int64_t row) const {
    const Key own = words(row);
    if (!far(row)) return slot.tag == own.start >> 32 && slot.rest == own.rest && !slot.far;
    if (slot.tag != static_cast<uint32_t>(hashes[row]) || !slot.far) return false;
    const auto* const kept = reinterpret_cast<const char*>(slot.rest);
    return Arena::length_of(kept) == own.length() && equal_texts(kept, text(row), own.length());
  }
  Key kept(int64_t row, Arena& arena) const {
    const Key own = words(row);
    if (!far(row)) return own;
    return {own.start | Key::kFar, reinterpret_cast<uint64_t>(arena.keep(text(row), own.length()))};
  }
  static const char* far_text(const Slot& slot) {
    return slot.far ? reinterpret_cast<const char*>(slot.rest) : nullptr;
  }
  const char* own_text(int64_t row) const { return views[row].length > kInlineText ? text(row) : nullptr; }
  static uint64_t hash(const Hasher& hasher, const Key& key) {
    if (key.length() > kInlineText) return hasher.of(key.text(), key.length());
    View view{key.length(), {}, 0, 0};
    std::memcpy(reinterpret_cast<char*>(&view) + offsetof(View, start), key.text(), key.length());
    return hasher.of(view, nullptr);
  }

 private:
  Key words(int64_t row) const {
    Key key;
    std::memcpy(&key, views + row, sizeof key);
    return key;
  }
  bool far(int64_t row) const {
    const uint32_t length = views[row].length;
    return length > kInlineText || (length > 0 && text(row)[length - 1] == 0);
  }
};

// Texts that are the same but for case and blanks: a text with small letters, single blanks, and none at its ends.
// Texts beyond ASCII are folded by the caller, who knows Unicode.
class Folding {
 public:
  enum Kind : uint8_t { kPlain = 0, kOdd = 1, kBeyondAscii = 2 };

  // Whether a text may differ from its folded form.
  static Kind kind_of(const char* text, uint32_t length) {
    unsigned char odd = 0, beyond = 0;
    for (uint32_t i = 0; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      beyond |= byte;
      odd |= (byte <= ' ') | (static_cast<unsigned char>(byte - 'A') < 26);
    }
    return beyond & 0x80 ? kBeyondAscii : odd ? kOdd : kPlain;
  }

  // A number that a text and its folded form have in common: a hash of its letters in any order.
  static uint32_t mark_of(const char* text, uint32_t length) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < length; ++i) {
      const uint32_t c = is_blank(text[i]) ? 0 : static_cast<unsigned char>(small(text[i]));
      sum += c * c * c * 0x9e3779b1u;
    }
    return sum * 0x85ebca6bu >> 8;
  }

  static void fold(const char* text, uint32_t length, std::string& folded) {
    folded.clear();
    bool blank = false;
    for (uint32_t i = 0; i < length; ++i) {
      const char c = text[i];
      if (is_blank(c)) {
        blank = !folded.empty();
        continue;
      }
      if (blank) folded.push_back(' ');
      blank = false;
      folded.push_back(small(c));
    }
  }

 private:
  static char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
  static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }
};

// Calls f with the view of a text and the buffers that it refers to.
template <class F>
auto with_view(const std::string& text, const F& f) {
  View view{static_cast<uint32_t>(text.size()), {}, 0, 0};
  const size_t here = text.size() <= kInlineText ? text.size() : sizeof view.start;
  std::memcpy(reinterpret_cast<char*>(&view) + offsetof(View, start), text.data(), here);
  const char* const buffers[] = {text.data()};
  return f(view, buffers);
}

class Codebook {
 public:
  explicit Codebook(const Hasher::Secret& secret) : hasher_(secret), slots_(zeros<Slot>(kLeast)), mask_(kLeast - 1) {}

  // Hashes depend on nothing but the secret, so another thread may ask for them.
  void hash(const int64_t* ids, int64_t count, uint64_t* hashes) const {
    for (int64_t i = 0; i < count; ++i) hashes[i] = hasher_.of(ids[i]);
  }
  void hash(const Texts& texts, uint64_t* hashes) const {
    constexpr int64_t ahead = 16;  // texts of a dictionary are far apart
    for (const auto& [views, count, buffers] : texts.parts())
      for (int64_t i = 0; i < count; ++i, ++hashes) {
        const View& later = views[std::min(i + ahead, count - 1)];
        if (later.length > kInlineText) __builtin_prefetch(buffers[later.buffer] + later.offset);
        *hashes = i > 0 && views[i] == views[i - 1] ? hashes[-1] : hasher_.of(views[i], buffers);
      }
  }

  // Numbers the ids of both ends of edges, the source before the target. Returns where each new id first appears:
  // 2 * row for a source, 2 * row + 1 for a target.
  std::vector<int64_t> add(const IntegerEnd& source, const IntegerEnd& target, int64_t rows) {
    std::vector<int64_t> first;
    number(source, target, rows, 0, first);
    return first;
  }
  std::vector<int64_t> add(const Texts& sources, const Texts& targets, End source, End target) {
    std::vector<int64_t> first;
    auto left = sources.parts().begin(), right = targets.parts().begin();
    int64_t in_left = 0, in_right = 0;  // rows of the present parts that are done
    for (int64_t done = 0; done < sources.count();) {
      while (in_left == left->count) ++left, in_left = 0;
      while (in_right == right->count) ++right, in_right = 0;
      const int64_t rows = std::min(left->count - in_left, right->count - in_right);
      number(TextEnd{{source.hashes + done, source.codes + done}, left->views + in_left, left->buffers},
             TextEnd{{target.hashes + done, target.codes + done}, right->views + in_right, right->buffers}, rows, done,
             first);
      done += rows, in_left += rows, in_right += rows;
    }
    return first;
  }

  int64_t size() const { return static_cast<int64_t>(keys_.size()); }
  size_t bytes() const { return (mask_ + 1) * sizeof(Slot) + keys_.capacity() * sizeof(Key) + arena_.bytes(); }
  const std::vector<int32_t>& beyond_ascii() const { return beyond_ascii_; }

  // The first two ids with the same folded form, the later one first; `more` are folded forms of ids beyond ASCII, by
  // their codes. Of very many ids a sample is compared, which has both of two such ids or neither.
  std::optional<std::pair<int32_t, int32_t>> twins(const std::vector<std::pair<int32_t, std::string>>& more) const {
    struct Form {
      uint64_t hash;
      int32_t code;
    };
    std::optional<std::pair<int32_t, int32_t>> best;
    const auto offer = [&](int32_t one, int32_t other) {
      const std::pair<int32_t, int32_t> pair(std::max(one, other), std::min(one, other));
      if (one != other && (!best || pair < *best)) best = pair;
    };
    std::vector<Form> forms;
    const auto add = [&](int32_t code, const std::string& text) {
      with_view(text, [&](const View& view, const char* const* buffers) {
        const uint64_t hash = hasher_.of(view, buffers);
        const TextEnd end{{&hash, nullptr}, &view, buffers};
        const Slot& slot = find(hash, [&](const Slot& slot) { return end.is(slot, 0); });
        if (slot.number) offer(code, static_cast<int32_t>(slot.number) - 1);
        forms.push_back({hash, code});
      });
    };
    std::string folded;
    for (const auto& [code, mark] : odd_) {
      Folding::fold(keys_[code].text(), keys_[code].length(), folded);
      add(code, folded);
    }
    for (const auto& [code, text] : more) add(code, text);
    std::sort(forms.begin(), forms.end(),
              [](const Form& a, const Form& b) { return std::tie(a.hash, a.code) < std::tie(b.hash, b.code); });
    for (size_t i = 1; i < forms.size(); ++i)
      if (forms[i].hash == forms[i - 1].hash) offer(forms[i].code, forms[i - 1].code);
    return best;
  }

 private:
  struct Odd {
    int32_t code;
    uint32_t mark;
  };
  static constexpr size_t kMostCompared = size_t(1) << 15;
  static constexpr int64_t kLeast = 1024, kSmall = 1 << 18;  // slots

  int64_t home(uint64_t hash) const { return static_cast<int64_t>(hash >> shift_); }
  template <class Side>
  Slot slot_of(uint64_t hash, int64_t number) const {
    const Key& key = keys_[number - 1];
    const bool far = std::is_same_v<Side, TextEnd> && key.far();
    return {static_cast<uint32_t>(far ? hash : key.start >> 32), static_cast<uint32_t>(number), far, key.rest};
  }

  // Numbers pairs of ids, of which `before` were numbered in this batch; notes where new ids first appear.
  template <class Side>
  void number(const Side& source, const Side& target, int64_t rows, int64_t before, std::vector<int64_t>& first) {
    constexpr int64_t ahead = 32;  // rows by which a slot is asked for before it is used; a long text half as many before
    const Side* const ends[] = {&source, &target};
    for (int64_t row = 0; row < rows; ++row) {
      for (const Side* end : ends) {
        __builtin_prefetch(slots_.get() + home(end->hashes[std::min(row + ahead, rows - 1)]), 1);
        // GCC drops a prefetch from a function without other effects, so it is here.
        const int64_t soon = std::min(row + ahead / 2, rows - 1);
        if (const char* const kept = Side::far_text(slots_[home(end->hashes[soon])])) __builtin_prefetch(kept - 4);
        if (const char* const own = end->own_text(soon)) __builtin_prefetch(own);
      }
      for (int side = 0; side < 2; ++side) {
        const Side& end = *ends[side];
        if (row > 0 && end.again(row)) {
          end.codes[row] = end.codes[row - 1];
          continue;
        }
        Slot& slot = find(end.hashes[row], [&](const Slot& slot) { return end.is(slot, row); });
        if (slot.number == 0) {
          keys_.push_back(end.kept(row, arena_));
          slot = slot_of<Side>(end.hashes[row], size());
          first.push_back(2 * (before + row) + side);
          end.codes[row] = static_cast<int32_t>(size() - 1);
          if constexpr (std::is_same_v<Side, TextEnd>) note(keys_.back());
          if (4 * size() > mask_) grow<Side>();
        } else {
          end.codes[row] = static_cast<int32_t>(slot.number - 1);
        }
      }
    }
  }

  // Makes the table larger, so that it is at most a quarter full: most ids are then in the slot that was asked for early.
  template <class Side>
  void grow() {
    const int64_t count = (mask_ + 1) * (mask_ < kSmall ? 8 : 2);
    slots_ = zeros<Slot>(count);
    mask_ = count - 1;
    shift_ = 64 - __builtin_ctzll(count);
    constexpr int64_t block = 32;
    uint64_t hashes[block];
    for (int64_t begin = 0; begin < size(); begin += block) {
      const int64_t end = std::min(begin + block, size());
      for (int64_t code = begin; code < end; ++code) {
        hashes[code - begin] = Side::hash(hasher_, keys_[code]);
        __builtin_prefetch(slots_.get() + home(hashes[code - begin]), 1);
      }
      for (int64_t code = begin; code < end; ++code)
        find(hashes[code - begin], [](const Slot&) { return false; }) = slot_of<Side>(hashes[code - begin], code + 1);
    }
  }

  // The slot of an id, or the free slot where it belongs.
  template <class Same>
  Slot& find(uint64_t hash, const Same& same) const {
    for (int64_t place = home(hash);; place = (place + 1) & mask_) {
      Slot& slot = slots_[place];
      if (slot.number == 0 || same(slot)) return slot;
    }
  }

  // Notes a text that may differ from its folded form. If there are many, only those whose marks end in zeros are kept.
  void note(const Key& key) {
    const auto kind = Folding::kind_of(key.text(), key.length());
    const auto code = static_cast<int32_t>(size() - 1);
    if (kind == Folding::kBeyondAscii) beyond_ascii_.push_back(code);
    if (kind != Folding::kOdd) return;
    const uint32_t mark = Folding::mark_of(key.text(), key.length());
    if ((mark & skipped_) == 0) odd_.push_back({code, mark});
    if (odd_.size() <= kMostCompared) return;
    skipped_ = 2 * skipped_ + 1;
    odd_.erase(std::remove_if(odd_.begin(), odd_.end(), [&](const Odd& each) { return each.mark & skipped_; }),
               odd_.end());
  }

  Hasher hasher_;
  std::unique_ptr<Slot[], Freed> slots_;
  int64_t mask_;
  int shift_ = 64 - __builtin_ctzll(kLeast);
  Room<Key> keys_;  // by code
  Arena arena_;
  std::vector<Odd> odd_;               // texts that may differ from their folded form
  std::vector<int32_t> beyond_ascii_;  // codes of texts beyond ASCII
  uint32_t skipped_ = 0;
};

}  // namespace isotherm
