"""Ids to positions: batches of ids against a dictionary, and ids that were made to do harm."""

import time
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isotherm import kernels
from isotherm.io.numbering import Codebook, folded, twins_among
from isotherm.kernels import reference

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
        first = book.add(source, target, book.hashes(source, target), codes)
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


def test_many_ids() -> None:
    rng = np.random.default_rng(1)
    check([list(map(tuple, rng.integers(0, 20_000, size=(20_000, 2)).tolist())) for _ in range(4)], pl.Int64)


def numbered(*ids: Any) -> tuple[Codebook, list[int]]:
    """The positions of ids that are both ends of their edges."""
    book, column, codes = Codebook(), pl.Series(ids), np.empty((2, len(ids)), dtype=np.int32)
    book.add(column, column, book.hashes(column, column), codes)
    return book, codes[0].tolist()


def test_texts_in_the_place_of_those_before() -> None:
    """Ids that repeat are stored once in dictionaries; other texts of a later batch may be where they were."""
    for count in (3, 5):
        names = pl.Series([f"a name of some length {number}" for number in range(count)])
        rows = [(name, other) for name in names for other in names for _ in range(2)]
        check([rows, rows[::-1]], pl.String)
        encoded = pl.Series([row[0] for row in rows]).cast(pl.Categorical).cast(pl.String)
        assert numbered(*encoded)[1] == [place // (2 * count) for place in range(len(rows))]


def test_texts_in_several_parts() -> None:
    """Columns whose Arrow arrays end at different rows."""
    names = [f"{'a long name, number ' * (number % 2)}{number % 40}" for number in range(100)]
    source = pl.concat(
        [pl.Series(names[:30]), pl.Series(names[:0], dtype=pl.String), pl.Series(names[30:])], rechunk=False
    )
    target = pl.concat([pl.Series(names[:70]), pl.Series(names[70:])], rechunk=False)
    book, codes = Codebook(), np.empty((2, 100), dtype=np.int32)
    book.add(source, target, book.hashes(source, target), codes)
    known = {name: place for place, name in enumerate(dict.fromkeys(names))}
    assert codes.tolist() == [[known[name] for name in names]] * 2


def test_too_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotherm.io.numbering.MOST_NODES", 3)
    with pytest.raises(ValueError, match="a graph has at most 3"):
        numbered(1, 2)


def test_arrays_of_other_lengths(backend: ModuleType) -> None:
    if backend is reference:
        pytest.skip("kernels of Python check themselves")
    ids, hashes, codes = pl.Series(["a", "b"]), np.empty(2, np.uint64), np.empty(1, np.int32)
    with pytest.raises(ValueError, match="different lengths"):
        backend.Codebook(np.zeros(4, np.uint64)).add_texts(ids, ids, hashes, hashes, codes, codes)


def test_forged_ids() -> None:
    """Two ids that had the same key in 0.2.0, whose hash had fixed constants."""
    ids = ("RzqDl6D6SuYFMNiN3G)*8FJ^00023338", "RzqDl6D6SuYFMNiN3G)*8FJ^00042713")
    assert numbered(*ids)[1] == [0, 1]


@pytest.mark.parametrize("length", [3, 12, 13, 15, 16, 40])
def test_positions_do_not_depend_on_hashes(backend: ModuleType, length: int) -> None:
    """With equal hashes, only the comparison of ids tells them apart."""
    names = [f"{number:03d}" + "x" * (length - 3) for number in range(200)]
    texts, numbers = pl.Series(names * 2), np.arange(400) % 200 * 2**40
    for secret in ([0, 0, 0, 0], [1, 2, 3, 4], [2**63, 5, 0, 2**64 - 1]):
        for equal in (True, False):
            book, other = (backend.Codebook(np.array(secret, dtype=np.uint64)) for _ in range(2))
            hashes, codes = np.full((2, 400), 7, dtype=np.uint64), np.empty((2, 400), dtype=np.int32)
            if not equal:
                book.hash_texts(texts, hashes[0])
                other.hash_integers(numbers, hashes[1])
            for ends, add, own in ((texts, book.add_texts, hashes[0]), (numbers, other.add_integers, hashes[1])):
                assert add(ends, ends, own, own, *codes).tolist() == list(range(0, 400, 2))
                assert codes.tolist() == [[place % 200 for place in range(400)]] * 2


def seconds(ids: pl.Series) -> float:
    """The processor time of numbering ids, the best of three."""
    taken = []
    for _ in range(3):
        book, codes = Codebook(), np.empty((2, len(ids)), dtype=np.int32)
        start = time.thread_time()
        book.add(ids, ids, book.hashes(ids, ids), codes)
        taken.append(time.thread_time() - start)
    return min(taken)


def test_ids_that_shared_a_slot_are_as_fast_as_others() -> None:
    """In 0.2.0 these were quadratic: their home slots, by a fixed factor, are neighbours."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    crafted = (np.arange(1, 100_001, dtype=np.uint64) * np.uint64(inverse)).view(np.int64)
    others = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 100_000)
    assert seconds(pl.Series(crafted)) < 2 * seconds(pl.Series(others)) + 0.01


@given(st.text("aB \t\x1c\n\x00Z09", max_size=20))
def test_twins_of_ascii(text: str) -> None:
    form = folded(text)
    book, _ = numbered(text, form, "other")
    expected = None if text == form else (text, form)
    assert book.twins(np.array(list(dict.fromkeys([text, form, "other"])), dtype=object)) == expected


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["ann", "bob", "x 1"], None),
        (["ann", "bob", "Ann", "Bob"], ("ann", "Ann")),
        (["Ann of a longer name", "bob", "ANN  of a longer name "], ("Ann of a longer name", "ANN  of a longer name ")),
        (["x", "jos\u00e9", "jose\u0301"], ("jos\u00e9", "jose\u0301")),
        (["\ufeffann", "x", "ann"], ("\ufeffann", "ann")),
        (["ANN", "x", "\ufeffann"], ("ANN", "\ufeffann")),
        (["\uff21\uff2e\uff2e", "ann"], ("\uff21\uff2e\uff2e", "ann")),
        (["stra\u00dfe", "strasse"], ("stra\u00dfe", "strasse")),
        (["\u00e9", "\u00e8"], None),
    ],
)
def test_twins(ids: list[str], expected: tuple[str, str] | None) -> None:
    assert numbered(*ids)[0].twins(np.array(ids, dtype=object)) == twins_among(ids) == expected


def test_twins_among_very_many() -> None:
    """Of more ids with capitals than are compared, a sample that holds both of two twins."""
    ids = [f"{'Nn'[number % 2]}ode {number // 2}" for number in range(400_000)]
    book, _ = numbered(*ids)
    found = book.twins(np.array(ids, dtype=object))
    assert found is not None
    assert found[0].lower() == found[1].lower()
    assert found == numbered(*ids)[0].twins(np.array(ids, dtype=object))
