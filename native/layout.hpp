// The loops of the layout: pairing nodes, merging pairs, and one step of the forces that place nodes on the map.
// src/isotherm/kernels/drawing.py has the same functions in NumPy. Positions are float32, (n, 2).
#pragma once
#include <cmath>

#include "kernels.hpp"

namespace isotherm {

// Groups nodes in pairs of neighbours; a node that finds no free neighbour joins the group of its nearest one. Near
// means a large weight relative to the degrees. Nodes choose in the given order, which also decides between equals.
// One thread does it all, so the result never depends on their number. Returns the number of groups.
inline int64_t pair_up(const Csr<float>& graph, const int32_t* order, int32_t* group) {
  const int64_t n = graph.rows;
  std::vector<float> inverse(n);
  std::vector<int32_t> rank(n);
  for (int64_t i = 0; i < n; ++i) {
    double degree = 0;
    for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) degree += graph.weights ? graph.weights[e] : 1;
    inverse[i] = degree > 0 ? static_cast<float>(1 / std::sqrt(degree)) : 0;
    rank[order[i]] = static_cast<int32_t>(i);
    group[i] = -1;
  }
  // The neighbour of a node that is nearest among those that are allowed, or -1.
  const auto nearest = [&](int32_t i, auto allowed) {
    int32_t best = -1;
    float nearness = -1;
    for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
      const int32_t j = graph.indices[e];
      if (j == i || !allowed(j)) continue;
      const float near = (graph.weights ? graph.weights[e] : 1) * inverse[j];
      if (near > nearness || (near == nearness && rank[j] < rank[best])) best = j, nearness = near;
    }
    return best;
  };
  int32_t groups = 0;
  std::vector<int32_t> left;
  for (int64_t k = 0; k < n; ++k) {
    const int32_t i = order[k];
    if (group[i] >= 0) continue;
    const int32_t mate = nearest(i, [&](int32_t j) { return group[j] < 0; });
    if (mate >= 0) group[i] = group[mate] = groups++;
    else left.push_back(i);
  }
  for (const int32_t i : left) {
    const int32_t host = nearest(i, [&](int32_t j) { return group[j] >= 0; });
    group[i] = host >= 0 ? group[host] : groups++;
  }
  return groups;
}

// The graph between groups: weights of edges between the same two groups are added, edges within a group are dropped.
inline void contract(const Csr<float>& graph, const int32_t* group, int64_t groups, std::vector<int64_t>& indptr,
                     std::vector<int32_t>& indices, std::vector<float>& weights) {
  std::vector<int64_t> first(groups + 1, 0);
  for (int64_t i = 0; i < graph.rows; ++i) ++first[group[i] + 1];
  for (int64_t g = 0; g < groups; ++g) first[g + 1] += first[g];
  std::vector<int32_t> members(graph.rows);
  std::vector<int64_t> next(first.begin(), first.end() - 1);
  for (int64_t i = 0; i < graph.rows; ++i) members[next[group[i]]++] = static_cast<int32_t>(i);
  std::vector<int64_t> place(groups, -1);  // the place of the edge from the present group to each other one
  indptr.assign(1, 0);
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = static_cast<int64_t>(indices.size());
    for (int64_t k = first[g]; k < first[g + 1]; ++k)
      for (int64_t e = graph.indptr[members[k]]; e < graph.indptr[members[k] + 1]; ++e) {
        const int32_t other = group[graph.indices[e]];
        if (other == g) continue;
        const float weight = (graph.weights ? graph.weights[e] : 1);
        if (place[other] >= begin) {
          weights[place[other]] += weight;
        } else {
          place[other] = static_cast<int64_t>(indices.size());
          indices.push_back(other);
          weights.push_back(weight);
        }
      }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
}

// A square grid of side x side cells, row-major; node (x, y) is at cell ((x - left) scale, (y - bottom) scale).
struct Lattice {
  int64_t side;
  float left, bottom, scale;
};

