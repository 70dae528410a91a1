"""The page in a real browser: what a person sees, clicks and types, and what no name can do to it."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import command
from page_graphs import made_up, write_club
from pages import SETTLED, Server, View, finish

import isotherm as iso
from isotherm.study.datasets import karate_club

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd",
    "\U0001f600\U0001f3f3",
    "x" * 10_000,
    "</script><script>alert(1)</script>",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_club(tmp_path)


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with Server(folder, "edges.csv", "seeds.csv") as running:
        yield running


def number(view: View, name: str) -> int:
    return view.get(f"isotherm.map.names.indexOf({json.dumps(name)})")


def hue(pixel: list[int]) -> str:
    red, _, blue, opaque = pixel
    assert opaque > 200, "no point is drawn here"
    return "red" if red > blue + 10 else "blue" if blue > red + 10 else "grey"


def hues(view: View) -> list[str]:
    """The hues of all members of the club."""
    return [hue(pixel) for pixel in view.colours(list(range(34)))]


def test_the_map_shows_points_in_the_colours_of_their_classes(window: Any, calm: Server) -> None:
    view = View(window, calm.address).ready()
    seeds = {view.get(f"isotherm.map.names[{node}]"): node for node in view.get("isotherm.state.seedNodes")}
    assert {hue(view.colour(node)) for node in seeds.values()} == {"red", "blue"}
    assert set(hues(view)) == {"red", "blue"}
    assert view.page.inner_text("#progress").startswith("2 labels")
    assert view.page.locator("#list li").count() == 10
    assert [view.page.inner_text("#message"), view.page.inner_text("#busy")] == ["", ""]
    finish(view)


def labels_with(more: dict[Any, str]) -> Any:
    """The labels that the classifier gives the club, from its leaders and some more."""
    graph = karate_club().graph
    return iso.NodeClassifier().fit(graph, {graph.nodes[0]: "Hi", graph.nodes[33]: "Officer"} | more).labels_


def members_of(faction: str) -> list[int]:
    """The members that the classifier puts into a faction, without its leader."""
    return [node for node in np.flatnonzero(labels_with({}) == faction).tolist() if node not in (0, 33)]


def flipped_by(node: int) -> set[int]:
    """The other members whose labels change when this one gets the label of Mr. Hi."""
    ids = karate_club().graph.nodes
    return set(ids[labels_with({}) != labels_with({ids[node]: "Hi"})].tolist()) - {ids[node]}


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning", "ignore::isotherm.CalibrationWarning")
def test_a_label_by_mouse_changes_the_colours_of_others_and_undo_brings_them_back(window: Any, server: Server) -> None:
    view = View(window, server.address).ready()
    before = hues(view)
    telling = max(members_of("Officer"), key=lambda node: len(flipped_by(node)))
    others = flipped_by(telling)
    assert others, "some label changes the labels of others"
    node = number(view, str(karate_club().graph.nodes[telling]))
    camera = view.get("isotherm.map.sigma.getCamera().getState()")
    view.page.mouse.click(*view.spot(node))
    view.wait(f"isotherm.panel.node?.id === {node}")
    assert view.get("isotherm.map.sigma.getCamera().getState()") == camera, "a click never moves the map"
    assert view.page.inner_text("#name") == view.get(f"isotherm.map.names[{node}]")
    view.page.click("#choices button:has-text('Hi')")
    view.wait(f"isotherm.state.seedNodes.includes({node}) && {SETTLED}")
    after = hues(view)
    assert after[node] != before[node]
    changed = {each for each in range(34) if after[each] != before[each]} - {node}
    assert changed == {number(view, str(each)) for each in others}
    view.page.click("#undo")
    view.wait(f"!isotherm.state.seedNodes.includes({node}) && {SETTLED}")
    assert hues(view) == before
    view.page.click("#redo")
    view.wait(f"isotherm.state.seedNodes.includes({node}) && {SETTLED}")
    finish(view)


def test_everything_by_keyboard(window: Any, server: Server) -> None:
    view = View(window, server.address).ready()
    view.page.keyboard.press("1")
    first = view.get("isotherm.state.suggestions[0].id")
    view.wait(f"isotherm.panel.node?.id === {first}")
    view.page.keyboard.press("w")
    view.wait(f"isotherm.state.seedNodes.includes({first}) && {SETTLED}")
    wanted = view.get("isotherm.state.classes[isotherm.state.order[1]].name")
    assert view.get(f"isotherm.state.classes[isotherm.map.codes[{first}] - 1].name") == wanted
    view.page.keyboard.press("Control+z")
    view.wait(f"isotherm.state.given === 0 && {SETTLED}")
    view.page.keyboard.press("Control+Shift+Z")
    view.wait(f"isotherm.state.given === 1 && {SETTLED}")
    view.page.keyboard.press("Backspace")
    view.wait(f"isotherm.state.given === 0 && {SETTLED}")
    view.page.evaluate("() => isotherm.select(isotherm.state.seedNodes[0], false)")
    view.page.keyboard.press("Delete")
    view.wait("isotherm.state.seeds === 1")
    view.page.keyboard.press("/")
    name = view.get("isotherm.map.names[20]")
    view.page.keyboard.type(name)
    view.page.wait_for_selector("#hits li")
    view.page.keyboard.press("Enter")
    view.wait("isotherm.panel.node?.id === 20")
    view.page.keyboard.press("Escape")
    assert view.page.is_visible("#nothing")
    view.page.keyboard.press("?")
    assert view.page.is_visible("#keys")
    finish(view)


ENTER_AT_ONCE = """(text) => {
  const box = document.getElementById("search");
  box.value = text;
  box.dispatchEvent(new Event("input"));
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}"""


def held(view: View, late: list[Any]) -> Any:
    """The next request that a route holds back."""
    while not late:
        view.page.wait_for_timeout(10)
    return late.pop(0)


def test_enter_in_the_search_box_waits_for_the_hits_of_its_text(window: Any, calm: Server) -> None:
    view = View(window, calm.address).ready()
    first, longer = number(view, "2"), number(view, "27")
    view.page.focus("#search")
    view.page.evaluate(ENTER_AT_ONCE, "2")
    view.wait(f"isotherm.panel.node?.id === {first}")  # although no hits were listed
    view.page.keyboard.press("/")
    view.page.keyboard.type("2")
    view.wait("!document.all.hits.hidden")
    late: list[Any] = []
    view.page.route("**/api/search?**", lambda route: late.append(route))
    view.page.evaluate(ENTER_AT_ONCE, "27")
    held(view, late).continue_()
    view.wait(f"isotherm.panel.node?.id === {longer}")
    view.page.evaluate("() => new Promise((passed) => setTimeout(passed, 40))")  # as long as the box waits for more
    assert late == [], "it is looked up once, so the list does not open again"
    assert not view.page.is_visible("#hits")
    view.page.focus("#search")
    view.page.evaluate(ENTER_AT_ONCE, "2")
    view.page.keyboard.press("Escape")
    with view.page.expect_response("**/api/search?**"):
        held(view, late).continue_()
    view.page.evaluate("() => isotherm.refresh()")
    assert view.get("isotherm.selected") == longer, "the search was ended before the answer"
    assert not view.page.is_visible("#hits")
    finish(view)


def test_long_names_leave_room_for_the_labels_of_hits(window: Any, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("from,to\n" + "".join(f"{'very ' * 30}long {at},b{at}\n" for at in range(5)))
    (tmp_path / "seeds.csv").write_text("node,label\nb0,a class\nb1,another class\n")
    words = "".join(f"{'very ' * 30}long {at},{'words ' * 20}\n" for at in range(3))
    (tmp_path / "nodes.csv").write_text(f"node,words\n{words}")
    with Server(tmp_path, "edges.csv", "seeds.csv", "--nodes", "nodes.csv") as server:
        view = View(window, server.address).ready()
        view.page.keyboard.press("/")
        view.page.keyboard.type("long")
        view.wait("document.querySelectorAll('#hits li').length === 5")
        rows = view.get(
            """[...document.querySelectorAll("#hits li")].map((row) => [...row.children].map((part) =>
               [part.clientWidth, row.clientWidth - part.offsetLeft - part.offsetWidth,
                part.scrollWidth - part.clientWidth]))"""
        )
        assert {len(row) for row in rows} == {2, 3}, "with and without content"
        assert all(room >= 0 for row in rows for _, room, _ in row)
        assert all(wide > 100 for row in rows for wide, *_ in row[:-1])
        assert all(cut == 0 for *_, (_, _, cut) in rows), "labels are whole"
        assert view.get("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.all.hits)") == 0
        finish(view)


def test_neighbours_and_suggestions_by_keyboard(window: Any, calm: Server) -> None:
    view = View(window, calm.address).ready()
    view.page.focus("#list li:nth-child(3) button")
    view.page.keyboard.press("Enter")
    third = view.get("isotherm.state.suggestions[2].id")
    view.wait(f"isotherm.panel.near?.nodes[0].id === {third} && document.querySelector('#seeds li')")
    assert view.get("document.activeElement.closest('li') === document.querySelector('#list').children[2]")
    view.page.click("#tab-around")
    view.page.focus("#near [tabindex='0']")
    view.page.keyboard.press("ArrowRight")
    neighbour = view.get("isotherm.panel.near.nodes[1]")
    assert view.get("document.activeElement.getAttribute('aria-label')").startswith(neighbour["name"])
    view.page.keyboard.press("Enter")
    view.wait(f"isotherm.panel.near?.nodes[0].id === {neighbour['id']}")
    assert view.get("document.activeElement.getAttribute('tabindex')") == "0", "the keyboard stays at the neighbours"
    finish(view)


def test_a_second_tab_sees_the_same_and_a_killed_server_loses_nothing(window: Any, folder: Path) -> None:
    with Server(folder, "edges.csv", "seeds.csv") as server:
        one, two = View(window, server.address).ready(), View(window, server.address).ready()
        one.page.keyboard.press("2")
        node = one.get("isotherm.selected")
        one.page.keyboard.press("q")
        two.wait(f"isotherm.state.seedNodes.includes({node})")
        two.page.reload()
        two.ready()
        assert two.get(f"isotherm.state.seedNodes.includes({node})")
        server.kill()
        one.page.close()
        two.page.close()
    with Server(folder, "edges.csv", "seeds.csv") as server:
        view = View(window, server.address).ready()
        assert view.get(f"isotherm.state.seedNodes.includes({node})")
        assert view.get("isotherm.state.undo") == 1
        finish(view)


def test_exported_seeds_have_the_format_of_the_file_and_can_be_classified(window: Any, folder: Path) -> None:
    with Server(folder, "edges.csv", "seeds.csv") as server:
        view = View(window, server.address).ready()
        view.page.keyboard.press("1")
        view.page.keyboard.press("q")
        view.wait("isotherm.state.given === 1")
        view.page.click("#export summary")
        with view.page.expect_download() as download:
            view.page.click("#export-seeds")
        download.value.save_as(folder / "exported.csv")
        view.page.click("#export summary") if not view.page.is_visible("#export-png") else None
        with view.page.expect_download() as picture:
            view.page.click("#export-png")
        picture.value.save_as(folder / "map.png")
        finish(view)
    lines = list(csv.reader((folder / "exported.csv").read_text().splitlines(), delimiter=";"))
    assert lines[0] == ["member", "side"]
    assert len(lines) == 4
    assert (folder / "map.png").read_bytes()[:4] == b"\x89PNG"
    outcome = command("classify", "edges.csv", "exported.csv", "-o", "labels.csv", folder=folder)
    assert outcome.status == 0, outcome.err


def test_from_nothing_the_page_asks_for_classes_and_suggests_nodes(window: Any, folder: Path) -> None:
    with Server(folder, "edges.csv") as server:
        view = View(window, server.address).ready()
        assert view.page.is_visible("#start")
        view.page.fill("#names", "tea\ncoffee\n")
        view.page.click("#start button")
        view.wait(f"isotherm.state.classes.length === 2 && {SETTLED}")
        view.page.wait_for_selector("#start", state="hidden")
        for key, label in (("1", "q"), ("2", "w")):
            view.page.keyboard.press(key)
            view.wait("isotherm.selected >= 0")
            view.page.keyboard.press(label)
            view.wait(f"isotherm.state.given === {key} && {SETTLED}")
        view.wait(f"isotherm.state.fitted && isotherm.state.unlabelled === 0 && {SETTLED}")
        assert set(hues(view)) == {"red", "blue"}
        finish(view)


def test_the_rows_of_a_table(window: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    lines = [f"r{at},{','.join(map(str, row))}" for at, row in enumerate(rows.tolist())]
    (tmp_path / "table.csv").write_text("\n".join(["id,x,y,z", *lines]) + "\n")
    (tmp_path / "known.csv").write_text("node,label\nr0,even\nr1,odd\n")
    with Server(tmp_path, "--vectors", "table.csv", "known.csv", "--k", "5") as server:
        view = View(window, server.address).ready()
        classes = view.get("[...isotherm.map.codes].map((code) => isotherm.state.classes[code - 1]?.name)")
        names = view.get("isotherm.map.names")
        assert dict(zip(names, classes, strict=True)) == {f"r{at}": ("even", "odd")[at % 2] for at in range(60)}
        finish(view)
    with Server(tmp_path, "--vectors", "table.csv") as server:
        view = View(window, server.address).ready()
        assert view.page.is_visible("#start"), "without seeds it asks for classes"
        finish(view)


def test_hostile_names_are_text(window: Any, tmp_path: Path) -> None:
    with (tmp_path / "edges.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target"])
        rows.writerows(zip(HOSTILE, [*HOSTILE[1:], HOSTILE[0]], strict=True))
    with (tmp_path / "seeds.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["node", "label"], [HOSTILE[0], HOSTILE[4]], [HOSTILE[2], HOSTILE[0]]])
    with Server(tmp_path, "edges.csv", "seeds.csv") as server:
        view = View(window, server.address)
        view.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        view.ready()
        for node in range(5):
            view.page.evaluate(f"() => isotherm.select({node}, false)")
            view.wait(f"isotherm.panel.node?.id === {node}")
            shown = view.page.inner_text("#name")
            assert shown.startswith(view.get(f"isotherm.map.names[{node}]")[:100])
            view.page.mouse.move(*view.spot(node))
            view.wait(f"isotherm.hovered === {node} && !document.all.tip.hidden")
            assert view.page.inner_text("#tip").startswith(shown[:20])
        assert view.get("document.querySelectorAll('img').length") == 0
        assert view.get("document.querySelectorAll('script').length") == 3
        assert view.get("document.documentElement.scrollWidth") <= 1280
        finish(view)


def test_names_on_controls_for_screen_readers(window: Any, calm: Server) -> None:
    view = View(window, calm.address).ready()
    view.page.keyboard.press("1")
    view.wait("isotherm.panel.node")
    unnamed = view.get(
        """[...document.querySelectorAll("button, input, textarea, summary, a")].filter((each) =>
           !(each.textContent.trim() || each.getAttribute("aria-label") || each.labels?.length))
           .map((each) => each.outerHTML)"""
    )
    assert unnamed == []
    finish(view)


def test_dark_and_small_windows(window: Any, calm: Server) -> None:
    view = View(window, calm.address, scheme="dark").ready()
    assert view.get("document.documentElement.dataset.theme") == "dark"
    assert view.get("document.documentElement.scrollHeight") <= 720
    view.page.click("#theme")
    assert view.get("document.documentElement.dataset.theme") == "light"
    large = "name: 'packages.parquet', nodes: 1234567, links: 12345678, seeds: 12345, given: 1234"
    view.page.evaluate(f"() => {{ Object.assign(isotherm.state, {{ {large} }}); isotherm.draw(); }}")
    for name in ("about", "progress"):
        assert view.get(f"(({{scrollWidth, clientWidth}}) => scrollWidth - clientWidth)(document.all['{name}'])") <= 0
    assert view.get("document.documentElement.scrollWidth") <= 1280
    finish(view)


OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll("#near text")].map((each) => each.getBoundingClientRect());
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return [boxes.length, boxes.filter((a, i) => boxes.slice(i + 1).some((b) => over(a, b))).length];
})()"""


