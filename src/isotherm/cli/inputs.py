"""From the arguments of a command to a graph with its labels, and to a fitted classifier.

`read_files` reads a graph and its labels. `fit_files` fits a classifier on them, `estimate_files` only estimates time
and memory of that, and `classify_on_workers` leaves all work to a cluster. `Source` is for commands that take either
two such files or a classifier that ``isotherm classify --save`` wrote. Options that a command would not use are refused
here.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import is_zipfile

from isotherm.cli.options import (
    EdgeReading,
    FeatureOptions,
    Fitting,
    LabelKinds,
    LabelReading,
    Reading,
    Results,
    Solving,
    changed_options,
    leave_out,
    names_of,
    numbers_by_label,
)
from isotherm.cli.terminal.job import Bar, Job
from isotherm.cli.terminal.messages import OUTPUT, UsageError, option_name, say, usage_errors
from isotherm.cli.terminal.process import exit_cleanly, hidden_panics
from isotherm.tables import shown

if TYPE_CHECKING:
    from isotherm.graph_classifier import GraphClassifier
    from isotherm.graphs import Graph
    from isotherm.io import GraphFile, Layout
    from isotherm.io.file_layout import LabelOptions
    from isotherm.io.labelled import MatchedLabels
    from isotherm.io.node_rows import NodeFeatures
    from isotherm.io.vectors import FeatureFile
    from isotherm.page.contents import Contents
    from isotherm.seeds import Seeds

# Options that work where workers read a packed graph and write a folder by themselves.
ON_WORKERS = {
    *("output", "force", "probabilities", "temperatures", "only_unlabelled", "min_confidence"),
    *("rule", "class_weight", "tol", "max_iter", "engine", "scheduler", "no_confidence", "threads"),
    *("ignore_missing_seeds", *names_of(LabelReading, LabelKinds)),
}
EDGES_ONLY = {  # options for files of edges, refused for a table of vectors
    *("directed", "undirected", "source", "target", "weight", "unweighted"),
    *("more_edges", "max_graph_memory", "neighbors_key", "edge_kind", "side", "nodes"),
}


class FileRead(NamedTuple):
    """How a file was read, and what its first row holds."""

    layout: "Layout"
    first: Any = None

    @property
    def columns(self) -> dict[str, str | int | None]:
        """The column of each role: its name, or its number from 1; None if there is none."""
        return {role: column and (column.name or column.number) for role, column in self.layout.roles.items()}

    def __str__(self) -> str:  # without a header, the first row shows a header that was not detected
        return f"{self.layout}, first={shown(self.first)}" if self.layout.header is False else str(self.layout)


class Files(NamedTuple):
    """Graph and seeds as they were read."""

    graph: "Graph"  # or the graph of the nearest rows of a table
    known: dict[Any, Any]  # labels of its nodes
    seeds: "Seeds"  # the same
    layouts: "dict[str, FileRead]"  # by the name of the file
    seeds_layout: "Layout"  # layout of the first file of seeds
    vectors: Any = None  # the table, if there is one; or the components of cells
    counted: bool = False  # whether weights are only counts: no column has weights, but edges occur more than once
    features: "FeatureFile | None" = None  # the table of features, if there is one

    def __str__(self) -> str:
        return "\n".join(f"{name}: {layout}" for name, layout in self.layouts.items())


def read_files(
    edges: str, labels: str, fitting: Fitting, job: Job, *, unread: bool = False, rules: Sequence[str] = ()
) -> Files:
    """Read a graph, or a table whose rows become nodes, and labels of its nodes from one or more files.

    With ``unread``, the graph must be a packed one; it is left for workers to read. ``rules`` are those that are
    scored, if it is not the one of the options that decides.
    """
    check_options(fitting, rules)
    reading, table = fitting.reading, fitting.table
    with job.stage("reading") as bar, hidden_panics():
        from isotherm.io.labelled import match_labels, read_labels
        from isotherm.seeds import as_seeds

        with usage_errors():
            options = _label_options(reading, fitting.kinds, None if table.wanted else table.graph_id)
            labels_files = read_labels([labels, *reading.more_seeds], options, others=[edges, *reading.more_edges])
        known = {node for file in labels_files for node in file.seeds}
        graph_file, vectors = (_unread(edges), None) if unread else _read_graph(edges, fitting, bar, known)
        if fitting.solving.side in ("both", "source") and not graph_file.graph.directed:
            side = f"--side {fitting.solving.side}"
            raise UsageError(f"{side} is for directed graphs: add --directed, or {leave_out('side')}")
        if vectors is not None and table.features is not None:
            raise UsageError(f"{_name(edges)} has features of its nodes already: {leave_out('features')}")
        features = read_features(table, graph_file.graph, reading)
        graph_file = _with_nodes(graph_file, table, features)
        with usage_errors():
            matched = match_labels(labels_files, graph_file, edges, drop_missing=fitting.ignore_missing_seeds)
        with usage_errors(culprit=_name(labels)):
            seeds = as_seeds(matched.known, graph_file.graph, matched.weights)
    graph = graph_file.graph
    layouts = {_name(edges): FileRead(graph_file.layout, graph.nodes[0]), **_layouts(matched)}
    layouts |= {} if features is None else {features.name: FileRead(features.layout)}
    counted = graph.weighted and not graph.kinds and graph_file.layout.roles.get("weight", ...) is None
    return Files(graph, matched.known, seeds, layouts, matched.files[0].layout, vectors, counted, features)


def read_features(table: FeatureOptions, graph: "Graph", reading: EdgeReading | None) -> "FeatureFile | None":
    """The table of features, if there is one; its columns are still to be read as numbers."""
    table.check()
    if table.features is None:
        return None
    from isotherm.io.vectors import TableOptions, read_feature_file

    encoding = None if reading is None else reading.encoding
    with usage_errors():
        return read_feature_file(table.features, graph, TableOptions(table.id, table.text, encoding=encoding))


def contents_of(
    graph: "Graph", features: "FeatureFile | None", edges: str, fitting: Fitting, named_by: str | None = None
) -> "Contents":
    """What nodes hold: the columns of the table of vectors, of ``--features`` and of ``--nodes``."""
    from isotherm.io.vectors import ARRAYS, TableOptions, read_feature_file
    from isotherm.page.contents import Contents

    table = fitting.table
    tables = [] if features is None else [features]
    with usage_errors():
        if table.wanted and edges != "-" and not edges.lower().endswith(ARRAYS):
            read = read_feature_file(edges, graph, TableOptions(table.id, **fitting.reading.written))
            tables.append(replace(read, ids=graph.nodes.tolist()))  # rows became nodes in this order
        if table.nodes is not None:
            tables.append(read_feature_file(table.nodes, graph, TableOptions(None if features else table.id)))
        return Contents.of(tables, graph, named_by)


def _with_nodes(read: "GraphFile", table: FeatureOptions, features: "FeatureFile | None") -> "GraphFile":
    """The graph with the nodes of ``--nodes``, and with the rows of ``--features`` if most of these are nodes."""
    graph, complete = read.graph, read.graph.is_packed or read.layout.format == "h5ad"
    if table.nodes is not None:
        from isotherm.io.vectors import read_node_ids

        with usage_errors(culprit=table.nodes):
            if complete:
                kind = "a packed graph" if graph.is_packed else "a file of cells"
                raise UsageError(f"{kind} has all its nodes: {leave_out('nodes')}, or read files of edges")
            graph = graph.with_nodes(read_node_ids(table.nodes, id=None if features else table.id))
    growing = features is not None and not complete and graph.n_rows is None
    if features is not None and growing and features.most_are_nodes(graph):
        graph = graph.with_nodes(features.ids)
    return read._replace(graph=graph)


class Unseeded(NamedTuple):
    """A graph without any label, how its file is laid out, and the table of features if there is one."""

    graph: "Graph"
    layout: str
    features: "FeatureFile | None" = None


def read_unseeded(edges: str, fitting: Fitting, job: Job) -> Unseeded:
    """Read a graph, or a table whose rows become nodes, without any label."""
    check_options(fitting)
    with job.stage("reading") as bar, hidden_panics():
        read, _ = _read_graph(edges, fitting, bar)
        features = read_features(fitting.table, read.graph, fitting.reading)
        graph = _with_nodes(read, fitting.table, features).graph
    return Unseeded(graph, f"{_name(edges)}: {FileRead(read.layout, graph.nodes[0])}", features)


def _read_graph(edges: str, fitting: Fitting, bar: Bar, known: Collection[Any] = ()) -> "tuple[GraphFile, Any]":
    """A graph, and None or the vectors of its nodes; in place of a graph a table of vectors may be read.

    Nodes that are known to have labels tell which column of a table has the ids.
    """
    reading, table = fitting.reading, fitting.table
    if table.wanted:
        return _read_table(edges, fitting, known)
    from isotherm.graphs.packed import is_packed
    from isotherm.io import read_graph_file

    unread = {"thousands", "decimal", "max_graph_memory", "edge_kind"}
    for name in unread.intersection(changed_options(reading)) if is_packed(edges) else ():
        raise UsageError(f"{edges} is packed, and is mapped instead of read: {leave_out(name)}")
    with usage_errors():
        paths = [edges, *reading.more_edges] if reading.more_edges else edges
        options = reading.for_graph(table.graph_id)
        read = read_graph_file(paths, options, format=reading.format, progress=bar.amount)
        return read, read.vectors


def _read_table(path: str, fitting: Fitting, known: Collection[Any]) -> "tuple[GraphFile, Any]":
    from isotherm.graphs import Graph
    from isotherm.io import GraphFile
    from isotherm.io.vectors import TableOptions, read_vectors

    table = fitting.table
    for name in EDGES_ONLY.intersection(changed_options(fitting)):
        raise UsageError(f"{option_name(name)} is for files of edges, not for a table of vectors: {leave_out(name)}")
    with usage_errors(culprit=_name(path)):
        reading = fitting.reading
        style: dict[str, Any] = {"thousands": reading.thousands or None, "decimal": reading.decimal}
        read = read_vectors(path, TableOptions(table.id, table.text, **reading.written, **style), seeds=known)
        threads = fitting.solving.threads
        graph = Graph.from_vectors(read.named, **table.for_graph(), ids=read.ids, n_threads=threads)
    return GraphFile(graph, read.layout), read.vectors


def _unread(edges: str) -> "GraphFile":
    from isotherm.graphs.packed import is_packed, open_packed
    from isotherm.io import GraphFile, Layout

    if not is_packed(edges):
        raise UsageError(f"{edges} is not a packed graph, which workers could read; make one with isotherm pack")
    with usage_errors():
        return GraphFile(open_packed(edges, unread=True), Layout("iso"))


def labels_inside(edges: str, labels: str | None, reading: Reading, *, usage: tuple[str, str]) -> tuple[str, Reading]:
    """The file of labels, by default the file of the graph, and how both are read.

    ``usage`` has the names of the command and of its argument for labels, for messages.
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


