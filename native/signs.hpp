// A step of a random walk that starts from random signs, stored as one bit each instead of as a block.
#pragma once
#include "kernels.hpp"

namespace isotherm {

// The eight signs in each byte, as numbers: 1 for a set bit, -1 for a cleared one, the highest bit first.
struct Signs {
  alignas(64) float rows[256 * 8];
  constexpr Signs() : rows() {
    for (int byte = 0; byte < 256; ++byte)
      for (int c = 0; c < 8; ++c) rows[8 * byte + c] = byte >> (7 - c) & 1 ? 1.0f : -1.0f;
  }
};
inline constexpr Signs kSigns;

// out = scale (A x) with 16 columns, where row j of x is size[j] times the signs of the two bytes bits[2 j] and
// bits[2 j + 1]; out is left as it is where scale = 0.
template <bool Weighted>
void sign_average(const Csr<float>& graph, const float* scale, const float* size, const uint8_t* bits, float* out,
                  int threads) {
  const Chunks chunks = entry_chunks(graph.indptr, graph.rows);
  const int64_t last = graph.indptr[graph.rows] - 1;
  for_block_chunks(chunks, threads, [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    using Half = isotherm::Row<float, 8, registers>;
    for (int64_t i = begin; i < end; ++i) {
      if (!(scale[i] > 0)) continue;
      Half low, high;
      const int64_t stop = graph.indptr[i + 1], ahead = std::min(kFarAhead, last + 1 - stop);
      for (int64_t e = graph.indptr[i]; e < stop; ++e) {
        const int64_t j = graph.indices[e], next = graph.indices[e + ahead];
        __builtin_prefetch(size + next, 0, kLevel2);
        __builtin_prefetch(bits + 2 * next, 0, kLevel2);
        float amount = size[j];
        if constexpr (Weighted) amount *= graph.weights[e];
        low += Half::at(kSigns.rows, bits[2 * j]) * amount;
        high += Half::at(kSigns.rows, bits[2 * j + 1]) * amount;
      }
      (low * scale[i]).put(out, 2 * i);
      (high * scale[i]).put(out, 2 * i + 1);
    }
  });
}

}  // namespace isotherm
