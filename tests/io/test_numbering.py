"""Ids to positions: batches of ids against a dictionary."""

from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isotherm import kernels
from isotherm.io.numbering import Codebook, keys_of
from isotherm.kernels import numbering, reference

BACKENDS = [reference] if kernels.native is None else [reference, kernels.native]
Batches = list[list[tuple[Any, Any]]]


@pytest.fixture(autouse=True, params=BACKENDS, ids=lambda module: module.__name__.rsplit(".")[-1])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(kernels, "active", request.param)
    module: ModuleType = request.param
    return module


def check(batches: Batches, dtype: Any) -> None:
    """Each id has the position of its first appearance among all ids so far."""
    book, known = Codebook(), dict[Any, int]()
    for pairs in batches:
        source, target = (pl.Series([pair[end] for pair in pairs], dtype=dtype) for end in (0, 1))
        codes, size = np.empty((2, len(pairs)), dtype=np.int32), len(known)
        first = book.add(keys_of(source, target), codes)
        ids = [node for pair in pairs for node in pair]
        for node in ids:
            known.setdefault(node, len(known))
        assert codes.T.ravel().tolist() == [known[node] for node in ids]
        assert [ids[place] for place in first] == list(known)[size:]
        assert sorted(first.tolist()) == first.tolist()
    assert book.size == len(known)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.tuples(st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1)), max_size=30), max_size=4))
def test_integers(batches: Batches) -> None:
    check(batches, pl.Int64)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.tuples(st.text("a\0é", max_size=40), st.text(max_size=15)), max_size=30), max_size=4))
def test_texts(batches: Batches) -> None:
    check(batches, pl.String)


@pytest.mark.parametrize("step", [1, 3, 1 << 14])
def test_many_ids(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "STEP", step)
    rng = np.random.default_rng(step)
    rows = 300 if step < 100 else 20_000
    check([list(map(tuple, rng.integers(0, rows, size=(rows, 2)).tolist())) for _ in range(4)], pl.Int64)


def test_texts_in_the_place_of_those_before() -> None:
    """Ids that repeat are stored once in dictionaries; other texts of a later batch may be where they were."""
    for count in (3, 5):
        names = pl.Series([f"a name of some length {number}" for number in range(count)])
        rows = [(name, other) for name in names for other in names for _ in range(2)]
        check([rows, rows[::-1]], pl.String)
        encoded = pl.Series([row[0] for row in rows]).cast(pl.Categorical).cast(pl.String)
        codes = np.empty((2, len(rows)), dtype=np.int32)
        Codebook().add(keys_of(encoded, encoded), codes)
        assert codes.tolist() == [[place // (2 * count) for place in range(len(rows))]] * 2


def test_too_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotherm.io.numbering.MOST_NODES", 3)
    ids = pl.Series([1, 2])
    with pytest.raises(ValueError, match="a graph has at most 3"):
        Codebook().add(keys_of(ids, ids), np.empty((2, 2), dtype=np.int32))
