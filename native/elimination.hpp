// Randomised approximate elimination of the interior of a Dirichlet problem (Kyng and Sachdeva 2016; Gao, Kyng and
// Spielman 2023). Exact elimination removes a node and joins its neighbours into a clique. Here only one sampled edge
// per neighbour is kept of that clique, with a weight that is right on average. Nodes with one or two neighbours are
// removed exactly, so trees and chains vanish. The seeds are merged into one ground node, which is never removed.
//
// The interior is first cut into domains that fit a core's own cache. Nodes next to another domain are left to the
// end, and so are nodes with many neighbours. The domains are then independent, and threads share them out. The
// result depends on the graph and the random seed, not on the number of threads.
#pragma once
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "removal.hpp"

namespace isotherm {

// The approximate factor. Node order[v] is the v-th to be removed; back substitution sets
// x_v = pivot_v r_v + sum over its entries e of share_e x_{target_e}. Domain d has the positions domains[d] to
// domains[d + 1] - 1. Its targets are in the same domain or, listed last, in the rest, behind all domains.
struct Factor {
  std::vector<int32_t> order;
  std::vector<double> pivots;
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> targets;  // positions in the order, all greater than v, ascending
  std::vector<float> shares;
  std::vector<int64_t> domains{0};
  std::vector<int64_t> back_indptr{0};  // the entries from domains to the rest, by target
  std::vector<int32_t> back_sources;
  std::vector<float> back_shares;
};

constexpr int32_t kBusy = 24;  // a node with more neighbours than this is removed late
constexpr int32_t kQuiet = 4;  // the same where domains cover under 90% of the interior, as in a graph of communities

// The interior, cut into domains of about `size` nodes. Domain d is list[bounds[d]] to list[bounds[d + 1] - 1]; no edge
// joins two domains. The rest of the list are nodes that are busy or next to an earlier domain.
struct Domains {
  std::vector<int32_t> list;
  std::vector<int64_t> bounds{0};

  int64_t count() const { return static_cast<int64_t>(bounds.size()) - 1; }
  int32_t limit() const { return 10 * bounds.back() >= 9 * static_cast<int64_t>(list.size()) ? kBusy : kQuiet; }
};

template <class T>
Domains find_domains(const Csr<T>& graph, const uint8_t* interior, int64_t size) {
  constexpr int32_t open = -1, rest = -2;
  std::vector<int32_t> domain(graph.rows, rest), front;
  for (int64_t v = 0; v < graph.rows; ++v)
    if (interior[v] && graph.indptr[v + 1] - graph.indptr[v] <= kBusy) domain[v] = open;
  Domains found;
  for (int64_t start = 0; start < graph.rows; ++start) {
    front.assign(1, static_cast<int32_t>(start));
    for (size_t next = 0; next < front.size(); ++next) {
      const int32_t v = front[next];
      if (domain[v] != open) continue;
      const auto number = static_cast<int32_t>(found.count());
      domain[v] = number;
      for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
        const int32_t other = domain[graph.indices[e]];
        if (other >= 0 && other != number) domain[v] = rest;
      }
      if (domain[v] == rest) continue;
      found.list.push_back(v);
      for (int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e)
        if (domain[graph.indices[e]] == open) front.push_back(graph.indices[e]);
      if (static_cast<int64_t>(found.list.size()) - found.bounds.back() == size)
        found.bounds.push_back(static_cast<int64_t>(found.list.size()));
    }
  }
  if (static_cast<int64_t>(found.list.size()) > found.bounds.back())
    found.bounds.push_back(static_cast<int64_t>(found.list.size()));
  for (int64_t v = 0; v < graph.rows; ++v)
    if (interior[v] && domain[v] == rest) found.list.push_back(static_cast<int32_t>(v));
  return found;
}

