"""Walks along arcs, compared with dense solves and closed forms."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import isotherm as iso
from isotherm.arrays import Doubles, Ints
from isotherm.engines import engine_of
from isotherm.equilibrium.along import solve_along
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem

N, K = 200, 3


def arcs(seed: int, *, near: int | None = None, out: int = 4) -> csr_array:
    """Random arcs; with ``near``, to nodes whose numbers are close and mostly larger."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(N), out)
    steps = rng.integers(0, N, N * out) if near is None else rng.integers(-near, 2 * near, N * out)
    return coo_array((rng.random(N * out), (source, (source + steps) % N)), shape=(N, N)).tocsr()


def dense(A: csr_array, seeds: Ints, values: Doubles, pull: Doubles | None = None) -> Doubles:
    """Absorption probabilities by Gaussian elimination on all nodes; all of them must reach a seed."""
    P = A.toarray() / A.sum(axis=1)[:, None]
    ends = np.ones(len(seeds)) if pull is None else pull
    matrix, right = np.eye(N) - P, np.zeros((N, values.shape[1]))
    matrix[seeds] = np.eye(N)[seeds] - (1 - ends)[:, None] * P[seeds]
    right[seeds] = ends[:, None] * values
    return np.linalg.solve(matrix, right)


def drawn_seeds(seed: int, count: int = 9) -> tuple[Ints, Doubles]:
    nodes = np.sort(np.random.default_rng(seed + 100).choice(N, count, replace=False))
    return nodes, np.eye(K)[np.arange(count) % K]


