"""Modules that scikit-learn and SciPy import and no command uses: loaded on their first use, which saves a second."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

__all__ = ["load_late"]

LATE = frozenset({"numpy.f2py", "pandas", "scipy.stats"})


class _Late(MetaPathFinder):
    """Finds these modules as Python does, and has them wait until one of their attributes is asked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in LATE else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_late() -> None:
    """Have the heavy modules loaded on their first use; for a process that is ours, and imports none of them yet."""
    sys.meta_path.insert(0, _Late())
