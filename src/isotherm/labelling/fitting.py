"""The fit: solve for temperatures, then label every node by a rule on them, or by a decision on probabilities."""

from dataclasses import replace

from isotherm.arrays import Floats
from isotherm.engines import engine_of
from isotherm.equilibrium.options import Progress, SolveOptions
from isotherm.equilibrium.problem import Problem, warn_about_unreached
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import Option, ParameterError, warn
from isotherm.graphs import Graph
from isotherm.labelling.decisions import FittedDecision, class_factors
from isotherm.labelling.fit import Fit
from isotherm.labelling.label_sets import find_label_sets
from isotherm.labelling.outcomes import OneLabel, best_scores, needed_memory
from isotherm.labelling.settings import Settings
from isotherm.probability.evidence import Evidence, EvidenceWarning
from isotherm.probability.learning import Learnt, Panel, learn, rough_solver
from isotherm.probability.node_features import FeatureField
from isotherm.seeds import Seeds


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

        check_memory(graph, seeds.n_classes, settings)
    options = replace(settings.solving, progress=progress)
    problem = Problem.of_seeds(graph, seeds, settings.side)
    if seeds.several:
        start = None if before is None else _start(before, seeds, options)
        return Fit(problem, seeds, settings, find_label_sets(problem, seeds, options, settings, start=start))
    if not _keeps_all_scores(graph, seeds, settings):
        _warn_about_memory(graph, seeds, settings)
        return Fit(problem, seeds, settings, best_scores(problem, options, seeds, settings.heat_rule))
    if settings.stop == "labels":
        from isotherm.labelling.certification import until_certain  # few fits need it

        return until_certain(problem, seeds, settings, options)
    if before is None:
        solution = engine_of(options).solve(problem, options)
    else:
        solution = _solve_again(before, problem, seeds, options)
    warn_about_unreached(solution.temperatures)
    if settings.decision is None:
        outcome = OneLabel(solution, seeds, settings.heat_rule)
        return Fit(problem, seeds, settings, outcome, earlier=_taught(before, settings))
    return _decide(problem, seeds, settings, solution, evidence, before)


def _decide(
    problem: Problem,
    seeds: Seeds,
    settings: Settings,
    solution: Solution,
    evidence: Evidence | None,
    before: Fit | None,
) -> Fit:
    """Learn probabilities from hidden seeds, and decide by them."""
    graph, options = problem.graph, settings.solving
    neighbours = None if before is None else before.field.neighbours
    field = FeatureField.of(graph, seeds, solution.temperatures, settings.side, neighbours)
    one_class = seeds.n_classes == 1  # then nothing is to be told apart, and evidence says nothing
    panel = None if evidence is None or one_class else Panel(evidence, graph, seeds, options)
    learnt, earlier = None, _taught(before, settings)
    if earlier is not None and not (evidence is not None and evidence.beyond_links):
        learnt = earlier.moved(seeds, field.mean, panel)
    if learnt is None:
        solve = rough_solver(problem, solution, options, field.neighbours)
        learnt = learn(field, graph, seeds, solve, panel=panel)
    chances, odds = learnt.probabilities(field, panel)
    held = seeds.held
    chances[held.nodes] = held.values()
    assert settings.decision is not None
    decision = FittedDecision.of(settings.decision, chances, seeds, class_factors(settings.class_weight, seeds))
    outcome = OneLabel(solution, seeds, chances=chances, decision=decision)
    return Fit(problem, seeds, settings, outcome, evidence, odds, learnt)


def _taught(before: Fit | None, settings: Settings) -> Learnt | None:
    """What hidden seeds taught an earlier fit, if it had the same temperatures and rule on them."""
    if before is None or (before.settings.side, before.settings.rule) != (settings.side, settings.rule):
        return None
    return before.known


def _solve_again(before: Fit, problem: Problem, seeds: Seeds, options: SolveOptions) -> Solution:
    """The solution for other seeds: the earlier one corrected or, if that is not possible, a start for the solver."""
    from isotherm.labelling.changes import in_classes

    corrected, outcome = None, before.outcome
    if outcome.kept and before.options.solver == options.solver:
        temperatures = in_classes(outcome.temperatures, before.seeds, seeds)
        corrected = engine_of(options).correct(before.problem, outcome.solution, problem, temperatures, options)
    return corrected or engine_of(options).solve(problem, options, start=_start(before, seeds, options))


def _start(before: Fit, seeds: Seeds, options: SolveOptions) -> Floats | None:
    """The temperatures of an earlier fit as a start, unless a fixed number of iterations from scratch is wanted."""
    from isotherm.labelling.changes import warm_start

    warm = options.tol is not None and before.outcome.kept
    return warm_start(before.outcome.temperatures, before.seeds, seeds) if warm else None


def has_probabilities(graph: Graph, seeds: Seeds, settings: Settings) -> bool:
    """Whether probabilities decide: each node has one label, and all scores fit in memory."""
    return settings.decision is not None and not seeds.several and _keeps_all_scores(graph, seeds, settings)


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


def _warn_about_memory(graph: Graph, seeds: Seeds, settings: Settings) -> None:
    """Warn that a decision on probabilities was asked for, but temperatures are compared."""
    if settings.decision is None:
        return
    message = (
        "probabilities of {classes} classes at {nodes:,} nodes would take {size:.1f} GB, so labels go by heat alone"
    )
    warn(
        EvidenceWarning(
            message + ": raise {max_memory}, or use DirichletClassifier",
            classes=seeds.n_classes,
            nodes=graph.n_nodes,
            size=needed_memory(graph.n_nodes, seeds.n_classes) / 2**30,
            max_memory=Option("max_memory"),
        )
    )
