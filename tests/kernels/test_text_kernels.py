"""Text to columns: the kernels against each other and against Python's own splitting."""

from types import ModuleType

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import BACKENDS, each_backend

texts = st.text("ab,;\r\n éx", max_size=300).map(lambda text: text.encode())
fields = st.text("abé ", min_size=1, max_size=40)


def columns(backend: ModuleType, text: bytes, width: int, places: list[int], delimiter: str = ",") -> list[list[str]]:
    found = backend.split_rows(text, delimiter, width, places)
    return [pl.Series(column).cast(pl.String).to_list() for column in found]


@given(rows=st.lists(st.tuples(fields, fields, fields), min_size=1), end=st.sampled_from(["\n", "\r\n"]))
def test_rows_come_back(rows: list[tuple[str, ...]], end: str) -> None:
    text = "".join(";".join(row) + end for row in rows).encode()
    for backend in BACKENDS:
        assert columns(backend, text, 3, [0, 2], ";") == [[row[place] for row in rows] for place in (0, 2)]


@given(text=texts, width=st.integers(1, 3))
def test_backends_agree_on_any_text(text: bytes, width: int) -> None:
    places = list(range(width))
    found = [columns(backend, text + b"\n", width, places) for backend in BACKENDS]
    assert all(each == found[0] for each in found)


@each_backend
@pytest.mark.parametrize("length", [0, 1, 7, 8, 11, 12, 13, 16, 31, 63, 64, 65, 200])
def test_fields_of_every_length_at_every_place(backend: ModuleType, length: int) -> None:
    long = "x" * length + "y"
    for before in range(70):
        text = f"{'a' * (before + 1)},b\n{long},c\nd,{long}\n".encode()
        assert columns(backend, text, 2, [0, 1]) == [["a" * (before + 1), long, "d"], ["b", "c", long]]


@each_backend
@pytest.mark.parametrize("text", [b"a,b\nc\n", b"a,b\nc,d,e\n", b"a,b\n,d\n", b"a,b\nc,\n", b"a,b\n\n", b"a,b\r\n\r\n"])
def test_uneven_rows_and_empty_fields_are_left_to_others(backend: ModuleType, text: bytes) -> None:
    assert not backend.split_rows(text, ",", 2, [0, 1])


@each_backend
def test_bytes_that_are_no_text_are_noticed(backend: ModuleType) -> None:
    for text in (b"a\xff,b\n", b"a" * 20 + b"\xff,b\n"):
        with pytest.raises(pl.exceptions.ComputeError, match="utf8"):
            columns(backend, text, 2, [0, 1])


@given(text=texts)
def test_line_breaks_are_counted(text: bytes) -> None:
    assert {backend.count_breaks(7 * text) for backend in BACKENDS} == {7 * text.count(b"\n")}


@each_backend
def test_a_column_is_taken_once(backend: ModuleType) -> None:
    (column,) = backend.split_rows(b"a\n", ",", 1, [0])
    assert pl.Series(column).to_list() == [b"a"]
    if not isinstance(column, list):
        with pytest.raises(RuntimeError, match="can be taken once"):
            column.__arrow_c_array__()
