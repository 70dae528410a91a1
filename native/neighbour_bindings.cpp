// Bindings of the search for nearest rows.
#include "bindings.hpp"
#include "neighbours.hpp"

void define_neighbours(nb::module_& m) {
  m.def("nearest_rows",
        [](Block<const float> rows, Vector<const float> squares, Vector<const int64_t> lists,
           Block<const float> queries, std::optional<Block<const int32_t>> probes, Block<int32_t> nearest,
           int threads) {
          const Unlocked unlocked;
          nearest_rows({rows.data(), squares.data(), lists.data(), static_cast<int64_t>(lists.size()) - 1,
                        static_cast<int64_t>(rows.shape(1))},
                       {queries.data(), probes ? probes->data() : nullptr,
                        probes ? static_cast<int64_t>(probes->shape(1)) : 0, static_cast<int64_t>(queries.shape(0))},
                       static_cast<int64_t>(nearest.shape(1)), nearest.data(), threads);
        },
        nb::arg("rows").noconvert(), nb::arg("squares").noconvert(), nb::arg("lists").noconvert(),
        nb::arg("queries").noconvert(), nb::arg("probes").noconvert().none(), nb::arg("nearest").noconvert(),
        nb::arg("threads"));
  m.def("refine",
        [](Block<const float> rows, Block<const float> queries, Block<const int32_t> candidates,
           Vector<const int32_t> own, Block<int32_t> nearest, Block<double> distances, int threads) {
          const Unlocked unlocked;
          refine({rows.data(), nullptr, nullptr, 0, static_cast<int64_t>(rows.shape(1))},
                 {queries.data(), nullptr, 0, static_cast<int64_t>(queries.shape(0))}, candidates.data(),
                 static_cast<int64_t>(candidates.shape(1)), own.data(), static_cast<int64_t>(nearest.shape(1)),
                 nearest.data(), distances.data(), threads);
        },
        nb::arg("rows").noconvert(), nb::arg("queries").noconvert(), nb::arg("candidates").noconvert(),
        nb::arg("own").noconvert(), nb::arg("nearest").noconvert(), nb::arg("distances").noconvert(),
        nb::arg("threads"));
}
