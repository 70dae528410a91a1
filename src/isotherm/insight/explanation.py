"""Explanations: the seeds that heat a node, each with its share, and the paths to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles
from isotherm.engines import engine_of
from isotherm.equilibrium.averages import reached_moments
from isotherm.insight.paths import Paths
from isotherm.labelling.fit import Fit
from isotherm.labelling.outcomes import OneLabel
from isotherm.notebooks import table

COLUMNS = ("seed", "label", "share")
CLASSES = 5  # classes that are shown
SHOWN = 10  # seeds that notebooks show


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Mapping[str, NDArray[Any]]):
    """The seeds that heat a node: a table with the columns "seed", "label" and "share", the largest share first.

    A share is the probability that a random walk from the node ends at this seed: with certain seeds, that it arrives
    there before any other seed. It is the contribution of the seed to the temperatures of the node. The shares of a
    class add up to its temperature, and all shares add up to 1. If no seed reaches the node, the table is empty.

    Attributes
    ----------
    node
        The node that is explained.
    seed, label, share : ndarrays of shape (s,)
        The columns. The label of a seed with a distribution is its most probable class.
    classes : dict
        The sum of the shares of each class, including seeds that are not in the table.
    probabilities : dict
        The probability of each class, if labels were decided by probabilities; else empty.
    note : str
        Why the label is not the most probable class; empty if it is, or if temperatures decided.
    means : dict
        The mean temperature of each class over all reached nodes, to compare with; empty if it was not kept.
    experts : dict
        If there was other evidence besides links: for each expert, its log-odds for each class, times its weight. What
        is above 0 speaks for the class.

    Examples
    --------
    >>> import isotherm as iso
    >>> rod = iso.Graph.from_edges(list("abcd"), list("bcde"))
    >>> clf = iso.DirichletClassifier().fit(rod, {"a": "hot", "e": "cold"})
    >>> print(clf.explain("b"))
    the heat of 'b'
    class  temperature   mean
    hot          0.750  0.500
    cold         0.250  0.500
    share  label  seed  path
      75%  hot    a     b a
      25%  cold   e     b c d e
    >>> clf.explain("b")["share"]
    array([0.75, 0.25])
    """

    node: Any
    seed: NDArray[Any]
    label: NDArray[Any]
    share: Doubles
    classes: dict[Any, float]
    _explainer: "Explainer"
    probabilities: dict[Any, float] = field(default_factory=dict)
    note: str = ""
    experts: dict[str, dict[Any, float]] = field(default_factory=dict)
    means: dict[Any, float] = field(default_factory=dict)

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column not in COLUMNS:
            raise KeyError(column)
        return getattr(self, column)

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    def path(self, seed: Any) -> list[Any]:
        """The most probable path from the node to a seed, not through other seeds; empty if there is none."""
        return self._explainer.path(self.node, seed)

    def __repr__(self) -> str:
        return f"<Explanation: {self.node!r}, {len(self.seed)} seeds>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """What notebooks show."""
        if not len(self.seed):
            return table(str(self), (), ())
        columns, more = self.compared(), len(self.seed) - SHOWN
        names = list(columns["temperature"])[:CLASSES]
        classes = [(str(name), *(column[name] for column in columns.values())) for name in names]
        seeds = [
            (str(seed), str(label), float(share), " → ".join(map(str, self.path(seed))) if place < 3 else "")
            for place, (seed, label, share) in enumerate(
                zip(self.seed[:SHOWN], self.label[:SHOWN], self.share[:SHOWN], strict=True)
            )
        ]
        note = f"and {more:,} more seeds" if more > 0 else ""
        heat = table(f"the heat of {self.node!r}", ("class", *columns), classes, note=self.note)
        return heat + table("the seeds it comes from", ("seed", "label", "share", "path"), seeds, note=note)

    def text(self, rows: int = 10) -> str:
        """The warmest classes and the first seeds as text, with the paths to the first three seeds."""
        if not len(self.seed):
            return f"no seed reaches {self.node!r}"
        parts = [f"the heat of {self.node!r}", *self._class_lines(), *self._seed_lines(rows)]
        return "\n".join([*parts, *([self.note] if self.note else [])])

    def compared(self) -> dict[str, dict[Any, float]]:
        """What was compared: temperature, mean temperature and probability of each class, as far as they are known.

        The classes are in the order of their probabilities, or of their temperatures.
        """
        order = sorted(self.classes, key=(self.probabilities or self.classes).__getitem__, reverse=True)
        columns = {"temperature": self.classes, "mean": self.means, "probability": self.probabilities}
        return {name: {each: values[each] for each in order} for name, values in columns.items() if values}

    def _class_lines(self) -> list[str]:
        columns = self.compared()
        names = list(columns["temperature"])
        rows = [["class", *columns], *([str(n), *(f"{c[n]:.3f}" for c in columns.values())] for n in names[:CLASSES])]
        more = [f"and {len(names) - CLASSES} more classes"] if len(names) > CLASSES else []
        return [*_aligned(rows, left=(0,)), *more]

    def _seed_lines(self, rows: int) -> list[str]:
        table = [["share", "label", "seed", "path"]]
        shown = zip(self.seed[:rows], self.label[:rows], self.share[:rows], strict=True)
        for place, (seed, label, share) in enumerate(shown):
            path = " ".join(map(str, self.path(seed))) if place < 3 else ""
            table.append([f"{share:.0%}" if share >= 0.01 else f"{share:.1g}", str(label), str(seed), path])
        more = len(self.seed) - rows
        return [*_aligned(table, left=(1, 2, 3)), *([f"and {more} more seeds"] if more > 0 else [])]


def _aligned(rows: list[list[str]], *, left: tuple[int, ...]) -> list[str]:
    """The lines of a table; columns in ``left`` are aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<" if place in left else ">" for place in range(len(widths))]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]


