"""What a person sees can be relied on: keys and colours stay, menus hide nothing, and nothing typed is lost."""

import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_graphs import write_club, write_files
from pages import PATIENCE, SETTLED, Server, View, finish

import isotherm as iso
from isotherm.page.journal import Labels
from isotherm.page.open_page import kept_token
from isotherm.page.session import drawn_edges
from isotherm.paper.block_model import stochastic_block_model
from isotherm.study.datasets import karate_club

# Key, colour and shape of each class, by its name.
NAMED_MARKS = """Object.fromEntries(isotherm.state.order.map((code) => [isotherm.map.classNames[code],
  [isotherm.keyOf(code), isotherm.palette.base(code), isotherm.palette.shape(code)]]))"""


def many_classes(folder: Path, classes: int = 23, size: int = 6) -> None:
    """Rings of one class each, joined in a chain; the first node of each is a seed."""
    edges = [(f"{c}-{i}", f"{c}-{(i + 1) % size}") for c in range(classes) for i in range(size)]
    edges += [(f"{c}-0", f"{c + 1}-0") for c in range(classes - 1)]
    edges += [("far-0", "far-1"), ("far-1", "far-2"), ("far-2", "far-0")]
    write_files(folder, edges, {f"{c}-0": f"class {c:02}" for c in range(classes)})


def test_keys_and_colours_never_move(window: Any, tmp_path: Path) -> None:
    many_classes(tmp_path)
    with Server(tmp_path, "edges.tsv", "seeds.tsv") as server:
        view = View(window, server.address).ready()
        before = view.get(NAMED_MARKS)
        assert len({tuple(mark) for mark in before.values()}) == 23, "each class has a mark of its own"
        view.page.click("#legend li:nth-child(15) .row")  # the fifteenth alone
        view.wait("isotherm.filters.code >= 0 && isotherm.map.mask")
        assert view.get(NAMED_MARKS) == before
        view.page.click("#theme")
        assert view.get(NAMED_MARKS) == before, "light and dark have one palette"
        view.page.fill("#new-class", "a new one")
        view.page.press("#new-class", "Enter")
        view.wait("isotherm.state.order.length === 24")
        node = view.get("isotherm.map.names.indexOf('3-3')")
        view.page.evaluate(f"() => isotherm.select({node}, false)")
        view.page.evaluate("() => isotherm.label('a new one')")
        view.wait(f"isotherm.state.given === 1 && {SETTLED}")
        after = view.get(NAMED_MARKS)
        assert {name: after[name] for name in before} == before
        view.page.reload()
        view.ready()
        assert view.get(NAMED_MARKS) == after
        finish(view)
    with Server(tmp_path, "edges.tsv", "seeds.tsv") as server:
        view = View(window, server.address).ready()
        assert view.get(NAMED_MARKS) == after, "they are the same after the server was started again"
        finish(view)


def test_a_class_alone_has_the_only_rings_and_names(window: Any, tmp_path: Path) -> None:
    many_classes(tmp_path, classes=90)
    with Server(tmp_path, "edges.tsv", "seeds.tsv") as server:
        view = View(window, server.address).ready()
        counted = """(() => { const map = isotherm.map, pen = map.over.getContext("2d"), arc = pen.arc; let rings = 0;
          pen.arc = function (...place) { rings += 1; return arc.apply(this, place); };
          map.suggestions = []; map.annotate(); pen.arc = arc; return rings; })()"""
        assert view.get(counted) == 90
        radius = counted.replace("rings += 1", "rings = place[2]")
        usual = view.get(radius)
        assert view.get(f"(() => {{ isotherm.map.seeds = [...Array(300).keys()]; return {radius}; }})()") < usual
        view.page.evaluate("() => isotherm.refresh()")
        view.page.click("#legend .row")
        view.wait("isotherm.map.mask")
        assert view.get(counted) == 1, "the seeds of other classes have none"
        assert len(view.get("isotherm.map.spots")) == 1
        colours = view.get("[...isotherm.map.codes].map((code, i) => [code, isotherm.map.colour(i)])")
        greys = {code for code, colour in colours if len({colour[1:3], colour[3:5], colour[5:7]}) == 1}
        assert greys <= {0}, "grey is for nodes without a label, also where a filter leaves nodes out"
        finish(view)


