// Randomised approximate elimination of the interior of a Dirichlet problem (Kyng and Sachdeva 2016; Gao, Kyng and
// Spielman 2023). A node is removed and its neighbours are joined with each other instead; of that clique only one
// sampled edge a neighbour is kept, with weights that are right on average. Nodes of one or two neighbours are removed
// exactly, so trees and chains vanish. The seeds, merged into one ground node, are never removed.
#pragma once
#include <type_traits>
#include <vector>

#include "kernels.hpp"

namespace isotherm {

// Node order[v] is the v-th to go; then x_v = pivot_v r_v + sum of share_e x_{target_e} over its entries.
struct Factor {
  std::vector<int32_t> order;
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> targets;  // positions in the order, all greater than v
  std::vector<float> shares;
  std::vector<double> pivots;
};

// Nodes by their present degree, to find one of the least; degrees above the last bucket share it.
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

  int32_t take() {
    while (heads_[least_] < 0) ++least_;
    const int32_t node = heads_[least_];
    drop(node);
    return node;
  }

 private:
  void drop(int32_t node) {
    if (previous_[node] >= 0) next_[previous_[node]] = next_[node];
    else heads_[bucket_[node]] = next_[node];
    if (next_[node] >= 0) previous_[next_[node]] = previous_[node];
    bucket_[node] = -1;
  }

  static constexpr int32_t kBuckets = 4096;
  std::vector<int32_t> next_, previous_, bucket_, heads_;
  int32_t least_ = 0;
};

// xorshift64*, enough for sampling, the same everywhere for the same seed.
struct Random {
  uint64_t state;
  double operator()() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<double>((state * 0x2545F4914F6CDD1Dull) >> 11) * 0x1.0p-53;
  }
};

class Elimination {
 public:
  template <class T>
  Elimination(const Csr<T>& graph, const uint8_t* interior, uint64_t seed) : random_{seed} {
    std::vector<int32_t> place(graph.rows, -1);
    for (int64_t i = 0; i < graph.rows; ++i)
      if (interior[i]) {
        place[i] = static_cast<int32_t>(names_.size());
        names_.push_back(static_cast<int32_t>(i));
      }
    const auto nodes = static_cast<int64_t>(names_.size());
    first_.assign(nodes, -1);
    degree_.assign(nodes, 0);
    ground_.assign(nodes, 0);
    slot_.assign(nodes, -1);
    for (int32_t v = 0; v < nodes; ++v)
      for (int64_t e = graph.indptr[names_[v]]; e < graph.indptr[names_[v] + 1]; ++e) {
        const double weight = graph.weights ? graph.weights[e] : 1;
        const int32_t other = place[graph.indices[e]];
        if (other < 0) ground_[v] += weight;
        else if (other > v) join(v, other, weight);
      }
  }

  Factor run() {
    const auto nodes = static_cast<int32_t>(names_.size());
    DegreeQueue queue(nodes);
    for (int32_t v = 0; v < nodes; ++v) queue.put(v, degree_[v]);
    std::vector<int32_t> position(nodes);
    Factor factor;
    factor.order.reserve(nodes);
    factor.indptr.reserve(nodes + 1);
    factor.targets.reserve(ends_.size() / 2);
    factor.shares.reserve(ends_.size() / 2);
    for (int32_t done = 0; done < nodes; ++done) {
      const int32_t node = queue.take();
      position[node] = done;
      factor.order.push_back(names_[node]);
      remove(node, factor);
      for (const Star& ray : star_)
        if (ray.node >= 0) queue.put(ray.node, degree_[ray.node]);
    }
    for (int32_t& target : factor.targets) target = position[target];
    return factor;
  }

 private:
  // An edge is two half-edges, 2e and 2e + 1, each in the list of one end and naming the other.
  struct Half {
    int32_t to, next;
    double weight;  // 0: dead
  };
  struct Star {
    double weight;
    int32_t node;  // -1: the ground
    int32_t half;
  };

  void join(int32_t a, int32_t b, double weight) {
    const auto half = static_cast<int32_t>(ends_.size());
    ends_.push_back({b, first_[a], weight});
    ends_.push_back({a, first_[b], weight});
    first_[a] = half;
    first_[b] = half + 1;
    ++degree_[a];
    ++degree_[b];
  }

  void kill(int32_t half, int32_t owner) {
    ends_[half].weight = 0;
    --degree_[owner];
  }

  // The neighbours of a node with parallel edges merged, lightest first.
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

  void remove(int32_t node, Factor& factor) {
    collect(node);
    const auto rays = static_cast<int64_t>(star_.size());
    below_.resize(rays + 1);
    below_[0] = 0;
    for (int64_t k = 0; k < rays; ++k) below_[k + 1] = below_[k] + star_[k].weight;
    const double total = below_[rays];
    for (const Star& ray : star_)
      if (ray.node >= 0) {
        factor.targets.push_back(ray.node);
        factor.shares.push_back(static_cast<float>(ray.weight / total));
      }
    factor.indptr.push_back(static_cast<int64_t>(factor.targets.size()));
    factor.pivots.push_back(1 / total);
    for (int64_t k = 0; k + 1 < rays; ++k) replace(k, total);
    if (star_[rays - 1].node >= 0) kill(star_[rays - 1].half ^ 1, star_[rays - 1].node);
  }

