"""Any bytes in any format: a result or a FileError of one line, and no other exception.

``ISOTHERM_FUZZ=5000 pytest tests/test_io_fuzz.py`` runs that many cases for each format.
"""

import gzip
import io
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isotherm.io import FileError, read_graph, read_seeds
from isotherm.io.errors import quiet_natives

FRAME = pl.DataFrame({"source": ["a", "b", "é", 'x"y'], "target": ["b", "c", "a b", "7"], "weight": [1.0, 2, 3.5, 0]})


def written(write: Callable[[Any], Any]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


CSV = FRAME.write_csv().encode()
PATH = nx.path_graph(4)
VALID = {
    "csv": CSV,
    "tsv": FRAME.write_csv(separator="\t").encode(),
    "txt": b"# c\n1 2 3\n2 3 4\n4  5\t6\n",
    "csv.gz": gzip.compress(CSV),
    "csv.zst": zstandard.compress(CSV),
    "parquet": written(FRAME.write_parquet),
    "arrow": written(FRAME.write_ipc),
    "ipc": written(FRAME.write_ipc_stream),
    "jsonl": FRAME.write_ndjson().encode(),
    "mtx": b"%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 0.5\n3 1 2\n",
    "npz": written(lambda file: sp.save_npz(file, sp.csr_array(nx.to_scipy_sparse_array(PATH)))),
    "graphml": written(lambda file: nx.write_graphml(PATH, file)),
    "gexf": written(lambda file: nx.write_gexf(PATH, file)),
    "graph": b"% c\n3 2 001\n2 5\n1 5 3 7\n2 7\n",
}
TABLES = ("csv", "tsv", "txt", "csv.gz", "csv.zst", "parquet", "arrow", "ipc", "jsonl")
PIECES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from([b'"', b",", b"\n", b"\r", b"\0", b"#", b" ", b"\t", b"-", b"9" * 25, b"1e999", b"nan", b"\xff"]),
)


@st.composite
def damaged(draw: st.DrawFn, valid: bytes) -> bytes:
    """A file after some accidents: bytes changed, cut out, put in or doubled, or the end lost."""
    content = bytearray(valid)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        end = min(len(content), place + draw(st.integers(0, 20)))
        match draw(st.sampled_from(["replace", "insert", "delete", "double", "truncate"])):
            case "replace":
                piece = draw(PIECES)
                content[place : place + len(piece)] = piece
            case "insert":
                content[place:place] = draw(PIECES)
            case "delete":
                del content[place:end]
            case "double":
                content[place:place] = content[place:end]
            case "truncate":
                del content[place:]
    return bytes(content)


@pytest.mark.parametrize("suffix", VALID)
@settings(
    max_examples=int(os.environ.get("ISOTHERM_FUZZ", "60")),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_bytes(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    content = data.draw(st.one_of(damaged(VALID[suffix]), st.binary(max_size=200)))
    path = tmp_path / f"f.{suffix}"
    path.write_bytes(content)
    if suffix != "jsonl":
        graph = result_or_error(read_graph, path)
        assert graph is None or np.isfinite(graph.adjacency.data).all()
    if suffix in TABLES:
        result_or_error(read_seeds, path)


def result_or_error(reader: Callable[[Path], Any], path: Path) -> Any:
    """What a reader gives; None if it gives a sentence."""
    with quiet_natives(), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return reader(path)
        except FileError as error:
            said = str(error)
    assert "\n" not in said
    return None


@pytest.mark.parametrize("suffix", VALID)
def test_the_valid_files_are_valid(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"f.{suffix}"
    path.write_bytes(VALID[suffix])
    assert read_seeds(path) if suffix == "jsonl" else read_graph(path).n_edges > 0
