"""The Dirichlet problem on a graph: section 2 of the paper, in plain SciPy.

A graph has a symmetric matrix ``A`` of weights. A weight is the thermal conductivity of an edge; without weights it is
1. Let ``d = A 1`` be the degrees, ``D = diag(d)``, ``L = D - A`` the Laplacian and ``P = D^-1 A`` the transition matrix
of the random walk. The nodes of the boundary S (the seeds) are held at fixed temperatures. Heat flows along each edge
in proportion to the difference of temperatures of its ends, ``dT/dt = -L T``, until at equilibrium

    (L T)_i = 0  for all i not in S    (eq. 2)
    T_i = (P T)_i                      (eq. 3)

So each node off the boundary, in the interior, is as warm as its neighbours are on average: T is *harmonic*. With the
interior first and the boundary last,

    T = [X]    P = [Q R]    X = Q X + R Y  (eq. 4)    X = (I - Q)^-1 R Y  (eq. 5)
        [Y]        [. .]

The functions here are these equations. They are exact and good for small graphs, and tests compare the solvers with
them. What follows for large graphs is in the other files: ``problem.py`` states a problem and solves it in blocks of
columns, ``solvers/`` has fast ways to find X.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import block_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from isotherm.arrays import Doubles, Ints


def harmonic(A: Any, boundary: ArrayLike, Y: ArrayLike) -> Doubles:
    """The temperatures T of all nodes at equilibrium, given the temperatures Y of the boundary.

    Parameters
    ----------
    A : sparse matrix or array of shape (n, n)
        Symmetric, with weights of at least 0.
    boundary : array of shape (s,)
        Positions of the nodes of S.
    Y : array of shape (s, k)
        Their temperatures, in k columns that do not depend on each other.

    Returns
    -------
    ndarray of shape (n, k)
        NaN at nodes that no path joins to the boundary: they have no temperature.

    Examples
    --------
    A rod of five nodes, hot at one end and cold at the other:

    >>> rod = diags_array([np.ones(4), np.ones(4)], offsets=[-1, 1])
    >>> harmonic(rod, [0, 4], [[1.0], [0.0]]).ravel()
    array([1.  , 0.75, 0.5 , 0.25, 0.  ])
    """
    boundary, Y = np.asarray(boundary), np.asarray(Y, dtype=np.float64)
    interior, Q, R = walk_blocks(A, boundary)
    T = np.full((A.shape[0], Y.shape[1]), np.nan)
    T[boundary] = Y
    if len(interior):
        I = eye_array(len(interior))  # noqa: E741 - the paper's name
        T[interior] = splu(csc_array(I - Q)).solve(R @ Y)  # eq. 5
    return T


def sweep(Q: csr_array, R: csr_array, Y: Doubles, X: Doubles, count: int = 1) -> Doubles:
    """Eq. 4 as an iteration: ``X <- Q X + R Y``, as often as ``count`` says.

    Each sweep replaces the temperature of every interior node by the mean of its neighbours. The iterates converge to
    eq. 5, the more slowly the longer a random walk takes to the boundary.

    >>> rod = diags_array([np.ones(4), np.ones(4)], offsets=[-1, 1])
    >>> interior, Q, R = walk_blocks(rod, np.array([0, 4]))
    >>> Y, X = np.array([[1.0], [0.0]]), np.full((3, 1), 0.5)
    >>> sweep(Q, R, Y, X).ravel(), sweep(Q, R, Y, X, count=100).ravel()
    (array([0.75, 0.5 , 0.25]), array([0.75, 0.5 , 0.25]))
    """
    for _ in range(count):
        X = Q @ X + R @ Y
    return X


def walk_blocks(A: Any, boundary: Ints) -> tuple[Ints, csr_array, csr_array]:
    """The interior nodes, and the blocks Q and R of the transition matrix P in their rows.

    The inverse of ``I - Q`` exists if the interior has only nodes that a path joins to the boundary.
    """
    A = csr_array(A).astype(np.float64)
    _, component = connected_components(A, directed=False)
    reached = np.flatnonzero(np.isin(component, component[boundary]))
    interior = np.setdiff1d(reached, boundary)
    P = diags_array(1 / A[interior].sum(axis=1)) @ A[interior]
    return interior, csr_array(P[:, interior]), csr_array(P[:, boundary])


def bipartite(A: Any) -> csr_array:
    """The undirected graph on 2n nodes that stands for a directed one (section 2.3).

    Each node appears twice: as a source of heat (first n rows) and as a destination (last n rows).
    """
    return csr_array(block_array([[None, A], [A.T, None]]))
