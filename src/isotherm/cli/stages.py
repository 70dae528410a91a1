"""The stages of a job: how long each takes, and a bar on the terminal while it runs."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Stages"]

WIDTH = 12  # of the names of stages


class Stages:
    """Seconds by stage, and bars if stderr is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        self._show = not quiet and sys.stderr.isatty()

    @contextmanager
    def stage(self, name: str) -> Iterator["Bar"]:
        """Time a stage; its bar takes the progress."""
        began = time.perf_counter()
        bar = Bar(name, self._show)
        try:
            with bar:
                yield bar
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


class Bar:
    """A bar that goes away when it is full; nothing at all where there is no terminal."""

    def __init__(self, name: str, show: bool) -> None:
        self.name = name
        self._progress: Any = _rich_progress() if show else None
        self._task: Any = None
        self._first_error = 0.0

    def __enter__(self) -> "Bar":
        if self._progress is not None:
            self._progress.start()
            self._task = self._progress.add_task(f"{self.name:{WIDTH}}", total=None, note="")
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
        """To be called with the iteration and its error, which falls towards the tolerance."""
        if self._progress is None:
            return None

        def update(iteration: int, error: float) -> None:
            note = f"iteration {iteration}, error {error:.1e}, to reach {tol:.0e}"
            self._progress.update(self._task, completed=self._share(error, tol), total=1, note=note)

        return update

    def _share(self, error: float, tol: float) -> float:
        """How much of the way from the first error to the tolerance is done, on a logarithmic scale."""
        if not 0 < error < math.inf:
            return 0.0 if error else 1.0
        self._first_error = max(self._first_error, error, 2 * tol)
        return min(1.0, math.log(self._first_error / error) / math.log(self._first_error / tol))


def _rich_progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
