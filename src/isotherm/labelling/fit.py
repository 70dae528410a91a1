"""The fit: solve for temperatures, then label every node by a rule on them, or by a decision on probabilities.

`fit` returns a frozen `Fit`: the inputs, the outcome, and how certain it is. Its labels are final. What hidden seeds
teach about confidence is found on first use, unless the labels already needed it.
"""

from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.options import Progress, SolveOptions
from isotherm.equilibrium.problem import Problem, warn_about_unreached
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import Option, ParameterError, warn
from isotherm.graphs import Graph
from isotherm.labelling.label_sets import TOO_FEW, LabelSets, find_label_sets, hide
from isotherm.labelling.outcomes import BestScores, OneLabel, at_codes, best_codes, best_scores, needed_memory
from isotherm.labelling.rules import Decision, FittedDecision, Rule, class_factors
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import Calibration, CalibrationWarning
from isotherm.probability.class_sizes import known_sizes, resized, size_factors
from isotherm.probability.evidence import Evidence, EvidenceWarning
from isotherm.probability.experts import HEAT
from isotherm.probability.hidden_seeds import HiddenLabels
from isotherm.probability.learning import Learnt, Panel, learn, rough_solver
from isotherm.probability.node_features import FeatureField, Features, over_neighbours
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds

if TYPE_CHECKING:
    from isotherm.equilibrium.certificate import Certificate
    from isotherm.probability.label_odds import LabelOdds


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit, with the inputs that led to it.

    Attributes
    ----------
    problem : Problem
        The Dirichlet problem that was solved.
    seeds : Seeds
        The seeds on its boundary.
    settings : Settings
        The parameters of the classifier.
    outcome : OneLabel or LabelSets
        Labels, scores and temperatures.
    evidence : Evidence, optional
        What was known about nodes besides links.
    odds : ndarray of shape (E, n, K), optional
        The log-odds of each expert, if there are others than heat.
    taught : Learnt, optional
        What hidden seeds taught so far: always if labels needed it, otherwise after `learnt` was used.
    proof : Certificate, optional
        The bound on the error of temperatures, if ``stop="labels"`` needed it; see `certificate`.
    taught_odds : LabelOdds, optional
        How the temperatures of labels become probabilities, where a node may have several, if it is known so far.
    """

    problem: Problem
    seeds: Seeds
    settings: Settings
    outcome: OneLabel | LabelSets
    evidence: Evidence | None = None
    odds: NDArray[np.float32] | None = None
    taught: Learnt | None = None
    proof: "Certificate | None" = None
    taught_odds: "LabelOdds | None" = None

    def __getstate__(self) -> dict[str, Any]:  # cached properties are not pickled
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.problem.graph

    @property
    def options(self) -> SolveOptions:
        """How the problem was solved."""
        return self.settings.solving

    @property
    def rule(self) -> Rule | Decision:
        """What decided the labels: a rule on temperatures, or a decision on probabilities."""
        decision = self.outcome.decision
        return self.settings.heat_rule if decision is None else decision.rule

    @cached_property
    def field(self) -> FeatureField:
        """Features of all nodes, from which probabilities are found."""
        return FeatureField.of(self.graph, self.seeds, self.outcome.temperatures, self.settings.side)

    @property
    def learnt(self) -> Learnt:
        """What hidden seeds taught."""
        if self.taught is None:
            solve = rough_solver(self.problem, self.outcome.solution, self.options, self.field.neighbours)
            found = learn(self.field, self.graph, self.seeds, solve, label=labels_by(self.settings.heat_rule))
            self._keep("taught", found)
            return found
        return self.taught

    def _keep(self, name: str, value: Any) -> None:
        """Fill in a field on first use, as a cached property is, so that it is saved and handed on too."""
        object.__setattr__(self, name, value)

    @cached_property
    def calibration(self) -> Calibration:
        """How temperatures become probabilities, and their error; warns if there are few hidden seeds."""
        learnt, outcome = self.learnt, self.one_label("calibration_")
        if learnt.judged:
            return learnt.calibration
        trial, labels, scores = learnt.trial, learnt.trial.codes, None
        if trial.n_known and outcome.decision is not None:
            trial = trial._replace(probabilities=resized(trial.probabilities, outcome.factors))
            scores = outcome.decision.scores(trial.probabilities)
            labels = np.where(trial.known, outcome.decision.codes(trial.probabilities), -1)
        elif trial.n_known and trial.labels is not None:
            labels = trial.labels
        return learnt.calibration.judged(trial, labels, scores)

    def warn_about_few(self) -> None:
        """Warn, once in the life of a fit, if it learnt from too few hidden seeds."""
        if self.taught is not None:
            self.calibration  # noqa: B018
        elif self.taught_odds is not None:
            self.label_odds  # noqa: B018

    @cached_property
    def chances(self) -> Doubles:
        """(n, K) probabilities of the classes, not to be changed: 1 at seeds, 0 for all where nothing is known."""
        outcome = self.one_label("predict_proba")
        if outcome.chances is not None:
            return outcome.chances
        if self.settings.calibration is None:
            return outcome.softmax()
        found, held = self.learnt.calibration.probabilities(self.field), self.seeds.held
        found[held.nodes] = held.values()
        return found

    def probabilities(self, weights: csr_array | None = None) -> Doubles:
        """(n, K) probabilities of the classes, for the nodes or for new nodes with edge weights (m, n) to them.

        Where a node may have several labels, (n, L) the probability of each. Warns if hidden seeds are few.
        """
        if self.outcome.several:
            return self._label_probabilities(weights)
        outcome = self.one_label("temperatures_")
        if self.settings.calibration is None:
            return outcome.softmax(weights)
        self.calibration  # noqa: B018 - warns
        return self.chances if weights is None else self._chances_of_new(weights)

    def _chances_of_new(self, weights: csr_array) -> Doubles:
        found = self.learnt.of_new_nodes(weights, self.outcome.temperatures, self.seeds, self.odds)
        return resized(found, self.one_label("predict_proba").factors)

    @property
    def confidence(self) -> Any:
        """(n,) the probability of each label, or a sparse matrix (n, L) where a node may have several labels."""
        outcome = self.outcome
        if isinstance(outcome, LabelSets):
            return self._label_confidence(outcome)
        if isinstance(outcome, BestScores):
            return outcome.certainty
        if self.settings.calibration is not None:
            self.calibration  # noqa: B018 - warns if hidden seeds are few
        return at_codes(self.chances, outcome.codes)

    def new_labels(self, weights: csr_array) -> Any:
        """Labels of m new nodes, given the weights (m, n) of their edges to the nodes of the graph."""
        outcome = self.outcome
        if isinstance(outcome, LabelSets):
            return csr_array(over_neighbours(weights, outcome.scores) > 0)
        outcome.need_all("scores_")
        if outcome.decision is not None:
            return self.seeds.decode(outcome.decision.codes(self._chances_of_new(weights)))
        return self.seeds.decode(best_codes(over_neighbours(weights, outcome.scores)))  # rules commute with means

    def prediction_sets(self, coverage: float) -> Mask:
        """(n, K) the prediction set of each node: a seed has only its own class, an unreached node has all classes.

        Sets go by the scores of the decision, so that a set that is not empty has the label of the node.
        """
        outcome = self.one_label("predict_set")
        self.need_hidden_seeds("prediction sets")
        scores = self.chances if outcome.decision is None else outcome.scores
        with np.errstate(invalid="ignore"):
            sets = scores >= self.calibration.least_score(coverage)
        sets[outcome.codes < 0] = True
        held = self.seeds.held
        sets[held.nodes] = held.values() > 0
        return sets

    def need_hidden_seeds(self, what: str) -> None:
        """Refuse what needs hidden seeds if the settings forbid to hide any."""
        if self.settings.calibration is None:
            raise ParameterError(
                "{what} need hidden seeds, but {none}: set {auto}",
                what=what,
                none=Option("calibration", None),
                auto=Option("calibration", "auto"),
            )

    @property
    def experts(self) -> dict[str, float]:
        """The weight of each expert, by name."""
        self.one_label("experts_")
        combination = None if self.taught is None else self.taught.combination
        return {HEAT: 1.0} if combination is None else combination.by_name

    @cached_property
    def certificate(self) -> "Certificate":
        """A bound on the error of the temperatures."""
        return self.proof or engine_of(self.options).certify(self.problem, self.outcome.temperatures, self.options)

    def outcome_by(self, rule: Rule | Decision) -> OneLabel:
        """The same temperatures or probabilities, labelled by another rule or decision."""
        present = self.one_label("temperatures_")
        if isinstance(rule, Rule):
            return OneLabel(present.solution, self.seeds, rule)
        weights = class_factors(self.settings.class_weight, self.seeds)
        decision = FittedDecision.of(rule, self.chances, self.seeds, self.problem.graph, weights)
        chances, factors = self.chances, present.factors
        return OneLabel(present.solution, self.seeds, chances=chances, decision=decision, factors=factors)

    def one_label(self, name: str | Option) -> OneLabel:
        """The outcome, for an attribute of this name that needs one label per node and all scores."""
        self.outcome.need_all(str(name))
        if isinstance(self.outcome, LabelSets):
            message = "{name} is for seeds with one label each: hide some labels to see how well others are found"
            raise ParameterError(message, name=name)
        return self.outcome

    @cached_property
    def label_odds(self) -> "LabelOdds":
        """How temperatures become probabilities where a node may have several labels; warns if hidden seeds are few."""
        odds = self.taught_odds
        if odds is None:
            odds = hide(self.problem, self.seeds, self.options, self.settings.heat_rule).odds
            self._keep("taught_odds", odds)
        if odds.n_seen < TOO_FEW:
            message = f"with {odds.n_seen} labels on hidden seeds, probabilities are hardly more than temperatures"
            warn(f"{message}; label more nodes", CalibrationWarning)
        return odds

    def _label_probabilities(self, weights: csr_array | None) -> Doubles:
        temperatures = self.outcome.temperatures
        if weights is not None:
            temperatures = over_neighbours(weights, temperatures)
        plain = np.nan_to_num(temperatures).astype(np.float64)
        found = plain if self.settings.calibration is None else self.label_odds.probabilities(temperatures)
        if weights is None:
            held = self.seeds.held
            found[held.nodes] = held.values()
        return found

    def _label_confidence(self, outcome: LabelSets) -> csr_array:
        warmth = outcome.warmth
        if self.settings.calibration is None:
            return warmth
        probabilities = self.label_odds.probabilities(warmth.data)
        held = np.zeros(warmth.shape[0], bool)
        held[self.seeds.held.nodes] = True
        probabilities[np.repeat(held, np.diff(warmth.indptr))] = 1
        return csr_array((probabilities, warmth.indices, warmth.indptr), warmth.shape)


def labels_by(rule: Rule) -> HiddenLabels:
    """Labels some nodes by a rule on temperatures, given the visible seeds; -1 where unreached."""

    def label(field: Features, seeds: Seeds, nodes: Ints) -> Ints:
        assert isinstance(field, FeatureField)
        temperatures = field.temperatures[nodes]
        with np.errstate(invalid="ignore", divide="ignore"):  # a class that no visible seed has
            scores = rule.scored(temperatures, rule.totals(field.temperatures, seeds.nodes), seeds.shares)
        return np.where(np.isnan(temperatures[:, 0]), -1, best_codes(np.nan_to_num(scores, nan=-np.inf)))

    return label


def fit(
    graph: Graph,
    seeds: Seeds,
    settings: Settings,
    evidence: Evidence | None = None,  # what is known about nodes besides links; only for decisions on probabilities
    *,
    before: Fit | None = None,  # with other seeds; its temperatures and what it learnt are reused
    progress: Progress | None = None,  # called after each iteration with its number and the present error
) -> Fit:
    """Label all nodes of a graph."""
    _check_applicable(graph, seeds, settings)
    if graph.is_packed:
        from isotherm.labelling.estimate import check_memory

        structure = evidence is not None and evidence.structure is not None
        check_memory(graph, seeds.n_classes, settings, structure=structure)
    options = replace(settings.solving, progress=progress)
    problem = Problem.of_seeds(graph, seeds, settings.side)
    if seeds.several:
        start = None if before is None else _start(before, seeds, options)
        outcome, odds = find_label_sets(problem, seeds, options, settings, start=start)
        return Fit(problem, seeds, settings, outcome, taught_odds=odds)
    if not _keeps_all_scores(graph, seeds, settings):
        _warn_about_memory(graph, seeds, settings)
        return Fit(problem, seeds, settings, best_scores(problem, options, seeds, settings.heat_rule))
    if settings.stop == "labels":
        from isotherm.labelling.certification import until_certain  # few fits need it

        return until_certain(problem, seeds, settings, options)
    panel = None if settings.decision is None else _panel(evidence, graph, seeds, settings.solving)
    with nullcontext() if panel is None else panel.meanwhile():
        if before is None:
            solution = engine_of(options).solve(problem, options)
        else:
            solution = _solve_again(before, problem, seeds, options)
        if evidence is None or not evidence.beyond_links:  # otherwise unreached nodes have labels too
            warn_about_unreached(solution.temperatures)
        if settings.decision is not None:
            return _decide(problem, seeds, settings, solution, evidence, panel, before)
    found = Fit(problem, seeds, settings, OneLabel(solution, seeds, settings.heat_rule))
    earlier = _taught(before, settings)
    return found if earlier is None else replace(found, taught=earlier.moved(seeds, found.field.mean, None))


def _decide(
    problem: Problem,
    seeds: Seeds,
    settings: Settings,
    solution: Solution,
    evidence: Evidence | None,
    panel: Panel | None,
    before: Fit | None,
) -> Fit:
    """Learn probabilities from hidden seeds, and decide by them."""
    graph, options = problem.graph, settings.solving
    neighbours = None if before is None else before.field.neighbours
    field = FeatureField.of(graph, seeds, solution.temperatures, settings.side, neighbours)
    learnt, earlier = None, _taught(before, settings)
    if earlier is not None and not (evidence is not None and evidence.beyond_links):
        learnt = earlier.moved(seeds, field.mean, panel)
    if learnt is None:
        solve = rough_solver(problem, solution, options, field.neighbours)
        learnt = learn(field, graph, seeds, solve, panel=panel)
    chances, odds = learnt.probabilities(field, panel)
    held, factors = seeds.held, None
    chances[held.nodes] = held.values()
    if settings.class_sizes is not None:
        factors = size_factors(chances, settings.class_sizes, seeds)
        chances = resized(chances, factors)
        chances[held.nodes] = held.values()
    assert settings.decision is not None
    weights = class_factors(settings.class_weight, seeds)
    decision = FittedDecision.of(settings.decision, chances, seeds, graph, weights)
    outcome = OneLabel(solution, seeds, chances=chances, decision=decision, factors=factors)
    return Fit(problem, seeds, settings, outcome, evidence, odds, learnt)


def _panel(evidence: Evidence | None, graph: Graph, seeds: Seeds, options: SolveOptions) -> Panel | None:
    """The experts besides heat; None without evidence, or if there is only one class."""
    return None if evidence is None or seeds.n_classes == 1 else Panel(evidence, graph, seeds, options)


def hide_every_seed(fit: Fit, evidence: Evidence | None) -> Trial:
    """A trial in which every seed is hidden once, except for the only seed of a class.

    A fit itself hides only as many seeds as it needs. ``evidence`` is the evidence of the fit.
    """
    solve = rough_solver(fit.problem, fit.outcome.solution, fit.options, fit.field.neighbours)
    panel = _panel(evidence, fit.graph, fit.seeds, fit.options)
    return learn(fit.field, fit.graph, fit.seeds, solve, panel=panel, every=True).trial


def _taught(before: Fit | None, settings: Settings) -> Learnt | None:
    """What hidden seeds taught an earlier fit, if side and rule, and so temperatures, are the same."""
    if before is None or (before.settings.side, before.settings.rule) != (settings.side, settings.rule):
        return None
    return before.taught


def _solve_again(before: Fit, problem: Problem, seeds: Seeds, options: SolveOptions) -> Solution:
    """The solution for other seeds: a correction of the earlier one, or else a solve that starts from it."""
    corrected, outcome = None, before.outcome
    if outcome.kept and before.options.solver == options.solver:
        temperatures = in_classes(outcome.temperatures, before.seeds, seeds)
        corrected = engine_of(options).correct(before.problem, outcome.solution, problem, temperatures, options)
    return corrected or engine_of(options).solve(problem, options, start=_start(before, seeds, options))


def _start(before: Fit, seeds: Seeds, options: SolveOptions) -> Floats | None:
    """Starting temperatures from an earlier fit; None if a fixed number of iterations from scratch is wanted."""
    warm = options.tol is not None and before.outcome.kept
    return warm_start(before.outcome.temperatures, before.seeds, seeds) if warm else None


def has_probabilities(graph: Graph, seeds: Seeds, settings: Settings) -> bool:
    """Whether probabilities decide: each node has one label, and all scores fit in memory."""
    return settings.decision is not None and not seeds.several and _keeps_all_scores(graph, seeds, settings)


def why_heat_alone(seeds: Seeds) -> str:
    """Why there are no probabilities to decide by."""
    return "nodes may have several labels" if seeds.several else "not all scores are kept"


def _keeps_all_scores(graph: Graph, seeds: Seeds, settings: Settings) -> bool:
    """Whether all scores are kept: if they fit in memory, or are needed to certify labels."""
    return settings.stop == "labels" or needed_memory(graph.n_nodes, seeds.n_classes) <= settings.allowed_memory


def _check_applicable(graph: Graph, seeds: Seeds, settings: Settings) -> None:
    """Refuse settings that do not work with these seeds."""
    class_factors(settings.class_weight, seeds)  # refuses unknown labels before any work
    if seeds.several and settings.stop == "labels":
        raise ParameterError(
            "{stop} is for seeds with one label each: use {instead}",
            stop=Option("stop", "labels"),
            instead=Option("stop", "error"),
        )
    if settings.class_sizes is None:
        return
    known_sizes(settings.class_sizes, seeds)  # likewise
    if not has_probabilities(graph, seeds, settings):
        reason = why_heat_alone(seeds)
        message = "{sizes} needs probabilities, but there are none, since {reason}: leave it out"
        raise ParameterError(message, sizes=Option("class_sizes"), reason=reason)


def _warn_about_memory(graph: Graph, seeds: Seeds, settings: Settings) -> None:
    """Warn that a decision on probabilities was asked for, but temperatures are compared."""
    if settings.decision is None:
        return
    from isotherm.tables import size  # few fits warn

    message = "probabilities of {classes} classes at {nodes:,} nodes would take {size}, so labels go by heat alone"
    warn(
        EvidenceWarning(
            message + ": raise {max_memory}, or use DirichletClassifier",
            classes=seeds.n_classes,
            nodes=graph.n_nodes,
            size=size(needed_memory(graph.n_nodes, seeds.n_classes)),
            max_memory=Option("max_memory"),
        )
    )


def warm_start(temperatures: Floats, before: Seeds, after: Seeds) -> Floats:
    """Starting temperatures for the classes after a change, shape (n, K); each row sums to one.

    A new class starts at 0. The heat of a dropped class is distributed over the others in proportion. A node that was
    unreached starts at the class shares of the seeds. With sets of labels, each label is independent: rows need not sum
    to one, and a new label starts at its share.
    """
    if np.array_equal(before.classes, after.classes):
        start = temperatures.copy()
        start[np.isnan(start[:, 0])] = after.shares
        return start
    start = np.zeros((len(temperatures), after.n_classes), temperatures.dtype)
    place = {label: column for column, label in enumerate(before.classes.tolist())}
    for column, label in enumerate(after.classes.tolist()):
        if label in place:
            start[:, column] = temperatures[:, place[label]]
        elif after.several:
            start[:, column] = after.shares[column]
    if after.several:
        return np.where(np.isnan(start), after.shares, start)
    total = start.sum(axis=1)
    empty = ~(total > 0)
    start[empty], total[empty] = after.shares, 1
    return start / total[:, None]


def in_classes(temperatures: Floats, before: Seeds, after: Seeds) -> Floats:
    """The temperatures (n, K) in the columns of the classes after a change; a new class has 0 everywhere."""
    if np.array_equal(before.classes, after.classes):
        return temperatures
    place = {label: column for column, label in enumerate(before.classes.tolist())}
    columns = [place.get(label, -1) for label in after.classes.tolist()]
    known = np.column_stack([temperatures, 0 * temperatures[:, 0]])  # 0, or NaN where unreached
    return np.ascontiguousarray(known[:, columns])
