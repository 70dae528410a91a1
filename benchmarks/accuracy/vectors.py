"""Tables of vectors: Isotherm on the nearest neighbours of rows, and logistic regression at its best."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import isotherm as iso
from isotherm.graphs import Graph
from isotherm.probability.evidence import Evidence
from isotherm.seeds.encoding import encode_labels
from isotherm.study.methods import Method
from isotherm.study.scores import Answer, answer
from isotherm.study.tasks import Draw, Task

__all__ = ["TABLES", "TABLE_METHODS", "cross_validated", "load_table", "tables_at_hand", "unit_variance"]

SMALL = {"digits": load_digits, "breast cancer": load_breast_cancer, "wine": load_wine}
STORED = ("package_words64", "mnist", "fashion_mnist")
TABLES = [f"table/{name}" for name in (*SMALL, *STORED)]
ROWS = 10_000  # of a stored table, drawn at random
FOLDS = 5
PENALTIES = 10.0 ** np.arange(-2, 4)  # inverse, for rows whose values have variance 1


def tables_at_hand() -> list[str]:
    """Those of scikit-learn, and those in the folder of data."""
    return [name for name in TABLES if _short(name) in SMALL or _path(name).exists()]


def load_table(name: str) -> Task:
    """A table as a task: its rows are the features, and joined to their nearest neighbours."""
    short = _short(name)
    if short in SMALL:
        rows, labels = SMALL[short](return_X_y=True)
        rows = rows if short == "digits" else StandardScaler().fit_transform(rows)
    else:
        with np.load(_path(name), allow_pickle=False) as file:
            rows, labels = file["vectors"], file["labels"]
        chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:ROWS])
        rows, labels = rows[chosen].astype(np.float32), labels[chosen]
    return Task(Graph.from_vectors(rows), encode_labels(labels)[0], rows)


def _short(name: str) -> str:
    return name.removeprefix("table/")


def _path(name: str) -> Path:
    return Path(os.environ.get("ISOTHERM_DATA", "nowhere")) / "vectors" / f"{_short(name)}.npz"


def by_neighbours(task: Task, draw: Draw) -> Answer:
    """As VectorClassifier does, on neighbours that are found once."""
    evidence = task.shared("evidence", lambda: Evidence.of_table(task.features))
    with warnings.catch_warnings():
        for expected in (iso.CalibrationWarning, iso.RareClassWarning, iso.UnreachedWarning):
            warnings.simplefilter("ignore", expected)
        clf = iso.NodeClassifier().fit(task.graph, draw.known, evidence=evidence)
        return Answer(clf.labels_, clf.confidence_, beyond_links=True)


def logistic_regression(task: Task, draw: Draw) -> Answer:
    """Logistic regression whose scaling and penalty are cross-validated."""
    rows = np.asarray(task.features)
    model = cross_validated(rows, draw.seeds, draw.known[draw.seeds])
    return answer(model.classes_.astype(np.int64), model.predict_proba(unit_variance(rows)), beyond_links=True)


def cross_validated(rows: NDArray[Any], seeds: NDArray[np.int64], labels: NDArray[np.int64]) -> Any:
    """A fitted model: rows as they are, of length 1 or standardised, and the penalty, by accuracy in five folds."""
    pipeline = Pipeline([("scale", None), ("regression", LogisticRegression(max_iter=1000))])
    grid = {"scale": ["passthrough", Normalizer(), StandardScaler()], "regression__C": PENALTIES}
    folds = min(FOLDS, int(np.bincount(labels)[np.unique(labels)].min()))
    model: Any = GridSearchCV(pipeline, grid, cv=folds) if folds > 1 else LogisticRegression(max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(unit_variance(rows)[seeds], labels)


def unit_variance(rows: NDArray[Any]) -> NDArray[np.float64]:
    """One factor for all, so that penalties mean the same for every table."""
    values = np.asarray(rows, dtype=np.float64)
    return values / max(values.std(), 1e-12)


TABLE_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("Isotherm, table", by_neighbours, features=True),
        Method("cross-validated regression", logistic_regression, features=True),
    )
}
