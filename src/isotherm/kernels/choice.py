"""Which kernels run: native or reference, and for the native ones which instruction set.

Both are chosen once, when ``isotherm.kernels`` is imported, from the environment variables ``ISOTHERM_KERNELS`` and
``ISOTHERM_ISA``.
"""

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from isotherm.errors import Worded, warn

__all__ = ["KernelsError", "choose", "load_native"]

NAMES = ("avx512", "avx2", "base")


class KernelsError(Worded, ImportError):
    """The environment asks for kernels that cannot run here."""


def load_native() -> ModuleType | None:
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
    """The plain kernels; importing them takes a tenth of a second, which the native ones need not wait for."""
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
