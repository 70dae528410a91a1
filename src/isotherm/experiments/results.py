"""Results on disk: a CSV file for each experiment, to which every finished run is appended as one block.

A block is written in one go and says in each line how many lines it has, so that one cut short by a kill is noticed,
dropped, and run again. Lines of another seed or version of the package are dropped likewise.
"""

import csv
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.experiments.base import Measurement, Setting

__all__ = ["Results", "Store", "Summary", "read_lines"]

Line: TypeAlias = dict[str, str]  # by field

FIELDS = ("protocol", "case", "run", "x", "rule", "measure", "value", "seed", "version", "lines")


class Summary(NamedTuple):
    """Mean and standard deviation over runs, the latter with n in the denominator, as the paper's."""

    mean: float
    std: float
    runs: int


class Results:
    """The numbers of one experiment."""

    def __init__(self) -> None:
        self._values: dict[tuple[Setting, Measurement], dict[int, float]] = defaultdict(dict)
        self._order: dict[Setting, None] = {}
        self.finished: set[tuple[Setting, int]] = set()

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Results":
        """The runs of which all lines are there."""
        blocks: dict[tuple[Setting, int], list[Line]] = defaultdict(list)
        for line in lines:
            blocks[Setting(line["protocol"], line["case"]), int(line["run"])].append(line)
        results = cls()
        for (setting, run), block in blocks.items():
            if len(block) % int(block[0]["lines"]) == 0:  # twice as many if two calls ran at once
                measured = (Measurement(float(r["x"]), r["rule"], r["measure"], float(r["value"])) for r in block)
                results.add(setting, run, measured)
        return results

    def add(self, setting: Setting, run: int, measurements: Iterable[Measurement]) -> None:
        """Take in a run; what is already known of it stays."""
        self._order.setdefault(setting)
        for measurement in measurements:
            self._values[setting, measurement._replace(value=0.0)].setdefault(run, measurement.value)
        self.finished.add((setting, run))

    def arrange(self, settings: Iterable[Setting]) -> None:
        """Put these settings first, in this order, whichever ends first."""
        self._order = dict.fromkeys([*settings, *self._order])

    def cases(self, protocol: str) -> list[str]:
        """The cases that were run in a protocol, in the order of settings."""
        run = {setting for setting, _ in self.finished}
        return [setting.case for setting in self._order if setting.protocol == protocol and setting in run]

    def axis(self, protocol: str, case: str) -> list[float]:
        """The places on the axis, ascending."""
        return sorted({place.x for setting, place in self._values if setting == (protocol, case)})

    def values(self, protocol: str, case: str, rule: str, measure: str, x: float = 0.0) -> NDArray[np.float64]:
        """One number of each run, in the order of runs; empty if there is none."""
        runs = self._values.get((Setting(protocol, case), Measurement(x, rule, measure, 0.0)), {})
        return np.array([runs[run] for run in sorted(runs)])

    def summary(self, protocol: str, case: str, rule: str, measure: str, x: float = 0.0) -> Summary | None:
        """Mean and spread over runs, if there are any."""
        values = self.values(protocol, case, rule, measure, x)
        return Summary(float(values.mean()), float(values.std()), len(values)) if len(values) else None


class Store:
    """The file of one experiment."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.stamp = (str(seed), version("isotherm"))

    def load(self) -> Results:
        """All runs that are complete; the file keeps only these."""
        if not self.path.exists():
            return Results()
        whole, _, _ = self.path.read_text(encoding="utf-8").rpartition("\n")  # without a line that was cut
        lines = [line for line in read_lines(whole) if (line["seed"], line["version"]) == self.stamp]
        results = Results.of(lines)
        self._rewrite([r for r in lines if (Setting(r["protocol"], r["case"]), int(r["run"])) in results.finished])
        return results

    def append(self, setting: Setting, run: int, measurements: Sequence[Measurement]) -> None:
        """Add a finished run, whole or not at all."""
        new = not self.path.exists()
        common = (*self.stamp, str(len(measurements)))
        rows = [(*setting, str(run), repr(m.x), m.rule, m.measure, repr(m.value), *common) for m in measurements]
        block = _text([FIELDS, *rows] if new else rows)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, block)
        finally:
            os.close(descriptor)

    def _rewrite(self, lines: list[Line]) -> None:
        part = self.path.with_name(self.path.name + ".part")
        part.write_bytes(_text([FIELDS, *([line[field] for field in FIELDS] for line in lines)]))
        part.replace(self.path)


def read_lines(text: str) -> list[Line]:
    """The lines of a file of results."""
    return list(csv.DictReader(text.splitlines()))


def _text(rows: Sequence[Sequence[str]]) -> bytes:
    """Lines of CSV; nothing that is written here holds a quote."""
    quoted = ([f'"{cell}"' if "," in cell else cell for cell in row] for row in rows)
    return "".join(",".join(row) + "\n" for row in quoted).encode()