# The boxes of names on the map, the colours that outline them, and the discs of all nodes.
WRITTEN = """(() => {
  const map = isotherm.map, { write } = map, boxes = [], outlines = new Set(), pen = map.over.getContext("2d");
  const { strokeText } = pen;
  map.write = (...text) => { const box = write.apply(map, text); if (box) boxes.push(box); return box; };
  pen.strokeText = function (...text) { outlines.add(this.strokeStyle); return strokeText.apply(this, text); };
  map.annotate();
  map.write = write; pen.strokeText = strokeText;
  const r = map.sigma.scaleSize(map.size), nodes = map.shown.map((i) => map.at(i));
  const covered = boxes.slice(0, -10).filter(([left, top, right, bottom]) =>
    nodes.some(({ x, y }) => x + r > left && x - r < right && y + r > top && y - r < bottom));
  const outside = boxes.filter(([left, , right]) => left < -1 || right > map.over.clientWidth + 1);
  return { names: boxes.length - 10, covered: covered.length, outside: outside.length, outlines: [...outlines] };
})()"""


def test_names_on_the_map_are_outlined_inside_and_cover_no_node(window: Any, tmp_path: Path) -> None:
    write_files(tmp_path, [(f"a long name {i}", f"a long name {(i * i + 1) % 40}") for i in range(40)], {})
    with Server(tmp_path, "edges.tsv") as server:
        view = View(window, server.address, width=1024).ready()
        found = view.get(WRITTEN)
        assert found["names"] > 5
        assert (found["covered"], found["outside"], found["outlines"]) == (0, 0, ["#ffffff"])
        finish(view)


def test_suggestions_prefer_reached_nodes(window: Any, tmp_path: Path) -> None:
    many_classes(tmp_path)
    with Server(tmp_path, "edges.tsv", "seeds.tsv") as server:
        view = View(window, server.address).ready()
        reached = view.get("isotherm.state.suggestions.map(({ label }) => label !== null)")
        assert any(reached)
        assert reached == sorted(reached, reverse=True)
        finish(view)


def test_links_are_drawn_only_where_they_help() -> None:
    graph = karate_club().graph
    assert len(drawn_edges(graph, graph.layout())) == graph.n_edges
    tangled = stochastic_block_model([1500], 0.02, 0, 0)  # 22,000 links through the whole map
    assert len(drawn_edges(tangled, tangled.layout())) == 0
    ring = iso.Graph.from_edges(np.arange(3000), (np.arange(3000) + 1) % 3000)
    assert len(drawn_edges(ring, ring.layout())) == 3000


def test_escape_closes_one_thing_at_a_time(window: Any, calm: Server) -> None:
    view = View(window, calm.address).ready()
    view.page.click("#legend .row")
    view.wait("isotherm.map.mask")
    view.page.keyboard.press("1")
    view.page.click("#legend .small")
    view.page.click("#export summary")
    steps = [
        ("!document.all.export.open", "document.all.rename"),
        ("!document.all.rename", "isotherm.selected >= 0"),
        ("isotherm.selected < 0", "isotherm.map.mask"),
        ("!isotherm.map.mask", "true"),
    ]
    for closed, still_open in steps:
        assert not view.get(f"!!({closed})")
        view.page.keyboard.press("Escape")
        view.wait(closed)
        assert view.get(f"!!({still_open})")
    view.page.keyboard.press("/")
    view.page.keyboard.type("1")
    view.wait("!document.all.hits.hidden")
    view.page.keyboard.press("Escape")
    assert view.get("document.all.hits.hidden && document.activeElement.id") == "search", "the list goes before the box"
    view.page.keyboard.press("Escape")
    assert view.get("document.activeElement.id") != "search"
    finish(view)


BOXES = """['#export ul', '#right'].map((name) => document.querySelector(name).getBoundingClientRect())
  .map(({ left, right, top, bottom }) => [left, right, top, bottom])"""


@pytest.mark.parametrize("width", [1024, 1280, 1920])
def test_menus_do_not_cover_the_details(window: Any, calm: Server, width: int) -> None:
    view = View(window, calm.address, width=width).ready()
    view.page.click("#export summary")
    menu, details = view.get(BOXES)
    assert menu[1] <= details[0]
    view.page.keyboard.press("Escape")
    view.page.keyboard.press("1")
    view.wait("document.querySelector('#seeds li')")
    assert view.get("document.documentElement.scrollWidth") <= width
    finish(view)


