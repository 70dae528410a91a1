"""Which column of a table is which: picked by the caller, or found by its name or position.

Read `edge_roles` and `seed_roles` first: they decide which column holds sources, targets, weights, nodes or labels. The
usual names of columns follow. Where two answers are equally likely, an error asks the caller to choose.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from isotherm.errors import Option, first_few
from isotherm.files import FileError
from isotherm.io.errors import UnclearError, shorten
from isotherm.io.file_layout import Column, Pick, Values
from isotherm.io.number_styles import POINT

Names: TypeAlias = Sequence[str | None]
Columns: TypeAlias = Sequence[Sequence[Any]]  # the first values of each column

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
OFTEN_LABELS = (
    *("verdict", "decision", "outcome", "diagnosis", "target", "group", "community", "cluster", "truth"),
    *("type", "kind", "section", "topic", "subject"),
)
PEOPLE = ("reviewer", "analyst", "investigator", "annotator", "checker", "agent", "author", "owner", "by", "user")
NOTES = ("comment", "comments", "note", "notes", "remark", "remarks", "reason")
FLAGS = ("fraud", "fraudulent", "illicit", "suspicious", "spam", "bot", "flag", "status", "risk")
CLEAR_LABELS = tuple(name for name in LABELS if len(name) > 1)
ANSWERS = (*CLEAR_LABELS, "target")  # names of columns of a table of numbers that may hold the answer
SHEET = ("guess", "confidence", "value")  # what `isotherm suggest` adds to the columns of node and label
IDS = frozenset({"id", "ids", "index", "key", "code", "zip", "step"})
NUMBERINGS = frozenset({"no", "nr", "number", "nummer", "row"})
TIMES = frozenset({"time", "timestamp", "ts", "unixts", "date", "datetime", "day", "month", "year", "hour", "when"})
TIMES |= {"since", "until"}
INDEX = re.compile(r"|unnamed:? ?\d+|__index_level_\d+__|index", re.IGNORECASE)
NO_ID = re.compile(  # a date, a time or a fraction
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?|\d{1,2}:\d\d(:\d\d.*)?|[+-]?\d[\d.]*,\d+|[+-]?[\d,]*\.\d+"
)
WHOLE = re.compile(r"\d+\.0+")  # an id that was written as a fraction
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
    """The columns that may hold nodes; only one if its name is clearly better than the others.

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
    """The free column that has one of these names; an earlier name wins over a later one."""
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
    """Whether pandas or R give this name to a column of row numbers: an empty text, or a name such as Unnamed: 0.

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


def is_numbering_name(name: str) -> bool:
    """Whether integers under this name number the rows, if all are different.

    >>> is_numbering_name("customer_no"), is_numbering_name("RowId"), is_numbering_name("age")
    (True, True, False)
    """
    return not (IDS | NUMBERINGS).isdisjoint(word.lower() for word in WORD.findall(name)[-1:])


def is_time(name: str) -> bool:
    """Whether this names a column of times."""
    return not TIMES.isdisjoint(word.lower() for word in WORD.findall(name))


def _ranked_pairs(columns: list[tuple[str, ...]]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Columns of source and target with the rank of the pair; the lowest is the clearest.

    A bare pair such as from and to has rank 0, one with shared words such as from_bank and to_bank has 1, and the same
    with single letters have 2 and 3.
    """
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


Roles: TypeAlias = dict[str, Column | None]

CLEAR_EDGES, CLEAR_SEEDS = 3, 2  # in a wider table without usual names, the first two columns may be anything
MOSTLY = 0.9  # share of different values in a column of ids; a node may have been looked at twice
MOST_LABELS = 50  # classes in a column that is taken for labels by its values


