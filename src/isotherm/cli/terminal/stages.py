"""The stages of a job: how long each takes, and a bar on the terminal while it runs."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Stages"]


class Stages:
    """Seconds by stage, and bars if stderr is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._seconds: dict[str, float] = {}
        self._began = time.perf_counter()
        self._show = not quiet and sys.stderr.isatty()

    @property
    def seconds(self) -> dict[str, float]:
        """The time of each stage, and the total so far, which includes the imports between stages."""
        return {**self._seconds, "total": time.perf_counter() - self._began}

    @contextmanager
    def stage(self, name: str) -> Iterator["Bar"]:
        """Time a stage, and give its bar, which takes the progress."""
        began = time.perf_counter()
        bar = Bar(name, self._show)
        try:
            with bar:
                yield bar
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - began


class Bar:
    """A bar that disappears when its stage ends; nothing is drawn without a terminal."""

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
    def amount(self) -> Callable[..., None] | None:
        """A function to call with the amount done, the total, and perhaps a note."""
        if self._progress is None:
            return None
        return lambda done, total, note="": self._progress.update(self._task, completed=done, total=total, note=note)

    def errors(self, tol: float) -> Callable[[int, float], None] | None:
        """A function to call with the iteration and its error, which falls towards the tolerance, but not steadily."""
        if self._progress is None:
            return None
        from isotherm.labelling.progress import ErrorScale

        scale = ErrorScale(tol)

        def update(iteration: int, error: float) -> None:
            done, note = scale(iteration, error)
            self._progress.update(self._task, completed=done, total=1, note=note)

        return update


def _rich_progress() -> Any:
    from rich.console import Console

    from isotherm.labelling.progress import rich_bar

    return rich_bar(Console(stderr=True))
