"""The Dirichlet problem, by the properties that its solution must have."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import Problem, dense, harmonic, problems
from scipy.sparse import block_diag, csr_array, random_array

import isotherm as iso
from isotherm.equilibrium.harmonic import bipartite
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem as Stated
from isotherm.equilibrium.problem import solve
from isotherm.paper.block_model import BlockModel

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
TIGHT = SolveOptions(tol=1e-10, solver="cg")


def solved(graph: iso.Graph, nodes: Any, values: Any, side: str = "both") -> Any:
    return solve(Stated.of(graph, nodes, values, side=side), TIGHT).temperatures


def temperatures(problem: Problem, side: str = "both") -> Any:
    return solved(problem.graph, problem.nodes, problem.values, side)


@given(problems())
def test_maximum_principle_and_columns_that_sum_to_one(problem: Problem) -> None:
    found = temperatures(problem)
    reached = ~np.isnan(found[:, 0])
    assert found[reached].min() >= 0
    assert found[reached].max() <= 1
    np.testing.assert_allclose(found[reached].sum(axis=1), 1, atol=1e-8)
    np.testing.assert_array_equal(found[problem.nodes], problem.values)


@given(problems(kinds=("undirected",)))
def test_each_node_is_as_warm_as_its_neighbours(problem: Problem) -> None:
    found = np.nan_to_num(temperatures(problem))
    adjacency = dense(problem.graph.heat)
    others = np.setdiff1d(np.flatnonzero(adjacency.sum(axis=1)), problem.nodes)
    means = adjacency @ found / np.maximum(adjacency.sum(axis=1), 1e-300)[:, None]
    np.testing.assert_allclose(found[others], means[others], atol=1e-8)


@given(problems(kinds=("undirected", "directed")), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_the_order_of_nodes_does_not_matter(problem: Problem, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(problem.graph.n_nodes)
    moved = iso.Graph.from_scipy(problem.graph.adjacency[order][:, order], directed=problem.graph.directed)
    place = np.argsort(order)[problem.nodes]
    found = solved(moved, place, problem.values)
    np.testing.assert_allclose(found, temperatures(problem)[order], atol=1e-8)


@given(problems(kinds=("undirected", "directed")), st.floats(1e-3, 1e3))
@settings(max_examples=50)
def test_the_unit_of_weights_does_not_matter(problem: Problem, factor: float) -> None:
    scaled = iso.Graph.from_scipy(factor * problem.graph.adjacency, directed=problem.graph.directed)
    found = solved(scaled, problem.nodes, problem.values)
    np.testing.assert_allclose(found, temperatures(problem), atol=1e-8)


@given(problems(kinds=("undirected",)), problems(kinds=("undirected",)))
@settings(max_examples=50)
def test_a_union_is_solved_part_by_part(one: Problem, two: Problem) -> None:
    columns = 5
    values = [np.eye(columns)[problem.codes] for problem in (one, two)]
    union = iso.Graph.from_scipy(block_diag([one.graph.adjacency, two.graph.adjacency], format="csr"))
    nodes = np.concatenate([one.nodes, two.nodes + one.graph.n_nodes])
    found = solved(union, nodes, np.concatenate(values))
    parts = [solved(problem.graph, problem.nodes, value) for problem, value in zip((one, two), values, strict=True)]
    np.testing.assert_allclose(found, np.concatenate(parts), atol=1e-8)


@given(problems(kinds=("directed",)))
def test_directed_graphs_are_bipartite_graphs_on_twice_the_nodes(problem: Problem) -> None:
    n = problem.graph.n_nodes
    lifted = bipartite(problem.graph.adjacency)
    source_only = harmonic(lifted, problem.nodes, problem.values)[:n]
    np.testing.assert_allclose(temperatures(problem, side="source"), source_only, atol=1e-8)
    both = np.concatenate([problem.nodes, problem.nodes + n])
    copies = harmonic(lifted, both, np.concatenate([problem.values] * 2)).reshape(2, n, -1)
    known = ~np.isnan(copies)
    expected = np.where(known, copies, 0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
    np.testing.assert_allclose(temperatures(problem, side="both"), expected, atol=1e-8)


@given(problems(kinds=("bipartite",)))
@settings(max_examples=50)
def test_bipartite_graphs(problem: Problem) -> None:
    expected = harmonic(problem.graph.heat.to_scipy(), problem.nodes, problem.values)
    np.testing.assert_allclose(temperatures(problem), expected, atol=1e-8)


@given(
    st.lists(st.tuples(st.integers(2, 12), st.integers(1, 12)), min_size=2, max_size=5),
    st.floats(0.05, 1),
    st.floats(0.01, 1),
)
@settings(max_examples=200)
def test_the_block_model_as_in_lemma_1(blocks: list[tuple[int, int]], p: float, q: float) -> None:
    sizes, seeds = [size for size, _ in blocks], [min(size, count) for size, count in blocks]
    model = BlockModel(sizes, seeds, p, q)
    graph = iso.Graph.from_scipy(model.adjacency())
    values = np.eye(len(sizes))[model.labels()[model.seed_nodes()]]
    found = solved(graph, model.seed_nodes(), values)
    others = np.setdiff1d(np.arange(graph.n_nodes), model.seed_nodes())
    np.testing.assert_allclose(found[others], model.temperatures()[model.labels()[others]], atol=1e-10)
    np.testing.assert_allclose(found.mean(axis=0), model.mean_temperatures(), atol=1e-10)


def _small_problem(rng: np.random.Generator, side: str, soft: bool, directed: bool) -> Stated:
    """A random graph of a few nodes, with three classes."""
    n, density = int(rng.integers(3, 25)), rng.choice([0.1, 0.15, 0.3, 0.6])
    weights = (rng.random((n, n)) < density) * rng.integers(1, 4, (n, n)).astype(float)
    np.fill_diagonal(weights, 0)
    graph = iso.Graph.from_scipy(csr_array(weights if directed else weights + weights.T), directed=directed)
    nodes = np.sort(rng.permutation(n)[: rng.integers(2, max(n // 2, 3))])
    trust = np.where(rng.random(len(nodes)) < 0.5, 2.0, np.inf) if soft else None
    return Stated.of(graph, nodes, np.eye(3)[rng.integers(3, size=len(nodes))], side=side, weights=trust)


@pytest.mark.parametrize("solver", ["cg", "elimination"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("side", ["both", "source"])
def test_the_tolerance_is_relative_to_what_is_read(side: str, soft: bool, directed: bool, solver: str) -> None:
    rng, tol = np.random.default_rng(5), 1e-3
    for _ in range(150):
        problem = _small_problem(rng, side, soft, directed)
        truth = solve(problem, SolveOptions(solver="direct", tol=1e-9)).temperatures
        found = solve(problem, SolveOptions(solver=solver, tol=tol))
        errors, spread = np.nanmax(np.abs(found.temperatures - truth), axis=0), np.nanstd(truth, axis=0)
        assert (errors <= 1.002 * tol * spread + 1e-7).all()
        assert found.error <= tol


@pytest.mark.parametrize("directed", [False, True])
def test_several_components_take_as_many_iterations_as_one(directed: bool) -> None:
    """Each has a constant of its own, far from that of the others."""
    rng = np.random.default_rng(0)
    arcs = random_array((1500, 1500), density=0.006, rng=rng)
    one = csr_array(arcs if directed else arcs + arcs.T)
    pairs = [csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))] * 80
    many = iso.Graph.from_scipy(csr_array(block_diag([one] * 6 + pairs)), directed=directed)
    places = np.concatenate([rng.choice(1500, 3, replace=False) + 1500 * part for part in range(6)])
    nodes = np.append(np.sort(places), 9000 + 2 * np.arange(80))
    values = np.append(np.linspace(0, 1, 18), rng.random(80))[:, None]
    options = SolveOptions(solver="cg", tol=1e-3)
    first = Stated.of(iso.Graph.from_scipy(one, directed=directed), nodes[:3], np.array([[0.0], [0.5], [1.0]]))
    found, alone = solve(Stated.of(many, nodes, values), options), solve(first, options)
    assert found.iterations <= alone.iterations + 3
    truth = solve(Stated.of(many, nodes, values), SolveOptions(solver="direct", tol=1e-9)).temperatures
    assert np.abs(found.temperatures - truth).max() <= 1e-3 * truth.std()


@pytest.mark.parametrize("columns", [15, 16, 17, 31, 32, 33])
@pytest.mark.parametrize("solver", ["auto", "cg", "direct", "elimination", "sweeps"])
def test_any_number_of_columns(solver: str, columns: int) -> None:
    """Sixteen fill a block if one of them follows from the others; otherwise the absorption column has no slot."""
    rng, n = np.random.default_rng(columns), 120
    weights = random_array((n, n), density=0.06, rng=rng)
    graph, nodes = iso.Graph.from_scipy(csr_array(weights + weights.T)), np.arange(60)
    free = rng.random((len(nodes), columns))
    for values in (np.eye(columns)[np.arange(len(nodes)) % columns], free / free.sum(axis=1, keepdims=True), free):
        exact = harmonic(dense(graph.heat), nodes, values)
        for start in (None, np.zeros((n, columns))):
            found = solve(Stated.of(graph, nodes, values), SolveOptions(tol=1e-8, solver=solver), start=start)
            np.testing.assert_allclose(found.temperatures, exact, atol=1e-8)
        source = np.where(np.arange(n) < 60, 0, 1.0)[:, None] * np.ones(columns)  # heat from outside: nothing closes
        heated = solve(Stated.of(graph, nodes, values, source=source), SolveOptions(tol=1e-8, solver=solver))
        apart = [
            solve(Stated.of(graph, nodes, values[:, [c]], source=source[:, [c]]), TIGHT).temperatures
            for c in (0, columns - 1)
        ]
        np.testing.assert_allclose(heated.temperatures[:, [0, -1]], np.hstack(apart), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("columns", [16, 17])
def test_a_fixed_number_of_sweeps_begins_at_the_start_in_every_column(columns: int) -> None:
    rng, n = np.random.default_rng(0), 60
    weights = random_array((n, n), density=0.2, rng=rng)
    graph, nodes = iso.Graph.from_scipy(csr_array(weights + weights.T)), np.arange(40)
    values, start = np.eye(columns)[nodes % columns], np.zeros((n, columns))
    options = SolveOptions(tol=None, max_iter=2, solver="sweeps")
    found = solve(Stated.of(graph, nodes, values), options, start=start).temperatures
    start[nodes] = values
    walk = dense(graph.heat) / np.maximum(dense(graph.heat).sum(axis=1, keepdims=True), 1e-300)
    for _ in range(2):
        start[40:] = (walk @ start)[40:]
    reached = ~np.isnan(found[:, 0])
    np.testing.assert_allclose(found[reached], start[reached], atol=1e-12)
