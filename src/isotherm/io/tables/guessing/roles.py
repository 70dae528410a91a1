"""Which column of a table is which: chosen by the caller, or found by name or position."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.io.errors import UnclearError, shorten
from isotherm.io.layout import Column, Values
from isotherm.io.tables.guessing.names import (
    WEIGHTS,
    Names,
    end_pairs,
    is_index_name,
    is_time,
    is_time_or_id,
    label_place,
    named,
    node_places,
    sheet_places,
)

__all__ = ["edge_roles", "seed_roles", "unused_numbers"]

Roles: TypeAlias = dict[str, Column | None]

CLEAR_WIDTH = 3  # in a wider table without usual names, the first two columns may be anything
MOST_SHOWN = 8


def edge_roles(path: str, names: Names, picks: Mapping[str, Any], values: Sequence[Values] = ()) -> Roles:
    """The columns of source, target and weight.

    Columns that the caller picks are taken. Otherwise source and target are a pair of names such as source and target
    or from and to. If there is no such pair, they are the first two free columns, but not in a wide table with names,
    which is refused. Row numbers are skipped. The weight is a column named weight, w, value or capacity; in a table
    without names it is the third column if that is numeric.

    Examples
    --------
    >>> roles = edge_roles("edges.csv", ["time", "from", "to", "w"], {})
    >>> [str(column) for column in roles.values()]
    ['col 2 (from)', 'col 3 (to)', 'col 4 (w)']
    """
    table = _Table(path, names, picks, values)
    source, target = (table.picked(end) for end in ("source", "target"))
    pick = picks.get("weight")
    if pick is None:
        weight = table.third_if_numeric({source, target}) if table.bare else named(names, WEIGHTS, {source, target})
    else:
        weight = None if pick is False else table.picked("weight")
    if source is None or target is None:
        source, target = table.pair({"source": source, "target": target}, {weight}, _pairs(names, source, target))
    return table.distinct({"source": source, "target": target, "weight": weight})


def seed_roles(path: str, names: Names, picks: Mapping[str, Any], values: Sequence[Values] = ()) -> Roles:
    """The columns of node and label (picked, found by name, or the first two), and any others that are picked.

    Examples
    --------
    >>> roles = seed_roles("seeds.csv", ["confidence", "node", "label"], {})
    >>> [str(column) for column in roles.values()]
    ['col 2 (node)', 'col 3 (label)']
    """
    table = _Table(path, names, picks, values)
    others = {role: table.picked(role) for role in ("seed_weight", "probability")}
    others = {role: place for role, place in others.items() if place is not None}
    taken = {*others.values(), *sheet_places(names)}
    node, label = table.picked("node"), table.picked("label")
    if node is None or label is None:
        found_label = label_place(names, {node, *taken}) if label is None else label
        nodes = node_places(names, {found_label, *taken}) if node is None else [node]
        pairs = [] if found_label is None else [(place, found_label) for place in nodes]
        if found_label is None and len(nodes) == 1:
            node = nodes[0]
        label = found_label
        node, label = table.pair({"node": node, "label": label}, taken, pairs)
    return table.distinct({"node": node, "label": label, **others})


def unused_numbers(names: Names, values: Sequence[Values], roles: Roles) -> list[str]:
    """Names of columns that may hold weights: numbers, but no times, ids or row numbers, and in no role."""
    used = {column.number - 1 for column in roles.values() if column}
    return [
        name
        for place, (name, each) in enumerate(zip(names, values, strict=False))
        if name and each.numeric and place not in used and not is_index_name(name) and not is_time_or_id(name)
    ]


def _pairs(names: Names, source: int | None, target: int | None) -> list[tuple[int, int]]:
    """Usual pairs that agree with what was picked."""
    return [pair for pair in end_pairs(names) if source in (None, pair[0]) and target in (None, pair[1])]


class _Table:
    """The columns of a table, and what the caller picks."""

    def __init__(self, path: str, names: Names, picks: Mapping[str, Any], values: Sequence[Values]) -> None:
        self.path, self.names, self.picks, self.values = path, names, picks, values
        self.bare = all(name is None for name in names)
        self.repeated = {name for name, count in Counter(names).items() if name is not None and count > 1}

    def picked(self, role: str) -> int | None:
        """The position of a column that was asked for by name or number."""
        names, pick = self.names, self.picks.get(role)
        if pick is None:
            return None
        if pick in names:
            return list(names).index(pick)
        if isinstance(pick, bool) or not isinstance(pick, int | str):
            raise TypeError(f"{role} must be the name or the number of a column, not {type(pick).__name__}")
        if isinstance(pick, int) or (pick.isascii() and pick.isdigit()):
            if 1 <= int(pick) <= len(names):
                return int(pick) - 1
            raise FileError(f"{self.path} has no column {pick} for {role}: it has {self._counted()}, numbered from 1")
        there = f"there are {self._shown()}" if not self.bare else "it has no header, so give a number from 1"
        raise FileError(f"{self.path} has no column named {shorten(pick)} for {role}: {there}")

    def third_if_numeric(self, taken: set[int | None]) -> int | None:
        """The third column of a table without names, if it holds numbers and is free."""
        return 2 if len(self.values) > 2 and self.values[2].numeric and 2 not in taken else None

    def pair(
        self, known: dict[str, int | None], taken: set[int | None], candidates: list[tuple[int, int]]
    ) -> tuple[int, int]:
        """The positions of two columns of which at most one is known; the best candidate, else the first free ones."""
        if len(candidates) == 1:
            return candidates[0]
        free = [place for place in range(len(self.names)) if place not in taken and place not in known.values()]
        given = sum(place is not None for place in known.values())
        numbered = [place for place in free if self._is_index(place)]
        if len(free) - len(numbered) + given >= 2:
            free = [place for place in free if place not in numbered]
        rest = iter(free)
        first, second = (next(rest, None) if place is None else place for place in known.values())
        if first is None or second is None:
            what, needed = "an edge" if "source" in known else "a seed", " and a ".join(known)
            raise FileError(f"{self.path} has {self._counted()}, but {what} needs a {needed}; add what is missing")
        if candidates or (not self.bare and len(free) + given > CLEAR_WIDTH):
            likely = [place for place in free if self._may_be_ids(place)]
            if len(likely) > 1 and not given:
                first, second = likely[:2]
            raise self._unclear(dict(zip(known, candidates[0] if candidates else (first, second), strict=True)))
        return first, second

    def distinct(self, places: Mapping[str, int | None]) -> Roles:
        """The columns at these positions, of which no two may be the same or have the same name."""
        used = [place for place in places.values() if place is not None]
        if len(set(used)) < len(used):
            *first, last = places
            raise FileError(f"{self.path}: {', '.join(first)} and {last} must be different columns")
        for role, place in places.items():
            if place is not None and self.names[place] in self.repeated and not self._by_number(role):
                raise self._repeated(role, self.names[place])
        return {role: None if place is None else Column(place + 1, self.names[place]) for role, place in places.items()}

    def _is_index(self, place: int) -> bool:
        """Whether a column holds row numbers, as pandas and R write them."""
        return is_index_name(self.names[place]) and place < len(self.values) and self.values[place].numbering

    def _may_be_ids(self, place: int) -> bool:
        numeric = place < len(self.values) and self.values[place].numeric
        return not numeric and not is_time(self.names[place] or "")

    def _by_number(self, role: str) -> bool:
        pick = self.picks.get(role)
        return pick is not None and pick is not True and pick not in self.names

    def _unclear(self, guess: Mapping[str, int]) -> FileError:
        for role, place in guess.items():
            if self.names[place] in self.repeated:
                return self._repeated(role, self.names[place])
        columns = {role: Option(role, self.names[place] or place + 1) for role, place in guess.items()}
        what = "which nodes an edge joins" if "source" in guess else "which are nodes and which are labels"
        message = f"{{path}} has {{count}}, and their names do not say {what}: {{names}}; choose two of them, as in "
        slots = " ".join(f"{{{role}}}" for role in guess)
        return UnclearError(message + slots, path=self.path, count=self._counted(), names=self._shown(), **columns)

    def _repeated(self, role: str, name: str | None) -> FileError:
        where = " and ".join(str(place + 1) for place, other in enumerate(self.names) if other == name)
        message = "{path} has several columns named {name}, number {where}; give the number of one of them to {role}"
        return FileError(message, path=self.path, name=shorten(name), where=where, role=Option(role))

    def _counted(self) -> str:
        return "1 column" if len(self.names) == 1 else f"{len(self.names):,} columns"

    def _shown(self) -> str:
        named = [shorten(name) for name in self.names if name is not None]
        return ", ".join(named[:MOST_SHOWN]) + ", ..." * (len(named) > MOST_SHOWN)
