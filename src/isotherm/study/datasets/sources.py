"""The dataset, and the readers of each source: built-in graphs, a folder, NetSet, Planetoid and SNAP.

Files from elsewhere are read through ``archives.py`` and ``pickles.py``, which trust nothing.
"""

import io
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from isotherm.graphs import Graph
from isotherm.graphs.untrusted import sparse_of_arrays
from isotherm.study.datasets.archives import read_gzip, read_npy, read_npz, read_tar
from isotherm.study.datasets.pickles import load_pickle

Nodes: TypeAlias = NDArray[np.int64]

MOST_BYTES = 1 << 30  # largest size of a graph in a folder, once unpacked
LABEL_NAMES = ("names_labels", "labels_names", "label_names")  # in archives of NetSet
PLANETOID_PARTS = ("ally", "ty", "graph", "test.index")  # the other files hold features
WIKILINKS_CLASSES = 10


class StandInWarning(UserWarning):
    """Another graph was loaded in place of the one asked for."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph and the labels of its nodes; if communities overlap, a node's label is its largest community."""

    name: str
    graph: Graph
    labels: NDArray[Any]  # (n,) true labels, in the order of graph.nodes; where unknown, -1 (int labels) or None (str)
    positions: NDArray[np.float64] | None = None  # (n, 2) where to draw the nodes
    label_names: NDArray[np.str_] | None = None  # names of the int labels 0, 1, ...
    communities: tuple[Nodes, ...] | None = None  # if they overlap: positions of the nodes of each, ascending
    stand_in_for: str | None = None  # the graph that was asked for, if this one is only similar to it

    @property
    def n_classes(self) -> int:
        """The number of classes or communities."""
        return len(set(self.labels[self.labelled].tolist()) if self.communities is None else self.communities)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which nodes have a label, shape (n,)."""
        if self.labels.dtype == object:
            return np.array([label is not None for label in self.labels], dtype=bool)
        return np.asarray(self.labels >= 0)


# Zachary's Karate Club: W. W. Zachary, "An Information Flow Model for Conflict and Fission in Small Groups", Journal of
# Anthropological Research 33 (1977), 452-473. Members are numbered from 0 here and from 1 there.

# fmt: off
FRIENDS = {  # each edge once, at its lower end
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31), 1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32), 3: (7, 12, 13), 4: (6, 10), 5: (6, 10, 16), 6: (16,), 8: (30, 32, 33), 9: (33,),
    13: (33,), 14: (32, 33), 15: (32, 33), 18: (32, 33), 19: (33,), 20: (32, 33), 22: (32, 33),
    23: (25, 27, 29, 32, 33), 24: (25, 27, 31), 25: (31,), 26: (29, 33), 27: (33,), 28: (31, 33), 29: (32, 33),
    30: (32, 33), 31: (32, 33), 32: (33,),
}

WITH_MR_HI = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21)

POSITIONS = (
    (-0.65, 0.13), (-0.18, 0.35), (-0.08, -0.12), (-0.28, -0.13), (-0.82, -0.30), (-0.42, -0.56), (-0.47, -0.76),
    (-0.33, 0.08), (-0.12, -0.40), (0.10, -0.02), (-0.78, -0.57), (-0.95, 0.01), (-0.42, -0.28), (-0.03, 0.20),
    (0.69, -0.15), (0.20, -0.74), (-0.17, -0.68), (-0.33, 0.55), (0.92, -0.15), (0.07, 0.64), (0.60, -0.57),
    (-0.13, 0.61), (0.74, -0.40), (0.69, 0.27), (0.55, 0.80), (0.78, 0.67), (0.95, 0.26), (0.33, 0.79),
    (0.29, 0.49), (0.72, 0.06), (0.15, -0.47), (0.64, 0.49), (0.43, -0.34), (0.45, 0.09),
)
# fmt: on


def karate_club() -> Dataset:
    """The Karate Club, labelled by the side each member took: "Mr. Hi" (node 0) or "Officer" (node 33).

    Examples
    --------
    >>> club = karate_club()
    >>> club.graph
    <Graph: 34 nodes, 78 edges>
    >>> club.labels[[0, 33]].tolist()
    ['Mr. Hi', 'Officer']
    """
    source, target = zip(*((low, high) for low, friends in FRIENDS.items() for high in friends), strict=True)
    labels = np.full(len(POSITIONS), "Officer", dtype=object)
    labels[list(WITH_MR_HI)] = "Mr. Hi"
    graph = Graph.from_edges(source, target, nodes=range(len(POSITIONS)))
    return Dataset("Karate Club", graph, labels, np.array(POSITIONS))


def debian_packages() -> Dataset:
    """The packages of Debian 12 "bookworm", labelled by the names of their sections in the archive.

    An arc leads from a package to each that it depends on: 63,436 packages, 247,686 arcs, 58 sections.

    Examples
    --------
    >>> debian = debian_packages()
    >>> debian.graph
    <Graph: 63436 nodes, 247686 edges, directed>
    >>> debian.labels[debian.graph.index(["bash", "0ad"])].tolist()
    ['shells', 'games']
    """
    with as_file(files("isotherm.study.datasets") / "data" / "debian_bookworm.npz") as path:
        read = read_npz_graph(path, name="Debian packages")
    assert read.label_names is not None
    sections = read.label_names.astype(object)
    return Dataset(read.name, read.graph, sections[read.labels])


def read_npz_graph(path: Path, *, name: str | None = None) -> Dataset:
    """The graph in an ``.npz`` file of NumPy.

    Arrays: ``row`` and ``col`` (the ends of each edge, listed once), ``n``, ``directed``, ``labels`` (-1 where
    unknown). Optional: ``label_names``, ``weight``, ``node_names``, ``xy``, and ``member_node`` and ``member_comm`` if
    a node may belong to several communities.
    """
    arrays = read_npz(path, most_bytes=MOST_BYTES)
    missing = {"row", "col", "n", "directed", "labels"} - arrays.keys()
    if missing:
        raise ValueError(f"{path} is not a graph: it lacks the array {min(missing)!r}")
    nodes = arrays.get("node_names", np.arange(int(arrays["n"])))
    distinct = len(np.unique(nodes)) == len(nodes)
    source, target = arrays["row"], arrays["col"]
    if distinct and "node_names" in arrays:
        source, target = nodes[source], nodes[target]
    ids = nodes if distinct else np.arange(len(nodes))
    graph = Graph.from_edges(source, target, arrays.get("weight"), directed=bool(arrays["directed"]), nodes=ids)
    communities = None
    if "member_node" in arrays:
        members, numbers = arrays["member_node"], arrays["member_comm"]
        order = np.lexsort((members, numbers))
        cuts = np.flatnonzero(np.diff(numbers[order])) + 1
        communities = tuple(np.split(members[order].astype(np.int64), cuts))
    names = _text(arrays.get("label_names"))
    labels = arrays["labels"].astype(np.int64)
    return Dataset(name or path.stem, graph, labels, arrays.get("xy"), names, communities)


def read_bundle(path: Path, *, most_bytes: int, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The wanted attributes of a graph of NetSet (https://netset.telecom-paris.fr), from its archive or folder."""
    if path.is_dir():
        files = {file.name: file.read_bytes() for file in sorted(path.iterdir()) if file.stem in wanted}
    else:
        files = read_tar(path, most_bytes=most_bytes, wanted=wanted)
    attributes: dict[str, Any] = {}
    for name, content in files.items():
        stem, _, suffix = name.partition(".")
        label = f"{path}, {name}"
        if suffix == "npz":  # adjacency and biadjacency, saved by SciPy
            attributes[stem] = sparse_matrix(read_npz(content, most_bytes=most_bytes, name=label), label)
        elif suffix in ("npy", "p"):
            attributes[stem] = (read_npy if suffix == "npy" else load_pickle)(content, label)
    return attributes


