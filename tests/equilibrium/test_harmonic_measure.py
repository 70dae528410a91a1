"""The harmonic measure by all methods, against dense solves and temperatures."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from problems import dense
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.equilibrium import harmonic_measure
from isotherm.equilibrium.harmonic_measure import HarmonicMeasure
from isotherm.equilibrium.problem import interior_system


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