def edge_roles(
    path: str,
    names: Names,
    picks: Mapping[str, Any],
    values: Sequence[Values] = (),
    sample: Callable[[], Columns] = tuple,
) -> Roles:
    """The columns of source, target and weight, and that of kinds of edges if it is picked.

    Columns that the caller picks are taken. Otherwise source and target are a pair of names such as source and target
    or from and to. If there is no such pair, they are the only two columns that have ids in common among their first
    values, the ``sample``. Else they are the first two free columns, but not in a wide table with names, which is
    refused. Row numbers, dates and fractions are skipped. The weight is a column named weight, w, value or capacity;
    in a table without names it is the column after the ends if that is numeric.

    Examples
    --------
    >>> roles = edge_roles("edges.csv", ["time", "from", "to", "w"], {})
    >>> [str(column) for column in roles.values()]
    ['col 2 (from)', 'col 3 (to)', 'col 4 (w)']
    """
    table = _Table(path, names, picks, values)
    source, target, kind = (table.picked(role) for role in ("source", "target", "edge_kind"))
    pick, taken, picked = picks.get("weight"), {source, target, kind}, source is not None and target is not None
    if pick is not None:
        weight = None if pick is False else table.picked("weight")
    else:
        weight = None if table.bare else named(names, WEIGHTS, taken)
    if source is None or target is None:
        known, taken, pairs = {"source": source, "target": target}, {weight, kind}, _pairs(names, source, target)
        if pairs or len(names) < 3:
            source, target = table.pair(known, taken, pairs)
        elif table.bare:
            columns = sample()
            avoid = [place for place in _no_ids(columns) if not all(map(WHOLE.fullmatch, columns[place]))]
            source, target = table.pair(known, taken, pairs, avoid=avoid)
        else:
            source, target = table.pair_by_values(known, taken, sample())
    if pick is None and table.bare:
        behind = 2 if picked else max(source, target, 1) + 1
        free = behind < len(values) and behind not in {source, target, kind}
        weight = behind if free and values[behind].numeric else None
    found = {"source": source, "target": target, "weight": weight}
    return table.distinct(found if kind is None else found | {"edge_kind": kind})


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


def guessed_roles(
    path: str, names: Names, picks: Mapping[str, Any], columns: Columns
) -> tuple[list[int], int, FileError]:
    """The columns that may hold nodes, and the one of labels, by the values of all columns.

    Ids are all different, and labels are few. Of several columns with few values, those of people and notes are left
    out, and so are those with many gaps. What is not clear is asked, as in `seed_roles`; the question is returned too,
    for the case that several columns may hold nodes.

    Examples
    --------
    >>> accounts, people, found = ["a", "b", "c", "d"], ["Jo", "Jo", "Al", "Al"], ["bad", "fine", "fine", "bad"]
    >>> guessed_roles("seeds.csv", ["konto", "reviewer", "ergebnis"], {}, [accounts, people, found])[:2]
    ([0], 2)
    """
    table = _Table(path, names, picks, ())
    node, label = table.picked("node"), table.picked("label")
    taken = {*(table.picked(role) for role in ("seed_weight", "probability")), node, label, *sheet_places(names)}
    label = label_place(names, taken) if label is None else label
    free = [place for place in range(len(names)) if place not in taken and place != label]
    nodes = [place for place in free if _are_ids(columns[place])] if node is None else [node]
    nodes = [place for place in node_places(names, {*taken, label}) if place in nodes] or nodes
    if label is None:
        few = [place for place in free if place not in nodes and _are_labels(columns[place])]
        likely = [place for place in few if not {*PEOPLE, *NOTES}.intersection(_words(names[place])[-1:])]
        full = [place for place in likely if 2 * sum(map(_is_gap, columns[place])) < len(columns[place])]
        best = next((some for some in (full, likely, few) if some), [])
    else:
        best = [label]
    first = next((place for place in (*nodes, *free) if place not in best[:1]), 0)
    second = next((place for place in (*best, *free) if place != first), first)
    unclear = table.unclear({"node": first, "label": second})
    if len(best) != 1 or not nodes:
        raise unclear
    return nodes, best[0], unclear


def _is_gap(value: Any) -> bool:
    return value is None or value == "" or value != value


def _without(some: Iterable[int], places: list[int], least: int) -> list[int]:
    """The places without some of them, if at least so many are left."""
    dropped = set(some)
    others = [place for place in places if place not in dropped]
    return others if len(others) >= least else places


def _no_ids(columns: Columns) -> set[int]:
    """The columns of dates, times, fractions or lists."""
    return {place for place, values in enumerate(columns) if _are_no_ids(values)}


def _are_no_ids(values: Sequence[Any]) -> bool:
    """Whether most values are dates, times, fractions or lists."""
    return 2 * sum(map(_is_no_id, values)) > len(values)


def _is_no_id(value: Any) -> bool:
    return NO_ID.fullmatch(value.strip()) is not None if isinstance(value, str) else not isinstance(value, int)


def _is_plain_number(value: Any) -> bool:
    return not isinstance(value, str) or POINT.fullmatch(value) is not None


def _are_ids(values: Sequence[Any]) -> bool:
    known = _known(values)
    return len(known) > len(values) / 2 and len(set(known)) > MOSTLY * len(known)


def _are_labels(values: Sequence[Any]) -> bool:
    known = _known(values)
    return 1 < len(set(known)) <= min(MOST_LABELS, max(2, len(known) / 2))


def _known(values: Sequence[Any]) -> list[Any]:
    """The values without gaps; none if most can be neither ids nor labels."""
    known = [value for value in values if not _is_gap(value)]
    return [] if _are_no_ids(known) else known


