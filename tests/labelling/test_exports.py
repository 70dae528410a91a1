"""Results for other libraries agree with what is written to files, and with the attributes of the classifier."""

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import isotherm as iso
from isotherm import write_labels
from isotherm.choices import FrameName

pytestmark = pytest.mark.filterwarnings(
    "ignore::isotherm.CalibrationWarning", "ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning"
)


def graphs() -> dict[str, Any]:
    club = nx.karate_club_graph()
    apart = nx.disjoint_union(nx.path_graph(5), nx.path_graph(2))
    matrix = np.array([[1, 1, 0], [0, 1, 1]])
    return {
        "text": (club, {0: "Mr. Hi", 33: "Officer", 5: "Mr. Hi"}),
        "unreached": (apart, {0: 7, 4: 3, 1: 7}),
        "unreached text": (apart, {0: "a", 4: "b"}),
        "bool": (club, {0: True, 33: False}),
        "several": (club, {0: {"a", "b"}, 33: {"c"}, 5: {"a"}}),
        "bipartite": (iso.Graph.from_biadjacency(matrix, columns=["x", "y", "z"]), {0: "hot", "z": "cold"}),
        "directed": (nx.gn_graph(12, seed=1), {0: "a", 3: "b"}),
    }


@pytest.mark.parametrize("name", graphs())
def test_data_frames_have_the_columns_of_the_file(name: str, tmp_path: Path) -> None:
    graph, seeds = graphs()[name]
    clf = iso.DirichletClassifier().fit(graph, seeds)
    more: dict[str, Any] = {} if name == "several" else {"probabilities": True, "temperatures": True}
    write_labels(tmp_path / "labels.parquet", clf.graph_, clf, **more)
    written, ours = pl.read_parquet(tmp_path / "labels.parquet"), clf.to_polars(**more)
    if name == "bipartite":
        assert ours["side"].to_list() == ["row"] * 2 + ["column"] * 3
        ours = ours.drop("side")
    assert ours.columns == written.columns
    assert ours.schema == written.schema
    for column in written.columns:
        one, other = ours[column], written[column].fill_null(np.nan) if written[column].dtype == pl.Float64 else None
        if other is None:
            assert one.to_list() == written[column].to_list()
        else:
            np.testing.assert_allclose(one.to_numpy(), other.to_numpy(), atol=1e-12)
    frame = clf.to_pandas(**more)
    for column in written.columns:
        values = frame[column].tolist()
        if column == "node" and name == "bipartite":
            values = list(map(str, values))  # polars has one type in a column
        if column == "label" and name == "bool":
            values = [str(value) for value in values]
        known = [None if pd.isna(value) else value for value in values]
        expected = written[column].to_list()
        assert known == expected or known == pytest.approx(expected, nan_ok=True)


def test_integers_stay_integers_where_some_are_missing() -> None:
    graph, seeds = graphs()["unreached"]
    frame = iso.DirichletClassifier().fit(graph, seeds).to_pandas()
    assert str(frame["label"].dtype) == "Int64"
    assert frame["label"].isna().tolist() == [False] * 5 + [True] * 2


@pytest.mark.parametrize("name", sorted(set(graphs()) - {"bipartite"}))
def test_networkx_gets_attributes_on_a_copy(name: str) -> None:
    graph, seeds = graphs()[name]
    clf = iso.DirichletClassifier().fit(graph, seeds)
    before = {node: dict(data) for node, data in graph.nodes(data=True)}
    for found in (clf.to_networkx(graph), clf.to_networkx()):
        assert set(found.edges) == set(graph.edges) or not graph.is_directed()
        for place, node in enumerate(clf.graph_.nodes.tolist()):
            data = found.nodes[node]
            if clf.fitted_.outcome.several:
                own = np.flatnonzero(csr_array(clf.labels_)[[place]].toarray()[0])
                assert data["label"] == clf.classes_[own].tolist()
            elif clf.reached_[place]:
                assert data["label"] == clf.labels_[place]
                assert data["confidence"] == clf.confidence_[place]
            else:
                assert "label" not in data
    assert {node: dict(data) for node, data in graph.nodes(data=True)} == before


def test_a_new_networkx_graph_has_the_same_edges() -> None:
    weights = nx.les_miserables_graph()
    clf = iso.DirichletClassifier(calibration=None).fit(weights, {"Valjean": "a", "Javert": "b"})
    again = clf.to_networkx()
    assert {frozenset(edge[:2]): edge[2] for edge in again.edges(data="weight")} == {
        frozenset(edge[:2]): edge[2] for edge in weights.edges(data="weight")
    }
    sides = iso.Graph.from_biadjacency(np.array([[1, 0], [1, 1]]))
    both = iso.DirichletClassifier(calibration=None).fit(sides, {0: "a", 3: "b"}).to_networkx()
    assert dict(both.nodes(data="bipartite")) == {0: 0, 1: 0, 2: 1, 3: 1}
    with pytest.raises(ValueError, match="G has other nodes than the graph of the fit"):
        clf.to_networkx(nx.path_graph(3))


