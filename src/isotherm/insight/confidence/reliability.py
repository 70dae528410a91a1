"""Reliability: whether labels with confidence p are right with frequency p."""

from dataclasses import dataclass

import numpy as np

from isotherm.arrays import Doubles, Ints, Mask

__all__ = ["BINS", "Reliability", "reliability"]

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
