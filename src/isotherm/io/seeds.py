"""Files to seeds: known labels, by node; and how they are matched with the nodes of a graph."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from isotherm.errors import Option, ParameterError, Worded, first_few, warn
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.graphs.packed import PackedGraph
from isotherm.io.batches import Batch, Table, checked_ids, missing_id
from isotherm.io.columns import guessed_roles, label_place, node_places, picked_place, seed_roles
from isotherm.io.errors import FileWarning, UnclearError, shorten
from isotherm.io.file_layout import Column, LabelOptions, Layout, Options, Pick
from isotherm.io.formats import FORMATS, TEXTUAL, format_of, imported
from isotherm.io.memory import Budget
from isotherm.io.sniffing import is_number
from isotherm.io.streams import Input
from isotherm.io.tables import open_table
from isotherm.io.text import blocks
from isotherm.seeds.encoding import is_missing_word, is_none, normal_label

TABLES = (*TEXTUAL, "parquet", "arrow", "jsonl", "xlsx")
ROLES = ("node", "label", "seed_weight", "probability")
ROW = 300  # bytes of a row in memory
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
MEMBER = 200  # bytes of a member in memory

LOGGER = logging.getLogger("isotherm")


class SeedsFile(NamedTuple):
    """Seeds that were read."""

    name: str  # the name of the file, for messages
    seeds: dict[Any, Any]  # as `read_seeds` gives them
    layout: Layout  # how the file is laid out
    weights: dict[Any, float | None] | None = None  # the weights of the seeds, if they were asked for
    without_first: "Callable[[], SeedsFile] | None" = None  # gives the same without the first row
    by_others: "tuple[Callable[[], SeedsFile], ...]" = ()  # the same with the nodes of other columns that may hold them
    unclear: FileError | None = None  # which column holds the nodes, if no graph tells
    swapped: "Callable[[], SeedsFile] | None" = None  # the same with nodes and labels exchanged, if no name tells

    def repaired(self, graph: Graph, *, header: str = "header") -> "SeedsFile":
        """The same without its first row, with a warning, if only the graph shows that this is a header.

        It must be one if its node is not in the graph, though others are. ``header`` is the caller's parameter.
        """
        if self.by_others:
            read = [self]
            for other in self.by_others:
                with suppress(FileError):  # a column with gaps, or with a node of two labels
                    read.append(other())
            counts = [len(match_seeds(each.seeds, graph, missing="drop")) for each in read]
            if counts.count(max(counts)) > 1 and self.unclear is not None:
                raise self.unclear
            return read[counts.index(max(counts))]
        if self.swapped is not None and not match_seeds(dict.fromkeys(self.seeds, 0), graph, missing="drop"):
            turned = self.swapped()  # raises the error of a node with two labels, if that was the reason for this order
            if match_seeds(dict.fromkeys(turned.seeds, 0), graph, missing="drop"):
                return turned.repaired(graph, header=header)
        if self.without_first is None:
            return self
        (node, label), *others = self.seeds.items()
        if match_seeds({node: 0}, graph, missing="drop") or not match_seeds(dict(others), graph, missing="drop"):
            return self
        why = f"the first row ({node}, {label}) is read as a header, since {shorten(node)} is not in the graph"
        message = "{path}: {why}; confirm this with {header}, or set {no_header}"
        choice = {"header": Option(header, True), "no_header": Option(header, False)}
        warn(FileWarning(message, path=self.name, why=why, **choice))
        return self.without_first()


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


def read_seeds(
    path: str | os.PathLike[str],
    *,
    node: Pick = None,
    label: Pick = None,
    probability: Pick = None,
    several: bool = False,
    unknown: str | Sequence[str] = (),
    normalise_labels: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    encoding: str | None = None,
    like: Graph | None = None,
) -> dict[Any, Any]:
    r"""Read known labels from a table: CSV, TSV, text, Parquet, Arrow or JSON lines; or from a file of a graph.

    Columns except node and label are ignored, and so are rows whose label is empty. Labels such as nan, NA, null,
    unknown and ? count as empty, with a warning. In text all nodes and labels are text; where all labels are integers,
    ``-1`` is an empty one, with a warning. In GraphML and GEXF, ``label`` is the attribute of nodes that has the
    labels; in an npz file, the array.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input.
    node, label
        Columns, by name or by number from 1; by default found by names such as node and label, or by their values, or
        the first two.
    probability
        The column of probabilities, in a table with a row for each label that a node may have.
    several
        Whether a node may have several labels, each in its own row.
    unknown
        Further words that stand for a missing label, as a list or between commas ("unsure,pending"), in any case.
    normalise_labels
        Whether labels that differ by case or blanks are one: they are written in lower case.
    delimiter, header, format, encoding
        As in `read_graph`.
    like
        The graph of these nodes. Ids that are text in the file and integers in the graph, or the other way round,
        become the ids of the graph, see `match_seeds`.

    Returns
    -------
    dict
        ``{node: label}``, in the order of the file; with ``several`` ``{node: {label, ...}}``, and with probabilities
        ``{node: {label: probability}}``.

    Raises
    ------
    FileError
        If the file cannot be read, or if a node has two labels although ``several`` is not set.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> seeds = Path(tempfile.mkdtemp()) / "seeds.csv"
    >>> _ = seeds.write_text("node,label\nann,left\neve,right\nbob,\n")
    >>> read_seeds(seeds)
    {'ann': 'left', 'eve': 'right'}
    """
    options = LabelOptions(
        *(node, label, probability, None, several, unknown, normalise_labels, delimiter, header, format, encoding)
    )
    read = read_seeds_file(path, options)
    LOGGER.info("%s: %s; %d seeds", path, read.layout, len(read.seeds))
    if like is None:
        if read.unclear is not None:
            raise read.unclear
        return read.seeds
    read = read.repaired(like)
    return match_seeds(read.seeds, like, missing="keep")


def read_seeds_file(
    path: str | os.PathLike[str],
    options: LabelOptions = LabelOptions(),  # noqa: B008 - frozen
    *,
    after: Layout | None = None,
) -> SeedsFile:
    """Read seeds as `read_seeds` does, and say which columns, header and delimiter were found.

    ``after`` is the layout of an earlier file of seeds: columns of the same names are taken here too, if this file has
    them.
    """
    path = os.fspath(path)
    if not os.path.isdir(path):
        Input(path).check()
    known = format_of(path, options.format)
    file = Input(path, known.compression, None, options.encoding)
    if FORMATS[known.name].labels is not None:
        return _attribute_of_nodes(file, known.name, options)
    if known.name == "communities":
        return SeedsFile(file.name, read_communities(file, several=options.several), Layout(known.name))
    if known.name not in TABLES:
        raise FileError(f"{file.name}: seeds are read from tables ({', '.join(TABLES)}), not from {known.name}")
    picks: dict[str, Pick] = {name: getattr(options, name) for name in ROLES}
    wanted = tuple(picks.values()) if after is None else tuple(after.names.values())
    delimiter, header = options.delimiter, options.header
    table = open_table(file, known.name, rows="seeds", delimiter=delimiter, header=header, wanted=wanted)
    picks = picks if after is None else _picks_after(after, table, picks)

    def collected(rows: list[Row], layout: Layout) -> SeedsFile:
        rows = without_minus_one(file.name, rows)
        meant = _meant_labels(file.name, [row.label for row in rows], options)
        rows = [row._replace(label=meant[row.label]) for row in rows if row.label in meant]
        weights = None if options.seed_weight is None else seed_weights(file.name, rows)
        seeds: dict[Any, Any]
        if "probability" in layout.roles:
            seeds = distributions(file.name, rows)
        else:
            seeds = label_sets(rows) if options.several else single_labels(file.name, rows)
        return SeedsFile(file.name, seeds, layout, weights)

    try:
        layout = table.layout(known.name, seed_roles(file.name, table.names, picks, table.values))
    except UnclearError:
        return _by_values(file.name, known.name, table, picks, collected)
    rows = read_rows(file.name, table.batches(layout.places))

    def finished(rows: list[Row], layout: Layout) -> SeedsFile:
        read = collected(rows, layout)
        if header is None and layout.header is False and _may_be_header(rows):
            named = _named(layout, rows[0])
            return read._replace(without_first=lambda: collected(rows[1:], named))
        return read

    certain = options.several or any(pick is not None for pick in picks.values()) or _names_tell(table.names)
    if certain or not all(type(row.label) in (str, int) for row in rows):
        return finished(rows, layout)
    other = [row._replace(node=row.label, label=row.node) for row in rows], _swapped(layout)
    if _contradict(other[0]):
        return finished(rows, layout)
    if _contradict(rows) and 2 * len({row.node for row in rows[1:]}) <= len(rows):  # the first may be a header
        return finished(*other)._replace(swapped=lambda: finished(rows, layout))
    return finished(rows, layout)._replace(swapped=lambda: finished(*other))


def _names_tell(names: Sequence[str | None]) -> bool:
    """Whether a column has a usual name of nodes or labels."""
    return label_place(names, ()) is not None or bool(node_places(names, ()))


def _contradict(rows: list[Row]) -> bool:
    """Whether a node has two labels."""
    labels: dict[Any, Any] = {}
    return any(labels.setdefault(row.node, row.label) != row.label for row in rows)


def _by_values(
    path: str,
    format: str,  # noqa: A002 - as in read_graph
    table: Table,
    picks: dict[str, Pick],
    collected: "Callable[[list[Row], Layout], SeedsFile]",
) -> SeedsFile:
    """Seeds of a table whose columns are found by their values; the graph decides between several columns of nodes."""
    batches = list(table.batches({str(place): place for place in range(len(table.names))}))
    columns = [
        [value for batch in batches for value in batch.frame[:, place].to_list()] for place in range(len(table.names))
    ]
    nodes, label, unclear = guessed_roles(path, table.names, picks, columns)
    others = {role: picked_place(path, table.names, picks.get(role), role) for role in ("seed_weight", "probability")}

    def read(node: int) -> SeedsFile:
        places = {"node": node, "label": label, **{role: place for role, place in others.items() if place is not None}}
        roles = {role: Column(place + 1, table.names[place]) for role, place in places.items()}
        chosen = (
            Batch(batch.frame.select(batch.frame[:, place].alias(role) for role, place in places.items()), batch.place)
            for batch in batches
        )
        return collected(read_rows(path, chosen), table.layout(format, dict(roles)))

    others_too = tuple(partial(read, node) for node in nodes[1:])
    return read(nodes[0])._replace(by_others=others_too, unclear=unclear if others_too else None)


def _meant_labels(path: str, labels: list[Any], options: LabelOptions) -> dict[Any, Any]:
    """What each label means; those for a missing one are left out, with a warning unless the caller listed them."""
    unknown = options.unknown
    words = {normal_label(word) for word in (unknown.split(",") if isinstance(unknown, str) else unknown)}
    labels = [label for label in labels if normal_label(label) not in words]
    missing = [label for label in labels if isinstance(label, str) and is_missing_word(label)]
    if missing:
        found = sorted(set(missing))
        labels = [label for label in labels if label not in found]
        names, count = ", ".join(map(shorten, found)), f"{len(missing):,} row{'s' * (len(missing) > 1)}"
        message = "{path}: {count} with the label {names} left out, because that means a missing label; {remedy}"
        remedy = Worded(
            "silence this with {unknown}, or rename the label if it is a class",
            unknown=Option("unknown", ",".join(found)),
        )
        warn(FileWarning(message, path=path, count=count, names=names, remedy=remedy))
    if not labels:
        raise FileError(f"{path} has no seeds: every label is empty or means a missing one; fill some in")
    return {label: normal_label(label) if options.normalise_labels else label for label in labels}


def _attribute_of_nodes(file: Input, name: str, options: LabelOptions) -> SeedsFile:
    """Labels in a file of a graph."""
    reader = FORMATS[name].labels
    assert reader is not None
    found, attribute = imported(reader)(file, Options(id=options.id), options.label)
    meant = _meant_labels(file.name, list(found.values()), options)
    seeds = {node: meant[label] for node, label in found.items() if label in meant}
    return SeedsFile(file.name, seeds, Layout(name, attribute=attribute))


def _picks_after(earlier: Layout, table: Table, picks: dict[str, Pick]) -> dict[str, Pick]:
    """The columns of a later file, by the names in an earlier one; by number if neither has names; else to be found."""
    names: dict[str, Pick] = {role: name for role, name in earlier.names.items() if name in table.names}
    if {"node", "label"} <= names.keys():
        return names
    bare = all(name is None for name in table.names)
    return picks if bare and not earlier.names else {}


def labels_like(labels: Mapping[Any, Any], classes: Iterable[Any]) -> dict[Any, Any]:
    """Labels, by node, in the type of classes that are known: a text file has ``"1"`` where Parquet has ``1``.

    Examples
    --------
    >>> labels_like({"ann": "1", "bob": "7"}, [0, 1]), labels_like({"ann": 1}, ["0", "1"])
    ({'ann': 1, 'bob': 7}, {'ann': '1'})
    >>> labels_like({"ann": {"true"}}, [False, True])
    {'ann': {True}}
    """
    known = list(classes)
    texts = {str(label).lower() if isinstance(label, bool) else str(label): label for label in known}
    whole = bool(known) and not any(isinstance(label, bool | str) for label in known)

    def alike(label: Any) -> Any:
        if isinstance(label, set):
            return set(map(alike, label))
        if isinstance(label, dict):
            return {alike(each): share for each, share in label.items()}
        text = str(label).lower() if isinstance(label, bool) else str(label)
        number = int(text) if whole and INTEGER.fullmatch(text) else label
        return texts.get(text, str(label) if any(isinstance(each, str) for each in known) else number)

    return {node: alike(label) for node, label in labels.items()}


def _may_be_header(rows: list[Row]) -> bool:
    """Whether the first row has two texts, no numbers, which occur nowhere else."""
    first, *others = rows
    texts = (first.node, first.label)
    return (
        len(others) > 1
        and first.number == 0
        and not any(map(is_number, texts))
        and not any(row.node in texts or row.label in texts for row in others)
    )


def _swapped(layout: Layout) -> Layout:
    """The layout with the columns of node and label exchanged."""
    roles = layout.roles
    return replace(layout, roles=roles | {"node": roles["label"], "label": roles["node"]})


def _named(layout: Layout, header: Row) -> Layout:
    """The layout if this row is a header."""
    names = {"node": header.node, "label": header.label}
    roles = {role: column and column._replace(name=names.get(role)) for role, column in layout.roles.items()}
    return replace(layout, header=True, roles=roles)


def shifted_by(seeds: Iterable[Any], graph: Graph, first_id: int | None) -> int:
    """What to add to the ids of seeds that were counted from 0 for a graph that counts from 1, or the other way round.

    Examples
    --------
    >>> graph = Graph.from_edges([1, 2], [2, 3])  # as from a file whose ids count from 1
    >>> shifted_by(["0", "2"], graph, first_id=1), shifted_by(["1", "3"], graph, first_id=1)
    (1, 0)
    """
    ids = [int(text) if text.isdecimal() else -1 for text in map(str, seeds)]
    if first_id is None or not ids or min(ids) < 0:
        return 0
    if first_id == 1 and min(ids) == 0 and max(ids) < graph.n_nodes:
        return 1
    return -1 if first_id == 0 and min(ids) > 0 and max(ids) == graph.n_nodes else 0


def match_seeds(seeds: Mapping[Any, Any], graph: Graph, *, missing: str = "raise") -> dict[Any, Any]:
    """Seeds under the ids that their nodes have in a graph.

    A seed that is not in the graph is matched by its text if exactly one node has that text: ``"7"`` matches ``7``,
    and ``"007"`` does not.

    Examples
    --------
    >>> match_seeds({"1": "left", "3": "right"}, Graph.from_edges([1, 2], [2, 3]))
    {1: 'left', 3: 'right'}
    """
    if missing not in ("raise", "drop", "keep"):
        raise ValueError(f"missing={missing!r}, but it must be 'raise', 'drop' or 'keep'")
    matched: dict[Any, Any] = {}
    lost = []
    for (node, label), found in zip(seeds.items(), _found(list(seeds), graph), strict=True):
        there = node if found is None and missing == "keep" else found
        if there is None:
            lost.append(node)
        elif matched.setdefault(there, label) != label:
            raise ValueError(f"the node {there!r} has two labels: {matched[there]!r} and {label!r}")
    if lost and missing == "raise":
        raise _not_in_the_graph(lost, graph, some_match=bool(matched))
    return matched


def _not_in_the_graph(lost: list[Any], graph: Graph, *, some_match: bool) -> ParameterError:
    """The error that lists some of the lost seeds; if no seed matches, also what the nodes look like."""
    number, them = ("1 seed is", "it") if len(lost) == 1 else (f"{len(lost)} seeds are", "them")
    nodes = f" ({graph.n_nodes} nodes, such as {', '.join(map(shorten, graph.nodes[:3].tolist()))})"
    return ParameterError(
        f"{number} not in the graph{{nodes}}: {{lost}}; correct {them}, or leave {them} out with {{missing}}",
        nodes="" if some_match else nodes,
        lost=first_few(lost, 5, text=shorten),
        missing=Option("missing", "drop"),
    )


def _found(seeds: list[Any], graph: Graph) -> list[Any]:
    """The node that each seed stands for, None if there is none."""
    if isinstance(graph, PackedGraph):
        return graph.matches(seeds)
    nodes = graph.nodes.tolist()
    known = set(seeds).intersection(nodes)  # a set of the seeds, which are few, not of all nodes
    texts = _texts({str(node) for node in seeds if node not in known}, nodes)
    return [node if node in known else texts.get(str(node)) for node in seeds]


def _texts(wanted: set[str], nodes: list[Any]) -> dict[str, Any]:
    """Nodes by these texts, except texts that several nodes share."""
    texts: dict[str, Any] = {}
    shared = set()
    for node in nodes if wanted else ():
        text = str(node)
        if text in wanted and texts.setdefault(text, node) is not node:
            shared.add(text)
    return {text: node for text, node in texts.items() if text not in shared}


def read_rows(path: str, batches: Iterator[Batch]) -> list[Row]:
    """All rows with a label; there must be at least one."""
    budget, rows = Budget(path), list[Row]()
    for batch in batches:
        budget.check_bytes(ROW * (len(rows) + batch.frame.height), "the table of seeds")
        rows += _rows(path, batch)
    labelled = [
        row for row in rows if not (is_none(row.label) or (isinstance(row.label, str) and not row.label.strip()))
    ]
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


def read_communities(file: Input, *, several: bool) -> dict[Any, Any]:
    """The number of the line that each node is on, from 1, as text; with ``several`` the set of them."""
    found: dict[str, set[str]] = {}
    budget, members, number = Budget(file.name), 0, 0
    for block in blocks(file.name, file.text(), 1, None):
        for line in block.text.decode(errors="replace").split("\n"):
            nodes = line.split()
            if not nodes or line.startswith("#"):
                continue
            number, members = number + 1, members + len(nodes)
            budget.check_bytes(MEMBER * members, "the communities")
            for node in nodes:
                found.setdefault(node, set()).add(str(number))
    if not found:
        raise FileError(f"{file.name} has no seeds: there are no rows; fill some in")
    if several:
        return found
    for node, numbers in found.items():
        if len(numbers) > 1:
            message = "{path}: the node {node} is in several communities; read them with {several}"
            raise FileError(message, path=file.name, node=shorten(node), several=Option("several", True))
    return {node: next(iter(numbers)) for node, numbers in found.items()}