  // Ray k becomes an edge from its end to the end of a heavier ray, drawn in proportion to weight.
  void replace(int64_t k, double total) {
    const double rest = total - below_[k + 1];
    const double drawn = below_[k + 1] + random_() * rest;
    auto other = std::upper_bound(below_.begin() + k + 1, below_.end(), drawn) - below_.begin() - 1;
    other = std::clamp<int64_t>(other, k + 1, static_cast<int64_t>(star_.size()) - 1);
    const double weight = star_[k].weight * rest / total;
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
  std::vector<int32_t> names_, first_, degree_, slot_;
  std::vector<double> ground_, below_;
  std::vector<Half> ends_;
  std::vector<Star> star_;
};

// z = M^-1 r for columns [c, c + L) of the block: down the order, each node hands its share of r to those that outlive
// it; up the order, each takes its temperature from them.
template <class T, int W, int L>
ISOTHERM_INLINE inline void down_and_up(const Csr<float>& factor, const T* pivots, const T* r, T* z, int c) {
  using Row = typename Lanes<T, L>::Row;
  const auto row = [c](auto* block, int64_t i) ISOTHERM_INLINE -> auto& {
    using Kind = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(block)>>, const Row, Row>;
    return *reinterpret_cast<Kind*>(block + i * W + c);
  };
  const int64_t last = factor.indptr[factor.rows] - 1;
  for (int64_t v = 0; v < factor.rows; ++v) row(z, v) = row(r, v);
  for (int64_t v = 0; v < factor.rows; ++v) {
    const Row own = row(z, v);
    for (int64_t e = factor.indptr[v]; e < factor.indptr[v + 1]; ++e) {
      __builtin_prefetch(&row(z, factor.indices[std::min(e + kAhead, last)]), 1);
      row(z, factor.indices[e]) += static_cast<T>(factor.weights[e]) * own;
    }
  }
  for (int64_t v = factor.rows - 1; v >= 0; --v) {
    Row own = row(z, v) * pivots[v];
    for (int64_t e = factor.indptr[v + 1] - 1; e >= factor.indptr[v]; --e) {
      __builtin_prefetch(&row(z, factor.indices[std::max<int64_t>(e - kAhead, 0)]));
      own += static_cast<T>(factor.weights[e]) * row(z, factor.indices[e]);
    }
    row(z, v) = own;
  }
}

// z = M^-1 r; reports r . z and the largest z, which is about the error of the present temperatures. The order is
// sequential, so two threads share the columns, where rows are so wide that they do not write to the same cache lines.
template <class T, int W>
Report<W> precondition(const Csr<float>& factor, const T* pivots, const T* closing, const T* r, T* z, int threads) {
  using Row = typename Lanes<T, W>::Row;
  using Wide = typename Lanes<T, W>::Wide;
  constexpr int half = W / 2;
  const int64_t entries = factor.indptr[factor.rows];
  const bool split = half * sizeof(T) >= 64 && threads > 1 && entries > kThreadWork;
  const Chunks sides{split ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{0, 2}, W * entries};
  for_chunks(sides, threads, [&](int64_t side, int64_t, int64_t) ISOTHERM_INLINE {
    if (split) down_and_up<T, W, half>(factor, pivots, r, z, static_cast<int>(side) * half);
    else down_and_up<T, W, W>(factor, pivots, r, z, 0);
  });
  const Chunks chunks = even_chunks(factor.rows, W);
  std::vector<Report<W>> parts(chunks.count());
  const Row marked = *reinterpret_cast<const Row*>(closing);
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    Row size = {};
    Wide dot = {};
    T closing_size = 0;
    for (int64_t v = begin; v < end; ++v) {
      const Row own = *reinterpret_cast<const Row*>(z + v * W);
      const Row rest = *reinterpret_cast<const Row*>(r + v * W);
      size = larger_magnitude(size, own);
      dot += __builtin_convertvector(own, Wide) * __builtin_convertvector(rest, Wide);
      closing_size = std::max(closing_size, std::abs(lane_sum<W>(own * marked)));
    }
    for (int c = 0; c < W; ++c) {
      parts[chunk].dot[c] = dot[c];
      parts[chunk].size[c] = size[c];
    }
    parts[chunk].size[W] = closing_size;
  });
  return total(parts);
}

// The part of a symmetric matrix between the nodes listed in `order`, renumbered by that order.
template <class T>
void renumber(const Csr<T>& graph, const int32_t* order, int64_t nodes, std::vector<int64_t>& indptr,
              std::vector<int32_t>& indices, std::vector<T>& weights) {
  std::vector<int32_t> place(graph.rows, -1);
  for (int64_t v = 0; v < nodes; ++v) place[order[v]] = static_cast<int32_t>(v);
  indptr.assign(1, 0);
  for (int64_t v = 0; v < nodes; ++v) {
    for (int64_t e = graph.indptr[order[v]]; e < graph.indptr[order[v] + 1]; ++e) {
      const int32_t other = place[graph.indices[e]];
      if (other < 0) continue;
      indices.push_back(other);
      if (graph.weights) weights.push_back(graph.weights[e]);
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
}

}  // namespace isotherm
