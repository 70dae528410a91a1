"""Sparse matrices from outside: whatever their arrays hold, a result or a sentence, and never a crash."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import isotherm as iso
from isotherm.graphs.untrusted import checked_sparse, sparse_of_arrays

MATRIX = sp.random_array((12, 12), density=0.3, rng=np.random.default_rng(0)) + sp.eye_array(12)
FORMS = ("csr", "csc", "coo", "bsr", "dia")
EXTREME = [0, 1, -1, 5, 11, 12, 13, 50_000_000, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]


def arrays(form: str) -> dict[str, Any]:
    """What SciPy saves of a matrix."""
    file = io.BytesIO()
    sp.save_npz(file, sp.bsr_array(MATRIX, blocksize=(3, 2)) if form == "bsr" else MATRIX.asformat(form))
    file.seek(0)
    with np.load(file) as saved:
        return dict(saved)


@pytest.mark.parametrize("form", FORMS)
def test_what_scipy_saves(form: str) -> None:
    np.testing.assert_array_equal(sparse_of_arrays(arrays(form)).toarray(), MATRIX.toarray())


@pytest.mark.parametrize("form", FORMS)
def test_other_types(form: str) -> None:
    for kind in (">f8", "f4", "f2", "i8", "?"):
        saved = {name: each.astype(each.dtype.newbyteorder(">")) for name, each in arrays(form).items()}
        found = sparse_of_arrays(saved | {"data": saved["data"].astype(kind)})
        np.testing.assert_array_equal(found.tocsr().toarray(), MATRIX.toarray().astype(kind))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_mutated_arrays(form: str, data: st.DataObject) -> None:
    """One or two values, lengths or types are changed; what is accepted can be multiplied and converted."""
    saved = arrays(form)
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(sorted(saved.keys() - {"format", "_is_array"})))
        array = saved[name].copy()
        match data.draw(st.sampled_from(["value", "shorter", "longer", "type", "flat"])):
            case "value" if array.size:
                array = array.astype(np.int64) if array.dtype.kind in "iu" else array
                array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(st.sampled_from(EXTREME))
            case "shorter":
                array = array[: len(array) // 2]
            case "longer":
                array = np.concatenate([array, array])
            case "type":
                kind = data.draw(st.sampled_from(["f8", "i4", "u8", "U5", "c16", "?"]))
                array = array.astype(kind) if array.dtype.kind in "iuf" else array
            case _:
                array = array.reshape(-1, 1)
        saved[name] = array
    try:
        matrix = sparse_of_arrays(saved)
    except (ValueError, TypeError):
        return
    if max(matrix.shape) < 1000:
        for other in FORMS[:3]:
            assert matrix.asformat(other).shape == matrix.shape
        assert (matrix.tocsr() @ np.ones(matrix.shape[1])).shape == matrix.shape[:1]


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(("name", "place", "value"), [("indptr", 5, 50_000_000), ("indptr", 3, -1), ("indices", 2, 99)])
def test_edited_matrices(form: str, name: str, place: int, value: int) -> None:
    """SciPy does not notice edits; every call that takes a sparse matrix does."""
    matrix = MATRIX.asformat(form).copy()
    getattr(matrix, name)[place] = value
    square = iso.Graph.from_scipy(MATRIX + MATRIX.T)
    calls: list[Callable[[], Any]] = [
        lambda: checked_sparse(matrix),
        lambda: iso.Graph.from_scipy(matrix),
        lambda: iso.Graph.from_biadjacency(matrix),
        lambda: iso.Graph.from_vectors(matrix, k=2),
        lambda: iso.NodeClassifier().fit(matrix, {0: 0, 1: 1}),
        lambda: iso.NodeClassifier().fit(square, {0: 0, 1: 1}, features=matrix),
        lambda: iso.NodeClassifier().fit(square, matrix),
        lambda: iso.VectorClassifier().fit(matrix, [0, 1] + [-1] * 10),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="the matrix is malformed"):
            call()
