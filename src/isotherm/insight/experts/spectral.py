"""Features that the graph itself has: its spectrum, and the degrees of its nodes.

The largest eigenvectors of an average over neighbours place nodes that are well connected close together. They are
found by block iteration: filter a block of columns by a Chebyshev polynomial of the average, which enlarges the part of
each column in large eigenvectors; make the columns orthogonal; repeat. A few rounds in single precision are enough.

The average is regularised: as if each node had some more neighbours, whose value is 0. Without this, the largest
eigenvectors of a sparse graph belong to small parts that hang on it by an edge.
"""

from typing import Any

import numpy as np

from isotherm import engines, kernels
from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Graph

__all__ = ["Structure", "degree_features", "spectral_features"]

BLOCKS = 2  # of columns
COLUMNS = kernels.WIDTHS[-1]  # in a block
REGULARISATION = 0.02  # neighbours of value 0 that are added, in mean degrees
ROUNDS, DEGREE = 4, 5  # of the iteration, and of its polynomial
LOWEST, HIGHEST, MARGIN = -0.5, 0.95, 0.98  # of the eigenvalue below which the polynomial is small
LEAST_SQUARE = 1e-7  # of a column that is left after others are taken out


class Structure:
    """The features of a graph, found once; they do not depend on seeds.

    Parameters
    ----------
    graph
        The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._found: tuple[Floats, Floats] | None = None

    def __reduce__(self) -> tuple[Any, ...]:  # features are not pickled
        return Structure, (self.graph,)

    def features(self, options: SolveOptions) -> tuple[Floats, Floats]:
        """Rows of the spectrum, of length 1, and rows of the degree."""
        if self._found is None:
            self._found = unit_rows(spectral_features(self.graph, options)), degree_features(self.graph)
        return self._found


def spectral_features(graph: Graph, options: SolveOptions, blocks: int = BLOCKS) -> Floats:
    """(n, d) the largest eigenvectors of the regularised average but the first, times their eigenvalues."""
    spectrum = _Spectrum(graph, options)
    x = spectrum.start(blocks)
    low = 0.0
    for _ in range(ROUNDS):
        x = spectrum.orthogonal(spectrum.filtered(x, low))
        values, _ = spectrum.eigenpairs(x)
        low = MARGIN * float(np.clip(values[0], LOWEST, HIGHEST))
    values, turn = spectrum.eigenpairs(x)
    found = np.hstack(x) @ (turn[:, ::-1][:, 1:] * np.maximum(values[::-1][1:], 0)).astype(np.float32)
    return np.asarray(found)


def degree_features(graph: Graph) -> Doubles:
    """(n, 2) the logarithm of the degree of each node, and its square, standardised."""
    logs = np.log1p(graph.edges_only.csr.sums)
    found = np.stack([logs, logs**2], axis=1)
    spread = found.std(axis=0)
    return (found - found.mean(axis=0)) / np.where(spread > 0, spread, 1)


class _Spectrum:
    """The regularised average of a graph, applied to blocks of columns: arrays (n, 16) in single precision.

    It is symmetric in the inner product that weights nodes by their degree, with what was added to it.
    """

    def __init__(self, graph: Graph, options: SolveOptions) -> None:
        self.heat, self.options = graph.edges_only.csr, options
        degrees = self.heat.sums
        self.degrees = (degrees + REGULARISATION * (degrees.mean() or 1)).astype(np.float32)
        self.scale = np.divide(1, self.degrees, out=np.zeros_like(self.degrees), where=degrees > 0)

    def start(self, blocks: int) -> list[Floats]:
        """Random blocks, and a constant first column."""
        rng, n = np.random.default_rng(0), self.heat.n
        count = min(blocks, -(-n // COLUMNS))
        x = [rng.standard_normal((n, COLUMNS), dtype=np.float32) for _ in range(count)]
        x[0][:, 0] = 1
        return self.orthogonal(x)

    def average(self, x: Floats) -> Floats:
        """The average over neighbours; 0 at isolated nodes."""
        out = np.zeros_like(x)
        engines.average(self.heat, self.scale, x, out, self.options)
        return out

    def filtered(self, x: list[Floats], low: float) -> list[Floats]:
        """The Chebyshev polynomial that is at most 1 between -1 and ``low``, and large above."""
        return [self._filtered(block, (low - 1) / 2, (low + 1) / 2) for block in x]

    def _filtered(self, before: Floats, center: float, radius: float) -> Floats:
        now = self._step(before, center, radius)
        for _ in range(DEGREE - 1):
            after = self._step(now, center, radius / 2)
            after -= before
            before, now = now, after
        return now

    def _step(self, x: Floats, center: float, radius: float) -> Floats:
        out = self.average(x)
        out -= np.float32(center) * x
        out /= np.float32(radius)
        return out

    def orthogonal(self, x: list[Floats]) -> list[Floats]:
        """The same space, with columns orthogonal by degree; columns that add nothing become small."""
        products = self._products(x, x)
        lengths = np.sqrt(np.maximum(np.diag(products), np.finfo(np.float32).tiny))
        squares, turn = np.linalg.eigh(products / np.outer(lengths, lengths))
        turn /= np.sqrt(np.maximum(squares, squares[-1] * LEAST_SQUARE)) * lengths[:, None]
        return self._turned(x, turn)

    def eigenpairs(self, x: list[Floats]) -> tuple[Doubles, Doubles]:
        """Eigenvalues of the average within the space of orthogonal columns, ascending, and the turn to its vectors."""
        products = self._products(x, [self.average(block) for block in x])
        values, turn = np.linalg.eigh((products + products.T) / 2)
        return values, turn

    def _products(self, x: list[Floats], y: list[Floats]) -> Doubles:
        left, right = np.hstack(x) * self.degrees[:, None], np.hstack(y)
        return (left.T @ right).astype(np.float64)

    def _turned(self, x: list[Floats], turn: Doubles) -> list[Floats]:
        found = np.hstack(x) @ turn.astype(np.float32)
        return [np.ascontiguousarray(part) for part in np.hsplit(found, len(x))]


def unit_rows(rows: Floats) -> Floats:
    """Rows of length 1, or 0."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
