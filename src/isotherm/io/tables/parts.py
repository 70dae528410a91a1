"""One table of edges in several files: names, patterns and folders to files, and their edges one after another."""

import glob
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from isotherm.files import STANDARD, FileError
from isotherm.graphs.packed import is_packed
from isotherm.io.formats import FORMATS, NETSET, TEXTUAL, Format, format_of
from isotherm.io.layout import Options
from isotherm.io.streams import Input, Progress
from isotherm.io.streams.compression import COMPRESSIONS
from isotherm.io.tables.edges import EdgeBatch, EdgeTable, open_edges

__all__ = ["SourceFile", "expanded", "found_files", "is_one_file", "open_parts"]

TABLES = (*TEXTUAL, "parquet", "arrow")
SUFFIXES = {suffix for name in TABLES for suffix in FORMATS[name].suffixes}


class SourceFile(NamedTuple):
    """A file of edges and its format."""

    path: str
    known: Format

    @property
    def textual(self) -> bool:
        """Whether all ids are text in the file, also those that are numbers."""
        return self.known.name in TEXTUAL


def is_one_file(name: str) -> bool:
    """Whether a name stands for one file, or for a folder that is one graph, rather than for several files."""
    if os.path.isdir(name):
        return (
            is_packed(name)
            or name.rstrip(os.sep).endswith(".iso")
            or any(os.path.isfile(os.path.join(name, each)) for each in NETSET)
        )
    return os.path.exists(name) or name == STANDARD or not glob.has_magic(name)


def found_files(paths: Iterable[str], wanted: str | None) -> list[SourceFile]:
    """The files that these names stand for; of a folder all tables in it, at any depth, in the order of their names."""
    return [SourceFile(path, format_of(path, wanted)) for name in paths for path in expanded(name, wanted)]


def expanded(name: str, wanted: str | None) -> list[str]:
    """The files that a name stands for: itself, those that a pattern matches, or the tables in a folder."""
    if is_one_file(name):
        if not os.path.isdir(name):
            Input(name).check()
        return [name]
    if not os.path.isdir(name):
        matches = sorted(glob.glob(name, recursive=True))
        if not matches:
            raise FileError(f"no file matches {name}; correct the pattern")
        return matches
    inside = (path for path in sorted(Path(name).rglob("*")) if path.is_file())
    parts = [path for path in inside if not any(part[0] in "._" for part in path.relative_to(name).parts)]
    tables = [str(path) for path in parts if wanted is not None or _is_table(path.name.lower())]
    if not tables:
        raise FileError(f"{name} holds no tables of edges ({', '.join(sorted(SUFFIXES))}); give another folder")
    return tables


def _is_table(name: str) -> bool:
    stem, suffix = os.path.splitext(name)
    return suffix in SUFFIXES or (suffix in COMPRESSIONS and os.path.splitext(stem)[1] in SUFFIXES)


def open_parts(names: Sequence[str], wanted: str | None, options: Options, progress: Progress | None) -> EdgeTable:
    """Open several tables of edges as one; the columns of each are found anew."""
    files = found_files(names, wanted)
    for file in files:
        if file.known.name not in TABLES:
            raise FileError(f"{file.path}: only tables can be read together ({', '.join(TABLES)}); leave it out")
        if file.textual != files[0].textual:
            both = f"{files[0].path} and {file.path}"
            raise FileError(f"{both}: text and columnar files cannot be read together; convert one of them")
    total, before = sum(os.path.getsize(file.path) for file in files), 0
    opened: list[Callable[[], EdgeTable]] = []
    for file in files:
        opened.append(partial(_opened, file, options, partial(_share, progress, before, total), first=not opened))
        before += os.path.getsize(file.path)
    first = opened[0]()
    rest = (batch for open_next in opened[1:] for batch in _alike(first, open_next()))
    return EdgeTable(first.layout, None, chain(first.batches, rest))


def _opened(file: SourceFile, options: Options, progress: Progress, *, first: bool) -> EdgeTable:
    source = Input(file.path, file.known.compression, progress, options.encoding)
    with warnings.catch_warnings():
        if not first:  # one warning for all files is enough
            warnings.simplefilter("ignore")
        table = open_edges(source, file.known, options)
    return table._replace(batches=(batch._replace(place=partial(_place, file, batch)) for batch in table.batches))


def _alike(first: EdgeTable, table: EdgeTable) -> Iterator[EdgeBatch]:
    """The edges of a further file, which must have weights if the first has."""
    ours, theirs = first.layout.roles["weight"], table.layout.roles["weight"]
    if (ours is None) != (theirs is None):
        raise FileError("some of the files have weights and others have none; read them without, or add a column")
    return table.batches


def _place(file: SourceFile, batch: EdgeBatch, row: int) -> str:
    return f"{os.path.basename(file.path)}, {batch.place(row)}"


def _share(progress: Progress | None, before: int, total: int, done: int, of: int | None) -> None:
    """Report the bytes of all files that are done; what a columnar file reports are rows."""
    if progress is not None:
        progress(before + done, max(total, before + done))
