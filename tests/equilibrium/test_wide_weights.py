"""Weights in any unit, and weights that differ by many orders of magnitude: right, or said not to be."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from problems import dense, star_mesh

import isotherm as iso
from isotherm.choices import SolverName
from isotherm.equilibrium.lifting import in_good_unit
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, interior_system, joined, solve
from isotherm.equilibrium.solvers import Request, Source
from isotherm.equilibrium.solvers.direct import Exact

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.ConvergenceWarning")


def random_graph(seed: int, decades: float) -> tuple[iso.Graph, NDArray[np.int64]]:
    """A small graph whose weights span so many powers of ten, and three seeds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    edges = int(rng.integers(n, 3 * n))
    weights = 10.0 ** rng.uniform(-decades / 2, decades / 2, edges)
    source, target = rng.integers(n, size=(2, edges))
    graph = iso.Graph.from_edges(source, target, weights, nodes=range(n))
    return graph, np.sort(rng.choice(n, 3, replace=False))


@pytest.mark.parametrize("factor", [1e-310, 1e-300, 1e-38, 1e-35, 1e38, 1e300])
@pytest.mark.parametrize("solver", ["auto", "cg", "elimination", "direct"])
def test_the_unit_of_weights_does_not_matter(solver: SolverName, factor: float) -> None:
    n = 1500
    weights = np.ldexp(np.random.default_rng(0).integers(1, 9, n - 1).astype(float), -1)
    plain, scaled = (iso.Graph.from_edges(range(n - 1), range(1, n), unit * weights) for unit in (1.0, factor))
    expected, found = (
        iso.DirichletClassifier(solver=solver).fit(graph, {0: "a", n - 1: "b"}) for graph in (plain, scaled)
    )
    assert found.solution_.converged
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.temperatures_, expected.temperatures_, atol=1e-3)


@pytest.mark.parametrize("decades", [12, 40])
@pytest.mark.parametrize("solver", ["auto", "direct", "elimination", "cg"])
def test_right_or_said_not_to_be(solver: str, decades: int) -> None:
    for seed in range(25 if decades == 12 else 10):
        graph, seeds = random_graph(seed, decades)
        exact = star_mesh(dense(graph.heat), seeds, np.eye(3))
        options = SolveOptions(solver=solver, tol=1e-3, max_iter=2000)
        solution = solve(Problem.of(graph, seeds, np.eye(3)), options)
        np.testing.assert_array_equal(np.isnan(solution.temperatures), np.isnan(exact))
        error = np.nanmax(np.abs(solution.temperatures - exact), axis=0) / np.nanstd(exact, axis=0)
        assert error.max() <= solution.error_bound + 1e-13
        assert error.max() <= 3e-3 or not solution.converged
        if solver in ("auto", "direct"):
            assert solution.converged  # small graphs are solved whatever their weights


