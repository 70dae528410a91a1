// Bindings of the kernels on blocks of columns: they pick the template and release the GIL, nothing else.
#pragma once
#include "bindings.hpp"
#include "descent.hpp"
#include "push.hpp"

// Calls f with the number of columns as a compile-time constant.
template <class F>
auto with_width(size_t width, F&& f) {
  switch (width) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 8: return f(std::integral_constant<int, 8>{});
    case 16: return f(std::integral_constant<int, 16>{});
    default: throw nb::value_error("a block has 1, 2, 4, 8 or 16 columns");
  }
}

template <class F>
auto with_flag(bool flag, F&& f) {
  return flag ? f(std::true_type{}) : f(std::false_type{});
}

// Calls f with two compile-time flags: whether the graph is weighted, and whether the block is far (see kNear).
template <class T, class F>
auto with_kind(const Csr<T>& graph, int64_t width, F&& f) {
  const bool far = graph.rows * width * static_cast<int64_t>(sizeof(T)) > kNear;
  return with_flag(graph.weights, [&](auto weighted) {
    return with_flag(far, [&](auto is_far) { return f(weighted, is_far); });
  });
}

// A report as a NumPy array, one row for each of its members. Columns: those of the block, then the closing.
template <int W, class Report>
ISOTHERM_ONCE nb::object as_array(const Report& report) {
  auto* data = new Report(report);
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<Report*>(p); });
  constexpr size_t columns = W + 1, members = sizeof(Report) / sizeof(double) / columns;
  return nb::ndarray<nb::numpy, double>(reinterpret_cast<double*>(data), {members, columns}, owner).cast();
}

template <int W, class F>
nb::object report_of(F&& f) {
  decltype(f()) report;
  {
    const Unlocked unlocked;
    report = f();
  }
  return as_array<W>(report);
}

template <class T>
FactorView<T> factor_view(Vector<const T> pivots, Indptr indptr, Indices targets, Vector<const float> shares,
                          Vector<const int64_t> domains, Indptr back_indptr, Indices back_sources,
                          Vector<const float> back_shares) {
  return {csr<float>(indptr, targets, shares), pivots.data(), domains.data(),
          static_cast<int64_t>(domains.size()) - 1, csr<float>(back_indptr, back_sources, back_shares)};
}

