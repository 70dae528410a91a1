"""What hidden seeds teach: how temperatures become probabilities, and how much each expert counts.

Heat is an expert too: its calibrated probabilities are combined with the other experts of a `Panel`. `learn` hides
seeds to fit calibration and weights; the frozen `Learnt` that it returns can be used again after a few seeds changed.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Graph
from isotherm.probability.calibration import Calibrated, Calibration, calibrate
from isotherm.probability.combination import Blends, Combination, combine, log_odds, logits, odds_of, prior_weights
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts import EXPERTS, HEAT, Expert, Knowledge, Question
from isotherm.probability.experts.regression import AT_ONCE, FeatureMap
from isotherm.probability.experts.scaling import scaled_rows
from isotherm.probability.hidden_seeds import Fold, HiddenLabels, HiddenSeeds, hide_seeds
from isotherm.probability.node_features import FeatureField, Features, over_neighbours
from isotherm.probability.optimise import fitting_threads
from isotherm.probability.second_round import NAME as SECOND_ROUND
from isotherm.probability.second_round import second_round
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds

FEW_CHANGES = 0.05  # share of changed seeds up to which what was learnt is kept
TAUGHT_AGAIN = ("diffusion", "features")  # the first of these has the features for the second round
ROUGH_TOL = 1e-2  # tolerance of solves without the hidden seeds; sampling noise dominates

Odds: TypeAlias = NDArray[np.float32]  # (E, n, K) log-odds of each expert


@dataclass(frozen=True, eq=False)
class Learnt:
    """What hidden seeds taught."""

    seeds: Seeds  # the seeds that it was learnt from
    calibration: Calibration  # how temperatures become probabilities; not judged, see `judged`
    trial: Trial  # the final probabilities of the hidden seeds, by cross-validation
    combination: Combination | None = None  # how much each expert counts; None if heat is the only one

    @property
    def judged(self) -> bool:
        """Whether the calibration is judged already, without a trial: in files of release 0.2.0."""
        known = len(self.calibration.misfits) > 0 or not np.isnan(self.calibration.error)
        return known and not len(self.trial.codes)

    def moved(self, seeds: Seeds, mean: Doubles, panel: "Panel | None") -> "Learnt | None":
        """The same for slightly other seeds with these mean temperatures (K,); None if it has to be learnt anew.

        Slopes, biases, lapse rate, weights and the trial are kept.
        """
        names = None if self.combination is None else self.combination.names
        same_experts = names == (None if panel is None else panel.names)
        if self.judged or not same_experts or not _few_changes(self.seeds, seeds):
            return None
        shares = seeds.smoothed_shares
        combination = None if self.combination is None else replace(self.combination, shares=shares)
        return replace(self, calibration=replace(self.calibration, shares=shares, mean=mean), combination=combination)

    def probabilities(self, field: FeatureField, panel: "Panel | None") -> tuple[Doubles, Odds | None]:
        """Probabilities (n, K) of all nodes, and the log-odds of each expert; zero rows where nothing is known."""
        heat = self.calibration.probabilities(field)
        if panel is None or self.combination is None:
            return heat, None
        shares, known = self.calibration.shares, ~np.isnan(field.temperatures[:, 0])
        odds = np.empty((len(panel.names), *heat.shape), np.float32)  # filled in turn, since it may be large
        answers = panel.odds(heat, shares, field, self.combination.blends)
        del heat
        with panel.threads():
            for place, each in enumerate(answers):
                odds[place] = each
            if panel.second is not None:
                assert self.combination.first is not None
                first = logits(self.combination.first, odds[:-1], shares)
                odds[-1] = second_round(panel.second, first, panel.seeds.nodes, panel.seeds.codes, shares)
        found = self.combination.probabilities(odds)
        if not panel.evidence.beyond_links:
            found[~known] = 0
        return found, odds

    def of_new_nodes(self, weights: csr_array, temperatures: Floats, seeds: Seeds, odds: Odds | None) -> Doubles:
        """Probabilities (m, K) of new nodes with edge weights (m, n) to the nodes of the graph.

        The log-odds of experts other than heat are the means over the neighbours.
        """
        heat = self.calibration.probabilities(FeatureField.of_new_nodes(weights, seeds, temperatures))
        if self.combination is None or odds is None:
            return heat
        others = (over_neighbours(weights, each) for each in odds[1:])
        found = self.combination.probabilities([odds_of(heat, self.calibration.shares), *others])
        return np.where(weights.sum(axis=1)[:, None] > 0, found, 0)


class Panel:
    """All experts besides heat that apply to the evidence."""

    def __init__(self, evidence: Evidence, graph: Graph, seeds: Seeds, options: SolveOptions) -> None:
        self.evidence, self.graph, self.seeds, self.options = evidence, graph, seeds, options
        self._work = 0 if evidence.features is None else AT_ONCE * evidence.features.size

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Compute the spectrum in a thread of its own while other things are done, if that pays."""
        with self.threads():
            if self.evidence.structure is not None:
                self.evidence.structure.start(self.options)
            yield

    @cached_property
    def experts(self) -> dict[str, Expert]:
        """All experts besides heat, by name."""
        with self.threads():
            features = self.evidence.features
            rows = None if features is None else scaled_rows(features, self.seeds)
            known = Knowledge(self.evidence, self.graph, self.seeds, self.options, rows)
            made = {name: make(known) for name, make in EXPERTS.items()}
        return {name: expert for name, expert in made.items() if expert is not None}

    @property
    def second(self) -> FeatureMap | None:
        """Features for the second round."""
        last = next((self.experts[name] for name in TAUGHT_AGAIN if name in self.experts), None)
        return None if last is None else last.map

    @property
    def names(self) -> tuple[str, ...]:
        """Heat, the experts of the panel, and the second round."""
        return (HEAT, *self.experts, *([] if self.second is None else [SECOND_ROUND]))

    def threads(self) -> AbstractContextManager[Any]:
        """Limits the threads of linear algebra, unless the features are large."""
        return fitting_threads(self._work)

    def odds(
        self, heat: Floats, shares: Doubles, field: FeatureField, blends: Blends, visible: Ints | None = None
    ) -> Iterator[Floats]:
        """The log-odds of each expert for all nodes, in turn, given the probabilities by the heat of visible seeds."""
        yield odds_of(heat, shares)
        del heat  # it may be large
        visible = np.arange(len(self.seeds.nodes)) if visible is None else visible
        yield from self._answers(Question(self.seeds, visible, self._warmest(field, visible)), blends, shares)

    def _answers(self, question: Question, blends: Blends, shares: Doubles) -> Iterator[Floats]:
        for name, expert in self.experts.items():
            yield log_odds(expert.logits(question, blends.get(name)), shares)

    def _warmest(self, field: FeatureField | None, other: Ints) -> NDArray[np.integer]:
        return field.warmest() if self.evidence.clustered and field is not None else other

    def question(self, hidden: HiddenSeeds, fold: Fold) -> Question:
        """What experts are asked about the hidden seeds of a fold."""
        visible = np.flatnonzero(~np.isin(self.seeds.nodes, hidden.hidden_with(fold)))
        places = np.searchsorted(self.seeds.nodes, fold.hidden)
        return Question(self.seeds, visible, self._warmest(fold.field, visible), places)

    def blends(self, questions: list[Question]) -> tuple[Blends, list[Blends]]:
        """How much each penalty counts in each regression: by all hidden seeds, and by those of the other folds."""
        every: Blends = {}
        others: list[Blends] = [{} for _ in questions]
        for name, expert in self.experts.items():
            if (found := expert.blends(questions)) is not None:
                every[name], rests = found
                for blends, rest in zip(others, rests, strict=True):
                    blends[name] = rest
        return every, others

    def weigh(self, heat: Calibrated, hidden: HiddenSeeds, shares: Doubles) -> tuple[Combination, Trial]:
        """The weights of the experts, and the trial of the combined probabilities."""
        trial, names = heat.trial, (HEAT, *self.experts)
        blind = not (len(trial.codes) if self.evidence.beyond_links else trial.n_known)
        prior = prior_weights(self.names, self.evidence, blind=blind)
        first = prior[: len(names)]
        if blind:
            second = prior[len(names) :]
            return Combination(self.names, np.append((1 - second.sum()) * first, second), shares, first), trial
        questions = [self.question(hidden, fold) for fold in hidden.folds]
        blends, blends_by_fold = self.blends(questions)
        parts = [self._answers(*each, shares) for each in zip(questions, blends_by_fold, strict=True)]
        odds = [log_odds(np.log(trial.probabilities), shares)]
        odds += [np.concatenate(each) for each in zip(*parts, strict=True)]
        combination = combine(names, odds, trial.codes, shares, first)
        rests = [
            combine(names, [each[~fold] for each in odds], trial.codes[~fold], shares, first, combination.weights)
            for fold in trial.each_fold()
        ]
        if self.second is not None:
            folds = zip(hidden.folds, questions, heat.by_fold, rests, blends_by_fold, strict=True)
            odds.append(np.concatenate([self._told_again(*each) for each in folds]))
            rests = [
                self._joined(rest, [each[~fold] for each in odds], trial.codes[~fold], prior[-1])
                for rest, fold in zip(rests, trial.each_fold(), strict=True)
            ]
            combination = self._joined(combination, odds, trial.codes, prior[-1])
        found = np.empty_like(trial.probabilities)
        for fold, rest in zip(trial.each_fold(), rests, strict=True):
            found[fold] = rest.probabilities([each[fold] for each in odds])
        known: Mask = np.ones(len(trial.codes), bool) if self.evidence.beyond_links else trial.known
        combined = trial._replace(known=known, probabilities=np.where(known[:, None], found, trial.probabilities))
        return replace(combination, blends=blends), combined

    def _told_again(
        self, fold: Fold, question: Question, heat: Calibration, first: Combination, blends: Blends
    ) -> Floats:
        """The log-odds of the second round for the hidden seeds of a fold."""
        assert self.second is not None
        assert fold.field is not None
        odds = self.odds(heat.probabilities(fold.field), first.shares, fold.field, blends, question.visible)
        nodes, found = self.seeds.nodes[question.visible], logits(first.weights, odds, first.shares)
        return second_round(self.second, found, nodes, question.codes, first.shares)[fold.hidden]

    def _joined(self, first: Combination, odds: list[Floats], codes: Ints, prior: float) -> Combination:
        """The weights of both rounds, given the log-odds of the experts, and of the second round, for hidden seeds."""
        *before, last = odds
        sums = np.tensordot(first.weights, before, 1)
        both = combine(("first", "second"), [sums, last], codes, first.shares, np.array([1 - prior, prior]))
        weights = np.append(both.weights[0] * first.weights, both.weights[1])
        return Combination(self.names, weights, first.shares, first.weights)


