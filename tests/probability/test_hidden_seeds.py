"""Hidden seeds: which are hidden together, what is found about them, and that no solve knows their labels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import f1_score

import isotherm as iso
from isotherm.engines import LocalEngine
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.labelling.fit import labels_by
from isotherm.labelling.rules import RULES
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability.calibration import calibrate
from isotherm.probability.evidence import Evidence
from isotherm.probability.hidden_seeds import hide_seeds
from isotherm.probability.node_features import FeatureField, Features
from isotherm.seeds import Seeds
from isotherm.study.scores import macro_f1


def flat_field(n: int) -> FeatureField:
    return FeatureField(np.full((n, 2), 0.5), csr_array((n, 2)), np.ones(n))


def random_graph() -> tuple[iso.Graph, Seeds]:
    """A graph with three classes of twenty seeds each, the first of its nodes."""
    rng = np.random.default_rng(0)
    graph = iso.Graph.from_edges(*rng.integers(200, size=(2, 1500)), nodes=range(200))
    return graph, Seeds.from_labels(np.where(np.arange(200) < 60, np.arange(200) % 3, -1), graph)


def field_by(graph: iso.Graph, seeds: Seeds) -> FeatureField:
    values = np.full((graph.n_nodes, seeds.n_classes), np.nan)
    values[seeds.nodes] = seeds.values()
    return FeatureField.of(graph, seeds, iso.solve_dirichlet(graph, values), "edges")


@pytest.mark.parametrize("rule", RULES)
def test_every_seed_is_hidden_once_and_labelled_by_the_rule_without_it(rule: str) -> None:
    graph, seeds = random_graph()
    guesses: dict[int, int] = {}

    def solve(rest: Seeds) -> FeatureField:
        hidden, field = np.setdiff1d(seeds.nodes, rest.nodes), field_by(graph, rest)
        codes = RULES[rule].scores(field.temperatures, rest)[hidden].argmax(axis=1)
        guesses.update(zip(hidden.tolist(), codes.tolist(), strict=True))
        return field

    found = hide_seeds(seeds, graph, solve, label=labels_by(RULES[rule]))
    np.testing.assert_array_equal(np.sort(found.joined("hidden")), np.arange(60))
    np.testing.assert_array_equal(found.joined("codes"), found.joined("hidden") % 3)
    trial = calibrate(found, field_by(graph, seeds), seeds).trial
    assert trial.labels is not None
    assert trial.labels.tolist() == [guesses[node] for node in trial.nodes.tolist()]
    assert macro_f1(trial.codes, trial.labels) == pytest.approx(f1_score(trial.codes, trial.labels, average="macro"))
    assert [len(found.hidden_with(fold)) for fold in found.folds] == [20, 20, 20]


def test_a_class_without_a_visible_seed_is_nobodys_label() -> None:
    """The only seed of a class is never hidden, but two of its seeds may be hidden together."""
    graph, seeds = random_graph()
    visible = seeds.take(seeds.codes != 1)
    nodes = np.array([1, 4, 100])
    for rule in RULES.values():
        assert 1 not in labels_by(rule)(field_by(graph, visible), visible, nodes)


def test_unreached_hidden_seeds_have_no_label() -> None:
    graph = iso.Graph.from_edges([0, 2], [1, 3])
    seeds = Seeds.from_labels({0: "a", 1: "b"}, graph)
    temperatures = np.array([[1, 0], [0, 1], [np.nan, np.nan], [np.nan, np.nan]])
    field = FeatureField.of(graph, seeds, temperatures, "edges")
    for rule in RULES.values():
        assert labels_by(rule)(field, seeds, np.array([0, 1, 3])).tolist() == [0, 1, -1]


@pytest.mark.parametrize("solver", ["cg", "elimination", "sweeps", "direct", "auto"])
@pytest.mark.parametrize("kind", [iso.NodeClassifier, iso.DirichletClassifier])
@pytest.mark.filterwarnings("ignore::isotherm.ConvergenceWarning", "ignore::isotherm.CalibrationWarning")
def test_no_solve_without_the_hidden_seeds_starts_from_the_fit(
    kind: type[Any], solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temperatures of the fit know the hidden labels. Also after an update, whose own solve may start from them."""
    graph = stochastic_block_model([60, 60], 0.2, 0.02, 0)
    known = {node: int(node >= 60) for node in range(0, 120, 4)}
    solves: list[tuple[int, Any]] = []
    usual = LocalEngine.solve

    def recorded(self: LocalEngine, problem: Problem, options: SolveOptions, *, start: Any = None) -> Any:
        solves.append((len(problem.nodes), start))
        return usual(problem, options, start=start)

    monkeypatch.setattr(LocalEngine, "solve", recorded)
    clf = kind(solver=solver).fit(graph, known)
    assert clf.confidence_.any()
    assert [count for count, _ in solves] == [30, 20, 20, 20]
    assert all(start is None for _, start in solves)
    solves.clear()
    clf.update({1: 0, 61: 1, 62: 1, 63: 1})  # so many that all is learnt anew
    assert clf.confidence_.any()
    hidden = [start for count, start in solves if count < 34]
    assert len(hidden) == 3
    assert hidden == [None] * 3


