"""Influence of feature columns: the log-odds of experts, approximated by a sum over columns.

Experts that go by features are regressions on these or on their means over neighbours. So the log-odds of each are
approximated by a linear function of the columns, by least squares. The part of a column in this sum is what it adds to
the log-odds of a class, and its influence is the standard deviation of this part over the nodes.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isotherm.arrays import Doubles, Ints
from isotherm.labelling.fit import Fit
from isotherm.probability.experts import STRUCTURAL

MOST_NODES, MOST_NUMBERS = 20_000, 2_000  # nodes and encoded columns of the fit
RIDGE = 1e-3  # penalty, relative to columns of variance 1
OTHERS = STRUCTURAL | {"evidence", "majority"}  # experts that do not go by features


class Influence:
    """How much each column of the features counts, for the experts that go by features."""

    def __init__(self, fit: Fit) -> None:
        assert fit.evidence is not None
        assert fit.evidence.table is not None
        self.fit, self.places = fit, fit.evidence.table.places
        self.rows: Any = fit.evidence.features
        self.experts = {name: place for place, name in enumerate(fit.experts) if name not in OTHERS}

    @classmethod
    def of(cls, fit: Fit) -> "Influence | None":
        """None if there are no features with names, or too many."""
        if fit.evidence is None or fit.evidence.table is None or fit.odds is None:
            return None
        found = cls(fit)
        return found if found.rows.shape[1] <= MOST_NUMBERS else None

    @cached_property
    def shares(self) -> dict[str, dict[str, float]]:
        """The influence of each column on each expert, as a share of all columns."""
        spread = {name: self._spread(weights) for name, weights in self._weights.items()}
        total = {name: sum(each.values()) or 1.0 for name, each in spread.items()}
        return {column: {name: each[column] / total[name] for name, each in spread.items()} for column in self.places}

    def at(self, place: int) -> dict[str, dict[Any, float]]:
        """What each column adds to the weighted log-odds of each class at a node, over all experts."""
        weights = sum(self.fit.experts[name] * each for name, each in self._weights.items())
        row, classes = self._scaled(np.array([place]))[0], self.fit.seeds.classes.tolist()
        parts = {column: row[some] @ np.asarray(weights)[some] for column, some in self.places.items()}
        return {column: dict(zip(classes, part.tolist(), strict=True)) for column, part in parts.items()}

    def _spread(self, weights: Doubles) -> dict[str, float]:
        parts = {column: self._sample[:, some] @ weights[some] for column, some in self.places.items()}
        return {column: float(np.sqrt(part.var(axis=0).sum())) for column, part in parts.items()}

    @cached_property
    def _nodes(self) -> Ints:
        """All nodes, or a random sample that does not depend on their order."""
        n = self.rows.shape[0]
        return np.arange(n) if n <= MOST_NODES else np.argsort(self.fit.graph.colours, kind="stable")[:MOST_NODES]

    @cached_property
    def _moments(self) -> tuple[Doubles, Doubles]:
        some = self._dense(self._nodes)
        deviation = some.std(axis=0)
        return some.mean(axis=0), np.where(deviation > 0, deviation, 1)

    @cached_property
    def _sample(self) -> Doubles:
        return self._scaled(self._nodes)

    def _scaled(self, nodes: Ints) -> Doubles:
        mean, deviation = self._moments
        return (self._dense(nodes) - mean) / deviation

    def _dense(self, nodes: Ints) -> Doubles:
        some = self.rows[nodes]
        return np.asarray(some.toarray() if issparse(some) else some, dtype=np.float64)

    @cached_property
    def _weights(self) -> dict[str, Doubles]:
        """The weights (d, K) of the encoded columns, for each expert."""
        assert self.fit.odds is not None
        x = self._sample
        gram = x.T @ x + RIDGE * len(x) * np.eye(x.shape[1])
        odds = {name: self.fit.odds[place, self._nodes].astype(np.float64) for name, place in self.experts.items()}
        return {name: np.linalg.solve(gram, x.T @ (each - each.mean(axis=0))) for name, each in odds.items()}
