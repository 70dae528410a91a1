// How a loop runs: cut into chunks, on several threads, with the best instruction set of the processor.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <iterator>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define ISOTHERM_INLINE __attribute__((always_inline))
// For what happens once in a call of a kernel: hundreds of copies in the templates would double the compile time.
#define ISOTHERM_ONCE __attribute__((noinline))

namespace isotherm {

// If the kernels are only for this processor, the compiler may assume its instruction set everywhere.
#if defined(__x86_64__) && defined(__linux__) && !defined(ISOTHERM_THIS_PROCESSOR)
#define ISOTHERM_X86 1
#endif

// The kernels are compiled once for each of these; base is what the compiler assumes unasked (SSE2 on x86-64).
enum class Isa { base, avx2, avx512 };
constexpr Isa kIsas[] = {Isa::avx512, Isa::avx2, Isa::base};  // best first

inline const char* name_of(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "base";
}

inline bool processor_has(Isa isa) {
#ifdef ISOTHERM_X86
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == Isa::avx2) return avx2;
  if (isa == Isa::avx512)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
#endif
  return isa == Isa::base;
}

// The instruction set in use. Python may change it when the module is imported, before any kernel runs.
inline Isa active_isa = *std::find_if(std::begin(kIsas), std::end(kIsas), processor_has);

// The bytes of a register, as a type: each instruction set has its own, and loops over blocks are compiled for it.
template <int Bytes>
using Registers = std::integral_constant<int, Bytes>;

#ifdef ISOTHERM_X86
// The body is always_inline, so each of these compiles it anew for its own instruction set. AVX-512 has registers of 64
// bytes, but two of 32 bytes are faster (AMD EPYC, by processor time): products by a quarter to a third, steps of cg by
// a third.
template <class Body>
__attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma"), noinline)) void run_avx512(
    const Body& body, int64_t chunk, int64_t begin, int64_t end) {
  body(Registers<32>{}, chunk, begin, end);
}
template <class Body>
__attribute__((target("avx2,fma"), noinline)) void run_avx2(const Body& body, int64_t chunk,
                                                            int64_t begin, int64_t end) {
  body(Registers<32>{}, chunk, begin, end);
}
#endif

template <class Body>
void run(const Body& body, int64_t chunk, int64_t begin, int64_t end) {
#ifdef ISOTHERM_X86
  if (active_isa == Isa::avx512) return run_avx512(body, chunk, begin, end);
  if (active_isa == Isa::avx2) return run_avx2(body, chunk, begin, end);
#endif
#ifdef __AVX2__
  body(Registers<32>{}, chunk, begin, end);
#else
  body(Registers<16>{}, chunk, begin, end);  // SSE2, NEON and most others
#endif
}

// Rows are cut into chunks of about equal work. The cut depends on the data alone and never on the number of threads.
// Sums are taken chunk by chunk, so any number of threads gives the same bits.
struct Chunks {
  std::vector<int64_t> bounds;
  int64_t work;
  int64_t count() const { return static_cast<int64_t>(bounds.size()) - 1; }
};

constexpr int64_t kChunkWork = 1 << 14;   // entries; about 20 microseconds
constexpr int64_t kThreadWork = 1 << 19;  // entries per extra thread; smaller graphs fit the cache of one core
constexpr int64_t kRowWork = 4;           // fixed cost of a row, in entries

inline int64_t chunk_count(int64_t work) {
  return std::clamp<int64_t>(work / kChunkWork, 1, 4096);
}

ISOTHERM_ONCE inline Chunks even_chunks(int64_t rows, int64_t columns) {
  Chunks chunks{{}, rows * columns / 2};  // streaming two numbers costs about as much as one entry
  const int64_t count = chunk_count(chunks.work);
  for (int64_t c = 0; c <= count; ++c) chunks.bounds.push_back(rows * c / count);
  return chunks;
}

ISOTHERM_ONCE inline Chunks entry_chunks(const int64_t* indptr, int64_t rows) {
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

// While this object lives, the thread treats denormal numbers as 0. A residual that has died out becomes denormal, and
// arithmetic on denormals is about a hundred times slower.
struct NoDenormals {
#if defined(__x86_64__)
  unsigned saved = _mm_getcsr();
  NoDenormals() { _mm_setcsr(saved | 0x8040); }
  ~NoDenormals() { _mm_setcsr(saved); }
#elif defined(__aarch64__)
  uint64_t saved;
  NoDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(saved));
    asm volatile("msr fpcr, %0" : : "r"(saved | 1u << 24));
  }
  ~NoDenormals() { asm volatile("msr fpcr, %0" : : "r"(saved)); }
#else
  ~NoDenormals() {}  // not trivial, or compilers warn of an unused variable
#endif
};

// A call of work() without its type, so that what starts threads is compiled once and not for each loop.
struct Work {
  void (*call)(const void*);
  const void* what;
  void operator()() const { call(what); }
};

// Runs work() on this thread and on up to `helpers` more. work() shares out the tasks by itself, so it does not matter
// how many threads can be started: where memory or the limit on threads runs out, this thread does the rest. The first
// exception is thrown again when all threads have ended. One that left its thread would end the process.
//
// Threads live for one call. Starting one costs about 20 microseconds, little beside the work that it takes over. There
// is no pool that could busy-wait, oversubscribe the cores or break in a forked child.
ISOTHERM_ONCE inline void on_threads(int64_t helpers, const Work& work) {
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  const auto guarded = [&]() noexcept {
    try {
      work();
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  try {
    for (int64_t t = 0; t < helpers; ++t) pool.emplace_back(guarded);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  guarded();
  for (auto& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

template <class F>
void on_threads(int64_t helpers, const F& work) {
  on_threads(helpers, Work{[](const void* what) { (*static_cast<const F*>(what))(); }, &work});
}

// Calls body(registers, chunk, begin, end, room) for each chunk. The first argument is for the rows of a block
// (rows.hpp), the last is what make() returns, once for each thread. Small work stays on this thread.
template <class Make, class Body>
void for_block_chunks(const Chunks& chunks, int threads, const Make& make, const Body& body) {
  std::atomic<int64_t> next{0};
  on_threads(std::min<int64_t>({threads - 1, chunks.count() - 1, chunks.work / kThreadWork}), [&] {
    const NoDenormals here;
    auto room = make();
    const auto within = [&](auto registers, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
      body(registers, chunk, begin, end, room);
    };
    for (int64_t c; (c = next.fetch_add(1)) < chunks.count();)
      run(within, c, chunks.bounds[c], chunks.bounds[c + 1]);
  });
}

// The same for loops that need no room: body(registers, chunk, begin, end).
template <class Body>
void for_block_chunks(const Chunks& chunks, int threads, const Body& body) {
  for_block_chunks(chunks, threads, [] { return 0; },
                   [&](auto registers, int64_t chunk, int64_t begin, int64_t end, int) ISOTHERM_INLINE {
    body(registers, chunk, begin, end);
  });
}

// The same for loops that know nothing of blocks: body(chunk, begin, end).
template <class Body>
void for_chunks(const Chunks& chunks, int threads, const Body& body) {
  for_block_chunks(chunks, threads, [&](auto, int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    body(chunk, begin, end);
  });
}

// Calls body(part) for each part from 0 to parts - 1, on as many threads if they can be started.
template <class Body>
void in_parts(int64_t parts, const Body& body) {
  std::atomic<int64_t> next{0};
  on_threads(parts - 1, [&] {
    for (int64_t part; (part = next.fetch_add(1)) < parts;) body(part);
  });
}

}  // namespace isotherm
