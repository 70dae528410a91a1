"""Doubtful seeds: given labels that look wrong.

To learn, a fit hides seeds, so it knows how probable each class is at a seed whose label it did not see. The less
probable the given label is then, the more doubtful it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles
from isotherm.errors import Option, ParameterError
from isotherm.labelling.fit import Fit, hide_every_seed
from isotherm.labelling.outcomes import best_codes
from isotherm.probability.evidence import Evidence
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import hideable
from isotherm.tables import Columns, aligned, bar, counted, shown, table

SHOWN = 20  # rows of a table that people see


@dataclass(frozen=True, eq=False, repr=False)
class DoubtfulSeeds(Columns):
    """Seeds whose given labels look wrong: a table, the most doubtful first.

    All probabilities are those that a seed has while its own label is hidden.

    Attributes
    ----------
    seed, label : ndarrays of shape (m,)
        The seeds, and the labels that they were given. The label of a seed with a distribution is its most probable
        class.
    guess : ndarray of shape (m,)
        The most probable class.
    confidence : ndarray of shape (m,)
        The probability of the guess.
    doubt : ndarray of shape (m,)
        The probability that the given label is wrong.
    n_seeds, n_judged : int
        The number of seeds, and of those that could be judged. The others are each the only one of its class, or
        all seeds have the same class, or nothing is known about them without their own label.
    n_wrong : int
        The number of seeds, also of those that are not in the table, for which another class is more probable.

    Examples
    --------
    >>> import networkx as nx
    >>> import isotherm as iso
    >>> club = nx.karate_club_graph()
    >>> seeds = {node: club.nodes[node]["club"] for node in [0, 1, 2, 3, 7, 13, 23, 27, 29, 30, 31, 32, 33]}
    >>> clf = iso.NodeClassifier().fit(club, seeds | {3: "Officer"})
    >>> clf.doubtful_seeds()["seed"].tolist()
    [3]
    """

    seed: NDArray[Any]
    label: NDArray[Any]
    guess: NDArray[Any]
    confidence: Doubles
    doubt: Doubles
    n_seeds: int
    n_judged: int
    n_wrong: int
    NAMES: ClassVar[tuple[str, ...]] = ("seed", "label", "guess", "confidence", "doubt")

    def __repr__(self) -> str:
        return f"<DoubtfulSeeds: {len(self.seed)} of {self.n_seeds} seeds>"

    def __str__(self) -> str:
        return self.text()

    @property
    def title(self) -> str:
        """How many labels look wrong, and how many could not be judged."""
        if not self.n_judged:
            return f"none of {counted(self.n_seeds, 'seed')} could be judged"
        found = f"{self.n_wrong:,} of {counted(self.n_seeds, 'seed')} look{'s' * (self.n_wrong == 1)} wrong"
        left = self.n_seeds - self.n_judged
        return found + (f" ({left:,} could not be judged)" if left else "")

    def text(self, rows: int | None = SHOWN) -> str:
        """The first rows, under a title."""
        if not len(self.seed):
            return self.title
        cells = [[*self.NAMES, ""]]
        for seed, label, guess, confidence, doubt in self._values(rows):
            cells.append([*map(shown, (seed, label, guess)), f"{confidence:.3f}", f"{doubt:.3f}", bar(doubt)])
        return f"{self.title}\n\n{aligned(cells, left=(0, 1, 2, 5))}{self._more(rows)}"

    def _more(self, rows: int | None) -> str:
        more = 0 if rows is None else len(self.seed) - rows
        return f"\nand {more:,} more" if more > 0 else ""

    def _repr_html_(self) -> str:
        """What notebooks show."""
        cells = [[*map(str, (seed, label, guess)), *numbers] for seed, label, guess, *numbers in self._values(SHOWN)]
        return table(self.title, self.NAMES, cells, note=self._more(SHOWN).strip())

    def _values(self, rows: int | None) -> list[tuple[Any, ...]]:
        return [tuple(each.values()) for each in self.rows(rows)]


def doubtful_seeds(
    fit: Fit,
    k: int | None = None,  # how many of the most doubtful ones; by default all for which another class is more probable
    *,
    evidence: Callable[[Seeds], Evidence | None],  # gives the evidence of the fit; called if seeds must be hidden
) -> DoubtfulSeeds:
    """The seeds whose given labels look wrong, the most doubtful first."""
    _check(fit, k)
    trial, seeds = whole_trial(fit, evidence), fit.seeds
    judged = np.flatnonzero(trial.known & (seeds.n_classes > 1))  # with one class, no label can be wrong
    codes, chances = trial.codes[judged], trial.probabilities[judged]
    own, guesses = chances[np.arange(len(codes)), codes], best_codes(chances, fit.options.threads)
    order = np.lexsort((trial.nodes[judged], own))
    wrong = order[guesses[order] != codes[order]]
    chosen = wrong if k is None else order[:k]
    nodes = trial.nodes[judged]
    return DoubtfulSeeds(
        fit.graph.nodes[nodes[chosen]],
        seeds.decode(codes[chosen]),
        seeds.decode(guesses[chosen]),
        chances[chosen, guesses[chosen]],
        1 - own[chosen],
        len(seeds.nodes),
        len(judged),
        len(wrong),
    )


def _check(fit: Fit, k: Any) -> None:
    """Refuse fits without hidden seeds, and an invalid number of seeds."""
    fit.one_label(Option("doubtful_seeds"))
    fit.need_hidden_seeds("doubtful seeds")
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral)):
        raise TypeError(f"k={k!r}, but it must be an integer or None")
    if k is not None and k < 1:
        raise ParameterError("{given}, but it must be at least 1", given=Option("k", k))


def whole_trial(fit: Fit, evidence: Callable[[Seeds], Evidence | None]) -> Trial:
    """The trial of the fit if it hid all seeds that may be hidden, with their present labels; else a new trial."""
    seeds, learnt = fit.seeds, fit.learnt
    shared = hideable(seeds.codes)
    order = np.argsort(learnt.trial.nodes)
    same = np.array_equal(learnt.trial.nodes[order], seeds.nodes[shared])
    same = same and np.array_equal(learnt.seeds.nodes, seeds.nodes) and np.array_equal(learnt.seeds.codes, seeds.codes)
    return learnt.trial if same else hide_every_seed(fit, evidence(seeds))