template <class T>
void define_blocks(nb::module_& m) {
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
              const Unlocked unlocked;
              average<T, width, weighted, far>(graph, scale.data(), x.data(), out.data(), threads);
            });
          });
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("x").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));

  m.def("chebyshev",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const T> scale, T shift, Block<const T> x,
           Block<T> before, int threads) {
          const Csr<T> graph = csr<T>(indptr, indices, weights);
          with_width(x.shape(1), [&](auto width) {
            with_kind(graph, width, [&](auto weighted, auto far) {
              const Unlocked unlocked;
              chebyshev<T, width, weighted, far>(graph, scale.data(), shift, x.data(), before.data(), threads);
            });
          });
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("shift"), nb::arg("x").noconvert(), nb::arg("before").noconvert(),
        nb::arg("threads"));

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
            const Unlocked unlocked;
            cool<T, width>(static_cast<int64_t>(heat.shape(0)), outflow.data(), warmth.data(), heat.data(), threads);
          });
        },
        nb::arg("outflow").noconvert(), nb::arg("warmth").noconvert(), nb::arg("heat").noconvert(),
        nb::arg("threads"));

  m.def("group_sums",
        [](Vector<const int32_t> group, std::optional<Vector<const T>> weight, Block<const T> x, Block<double> out,
           int threads) {
          with_width(x.shape(1), [&](auto width) {
            const Unlocked unlocked;
            group_sums<T, width>(static_cast<int64_t>(x.shape(0)), group.data(), weight ? weight->data() : nullptr,
                                 x.data(), static_cast<int64_t>(out.shape(0)), out.data(), threads);
          });
        },
        nb::arg("group").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("x").noconvert(),
        nb::arg("out").noconvert(), nb::arg("threads"));

  m.def("group_shift",
        [](Vector<const int32_t> group, std::optional<Vector<const T>> weight, Block<const T> amounts, Block<T> x,
           int threads) {
          with_width(x.shape(1), [&](auto width) {
            const Unlocked unlocked;
            group_shift<T, width>(static_cast<int64_t>(x.shape(0)), group.data(), weight ? weight->data() : nullptr,
                                  amounts.data(), x.data(), threads);
          });
        },
        nb::arg("group").noconvert(), nb::arg("weight").noconvert().none(), nb::arg("amounts").noconvert(),
        nb::arg("x").noconvert(), nb::arg("threads"));

  m.def("forward",
        [](Vector<const T> pivots, Indptr indptr, Indices targets, Vector<const float> shares,
           Vector<const int64_t> domains, Indptr back_indptr, Indices back_sources, Vector<const float> back_shares,
           Vector<const double> scale, Block<const double> q, Block<T> y, int threads) {
          const auto factor =
              factor_view<T>(pivots, indptr, targets, shares, domains, back_indptr, back_sources, back_shares);
          return with_width(y.shape(1), [&](auto width) {
            return report_of<width>(
                [&] { return forward<T, width>(factor, scale.data(), q.data(), y.data(), threads); });
          });
        },
        nb::arg("pivots").noconvert(), nb::arg("indptr").noconvert(), nb::arg("targets").noconvert(),
        nb::arg("shares").noconvert(), nb::arg("domains").noconvert(), nb::arg("back_indptr").noconvert(),
        nb::arg("back_sources").noconvert(), nb::arg("back_shares").noconvert(), nb::arg("scale").noconvert(),
        nb::arg("q").noconvert(), nb::arg("y").noconvert(), nb::arg("threads"));

  m.def("descend",
        [](Vector<const T> pivots, Indptr indptr, Indices targets, Vector<const float> shares,
           Vector<const int64_t> domains, Indptr back_indptr, Indices back_sources, Vector<const float> back_shares,
           Indptr graph_indptr, Indices indices, Weights<T> weights, Vector<const T> degree, Vector<const T> closing,
           Vector<const T> alpha, Vector<const T> gain, Vector<const T> beta, Block<T> y, Block<T> g, Block<T> p,
           Block<T> x, int threads) {
          const auto factor =
              factor_view<T>(pivots, indptr, targets, shares, domains, back_indptr, back_sources, back_shares);
          const Path<T> path{csr<T>(graph_indptr, indices, weights), degree.data(), closing.data(), alpha.data(),
                             gain.data(), beta.data(), y.data(), g.data(), p.data(), x.data()};
          return with_width(y.shape(1), [&](auto width) {
            return with_flag(path.graph.weights, [&](auto weighted) {
              return report_of<width>([&] { return descend<T, width, weighted>(factor, path, threads); });
            });
          });
        },
        nb::arg("pivots").noconvert(), nb::arg("indptr").noconvert(), nb::arg("targets").noconvert(),
        nb::arg("shares").noconvert(), nb::arg("domains").noconvert(), nb::arg("back_indptr").noconvert(),
        nb::arg("back_sources").noconvert(), nb::arg("back_shares").noconvert(), nb::arg("graph_indptr").noconvert(),
        nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(), nb::arg("degree").noconvert(),
        nb::arg("closing").noconvert(), nb::arg("alpha").noconvert(), nb::arg("gain").noconvert(),
        nb::arg("beta").noconvert(), nb::arg("y").noconvert(), nb::arg("g").noconvert(), nb::arg("p").noconvert(),
        nb::arg("x").noconvert(), nb::arg("threads"));

  m.def("push",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const T> degree, Vector<const double> least,
           int64_t most, Block<T> x, Block<T> r, int threads) {
          const Csr<T> graph = csr<T>(indptr, indices, weights);
          std::vector<double> left(least.data(), least.data() + least.size());
          with_width(x.shape(1), [&](auto width) {
            const Unlocked unlocked;
            left = push_columns<T, width>(graph, degree.data(), left, most, x.data(), r.data(), threads);
          });
          return as_array(std::move(left));
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("degree").noconvert(), nb::arg("least").noconvert(), nb::arg("most"), nb::arg("x").noconvert(),
        nb::arg("r").noconvert(), nb::arg("threads"));
}
