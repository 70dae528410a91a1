"""Confidence, prediction sets and the default decision, on block models and on all graphs with one label for each node.

Seeds are 5% of the labelled nodes, drawn uniformly. The expected calibration error is that of the nodes that are no
seeds and are reached, in 15 bins of as many labels. Of a graph it is given twice: as the mean over draws, and over the
labels of all draws together. On a graph of a hundred nodes, a bin of a single draw has eight labels, and chance alone
is 0.13; so what chance alone would be stands beside it.
"""

import os
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import isotherm as iso
from benchmarks.results import Result
from isotherm.labelling.rules import DECISIONS, RULES
from isotherm.paper.block_model import stochastic_block_model
from isotherm.paper.graph_experiments import two_per_class
from isotherm.probability.trial import reliability
from isotherm.seeds.hiding import sample_uniform
from isotherm.study import datasets
from isotherm.study.scores import macro_f1

__all__ = ["Errors", "Labelled", "block_model", "calibration_errors", "coverage_of", "panel", "races", "rule_scores"]

SHARE = 0.05
DRAWS, COVERAGE_DRAWS = 10, 100
COVERAGE = 0.9
COVERED = (
    "airports_usa",
    "citeseer",
    "cora",
    "cora_ml_directed",
    "fb100_amherst41",
    "polblogs",
    "squirrel_filtered",
    "twitch_ptbr",
    "uai2010",
    "wiki_tadw",
)
PEER = "scikit-network"
Ints = NDArray[np.int64]


class Labelled(NamedTuple):
    """A graph and the classes of its nodes, -1 where unknown."""

    name: str
    graph: iso.Graph
    labels: Ints


def races(scale: float = 1.0, rounds: int = 1) -> Iterator[Result]:
    """All figures, from ``scale`` times as many draws, and on block models of ``scale`` times as many nodes."""
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    warnings.simplefilter("ignore", iso.RareClassWarning)
    warnings.simplefilter("ignore", iso.CalibrationWarning)
    for classes in (5, 20):
        yield from _race_errors([block_model(int(20_000 * scale), classes)], 3, 0.03, 0.03)
    if "ISOTHERM_DATA" not in os.environ:
        print("real graphs left out: set ISOTHERM_DATA to their folder")
        return
    graphs = list(panel())
    yield from _race_errors(graphs, max(1, round(DRAWS * scale)), 0.05, 0.12)
    yield _race_coverage([item for item in graphs if item.name in COVERED], max(1, round(COVERAGE_DRAWS * scale)))
    yield _race_rules([item for item in graphs if item.graph.n_nodes < 50_000], max(1, round(DRAWS * scale)))


def panel() -> Iterator[Labelled]:
    """The graphs of the data folder that have one label for each node, of two classes or more."""
    for name, place in sorted(datasets.available().items()):
        if place not in ("built in", "download"):
            data = datasets.load(name)
            if data.communities is None and data.n_classes > 1:
                yield Labelled(name, data.graph, data.labels)


