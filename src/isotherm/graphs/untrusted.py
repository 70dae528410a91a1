"""Sparse matrices from outside: files, saved models, packed folders, callers.

SciPy's compiled loops and our kernels trust ``indptr`` and ``indices``; a value that is out of range makes them read or
write outside of the arrays. So every matrix from outside passes `check_compressed` or `check_list` before anything else
touches it: through `sparse_of_arrays` if it was saved, through `checked_sparse` if it is an object of SciPy.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

COMPRESSED = {"csr": csr_array, "csc": csc_array, "bsr": bsr_array}
PIECE = 1 << 24  # entries checked at once, since arrays may be mapped
MALFORMED = "the matrix is malformed: its"


def check_compressed(indptr: NDArray[Any], indices: NDArray[Any], shape: tuple[int, int], stored: int) -> None:
    """Refuse compressed rows that point outside of themselves.

    ``shape`` is the number of rows and of columns, swapped for a csc matrix; ``stored`` is the number of values. There
    may be more indices and values than the rows use.
    """
    _check_integers(indptr, "indptr")
    _check_integers(indices, "indices")
    rising = len(indptr) == shape[0] + 1 and indptr[0] == 0 and rises(indptr)
    if not rising or indptr[-1] > min(len(indices), stored):
        raise ValueError(f"{MALFORMED} indptr does not rise from 0 to the number of its entries")
    _check_range(indices[: int(indptr[-1])], "indices", shape[1])


def check_list(rows: NDArray[Any], columns: NDArray[Any], shape: tuple[int, int], stored: int) -> None:
    """Refuse a list of entries that are outside of the matrix."""
    for name, places, size in (("row", rows, shape[0]), ("col", columns, shape[1])):
        _check_integers(places, name)
        if len(places) != stored:
            raise ValueError(f"{MALFORMED} {name} has {len(places)} values, but there are {stored} entries")
        _check_range(places, f"{name} index", size)


def checked_sparse(matrix: Any) -> Any:
    """The same SciPy matrix, checked because SciPy does not notice edits; formats without indices become coo."""
    if matrix.format in COMPRESSED:
        height, width = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        shape = matrix.shape[0] // height, matrix.shape[1] // width
        check_compressed(
            matrix.indptr, matrix.indices, shape[::-1] if matrix.format == "csc" else shape, len(matrix.data)
        )
        return matrix
    entries = matrix if matrix.format == "coo" else matrix.tocoo()
    check_list(entries.row, entries.col, entries.shape, len(entries.data))
    return entries


def sparse_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The matrix that `scipy.sparse.save_npz` saved in these arrays; one of diagonals becomes a list of entries.

    >>> saved = {"format": np.array("csr"), "shape": np.array([2, 2]), "data": np.ones(1)}
    >>> sparse_of_arrays(saved | {"indptr": np.array([0, 1, 1]), "indices": np.array([1])}).toarray()
    array([[0., 1.],
           [0., 0.]])
    >>> sparse_of_arrays(saved | {"indptr": np.array([0, 9, 1]), "indices": np.array([1])})
    Traceback (most recent call last):
    ValueError: the matrix is malformed: its indptr does not rise from 0 to the number of its entries
    """
    kind = str(arrays["format"].astype(str).item())
    names: dict[str, tuple[str, ...]] = dict.fromkeys(COMPRESSED, ("indptr", "indices"))
    names |= {"coo": ("coords",) if "coords" in arrays else ("row", "col"), "dia": ("offsets",)}
    if kind not in names:
        raise ValueError(f"a sparse matrix of the format {kind[:20]!r} is not known; save it as csr")
    missing = [name for name in ("shape", "data", *names[kind]) if name not in arrays]
    if missing:
        raise ValueError(f"the sparse matrix has no {missing[0]}; save it again")
    shape, data = _shape(arrays["shape"]), _numbers(arrays["data"], 3 if kind == "bsr" else 2 if kind == "dia" else 1)
    parts = [_native(arrays[name]) for name in names[kind]]
    if kind == "dia":
        _check_integers(parts[0], "offsets")
        if len(parts[0]) != len(data):
            raise ValueError(f"{MALFORMED} offsets are not those of its diagonals")
        columns = np.broadcast_to(np.arange(data.shape[1]), data.shape)
        rows = columns - np.clip(parts[0], -shape[0], shape[1]).astype(np.int64)[:, None]
        inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1]) & (data != 0)
        return coo_array((data[inside], (rows[inside], columns[inside])), shape=shape)
    if kind == "coo":
        rows, columns = parts if len(parts) == 2 else _two(parts[0])
        check_list(rows, columns, shape, len(data))
        return coo_array((data, (rows, columns)), shape=shape)
    indptr, indices = parts
    height, width = data.shape[1:] if kind == "bsr" else (1, 1)
    if not (height and width) or shape[0] % height or shape[1] % width:
        raise ValueError(f"{MALFORMED} blocks of {height} x {width} do not fill {shape[0]} x {shape[1]}")
    blocks = shape[0] // height, shape[1] // width
    check_compressed(indptr, indices, blocks[::-1] if kind == "csc" else blocks, len(data))
    used = int(indptr[-1])
    return COMPRESSED[kind]((data[:used], indices[:used], indptr), shape=shape)


def rises(values: NDArray[Any], *, strictly: bool = False) -> bool:
    """Whether values rise, checked piece by piece; pieces overlap by one value."""
    for first in range(0, len(values), PIECE):
        part = values[first : first + PIECE + 1]
        if not bool(np.all(part[1:] > part[:-1] if strictly else part[1:] >= part[:-1])):
            return False
    return True


def _check_integers(values: NDArray[Any], name: str) -> None:
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(f"{MALFORMED} {name} is not a list of integers")


def _check_range(values: NDArray[Any], name: str, size: int) -> None:
    unsigned = values.view(values.dtype.str.replace("i", "u"))  # so that negative ones are large
    for first in range(0, len(values), PIECE):
        if unsigned[first : first + PIECE].max() >= size:
            raise ValueError(f"{MALFORMED} {name} values are not all between 0 and {size - 1}")


def _native(values: NDArray[Any]) -> NDArray[Any]:
    """The same in the byte order of this machine, which compiled loops need."""
    return np.asarray(values, dtype=values.dtype.newbyteorder("="))


def _shape(values: NDArray[Any]) -> tuple[int, int]:
    if values.dtype.kind not in "iu" or values.shape != (2,) or not all(0 <= size < 2**62 for size in values.tolist()):
        raise ValueError(f"{MALFORMED} shape is not the number of its rows and of its columns")
    rows, columns = values.tolist()
    return rows, columns


def _numbers(values: NDArray[Any], dimensions: int) -> NDArray[Any]:
    if values.dtype.kind not in "biuf" or values.ndim != dimensions:
        raise ValueError(
            f"{MALFORMED} entries are {values.dtype}, with {values.ndim} dimensions; they are real numbers"
        )
    narrow = values.dtype.kind == "f" and values.dtype.itemsize == 2  # SciPy has no loops for half precision
    return values.astype(np.float32) if narrow else _native(values)


def _two(coordinates: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if coordinates.ndim != 2 or len(coordinates) != 2:
        raise ValueError(f"{MALFORMED} coords are not those of rows and columns")
    return coordinates[0], coordinates[1]
