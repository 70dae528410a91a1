// Memory for large arrays that a kernel fills: not cleared first, and in large pages where the system has them, because
// the first access to each small page takes longer than what most kernels do with it.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace isotherm {

template <class T>
struct LargePages {
  using value_type = T;
  static constexpr size_t kPage = size_t(1) << 21, kLarge = 2 * kPage;  // bytes

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    void* const memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    if (!memory) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    madvise(memory, bytes, MADV_HUGEPAGE);  // where it fails, pages are small
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    count * sizeof(T) < kLarge ? ::operator delete(memory) : std::free(memory);
  }
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;  // not cleared
  }
  template <class U, class... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }
  bool operator==(const LargePages&) const { return true; }
  bool operator!=(const LargePages&) const { return false; }
};

template <class T>
using Room = std::vector<T, LargePages<T>>;

}  // namespace isotherm
