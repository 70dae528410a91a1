// Reads text columns from Arrow: the part of the C stream interface that node ids need, for the string view layout.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

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

// The texts of a stream, in one or more arrays, which stay alive with it.
class Texts {
 public:
  struct Part {
    const View* views;
    int64_t count;
    const char* const* buffers;
  };

  explicit Texts(ArrowArrayStream* stream) {
    Owned<ArrowSchema> schema;
    if (stream->get_schema(stream, &schema) != 0 || std::strcmp(schema.format, "vu") != 0)
      throw std::runtime_error("texts come as Arrow views");
    for (;;) {
      auto array = std::make_unique<Owned<ArrowArray>>();
      if (stream->get_next(stream, array.get()) != 0) throw std::runtime_error("an Arrow stream broke off");
      if (!array->release) return;
      parts_.push_back({static_cast<const View*>(array->buffers[1]) + array->offset, array->length,
                        reinterpret_cast<const char* const*>(array->buffers + 2)});
      count_ += array->length;
      arrays_.push_back(std::move(array));
    }
  }

  int64_t count() const { return count_; }
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<std::unique_ptr<Owned<ArrowArray>>> arrays_;
  std::vector<Part> parts_;
  int64_t count_ = 0;
};

}  // namespace isotherm
