"""Parquet pages with impossible sizes: refused, because polars would abort the process."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from isotherm.io import FileError, read_graph
from isotherm.io.parquet_pages import check_pages

FRAME = pl.DataFrame({"source": ["a", "b", "c", None], "target": ["b", "c", "a", "b"], "weight": [1.0, None, 3.5, 2.0]})


def written(**options: object) -> bytes:
    file = BytesIO()
    FRAME.write_parquet(file, **options)  # type: ignore[arg-type]
    return file.getvalue()


def refusals(content: bytes) -> dict[int, str]:
    """What is said about each file in which one byte has its last bit changed: for an integer, its sign."""
    found = {}
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        try:
            check_pages(BytesIO(bytes(changed)))
        except ValueError as error:
            found[place] = str(error)
    return found


def test_a_page_with_a_negative_number_of_values_is_refused(tmp_path: Path) -> None:
    content = written()
    places = [place for place, said in refusals(content).items() if said == "a page of -5 values in a column of 4"]
    assert len(places) == FRAME.width  # one page for each column
    for place in places:
        path = tmp_path / f"{place}.parquet"
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        read = "import sys, isotherm; isotherm.read_graph(sys.argv[1])"
        done = subprocess.run([sys.executable, "-c", read, path], capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr  # not killed by SIGABRT
        with pytest.raises(FileError, match="is damaged: a page of -5 values in a column of 4; write it again"):
            read_graph(path)


def test_pages_of_negative_sizes_are_refused() -> None:
    assert "a page of a negative size" in refusals(written()).values()


@pytest.mark.parametrize("options", [{"compression": "uncompressed"}, {"compression": "snappy", "row_group_size": 2}])
def test_sound_files_are_read_whatever_their_pages(tmp_path: Path, options: dict[str, object]) -> None:
    check_pages(BytesIO(written(**options)))
    many = pl.DataFrame({"source": range(5000), "target": [f"n{i % 70}" for i in range(5000)]})
    path = tmp_path / "e.parquet"
    many.write_parquet(path, data_page_size=500, statistics="full", **options)  # type: ignore[arg-type]
    check_pages(path)
    assert pl.read_parquet(path).equals(many)


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + b"\xff" * 4 + b"PAR1", b"\x1c" * 500 + b"\xf4\x01\0\0PAR1"]
)
def test_what_is_not_understood_is_left_to_polars(content: bytes) -> None:
    check_pages(BytesIO(content))


def test_truncated_files_are_left_to_polars() -> None:
    content = written()
    for end in range(len(content)):
        check_pages(BytesIO(content[:end]))