// Eliminates one domain. `place` is the position of each node in `domains.list`, or -1 for the ground.
template <class T>
Removed eliminate_domain(const Csr<T>& graph, const Domains& domains, int64_t number, const std::vector<int32_t>& place,
                         uint64_t seed, std::vector<Edge>& remaining) {
  const int64_t begin = domains.bounds[number], end = domains.bounds[number + 1];
  std::vector<int32_t> names(domains.list.begin() + begin, domains.list.begin() + end), outside;
  const auto each_edge = [&](auto&& visit) {
    for (int64_t v = begin; v < end; ++v)
      for (int64_t e = graph.indptr[domains.list[v]]; e < graph.indptr[domains.list[v] + 1]; ++e)
        visit(v, place[graph.indices[e]], graph.weights ? static_cast<double>(graph.weights[e]) : 1.0);
  };
  each_edge([&](int64_t, int32_t other, double) {
    if (other >= end) outside.push_back(other);
  });
  std::sort(outside.begin(), outside.end());
  outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
  for (const int32_t other : outside) names.push_back(domains.list[other]);
  Elimination elimination(std::move(names), end - begin, seed);
  each_edge([&](int64_t v, int32_t other, double weight) {
    const auto here = static_cast<int32_t>(v - begin);
    if (other < 0) {
      elimination.ground(here, weight);
    } else if (other >= end) {
      const auto local = std::lower_bound(outside.begin(), outside.end(), other) - outside.begin();
      elimination.join(here, static_cast<int32_t>(end - begin + local), weight);
    } else if (other > v) {
      elimination.join(here, static_cast<int32_t>(other - begin), weight);
    }
  });
  Removed removed = elimination.run(domains.limit());
  remaining = elimination.remaining();
  return removed;
}

// Eliminates what the domains left over: the rest, and nodes that became busy.
template <class T>
Removed eliminate_rest(const Csr<T>& graph, const Domains& domains, const std::vector<Removed>& removed,
                       const std::vector<std::vector<Edge>>& remaining, const std::vector<int32_t>& place,
                       uint64_t seed) {
  std::vector<int32_t> local(domains.list.size(), 0);
  for (const Removed& part : removed)
    for (const int32_t name : part.order) local[place[name]] = -1;
  std::vector<int32_t> names;
  for (size_t v = 0; v < domains.list.size(); ++v)
    if (local[v] == 0) {
      local[v] = static_cast<int32_t>(names.size());
      names.push_back(domains.list[v]);
    }
  Elimination elimination(names, static_cast<int64_t>(names.size()), seed);
  const int64_t first = domains.bounds.back();
  for (int64_t v = first; v < static_cast<int64_t>(domains.list.size()); ++v)
    for (int64_t e = graph.indptr[domains.list[v]]; e < graph.indptr[domains.list[v] + 1]; ++e) {
      const int32_t other = place[graph.indices[e]];
      const double weight = graph.weights ? static_cast<double>(graph.weights[e]) : 1.0;
      if (other < 0) elimination.ground(local[v], weight);
      else if (other > v) elimination.join(local[v], local[other], weight);
    }
  for (const auto& edges : remaining)
    for (const Edge& edge : edges) {
      const int32_t a = local[place[edge.a]];
      if (edge.b < 0) elimination.ground(a, edge.weight);
      else elimination.join(a, local[place[edge.b]], edge.weight);
    }
  return elimination.run(DegreeQueue::kBuckets);
}

// An entry of the factor from a domain to the rest.
struct Crossing {
  int32_t source, target;
  float share;
};

// The factor rows of one part at their place in the whole factor, each sorted by target. Returns what crosses to the
// rest.
inline std::vector<Crossing> place_rows(const Removed& part, const std::vector<int32_t>& position, int64_t first,
                                        int64_t entry, int64_t rest, Factor& factor) {
  std::vector<std::pair<int32_t, float>> row;
  std::vector<Crossing> crossings;
  std::copy(part.order.begin(), part.order.end(), factor.order.begin() + first);
  std::copy(part.pivots.begin(), part.pivots.end(), factor.pivots.begin() + first);
  for (int64_t v = 0; v < static_cast<int64_t>(part.order.size()); ++v) {
    row.clear();
    for (int64_t e = part.indptr[v]; e < part.indptr[v + 1]; ++e)
      row.emplace_back(position[part.targets[e]], part.shares[e]);
    std::sort(row.begin(), row.end());
    for (const auto& [target, share] : row) {
      factor.targets[entry] = target;
      factor.shares[entry++] = share;
      if (first < rest && target >= rest) crossings.push_back({static_cast<int32_t>(first + v), target, share});
    }
    factor.indptr[first + v + 1] = entry;
  }
  return crossings;
}

