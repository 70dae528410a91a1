// The Python module. Bindings convert arguments and release the GIL, nothing else.
#include "bindings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "assembly.hpp"
#include "codebook.hpp"
#include "components.hpp"
#include "elimination.hpp"
#include "signs.hpp"

void define_layout(nb::module_& m);  // layout_bindings.cpp

template <class T>
void define_graphs(nb::module_& m) {
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

  m.def("add_transpose",
        [](Indptr indptr, Indices indices, Weights<T> weights, int threads) {
          Room<int64_t> new_indptr;
          Room<int32_t> new_indices;
          Room<T> new_weights;
          {
            nb::gil_scoped_release release;
            add_transpose<T>(csr<T>(indptr, indices, weights), new_indptr, new_indices, new_weights, threads);
          }
          const bool weighted = weights || !new_weights.empty();
          return nb::make_tuple(as_array(std::move(new_indptr)), as_array(std::move(new_indices)),
                                weighted ? as_array(std::move(new_weights)) : nb::none());
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("threads"));

  m.def("row_sums",
        [](Indptr indptr, Vector<const T> weights, int power, Vector<double> sums, int threads) {
          const Csr<T> rows{indptr.data(), nullptr, weights.data(), static_cast<int64_t>(indptr.size()) - 1};
          nb::gil_scoped_release release;
          row_sums<T>(rows, power, sums.data(), threads);
        },
        nb::arg("indptr").noconvert(), nb::arg("weights").noconvert(), nb::arg("power"), nb::arg("sums").noconvert(),
        nb::arg("threads"));

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

// What is said when a library aborts, and where; in static memory, because a signal handler may not ask for more.
char abort_text[512];
int abort_stream;  // a copy of standard error, which may be hidden at that moment

void end_on_abort(int) {
  const ssize_t written = write(abort_stream, abort_text, std::strlen(abort_text));
  _exit(written < 0 ? 2 : 1);
}

NB_MODULE(_native, m) {
  m.def("say_on_abort",
        [](const char* text) {
          std::strncpy(abort_text, text, sizeof abort_text - 1);
          abort_stream = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
          std::signal(SIGABRT, end_on_abort);
        },
        nb::arg("text"));
  m.def("instruction_sets", [] {
    nb::list names;
    for (const Isa isa : kIsas)
      if (processor_has(isa)) names.append(name_of(isa));
    return nb::tuple(names);
  });
  m.def("instruction_set", [] { return name_of(active_isa); });
  m.def("use_instruction_set",
        [](const char* name) {
          for (const Isa isa : kIsas)
            if (processor_has(isa) && std::strcmp(name, name_of(isa)) == 0) return void(active_isa = isa);
          throw nb::value_error("this processor lacks that instruction set");
        },
        nb::arg("name"));
  define_blocks<float>(m);
  define_blocks<double>(m);
  define_neighbours(m);
  define_graphs<float>(m);
  define_graphs<double>(m);
  define_tables(m);
  define_texts(m);
  define_layout(m);
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
  m.def("sign_average",
        [](Indptr indptr, Indices indices, Weights<float> weights, Vector<const float> scale, Vector<const float> size,
           Block<const uint8_t> bits, Block<float> out, int threads) {
          const Csr<float> graph = csr<float>(indptr, indices, weights);
          nb::gil_scoped_release release;
          const auto run = graph.weights ? sign_average<true> : sign_average<false>;
          run(graph, scale.data(), size.data(), bits.data(), out.data(), threads);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("size").noconvert(), nb::arg("bits").noconvert(),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("reach",
        [](Indptr indptr, Indices indices, Vector<uint8_t> reached) {
          nb::gil_scoped_release release;
          reach(indptr.data(), indices.data(), static_cast<int64_t>(indptr.size()) - 1, reached.data());
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("reached").noconvert());
  m.def("depth",
        [](Indptr indptr, Indices indices, Vector<uint8_t> marked, int64_t limit) {
          nb::gil_scoped_release release;
          return depth(indptr.data(), indices.data(), static_cast<int64_t>(indptr.size()) - 1, marked.data(), limit);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("marked").noconvert(),
        nb::arg("limit"));
  m.def("components",
        [](Indptr indptr, Indices indices) {
          std::vector<int32_t> found;
          {
            nb::gil_scoped_release release;
            found = components(indptr.data(), indices.data(), static_cast<int64_t>(indptr.size()) - 1);
          }
          return as_array(std::move(found));
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert());
}
