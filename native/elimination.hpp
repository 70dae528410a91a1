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

// A bucket queue of nodes by current degree. Degrees beyond the last bucket share it.
class DegreeQueue {
 public:
  DegreeQueue(int64_t nodes) : next_(nodes, -1), previous_(nodes, -1), bucket_(nodes, -1), heads_(kBuckets, -1) {}

  void put(int32_t node, int32_t degree) {
    const int32_t bucket = std::min<int32_t>(degree, kBuckets - 1);
    if (bucket_[node] == bucket) return;
    if (bucket_[node] >= 0) drop(node);
    bucket_[node] = bucket;
    next_[node] = heads_[bucket];
    previous_[node] = -1;
    if (heads_[bucket] >= 0) previous_[heads_[bucket]] = node;
    heads_[bucket] = node;
    least_ = std::min(least_, bucket);
  }

  // Takes a node of least degree; -1 if the queue is empty or that degree exceeds the limit.
  int32_t take(int32_t limit) {
    while (least_ < kBuckets && heads_[least_] < 0) ++least_;
    if (least_ > limit || least_ == kBuckets) return -1;
    const int32_t node = heads_[least_];
    drop(node);
    return node;
  }

  static constexpr int32_t kBuckets = 4096;

 private:
  void drop(int32_t node) {
    if (previous_[node] >= 0) next_[previous_[node]] = next_[node];
    else heads_[bucket_[node]] = next_[node];
    if (next_[node] >= 0) previous_[next_[node]] = previous_[node];
    bucket_[node] = -1;
  }

  std::vector<int32_t> next_, previous_, bucket_, heads_;
  int32_t least_ = 0;
};

// xorshift64*: good enough for sampling, and the same on every machine for the same seed.
struct Random {
  uint64_t state;
  double operator()() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<double>((state * 0x2545F4914F6CDD1Dull) >> 11) * 0x1.0p-53;
  }
};

// The factor rows of one domain, in order of removal. Targets are node numbers of the whole graph.
struct Removed {
  std::vector<int32_t> order;
  std::vector<double> pivots;
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> targets;
  std::vector<float> shares;
};

// Weights below this count as this: products of weights may become 0, and an edge of weight 0 is dead. A NaN, which an
// overflow can leave, counts as this too.
inline double living(double weight) { return std::max(std::numeric_limits<double>::min(), weight); }

struct Edge {
  int32_t a, b;  // b = -1: the ground
  double weight;
};

// Eliminates the first `own` of the given nodes; the others only receive edges. `names` are their numbers in the graph.
class Elimination {
 public:
  Elimination(std::vector<int32_t> names, int64_t own, uint64_t seed) : random_{seed}, own_(own), names_(std::move(names)) {
    const auto nodes = names_.size();
    first_.assign(nodes, -1);
    degree_.assign(nodes, 0);
    ground_.assign(nodes, 0);
    slot_.assign(nodes, -1);
    gone_.assign(nodes, 0);
  }

  void join(int32_t a, int32_t b, double given) {
    const double weight = living(given);
    const auto half = static_cast<int32_t>(ends_.size());
    ends_.push_back({b, first_[a], weight});
    ends_.push_back({a, first_[b], weight});
    first_[a] = half;
    first_[b] = half + 1;
    ++degree_[a];
    ++degree_[b];
  }

  void ground(int32_t a, double weight) { ground_[a] += living(weight); }

  // Removes nodes, fewest neighbours first, until all that are left have more than `limit`.
  Removed run(int32_t limit) {
    DegreeQueue queue(own_);
    for (int32_t v = 0; v < own_; ++v) queue.put(v, degree_[v]);
    Removed removed;
    for (int32_t node; (node = queue.take(limit)) >= 0;) {
      remove(node, removed);
      for (const Star& ray : star_)
        if (ray.node >= 0 && ray.node < own_) queue.put(ray.node, degree_[ray.node]);
    }
    for (int32_t& target : removed.targets) target = names_[target];
    return removed;
  }

  // The edges between nodes that were not removed, by names.
  std::vector<Edge> remaining() const {
    std::vector<Edge> edges;
    for (size_t v = 0; v < names_.size(); ++v)
      if (!gone_[v] && ground_[v] > 0) edges.push_back({names_[v], -1, ground_[v]});
    for (size_t half = 0; half < ends_.size(); half += 2)
      if (ends_[half].weight > 0 && ends_[half + 1].weight > 0)
        edges.push_back({names_[ends_[half + 1].to], names_[ends_[half].to], ends_[half].weight});
    return edges;
  }

 private:
  // Edge e is two half-edges, 2e and 2e + 1. Each is in the linked list of one end and points to the other end.
  struct Half {
    int32_t to, next;
    double weight;  // 0: dead
  };
  struct Star {
    double weight;
    int32_t node;  // -1: the ground
    int32_t half;
  };

  void kill(int32_t half, int32_t owner) {
    ends_[half].weight = 0;
    --degree_[owner];
  }

