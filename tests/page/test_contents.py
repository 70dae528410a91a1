"""What nodes hold, in the centre of the decision: texts and columns are shown, searched, filtered, and harmless."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import command
from page_graphs import write_club
from pages import SETTLED, Server, View, finish
from scipy.sparse import csr_array, save_npz

import isotherm as iso
from isotherm.io.vectors import read_feature_file
from isotherm.page import answers
from isotherm.page.answers import NEW_SEEDS
from isotherm.page.contents import Contents
from isotherm.page.session import Session
from isotherm.study.datasets import karate_club

HOSTILE = "<img src=x onerror=alert(1)></dd><script>alert(2)</script>"
WORDS = {"sea": "wave salt harbour sail anchor tide", "wood": "oak leaf bark moss root branch"}


def write_texts(folder: Path) -> None:
    """Sixty papers about the sea or the wood, with titles, years and abstracts."""
    rng = np.random.default_rng(0)
    with (folder / "papers.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "heading", "year", "kind", "abstract"])
        for at in range(60):
            kind = ("sea", "wood")[at % 2]
            words = " ".join(rng.choice(WORDS[kind].split(), 30))
            text = f"{words} {HOSTILE}" if at == 7 else f"{words} unicorn" if at == 9 else words
            rows.writerow([f"p{at}", f"On the {kind}, part {at}", 1960 + at, kind, text])
    (folder / "seeds.csv").write_text("node,label\np0,sea\np1,wood\n")


def test_texts_are_read_searched_and_shown(window: Any, tmp_path: Path) -> None:
    write_texts(tmp_path)
    with Server(tmp_path, "papers.csv", "seeds.csv", "--text", "abstract", "--names", "heading", "--k", "5") as server:
        view = View(window, server.address)
        view.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        view.ready()
        seven = view.get("isotherm.map.names.indexOf('On the wood, part 7')")
        view.page.evaluate(f"() => isotherm.select({seven}, false)")
        view.wait(f"isotherm.panel.near?.nodes[0].id === {seven}")
        assert view.page.inner_text("#name") == "On the wood, part 7", "the name in place of the id"
        assert view.page.inner_text("#meta").startswith("p7 · ")
        assert HOSTILE in view.page.inner_text("#content")
        assert "1967" in view.page.inner_text("#content")
        view.page.mouse.move(*view.spot(seven))
        view.wait("!document.all.tip.hidden")
        assert view.get("document.all.tip.textContent").startswith("On the wood, part 7")
        assert "wood" in view.page.inner_text("#tip")
        view.page.keyboard.press("/")
        view.page.keyboard.type("UNICORN")
        view.wait("document.querySelectorAll('#hits .snippet').length === 1")
        view.page.keyboard.press("Enter")
        view.wait("isotherm.panel.node?.node === 'p9'")
        view.page.click("#tab-around")
        view.wait("document.querySelectorAll('#neighbours .row').length >= 5")
        row = view.page.locator("#neighbours .row").first
        assert row.inner_text().startswith("On the wood")
        assert row.get_attribute("title"), "what it holds"
        assert view.get("parseFloat(getComputedStyle(document.querySelector('#neighbours .row')).fontSize)") >= 11
        row.focus()
        view.page.keyboard.press("Enter")
        view.wait("isotherm.panel.node && isotherm.panel.node.node !== 'p9'")
        assert view.get("document.querySelectorAll('img').length") == 0
        finish(view)


def test_columns_filter_and_colour(window: Any, tmp_path: Path) -> None:
    write_texts(tmp_path)
    with Server(tmp_path, "papers.csv", "seeds.csv", "--text", "abstract", "--k", "5") as server:
        view = View(window, server.address).ready()
        view.page.click("#filters summary")
        view.page.select_option("#filter-column", "year")
        view.page.fill("#filter-content", "1970..1979")
        view.page.press("#filter-content", "Tab")
        view.wait("isotherm.map.mask?.reduce((sum, each) => sum + each, 0) === 10")
        view.page.select_option("#filter-column", "kind")
        view.page.fill("#filter-content", "SE")
        view.page.press("#filter-content", "Tab")
        view.wait("isotherm.map.mask?.reduce((sum, each) => sum + each, 0) === 30")
        view.page.click("#filters button")
        view.wait("!isotherm.map.mask")
        view.page.keyboard.press("Escape")
        view.page.select_option("#colour-by", "column kind")
        view.wait("isotherm.map.values?.categories?.join() === 'sea,wood'")
        kinds = view.get("isotherm.map.names.map((_, i) => isotherm.map.colour(i))")
        names = view.get("isotherm.map.names")
        assert len(set(kinds)) == 2
        assert len({(colour, int(name[1:]) % 2) for colour, name in zip(kinds, names, strict=True)}) == 2
        finish(view)


def test_a_filter_by_numbers_says_if_it_is_no_range(window: Any, tmp_path: Path) -> None:
    write_texts(tmp_path)
    with Server(tmp_path, "papers.csv", "seeds.csv", "--text", "abstract", "--k", "5") as server:
        view = View(window, server.address).ready()
        view.page.click("#filters summary")
        view.page.select_option("#filter-column", "year")
        shown = "(isotherm.map.mask?.reduce((sum, each) => sum + each, 0) ?? 60)"
        for content, count in {"2015..": 5, "..1969": 10, "1970 .. 1979": 10, "1990": 1, "1990.0": 1}.items():
            view.page.fill("#filter-content", content)
            view.page.press("#filter-content", "Tab")
            view.wait(f"{shown} === {count}")
            assert view.page.inner_text("#filter-note") == ""
        for content in ("abc", "19,5", "..", "1979..1970", "1..2..3"):
            view.page.fill("#filter-content", content)
            view.page.press("#filter-content", "Tab")
            view.wait(f"document.all['filter-note'].textContent.startsWith('“{content}” is neither a number nor')")
            assert view.get(shown) == 60, "it hides nothing"
        view.page.click("#filters button")
        view.wait("!isotherm.filters.active && !document.all['filter-note'].textContent")
        finish(view)


def test_numbers_are_compared_as_precisely_as_they_are_kept(window: Any, tmp_path: Path) -> None:
    write_club(tmp_path)
    (tmp_path / "nodes.csv").write_text("node,size\n" + "".join(f"{at},{at / 10}\n" for at in range(1, 9)))
    with Server(tmp_path, "edges.csv", "seeds.csv", "--nodes", "nodes.csv") as server:
        view = View(window, server.address).ready()
        view.page.click("#filters summary")
        view.page.select_option("#filter-column", "size")
        for content, count in {"0.7": 1, "0.1..0.7": 7, "0.7..": 2, "..0.7": 7}.items():
            view.page.fill("#filter-content", content)
            view.page.press("#filter-content", "Tab")
            view.wait(f"isotherm.map.mask?.reduce((sum, each) => sum + each, 0) === {count}")
        finish(view)


def test_a_late_answer_does_not_replace_a_newer_filter(window: Any, tmp_path: Path) -> None:
    write_texts(tmp_path)
    with Server(tmp_path, "papers.csv", "seeds.csv", "--text", "abstract", "--k", "5") as server:
        view = View(window, server.address).ready()
        late: list[Any] = []
        view.page.route("**/api/values?**", lambda route: late.append(route))
        view.page.click("#filters summary")
        view.page.select_option("#filter-column", "year")
        with view.page.expect_request("**/api/values?**"):
            view.page.fill("#filter-content", "1970..1979")
            view.page.press("#filter-content", "Tab")
        view.page.click("#filters button")
        view.wait("!isotherm.filters.content && !isotherm.map.mask")
        late[0].continue_()
        view.wait("isotherm.filters.known.has('year')")
        assert view.get("isotherm.map.mask") is None
        finish(view)


CUT = """(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
  [scrollHeight - clientHeight, scrollWidth - clientWidth])(document.all.right)"""


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720), (1920, 1080)])
def test_nothing_is_cut(window: Any, tmp_path: Path, width: int, height: int) -> None:
    write_texts(tmp_path)
    with Server(tmp_path, "papers.csv", "seeds.csv", "--text", "abstract", "--names", "heading", "--k", "5") as server:
        view = View(window, server.address, width=width, height=height).ready()
        view.page.keyboard.press("1")
        view.wait(f"isotherm.panel.near && document.querySelector('#seeds li') && {SETTLED}")
        for tab in ("why", "around"):
            if width < 1920:
                view.page.click(f"#tab-{tab}")
            assert view.page.is_visible(f"#{tab}"), "a large window shows both at once"
            assert view.get(CUT) == [0, 0]
            assert view.get(CUT.replace("right", tab))[1] == 0, "nothing is cut at the side"
        view.wait("document.querySelector('#near text')")
        sizes = view.get(
            "[...document.querySelectorAll('#near text')].map((each) => each.getBoundingClientRect().height)"
        )
        assert min(sizes) >= 11
        assert view.get("document.all.near.clientHeight") >= (280 if width == 1920 else 110)
        assert view.get("document.documentElement.scrollWidth") <= width
        finish(view)


def test_panels_fold(window: Any, tmp_path: Path) -> None:
    write_texts(tmp_path)
    with Server(tmp_path, "papers.csv", "seeds.csv", "--text", "abstract", "--k", "5") as server:
        view = View(window, server.address, width=1024, height=768).ready()
        wide = "document.all.map.clientWidth"
        between = view.get(wide)
        for side in ("left", "right"):
            view.page.click(f"#fold-{side}")
            assert not view.page.is_visible(f"#{side}")
            assert view.page.get_attribute(f"#fold-{side}", "aria-expanded") == "false"
        assert view.get(wide) == 1024 > between + 400
        view.page.reload()
        view.ready()
        assert not view.page.is_visible("#left"), "it stays folded"
        view.page.keyboard.press("1")
        view.wait("isotherm.panel.node")
        view.page.keyboard.press("q")
        view.wait("isotherm.state.given === 1")  # keys act as before
        view.page.click("#fold-right")
        assert view.page.is_visible("#name")
        finish(view)


def test_bars_and_evidence_agree_with_the_label(window: Any, tmp_path: Path) -> None:
    write_texts(tmp_path)
    with Server(tmp_path, "papers.csv", "seeds.csv", "--text", "abstract", "--k", "5") as server:
        view = View(window, server.address).ready()
        for node in range(6):
            view.page.evaluate(f"() => isotherm.select({node}, false)")
            view.wait(f"isotherm.panel.near?.nodes[0].id === {node} && isotherm.panel.node.id === {node}")
            label = view.get("isotherm.panel.node.label")
            assert view.page.inner_text("#verdict b").strip() == label
            rows = [each.split("\n") for each in view.page.locator("#choices .row").all_inner_texts()]
            assert rows[0][1] == label, "with two seeds too, the class that was decided is the first"
            seed = view.get("isotherm.panel.node.seed")
            shown = view.page.locator("#choices .row .number").all_inner_texts()
            assert [text for text in shown if text] == (["100\u00a0%"] if seed else []), "too few seeds to tell"
            assert seed or set(view.get("[...document.querySelectorAll('.bar')].map((bar) => bar.clientWidth)")) == {0}
        view.wait("!document.all.experts.hidden")
        assert view.page.inner_text("#experts tr:nth-child(2) th") == "heat"
        finish(view)


def test_the_columns_of_a_sparse_matrix_are_shown_and_found(window: Any, tmp_path: Path) -> None:
    write_club(tmp_path)
    words = np.zeros((34, 400), np.float32)
    words[:, 7] = 1
    words[5, [391, 12]] = 1
    words[6, 12] = 1
    save_npz(tmp_path / "words.npz", csr_array(words))
    with Server(tmp_path, "edges.csv", "seeds.csv", "--features", "words.npz") as server:
        view = View(window, server.address).ready()
        view.page.keyboard.press("/")
        view.page.keyboard.type("391")
        view.wait("document.querySelectorAll('#hits .snippet').length === 1")
        view.page.keyboard.press("Enter")
        view.wait("isotherm.panel.node")
        assert view.get("isotherm.panel.node.content") == [["columns of words.npz, rarest first", "391 12 7"]]
        finish(view)


def test_a_column_of_many_texts_is_filtered_but_not_a_colour(tmp_path: Path) -> None:
    lines = [f"{at},text number {at},{at % 3}" for at in range(100)]
    (tmp_path / "nodes.csv").write_text("\n".join(["node,text,size", *lines]) + "\n")
    graph = iso.Graph.from_edges([str(at) for at in range(99)], [str(at + 1) for at in range(99)])
    contents = Contents.of([read_feature_file(tmp_path / "nodes.csv", graph)], graph)
    session = Session(graph, {}, iso.DirichletClassifier(), None, source=NEW_SEEDS, contents=contents)
    assert answers.columns(session) == [{"name": "text", "coloured": False}, {"name": "size", "coloured": True}]
    passed = np.frombuffer(answers.values(session, "text", "Number 9")[-400:], "<f4")
    assert graph.nodes[passed == 1].tolist() == ["9", *(str(at) for at in range(90, 100))]


def test_the_tables_of_features_and_nodes(tmp_path: Path) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    (tmp_path / "nodes.csv").write_text("node,name,size\nb,Bea,2\nd,,4\nz,Zoe,9\n")
    contents = Contents.of([read_feature_file(tmp_path / "nodes.csv", graph)], graph, "name")
    assert contents.names(graph) == ["a", "Bea", "c", "d"]
    assert [contents.at(place) for place in range(4)] == [[], [("size", "2")], [], [("size", "4")]]
    found = contents.columns["size"].values()
    np.testing.assert_array_equal(found.values, np.array([np.nan, 2, np.nan, 4], np.float32))
    assert found.categories is None
    assert contents.find("BE", 5) == [1]
    session = Session(graph, {}, iso.DirichletClassifier(), None, source=NEW_SEEDS, contents=contents)
    assert [each["name"] for each in answers.found(session, "bea")] == ["Bea"]
    session.label([1], "hot")
    assert session.labels.steps[-1].nodes == (1,)
    _, content = answers.seeds_file(session)
    assert content.decode().splitlines() == ["node,label", "b,hot"], "files have ids, not titles"


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_why_shows_what_each_expert_said() -> None:
    graph = karate_club().graph
    seeds = {graph.nodes[node]: "ab"[node > 16] for node in range(0, 34, 3)}
    session = Session(graph, seeds, iso.NodeClassifier(), None, source=NEW_SEEDS)
    session.start()
    assert session.wait(lambda: session.busy == "" and session.fitted is not None and not session._work.is_set())
    answer = answers.explained(session, 8)
    assert session.fitted is not None
    why = session.fitted.explain(graph.nodes[8])
    best = list(why.scores)
    said = {row["name"]: dict(zip(answer["compared"], row["odds"], strict=True)) for row in answer["experts"]}
    assert said == {name: {label: pytest.approx(odds[label]) for label in best} for name, odds in why.experts.items()}
    session.stop()


def test_names_in_no_column_are_refused(tmp_path: Path) -> None:
    write_club(tmp_path)
    outcome = command("explore", "edges.csv", "seeds.csv", "--names", "heading", folder=tmp_path)
    assert outcome.status == 2
    assert "--names heading, but no table of nodes has this column" in outcome.err


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
def test_a_node_that_no_seed_reaches_is_explained_by_its_features() -> None:
    graph = iso.Graph.from_edges(np.arange(38), np.arange(2, 40), nodes=range(41))  # two paths, and node 40 alone
    features = np.arange(41)[:, None] % 2 + np.random.default_rng(0).normal(0, 0.1, (41, 1))
    seeds = {node: "ab"[node % 2] for node in range(24)}
    session = Session(graph, seeds, iso.NodeClassifier(), None, source=NEW_SEEDS, known={"features": features})
    session.start()
    assert session.wait(lambda: session.busy == "" and session.fitted is not None and not session._work.is_set())
    clf = iso.NodeClassifier().fit(graph, seeds, features=features)
    assert not clf.reached_[40]
    shown = answers.node(session, 40)
    assert shown["label"] == clf.labels_[40] == "a"
    found = {each["label"]: each["probability"] for each in shown["probabilities"]}
    assert found == pytest.approx(dict(zip(clf.classes_, clf.predict_proba()[40], strict=True)))
    why, answer = clf.explain(40), answers.explained(session, 40)
    said = {row["name"]: dict(zip(answer["compared"], row["odds"], strict=True)) for row in answer["experts"]}
    assert said["features"] == pytest.approx(why.experts["features"])
    assert (answer["classes"], answer["seeds"]) == ([], [])
    session.stop()
