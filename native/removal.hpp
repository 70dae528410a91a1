// Removes nodes from a graph one after another, fewest neighbours first. A removed node leaves a row of the approximate
// factor, and edges that join its neighbours in place of itself. See elimination.hpp, which calls it for each domain.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace isotherm {

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

  void reserve(int64_t nodes) {
    order.reserve(nodes);
    pivots.reserve(nodes);
    indptr.reserve(nodes + 1);
  }
};

// The least weight: smaller ones are raised to it, because products of weights may become 0, and an edge of weight 0 is
// dead. A NaN, which an overflow can leave, becomes this weight too.
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
    removed.reserve(own_);
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

}  // namespace isotherm