  // Fills star_ with the neighbours of a node, lightest first, parallel edges merged.
  void collect(int32_t node) {
    star_.clear();
    for (int32_t half = first_[node]; half >= 0; half = ends_[half].next) {
      const Half& edge = ends_[half];
      if (edge.weight == 0) continue;
      int32_t& slot = slot_[edge.to];
      if (slot >= 0) {
        star_[slot].weight += edge.weight;
        kill(half ^ 1, edge.to);
      } else {
        slot = static_cast<int32_t>(star_.size());
        star_.push_back({edge.weight, edge.to, half});
      }
    }
    for (const Star& ray : star_) slot_[ray.node] = -1;
    if (ground_[node] > 0) star_.push_back({ground_[node], -1, -1});
    std::sort(star_.begin(), star_.end(), [](const Star& a, const Star& b) {
      return a.weight < b.weight || (a.weight == b.weight && a.node < b.node);
    });
  }

  void remove(int32_t node, Removed& removed) {
    collect(node);
    gone_[node] = 1;
    removed.order.push_back(names_[node]);
    const auto rays = static_cast<int64_t>(star_.size());
    below_.resize(rays + 1);
    below_[0] = 0;
    for (int64_t k = 0; k < rays; ++k) below_[k + 1] = below_[k] + star_[k].weight;
    const double total = below_[rays];
    for (const Star& ray : star_)
      if (ray.node >= 0) {
        removed.targets.push_back(ray.node);
        removed.shares.push_back(static_cast<float>(ray.weight / total));
      }
    removed.indptr.push_back(static_cast<int64_t>(removed.targets.size()));
    removed.pivots.push_back(1 / total);
    for (int64_t k = 0; k + 1 < rays; ++k) replace(k, total);
    if (rays > 0 && star_[rays - 1].node >= 0) kill(star_[rays - 1].half ^ 1, star_[rays - 1].node);
  }

  // Replaces ray k by an edge from its end to the end of a later, heavier ray, drawn in proportion to weight.
  void replace(int64_t k, double total) {
    const double rest = total - below_[k + 1];
    const double drawn = below_[k + 1] + random_() * rest;
    auto other = std::upper_bound(below_.begin() + k + 1, below_.end(), drawn) - below_.begin() - 1;
    other = std::clamp<int64_t>(other, k + 1, static_cast<int64_t>(star_.size()) - 1);
    const double weight = living(star_[k].weight * rest / total);
    const Star &one = star_[k], &two = star_[other];
    if (one.node < 0) {
      ground_[two.node] += weight;
    } else if (two.node < 0) {
      ground_[one.node] += weight;
      kill(one.half ^ 1, one.node);
    } else {
      ends_[one.half ^ 1].to = two.node;
      ends_[one.half ^ 1].weight = weight;
      ends_[one.half] = {one.node, first_[two.node], weight};
      first_[two.node] = one.half;
      ++degree_[two.node];
    }
  }

  Random random_;
  int64_t own_;
  std::vector<int32_t> names_, first_, degree_, slot_;
  std::vector<uint8_t> gone_;
  std::vector<double> ground_, below_;
  std::vector<Half> ends_;
  std::vector<Star> star_;
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

inline Factor assemble(const std::vector<Removed>& parts, int64_t rows) {
  Factor factor;
  std::vector<int32_t> position(rows, -1);
  for (const Removed& part : parts) {
    for (const int32_t name : part.order) {
      position[name] = static_cast<int32_t>(factor.order.size());
      factor.order.push_back(name);
    }
    factor.pivots.insert(factor.pivots.end(), part.pivots.begin(), part.pivots.end());
    factor.domains.push_back(static_cast<int64_t>(factor.order.size()));
  }
  factor.domains.pop_back();  // the last part is the rest
  const int64_t rest = factor.domains.back();
  std::vector<std::pair<int32_t, float>> row;
  factor.back_indptr.assign(factor.order.size() - rest + 1, 0);
  for (const Removed& part : parts)
    for (size_t v = 0; v < part.order.size(); ++v) {
      row.clear();
      for (int64_t e = part.indptr[v]; e < part.indptr[v + 1]; ++e)
        row.emplace_back(position[part.targets[e]], part.shares[e]);
      std::sort(row.begin(), row.end());
      const bool inside = static_cast<int64_t>(factor.indptr.size()) - 1 < rest;
      for (const auto& [target, share] : row) {
        factor.targets.push_back(target);
        factor.shares.push_back(share);
        if (inside && target >= rest) ++factor.back_indptr[target - rest + 1];
      }
      factor.indptr.push_back(static_cast<int64_t>(factor.targets.size()));
    }
  auto& back = factor.back_indptr;
  for (size_t s = 1; s < back.size(); ++s) back[s] += back[s - 1];
  factor.back_sources.resize(back.back());
  factor.back_shares.resize(back.back());
  std::vector<int64_t> next(back.begin(), back.end() - 1);
  for (int64_t v = 0; v < rest; ++v)
    for (int64_t e = factor.indptr[v + 1] - 1; e >= factor.indptr[v] && factor.targets[e] >= rest; --e) {
      const int64_t place = next[factor.targets[e] - rest]++;
      factor.back_sources[place] = static_cast<int32_t>(v);
      factor.back_shares[place] = factor.shares[e];
    }
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
  return assemble(parts, graph.rows);
}

}  // namespace isotherm
