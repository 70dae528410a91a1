"""A graph and known labels of its nodes, read together: the labels are matched with the nodes, and repaired.

Only the graph shows whether the first row of a file of labels is a header, whether ids are counted from 0 or from 1, or
whether the wrong column was read. So both files are read before anything is decided.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from isotherm.choices import DecimalSign, MissingName
from isotherm.errors import Option, ParameterError, Worded, warn
from isotherm.files import STANDARD, FileError
from isotherm.graphs import Graph
from isotherm.io.edges import is_one_file
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.file_layout import LabelOptions, Layout, Options, Pick
from isotherm.io.formats import FORMATS, format_of
from isotherm.io.graphs import GraphFile, Paths, names_of, read_graph_file, with_nodes
from isotherm.io.seeds import SeedsFile, labels_like, match_seeds, read_seeds_file, shifted_by
from isotherm.io.streams import Input, Progress
from isotherm.seeds import Seeds, as_seeds

SHARED = ("delimiter", "header", "format", "encoding")  # parameters that edges and labels both have

SPELLINGS: dict[str, Callable[[str], str]] = {
    "leading zeros": lambda text: text.lstrip("0"),
    "a final .0": lambda text: text.removesuffix(".0"),
    "case": str.casefold,
}
MOST_COMPARED = 1_000_000  # nodes

LOGGER = logging.getLogger("isotherm")


class MatchedLabels(NamedTuple):
    """Labels under the ids of a graph."""

    known: dict[Any, Any]  # ``{node: label}``; each node has what the last file says about it
    weights: dict[Any, float | None] | None  # the weights of the seeds, if they were asked for
    files: list[SeedsFile]  # what was read from each file, without rows that turned out to be headers


def read_labelled(
    edges: Paths,
    seeds: Paths | None = None,
    *,
    directed: bool | None = None,
    source: Pick = None,
    target: Pick = None,
    weight: Pick | bool = None,
    node: Pick = None,
    label: Pick = None,
    probability: Pick = None,
    seed_weight: Pick = None,
    several: bool = False,
    unknown: str | Sequence[str] = (),
    normalise_labels: bool = False,
    missing: MissingName = "raise",
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - as in read_graph
    encoding: str | None = None,
    labels_delimiter: str | None = None,
    labels_header: bool | None = None,
    labels_format: str | None = None,
    labels_encoding: str | None = None,
    id: Pick = None,  # noqa: A002 - as in read_graph
    thousands: bool = False,
    decimal: DecimalSign | None = None,
    nodes: str | os.PathLike[str] | Iterable[Any] | None = None,
    neighbors_key: str | None = None,
    edge_kind: Pick = None,
    max_graph_memory: int | None = None,
    progress: Progress | None = None,
) -> tuple[Graph, dict[Any, Any] | Seeds]:
    r"""Read a graph and known labels of its nodes, matched and repaired as ``isotherm classify`` does.

    The labels get the ids that their nodes have in the graph: ``"7"`` in a text file matches the integer ``7``. The
    first row of a file of labels is taken for a header, with a warning, if its node is not in the graph though others
    are. Ids that are counted from 0 for a graph that counts from 1, or the other way round, are refused; so are labels
    of which none is in the graph, with a hint at the column that may be meant.

    Parameters
    ----------
    edges
        The graph, as for `read_graph`.
    seeds
        The known labels, as for `read_seeds`; of several files, the last one that names a node counts. By default the
        labels are read from the file of the graph, if its format has them.
    directed, source, target, weight, thousands, decimal, nodes, neighbors_key, edge_kind, id
        As for `read_graph`.
    max_graph_memory, progress
        As for `read_graph`.
    node, label, probability, several, unknown, normalise_labels
        As for `read_seeds`.
    seed_weight
        The column of seed weights: how far each label is trusted. A seed without a weight is certain.
    missing
        What to do with labels of nodes that are not in the graph: "raise" an error, or "drop" them with a warning.
    delimiter, header, format, encoding
        How the edges are written, as for `read_graph`.
    labels_delimiter, labels_header, labels_format, labels_encoding
        The same for the first file of labels; by default it has the encoding of the edges.

    Returns
    -------
    graph : Graph
    seeds : dict or Seeds
        ``{node: label}``, as `read_seeds` gives them. With ``seed_weight``, seeds that hold the weights too; `fit`
        takes both.

    Raises
    ------
    FileError
        If a file cannot be read, or if the labels do not match the graph.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("from,to\n1,2\n2,3\n")
    >>> _ = (folder / "seeds.csv").write_text("id,label\n1,left\n3,right\n")
    >>> read_labelled(folder / "edges.csv", folder / "seeds.csv")
    (<Graph: 3 nodes, 2 edges>, {'1': 'left', '3': 'right'})
    """
    if missing not in ("raise", "drop"):
        raise ParameterError("{missing}, but it must be 'raise' or 'drop'", missing=Option("missing", missing))
    names = names_of(edges) if seeds is None else names_of(seeds)
    labels_format = labels_format or (format if seeds is None else None)
    if seeds is None and not holds_labels(names, labels_format):
        known = ", ".join(name for name, kind in FORMATS.items() if kind.labels is not None)
        raise FileError(f"{names[0]} holds no labels besides the graph, as {known} files do; give a file of seeds")
    options = LabelOptions(
        *(node, label, probability, seed_weight, several, unknown, normalise_labels),
        *(labels_delimiter, labels_header, labels_format, labels_encoding or encoding, id),
    )
    files = read_labels(names, options, others=names_of(edges) if seeds is not None else ())
    how = Options(
        *(directed, source, target, weight, delimiter, header, max_graph_memory),
        *(id, encoding, thousands, decimal, neighbors_key, edge_kind),
    )
    read = with_nodes(read_graph_file(edges, how, format=format, progress=progress), nodes)
    found = match_labels(files, read, names_of(edges)[0], drop_missing=missing == "drop")
    LOGGER.info("%s: %s; %s", ", ".join(names_of(edges)), read.layout, read.graph)
    for file in found.files:
        LOGGER.info("%s: %s; %d seeds", file.name, file.layout, len(file.seeds))
    if found.weights is None:
        return read.graph, found.known
    return read.graph, as_seeds(found.known, read.graph, found.weights)


def holds_labels(names: Sequence[str], format: str | None = None) -> bool:  # noqa: A002 - as in read_graph
    """Whether these are one file of a graph in a format that can hold labels too."""
    if len(names) != 1 or names[0] == STANDARD or not is_one_file(names[0]):
        return False
    return FORMATS[format_of(names[0], format).name].labels is not None


def read_labels(
    names: Sequence[str], options: LabelOptions, *, after: Layout | None = None, others: Sequence[str] = ()
) -> list[SeedsFile]:
    """Read files of labels."""
    if [*names, *others].count(STANDARD) > 1:
        raise FileError("both files cannot be standard input: give the name of one of them")
    earlier = after if (options.node, options.label) == (None, None) else None
    later = replace(options, delimiter=None, header=None, format=None, encoding=None, id=None)
    with _about_labels():
        first = read_seeds_file(names[0], options, after=earlier)
        return [first, *(read_seeds_file(name, later, after=first.layout) for name in names[1:])]


def match_labels(
    files: Iterable[SeedsFile],  # what `read_labels` gave
    graph: GraphFile,
    edges: str,
    *,
    drop_missing: bool = False,  # whether to leave out labels of nodes that are not in the graph, with a warning
    classes: Iterable[Any] = (),  # classes that are known already; labels become of their type
) -> MatchedLabels:
    """Put labels under the ids of a graph, and merge the labels of several files."""
    known: dict[Any, Any] = {}
    weights: dict[Any, float | None] | None = None
    repaired, seen = [], set(classes)
    for file in files:
        read = file.repaired(graph.graph, header="labels_header")
        repaired.append(read)
        found = _matched(read, graph, Input(edges).name, drop_missing)
        found = labels_like(found, seen) if seen else found
        known |= found
        seen |= {each for label in found.values() for each in (label if isinstance(label, set | dict) else [label])}
        if read.weights is not None:
            earlier = {node: weight for node, weight in (weights or {}).items() if node not in found}
            weights = earlier | match_seeds(read.weights, graph.graph, missing="drop")
    return MatchedLabels(known, weights, repaired)


@contextmanager
def _about_labels() -> Iterator[None]:
    """Name the parameters of the file of labels in errors: ``labels_header`` in place of ``header``."""
    try:
        yield
    except Worded as error:
        facts = {
            name: fact._replace(name=f"labels_{fact.name}")
            if isinstance(fact, Option) and fact.name in SHARED
            else fact
            for name, fact in error.facts.items()
        }
        raise type(error)(error.template, **facts) from None


def _matched(read: SeedsFile, graph: GraphFile, edges: str, drop_missing: bool) -> dict[Any, Any]:
    """The labels under the ids of the graph."""
    _check_first_id(read, graph, edges)
    try:
        known = match_seeds(read.seeds, graph.graph, missing="drop")
        if read.seeds and not known:
            raise _none_match(read, graph, edges)
        lost = len(read.seeds) - len(known)
        if lost and not drop_missing:
            match_seeds(read.seeds, graph.graph)
    except FileError:
        raise
    except ValueError as error:
        hint = _header_hint(read, graph) if isinstance(error, ParameterError) else ""
        raise FileError("{path}: {error}{hint}", path=read.name, error=error, hint=hint) from None
    if lost:
        message = "{path}: {lost} of {all} labelled nodes are not in the graph and are left out{hint}"
        warn(FileWarning(message, path=read.name, lost=lost, all=len(read.seeds), hint=_header_hint(read, graph)))
    return known


def _check_first_id(read: SeedsFile, graph: GraphFile, edges: str) -> None:
    """Refuse labels that are counted from another number than the nodes of the graph."""
    n, first_id = graph.graph.n_nodes, graph.layout.first_id
    shift = shifted_by(read.seeds, graph.graph, first_id)
    if shift:
        odd, remedy = (0, "add 1 to") if shift == 1 else (n, "subtract 1 from")
        why = f"but the {n:,} nodes of {edges} are counted from {first_id} on"
        raise FileError(f"{read.name} has the node {odd}, {why}; {remedy} the ids in {read.name}")


def _none_match(read: SeedsFile, graph: GraphFile, edges: str) -> FileError:
    """The error for labels of which none is in the graph: which columns were read, and what is in them."""
    seeds, roles = read.seeds, graph.layout.roles
    number = "the only seed is not" if len(seeds) == 1 else f"none of the {len(seeds):,} seeds is"
    ours = f"{read.layout.roles.get('node', 'it')} has ids such as {shorten(next(iter(seeds)))}"
    theirs, choice = f"{edges} has", "{node}"
    if "source" in roles:
        theirs = f"{roles['source']} and {roles['target']} of {edges} have"
        choice = "{node}, {source} and {target}"
    if "id" in roles:
        choice = "{node}, or the column of ids with {id}"
    if graph.layout.format in FORMATS and FORMATS[graph.layout.format].attributes:  # not an array of vectors
        choice += ", or the attribute of nodes in {edges} that has their ids with {id}"
    found = f"{ours}, but {theirs} ids such as {', '.join(map(shorten, graph.graph.nodes[:1].tolist()))}"
    remedy = f"choose other columns with {choice}"
    if spelling := _spelling(seeds, graph.graph):
        remedy = f"most of them differ only by {spelling}: write ids alike in both files"
    message = f"{{path}}: {number} in the graph: {{found}}; {remedy}{{hint}}"
    choices = {name: Option(name) for name in ("node", "source", "target", "id")}
    return FileError(message, path=read.name, found=found, edges=edges, hint=_header_hint(read, graph), **choices)


def _spelling(seeds: Iterable[Any], graph: Graph) -> str:
    """How most seeds are written otherwise than ids of nodes, such as with leading zeros; else empty."""
    wanted, nodes = ([str(each) for each in ids] for ids in (seeds, graph.nodes[:MOST_COMPARED].tolist()))
    for name, alike in SPELLINGS.items():
        known = set(map(alike, nodes))
        if 2 * sum(alike(each) in known for each in wanted) > len(wanted):
            return name
    return ""


def _header_hint(read: SeedsFile, graph: GraphFile) -> Worded | str:
    """What to try if seeds are missing because a header was taken for data, or data for a header."""

    def lost(node: Any) -> bool:
        return node in read.seeds and not match_seeds({node: 0}, graph.graph, missing="drop")

    names = [column.name for column in graph.layout.roles.values() if column]
    if graph.layout.header and any(map(lost, names)):
        return Worded("; or read the first row of the edges as an edge, with {header}", header=Option("header", False))
    if read.layout.header is False and lost(next(iter(read.seeds))):
        header = Option("labels_header", True)
        return Worded("; or read the first row of the labels as a header, with {header}", header=header)
    return ""