// Sorts the entries from domains to the rest by target, then by source.
inline void turn_back(const std::vector<std::vector<Crossing>>& crossings, int64_t rest, Factor& factor) {
  auto& back = factor.back_indptr;
  back.assign(factor.order.size() - rest + 1, 0);
  for (const auto& part : crossings)
    for (const Crossing& each : part) ++back[each.target - rest + 1];
  for (size_t s = 1; s < back.size(); ++s) back[s] += back[s - 1];
  factor.back_sources.resize(back.back());
  factor.back_shares.resize(back.back());
  std::vector<int64_t> next(back.begin(), back.end() - 1);
  for (const auto& part : crossings)
    for (const Crossing& each : part) {
      const int64_t place = next[each.target - rest]++;
      factor.back_sources[place] = each.source;
      factor.back_shares[place] = each.share;
    }
}

// The whole factor; the last of the parts is the rest.
inline Factor assemble(const std::vector<Removed>& parts, int64_t rows, int threads) {
  Factor factor;
  std::vector<int64_t> entries{0};
  for (const Removed& part : parts) {
    factor.domains.push_back(factor.domains.back() + static_cast<int64_t>(part.order.size()));
    entries.push_back(entries.back() + static_cast<int64_t>(part.targets.size()));
  }
  const int64_t nodes = factor.domains.back(), count = static_cast<int64_t>(parts.size());
  factor.order.resize(nodes);
  factor.pivots.resize(nodes);
  factor.indptr.resize(nodes + 1);
  factor.targets.resize(entries.back());
  factor.shares.resize(entries.back());
  const std::vector<int64_t> firsts = factor.domains;
  factor.domains.pop_back();
  Chunks chunks{{}, 8 * entries.back()};  // an entry is sorted and written
  for (int64_t part = 0; part <= count; ++part) chunks.bounds.push_back(part);
  std::vector<int32_t> position(rows, -1);
  for_chunks(chunks, threads, [&](int64_t part, int64_t, int64_t) {
    for (size_t v = 0; v < parts[part].order.size(); ++v)
      position[parts[part].order[v]] = static_cast<int32_t>(firsts[part] + static_cast<int64_t>(v));
  });
  std::vector<std::vector<Crossing>> crossings(count);
  for_chunks(chunks, threads, [&](int64_t part, int64_t, int64_t) {
    crossings[part] = place_rows(parts[part], position, firsts[part], entries[part], factor.domains.back(), factor);
  });
  turn_back(crossings, factor.domains.back(), factor);
  return factor;
}

template <class T>
Factor eliminate(const Csr<T>& graph, const uint8_t* interior, uint64_t seed, int64_t domain_size, int threads) {
  const Domains domains = find_domains(graph, interior, domain_size);
  std::vector<int32_t> place(graph.rows, -1);
  for (size_t v = 0; v < domains.list.size(); ++v) place[domains.list[v]] = static_cast<int32_t>(v);
  std::vector<Removed> parts(domains.count());
  std::vector<std::vector<Edge>> remaining(domains.count());
  Chunks chunks{{}, graph.indptr[graph.rows] * 16};  // removing an edge costs about as much as 16 products
  for (int64_t d = 0; d <= domains.count(); ++d) chunks.bounds.push_back(d);
  for_chunks(chunks, threads, [&](int64_t d, int64_t, int64_t) {
    parts[d] = eliminate_domain(graph, domains, d, place, seed + static_cast<uint64_t>(d), remaining[d]);
  });
  const uint64_t last = seed + static_cast<uint64_t>(domains.count());
  parts.push_back(eliminate_rest(graph, domains, parts, remaining, place, last));
  return assemble(parts, graph.rows, threads);
}

}  // namespace isotherm
