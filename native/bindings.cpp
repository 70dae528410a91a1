// Python's door to kernels.hpp: picks the template, releases the GIL, nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "assembly.hpp"
#include "codebook.hpp"
#include "elimination.hpp"
#include "precondition.hpp"

namespace nb = nanobind;
using namespace isotherm;

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

// Calls f with the number of columns as a constant.
template <class F>
auto with_width(size_t width, F&& f) {
  switch (width) {
    case 2: return f(std::integral_constant<int, 2>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 8: return f(std::integral_constant<int, 8>{});
    case 16: return f(std::integral_constant<int, 16>{});
    default: throw nb::value_error("a block has 2, 4, 8 or 16 columns");
  }
}

template <class F>
auto with_flag(bool flag, F&& f) {
  return flag ? f(std::true_type{}) : f(std::false_type{});
}

// Calls f with whether a graph is weighted, and whether a block of this width is too large for a core's own cache.
template <class T, class F>
auto with_kind(const Csr<T>& graph, int64_t width, F&& f) {
  const bool far = graph.rows * width * static_cast<int64_t>(sizeof(T)) > kNear;
  return with_flag(graph.weights, [&](auto weighted) {
    return with_flag(far, [&](auto is_far) { return f(weighted, is_far); });
  });
}

// Rows: dot, step, residual, sum, square, size; columns: those of the block and the closing one.
template <int W>
nb::object as_array(const Report<W>& report) {
  auto* data = new Report<W>(report);
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<Report<W>*>(p); });
  return nb::ndarray<nb::numpy, double>(reinterpret_cast<double*>(data), {6, W + 1}, owner).cast();
}

template <int W, class F>
nb::object report_of(F&& f) {
  Report<W> report;
  {
    nb::gil_scoped_release release;
    report = f();
  }
  return as_array(report);
}

// Hands a vector over to NumPy.
template <class T>
nb::object as_array(std::vector<T>&& values) {
  auto* data = new std::vector<T>(std::move(values));
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(data->data(), {data->size()}, owner).cast();
}

