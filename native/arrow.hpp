// Reads text columns from Arrow: the part of the C stream interface that node ids need, for the string view layout.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace isotherm {

// Fixed by https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

// A string view. Up to 12 bytes are stored inline, padded with zeros; a longer text has its first 4 bytes here, and a
// buffer number and an offset.
struct View {
  uint32_t length;
  char start[4];
  uint32_t buffer, offset;

  bool operator==(const View& other) const { return std::memcmp(this, &other, sizeof(View)) == 0; }
};

// Releases an Arrow struct at the end of its scope.
template <class T>
struct Owned : T {
  Owned() : T{} {}
  Owned(const Owned&) = delete;
  ~Owned() {
    if (this->release) this->release(this);
  }
};

// Calls f with the views and the data buffers of each array in a stream.
template <class F>
void for_texts(ArrowArrayStream* stream, const F& f) {
  Owned<ArrowSchema> schema;
  if (stream->get_schema(stream, &schema) != 0 || std::strcmp(schema.format, "vu") != 0)
    throw std::runtime_error("texts come as Arrow views");
  for (;;) {
    Owned<ArrowArray> array;
    if (stream->get_next(stream, &array) != 0) throw std::runtime_error("an Arrow stream broke off");
    if (!array.release) return;
    const View* views = static_cast<const View*>(array.buffers[1]) + array.offset;
    f(views, array.length, reinterpret_cast<const char* const*>(array.buffers + 2));
  }
}

}  // namespace isotherm
