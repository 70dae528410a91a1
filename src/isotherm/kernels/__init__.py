"""The hot loops over edges and nodes: compiled C++ where it was built, SciPy otherwise.

In come bare arrays: a graph in compressed sparse rows, blocks of temperatures, hashed node ids. Out come arrays filled
in place, and a `Report` with the sums and maxima of the pass. Nothing is checked here; the packages above have done
that. Call the kernels as ``kernels.active.sweep(...)``. Read ``reference.py`` first: it defines the kernels in a few
lines of SciPy each, and the C++ in ``native/`` has the same signatures. Further reference kernels are in
``numbering.py`` (text and node ids), ``tables.py`` (rows of tables) and ``drawing.py`` (layout).

Two environment variables are read at import. ``ISOTHERM_KERNELS`` is ``native`` or ``reference``. ``ISOTHERM_ISA`` is
the instruction set of the native kernels: ``base``, ``avx2`` or ``avx512``; by default the best that the processor has.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isotherm.errors import Worded, warn

__all__ = [
    "KernelsError",
    "Report",
    "Stride",
    "active",
    "block",
    "choose",
    "description",
    "instruction_sets",
    "native",
    "thread_count",
    "width",
]

WIDTHS = (1, 2, 4, 8, 16)  # columns of a block
NAMES = ("avx512", "avx2", "base")


class KernelsError(Worded, ImportError):
    """The environment asks for kernels that cannot run here."""


def _load_native() -> ModuleType | None:
    """The compiled kernels, or None if isotherm was installed without them."""
    try:
        return import_module("isotherm.kernels._native")
    except ImportError:
        return None


def choose(native: ModuleType | None, environment: Mapping[str, str]) -> ModuleType:
    """The kernels that the environment asks for; by default the native ones with the best instruction set."""
    wanted = environment.get("ISOTHERM_KERNELS", "auto")
    if wanted == "reference":
        return _reference()
    if native is None:
        _report_missing(wanted)
        return _reference()
    if environment.get("ISOTHERM_ISA"):
        _use_instruction_set(native, environment["ISOTHERM_ISA"])
    return native


def _reference() -> ModuleType:
    """The plain kernels; importing them takes a tenth of a second, so it is done only when they are needed."""
    return import_module("isotherm.kernels.reference")


def _report_missing(wanted: str) -> None:
    if wanted == "native":
        raise KernelsError("ISOTHERM_KERNELS is 'native', but isotherm was installed without a C++ compiler")
    warn(
        "isotherm was installed without a C++ compiler: its kernels run in SciPy, about eight times slower",
        RuntimeWarning,
    )


def _use_instruction_set(native: ModuleType, wanted: str) -> None:
    available = native.instruction_sets()
    if wanted not in available:
        fault = "which this processor lacks; it" if wanted in NAMES else "which is unknown; this processor"
        raise KernelsError(f"ISOTHERM_ISA is {wanted!r}, {fault} has {', '.join(available)}")
    native.use_instruction_set(wanted)


native: ModuleType | None = _load_native()
active: ModuleType = choose(native, os.environ)


class Report(NamedTuple):
    """Measurements of one pass over a block: one value per column, and a last one for the closing column.

    The closing column is the class that is not solved for: minus the sum of the columns of the other classes.
    """

    dot: NDArray[np.float64]
    step: NDArray[np.float64]
    residual: NDArray[np.float64]
    sum: NDArray[np.float64]
    square: NDArray[np.float64]
    size: NDArray[np.float64]

    def spread(self, rows: int) -> NDArray[np.float64]:
        """The standard deviation of each column over this number of rows."""
        return np.sqrt(np.maximum(self.square / rows - (self.sum / rows) ** 2, 0))


class Stride(NamedTuple):
    """Measurements of one iteration of cg with a factor; see ``reference.descend``."""

    energy: NDArray[np.float64]
    curvature: NDArray[np.float64]
    cross: NDArray[np.float64]
    square: NDArray[np.float64]
    size: NDArray[np.float64]


def description() -> str:
    """Which kernels run here, for ``--version`` and bug reports."""
    if active is not native:
        return "reference (SciPy)"
    return f"native ({active.instruction_set()}), {thread_count()} threads"


def instruction_sets() -> tuple[str, ...]:
    """The values of ``ISOTHERM_ISA`` that work on this processor, best first; none without native kernels."""
    return () if native is None else tuple(native.instruction_sets())


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