class Explainer:
    """Explains the nodes of a fit; the solver is prepared once, on first use."""

    def __init__(self, fit: Fit) -> None:
        self.fit = fit

    def __reduce__(self) -> tuple[Any, ...]:  # caches are not pickled
        return Explainer, (self.fit,)

    @cached_property
    def _measure(self) -> Callable[[csr_array], Doubles]:
        return engine_of(self.fit.options).harmonic_measure(self.fit.problem, self.fit.options)

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self.fit.problem.system)

    def explain(self, nodes: Iterable[Any], *, top: int | None = None) -> list[Explanation]:
        """An explanation for each node id, with the ``top`` seeds, or by default all with a positive share."""
        ids, problem = list(nodes), self.fit.problem
        walks = problem.lifting.walks(self.fit.graph.index(ids), problem.system.reached)
        reached = np.flatnonzero(np.diff(walks.indptr))
        shares = np.zeros((len(ids), len(self.fit.seeds.nodes)))
        if len(reached):
            shares[reached] = problem.lifting.by_seed(self._measure(walks[reached]))
        return [self._explanation(node, row, top) for node, row in zip(ids, shares, strict=True)]

    def path(self, node: Any, seed: Any) -> list[Any]:
        """The most probable path from a node to a seed, not through other seeds; empty if there is none."""
        graph, seeds, lifting = self.fit.graph, self.fit.seeds, self.fit.problem.lifting
        start, end = graph.index([node, seed]).tolist()
        goal = dict(zip(seeds.nodes.tolist(), lifting.held.tolist(), strict=True)).get(end, end)
        starts, goals = ([place + offset for offset in lifting.offsets] for place in (start, goal))
        places = np.array(self._paths.most_probable(starts, goals), dtype=np.int64) % lifting.size
        return graph.nodes[places[places < lifting.n]].tolist()

    def _explanation(self, node: Any, shares: Doubles, top: int | None) -> Explanation:
        seeds = self.fit.seeds
        rank = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)][:top]
        sums = seeds.by_class(shares)
        return Explanation(
            node,
            self.fit.graph.nodes[seeds.nodes[rank]],
            seeds.names(rank),
            shares[rank],
            dict(zip(seeds.classes.tolist(), sums.tolist(), strict=True)),
            self,
            *self._chances(node),
            self._opinions(node),
            self._means,
        )

    @cached_property
    def _means(self) -> dict[Any, float]:
        """The mean temperature of each class over reached nodes; empty if temperatures were not kept."""
        outcome = self.fit.outcome
        if not outcome.kept:
            return {}
        means = reached_moments(outcome.temperatures, self.fit.options.threads).mean
        return dict(zip(self.fit.seeds.classes.tolist(), means.tolist(), strict=True))

    def _opinions(self, node: Any) -> dict[str, dict[Any, float]]:
        """The weighted log-odds of each expert at a node, for each class."""
        if self.fit.odds is None:
            return {}
        place, names, weights = self.fit.graph.index([node])[0], self.fit.seeds.classes.tolist(), self.fit.experts
        odds = np.array(list(weights.values()))[:, None] * self.fit.odds[:, place]
        rows = (dict(zip(names, row, strict=True)) for row in odds.tolist())
        return dict(zip(weights, rows, strict=True))

    def _chances(self, node: Any) -> tuple[dict[Any, float], str]:
        """The probabilities of the classes at a node, and why its label is not the most probable one."""
        outcome = self.fit.outcome
        if not isinstance(outcome, OneLabel) or outcome.decision is None or outcome.chances is None:
            return {}, ""
        place = self.fit.graph.index([node])[0]
        names, chances, code = self.fit.seeds.classes.tolist(), outcome.chances[place].tolist(), outcome.codes[place]
        best = int(np.argmax(chances))
        found = dict(zip(names, chances, strict=True))
        if code < 0 or chances[code] == chances[best]:
            return found, ""
        other, label = (f"{names[each]!r} ({chances[each]:.2f})" for each in (best, code))
        return found, f"{other} is more probable than the label {label}, but {outcome.decision.reason}"
