// Who runs a loop: how many threads, and which instruction set.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace isotherm {

#if defined(__x86_64__) && defined(__linux__)
#define ISOTHERM_X86 1
enum class Isa { base, avx2, avx512 };

inline Isa detect_isa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
  return Isa::base;
}

inline Isa isa() {
  static const Isa found = detect_isa();
  return found;
}

inline const char* isa_name() {
  return isa() == Isa::avx512 ? "avx512" : isa() == Isa::avx2 ? "avx2" : "sse2";
}

// The body is always_inline, so each of these compiles it anew for its own instruction set.
template <class Body>
__attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma"), noinline)) void run_avx512(
    const Body& body, int64_t chunk, int64_t begin, int64_t end) {
  body(chunk, begin, end);
}
template <class Body>
__attribute__((target("avx2,fma"), noinline)) void run_avx2(const Body& body, int64_t chunk,
                                                            int64_t begin, int64_t end) {
  body(chunk, begin, end);
}
#else
inline const char* isa_name() { return "base"; }
#endif

template <class Body>
void run(const Body& body, int64_t chunk, int64_t begin, int64_t end) {
#ifdef ISOTHERM_X86
  if (isa() == Isa::avx512) return run_avx512(body, chunk, begin, end);
  if (isa() == Isa::avx2) return run_avx2(body, chunk, begin, end);
#endif
  body(chunk, begin, end);
}

// Rows are cut into chunks of about equal work. The cut depends on the data alone, never on the number of
// threads, so that sums taken chunk by chunk are the same to the last bit on any machine.
struct Chunks {
  std::vector<int64_t> bounds;
  int64_t work;
  int64_t count() const { return static_cast<int64_t>(bounds.size()) - 1; }
};

constexpr int64_t kChunkWork = 1 << 14;   // entries, some 20 microseconds
constexpr int64_t kThreadWork = 1 << 19;  // what one more thread is worth: less fits the cache of one core
constexpr int64_t kRowWork = 4;           // the cost of a row in entries, beside its entries

inline int64_t chunk_count(int64_t work) {
  return std::clamp<int64_t>(work / kChunkWork, 1, 4096);
}

inline Chunks even_chunks(int64_t rows, int64_t columns) {
  Chunks chunks{{}, rows * columns / 2};  // streaming two numbers costs about as much as one entry
  const int64_t count = chunk_count(chunks.work);
  for (int64_t c = 0; c <= count; ++c) chunks.bounds.push_back(rows * c / count);
  return chunks;
}

inline Chunks entry_chunks(const int64_t* indptr, int64_t rows) {
  Chunks chunks{{0}, indptr[rows] - indptr[0] + kRowWork * rows};
  const int64_t count = chunk_count(chunks.work);
  for (int64_t c = 1; c < count; ++c) {
    const int64_t target = chunks.work / count * c;
    int64_t low = chunks.bounds.back(), high = rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (indptr[middle] - indptr[0] + kRowWork * middle < target) low = middle + 1;
      else high = middle;
    }
    chunks.bounds.push_back(low);
  }
  chunks.bounds.push_back(rows);
  return chunks;
}

// Numbers below the normal range, which a residual reaches where it has died out, are taken for 0 while this lives:
// the processor would handle them a hundred times more slowly.
struct NoDenormals {
#if defined(__x86_64__)
  unsigned saved = _mm_getcsr();
  NoDenormals() { _mm_setcsr(saved | 0x8040); }
  ~NoDenormals() { _mm_setcsr(saved); }
#endif
};

// Threads live for one call: starting one costs some 20 microseconds, far less than a chunk of work, and there
// is no pool to busy-wait, to oversubscribe, or to break in a forked child. Small work stays on this thread.
template <class Body>
void for_chunks(const Chunks& chunks, int threads, const Body& body) {
  std::atomic<int64_t> next{0};
  auto worker = [&] {
    const NoDenormals here;
    for (int64_t c; (c = next.fetch_add(1)) < chunks.count();)
      run(body, c, chunks.bounds[c], chunks.bounds[c + 1]);
  };
  const int64_t helpers = std::min<int64_t>({threads - 1, chunks.count() - 1, chunks.work / kThreadWork});
  std::vector<std::thread> pool;
  for (int64_t t = 0; t < helpers; ++t) pool.emplace_back(worker);
  worker();
  for (auto& thread : pool) thread.join();
}

// Calls body(part) for each part of a work, each on a thread of its own.
template <class Body>
void in_parts(int64_t parts, const Body& body) {
  std::vector<std::thread> pool;
  for (int64_t part = 1; part < parts; ++part) pool.emplace_back(body, part);
  body(0);
  for (auto& thread : pool) thread.join();
}

}  // namespace isotherm
