"""SNAP's graphs with ground-truth communities: an edge list and a ``cmty`` file, both plain or gzip.

J. Yang and J. Leskovec, "Defining and Evaluating Network Communities based on Ground-truth", ICDM 2012.
"""

import io
from pathlib import Path

import numpy as np

from isotherm.graphs import Graph
from isotherm.study.datasets.archives import read_gzip
from isotherm.study.datasets.base import Dataset, Nodes

__all__ = ["read_snap"]


def read_snap(edges: Path, communities: Path, *, name: str, most_bytes: int) -> Dataset:
    """The undirected graph of an edge list, nodes by first appearance, and the communities, one in each line."""
    graph = _read_edges(edges, most_bytes)
    members = tuple(_read_communities(communities, graph, most_bytes))
    return Dataset(name, graph, _largest(members, graph.n_nodes), communities=members)


def _read_edges(path: Path, most_bytes: int) -> Graph:
    text = read_gzip(path, most_bytes=most_bytes)
    try:
        ends = np.loadtxt(io.BytesIO(text), dtype=np.int64, comments="#", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path} is not a list of edges: {error}") from None
    if ends.shape[1] != 2:
        raise ValueError(f"{path} is not a list of edges: its lines have {ends.shape[1]} numbers, not two")
    return Graph.from_edges(ends[:, 0], ends[:, 1])


def _read_communities(path: Path, graph: Graph, most_bytes: int) -> list[Nodes]:
    communities = []
    for number, line in enumerate(read_gzip(path, most_bytes=most_bytes).splitlines(), start=1):
        try:
            communities.append(np.unique(graph.index(np.array(line.split(), dtype=np.int64))))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    return communities


def _largest(communities: tuple[Nodes, ...], n_nodes: int) -> Nodes:
    """The number of the largest community of each node, the first of equals; -1 for a node without one."""
    labels = np.full(n_nodes, -1, dtype=np.int64)
    for number in sorted(range(len(communities)), key=lambda c: (len(communities[c]), -c)):
        labels[communities[number]] = number
    return labels
