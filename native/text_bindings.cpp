// Bindings of the cutting of text and the numbering of ids: columns go in and out by the Arrow PyCapsule interface.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "codebook.hpp"
#include "split.hpp"

template <class T>
void release_capsule(PyObject* capsule) noexcept {
  const char* const name = PyCapsule_GetName(capsule);
  auto* const own = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (own->release) own->release(own);
  delete own;
}

// A column of texts that comes in.
Texts texts_of(const nb::object& column) {
  const nb::object capsule = column.attr("__arrow_c_stream__")();
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (!stream) throw nb::python_error();
  return Texts(stream);
}

void require(bool holds) {
  if (!holds) throw nb::value_error("the arrays have different lengths");
}

void define_codebook(nb::module_& m) {
  using Words = Vector<const uint64_t>;
  using Codes = Vector<int32_t>;
  nb::class_<Codebook>(m, "Codebook")
      .def("__init__",
           [](Codebook* book, Words secret) {
             Hasher::Secret own;
             require(secret.size() == own.size());
             std::copy_n(secret.data(), own.size(), own.begin());
             new (book) Codebook(own);
           },
           nb::arg("secret").noconvert())
      .def_prop_ro("size", &Codebook::size)
      .def_prop_ro("bytes", &Codebook::bytes)
      .def("hash_integers",
           [](const Codebook& book, Vector<const int64_t> ids, Vector<uint64_t> hashes) {
             require(ids.size() == hashes.size());
             const Unlocked unlocked;
             book.hash(ids.data(), static_cast<int64_t>(ids.size()), hashes.data());
           },
           nb::arg("ids").noconvert(), nb::arg("hashes").noconvert())
      .def("hash_texts",
           [](const Codebook& book, nb::object ids, Vector<uint64_t> hashes) {
             const Texts texts = texts_of(ids);
             require(texts.count() == static_cast<int64_t>(hashes.size()));
             const Unlocked unlocked;
             book.hash(texts, hashes.data());
           },
           nb::arg("ids"), nb::arg("hashes").noconvert())
      .def("add_integers",
           [](Codebook& book, Vector<const int64_t> source, Vector<const int64_t> target, Words source_hashes,
              Words target_hashes, Codes source_codes, Codes target_codes) {
             const size_t rows = source.size();
             require(target.size() == rows && source_hashes.size() == rows && target_hashes.size() == rows &&
                     source_codes.size() == rows && target_codes.size() == rows);
             std::vector<int64_t> first;
             {
               const Unlocked unlocked;
               first = book.add(IntegerEnd{{source_hashes.data(), source_codes.data()}, source.data()},
                                IntegerEnd{{target_hashes.data(), target_codes.data()}, target.data()},
                                static_cast<int64_t>(rows));
             }
             return as_array(std::move(first));
           },
           nb::arg("source").noconvert(), nb::arg("target").noconvert(), nb::arg("source_hashes").noconvert(),
           nb::arg("target_hashes").noconvert(), nb::arg("source_codes").noconvert(),
           nb::arg("target_codes").noconvert())
      .def("add_texts",
           [](Codebook& book, nb::object source, nb::object target, Words source_hashes, Words target_hashes,
              Codes source_codes, Codes target_codes) {
             const Texts sources = texts_of(source), targets = texts_of(target);
             const auto rows = static_cast<size_t>(sources.count());
             require(targets.count() == sources.count() && source_hashes.size() == rows &&
                     target_hashes.size() == rows && source_codes.size() == rows && target_codes.size() == rows);
             std::vector<int64_t> first;
             {
               const Unlocked unlocked;
               first = book.add(sources, targets, {source_hashes.data(), source_codes.data()},
                                {target_hashes.data(), target_codes.data()});
             }
             return as_array(std::move(first));
           },
           nb::arg("source"), nb::arg("target"), nb::arg("source_hashes").noconvert(),
           nb::arg("target_hashes").noconvert(), nb::arg("source_codes").noconvert(),
           nb::arg("target_codes").noconvert())
      .def("beyond_ascii",
           [](const Codebook& book) { return as_array(std::vector<int32_t>(book.beyond_ascii())); })
      .def("twins",
           // Converted by hand, because nanobind would abort where memory runs out.
           [](const Codebook& book, nb::list folded) {
             std::vector<std::pair<int32_t, std::string>> forms;
             for (nb::handle each : folded) {
               Py_ssize_t size = 0;
               const char* const text = PyUnicode_AsUTF8AndSize(nb::object(each[1]).ptr(), &size);
               if (!text) throw nb::python_error();
               forms.emplace_back(nb::cast<int32_t>(each[0]), std::string(text, static_cast<size_t>(size)));
             }
             const Unlocked unlocked;
             return book.twins(forms);
           },
           nb::arg("folded"));
}

void define_texts(nb::module_& m) {
  define_codebook(m);
  nb::class_<TextColumn>(m, "TextColumn").def(
      "__arrow_c_array__",
      [](TextColumn& column, nb::object) {
        if (!column.views()) throw std::runtime_error("a column can be taken once");
        auto* const schema = new ArrowSchema;
        auto* const array = new ArrowArray;
        ArrowColumn::give(std::move(column), schema, array);
        return nb::make_tuple(nb::steal(PyCapsule_New(schema, "arrow_schema", release_capsule<ArrowSchema>)),
                              nb::steal(PyCapsule_New(array, "arrow_array", release_capsule<ArrowArray>)));
      },
      nb::arg("requested_schema") = nb::none());

  m.def("count_breaks",
        [](nb::bytes text) {
          const Unlocked unlocked;
          return count_breaks(static_cast<const char*>(text.data()), static_cast<int64_t>(text.size()));
        },
        nb::arg("text"));
  m.def("split_rows",
        // The places are a list, because a conversion to a vector by nanobind would abort where memory runs out.
        [](nb::bytes text, const std::string& delimiter, int64_t width, nb::list wanted) {
          std::vector<int64_t> places;
          for (nb::handle place : wanted) places.push_back(nb::cast<int64_t>(place));
          std::vector<TextColumn> columns;
          {
            const Unlocked unlocked;
            columns = split_rows(static_cast<const char*>(text.data()), static_cast<int64_t>(text.size()), delimiter[0],
                                 width, places);
          }
          nb::list found;
          for (TextColumn& column : columns) found.append(nb::cast(std::move(column)));
          return found;
        },
        nb::arg("text"), nb::arg("delimiter"), nb::arg("width"), nb::arg("places"));
}