def read_answers(
    names: Sequence[str], clf: "GraphClassifier", job: Job, *, model: str, reading: LabelReading, ignore_missing: bool
) -> "tuple[dict[Any, Any], dict[str, FileRead]]":
    """Read labels for the graph of a classifier, in the type of its classes, and the layouts of their files.

    ``model`` is the name of the classifier in messages.
    """
    with job.stage("reading"), hidden_panics(), usage_errors():
        from isotherm.io import GraphFile, Layout
        from isotherm.io.labelled import match_labels, read_labels

        options = _label_options(reading, LabelKinds(multi_label=clf.fitted_.outcome.several))
        read = read_labels(names, options, after=_layout_of(clf.seed_columns_))
        graph, classes = GraphFile(clf.graph_, Layout("npz")), clf.classes_.tolist()
        matched = match_labels(read, graph, model, drop_missing=ignore_missing, classes=classes)
    return matched.known, _layouts(matched)


def features_of_model(clf: "GraphClassifier", path: str, job: Job) -> "NodeFeatures":
    """The features of a saved model, from a table with the columns that it was fitted with."""
    from isotherm.node_classifier import NodeClassifier
    from isotherm.probability.experts import STRUCTURAL

    with job.stage("reading features"):
        if not isinstance(clf, NodeClassifier) or set(clf.experts_) <= STRUCTURAL:
            raise UsageError(f"the model was fitted without features: {leave_out('features')}")
        file = read_features(FeatureOptions(features=path, id=clf.feature_source_.get("id")), clf.graph_, None)
        assert file is not None
        with usage_errors():
            return file.at(clf.graph_, clf.table_of_source())


