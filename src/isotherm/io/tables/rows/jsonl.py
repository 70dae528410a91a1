"""JSON lines: an object for each row."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from isotherm.files import FileError
from isotherm.io.errors import need, shorten
from isotherm.io.memory import Budget
from isotherm.io.streams import Input
from isotherm.io.tables.rows.batches import Batch, Table
from isotherm.io.tables.rows.blocks import blocks

__all__ = ["JsonTable", "open_jsonl"]

ROW = 500  # bytes of an object with its texts


class JsonTable(Table):
    """JSON lines that were opened; the columns are the names in the first object."""

    names: tuple[str, ...]

    def __init__(self, path: str, rows: list[tuple[int, dict[str, Any]]]) -> None:
        self.path, self.rows = path, rows  # line number and object
        self.names = tuple(rows[0][1])

    def batches(self, places: Mapping[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """All rows in one batch."""
        pl = need("polars", "reading JSON lines")
        series = []
        for role, place in places.items():
            name = self.names[place]
            values = [row.get(name) for _, row in self.rows]
            kinds = {type(value) for value in values if value is not None}
            if len(kinds) > 1 or not kinds <= {str, int, bool, float}:
                found = " and ".join(sorted(kind.__name__ for kind in kinds))
                raise FileError(f"{self.path}: the values of {name!r} are {found}; they must be of one kind")
            series.append(pl.Series(role, values, strict=True))
        yield Batch(pl.DataFrame(series), lambda row: f"line {self.rows[row][0]}")


def open_jsonl(file: Input) -> JsonTable:
    """Open JSON lines."""
    budget, rows = Budget(file.name), list[tuple[int, dict[str, Any]]]()
    for block in blocks(file.name, file.text(), 1, None):
        budget.check_bytes(ROW * (len(rows) + block.breaks), "the table of seeds")
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
        text = shorten(line.decode(errors="replace").strip())
        raise FileError(f"{path}, line {number}: {text} is not a JSON object; every line must be one")
    return value