def read_netset(
    path: Path, *, name: str, directed: bool, most_bytes: int, labels: NDArray[np.int64] | None = None
) -> Dataset:
    """The graph and labels of an archive or folder; `labels` are used if the source has none."""
    bundle = read_bundle(path, most_bytes=most_bytes, wanted=("adjacency", "labels", "names", "meta", *LABEL_NAMES))
    if "adjacency" not in bundle or ("labels" not in bundle and labels is None):
        raise ValueError(f"{path} is not a NetSet graph: it needs adjacency.npz and labels.npy")
    matrix = bundle["adjacency"]
    known = np.asarray(bundle.get("labels") if labels is None else labels).astype(np.int64)
    if matrix.shape[0] != matrix.shape[1] or known.shape != matrix.shape[:1]:
        raise ValueError(f"{path}: {known.size} labels do not fit an adjacency matrix of shape {matrix.shape}")
    graph = Graph.from_scipy(matrix, directed=directed)
    names = next((bundle[key] for key in LABEL_NAMES if key in bundle), None)
    return Dataset(name, _renamed(graph, bundle.get("names")), known, label_names=_text(names))


def sparse_matrix(arrays: dict[str, NDArray[Any]], name: str) -> csr_array:
    """The matrix that SciPy saved in the arrays of an npz file."""
    try:
        return csr_array(sparse_of_arrays(arrays))
    except (KeyError, ValueError, AttributeError) as error:
        raise ValueError(f"{name} is not a sparse matrix: {error}") from None


