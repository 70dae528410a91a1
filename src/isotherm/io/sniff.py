"""Delimited text as it comes: its delimiter, its header, its comments, found in the first 64 KB.

Delimiter
    The one of comma, tab, semicolon, bar and whitespace by which most of the lines have the same number of fields, at
    least two; where several do, the suffix decides: ``.csv`` prefers the comma, ``.tsv`` and ``.txt`` the tab. A comma
    between digits in rows that semicolons part is a decimal comma. Fields may be quoted, unless whitespace or the tabs
    of a ``.txt`` file part them.
Comments
    Lines that begin with ``#`` or ``%``: anywhere in ``.txt``, ``.edges`` and the like and where whitespace parts the
    fields, but only at the top of CSV and TSV. Ids may begin so too. Hence a line without a blank after its signs that
    has as many fields as a row is a row at the top of CSV and TSV, and an error between the rows of the others.
Header
    The first row is a header if it names the columns: node and label, or source and target, from and to and the like,
    which are then no values further down; or if it has text where all rows below have numbers: as weight, or as both
    ends of an edge, or as one of them while the other is text that occurs no more, or as the node of a seed.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from isotherm.io.errors import FileError, shorten
from isotherm.io.layout import DELIMITER_NAMES, titles

__all__ = ["Dialect", "Record", "records", "sniff"]

SAMPLE = 1 << 16
MOST_ROWS = 2000
SIGNS = (b"#", b"%")
AFTER_SIGNS = (b"", b" ", b"\t", b"\r", b"!")
PREFERENCES = {"csv": ",\t;| ", "tsv": "\t,;| ", "text": "\t,;| "}
CSV_ERRORS = {
    "end of data": "a quoted field is not closed",
    "expected after": "there is text after a closing quote",
    "new-line": "there is a carriage return inside a field",
    "larger than": f"a field has more than {csv.field_size_limit()} characters",
}
DECIMAL_COMMA = re.compile(rb"(?<=\d),(?=\d)")
REMEDY = "put fields with quotes or line breaks in quotes, and double the quotes in them"
SPELLINGS = {"tab": "\t", "\\t": "\t", "space": " ", "whitespace": " ", "comma": ",", "semicolon": ";", "bar": "|"}


class Record(NamedTuple):
    """A row of text: its fields, and the lines, counted from 1, on which it begins and ends."""

    line: int
    last: int
    fields: list[str]


@dataclass(frozen=True)
class Dialect:
    """How delimited text is written.

    Attributes
    ----------
    delimiter
        One character; a blank stands for any run of blanks and tabs.
    quoted
        Whether fields may be in double quotes.
    commented
        Whether lines that begin with ``#`` or ``%`` are comments.
    names
        The header's name of each column; None where there is no header.
    header
        Whether there is one.
    skip
        How many lines precede the first row of data.
    numeric
        Whether the third column holds numbers, in half of the rows at least: what else is there is an error then.
    """

    delimiter: str
    quoted: bool
    commented: bool
    names: tuple[str | None, ...] = ()
    header: bool = False
    skip: int = 0
    numeric: bool = False

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names)


def records(path: str, text: bytes, dialect: Dialect, first: int = 1) -> Iterator[Record]:
    """The rows of some lines of text, of which ``first`` is the number of the first one.

    This is the slow and exact way; `isotherm.io.text` takes a faster one where both agree.
    """
    lines = _Lines(path, text, dialect.commented, first)
    if dialect.delimiter == " ":
        fields: Iterator[list[str]] = ([part for part in line.split(" ") if part] for line in lines.unquoted())
    else:
        quoting: Any = csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE
        fields = csv.reader(lines, delimiter=dialect.delimiter, quoting=quoting, strict=True)
    try:
        for row in fields:
            if not (dialect.commented and lines.signed):
                yield Record(lines.start, lines.number, row)
            elif len(row) == dialect.width:
                raise FileError(
                    f"{path}, line {lines.start}: is this a comment or a row? Put a blank after the sign of a comment, "
                    "or make the file CSV, where ids may begin with it"
                )
            lines.fresh = True
    except csv.Error as error:
        said = next((said for sign, said in CSV_ERRORS.items() if sign in str(error)), str(error))
        raise FileError(f"{path}, line {lines.start}: {said}; {REMEDY}") from None


class _Lines:
    """Decoded lines, without blank lines and sure comments between rows."""

    def __init__(self, path: str, text: bytes, commented: bool, first: int) -> None:
        self.path, self.commented = path, commented
        self.number = self.start = first - 1
        self.fresh = True  # between rows, not inside a quoted field
        self.signed = False  # whether the row begins with the sign of a comment
        self._lines = iter(text.removesuffix(b"\n").split(b"\n"))

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            line = next(self._lines)
            self.number += 1
            if not self.fresh or (line.strip() and not (self.commented and is_comment(line))):
                break
        if self.fresh:
            self.start, self.fresh, self.signed = self.number, False, line.startswith(SIGNS)
        return self._decoded(line) + "\n"

    def unquoted(self) -> Iterator[str]:
        """Lines that are rows, with blanks for tabs."""
        for line in self:
            yield line.rstrip("\r\n").replace("\t", " ")

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            wrong = f"the byte 0x{line[error.start]:02x} is not UTF-8"
            raise FileError(f"{self.path}, line {self.number}: {wrong}; convert the file to UTF-8") from None


def sniff(
    path: str,
    sample: bytes,
    family: str,
    *,
    seeds: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    wanted: Sequence[object] = (),
) -> Dialect:
    """Find out how text is written from its first lines.

    Parameters
    ----------
    path
        The name of the file, for messages.
    sample
        Its first lines, whole.
    family
        "csv", "tsv" or "text".
    seeds
        Whether the rows are seeds rather than edges.
    delimiter, header
        What is known already.
    wanted
        The columns that are asked for; a name among them that the first row has makes it a header.
    """
    lines = sample.split(b"\n")
    top = 0 if family == "text" else _leading_comments(lines)
    body = b"\n".join(lines[top:])
    dialect, rows = _split(path, body, family, _character(delimiter), top + 1)
    while top and family != "text" and not is_comment(lines[top - 1]):  # perhaps a row whose first id has a sign
        above = list(_readable(path, lines[top - 1], dialect, top))
        if len(above) != 1 or len(above[0].fields) != len(rows[0].fields):
            break
        rows, top = above + rows, top - 1
    width = Counter(len(row.fields) for row in rows).most_common(1)[0][0]
    even = [row.fields for row in rows if len(row.fields) == width]
    if header is None:
        header = len(rows[0].fields) == width and _has_header(even, seeds, wanted)
    names: tuple[str | None, ...] = (None,) * width
    if header:
        names = tuple(name.strip() for name in rows[0].fields)
        names = (names[0] or "").lstrip("#% "), *names[1:]
    skip = rows[0].last if header else rows[0].line - 1
    data = even[1:] if header else even
    numeric = width > 2 and bool(data) and 2 * sum(is_number(row[2].replace(",", ".")) for row in data) >= len(data)
    return Dialect(dialect.delimiter, dialect.quoted, dialect.commented, names, header, skip, numeric)


def is_number(text: str) -> bool:
    """Whether a field is a number, of any sign and size.

    >>> is_number(" 1e3"), is_number("1_000"), is_number("")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def _split(path: str, body: bytes, family: str, delimiter: str | None, first: int) -> tuple[Dialect, list[Record]]:
    """The dialect by which most lines have the same number of fields, and the rows."""
    best, chosen = 0.0, None
    for candidate in delimiter or PREFERENCES[family].replace("," if _has_decimal_commas(body) else "", ""):
        dialect = _dialect(candidate, family)
        rows = list(_readable(path, body, dialect, first))
        if _evenness(rows) > best:
            best, chosen = _evenness(rows), (dialect, rows)
    if chosen is None:
        dialect = _dialect(delimiter or PREFERENCES[family][0], family)
        rows = list(records(path, body, dialect, first))  # says what is wrong, if anything is
        raise _one_column(path, dialect, rows)
    return chosen


