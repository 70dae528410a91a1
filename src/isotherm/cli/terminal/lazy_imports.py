"""Heavy modules that scikit-learn and SciPy import but no command uses, loaded on first use: this saves a second."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

__all__ = ["delay_imports"]

HEAVY = frozenset({"numpy.f2py", "pandas", "scipy.stats"})


class _LazyFinder(MetaPathFinder):
    """Finds the heavy modules as Python does, but loads one only when an attribute of it is used."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in HEAVY else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def delay_imports() -> None:
    """Load the heavy modules on first use; only for a process that runs a command and has not imported them yet."""
    sys.meta_path.insert(0, _LazyFinder())
