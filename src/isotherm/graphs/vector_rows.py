"""Tables of vectors: checked, and prepared so that float32 distances between their rows are accurate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from isotherm.arrays import Doubles
from isotherm.choices import MetricName
from isotherm.errors import Option, ParameterError, Worded, first_few, warn
from isotherm.graphs.untrusted import checked_sparse

METRICS = get_args(MetricName)
DIRECTIONS = 128  # columns after the projection of a large sparse table
MOST_DENSE = 1 << 26  # cells up to which a sparse table is made dense
ROUNDED = 2.0**-16  # means are rounded to multiples of this fraction of the range of the values
CHUNK = 1 << 22  # cells converted at once
MUCH_LARGER = 20  # times the median deviation of the columns
REMEDY = "replace such values, for example by sklearn.impute.SimpleImputer, or drop the rows"
MOST_VARIANCE = 0.9  # share of the variance of the table

Vectors = NDArray[np.float32]


class ScaleWarning(Worded, UserWarning):
    """A few columns vary so much more than the others that they alone decide which rows are near."""


def as_table(values: Any) -> Any:
    """The table as a 2-D NumPy array of real numbers or a csr_array, checked to be finite."""
    if issparse(values):
        table = csr_array(checked_sparse(values))
        table.sum_duplicates()
        _check_numbers(table.data.dtype)
    else:
        table = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
        if table.dtype == object:
            try:
                table = table.astype(np.float64)
            except (TypeError, ValueError):
                raise TypeError("a table of vectors holds numbers: encode or leave out its columns of text") from None
        _check_numbers(table.dtype)
    if table.ndim != 2:
        raise ValueError(f"a table of vectors has two dimensions, rows and columns, not {table.ndim}")
    if 0 in table.shape:
        raise ValueError(f"a table of vectors needs rows and columns; this one has shape {table.shape}")
    check_finite(table, names_of(values))
    return table


def names_of(values: Any) -> Sequence[str | int] | None:
    """The names of the columns of a data frame."""
    names = getattr(values, "columns", None)
    return None if names is None else list(names)


def _check_numbers(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise TypeError(f"a table of vectors holds real numbers, not {dtype}: encode or leave out other columns")


def first_odd(table: Any) -> tuple[int, int, str] | None:
    """The row and the column of the first value that is not finite, and whether it is NaN or infinity."""
    values = table.data if issparse(table) else table
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind != "f" or np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
            return None
    place = int(np.argmin(np.isfinite(values)))
    row, column = divmod(place, table.shape[1])
    if issparse(table):
        row, column = int(np.searchsorted(table.indptr, place, "right")) - 1, int(table.indices[place])
    return row, column, "NaN" if np.isnan(values.flat[place]) else "infinity"


def check_finite(table: Any, names: Sequence[str | int] | None = None) -> None:
    """Refuse a value that is missing or infinite; columns without names are counted from 0, as rows are."""
    odd = first_odd(table)
    if odd is not None:
        row, column, value = odd
        raise ValueError(
            f"row {row} has {value} in column {column if names is None else repr(names[column])}: {REMEDY}"
        )


@dataclass(frozen=True)
class Preparation:
    """How rows become float32 vectors whose Euclidean distances are the distances of the metric.

    Rows are divided by their norms (cosine), projected (large sparse tables), centered and divided by a power of two.
    So float32 neither overflows nor loses distances that are small compared with the values.
    """

    metric: str
    divisor: Doubles  # (p,) scale of each column, so that squares neither overflow nor vanish
    directions: Doubles | None  # (p, DIRECTIONS)
    center: Doubles
    unit: float

    @classmethod
    def of(cls, table: Any, metric: str, scale: bool, names: Sequence[str | int] | None = None) -> Self:
        """The preparation that suits the rows of this table."""
        if metric not in METRICS:
            message = f"{{metric}} is unknown: choose {' or '.join(map(repr, METRICS))}"
            raise ParameterError(message, metric=Option("metric", metric))
        magnitude = _power_of_two(_largest(table))
        deviations = _deviations(table, magnitude)  # in units of the magnitude
        if not scale and metric == "euclidean" and not issparse(table):
            _warn_about_scales(deviations, names)
        single = deviations.astype(np.float32).astype(np.float64)  # without the bits that depend on the order of rows
        divisor = magnitude * np.where(single > 0, single, 1) if scale else np.full(table.shape[1], magnitude)
        draft = cls(metric, divisor, None, np.zeros(1), 1.0)
        directions = None
        if issparse(table) and table.shape[0] * table.shape[1] > MOST_DENSE:
            directions = _principal_directions(draft._compared(table))
            draft = cls(metric, divisor, directions, np.zeros(1), 1.0)
        center, largest = draft._spread(table)
        return cls(metric, divisor, directions, center, _power_of_two(largest))

    def rows(self, table: Any) -> Vectors:
        """The prepared rows of a table, (n, p) float32."""
        rows = np.empty((table.shape[0], len(self.center)), np.float32)
        for part in _chunks(*rows.shape):
            rows[part] = (self._dense(table[part]) - self.center) / self.unit
        rows += np.float32(0)  # -0.0 becomes 0.0: equal rows have equal bytes
        return rows

    def _dense(self, table: Any) -> Doubles:
        compared = self._compared(table)
        if self.directions is not None:
            return np.asarray(compared @ self.directions)
        return compared.toarray() if issparse(compared) else compared

    def _compared(self, table: Any) -> Any:
        table = table.astype(np.float64)
        table = table @ diags_array(1 / self.divisor) if issparse(table) else table / self.divisor
        if self.metric == "euclidean":
            return table
        norms = _row_norms(table)
        inverse = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        return csr_array(diags_array(inverse) @ table) if issparse(table) else table * inverse[:, None]

    def _spread(self, table: Any) -> tuple[Doubles, float]:
        """The approximate mean of each column, and the largest deviation from it in any column.

        The mean is rounded, so that it does not depend on the order of the rows, and equal distances stay equal.
        """
        parts = _chunks(table.shape[0], table.shape[1] if self.directions is None else DIRECTIONS)
        sums, low, high = 0.0, np.inf, -np.inf
        for part in parts:
            values = self._dense(table[part])
            sums = sums + values.sum(axis=0)
            low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
        grid = ROUNDED * _power_of_two(float(np.max(high - low)))
        center = grid * np.round(np.asarray(sums) / table.shape[0] / grid)
        return center, float(max(np.max(high - center), np.max(center - low)))


def has_direction(table: Any) -> NDArray[np.bool_]:
    """(n,) whether each row has an entry that is not zero."""
    if issparse(table):
        return np.diff(np.append(0, np.cumsum(table.data != 0))[table.indptr]) > 0
    return np.asarray((table != 0).any(axis=1))


def _row_norms(table: Any) -> Doubles:
    if issparse(table):
        return np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    return np.sqrt(np.einsum("ij,ij->i", table, table))


def _power_of_two(value: float) -> float:
    """The power of two below the value, because division by it is exact; 1 for 0."""
    return float(2.0 ** np.floor(np.log2(value))) if value > 0 else 1.0


def _largest(table: Any) -> float:
    values = table.data if issparse(table) else table
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def _chunks(rows: int, columns: int) -> list[slice]:
    step = max(1, CHUNK // columns)
    return [slice(first, first + step) for first in range(0, rows, step)]


def _deviations(table: Any, unit: float) -> Doubles:
    """The standard deviation of each column, divided by the unit."""
    parts = [table[part] for part in _chunks(*table.shape)]
    mean = sum(part.astype(np.float64).sum(axis=0) / unit for part in parts) / table.shape[0]
    if issparse(table):
        squares = sum((part.astype(np.float64) / unit).power(2).sum(axis=0) for part in parts) / table.shape[0]
        return np.sqrt(np.maximum(squares - mean**2, 0))
    squares = sum(((part.astype(np.float64) / unit - mean) ** 2).sum(axis=0) for part in parts) / table.shape[0]
    return np.asarray(np.sqrt(squares))


def _warn_about_scales(deviations: Doubles, names: Sequence[str | int] | None) -> None:
    """Warn if columns with a much larger deviation than the median together have most of the variance."""
    varied = deviations > 0
    if varied.sum() < 2:
        return
    large = np.flatnonzero(deviations > MUCH_LARGER * np.median(deviations[varied]))
    held = float((deviations[large] ** 2).sum() / (deviations**2).sum())
    if len(large) and held > MOST_VARIANCE:
        columns = first_few([place if names is None else names[place] for place in large.tolist()], 3)
        several = f"columns {columns} of the table hold", "they alone decide"
        subject, verb = several if len(large) > 1 else (f"column {columns} of the table holds", "it alone decides")
        reason = f"{subject} {held:.1%} of its variance, so {verb} which rows are near"
        warn(ScaleWarning(f"{reason}: pass {{scale}}, or scale the columns yourself", scale=Option("scale", True)))


def _principal_directions(table: Any) -> Doubles:
    """The directions (p, DIRECTIONS) along which the rows differ most; the same on every run."""
    from sklearn.utils.extmath import randomized_svd
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # the number of threads would change the last digits
        return np.ascontiguousarray(randomized_svd(table, DIRECTIONS, random_state=0)[2].T)
