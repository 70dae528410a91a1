"""Section 2 of the paper in plain SciPy, against dense elimination and the properties of harmonic vectors."""

import numpy as np
from hypothesis import given
from problems import Problem, dense, problems, star_mesh
from scipy.sparse import csr_array

from isotherm.equilibrium.harmonic import bipartite, harmonic, sweep, walk_blocks


@given(problems())
def test_it_is_what_dense_elimination_finds(problem: Problem) -> None:
    matrix = problem.graph.heat
    found = harmonic(matrix.to_scipy(), problem.nodes, problem.values)
    np.testing.assert_allclose(found, star_mesh(dense(matrix), problem.nodes, problem.values), atol=1e-9)


@given(problems(kinds=("undirected",)))
def test_equations_2_to_4_hold(problem: Problem) -> None:
    matrix, nodes, Y = dense(problem.graph.heat), problem.nodes, problem.values
    interior, Q, R = walk_blocks(matrix, nodes)
    T = harmonic(matrix, nodes, Y)
    X, known = T[interior], np.nan_to_num(T)
    laplacian = np.diag(matrix.sum(axis=1)) - matrix
    scale = 1e-9 * (1 + matrix.sum(axis=1)[interior, None])
    assert (np.abs((laplacian @ known)[interior]) <= scale).all()  # eq. 2
    degree = np.where(matrix.sum(axis=1) > 0, matrix.sum(axis=1), 1)
    np.testing.assert_allclose(X, (matrix @ known / degree[:, None])[interior], atol=1e-9)  # eq. 3
    np.testing.assert_allclose(X, Q @ X + R @ Y, atol=1e-9)  # eq. 4
    np.testing.assert_allclose(sweep(Q, R, Y, X, count=3), X, atol=1e-8)


def test_sweeps_approach_the_solution() -> None:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((60, 60)) < 0.15, 1) * rng.random((60, 60))
    matrix, nodes, Y = upper + upper.T, np.arange(8), rng.random((8, 2))
    interior, Q, R = walk_blocks(matrix, nodes)
    T = harmonic(matrix, nodes, Y)
    errors = [np.abs(sweep(Q, R, Y, np.full((len(interior), 2), 0.5), k) - T[interior]).max() for k in (1, 10, 400)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


def test_nodes_without_a_path_have_no_temperature() -> None:
    pairs = csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    assert harmonic(pairs, [0], [[3.0]]).ravel().tolist()[:2] == [3.0, 3.0]
    assert np.isnan(harmonic(pairs, [0], [[3.0]])[2:]).all()


def test_a_directed_graph_has_two_copies_of_each_node() -> None:
    arcs = np.array([[0, 2.0], [0, 0]])
    np.testing.assert_array_equal(bipartite(csr_array(arcs)).toarray()[:2, 2:], arcs)
    np.testing.assert_array_equal(bipartite(csr_array(arcs)).toarray()[2:, :2], arcs.T)
