"""The page: how long a person waits in a real browser, and how far few keystrokes reach, against fixed goals.

Debian's packages with the sections of 1% of them as seeds, in Chromium without a graphics card, on the same cores as
the server. Each wait is from the event that the browser gets (key, click, move) to the first frame in which the page
shows the answer. The first map is counted from the start of the command, without a map in the cache. The processor time
of the server is given too, since other work on the machine changes it less.

Then a million nodes while the map is being made, and Cora: keystrokes from nothing to an accuracy of 0.70, and 500
labels in a row. Cora is taken from the folder that ISOTHERM_DATA names.
"""

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.results import Result

__all__ = ["races"]

TESTS = Path(__file__).parent.parent / "tests"
MOST = 120.0  # seconds for anything


class Wait(NamedTuple):
    """Something that a person waits for: seconds at most, the event that begins it, and what the page then shows."""

    work: str
    goal: float
    event: str
    shown: str


FIRST_MAP = "first map after the command"
HOVER = Wait("hover: the name of a node", 0.1, "mousemove", "!tip.hidden")
SELECT = Wait(
    "select a node", 0.1, "mousedown", "page.selected !== before.selected && page.panel.node?.id === page.selected"
)
NEAR = Wait(
    "its neighbourhood",
    0.5,
    "mousedown",
    "page.selected !== before.selected && page.panel.near?.nodes[0].id === page.selected",
)
WHY = Wait(
    "its explanation",
    0.5,
    "mousedown",
    "page.selected !== before.selected && page.panel.node?.id === page.selected && seeds.children.length",
)
SEARCH = Wait("search", 0.1, "input", "!hits.hidden && hits.children.length")
MARK = Wait("mark a seed", 0.1, "keydown", "page.state.seeds === before.seeds + 1")
RECOLOUR = Wait(
    "recolour after a label", 1.5, "keydown", "page.state.fits > before.fits && page.colours === page.state.colours"
)
RECALIBRATE = Wait(
    "recalibrated confidence",
    5,
    "keydown",
    "page.state.fits > before.fits && page.state.calibrated && page.colours === page.state.colours",
)
RECOLOUR_CPU = Wait("all work after a label, processor time", 5, "", "")
UNDO = Wait("undo", 0.1, "keydown", "page.state.seeds === before.seeds - 1")

WATCH = """([waits]) => {
  const page = window.isotherm, before = { selected: page.selected, seeds: page.state.seeds, fits: page.state.fits };
  const [tip, hits, seeds] = ["tip", "hits", "seeds"].map((id) => document.getElementById(id));
  const shown = { CONDITIONS };
  window.measured = Promise.all(waits.map(([work, event]) => new Promise((resolve) => {
    let began;
    addEventListener(event, ({ timeStamp }) => { began = timeStamp; }, { capture: true, once: true });
    const look = () => {
      if (began !== undefined && shown[work]()) resolve(performance.now() - began);
      else requestAnimationFrame(look);
    };
    look();
  })));
}"""


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Result]:
    """The goals; the graphs have one size, whatever the scale."""
    sys.path.append(str(TESTS))  # the tests drive the page in the same way
    from page_graphs import DATA
    from pages import browser

    with browser() as window:
        yield from _debian(window, rounds)
        yield from _million(window)
        if (DATA / "cora.npz").exists():
            yield from _cora(window)


def _debian(window: Any, rounds: int) -> Iterator[Result]:
    from page_graphs import GRAPHS

    write, arguments = GRAPHS["debian"]
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        first: list[float] = []
        busy: list[float] = []
        found: dict[Wait, list[float]] = defaultdict(list)
        for turn in range(rounds):
            with _Turn(window, Path(place), [*arguments, "--log", f"{turn}.log"]) as page:
                first.append(page.first_map)
                busy.append(page.first_cpu)
                page.calm()
                for wait, seconds in page.waits():
                    found[wait].append(seconds)
                found[RECOLOUR_CPU].extend(page.label_cpu)
    name = "page of Debian's packages"
    yield _against(name, FIRST_MAP, 10, first)
    yield _against(name, f"{FIRST_MAP}, processor time", 10, busy)
    for wait, waited in found.items():
        yield _against(name, wait.work, wait.goal, waited)


def _million(window: Any) -> Iterator[Result]:
    """Search, and the neighbourhood of what was found, while a million nodes are being placed."""
    from page_graphs import GRAPHS

    write, arguments = GRAPHS["made_up"]
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        with _Turn(window, Path(place), arguments, shown="window.isotherm?.state") as page:
            assert not page.view.get("isotherm.state.mapped")
            page.view.page.keyboard.press("/")
            for wait, seconds in page.watch([SEARCH], partial(page.view.page.keyboard.type, "777")):
                yield _against("page of a million nodes, before its map", wait.work, 1, [seconds])
            found = [Wait(wait.work, 1, "keydown", wait.shown) for wait in (SELECT, NEAR)]
            for wait, seconds in page.watch(found, partial(page.view.page.keyboard.press, "Enter")):
                yield _against("page of a million nodes, before its map", wait.work, wait.goal, [seconds])


