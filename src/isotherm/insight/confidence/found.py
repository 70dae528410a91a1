"""What was learnt from held-out seeds, to be kept and saved; and what other evidence has to tell."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles
from isotherm.insight.confidence.calibration import Calibrated, Calibration
from isotherm.insight.confidence.held_out import HeldOut
from isotherm.insight.confidence.label_odds import LabelOdds
from isotherm.insight.confidence.rule_choice import RuleScore
from isotherm.insight.confidence.trial import Trial
from isotherm.seeds import Seeds

__all__ = ["Agree", "Agreement", "Experts", "Found"]


@dataclass(frozen=True, eq=False)
class Experts:
    """What each expert said, and how much it counted.

    Attributes
    ----------
    names : tuple of str
        The experts; the first is the heat.
    weights : ndarray of shape (E,)
        The multiple of the log-odds of each.
    odds : ndarray of shape (E, n, K)
        Their log-odds against the shares of the classes.
    """

    names: tuple[str, ...]
    weights: Doubles
    odds: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Found:
    """What was learnt from held-out seeds so far; None where not computed yet.

    ``learnt_from`` are the seeds before an update, if what they told was kept since.
    """

    rule_report: dict[str, RuleScore] | None = None
    best_rule: str | None = None
    calibration: Calibration | None = None
    label_odds: LabelOdds | None = None
    experts: Experts | None = None
    learnt_from: Seeds | None = None


class Agreement(Protocol):
    """What the heat and other evidence say together."""

    @property
    def trial(self) -> Trial:
        """The trial of their probabilities."""
        ...

    @property
    def probabilities(self) -> Doubles:
        """(n, K) their probabilities."""
        ...

    @property
    def experts(self) -> Experts:
        """What each said."""
        ...

    def without_odds(self) -> "Agreement":
        """How they were weighed, without what they said about all nodes."""
        ...


# Combines the heat with other evidence; if seeds have hardly changed, with the weights of an earlier agreement.
Agree: TypeAlias = Callable[[Doubles, Calibrated, HeldOut, Seeds, Agreement | None], Agreement]
