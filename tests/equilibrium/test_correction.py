"""Corrections after a change of seeds, compared with dense solves."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import adjacencies, harmonic
from scipy.sparse import block_diag, csr_array

import isotherm as iso
from isotherm import kernels
from isotherm.choices import SideName
from isotherm.equilibrium.correction import correct
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, solve

TOL = 1e-3
OPTIONS = SolveOptions(solver="cg", tol=TOL)


def relative_error(found: NDArray[Any], truth: NDArray[np.float64]) -> float:
    assert np.array_equal(np.isnan(found), np.isnan(truth))
    spread = np.nanstd(truth, axis=0)
    gaps = np.nanmax(np.abs(found - truth), axis=0)
    return float(np.max(np.divide(gaps, spread, out=np.zeros_like(gaps), where=spread > 0)))


def random_graph(n: int = 400, seed: int = 0, weighted: bool = False) -> csr_array:
    """A ring with random chords: connected, and without symmetry."""
    rng = np.random.default_rng(seed)
    source = np.concatenate([np.arange(n), rng.integers(n, size=3 * n)])
    target = np.concatenate([(np.arange(n) + 1) % n, rng.integers(n, size=3 * n)])
    weight = rng.uniform(0.5, 2, len(source)) if weighted else np.ones(len(source))
    kept = source != target
    half = csr_array((weight[kept], (source[kept], target[kept])), shape=(n, n))
    matrix = csr_array(half + half.T)
    if not weighted:
        matrix.data[:] = 1
    return matrix


def problem(graph: iso.Graph, labels: dict[int, int], classes: int = 3, side: str = "both") -> Problem:
    nodes = np.array(sorted(labels))
    return Problem.of(graph, nodes, np.eye(classes)[[labels[node] for node in nodes.tolist()]], side=side)


CHANGES: list[tuple[dict[int, int], list[int]]] = [
    ({7: 1}, []),
    ({7: 1, 8: 0, 9: 2, 200: 2}, []),
    ({}, [50]),
    ({}, [50, 100]),
    ({0: 2}, []),  # another label
    ({7: 1, 0: 1}, [100]),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("add", "remove"), CHANGES)
def test_a_correction_is_the_solution_of_the_new_problem(
    add: dict[int, int], remove: list[int], weighted: bool
) -> None:
    matrix = random_graph(weighted=weighted)
    graph = iso.Graph.from_scipy(matrix)
    labels = {node: node // 50 % 3 for node in range(0, 400, 50)}
    before = problem(graph, labels)
    solution = solve(before, OPTIONS)
    after = problem(graph, {node: label for node, label in (labels | add).items() if node not in remove})
    found = correct(before, solution, after, solution.temperatures, OPTIONS)
    assert found is not None
    truth = harmonic(matrix, after.nodes, after.values(slice(None)))
    assert relative_error(found.temperatures, truth) <= found.error <= TOL
    assert found.error <= found.error_bound
    np.testing.assert_array_equal(found.temperatures[after.nodes], after.values(slice(None)))
    fresh = solve(after, OPTIONS)
    assert found.times is not None
    assert fresh.times is not None
    np.testing.assert_allclose(found.times, fresh.times, atol=0.02 * fresh.times.max())
    np.testing.assert_array_equal(after.system.boundary, fresh_boundary(graph, after))


def fresh_boundary(graph: iso.Graph, after: Problem) -> NDArray[np.int64]:
    return Problem.of(graph, after.nodes, after.values(slice(None))).system.boundary


PIECES = [400, 300, 200, 40, 30]  # three large components, and two small ones
PIECES_LABELS = {node: node // 50 % 3 for node in range(0, 900, 50)} | {901: 0, 905: 1, 910: 2, 941: 1, 950: 2}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("add", "remove"),
    [
        ({7: 1}, []),
        ({7: 1, 8: 0, 407: 2, 707: 0}, []),
        ({}, [50]),
        ({}, [50, 450, 100]),
        ({7: 1, 0: 1, 907: 2, 945: 0}, [450, 905]),
    ],
)
def test_several_components(add: dict[int, int], remove: list[int], weighted: bool) -> None:
    matrix = csr_array(block_diag([random_graph(n, seed=n, weighted=weighted) for n in PIECES]))
    graph = iso.Graph.from_scipy(matrix)
    before = problem(graph, PIECES_LABELS)
    solution = solve(before, OPTIONS)
    after = problem(graph, {node: label for node, label in (PIECES_LABELS | add).items() if node not in remove})
    found = correct(before, solution, after, solution.temperatures, OPTIONS)
    assert found is not None
    truth = harmonic(matrix, after.nodes, after.values(slice(None)))
    assert relative_error(found.temperatures, truth) <= found.error <= TOL
    fresh = solve(after, OPTIONS)
    assert found.times is not None
    assert fresh.times is not None
    np.testing.assert_allclose(found.times, fresh.times, atol=0.02 * fresh.times.max())


def test_each_component_warms_up_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = csr_array(block_diag([random_graph(n, seed=n) for n in PIECES]))
    graph = iso.Graph.from_scipy(matrix @ matrix)  # heat mixes in a few steps
    before, after = problem(graph, PIECES_LABELS), problem(graph, PIECES_LABELS | {7: 1, 407: 2})
    solution = solve(before, replace(OPTIONS, tol=TOL / 5))
    laplacian, products = kernels.active.laplacian, 0

    def counted(*args: Any) -> Any:
        nonlocal products
        products += 1
        return laplacian(*args)

    monkeypatch.setattr(kernels.active, "laplacian", counted)
    correct(before, solution, after, solution.temperatures, OPTIONS)
    apart, products = products, 0
    monkeypatch.setattr("isotherm.equilibrium.correction.group_of_components", lambda *args: None)
    correct(before, solution, after, solution.temperatures, OPTIONS)
    assert 0 < apart < products / 2, "mixed over all components, the heat would have to be moved back"


def test_many_corrections_do_not_add_up_to_a_large_error() -> None:
    matrix = random_graph()
    graph = iso.Graph.from_scipy(matrix)
    labels = {node: node // 50 % 3 for node in range(0, 400, 50)}
    before = problem(graph, labels)
    solution, corrected = solve(before, OPTIONS), 0
    rng = np.random.default_rng(1)
    for _ in range(40):
        labels[int(rng.integers(400))] = int(rng.integers(3))
        after = problem(graph, labels)
        found = correct(before, solution, after, solution.temperatures, OPTIONS)
        corrected += found is not None
        before, solution = after, solve(after, OPTIONS) if found is None else found
        truth = harmonic(matrix, after.nodes, after.values(slice(None)))
        assert relative_error(solution.temperatures, truth) <= solution.error <= TOL
    assert corrected >= 35


def test_arcs_that_are_read_as_edges() -> None:
    matrix = random_graph(weighted=True)
    graph = iso.Graph.from_scipy(csr_array(np.triu(matrix.toarray())), directed=True)
    labels = {node: node // 50 % 3 for node in range(0, 400, 50)}
    before, after = problem(graph, labels, side="edges"), problem(graph, labels | {7: 1}, side="edges")
    solution = solve(before, OPTIONS)
    found = correct(before, solution, after, solution.temperatures, OPTIONS)
    assert found is not None
    truth = harmonic(matrix, after.nodes, after.values(slice(None)))
    assert relative_error(found.temperatures, truth) <= found.error <= TOL
    other = problem(graph, labels | {7: 1})
    assert correct(before, solution, other, solution.temperatures, OPTIONS) is None, "arcs are read in another way"


def test_what_cannot_be_corrected_is_left_to_a_solve() -> None:
    pieces = csr_array(np.kron(np.eye(2), np.ones((30, 30)) - np.eye(30)))
    graph = iso.Graph.from_scipy(pieces)
    before = problem(graph, {0: 0, 1: 1})
    solution = solve(before, OPTIONS)
    reaching, leaving = problem(graph, {0: 0, 1: 1, 40: 2}), problem(graph, {0: 0, 1: 1, 2: 2, 40: 2})
    assert correct(before, solution, reaching, solution.temperatures, OPTIONS) is None  # more nodes are reached
    both = solve(leaving, OPTIONS)
    assert correct(leaving, both, before, both.temperatures, OPTIONS) is None  # fewer
    exactly = SolveOptions(solver="cg", tol=None, max_iter=3)
    nearby = problem(graph, {0: 0, 1: 1, 2: 2})
    assert correct(before, solve(before, exactly), nearby, solution.temperatures, exactly) is None
    many = problem(graph, {node: node % 3 for node in range(25)})
    assert correct(before, solution, many, solution.temperatures, OPTIONS) is None


@settings(max_examples=40, deadline=None)
@given(adjacencies(), st.data())
def test_updates_give_the_labels_of_a_fit_on_random_graphs(matrix: csr_array, data: st.DataObject) -> None:
    n, directed = matrix.shape[0], data.draw(st.booleans())
    graph = iso.Graph.from_scipy(matrix, directed=directed)
    nodes = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=n, unique=True))
    labels = {node: data.draw(st.sampled_from("abc")) for node in nodes}
    first = data.draw(st.integers(1, len(nodes) - 1))
    soft = data.draw(st.booleans())
    side: SideName = data.draw(st.sampled_from(["both", "source"]))
    clf = iso.DirichletClassifier(rule="centered", solver="cg", tol=1e-3, side=side)
    tight = iso.DirichletClassifier(rule="centered", solver="direct", tol=1e-9, side=side)
    start, rest = nodes[:first], nodes[first:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weight = dict.fromkeys(start, 2.0) if soft else None
        clf.fit(graph, {node: labels[node] for node in start}, seed_weight=weight)
        for node in rest:
            clf.update({node: labels[node]})
        if len(start) > 1:
            clf.update(remove=[start[0]])
            weight = None if weight is None else dict.fromkeys(start[1:], 2.0)
            labels.pop(start[0])
        tight.fit(graph, labels, seed_weight=weight)
    assert clf.classes_.tolist() == tight.classes_.tolist()
    assert (
        relative_error(clf.temperatures_, tight.temperatures_.astype(np.float64)) <= 1.01e-3
    )  # the spread is that of the iterate


def test_graphs_of_few_nodes() -> None:
    """After as many steps as there are nodes, cg followed rounding errors, until all temperatures were NaN."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n, tol = int(rng.integers(6, 9)), float(rng.choice([1e-2, 1e-4, 1e-8]))
        weights = np.triu(rng.random((n, n)) < 0.6, 1) * 10.0 ** rng.uniform(-3, 3, (n, n))
        graph = iso.Graph.from_scipy(csr_array(weights + weights.T))
        before, after = (problem(graph, labels) for labels in ({0: 2, 2: 1, 5: 0}, {1: 2, 2: 1, 5: 0}))
        options = SolveOptions(solver="cg", tol=tol)
        solution = solve(before, options)
        found = correct(before, solution, after, solution.temperatures, options)
        truth = harmonic(graph.heat.to_scipy(), after.nodes, after.values(slice(None)))
        if found is not None:
            assert relative_error(found.temperatures, truth) <= min(3 * tol, found.error_bound) + 1e-12
