"""The files that commands read: a graph, and labels of its nodes."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from isotherm.cli.options import Fitting, LabelKinds, LabelReading, Reading, TableOptions
from isotherm.cli.terminal.panics import hidden_panics
from isotherm.cli.terminal.stages import Bar, Stages
from isotherm.cli.terminal.tables import shown
from isotherm.cli.terminal.wording import LABELS, UsageError, usage_errors
from isotherm.errors import warn

if TYPE_CHECKING:
    from isotherm.dirichlet_classifier import DirichletClassifier
    from isotherm.graphs import Graph
    from isotherm.io import GraphFile, Layout, SeedsFile
    from isotherm.seeds import Seeds

__all__ = [
    "Answers",
    "Files",
    "check_apart",
    "labels_inside",
    "read_answers",
    "read_files",
    "read_seeded",
    "read_unseeded",
    "same_file",
]


class Files(NamedTuple):
    """A graph, labels of its nodes, the same as seeds, how each file is laid out, and the table, if there is one.

    ``counted`` says whether weights are only counts: no column has weights, but edges occur more than once.
    """

    graph: "Graph"
    known: dict[Any, Any]
    seeds: "Seeds"
    layouts: dict[str, str]
    seeds_layout: "Layout"
    vectors: Any = None
    counted: bool = False

    def __str__(self) -> str:
        return "\n".join(f"{name}: {layout}" for name, layout in self.layouts.items())


def read_files(
    edges: str,
    labels: str,
    stages: Stages,
    *,
    reading: Reading,
    kinds: LabelKinds,
    ignore_missing: bool,
    table: TableOptions = TableOptions(),  # noqa: B008 - frozen
    threads: int | None = None,
    unread: bool = False,
) -> Files:
    """Read a graph, or a table whose rows become one, and labels of its nodes from one or more files.

    With ``unread``, the graph is a packed one that stays where it is, for workers to read.
    """
    names = [labels, *reading.seeds]
    _check_one_standard_input([edges, *names])
    with stages.stage("reading") as bar, hidden_panics():
        from isotherm.seeds import as_seeds

        with usage_errors(LABELS):
            seeds_files = _read_labels(names, reading, kinds, None if table.wanted else table.graph_id)
        graph_file, vectors = (_unread(edges), None) if unread else _read_graph(edges, bar, reading, table, threads)
        layouts = {_name(edges): _described(graph_file.layout, graph_file.graph.nodes[0])}
        merged = _Merged(graph_file, _name(edges))
        for name, seeds_file in zip(map(_name, names), seeds_files, strict=True):
            merged.add(seeds_file, name, ignore_missing)
        with usage_errors(LABELS, _name(labels)):
            seeds = as_seeds(merged.known, graph_file.graph, merged.weights)
    assert merged.first_layout is not None
    graph, layouts = graph_file.graph, {**layouts, **merged.layouts}
    counted = graph.weighted and graph_file.layout.roles.get("weight", ...) is None
    return Files(graph, merged.known, seeds, layouts, merged.first_layout, vectors, counted)


def read_unseeded(edges: str, stages: Stages, fitting: Fitting) -> "tuple[Graph, str]":
    """Read a graph, or a table whose rows become one, without any label; and how it is laid out."""
    with stages.stage("reading") as bar, hidden_panics():
        read, _ = _read_graph(edges, bar, fitting.reading, fitting.table, fitting.solving.threads)
    return read.graph, f"{_name(edges)}: {_described(read.layout, read.graph.nodes[0])}"


def _read_graph(
    edges: str, bar: Bar, reading: Reading, table: TableOptions, threads: int | None
) -> "tuple[GraphFile, Any]":
    """A graph; or a table, and the graph of its nearest rows."""
    from isotherm.io import read_graph_file

    if table.wanted:
        return _read_table(edges, table, threads)
    with usage_errors():
        paths = [edges, *reading.edges] if reading.edges else edges
        return read_graph_file(paths, progress=bar.amount, id=table.graph_id, **reading.for_graph()), None


def _unread(edges: str) -> "GraphFile":
    from isotherm.graphs.packed import is_packed, open_packed
    from isotherm.io import GraphFile, Layout

    if not is_packed(edges):
        raise UsageError(f"{edges} is not a packed graph, which workers could read; make one with isotherm pack")
    with usage_errors():
        return GraphFile(open_packed(edges, unread=True), Layout("iso"))


def labels_inside(edges: str, labels: str | None, reading: Reading, *, usage: tuple[str, str]) -> tuple[str, Reading]:
    """The file of labels, which is that of the graph if none is given, and how both are read.

    ``usage`` has the command and its name for that file, for messages.
    """
    if labels is not None:
        return labels, reading
    from isotherm.io import FORMATS
    from isotherm.io.formats import format_of
    from isotherm.io.tables.parts import is_one_file

    with usage_errors():
        known = format_of(edges, reading.format).name if is_one_file(edges) else "csv"
    if FORMATS[known].labels is None or edges == "-":
        holders = ", ".join(name for name, kind in FORMATS.items() if kind.labels is not None)
        missing = "{1} is missing; see isotherm {0} --help".format(*usage)
        raise UsageError(f"{missing}, since {known} files hold no labels beside the graph, as {holders} do")
    return edges, replace(reading, labels_format=reading.labels_format or reading.format)


class Answers(NamedTuple):
    """Labels that were read for a classifier, and how their files are laid out."""

    known: dict[Any, Any]
    layouts: dict[str, str]


def read_answers(
    names: Sequence[str],
    clf: "DirichletClassifier",
    stages: Stages,
    *,
    model: str,
    reading: LabelReading,
    ignore_missing: bool,
) -> Answers:
    """Read labels for the graph of a classifier, in the type of its classes; ``model`` is its name for messages."""
    _check_one_standard_input(names)
    with stages.stage("reading"), hidden_panics():
        from isotherm.io import GraphFile, Layout

        kinds = LabelKinds(multi_label=clf.fitted_.outcome.several)
        with usage_errors(LABELS):
            read = _read_labels(names, reading, kinds, after=_layout_of(clf.seed_columns_))
        merged = _Merged(GraphFile(clf.graph_, Layout("npz")), model, clf.classes_.tolist())
        for name, seeds_file in zip(map(_name, names), read, strict=True):
            merged.add(seeds_file, name, ignore_missing)
    return Answers(merged.known, merged.layouts)


def _layout_of(seed_columns: "Mapping[str, str]") -> "Layout | None":
    """The layout of a file of seeds with these columns."""
    from isotherm.io import Column, Layout

    roles = {role: Column(place, name) for place, (role, name) in enumerate(seed_columns.items(), 1)}
    return Layout("csv", dict(roles)) if roles else None


def _check_one_standard_input(names: Sequence[str]) -> None:
    if names.count("-") > 1:
        raise UsageError("both files cannot be standard input: give the name of one of them")


def _read_labels(
    names: Sequence[str],
    reading: LabelReading,
    kinds: LabelKinds,
    id: str | None = None,  # noqa: A002
    after: "Layout | None" = None,
) -> "list[SeedsFile]":
    """The files of labels; columns of later ones are named as in the first, or found anew.

    Columns of the first are those of an earlier file, ``after``, unless they are given.
    """
    from isotherm.io import read_seeds_file

    earlier = after if (reading.node, reading.label) == (None, None) else None
    first = read_seeds_file(names[0], id=id, **reading.for_labels(), **kinds.for_labels(), after=earlier)
    more = {**reading.for_later_labels(), **kinds.for_labels()}
    return [first, *(read_seeds_file(name, **more, after=first.layout) for name in names[1:])]


class _Merged:
    """Labels from several files, under the ids of a graph: each node has what the last file says about it."""

    def __init__(self, graph_file: "GraphFile", edges: str, classes: Iterable[Any] = ()) -> None:
        self.graph_file, self.edges, self.classes = graph_file, edges, set(classes)
        self.known: dict[Any, Any] = {}
        self.weights: dict[Any, float | None] | None = None
        self.layouts: dict[str, str] = {}
        self.first_layout: Layout | None = None

    def add(self, seeds_file: "SeedsFile", name: str, ignore_missing: bool) -> None:
        """Take the labels of one more file, and their weights."""
        from isotherm.io import labels_like, match_seeds

        with usage_errors(LABELS, name):
            read = _after_header(seeds_file, self.graph_file, name)
            found = _matched(read, self.graph_file, name, self.edges, ignore_missing)
        found = labels_like(found, self.classes) if self.classes else found
        self.known |= found
        self.classes |= _classes(found.values())
        if read.weights is not None:
            earlier = {node: weight for node, weight in (self.weights or {}).items() if node not in found}
            self.weights = earlier | match_seeds(read.weights, self.graph_file.graph, missing="drop")
        self.first_layout = self.first_layout or read.layout
        self.layouts[name] = _described(read.layout, ": ".join(map(str, next(iter(read.seeds.items())))))


def _classes(labels: Iterable[Any]) -> set[Any]:
    """All labels that occur, alone, in sets or in distributions."""
    return {each for label in labels for each in (label if isinstance(label, set | dict) else [label])}


def _read_table(path: str, table: TableOptions, threads: int | None) -> "tuple[GraphFile, Any]":
    """The graph of the nearest rows of a table, and the table."""
    from isotherm.graphs import Graph
    from isotherm.io import GraphFile
    from isotherm.io.reading.vectors import read_vectors_file

    with usage_errors(culprit=_name(path)):
        read = read_vectors_file(path, id=table.id, text=table.text)
        graph = Graph.from_vectors(read.vectors, **table.for_graph(), ids=read.ids, n_threads=threads)
    return GraphFile(graph, read.layout), read.vectors


def read_seeded(
    edges: str, labels: str | None, stages: Stages, fitting: Fitting
) -> "tuple[Graph, dict[Any, Any], tuple[str, Layout] | None]":
    """Read a graph, one certain label for some nodes, and the name and the layout of their file, if there is one."""
    if labels is None:
        return read_unseeded(edges, stages, fitting)[0], {}, None
    files = read_files(
        edges,
        labels,
        stages,
        reading=fitting.reading,
        kinds=fitting.kinds,
        ignore_missing=fitting.ignore_missing_seeds,
        table=fitting.table,
        threads=fitting.solving.threads,
    )
    from isotherm.page.page_methods import certain_seeds

    with usage_errors(LABELS, _name(labels)):
        known = certain_seeds(files.seeds, files.graph)
    name = "seeds.csv" if labels == "-" else os.path.basename(labels)
    return files.graph, known, (name, files.seeds_layout)


def check_apart(target: str, sources: Iterable[str]) -> None:
    """Refuse to write to a file that is read."""
    if target != "-" and any(same_file(source, target) for source in sources):
        raise UsageError(f"{target} is also an input: give the output another name")


def same_file(one: str, other: str) -> bool:
    """Whether two names stand for one file, or both for standard input or output."""
    if "-" in (one, other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other) and not os.path.realpath(one).startswith("/dev/")


def _after_header(seeds_file: "SeedsFile", graph_file: "GraphFile", name: str) -> "SeedsFile":
    """The seeds without their first row, if only the graph shows that this is a header."""
    if seeds_file.without_first is None or not seeds_file.has_header(graph_file.graph):
        return seeds_file
    from isotherm.io.errors import shorten

    node, label = next(iter(seeds_file.seeds.items()))
    why = f"is read as a header, since {shorten(node)} is not in the graph"
    remedy = "confirm this with --labels-header, or set --no-labels-header"
    warn(f"{name}: the first row ({node}, {label}) {why}; {remedy}")
    return seeds_file.without_first()


def _matched(
    seeds_file: "SeedsFile", graph_file: "GraphFile", labels: str, edges: str, ignore_missing: bool
) -> dict[Any, Any]:
    """The seeds under the ids of the graph; those that are missing are an error, or a warning if they are ignored."""
    from isotherm.errors import ParameterError
    from isotherm.io import match_seeds

    seeds, graph = seeds_file.seeds, graph_file.graph
    _check_first_id(seeds_file, graph_file, labels, edges)
    known = match_seeds(seeds, graph, missing="drop")
    if seeds and not known:
        raise _none_match(seeds_file, graph_file, labels, edges)
    if len(known) < len(seeds) and ignore_missing:
        lost = f"{len(seeds) - len(known)} of {len(seeds)} labelled nodes"
        hint = _header_hint(seeds_file, graph_file)
        warn(f"{labels}: {lost} are not in the graph and are left out{hint}")
    elif len(known) < len(seeds):
        try:
            match_seeds(seeds, graph)
        except ParameterError as error:
            raise ParameterError("{error}{hint}", error=error, hint=_header_hint(seeds_file, graph_file)) from None
    return known


def _check_first_id(seeds_file: "SeedsFile", graph_file: "GraphFile", labels: str, edges: str) -> None:
    """Refuse seeds that are counted from another number than the nodes of the graph."""
    from isotherm.io import shifted_by

    graph, first_id = graph_file.graph, graph_file.layout.first_id
    shift = shifted_by(seeds_file.seeds, graph, first_id)
    if shift:
        odd, remedy = (0, "add 1 to") if shift == 1 else (graph.n_nodes, "subtract 1 from")
        why = f"but the {graph.n_nodes:,} nodes of {edges} are counted from {first_id} on"
        raise UsageError(f"{labels} has the node {odd}, {why}; {remedy} the ids in {labels}")


def _none_match(seeds_file: "SeedsFile", graph_file: "GraphFile", labels: str, edges: str) -> UsageError:
    """The error for seeds of which none is in the graph: which columns were read, and what is in them."""
    from isotherm.io import FORMATS
    from isotherm.io.errors import shorten

    seeds, ids, roles = seeds_file.seeds, graph_file.graph.nodes[:1].tolist(), graph_file.layout.roles
    number = "the only seed is not" if len(seeds) == 1 else f"none of the {len(seeds):,} seeds is"
    ours = f"{seeds_file.layout.roles.get('node', 'it')} has ids such as {shorten(next(iter(seeds)))}"
    theirs, options = f"{edges} has", "--node"
    if "source" in roles:
        theirs, options = f"{roles['source']} and {roles['target']} of {edges} have", "--node, --source and --target"
    if FORMATS[graph_file.layout.format].attributes:
        options += f", or the attribute of nodes in {edges} that has their ids with --id"
    found = f"{ours}, but {theirs} ids such as {', '.join(map(shorten, ids))}"
    hint = _header_hint(seeds_file, graph_file)
    return UsageError(f"{labels}: {number} in the graph: {found}; choose other columns with {options}{hint}")


def _header_hint(seeds_file: "SeedsFile", graph_file: "GraphFile") -> str:
    """What to try if seeds are missing because a header was taken for data, or data for a header."""
    from isotherm.io import match_seeds

    def lost(node: Any) -> bool:
        return node in seeds_file.seeds and not match_seeds({node: 0}, graph_file.graph, missing="drop")

    names = [column.name for column in graph_file.layout.roles.values() if column]
    if graph_file.layout.header and any(map(lost, names)):
        return "; or read the first row of the edges as an edge, with --no-header"
    if seeds_file.layout.header is False and lost(next(iter(seeds_file.seeds))):
        return "; or read the first row of the labels as a header, with --labels-header"
    return ""


def _described(layout: "Layout", first: Any) -> str:
    """The layout; without a header also what the first row holds, which shows a header that was not detected."""
    return f"{layout}, first={shown(first)}" if layout.header is False else str(layout)


def _name(path: str) -> str:
    return "standard input" if path == "-" else path