template <class T>
void define(nb::module_& m) {
  m.def("sweep",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const T> scale, Vector<const T> closing,
           Block<const T> x, Block<T> out, int threads) {
          const Csr<T> graph = csr<T>(indptr, indices, weights);
          return with_width(x.shape(1), [&](auto width) {
            return with_kind(graph, width, [&](auto weighted, auto far) {
              return report_of<width>([&] {
                return sweep<T, width, weighted, far>(graph, scale.data(), closing.data(), x.data(), out.data(),
                                                      threads);
              });
            });
          });
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("closing").noconvert(), nb::arg("x").noconvert(),
        nb::arg("out").noconvert(), nb::arg("threads"));

  m.def("laplacian",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const T> diagonal, Block<const T> p, Block<T> q,
           int threads) {
          const Csr<T> graph = csr<T>(indptr, indices, weights);
          return with_width(p.shape(1), [&](auto width) {
            return with_kind(graph, width, [&](auto weighted, auto far) {
              return report_of<width>([&] {
                return laplacian<T, width, weighted, far>(graph, diagonal.data(), p.data(), q.data(), threads);
              });
            });
          });
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("diagonal").noconvert(), nb::arg("p").noconvert(), nb::arg("q").noconvert(), nb::arg("threads"));

  m.def("average",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const T> scale, Block<const T> x, Block<T> out,
           int threads) {
          const Csr<T> graph = csr<T>(indptr, indices, weights);
          with_width(x.shape(1), [&](auto width) {
            with_kind(graph, width, [&](auto weighted, auto far) {
              nb::gil_scoped_release release;
              average<T, width, weighted, far>(graph, scale.data(), x.data(), out.data(), threads);
            });
          });
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("x").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));

  m.def("cg_step",
        [](Vector<const T> scale, Vector<const T> closing, Vector<const T> alpha, Block<const T> p, Block<const T> q,
           Block<T> x, Block<T> r, int threads) {
          return with_width(p.shape(1), [&](auto width) {
            return report_of<width>([&] {
              return cg_step<T, width>(static_cast<int64_t>(p.shape(0)), scale.data(), closing.data(), alpha.data(),
                                       p.data(), q.data(), x.data(), r.data(), threads);
            });
          });
        },
        nb::arg("scale").noconvert(), nb::arg("closing").noconvert(), nb::arg("alpha").noconvert(),
        nb::arg("p").noconvert(), nb::arg("q").noconvert(), nb::arg("x").noconvert(), nb::arg("r").noconvert(),
        nb::arg("threads"));

  m.def("moments",
        [](Vector<const T> closing, Block<const T> x, int threads) {
          return with_width(x.shape(1), [&](auto width) {
            return report_of<width>([&] {
              return moments<T, width>(static_cast<int64_t>(x.shape(0)), closing.data(), x.data(), threads);
            });
          });
        },
        nb::arg("closing").noconvert(), nb::arg("x").noconvert(), nb::arg("threads"));

  m.def("cg_turn",
        [](Vector<const T> scale, std::optional<Vector<const T>> outflow, Vector<const T> beta, Block<const T> r,
           Block<T> p, int threads) {
          return with_width(p.shape(1), [&](auto width) {
            return report_of<width>([&] {
              return cg_turn<T, width>(static_cast<int64_t>(p.shape(0)), scale.data(),
                                       outflow ? outflow->data() : nullptr, beta.data(), r.data(), p.data(), threads);
            });
          });
        },
        nb::arg("scale").noconvert(), nb::arg("outflow").noconvert().none(), nb::arg("beta").noconvert(),
        nb::arg("r").noconvert(), nb::arg("p").noconvert(), nb::arg("threads"));

  m.def("cool",
        [](Vector<const T> outflow, Vector<const T> warmth, Block<T> heat, int threads) {
          with_width(heat.shape(1), [&](auto width) {
            nb::gil_scoped_release release;
            cool<T, width>(static_cast<int64_t>(heat.shape(0)), outflow.data(), warmth.data(), heat.data(), threads);
          });
        },
        nb::arg("outflow").noconvert(), nb::arg("warmth").noconvert(), nb::arg("heat").noconvert(),
        nb::arg("threads"));

  m.def("assemble",
        [](Indices rows, Indices columns, Weights<T> weights, Vector<int64_t> indptr, Vector<int32_t> indices,
           std::optional<Vector<T>> sorted, int threads) {
          nb::gil_scoped_release release;
          assemble<T>({rows.data(), columns.data(), weights ? weights->data() : nullptr,
                       static_cast<int64_t>(rows.size())},
                      {indptr.data(), indices.data(), sorted ? sorted->data() : nullptr,
                       static_cast<int64_t>(indptr.size()) - 1},
                      threads);
        },
        nb::arg("rows").noconvert(), nb::arg("columns").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("sorted").noconvert().none(),
        nb::arg("threads"));

  m.def("bipartite",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<int64_t> out_indptr, Vector<int32_t> out_indices,
           std::optional<Vector<T>> out_weights, int threads) {
          nb::gil_scoped_release release;
          bipartite<T>(csr<T>(indptr, indices, weights),
                       {out_indptr.data(), out_indices.data(), out_weights ? out_weights->data() : nullptr,
                        static_cast<int64_t>(out_indptr.size()) - 1},
                       threads);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("out_indptr").noconvert(), nb::arg("out_indices").noconvert(),
        nb::arg("out_weights").noconvert().none(), nb::arg("threads"));

  m.def("eliminate",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const uint8_t> interior, uint64_t seed,
           int64_t domain_size, int threads) {
          Factor factor;
          {
            nb::gil_scoped_release release;
            factor = eliminate<T>(csr<T>(indptr, indices, weights), interior.data(), seed, domain_size, threads);
          }
          return nb::make_tuple(as_array(std::move(factor.order)), as_array(std::move(factor.pivots)),
                                as_array(std::move(factor.indptr)), as_array(std::move(factor.targets)),
                                as_array(std::move(factor.shares)), as_array(std::move(factor.domains)),
                                as_array(std::move(factor.back_indptr)), as_array(std::move(factor.back_sources)),
                                as_array(std::move(factor.back_shares)));
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("interior").noconvert(), nb::arg("seed"), nb::arg("domain_size"), nb::arg("threads"));

  m.def("renumber",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const int32_t> order) {
          std::vector<int64_t> new_indptr;
          std::vector<int32_t> new_indices;
          std::vector<T> new_weights;
          {
            nb::gil_scoped_release release;
            renumber<T>(csr<T>(indptr, indices, weights), order.data(), static_cast<int64_t>(order.size()), new_indptr,
                        new_indices, new_weights);
          }
          return nb::make_tuple(as_array(std::move(new_indptr)), as_array(std::move(new_indices)),
                                weights ? as_array(std::move(new_weights)) : nb::none());
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("order").noconvert());

  m.def("precondition",
        [](Vector<const T> pivots, Indptr indptr, Indices targets, Vector<const float> shares,
           Vector<const int64_t> domains, Indptr back_indptr, Indices back_sources, Vector<const float> back_shares,
           Vector<const T> closing, Block<const T> r, Block<T> z, int threads) {
          const FactorView<T> factor{csr<float>(indptr, targets, shares), pivots.data(), domains.data(),
                                     static_cast<int64_t>(domains.size()) - 1,
                                     csr<float>(back_indptr, back_sources, back_shares)};
          return with_width(r.shape(1), [&](auto width) {
            return report_of<width>(
                [&] { return precondition<T, width>(factor, closing.data(), r.data(), z.data(), threads); });
          });
        },
        nb::arg("pivots").noconvert(), nb::arg("indptr").noconvert(), nb::arg("targets").noconvert(),
        nb::arg("shares").noconvert(), nb::arg("domains").noconvert(), nb::arg("back_indptr").noconvert(),
        nb::arg("back_sources").noconvert(), nb::arg("back_shares").noconvert(), nb::arg("closing").noconvert(),
        nb::arg("r").noconvert(), nb::arg("z").noconvert(), nb::arg("threads"));

  m.def("scan",
        [](Indptr indptr, Indices indices, Weights<T> weights, int threads) {
          Scan found;
          {
            nb::gil_scoped_release release;
            found = scan<T>(csr<T>(indptr, indices, weights), threads);
          }
          return nb::make_tuple(found.ordered, found.symmetric, found.loops);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("threads"));
}

