"""How much memory is free, and whether a graph fits into it: asked before the memory is used."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.tables import size

EDGE, WEIGHT, NODE = 80, 16, 120  # bytes while a graph is built, measured on tables of ten million edges
CGROUPS = Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60  # what an old cgroup says if there is no limit


class Budget:
    """The memory that reading a file may take: what the caller allows, by default what is free when reading begins."""

    def __init__(self, path: str, most: int | None = None) -> None:
        self.path, self.asked = path, most is not None
        self.limit = available_memory() if most is None else most

    def check(self, *, nodes: int = 0, edges: int = 0, weighted: bool = False) -> None:
        """Refuse a graph of this size if it does not fit."""
        graph = f"a graph of {nodes:,} nodes and {edges:,} edges"
        self.check_bytes(nodes * NODE + edges * (EDGE + WEIGHT * weighted), graph)

    def check_bytes(self, needed: int, what: str = "the unpacked content") -> None:
        """Refuse to hold so many bytes if they do not fit."""
        if self.limit is None or needed <= self.limit:
            return
        limit = f"{size(self.limit)} {'are allowed' if self.asked else 'are free'}"
        message = "{path}: {what} needs about {needed} of memory, but only {limit}; "
        message += "raise {max_memory}" if self.asked else "use a machine with more, or check that the file is right"
        option = Option("max_graph_memory")
        raise FileError(message, path=self.path, what=what, needed=size(needed), limit=limit, max_memory=option)


def joined(path: str, pieces: Iterable[bytes]) -> bytes:
    """All pieces of a file in one, if they fit in memory twice."""
    budget, content = Budget(path), bytearray()
    for piece in pieces:
        content += piece
        budget.check_bytes(2 * len(content))
    return bytes(content)


def available_memory() -> int | None:
    """Bytes that this process may still use: free memory of the machine, its cgroups and its address space."""
    return min((max(0, free) for free in (*_machine(), *_groups(), *_address_space())), default=None)


def _machine() -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        yield next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        return
    with suppress(OSError, ValueError, AttributeError):  # all of the memory, where the system does not say what is free
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _groups() -> Iterator[int]:
    """What is free in the control groups of this process, and in those that they are part of."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds == "":
                yield from _group(CGROUPS, path, "memory.max", "memory.current", "inactive_file")
            elif "memory" in kinds.split(","):
                usage = "memory.usage_in_bytes"
                yield from _group(CGROUPS / "memory", path, "memory.limit_in_bytes", usage, "total_inactive_file")


def _group(root: Path, path: str, limit: str, usage: str, cache: str) -> Iterator[int]:
    inside = root / path.lstrip("/")
    for folder in (inside, *inside.parents):
        with suppress(OSError, ValueError):  # no such group is visible, or there is no limit ("max")
            most = int((folder / limit).read_text())
            stats = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            if most < UNLIMITED:
                yield most - int((folder / usage).read_text()) + int(stats.get(cache, 0))
        if folder == root:
            return


def _address_space() -> Iterator[int]:
    if sys.platform != "win32":
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            with suppress(OSError, ValueError):
                pages = int(Path("/proc/self/statm").read_text().split()[0])
                yield (most - pages * os.sysconf("SC_PAGE_SIZE")) // 2  # libraries reserve more than they use
