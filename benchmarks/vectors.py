"""Tables of vectors: how many labels are wrong, beside peers on the same rows and neighbours, and what they cost.

Each outcome is kept in ``out/vectors.jsonl`` when it is there, so a run that was ended goes on where it stopped. The
images (MNIST and Fashion-MNIST, 70,000 rows of raw pixels) are read from ``ISOTHERM_DATA``; without them only the
tables of scikit-learn take part. Their neighbours are kept in ``out`` too. ``ISOTHERM_DRAWS`` is the number of draws
(20); on images, methods that take long have fewer, see `DRAWS_OF_IMAGES`.
"""

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import load_npz, save_npz
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

import isotherm as iso
from benchmarks.accuracy.vectors import cross_validated, unit_variance
from benchmarks.process import Measure, measure, peak_memory
from benchmarks.results import Result
from isotherm.probability.evidence import Evidence

__all__ = ["races"]

KEPT = Path("out/vectors.jsonl")
IMAGES = {"mnist": (1, 2, 3, 4, 5, 10), "fashion_mnist": (1, 2, 3, 4, 5, 10)}
SMALL = {"digits": load_digits, "breast cancer": load_breast_cancer, "wine": load_wine}
SMALL_RATES = (5, 20)
GROUPS = 15  # by confidence
OURS = "VectorClassifier"
CALIBRATION = "calibration error"
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """A table, and its rows joined to their neighbours once for all methods."""

    name: str
    rows: NDArray[Any]
    labels: Labels

    @cached_property
    def graph(self) -> iso.Graph:
        kept = KEPT.with_name(f"neighbours-{self.name}.npz")
        if self.name not in IMAGES:
            return iso.Graph.from_vectors(self.rows)
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            save_npz(kept, iso.Graph.from_vectors(self.rows).adjacency, compressed=False)
        return iso.Graph.from_scipy(load_npz(kept))

    @cached_property
    def evidence(self) -> Evidence:
        return Evidence.of_table(self.rows)

    @cached_property
    def adjacency(self) -> Any:
        return self.graph.adjacency

    def shown(self, per_class: int, draw: int) -> Labels:
        """A few labels of each class; -1 for the others."""
        rng = np.random.default_rng([per_class, draw])
        classes = np.unique(self.labels)
        known = np.concatenate(
            [rng.choice(np.flatnonzero(self.labels == c), per_class, replace=False) for c in classes]
        )
        shown = np.full_like(self.labels, -1)
        shown[known] = self.labels[known]
        return shown


def tasks() -> Iterator[Task]:
    for name, load in SMALL.items():
        X, y = load(return_X_y=True)
        yield Task(name, StandardScaler().fit_transform(X) if name != "digits" else X, y.astype(np.int64))
    for name in IMAGES:
        path = Path(os.environ.get("ISOTHERM_DATA", "")) / "vectors" / f"{name}.npz"
        if path.exists():
            with np.load(path) as file:
                yield Task(name, file["vectors"].astype(np.float32), file["labels"].astype(np.int64))


def _ours(task: Task, shown: Labels) -> Any:
    """As VectorClassifier does, on a graph that is made once."""
    return iso.NodeClassifier().fit(task.graph, shown, evidence=task.evidence)


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """How far confidence is from the share of right labels, in groups by confidence."""
    group = np.minimum((confidence * GROUPS).astype(int), GROUPS - 1)
    gaps = np.bincount(group, confidence, GROUPS) - np.bincount(group, right, GROUPS)
    return float(np.abs(gaps).sum() / len(right))


def _graph_learning(kind: str, task: Task, shown: Labels) -> Labels:
    import graphlearning as gl  # would count as memory of the fits that are measured

    known = np.flatnonzero(shown >= 0)
    shares = np.bincount(task.labels) / len(task.labels)
    more = {"class_priors": shares} if kind == "poisson_mbo" else {}  # which has to be told the sizes of all classes
    return np.asarray(getattr(gl.ssl, kind)(task.adjacency, **more).fit_predict(known, shown[known]))


def _spreading(task: Task, shown: Labels) -> Labels:
    return np.asarray(LabelSpreading(kernel=lambda X, Y=None: task.adjacency).fit(task.rows, shown).transduction_)


def _propagation(task: Task, shown: Labels) -> Labels:
    model = LabelPropagation(kernel=lambda X, Y=None: task.adjacency, max_iter=1000)
    return np.asarray(model.fit(task.rows, shown).transduction_)


def _supervised(model: Callable[[], Any], task: Task, shown: Labels) -> Labels:
    known = shown >= 0
    return np.asarray(model().fit(task.rows[known], shown[known]).predict(task.rows))


def _logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _cross_validated(task: Task, shown: Labels) -> Labels:
    known = np.flatnonzero(shown >= 0)
    return np.asarray(cross_validated(task.rows, known, shown[known]).predict(unit_variance(task.rows)))


def _self_training(task: Task, shown: Labels) -> Labels:
    model = SelfTrainingClassifier(make_pipeline(StandardScaler(), LogisticRegression(max_iter=50)), max_iter=5)
    return np.asarray(model.fit(task.rows, shown).predict(task.rows))


