"""Files of arrays whose content was changed before it was packed, so that no checksum gives it away.

Sparse matrices in npz files and NetSet folders, as tables of vectors, and in MATLAB files: whatever their arrays hold,
the answer is a result or one sentence, and never a crash. Saved models and packed folders have kinds of their own.
"""

import io
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io import savemat

import isotherm as iso
from isotherm.io import read_seeds
from isotherm.io.vectors import read_vectors
from tools.fuzz.mutate import generator, other_array
from tools.fuzz.readers import fault, read_sound_graph

__all__ = ["case"]

FORMS = ("csr", "csc", "coo", "bsr", "dia", "lists")
PLACES = [0, 1, -1, 33, 34, 35, 156, 157, 50_000_000, 2**31 - 1, -(2**31)]


def case(seed: int, number: int) -> str | None:
    """What is wrong with the answers to one file; None if nothing is."""
    rng = generator(seed, 4000, number)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if number % 4 == 3:
            path = folder / "m.mat"
            path.write_bytes(_crafted_mat(rng))
            return fault(read_sound_graph, path) or fault(read_seeds, path)
        path = folder / ("m.npz" if number % 4 else "adjacency.npz")
        np.savez(path, **_crafted_arrays(rng))
        return fault(read_sound_graph, path if number % 4 else folder) or fault(_use_vectors, path)


def _use_vectors(path: Path) -> None:
    """Read a table of vectors, and join its rows, as a command does."""
    vectors, *_ = read_vectors(path)
    if max(vectors.shape) < 1000:
        iso.Graph.from_vectors(vectors, k=2)


def _crafted_arrays(rng: np.random.Generator) -> dict[str, Any]:
    """The arrays of a valid file after one or two accidents."""
    arrays = dict(_originals()[FORMS[rng.integers(len(FORMS))]])
    for _ in range(rng.integers(1, 3)):
        names = sorted(name for name in arrays if arrays[name].dtype.kind in "biuf")
        name = names[rng.integers(len(names))]
        arrays[name] = other_array(arrays[name], rng)
    return arrays


@cache
def _originals() -> dict[str, dict[str, NDArray[Any]]]:
    club = sp.csr_array(nx.to_scipy_sparse_array(nx.karate_club_graph(), dtype=float))
    saved = {}
    for form in FORMS[:-1]:
        file = io.BytesIO()
        sp.save_npz(file, sp.bsr_array(club, blocksize=(2, 2)) if form == "bsr" else club.asformat(form))
        file.seek(0)
        with np.load(file) as arrays:
            saved[form] = dict(arrays)
    entries = club.tocoo()
    saved["lists"] = {"row": entries.row, "col": entries.col, "weight": entries.data, "n": np.array(34)}
    return saved


@cache
def _mat() -> tuple[bytes, tuple[bytes, ...]]:
    """A MATLAB file, and the bytes of the arrays of indices in it."""
    club = sp.csc_array(nx.to_scipy_sparse_array(nx.karate_club_graph(), dtype=float))
    file = io.BytesIO()
    savemat(file, {"A": club, "labels": sp.csc_array(np.eye(34)[:, :2])})
    return file.getvalue(), tuple(part.astype("<i4").tobytes() for part in (club.indptr, club.indices))


def _crafted_mat(rng: np.random.Generator) -> bytes:
    """A MATLAB file with other indices, or other bytes anywhere; `savemat` itself would crash on such a matrix."""
    content, arrays = _mat()
    if rng.random() < 0.5:
        changed = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            place = 4 * int(rng.integers(32, len(changed) // 4))
            changed[place : place + 4] = np.int32(PLACES[rng.integers(len(PLACES))]).tobytes()
        return bytes(changed)
    before = arrays[rng.integers(2)]
    values = np.frombuffer(before, "<i4").copy()
    values[rng.integers(len(values))] = PLACES[rng.integers(len(PLACES))]
    return re.sub(re.escape(before), lambda _: values.tobytes(), content, count=1)
