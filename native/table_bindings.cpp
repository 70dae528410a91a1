// Bindings of the loops over plain tables: they release the GIL, nothing else.
#include "bindings.hpp"
#include "regression.hpp"
#include "tables.hpp"

template <class T>
Table<T> table(const Block<const T>& array) {
  return {array.data(), static_cast<int64_t>(array.shape(0)), static_cast<int64_t>(array.shape(1))};
}

template <class T>
using Strided = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

template <class T>
Rows<T> rows(const Strided<T>& array) {
  return {array.data(), static_cast<int64_t>(array.shape(0)), static_cast<int64_t>(array.shape(1)), array.stride(0)};
}

template <class From, class To>
void define_placing(nb::module_& m) {
  m.def("place_rows",
        [](Strided<const From> x, Vector<const To> offset, std::optional<Vector<const int64_t>> places,
           Strided<To> out, int threads) {
          const Unlocked unlocked;
          place_rows<From, To>(rows<const From>(x), offset.data(), places ? places->data() : nullptr, rows<To>(out),
                               threads);
        },
        nb::arg("x").noconvert(), nb::arg("offset").noconvert(), nb::arg("places").noconvert().none(),
        nb::arg("out").noconvert(), nb::arg("threads"));
}

template <class T>
void define_tables_of(nb::module_& m) {
  m.def("table_moments",
        [](Block<const T> x, int threads) {
          std::vector<double> found;
          {
            const Unlocked unlocked;
            found = table_moments<T>(table<T>(x), threads);
          }
          return as_array(std::move(found));
        },
        nb::arg("x").noconvert(), nb::arg("threads"));

  m.def("best_columns",
        [](Block<const T> x, double tie, Vector<int64_t> best, int threads) {
          const Unlocked unlocked;
          best_columns<T>(table<T>(x), static_cast<T>(tie), best.data(), threads);
        },
        nb::arg("x").noconvert(), nb::arg("tie"), nb::arg("best").noconvert(), nb::arg("threads"));

  m.def("combine",
        [](Block<const T> base, Block<const T> block, Block<const T> near, Vector<const T> times,
           Vector<const int32_t> group, Block<const T> everywhere, Block<T> out, int threads) {
          const Unlocked unlocked;
          combine<T>(table<T>(base), table<T>(block), table<T>(near), times.data(), group.data(),
                     table<T>(everywhere), out.data(), threads);
        },
        nb::arg("base").noconvert(), nb::arg("block").noconvert(), nb::arg("near").noconvert(),
        nb::arg("times").noconvert(), nb::arg("group").noconvert(), nb::arg("everywhere").noconvert(),
        nb::arg("out").noconvert(), nb::arg("threads"));

  m.def("rank",
        [](Block<const T> x, int64_t first, Block<double> scores, Block<int32_t> classes, Vector<double> mass,
           int threads) {
          const Unlocked unlocked;
          rank<T>(table<T>(x), first, {scores.data(), classes.data(), mass.data(),
                                       static_cast<int64_t>(scores.shape(1))}, threads);
        },
        nb::arg("x").noconvert(), nb::arg("first"), nb::arg("scores").noconvert(), nb::arg("classes").noconvert(),
        nb::arg("mass").noconvert(), nb::arg("threads"));

  m.def("chances",
        [](Block<const T> x, Indptr indptr, Indices indices, Vector<const double> direct,
           Vector<const double> neighbours, Vector<const double> mean, Vector<const double> shares,
           Vector<const double> slopes, Block<const double> covariance, Vector<const double> bias, double lapse,
           Block<double> out, int threads) {
          const size_t rows = x.shape(0), classes = x.shape(1), kinds = slopes.size();
          if (kinds > static_cast<size_t>(kMostKinds) || covariance.shape(0) != kinds || covariance.shape(1) != kinds ||
              mean.size() != classes || shares.size() != classes || bias.size() != classes ||
              indptr.size() != rows + 1 || indices.size() != direct.size() || neighbours.size() != rows ||
              out.shape(0) != rows || out.shape(1) != classes)
            throw nb::value_error("the arrays of a calibration do not fit together");
          const Calibration model{mean.data(),       shares.data(), slopes.data(),
                                  covariance.data(), bias.data(),   static_cast<int64_t>(slopes.size()),
                                  lapse};
          const Surroundings near{indptr.data(), indices.data(), direct.data(), neighbours.data()};
          const Unlocked unlocked;
          chances<T>(table<T>(x), near, model, out.data(), threads);
        },
        nb::arg("x").noconvert(), nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("direct").noconvert(), nb::arg("neighbours").noconvert(), nb::arg("mean").noconvert(),
        nb::arg("shares").noconvert(), nb::arg("slopes").noconvert(), nb::arg("covariance").noconvert(),
        nb::arg("bias").noconvert(), nb::arg("lapse"), nb::arg("out").noconvert(), nb::arg("threads"));

  m.def("odds_of",
        [](Block<const T> chances, Vector<const double> shares, double least, double limit, Block<float> out,
           int threads) {
          const Unlocked unlocked;
          odds_of<T>(table<T>(chances), shares.data(), least, limit, out.data(), threads);
        },
        nb::arg("chances").noconvert(), nb::arg("shares").noconvert(), nb::arg("least"), nb::arg("limit"),
        nb::arg("out").noconvert(), nb::arg("threads"));

  m.def("log_odds",
        [](Block<const T> logits, Vector<const double> shares, double limit, Block<T> out, int threads) {
          const Unlocked unlocked;
          log_odds<T>(table<T>(logits), shares.data(), limit, out.data(), threads);
        },
        nb::arg("logits").noconvert(), nb::arg("shares").noconvert(), nb::arg("limit"), nb::arg("out").noconvert(),
        nb::arg("threads"));

  m.def("mix",
        [](nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu> odds, Vector<const double> weights,
           Vector<const double> shares, Block<double> out, int threads) {
          const Unlocked unlocked;
          mix<T>(odds.data(), weights.data(), odds.shape(0), shares.data(), odds.shape(1), odds.shape(2), out.data(),
                 threads);
        },
        nb::arg("odds").noconvert(), nb::arg("weights").noconvert(), nb::arg("shares").noconvert(),
        nb::arg("out").noconvert(), nb::arg("threads"));
}

void define_tables(nb::module_& m) {
  m.def("decide",
        [](Block<const double> chances, Vector<const double> weights, Vector<const double> factors, double most,
           double tie, Vector<int64_t> best, int threads) {
          const Unlocked unlocked;
          decide(table<double>(chances), weights.data(), factors.data(), most, tie, best.data(), threads);
        },
        nb::arg("chances").noconvert(), nb::arg("weights").noconvert(), nb::arg("factors").noconvert(),
        nb::arg("most"), nb::arg("tie"), nb::arg("best").noconvert(), nb::arg("threads"));

  m.def("regress",
        [](Block<const double> rows, Vector<const int64_t> codes, Vector<const double> penalty, Block<double> weights,
           double gradient, double enough, int threads) {
          const Unlocked unlocked;
          regress({rows.data(), codes.data(), penalty.data(), static_cast<int64_t>(rows.shape(0)),
                   static_cast<int64_t>(rows.shape(1)), static_cast<int64_t>(weights.shape(1))},
                  weights.data(), gradient, enough, threads);
        },
        nb::arg("rows").noconvert(), nb::arg("codes").noconvert(), nb::arg("penalty").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("gradient"), nb::arg("enough"), nb::arg("threads"));
  define_tables_of<float>(m);
  define_tables_of<double>(m);
  define_placing<float, float>(m);
  define_placing<double, double>(m);
  define_placing<float, double>(m);
}
