"""Files that hold a sparse matrix: arrays that were changed before they were packed, so that no checksum shows it."""

import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from isotherm.io import FileError, read_graph, read_seeds
from isotherm.io.vectors import read_vectors

CLUB = sp.csr_array(nx.to_scipy_sparse_array(nx.karate_club_graph(), dtype=float))
EDITS = [
    ("indptr", 5, 50_000_000),
    ("indptr", 5, -1),
    ("indptr", -1, 10**9),
    ("indices", 7, 2**31 - 1),
    ("indices", 7, -1),
]


def edited(form: str, name: str, place: int, value: int) -> dict[str, Any]:
    matrix = CLUB.asformat(form)
    parts = {each: getattr(matrix, each).copy() for each in ("indptr", "indices", "data")}
    parts[name][place] = value
    return {"format": np.array(form.encode()), "shape": np.array(matrix.shape), **parts}


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(("name", "place", "value"), EDITS)
def test_npz_and_folders_and_vectors(tmp_path: Path, form: str, name: str, place: int, value: int) -> None:
    (tmp_path / "netset").mkdir()
    paths = tmp_path / "m.npz", tmp_path / "netset" / "adjacency.npz"
    for path in paths:
        np.savez(path, **edited(form, name, place, value))
    readers: list[tuple[Callable[[Path], Any], Path]] = [
        (read_graph, paths[0]),
        (read_graph, tmp_path / "netset"),
        (read_vectors, paths[0]),
    ]
    for read, path in readers:
        with pytest.raises(FileError, match=r"(m|adjacency)\.npz.*the matrix is malformed: its ind"):
            read(path)


@pytest.mark.parametrize(("name", "place", "value"), EDITS)
def test_mat(tmp_path: Path, name: str, place: int, value: int) -> None:
    matrix, path = sp.csc_array(CLUB), tmp_path / "m.mat"
    savemat(path, {"A": matrix, "labels": matrix})
    before = getattr(matrix, name).astype("<i4")
    after = before.copy()
    after[place] = value
    content = path.read_bytes()
    assert content.count(before.tobytes()) == 2
    path.write_bytes(content.replace(before.tobytes(), after.tobytes()))
    for read in (read_graph, read_seeds):
        with pytest.raises(FileError, match=r"m\.mat"):
            read(path)


def test_a_list_of_entries(tmp_path: Path) -> None:
    matrix = CLUB.tocoo()
    for value in (34, -1):
        row = matrix.row.copy()
        row[3] = value
        content: dict[str, Any] = {"format": np.array("coo"), "shape": np.array(matrix.shape), "data": matrix.data}
        np.savez(tmp_path / "m.npz", **content, row=row, col=matrix.col)
        for read in (read_graph, read_vectors):
            with pytest.raises(FileError, match="row index values are not all between 0 and 33"):
                read(tmp_path / "m.npz")


def test_a_table_that_announces_too_many_rows(tmp_path: Path) -> None:
    content: dict[str, Any] = {"format": np.array("coo"), "shape": np.array([2**45, 2]), "data": np.ones(1)}
    np.savez(tmp_path / "m.npz", **content, row=np.zeros(1, np.int64), col=np.zeros(1, np.int64))
    with pytest.raises(FileError, match="a matrix of 35,184,372,088,832 rows needs about"):
        read_vectors(tmp_path / "m.npz")


def test_an_element_of_an_unknown_type(tmp_path: Path) -> None:
    """SciPy crashes on it, in compressed variables too."""
    for compressed in (False, True):
        file = BytesIO()
        savemat(file, {"A": sp.csc_array(CLUB)})
        content = file.getvalue()
        place = content.index(CLUB.indices.astype("<i4").tobytes()) - 8  # the tag of the row indices
        content = content[:place] + (38).to_bytes(4, "little") + content[place + 4 :]
        if compressed:
            packed = zlib.compress(content[128:])
            content = content[:128] + (15).to_bytes(4, "little") + len(packed).to_bytes(4, "little") + packed
        (tmp_path / "m.mat").write_bytes(content)
        with pytest.raises(FileError, match="an element has the type 38"):
            read_graph(tmp_path / "m.mat")


def test_a_matrix_that_announces_an_imaginary_part_it_lacks(tmp_path: Path) -> None:
    """SciPy crashes on it where another variable follows."""
    for last in ({}, {"y": np.eye(4)}):
        savemat(tmp_path / "m.mat", {"A": sp.csc_array(CLUB), **last})
        content = bytearray((tmp_path / "m.mat").read_bytes())
        content[145] |= 8
        (tmp_path / "m.mat").write_bytes(content)
        with pytest.raises(FileError, match=r"m\.mat"):
            read_graph(tmp_path / "m.mat")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_valid_mat_of_many_kinds(tmp_path: Path, compressed: bool) -> None:
    cells = np.array(["text", np.eye(2), np.zeros((0, 0))], dtype=object)
    record = {"x": 1, "name": "a longer text", "z": sp.csc_array(1j * CLUB)}
    content = {"A": sp.csc_array(CLUB), "note": "é", "cells": cells, "record": record, "w": np.eye(2) * 1j}
    savemat(tmp_path / "m.mat", content, do_compression=compressed)
    assert read_graph(tmp_path / "m.mat").n_nodes == 34