def test_names_in_the_neighbourhood_do_not_overlap(window: Any, tmp_path: Path) -> None:
    hub = [f"hub,a neighbour with name {each}" for each in range(12)]
    chains = [f"hub,{side}1\n{side}1,{side}2\n{side}2,{side}3\n{side}3,{side}4" for side in ("left", "right", "up")]
    (tmp_path / "edges.csv").write_text("\n".join(["from,to", *hub, *chains]) + "\n")
    (tmp_path / "seeds.csv").write_text("node,label\nleft4,a\nright4,b\nup4,c\n")
    with Server(tmp_path, "edges.csv", "seeds.csv") as server:
        view = View(window, server.address).ready()
        view.page.evaluate(f"() => isotherm.select({number(view, 'hub')}, false)")
        view.wait("document.querySelectorAll('#seeds li').length === 3 && isotherm.panel.near.paths.length === 3")
        view.page.click("#tab-around")
        view.wait("document.querySelectorAll('#near text').length > 0")
        shown, overlapping = view.get(OVERLAPS)
        assert shown >= 8
        assert overlapping == 0
        finish(view)


SEEN = """(() => {
  const map = isotherm.map, drawn = new Set(map.shown), { clientWidth, clientHeight } = map.container;
  const seen = Array.from({ length: map.n }, (_, i) => i).filter((i) => {
    const { x, y } = map.at(i);
    return x >= 0 && y >= 0 && x <= clientWidth && y <= clientHeight;
  });
  return [seen.length, seen.filter((i) => drawn.has(i)).length];
})()"""


