"""Edges from tables, in one file or several: the columns of source, target and weight, with ids as positions."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option, muted, warn
from isotherm.files import STANDARD, FileError
from isotherm.graphs import Graph
from isotherm.graphs.csr import EdgeKinds, check_kinds, check_size, edge_weights
from isotherm.graphs.packed import is_packed
from isotherm.io.batches import (
    Batch,
    EdgeBatch,
    Floats,
    ahead,
    check_decimal_sign,
    checked_ids,
    checked_weights,
    kinds_as_text,
)
from isotherm.io.columns import edge_roles, unused_numbers
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.file_layout import Layout, Options
from isotherm.io.formats import FORMATS, NETSET, TEXTUAL, Format, SourceFile, format_of
from isotherm.io.memory import Budget
from isotherm.io.number_styles import COMMA, COMMA_GROUPED, POINT
from isotherm.io.numbering import Codebook, Words, ids_at, missing_words, warn_about_missing, warn_about_twins
from isotherm.io.streams import COMPRESSIONS, Input, Progress
from isotherm.io.tables import open_table

if TYPE_CHECKING:
    import polars as pl

TABLES = (*TEXTUAL, "parquet", "arrow")
SUFFIXES = {suffix for name in TABLES for suffix in FORMATS[name].suffixes}
SHORT_ROW = 8  # bytes; most rows of text are longer
MANY_ROWS = 1 << 27  # rows for which memory is reserved before they are read, at most


class Edges(NamedTuple):
    """Edges as a table lists them."""

    source: NDArray[np.integer]
    target: NDArray[np.integer]
    weight: Floats | None  # (m,) or None
    nodes: NDArray[Any]  # (n,) ids in order of first appearance, row by row, source before target
    layout: Layout  # which columns these are
    kinds: EdgeKinds | None = None  # (m,) or None


class EdgeTable(NamedTuple):
    """A table of edges that was opened."""

    layout: Layout  # which columns are which
    height: int | None  # the number of rows, if it is known
    batches: Iterator[EdgeBatch]  # the edges, some rows at a time


def open_edges(file: Input, known: Format, options: Options) -> EdgeTable:
    """Open a table of edges; warns if columns that may hold weights are not used."""
    wanted = tuple(options.picks.values())
    table = open_table(file, known.name, delimiter=options.delimiter, header=options.header, wanted=wanted)
    layout = table.layout(known.name, edge_roles(file.name, table.names, options.picks, table.values, table.sample))
    if options.weight is None and layout.roles["weight"] is None:
        _warn_about_numbers(file.name, unused_numbers(table.names, table.values, layout.roles))
    if options.decimal is None and "weight" in layout.places:
        check_decimal_sign(file.name, table.values, {None: layout.places["weight"]})
    if options.decimal == "," and "weight" in layout.places and table.dialect is not None:
        options = _as_written(file.name, table.sample()[layout.places["weight"]], options)
    numbers = frozenset({"weight"}) if options.decimal != "," else frozenset[str]()
    batches = table.batches(layout.places, numbers)
    return EdgeTable(layout, table.height, _checked(file.name, ahead(batches), options, layout))


def number_edges(file: Input, table: EdgeTable, options: Options) -> Edges:
    """Number the ends of the edges of a table that was opened."""
    layout, height, batches = table
    budget = Budget(file.name, options.max_memory)
    weighted = layout.roles["weight"] is not None
    budget.check(edges=height or 0, weighted=weighted)
    ends = _Ends(_rows_at_most(file) if height is None else height)
    nodes = edges = 0
    ids, weights, book, kinds, missing = [], list[Any](), Codebook(), _Kinds(), list[str]()
    hashed = ((batch, book.hashes(batch.source, batch.target)) for batch in batches)
    for batch, first in ahead(_numbered(book, ahead(hashed), ends)):
        nodes, edges = nodes + len(first), edges + len(batch.source)
        budget.check(nodes=nodes, edges=edges, weighted=weighted)
        fresh = ids_at(file.name, batch, first)
        missing += missing_words(fresh)
        ids.append(fresh.to_numpy())  # a Series would keep the texts of its batch alive
        weights.append(batch.weight)
        kinds.add(batch.kind)
    if not ids:
        raise FileError(f"{file.name} has no rows, so no edges")
    weight = np.concatenate(weights) if weighted else None
    found = np.concatenate(ids)
    if found.dtype == object:
        warn_about_twins(file.name, book.twins(found))
    source, target = ends.all()
    codes = {word: int(np.flatnonzero(found == word)[0]) for word in missing}
    warn_about_missing(file.name, {w: int(((source == code) | (target == code)).sum()) for w, code in codes.items()})
    return Edges(source, target, weight, found, layout, kinds.all())


def built(edges: Edges, *, directed: bool) -> Graph:
    """The graph of these edges."""
    check_size(len(edges.nodes), directed)
    weights = edge_weights(edges.weight, len(edges.source))
    ends = edges.source, edges.target
    return Graph._from_list(*ends, weights, edges.nodes, directed=directed, kinds=edges.kinds)


class _Kinds:
    """The kinds of edges, batch by batch."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._parts: list[NDArray[np.int8]] = []

    def add(self, kinds: "pl.Series | None") -> None:
        """The kinds of further edges, as text."""
        if kinds is None:
            return
        names = kinds.unique().to_list()
        check_kinds({*self._codes, *names}, Option("edge_kind"))
        for name in names:
            self._codes.setdefault(name, len(self._codes))
        self._parts.append(kinds.replace_strict(self._codes).to_numpy().astype(np.int8))

    def all(self) -> EdgeKinds | None:
        """The names in ascending order, and the kind of each edge; None if there are no kinds."""
        if not self._parts:
            return None
        names = sorted(self._codes)
        ranks = np.argsort([self._codes[name] for name in names]).astype(np.int8)
        return EdgeKinds(tuple(names), ranks[np.concatenate(self._parts)])