def _layout_of(seed_columns: "Mapping[str, str]") -> "Layout | None":
    """The layout of a file of seeds with these columns."""
    from isotherm.io import Column, Layout

    roles = {role: Column(place, name) for place, (role, name) in enumerate(seed_columns.items(), 1)}
    return Layout("csv", dict(roles)) if roles else None


def _label_options(reading: LabelReading, kinds: LabelKinds, id: str | None = None) -> "LabelOptions":  # noqa: A002
    from isotherm.io.file_layout import LabelOptions

    return LabelOptions(**reading.for_labels(), **kinds.for_labels(), id=id)


def _layouts(matched: "MatchedLabels") -> dict[str, FileRead]:
    """The layout of each file of labels, by its name."""
    firsts = ((file, ": ".join(map(str, next(iter(file.seeds.items()))))) for file in matched.files)
    return {file.name: FileRead(file.layout, first) for file, first in firsts}


def _name(path: str) -> str:
    return "standard input" if path == "-" else path


def inputs_of(fitting: Fitting) -> list[str]:
    """The input files that are named by options."""
    return [*fitting.reading.more_seeds, *fitting.reading.more_edges, *fitting.table.inputs]


def check_options(fitting: Fitting, rules: Sequence[str] = ()) -> None:
    """Refuse options that would have no effect without another one; several ``rules`` may be scored."""
    from isotherm.labelling.rules import DECISIONS

    names = set(rules) or {fitting.rule}
    first = next(iter(rules), fitting.rule)
    needs = {
        "threshold": ("--multi-label", fitting.kinds.multi_label),
        "open_share": ("--stop labels", fitting.solving.stop == "labels"),
        "scheduler": ("--engine dask", fitting.solving.engine == "dask"),
        **dict.fromkeys(("k", "metric", "scale"), ("--vectors or --text", fitting.table.wanted)),
    }
    for name in changed_options(fitting):
        other, given = needs.get(name, ("", True))
        if not given:
            raise UsageError(f"{option_name(name)} is for {other}: add that, or {leave_out(name)}")
        for_probabilities = name in ("class_weight", "class_sizes", "features", "evidence", "edge_kind")
        if for_probabilities and not names & DECISIONS.keys():
            why = f"is for probabilities, and --rule {first} goes by temperatures alone"
            raise UsageError(f"{option_name(name)} {why}: {leave_out(name)}, or set --rule balanced")
        if name in ("stop", "open_share", "no_confidence") and names <= DECISIONS.keys():
            why = f"is for rules on temperatures, and --rule {first} goes by probabilities"
            raise UsageError(f"{option_name(name)} {why}: {leave_out(name)}, or set --rule centered")


