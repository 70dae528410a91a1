"""The answer of a method, and how good it is."""

from dataclasses import dataclass

import numpy as np

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.labelling.metrics import accuracy, macro_f1
from isotherm.probability.trial import reliability
from isotherm.study.comparison.tasks import Draw, Task

__all__ = ["Answer", "Score", "answer", "calibration_error", "claims", "score"]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says about the nodes.

    Attributes
    ----------
    labels
        (n,) class of each node, -1 where the method has none.
    confidence
        (n,) the probability of that class, if the method has probabilities.
    sets
        (n, K) the classes that a node may have with a probability of 90%, if the method has such sets.
    beyond_links
        Whether the method knows more than the links, so that it can label nodes that no seed reaches.
    """

    labels: Ints
    confidence: Doubles | None = None
    sets: Mask | None = None
    beyond_links: bool = False


@dataclass(frozen=True)
class Score:
    """How good an answer is, on the labels that were hidden.

    Attributes
    ----------
    accuracy, macro_f1
        Nodes without a label count as wrong, and so do nodes that no seed reaches, unless the method knows more than
        the links.
    guessed
        The accuracy if guesses at unreached nodes count.
    unlabelled
        The share of hidden labels for which there was no answer that counts.
    calibration_error
        Expected calibration error of the labels that count; NaN without probabilities.
    coverage, set_size
        How often the true class of a reached node is in its set, and the mean size of sets; NaN without sets.
    """

    accuracy: float
    macro_f1: float
    guessed: float
    unlabelled: float
    calibration_error: float = np.nan
    coverage: float = np.nan
    set_size: float = np.nan


def answer(classes: Ints, probabilities: Floats, *, beyond_links: bool = False, proper: bool = True) -> Answer:
    """The class with the largest value at each node; rows without a number other than 0 have none.

    ``classes`` (k,) are those of the columns. Unless the values are ``proper`` probabilities, they give no confidence.
    """
    values = np.where(np.isnan(probabilities), -np.inf, probabilities)
    best = values.argmax(axis=1)
    some = (np.isfinite(values) & (values != 0)).any(axis=1)
    labels = np.where(some, classes[best], -1)
    confidence = values[np.arange(len(values)), best] if proper else None
    return Answer(labels, confidence, beyond_links=beyond_links)


def score(task: Task, draw: Draw, found: Answer) -> Score:
    """Judge an answer."""
    truth, given = task.truth[draw.scored], found.labels[draw.scored]
    counted = counting(draw, found)[draw.scored]
    labels = np.where(counted, given, -1)
    coverage, size = _coverage(task, draw, found.sets)
    return Score(
        accuracy(truth, labels),
        macro_f1(truth, labels),
        accuracy(truth, given),
        float(np.mean(labels < 0)),
        calibration_error([claims(task, draw, found)]),
        coverage,
        size,
    )


def counting(draw: Draw, found: Answer) -> Mask:
    """(n,) the labels of an answer that count."""
    return (found.labels >= 0) & (draw.reached | found.beyond_links)


def claims(task: Task, draw: Draw, found: Answer) -> tuple[Doubles, Mask]:
    """The confidence of the labels that count, and which of them are right."""
    places = np.flatnonzero(draw.scored & counting(draw, found))
    if found.confidence is None:
        return np.empty(0), np.empty(0, dtype=bool)
    return found.confidence[places], found.labels[places] == task.truth[places]


def calibration_error(parts: list[tuple[Doubles, Mask]]) -> float:
    """Expected calibration error of claims of one or of several draws; NaN without any."""
    confidence, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return float(reliability(confidence, right).error) if len(confidence) else np.nan


def _coverage(task: Task, draw: Draw, sets: Mask | None) -> tuple[float, float]:
    places = np.flatnonzero(draw.scored & draw.reached)
    if sets is None or not len(places):
        return np.nan, np.nan
    return float(sets[places, task.truth[places]].mean()), float(sets[places].sum(axis=1).mean())
