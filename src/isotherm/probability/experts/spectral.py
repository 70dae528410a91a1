"""Features from the graph itself: its spectrum, and the degrees of its nodes.

The leading eigenvectors of an average over neighbours place well-connected nodes close together. They are found by
block iteration: filter a block of columns by a Chebyshev polynomial of the average, which amplifies the leading
eigenvectors; make the columns orthogonal; repeat. A few rounds are enough. The columns start from random signs, drawn
by the colours of the nodes, so the features do not depend on how nodes are numbered.

The average is regularised by adding to each node a few neighbours of value 0. Without this, the leading eigenvectors of
a sparse graph belong to small parts that are attached to the rest by a single edge.
"""

from contextlib import suppress
from threading import Thread
from typing import Any

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.averages import Averaging
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Graph
from isotherm.graphs.colours import distinct_colours
from isotherm.probability.experts.expert import LARGE, Expert, Knowledge, links, mean_weight, precision
from isotherm.probability.experts.regression import MeanFeatures, Regression

FEWEST_NODES, MOST_NODES = 5_000, 50_000  # the spectrum has a thread of its own; beyond, kernels have several
SMALL = 256  # nodes: up to so many, all eigenvectors are found
BLOCKS = 2  # blocks of columns; one beyond LARGE
COLUMNS = kernels.WIDTHS[-1]  # columns of a block
REGULARISATION = 0.02  # zero-valued pseudo-degree, in mean degrees
SMALL_DEGREES, DEGREES = (5, 5, 5), (6, 5)  # Chebyshev degree in each round, up to LARGE nodes and beyond
FIRST_LOW, CUT = 0.4, 6  # cut-off of the filter in the first round; later, it is the eigenvalue with this number
LOWEST, HIGHEST, MARGIN = -0.5, 0.95, 0.98  # clip range and safety factor of the filter cut-off
EQUAL = 1e-9  # eigenvalues that differ by less are equal
LEAST_SQUARE = 1e-3  # columns with a smaller relative squared length are numerically dependent
SPECTRAL_C, DEGREE_C = 5.0, 100.0  # inverse penalties of the regressions


def spectrum(known: Knowledge) -> Expert | None:
    """Regression on the spectrum of the graph."""
    if known.evidence.structure is None:
        return None
    rows, _ = known.evidence.structure.features(known.options)
    return Regression(MeanFeatures(rows), known.seeds, [SPECTRAL_C], known.taught)


def degree(known: Knowledge) -> Expert | None:
    """Regression on the degree of the node."""
    if known.evidence.structure is None:
        return None
    _, rows = known.evidence.structure.features(known.options)
    return Regression(MeanFeatures(rows), known.seeds, [DEGREE_C], known.taught)


def compatibility(known: Knowledge) -> Expert | None:
    """Beliefs by which classes are neighbours of which, if the user asked for them."""
    if not known.evidence.compatibility:
        return None
    from isotherm.probability.experts.compatibility import Compatibility  # few fits need it

    return Compatibility(known)


