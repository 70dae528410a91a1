"""Rows of a table to seeds: one label for each node, or several, or probabilities of labels; and weights of trust."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from isotherm.io.errors import FileError, shorten
from isotherm.io.tables import Batch, checked_ids, missing_id

__all__ = ["Row", "distributions", "read_rows", "sets", "shown", "single_labels", "trusted"]

INTEGER = re.compile(r"0|-?[1-9][0-9]*")


class Row(NamedTuple):
    """A node, its label, and what else the row says."""

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
    """All rows that have a label, of which at least one there must be."""
    rows = [row for batch in batches for row in _rows(path, batch)]
    labelled = [row for row in rows if not (row.label is None or row.label == "" or row.label != row.label)]
    if not labelled:
        raise FileError(f"{path} has no seeds: {'every label is empty' if rows else 'there are no rows'}")
    return _without_minus_one(labelled)


def single_labels(path: str, rows: list[Row]) -> dict[Any, Any]:
    """One label for each node; rows that contradict each other are refused."""
    return {node: row.label for node, row in _agreed(path, rows, "label", "labels").items()}


def trusted(path: str, rows: list[Row]) -> dict[Any, float | None]:
    """The weights of trust, of those nodes that have one; rows that contradict each other are refused."""
    told = [row for row in rows if row.seed_weight is not None]
    return {node: row.seed_weight for node, row in _agreed(path, told, "seed_weight", "weights").items()}


def sets(rows: list[Row]) -> dict[Any, set[Any]]:
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
            raise FileError(f"{path}, {row.place}: {shown(row.label)} is there twice for the node {shown(row.node)}")
        found[row.node][row.label] = row.probability
    return found


def _agreed(path: str, rows: list[Row], field: str, plural: str) -> dict[Any, Row]:
    """The first row of each node, of which no other may say something else."""
    first: dict[Any, Row] = {}
    for row in rows:
        before = first.setdefault(row.node, row)
        one, other = getattr(before, field), getattr(row, field)
        if one != other:
            both = f"{shown(one)} ({before.place}) and {shown(other)} ({row.place})"
            raise FileError(f"{path}: the node {shown(row.node)} has two {plural}, {both}; keep one of them")
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
    """A column of numbers from 0 on, None where it is empty; nothing but None if there is no such column."""
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
        value = given[bad[0]]
        said = shorten(value) if isinstance(value, str) else value
        raise FileError(
            f"{path}, {batch.place(bad[0])}: the {_word(role)} is {said}, not a number from 0 on; correct it"
        )
    return numbers.to_list()


def _word(role: str) -> str:
    return role.replace("seed_", "")


def _without_minus_one(rows: list[Row]) -> list[Row]:
    """The rows without those of the label -1, which stands for unknown where labels are integers, also as text."""
    labels = {row.label for row in rows}
    minus_one = labels & {"-1", -1}
    if not minus_one or not all(isinstance(label, int) or INTEGER.fullmatch(str(label)) for label in labels):
        return rows
    return [row for row in rows if row.label not in minus_one]


def shown(value: Any) -> str:
    """A value for messages."""
    return shorten(value) if isinstance(value, str) else repr(value)
