"""A folder of NetSet, as scikit-network keeps it: ``adjacency.npz`` or ``biadjacency.npz``, names and labels."""

import dataclasses
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import blaming
from isotherm.io.formats import NETSET
from isotherm.io.graph_formats.npz import known_labels, read_npz
from isotherm.io.layout import Layout, Options, Pick
from isotherm.io.streams import Input

__all__ = ["netset_labels", "read_netset"]

LABEL_NAMES = ("names_labels", "labels_names", "label_names")


def read_netset(file: Input, options: Options) -> tuple[Graph, Layout]:
    """The graph of a folder; its names are the ids if all differ, and otherwise nodes are counted from 0."""
    path = next(path for name in NETSET if os.path.isfile(path := os.path.join(file.path, name)))
    graph, _ = read_npz(Input(path, None, file.progress), options)
    names = _names(file.path, graph)
    if names is None:
        return graph, Layout("netset", first_id=0)
    return dataclasses.replace(graph, nodes=names), Layout("netset")


def netset_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The labels of a folder, from ``labels.npy``; of a rectangular matrix, the labels are those of its rows."""
    name = "labels" if label is None else str(label)
    labels = _array(file.path, name)
    if labels is None:
        raise FileError(f"{file.path} has no {name}.npy, so no labels; give a file of labels")
    graph, _ = read_netset(file, options)
    if labels.ndim != 1 or len(labels) not in (graph.n_nodes, graph.n_rows):
        raise FileError(f"{file.path}: {name}.npy has the shape {labels.shape}, but there are {graph.n_nodes} nodes")
    texts = next((found for each in LABEL_NAMES if (found := _array(file.path, each)) is not None), None)
    return known_labels(file.path, f"{name}.npy", labels, texts, graph.nodes[: len(labels)]), name


def _names(folder: str, graph: Graph) -> NDArray[Any] | None:
    """The names of the nodes, if there is one for each and all differ."""
    parts = [_array(folder, name) for name in (("names",) if graph.n_rows is None else ("names_row", "names_col"))]
    if any(part is None for part in parts):
        return None
    names = np.concatenate([part.astype(str) for part in parts if part is not None]).astype(object)
    return names if len(names) == graph.n_nodes == len(set(names.tolist())) else None


def _array(folder: str, name: str) -> NDArray[Any] | None:
    path = os.path.join(folder, f"{name}.npy")
    if not os.path.isfile(path):
        return None
    with blaming(path, "an npy file"):
        return np.load(path, allow_pickle=False)
