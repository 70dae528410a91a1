"""Parquet pages whose headers contradict the file: found here, because polars would abort the whole process.

polars takes the number of values in a page header as the size of an allocation, before it looks at the page. A damaged
number such as -1 becomes 2^64, the allocation fails, and a failed allocation in Rust ends the process. So the headers
are compared with the footer first. What this file cannot make sense of is left to polars, which raises errors.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"PAR1"
LARGEST_FOOTER = 4 << 20  # bytes; a larger one would take seconds to decode here
LARGEST_HEADER = 16 << 10  # bytes, with the statistics of a page
DEEPEST = 20  # nesting of structs; Parquet needs seven levels
UNREADABLE = (IndexError, KeyError, TypeError, AttributeError, struct.error, RecursionError)
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12  # types of Thrift's compact protocol
INTEGERS = (4, 5, 6)


def check_pages(source: Path | BytesIO) -> None:
    """Raise a ValueError if a page claims to have more values than its column, or fewer than none."""
    with source.open("rb") if isinstance(source, Path) else BytesIO(source.getvalue()) as file, suppress(*UNREADABLE):
        for column in _columns(_footer(file)):
            _check_column(file, column)


def _footer(file: BinaryIO) -> dict[int, Any]:
    end = file.seek(0, 2)
    file.seek(max(0, end - 8))
    length, magic = struct.unpack("<I4s", file.read(8))
    if magic != MAGIC or length > min(LARGEST_FOOTER, end - 8):
        return {}
    file.seek(end - 8 - length)
    return _Thrift(file.read(length)).struct()


def _columns(footer: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """The metadata of each column in each group of rows."""
    for group in footer.get(4, []):
        yield from (chunk[3] for chunk in group[1])


def _check_column(file: BinaryIO, column: dict[int, Any]) -> None:
    values, left = column[5], column[7]
    place = min(offset for offset in (column.get(11), column[9]) if offset)
    while left > 0:
        file.seek(place)
        header = _Thrift(file.read(LARGEST_HEADER))
        page = header.struct()
        packed = page[3]
        for claimed in (page[kind][1] for kind in (5, 7, 8) if kind in page):
            if not 0 <= claimed <= values:
                raise ValueError(f"a page of {claimed:,} values in a column of {values:,}")
        if packed < 0 or page[2] < 0:
            raise ValueError("a page of a negative size")
        place, left = place + header.place + packed, left - header.place - packed


class _Thrift:
    """Decodes structs of Thrift's compact protocol to ``{number of the field: value}``."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > DEEPEST:
            raise RecursionError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int, listed: bool = False) -> Any:
        if kind in (TRUE, FALSE):  # the value is the type, but in a list it is a byte
            return self._byte() == TRUE if listed else kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind in INTEGERS:
            return self._integer()
        if kind in (DOUBLE, BINARY):
            return self._bytes(8 if kind == DOUBLE else self._varint())
        if kind in (LIST, SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1, listed=True) for _ in range(count)]
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise KeyError(kind)  # maps do not occur in Parquet

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _bytes(self, count: int) -> bytes:
        self.place += count
        if self.place > len(self.content):
            raise IndexError
        return self.content[self.place - count : self.place]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        """A signed integer, which alternates: 0, -1, 1, -2, ..."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