def test_the_focus_ring_is_where_keys_act(window: Any, calm: Server) -> None:
    view = View(window, calm.address).ready()
    view.page.keyboard.press("/")
    view.page.keyboard.type("20")
    view.wait("document.querySelectorAll('#hits li').length")
    view.page.keyboard.press("Enter")
    assert view.get("document.activeElement.id") == "map", "arrows and Enter act on the map now"
    view.wait("document.querySelector('#seeds li')")  # until then, no Tab stop follows the map
    for key, ringed in (("Enter", "map"), ("Tab", None), ("Tab", None), ("Shift+Tab", None), ("Shift+Tab", "map")):
        view.page.keyboard.press(key)
        here, outline = view.get("(({ activeElement: at }) => [at.id, getComputedStyle(at).outlineStyle])(document)")
        assert outline == "solid"
        assert (here == "map") == (ringed == "map")
    finish(view)


def test_a_lost_server_keeps_what_was_typed_and_the_tab_goes_on(window: Any, tmp_path: Path) -> None:
    write_club(tmp_path)
    files = "edges.csv", "seeds.csv"
    with Server(tmp_path, *files) as server:
        port = str(server.port)
        view = View(window, server.address).ready()
        view.page.keyboard.press("1")
        view.wait("isotherm.panel.node")
        view.page.keyboard.press("q")
        view.wait("isotherm.state.given === 1")
        server.kill()
    view.page.wait_for_selector("#lost", state="visible")
    view.page.fill("#new-class", "half a na")
    view.page.press("#new-class", "Enter")
    view.page.fill("#note", "typed meanwhile")
    view.page.press("#note", "Enter")
    view.page.wait_for_timeout(300)
    assert view.get("[document.all['new-class'].value, document.all.note.value]") == ["half a na", "typed meanwhile"]
    with Server(tmp_path, *files, "--port", port) as server:
        view.page.wait_for_selector("#lost", state="hidden", timeout=1000 * PATIENCE)
        view.wait(f"isotherm.state.given === 1 && {SETTLED}")
        view.page.press("#new-class", "Enter")
        view.wait("isotherm.state.order.length === 3")
        view.wait("document.all['new-class'].value === ''")
        view.wait("isotherm.state.history.some(({ kind, label }) => kind === 'note' && label === 'typed meanwhile')")
        assert view.elsewhere == []
        view.page.close()


def test_the_token_is_kept_where_only_the_user_can_read_it(tmp_path: Path) -> None:
    path, tokens = tmp_path / "log.token", ["a" * 32, "b" * 32, "c" * 32]
    assert kept_token(str(path), tokens[0]) == tokens[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept_token(str(path), tokens[1]) == tokens[0]
    path.chmod(0o644)
    assert kept_token(str(path), tokens[1]) == tokens[1], "others may have read it"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("../../x\n")
    assert kept_token(str(path), tokens[2]) == tokens[2]
    assert kept_token(str(tmp_path / "none" / "log.token"), tokens[0]) == tokens[0], "a token without a file"


def test_a_class_keeps_its_slot_through_every_change() -> None:
    labels = Labels({0: "b", 1: "a", 2: "b"})
    assert labels.slots == ["b", "a"]
    entries: list[tuple[dict[str, Any], list[int]]] = [
        ({"do": "label", "label": "c"}, [3]),
        ({"do": "class", "label": "d"}, []),
        ({"do": "rename", "label": "a", "to": "A"}, []),
        ({"do": "rename", "label": "c", "to": "b"}, []),
        ({"do": "order", "to": ["d", "A"]}, []),
    ]
    for entry, nodes in entries:
        labels.apply(entry, nodes)
    assert (labels.slots, labels.order) == (["b", "A", None, "d"], ["d", "A", "b"])
    assert labels.seeds == {0: "b", 1: "A", 2: "b", 3: "b"}
    labels.apply({"do": "delete", "label": "b"}, [])
    assert (labels.slots, labels.seeds) == ([None, "A", None, "d"], {1: "A"})
    for _ in range(5):
        labels.apply({"do": "undo"}, [])
    assert labels.slots == ["b", "a", "c", "d"], "the class outlives an undo"
    assert labels.seeds == {0: "b", 1: "a", 2: "b"}
    for _ in range(5):
        labels.apply({"do": "redo"}, [])
    assert (labels.slots, labels.seeds) == ([None, "A", None, "d"], {1: "A"})
