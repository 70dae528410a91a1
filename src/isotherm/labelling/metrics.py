"""How well labels agree with the true ones: accuracy, macro-F1 and micro-F1.

The F1 of a class is 2 hits / (true members + predicted members). A node without a prediction (-1, or None for str
labels) counts as wrong: it is a true member of its class, and a predicted member of none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Ints
from isotherm.seeds.encoding import Labels, encode_labels

__all__ = ["accuracy", "class_totals", "f1_of_totals", "macro_f1", "micro_f1"]


def accuracy(truth: Labels, predicted: Labels) -> float:
    """The share of labels that are right."""
    return float(np.mean(truth == predicted))


def macro_f1(truth: Labels, predicted: Labels) -> float:
    """Mean F1 over the classes that occur in the truth or the predictions.

    >>> round(macro_f1(np.array([0, 0, 1, 2]), np.array([0, 1, 1, -1])), 3)  # 2/3, 2/3 and 0
    0.444
    """
    return f1_of_totals(*class_totals(truth, predicted))[0]


def micro_f1(truth: Labels, predicted: Labels) -> float:
    """F1 over all classes together."""
    return f1_of_totals(*class_totals(truth, predicted))[1]


def class_totals(truth: Labels, predicted: Labels) -> tuple[Ints, Ints]:
    """For each class: the hits, and the sum of true and predicted members, so that F1 = 2 hits / total."""
    codes, classes = encode_labels(np.concatenate([truth, predicted]))
    true, guess = np.split(codes, 2)
    hits = np.bincount(true[true == guess], minlength=len(classes))
    return hits, np.bincount(codes[codes >= 0], minlength=len(classes))


def f1_of_totals(hits: NDArray[Any], total: NDArray[Any]) -> tuple[float, float]:
    """Macro-F1 and micro-F1, from the `class_totals`."""
    occurs = total > 0
    return float(np.mean(2 * hits[occurs] / total[occurs])), float(2 * hits.sum() / total.sum())