// The four cells around a position, the first of them, and the share of each.
struct Corners {
  int64_t first;
  float share[4];  // shares of the cells first, first + 1, first + side, first + side + 1
};

ISOTHERM_INLINE inline Corners corners(const Lattice& grid, const float* x) {
  const float u = (x[0] - grid.left) * grid.scale, v = (x[1] - grid.bottom) * grid.scale;
  const int64_t row = static_cast<int64_t>(u), column = static_cast<int64_t>(v);
  const float a = u - static_cast<float>(row), b = v - static_cast<float>(column);
  return {row * grid.side + column, {(1 - a) * (1 - b), (1 - a) * b, a * (1 - b), a * b}};
}

// Adds the mass of each node to the four cells around it. One thread: sums must not depend on the number of threads.
inline void spread(const float* positions, const float* mass, int64_t n, const Lattice& grid, float* cells) {
  for (int64_t i = 0; i < n; ++i) {
    const Corners at = corners(grid, positions + 2 * i);
    float* cell = cells + at.first;
    cell[0] += at.share[0] * mass[i];
    cell[1] += at.share[1] * mass[i];
    cell[grid.side] += at.share[2] * mass[i];
    cell[grid.side + 1] += at.share[3] * mass[i];
  }
}

// What acts on each node, per mass: the pull of its neighbours, sum_j p_ij (x_i - x_j) / (1 + |x_i - x_j|^2), and the
// push of all nodes, read from a field (side, side, 2) on the grid.
inline void pull_and_push(const Csr<float>& graph, const float* positions, const float* mass, float pull,
                          const Lattice& grid, const float* field, float* forces, int threads) {
  for_chunks(entry_chunks(graph.indptr, graph.rows), threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    const int64_t last = graph.indptr[graph.rows] - 1;
    for (int64_t i = begin; i < end; ++i) {
      const float x = positions[2 * i], y = positions[2 * i + 1];
      float sum_x = 0, sum_y = 0;
      for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
        __builtin_prefetch(positions + 2 * static_cast<int64_t>(graph.indices[std::min(e + kAhead, last)]), 0, kLevel2);
        const float* other = positions + 2 * static_cast<int64_t>(graph.indices[e]);
        const float dx = x - other[0], dy = y - other[1];
        const float share = graph.weights[e] / (1 + dx * dx + dy * dy);
        sum_x += share * dx;
        sum_y += share * dy;
      }
      const Corners at = corners(grid, positions + 2 * i);
      const float* cell = field + 2 * at.first;
      const float* below = cell + 2 * grid.side;
      for (int c = 0; c < 2; ++c) {
        const float push = at.share[0] * cell[c] + at.share[1] * cell[2 + c] + at.share[2] * below[c] +
                           at.share[3] * below[2 + c];
        forces[2 * i + c] = pull / mass[i] * (c ? sum_y : sum_x) - push;
      }
    }
  });
}

// Moves nodes against their forces, with momentum. Each coordinate has a gain that grows while it keeps its direction
// and shrinks when it turns (Jacobs 1988); no step is longer than `longest`.
inline void advance(const float* forces, int64_t n, float rate, float momentum, float longest, float* velocity,
                    float* gain, float* positions, int threads) {
  for_chunks(even_chunks(n, 8), threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    for (int64_t i = begin; i < end; ++i) {
      float step[2];
      for (int c = 0; c < 2; ++c) {
        const int64_t k = 2 * i + c;
        const bool turns = (forces[k] > 0) == (velocity[k] > 0);
        gain[k] = turns ? std::max(gain[k] * 0.8f, 0.01f) : gain[k] + 0.2f;
        step[c] = momentum * velocity[k] - rate * gain[k] * forces[k];
      }
      const float length = std::sqrt(step[0] * step[0] + step[1] * step[1]);
      const float shrink = length > longest ? longest / length : 1;
      for (int c = 0; c < 2; ++c) {
        velocity[2 * i + c] = shrink * step[c];
        positions[2 * i + c] += velocity[2 * i + c];
      }
    }
  });
}

}  // namespace isotherm
