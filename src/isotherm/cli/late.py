"""When modules are loaded: heavy ones that no command uses on their first use, others while a large file is read."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from threading import Thread
from types import ModuleType

__all__ = ["load_beside", "load_late"]

LATE = frozenset({"numpy.f2py", "pandas", "scipy.stats"})
LARGE = 1 << 24  # bytes


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


def load_beside(module: str, path: str) -> None:
    """Import a module in another thread, if the file that is read meanwhile is so large that this saves time."""
    if os.path.isfile(path) and os.path.getsize(path) > LARGE:
        Thread(target=import_module, args=[module]).start()