def classifier_of(fitting: Fitting, classes: Iterable[Any]) -> "GraphClassifier":
    """The classifier that the options ask for, not fitted yet."""
    from isotherm.labelling.rules import DECISIONS
    from isotherm.node_classifier import classifier_by

    parameters = fitting.solving.for_classifier()
    if fitting.rule in DECISIONS:
        labels = list(classes)
        weights = numbers_by_label("class_weight", fitting.class_weight, labels)
        sizes = numbers_by_label("class_sizes", fitting.class_sizes, labels)
        return classifier_by(fitting.rule, class_weight=weights, class_sizes=sizes, **parameters)
    return classifier_by(fitting.rule, **parameters, **fitting.solving.for_temperatures())


def fit_files(names: Sequence[str], fitting: Fitting, job: Job) -> "tuple[GraphClassifier, Files]":
    """Read a graph and its seeds, and fit a classifier on them."""
    from isotherm.node_classifier import NodeClassifier

    edges, seeds = names
    files = read_files(edges, seeds, fitting, job)
    clf = classifier_of(fitting, files.seeds.classes.tolist())
    known: dict[str, Any] = {}
    if isinstance(clf, NodeClassifier):
        known = {**known_besides(files, fitting, job), "evidence": _evidence(files, fitting)}
    connect_to_cluster(fitting.solving)
    with job.stage("solving") as bar, usage_errors():
        clf.fit(files.graph, files.seeds, progress=bar.errors(fitting.solving.tol), **known)
    clf.seed_columns_ = files.seeds_layout.seed_columns
    if files.features is not None:
        column = files.features.layout.roles.get("id")
        named = {} if column is None or column.name is None else {"id": column.name}
        clf.feature_source_ = {**clf.feature_source_, **named, "file": files.features.name}
    return clf, files


