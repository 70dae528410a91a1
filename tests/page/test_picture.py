"""Pictures of the map, and the page in one file."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import View, browser, finish

import isotherm as iso
from isotherm.io.vectors import read_feature_file
from isotherm.page.answers import NEW_SEEDS
from isotherm.page.contents import Contents
from isotherm.page.picture import HUES, MapData, class_colour, draw
from isotherm.page.session import Session
from isotherm.paper.block_model import stochastic_block_model


@pytest.fixture(scope="module")
def clf() -> iso.DirichletClassifier:
    graph = stochastic_block_model([60, 40], 0.3, 0.01, 0)
    seeds = {node: "<b>left</b>" if node < 60 else "$right$" for node in range(0, 100, 4)}
    return iso.DirichletClassifier().fit(graph, seeds)


def test_classes_are_numbered_by_size(clf: iso.DirichletClassifier) -> None:
    data = MapData.of(clf)
    assert data.classes == ["<b>left</b>", "$right$"]
    assert data.counts == sorted(data.counts, reverse=True)
    assert [data.classes[code] for code in data.codes] == clf.labels_.tolist()
    spot = data.spot(0)
    assert spot is not None
    assert np.abs(data.positions[:60].mean(axis=0) - spot).max() < 1


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_classes_have_the_marks_of_the_page(tmp_path: Path) -> None:
    graph = stochastic_block_model([20, 30, 50], 0.4, 0.01, 0)
    seeds = dict.fromkeys(range(16), "small") | {at: "middle" if at < 50 else "large" for at in range(20, 100, 8)}
    clf = iso.DirichletClassifier().fit(graph, seeds)
    data = MapData.of(clf)
    page = Session(graph, seeds, clf, None, source=NEW_SEEDS)
    assert data.classes != page.classes
    marks = [page.classes.index(name) for name in data.classes]
    (axes,) = clf.plot().axes
    assert [line.get_color() for line in axes.get_legend().legend_handles[:3]] == [class_colour(at) for at in marks]
    colours = {tuple(colour) for colour in axes.collections[1].get_facecolor()[:, :3].tolist()}
    assert {class_colour(mark) for mark in marks} <= colours, "the seeds have full colour"
    clf.plot(tmp_path / "map.html")
    with browser() as window:
        view = View(window, (tmp_path / "map.html").as_uri())
        shown = view.get("[...document.querySelectorAll('#legend path')].map((each) => each.getAttribute('fill'))")
        assert shown == [HUES[mark] for mark in marks]
        strong = {",".join(str(round(255 * part)) for part in class_colour(mark)) for mark in marks}
        assert strong <= set(_colours(view))
        finish(view)


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_pictures(clf: iso.DirichletClassifier, tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"map{suffix}"
    clf.plot(path, title="a $map")
    assert path.read_bytes().startswith(start)
    with pytest.raises(iso.FileError, match="exists already"):
        clf.plot(path)


def test_a_figure(clf: iso.DirichletClassifier) -> None:
    (axes,) = clf.plot().axes
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts[0] == f"<b>left</b>  {MapData.of(clf).counts[0]}"
    assert texts[-1] == "seed  25"


def test_names_of_classes_do_not_cover_each_other() -> None:
    graph = stochastic_block_model([200], 0.1, 0.1, 0)
    seeds = {node: f"a class with a long name, {node % 20}" for node in range(200)}
    figure = iso.DirichletClassifier().fit(graph, seeds).plot()
    figure.draw_without_rendering()
    written = figure.axes[0].texts
    boxes = [text.get_window_extent() for text in written if text.get_visible()]
    assert len(written) == 20
    assert 1 <= len(boxes) < 20
    assert not any(box.count_overlaps(boxes[:place]) for place, box in enumerate(boxes))


def test_another_suffix_is_refused(clf: iso.DirichletClassifier, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must end in \.png, \.svg, \.pdf, \.html"):
        clf.plot(tmp_path / "map.txt")


def test_the_page_in_one_file(clf: iso.DirichletClassifier, tmp_path: Path) -> None:
    path = tmp_path / "map.html"
    clf.plot(path, title="</script><script>alert(1)</script>")
    text = path.read_text()
    assert not re.search(r"https?://(?!www\.w3\.org)", text), "it needs nothing from elsewhere"
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    positions = np.frombuffer(base64.b64decode(data["positions"]), "<f4").reshape(-1, 2)
    np.testing.assert_array_equal(positions, clf.graph_.layout())
    edges = np.frombuffer(base64.b64decode(data["edges"]), "<u4").reshape(-1, 2)
    ends = np.nonzero(np.triu(clf.graph_.adjacency.toarray()))
    assert sorted(edges.tolist()) == np.stack(ends, axis=1).tolist()
    assert text.count("<script") == 2


def test_the_page_in_one_file_in_a_browser(clf: iso.DirichletClassifier, tmp_path: Path) -> None:
    path = tmp_path / "map.html"
    clf.plot(path, title="</script><script>alert(1)</script>")
    with browser() as window:
        view = View(window, path.as_uri())
        colours = _colours(view)
        assert len(colours) > 5, "points are drawn"
        view.page.fill("#search", "1")
        view.page.keyboard.press("Enter")
        assert view.page.inner_text("#shown").split("\n")[0] == "1", "the node with this very name comes first"
        view.page.fill("#search", "17")
        view.page.click("#hits button")
        assert "17" in view.page.inner_text("#shown")
        view.page.click("#legend button")
        assert _colours(view) != colours
        assert view.errors == []
        assert view.elsewhere == []


def test_the_page_in_one_file_has_contents_and_a_filter(tmp_path: Path) -> None:
    graph = stochastic_block_model([40, 40], 0.3, 0.01, 0)
    clf = iso.DirichletClassifier().fit(graph, {node: "ab"[node >= 40] for node in range(0, 80, 4)})
    (tmp_path / "nodes.csv").write_text("node,words\n" + "".join(f"{i},<b>tide{i}</b>\n" for i in range(80)))
    contents = Contents.of([read_feature_file(tmp_path / "nodes.csv", graph)], graph)
    draw(clf, tmp_path / "map.html", contents=contents)
    with browser() as window:
        view = View(window, (tmp_path / "map.html").as_uri())
        view.page.fill("#search", "TIDE17<")
        assert view.page.locator("#hits button").all_inner_texts() == ["17"]
        view.page.click("#hits button")
        assert view.page.inner_text("#content") == "<b>tide17</b>"
        view.page.mouse.move(*_middle(view))
        assert view.page.inner_text("#content").startswith("<b>tide")
        view.page.click("#legend button:nth-child(1)")
        assert view.page.get_attribute("#legend button", "aria-pressed") == "true"
        assert view.errors == []


def _middle(view: View) -> tuple[float, float]:
    box = view.page.locator("#map").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _colours(view: View) -> list[Any]:
    read = """(() => { const map = document.getElementById("map"), found = new Set();
      const pixels = map.getContext("2d").getImageData(0, 0, map.width, map.height).data;
      for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3]) found.add(pixels.slice(i, i + 3).join());
      return [...found].sort(); })()"""
    return view.get(read)


def test_nodes_that_features_label_have_a_hue(world: Any) -> None:
    graph, _, features, known = world
    clf = iso.NodeClassifier().fit(graph, known, features=features)
    assert not clf.reached_.all()
    data = MapData.of(clf)
    assert [data.classes[code] for code in data.codes] == [str(label) for label in clf.labels_]
