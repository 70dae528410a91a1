"""What is where in a table: the roles of its columns, found by name, by number or by looking."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from isotherm.io.errors import FileError, shorten

__all__ = ["Column", "Layout", "Pick", "edge_roles", "seed_roles"]

Pick: TypeAlias = str | int | None
"""A column: its name, its number from 1, or None to find it."""

# After `_plain`, which takes "node", "id" and the like away: FromNodeId -> from, node_1 -> 1.
ENDS = {
    "source": ("target", "dest", "destination"),
    "src": ("dst", "dest", "target"),
    "from": ("to",),
    "start": ("end",),
    "citing": ("cited",),
    "row": ("col", "column"),
    "1": ("2",),
    "a": ("b",),
    "u": ("v",),
    "i": ("j",),
}
TELLING_ENDS = frozenset(ENDS) - {"a", "u", "i"}  # single letters are as likely ids as names
WEIGHTS = ("weight", "weights", "w", "value", "capacity")
NODES = ("node", "nodeid", "id", "vertex", "vertexid", "name")
LABELS = ("label", "labels", "class", "y", "category")
TELLING_LABELS = tuple(name for name in LABELS if len(name) > 1)
DELIMITER_NAMES = {"\t": "tab", " ": "whitespace", ",": "comma", ";": "semicolon", "|": "bar"}


class Column(NamedTuple):
    """A column by its number, from 1, and its name if the table has names."""

    number: int
    name: str | None = None

    def __str__(self) -> str:
        return f"col {self.number}" if self.name is None else f"col {self.number} ({self.name})"


@dataclass(frozen=True)
class Layout:
    r"""How a file was read.

    Attributes
    ----------
    format
        One of `isotherm.io.FORMATS`.
    roles
        The column of each role that a table has: source, target and weight, or node and label. None for a weight
        that is absent or ignored.
    header, delimiter
        Of delimited text; None for other formats.

    Examples
    --------
    >>> str(Layout("tsv", {"source": Column(1), "target": Column(2), "weight": None}, header=False, delimiter="\t"))
    'source=col 1, target=col 2, weight=none, header=no, delimiter=tab'
    """

    format: str
    roles: dict[str, Column | None] = field(default_factory=dict)
    header: bool | None = None
    delimiter: str | None = None

    def __str__(self) -> str:
        parts = [f"{role}={column or 'none'}" for role, column in self.roles.items()]
        if self.header is not None:
            parts.append(f"header={'yes' if self.header else 'no'}")
        if self.delimiter is not None:
            parts.append(f"delimiter={DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))}")
        return ", ".join(parts) or f"format={self.format}"


def edge_roles(
    path: str, names: Sequence[str | None], picks: dict[str, Any], *, numeric: bool = False
) -> dict[str, Column | None]:
    """The columns of source, target and weight.

    Columns that are picked are taken. Else source and target are a pair of names such as source and target or from
    and to, or the first two columns that are left; the weight is a column named weight, w, value or capacity, or,
    where columns have no names, the third if it is numeric.

    Examples
    --------
    >>> roles = edge_roles("edges.csv", ["time", "from", "to", "w"], {})
    >>> [str(column) for column in roles.values()]
    ['col 2 (from)', 'col 3 (to)', 'col 4 (w)']
    """
    source, target = (_picked(path, names, picks.get(end), end) for end in ("source", "target"))
    pick = picks.get("weight")
    if pick is None:
        weight = _found_weight(names, numeric, {source, target})
    else:
        weight = None if pick is False else _picked(path, names, pick, "weight")
    if source is None and target is None:
        source, target = _found_pair(names) or (None, None)
    source, target = _filled(names, (source, target), {weight})
    if source is None or target is None:
        raise FileError(f"{path} has {_counted(names)}, but an edge needs a source and a target; add what is missing")
    if source == target or weight in (source, target):
        raise FileError(f"{path}: source, target and weight must be different columns")
    return {"source": _column(names, source), "target": _column(names, target), "weight": _column(names, weight)}


def seed_roles(path: str, names: Sequence[str | None], picks: dict[str, Any]) -> dict[str, Column | None]:
    """The columns of node and label: picked, or found by name, or the first two; and others that are picked.

    Examples
    --------
    >>> roles = seed_roles("seeds.csv", ["confidence", "node", "label"], {})
    >>> [str(column) for column in roles.values()]
    ['col 2 (node)', 'col 3 (label)']
    """
    others = {role: _picked(path, names, picks.get(role), role) for role in ("seed_weight", "probability")}
    taken = set(others.values()) - {None}
    node, label = (_picked(path, names, picks.get(role), role) for role in ("node", "label"))
    if label is None:
        label = _named(names, LABELS, {node, *taken})
    if node is None:
        node = _named(names, NODES, {label, *taken})
    node, label = _filled(names, (node, label), taken)
    if node is None or label is None:
        raise FileError(f"{path} has {_counted(names)}, but a seed needs a node and a label; add what is missing")
    places = {"node": node, "label": label, **{role: place for role, place in others.items() if place is not None}}
    if len(set(places.values())) < len(places):
        raise FileError(f"{path}: {' and '.join(places)} must be different columns")
    return {role: _column(names, place) for role, place in places.items()}


def titles(cells: Sequence[str], *, seeds: bool) -> set[str]:
    """The cells of a row that look like the names of columns of edges, or of seeds.

    Examples
    --------
    >>> sorted(titles(["from", "to", "year"], seeds=False)), titles(["ann", "bob"], seeds=False)
    (['from', 'to'], set())
    """
    if seeds:
        return {cell for cell in cells if _simple(cell) in (*NODES, *TELLING_LABELS)}
    pair = _found_pair(cells)
    return {cells[place] for place in pair} if pair and _plain(cells[pair[0]]) in TELLING_ENDS else set()


def _picked(path: str, names: Sequence[str | None], pick: Any, role: str) -> int | None:
    """The place of a column that was asked for by name or number."""
    if pick is None:
        return None
    if pick in names:
        return list(names).index(pick)
    if isinstance(pick, bool) or not isinstance(pick, int | str):
        raise TypeError(f"{role} must be the name or the number of a column, not {type(pick).__name__}")
    if isinstance(pick, int) or (pick.isascii() and pick.isdigit()):
        if 1 <= int(pick) <= len(names):
            return int(pick) - 1
        raise FileError(f"{path} has no column {pick} for {role}: it has {_counted(names)}, numbered from 1")
    named = [shorten(name) for name in names if name is not None]
    there = f"there are {', '.join(named[:8])}" if named else "it has no header, so give a number from 1"
    raise FileError(f"{path} has no column named {shorten(pick)} for {role}: {there}")


def _filled(
    names: Sequence[str | None], pair: tuple[int | None, int | None], taken: set[int | None]
) -> tuple[int | None, int | None]:
    """The places of two columns, the first that are free where they are not known."""
    free = (place for place in range(len(names)) if place not in taken and place not in pair)
    first, second = (next(free, None) if place is None else place for place in pair)
    return first, second


def _found_pair(names: Sequence[str | None]) -> tuple[int, int] | None:
    plain = [_plain(name) for name in names]
    for place, name in enumerate(plain):
        for other in ENDS.get(name, ()):
            if other in plain:
                return place, plain.index(other)
    return None


def _found_weight(names: Sequence[str | None], numeric: bool, taken: set[int | None]) -> int | None:
    if all(name is None for name in names):
        return 2 if numeric and 2 not in taken else None
    return _named(names, WEIGHTS, taken)


def _named(names: Sequence[str | None], wanted: tuple[str, ...], taken: set[int | None]) -> int | None:
    simple = ["" if place in taken else _simple(name) for place, name in enumerate(names)]
    return next((simple.index(name) for name in wanted if name in simple), None)


def _column(names: Sequence[str | None], place: int | None) -> Column | None:
    return None if place is None else Column(place + 1, names[place])


def _counted(names: Sequence[str | None]) -> str:
    return "1 column" if len(names) == 1 else f"{len(names)} columns"


def _simple(name: str | None) -> str:
    """Lower-case letters and digits only: ``Node ID`` -> ``nodeid``."""
    return re.sub(r"[\W_]", "", name or "").lower()


def _plain(name: str | None) -> str:
    """What is left without node, vertex, name and id, of a name that is no number."""
    simple = _simple(name)
    return "" if simple.isdigit() else re.sub(r"node|vertex|name|id", "", simple)
