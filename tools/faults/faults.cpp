// Loaded before other libraries (LD_PRELOAD): lets the n-th allocation of the kernels, the n-th write to a file below a
// folder, or the n-th new name there fail. tools/fuzz/faults.py says which, by `isotherm_arm`.
//
// The n-th write is cut in half, and the next one to the same file fails, as on a disk that becomes full. Only the
// kernels' own allocations are counted: those whose caller is in their library.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

enum { NOTHING, ALLOCATION, WRITE, NAME };

std::atomic<int> armed{NOTHING}, torn{-1};  // torn: the file whose last write was cut in half
std::atomic<long> seen, target;
char folder[4096];

#define USUAL(result, name, ...) static auto usual = reinterpret_cast<result (*)(__VA_ARGS__)>(dlsym(RTLD_NEXT, name))

bool fails(int kind) { return armed == kind && ++seen == target; }

bool is_below(const char* path) { return path && !strncmp(path, folder, strlen(folder)); }

bool is_watched(int file) {
  if (armed != WRITE) return false;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return false;
  path[size] = 0;
  return is_below(path);
}

int refused(int error) {
  errno = error;
  return -1;
}

// How many bytes of a write to let through; -1 for an error.
ssize_t let_through(int file, size_t size) {
  if (!is_watched(file)) return static_cast<ssize_t>(size);
  int expected = file;
  if (torn.compare_exchange_strong(expected, -1)) return refused(ENOSPC);
  if (!fails(WRITE)) return static_cast<ssize_t>(size);
  if (size < 2) return refused(ENOSPC);
  torn = file;
  return static_cast<ssize_t>(size / 2);
}

bool by_kernels(const void* caller) {
  Dl_info info;
  return armed == ALLOCATION && dladdr(caller, &info) && info.dli_fname && std::strstr(info.dli_fname, "/kernels/_native");
}

}  // namespace

extern "C" {

// Let the n-th call of a kind fail, for files below a folder; with 0, only count.
void isotherm_arm(int kind, long n, const char* below) {
  snprintf(folder, sizeof folder, "%s", below);
  seen = 0;
  target = n;
  torn = -1;
  armed = kind;
}

// Let nothing fail any more; returns how many calls there were.
long isotherm_disarm(void) {
  armed = NOTHING;
  return seen;
}

ssize_t write(int file, const void* data, size_t size) {
  USUAL(ssize_t, "write", int, const void* , size_t);
  const ssize_t allowed = let_through(file, size);
  return allowed < 0 ? -1 : usual(file, data, static_cast<size_t>(allowed));
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  USUAL(ssize_t, "writev", int, const struct iovec* , int);
  return is_watched(file) && fails(WRITE) ? refused(ENOSPC) : usual(file, parts, count);
}

#define PWRITE(NAME_, OFFSET) \
  ssize_t NAME_(int file, const void* data, size_t size, OFFSET place) { \
    USUAL(ssize_t, #NAME_, int, const void* , size_t, OFFSET); \
    const ssize_t allowed = let_through(file, size); \
    return allowed < 0 ? -1 : usual(file, data, static_cast<size_t>(allowed), place); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define ON_FILE(NAME_) \
  int NAME_(int file) { \
    USUAL(int, #NAME_, int); \
    return is_watched(file) && fails(WRITE) ? refused(ENOSPC) : usual(file); \
  }
ON_FILE(fsync)
ON_FILE(fdatasync)

#define TRUNCATE(NAME_, SIZE) \
  int NAME_(int file, SIZE size) { \
    USUAL(int, #NAME_, int, SIZE); \
    return is_watched(file) && fails(WRITE) ? refused(EIO) : usual(file, size); \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define NEW_NAME(NAME_) \
  int NAME_(const char* from, const char* to) { \
    USUAL(int, #NAME_, const char* , const char* ); \
    return is_below(to) && fails(NAME) ? refused(EIO) : usual(from, to); \
  }
NEW_NAME(rename)
NEW_NAME(link)

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  USUAL(int, "linkat", int, const char* , int, const char* , int);
  return is_below(to) && fails(NAME) ? refused(EIO) : usual(from_folder, from, to_folder, to, flags);
}

int mkdir(const char* path, mode_t mode) {
  USUAL(int, "mkdir", const char* , mode_t);
  return is_below(path) && fails(NAME) ? refused(ENOSPC) : usual(path, mode);
}

#define OPEN(NAME_) \
  int NAME_(const char* path, int flags, ...) { \
    USUAL(int, #NAME_, const char* , int, ...); \
    va_list more; \
    va_start(more, flags); \
    const auto mode = flags & O_CREAT ? va_arg(more, int) : 0; \
    va_end(more); \
    return flags & O_CREAT && is_below(path) && fails(NAME) ? refused(ENOSPC) : usual(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  USUAL(void*, "aligned_alloc", size_t, size_t);
  return by_kernels(__builtin_return_address(0)) && fails(ALLOCATION) ? nullptr : usual(alignment, size);
}
}

void* operator new(size_t size) {
  void* const memory = by_kernels(__builtin_return_address(0)) && fails(ALLOCATION) ? nullptr : std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* operator new[](size_t size) {
  void* const memory = by_kernels(__builtin_return_address(0)) && fails(ALLOCATION) ? nullptr : std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
