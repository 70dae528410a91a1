"""Delimiter, header and comments of delimited text, found in its first 64 KB.

Delimiter
    Comma, tab, semicolon, bar or whitespace: the one that splits most lines into the same number of fields, at least
    two. If several do, the suffix decides: ``.csv`` prefers the comma, ``.tsv`` and ``.txt`` the tab. A comma between
    digits is a decimal comma if semicolons separate the fields. Fields may be quoted, except in files separated by
    whitespace and ``.txt`` files separated by tabs.
Comments
    Lines that begin with ``#`` or ``%``. They may be anywhere in ``.txt``, ``.edges`` and the like and in files that
    whitespace separates, but only at the top of CSV and TSV. An id may begin with the same signs. So if no blank
    follows the signs and the line has as many fields as a row, it is a row at the top of CSV and TSV, and an error
    between the rows of other files. A first line such as ``sep=;`` is no row either: it tells the delimiter.
Header
    The first row is a header if it has names of columns (node and label, source and target, from and to and the like,
    see ``names.py``) that are not values further down, or if its first field is empty, as in a table with row numbers.
    It is also a header if it has text above numbers or dates only: in the column of nodes, in both columns of
    ends, or in a column after these. One column of ends is enough if the text in the other one does not occur again. In
    a table of seeds with more than two columns, it is a header if none of its texts occurs again in its column, though
    the values of some column do. In a table of vectors, it is a header unless it has numbers where the rows below have
    numbers; numbers that count the columns from 0 or are equally spaced are names too.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.io.columns import CLEAR_LABELS, NO_ID, NODES, header_names, named
from isotherm.io.errors import shorten
from isotherm.io.file_layout import DELIMITER_NAMES, Values
from isotherm.io.number_styles import COMMA, COMMA_GROUPED, POINT_GROUPED
from isotherm.seeds.encoding import is_missing_word

SAMPLE = 1 << 16
MOST_ROWS = 2000
MOST_COLUMNS = 10_000
FEW = 3  # rows for each value of a column that has few values
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
HINT = re.compile(rb'(?i)"?sep=([!-~\t])"?\r?\n')  # the first line, in which Excel notes the delimiter
REMEDY = "quote fields that contain quotes or line breaks, and double the quotes in them"
SPELLINGS = {"tab": "\t", "\\t": "\t", "space": " ", "whitespace": " ", "comma": ",", "semicolon": ";", "bar": "|"}


class Record(NamedTuple):
    """A row of text: its first and last line, counted from 1, and its fields."""

    line: int
    last: int
    fields: list[str]


@dataclass(frozen=True)
class Dialect:
    """How delimited text is written."""

    delimiter: str  # one character; a space stands for any run of spaces and tabs
    quoted: bool  # whether fields may be quoted
    commented: bool  # whether lines that begin with ``#`` or ``%`` are comments
    names: tuple[str | None, ...] = ()  # the name of each column; None without a header
    header: bool = False  # whether there is one
    skip: int = 0  # the number of lines before the first row of data
    sample: tuple[tuple[str, ...], ...] = ()  # the first values of each column

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names)

    @property
    def values(self) -> tuple[Values, ...]:
        """What the first values of each column are."""
        return tuple(map(_values, self.sample))


def records(path: str, text: bytes, dialect: Dialect, first: int = 1) -> Iterator[Record]:
    """The rows of some lines of text; ``first`` is the number of the first line.

    This is the slow and exact parser; `isotherm.io.text` uses a faster one where both agree.
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
                remedy = "put a blank after the sign of a comment, or write the file as CSV"
                raise FileError(f"{path}, line {lines.start}: this may be a comment or a row; {remedy}")
            lines.fresh = True
    except csv.Error as error:
        problem = next((ours for theirs, ours in CSV_ERRORS.items() if theirs in str(error)), str(error))
        raise FileError(f"{path}, line {lines.start}: {problem}; {REMEDY}") from None


class _Lines:
    """Decoded lines, without blank lines and clear comments between rows."""

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
        """Lines with spaces for tabs."""
        for line in self:
            yield line.rstrip("\r\n").replace("\t", " ")

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            wrong = f"the byte 0x{line[error.start]:02x} is not UTF-8"
            message = "{path}, line {line}: {wrong}; say how the file is written, as in {encoding}"
            facts = {"line": self.number, "wrong": wrong, "encoding": Option("encoding", "cp1252")}
            raise FileError(message, path=self.path, **facts) from None


