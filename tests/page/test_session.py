"""A session without a browser: labels, undo, what is fitted in the background, and what is sent to the page."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotherm as iso
from isotherm.errors import ParameterError
from isotherm.io import Column, Layout, read_seeds
from isotherm.page import answers
from isotherm.page import session as sessions
from isotherm.page.answers import NEW_SEEDS, labels_file, model_file, seeds_file
from isotherm.page.journal import Journal, Labels
from isotherm.page.session import Session
from isotherm.paper.block_model import stochastic_block_model
from isotherm.study.datasets import karate_club

WARNINGS = "RareClassWarning", "CalibrationWarning"
pytestmark = [pytest.mark.filterwarnings(f"ignore::isotherm.{name}") for name in WARNINGS]


def session_of(graph: iso.Graph, seeds: dict[Any, Any], journal: Journal | None = None) -> Session:
    found = Session(graph, seeds, iso.DirichletClassifier(), journal, source=NEW_SEEDS)
    found.start()
    return found


def settle(session: Session) -> None:
    """Wait until nothing is going on."""
    assert session.wait(lambda: session.busy == "" and session.positions is not None and not session._work.is_set())
    assert session.failure == ""


@pytest.fixture
def club() -> Iterator[Session]:
    graph = karate_club().graph
    session = session_of(graph, {graph.nodes[0]: "Hi", graph.nodes[33]: "Officer"})
    settle(session)
    yield session
    session.stop()


def test_the_map_shows_the_labels_of_a_fit(club: Session) -> None:
    seeds = {club.graph.nodes[place]: label for place, label in club.labels.seeds.items()}
    fitted = iso.DirichletClassifier().fit(club.graph, seeds)
    assert [club.classes[code] for code in club.shown.codes] == fitted.labels_.tolist()


def test_a_label_and_undo(club: Session) -> None:
    before = club.shown.codes.copy()
    club.label([5], "Officer")
    assert club.classes[club.shown.codes[5]] == "Officer", "marked at once"
    settle(club)
    seeds = {club.graph.nodes[place]: label for place, label in club.labels.seeds.items()}
    fresh = iso.DirichletClassifier().fit(club.graph, seeds)
    assert [club.classes[code] for code in club.shown.codes] == fresh.labels_.tolist()
    club.undo()
    settle(club)
    np.testing.assert_array_equal(club.shown.codes, before)
    club.redo()
    settle(club)
    assert club.labels.seeds[5] == "Officer"


def test_only_differences_are_sent(club: Session) -> None:
    first = np.frombuffer(answers.colours(club, 0)[:12], "<u4")
    assert first[1:].tolist() == [1, 34]
    nothing = answers.colours(club, int(first[0]))
    assert np.frombuffer(nothing, "<u4").tolist() == [first[0], 0, 0]
    known = club.shown
    club.label([5], "Officer")
    answer = answers.colours(club, int(first[0]))
    version, _, count = np.frombuffer(answer[:12], "<u4")
    nodes = np.frombuffer(answer[12 : 12 + 4 * count], "<u4")
    assert 5 in nodes
    assert count < 34
    codes, shades = known.codes.copy(), known.shades.copy()
    codes[nodes] = np.frombuffer(answer[12 + 4 * count : 12 + 6 * count], "<u2").astype(int) - 1
    shades[nodes] = np.frombuffer(answer[12 + 6 * count :], np.uint8)
    sent = next(each for each in club.history if each.version == version)  # a fit may have come since
    np.testing.assert_array_equal(codes, sent.codes)
    np.testing.assert_array_equal(shades, sent.shades)


def test_an_explanation_has_the_shares_of_the_classifier(club: Session) -> None:
    answer = answers.explained(club, 8)
    why = (
        iso.DirichletClassifier()
        .fit(club.graph, {club.graph.nodes[0]: "Hi", club.graph.nodes[33]: "Officer"})
        .explain(club.graph.nodes[8])
    )
    assert {each["label"]: each["share"] for each in answer["classes"]} == pytest.approx(why.classes, abs=1e-3)
    around = {each["id"] for each in answer["neighbourhood"]["nodes"]}
    csr = club.graph.csr
    assert around >= set(csr.indices[csr.indptr[8] : csr.indptr[9]].tolist())


def test_a_label_that_gives_less_heat_than_another_class_is_justified() -> None:
    """A rod of twelve nodes, hot at one end and cold at the fifth: most nodes get all their heat from the cold seed."""
    rod = iso.Graph.from_edges(np.arange(11), np.arange(1, 12))
    session = session_of(rod, {0: "hot", 4: "cold"})
    settle(session)
    mean = np.mean([1, 0.75, 0.5, 0.25, *[0] * 8])
    assert session.mean_temperatures == pytest.approx({"hot": mean, "cold": 1 - mean}, abs=1e-3)
    answer = answers.explained(session, 3)
    assert answers.node(session, 3)["label"] == "hot", "0.25 is more than the mean, 0.75 less than that of cold"
    assert [each["label"] for each in answer["classes"]] == ["cold", "hot"]
    assert answer["stands"] == {
        "label": "hot",
        "times": pytest.approx(0.25 / mean, abs=1e-2),
        "mean": pytest.approx(mean, abs=1e-3),
        "most": True,
    }
    assert "stands" not in answers.explained(session, 1), "hot is also the class with the most heat"
    session.stop()


def test_the_label_is_among_the_classes_of_an_explanation() -> None:
    """Of many classes, those with the most heat; and the label, if it is none of them."""
    star = iso.Graph.from_edges(["hub"] * 8, list("abcdefgh"), [8.0, 7, 6, 5, 4, 3, 2, 1])
    session = session_of(star, dict(zip("abcdefgh", "ABCDEFGH", strict=True)))
    settle(session)
    hub = int(star.index(["hub"])[0])
    answer = answers.explained(session, hub)
    label, shares = answers.node(session, hub)["label"], [each["share"] for each in answer["classes"]]
    assert len(shares) == 4
    assert shares == sorted(shares, reverse=True)
    assert label in {each["label"] for each in answer["classes"]}
    session.stop()


def test_a_neighbourhood_has_the_neighbours_with_the_fewest_links() -> None:
    spokes = [f"n{each:02}" for each in range(60)]
    graph = iso.Graph.from_edges(["hub"] * 60 + ["n59"], [*spokes, "more"])
    session = Session(graph, {}, iso.DirichletClassifier(), None, source=NEW_SEEDS)
    near = answers.neighbourhood(session, int(graph.index(["hub"])[0]))
    assert (near["neighbours"], len(near["list"]), len(near["nodes"])) == (50, 60, 51)
    assert "n59" not in {each["name"] for each in near["nodes"]}


def test_everything_but_the_map_works_before_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = karate_club().graph
    held, place = threading.Event(), graph.layout

    def layout(_: iso.Graph) -> Any:
        held.wait(60)
        return place()

    monkeypatch.setattr(iso.Graph, "layout", layout)
    monkeypatch.setattr(sessions, "HEAD_START", 0.1)
    session = session_of(graph, {graph.nodes[0]: "Hi", graph.nodes[33]: "Officer"})
    assert session.wait(lambda: session.busy == "" and not session._work.is_set())
    assert not answers.state(session)["mapped"]
    assert [each["id"] for each in answers.found(session, "33")] == [33]
    assert answers.explained(session, 8)["seeds"]
    assert len(answers.neighbourhood(session, 8)["list"]) == 5
    assert [each["id"] for each in answers.briefs(session, [3, -1, 34, 0])] == [3, 0]
    session.label([8], "Hi")
    held.set()
    settle(session)
    assert answers.state(session)["mapped"]
    session.stop()


def test_a_graph_without_a_map_can_be_labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    def layout(_: iso.Graph) -> Any:
        raise MemoryError("no room")

    monkeypatch.setattr(iso.Graph, "layout", layout)
    graph = karate_club().graph
    session = session_of(graph, {graph.nodes[0]: "Hi", graph.nodes[33]: "Officer"})
    assert session.wait(lambda: session.busy == "" and not session._work.is_set())
    answer = answers.state(session)
    assert (answer["mapped"], answer["fitted"], answer["failure"]) == (False, True, "there is no map: no room")
    session.stop()


def test_a_suggestion_that_is_labelled_goes_at_once(club: Session) -> None:
    first = club.suggestions[0]
    club.label([first], "Hi")
    assert first not in [each["id"] for each in answers.state(club)["suggestions"]]
    settle(club)
    assert first not in club.suggestions


def test_a_node_that_is_labelled_while_suggestions_are_chosen_is_none(
    club: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = club.graph.nodes[[5, 6, 7]]

    def suggest(*_: Any, **__: Any) -> Any:
        club.labels.apply({"do": "label", "label": "Hi"}, [6])
        return found

    monkeypatch.setattr(club.fitted, "suggest", suggest)
    club._suggest()
    assert club.suggestions == [5, 7]


def test_search_prefers_what_begins_with_the_text() -> None:
    graph = iso.Graph.from_edges(["xab", "ab", "abc", "zz"], ["ab", "abc", "zz", "xab"])
    session = Session(graph, {}, iso.DirichletClassifier(), None, source=NEW_SEEDS)
    assert [each["name"] for each in answers.found(session, "AB")] == ["ab", "abc", "xab"]
    assert answers.found(session, " ") == []


def test_from_nothing(tmp_path: Path) -> None:
    graph = stochastic_block_model([60, 60], 0.2, 0.01, 0)
    session = session_of(graph, {})
    settle(session)
    assert len(session.suggestions) == 10
    assert session.fitted is None
    session.add_classes(["left", "right"])
    first, second = (next(node for node in session.suggestions if (node >= 60) == side) for side in (False, True))
    session.label([first], "left")
    settle(session)
    assert session.fitted is None
    session.label([second], "right")
    settle(session)
    truth = ["left"] * 60 + ["right"] * 60
    assert (
        np.mean([session.classes[code] == label for code, label in zip(session.shown.codes, truth, strict=True)]) > 0.8
    )
    session.stop()


def test_many_seeds_are_calibrated_and_confidence_is_that_of_the_classifier() -> None:
    graph = stochastic_block_model([200, 200], 0.1, 0.01, 0)
    seeds = {node: "left" if node < 200 else "right" for node in range(0, 400, 10)}
    session = session_of(graph, seeds)
    settle(session)
    assert session.calibrated
    clf = iso.DirichletClassifier().fit(graph, seeds)
    hidden = [node for node in range(400) if node not in seeds]
    np.testing.assert_allclose(session.shown.confidence[hidden], clf.confidence_[hidden], atol=1e-6)
    np.testing.assert_allclose(session.shown.shades[hidden] / 254, clf.confidence_[hidden], atol=0.002)
    for node in hidden[:50]:
        answer = answers.node(session, node)
        bars = {each["label"]: each["probability"] for each in answer["probabilities"]}
        assert answer["confidence"] == pytest.approx(bars[answer["label"]], abs=1e-6), (
            "the same number in words and bars"
        )
    session.stop()


def test_a_fitted_classifier_is_not_fitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((80, 3)) + 5 * (np.arange(80) % 2)[:, None]
    known = np.where(np.arange(80) < 30, np.arange(80) % 2, -1)
    fitted = iso.VectorClassifier(k=5).fit(table, known).on_graph()
    seeds = dict(enumerate(known[:30].tolist()))
    monkeypatch.setattr(iso.DirichletClassifier, "fit", lambda *_: pytest.fail("fitted again"))
    session = Session(fitted.graph_, seeds, fitted, None, source=NEW_SEEDS, fitted=fitted)
    session.start()
    settle(session)
    assert [session.classes[code] for code in session.shown.codes] == (np.arange(80) % 2).tolist()
    session.label([50], "1")
    settle(session)
    assert session.fitted_seeds == {**seeds, 50: 1}
    session.stop()


def test_the_journal_leads_to_the_same_state(tmp_path: Path) -> None:
    graph, path = karate_club().graph, str(tmp_path / "log")
    session = session_of(graph, {graph.nodes[0]: "Hi"}, Journal(path, "x"))
    session.label([33], "Officer")
    session.label([5], "third")
    session.undo()
    session.label([6], "Hi")
    session.skip(7)
    state = session.labels
    session.stop()
    again = Session(graph, {graph.nodes[0]: "Hi"}, iso.DirichletClassifier(), Journal(path, "x"), source=NEW_SEEDS)
    assert (again.labels.seeds, again.labels.skipped) == (state.seeds, {7})
    assert [len(again.labels.undoable), len(again.labels.undone)] == [2, 0]
    again.stop()


def test_nodes_in_another_order_keep_their_labels(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    one = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    session = Session(one, {}, iso.DirichletClassifier(), Journal(path, "x"), source=NEW_SEEDS)
    session.label([2], "hot")
    session.stop()
    other = iso.Graph.from_edges(["a", "b"], ["b", "c"], nodes=["c", "b", "a"])
    again = Session(other, {}, iso.DirichletClassifier(), Journal(path, "x"), source=NEW_SEEDS)
    assert again.labels.seeds == {0: "hot"}
    again.stop()


def test_what_is_refused(club: Session) -> None:
    with pytest.raises(ParameterError, match="there is no node number 34"):
        club.label([34], "Hi")
    with pytest.raises(ParameterError, match="no label to take away"):
        club.label([5], None)
    with pytest.raises(ParameterError, match="a class needs a name"):
        club.add_classes([" "])


def test_integer_classes_stay_integers() -> None:
    labels = Labels({0: 1, 1: 2})
    assert [labels.label_from("2"), labels.label_from("7")] == [2, 7]
    with pytest.raises(ParameterError, match="the classes are integers, but 'x' is not one"):
        labels.label_from("x")


LAYOUTS = [
    ("seeds.csv", Layout("csv", {"node": Column(1, "id"), "label": Column(2, "kind")}, True, ",")),
    ("seeds.tsv", Layout("tsv", {"node": Column(1), "label": Column(2)}, False, "\t")),
    ("seeds.csv.gz", Layout("csv", {"node": Column(2, "node"), "label": Column(1, "label")}, True, ";")),
    ("seeds.parquet", Layout("parquet", {"node": Column(1, "node"), "label": Column(2, "label")})),
    ("seeds.jsonl", Layout("jsonl", {"node": Column(1, "node"), "label": Column(2, "label")})),
]


@pytest.mark.parametrize(("name", "layout"), LAYOUTS, ids=[name for name, _ in LAYOUTS])
def test_exported_seeds_are_read_again(tmp_path: Path, name: str, layout: Layout) -> None:
    graph = iso.Graph.from_edges(["a, b", "c\td", "é"], ["c\td", "é", "f"])
    session = Session(graph, {"a, b": "hot"}, iso.DirichletClassifier(), None, source=(name, layout))
    session.label([3], 'co"ld')
    exported, content = seeds_file(session)
    (tmp_path / exported).write_bytes(content)
    node, label = layout.roles["node"], layout.roles["label"]
    assert node is not None
    assert label is not None
    again = read_seeds(tmp_path / exported, node=node.name or node.number, label=label.name or label.number)
    assert again == {
        "a, b": "hot",
        "f": 'co"ld',
    }


def test_labels_and_models_are_exported(club: Session, tmp_path: Path) -> None:
    name, content = labels_file(club)
    assert (name, len(content.splitlines())) == ("labels.csv", 35)
    club.source = "seeds.csv", Layout("csv", {"node": Column(1, "person"), "label": Column(2, "side")}, True, ",")
    name, content = model_file(club)
    (tmp_path / name).write_bytes(content)
    loaded = iso.load(tmp_path / name)
    assert loaded.labels_.tolist() == [club.classes[code] for code in club.shown.codes]
    assert loaded.seed_columns_ == {"node": "person", "label": "side"}


def test_without_a_fit_there_is_no_model() -> None:
    session = Session(karate_club().graph, {}, iso.DirichletClassifier(), None, source=NEW_SEEDS)
    with pytest.raises(ParameterError, match="label nodes of at least two classes"):
        model_file(session)


def test_exported_labels_are_those_of_classify_on_the_exported_seeds(tmp_path: Path) -> None:
    graph = stochastic_block_model([150, 150], 0.04, 0.02, 1)
    nodes = graph.nodes.tolist()
    known = {node: "ab"[place >= 150] for place, node in enumerate(nodes) if place % 5 == 0}
    session = Session(graph, known, iso.NodeClassifier(), None, source=NEW_SEEDS)
    session.start()
    settle(session)
    for place in (1, 2):  # too few to learn anew, so `update` keeps what hidden seeds taught
        session.label([place], "b")
        settle(session)
    for name, content in (seeds_file(session), labels_file(session)):
        (tmp_path / name).write_bytes(content)
    session.stop()
    fresh = iso.NodeClassifier().fit(graph, read_seeds(tmp_path / "seeds.csv", like=graph))
    rows = [line.split(",") for line in (tmp_path / "labels.csv").read_text().splitlines()[1:]]
    assert [row[1] for row in rows] == fresh.labels_.tolist()
    np.testing.assert_allclose([float(row[2]) for row in rows], fresh.confidence_, atol=1e-6)
    assert session.fitted is not None
    assert not np.allclose(session.fitted.confidence_, fresh.confidence_, atol=1e-6), "what the page shows differs"
