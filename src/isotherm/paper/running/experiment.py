"""The contract of an experiment: its settings, the runs that repeat each setting, and what a run measures."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zlib import crc32

import numpy as np

__all__ = ["AUTHORS", "CORRECTED", "PROTOCOLS", "Data", "Draw", "Experiment", "Measurement", "Setting"]

AUTHORS, CORRECTED = "authors", "corrected"
PROTOCOLS = (AUTHORS, CORRECTED)
Data: TypeAlias = Path | None


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
    """A figure, a table or a study.

    Attributes
    ----------
    name, title : str
        Its name on the command line, and its heading in the report.
    settings : callable
        The settings of a protocol, given the folder of graphs.
    run : callable
        One run of a setting.
    protocols : tuple of str
        The protocols it has. Names other than `AUTHORS` and `CORRECTED` are its own, and are always run.
    repeated : bool
        False if all runs would be the same; then there is one run.
    times : int
        Multiplies the number of runs that the user asks for.
    """

    name: str
    title: str
    settings: Callable[[str, Data], Sequence[Setting]]
    run: Callable[[Setting, Draw, Data], Iterable[Measurement]]
    protocols: tuple[str, ...] = PROTOCOLS
    repeated: bool = True
    times: int = 1