@pytest.mark.slow
def test_a_large_graph_shows_more_on_zooming_in(window: Any, tmp_path: Path) -> None:
    made_up(tmp_path, n=110_000, size=2_000)
    with Server(tmp_path, "edges.npz", "seeds.tsv", XDG_CACHE_HOME=str(tmp_path)) as server:
        view = View(window, server.address)
        view.wait("window.isotherm?.state")
        view.page.keyboard.press("/")
        view.page.keyboard.type("10999")
        view.wait("document.querySelectorAll('#hits li').length === 11")  # 10999, and 109990 to 109999
        view.page.keyboard.press("Enter")
        view.wait("isotherm.panel.near?.nodes[0].name === '10999'")
        view.ready()
        shown = set(view.get("isotherm.map.shown"))
        assert 45_000 < len(shown) <= 51_000
        assert shown >= set(view.get("isotherm.state.seedNodes")) | {10_999}
        assert all(view.colour(node)[3] for node in view.get("isotherm.state.seedNodes.slice(0, 8)")), (
            "points are drawn"
        )
        assert view.page.inner_text("#drawn") == "50,000 of 110,000 nodes drawn: zoom in for more"
        there, drawn = view.get(SEEN)
        assert (there, drawn) == (110_000, pytest.approx(50_000, rel=0.02))
        view.page.evaluate("() => isotherm.map.fly(10999)")
        view.wait(f"isotherm.map.sigma.getCamera().ratio < 0.2 && (([there, drawn]) => there === drawn)({SEEN})")
        assert 10 < view.get(SEEN)[0] < 50_000
        assert not view.page.is_visible("#drawn")
        finish(view)
