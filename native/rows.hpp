// A row of a block, held in registers of the instruction set for which a loop is compiled.
//
// GCC has vectors of any size, but lowers those wider than a register late and badly: they are copied through the
// stack, piece by piece, in every iteration. With AVX2 a product with 16 columns took twice as long, and a step of cg
// five times. So a row that does not fit a register is two half rows here, which the compiler takes apart long before
// it assigns registers.
#pragma once
#include <cstring>
#include <type_traits>
#include <utility>

#include "dispatch.hpp"

namespace isotherm {

// Types for W numbers that fit a register, in a register and in memory. One number is a plain scalar: GCC keeps vectors
// of one number in memory, which takes five times as long.
template <class T, int W>
struct Packed {
  typedef T Lanes __attribute__((vector_size(sizeof(T) * W)));
  typedef T Stored __attribute__((vector_size(sizeof(T) * W), aligned(sizeof(T))));
};
template <class T>
struct Packed<T, 1> {
  using Lanes = T;
  using Stored = T;
};

// W numbers of type T, in registers of `Bytes` bytes.
template <class T, int W, int Bytes, bool Fits = (int{sizeof(T)} * W <= Bytes)>
struct Row;

template <class T, int W, int Bytes>
struct Row<T, W, Bytes, true> {
  using Number = T;
  static constexpr int kWidth = W, kBytes = Bytes, kRegisters = 1;
  using Lanes = typename Packed<T, W>::Lanes;
  using Stored = typename Packed<T, W>::Stored;
  Lanes lanes = {};

  ISOTHERM_INLINE static Row at(const T* block, int64_t i = 0) {
    return {*reinterpret_cast<const Stored*>(block + i * W)};
  }
  ISOTHERM_INLINE void put(T* block, int64_t i = 0) const { *reinterpret_cast<Stored*>(block + i * W) = lanes; }

  ISOTHERM_INLINE friend Row operator+(Row a, Row b) { return {a.lanes + b.lanes}; }
  ISOTHERM_INLINE friend Row operator-(Row a, Row b) { return {a.lanes - b.lanes}; }
  ISOTHERM_INLINE friend Row operator*(Row a, Row b) { return {a.lanes * b.lanes}; }
  ISOTHERM_INLINE friend Row operator*(Row a, T b) { return {a.lanes * b}; }

  ISOTHERM_INLINE friend Row larger_magnitude(Row best, Row value) {
    const Lanes magnitude = value.lanes > -value.lanes ? value.lanes : -value.lanes;
    return {magnitude > best.lanes ? magnitude : best.lanes};
  }
};

template <class T, int W, int Bytes>
struct Row<T, W, Bytes, false> {
  using Number = T;
  using Half = Row<T, W / 2, Bytes>;
  static constexpr int kWidth = W, kBytes = Bytes, kRegisters = 2 * Half::kRegisters;
  Half low, high;

  ISOTHERM_INLINE static Row at(const T* block, int64_t i = 0) {
    return {Half::at(block, 2 * i), Half::at(block, 2 * i + 1)};
  }
  ISOTHERM_INLINE void put(T* block, int64_t i = 0) const {
    low.put(block, 2 * i);
    high.put(block, 2 * i + 1);
  }

  ISOTHERM_INLINE friend Row operator+(Row a, Row b) { return {a.low + b.low, a.high + b.high}; }
  ISOTHERM_INLINE friend Row operator-(Row a, Row b) { return {a.low - b.low, a.high - b.high}; }
  ISOTHERM_INLINE friend Row operator*(Row a, Row b) { return {a.low * b.low, a.high * b.high}; }
  ISOTHERM_INLINE friend Row operator*(Row a, T b) { return {a.low * b, a.high * b}; }

  ISOTHERM_INLINE friend Row larger_magnitude(Row best, Row value) {
    return {larger_magnitude(best.low, value.low), larger_magnitude(best.high, value.high)};
  }
};

template <class T, int W, int Bytes>
ISOTHERM_INLINE inline Row<T, W, Bytes>& operator+=(Row<T, W, Bytes>& a, Row<T, W, Bytes> b) {
  return a = a + b;
}

template <class T, int W, int Bytes>
ISOTHERM_INLINE inline Row<T, W, Bytes>& operator-=(Row<T, W, Bytes>& a, Row<T, W, Bytes> b) {
  return a = a - b;
}

// Half of a row, the lower or the upper one.
template <bool High, class T, int W, int Bytes>
ISOTHERM_INLINE inline Row<T, W / 2, Bytes> half(const Row<T, W, Bytes>& row) {
  if constexpr (Row<T, W, Bytes>::kRegisters > 1) return High ? row.high : row.low;
  Row<T, W / 2, Bytes> part;
  std::memcpy(&part, reinterpret_cast<const char*>(&row) + (High ? sizeof part : 0), sizeof part);
  return part;
}

// The sum of all lanes. Halves are added, because in a running sum each addition waits for the one before. Four floats
// are taken one by one: GCC copies half of them through the stack.
template <class T, int W, int Bytes>
ISOTHERM_INLINE inline T lane_sum(const Row<T, W, Bytes>& row) {
  if constexpr (W == 1) return row.lanes;
  else if constexpr (W == 2) return row.lanes[0] + row.lanes[1];
  else if constexpr (W * sizeof(T) == 16) return (row.lanes[0] + row.lanes[2]) + (row.lanes[1] + row.lanes[3]);
  else return lane_sum(half<false>(row) + half<true>(row));
}

// The lanes of a register, converted one by one. GCC makes one instruction of it; of __builtin_convertvector it makes
// several, with a detour through the stack.
template <class To, class From, int... I>
ISOTHERM_INLINE inline To converted(const From& from, std::integer_sequence<int, I...>) {
  return {typename To::Lanes{static_cast<typename To::Number>(from.lanes[I])...}};
}

template <class Row>
using Wide = isotherm::Row<double, Row::kWidth, Row::kBytes>;

// The same numbers in double precision.
template <class T, int W, int Bytes>
ISOTHERM_INLINE inline Row<double, W, Bytes> widened(const Row<T, W, Bytes>& row) {
  if constexpr (std::is_same_v<T, double>) return row;
  else if constexpr (W == 1) return {row.lanes};
  else if constexpr (Row<double, W, Bytes>::kRegisters > 1) return {widened(half<false>(row)), widened(half<true>(row))};
  else return converted<Row<double, W, Bytes>>(row, std::make_integer_sequence<int, W>{});
}

}  // namespace isotherm