def test_a_bound_is_relative_to_the_spread_at_equilibrium(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative to the spread of the temperatures found, it was smaller than the error by one part in 40,000."""
    monkeypatch.setattr("isotherm.equilibrium.solvers.system.FEW_NODES", 0)  # as in a large graph, errors are left
    graph = iso.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1e-3, 1e15, 1e-8, 1e-17])
    problem = Problem.of(graph, np.array([0, 3]), np.eye(2))
    solution = solve(problem, SolveOptions(solver="elimination", tol=1e-3))
    heat = Fraction(1e-8) / (Fraction(1e-3) + Fraction(1e-8)), Fraction(1e-17) / (Fraction(1e15) + Fraction(1e-17))
    exact = np.array([0, *map(float, heat), 1])
    error = np.abs(solution.temperatures[:, 1] - exact).max() / exact.std()
    assert error <= solution.error_bound <= 2 * error
    lost = [replace(solution, error_bound=1.5)]
    assert joined(lost, None).error_bound == np.inf  # all differences may be errors, and the true spread 0


@pytest.mark.parametrize("solver", ["auto", "direct", "elimination", "cg", "sweeps"])
def test_subnormal_weights(solver: SolverName) -> None:
    graph = iso.Graph.from_edges(range(5), range(1, 6), [1, 1e-310, 1, 1e-310, 1.0])
    clf = iso.DirichletClassifier(solver=solver).fit(graph, {0: "a", 5: "b"})
    assert clf.labels_.tolist()[:2] == ["a", "a"]
    assert clf.labels_.tolist()[4:] == ["b", "b"]
    assert not np.isnan(clf.temperatures_).any()
    if clf.solution_.converged:
        np.testing.assert_allclose(clf.temperatures_[2:4], 0.5, atol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_exact_elimination_takes_sources_and_closed_columns(seed: int) -> None:
    graph, seeds = random_graph(seed, 4)
    system = interior_system(graph.heat, seeds)
    inside = np.flatnonzero(system.interior)
    heat = np.random.default_rng(seed).normal(size=(len(inside), 2))
    found = (
        Exact(system)
        .solve(Request(np.eye(3)[:, 1:], SolveOptions(), source=Source(inside, heat), closed=True))
        .temperatures
    )
    matrix = np.diag(system.degree) - dense(graph.heat)
    right = heat - matrix[np.ix_(inside, seeds)] @ np.eye(3)[:, 1:]
    expected: Any = np.linalg.solve(matrix[np.ix_(inside, inside)], right)
    np.testing.assert_allclose(found[inside], expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_a_unit_is_a_power_of_two_and_is_left_alone_if_good() -> None:
    graph = iso.Graph.from_edges([0, 1], [1, 2], [0.3, 700.0])
    assert in_good_unit(graph.heat)[0] is graph.heat
    tiny = iso.Graph.from_edges([0, 1], [1, 2], [0.3e-50, 700e-50])
    heat, factor = in_good_unit(tiny.heat)
    assert np.frexp(factor)[0] == 0.5
    assert heat.weights is not None
    assert tiny.heat.weights is not None
    np.testing.assert_array_equal(heat.weights, factor * tiny.heat.weights)


@pytest.mark.parametrize(("unit", "fits"), [(1.0, True), (1e-30, False), (1e30, False)])
def test_single_precision_never_exceeds_the_limits(unit: float, fits: bool) -> None:
    weights = np.array([1e-45, unit, unit, unit, 3e38], np.float32)
    graph = iso.Graph.from_edges(np.arange(5), np.arange(1, 6), weights)
    assert graph.heat.weights is not None
    assert graph.heat.weights.dtype == np.float32
    heat, factor = in_good_unit(graph.heat)
    assert (heat is graph.heat) == fits
    assert heat.weights is not None
    np.testing.assert_array_equal(heat.weights, factor * graph.heat.weights.astype(np.float64))


@pytest.mark.parametrize("sweeps", [5, 29])
def test_heat_that_has_only_just_arrived_is_not_lost(sweeps: int) -> None:
    """After 29 sweeps from 0, networkx has spread both labels as far; float32 temperatures would not show it."""
    path = nx.path_graph(200)
    nx.set_node_attributes(path, {0: "a", 199: "b"}, "label")
    expected = nx.algorithms.node_classification.harmonic_function(path, max_iter=sweeps + 1)
    values = np.full((200, 2), np.nan)
    values[[0, 199]] = np.eye(2)
    options = {"tol": None, "max_iter": sweeps, "start": np.zeros((200, 2))}
    found = iso.solve_dirichlet(path, values, solver="sweeps", **options)  # type: ignore[arg-type]
    warm = found.max(axis=1) > 0
    assert np.count_nonzero(warm) == 2 * (sweeps + 1)
    labels = np.array(["a", "b"])[found.argmax(axis=1)]
    assert labels[warm].tolist() == [label for label, known in zip(expected, warm, strict=True) if known]


def grounded(graph: iso.Graph, seeds: dict[int, float], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exact temperatures with soft seeds: an edge joins each to a node of its own, which is held."""
    n, weights = graph.n_nodes, dense(graph.heat)
    whole = np.zeros((n + len(seeds), n + len(seeds)))
    whole[:n, :n] = weights
    for ground, (node, weight) in enumerate(seeds.items(), n):
        whole[node, ground] = whole[ground, node] = weight * weights[node].sum()
    return star_mesh(whole, np.arange(n, n + len(seeds)), values)[:n]


@pytest.mark.parametrize("solver", ["cg", "sweeps", "elimination", "direct"])
@pytest.mark.parametrize("iterations", [1, 100, 3200, None])
def test_a_bound_is_relative_to_the_rows_that_are_read(solver: SolverName, iterations: int | None) -> None:
    """The nodes that stand for weak seeds are held far apart; relative to that, the error was 0.055 instead of 48."""
    graph, weak = iso.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 3]), {1: 0.001, 2: 0.002}
    clf = iso.DirichletClassifier(solver=solver, rule="vanilla", max_iter=iterations, calibration=None)
    clf.fit(graph, {1: "a", 2: "b"}, seed_weight=weak)
    exact = grounded(graph, weak, np.eye(2))
    error = (np.abs(clf.temperatures_ - exact).max(axis=0) / exact.std(axis=0)).max()
    assert error <= clf.solution_.error_bound
    assert error <= 3e-3 or not clf.solution_.converged
    if iterations is None and solver != "sweeps":
        assert clf.solution_.converged


