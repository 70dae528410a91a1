"""Ids to positions: the table against a dictionary."""

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from isotherm.io import codebook
from isotherm.io.codebook import Codebook, Keys, keys_of
from isotherm.kernels import native

Batches = list[list[tuple[int, int]]]


@pytest.fixture(autouse=True, params=["native", "reference"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "native" and native is None:
        pytest.skip("installed without a C++ compiler")
    chosen = native if native is not None and request.param == "native" else codebook
    monkeypatch.setattr(codebook, "_number", chosen.number)
    monkeypatch.setattr(codebook, "_rehash", chosen.rehash)


def numbered(pairs: list[tuple[int, int]], known: dict[int, int]) -> tuple[list[list[int]], list[int]]:
    """What a batch should give."""
    codes, first = [], []
    for row, pair in enumerate(pairs):
        for end, key in enumerate(pair):
            if key not in known:
                known[key] = len(known)
                first.append(2 * row + end)
        codes.append([known[key] for key in pair])
    return codes, first


def add(book: Codebook, source: Keys, target: Keys) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    codes = np.empty((2, len(source.words)), dtype=np.int32)
    first = book.add(source, target, codes)
    return codes.T, first


def check(batches: Batches) -> None:
    book, known = Codebook(), dict[int, int]()
    for pairs in batches:
        ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        codes, first = add(book, keys_of(pl.Series(ends[:, 0])), keys_of(pl.Series(ends[:, 1])))
        expected = numbered(pairs, known)
        assert (codes.tolist(), first.tolist()) == expected
    assert book.size == len(known)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.tuples(st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1)), max_size=30), max_size=4))
def test_numbers_by_first_appearance(batches: Batches) -> None:
    check(batches)


@pytest.mark.parametrize("step", [1, 3, 1 << 14])
def test_many_ids(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codebook, "STEP", step)
    rng = np.random.default_rng(step)
    rows = 300 if step < 100 else 20_000
    check([list(map(tuple, rng.integers(0, rows, size=(rows, 2)).tolist())) for _ in range(4)])


def test_keys_that_share_a_slot_and_a_word() -> None:
    """Ids whose first hash agrees are told apart by the second."""
    words = np.zeros(6, dtype=np.uint64)
    checks = np.array([0, 1, 2, 1, 3, 0], dtype=np.uint64) << np.uint64(32)
    codes, first = add(Codebook(), Keys(words[:3], checks[:3]), Keys(words[3:], checks[3:]))
    assert codes.tolist() == [[0, 1], [1, 2], [3, 0]]
    assert first.tolist() == [0, 1, 3, 4]


def test_texts_are_hashed_twice() -> None:
    ids = pl.Series([f"id{number}" for number in range(1000)])
    words, checks = keys_of(ids)
    assert len(np.unique(words)) == len(np.unique(checks >> np.uint64(32))) == len(ids)
    assert abs(np.corrcoef(words.astype(float), checks.astype(float))[0, 1]) < 0.2


def test_too_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codebook, "MOST_NODES", 3)
    keys = keys_of(pl.Series([1, 2]))
    with pytest.raises(ValueError, match="a graph has at most 3"):
        add(Codebook(), keys, keys)
