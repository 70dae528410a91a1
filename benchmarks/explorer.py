"""The page: how long a person waits in a real browser, against fixed goals.

Debian's packages with the sections of 1% of them as seeds, in Chromium without a graphics card, on the same two cores
as the server. Each wait is from the event that the browser gets (key, click, move) to the first frame in which the
page shows the answer. The first map is counted from the start of the command, without a map in the cache.
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
    1,
    "mousedown",
    "page.selected !== before.selected && page.panel.near?.nodes[0].id === page.selected",
)
WHY = Wait(
    "its explanation",
    1,
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
    """The goals; the graph has one size, whatever the scale."""
    sys.path.append(str(TESTS))  # the tests drive the page in the same way
    from page_graphs import GRAPHS
    from pages import browser

    write, arguments = GRAPHS["debian"]
    with tempfile.TemporaryDirectory() as place, browser() as window:
        write(Path(place))
        first: list[float] = []
        found: dict[Wait, list[float]] = defaultdict(list)
        for turn in range(rounds):
            with _Turn(window, Path(place), arguments, turn) as page:
                first.append(page.first_map)
                for wait, seconds in page.waits():
                    found[wait].append(seconds)
    yield _against(FIRST_MAP, 10, first)
    for wait, waited in found.items():
        yield _against(wait.work, wait.goal, waited)


def _against(work: str, goal: float, found: list[float]) -> Result:
    return Result(f"page of Debian's packages: {work}", "goal", [goal] * len(found), "page", found, 1)


class _Turn:
    """A page that is opened anew, without the labels of an earlier turn."""

    def __init__(self, window: Any, folder: Path, arguments: list[str], number: int) -> None:
        from pages import Server, View

        began = time.monotonic()
        cache = tempfile.mkdtemp(dir=folder)
        self.server = Server(folder, *arguments, "--log", f"{number}.log", XDG_CACHE_HOME=cache)
        self.view = View(window, self.server.address)
        self.view.wait("window.isotherm?.map?.drawn", MOST)
        self.first_map = time.monotonic() - began
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
            yield from self._watch([HOVER], partial(page.mouse.move, *spot))
            yield from self._watch([SELECT, NEAR, WHY], partial(page.mouse.click, *spot))
            page.keyboard.press("/")
            yield from self._watch([SEARCH], partial(page.keyboard.type, "k"))
            page.keyboard.press("Escape")
            yield from self._watch([MARK, RECOLOUR, RECALIBRATE], partial(page.keyboard.press, "w"))
            self.view.wait("!isotherm.state.busy", MOST)
            yield from self._watch([UNDO], partial(page.keyboard.press, "Control+z"))
            self.view.wait("!isotherm.state.busy", MOST)
            page.keyboard.press("Escape")
            page.mouse.move(2, 2)
            self.view.wait("document.getElementById('tip').hidden", MOST)

    def _watch(self, waits: list[Wait], act: Callable[[], None]) -> Iterator[tuple[Wait, float]]:
        """Do something, and give the time until each of these things is shown."""
        conditions = ", ".join(f"{wait.work!r}: () => {wait.shown}" for wait in waits)
        watch = WATCH.replace("CONDITIONS", conditions)
        self.view.page.evaluate(watch, [[[wait.work, wait.event] for wait in waits]])
        act()
        for wait, milliseconds in zip(waits, self.view.page.evaluate("() => window.measured"), strict=True):
            yield wait, milliseconds / 1000