def test_hidden_seeds_keep_their_features_from_the_solve_without_them() -> None:
    graph, seeds = random_graph()
    rests: list[Seeds] = []

    def solve(rest: Seeds) -> Features:
        rests.append(rest)
        return field_by(graph, rest)

    found = hide_seeds(seeds, graph, solve, keep_fields=True)
    for fold, rest in zip(found.folds, rests, strict=True):
        assert not np.isin(fold.hidden, rest.nodes).any()
        field = field_by(graph, rest)
        np.testing.assert_array_equal(fold.features.temperatures, field.temperatures[fold.hidden])
        np.testing.assert_array_equal(fold.features.direct, field.direct[fold.hidden].toarray())
        np.testing.assert_array_equal(fold.sample.temperatures, field.temperatures[found.sample])
        assert fold.field is not None
        np.testing.assert_array_equal(fold.field.temperatures, field.temperatures)
        assert not len(fold.labels)
    assert not np.isin(found.sample, seeds.nodes).any()


def test_hidden_seeds_are_no_more_like_the_others_than_chance_has_it() -> None:
    """Dealt by degree, three seeds that are next to each other in degree would always be in three folds."""
    hubs, n = np.repeat(np.arange(60), np.arange(60) + 1), 60 + 61 * 30
    graph = iso.Graph.from_edges(hubs, np.arange(60, n), nodes=range(n))
    seeds = Seeds.from_labels({hub: hub % 2 for hub in range(60)}, graph)
    folds_found = hide_seeds(seeds, graph, lambda _: flat_field(n)).folds
    fold_of = {node: place for place, fold in enumerate(folds_found) for node in fold.hidden}
    triples = [{fold_of[first + 2 * step] for step in range(3)} for first in range(56)]
    assert 4 <= sum(len(folds) == 3 for folds in triples) <= 25  # 2/9 of them by chance
    assert [list(fold_of.values()).count(fold) for fold in range(3)] == [20, 20, 20]


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_seeds_that_only_features_tell_apart_are_dealt_by_these(kind: Callable[[Any], Any]) -> None:
    """In a complete graph all nodes have the same surroundings; the folds do not depend on how they are numbered."""
    n, rng = 12, np.random.default_rng(0)
    rows, folds = rng.normal(size=(n, 3)), []
    graph = iso.Graph.from_scipy(1 - np.eye(n))
    for _ in range(4):
        places = rng.permutation(n)
        seeds = Seeds.from_labels({int(places[node]): node % 2 for node in range(8)}, graph)
        marks = Evidence(kind(rows[np.argsort(places)])).marks
        found = hide_seeds(seeds, graph, lambda _: flat_field(n), marks=marks)
        assert all({*fold.codes.tolist()} == {0, 1} for fold in found.folds)
        folds.append([sorted(np.argsort(places)[fold.hidden].tolist()) for fold in found.folds])
    assert [len(fold) for fold in folds[0]] == [3, 3, 2]
    assert all(each == folds[0] for each in folds)


@pytest.mark.parametrize(("rare", "folds"), [(3, 3), (100, 1)])
def test_more_seeds_are_hidden_where_a_class_has_hardly_any(rare: int, folds: int) -> None:
    """One fold of 1,200 seeds tells how well most are found, but a single rare one tells nothing about the others."""
    n = 3600
    graph = iso.Graph.from_edges(np.arange(n), np.roll(np.arange(n), 1))
    seeds = Seeds.from_labels((np.arange(n) < rare).astype(int), graph)
    solved = []

    def solve(rest: Seeds) -> FeatureField:
        solved.append(rest)
        return flat_field(n)

    found = hide_seeds(seeds, graph, solve)
    assert len(solved) == folds
    assert np.count_nonzero(found.joined("codes")) in ([3] if rare == 3 else [33, 34])
