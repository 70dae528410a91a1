"""NetSet's graphs: an archive, or the folder it unpacks to, with one file for each attribute.

``adjacency.npz`` and ``biadjacency.npz`` are SciPy's sparse matrices, ``labels.npy``, ``names.npy`` and others NumPy's
arrays, ``meta.p`` a pickle; https://netset.telecom-paris.fr.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from isotherm.graphs import Graph
from isotherm.study.datasets.archives import read_npy, read_npz, read_tar
from isotherm.study.datasets.base import Dataset
from isotherm.study.datasets.pickles import load_pickle

__all__ = ["read_bundle", "read_netset", "sparse_matrix"]

LABEL_NAMES = ("names_labels", "labels_names", "label_names")


def read_bundle(path: Path, *, most_bytes: int, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The wanted attributes of an archive or folder: matrices, arrays, and the content of ``.p`` files."""
    if path.is_dir():
        files = {file.name: file.read_bytes() for file in sorted(path.iterdir()) if file.stem in wanted}
    else:
        files = read_tar(path, most_bytes=most_bytes, wanted=wanted)
    attributes: dict[str, Any] = {}
    for name, content in files.items():
        stem, _, suffix = name.partition(".")
        label = f"{path}, {name}"
        match suffix:
            case "npz":
                attributes[stem] = sparse_matrix(read_npz(content, most_bytes=most_bytes, name=label), label)
            case "npy":
                attributes[stem] = read_npy(content, label)
            case "p":
                attributes[stem] = load_pickle(content, label)
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
        kind = arrays["format"].item()
        kind = kind.decode() if isinstance(kind, bytes) else kind
        shape = tuple(int(size) for size in arrays["shape"])
        if kind == "csr":
            return csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        if kind == "coo":
            return coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape).tocsr()
    except (KeyError, ValueError, AttributeError) as error:
        raise ValueError(f"{name} is not a sparse matrix: {error}") from None
    raise ValueError(f"{name} is a sparse matrix of format {kind!r}; only csr and coo are read")


def _renamed(graph: Graph, names: Any) -> Graph:
    """The same graph with names as ids, if there is one for each node and all differ."""
    ids = None if names is None else np.asarray(names).astype(str).astype(object)
    if ids is None or len(ids) != graph.n_nodes or len(set(ids.tolist())) < len(ids):
        return graph
    return Graph(graph.csr, ids, graph.directed)


def _text(names: Any) -> NDArray[np.str_] | None:
    return None if names is None else np.asarray(names).astype(str)