def _cora(window: Any) -> Iterator[Result]:
    from page_graphs import cora, cora_words
    from reach import keystrokes, many_labels

    with tempfile.TemporaryDirectory() as place:
        topics = cora_words(Path(place))
        with _Turn(window, Path(place), ["edges.tsv", "--features", "words.npz"]) as page:
            strokes = keystrokes(page.view.ready(), topics, 0.70, 60)
        work = "Cora from nothing to an accuracy of 0.70"
        yield Result(work, "goal", [30], "page", [strokes], 1, unit="keystrokes")
    with tempfile.TemporaryDirectory() as place:
        topics = cora(Path(place), each=3)
        with _Turn(window, Path(place), ["edges.tsv", "seeds.tsv"]) as page:
            took, heaps = many_labels(page.view.ready(), topics)
        early, late = ((took[part] / 1000).tolist() for part in (slice(100), slice(-100, None)))
        yield Result("500 labels in a row: each answer", "first hundred", early, "last hundred", late, 0.5)
        first, last = ([heap / 1e6] for heap in heaps)
        yield Result("500 labels in a row: heap", "after 50", first, "after 500", last, 0.5, unit="MB")


def _against(name: str, work: str, goal: float, found: list[float]) -> Result:
    return Result(f"{name}: {work}", "goal", [goal] * len(found), "page", found, 1)


class _Turn:
    """A page that is opened without a map in the cache, and waited for until something is shown."""

    def __init__(
        self, window: Any, folder: Path, arguments: list[str], shown: str = "window.isotherm?.map?.drawn"
    ) -> None:
        from pages import Server, View

        began = time.monotonic()
        cache = tempfile.mkdtemp(dir=folder)
        self.server = Server(folder, *arguments, XDG_CACHE_HOME=cache)
        self.view = View(window, self.server.address)
        self.view.wait(shown, MOST)
        self.first_map, self.first_cpu = time.monotonic() - began, self.server.cpu_seconds()
        self.label_cpu: list[float] = []

    def calm(self) -> None:
        """Wait until confidence is calibrated and nothing is going on."""
        self.view.wait("isotherm.state.calibrated && !isotherm.state.busy", MOST)

    def __enter__(self) -> "_Turn":
        return self

    def __exit__(self, *_: object) -> None:
        self.view.page.close()
        self.server.__exit__()

    def waits(self) -> Iterator[tuple[Wait, float]]:
        """Each wait at three nodes, when nothing else is going on."""
        page, suggested = self.view.page, "isotherm.state.suggestions.filter(({ label }) => label !== null)"
        for node in self.view.get(f"{suggested}.slice(0, 3).map(({{ id }}) => id)"):
            spot = self.view.spot(node)
            yield from self.watch([HOVER], partial(page.mouse.move, *spot))
            yield from self.watch([SELECT, NEAR, WHY], partial(page.mouse.click, *spot))
            page.keyboard.press("/")
            yield from self.watch([SEARCH], partial(page.keyboard.type, "k"))
            page.keyboard.press("Escape")
            page.keyboard.press("Escape")  # the list, then the box
            before = self.server.cpu_seconds()
            yield from self.watch([MARK, RECOLOUR, RECALIBRATE], partial(page.keyboard.press, "w"))
            self.view.wait("!isotherm.state.busy", MOST)
            self.label_cpu.append(self.server.cpu_seconds() - before)
            yield from self.watch([UNDO], partial(page.keyboard.press, "Control+z"))
            self.view.wait("!isotherm.state.busy", MOST)
            page.keyboard.press("Escape")
            page.mouse.move(2, 2)
            self.view.wait("document.getElementById('tip').hidden", MOST)

    def watch(self, waits: list[Wait], act: Callable[[], None]) -> Iterator[tuple[Wait, float]]:
        """Do something, and give the time until each of these things is shown."""
        conditions = ", ".join(f"{wait.work!r}: () => {wait.shown}" for wait in waits)
        watch = WATCH.replace("CONDITIONS", conditions)
        self.view.page.evaluate(watch, [[[wait.work, wait.event] for wait in waits]])
        act()
        for wait, milliseconds in zip(waits, self.view.page.evaluate("() => window.measured"), strict=True):
            yield wait, milliseconds / 1000
