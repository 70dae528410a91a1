"""Any bytes in any format: a result or a FileError of one line, and no other exception; what is valid is read right.

``ISOTHERM_FUZZ=5000 pytest tests/io/test_fuzz.py`` runs that many cases for each format.
"""

import bz2
import csv
import gzip
import io
import lzma
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from isotherm.io import FileError, FileWarning, read_graph, read_seeds

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*/*"))
CASES = int(os.environ.get("ISOTHERM_FUZZ", "60"))
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
    "gml": written(lambda file: nx.write_gml(PATH, file)),
    "net": written(lambda file: nx.write_pajek(PATH, file)),
    "mat": written(lambda file: savemat(file, {"A": sp.csc_array(nx.to_scipy_sparse_array(PATH)), "y": np.eye(4)})),
    "csv.bz2": bz2.compress(CSV),
    "csv.xz": lzma.compress(CSV),
    "xlsx": written(FRAME.write_excel),
    "graph": b"% c\n3 2 001\n2 5\n1 5 3 7\n2 7\n",
}
TABLES = (
    "gml",
    "mat",
    "csv.bz2",
    "csv.xz",
    "xlsx",
    "csv",
    "tsv",
    "txt",
    "csv.gz",
    "csv.zst",
    "parquet",
    "arrow",
    "ipc",
    "jsonl",
)
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
    max_examples=CASES,
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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FileWarning)
        try:
            return reader(path)
        except FileError as error:
            said = str(error)
    assert "\n" not in said
    return None


@pytest.mark.parametrize("kept", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_inputs_that_reach_new_lines(tmp_path: Path, kept: Path) -> None:
    """Found by fuzzing with guidance by coverage; ``python -m tools.fuzz.guided`` adds to them."""
    path = tmp_path / f"f.{kept.parent.name}"
    path.write_bytes(kept.read_bytes())
    for reader in (read_graph, read_seeds):
        result_or_error(reader, path)


def test_there_are_such_inputs() -> None:
    formats = {"csv", "tsv", "txt", "jsonl", "mtx", "graphml", "gexf", "gml", "net", "graph"}
    assert {path.parent.name for path in CORPUS} == formats


@pytest.mark.parametrize("suffix", VALID)
def test_the_valid_files_are_valid(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"f.{suffix}"
    path.write_bytes(VALID[suffix])
    assert read_seeds(path) if suffix == "jsonl" else read_graph(path).n_edges > 0


Arcs = dict[tuple[Any, Any], float]
CHARACTERS = st.characters(min_codepoint=32, exclude_categories=["Cs", "Cn"], exclude_characters="\ufeff")
TEXTS = st.text(CHARACTERS, min_size=1, max_size=20)
WORDS = st.text("ab07é.-_\"'", min_size=1, max_size=20)


def table(arcs: Arcs) -> pl.DataFrame:
    rows = [(source, target, weight) for (source, target), weight in arcs.items()]
    return pl.DataFrame(rows, schema=["source", "target", "weight"], orient="row")


def lines(arcs: Arcs, delimiter: str) -> bytes:
    """A table as Python's own module writes it; a first line that may be taken for a comment is put in quotes."""
    text = io.StringIO()
    commented = next(iter(arcs))[0].lstrip("#%")[:1] in ("", " ", "!")
    quoting: Any = csv.QUOTE_ALL if commented else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=delimiter, quoting=quoting).writerows(table(arcs).rows())
    return text.getvalue().encode()


def words(arcs: Arcs) -> bytes:
    return "".join(f"{source}  {target}\t{weight}\n" for (source, target), weight in arcs.items()).encode()


def matrix(arcs: Arcs, first: int) -> Any:
    ends = np.array(list(arcs)).T - first
    return sp.coo_array((list(arcs.values()), (ends[0], ends[1])), shape=(9, 9))


def document(arcs: Arcs, write: Callable[..., Any]) -> bytes:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((source, target, weight) for (source, target), weight in arcs.items())
    return written(lambda file: write(graph, file))


def as_metis(arcs: Arcs) -> bytes:
    """Every arc at its source; METIS counts an edge for two of them, so each is there in both directions."""
    rows = [[f"{t} {w:.0f}" for (s, t), w in arcs.items() if s == node] for node in range(1, 10)]
    return "\n".join([f"9 {len(arcs) // 2} 001", *map(" ".join, rows), ""]).encode()


COLUMNS = {"source": 1, "target": 2, "weight": 3, "header": False}
WRITERS: dict[str, tuple[Any, Callable[[Arcs], bytes], dict[str, Any]]] = {
    "csv": (TEXTS, lambda arcs: lines(arcs, ","), COLUMNS | {"delimiter": ","}),
    "tsv": (TEXTS, lambda arcs: lines(arcs, "\t"), COLUMNS | {"delimiter": "tab"}),
    "csv.gz": (TEXTS, lambda arcs: gzip.compress(lines(arcs, ",")), COLUMNS | {"delimiter": ","}),
    "csv.zst": (TEXTS, lambda arcs: zstandard.compress(lines(arcs, ",")), COLUMNS | {"delimiter": ","}),
    "txt": (WORDS, words, COLUMNS | {"delimiter": "whitespace"}),
    "parquet": (TEXTS, lambda arcs: written(lambda file: table(arcs).write_parquet(file, row_group_size=3)), {}),
    "pq": (st.integers(-9, 2**62), lambda arcs: written(table(arcs).write_parquet), {}),
    "arrow": (TEXTS, lambda arcs: written(table(arcs).write_ipc), {}),
    "ipc": (TEXTS, lambda arcs: written(table(arcs).write_ipc_stream), {}),
    "graphml": (TEXTS, lambda arcs: document(arcs, nx.write_graphml), {}),
    "gexf": (TEXTS, lambda arcs: document(arcs, nx.write_gexf), {}),
    "mtx": (st.integers(1, 9), lambda arcs: written(lambda file: scipy.io.mmwrite(file, matrix(arcs, 1))), {}),
    "npz": (st.integers(0, 8), lambda arcs: written(lambda file: sp.save_npz(file, matrix(arcs, 0).tocsr())), {}),
    "metis": (st.integers(1, 9), as_metis, {}),
}


@pytest.mark.filterwarnings("ignore::isotherm.FileWarning")
@pytest.mark.parametrize("suffix", WRITERS)
@settings(max_examples=CASES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_others_write(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    """Every arc with its weight between the ids that were written, and no other."""
    ids, write, told = WRITERS[suffix]
    weights = st.sampled_from([1.0, 2.0, 3.0] if suffix == "metis" else [1.0, 0.5, 2.25, 1e-9, 12345.678])
    arcs = data.draw(st.dictionaries(st.tuples(ids, ids), weights, min_size=1, max_size=8))
    if suffix == "metis":
        arcs = {pair: weight for (s, t), weight in arcs.items() if s < t for pair in ((s, t), (t, s))}
    path = tmp_path / f"f.{suffix}"
    path.write_bytes(write(arcs))
    graph = read_graph(path, directed=True, **told)
    entries = graph.adjacency.tocoo()
    nodes = graph.nodes.tolist()
    found = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
    assert {(nodes[source], nodes[target]): weight for source, target, weight in found} == arcs
    if told or suffix in TABLES:
        assert nodes == list(dict.fromkeys(end for pair in arcs for end in pair))
