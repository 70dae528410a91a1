"""What an experiment is, and the numbers that it measured.

An `Experiment` lists its settings and measures one run of each. `Results` holds its numbers in memory. `Store` is its
CSV file, to which each finished run is appended as one block of lines. Every line says how many lines its block has, so
a block that was cut short by a kill is noticed, dropped, and run again. Lines from another random state or another
version of the package are dropped too.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zlib import crc32

import numpy as np

from isotherm.arrays import Doubles
from isotherm.files import writing

AUTHORS, CORRECTED = "authors", "corrected"
PROTOCOLS = (AUTHORS, CORRECTED)
FIELDS = ("protocol", "case", "run", "x", "rule", "measure", "value", "seed", "version", "lines")

Data: TypeAlias = Path | None  # the folder of graphs


class Setting(NamedTuple):
    """What stays the same from run to run."""

    protocol: str
    case: str  # usually the name of the graph


class Measurement(NamedTuple):
    """One number measured by a run."""

    x: float  # position on the axis of a figure; 0 in tables
    rule: str  # empty if the number does not depend on it
    measure: str
    value: float


class Draw(NamedTuple):
    """The random numbers of a run; each call of a method gives a new generator in the same state."""

    common: np.random.SeedSequence  # the same for all runs of a setting
    single: np.random.SeedSequence  # different for each run

    @classmethod
    def of(cls, seed: int, experiment: str, case: str, run: int) -> "Draw":
        """The same for both protocols, so that they can be compared run by run."""
        root = np.random.SeedSequence([seed, crc32(f"{experiment}/{case}".encode())])
        first, *others = root.spawn(run + 2)
        return cls(first, others[-1])

    def shared(self) -> np.random.Generator:
        """A generator that is in the same state for all runs of the setting."""
        return np.random.default_rng(self.common)

    def own(self) -> np.random.Generator:
        """A generator for this run."""
        return np.random.default_rng(self.single)


@dataclass(frozen=True)
class Experiment:
    """A figure, a table or a study."""

    name: str  # on the command line
    title: str  # its heading in the report
    settings: Callable[[str, Data], Sequence[Setting]]  # of a protocol
    run: Callable[[Setting, Draw, Data], Iterable[Measurement]]
    protocols: tuple[str, ...] = PROTOCOLS  # protocols other than AUTHORS and CORRECTED are always run
    repeated: bool = True  # False if all runs would be the same; then there is one run
    times: int = 1  # multiplies the number of runs that the user asks for


class Summary(NamedTuple):
    """Mean and standard deviation over runs; as in the paper, the deviation has n in the denominator."""

    mean: float
    std: float
    runs: int

    @classmethod
    def of(cls, values: Doubles) -> "Summary | None":
        """None without values."""
        return cls(float(values.mean()), float(values.std()), len(values)) if len(values) else None


class Results:
    """The numbers of one experiment, found by protocol, case, rule, measure and x."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, str, str, float], dict[int, float]] = defaultdict(dict)  # value by run
        self._order: dict[Setting, None] = {}
        self.finished: set[tuple[Setting, int]] = set()

    @classmethod
    def of(cls, lines: Iterable[dict[str, str]]) -> "Results":
        """The runs that have all their lines."""
        blocks: dict[tuple[Setting, int], list[dict[str, str]]] = defaultdict(list)
        for line in lines:
            blocks[Setting(line["protocol"], line["case"]), int(line["run"])].append(line)
        results = cls()
        for (setting, run), block in blocks.items():
            if len(block) % int(block[0]["lines"]) == 0:  # a multiple if two calls stored it at the same time
                measured = (Measurement(float(r["x"]), r["rule"], r["measure"], float(r["value"])) for r in block)
                results.add(setting, run, measured)
        return results

    def add(self, setting: Setting, run: int, measurements: Iterable[Measurement]) -> None:
        """Add a run; values that are already there stay."""
        self._order.setdefault(setting)
        for x, rule, measure, value in measurements:
            self._values[*setting, rule, measure, x].setdefault(run, value)
        self.finished.add((setting, run))

    def arrange(self, settings: Iterable[Setting]) -> None:
        """Put these settings first, in this order, whatever the order in which their runs end."""
        self._order = dict.fromkeys([*settings, *self._order])

    def cases(self, protocol: str) -> list[str]:
        """The cases with finished runs in a protocol, in the order of settings."""
        run = {setting for setting, _ in self.finished}
        return [setting.case for setting in self._order if setting.protocol == protocol and setting in run]

    def axis(self, protocol: str, case: str) -> list[float]:
        """The positions on the axis, in ascending order."""
        return sorted({key[-1] for key in self._values if key[:2] == (protocol, case)})

    def values(self, protocol: str, case: str, rule: str, measure: str, x: float = 0.0) -> Doubles:
        """The values of all runs, in the order of runs; may be empty."""
        runs = self._values.get((protocol, case, rule, measure, x), {})
        return np.array([runs[run] for run in sorted(runs)])

    def summary(self, protocol: str, case: str, rule: str, measure: str, x: float = 0.0) -> Summary | None:
        """Mean and spread over runs, if there are any."""
        return Summary.of(self.values(protocol, case, rule, measure, x))

    def mean(self, protocol: str, case: str, rule: str, measure: str, x: float = 0.0) -> float:
        """Mean over runs, of which there must be at least one."""
        return float(self.values(protocol, case, rule, measure, x).mean())

    def curve(self, protocol: str, case: str, rule: str, measure: str) -> list[tuple[float, Summary]]:
        """The summaries along the axis."""
        points = [(x, self.summary(protocol, case, rule, measure, x)) for x in self.axis(protocol, case)]
        return [(x, summary) for x, summary in points if summary is not None]


class Store:
    """The file of one experiment."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.stamp = (str(seed), version("isotherm"))

    def load(self) -> Results:
        """All complete runs; everything else is removed from the file."""
        if not self.path.exists():
            return Results()
        whole, _, _ = self.path.read_text(encoding="utf-8").rpartition("\n")  # drops a line that was cut
        lines = [line for line in read_lines(whole) if (line["seed"], line["version"]) == self.stamp]
        results = Results.of(lines)
        kept = [r for r in lines if (Setting(r["protocol"], r["case"]), int(r["run"])) in results.finished]
        with writing(str(self.path), force=True) as file:
            file.write(_text([FIELDS, *([line[field] for field in FIELDS] for line in kept)]))
        return results

    def append(self, setting: Setting, run: int, measurements: Sequence[Measurement]) -> None:
        """Add a finished run with a single write."""
        header = [] if self.path.exists() else [FIELDS]
        common = (*self.stamp, str(len(measurements)))
        rows = [(*setting, str(run), repr(m.x), m.rule, m.measure, repr(m.value), *common) for m in measurements]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as file:
            file.write(_text([*header, *rows]))


def read_lines(text: str) -> list[dict[str, str]]:
    """The lines of a file of results, by field."""
    return list(csv.DictReader(text.splitlines()))


def _text(rows: Sequence[Sequence[str]]) -> bytes:
    """Lines of CSV; no cell contains a quote."""
    quoted = ([f'"{cell}"' if "," in cell else cell for cell in row] for row in rows)
    return "".join(",".join(row) + "\n" for row in quoted).encode()