def _has_decimal_commas(body: bytes) -> bool:
    """Whether all commas are inside numbers, and semicolons part the fields of all lines."""
    lines = sum(map(bool, map(bytes.strip, body.split(b"\n"))))
    return 0 < body.count(b",") == len(DECIMAL_COMMA.findall(body)) and body.count(b";") >= lines


def _dialect(delimiter: str, family: str) -> Dialect:
    plain = delimiter == " " or (family == "text" and delimiter == "\t")
    return Dialect(delimiter, quoted=not plain, commented=family == "text" or delimiter == " ")


def _readable(path: str, body: bytes, dialect: Dialect, first: int) -> Iterator[Record]:
    """Rows up to the first that cannot be read; the reader will meet it again, and say so."""
    with suppress(FileError):
        yield from islice(records(path, body, dialect, first), MOST_ROWS)


def _evenness(rows: list[Record]) -> float:
    """The share of the rows that have the most common number of fields, 0 if that is one."""
    if not rows:
        return 0
    width, count = Counter(len(row.fields) for row in rows).most_common(1)[0]
    return count / len(rows) if width > 1 else 0


def _one_column(path: str, dialect: Dialect, rows: list[Record]) -> FileError:
    if not rows:
        return FileError(f"{path} has no rows: it is empty, or holds comments only")
    name = DELIMITER_NAMES.get(dialect.delimiter, repr(dialect.delimiter))
    shown = shorten(rows[0].fields[0])
    return FileError(
        f"{path}, line {rows[0].line}: with the delimiter {name} there is one column, {shown}; "
        "at least two are needed, so add the other or give another delimiter"
    )


