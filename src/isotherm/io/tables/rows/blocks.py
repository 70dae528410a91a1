"""Text cut into blocks of whole rows; quoted fields may contain line breaks."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.files import FileError

__all__ = ["LONGEST", "Block", "blocks", "well_quoted"]

BLOCK = 1 << 22  # bytes: larger ones would leave the cache before the ids of their rows are numbered
LONGEST = 1 << 26  # a longer row is taken for a file without line breaks or with an open quote
QUOTE, NEWLINE, RETURN = b'"\n\r'


class Block(NamedTuple):
    """Whole rows: the number of their first line, the count of line breaks, and the text."""

    first: int
    breaks: int
    text: bytes


def blocks(path: str, pieces: Iterator[bytes], first: int, delimiter: str | None) -> Iterator[Block]:
    """Text in blocks of whole rows.

    Parameters
    ----------
    path
        The name of the file, for messages.
    pieces
        The text, cut anywhere.
    first
        The number of its first line.
    delimiter
        The delimiter of fields that may be quoted; None if no field is quoted.
    """
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
