"""What was measured, as data: printed as a row of a table, kept as a line of JSON, read again for the page."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["Cost", "Point", "Result", "Run", "header", "latest", "overwrite", "store"]

COLUMNS = ("work", "peer", "Isotherm", "compared", "goal")
TIMES = ("s", "ms", "ns an entry")  # units


def header(with_goal: bool = True) -> str:
    """The head of the table of results."""
    names = COLUMNS if with_goal else COLUMNS[:-1]
    return f"| {' | '.join(names)} |\n" + "|---" * len(names) + "|"


@dataclass(frozen=True)
class Result:
    """Ours against a peer, both in the same unit, turn by turn.

    ``goal`` is the least ratio of theirs to ours; below 1, ours may be more. None is for races without a goal.
    """

    work: str
    peer: str
    theirs: list[float]
    name: str
    ours: list[float]
    goal: float | None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """The median of theirs over the median of ours."""
        return median(self.theirs) / median(self.ours)

    @property
    def reached(self) -> bool:
        return self.goal is None or self.ratio >= self.goal

    def row(self, with_goal: bool = True) -> str:
        """A row of the table: medians, least and greatest, ratio of the medians, spread of the ratios of each turn."""
        cells = [
            self.work,
            f"{self.peer}: {_describe(self.theirs, self.unit)}",
            f"{self.name}: {_describe(self.ours, self.unit)}",
            self.outcome() + self._spread(),
        ]
        if with_goal:
            cells.append(
                "" if self.goal is None else f"{self.goal_in_words()}: {'reached' if self.reached else 'MISSED'}"
            )
        return f"| {' | '.join(cells)} |"

    def outcome(self) -> str:
        """The ratio, in words."""
        return self._words(self.ratio)

    def goal_in_words(self) -> str:
        goal = self.goal or 1
        return f"at {'least' if goal >= 1 and self.unit in TIMES else 'most'} {self._words(goal)}"

    def _words(self, ratio: float) -> str:
        if self.unit not in TIMES:
            return f"{1 / ratio:.2g} of it"
        return f"{ratio:.3g} times faster" if ratio >= 1 else f"{1 / ratio:.3g} times slower"

    def _spread(self) -> str:
        """The range of the same number over the turns."""
        faster = self.unit in TIMES and self.ratio >= 1
        turns = [p / o if faster else o / p for p, o in zip(self.theirs, self.ours, strict=True)]
        return f" ({min(turns):.3g} to {max(turns):.3g})" if len(turns) > 1 else ""


@dataclass(frozen=True)
class Point:
    """How long a contestant took on a graph of so many entries."""

    contestant: str
    entries: int
    seconds: list[float]

    def row(self) -> str:
        return f"{self.contestant}, {self.entries} entries: {_describe(self.seconds, 's')}"


@dataclass(frozen=True)
class Cost:
    """Nanoseconds that the product takes for an entry, with an instruction set, a number of threads and of columns."""

    isa: str
    threads: int
    width: int
    nanoseconds: list[float]

    def row(self) -> str:
        return f"{self.isa}, {self.threads} threads, width {self.width}: {_describe(self.nanoseconds, 'ns an entry')}"


@dataclass(frozen=True)
class Run:
    """One run of a suite, where and when it ran, with which instruction set, and of which commit."""

    suite: str
    scale: float
    date: str
    machine: str
    results: list[Result] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    isa: str = "avx512"
    commit: str = ""

    def add(self, outcome: Result | Point | Cost) -> None:
        """Take in what the suite measured."""
        kept: dict[type, list[Any]] = {Result: self.results, Point: self.points, Cost: self.costs}
        kept[type(outcome)].append(outcome)

    @classmethod
    def from_json(cls, line: str) -> "Run":
        parts = json.loads(line)
        for name, kind in (("results", Result), ("points", Point), ("costs", Cost)):
            parts[name] = [kind(**part) for part in parts.get(name, [])]
        return cls(**parts)


def store(run: Run, path: Path) -> None:
    """Add a run at the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(run)) + "\n")


def overwrite(runs: Iterable[Run], path: Path) -> None:
    """Keep these runs in a file, and no others."""
    path.unlink(missing_ok=True)
    for run in runs:
        store(run, path)


def latest(paths: Iterable[Path], scale: float, suites: Iterable[str]) -> list[Run]:
    """The last run of each suite with each instruction set at this scale, in the order of the suites."""
    lines = (line for path in paths if path.exists() for line in path.read_text(encoding="utf-8").splitlines())
    runs = {(run.suite, run.isa): run for run in map(Run.from_json, lines) if run.scale == scale}
    order = {suite: number for number, suite in enumerate(suites)}
    known = [run for run in runs.values() if run.suite in order]
    return sorted(known, key=lambda run: (order[run.suite], -len(run.isa)))  # avx512, avx2 or base


def _describe(values: list[float], unit: str) -> str:
    spread = f" ({min(values):.3g} to {max(values):.3g})" if len(set(values)) > 1 else ""
    return f"{median(values):.3g} {unit}{spread}"
