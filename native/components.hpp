// Connectivity of an undirected graph: its components, the nodes that marked nodes reach, and their distance.
#pragma once
#include <unordered_map>
#include <vector>

#include "kernels.hpp"

namespace isotherm {

constexpr int64_t kFirstEdges = 2;  // edges of each node that are followed before the largest component is guessed
constexpr int64_t kGuesses = 1024;  // nodes that are asked for their component, to guess which is the largest

// Sets of nodes, merged along edges. The smallest node of a set is its root.
class Sets {
 public:
  explicit Sets(int64_t size) : parent_(size) {
    for (int64_t i = 0; i < size; ++i) parent_[i] = static_cast<int32_t>(i);
  }
  int32_t root(int32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void merge(int32_t i, int32_t j) {
    const int32_t a = root(i), b = root(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int32_t> parent_;
};

// The number of the component of each node, from 0 on, in the order of their first nodes.
//
// Most graphs have one component with nearly all nodes. Two edges of each node are enough to find most of it. Its nodes
// are then left alone, because an edge that leaves it is also seen from its other end (Sutton, Ben-Nun and Barak 2018).
inline std::vector<int32_t> components(const int64_t* indptr, const int32_t* indices, int64_t rows) {
  Sets sets(rows);
  for (int64_t round = 0; round < kFirstEdges; ++round)
    for (int64_t i = 0; i < rows; ++i)
      if (indptr[i] + round < indptr[i + 1]) sets.merge(static_cast<int32_t>(i), indices[indptr[i] + round]);
  std::unordered_map<int32_t, int64_t> seen;
  int32_t largest = 0;
  for (int64_t guess = 0; guess < std::min(kGuesses, rows); ++guess) {
    const int32_t root = sets.root(static_cast<int32_t>(guess * rows / std::min(kGuesses, rows)));
    if (++seen[root] > seen[largest]) largest = root;
  }
  for (int64_t i = 0; i < rows; ++i) {
    if (sets.root(static_cast<int32_t>(i)) == sets.root(largest)) continue;
    for (int64_t e = indptr[i] + kFirstEdges; e < indptr[i + 1]; ++e) sets.merge(static_cast<int32_t>(i), indices[e]);
  }
  std::vector<int32_t> number(rows);
  int32_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t root = sets.root(static_cast<int32_t>(i));
    number[i] = root == i ? count++ : number[root];  // a root comes before all other nodes of its set
  }
  return number;
}

// Marks every node that a path joins to a marked one. In each round every unmarked node looks for a marked neighbour,
// which takes a probe or two. When a round finds few, the search follows edges from the nodes marked last.
inline void reach(const int64_t* indptr, const int32_t* indices, int64_t rows, uint8_t* reached) {
  std::vector<int32_t> fresh;
  int64_t found;
  do {
    fresh.clear();
    found = 0;
    for (int64_t i = 0; i < rows; ++i) {
      if (reached[i]) continue;
      for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
        if (!reached[indices[e]]) continue;
        reached[i] = 1;
        ++found;
        fresh.push_back(static_cast<int32_t>(i));
        break;
      }
    }
  } while (found > rows / 16);
  while (!fresh.empty()) {
    const int64_t i = fresh.back();
    fresh.pop_back();
    for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
      if (reached[indices[e]]) continue;
      reached[indices[e]] = 1;
      fresh.push_back(indices[e]);
    }
  }
}

// The largest distance of a node from the marked nodes, in edges; at most `limit`. Marks what it visits.
inline int64_t depth(const int64_t* indptr, const int32_t* indices, int64_t rows, uint8_t* marked, int64_t limit) {
  std::vector<int32_t> front, next;
  for (int64_t i = 0; i < rows; ++i)
    if (marked[i]) front.push_back(static_cast<int32_t>(i));
  int64_t steps = 0;
  for (; steps < limit; ++steps) {
    next.clear();
    for (const int64_t i : front)
      for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
        if (marked[indices[e]]) continue;
        marked[indices[e]] = 1;
        next.push_back(indices[e]);
      }
    if (next.empty()) break;
    std::swap(front, next);
  }
  return steps;
}

}  // namespace isotherm
