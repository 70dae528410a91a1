"""JSON lines: an object for each row."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from isotherm.io.blocks import blocks
from isotherm.io.errors import FileError, need, shorten
from isotherm.io.streams import Input
from isotherm.io.tables import Batch

__all__ = ["JsonTable", "open_jsonl"]


@dataclass(frozen=True)
class JsonTable:
    """JSON lines that were opened."""

    path: str
    rows: list[tuple[int, dict[str, Any]]]  # line and object

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the first object."""
        return tuple(self.rows[0][1])

    def batches(self, columns: dict[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """The values at these places, from 0, of the first object's names, under their roles; all in one batch."""
        pl = need("polars", "reading JSON lines")
        series = []
        for role, place in columns.items():
            values = [row.get(self.names[place]) for _, row in self.rows]
            kinds = {type(value) for value in values if value is not None}
            if len(kinds) > 1 or not kinds <= {str, int, bool, float}:
                found = " and ".join(sorted(kind.__name__ for kind in kinds))
                raise FileError(
                    f"{self.path}: the values of {self.names[place]!r} are {found}; they must be of one kind"
                )
            series.append(pl.Series(role, values, strict=True))
        yield Batch(pl.DataFrame(series), partial(_line, self.rows))


def open_jsonl(file: Input) -> JsonTable:
    """Open JSON lines."""
    rows = []
    for block in blocks(file.name, file.text(), 1, None):
        for number, line in enumerate(block.text.removesuffix(b"\n").split(b"\n"), start=block.first):
            if line.strip():
                rows.append((number, _object(file.name, number, line)))
    if not rows:
        raise FileError(f"{file.name} has no rows: it is empty; write it again, or give another file")
    return JsonTable(file.name, rows)


def _object(path: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        shown = shorten(line.decode(errors="replace").strip())
        raise FileError(f"{path}, line {number}: {shown} is no JSON object; every line must be one")
    return value


def _line(rows: list[tuple[int, dict[str, Any]]], row: int) -> str:
    return f"line {rows[row][0]}"
