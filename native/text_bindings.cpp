// Bindings of the cutting of text: columns go out by the Arrow PyCapsule interface.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "split.hpp"

template <class T>
void release_capsule(PyObject* capsule) noexcept {
  const char* const name = PyCapsule_GetName(capsule);
  auto* const own = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (own->release) own->release(own);
  delete own;
}

void define_texts(nb::module_& m) {
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
          nb::gil_scoped_release release;
          return count_breaks(static_cast<const char*>(text.data()), static_cast<int64_t>(text.size()));
        },
        nb::arg("text"));
  m.def("split_rows",
        [](nb::bytes text, const std::string& delimiter, int64_t width, const std::vector<int64_t>& places) {
          std::vector<TextColumn> columns;
          {
            nb::gil_scoped_release release;
            columns = split_rows(static_cast<const char*>(text.data()), static_cast<int64_t>(text.size()), delimiter[0],
                                 width, places);
          }
          nb::list found;
          for (TextColumn& column : columns) found.append(nb::cast(std::move(column)));
          return found;
        },
        nb::arg("text"), nb::arg("delimiter"), nb::arg("width"), nb::arg("places"));
}