def learn(
    field: Features,  # features of all nodes, from the fit with all seeds
    graph: Graph,
    seeds: Seeds,
    solve: Callable[[Seeds], Features],  # solves with some of the seeds; see `rough_solver`
    *,
    panel: Panel | None = None,  # the experts besides heat
    label: HiddenLabels | None = None,  # a rule on temperatures, if it decides the labels; it labels the hidden seeds
    every: bool = False,  # hide every seed that may be hidden, even if fewer would be enough
) -> Learnt:
    """Hide seeds, and fit calibration and weights of experts to them."""
    keep = panel is not None and (panel.evidence.clustered or panel.evidence.features is not None)
    marks = None if panel is None else panel.evidence.marks
    hidden = hide_seeds(seeds, graph, solve, label=label, marks=marks, keep_fields=keep, every=every)
    heat = calibrate(hidden, field, seeds)
    if panel is None:
        return Learnt(seeds, heat.calibration, heat.trial)
    with panel.threads():
        combination, combined = panel.weigh(heat, hidden, heat.calibration.shares)
    return Learnt(seeds, heat.calibration, combined, combination)


def rough_solver(
    problem: Problem, solution: Solution, options: SolveOptions, neighbours: Doubles
) -> Callable[[Seeds], FeatureField]:
    """Solves with some of the seeds, as roughly as calibration allows; ``solution`` is the one with all seeds.

    With cg, a third of its iterations plus two are enough. A loose tolerance would take more iterations, because cg
    first needs an estimate of the absorption time. No solve starts from the temperatures of the fit: these would leak
    the hidden labels.
    """
    options = rough_options(options, solution)

    def solve(seeds: Seeds) -> FeatureField:
        found = engine_of(options).solve(Problem.of_seeds(problem.graph, seeds, problem.side), options)
        return FeatureField.of(problem.graph, seeds, found.temperatures, problem.side, neighbours)

    return solve


def rough_options(options: SolveOptions, solution: Solution) -> SolveOptions:
    """How to solve without the hidden seeds; see `rough_solver`."""
    if options.tol is None:
        return options
    if solution.solver == "cg":
        return replace(options, solver="cg", tol=None, max_iter=2 + math.ceil(solution.iterations / 3))
    solver = solution.solver if solution.solver == "elimination" else options.solver  # already chosen by "auto"
    return replace(options, solver=solver, tol=max(options.tol, ROUGH_TOL))


def _few_changes(before: Seeds, after: Seeds) -> bool:
    """Whether the classes are the same, and few seeds were added, removed or relabelled."""
    if not np.array_equal(before.classes, after.classes) or before.weights is not None or after.weights is not None:
        return False
    same = np.intersect1d(before.nodes, after.nodes, assume_unique=True)
    alike = before.codes[np.searchsorted(before.nodes, same)] == after.codes[np.searchsorted(after.nodes, same)]
    kept = int(np.count_nonzero(alike))
    return len(before.nodes) + len(after.nodes) - 2 * kept <= FEW_CHANGES * len(before.nodes)
