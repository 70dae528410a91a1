"""The one table of results: data frames and files have the cells of its rows, which are those of the fit."""

import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.labelling.rows import Columns, label_rows, rows

pytestmark = pytest.mark.filterwarnings(
    "ignore::isotherm.CalibrationWarning", "ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning"
)

Kind = type[iso.NodeClassifier] | type[iso.DirichletClassifier]
KINDS: list[Kind] = [iso.NodeClassifier, iso.DirichletClassifier]
CLUB = nx.karate_club_graph()
APART = nx.disjoint_union(nx.path_graph(5), nx.path_graph(2))
NAMED = nx.relabel_nodes(APART, dict(enumerate("uvwxyzk")))
CASES: dict[str, tuple[Any, dict[Any, Any]]] = {
    "texts": (CLUB, {0: "Mr. Hi", 33: "Officer", 5: "Mr. Hi"}),
    "integers with gaps": (APART, {0: 7, 4: 3, 1: 7}),
    "texts with gaps": (NAMED, {"u": "a", "y": "b"}),
    "booleans with gaps": (NAMED, {"u": True, "y": False}),
    "several": (NAMED, {"u": {"a", "b"}, "y": {"b"}}),
    "several integers": (CLUB, {0: {1, 2}, 33: {3}, 5: {1}}),
}


def cells(table: Any) -> list[list[Any]]:
    """The rows of a table as plain values: None where one is missing, and texts for booleans."""
    found = [list(row) for row in zip(*(list(column) for column in table), strict=True)]
    return [[_plain(value) for value in row] for row in found]


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    missing = value is None or value is np.ma.masked or type(value).__name__ == "NAType"
    if missing or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value) if isinstance(value, bool) else value


def parts_of(clf: Any, **wanted: Any) -> list[list[Any]]:
    return [row for part in rows(clf.fitted_, Columns(**wanted)) for row in cells(part.values())]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("piece", [3, 1 << 20])
def test_data_frames_and_files_have_the_same_cells(
    kind: Kind, name: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isotherm.labelling.rows.PIECE", piece)
    clf = kind().fit(*CASES[name])
    more: dict[str, Any] = {} if "several" in name else {"probabilities": True, "temperatures": True}
    expected = parts_of(clf, **more)
    polars, pandas = clf.to_polars(**more), clf.to_pandas(**more)
    assert cells(polars.iter_columns()) == expected
    assert cells(pandas[column] for column in pandas.columns) == expected
    assert list(pandas.columns) == polars.columns
    for file in ("l.parquet", "l.arrow", "l.csv"):
        assert iso.write_labels(tmp_path / file, clf.graph_, clf, **more) == len(expected)
    read = [pl.read_parquet(tmp_path / "l.parquet"), pl.read_ipc((tmp_path / "l.arrow").read_bytes())]
    for frame in read:
        assert frame.columns == polars.columns
        assert cells(frame.iter_columns()) == expected
    text = pl.read_csv(tmp_path / "l.csv", schema_overrides=polars.schema)
    for own, other in zip(cells(text.iter_columns()), expected, strict=True):
        assert own == pytest.approx(other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in CASES if "several" not in name])
def test_cells_are_what_the_classifier_found(kind: Kind, name: str) -> None:
    clf = kind().fit(*CASES[name])
    found = clf.to_polars(probabilities=True, temperatures=True)
    unknown = clf.seeds_.unknown
    labels = [None if label == unknown else _plain(label) for label in clf.labels_.tolist()]
    assert found["node"].to_list() == clf.graph_.nodes.tolist()
    assert found["label"].to_list() == labels
    np.testing.assert_array_equal(found["confidence"].to_numpy(), clf.confidence_)
    classes = clf.classes_.tolist()
    np.testing.assert_array_equal(found[[f"p_{label}" for label in classes]].to_numpy(), clf.predict_proba())
    temperatures = found[[f"t_{label}" for label in classes]].to_numpy()
    np.testing.assert_array_equal(temperatures.astype(np.float32), clf.temperatures_.astype(np.float32))


def test_each_label_of_a_node_has_a_row_the_most_certain_first() -> None:
    clf = iso.DirichletClassifier(calibration=None).fit(*CASES["several"])
    found = parts_of(clf)
    assert [row for row in found if row[0] == "u"] == [["u", "a", 1.0], ["u", "b", 1.0]]
    assert [row for row in found if row[0] in "zk"] == [["z", None, 0.0], ["k", None, 0.0]]
    confidence = csr_array(clf.confidence_).toarray()
    for place, node in enumerate(clf.graph_.nodes.tolist()):
        own = [row[2] for row in found if row[0] == node]
        assert own == sorted(own, reverse=True)
        assert [each for each in own if each] == sorted(confidence[place][confidence[place] > 0].tolist(), reverse=True)
    with pytest.raises(ValueError, match="probabilities and temperatures are for one label per node: leave them out"):
        parts_of(clf, probabilities=True)


@pytest.mark.parametrize("kind", KINDS)
def test_some_nodes_and_some_rows(kind: Kind) -> None:
    clf = kind().fit(*CASES["integers with gaps"])
    everything = parts_of(clf)
    (some,) = rows(clf.fitted_, Columns(), np.array([5, 1]))
    assert cells(some.values()) == [everything[5], everything[1]]
    assert parts_of(clf, only_unlabelled=True) == [everything[node] for node in (2, 3, 5, 6)]
    assert parts_of(clf, min_confidence=1.0) == [everything[node] for node in (0, 1, 4)]
    assert parts_of(clf, only_unlabelled=True, min_confidence=1.0) == []
    assert parts_of(clf, confidence=False) == [row[:2] for row in everything]


def test_confidence_is_not_computed_if_it_is_not_wanted() -> None:
    clf = iso.DirichletClassifier().fit(*CASES["texts"])
    parts_of(clf, confidence=False, temperatures=True)
    assert clf.fitted_.taught is None
    parts_of(clf, confidence=False, min_confidence=0.5)
    assert clf.fitted_.taught is not None


def test_a_label_goes_by_its_class_number_and_not_by_reach() -> None:
    """A node that no seed reaches has NaN temperatures, but features may tell its class."""
    nodes, codes = np.array(["a", "b", "c"], object), np.array([1, 0, -1])
    temperatures = np.array([[0.2, 0.8], [np.nan, np.nan], [np.nan, np.nan]])
    found = label_rows(
        nodes,
        codes,
        np.array(["x", "y"], object),
        Columns(temperatures=True, sides=True),
        confidence=np.array([0.9, 0.6, 0.3]),
        temperatures=temperatures,
        is_row=np.array([True, False, False]),
    )
    assert list(found) == ["node", "side", "label", "confidence", "t_x", "t_y"]
    assert cells(found.values()) == [
        ["a", "row", "y", 0.9, 0.2, 0.8],
        ["b", "column", "x", 0.6, None, None],
        ["c", "column", None, 0.0, None, None],
    ]
