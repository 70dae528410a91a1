"""The usual names of columns: which name says that a column holds sources, targets, weights, nodes or labels."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

__all__ = [
    "Names",
    "end_pairs",
    "header_names",
    "is_index_name",
    "is_time",
    "is_time_or_id",
    "label_place",
    "named",
    "node_places",
    "sheet_places",
]

Names: TypeAlias = Sequence[str | None]

# Words of a name after `_words`, which drops "node", "id" and the like: FromNodeId -> from, node_1 -> 1.
ENDS = {
    "source": ("target", "dest", "destination", "dst", "sink"),
    "src": ("dst", "dest", "target", "destination"),
    "from": ("to",),
    "start": ("end",),
    "begin": ("end",),
    "origin": ("destination", "dest"),
    "orig": ("dest",),
    "sender": ("receiver", "recipient"),
    "payer": ("payee",),
    "caller": ("callee",),
    "follower": ("followee", "followed"),
    "citing": ("cited",),
    "parent": ("child",),
    "head": ("tail",),
    "row": ("col", "column"),
    "left": ("right",),
    "1": ("2",),
    "0": ("1",),
    "a": ("b",),
    "u": ("v",),
    "i": ("j",),
}
SINGLE_LETTERS = frozenset("aui")  # a single letter may as well be a node id
WEIGHTS = ("weight", "weights", "w", "value", "capacity")
NODES = ("node", "nodeid", "id", "vertex", "vertexid", "name")
OFTEN_NODES = ("account", "user", "customer", "person", "member", "entity", "item", "paper", "page", "package", "key")
LABELS = ("label", "labels", "class", "y", "category")
OFTEN_LABELS = ("target", "group", "community", "cluster", "truth", "type", "kind", "section", "topic", "subject")
FLAGS = ("fraud", "fraudulent", "illicit", "suspicious", "spam", "bot", "flag", "status", "risk")
CLEAR_LABELS = tuple(name for name in LABELS if len(name) > 1)
SHEET = ("guess", "confidence", "value")  # what `isotherm suggest` adds to the columns of node and label
IDS = frozenset({"id", "ids", "index", "key", "code", "zip", "step"})
TIMES = frozenset({"time", "timestamp", "ts", "unixts", "date", "datetime", "day", "month", "year", "hour", "when"})
TIMES |= {"since", "until"}
INDEX = re.compile(r"|unnamed:? ?\d+|__index_level_\d+__|index", re.IGNORECASE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")


def end_pairs(names: Names) -> list[tuple[int, int]]:
    """The columns of source and target, if their names are a usual pair; several pairs if none is better.

    A pair may share further words.

    Examples
    --------
    >>> end_pairs(["time", "from_account", "to_account"]), end_pairs(["u", "v", "source", "target"])
    ([(1, 2)], [(2, 3)])
    >>> end_pairs(["from_bank", "from_account", "to_bank", "to_account"])
    [(0, 2), (1, 3)]
    """
    ranked: dict[int, list[tuple[int, int]]] = {}
    for rank, pair in _ranked_pairs([_words(name) for name in names]):
        ranked.setdefault(rank, []).append(pair)
    return ranked[min(ranked)] if ranked else []


def header_names(cells: Sequence[str], *, seeds: bool) -> tuple[set[str], bool]:
    """The cells of a row that look like names of columns, of edges or of seeds, and whether that leaves no doubt.

    Examples
    --------
    >>> header_names(["from", "to", "year"], seeds=False)[0] == {"from", "to"}
    True
    >>> header_names(["ann", "bob"], seeds=False), header_names(["account_id", "is_fraud"], seeds=True)[1]
    ((set(), False), False)
    """
    if seeds and sheet_places(cells):
        return set(cells), True
    if seeds:
        clear = {cell for cell in cells if _simple(cell) in (*NODES, *CLEAR_LABELS)}
        label = label_place(cells, ())
        nodes = node_places(cells, {label})
        often = set() if label is None or not nodes else {cells[label], cells[nodes[0]]}
        return (clear, len(clear) > 1) if clear else (often, False)
    pairs = end_pairs(cells)
    if not pairs or SINGLE_LETTERS.intersection(_words(cells[pairs[0][0]])):
        return set(), False
    return {cells[place] for place in pairs[0]}, False


def label_place(names: Names, taken: Sequence[int | None] | set[int | None]) -> int | None:
    """The column of labels: one named label, class or the like, then one named is_fraud or the like.

    >>> label_place(["account", "country", "is_fraud"], ()), label_place(["account", "country"], ())
    (2, None)
    """
    place = named(names, (*LABELS, *(f"{label}id" for label in CLEAR_LABELS)), taken)
    if place is not None:
        return place
    words = [() if place in taken else _words(name) for place, name in enumerate(names)]
    flags = (place for place, each in enumerate(words) if len(each) > 1 and each[0] in ("is", "has"))
    ends = (place for label in (*LABELS[:3], *FLAGS, *OFTEN_LABELS) for place, e in enumerate(words) if label in e[-1:])
    return next(flags, next(ends, None))


def node_places(names: Names, taken: Sequence[int | None] | set[int | None]) -> list[int]:
    """The columns that may be those of nodes; one if a name is clearly better than the others.

    >>> node_places(["account_id", "branch_id", "label"], {2}), node_places(["id", "name"], ())
    ([0, 1], [0])
    """
    place = named(names, NODES, taken)
    if place is not None:
        return [place]
    free = [place for place in range(len(names)) if place not in taken]
    ids = [place for place in free if re.search(r"(?i)[\W_]id$|[a-z]I[dD]$", (names[place] or "").strip())]
    return ids or [place for place in free if set(_words(names[place])[-1:]).intersection(OFTEN_NODES)]


def named(names: Names, wanted: Sequence[str], taken: Sequence[int | None] | set[int | None]) -> int | None:
    """The first free column that has one of these names; the first of the names counts most."""
    simple = ["" if place in taken else _simple(name) for place, name in enumerate(names)]
    return next((simple.index(name) for name in wanted if name in simple), None)


def sheet_places(names: Names) -> set[int]:
    """The columns that ``isotherm suggest`` adds to node and label, if this is a sheet that it wrote.

    >>> sheet_places(["account", "verdict", "guess", "confidence", "value"]), sheet_places(["value", "node", "label"])
    ({2, 3, 4}, set())
    """
    added = [name for name in names[2:] if name in SHEET]
    sheet = len(added) > 1 and added == list(names[2 : 2 + len(added)]) == [name for name in SHEET if name in added]
    return set(range(2, len(names))) if sheet else set()


def is_index_name(name: str | None) -> bool:
    """Whether this is how pandas or R name a column of row numbers: not at all, or nearly so.

    >>> is_index_name(""), is_index_name("Unnamed: 0"), is_index_name(None)
    (True, True, False)
    """
    return name is not None and INDEX.fullmatch(name.strip()) is not None


def is_time_or_id(name: str) -> bool:
    """Whether the numbers under this name are surely not weights.

    >>> is_time_or_id("bank_id"), is_time_or_id("amount")
    (True, False)
    """
    return is_time(name) or not IDS.isdisjoint(word.lower() for word in WORD.findall(name))


def is_time(name: str) -> bool:
    """Whether this names a column of times."""
    return not TIMES.isdisjoint(word.lower() for word in WORD.findall(name))


def _ranked_pairs(columns: list[tuple[str, ...]]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Pairs of ends: those that are nothing else first, then those with shared words, then single letters."""
    for place, words in enumerate(columns):
        for at, word in enumerate(words):
            wanted = [(*words[:at], other, *words[at + 1 :]) for other in ENDS.get(word, ())]
            partner = next((columns.index(each) for each in wanted if each in columns), None)
            if partner is not None:
                letter = word in SINGLE_LETTERS
                yield 2 * letter + (len(words) > 1), (place, partner)


def _words(name: str | None) -> tuple[str, ...]:
    """The words of a name in lower case, without node, vertex, name and id; none for a number."""
    if name is None or _simple(name).isdigit():
        return ()
    words = (re.sub(r"node|vertex|name|id", "", word.lower()) for word in WORD.findall(name))
    return tuple(filter(None, words))


def _simple(name: str | None) -> str:
    """Lower-case letters and digits only: ``Node ID`` -> ``nodeid``."""
    return re.sub(r"[\W_]", "", name or "").lower()
