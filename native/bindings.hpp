// What all bindings share: how NumPy arrays come in and go out.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <chrono>
#include <thread>

#include "kernels.hpp"

namespace nb = nanobind;
using namespace isotherm;

// While this object lives, the thread runs without the GIL. To take it back while Python ends, before 3.14, ends the
// thread by unwinding its stack, and that stack has noexcept functions of nanobind: the process would abort. Such a
// thread waits here instead for the end of the process.
struct Unlocked {
  PyThreadState* saved = PyEval_SaveThread();
  Unlocked() = default;
  Unlocked(const Unlocked&) = delete;
  ~Unlocked() {
    try {
      PyEval_RestoreThread(saved);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
};

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Block = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indptr = Vector<const int64_t>;
using Indices = Vector<const int32_t>;
template <class T>
using Weights = std::optional<Vector<const T>>;

template <class T>
Csr<T> csr(const Indptr& indptr, const Indices& indices, const Weights<T>& weights) {
  const auto rows = static_cast<int64_t>(indptr.size()) - 1;
  return {indptr.data(), indices.data(), weights ? weights->data() : nullptr, rows};
}

// Moves a vector into a NumPy array.
template <class T, class Memory>
nb::object as_array(std::vector<T, Memory>&& values) {
  auto* data = new std::vector<T, Memory>(std::move(values));
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<T, Memory>*>(p); });
  return nb::ndarray<nb::numpy, T>(data->data(), {data->size()}, owner).cast();
}

// Defines the kernels on blocks of columns. They take most of the compile time, so each precision has its own file
// (blocks_float32.cpp, blocks_float64.cpp), and two cores can share the work.
template <class T>
void define_blocks(nb::module_& m);

void define_neighbours(nb::module_& m);
void define_tables(nb::module_& m);
void define_texts(nb::module_& m);