@pytest.mark.parametrize("near", [None, 3, 20])
@pytest.mark.parametrize("seed", range(3))
def test_temperatures_are_those_of_a_dense_solve(seed: int, near: int | None) -> None:
    A, (seeds, values) = arcs(seed, near=near), drawn_seeds(seed)
    found = solve_along(iso.Graph.from_scipy(A, directed=True), seeds, values, SolveOptions(tol=1e-9))
    exact = dense(A, seeds, values)
    assert found.converged
    np.testing.assert_allclose(found.temperatures, exact, atol=1e-8)
    np.testing.assert_allclose(found.temperatures.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("iterations", [10, 20, 30, 60])
def test_the_error_is_never_above_its_bound(iterations: int) -> None:
    A, (seeds, values) = arcs(0, near=3), drawn_seeds(0)
    options = SolveOptions(tol=None, max_iter=iterations)
    found = solve_along(iso.Graph.from_scipy(A, directed=True), seeds, values[:, :1], options)
    exact = dense(A, seeds, values[:, :1])
    spread = np.std(found.temperatures)
    assert np.abs(found.temperatures - exact).max() / spread <= found.error_bound * 1.5  # of another spread


def test_soft_seeds_end_some_walks() -> None:
    A, (seeds, values) = arcs(1), drawn_seeds(1)
    weights = np.where(np.arange(len(seeds)) % 2, np.inf, 0.5)
    graph = iso.Graph.from_scipy(A, directed=True)
    found = solve_along(graph, seeds, values, SolveOptions(tol=1e-9), weights=weights)
    exact = dense(A, seeds, values, np.where(np.isinf(weights), 1, 1 / 3))
    np.testing.assert_allclose(found.temperatures, exact, atol=1e-8)


def test_a_node_that_leads_nowhere_has_no_temperature() -> None:
    graph = iso.Graph.from_edges(list("abbcd"), list("bacde"), directed=True)  # d -> e, a <-> b -> c -> d
    with pytest.warns(iso.UnreachedWarning, match="2 of 5"):
        found = iso.solve_dirichlet(graph, {"c": 2.0}, side="along")
    np.testing.assert_allclose(found, [2, 2, 2, np.nan, np.nan])  # in the order a, b, c, d, e


def test_the_gambler_is_ruined_as_often_as_the_formula_says() -> None:
    """With odds r of losing to winning, ruin has probability (r^i - r^m) / (1 - r^m) from i of m coins."""
    m, p = 40, 0.55
    T = np.diag(np.r_[0, np.full(m - 1, p)], 1) + np.diag(np.r_[np.full(m - 1, 1 - p), 0], -1)
    T[0, 0] = T[m, m] = 1
    found = iso.absorption_probabilities(T, {0: "ruin", m: "win"})
    r = (1 - p) / p
    np.testing.assert_allclose(found[:, 0], (r ** np.arange(m + 1) - r**m) / (1 - r**m), atol=1e-9)
    np.testing.assert_allclose(iso.absorption_probabilities(csr_array(T), [m, 0]), found[:, ::-1], atol=1e-9)


def test_the_numbering_of_nodes_does_not_matter() -> None:
    A, order = arcs(2, near=5), np.random.default_rng(0).permutation(N)
    terminal = {int(node): int(node) % K for node in drawn_seeds(2)[0]}
    place = np.argsort(order)
    found = iso.absorption_probabilities(A, terminal)
    moved = iso.absorption_probabilities(A[order][:, order], {int(place[node]): s for node, s in terminal.items()})
    np.testing.assert_allclose(moved, found[order], atol=1e-7)


def test_an_undirected_graph_is_the_same_along_its_edges() -> None:
    A = arcs(0)
    graph = iso.Graph.from_scipy(A + A.T)
    known = {0: 1.0, 7: 0.0, 90: 0.5}
    along, usual = (iso.solve_dirichlet(graph, known, side=side) for side in ("along", "edges"))
    np.testing.assert_array_equal(along, usual)


@pytest.mark.parametrize("classifier", [iso.DirichletClassifier, iso.NodeClassifier])
def test_classifiers_follow_arcs(classifier: type[iso.NodeClassifier]) -> None:
    """Two streams that flow to their own ends, with a few arcs back to both springs."""
    n, rng = 300, np.random.default_rng(0)
    inside = [(i, j) for i in range(n) for j in i + 2 * rng.integers(1, 5, 4) if j < n]
    across = [(i, int(rng.integers(20))) for i in range(n // 2, n - 20, 7)]
    source, target = np.array(inside + across).T
    graph = iso.Graph.from_edges(source, target, directed=True, nodes=range(n))
    truth = np.arange(n) % 2
    known = [*range(n - 20, n), *range(100, 200, 4), *range(101, 200, 4)]
    clf = classifier(side="along").fit(graph, {i: int(truth[i]) for i in known})
    problem = Problem.of_seeds(graph, clf.seeds_, "along")
    exact = engine_of(SolveOptions()).solve(problem, SolveOptions(tol=1e-9)).temperatures
    np.testing.assert_allclose(clf.temperatures_, exact, atol=1e-3)
    assert np.mean(clf.labels_[200:] == truth[200:]) > 0.95
    again = clf.update(add={2: 0, 3: 1})
    assert again.labels_[2] == 0
    with pytest.raises(ValueError, match="side='along' has no explanations"):
        clf.explain(0)


def test_what_only_symmetric_systems_have_is_refused(tmp_path: object) -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"], directed=True)
    for name, value in (("engine", "dask"), ("solver", "cg")):
        with pytest.raises(ValueError, match=f"side='along' is solved in this process by BiCGSTAB: leave out {name}"):
            iso.NodeClassifier(side="along", **{name: value}).fit(graph, {"c": 1})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=f"leave out {name}"):
            iso.solve_dirichlet(graph, {"c": 1.0}, side="along", **{name: value})  # type: ignore[arg-type]
    path = f"{tmp_path}/graph.iso"
    graph.pack(path)
    with pytest.raises(ValueError, match="side='along' is for graphs in memory: use side='edges' for packed ones"):
        iso.DirichletClassifier(side="along").fit(iso.Graph.open(path), {"c": 1, "b": 0})
