"""What every experiment is made of: settings, the runs that repeat each, and what a run measures."""

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
    """What is fixed while runs are repeated."""

    protocol: str
    case: str  # the graph, or what distinguishes this setting from others


class Measurement(NamedTuple):
    """One number that a run gives."""

    x: float  # place on the axis of a figure; 0 in tables
    rule: str  # empty for what does not depend on it
    measure: str
    value: float


class Draw(NamedTuple):
    """Where the randomness of a run comes from; each call gives a new generator in the same state."""

    common: np.random.SeedSequence  # for what all runs of a setting share
    single: np.random.SeedSequence  # for what is this run's own

    @classmethod
    def of(cls, seed: int, experiment: str, case: str, run: int) -> "Draw":
        """The same for both protocols, so that they can be compared draw by draw."""
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
    """A figure or table: one contract for all.

    Attributes
    ----------
    name, title : str
        What to call it by, and its heading in the report.
    settings : callable
        The settings of a protocol, given the folder of graphs.
    run : callable
        One run of a setting.
    protocols : tuple of str
        Those that it knows; other names than the two mean that it has ways of its own, which are always run.
    repeated : bool
        Whether runs differ; if not, there is one.
    times : int
        How many runs there are for each that is asked for.
    """

    name: str
    title: str
    settings: Callable[[str, Data], Sequence[Setting]]
    run: Callable[[Setting, Draw, Data], Iterable[Measurement]]
    protocols: tuple[str, ...] = PROTOCOLS
    repeated: bool = True
    times: int = 1
