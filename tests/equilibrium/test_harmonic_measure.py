"""The harmonic measure by all methods, against dense solves and temperatures."""

import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
from problems import dense, star_mesh
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.equilibrium import harmonic_measure
from isotherm.equilibrium.harmonic_measure import HarmonicMeasure
from isotherm.equilibrium.problem import interior_system
from isotherm.equilibrium.solvers import direct


def grid(side: int) -> iso.Graph:
    return iso.Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)))


METHODS: dict[str, dict[str, Any]] = {
    "around the node": {},
    "on the whole graph": {"BALLS": (1,)},
    "by the solvers": {"BALLS": (1,), "MOST_STEPS": 0},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_methods_agree(method: str, tol: float, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in METHODS[method].items():
        monkeypatch.setattr(harmonic_measure, name, value)
    source, target = np.array(nx.barabasi_albert_graph(2500, 3, seed=4).edges).T
    rng = np.random.default_rng(5)
    graph = iso.Graph.from_edges(source, target, rng.lognormal(size=len(source)) if weighted else None)
    boundary = np.sort(rng.choice(2500, 250, replace=False))
    system = interior_system(graph.heat, boundary)
    inside = np.flatnonzero(system.interior)
    matrix = np.diag(system.degree) - dense(graph.heat)
    starts = rng.choice(inside, 20, replace=False)
    unit = np.eye(2500)[:, starts]
    green = np.linalg.solve(matrix[np.ix_(inside, inside)], unit[inside])
    exact = -(matrix[np.ix_(boundary, inside)] @ green).T
    found = HarmonicMeasure(system, tol=tol)(csr_array(unit.T))
    wrong = np.abs(found - exact).sum(axis=1) / 2
    assert wrong.max() <= tol


def test_heat_of_a_node_on_a_large_grid_is_found_near_it(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = grid(150)
    boundary = np.sort(np.random.default_rng(6).choice(graph.n_nodes, graph.n_nodes // 20, replace=False))
    system = interior_system(graph.heat, boundary)
    start = np.flatnonzero(system.interior)[:1]
    starts = csr_array((np.ones(1), (np.zeros(1, int), start)), shape=(1, graph.n_nodes))
    monkeypatch.setattr(HarmonicMeasure, "_relax", None)  # must not be needed
    near = HarmonicMeasure(system, tol=1e-3)(starts)
    monkeypatch.undo()
    exact = HarmonicMeasure(system, tol=1e-8)(starts)
    assert 1e-8 < np.abs(near - exact).sum() / 2 <= 1e-3


def test_few_seeds_on_a_grid_are_left_to_the_solvers() -> None:
    graph = grid(120)
    corners = np.array([0, 119, 14280, 14399])
    system = interior_system(graph.heat, corners)
    starts = csr_array((np.ones(3), (np.arange(3), [7260, 5000, 119])), shape=(3, graph.n_nodes))
    measure = HarmonicMeasure(system, tol=1e-6)
    for corner, column in zip(corners, measure(starts).T, strict=True):
        held = {int(c): float(c == corner) for c in corners}
        expected = iso.solve_dirichlet(graph, held, tol=1e-9)
        np.testing.assert_allclose(column, expected[[7260, 5000, 119]], atol=1e-6)


@pytest.mark.parametrize("decades", [4, 12, 24, 40])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.parametrize("small", [True, False])
def test_right_or_said_not_to_be(decades: int, tol: float, small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths and rings over many decades; large ones, for which exact elimination takes too long, may warn."""
    if not small:
        monkeypatch.setattr(direct, "MOST_NODES", 0)
    silent = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 10))
        source, target = np.arange(n - seed % 2), (np.arange(n - seed % 2) + 1) % n
        graph = iso.Graph.from_edges(source, target, 10.0 ** rng.uniform(-decades / 2, decades / 2, len(source)))
        boundary = np.array([0, n - 1])
        exact = star_mesh(dense(graph.heat), boundary, np.eye(2))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = HarmonicMeasure(interior_system(graph.heat, boundary), tol=tol)(csr_array(np.eye(n)))
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        if any(issubclass(each.category, iso.ConvergenceWarning) for each in caught):
            assert not small
            continue
        silent += 1
        assert (np.abs(found - exact).sum(axis=1) / 2).max() <= tol
    assert silent == 30 or decades > 4


def test_a_weak_tie_between_strong_ones() -> None:
    """The visits to its ends had a singular matrix."""
    graph = iso.Graph.from_edges([0, 1, 2], [1, 2, 3], [3e-09, 3e08, 5e-10])
    clf = iso.DirichletClassifier(rule="vanilla").fit(graph, {0: "a", 3: "b"})
    for node in (1, 2):
        assert clf.explain(node)["share"] == pytest.approx([6 / 7, 1 / 7])