def block_model(nodes: int, classes: int) -> Labelled:
    """A block model of mean degree 10, eight of which stay in the block."""
    sizes = [nodes // classes] * classes
    p_in, p_out = 8 / (nodes / classes), 2 / (nodes * (1 - 1 / classes))
    graph = stochastic_block_model(sizes, p_in, p_out, 0)
    return Labelled(f"block model, {classes} classes", graph, np.repeat(np.arange(classes), sizes))


def draws(item: Labelled, count: int) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """Known labels, and which nodes are to be found."""
    for draw in range(count):
        seeds = sample_uniform(item.labels, SHARE, np.random.default_rng([7, draw]))
        known = np.full(len(item.labels), -1)
        known[seeds] = item.labels[seeds]
        yield known, (item.labels >= 0) & (known < 0)


class Errors(NamedTuple):
    """Expected calibration errors on a graph.

    Attributes
    ----------
    single
        The mean over draws.
    together
        Over the labels of all draws.
    chance
        The mean over draws, if labels were right exactly as often as their confidence says.
    peer
        That of scikit-network, the mean over draws.
    """

    single: float
    together: float
    chance: float
    peer: float


def calibration_errors(item: Labelled, count: int) -> Errors:
    """The errors on a graph, by so many draws."""
    ours, theirs = [], []
    for known, others in draws(item, count):
        clf = iso.NodeClassifier().fit(item.graph, known)
        found = others & clf.reached_
        ours.append((clf.confidence_[found], (clf.labels_ == item.labels)[found]))
        confidence, labels = diffused(item.graph, known)
        found = others & (labels >= 0)
        theirs.append((confidence[found], (labels == item.labels)[found]))
    rng = np.random.default_rng(7)
    promised = [(confidence, rng.random(len(confidence)) < confidence) for confidence, _ in ours for _ in range(5)]
    single, chance, peer = (
        float(np.mean([reliability(*claims).error for claims in each])) for each in (ours, promised, theirs)
    )
    return Errors(single, reliability(*map(np.concatenate, zip(*ours, strict=True))).error, chance, peer)


def diffused(graph: iso.Graph, known: Ints) -> tuple[NDArray[np.float64], Ints]:
    """Confidence and labels of scikit-network; arcs are edges to it."""
    from sknetwork.classification import DiffusionClassifier

    matrix = csr_matrix(graph.adjacency)
    classifier = DiffusionClassifier().fit(csr_matrix(matrix + matrix.T) if graph.directed else matrix, known)
    return classifier.predict_proba().max(axis=1), classifier.labels_


def coverage_of(item: Labelled, count: int) -> tuple[float, float]:
    """Share of the nodes whose class is in their set, and the mean size of the sets, over all draws."""
    covered, sizes = [], []
    for known, others in draws(item, count):
        clf = iso.NodeClassifier().fit(item.graph, known)
        sets = clf.predict_set(COVERAGE)[others & clf.reached_]
        truth = item.labels[others & clf.reached_]
        place = np.minimum(np.searchsorted(clf.classes_, truth), len(clf.classes_) - 1)
        own = sets[np.arange(len(truth)), place] & (clf.classes_[place] == truth)
        covered.append(own.mean())
        sizes.append(sets.sum(axis=1).mean())
    return float(np.mean(covered)), float(np.mean(sizes))


def rule_scores(item: Labelled, count: int) -> dict[str, float]:
    """Macro-F1 of each rule and decision, from the seeds of the panel: 1%, two of each class at least."""
    ways: dict[str, Any] = {**RULES, **DECISIONS}
    scores: dict[str, list[float]] = {way: [] for way in ways}
    for draw in range(count):
        seeds = two_per_class(item.labels, np.random.default_rng([7, draw]))
        known = np.full(len(item.labels), -1)
        known[seeds] = item.labels[seeds]
        clf = iso.NodeClassifier().fit(item.graph, known)
        others = (item.labels >= 0) & (known < 0)
        for way, found in scores.items():
            codes = clf.fitted_.outcome_by(ways[way]).codes
            guess = np.where(codes >= 0, clf.classes_[codes], -1)
            found.append(macro_f1(item.labels[others], guess[others]))
    return {way: float(np.mean(found)) for way, found in scores.items()}


def _race_errors(graphs: list[Labelled], count: int, most_on_average: float, most: float) -> Iterator[Result]:
    rows = []
    for item in graphs:
        rows.append(calibration_errors(item, count))
        print(f"{item.name}, {count} draws: {_line(rows[-1])}", flush=True)
    what = graphs[0].name if len(graphs) == 1 else f"mean of {len(graphs)} graphs"
    mean = Errors(*(float(np.mean(column)) for column in zip(*rows, strict=True)))
    print(f"{what}: {_line(mean)}", flush=True)
    yield _within(f"calibration error, {what}", mean.peer, mean.single, PEER)
    yield _within(f"calibration error, {what}", most_on_average, mean.single)
    if len(graphs) > 1:
        yield _within("calibration error, worst graph, draws together", most, max(row.together for row in rows))
        yield _within("calibration error, worst graph, single draws", most, max(row.single for row in rows))


def _line(errors: Errors) -> str:
    return (
        f"error {errors.single:.4f}, of all draws together {errors.together:.4f}, by chance alone {errors.chance:.4f}, "
        f"{PEER} {errors.peer:.4f}"
    )


def _within(work: str, most: float, found: float, peer: str = "limit") -> Result:
    return Result(work, peer, [most], "calibrated", [found], 1, "")


def _race_coverage(graphs: list[Labelled], count: int) -> Result:
    far = []
    for item in graphs:
        covered, size = coverage_of(item, count)
        far.append(abs(covered - 0.905))
        print(f"{item.name}: coverage {covered:.3f}, {size:.2f} classes in a set, {count} draws", flush=True)
    work = f"coverage of 90% on {len(graphs)} graphs, farthest from 0.905"
    return Result(work, "limit", [0.025], "prediction sets", [max(far)], 1, "")


def _race_rules(graphs: list[Labelled], count: int) -> Result:
    rows = [rule_scores(item, count) for item in graphs]
    mean = {rule: float(np.mean([row[rule] for row in rows])) for rule in rows[0]}
    print("macro-F1:", ", ".join(f"{rule} {score:.4f}" for rule, score in mean.items()))
    best = max(RULES, key=mean.__getitem__)
    return Result(
        f"one less macro-F1, mean of {len(graphs)} graphs",
        *(best, [1 - mean[best]], "balanced", [1 - mean["balanced"]]),
        *(1, ""),
    )
