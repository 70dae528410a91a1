"""The hot loops over edges and nodes: compiled C++ where it was built, SciPy otherwise.

In come bare arrays: a graph in compressed sparse rows, blocks of temperatures, hashed node ids. Out come arrays filled
in place, and a `Report` with the sums and maxima of the pass. Nothing is checked here; the packages above have done
that. Call the kernels as ``kernels.active.sweep(...)``. Read ``reference.py`` first: it defines the kernels in a few
lines of SciPy each, and the C++ in ``native/`` has the same signatures. Further reference kernels are in
``numbering.py`` (text and node ids), ``tables.py`` (rows of tables), ``regression.py`` and ``drawing.py`` (layout).

Two environment variables are read at import. ``ISOTHERM_KERNELS`` is ``auto``, ``native`` or ``reference``.
``ISOTHERM_ISA`` is the instruction set of the native kernels: ``base``, ``avx2`` or ``avx512``; by default the best
that the processor has. Other values are refused. ``ISOTHERM_THREADS`` is read when threads are counted.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from isotherm.arrays import Doubles, Floats
from isotherm.errors import ParameterError, Worded, warn

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

LINE = 64  # bytes of a cache line
WIDTHS = (1, 2, 4, 8, 16)  # columns of a block
KINDS = ("auto", "native", "reference")
NAMES = ("avx512", "avx2", "base")


class KernelsError(Worded, ImportError):
    """The environment asks for kernels that cannot run here."""


def choose(native: ModuleType | None, environment: Mapping[str, str]) -> ModuleType:
    """The kernels that the environment asks for; by default the native ones with the best instruction set."""
    wanted, instructions = environment.get("ISOTHERM_KERNELS") or "auto", environment.get("ISOTHERM_ISA")
    if wanted not in KINDS:
        raise KernelsError(f"ISOTHERM_KERNELS is {wanted!r}, which is unknown; choose from {', '.join(KINDS)}")
    if native is None and wanted == "native":
        raise KernelsError("ISOTHERM_KERNELS is 'native', but isotherm was installed without a C++ compiler")
    if native is None and wanted != "reference":
        missing = "isotherm was installed without a C++ compiler: its kernels run in SciPy, about eight times slower"
        warn(missing, RuntimeWarning)
    if native is None or wanted == "reference":
        return import_module("isotherm.kernels.reference")  # only now: the import takes a tenth of a second
    if instructions:
        available = native.instruction_sets()
        if instructions not in available:
            fault = "which this processor lacks; it" if instructions in NAMES else "which is unknown; this processor"
            raise KernelsError(f"ISOTHERM_ISA is {instructions!r}, {fault} has {', '.join(available)}")
        native.use_instruction_set(instructions)
    return native


native: ModuleType | None
try:
    native = import_module("isotherm.kernels._native")
except ImportError:  # isotherm was installed without it
    native = None
active: ModuleType = choose(native, os.environ)


class Report(NamedTuple):
    """Measurements of one pass over a block: one value per column, and a last one for the closing column.

    The closing column is the class that is not solved for: minus the sum of the columns of the other classes.
    """

    dot: Doubles
    step: Doubles
    residual: Doubles
    sum: Doubles
    square: Doubles
    size: Doubles

    def spread(self, rows: int) -> Doubles:
        """The standard deviation of each column over this number of rows."""
        return np.sqrt(np.maximum(self.square / rows - (self.sum / rows) ** 2, 0))


class Stride(NamedTuple):
    """Measurements of one iteration of cg with a factor; see ``reference.descend``."""

    energy: Doubles
    curvature: Doubles
    cross: Doubles
    square: Doubles
    size: Doubles


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
    asked = os.environ.get("ISOTHERM_THREADS")
    if n_threads is None and asked:
        if not (asked.isdecimal() and int(asked)):
            raise ParameterError(f"ISOTHERM_THREADS is {asked!r}; it must be a number from 1 on")
        n_threads = int(asked)
    if n_threads is None:
        has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS
        n_threads = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(1, n_threads)


def width(columns: int) -> int:
    """The narrowest block that holds this many columns, or the widest there is."""
    return next((w for w in WIDTHS if w >= columns), WIDTHS[-1])


def block(rows: int, columns: int, dtype: DTypeLike) -> Floats:
    """A zero array whose rows do not straddle cache lines; products with a graph are up to three times as fast."""
    size = rows * columns * np.dtype(dtype).itemsize
    memory = np.zeros(size + LINE, dtype=np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype).reshape(rows, columns)


def is_block(x: Floats) -> bool:
    """Whether kernels can take an array as it is: a block, of one of the `WIDTHS`."""
    return width(x.shape[1]) == x.shape[1] and x.flags.c_contiguous and x.ctypes.data % LINE == 0