class Structure:
    """The spectrum and degrees of a graph, computed once; they do not depend on seeds."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._found: tuple[Floats, Floats] | None = None
        self._started: Thread | None = None

    def __reduce__(self) -> tuple[Any, ...]:  # features are not pickled
        return Structure, (self.graph,)

    def start(self, options: SolveOptions) -> None:
        """Compute the features in a thread of their own, if that pays; `features` waits for it."""

        def work() -> None:
            with suppress(Exception):  # `features` tries again, and raises it
                self._find(options)

        pays = FEWEST_NODES <= self.graph.n_nodes <= MOST_NODES and kernels.thread_count(options.threads) > 1
        if pays and self._found is None and self._started is None:
            self._started = Thread(target=work, daemon=True)
            self._started.start()

    def features(self, options: SolveOptions) -> tuple[Floats, Floats]:
        """Rows of the spectrum, of length 1, and rows of the degree."""
        if self._started is not None:
            self._started.join()
            self._started = None
        return self._found or self._find(options)

    def _find(self, options: SolveOptions) -> tuple[Floats, Floats]:
        rows = spectral_features(self.graph, options)
        lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))
        some = lengths > np.sqrt(np.finfo(rows.dtype).eps) * lengths.max(initial=0)  # shorter ones are noise
        rows *= np.divide(1, lengths, out=np.zeros_like(lengths), where=some)[:, None]
        self._found = rows, degree_features(self.graph)
        return self._found


def spectral_features(graph: Graph, options: SolveOptions, blocks: int | None = None) -> Floats:
    """(n, d) the leading eigenvectors of the regularised average except the first, times their eigenvalues."""
    spectrum = _Spectrum(graph, options)
    blocks = blocks or (BLOCKS if graph.n_nodes <= LARGE else 1)
    if graph.n_nodes <= SMALL:
        return spectrum.exact(blocks * COLUMNS)
    x = spectrum.start(blocks)
    low, means = FIRST_LOW, spectrum.averages(x)
    for degree in SMALL_DEGREES if graph.n_nodes <= LARGE else DEGREES:
        x = spectrum.orthogonal(spectrum.filtered(x, means, low, degree))
        means = spectrum.averages(x)
        values, turn = spectrum.eigenpairs(x, means)
        low = MARGIN * float(np.clip(values[min(CUT, len(values) - 1)], LOWEST, HIGHEST))
    kept = np.arange(len(values))[: _without_first(values)][::-1]
    return spectrum.turned(x, turn[:, kept] * np.maximum(values[kept], 0))


def _without_first(values: Doubles) -> int:
    """How many ascending eigenvalues there are without the largest; all if two are the largest, as in equal parts.

    Which of their vectors is the first would depend on rounding errors.
    """
    return len(values) - (len(values) < 2 or bool(values[-1] - values[-2] > EQUAL))


def degree_features(graph: Graph) -> Floats:
    """(n, 2) the logarithm of the degree of each node, in mean edges, and its square, standardised."""
    csr = links(graph)
    logs = np.log1p(csr.sums / mean_weight(csr))
    found = np.stack([logs, logs**2])
    spread = found.std(axis=1, keepdims=True)
    found = (found - found.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    return np.ascontiguousarray(found.T, dtype=precision(graph))


class _Spectrum:
    """The regularised average of a graph, applied to blocks of columns: arrays (n, 16).

    It is symmetric in the inner product that weights nodes by their regularised degree.
    """

    def __init__(self, graph: Graph, options: SolveOptions) -> None:
        self.graph, csr = graph, links(graph)
        self.dtype = precision(graph)
        degrees = csr.sums
        self.degrees = (degrees + REGULARISATION * (degrees.mean() or 1)).astype(self.dtype)
        scale = np.divide(1, self.degrees, out=np.zeros_like(self.degrees), where=degrees > 0)
        self.average = Averaging(csr, scale, dtype=self.dtype, n_threads=options.threads)

    def exact(self, count: int) -> Doubles:
        """The features from all eigenvectors, with fewer than ``count`` columns: equal eigenvalues stay together."""
        root = np.sqrt(self.degrees)
        matrix = self.average.to_scipy().toarray() * root[:, None] / root  # symmetric
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        first = values[-count] if count <= len(values) else 0.0
        leading = np.flatnonzero(values[: _without_first(values)] > max(first, 0) + EQUAL)[::-1]
        return np.asarray(vectors[:, leading] / root[:, None] * values[leading])

    def start(self, blocks: int) -> list[Floats]:
        """Blocks of random signs, and a constant first column."""
        colours = distinct_colours(self.graph)
        count = min(blocks, -(-len(colours) // COLUMNS))
        drawn = np.ascontiguousarray(colours.astype("<u8").view(np.uint8).reshape(-1, 8)[:, : count * COLUMNS // 8])
        signs = np.unpackbits(drawn, axis=1).view(np.int8)
        signs += signs
        signs -= 1
        x = [self.average.block(part) for part in np.hsplit(signs, count)]
        x[0][:, 0] = 1
        return x

    def averages(self, x: list[Floats]) -> list[Floats]:
        """The average over neighbours; 0 at isolated nodes."""
        return [self.average @ block for block in x]

    def filtered(self, x: list[Floats], means: list[Floats], low: float, degree: int) -> list[Floats]:
        """Apply the Chebyshev polynomial that is at most 1 between -1 and ``low``, and large above.

        ``means`` are the averages of x; both are overwritten.
        """
        center, radius = self.dtype.type((low - 1) / 2), self.dtype.type((low + 1) / 2)
        return [self._filtered(*pair, center, radius, degree) for pair in zip(x, means, strict=True)]

    def _filtered(self, before: Floats, now: Floats, center: Any, radius: Any, degree: int) -> Floats:
        now -= center * before
        now /= radius
        doubled = self.average.times(2 / radius)
        for _ in range(degree - 1):
            doubled.chebyshev(now, before, float(2 * center / radius))
            before, now = now, before
        return now

    def orthogonal(self, x: list[Floats]) -> list[Floats]:
        """The same space with columns that are orthogonal by degree; dependent columns become small."""
        products = self._products(x, x)
        lengths = np.sqrt(np.maximum(np.diag(products), np.finfo(np.float32).tiny))
        squares, turn = np.linalg.eigh(products / np.outer(lengths, lengths))
        turn /= np.sqrt(np.maximum(squares, squares[-1] * LEAST_SQUARE)) * lengths[:, None]
        return [self.turned(x, part) for part in np.hsplit(turn, len(x))]

    def eigenpairs(self, x: list[Floats], means: list[Floats]) -> tuple[Doubles, Doubles]:
        """Eigenvalues of the average restricted to orthogonal columns, ascending, and the rotation to its vectors."""
        products = self._products(x, means)
        values, turn = np.linalg.eigh((products + products.T) / 2)
        return values, turn

    def _products(self, x: list[Floats], y: list[Floats]) -> Doubles:
        """The inner products of columns, by degree."""
        weighted = [self.degrees[:, None] * block for block in x]
        return np.block([[left.T @ right for right in y] for left in weighted]).astype(np.float64)

    def turned(self, x: list[Floats], turn: Doubles) -> Floats:
        """(n, d) the product of all columns with the matrix ``turn``."""
        parts = np.split(turn.astype(self.dtype), len(x))
        found = np.matmul(x[0], parts[0], out=kernels.block(len(x[0]), turn.shape[1], self.dtype))
        for block, part in zip(x[1:], parts[1:], strict=True):
            found += block @ part
        return found