def known_besides(files: Files | Unseeded, fitting: Fitting, job: Job) -> dict[str, Any]:
    """The features of the nodes, as an argument of `NodeClassifier.fit`; empty without features."""
    if files.features is None:
        return {}
    from isotherm.io.feature_table import FeatureTable

    reading = fitting.reading
    how = FeatureTable(**fitting.table.for_columns(), decimal=reading.decimal, thousands=reading.thousands)
    with job.stage("reading features"), usage_errors():
        return {"features": files.features.at(files.graph, how)}


def _evidence(files: Files, fitting: Fitting) -> Any:
    """The argument ``evidence`` of `fit`; for the graph of a table it is the columns of the table, by default."""
    if files.vectors is not None and fitting.evidence == "auto":
        from isotherm.probability.evidence import Evidence

        return Evidence.of_table(files.vectors)
    return None if fitting.evidence == "none" else fitting.evidence


def connect_to_cluster(solving: Solving) -> None:
    """Connect to the Dask cluster, or start one and say so, if the engine needs it."""
    if solving.engine != "dask":
        return
    with usage_errors():
        from isotherm.engines.cluster import connect

        _, message = connect(solving.scheduler)
    say(message)


def estimate_files(names: Sequence[str], fitting: Fitting, job: Job) -> str:
    """Read a graph and its seeds, and estimate the memory and time of a fit on them."""
    for name in {"features", "edge_kind"}.intersection(changed_options(fitting)):
        raise UsageError(f"--estimate does not know what {option_name(name)} takes: {leave_out(name)}")
    edges, seeds = names
    files = read_files(edges, seeds, fitting, job)
    from isotherm.labelling.estimate import estimate_fit
    from isotherm.probability.evidence import has_room

    n_classes = files.seeds.n_classes
    settings = classifier_of(fitting, files.seeds.classes.tolist()).settings
    structure = settings.decision is not None and (
        has_room(files.graph, n_classes) if fitting.evidence == "auto" else fitting.evidence != "none"
    )
    confidence = not fitting.solving.no_confidence
    estimate = estimate_fit(files.graph, n_classes, settings, confidence=confidence, structure=structure)
    several = " with several labels each" if files.seeds.several else ""
    job.say(str(files), f"{files.graph!r}, {len(files.seeds.nodes):,} seeds{several}")
    return f"{files.graph.n_nodes:,} nodes, {files.graph.n_edges:,} edges, {n_classes} classes: {estimate}"


