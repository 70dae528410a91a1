"""Rows of a table to seeds: one label for each node, several labels, or probabilities of labels; and seed weights."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from isotherm.errors import warn
from isotherm.files import FileError
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.memory import Budget
from isotherm.io.tables.rows.batches import Batch, checked_ids, missing_id

__all__ = ["Row", "distributions", "label_sets", "read_rows", "seed_weights", "single_labels", "without_minus_one"]

ROW = 300  # bytes of a row in memory
INTEGER = re.compile(r"0|-?[1-9][0-9]*")


class Row(NamedTuple):
    """A node, its label, and the other columns that were picked."""

    node: Any
    label: Any
    seed_weight: float | None
    probability: float | None
    batch: Batch
    number: int

    @property
    def place(self) -> str:
        """Where the row is in the file."""
        return self.batch.place(self.number)


def read_rows(path: str, batches: Iterator[Batch]) -> list[Row]:
    """All rows with a label; there must be at least one."""
    budget, rows = Budget(path), list[Row]()
    for batch in batches:
        budget.check_bytes(ROW * (len(rows) + batch.frame.height), "the table of seeds")
        rows += _rows(path, batch)
    labelled = [row for row in rows if not (row.label is None or row.label == "" or row.label != row.label)]
    if not labelled:
        raise FileError(f"{path} has no seeds: {'every label is empty' if rows else 'there are no rows'}; fill some in")
    return labelled


def single_labels(path: str, rows: list[Row]) -> dict[Any, Any]:
    """One label for each node; contradicting rows are refused."""
    return {node: row.label for node, row in _agreed(path, rows, "label", "labels").items()}


def seed_weights(path: str, rows: list[Row]) -> dict[Any, float | None]:
    """The weights of those seeds that have one; contradicting rows are refused."""
    weighted = [row for row in rows if row.seed_weight is not None]
    return {node: row.seed_weight for node, row in _agreed(path, weighted, "seed_weight", "weights").items()}


def label_sets(rows: list[Row]) -> dict[Any, set[Any]]:
    """All labels of each node."""
    found: dict[Any, set[Any]] = {}
    for row in rows:
        found.setdefault(row.node, set()).add(row.label)
    return found


def distributions(path: str, rows: list[Row]) -> dict[Any, dict[Any, float]]:
    """The probabilities of the labels of each node."""
    found: dict[Any, dict[Any, float]] = {}
    for row in rows:
        if row.probability is None:
            raise FileError(f"{path}, {row.place}: the probability is empty; give a number from 0 to 1")
        if row.label in found.setdefault(row.node, {}):
            twice = f"{shorten(row.label)} is there twice for the node {shorten(row.node)}"
            raise FileError(f"{path}, {row.place}: {twice}; delete one of the rows")
        found[row.node][row.label] = row.probability
    return found


def _agreed(path: str, rows: list[Row], field: str, plural: str) -> dict[Any, Row]:
    """The first row of each node; another row with a different value is refused."""
    first: dict[Any, Row] = {}
    for row in rows:
        before = first.setdefault(row.node, row)
        one, other = getattr(before, field), getattr(row, field)
        if one != other:
            both = f"{shorten(one)} ({before.place}) and {shorten(other)} ({row.place})"
            raise FileError(f"{path}: the node {shorten(row.node)} has two {plural}, {both}; keep one of them")
    return first


def _rows(path: str, batch: Batch) -> Iterator[Row]:
    nodes, labels = _nodes(path, batch), _labels(path, batch)
    weights, probabilities = (_numbers(path, batch, role) for role in ("seed_weight", "probability"))
    for number, values in enumerate(zip(nodes, labels, weights, probabilities, strict=True)):
        yield Row(*values, batch, number)


def _nodes(path: str, batch: Batch) -> list[Any]:
    nodes = checked_ids(path, batch, "node").to_list()
    if "" in nodes:
        raise missing_id(path, batch.place(nodes.index("")), "node")
    return nodes


def _labels(path: str, batch: Batch) -> list[Any]:
    import polars as pl

    labels = batch.frame["label"]
    if not (labels.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null) or labels.dtype.is_numeric()):
        raise FileError(f"{path}: the label column holds {labels.dtype}; labels are text or integers")
    return labels.to_list()


def _numbers(path: str, batch: Batch, role: str) -> list[float | None]:
    """A column of numbers from 0 on, None where it is empty; all None if there is no such column."""
    import polars as pl

    if role not in batch.frame.columns:
        return [None] * batch.frame.height
    given = batch.frame[role]
    if given.dtype not in (pl.String, pl.Null) and not given.dtype.is_numeric():
        raise FileError(f"{path}: the {_word(role)} column holds {given.dtype}, not numbers; give another")
    text = given.dtype == pl.String
    empty = given.is_null() | (given.str.strip_chars() == "" if text else False)
    numbers = (given.str.strip_chars() if text else given).cast(pl.Float64, strict=False)
    bad = (~(empty | ((numbers >= 0) & ~numbers.is_nan()).fill_null(value=False))).arg_true()
    if len(bad):
        found = f"the {_word(role)} is {shorten(given[bad[0]])}"
        raise FileError(f"{path}, {batch.place(bad[0])}: {found}, not a number from 0 on; correct it")
    return numbers.to_list()


def _word(role: str) -> str:
    return role.replace("seed_", "")


def without_minus_one(path: str, rows: list[Row]) -> list[Row]:
    """Drop rows with the label -1, which means unknown where all labels are integers or texts of integers; warn."""
    labels = {row.label for row in rows}
    minus_one = labels & {"-1", -1}
    if not minus_one or not all(isinstance(label, int) or INTEGER.fullmatch(str(label)) for label in labels):
        return rows
    known = [row for row in rows if row.label not in minus_one]
    count = len(rows) - len(known)
    dropped = "1 row with the label -1 is left out" if count == 1 else f"{count:,} rows with the label -1 are left out"
    message = "{path}: {dropped}, because -1 means unknown; rename the label if it is a class, or leave it empty if not"
    warn(FileWarning(message, path=path, dropped=dropped))
    return known
