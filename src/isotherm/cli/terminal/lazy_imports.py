"""A faster start: heavy modules that no command uses are loaded on first use, and garbage is not looked for in modules.

Each saves a tenth of a second or more. scikit-learn and SciPy import the heavy modules, but commands do not need them.
"""

import gc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

__all__ = ["delay_imports"]

HEAVY = frozenset({"numpy.f2py", "numpy.testing", "pandas", "scipy.spatial", "scipy.stats"})


class _LazyFinder:
    """Finds the heavy modules as Python does, but loads one only when an attribute of it is used."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        gc.freeze()  # modules live as long as the process, so the collector need not look at them again and again
        spec = PathFinder.find_spec(fullname, path, target) if fullname in HEAVY else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def delay_imports() -> None:
    """Load the heavy modules on first use; only for a process that runs a command and has not imported them yet."""
    sys.meta_path.insert(0, _LazyFinder())
