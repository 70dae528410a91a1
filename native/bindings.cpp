// The Python module. Bindings convert arguments and release the GIL, nothing else.
#include "bindings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "assembly.hpp"
#include "components.hpp"
#include "elimination.hpp"
#include "signs.hpp"

void define_layout(nb::module_& m);  // layout_bindings.cpp

template <class T>
void define_graphs(nb::module_& m) {
  m.def("assemble",
        [](Indices rows, Indices columns, Weights<T> weights, Vector<int64_t> indptr, Vector<int32_t> indices,
           std::optional<Vector<T>> sorted, int threads) {
          const Unlocked unlocked;
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
          const Unlocked unlocked;
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
            const Unlocked unlocked;
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
          const Unlocked unlocked;
          row_sums<T>(rows, power, sums.data(), threads);
        },
        nb::arg("indptr").noconvert(), nb::arg("weights").noconvert(), nb::arg("power"), nb::arg("sums").noconvert(),
        nb::arg("threads"));

  m.def("mix_colours",
        [](Indptr indptr, Indices indices, Weights<T> weights, double unit, Vector<const uint64_t> before,
           Vector<uint64_t> after, int threads) {
          const Unlocked unlocked;
          mix_colours<T>(csr<T>(indptr, indices, weights), unit, before.data(), after.data(), threads);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("unit"), nb::arg("before").noconvert(), nb::arg("after").noconvert(), nb::arg("threads"));

  m.def("eliminate",
        [](Indptr indptr, Indices indices, Weights<T> weights, Vector<const uint8_t> interior, uint64_t seed,
           int64_t domain_size, int threads) {
          Factor factor;
          {
            const Unlocked unlocked;
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
            const Unlocked unlocked;
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
            const Unlocked unlocked;
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
  m.def("sign_average",
        [](Indptr indptr, Indices indices, Weights<float> weights, Vector<const float> scale, Vector<const float> size,
           Block<const uint8_t> bits, Block<float> out, int threads) {
          const Csr<float> graph = csr<float>(indptr, indices, weights);
          const Unlocked unlocked;
          const auto run = graph.weights ? sign_average<true> : sign_average<false>;
          run(graph, scale.data(), size.data(), bits.data(), out.data(), threads);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("size").noconvert(), nb::arg("bits").noconvert(),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("reach",
        [](Indptr indptr, Indices indices, Vector<uint8_t> reached) {
          const Unlocked unlocked;
          reach(indptr.data(), indices.data(), static_cast<int64_t>(indptr.size()) - 1, reached.data());
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("reached").noconvert());
  m.def("depth",
        [](Indptr indptr, Indices indices, Vector<uint8_t> marked, int64_t limit) {
          const Unlocked unlocked;
          return depth(indptr.data(), indices.data(), static_cast<int64_t>(indptr.size()) - 1, marked.data(), limit);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("marked").noconvert(),
        nb::arg("limit"));
  m.def("components",
        [](Indptr indptr, Indices indices) {
          std::vector<int32_t> found;
          {
            const Unlocked unlocked;
            found = components(indptr.data(), indices.data(), static_cast<int64_t>(indptr.size()) - 1);
          }
          return as_array(std::move(found));
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert());
}
