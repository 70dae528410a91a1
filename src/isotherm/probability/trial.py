"""A trial of probabilities: what they were for hidden seeds, and how often such labels were right."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Ints, Mask

BINS = 15


@dataclass(frozen=True, eq=False)
class Reliability:
    """A reliability diagram: labels sorted by confidence, in bins of equal size.

    Attributes
    ----------
    confidence, accuracy : ndarray of shape (bins,)
        Mean confidence of the labels in each bin, and the share of them that are right.
    count : ndarray of shape (bins,)
        Number of labels in each bin.
    """

    confidence: Doubles
    accuracy: Doubles
    count: Ints

    @property
    def error(self) -> float:
        """The expected calibration error: mean absolute difference between confidence and accuracy of a bin."""
        gaps = np.abs(self.confidence - self.accuracy)
        return float(np.average(gaps, weights=self.count)) if len(gaps) else 0.0


def reliability(confidence: Doubles, right: Mask, *, bins: int = BINS) -> Reliability:
    """Compare the confidence of labels with how often they are right.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Confidence of each label.
    right : ndarray of bool, shape (n,)
        Which labels are right.
    bins : int
        Number of bins; their sizes differ by one at most.

    Examples
    --------
    >>> found = reliability(np.array([0.9, 0.5, 0.7, 0.9]), np.array([True, False, True, True]), bins=2)
    >>> found.confidence, found.accuracy
    (array([0.6, 0.9]), array([0.5, 1. ]))
    >>> round(found.error, 3)
    0.1
    """
    parts = [part for part in np.array_split(np.argsort(confidence, kind="stable"), bins) if len(part)]
    return Reliability(
        np.array([confidence[part].mean() for part in parts]),
        np.array([right[part].mean() for part in parts]),
        np.array([len(part) for part in parts], dtype=np.int64),
    )


class Judgement(NamedTuple):
    """How good the probabilities are, for the labels that a rule chose."""

    error: float  # expected calibration error of the labels; NaN if no seed was hidden
    misfits: Doubles  # one minus the score of each seed's own class, ascending; 1 for a seed that is never hidden


class Trial(NamedTuple):
    """Hidden seeds and their probabilities."""

    nodes: Ints  # (h,) positions of the seeds in the graph
    codes: Ints  # (h,) their class numbers
    fold: Ints  # (h,) the number of the fold in which each was hidden
    known: Mask  # (h,) whether anything was known about the seed while it was hidden
    probabilities: Doubles  # (h, K) cross-validated; where nothing is known, the shares of the classes
    n_lone: int  # number of seeds that are never hidden, because each is the only one of its class
    labels: Ints | None = None  # (h,) by a rule on temperatures while hidden, if one decides; -1 where unreached

    @classmethod
    def empty(cls, n_classes: int, n_lone: int = 0) -> "Trial":
        """A trial without hidden seeds."""
        none = np.empty(0, dtype=np.int64)
        return cls(none, none, none, none > 0, np.empty((0, n_classes)), n_lone)

    @property
    def n_known(self) -> int:
        """Number of hidden seeds about which something is known."""
        return int(np.count_nonzero(self.known))

    def judged(self, labels: Ints, scores: Doubles | None = None) -> Judgement:
        """Judge the labels (h,) of a rule; ``scores`` (h, K) are its scores, by default the probabilities."""
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
