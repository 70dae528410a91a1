"""The hot loops: native C++ where it was built, the same functions in SciPy elsewhere.

Set ``ISOTHERM_KERNELS`` to ``native`` or ``reference`` to force one of them.
"""

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isotherm.kernels import reference

__all__ = ["Report", "active", "block", "description", "native", "thread_count", "width"]

WIDTHS = (2, 4, 8, 16)

try:
    native: ModuleType | None = import_module("isotherm.kernels._native")
except ImportError:
    native = None


def _choose(wanted: str) -> ModuleType:
    if wanted == "reference":
        return reference
    if native is not None:
        return native
    if wanted == "native":
        raise ImportError("ISOTHERM_KERNELS=native, but isotherm was installed without a C++ compiler")
    warnings.warn(
        "isotherm was installed without a C++ compiler: its kernels run in SciPy, about eight times slower",
        RuntimeWarning,
        stacklevel=2,
    )
    return reference


active = _choose(os.environ.get("ISOTHERM_KERNELS", "auto"))


class Report(NamedTuple):
    """What one pass over a block measured: a value for each column, and a last one for the closing column."""

    dot: NDArray[np.float64]
    step: NDArray[np.float64]
    residual: NDArray[np.float64]
    sum: NDArray[np.float64]
    square: NDArray[np.float64]
    size: NDArray[np.float64]

    def spread(self, rows: int) -> NDArray[np.float64]:
        """The standard deviation of each column over so many rows."""
        return np.sqrt(np.maximum(self.square / rows - (self.sum / rows) ** 2, 0))


def description() -> str:
    """Which kernels run here, for ``--version`` and bug reports."""
    if active is reference:
        return "reference (SciPy)"
    return f"native ({active.instruction_set}), {thread_count()} threads"


def thread_count(n_threads: int | None = None) -> int:
    """The number of threads to use: the argument, ``ISOTHERM_THREADS``, or all cores open to this process."""
    if n_threads is None and os.environ.get("ISOTHERM_THREADS"):
        n_threads = int(os.environ["ISOTHERM_THREADS"])
    if n_threads is None:
        has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS
        n_threads = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(1, n_threads)


def width(columns: int) -> int:
    """The narrowest block that holds this many columns, or the widest there is."""
    return next((w for w in WIDTHS if w >= columns), WIDTHS[-1])


def block(rows: int, columns: int, dtype: DTypeLike) -> NDArray[np.floating]:
    """A zero array whose rows do not straddle cache lines."""
    size = rows * columns * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(rows, columns)
