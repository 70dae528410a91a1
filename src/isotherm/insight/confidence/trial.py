"""A trial of probabilities: what they were for seeds that were hidden, by cross-validation over the folds."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Ints, Mask
from isotherm.insight.confidence.reliability import reliability

__all__ = ["Judgement", "Trial"]


class Judgement(NamedTuple):
    """How good probabilities are, for the labels of a rule.

    Attributes
    ----------
    error
        Expected calibration error of the labels; NaN if no seed was hidden.
    misfits
        In ascending order: one minus the score of each seed's own class; 1 for a seed that is never hidden.
    """

    error: float
    misfits: Doubles


class Trial(NamedTuple):
    """Hidden seeds and their probabilities.

    Attributes
    ----------
    nodes
        (h,) positions of the seeds in the graph.
    codes
        (h,) their class numbers.
    fold
        (h,) the number of the fold in which each was hidden.
    known
        (h,) whether anything is known about a seed while it is hidden: whether it was reached, or other evidence.
    probabilities
        (h, K) cross-validated; where nothing is known, the shares of the classes.
    n_lone
        Number of seeds that are never hidden, because each is the only one of its class.
    """

    nodes: Ints
    codes: Ints
    fold: Ints
    known: Mask
    probabilities: Doubles
    n_lone: int

    @property
    def n_known(self) -> int:
        """Number of hidden seeds about which something is known."""
        return int(np.count_nonzero(self.known))

    def judged(self, labels: Ints, scores: Doubles | None = None) -> Judgement:
        """Compare with labels (h,) of a rule, and with its scores (h, K) if they are not the probabilities."""
        lone = np.ones(self.n_lone)  # if such a seed were hidden, its class would be unknown
        if not self.n_known:
            return Judgement(np.nan, lone)
        codes, labels, rows = self.codes[self.known], labels[self.known], np.arange(self.n_known)
        error = reliability(self.probabilities[self.known][rows, labels], codes == labels).error
        own = (self.probabilities if scores is None else scores)[self.known][rows, codes]
        return Judgement(error, np.sort(np.append(1 - own, lone)))

    def each_fold(self) -> Iterator[Mask]:
        """The hidden seeds of each fold, as masks."""
        for number in range(int(self.fold.max(initial=-1)) + 1):
            yield self.fold == number