def picked_place(path: str, names: Names, pick: Pick, role: str) -> int | None:
    """The position, from 0, of a column that the caller picks by name or number; None if there is no pick."""
    return _Table(path, names, {role: pick}, ()).picked(role)


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
            message = "{path} has no column {pick} for {role}: it has {count}, numbered from 1"
            raise FileError(message, path=self.path, pick=pick, role=Option(role), count=self._counted())
        there = f"there are {self._shown()}" if not self.bare else "it has no header, so give a number from 1"
        message = "{path} has no column named {pick} for {role}: {there}"
        raise FileError(message, path=self.path, pick=shorten(pick), role=Option(role), there=there)

    def pair(
        self,
        known: dict[str, int | None],
        taken: set[int | None],
        candidates: list[tuple[int, int]],
        *,
        avoid: Collection[int] = (),
        guess: tuple[int, int] | None = None,
    ) -> tuple[int, int]:
        """The positions of two columns of which at most one is known: the only candidate, else the first free ones.

        Row numbers and columns to avoid are skipped, if enough others are left. If the answer is unclear, the error
        proposes the first candidate or else the guess.
        """
        if len(candidates) == 1:
            return candidates[0]
        given = [place for place in known.values() if place is not None]
        free = [place for place in range(len(self.names)) if place not in {*taken, *given}]
        free = _without(filter(self._is_index, free), free, 2 - len(given))
        rest = iter(_without(avoid, free, 2 - len(given)))
        first, second = (next(rest, None) if place is None else place for place in known.values())
        edges = "source" in known
        if first is None or second is None:
            what, needed = "an edge" if edges else "a seed", " and a ".join(known)
            sheet = " (only the first sheet is read)" if self.path.lower().endswith(".xlsx") else ""
            raise FileError(
                f"{self.path} has {self._counted()}{sheet}, but {what} needs a {needed}; add what is missing"
            )
        if candidates or (not self.bare and len(free) + len(given) > (CLEAR_EDGES if edges else CLEAR_SEEDS)):
            best = candidates[0] if candidates else guess or (first, second)
            numbers = [place for place in avoid if place < len(self.values) and self.values[place].numeric]
            raise self.unclear(dict(zip(known, best, strict=True)), vectors=2 * len(numbers) > len(self.names))
        return first, second

    def pair_by_values(self, known: dict[str, int | None], taken: set[int | None], columns: Columns) -> tuple[int, int]:
        """The same, where names tell nothing: the only two columns that have values in common, if these are texts."""
        times = {place for place, name in enumerate(self.names) if is_time(name or "")}
        avoid = times | _no_ids(columns)
        ids = {place: set(values) - {"", None} for place, values in enumerate(columns) if place not in avoid | taken}
        shared = {pair: len(ids[pair[0]] & ids[pair[1]]) for pair in combinations(ids, 2)}
        pairs = (
            sorted(filter(shared.get, shared), key=lambda pair: -shared[pair]) if set(known.values()) == {None} else []
        )
        texts = [pair for pair in pairs if not any(all(map(_is_plain_number, ids[place])) for place in pair)]
        return self.pair(known, taken, texts, avoid=avoid, guess=next(iter(pairs), None))

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

    def _by_number(self, role: str) -> bool:
        pick = self.picks.get(role)
        return pick is not None and pick is not True and pick not in self.names

    def unclear(self, guess: Mapping[str, int], *, vectors: bool = False) -> FileError:
        """The error that asks for columns, with a guess to copy; ``vectors`` says that the table may hold vectors."""
        for role, place in guess.items():
            if self.names[place] in self.repeated:
                return self._repeated(role, self.names[place])
        columns = {role: Option(role, self.names[place] or place + 1) for role, place in guess.items()}
        what = "which nodes an edge joins" if "source" in guess else "which are nodes and which are labels"
        other = "if each row is a vector, use --vectors or VectorClassifier; else " if vectors else ""
        message = (
            f"{{path}} has {{count}}, and their names do not say {what}: {{names}}; {other}choose two of them, as in "
        )
        slots = " ".join(f"{{{role}}}" for role in guess)
        return UnclearError(message + slots, path=self.path, count=self._counted(), names=self._shown(), **columns)

    def _repeated(self, role: str, name: str | None) -> FileError:
        where = " and ".join(str(place + 1) for place, other in enumerate(self.names) if other == name)
        message = "{path} has several columns named {name}, number {where}; give the number of one of them to {role}"
        return FileError(message, path=self.path, name=shorten(name), where=where, role=Option(role))

    def _counted(self) -> str:
        return "1 column" if len(self.names) == 1 else f"{len(self.names):,} columns"

    def _shown(self) -> str:
        return first_few([name for name in self.names if name is not None], text=shorten)
