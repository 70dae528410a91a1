"""Small files in the formats of the real sources of datasets."""

import io
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

ARCS = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0]])
LABELS = np.array([1, 0, 1, 1])
NAMES = np.array(["Paris", "Rome", "Physics", "Zoo"], dtype=object)
SNAP_EDGES = "# Undirected graph\n# Nodes: 5\n10\t20\n20\t30\n10\t30\n30\t7\n7\t99\n"
SNAP_COMMUNITIES = "10\t20\t30\n7\t99\n30\t7\t99\n7\t99\n"


def bundle(folder: Path, adjacency: Any = ARCS, labels: NDArray[Any] | None = LABELS, **others: Any) -> Path:
    """A NetSet folder, written as its makers write it."""
    folder.mkdir(parents=True)
    sp.save_npz(folder / "adjacency.npz", sp.csr_matrix(adjacency))
    if labels is not None:
        np.save(folder / "labels.npy", labels)
    for name, value in others.items():
        if sp.issparse(value):
            sp.save_npz(folder / f"{name}.npz", value)
        elif isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value, allow_pickle=True)
        else:
            (folder / f"{name}.p").write_bytes(pickle.dumps(value))
    return folder


def packed(folder: Path) -> bytes:
    """The archive of a folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for file in sorted(folder.iterdir()):
            archive.add(file, file.name)
    return buffer.getvalue()


def graph_file(folder: Path, name: str, **others: Any) -> None:
    arrays = {"row": [0, 1], "col": [1, 2], "n": 3, "directed": False, "labels": [0, -1, 1], **others}
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / f"{name}.npz", **{key: np.asarray(value) for key, value in arrays.items()})  # type: ignore[arg-type]
