// Bindings of the loops of the layout: they convert arguments and release the GIL, nothing else.
#include "bindings.hpp"
#include "layout.hpp"

void define_layout(nb::module_& m) {
  m.def("pair_up",
        [](Indptr indptr, Indices indices, Weights<float> weights, Indices order, Vector<int32_t> group) {
          const Unlocked unlocked;
          return pair_up(csr<float>(indptr, indices, weights), order.data(), group.data());
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("order").noconvert(), nb::arg("group").noconvert());
  m.def("contract",
        [](Indptr indptr, Indices indices, Weights<float> weights, Indices group, int64_t groups) {
          std::vector<int64_t> new_indptr;
          std::vector<int32_t> new_indices;
          std::vector<float> new_weights;
          {
            const Unlocked unlocked;
            contract(csr<float>(indptr, indices, weights), group.data(), groups, new_indptr, new_indices, new_weights);
          }
          return nb::make_tuple(as_array(std::move(new_indptr)), as_array(std::move(new_indices)),
                                as_array(std::move(new_weights)));
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("group").noconvert(), nb::arg("groups"));
  m.def("spread",
        [](Block<const float> positions, Vector<const float> mass, float left, float bottom, float scale,
           Block<float> cells) {
          const Unlocked unlocked;
          const Lattice grid{static_cast<int64_t>(cells.shape(0)), left, bottom, scale};
          spread(positions.data(), mass.data(), static_cast<int64_t>(mass.size()), grid, cells.data());
        },
        nb::arg("positions").noconvert(), nb::arg("mass").noconvert(), nb::arg("left"), nb::arg("bottom"),
        nb::arg("scale"), nb::arg("cells").noconvert());
  m.def("pull_and_push",
        [](Indptr indptr, Indices indices, Vector<const float> weights, Block<const float> positions,
           Vector<const float> mass, float pull, float left, float bottom, float scale,
           nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> field, Block<float> forces,
           int threads) {
          const Unlocked unlocked;
          const Lattice grid{static_cast<int64_t>(field.shape(0)), left, bottom, scale};
          pull_and_push({indptr.data(), indices.data(), weights.data(), static_cast<int64_t>(mass.size())},
                        positions.data(), mass.data(), pull, grid, field.data(), forces.data(), threads);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("positions").noconvert(), nb::arg("mass").noconvert(), nb::arg("pull"), nb::arg("left"),
        nb::arg("bottom"), nb::arg("scale"), nb::arg("field").noconvert(), nb::arg("forces").noconvert(),
        nb::arg("threads"));
  m.def("advance",
        [](Block<const float> forces, float rate, float momentum, float longest, Block<float> velocity,
           Block<float> gain, Block<float> positions, int threads) {
          const Unlocked unlocked;
          advance(forces.data(), static_cast<int64_t>(forces.shape(0)), rate, momentum, longest, velocity.data(),
                  gain.data(), positions.data(), threads);
        },
        nb::arg("forces").noconvert(), nb::arg("rate"), nb::arg("momentum"), nb::arg("longest"),
        nb::arg("velocity").noconvert(), nb::arg("gain").noconvert(), nb::arg("positions").noconvert(),
        nb::arg("threads"));
}
