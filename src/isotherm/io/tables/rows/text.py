"""Delimited text: CSV, TSV and whitespace-separated files.

Blocks of whole rows without quotes, empty fields and numbers are cut by a kernel. Others go to polars, which is fast
too, but fills up short rows and guesses at stray quotes. A block with anything unusual in it goes through
`isotherm.io.tables.guessing.sniff.records`, which is exact and knows line numbers.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from isotherm import kernels
from isotherm.files import FileError
from isotherm.io.errors import is_panic, need, shorten
from isotherm.io.streams import Input
from isotherm.io.tables.guessing.sniff import SAMPLE, Dialect, records, sniff
from isotherm.io.tables.rows.attributes import has_attributes, weights_only
from isotherm.io.tables.rows.batches import Batch, Table
from isotherm.io.tables.rows.blocks import LONGEST, Block, blocks, well_quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TextTable", "open_text"]

PURPOSE = "reading CSV, TSV and text files"
NO_ROW = re.compile(rb"(?m)^[ \t]*\r?\n|^[ \t]+\Z")
NO_ROW_OR_COMMENT = re.compile(rb"(?m)^[#%]+(?:[ \t\r!][^\n]*)?(?:\n|\Z)|^[ \t]*\r?\n|^[ \t]+\Z")
SIGNED = re.compile(rb"(?m)^[#%]")
ODD_LINE = re.compile(rb"\n[ \t\r\n#%]")
ODD_STARTS = (b" ", b"\t", b"\r", b"\n", b"#", b"%")
ODD_BLANKS = (b"  ", b" \n", b" \r", b"\n ")


class TextTable(Table):
    """Delimited text that was opened."""

    dialect: Dialect

    def __init__(self, path: str, dialect: Dialect, rest: Iterator[bytes]) -> None:
        self.path, self.dialect, self.names, self.values = path, dialect, dialect.names, dialect.values
        self.rest = rest  # everything after the header

    def batches(self, places: Mapping[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """Columns in ``numbers`` are floats where all of their values are numbers, and text otherwise."""
        pl = need("polars", PURPOSE)
        path, dialect = self.path, self.dialect
        floats = {places[role] for role in numbers & places.keys()}
        delimiter, wanted = dialect.delimiter if dialect.quoted else None, sorted(set(places.values()))
        for block in blocks(path, self.rest, dialect.skip + 1, delimiter):
            frame = _frame(pl, path, block, dialect, floats, wanted)
            if frame.height:
                chosen = frame.select(pl.col(_name(place)).alias(role) for role, place in places.items())
                yield Batch(chosen, partial(_line, path, block, dialect))


def open_text(file: Input, family: str, **known: Any) -> TextTable:
    """Open delimited text; ``known`` is passed on to `isotherm.io.tables.guessing.sniff.sniff`."""
    need("polars", PURPOSE)
    pieces = file.text()
    start, more = _start(pieces)
    if not known.get("seeds") and has_attributes(start):
        pieces = weights_only(chain([start], pieces))
        start, more = _start(pieces)
    if not start.strip():
        raise FileError(f"{file.name} is empty; write it again, or give another file")
    _check_no_nul(file.name, start, 1)
    sample = start[: start.find(b"\n", SAMPLE) + 1 or start.rfind(b"\n") + 1] if more else start
    dialect = sniff(file.name, sample, family, **known)
    body = start.split(b"\n", dialect.skip)[dialect.skip :]
    return TextTable(file.name, dialect, chain(body, pieces))


def _start(pieces: Iterator[bytes]) -> tuple[bytes, bool]:
    """Enough of the text to find out how it is written, and whether there is more."""
    start = bytearray()
    for piece in pieces:
        start += piece
        more = len(start) >= SAMPLE and b"\n" in start
        if more or len(start) > LONGEST:
            return bytes(start), more
    return bytes(start), False


def _frame(pl: Any, path: str, block: Block, dialect: Dialect, numbers: set[int], wanted: list[int]) -> "pl.DataFrame":
    """At least the wanted columns of a block: as floats where that is asked for and possible, else as text."""
    _check_no_nul(path, block.text, block.first)
    for text, tidy in _readings(block.text, dialect):
        plain = None if numbers else _split(pl, text, dialect, wanted)
        if plain is not None:
            return plain
        for floats in (numbers, set[int]()) if numbers else (numbers,):
            schema = {_name(place): pl.Float64 if place in floats else pl.String for place in range(dialect.width)}
            frame = _parsed(pl, text, dialect, schema)
            if frame is not None and (tidy or not frame[:, 0].null_count()):  # a blank line would give nulls
                return frame
    return _exact(pl, path, block, dialect)


def _readings(text: bytes, dialect: Dialect) -> Iterator[tuple[bytes, bool]]:
    """Forms of the block that polars can read: unchanged, then without comments and blank lines; none if unusual."""
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return
    quoted = dialect.quoted and b'"' in text
    if quoted and (not well_quoted(text, dialect.delimiter) or _odd_lines(text)):
        return
    if dialect.delimiter == " ":
        text = text.replace(b"\t", b" ")
    if not (_blank_starts(text) or dialect.delimiter == " " or (dialect.commented and (b"#" in text or b"%" in text))):
        yield text, quoted
    if not quoted:
        text = _tidied(text, dialect) if _odd_lines(text) else text
        if not (dialect.commented and SIGNED.search(text)):
            yield _single_blanks(text) if dialect.delimiter == " " else text, True


def _blank_starts(text: bytes) -> bool:
    """Whether a line begins with a blank and so may be blank; one byte is searched for first, as that is faster."""
    return any(text.startswith(blank) or (blank in text and b"\n" + blank in text) for blank in (b" ", b"\t"))


def _odd_lines(text: bytes) -> bool:
    """Whether a line begins like a comment or a blank line; ten times faster than to remove these."""
    return text[:1] in ODD_STARTS or ODD_LINE.search(text) is not None


def _tidied(text: bytes, dialect: Dialect) -> bytes:
    return (NO_ROW_OR_COMMENT if dialect.commented else NO_ROW).sub(b"", text)


def _single_blanks(text: bytes) -> bytes:
    text = text.strip(b" ")
    if any(odd in text for odd in ODD_BLANKS):
        text = re.sub(rb"  +", b" ", re.sub(rb" *\r?\n *", b"\n", text))
    return text


def _split(pl: Any, text: bytes, dialect: Dialect, wanted: list[int]) -> "pl.DataFrame | None":
    """Columns of the block as text, or None unless no field is quoted or empty, and all rows have the right length."""
    if not text.endswith(b"\n") or (dialect.quoted and b'"' in text):
        return None
    if len(wanted) < dialect.width and not text.isascii():  # the other columns must be UTF-8 too
        return None
    columns = kernels.active.split_rows(text, dialect.delimiter, dialect.width, wanted)
    if not columns:
        return None
    try:
        return pl.DataFrame(
            {_name(place): pl.Series(column).cast(pl.String) for place, column in zip(wanted, columns, strict=True)}
        )
    except pl.exceptions.ComputeError:  # not UTF-8
        return None


def _parsed(pl: Any, text: bytes, dialect: Dialect, schema: dict[str, Any]) -> "pl.DataFrame | None":
    """The block as polars parses it, or None unless it is certain that all rows have the right length."""
    quote = '"' if dialect.quoted else None
    text = text if text.endswith(b"\n") else text + b"\n"  # otherwise polars misses an empty last field
    try:
        frame = pl.read_csv(text, has_header=False, separator=dialect.delimiter, quote_char=quote, schema=schema)
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            return None  # `_exact` will find out what is wrong
        raise
    if frame.width != dialect.width:
        return None
    if frame[:, -1].null_count():  # empty fields, or short rows?
        quoted = dialect.quoted and b'"' in text
        missing = text.count(dialect.delimiter.encode()) != frame.height * (dialect.width - 1)
        return None if quoted or missing or frame.height != text.count(b"\n") else frame
    return frame


def _exact(pl: Any, path: str, block: Block, dialect: Dialect) -> "pl.DataFrame":
    """The block as text, parsed row by row."""
    rows = []
    for line, _, fields in records(path, block.text, dialect, block.first):
        if len(fields) != dialect.width:
            raise _uneven(path, line, fields, dialect)
        rows.append(fields)
    columns = zip(*rows, strict=True) if rows else [()] * dialect.width
    return pl.DataFrame({_name(place): pl.Series(column, dtype=pl.String) for place, column in enumerate(columns)})


def _uneven(path: str, line: int, fields: list[str], dialect: Dialect) -> FileError:
    found = f"{len(fields)} column{'s' * (len(fields) > 1)}, not {dialect.width}"
    remedy = "complete it, or delete it"
    if len(fields) > dialect.width:
        remedy = "delete the extra ones" + ", or quote fields that contain the delimiter" * dialect.quoted
    return FileError(f"{path}, line {line}: the row has {found}: {shorten(dialect.delimiter.join(fields))}; {remedy}")


def _check_no_nul(path: str, text: bytes, first: int) -> None:
    if b"\0" in text:
        line = first + text.count(b"\n", 0, text.index(b"\0"))
        raise FileError(f"{path}, line {line}: there is a NUL byte, so this is not UTF-8 text; convert the file")


def _name(place: int) -> str:
    return f"column_{place + 1}"


def _line(path: str, block: Block, dialect: Dialect, row: int) -> str:
    """Where a row of a block is, for messages."""
    for number, record in enumerate(records(path, block.text, dialect, block.first)):
        if number == row:
            return f"line {record.line}"
    return f"row {row + 1} after line {block.first}"
