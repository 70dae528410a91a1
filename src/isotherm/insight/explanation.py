"""Explanations: the seeds that heat a node, each with its share, and the paths to them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles
from isotherm.engines import engine_of
from isotherm.equilibrium.averages import reached_moments
from isotherm.insight.influence import Influence
from isotherm.insight.paths import Paths
from isotherm.labelling.fit import Fit
from isotherm.labelling.outcomes import OneLabel
from isotherm.tables import Columns, aligned, arrow, bar, shown, table

CLASSES, SHOWN, PATHS = 5, 10, 3  # most classes, seeds and paths that are shown
LONGEST_PATH = 8  # most nodes of a path that are shown
CLASS_SIZES = "class sizes"  # name of the row for what known class sizes add to the log-odds
COLUMNS_SHOWN = 8  # most feature columns that are shown


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Columns):
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
    scores : dict
        The score of each class, best first, or only the best ones if no more were kept.
    rule : str
        The rule or decision that gave the scores.
    columns : dict
        If the features are a table: for each column, what it adds to the log-odds of each class, over all experts.
    experts : dict
        If there was other evidence besides links: for each expert, its log-odds for each class, times its weight. What
        is above 0 speaks for the class. If class sizes are known, the row "class sizes" has what they add.

    Examples
    --------
    >>> import isotherm as iso
    >>> rod = iso.Graph.from_edges(list("abcd"), list("bcde"))
    >>> clf = iso.DirichletClassifier().fit(rod, {"a": "hot", "e": "cold"})
    >>> print(clf.explain("b"))
    the heat of 'b'
    <BLANKLINE>
    class  temperature   mean  score (centered)
    hot          0.750  0.500             0.250  ███████████████
    cold         0.250  0.500            -0.250  █████
    <BLANKLINE>
    seed  class  share                   path
    a     hot    75.0%  ███████████████  b → a
    e     cold   25.0%  █████            b → c → d → e
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
    scores: dict[Any, float] = field(default_factory=dict)
    rule: str = ""
    columns: dict[str, dict[Any, float]] = field(default_factory=dict)
    NAMES: ClassVar[tuple[str, ...]] = ("seed", "label", "share")

    def path(self, seed: Any) -> list[Any]:
        """The most probable path from the node to a seed, not through other seeds; empty if there is none."""
        return self._explainer.path(self.node, seed)

    def __repr__(self) -> str:
        return f"<Explanation: {self.node!r}, {len(self.seed)} seeds>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """What notebooks show."""
        odds = {"what each expert says": self.experts, "what the columns say": self.columns}
        evidence = "".join(self._odds_html(title, each) for title, each in odds.items() if each)
        if not len(self.seed):
            return table(f"no seed reaches {self.node!r}", (), ()) + evidence
        compared, more = self.compared(), len(self.seed) - SHOWN
        classes = [(str(each["class"]), *list(each.values())[1:]) for each in compared[:CLASSES]]
        seeds = [
            (str(each["seed"]), str(each["label"]), each["share"], " → ".join(map(str, each.get("path", ()))))
            for each in self.seeds(SHOWN)
        ]
        note = f"and {more:,} more seeds" if more > 0 else ""
        heat = table(f"the heat of {self.node!r}", list(compared[0]), classes, note=self.note)
        return heat + evidence + table("the seeds it comes from", ("seed", "label", "share", "path"), seeds, note=note)

    def _odds_html(self, title: str, odds: Mapping[str, Mapping[Any, float]]) -> str:
        names = self.best_classes()
        rows = [(name, *(each[label] for label in names)) for name, each in odds.items()]
        return table(title, ("", *map(str, names)), rows)

    def best_classes(self) -> list[Any]:
        """The classes with the best scores, or the most probable ones if no seed reaches the node."""
        best = sorted(self.probabilities, key=lambda name: -self.probabilities[name])
        return (list(self.scores) or best)[:CLASSES]

    def compared(self) -> list[dict[str, Any]]:
        """What was compared, best score first: temperature, mean temperature, probability and score of each class.

        Means and probabilities are left out where they are not known.
        """
        columns = {"temperature": self.classes, "mean": self.means, "probability": self.probabilities}
        known = {name: values for name, values in columns.items() if values} | {"score": self.scores}
        return [{"class": each} | {name: values[each] for name, values in known.items()} for each in self.scores]

    def seeds(self, rows: int | None = None, *, paths: int = PATHS) -> list[dict[str, Any]]:
        """The first rows of the table, with the paths to the first few seeds."""
        return [
            row | ({"path": self.path(row["seed"])} if place < paths else {})
            for place, row in enumerate(self.rows(rows))
        ]

    def text(self, rows: int | None = SHOWN, *, paths: int = PATHS, title: str = "") -> str:
        """What was compared, what each expert says and the first seeds, as tables under a title."""
        evidence = [self._odds_table("evidence", self.experts), self._column_table()]
        if len(self.seed):
            title = title or f"the heat of {self.node!r}"
            parts = [title, self._class_table(), self.note, *evidence, self._seed_table(rows, paths)]
        else:
            parts = [title or f"no seed reaches {self.node!r}", *evidence]
        return "\n\n".join(filter(None, parts))

    def _class_table(self) -> str:
        compared = self.compared()
        *names, _ = compared[0]
        rows = [[*names, f"score ({self.rule})", ""]]
        for each in compared[:CLASSES]:
            name, *numbers = each.values()
            share = bar(each["score" if self.probabilities else "temperature"])
            rows.append([shown(name), *(f"{number:.3f}" for number in numbers), share])
        more = len(compared) - CLASSES
        note = f"\nand {more:,} more of lower scores" if more > 0 else ""
        return aligned(rows, left=(0, len(rows[0]) - 1)) + note

    def _column_table(self) -> str:
        """What each feature column adds to the log-odds, the largest first."""
        order = sorted(self.columns, key=lambda name: -max(map(abs, self.columns[name].values())))
        return self._odds_table("column", {name: self.columns[name] for name in order[:COLUMNS_SHOWN]})

    def _odds_table(self, title: str, odds: Mapping[str, Mapping[Any, float]]) -> str:
        """A table of what each row adds to the logits of the best classes."""
        if not any(any(each.values()) for each in odds.values()):  # nothing speaks for any class
            return ""
        names = self.best_classes()
        rows = [[title, *map(shown, names)]]
        rows += [[shown(row), *(f"{each[name]:+.2f}" for name in names)] for row, each in odds.items()]
        return aligned(rows, left=(0,))

    def _seed_table(self, count: int | None, paths: int) -> str:
        rows, found = [["seed", "class", "share", "", "path"]], self.seeds(count, paths=paths)
        for each in found:
            label, share = shown(joined(each["label"])), each["share"]
            rows.append([shown(each["seed"]), label, _percent(share), bar(share), _path(each.get("path", []))])
        more, rest = len(self.seed) - len(found), max(0, 1 - sum(each["share"] for each in found))
        note = f"\nand {more:,} more, {_percent(rest)} together" if more else ""
        return aligned(rows, left=(0, 1, 3, 4)) + note


def joined(label: Any) -> Any:
    """A label; several labels as one text."""
    return ", ".join(map(str, label)) if isinstance(label, list | tuple) else label


def _path(nodes: list[Any]) -> str:
    """The nodes of a path; the middle of a long one is left out."""
    names = list(map(shown, nodes))
    if len(names) > LONGEST_PATH:
        half = LONGEST_PATH // 2
        names[half:-half] = [f"({len(names) - 2 * half} more)"]
    return arrow().join(names)


def _percent(share: float) -> str:
    """A share in percent; a very small one with one significant digit."""
    return f"{100 * share:.1f}%" if share >= 0.001 or share == 0 else f"{100 * share:.1g}%"


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
            self._scores(node, sums) if len(rank) else {},
            self.fit.rule.name,
            {} if self._influence is None else self._influence.at(int(self.fit.graph.index([node])[0])),
        )

    @cached_property
    def _influence(self) -> Influence | None:
        return Influence.of(self.fit)

    def _scores(self, node: Any, heat: Doubles) -> dict[Any, float]:
        """The scores of the classes at a node with these temperatures (K,), best first."""
        names, place = self.fit.seeds.classes.tolist(), int(self.fit.graph.index([node])[0])
        return {names[code]: score for code, score in self.fit.outcome.ranked(place, heat)}

    @cached_property
    def _means(self) -> dict[Any, float]:
        """The mean temperature of each class over reached nodes; empty if temperatures were not kept."""
        outcome = self.fit.outcome
        if not outcome.kept:
            return {}
        means = reached_moments(outcome.temperatures, self.fit.options.threads).mean
        return dict(zip(self.fit.seeds.classes.tolist(), means.tolist(), strict=True))

    def _opinions(self, node: Any) -> dict[str, dict[Any, float]]:
        """The weighted log-odds of each expert at a node, for each class, and what known class sizes add to them."""
        names, outcome, rows = self.fit.seeds.classes.tolist(), self.fit.outcome, dict[str, Doubles]()
        if self.fit.odds is not None:
            place = self.fit.graph.index([node])[0]
            weighted = zip(self.fit.experts.items(), self.fit.odds[:, place], strict=True)
            rows = {name: weight * odds for (name, weight), odds in weighted}
        if isinstance(outcome, OneLabel) and outcome.factors is not None:
            rows[CLASS_SIZES] = np.log(outcome.factors)
        return {name: dict(zip(names, row.tolist(), strict=True)) for name, row in rows.items()}

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
