"""One run of a command: its stages with their bars and times, its warnings, and what it says besides the result."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from isotherm.cli.terminal.messages import WarnedError, in_options, say
from isotherm.cli.terminal.process import exit_at_once


class Job:
    """A run of a command: ``with Job(quiet=quiet, strict=strict) as job``.

    Within the job, signals end the process at once, except while `isotherm.cli.terminal.process.exit_cleanly` is on.
    Warnings are collected, and printed unless the job is quiet. A strict job that had any ends with `WarnedError`.
    """

    def __init__(self, *, quiet: bool = False, strict: bool = False) -> None:
        self.quiet, self.strict = quiet, strict
        self.warnings: list[str] = []  # the sentences of all so far
        self._seconds: dict[str, float] = {}
        self._began = time.perf_counter()
        self._has_bars = not quiet and sys.stderr.isatty()

    def __enter__(self) -> "Job":
        self._signals = exit_at_once()
        self._signals.__enter__()
        self._show_warning, warnings.showwarning = warnings.showwarning, self._collect
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        warnings.showwarning = self._show_warning
        self._signals.__exit__(None, None, None)
        if kind is None and self.strict and self.warnings:
            for sentence in self.warnings if self.quiet else ():
                say(f"isotherm: warning: {sentence}")
            number = "was 1 warning" if len(self.warnings) == 1 else f"were {len(self.warnings)} warnings"
            raise WarnedError(f"the output is complete, but there {number}, so --strict ends with status 3")

    def _collect(self, message: Warning | str, *rest: Any, **more: Any) -> None:
        self.warnings.append(in_options(message))
        if not self.quiet:
            self._show_warning(message, *rest, **more)

    def say(self, *lines: str) -> None:
        """Print lines on stderr, unless the job is quiet; empty ones at the end are left out."""
        if not self.quiet:
            say("\n".join(lines))

    @property
    def seconds(self) -> dict[str, float]:
        """The time of each stage, and the total so far, which includes the imports between stages."""
        return {**self._seconds, "total": time.perf_counter() - self._began}

    @contextmanager
    def stage(self, name: str) -> Iterator["Bar"]:
        """Time a stage, and yield the bar that shows its progress."""
        began = time.perf_counter()
        try:
            with Bar(name, self._has_bars) as bar:
                yield bar
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - began


class Bar:
    """A bar on the terminal that disappears when its stage ends; without a terminal nothing is drawn."""

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
        """A function to call with an iteration and its error, which falls towards the tolerance, but not steadily."""
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