def _as_written(path: str, weights: Sequence[str], options: Options) -> Options:
    """The options with a decimal point, and a warning, if the weights can be read in no other way.

    Another file, such as the table of features, may be the one with decimal commas.
    """
    texts = [text.strip() for text in weights]
    pointed = (text for text in texts if not (COMMA.fullmatch(text) or COMMA_GROUPED.fullmatch(text)))
    point = next(filter(POINT.fullmatch, pointed), None)
    if point is None or "," in "".join(texts):
        return options
    message = "{path}: weights such as {point} are read with a decimal point, although {decimal} is set"
    warn(FileWarning(message, path=path, point=point, decimal=Option("decimal", ",")))
    return replace(options, decimal=".")


def _warn_about_numbers(path: str, names: list[str]) -> None:
    """Warn if columns that may hold weights are not used."""
    if names:
        found = f"the numbers in {', '.join(map(shorten, names[:3]))} are not read, so all edges weigh the same"
        message = "{path}: {found}; take weights from a column with {weight}, or silence this with {unweighted}"
        choice = {"weight": Option("weight", names[0]), "unweighted": Option("weight", False)}
        warn(FileWarning(message, path=path, found=found, **choice))


class _Ends:
    """Positions of sources and targets in one growing array; rows never written to take no memory."""

    def __init__(self, rows: int) -> None:
        self._room = np.empty((2, rows), dtype=np.int32)
        self._rows = 0

    def more(self, rows: int) -> NDArray[np.int32]:
        """The next (2, rows) entries, to be filled."""
        before, self._rows = self._rows, self._rows + rows
        if self._rows > self._room.shape[1]:
            held, self._room = self._room[:, :before], np.empty((2, 2 * self._rows), dtype=np.int32)
            self._room[:, :before] = held
        return self._room[:, before : self._rows]

    def all(self) -> NDArray[np.int32]:
        """All sources, and all targets."""
        return self._room[:, : self._rows]


def _rows_at_most(file: Input) -> int:
    """A number of rows that text of this size rarely exceeds."""
    return min(os.path.getsize(file.path) // SHORT_ROW, MANY_ROWS) if file.seekable else 0


def _checked(path: str, batches: Iterator[Batch], options: Options, layout: Layout) -> Iterator[EdgeBatch]:
    """The batches, checked."""
    import polars as pl

    column = layout.roles.get("weight")
    name = column and (column.name or str(column.number))

    for batch in batches:
        source, target = (checked_ids(path, batch, role) for role in ("source", "target"))
        if source.dtype != target.dtype and pl.String in (source.dtype, target.dtype):
            held = f"the source column holds {source.dtype} and the target column {target.dtype}"
            raise FileError(f"{path}: {held}; both must be text, or both integers")
        weight = checked_weights(path, batch, options, name) if "weight" in batch.frame.columns else None
        kind = kinds_as_text(batch) if "edge_kind" in batch.frame.columns else None
        yield EdgeBatch(source, target, weight, batch.place, kind)


def _numbered(
    book: Codebook, hashed: Iterator[tuple[EdgeBatch, Words]], ends: _Ends
) -> Iterator[tuple[EdgeBatch, NDArray[np.int64]]]:
    """The batches with their ends numbered, each with the places of ids that occur for the first time."""
    for batch, hashes in hashed:
        yield batch, book.add(batch.source, batch.target, hashes, ends.more(len(batch.source)))


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
    tables = opened_tables(files, options, progress)
    file, first = next(tables)
    return EdgeTable(first.layout, None, chain(_placed(file, first), _alike(file, first, tables)))


def opened_tables(
    files: Sequence[SourceFile], options: Options, progress: Progress | None
) -> Iterator[tuple[SourceFile, EdgeTable]]:
    """Open one file of edges after another; progress is counted in bytes of all files."""
    sizes = [max(os.path.getsize(file.path), 1) for file in files]
    for number, file in enumerate(files):
        share = None if progress is None else partial(_share, progress, sum(sizes[:number]), sizes[number], sum(sizes))
        source = Input(file.path, file.known.compression, share, options.encoding)
        with muted(*((Warning,) if number else ())):  # one warning for all files is enough
            table = open_edges(source, file.known, options)
        yield file, table


def _share(progress: Progress, before: int, size: int, total: int, done: int, of: int | None) -> None:
    """Report the bytes of all files, where ``done / of`` of one is done: bytes of text, or rows of a columnar file."""
    if of:
        progress(before + size * done // of, total)


def _alike(before: SourceFile, first: EdgeTable, tables: Iterator[tuple[SourceFile, EdgeTable]]) -> Iterator[EdgeBatch]:
    """The edges of further files, which must have weights if the first has."""
    for file, table in tables:
        if (first.layout.roles["weight"] is None) != (table.layout.roles["weight"] is None):
            one, other = (before, file) if table.layout.roles["weight"] is None else (file, before)
            message = "{one} has weights and {other} has none; leave one of them out, set {weight}, or add a column"
            raise FileError(message, one=one.path, other=other.path, weight=Option("weight", False))
        yield from _placed(file, table)


def _placed(file: SourceFile, table: EdgeTable) -> Iterator[EdgeBatch]:
    """The edges of a file, which name it where they say the place of a row."""
    name = os.path.basename(file.path)
    for batch in table.batches:
        yield batch._replace(place=partial(_place, name, batch))


def _place(name: str, batch: EdgeBatch, row: int) -> str:
    return f"{name}, {batch.place(row)}"