def _renamed(graph: Graph, names: Any) -> Graph:
    """The same graph with names as ids, if there is one for each node and all differ."""
    ids = None if names is None else np.asarray(names).astype(str).astype(object)
    if ids is None or len(ids) != graph.n_nodes or len(set(ids.tolist())) < len(ids):
        return graph
    return Graph(graph.csr, ids, graph.directed)


def _text(names: Any) -> NDArray[np.str_] | None:
    return None if names is None else np.asarray(names).astype(str)


def read_planetoid(files: dict[str, Path], *, name: str) -> Dataset:
    """The graph and labels of the files ``ind.<name>.<part>`` of Planetoid, given by part.

    Z. Yang, W. Cohen and R. Salakhutdinov, "Revisiting Semi-Supervised Learning with Graph Embeddings", ICML 2016. They
    are pickles of Python 2, read without executing them.

    Nodes without a label are dropped, then those without an edge: CiteSeer keeps 3264 nodes of 3327.
    """
    parts = {part: load_pickle(files[part].read_bytes(), files[part].name) for part in ("ally", "ty", "graph")}
    one_hot = (np.asarray(parts[part]) for part in ("ally", "ty"))
    training, test = (np.where(rows.any(axis=1), rows.argmax(axis=1), -1) for rows in one_hot)
    order = np.loadtxt(files["test.index"], dtype=np.int64, ndmin=1)  # test nodes; some numbers may be missing
    labels = np.full(max(len(training), int(order.max(initial=-1)) + 1), -1, dtype=np.int64)
    labels[: len(training)] = training
    labels[order] = test
    ends = np.array([(node, other) for node, others in parts["graph"].items() for other in others], dtype=np.int64)
    ends = np.unique(np.sort(ends.reshape(-1, 2), axis=1), axis=0)
    ends = ends[(ends[:, 0] != ends[:, 1]) & (labels[ends] >= 0).all(axis=1)]
    kept = np.unique(ends)
    place = np.cumsum(np.isin(np.arange(len(labels)), kept)) - 1
    graph = Graph.from_edges(place[ends[:, 0]], place[ends[:, 1]], nodes=np.arange(len(kept)))
    return Dataset(name, graph, labels[kept])


def read_snap(edges: Path, communities: Path, *, name: str, most_bytes: int) -> Dataset:
    """The undirected graph of an edge list, nodes by first appearance, and the communities, one in each line.

    J. Yang and J. Leskovec, "Defining and Evaluating Network Communities based on Ground-truth", ICDM 2012. Both files
    are plain or gzip. The label of a node is its largest community, the first of equals.
    """
    text = read_gzip(edges, most_bytes=most_bytes)
    try:
        ends = np.loadtxt(io.BytesIO(text), dtype=np.int64, comments="#", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{edges} is not a list of edges: {error}") from None
    if ends.shape[1] != 2:
        raise ValueError(f"{edges} is not a list of edges: its lines have {ends.shape[1]} numbers, not two")
    graph = Graph.from_edges(ends[:, 0], ends[:, 1])
    members: list[Nodes] = []
    for number, line in enumerate(read_gzip(communities, most_bytes=most_bytes).splitlines(), start=1):
        try:
            members.append(np.unique(graph.index(np.array(line.split(), dtype=np.int64))))
        except ValueError as error:
            raise ValueError(f"{communities}, line {number}: {error}") from None
    labels = np.full(graph.n_nodes, -1, dtype=np.int64)
    for number in sorted(range(len(members)), key=lambda c: (len(members[c]), -c)):
        labels[members[number]] = number
    return Dataset(name, graph, labels, communities=tuple(members))


def word_clusters(biadjacency: Any, *, n_classes: int = WIKILINKS_CLASSES, random_state: int = 0) -> NDArray[np.int64]:
    """A class for each row of a biadjacency matrix: its cluster, numbered from the largest; the last holds the rest.

    The graph of Wikipedia articles (WL) has no labels. The paper clusters the matrix of articles and words with
    Louvain's algorithm and merges all clusters beyond the ninth, which leaves ten classes. Needs scikit-network.
    """
    try:
        from sknetwork.clustering import Louvain
    except ImportError as error:
        message = "the labels of wikilinks need scikit-network: pip install scikit-network"
        raise ImportError(message, name="sknetwork") from error
    words = csr_matrix(biadjacency, dtype=bool)
    louvain = Louvain(resolution=1, modularity="Dugue", random_state=random_state)
    louvain.fit(words, force_bipartite=True)
    return merge_small(np.asarray(louvain.labels_row_), n_classes)


def merge_small(clusters: NDArray[Any], n_classes: int) -> NDArray[np.int64]:
    """Clusters renumbered from the largest, those beyond the first ``n_classes - 1`` merged into one.

    >>> merge_small(np.array([7, 7, 7, 2, 2, 5, 9]), 3).tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """
    _, places, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    rank = np.empty_like(sizes)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.minimum(rank[places], n_classes - 1).astype(np.int64)