def sniff(
    path: str,  # the name of the file, for messages
    sample: bytes,  # its first lines, whole
    family: str,  # "csv", "tsv" or "text"
    *,
    rows: str = "edges",  # what each row is: one of "edges", "seeds" or "vectors"
    delimiter: str | None = None,
    header: bool | None = None,
    wanted: Sequence[object] = (),  # the columns that the caller asks for
) -> Dialect:
    """Find out how text is written from its first lines."""
    lines = sample.split(b"\n")
    hint = HINT.match(sample)
    if hint is not None:
        lines[0], delimiter = SIGNS[0], delimiter or hint[1].decode()
    top = 0 if family == "text" else _leading_comments(lines)
    body = b"\n".join(lines[top:])
    vectors = rows == "vectors"
    dialect, found = _split(path, body, family, _character(delimiter), top + 1, vectors)
    while top and family != "text" and not is_comment(lines[top - 1]):  # the first id may begin with a sign
        above = list(_readable(path, lines[top - 1], dialect, top))
        if len(above) != 1 or len(above[0].fields) != len(found[0].fields):
            break
        found, top = above + found, top - 1
    width = Counter(len(row.fields) for row in found).most_common(1)[0][0]
    even = [row.fields for row in found if len(row.fields) == width]
    if header is None:
        sees = _names_vectors if vectors else partial(_has_header, seeds=rows == "seeds")
        header = len(found[0].fields) == width and sees(even, wanted=wanted)
    names: tuple[str | None, ...] = (None,) * width
    if header:
        names = tuple(name.strip() for name in found[0].fields)
        names = (names[0] or "").lstrip("#% "), *names[1:]
    skip = found[0].last if header else found[0].line - 1
    data = even[1:] if header else even
    sample_of_columns = tuple(zip(*data, strict=True))
    return Dialect(dialect.delimiter, dialect.quoted, dialect.commented, names, header, skip, sample_of_columns)


