"""Flipped seeds found again by ``doubtful_seeds``, against the label quality scores of cleanlab.

Seeds are drawn uniformly, and a part of them gets another class at random. Both rank the seeds by the same
probabilities, which the seeds have while they are hidden; the figure is one minus the average precision, the mean over
graphs, with and without features where there are some. The ranking was chosen on the development half.
"""

import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

import isotherm as iso
from benchmarks.accuracy.graphs import Item, at_hand, load_item
from benchmarks.accuracy.halves import HALVES
from benchmarks.results import Result
from isotherm.insight.doubt import whole_trial

__all__ = ["flipped_seeds", "races", "shortfalls"]

RATES = (0.05, 0.1)  # of flipped seeds
SHARES = (0.05, 0.2)  # of the labelled nodes that are seeds
FEWEST = 20  # seeds
DRAWS = 2
MOST_ENTRIES = 400_000  # of a graph
OURS = "doubtful_seeds"


def races(scale: float = 1.0, rounds: int = 1) -> Iterator[Result]:
    """All figures, on graphs of at most ``scale`` times as many entries."""
    warnings.simplefilter("ignore")  # few seeds, and many classes
    found: dict[tuple[str, float, str], list[float]] = defaultdict(list)
    for name in at_hand():
        item = load_item(name)
        if item.task.graph.csr.entries > scale * MOST_ENTRIES:
            continue
        for rate in RATES:
            figures = [shortfalls(item, share, rate, draw) for share in SHARES for draw in range(DRAWS)]
            means = {each: float(np.mean([figure[each] for figure in figures])) for each in figures[0]}
            print(f"{name}, {rate:.0%} flipped: {means}", flush=True)
            for each, mean in means.items():
                found[HALVES[name], rate, each].append(mean)
    for half, rate, each in found:
        if each != OURS:
            theirs, ours = (float(np.mean(found[half, rate, key])) for key in (each, OURS))
            work = f"missed average precision, {rate:.0%} of the seeds flipped, {half} half"
            yield Result(work, f"cleanlab, {each}", [theirs], OURS, [ours], 1.0, unit="of 1")


def shortfalls(item: Item, share: float, rate: float, draw: int) -> dict[str, float]:
    """One minus the average precision of each ranking."""
    task, known, flipped = item.task, *flipped_seeds(item, share, rate, draw)
    found: dict[str, list[float]] = defaultdict(list)
    for features in [None] if task.features is None else [None, task.features]:
        clf = iso.NodeClassifier().fit(task.graph, known, features=features)
        for each, doubt in _rankings(clf).items():
            nodes, values = doubt
            found[each].append(1 - float(average_precision_score(np.isin(nodes, flipped), values)))
    return {each: float(np.mean(values)) for each, values in found.items()}


def flipped_seeds(item: Item, share: float, rate: float, draw: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """(n,) the given labels, -1 where there are none, and the nodes whose labels are wrong."""
    truth, classes = item.task.truth, item.task.n_classes
    rng = np.random.default_rng([zlib.crc32(f"{item.name} {share} {rate}".encode()), draw])
    labelled = np.flatnonzero(truth >= 0)
    seeds = rng.permutation(labelled)[: max(FEWEST, round(share * len(labelled)))]
    flipped = seeds[: max(1, round(rate * len(seeds)))]
    known = np.full(len(truth), -1)
    known[seeds] = truth[seeds]
    known[flipped] = (truth[flipped] + rng.integers(1, classes, len(flipped))) % classes
    return known, flipped


def _rankings(clf: iso.NodeClassifier) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Seeds and their doubts, by each ranking."""
    from cleanlab.rank import get_normalized_margin_for_each_label, get_self_confidence_for_each_label

    table, trial = clf.doubtful_seeds(len(clf.seeds_.nodes)), whole_trial(clf.fitted_, lambda _: clf.fitted_.evidence)
    judged = trial.known
    labels, chances = trial.codes[judged], trial.probabilities[judged]
    peers = {
        "self-confidence": get_self_confidence_for_each_label,
        "normalized margin": get_normalized_margin_for_each_label,
    }
    theirs = {name: (trial.nodes[judged], -np.asarray(score(labels, chances))) for name, score in peers.items()}
    return {OURS: (clf.graph_.index(table.seed), table.doubt), **theirs}