@pytest.mark.parametrize("solver", ["cg", "sweeps", "elimination", "direct"])
def test_weak_seeds_are_not_taken_for_none(solver: SolverName) -> None:
    """At the start all nodes that are read are alike: that is no sign of equilibrium."""
    graph, weak = iso.Graph.from_edges([0, 1], [1, 2], [0.014, 3.0]), {0: 71.0, 2: 2e-6}
    clf = iso.DirichletClassifier(solver=solver, rule="vanilla", calibration=None)
    clf.fit(graph, {0: "a", 2: "b"}, seed_weight=weak)
    exact = grounded(graph, weak, np.eye(2))
    error = (np.abs(clf.temperatures_ - exact).max(axis=0) / exact.std(axis=0)).max()
    assert clf.solution_.converged
    assert error <= 3e-3


@pytest.mark.parametrize("weight", [0.1, 1e-3, 1e-42, 1e42])
def test_the_weight_of_a_seed_is_not_rounded_to_the_type_of_the_edges(weight: float) -> None:
    graph = iso.Graph.from_edges([0, 1], [1, 2], np.array([1, 3], np.float32))
    clf = iso.DirichletClassifier(rule="vanilla", tol=1e-12, calibration=None)
    clf.fit(graph, {0: "a", 2: "b"}, seed_weight={0: weight, 2: 3 * weight})
    exact = grounded(graph, {0: weight, 2: 3 * weight}, np.eye(2))
    np.testing.assert_allclose(clf.temperatures_, exact, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("decades", [8, 12, 16])
@pytest.mark.parametrize("solver", ["auto", "direct"])
def test_direct_solves_claim_only_what_they_reach(solver: str, decades: int) -> None:
    """Refinement repeats the rounding errors of the degrees, so that a small correction does not show them."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 9))
        source, target = [*range(n - 1), *rng.integers(n, size=n)], [*range(1, n), *rng.integers(n, size=n)]
        weights = 10.0 ** rng.uniform(-decades / 2, decades / 2, len(source))
        graph, seeds = iso.Graph.from_edges(source, target, weights, nodes=range(n)), np.array([0, n - 1])
        found = solve(Problem.of(graph, seeds, np.eye(2)), SolveOptions(solver=solver, tol=1e-12))
        exact = star_mesh(dense(graph.heat), seeds, np.eye(2))
        error = np.abs(found.temperatures - exact).max() / exact.std(axis=0).max()
        assert found.converged
        assert error <= 3e-12
        assert error <= found.error_bound