def test_igraph_gets_attributes_on_a_copy() -> None:
    club = nx.karate_club_graph()
    theirs = igraph.Graph.from_networkx(club)
    clf = iso.DirichletClassifier().fit(theirs, "club")
    for found in (clf.to_igraph(theirs), clf.to_igraph()):
        assert found.vs["label"] == clf.labels_.tolist()
        np.testing.assert_allclose(found.vs["confidence"], clf.confidence_)
        assert found.ecount() == club.number_of_edges()
    assert "label" not in theirs.vs.attributes()
    named = igraph.Graph.TupleList([("a", "b"), ("b", "c")])
    assert iso.DirichletClassifier(calibration=None).fit(named, {"a": 0, "c": 1}).to_igraph(named).vs["label"][0] == 0


def test_seeds_from_an_attribute_of_nodes() -> None:
    club = nx.karate_club_graph()
    known = {0: "Mr. Hi", 33: "Officer"}
    nx.set_node_attributes(club, known, "seed")
    club.nodes[5]["seed"] = None
    club.nodes[6]["seed"] = float("nan")
    theirs = igraph.Graph.from_networkx(club)
    expected = iso.DirichletClassifier().fit(club, known)
    for graph in (club, theirs):
        clf = iso.DirichletClassifier().fit(graph, "seed")
        assert clf.graph_.nodes.tolist() == list(club)
        assert clf.labels_.tolist() == expected.labels_.tolist()
        assert clf.score(graph, "club") == expected.score(graph, "club") > 0.9
    with pytest.raises(ValueError, match="no node has the attribute 'sect': they have 'club', 'seed'"):
        iso.DirichletClassifier().fit(club, "sect")
    with pytest.raises(TypeError, match="'seed' names an attribute of nodes, which a Graph has not"):
        iso.DirichletClassifier().fit(iso.Graph.from_networkx(club), "seed")


def test_ids_that_igraph_keeps_from_networkx() -> None:
    graph = igraph.Graph.from_networkx(nx.relabel_nodes(nx.path_graph(3), {0: "a", 1: "b", 2: "c"}))
    assert iso.Graph.from_igraph(graph).nodes.tolist() == ["a", "b", "c"]


def test_labels_for_rows_and_columns() -> None:
    graph = iso.Graph.from_biadjacency(np.array([[1, 1, 0], [0, 1, 1]]), columns=["x", "y", "z"])
    by_node = iso.DirichletClassifier(calibration=None).fit(graph, {0: "hot", "z": "cold"})
    pair = iso.DirichletClassifier(calibration=None).fit(graph, (["hot", None], [None, None, "cold"]))
    assert pair.labels_.tolist() == by_node.labels_.tolist()
    numbers = iso.DirichletClassifier(calibration=None).fit(graph, (np.array([0, -1]), np.array([-1, -1, 1])))
    assert numbers.labels_[[0, 4]].tolist() == [0, 1]
    rows = iso.DirichletClassifier(calibration=None).fit(graph, (["hot", "cold"], None))
    assert rows.seeds_.nodes.tolist() == [0, 1]
    with pytest.raises(ValueError, match="there are 2 and 2 labels for 2 rows and 3 columns"):
        iso.DirichletClassifier().fit(graph, (["hot", None], [None, "cold"]))


def test_scores_by_node() -> None:
    club = nx.karate_club_graph()
    truth = dict(club.nodes(data="club"))
    clf = iso.DirichletClassifier(rule="centered").fit(club, {0: "Mr. Hi", 33: "Officer"})
    right = [label == truth[node] for node, label in zip(club, clf.labels_, strict=True)]
    assert clf.score(club, truth) == np.mean(right) == clf.score(club, "club")
    assert clf.score(iso.Graph.from_networkx(club), {8: truth[8]}) == float(right[8])
    with pytest.raises(TypeError, match="labels by node need the graph of the fit"):
        clf.score(np.eye(34), truth)


