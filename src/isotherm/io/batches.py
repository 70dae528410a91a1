"""What all tables share: batches of rows, and checks of their columns."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs.csr import MISSING
from isotherm.io.errors import shorten
from isotherm.io.file_layout import Column, Layout, Options, Values
from isotherm.io.number_styles import COMMA, COMMA_GROUPED, POINT_GROUPED, unclear_number
from isotherm.io.sniffing import Dialect

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = NDArray[np.floating]
Item = TypeVar("Item")

GROUPED = f"^{POINT_GROUPED.pattern}$"  # thousands set off by commas
INTEGERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
LARGEST = 2**63 - 1
MOST_WHOLE = 2**53  # above, floats have no units
END = object()
SAMPLE = 2000  # rows
GRACE = 2.0  # seconds: longer than a batch takes, unless its thread waits for a silent pipe


class Batch(NamedTuple):
    """Some rows of a table, with columns named by role, and a function that says where a row is in the file."""

    frame: "pl.DataFrame"
    place: Callable[[int], str]


class EdgeBatch(NamedTuple):
    """Some edges of a table, checked: ids are text or int64, without nulls; text may still be empty."""

    source: "pl.Series"
    target: "pl.Series"
    weight: Floats | None
    place: Callable[[int], str]
    kind: "pl.Series | None" = None  # the kind of each edge, as text


class Table(ABC):
    """An open table: its columns are known, its rows are still to be read."""

    names: tuple[str | None, ...]  # the name of each column, None where it has none
    dialect: Dialect | None = None  # how delimited text is written; None for other tables
    height: int | None = None  # the number of rows, if it is known
    values: tuple[Values, ...] = ()  # what the first values of each column are, if it is known

    @abstractmethod
    def batches(self, places: Mapping[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """The columns at these positions, from 0, named by role; text is parsed as numbers for roles in ``numbers``."""

    def sample(self) -> Sequence[Sequence[Any]]:
        """The first values of each column."""
        places = {str(place): place for place in range(len(self.names))}
        frames = (batch.frame.head(SAMPLE) for batch in islice(self.batches(places), 1))
        return [series.to_list() for frame in frames for series in frame] or [()] * len(places)

    def layout(self, format: str, roles: dict[str, Column | None]) -> Layout:  # noqa: A002 - as in read_graph
        """How the table is read with these roles."""
        if self.dialect is None:
            return Layout(format, roles)
        return Layout(format, roles, self.dialect.header, self.dialect.delimiter)


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, the next one prepared in another thread while one is used.

    The thread is a daemon, because it may still wait for a silent pipe when the user interrupts.
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
        except BaseException as error:  # raised again where the items are used
            offered(END, error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            with suppress(Empty):
                item, error = ready.get(timeout=0.1)  # after polars is imported, Ctrl-C cannot end an unlimited wait
                if error is not None:
                    raise error
                if item is END:
                    return
                yield item
    finally:
        abandoned.set()
        thread.join(GRACE)  # Python aborts if it ends while a thread is inside polars


def checked_ids(path: str, batch: Batch, role: str) -> "pl.Series":
    """A column of node ids: text or int64, without nulls; text may still be empty."""
    import polars as pl

    ids = batch.frame[role]
    if ids.dtype in (pl.Categorical, pl.Enum):
        ids = ids.cast(pl.String)
    if ids.dtype.is_float() and (ids.fill_null(0) % 1 == 0).all() and (ids.fill_null(0).abs() < MOST_WHOLE).all():
        ids = ids.cast(pl.Int64)  # pandas writes integers so if some are missing
    if ids.dtype != pl.String and str(ids.dtype) not in INTEGERS:
        held = f"the {role} column holds {ids.dtype}; ids are text or integers of at most 64 bits"
        raise FileError(f"{path}: {held}, so convert the column, or choose another")
    if ids.null_count():
        raise missing_id(path, batch.place(ids.is_null().arg_max() or 0), role)
    if ids.dtype == pl.UInt64 and (ids > LARGEST).any():
        raise FileError(f"{path}: the {role} column holds integers above {LARGEST}; store the ids as text")
    return ids if ids.dtype == pl.String else ids.cast(pl.Int64)


def missing_id(path: str, place: str, role: str) -> FileError:
    """The error for an id that is null or empty."""
    return FileError(f"{path}, {place}: the {role} is empty; every row needs one")


def checked_weights(path: str, batch: Batch, options: Options, name: str | None) -> Floats:
    """A column of weights: finite numbers that are not negative; ``name`` is its name, for messages."""
    import polars as pl

    given = batch.frame["weight"]
    if given.dtype != pl.String and not given.dtype.is_numeric():
        raise FileError(f"{path}: the weight column holds {given.dtype}, not numbers; give another, or none")
    column = given.str.strip_chars() if given.dtype == pl.String else given
    if column.dtype == pl.String:
        column = written_numbers(column, options.decimal, options.thousands)
    column = column if column.dtype == pl.Float32 else column.cast(pl.Float64, strict=False)
    column = column.abs() if options.absolute else column
    weights: Floats = column.to_numpy()
    if column.null_count() or not (weights.min(initial=0) >= 0 and weights.max(initial=0) < np.inf):
        fine = (column >= 0) & column.is_finite()
        row = (~fine.fill_null(value=False)).arg_max() or 0
        raise _bad_weight(path, batch.place(row), given[row], name)
    return weights


def written_numbers(column: "pl.Series", decimal: str | None, thousands: bool) -> "pl.Series":
    """Texts as numbers that are written with this decimal sign; null where a text is none."""
    import polars as pl

    if decimal == ",":
        pattern = f"^(?:{COMMA.pattern}|{COMMA_GROUPED.pattern})$"
        fine = column.str.contains(pattern).fill_null(value=False)
        column = column.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True).set(~fine, None)
    elif thousands:
        grouped = column.str.contains(GROUPED).fill_null(value=False)
        column = column.str.replace_all(",", "").zip_with(grouped, column)
    return column.cast(pl.Float64, strict=False)


def check_decimal_sign(path: str, values: Sequence[Values], places: Mapping[str | None, int]) -> None:
    """Ask how a number such as 1.284 in these columns is meant, if others have decimal commas."""
    comma = next((each.decimal_comma for each in values if each.decimal_comma), "")
    for name, place in places.items() if comma else ():
        if place < len(values) and values[place].thousand:
            why = f", since there are decimal commas, such as {comma}"
            raise FileError("{path}: {error}", path=path, error=unclear_number(values[place].thousand, name, why))


def kinds_as_text(batch: Batch) -> "pl.Series":
    """A column of kinds of edges; a gap is a kind of its own."""
    import polars as pl

    column = batch.frame["edge_kind"].cast(pl.String).str.strip_chars()
    return column.replace("", MISSING).fill_null(MISSING)


def _bad_weight(path: str, place: str, value: Any, name: str | None) -> FileError:
    found = "empty" if value in (None, "") else shorten(value)
    message = "{path}, {place}: the weight is {found}, not a finite number from 0 on; correct it, or set {weight}"
    facts = {"path": path, "place": place, "found": found, "weight": Option("weight", False)}
    text = str(value).strip()
    if "," in text and (COMMA.fullmatch(text) or COMMA_GROUPED.fullmatch(text)):
        other = f", {{thousands}} if {text} is a thousand" if POINT_GROUPED.fullmatch(text) else ""
        choice = {"decimal": Option("decimal", ","), "thousands": Option("thousands", True)}
        return FileError(f"{message}{other}, or {{decimal}} if the comma is a decimal sign", **facts, **choice)
    if POINT_GROUPED.fullmatch(text):
        return FileError(f"{message}, or {{thousands}}", **facts, thousands=Option("thousands", True))
    if re.fullmatch(r"-[0-9.]+", text):
        return FileError(f"{message}, or take sizes with {{sizes}}", **facts, sizes=Option("weight", f"abs({name})"))
    if isinstance(value, str) and place == "line 1":
        message += ", or {header} if this row is a header"
    return FileError(message, **facts, header=Option("header", True))