NB_MODULE(_native, m) {
  m.attr("instruction_set") = isa_name();
  define<float>(m);
  define<double>(m);
  m.def("number",
        [](Block<uint64_t> table, int64_t size, Vector<const uint64_t> source, Vector<const uint64_t> source_checks,
           Vector<const uint64_t> target, Vector<const uint64_t> target_checks, Vector<int32_t> source_codes,
           Vector<int32_t> target_codes) {
          std::vector<int64_t> first;
          {
            nb::gil_scoped_release release;
            first = number({table.data(), static_cast<int64_t>(table.shape(0))}, size,
                           {source.data(), source_checks.data(), source_codes.data()},
                           {target.data(), target_checks.data(), target_codes.data()},
                           static_cast<int64_t>(source.size()));
          }
          return as_array(std::move(first));
        },
        nb::arg("table").noconvert(), nb::arg("size"), nb::arg("source").noconvert(),
        nb::arg("source_checks").noconvert(), nb::arg("target").noconvert(), nb::arg("target_checks").noconvert(),
        nb::arg("source_codes").noconvert(), nb::arg("target_codes").noconvert());
  m.def("text_keys",
        [](nb::object texts, Vector<uint64_t> words, Vector<uint64_t> checks) {
          const nb::object capsule = texts.attr("__arrow_c_stream__")();
          auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
          if (!stream) throw nb::python_error();
          nb::gil_scoped_release release;
          TextHasher hasher(words.data(), checks.data());
          for_texts(stream, [&](const View* views, int64_t count, const char* const* buffers) {
            hasher.add(views, count, buffers);
          });
        },
        nb::arg("texts"), nb::arg("words").noconvert(), nb::arg("checks").noconvert());
  m.def("rehash",
        [](Block<const uint64_t> old, Block<uint64_t> fresh) {
          nb::gil_scoped_release release;
          rehash(old.data(), static_cast<int64_t>(old.shape(0)), {fresh.data(), static_cast<int64_t>(fresh.shape(0))});
        },
        nb::arg("old").noconvert(), nb::arg("fresh").noconvert());
  m.def("reach",
        [](Indptr indptr, Indices indices, Vector<uint8_t> reached) {
          nb::gil_scoped_release release;
          reach(indptr.data(), indices.data(), static_cast<int64_t>(indptr.size()) - 1, reached.data());
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("reached").noconvert());
}