def is_number(text: str) -> bool:
    """Whether a field is a number of any sign and size.

    >>> is_number(" 1e3"), is_number("1_000"), is_number("")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def is_written_number(text: str) -> bool:
    """The same for numbers with a decimal comma, or with signs between thousands.

    >>> is_written_number("1,5"), is_written_number("1.284,86"), is_written_number("1-5")
    (True, True, False)
    """
    given = text.strip()
    return is_number(given.replace(",", ".")) or bool(POINT_GROUPED.fullmatch(given) or COMMA_GROUPED.fullmatch(given))


def _values(cells: Sequence[str]) -> Values:
    """What the values of a column are.

    >>> _values(["0", "1", "2"])[:2], _values(["0.5", "x", ""])[:2]
    ((True, True), (False, False))
    >>> _values(["1.284", "12"]).thousand, _values(["1.284,50", "12"]).decimal_comma
    ('1.284', '1.284,50')
    """
    numeric = 2 * sum(is_number(cell.replace(",", ".")) for cell in cells) >= len(cells)
    numbering = numeric and all(map(str.isdigit, cells)) and len(set(cells)) == len(cells)
    return Values(numeric, numbering, *_signs(cells))


def _signs(cells: Sequence[str]) -> tuple[str, str]:
    """A number with a decimal comma, and one that may be a thousand; empty if there is none, or if others differ."""
    signed = [cell.strip() for cell in cells if "," in cell or "." in cell]
    if not signed or not all(COMMA.fullmatch(cell) or COMMA_GROUPED.fullmatch(cell) for cell in signed):
        return "", ""
    comma = next((cell for cell in signed if "," in cell and not POINT_GROUPED.fullmatch(cell)), "")
    return comma, signed[0] if "," not in "".join(signed) else ""


def _split(
    path: str, body: bytes, family: str, delimiter: str | None, first: int, any_width: bool
) -> tuple[Dialect, list[Record]]:
    """The dialect by which most lines have the same number of fields, and the rows."""
    best, chosen = 0.0, None
    for candidate in delimiter or PREFERENCES[family].replace("," if _has_decimal_commas(body) else "", ""):
        dialect = _dialect(candidate, family)
        rows = list(_readable(path, body, dialect, first))
        if _evenness(rows) > best:
            best, chosen = _evenness(rows), (dialect, rows)
    if chosen is None:
        dialect = _dialect(delimiter or PREFERENCES[family][0], family)
        rows = list(records(path, body, dialect, first))  # raises an error if a line is malformed
        if any_width and rows:
            return dialect, rows
        raise _one_column(path, dialect, rows)
    width = max(len(row.fields) for row in chosen[1])
    if width > MOST_COLUMNS and not any_width:
        remedy = "give one row for each edge or seed, and save a matrix as .mtx or .npz"
        raise FileError(f"{path} has {width:,} columns, but a table may have {MOST_COLUMNS:,}; {remedy}")
    return chosen


def _has_decimal_commas(body: bytes) -> bool:
    """Whether all commas are inside numbers, and there is a semicolon for each line."""
    lines = sum(map(bool, map(bytes.strip, body.split(b"\n"))))
    return 0 < body.count(b",") == len(DECIMAL_COMMA.findall(body)) and body.count(b";") >= lines


def _dialect(delimiter: str, family: str) -> Dialect:
    plain = delimiter == " " or (family == "text" and delimiter == "\t")
    return Dialect(delimiter, quoted=not plain, commented=family == "text" or delimiter == " ")


def _readable(path: str, body: bytes, dialect: Dialect, first: int) -> Iterator[Record]:
    """Rows up to the first malformed one, which the reader will report."""
    with suppress(FileError):
        yield from islice(records(path, body, dialect, first), MOST_ROWS)


def _evenness(rows: list[Record]) -> float:
    """The share of the rows that have the most common number of fields; 0 if that number is one."""
    if not rows:
        return 0
    width, count = Counter(len(row.fields) for row in rows).most_common(1)[0]
    return count / len(rows) if width > 1 else 0


def _one_column(path: str, dialect: Dialect, rows: list[Record]) -> FileError:
    if not rows:
        return FileError(f"{path} has no rows: it is empty, or holds comments only")
    name = DELIMITER_NAMES.get(dialect.delimiter, repr(dialect.delimiter))
    found = f"with the delimiter {name} there is one column, {shorten(rows[0].fields[0])}"
    message = "{path}, line {line}: {found}; at least two are needed, so add the other one or change {delimiter}"
    return FileError(message, path=path, line=rows[0].line, found=found, delimiter=Option("delimiter"))


def _is_wanted(first: list[str], wanted: Sequence[object]) -> bool:
    """Whether a column that the caller asks for has its name in this row."""
    return any(isinstance(name, str) and not name.isdigit() and name in first for name in wanted)


def _names_vectors(rows: list[list[str]], *, wanted: Sequence[object]) -> bool:
    """Whether the first row of a table of vectors is a header: it is not, if it has numbers where the others have them.

    >>> _names_vectors([["0.5", "2"], ["3", "1"]], wanted=()), _names_vectors([["x", "2"], ["3", "1"]], wanted=())
    (False, True)
    >>> _names_vectors([["0", "1"], ["3", "1"]], wanted=()), _names_vectors([["a", "3"], ["id", "1"]], wanted=())
    (True, False)
    """
    first, rest = rows[0], rows[1:]
    if _is_wanted(first, wanted) or named(first, (*NODES, *CLEAR_LABELS), ()) is not None:
        return True
    columns = enumerate(zip(*rest, strict=True))
    places = [place for place, column in columns if 2 * sum(map(is_written_number, column)) >= len(column)]
    cells = [first[place] for place in places if not is_missing_word(first[place])]
    if not cells or not all(map(is_written_number, cells)):
        return True
    if cells == [str(place) for place in range(len(cells))]:  # pandas numbers columns so
        return True
    return _is_even([first[place] for place in places]) and not any(_is_even([r[at] for at in places]) for r in rest)


def _is_even(cells: list[str]) -> bool:
    """Whether at least three numbers are equally spaced, such as years or wavelengths."""
    numbers = [float(cell) for cell in cells if is_number(cell)]
    steps = {round(after - before, 6) for before, after in pairwise(numbers)}
    return len(cells) == len(numbers) > 2 and len(steps) == 1 and steps != {0}


def _has_header(rows: list[list[str]], *, seeds: bool, wanted: Sequence[object]) -> bool:
    first, rest = rows[0], rows[1:]
    if _is_wanted(first, wanted):
        return True
    if not first[0].strip() and all(cell.strip() and not is_number(cell) for cell in first[1:]):
        return True
    names, sure = header_names(first, seeds=seeds)
    if names:  # a row with both node and label is not a seed
        return sure or names.isdisjoint(cell for row in rest for cell in row)
    columns = list(zip(*rest, strict=True)) or [()] * len(first)
    if seeds and _above_few_values(first, columns):
        return True
    above = [_above_numbers(cell, column) for cell, column in zip(first, columns, strict=True)]
    if seeds or any(above[2:]) or not any(above[:2]):
        return above[0] if seeds else any(above[2:])
    below = {cell for column in columns[:2] for cell in column}
    return all(not is_number(cell) and cell not in below for cell in first[:2])


def _above_few_values(first: list[str], columns: Sequence[tuple[str, ...]]) -> bool:
    """Whether a wide row has texts that do not occur below, though some column has the same few values again."""
    texts = len(first) > 2 and all(cell.strip() and not is_number(cell) for cell in first)
    fresh = len(set(first)) == len(first) and all(c not in column for c, column in zip(first, columns, strict=True))
    return texts and fresh and any(1 < len(set(column)) <= len(column) / FEW for column in columns)


def _above_numbers(cell: str, column: tuple[str, ...]) -> bool:
    """Whether this is text above a column of numbers or dates."""
    return bool(column) and not _is_number_or_date(cell) and all(map(_is_number_or_date, column))


def _is_number_or_date(cell: str) -> bool:
    return is_number(cell) or NO_ID.fullmatch(cell.strip()) is not None


def _leading_comments(lines: list[bytes]) -> int:
    """How many lines at the top begin with a sign or are blank, if a row follows them."""
    for place, line in enumerate(lines):
        if line.strip() and not line.startswith(SIGNS):
            return place
    return next((place for place, line in enumerate(lines) if line.strip() and not is_comment(line)), len(lines))


def is_comment(line: bytes) -> bool:
    """Whether a line is blank or clearly a comment."""
    return not line.strip() or (line.startswith(SIGNS) and line.lstrip(b"#%")[:1] in AFTER_SIGNS)


def _character(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    character = SPELLINGS.get(delimiter.lower(), delimiter)
    if len(character) != 1 or not character.isascii() or character in '"\n\r\0' or character.isalnum():
        option = Option("delimiter", delimiter)
        raise FileError("{delimiter} cannot be used: give one character such as , ; | or tab", delimiter=option)
    return character
