"""Progress for ``verbose=True``: a bar by rich on a terminal or in a notebook, else a line every few seconds."""

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isotherm.equilibrium.options import Progress

WIDTH = 20  # of bars: with the longest note, a line has 80 characters
PAUSE = 2.0  # seconds between two lines, where there is no bar


class ErrorScale:
    """How far a solve has come: its error falls towards the tolerance, but not steadily.

    Examples
    --------
    >>> scale = ErrorScale(1e-3)
    >>> scale(1, 1.0), round(scale(2, 0.1)[0], 3)
    ((0.0, 'error 1e+00, tol 1e-03, iteration 1'), 0.333)
    """

    def __init__(self, tol: float) -> None:
        self.tol, self.first, self.least = tol, math.nan, math.nan

    def __call__(self, iteration: int, error: float) -> tuple[float, str]:
        """The share that is done, and a note."""
        note = f"iteration {iteration}"
        if 0 < error < math.inf:
            self.first = max(error, 2 * self.tol) if math.isnan(self.first) else self.first
            self.least = min(error, self.least)
            note = f"error {error:.0e}, tol {self.tol:.0e}, {note}"
        fallen = math.log(self.first / self.least) if self.least < self.first else 0.0
        return min(1.0, fallen / math.log(self.first / self.tol)) if fallen else 0.0, note


@contextmanager
def error_bar(tol: float | None) -> Iterator[Progress]:
    """Show a bar; it gives the function to call after each iteration."""
    scale, bar = ErrorScale(tol or 1e-3), _bar()
    with bar:
        yield lambda iteration, error: bar.update(*scale(iteration, error))


class _Rich:
    """A bar that disappears when it ends; in a notebook it stays."""

    def __init__(self, progress: Any) -> None:
        self.progress = progress

    def __enter__(self) -> "_Rich":
        self.progress.start()
        self.task = self.progress.add_task("solving", total=1, note="")
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def update(self, done: float, note: str) -> None:
        self.progress.update(self.task, completed=done, note=note)


class _Lines:
    """A line every few seconds."""

    def __init__(self) -> None:
        self.said = self.began = time.monotonic()

    def __enter__(self) -> "_Lines":
        return self

    def __exit__(self, *_: object) -> None:
        print(f"solved in {time.monotonic() - self.began:.1f} seconds", file=sys.stderr)

    def update(self, done: float, note: str) -> None:
        if time.monotonic() - self.said >= PAUSE:
            self.said = time.monotonic()
            print(f"solving {done:.0%}, {note}", file=sys.stderr)


def _bar() -> "_Rich | _Lines":
    try:
        from rich.console import Console
    except ImportError:
        return _Lines()
    console = Console(stderr=True)
    return _Rich(rich_bar(console)) if console.is_terminal or console.is_jupyter else _Lines()


def rich_bar(console: Any) -> Any:
    """A bar with the time and a note."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=WIDTH),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    return Progress(*columns, console=console, transient=True)
