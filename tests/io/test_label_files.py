"""Labels to files: what is written in each format."""

import gzip
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import isotherm as iso
from isotherm import write_labels
from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.graphs import Graph
from isotherm.io import read_seeds, write_rows, write_table

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

GRAPH = Graph.from_edges(["a", "b", "c", "x"], ["b", "c", "d", "y"])
COLUMNS = {"label": ["left", None], "confidence": [1.0, 0.0]}
PAIR = Graph.from_edges(["a"], ["b"])
CSV = "node,label,confidence\na,left,1.0\nb,,0.0\n"


@pytest.fixture(scope="module")
def fitted() -> DirichletClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unreached nodes, and single seeds
        return DirichletClassifier().fit(GRAPH, {"a": "left", "d": "right"})


def read(path: Path) -> pl.DataFrame:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    elif path.suffix == ".zst":
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    match path.suffixes[0]:
        case ".parquet":
            return pl.read_parquet(content)
        case ".arrow":
            return pl.read_ipc(content)
        case ".jsonl":
            rows = [json.loads(line) for line in content.decode().splitlines()]
            return pl.DataFrame(rows, schema_overrides={"label": pl.String})
        case suffix:
            return pl.read_csv(content, separator="\t" if suffix == ".tsv" else ",")


NAMES = ["l.csv", "l.tsv", "l.jsonl", "l.parquet", "l.arrow", "l.csv.gz", "l.tsv.zst", "l.jsonl.zst"]


@pytest.mark.parametrize("name", NAMES)
def test_one_row_per_node(tmp_path: Path, fitted: DirichletClassifier, name: str) -> None:
    path = tmp_path / name
    assert write_labels(path, GRAPH, fitted, probabilities=True, temperatures=True) == 6
    frame = read(path)
    assert frame.columns == ["node", "label", "confidence", "p_left", "p_right", "t_left", "t_right"]
    assert frame["node"].to_list() == ["a", "b", "c", "d", "x", "y"]
    assert frame["label"].to_list() == ["left", "left", "right", "right", None, None]
    assert frame["confidence"].to_list()[4:] == [0, 0]
    np.testing.assert_allclose(frame["confidence"], fitted.confidence_)
    np.testing.assert_allclose(frame.select("p_left", "p_right"), fitted.predict_proba())
    np.testing.assert_allclose(frame["t_left"][:4], [1, 2 / 3, 1 / 3, 0], atol=1e-9)
    assert frame["t_left"].to_list()[4:] == [None, None]
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_rows_can_be_left_out(tmp_path: Path, fitted: DirichletClassifier, name: str) -> None:
    assert write_labels(tmp_path / name, GRAPH, fitted, only_unlabelled=True) == 4
    assert read(tmp_path / name)["node"].to_list() == ["b", "c", "x", "y"]
    write_labels(tmp_path / name, GRAPH, fitted, min_confidence=0.9, force=True)
    assert read(tmp_path / name)["node"].to_list() == ["a", "d"]
    assert write_labels(tmp_path / name, GRAPH, fitted, only_unlabelled=True, min_confidence=1, force=True) == 0


