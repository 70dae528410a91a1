"""Single cells: `label_transfer` beside a vote of the neighbours and logistic regression, on cells that are made up.

Counts of 400 genes are drawn from negative binomials. The logarithm of the mean of a gene is the sum of five parts: a
level of its own, a programme of the lineage (five of them), one of the type (twenty), a state along which cells of a
lineage differ continuously, and a cycle that all cells share. Depth varies from cell to cell. The 50 principal
components of the normalised logarithms are joined to their 15 nearest neighbours. A fifth of the cells is annotated.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import isotherm as iso
from benchmarks.harness import Contestant
from benchmarks.results import Result
from benchmarks.vectors import calibration_error
from isotherm.anndata import label_transfer

__all__ = ["made_cells", "races"]

CELLS, TYPES, LINEAGES, GENES, COMPONENTS = 100_000, 20, 5, 400, 50
NEIGHBOURS, ANNOTATED = 15, 0.2
SECONDS = 10.0  # on two cores
OURS = "label_transfer"


def made_cells(
    n: int, types: int = TYPES, genes: int = GENES, components: int = COMPONENTS, seed: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Principal components (n, d) of made-up cells, and their types."""
    rng = np.random.default_rng(seed)

    def programmes(count: int, share: float) -> NDArray[np.float64]:
        """Changes of some of the genes."""
        return rng.normal(size=(count, genes)) * (rng.random((count, genes)) < share)

    y = rng.choice(types, n, p=rng.dirichlet(np.full(types, 3.0)))
    lineage = np.arange(types) % LINEAGES
    levels = rng.normal(size=genes) + programmes(LINEAGES, 0.3)[lineage] + 0.8 * programmes(types, 0.1)
    logs = levels[y] + (rng.random(n) - 0.5)[:, None] * programmes(LINEAGES, 0.15)[lineage[y]]
    phase = 2 * np.pi * rng.random(n)
    logs += np.column_stack([np.cos(phase), np.sin(phase)]) @ programmes(2, 0.05)
    means = np.exp(logs)
    means *= (rng.lognormal(6.5, 0.4, n) / means.sum(axis=1))[:, None]
    counts = rng.poisson(rng.gamma(2.0, means / 2)).astype(np.float32)
    rows = np.log1p(counts * (500 / np.maximum(counts.sum(axis=1), 1))[:, None])
    rows -= rows.mean(axis=0)
    _, axes = np.linalg.eigh(rows.T @ rows)
    return (rows @ axes[:, ::-1][:, :components]).astype(np.float32), y


def made_data(n: int) -> tuple[Any, NDArray[np.int64]]:
    """Cells as an AnnData object with neighbours and some annotations, and the types of all of them."""
    import anndata
    import pandas as pd

    rows, y = made_cells(n)
    shown = np.where(np.random.default_rng(1).random(n) < ANNOTATED, y, -1)
    names = [f"type {number}" for number in range(TYPES)]
    obs = pd.DataFrame({"cell_type": pd.Categorical.from_codes(shown, names)}, index=[f"cell{i}" for i in range(n)])
    cells = anndata.AnnData(obs=obs, obsm={"X_pca": rows})
    cells.obsp["connectivities"] = iso.Graph.from_vectors(rows, k=NEIGHBOURS).adjacency
    return cells, y


def by_vote(cells: Any) -> NDArray[np.int64]:
    """The type with the largest weight among the annotated neighbours of each cell."""
    codes = cells.obs["cell_type"].cat.codes.to_numpy()
    own = np.zeros((len(codes), TYPES))
    own[np.flatnonzero(codes >= 0), codes[codes >= 0]] = 1
    return np.asarray((cells.obsp["connectivities"] @ own).argmax(axis=1))


def by_regression(cells: Any) -> NDArray[np.int64]:
    """Logistic regression on the components."""
    rows, codes = cells.obsm["X_pca"], cells.obs["cell_type"].cat.codes.to_numpy()
    model = LogisticRegression(max_iter=1000).fit(rows[codes >= 0], codes[codes >= 0])
    return np.asarray(model.predict(rows))


PEERS: dict[str, Callable[[Any], NDArray[np.int64]]] = {
    "weighted vote of the neighbours": by_vote,
    "LogisticRegression on the components": by_regression,
}


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Result]:
    """Seconds against the bar, wrong labels beside each peer, and calibration error."""
    warnings.simplefilter("ignore")
    cells, y = made_data(int(CELLS * scale))
    ours = Contestant(OURS, lambda: label_transfer(cells, "cell_type"))
    for _ in range(rounds):
        ours.turn()
    hidden = cells.obs["cell_type"].isna().to_numpy()
    right = cells.obs["isotherm"].cat.codes.to_numpy()[hidden] == y[hidden]
    wrong, work = 100 * float(np.mean(~right)), f"{len(y):,} cells of {TYPES} types, a fifth annotated"
    yield Result(work, "10 s on two cores", [SECONDS] * rounds, OURS, ours.seconds, 1.0)
    for name, label in PEERS.items():
        theirs = 100 * float(np.mean(label(cells)[hidden] != y[hidden]))
        yield Result(f"{work}: wrong labels", name, [theirs], OURS, [wrong], 1.0, "%")
    error = 100 * calibration_error(cells.obs["isotherm_confidence"].to_numpy()[hidden], right)
    yield Result(f"{work}: calibration error", "5 %", [5.0], OURS, [error], 1.0, "%")
