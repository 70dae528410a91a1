"""The contract of engines, on each of them: the same problems, against dense linear algebra and against each other."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from problems import harmonic

import isotherm as iso
from isotherm.choices import EngineName
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.equilibrium.solvers import Solution

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")


def solved(problem: Problem, options: SolveOptions) -> Solution:
    return engine_of(options).solve(problem, options)


@pytest.fixture(params=["local", "dask"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "dask":
        request.getfixturevalue("cluster")
    return str(request.param)


def random_graph(kind: str = "undirected", n: int = 120) -> iso.Graph:
    rng = np.random.default_rng(3)
    source, target = rng.integers(n, size=(2, 2 * n))
    weight = None if kind == "unweighted" else rng.lognormal(size=2 * n)
    return iso.Graph.from_edges(source, target, weight, directed=kind == "directed", nodes=range(n))


def given(graph: iso.Graph, seeds: int = 12, classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    nodes = np.sort(rng.choice(graph.n_nodes, seeds, replace=False))
    return nodes, np.eye(classes)[np.arange(seeds) % classes]


@pytest.mark.parametrize("kind", ["undirected", "unweighted"])
def test_temperatures_are_those_of_a_dense_solve(engine: str, kind: str) -> None:
    graph = random_graph(kind)
    nodes, values = given(graph)
    found = solved(Problem.of(graph, nodes, values), SolveOptions(tol=1e-9, engine=engine))
    np.testing.assert_allclose(found.temperatures, harmonic(graph.heat.to_scipy(), nodes, values), atol=1e-8)
    assert found.converged
    assert found.error_bound < 1e-6


def test_a_rough_solve_does_not_spoil_a_fine_one(engine: str) -> None:
    """Workers round weights for a rough solve, and get them anew for a fine one."""
    graph = random_graph()
    nodes, values = given(graph)
    problem, expected = Problem.of(graph, nodes, values), harmonic(graph.heat.to_scipy(), nodes, values)
    for tol in (1e-3, 1e-10, 1e-3):
        found = solved(problem, SolveOptions(tol=tol, engine=engine, solver="cg")).temperatures
        np.testing.assert_allclose(found, expected, atol=2 * tol, rtol=0)


@pytest.mark.parametrize("side", ["both", "source"])
def test_a_directed_graph_is_lifted(engine: str, side: str) -> None:
    graph = random_graph("directed")
    nodes, values = given(graph)
    n = graph.n_nodes
    held = np.concatenate([nodes, nodes + n]) if side == "both" else nodes
    lifted = harmonic(graph.heat.to_scipy(), held, np.concatenate([values, values])[: len(held)])
    expected = lifted[:n]
    if side == "both":  # the mean over reached copies
        known = ~np.isnan([lifted[:n], lifted[n:]])
        with np.errstate(invalid="ignore"):
            expected = np.nansum([lifted[:n], lifted[n:]], axis=0) / known.sum(axis=0)
    found = solved(Problem.of(graph, nodes, values, side=side), SolveOptions(tol=1e-9, engine=engine))
    np.testing.assert_allclose(found.temperatures, expected, atol=1e-8)


def test_soft_seeds_and_heat_that_enters(engine: str) -> None:
    graph = random_graph()
    nodes, values = given(graph)
    weights = np.where(np.arange(len(nodes)) % 2, np.inf, 0.5)
    entering = np.random.default_rng(5).random((graph.n_nodes, values.shape[1]))
    exact, options = SolveOptions(tol=1e-10, solver="direct"), SolveOptions(tol=1e-9, engine=engine)
    extra: tuple[dict[str, Any], ...] = ({"weights": weights}, {"source": entering})
    for more in extra:
        problem = Problem.of(graph, nodes, values, **more)
        expected = solved(problem, exact).temperatures
        found = solved(problem, options).temperatures
        np.testing.assert_allclose(found, expected, atol=1e-7 * float(np.nanmax(expected)))


def test_many_columns_come_in_blocks(engine: str) -> None:
    graph = random_graph(n=300)
    nodes, values = given(graph, seeds=60, classes=20)
    problem = Problem.of(graph, nodes, values)
    expected = harmonic(graph.heat.to_scipy(), nodes, values)
    options = SolveOptions(tol=1e-9, engine=engine)
    for part, found in engine_of(options).solve_in_blocks(problem, options):
        np.testing.assert_allclose(found.temperatures, expected[:, part], atol=1e-8)


def test_a_certificate_bounds_the_error(engine: str) -> None:
    graph = random_graph()
    nodes, values = given(graph)
    problem = Problem.of(graph, nodes, values)
    expected = harmonic(graph.heat.to_scipy(), nodes, values)
    options = SolveOptions(tol=1e-3, engine=engine)
    certificate = engine_of(options).certify(problem, solved(problem, options).temperatures, options)
    bound = certificate.times[:, None] * certificate.residual
    known = ~np.isnan(expected)
    assert np.all(np.abs(certificate.temperatures - expected)[known] <= bound[known] + 1e-12)
    assert certificate.error_bound < 0.1


def test_a_classifier_answers_everything(engine: EngineName) -> None:
    rng = np.random.default_rng(6)
    n = 400
    community = np.arange(n) % 4
    ends = rng.integers(n, size=(2, 12 * n))
    kept = (community[ends[0]] == community[ends[1]]) | (rng.random(12 * n) < 0.1)
    graph = iso.Graph.from_edges(*ends[:, kept], nodes=range(n))
    seeds = {node: f"c{community[node]}" for node in rng.choice(n, 80, replace=False).tolist()}
    usual = iso.DirichletClassifier(tol=1e-6, solver="cg").fit(graph, seeds)
    clf = iso.DirichletClassifier(tol=1e-6, engine=engine).fit(graph, seeds)
    np.testing.assert_allclose(clf.temperatures_, usual.temperatures_, atol=1e-5)
    np.testing.assert_allclose(clf.confidence_, usual.confidence_, atol=1e-3)
    assert (clf.labels_ == usual.labels_).mean() > 0.99
    node = next(node for node in range(n) if node not in seeds)
    shares = clf.explain(node)
    assert sum(shares["share"]) == pytest.approx(1)
    np.testing.assert_array_equal(shares["seed"][:3], usual.explain(node)["seed"][:3])
    assert set(clf.suggest(5)) == set(usual.suggest(5))
    for each in (clf, usual):
        each.update(add={node: "c0"}, remove=[next(iter(seeds))])
    np.testing.assert_allclose(clf.temperatures_, usual.temperatures_, atol=1e-5)


@pytest.mark.filterwarnings("ignore::isotherm.ConvergenceWarning")
@pytest.mark.parametrize("columns", [1, 3, 16, 20])
def test_no_temperature_is_beyond_those_of_the_boundary(engine: str, columns: int) -> None:
    """The maximum principle holds however far a solve is from equilibrium."""
    rng, n = np.random.default_rng(columns), 120
    source, target = rng.integers(n, size=(2, 3 * n))
    graph = iso.Graph.from_edges(source, target, 10.0 ** rng.uniform(-12, 12, 3 * n), nodes=range(n))
    nodes = np.sort(rng.choice(n, 40, replace=False))
    for values in (np.eye(columns)[np.arange(40) % columns], rng.normal(size=(40, columns))):
        for options in (SolveOptions(tol=1e-3, max_iter=30), SolveOptions(tol=None, max_iter=7)):
            problem, options = Problem.of(graph, nodes, values), replace(options, solver="cg", engine=engine)
            found = solved(problem, options).temperatures
            low, high = np.nanmin(found, axis=0), np.nanmax(found, axis=0)
            np.testing.assert_array_equal(low, values.min(axis=0).astype(found.dtype))
            np.testing.assert_array_equal(high, values.max(axis=0).astype(found.dtype))
            smoothed = engine_of(options).certify(problem, found, options).temperatures
            assert (np.nanmin(smoothed, axis=0) >= values.min(axis=0)).all()
            assert (np.nanmax(smoothed, axis=0) <= values.max(axis=0)).all()