def classify_on_workers(names: Sequence[str], fitting: Fitting, results: Results, job: Job) -> str:
    """Let the workers of a cluster label a packed graph and write a folder; returns a summary."""
    if fitting.solving.engine != "dask":
        raise UsageError(f"{results.output} is a folder, which is for --engine dask; give the name of a file")
    only = {"evidence": fitting.evidence == "none", "solver": fitting.solving.solver == "cg"}  # workers always do this
    allowed = ON_WORKERS | {name for name, given in only.items() if given}
    for name in (*changed_options(results, allowed=allowed), *changed_options(fitting, allowed=allowed)):
        where = f"is for labels in a file, not in the folder {results.output}"
        raise UsageError(f"{option_name(name)} {where}: {leave_out(name)}, or write to a file such as labels.parquet")
    edges, seeds = names
    files = read_files(edges, seeds, fitting, job, unread=True)
    from isotherm.graphs.packed import PackedGraph
    from isotherm.labelling.remote import label_remotely
    from isotherm.labelling.rows import Columns

    clf = classifier_of(fitting, files.seeds.classes.tolist())
    columns = Columns(confidence=not fitting.solving.no_confidence, **results.wanted)
    assert isinstance(files.graph, PackedGraph)
    connect_to_cluster(fitting.solving)
    with exit_cleanly(), job.stage("solving") as bar, usage_errors(OUTPUT):
        done = label_remotely(
            files.graph,
            files.seeds,
            clf.settings,
            results.output,
            columns=columns,
            force=results.force,
            progress=bar.errors(fitting.solving.tol),
        )
    counts = ", ".join(f"{label}: {count:,}" for label, count in done.counts.items())
    return (
        f"{files}\n\n{done.rows:,} rows written to {results.output} by the workers, who go by heat alone: rule "
        f"{done.rule}, {done.solution.iterations} iterations\n{counts}, unreached: {done.unreached:,}"
    )


class Fitted(NamedTuple):
    """A classifier, and the layouts of the files that it was fitted on; empty for a saved one."""

    clf: "GraphClassifier"
    layouts: str = ""


@dataclass(frozen=True)
class Source:
    """Where a classifier comes from."""

    files: list[str]  # a saved classifier, or edges and seeds, or edges alone
    rest: list[str]  # the other arguments of the command
    seedless: bool = False  # whether there are edges without seeds

    def with_labels_inside(self, command: str, fitting: Fitting) -> "tuple[Source, Fitting]":
        """The same with the labels that the file of the graph holds, and how both are read."""
        labels, reading = labels_inside(self.files[0], None, fitting.reading, usage=(command, "SEEDS"))
        return Source([*self.files, labels], []), replace(fitting, reading=reading)

    def fitted(self, fitting: Fitting, job: Job, *, later: Sequence[str] = ("threads",)) -> Fitted:
        """The classifier and the layouts of its files; ``later`` are the options that a saved classifier can take."""
        if len(self.files) == 2:
            clf, files = fit_files(self.files, fitting, job)
            return Fitted(clf, str(files))
        for name in changed_options(fitting, allowed=later):
            raise UsageError(f"{self.files[0]} is fitted already: {leave_out(name)}, or give the edges and the seeds")
        return Fitted(load_model(self.files[0], job, threads=fitting.solving.threads))


def load_model(path: str, job: Job, *, threads: int | None = None) -> "GraphClassifier":
    """The classifier that ``isotherm classify --save`` wrote, to be used with this number of threads."""
    with job.stage("reading"), usage_errors():
        from isotherm.node_classifier import load

        return load(path, n_threads=threads)


def split_arguments(command: str, arguments: tuple[str, ...], needed: str = "") -> Source:
    """Find out whether arguments begin with a saved classifier or with edges and seeds.

    ``needed`` names what must follow. Without it, nothing may follow, and edges alone are allowed too.
    """
    from isotherm.io.models import is_model

    given = list(arguments)
    count = 1 if given and (is_model(given[0]) or _may_be_model(given)) else 2
    if not needed and (len(given), count) == (1, 2):
        return Source(given, [], seedless=True)
    if len(given) < count + bool(needed):
        words = f" {needed}" if needed else ""
        raise UsageError(
            f"isotherm {command} needs EDGES SEEDS{words}, or MODEL{words} with what classify --save wrote; "
            f"see isotherm {command} --help"
        )
    if not needed and given[count:]:
        takes = f"isotherm {command} takes EDGES and perhaps SEEDS, or MODEL"
        raise UsageError(f"{takes}, and no {given[count]!r}: leave it out")
    return Source(given[:count], given[count:])


def _may_be_model(given: list[str]) -> bool:
    """Whether the first argument is a missing or damaged model, not a matrix of edges.

    A matrix is a zip file, and is followed by a file of seeds.
    """
    has_seeds = any(name == "-" or os.path.exists(name) for name in given[1:2])
    return given[0].endswith(".npz") and not has_seeds and not is_zipfile(given[0])