def test_integers_are_written_as_integers(tmp_path: Path) -> None:
    graph = Graph.from_edges([1, 2, 8], [2, 3, 9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = DirichletClassifier().fit(graph, {1: 10, 3: 20})
    write_labels(tmp_path / "l.parquet", graph, fitted)
    frame = pl.read_parquet(tmp_path / "l.parquet")
    assert frame.schema["node"] == frame.schema["label"] == pl.Int64
    assert frame["label"].to_list()[::2] == [10, 20, None]


def test_ids_of_many_kinds(tmp_path: Path) -> None:
    graph = Graph.from_biadjacency(np.ones((1, 2)), rows=[("a", 1)], columns=[2, "x"])
    write_labels(tmp_path / "l.csv", graph, {"label": ["p", "q", "r"], "confidence": [1, 1, 1]})
    assert read(tmp_path / "l.csv")["node"].to_list() == ["('a', 1)", "2", "x"]


def test_columns_must_fit(tmp_path: Path, fitted: DirichletClassifier) -> None:
    with pytest.raises(ValueError, match="the column 'label' has 1 values for 2 nodes"):
        write_labels(tmp_path / "l.csv", PAIR, {"label": ["a"]})
    with pytest.raises(TypeError, match="need a classifier"):
        write_labels(tmp_path / "l.csv", PAIR, COLUMNS, probabilities=True)
    assert not list(tmp_path.iterdir())


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_labels("-", PAIR, COLUMNS)
    write_labels("-", PAIR, COLUMNS, format="jsonl")
    rows = b'{"node":"a","label":"left","confidence":1.0}\n{"node":"b","label":null,"confidence":0.0}\n'
    assert capfdbinary.readouterr().out == CSV.encode() + rows


NASTY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)


@settings(max_examples=int(os.environ.get("ISOTHERM_FUZZ", "100")))
@given(
    st.dictionaries(NASTY, NASTY, min_size=2, max_size=8), st.sampled_from(["csv", "tsv", "jsonl", "parquet", "arrow"])
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, known: dict[str, str], kind: str) -> None:
    path = tmp_path_factory.mktemp("trip") / f"l.{kind}"
    nodes = list(known)
    graph = Graph.from_edges(nodes[:-1], nodes[1:])
    write_labels(path, graph, {"label": list(known.values()), "confidence": np.ones(len(nodes))})
    plain = known if set(known.values()) - {"-1"} else {}
    expected = {node: label for node, label in plain.items() if not _stands_for_unknown(label, known)}
    if expected:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", iso.FileWarning)
            assert read_seeds(path) == expected


def _stands_for_unknown(label: str, known: dict[str, str]) -> bool:
    if label.strip().lower() in ("", "?", "na", "n/a", "<na>", "nan", "nat", "null", "unknown"):
        return True
    return label == "-1" and all(other.removeprefix("-").isdecimal() for other in known.values())


FORMULAS = ["=cmd|'/C calc'!A0", "+1+2", "-2+3", "@SUM(A1)", "-7", "+49 30", "a=b", "'x"]


@pytest.mark.parametrize("name", NAMES)
def test_formulas_are_written_as_they_are_unless_asked(tmp_path: Path, name: str) -> None:
    graph = Graph.from_edges(FORMULAS[:-1], FORMULAS[1:])
    columns = {"label": FORMULAS, "confidence": np.ones(len(FORMULAS))}
    write_labels(tmp_path / name, graph, columns)
    assert list(read_seeds(tmp_path / name).items()) == list(zip(FORMULAS, FORMULAS, strict=True))
    write_labels(tmp_path / name, graph, columns, safe_cells=True, force=True)
    safe = [
        f"'{text}" if text in ("=cmd|'/C calc'!A0", "+1+2", "-2+3", "@SUM(A1)", "+49 30") else text for text in FORMULAS
    ]
    expected = safe if name.startswith(("l.csv", "l.tsv")) else FORMULAS
    assert list(read_seeds(tmp_path / name).items()) == list(zip(expected, expected, strict=True))


def test_names_of_columns_are_safe_too(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", {"=1+1": ["a"], "share": [-0.5]}, safe_cells=True)
    assert (tmp_path / "t.csv").read_text() == "'=1+1,share\na,-0.5\n"


@pytest.mark.parametrize("name", ["l.csv", "l.tsv.gz", "l.jsonl", "l.parquet", "l.arrow"])
def test_pieces_make_the_same_file_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    n = 100
    graph = iso.Graph.from_edges([*range(n - 1), n], [*range(1, n), n + 1])  # the last two nodes are unreached
    with pytest.warns(iso.UnreachedWarning):
        clf = iso.DirichletClassifier(calibration=None).fit(graph, {0: "a", n - 1: "b"})
    options: Any = {"probabilities": True, "only_unlabelled": True, "min_confidence": 0.0}
    told: list[tuple[int, int | None]] = []
    whole = iso.write_labels(tmp_path / name, graph, clf, **options)
    monkeypatch.setattr("isotherm.labelling.rows.PIECE", 7)
    pieces = iso.write_labels(
        tmp_path / f"pieces-{name}", graph, clf, **options, progress=lambda done, total: told.append((done, total))
    )
    assert whole == pieces == n
    read = {".parquet": pl.read_parquet, ".arrow": pl.read_ipc}.get(Path(name).suffix)
    if read is None:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(tmp_path / name) as one, opened(tmp_path / f"pieces-{name}") as other:
            assert one.read() == other.read()
    else:
        assert read(tmp_path / name).equals(read(tmp_path / f"pieces-{name}"))
    assert told[-1] == (n, n + 2)
    assert len(told) == 15


def test_batches_of_columns(tmp_path: Path) -> None:
    batches = [
        {
            "node": np.array([3, 5]),
            "label": np.ma.masked_array([1, -1], [False, True]),
            "share": np.array([0.5, np.nan]),
        },
        {"node": np.array([7]), "label": np.ma.masked_array([-1], [True]), "share": np.array([0.25])},
    ]
    told: list[tuple[int, int | None]] = []
    for name in NAMES:
        assert write_rows(tmp_path / name, batches, total=3, progress=lambda *now: told.append(now)) == 3
        assert told[-2:] == [(2, 3), (3, 3)]
        found = read(tmp_path / name)
        assert found["node"].to_list() == [3, 5, 7]
        assert [None if each is None else int(each) for each in found["label"]] == [1, None, None]
        assert found["share"].to_list() == [0.5, None, 0.25]


def test_batches_into_a_folder(tmp_path: Path) -> None:
    assert write_rows(f"{tmp_path}/out/", [{"node": ["a"]}, {"node": ["b"]}]) == 2
    assert pl.read_parquet(tmp_path / "out" / "*.parquet")["node"].to_list() == ["a", "b"]
    with pytest.raises(ValueError, match="exists already, and is kept"):
        write_rows(f"{tmp_path}/out/", [{"node": ["a"]}])
    with pytest.raises(RuntimeError):
        write_rows(f"{tmp_path}/out/", broken_batches(), force=True)
    assert pl.read_parquet(tmp_path / "out" / "*.parquet").height == 2
    assert os.listdir(tmp_path) == ["out"]
    write_rows(f"{tmp_path}/out/", [{"node": ["c"]}], force=True)
    assert pl.read_parquet(tmp_path / "out" / "*.parquet")["node"].to_list() == ["c"]


def broken_batches() -> Iterator[dict[str, Any]]:
    yield {"node": ["a"]}
    raise RuntimeError
