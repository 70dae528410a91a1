"""Sparse matrices in compressed rows: how a graph stores its edges, and how these are read, checked and cleaned up."""

import numbers
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse

from isotherm import kernels
from isotherm.arrays import Doubles, Floats
from isotherm.errors import Option, ParameterError
from isotherm.graphs.nodes import Ids, flat, is_missing
from isotherm.graphs.untrusted import checked_sparse

MOST_NODES = 2**31 - 1  # indices are int32
NOISE = 1e-8  # relative asymmetry that counts as rounding
MOST_KINDS = 20  # kinds of edges at most; each takes a few solves
MISSING = "missing"  # the name of the kind of edges without a given kind


class Csr(NamedTuple):
    """A sparse matrix as the kernels take it: row ``i`` holds entries ``indptr[i]`` to ``indptr[i + 1] - 1``."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Floats | None  # None: all one

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @property
    def entries(self) -> int:
        """The number of entries."""
        return len(self.indices)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The row of each entry."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.indptr))

    def counts(self, nodes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The number of entries in the rows of some nodes."""
        return self.indptr[nodes + 1] - self.indptr[nodes]

    def entries_at(self, nodes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """The entries of the rows of some nodes: index into ``nodes``, node at the other end, weight."""
        first, counts = self.indptr[nodes], self.counts(nodes)
        owner = np.repeat(np.arange(len(nodes)), counts)
        places = np.arange(len(owner)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        weights = np.ones(len(owner), np.float32) if self.weights is None else self.weights[places]
        return owner, self.indices[places], weights

    @property
    def sums(self) -> Doubles:
        """The sum of each row."""
        return row_sums(self.indptr, self.weights)

    def of_type(self, dtype: DTypeLike) -> "Csr":
        """The same with weights of another type."""
        return self if self.weights is None else self._replace(weights=self.weights.astype(dtype, copy=False))

    def of_mean(self, mean: float) -> "Csr":
        """The same with weights scaled to this mean."""
        weights = np.ones(self.entries) if self.weights is None else self.weights
        present = float(weights.mean(dtype=np.float64)) if self.entries else 1.0
        return self._replace(weights=weights * (mean / present))

    def to_scipy(self) -> csr_array:
        """The same square matrix for SciPy, on the same memory where SciPy allows it."""
        data = np.ones(self.entries) if self.weights is None else self.weights
        return csr_array((data, self.indices, self.indptr), shape=(self.n, self.n))


def row_sums(indptr: NDArray[np.integer], weights: Floats | None, power: int = 1) -> Doubles:
    """The sum of a power of the weights in each row.

    >>> row_sums(np.array([0, 2, 2, 3]), np.array([1.0, 3.0, 5.0]), power=2)
    array([10.,  0., 25.])
    """
    if weights is None:
        return np.diff(indptr).astype(np.float64)
    sums = np.empty(len(indptr) - 1)
    starts, values = np.ascontiguousarray(indptr, np.int64), np.ascontiguousarray(weights, _float_type(weights.dtype))
    kernels.active.row_sums(starts, values, power, sums, kernels.thread_count())
    return sums


def edge_weights(weight: Any, edges: int) -> NDArray[Any] | None:
    """One number per edge, range not yet checked; None if no weights are given."""
    if weight is None:
        return None
    values = flat(weight, "weight")
    if len(values) != edges:
        raise ValueError(f"weight has {len(values)} values for {edges} edges")
    if values.dtype == object:
        for kind in set(map(type, values.tolist())):
            if not issubclass(kind, numbers.Real | np.bool_):
                raise TypeError(f"weights must be real numbers, not {kind.__name__}")
        return values.astype(np.float64)
    _check_real(values.dtype)
    return values


class EdgeKinds(NamedTuple):
    """The names of kinds, ascending, and the kind of each edge as a place among them."""

    names: tuple[str, ...]
    codes: NDArray[np.integer]


def edge_kinds(kind: Any, edges: int) -> EdgeKinds:
    """One kind per edge, compared as text.

    >>> edge_kinds(["pays", None, "knows", "pays"], 4)
    EdgeKinds(names=('knows', 'missing', 'pays'), codes=array([2, 1, 0, 2]))
    """
    values = flat(kind, "kind")
    if len(values) != edges:
        raise ValueError(f"kind has {len(values)} values for {edges} edges")
    texts = [MISSING if is_missing(value) else str(value).strip() or MISSING for value in values.tolist()]
    check_kinds(texts, Option("kind"))
    names, codes = np.unique(np.array(texts, dtype=np.str_), return_inverse=True)
    return EdgeKinds(tuple(names.tolist()), codes)


def check_kinds(kinds: Iterable[str], option: Option) -> None:
    """Refuse a column with too many different values to be kinds of edges."""
    found = len(set(kinds))
    if found > MOST_KINDS:
        message = (
            "{kind} has {found} kinds of edges, but at most {most} can be weighed: give another column, or merge some"
        )
        raise ParameterError(message, kind=option, found=f"{found:,}", most=MOST_KINDS)


def check_size(nodes: int, directed: bool = False) -> None:
    """Refuse a graph without nodes, or with more than int32 can number."""
    most = MOST_NODES // 2 if directed else MOST_NODES
    if not 0 < nodes <= most:
        raise ValueError(f"the graph has {nodes or 'no'} nodes; it must have at least 1 and at most {most}")


def _checked(values: NDArray[Any], nodes: Ids, ends: Callable[[int], tuple[int, int]]) -> Floats | None:
    """The values as weights, or None if all are one; ``ends`` maps an entry to the positions of its two nodes."""
    lowest, highest = float(values.min(initial=1)), float(values.max(initial=1))
    if lowest == highest:
        return None
    if not (lowest >= 0 and highest < np.inf):
        bad = int(np.argmin((values >= 0) & (values < np.inf)))
        between = " and ".join(repr(nodes.item(end)) for end in ends(bad))
        raise ValueError(
            f"the weight between nodes {between} is {values.item(bad)}; it must be finite and not negative"
        )
    return np.ascontiguousarray(values, dtype=_float_type(values.dtype))


def checked_entries(csr: Csr, values: NDArray[Any], nodes: Ids) -> Floats | None:
    """The values as weights of the entries, or None if all are one."""
    return _checked(values, nodes, lambda e: (int(np.searchsorted(csr.indptr, e, "right")) - 1, csr.indices.item(e)))


def _check_real(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise TypeError(f"weights must be real numbers, not {dtype}")


def _float_type(dtype: np.dtype[Any]) -> type[np.floating]:
    return np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64


def as_sparse(value: Any, name: str) -> Any:
    """A sparse or dense matrix as a sparse one, in any format."""
    if not issparse(value) and not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a SciPy sparse matrix or a NumPy array, not {type(value).__name__}")
    if value.ndim != 2:
        raise ValueError(f"the {name} matrix must have two dimensions, not {value.ndim}")
    _check_real(value.dtype)
    return value if issparse(value) else coo_array(np.asarray(value, dtype=_float_type(value.dtype)))


def read_matrix(matrix: Any, nodes: Ids, offset: int = 0) -> Csr:
    """The entries of a matrix, duplicates included; entry (i, j) joins ``nodes[i]`` and ``nodes[offset + j]``."""
    matrix = checked_sparse(matrix)
    if matrix.format == "csr":
        indptr = np.pad(matrix.indptr.astype(np.int64), (0, len(nodes) - matrix.shape[0]), "edge")
        indices = np.ascontiguousarray(matrix.indices[: indptr[-1]], dtype=np.int32)
        csr = Csr(indptr, indices + np.int32(offset) if offset else indices, None)
        return csr._replace(weights=checked_entries(csr, matrix.data[: csr.entries], nodes))
    entries = matrix.tocoo()
    return assembled(entries.row, entries.col + offset, entries.data, nodes)


def assembled(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any] | None, nodes: Ids) -> Csr:
    """A list of entries as sorted compressed rows, duplicates included; without values, all weights are one."""
    weights = None if values is None else _checked(values, nodes, lambda e: (rows.item(e), columns.item(e)))
    ends = (np.ascontiguousarray(positions, dtype=np.int32) for positions in (rows, columns))
    sorted_weights = None if weights is None else np.empty_like(weights)
    csr = Csr(np.empty(len(nodes) + 1, dtype=np.int64), np.empty(len(rows), dtype=np.int32), sorted_weights)
    kernels.active.assemble(*ends, weights, *csr, kernels.thread_count())
    return csr


def bipartite(arcs: Csr) -> Csr:
    """The matrix ``[[0, A], [A.T, 0]]`` of the arcs A."""
    weights = None if arcs.weights is None else np.empty(2 * arcs.entries, dtype=arcs.weights.dtype)
    csr = Csr(np.empty(2 * arcs.n + 1, dtype=np.int64), np.empty(2 * arcs.entries, dtype=np.int32), weights)
    kernels.active.bipartite(*arcs, *csr, kernels.thread_count())
    return csr


def _csr(matrix: csr_array) -> Csr:
    return Csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data)


def tidy(csr: Csr) -> tuple[Csr, bool, int]:
    """The matrix sorted, with duplicates added and zeros dropped; whether it is symmetric; its diagonal entries."""
    ordered, symmetric, loops = kernels.active.scan(*csr, kernels.thread_count())
    if not ordered:
        matrix = csr.to_scipy().copy()
        matrix.sum_duplicates()
        return tidy(_csr(matrix))
    if csr.weights is not None and not csr.weights.all():
        return tidy(_kept(csr, csr.weights > 0))
    return csr, symmetric, loops


def _kept(csr: Csr, keep: NDArray[np.bool_]) -> Csr:
    indptr = np.append(0, np.cumsum(keep))[csr.indptr]
    return Csr(indptr, csr.indices[keep], None if csr.weights is None else csr.weights[keep])


def undirected(csr: Csr, strict: bool) -> Csr:
    """The symmetric matrix of the entries; if ``strict``, they must be symmetric or all in one triangle."""
    csr, symmetric, loops = tidy(csr)
    if loops:
        csr = _kept(csr, csr.indices != csr.rows)
    if symmetric:
        return csr
    above = csr.indices > csr.rows
    if above.all() or not above.any() or (csr.weights is None and not strict):
        return both_ways(csr)
    matrix = csr.to_scipy()
    skewed = _skewed_pair(matrix)
    if skewed is None:
        return _csr(0.5 * matrix + 0.5 * matrix.T)
    if strict:
        i, j = skewed
        weights = f"the weights between nodes {i} and {j} are {matrix[i, j]} and {matrix[j, i]}"
        raise ParameterError(
            f"the adjacency matrix is not symmetric: {weights}; symmetrise it or pass {{directed}}",
            directed=Option("directed", True),
        )
    return both_ways(csr)


def _skewed_pair(matrix: csr_array) -> tuple[int, int] | None:
    """The first pair of nodes whose two weights differ by more than rounding, or None."""
    gap = (matrix - matrix.T).tocoo()
    largest = matrix.max(axis=1).toarray().ravel()
    noise = max(NOISE, 8 * np.finfo(matrix.dtype).eps) * np.minimum(largest[gap.row], largest[gap.col])
    skewed = np.flatnonzero(np.abs(gap.data) > noise)
    return (gap.row.item(skewed[0]), gap.col.item(skewed[0])) if len(skewed) else None


def both_ways(csr: Csr) -> Csr:
    """The sum of a tidy matrix and its transpose.

    >>> both_ways(Csr(np.array([0, 1, 3, 3]), np.array([1, 0, 2], np.int32), None)).to_scipy().toarray()
    array([[0., 2., 0.],
           [2., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    return Csr(*kernels.active.add_transpose(*csr, kernels.thread_count()))


def summed(parts: list[Csr], n: int) -> Csr:
    """The sum of matrices with n rows."""
    return _csr(sum((part.to_scipy() for part in parts), start=csr_array((n, n))))


def with_rows(csr: Csr, count: int) -> Csr:
    """The same matrix with this many more empty rows and columns."""
    return csr._replace(indptr=np.concatenate([csr.indptr, np.full(count, csr.indptr[-1])]))


def locked(values: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to."""
    view = values.view()
    view.flags.writeable = False
    return view


def read_only(csr: Csr) -> Csr:
    """The same matrix with arrays that cannot be written to."""
    return Csr(locked(csr.indptr), locked(csr.indices), None if csr.weights is None else locked(csr.weights))
