"""Columnar files, Parquet and Arrow, and what all tables share: batches of rows, checked."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from isotherm.io.errors import FileError, blaming, need, shorten
from isotherm.io.streams import Input, peek

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Batch", "ColumnTable", "ahead", "checked_ids", "checked_weights", "missing_id", "open_columns"]

Floats: TypeAlias = NDArray[np.floating]
Item = TypeVar("Item")

INTEGERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
ROWS = 1 << 18  # of a batch: its hashes stay in the cache
KINDS = {"parquet": "a Parquet file", "arrow": "an Arrow file"}
MOST = 2**63 - 1
END = object()


class Batch(NamedTuple):
    """Some rows of a table, their columns named by role, and where each row is in the file."""

    frame: "pl.DataFrame"
    place: Callable[[int], str]


@dataclass(frozen=True)
class ColumnTable:
    """A columnar file that was opened: its columns are known, its rows are still to come."""

    file: Input
    kind: str
    names: tuple[str, ...]
    rows: "pl.LazyFrame"
    height: int

    def batches(self, columns: dict[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """The columns at these places, from 0, under their roles, each of the type it has in the file."""
        import polars as pl

        wanted = self.rows.select(pl.col(self.names[place]).alias(role) for role, place in columns.items())
        done = 0
        with blaming(self.file.name, KINDS[self.kind]):
            for frame in _frames(wanted):
                yield Batch(frame, partial(_row, done))
                done += frame.height
                if self.file.progress:
                    self.file.progress(done, self.height)


def open_columns(file: Input, kind: str) -> ColumnTable:
    """Open a file of the kind "parquet" or "arrow"."""
    pl = need("polars", f"reading {kind.capitalize()} files")
    with blaming(file.name, KINDS[kind]):
        rows = _scan(pl, file.source(), kind)
        height = rows.select(pl.len()).collect().item()
        return ColumnTable(file, kind, tuple(rows.collect_schema().names()), rows, height)


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, prepared in another thread while those before are used.

    The thread is a daemon: it may be stuck in a pipe that gives nothing when the user has had enough.
    """
    ready: Queue[tuple[Any, BaseException | None]] = Queue(maxsize=1)
    abandoned = Event()

    def offered(item: Any, error: BaseException | None = None) -> bool:
        while not abandoned.is_set():
            with suppress(Full):
                ready.put((item, error), timeout=0.1)
                return True
        return False

    def work() -> None:
        try:
            if all(offered(item) for item in items):
                offered(END)
        except BaseException as error:  # to be raised where the items are used
            offered(END, error)

    Thread(target=work, daemon=True).start()
    try:
        while True:
            with suppress(Empty):
                item, error = ready.get(timeout=0.1)  # with polars, Ctrl-C does not end a wait that has no limit
                if error is not None:
                    raise error
                if item is END:
                    return
                yield item
    finally:
        abandoned.set()


def checked_ids(path: str, batch: Batch, role: str) -> "pl.Series":
    """A column of node ids: text or int64, without nulls; texts may still be empty."""
    import polars as pl

    ids = batch.frame[role]
    if ids.dtype in (pl.Categorical, pl.Enum):
        ids = ids.cast(pl.String)
    if ids.dtype != pl.String and str(ids.dtype) not in INTEGERS:
        raise FileError(f"{path}: the {role} column holds {ids.dtype}; ids are text or integers of at most 64 bits")
    if ids.null_count():
        raise missing_id(path, batch.place(ids.is_null().arg_max() or 0), role)
    if ids.dtype == pl.UInt64 and (ids > MOST).any():
        raise FileError(f"{path}: the {role} column holds integers above {MOST}; store the ids as text")
    return ids if ids.dtype == pl.String else ids.cast(pl.Int64)


def missing_id(path: str, place: str, role: str) -> FileError:
    """What is wrong where an id is null or empty."""
    return FileError(f"{path}, {place}: the {role} is empty; every row needs one")


def checked_weights(path: str, batch: Batch, role: str = "weight") -> Floats:
    """A column of weights: numbers that are finite and not negative."""
    import polars as pl

    given = batch.frame[role]
    if given.dtype != pl.String and not given.dtype.is_numeric():
        raise FileError(f"{path}: the weight column holds {given.dtype}, not numbers; give another, or none")
    column = given.str.strip_chars() if given.dtype == pl.String else given
    column = column if column.dtype == pl.Float32 else column.cast(pl.Float64, strict=False)
    weights: Floats = column.to_numpy()
    if column.null_count() or not (weights.min(initial=0) >= 0 and weights.max(initial=0) < np.inf):
        fine = (column >= 0) & column.is_finite()
        row = (~fine.fill_null(value=False)).arg_max() or 0
        value = given[row]
        said = "is empty" if value in (None, "") else f"is {shorten(value) if isinstance(value, str) else value}"
        place = batch.place(row)
        header = ", or say that this is a header" if isinstance(value, str) and place == "line 1" else ""
        remedy = f"correct it, or read the file without weights{header}"
        raise FileError(f"{path}, {place}: the weight {said}, not a finite number from 0 on; {remedy}")
    return weights


def _scan(pl: Any, source: Path | BytesIO, kind: str) -> "pl.LazyFrame":
    if kind == "parquet":
        return pl.scan_parquet(source, glob=False)
    if peek(source, 6) == b"ARROW1":
        return pl.scan_ipc(source)
    return pl.read_ipc_stream(source).lazy()  # the form for streams, which has no magic


def _frames(rows: "pl.LazyFrame") -> Iterator["pl.DataFrame"]:
    yield from rows.collect_batches(chunk_size=ROWS, maintain_order=True)


def _row(before: int, row: int) -> str:
    """Where a row is, for messages."""
    return f"row {before + row + 1}"
