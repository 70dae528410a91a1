"""Files to features of nodes: a table of vectors or texts, put into the order of a graph."""

import os
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isotherm.errors import warn
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.layout import Pick
from isotherm.io.reading.vectors import read_vectors_file

__all__ = ["read_features"]


def read_features(
    path: str | os.PathLike[str],
    graph: Graph,
    *,
    id: Pick = None,  # noqa: A002 - the name of the option
    text: Pick = None,
) -> Any:
    """The features of the nodes of a graph, one row for each, in its order; dense or sparse as in the file.

    Parameters
    ----------
    path, id, text
        As for `isotherm.io.reading.vectors.read_vectors`.
    graph
        The graph. Ids are compared as text; without a column of ids, rows are the nodes 0, 1, ... Rows of other nodes
        are left out. Nodes without a row have zeros, with a warning.

    Raises
    ------
    FileError
        If the file cannot be read, none of its rows is a node, or a node has two.
    """
    name = os.fspath(path)
    read = read_vectors_file(path, id=id, text=text)
    ids = range(read.vectors.shape[0]) if read.ids is None else read.ids
    rows, places = _matched(name, ids, graph)
    if len(rows) < graph.n_nodes:
        lost = f"{graph.n_nodes - len(rows):,} of {graph.n_nodes:,} nodes have no features"
        warn(FileWarning(f"{name}: {lost}; theirs are 0"))
    if not issparse(read.vectors):
        found = np.zeros((graph.n_nodes, read.vectors.shape[1]))
        found[places] = read.vectors[rows]
        return found
    order = csr_array((np.ones(len(rows)), (places, rows)), shape=(graph.n_nodes, read.vectors.shape[0]))
    return csr_array(order @ csr_array(read.vectors))


def _matched(name: str, ids: Any, graph: Graph) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The rows that are nodes, and the places of these nodes."""
    known = {str(node): place for place, node in enumerate(graph.nodes.tolist())}
    found = np.array([known.get(str(each), -1) for each in ids], dtype=np.int64)
    rows = np.flatnonzero(found >= 0)
    if not len(rows):
        raise FileError(f"{name}: none of its {len(found):,} rows is a node of the graph; choose another column of ids")
    nodes, counts = np.unique(found[rows], return_counts=True)
    if counts.max() > 1:
        twice = shorten(graph.nodes[nodes[counts.argmax()]])
        raise FileError(f"{name}: the node {twice} has {counts.max()} rows; keep one of them")
    return rows, found[rows]
