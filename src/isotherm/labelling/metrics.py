"""How well labels agree with the true ones: accuracy, macro-F1 and micro-F1.

The F1 of a class is 2 hits / (true members + predicted members). A node without a prediction (-1, or None for str
labels) counts as wrong: it is a true member of its class, and a predicted member of none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Ints
from isotherm.seeds.encoding import Labels, encode_labels


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


def expected_scores(probabilities: Doubles, predicted: Ints) -> tuple[float, float]:
    """The accuracy and the macro-F1 to expect of class numbers (n,), if the probabilities (n, K) are right.

    >>> accuracy, f1 = expected_scores(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 1]))
    >>> round(accuracy, 2), round(f1, 3)  # 2 * 0.9 / (1 + 1.3) and 2 * 0.6 / (1 + 0.7)
    (0.75, 0.744)
    """
    own, classes = probabilities[np.arange(len(predicted)), predicted], probabilities.shape[1]
    hits, guessed = np.bincount(predicted, own, classes), np.bincount(predicted, minlength=classes)
    return float(own.mean()), f1_of_totals(hits, guessed + probabilities.sum(axis=0))[0]


def f1_of_totals(hits: NDArray[Any], total: NDArray[Any]) -> tuple[float, float]:
    """Macro-F1 and micro-F1, from the `class_totals`."""
    occurs = total > 0
    return float(np.mean(2 * hits[occurs] / total[occurs])), float(2 * hits.sum() / total.sum())
