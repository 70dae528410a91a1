"""Reliability: whether labels of confidence p are right in a share p of the cases."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BINS", "Reliability", "reliability"]

BINS = 15


@dataclass(frozen=True, eq=False)
class Reliability:
    """Labels in bins of rising confidence, as many in each bin.

    Attributes
    ----------
    confidence, accuracy : ndarray of shape (bins,)
        Mean confidence of the labels in each bin, and the share of them that is right.
    count : ndarray of shape (bins,)
        How many labels are in each bin.
    """

    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    count: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error: how far confidence and accuracy of a bin are apart, on average."""
        gaps = np.abs(self.confidence - self.accuracy)
        return float(np.average(gaps, weights=self.count)) if len(gaps) else 0.0


def reliability(confidence: NDArray[np.float64], right: NDArray[np.bool_], *, bins: int = BINS) -> Reliability:
    """Compare the confidence of labels with how often they are right.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        What the labels claim.
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
