"""The stages of a job: how long each takes, and a bar on the terminal while it runs."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Stages"]

WIDTH = 20  # of bars: with the longest note, a line has 80 characters


class Stages:
    """Seconds by stage, and bars if stderr is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._seconds: dict[str, float] = {}
        self._began = time.perf_counter()
        self._show = not quiet and sys.stderr.isatty()

    @property
    def seconds(self) -> dict[str, float]:
        """Of each stage, and of everything up to now, which is more: there are imports between stages."""
        return {**self._seconds, "total": time.perf_counter() - self._began}

    @contextmanager
    def stage(self, name: str) -> Iterator["Bar"]:
        """Time a stage; its bar takes the progress."""
        began = time.perf_counter()
        bar = Bar(name, self._show)
        try:
            with bar:
                yield bar
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - began


class Bar:
    """A bar that goes away when it is full; nothing at all where there is no terminal."""

    def __init__(self, name: str, show: bool) -> None:
        self.name = name
        self._progress: Any = _rich_progress() if show else None
        self._task: Any = None

    def __enter__(self) -> "Bar":
        if self._progress is not None:
            self._progress.start()
            self._task = self._progress.add_task(self.name, total=None, note="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    @property
    def amount(self) -> Callable[[int, int | None], None] | None:
        """To be called with what is done and what there is to do."""
        if self._progress is None:
            return None
        return lambda done, total: self._progress.update(self._task, completed=done, total=total)

    @property
    def named_amount(self) -> Callable[[int, int, str], None] | None:
        """The same, and with the name of what was done last."""
        if self._progress is None:
            return None
        return lambda done, total, name: self._progress.update(self._task, completed=done, total=total, note=name)

    def errors(self, tol: float) -> Callable[[int, float], None] | None:
        """To be called with the iteration and its error, which falls towards the tolerance, though not steadily."""
        if self._progress is None:
            return None
        first = least = math.nan

        def update(iteration: int, error: float) -> None:
            nonlocal first, least
            note = f"iteration {iteration}"
            if 0 < error < math.inf:
                first, least = max(error, 2 * tol) if math.isnan(first) else first, min(error, least)
                note = f"error {error:.0e}, tol {tol:.0e}, {note}"
            done = math.log(first / least) / math.log(first / tol) if least < first else 0.0
            self._progress.update(self._task, completed=min(1.0, done), total=1, note=note)

        return update


def _rich_progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=WIDTH),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
