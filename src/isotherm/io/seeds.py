"""Files to seeds: known labels, by node."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from isotherm.graph import Graph
from isotherm.io.errors import FileError, shorten
from isotherm.io.formats import TEXTUAL, format_of
from isotherm.io.jsonl import open_jsonl
from isotherm.io.layout import Layout, Pick, seed_roles
from isotherm.io.streams import Input
from isotherm.io.tables import Batch, checked_ids, missing_id, open_columns
from isotherm.io.text import open_text

__all__ = ["SeedsFile", "match_seeds", "read_seeds", "read_seeds_file"]

TABLES = (*TEXTUAL, "parquet", "arrow", "jsonl")
MOST_SHOWN = 5
LOST = object()
INTEGER = re.compile(r"0|-?[1-9][0-9]*")


class SeedsFile(NamedTuple):
    """Seeds that were read, and how their file is laid out."""

    seeds: dict[Any, Any]
    layout: Layout


def read_seeds(
    path: str | os.PathLike[str],
    *,
    node: Pick = None,
    label: Pick = None,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    like: Graph | None = None,
) -> dict[Any, Any]:
    r"""Read known labels from a table: CSV, TSV, text, Parquet, Arrow or JSON lines.

    Columns besides node and label are ignored, and so are rows whose label is empty. In text all nodes and labels are
    text; where all labels are integers, ``-1`` is an empty one.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input.
    node, label
        Columns, by name or by number from 1; by default those of such names (label, class or y), or the first two.
    delimiter, header, format
        As in `read_graph`.
    like
        The graph of these nodes. Ids that are text here and integers there, or the other way round, are made those of
        the graph, see `match_seeds`.

    Returns
    -------
    dict
        ``{node: label}``, in the order of the file.

    Raises
    ------
    FileError
        Also if a node has two labels that differ.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> seeds = Path(tempfile.mkdtemp()) / "seeds.csv"
    >>> _ = seeds.write_text("node,label\nann,left\neve,right\nbob,\n")
    >>> read_seeds(seeds)
    {'ann': 'left', 'eve': 'right'}
    """
    read = read_seeds_file(path, node=node, label=label, delimiter=delimiter, header=header, format=format)
    return read.seeds if like is None else match_seeds(read.seeds, like, missing="keep")


def read_seeds_file(
    path: str | os.PathLike[str],
    *,
    node: Pick = None,
    label: Pick = None,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
) -> SeedsFile:
    """Read seeds as `read_seeds` does, and say which columns, header and delimiter were found."""
    path = os.fspath(path)
    Input(path).check()
    known = format_of(path, format)
    file = Input(path, known.compression)
    if known.name not in TABLES:
        raise FileError(f"{file.name}: seeds are read from tables ({', '.join(TABLES)}), not from {known.name}")
    picks = {"node": node, "label": label}
    table: Any
    if known.name in TEXTUAL:
        told = {"delimiter": delimiter, "header": header, "wanted": tuple(picks.values())}
        table = open_text(file, known.name, seeds=True, **told)
        spelling = {"header": table.dialect.header, "delimiter": table.dialect.delimiter}
    else:
        table = open_jsonl(file) if known.name == "jsonl" else open_columns(file, known.name)
        spelling = {}
    layout = Layout(known.name, seed_roles(file.name, table.names, picks), **spelling)
    places = {role: column.number - 1 for role, column in layout.roles.items() if column}
    return SeedsFile(_collected(file.name, table.batches(places)), layout)


def match_seeds(seeds: Mapping[Any, Any], graph: Graph, *, missing: str = "raise") -> dict[Any, Any]:
    """Seeds under the ids that their nodes have in a graph.

    A node that is not in the graph, but whose text is that of exactly one node, is that node: ``"7"`` is ``7``, and
    ``"007"`` is not.

    Parameters
    ----------
    seeds
        ``{node: label}``.
    graph
        The graph whose ids count.
    missing
        What becomes of seeds that are not in the graph: "raise" a ValueError that lists them, "drop" or "keep" them.

    Examples
    --------
    >>> match_seeds({"1": "left", "3": "right"}, Graph.from_edges([1, 2], [2, 3]))
    {1: 'left', 3: 'right'}
    """
    if missing not in ("raise", "drop", "keep"):
        raise ValueError(f"missing={missing!r}, but it must be 'raise', 'drop' or 'keep'")
    nodes = graph.nodes.tolist()
    known = set(seeds).intersection(nodes)  # looks up every node among the seeds, which are few
    texts = _texts({str(node) for node in seeds if node not in known}, nodes)
    matched: dict[Any, Any] = {}
    lost = []
    for node, label in seeds.items():
        there = node if node in known else texts.get(str(node), LOST)
        if there is LOST and missing == "keep":
            there = node
        if there is LOST:
            lost.append(node)
        elif matched.setdefault(there, label) != label:
            raise ValueError(f"the node {there!r} has two labels: {matched[there]!r} and {label!r}")
    if lost and missing == "raise":
        raise ValueError(_not_there(lost, graph, matched))
    return matched


def _not_there(lost: list[Any], graph: Graph, matched: dict[Any, Any]) -> str:
    """What to say of seeds that are not in the graph; where none is, also what its nodes look like."""
    number, them = ("1 seed is", "it") if len(lost) == 1 else (f"{len(lost)} seeds are", "them")
    shown = ", ".join(map(_shown, lost[:MOST_SHOWN])) + (", ..." if len(lost) > MOST_SHOWN else "")
    nodes = "" if matched else f" ({graph.n_nodes} nodes, such as {', '.join(map(_shown, graph.nodes[:3].tolist()))})"
    return f"{number} not in the graph{nodes}: {shown}; correct {them}, or leave {them} out with missing='drop'"


def _texts(wanted: set[str], nodes: list[Any]) -> dict[str, Any]:
    """Nodes by these texts, without those that share one."""
    texts: dict[str, Any] = {}
    shared = set()
    for node in nodes if wanted else ():
        text = str(node)
        if text in wanted and texts.setdefault(text, node) is not node:
            shared.add(text)
    return {text: node for text, node in texts.items() if text not in shared}


def _collected(path: str, batches: Iterator[Batch]) -> dict[Any, Any]:
    """The labels of all batches, of which no two may contradict each other."""
    read = [(batch, _nodes(path, batch), _labels(path, batch)) for batch in batches]
    seeds: dict[Any, Any] = {}
    for batch, nodes, labels in read:
        for row, (node, label) in enumerate(zip(nodes, labels, strict=True)):
            if label is None or label == "" or label != label:
                continue
            if seeds.setdefault(node, label) != label:
                first = _place(read, node, seeds[node])
                both = f"{_shown(seeds[node])} ({first}) and {_shown(label)} ({batch.place(row)})"
                raise FileError(f"{path}: the node {_shown(node)} has two labels, {both}; keep one of them")
    if not seeds:
        raise FileError(f"{path} has no seeds: {'every label is empty' if read else 'there are no rows'}")
    return _without_minus_one(seeds)


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


def _place(read: list[tuple[Batch, list[Any], list[Any]]], node: Any, label: Any) -> str:
    """Where a node has a label for the first time."""
    for batch, nodes, labels in read:
        for row, pair in enumerate(zip(nodes, labels, strict=True)):
            if pair == (node, label):
                return batch.place(row)
    raise KeyError(node)


def _without_minus_one(seeds: dict[Any, Any]) -> dict[Any, Any]:
    """Seeds without the label -1, which stands for unknown where labels are integers, also as text."""
    labels = set(seeds.values())
    minus_one = labels & {"-1", -1}
    if not minus_one or not all(isinstance(label, int) or INTEGER.fullmatch(str(label)) for label in labels):
        return seeds
    return {node: label for node, label in seeds.items() if label not in minus_one}


def _shown(value: Any) -> str:
    return shorten(value) if isinstance(value, str) else repr(value)
