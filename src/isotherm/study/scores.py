"""The answer of a method to a draw, how good it is, and the scores of many draws.

`score` judges one answer by its accuracy and F1. The F1 of a class is 2 hits / (true members + predicted members). A
node without a prediction (-1, or None for str labels) counts as wrong: it is a true member of its class, and a
predicted member of none. A `Tally` collects the answers of one method or rule and sums them up as `Scores`, which
`evaluate` and `compare` both return.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.labelling.rules import f1_of_totals
from isotherm.probability.trial import Reliability, reliability
from isotherm.seeds.encoding import Labels, encode_labels
from isotherm.study.tasks import Draw


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


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says about the nodes."""

    labels: Ints  # (n,) class of each node, -1 where the method has none
    confidence: Doubles | None = None  # (n,) probability of that class
    sets: Mask | None = None  # (n, K) prediction sets with a coverage of 90 %
    beyond_links: bool = False  # labels of unreached nodes count: the method uses more than links, or has none there


@dataclass(frozen=True)
class Score:
    """How good an answer is on the hidden labels; a node without a label that counts is wrong."""

    accuracy: float
    macro_f1: float  # mean over classes that are hidden or predicted
    guessed: float  # accuracy if guesses at unreached nodes count
    unlabelled: float  # share of hidden labels without an answer that counts
    calibration_error: float = np.nan  # expected calibration error of the labels that count; NaN without probabilities
    coverage: float = np.nan  # how often the true class of a reached node is in its set; NaN without sets
    set_size: float = np.nan  # mean


@dataclass(frozen=True, eq=False)
class Scores:
    """How well a rule or a method found the hidden labels; arrays have shape (runs,)."""

    accuracy: Doubles
    macro_f1: Doubles
    calibration_error: Doubles
    micro_f1: Doubles  # F1 over all classes together
    confusion: csr_array  # (K, K + 1) nodes by true and predicted class, over all runs; last column: no label
    reliability: Reliability  # over all runs; empty without probabilities
    seconds: float = np.nan  # mean CPU seconds for a draw; NaN if not measured


class Tally:
    """The answers of one method, judged as they come."""

    def __init__(self) -> None:
        self.scores: list[Score] = []
        self._micro_f1: list[float] = []
        self._confusion: list[csr_array] = []
        self._claims: list[tuple[Doubles, Mask]] = []

    def add(self, draw: Draw, found: Answer) -> None:
        """Judge the answer to one more draw."""
        self.scores.append(score(draw, found))
        self._claims.append(claims(draw, found))
        task = draw.task
        true, guess = task.truth[draw.scored], _counted(draw, found)[draw.scored]
        self._micro_f1.append(2 * np.count_nonzero(true == guess) / (len(true) + np.count_nonzero(guess >= 0)))
        ends = true, np.where(guess < 0, task.n_classes, guess)
        counts = coo_array((np.ones(len(true), dtype=np.int64), ends), shape=(task.n_classes, task.n_classes + 1))
        self._confusion = [csr_array(sum(self._confusion, csr_array(counts)))]

    def result(self, seconds: float = np.nan) -> Scores:
        """The scores of all draws so far."""
        names = ("accuracy", "macro_f1", "calibration_error")
        accuracy, macro, error = (np.array([getattr(each, name) for each in self.scores]) for name in names)
        claimed = map(np.concatenate, zip(*self._claims, strict=True))
        micro = np.array(self._micro_f1)
        return Scores(accuracy, macro, error, micro, self._confusion[0], reliability(*claimed), seconds)


def answer(classes: Ints, probabilities: Floats, *, beyond_links: bool = False, proper: bool = True) -> Answer:
    """The class (k,) of the largest value in each row, none if all are 0, NaN or infinite; a confidence if proper."""
    values = np.where(np.isnan(probabilities), -np.inf, probabilities)
    best = values.argmax(axis=1)
    some = (np.isfinite(values) & (values != 0)).any(axis=1)
    labels = np.where(some, classes[best], -1)
    confidence = values[np.arange(len(values)), best] if proper else None
    return Answer(labels, confidence, beyond_links=beyond_links)


def score(draw: Draw, found: Answer) -> Score:
    """Judge an answer."""
    truth, labels = draw.task.truth[draw.scored], _counted(draw, found)[draw.scored]
    return Score(
        accuracy(truth, labels),
        macro_f1(truth, labels),
        accuracy(truth, found.labels[draw.scored]),
        float(np.mean(labels < 0)),
        calibration_error([claims(draw, found)]),
        *_coverage(draw, found.sets),
    )


def claims(draw: Draw, found: Answer) -> tuple[Doubles, Mask]:
    """The confidence of the labels that count, and which of them are right."""
    if found.confidence is None:
        return np.empty(0), np.empty(0, dtype=bool)
    places = np.flatnonzero(draw.scored & (_counted(draw, found) >= 0))
    return found.confidence[places], found.labels[places] == draw.task.truth[places]


def calibration_error(parts: list[tuple[Doubles, Mask]]) -> float:
    """Expected calibration error of claims of one or of several draws; NaN without any."""
    confidence, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return float(reliability(confidence, right).error) if len(confidence) else np.nan


def class_scores(confusion: csr_array) -> Doubles:
    """Precision, recall and F1 of each class, shape (K, 3); 0 where the denominator is 0.

    >>> class_scores(csr_array(np.array([[3, 1, 0], [0, 1, 1]]))).round(2)
    array([[1.  , 0.75, 0.86],
           [0.5 , 0.5 , 0.5 ]])
    """
    classes = confusion.shape[0]
    hits, true, guessed = confusion[:, :classes].diagonal(), confusion.sum(axis=1), confusion.sum(axis=0)[:classes]
    parts = (guessed, true, (true + guessed) / 2)
    return np.stack([np.divide(hits, part, out=np.zeros(len(hits)), where=part > 0) for part in parts], axis=1)


def _counted(draw: Draw, found: Answer) -> Ints:
    """(n,) the labels of an answer, -1 where they do not count."""
    return found.labels if found.beyond_links else np.where(draw.reached, found.labels, -1)


def _coverage(draw: Draw, sets: Mask | None) -> tuple[float, float]:
    places = np.flatnonzero(draw.scored & draw.reached) if sets is not None else ()
    if sets is None or not len(places):
        return np.nan, np.nan
    return float(sets[places, draw.task.truth[places]].mean()), float(sets[places].sum(axis=1).mean())
