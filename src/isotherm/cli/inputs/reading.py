"""The files that commands read: a graph, and labels of its nodes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from isotherm.cli.options import Fitting, LabelKinds, LabelReading, Reading, VectorOptions
from isotherm.cli.terminal.job import Bar, Job
from isotherm.cli.terminal.messages import UsageError, usage_errors
from isotherm.cli.terminal.process import hidden_panics
from isotherm.cli.terminal.text import shown

if TYPE_CHECKING:
    from isotherm.dirichlet_classifier import DirichletClassifier
    from isotherm.graphs import Graph
    from isotherm.io import GraphFile, Layout
    from isotherm.io.labelled import LabelOptions, MatchedLabels
    from isotherm.seeds import Seeds

__all__ = [
    "Answers",
    "Files",
    "labels_inside",
    "read_answers",
    "read_files",
    "read_seeded",
    "read_unseeded",
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
    stages: Job,
    *,
    reading: Reading,
    kinds: LabelKinds,
    ignore_missing: bool,
    table: VectorOptions = VectorOptions(),  # noqa: B008 - frozen
    threads: int | None = None,
    unread: bool = False,
) -> Files:
    """Read a graph, or a table whose rows become one, and labels of its nodes from one or more files.

    With ``unread``, the graph is a packed one that stays where it is, for workers to read.
    """
    names = [labels, *reading.seeds]
    with stages.stage("reading") as bar, hidden_panics():
        from isotherm.io.labelled import match_labels, read_labels
        from isotherm.seeds import as_seeds

        with usage_errors():
            options = _label_options(reading, kinds, None if table.wanted else table.graph_id)
            seeds_files = read_labels(names, options, others=[edges, *reading.edges])
        graph_file, vectors = (_unread(edges), None) if unread else _read_graph(edges, bar, reading, table, threads)
        with usage_errors():
            found = match_labels(seeds_files, graph_file, edges, drop_missing=ignore_missing)
        with usage_errors(culprit=_name(labels)):
            seeds = as_seeds(found.known, graph_file.graph, found.weights)
    graph = graph_file.graph
    layouts = {_name(edges): _described(graph_file.layout, graph.nodes[0]), **_layouts(found)}
    counted = graph.weighted and graph_file.layout.roles.get("weight", ...) is None
    return Files(graph, found.known, seeds, layouts, found.files[0].layout, vectors, counted)


def read_unseeded(edges: str, stages: Job, fitting: Fitting) -> "tuple[Graph, str]":
    """Read a graph, or a table whose rows become one, without any label; and how it is laid out."""
    with stages.stage("reading") as bar, hidden_panics():
        read, _ = _read_graph(edges, bar, fitting.reading, fitting.table, fitting.solving.threads)
    return read.graph, f"{_name(edges)}: {_described(read.layout, read.graph.nodes[0])}"


def _read_graph(
    edges: str, bar: Bar, reading: Reading, table: VectorOptions, threads: int | None
) -> "tuple[GraphFile, Any]":
    """A graph; or a table, and the graph of its nearest rows."""
    from isotherm.io import read_graph_file

    if table.wanted:
        return _read_table(edges, reading, table, threads)
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
    """The file of labels, by default the file of the graph, and how both are read.

    ``usage`` has the command and its name for that file, for messages.
    """
    if labels is not None:
        return labels, reading
    from isotherm.io import FORMATS
    from isotherm.io.edges import is_one_file
    from isotherm.io.formats import format_of

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
    stages: Job,
    *,
    model: str,
    reading: LabelReading,
    ignore_missing: bool,
) -> Answers:
    """Read labels for the graph of a classifier, in the type of its classes; ``model`` is its name for messages."""
    with stages.stage("reading"), hidden_panics(), usage_errors():
        from isotherm.io import GraphFile, Layout
        from isotherm.io.labelled import match_labels, read_labels

        options = _label_options(reading, LabelKinds(multi_label=clf.fitted_.outcome.several))
        read = read_labels(names, options, after=_layout_of(clf.seed_columns_))
        graph, classes = GraphFile(clf.graph_, Layout("npz")), clf.classes_.tolist()
        found = match_labels(read, graph, model, drop_missing=ignore_missing, classes=classes)
    return Answers(found.known, _layouts(found))


def _layout_of(seed_columns: "Mapping[str, str]") -> "Layout | None":
    """The layout of a file of seeds with these columns."""
    from isotherm.io import Column, Layout

    roles = {role: Column(place, name) for place, (role, name) in enumerate(seed_columns.items(), 1)}
    return Layout("csv", dict(roles)) if roles else None


def _label_options(reading: LabelReading, kinds: LabelKinds, id: str | None = None) -> "LabelOptions":  # noqa: A002
    from isotherm.io.labelled import LabelOptions

    return LabelOptions(**reading.for_labels(), **kinds.for_labels(), id=id)


def _layouts(found: "MatchedLabels") -> dict[str, str]:
    """How each file of labels is laid out, by its name."""
    return {
        read.name: _described(read.layout, ": ".join(map(str, next(iter(read.seeds.items()))))) for read in found.files
    }


def _read_table(path: str, reading: Reading, table: VectorOptions, threads: int | None) -> "tuple[GraphFile, Any]":
    """The graph of the nearest rows of a table, and the table."""
    from isotherm.graphs import Graph
    from isotherm.io import GraphFile
    from isotherm.io.vectors import read_vectors_file

    _check_no_edges(reading)
    with usage_errors(culprit=_name(path)):
        written = {name: getattr(reading, name) for name in ("delimiter", "header", "format", "encoding")}
        read = read_vectors_file(path, id=table.id, text=table.text, **written)
        graph = Graph.from_vectors(read.vectors, **table.for_graph(), ids=read.ids, n_threads=threads)
    return GraphFile(graph, read.layout), read.vectors


def _check_no_edges(reading: Reading) -> None:
    """Refuse options that are about edges, which a table of vectors does not have."""
    names = ("directed", "source", "target", "weight", "unweighted", "thousands", "edges", "max_graph_memory")
    given = next((name for name in names if getattr(reading, name) not in (None, False, ())), None)
    if given is not None or reading.directed is False:
        option = f"--{(given or 'undirected').replace('_', '-')}"
        raise UsageError(f"{option} is for files of edges, not for a table of vectors: leave it out")


def read_seeded(
    edges: str, labels: str | None, stages: Job, fitting: Fitting
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
    from isotherm.page.open_page import certain_seeds

    with usage_errors(culprit=_name(labels)):
        known = certain_seeds(files.seeds, files.graph)
    name = "seeds.csv" if labels == "-" else os.path.basename(labels)
    return files.graph, known, (name, files.seeds_layout)


def _described(layout: "Layout", first: Any) -> str:
    """The layout; without a header also what the first row holds, which shows a header that was not detected."""
    return f"{layout}, first={shown(first)}" if layout.header is False else str(layout)


def _name(path: str) -> str:
    return "standard input" if path == "-" else path