class Cells(HTMLParser):
    """The texts of a page, and a check that its elements are closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_notebooks_show_graphs_and_explanations() -> None:
    graph = iso.Graph.from_edges(["<b>", "bob", "eve"], ["bob", "eve", "fay"], [1, 2, 1])
    page = Cells(graph._repr_html_())
    assert not page.open
    assert {"nodes", "4", "edges", "3", "undirected", "<b>, bob, eve, ..."} <= set(page.texts)
    clf = iso.DirichletClassifier(calibration=None).fit(graph, {"<b>": "hot", "fay": "cold"})
    told = Cells(clf.explain("bob")._repr_html_())
    assert not told.open
    shares = clf.explain("bob").share
    assert {f"{share:.3f}" for share in shares} <= set(told.texts)
    assert "bob → <b>" in told.texts
    sides = Cells(iso.Graph.from_biadjacency(np.array([[1, 1, 0], [0, 1, 1]]))._repr_html_())
    assert {"rows", "2", "columns", "3"} <= set(sides.texts)


def test_notebooks_show_what_was_fitted() -> None:
    clf = iso.DirichletClassifier(rule="centered")
    fresh = clf._repr_mimebundle_()["text/html"]
    assert "Classes" not in fresh
    clf.fit(nx.karate_club_graph(), {0: "Mr. Hi", 33: "Officer"})
    page = clf._repr_mimebundle_()["text/html"]
    assert "Classes" in page
    assert "Graph: 34 nodes, 78 edges" in page
    counts = {label: int(np.count_nonzero(clf.labels_ == label)) for label in clf.classes_}
    for label, count in counts.items():
        assert f">{label}<" in page
        assert f">{count}<" in page
    assert "certified_" in dir(clf)
    assert "learnt" not in vars(clf.fitted_)  # nothing was computed to be shown
    several = iso.DirichletClassifier(calibration=None).fit(nx.path_graph(5), {0: {"a", "b"}, 4: {"b"}})
    assert ">b<" in several._repr_mimebundle_()["text/html"]


def test_a_solution_is_one_line() -> None:
    clf = iso.DirichletClassifier(solver="cg", tol=1e-6).fit(nx.path_graph(50), {0: 0, 49: 1})
    text = str(clf.solution_)
    assert text.startswith(f"cg, {clf.solution_.iterations} iterations, error ")
    assert repr(clf.solution_) == f"<Solution: {text}>"
    with pytest.warns(ConvergenceWarning, match="sweeps stopped after 2 iterations"):
        clf = iso.DirichletClassifier(solver="sweeps", max_iter=2).fit(nx.path_graph(50), {0: 0, 49: 1})
    assert str(clf.solution_).endswith("not converged")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_probabilities_as_data_frames(library: FrameName) -> None:
    club = nx.karate_club_graph()
    plain = iso.DirichletClassifier().fit(club, {0: "Mr. Hi", 33: "Officer"})
    clf = clone(iso.DirichletClassifier().set_output(transform=library)).fit(club, {0: "Mr. Hi", 33: "Officer"})
    found = clf.predict_proba()
    assert type(found).__module__.partition(".")[0] == library
    assert list(found.columns) == ["Mr. Hi", "Officer"]
    np.testing.assert_allclose(found.to_numpy(), plain.predict_proba())
    if library == "pandas":
        assert found.index.tolist() == list(club)
    new = clf.predict_proba(np.eye(34)[:2])
    np.testing.assert_allclose(new.to_numpy(), plain.predict_proba(np.eye(34)[:2]))
    assert isinstance(clf.set_output(transform="default").predict_proba(), np.ndarray)
    assert clf.set_output() is clf
    with pytest.raises(ValueError, match="transform='numpy', but it must be one of 'default', 'pandas', 'polars'"):
        clf.set_output(transform="numpy")


def test_before_the_fit_there_are_no_results() -> None:
    with pytest.raises(NotFittedError):
        iso.DirichletClassifier().to_pandas()


def test_a_bar_or_lines_on_standard_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from isotherm.labelling import progress

    graph = nx.path_graph(400)
    quiet = iso.DirichletClassifier(solver="cg").fit(graph, {0: 0, 399: 1})
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    loud = iso.DirichletClassifier(solver="cg", verbose=True).fit(graph, {0: 0, 399: 1})
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("solved in ")
    assert any("tol 1e-03, iteration" in line for line in lines)
    assert loud.labels_.tolist() == quiet.labels_.tolist()
    monkeypatch.setenv("FORCE_COLOR", "1")
    loud.update({200: 1})
    assert "solving" in capsys.readouterr().err
    with pytest.raises(ValueError, match="verbose='yes', but it must be True or False"):
        iso.DirichletClassifier(verbose="yes").fit(graph, {0: 0, 399: 1})  # type: ignore[arg-type]


@pytest.mark.filterwarnings("default")
def test_warnings_point_at_the_line_of_the_caller(tmp_path: Path) -> None:
    graph = nx.disjoint_union(nx.path_graph(200), nx.path_graph(2))
    clf = iso.DirichletClassifier()
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target,amount\na,b,1\nb,c,2\n")
    calls: dict[str, Callable[[], object]] = {
        "single seed": lambda: clf.fit(graph, {0: 0, 199: 1, 5: 1}),
        "not connected": lambda: clf.fit(graph, {0: 0, 199: 1}),
        "stopped after": lambda: iso.DirichletClassifier(solver="sweeps", max_iter=2).fit(graph, {0: 0, 199: 1}),
        "confidence is a guess": lambda: clf.fit(graph, {0: 0, 199: 1}).confidence_,
        "are not read": lambda: iso.read_graph(edges),
        "label -1": lambda: clf.fit(graph, {0: 0, 199: 1, 3: -1}),
    }
    for words, call in calls.items():
        with pytest.warns(UserWarning, match=words) as told:
            call()
        mine = [warning for warning in told if words in str(warning.message)]
        assert mine, words
        assert [warning.filename for warning in mine] == [__file__] * len(mine), words


def test_unreached_nodes_are_told_how_to_get_a_label() -> None:
    graph = nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))
    with pytest.warns(iso.UnreachedWarning, match=r"2 of 5 nodes .* predict\(unreached=\.\.\.\) gives them a label"):
        clf = iso.DirichletClassifier().fit(graph, {0: "a", 2: "b"})
    assert clf.predict(unreached="none")[3:].tolist() == ["none"] * 2
