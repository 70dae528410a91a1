"""The files to pack: names and folders to batches of edges, as often as they are needed."""

import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from isotherm.files import STANDARD, FileError
from isotherm.io.layout import Layout, Options
from isotherm.io.streams import Input
from isotherm.io.tables.edges import EdgeBatch, open_edges
from isotherm.io.tables.parts import SourceFile, found_files
from isotherm.io.tables.rows.batches import ahead

__all__ = ["Meter", "PackProgress", "SourceFile", "Sources", "files_to_pack"]

PackProgress: TypeAlias = Callable[..., None]  # called with the share done, 1.0 and a note


def files_to_pack(paths: Iterable[str], wanted: str | None) -> list[SourceFile]:
    """The files that these names stand for, none of which may be a pipe."""
    names = list(paths)
    for name in names:
        if name == STANDARD or (os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name))):
            raise FileError(f"{name}: edges are read twice to be packed, so they cannot come from a pipe; give a file")
    return found_files(names, wanted)


class Meter:
    """The share of the work that is done, with an estimate of the time that is left."""

    def __init__(self, progress: PackProgress | None) -> None:
        self._progress, self._began = progress, time.monotonic()
        self._base, self._width, self._note = 0.0, 1.0, ""

    def stage(self, note: str, begin: float, end: float) -> None:
        """Begin a stage, which takes the work from one share to another."""
        self._base, self._width, self._note = begin, end - begin, note
        self.report(0.0)

    def report(self, share: float) -> None:
        """Report the share of the stage that is done."""
        if self._progress is None:
            return
        done, seconds = self._base + self._width * min(max(share, 0.0), 1.0), time.monotonic() - self._began
        left = seconds / done - seconds if done > 0.02 else 0.0
        text = f", about {left / 60:.0f} min left" if left >= 60 else f", about {left:.0f} s left" if left else ""
        self._progress(done, 1.0, f"{self._note}{text}")


class Sources:
    """Files of edges that are read one after another.

    Attributes
    ----------
    layout
        How the first file is laid out, once it was opened.
    """

    layout: Layout | None = None

    def __init__(self, files: list[SourceFile], options: Options) -> None:
        self.files, self.options = files, options
        self._sizes = [max(os.path.getsize(file.path), 1) for file in files]

    def batches(self, meter: Meter) -> Iterator[tuple[SourceFile, EdgeBatch]]:
        """All edges."""
        total, before = sum(self._sizes), 0
        for file, size in zip(self.files, self._sizes, strict=True):
            yield from ((file, batch) for batch in ahead(self._opened(file, meter, before / total, size / total)))
            before += size

    def _opened(self, file: SourceFile, meter: Meter, base: float, width: float) -> Iterator[EdgeBatch]:
        def progress(done: int, total: int | None) -> None:
            if total:
                meter.report(base + width * done / total)

        with warnings.catch_warnings():
            if self.layout is not None:  # one warning for all files is enough
                warnings.simplefilter("ignore")
            table = open_edges(
                Input(file.path, file.known.compression, progress, self.options.encoding), file.known, self.options
            )
        self.layout = self.layout or table.layout
        yield from table.batches
