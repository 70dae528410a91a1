"""A folder of graphs in NumPy's own format, one ``.npz`` file each.

Arrays: ``row`` and ``col`` (the ends of each edge, listed once), ``n``, ``directed``, ``labels`` (-1 where unknown).
Optional: ``label_names``, ``weight``, ``node_names``, ``xy``, and ``member_node`` and ``member_comm`` if a node may
belong to several communities.
"""

from pathlib import Path

import numpy as np

from isotherm.graphs import Graph
from isotherm.study.datasets.archives import read_npz
from isotherm.study.datasets.base import Dataset, Nodes

__all__ = ["graph_names", "read_graph_file"]

MOST_BYTES = 1 << 30


def graph_names(folder: Path) -> list[str]:
    """The graphs of a folder."""
    return sorted(path.stem for path in folder.glob("*.npz"))


def read_graph_file(path: Path, *, name: str | None = None) -> Dataset:
    """The graph in a file of this format."""
    arrays = read_npz(path, most_bytes=MOST_BYTES)
    missing = {"row", "col", "n", "directed", "labels"} - arrays.keys()
    if missing:
        raise ValueError(f"{path} is not a graph: it lacks the array {min(missing)!r}")
    nodes = arrays.get("node_names", np.arange(int(arrays["n"])))
    distinct = len(np.unique(nodes)) == len(nodes)
    source, target = arrays["row"], arrays["col"]
    if distinct and "node_names" in arrays:
        source, target = nodes[source], nodes[target]
    graph = Graph.from_edges(
        source,
        target,
        arrays.get("weight"),
        directed=bool(arrays["directed"]),
        nodes=nodes if distinct else np.arange(len(nodes)),
    )
    names = arrays.get("label_names")
    return Dataset(
        name or path.stem,
        graph,
        arrays["labels"].astype(np.int64),
        arrays.get("xy"),
        None if names is None else names.astype(str),
        _communities(arrays["member_node"], arrays["member_comm"]) if "member_node" in arrays else None,
    )


def _communities(nodes: Nodes, numbers: Nodes) -> tuple[Nodes, ...]:
    order = np.lexsort((nodes, numbers))
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    return tuple(np.split(nodes[order].astype(np.int64), cuts))
