"""Delimited text: CSV, TSV and whitespace-separated files.

Text is cut into blocks of whole rows. A kernel splits blocks without quotes, empty fields and numbers. Others go to
polars, which is fast too, but fills up short rows and guesses at stray quotes. A block with anything unusual in it goes
through `isotherm.io.sniffing.records`, which is exact and knows line numbers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.files import FileError
from isotherm.io.batches import Batch, Table
from isotherm.io.errors import is_panic, need, shorten
from isotherm.io.sniffing import SAMPLE, Dialect, records, sniff
from isotherm.io.streams import Input

if TYPE_CHECKING:
    import polars as pl

PURPOSE = "reading CSV, TSV and text files"
NO_ROW = re.compile(rb"(?m)^[ \t]*\r?\n|^[ \t]+\Z")
NO_ROW_OR_COMMENT = re.compile(rb"(?m)^[#%]+(?:[ \t\r!][^\n]*)?(?:\n|\Z)|^[ \t]*\r?\n|^[ \t]+\Z")
SIGNED = re.compile(rb"(?m)^[#%]")
ODD_LINE = re.compile(rb"\n[ \t\r\n#%]")
ODD_STARTS = (b" ", b"\t", b"\r", b"\n", b"#", b"%")
ODD_BLANKS = (b"  ", b" \n", b" \r", b"\n ")
BLOCK = 1 << 22  # bytes: larger ones would leave the cache before the ids of their rows are numbered
LONGEST = 1 << 26  # a longer row is taken for a file without line breaks or with an open quote
QUOTE, NEWLINE, RETURN = b'"\n\r'
ATTRIBUTES = re.compile(rb"(?m)(?<=[ \t,;|])\{([^{}\n]*)\}[ \t]*(?=\r?$)")
WEIGHT = re.compile(rb"""["']weight["']: (?:np\.\w+\()?([^\s,}()]+)""")
COMMENT = re.compile(rb"[#%]|\s*$")


class Block(NamedTuple):
    """Whole rows: the number of their first line, the count of line breaks, and the text."""

    first: int
    breaks: int
    text: bytes


def blocks(path: str, pieces: Iterator[bytes], first: int, delimiter: str | None) -> Iterator[Block]:
    """Text in blocks of whole rows."""
    held: list[bytes] = []
    size, wanted = 0, BLOCK
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size < wanted:
            continue
        text, rest = _whole_rows(held, delimiter)
        if text:
            yield Block(first, breaks := kernels.active.count_breaks(text), text)
            first += breaks
        elif size > LONGEST:
            remedy = "close its quotes, or check that this is a text file"
            raise FileError(f"{path}, line {first}: the row has no end within {LONGEST >> 20} MB; {remedy}")
        held, size = [rest], len(rest)
        wanted = BLOCK if text else 2 * size
    last = b"".join(held)
    if last:
        yield Block(first, kernels.active.count_breaks(last), last)


def well_quoted(text: bytes, delimiter: str) -> bool:
    """Whether all quotes open and close fields alternately, or are doubled inside them.

    Examples
    --------
    >>> well_quoted(b'"a, b","5"" disk"', ","), well_quoted(b'5" disk,a', ",")
    (True, False)
    """
    places, in_turn = _quotes(text, delimiter)
    return in_turn and len(places) % 2 == 0


def _whole_rows(held: list[bytes], delimiter: str | None) -> tuple[bytes, bytes]:
    """The text up to the last line break outside quoted fields, and the rest."""
    end = held[-1].rfind(b"\n") + 1
    if end and (delimiter is None or not any(b'"' in piece for piece in held)):
        return b"".join([*held[:-1], held[-1][:end]]), held[-1][end:]
    text = b"".join(held)
    end = _end_of_rows(text, delimiter)
    return text[:end], text[end:]


def _end_of_rows(text: bytes, delimiter: str | None) -> int:
    end = text.rfind(b"\n") + 1
    if delimiter is None or b'"' not in text:
        return end
    places, in_turn = _quotes(text, delimiter)
    if not in_turn:
        places = _borders(text, delimiter, places.tolist())
    while end:
        before = int(np.searchsorted(places, end))
        if before % 2 == 0:
            break
        end = text.rfind(b"\n", 0, int(places[before - 1])) + 1
    return end


def _quotes(text: bytes, delimiter: str) -> tuple[NDArray[np.int64], bool]:
    """Positions of quotes, and whether they open and close fields alternately; a doubled one closes and reopens."""
    codes = np.frombuffer(text, dtype=np.uint8)
    places = np.flatnonzero(codes == QUOTE)
    opening, closing = places[::2], places[1::2]
    doubled = opening[1:] == closing[: max(len(opening) - 1, 0)] + 1
    opens = (opening == 0) | np.isin(codes[opening - 1], [NEWLINE, ord(delimiter)])
    last = len(codes) - 1
    closes = (closing == last) | np.isin(codes[np.minimum(closing + 1, last)], [NEWLINE, RETURN, ord(delimiter)])
    opens[1:] |= doubled
    closes[: len(doubled)] |= doubled
    return places, bool(opens.all() and closes.all())


def _borders(text: bytes, delimiter: str, places: list[int]) -> NDArray[np.int64]:
    """Where quoted fields open and close, in text with stray quotes inside other fields."""
    borders: list[int] = []
    skip = -1
    for place in places:
        inside = len(borders) % 2 == 1
        if place == skip:
            continue
        if inside and text[place + 1 : place + 2] == b'"':
            skip = place + 1  # doubled
        elif inside or place == 0 or text[place - 1] in (NEWLINE, ord(delimiter)):
            borders.append(place)
    return np.array(borders, dtype=np.int64)


class TextTable(Table):
    """Delimited text that was opened."""

    dialect: Dialect

    def __init__(self, path: str, dialect: Dialect, rest: Iterator[bytes]) -> None:
        self.path, self.dialect, self.names, self.values = path, dialect, dialect.names, dialect.values
        self.rest = rest  # everything after the header

    def sample(self) -> Sequence[Sequence[str]]:
        """The first values of each column; `batches` can be asked for once only."""
        return self.dialect.sample or [()] * self.dialect.width

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
    """Open delimited text; ``known`` is passed on to `isotherm.io.sniffing.sniff`."""
    need("polars", PURPOSE)
    pieces = file.text()
    start, more = _start(pieces)
    if b"\r" in start and b"\n" not in start:  # old Macs end lines so
        start, pieces = start.replace(b"\r", b"\n"), (piece.replace(b"\r", b"\n") for piece in pieces)
    if known.get("rows", "edges") == "edges" and has_attributes(start):
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
        if _odd_lines(text):
            text = (NO_ROW_OR_COMMENT if dialect.commented else NO_ROW).sub(b"", text)
        if not (dialect.commented and SIGNED.search(text)):
            yield _single_blanks(text) if dialect.delimiter == " " else text, True


def _blank_starts(text: bytes) -> bool:
    """Whether a line begins with a blank and so may be blank; one byte is searched for first, as that is faster."""
    return any(text.startswith(blank) or (blank in text and b"\n" + blank in text) for blank in (b" ", b"\t"))


def _odd_lines(text: bytes) -> bool:
    """Whether a line begins like a comment or a blank line; ten times faster than to remove these."""
    return text[:1] in ODD_STARTS or ODD_LINE.search(text) is not None


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


def has_attributes(start: bytes) -> bool:
    r"""Whether the first line that is no comment ends with the attributes of an edge.

    >>> has_attributes(b"# made today\na b {}\n"), has_attributes(b"a b 5\n")
    (True, False)
    """
    line = next((line for line in start.split(b"\n") if not COMMENT.match(line)), b"")
    return len(line.split(b"{")[0].replace(b",", b" ").split()) == 2 and ATTRIBUTES.search(line) is not None


def weights_only(pieces: Iterator[bytes]) -> Iterator[bytes]:
    r"""The text with the weight of each edge in place of its attributes; 1 where there is none, as in networkx.

    >>> b"".join(weights_only(iter([b"a b {'weight': 5.0, 'since': 1999}\nb", b" c {}\n"])))
    b'a b 5.0\nb c 1\n'
    """
    rest = b""
    for piece in pieces:
        lines, mark, rest = (rest + piece).rpartition(b"\n")
        yield ATTRIBUTES.sub(_weight, lines + mark)
        if len(rest) > LONGEST:  # which `blocks` will refuse
            yield rest
            rest = b""
    yield ATTRIBUTES.sub(_weight, rest)


def _weight(attributes: re.Match[bytes]) -> bytes:
    found = WEIGHT.search(attributes[1])
    return found[1] if found else b"1"