def _has_header(rows: list[list[str]], seeds: bool, wanted: Sequence[object]) -> bool:
    first, rest = rows[0], rows[1:]
    if any(isinstance(name, str) and not name.isdigit() and name in first for name in wanted):
        return True
    names = titles(first, seeds=seeds)
    if names:  # node and label together are no seed
        return (seeds and len(names) > 1) or names.isdisjoint(cell for row in rest for cell in row)
    columns = list(zip(*rest, strict=True)) or [()] * len(first)
    above = [_above_numbers(cell, column) for cell, column in zip(first, columns, strict=True)]
    if seeds or any(above[2:3]) or not any(above[:2]):
        return above[0] if seeds else any(above[2:3])
    below = {cell for column in columns[:2] for cell in column}
    return all(not is_number(cell) and cell not in below for cell in first[:2])


def _above_numbers(cell: str, column: tuple[str, ...]) -> bool:
    """Whether this is text, and all below are numbers."""
    return bool(column) and not is_number(cell) and all(map(is_number, column))


def _leading_comments(lines: list[bytes]) -> int:
    """How many lines at the top begin with a sign or are blank, if a row follows."""
    for place, line in enumerate(lines):
        if line.strip() and not line.startswith(SIGNS):
            return place
    return next((place for place, line in enumerate(lines) if line.strip() and not is_comment(line)), len(lines))


def is_comment(line: bytes) -> bool:
    """Whether a line is a comment beyond doubt, or blank."""
    return not line.strip() or (line.startswith(SIGNS) and line.lstrip(b"#%")[:1] in AFTER_SIGNS)


def _character(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    character = SPELLINGS.get(delimiter.lower(), delimiter)
    if len(character) != 1 or not character.isascii() or character in '"\n\r\0' or character.isalnum():
        raise FileError(f"the delimiter {delimiter!r} cannot be used: give one character such as , ; | or tab")
    return character