METHODS: dict[str, Callable[[Task, Labels], Labels]] = {
    "GraphLearning poisson": partial(_graph_learning, "poisson"),
    "GraphLearning poisson_mbo, told the sizes of the classes": partial(_graph_learning, "poisson_mbo"),
    "GraphLearning laplace": partial(_graph_learning, "laplace"),
    "LabelSpreading": _spreading,
    "LabelPropagation": _propagation,
    "LogisticRegression": partial(_supervised, _logistic),
    "LogisticRegression, scaling and penalty cross-validated": _cross_validated,
    "SelfTraining(LogisticRegression)": _self_training,
    "nearest labelled row": partial(_supervised, partial(KNeighborsClassifier, 1)),
}
DRAWS_OF_IMAGES = {
    "GraphLearning poisson_mbo, told the sizes of the classes": 1,
    "SelfTraining(LogisticRegression)": 1,
    "GraphLearning laplace": 5,
    "LabelSpreading": 5,
    "LabelPropagation": 2,
    "LogisticRegression": 5,
    "LogisticRegression, scaling and penalty cross-validated": 5,
    "nearest labelled row": 5,
}


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Result]:
    """Wrong labels beside each peer, the fewer the better; then seconds and memory at 100,000 rows."""
    warnings.simplefilter("ignore")
    draws = int(os.environ.get("ISOTHERM_DRAWS", "20"))
    kept = _kept()
    for task in tasks():
        rates = IMAGES.get(task.name, SMALL_RATES)
        for per_class in rates:
            wrong = {
                method: [
                    _wrong(task, method, per_class, draw, kept)
                    for draw in range(min(draws, DRAWS_OF_IMAGES.get(method, draws) if task.name in IMAGES else draws))
                ]
                for method in (OURS, *METHODS)
            }
            yield from _results(task.name, per_class, wrong)
            errors = [kept[task.name, CALIBRATION, per_class, draw] for draw in range(draws)]
            work = f"{task.name}, {per_class} labels for each class: calibration error"
            yield Result(work, "5 %", [5.0] * draws, OURS, errors, 1.0, "%")
    yield from _costs(scale, rounds)


def _results(name: str, per_class: int, wrong: dict[str, list[float]]) -> Iterator[Result]:
    ours = wrong.pop(OURS)
    for method, theirs in wrong.items():
        work = f"{name}, {per_class} labels for each class: wrong labels"
        goal = 1.0
        yield Result(work, method, theirs, OURS, ours[: len(theirs)], goal, "%")


def _kept() -> dict[tuple[Any, ...], float]:
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    return {tuple(key): value for key, value in map(json.loads, lines)}


def _wrong(task: Task, method: str, per_class: int, draw: int, kept: dict[tuple[Any, ...], float]) -> float:
    """The share of hidden labels that a method gets wrong, in percent; kept for the next run."""
    key = (task.name, method, per_class, draw)
    if key not in kept:
        shown = task.shown(per_class, draw)
        hidden = shown < 0
        if method == OURS:
            model = _ours(task, shown)
            right = model.labels_[hidden] == task.labels[hidden]
            error = calibration_error(model.confidence_[hidden], right)
            _keep((task.name, CALIBRATION, per_class, draw), 100 * error, kept)
        else:
            right = METHODS[method](task, shown)[hidden] == task.labels[hidden]
        _keep(key, 100 * float(np.mean(~right)), kept)
    return kept[key]


def _keep(key: tuple[Any, ...], value: float, kept: dict[tuple[Any, ...], float]) -> None:
    kept[key] = value
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps([key, value]) + "\n")


def _costs(scale: float, rounds: int) -> Iterator[Result]:
    """CPU seconds and memory of a process that fits a table of 100,000 rows, and seconds at 5,000."""
    for n, goal in ((int(100_000 * scale), 6.0), (int(5_000 * scale), 1.0)):
        measures = {who: [measure("benchmarks.vectors", who, n) for _ in range(rounds)] for who in ("theirs", "ours")}
        theirs, ours = ([each.seconds for each in measures[who]] for who in ("theirs", "ours"))
        yield Result(f"{n} rows of 64 columns: CPU seconds", "LabelSpreading(knn)", theirs, OURS, ours, goal)
        if goal > 1:
            peaks = [each.peak for each in measures["ours"]]
            yield Result(f"{n} rows of 64 columns: memory", "450 MB", [0.45] * rounds, OURS, peaks, 1.0, "GB")


def made_table(n: int) -> tuple[NDArray[np.float32], Labels]:
    """Ten classes on curved surfaces of eight dimensions in 64 columns; 100 labels are known."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n)
    bends, shifts = rng.standard_normal((10, 8, 64)), rng.standard_normal((10, 64))
    X = np.empty((n, 64), np.float32)
    for c in range(10):
        latent = rng.standard_normal(((y == c).sum(), 8))
        X[y == c] = np.sin(latent @ bends[c] / 2) + shifts[c] / 2
    shown = np.full(n, -1)
    for c in range(10):
        shown[np.flatnonzero(y == c)[:10]] = c
    return X, shown


def _one_turn(who: str, n: int) -> None:
    X, shown = made_table(n)
    model: Any = iso.VectorClassifier() if who == "ours" else LabelSpreading(kernel="knn", n_neighbors=10)
    began = time.process_time()
    model.fit(X, shown)
    seconds = time.process_time() - began
    print(json.dumps(Measure(seconds, peak_memory())._asdict()), flush=True)


if __name__ == "__main__":
    import sys

    _one_turn(sys.argv[1], int(sys.argv[2]))
