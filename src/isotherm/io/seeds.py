"""Files to seeds: known labels, by node."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from isotherm.graph import Graph
from isotherm.io import seed_rows
from isotherm.io.errors import FileError
from isotherm.io.formats import TEXTUAL, format_of
from isotherm.io.jsonl import open_jsonl
from isotherm.io.layout import Layout, Pick, seed_roles
from isotherm.io.seed_rows import shown
from isotherm.io.streams import Input
from isotherm.io.tables import open_columns
from isotherm.io.text import open_text

__all__ = ["SeedsFile", "match_seeds", "read_seeds", "read_seeds_file"]

TABLES = (*TEXTUAL, "parquet", "arrow", "jsonl")
MOST_SHOWN = 5
LOST = object()


class SeedsFile(NamedTuple):
    """Seeds that were read, how their file is laid out, and how far seeds are trusted, if it says so."""

    seeds: dict[Any, Any]
    layout: Layout
    weights: dict[Any, float | None] | None = None


def read_seeds(
    path: str | os.PathLike[str],
    *,
    node: Pick = None,
    label: Pick = None,
    probability: Pick = None,
    several: bool = False,
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
    probability
        The column of probabilities, where there is a row for each label that a node may have.
    several
        Whether a node may have several labels, in a row each.
    delimiter, header, format
        As in `read_graph`.
    like
        The graph of these nodes. Ids that are text here and integers there, or the other way round, are made those of
        the graph, see `match_seeds`.

    Returns
    -------
    dict
        ``{node: label}``, in the order of the file; with ``several`` ``{node: {label, ...}}``, and with probabilities
        ``{node: {label: probability}}``.

    Raises
    ------
    FileError
        Also if a node has two labels that differ, where it may not.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> seeds = Path(tempfile.mkdtemp()) / "seeds.csv"
    >>> _ = seeds.write_text("node,label\nann,left\neve,right\nbob,\n")
    >>> read_seeds(seeds)
    {'ann': 'left', 'eve': 'right'}
    """
    columns = {"node": node, "label": label, "probability": probability}
    read = read_seeds_file(path, **columns, several=several, delimiter=delimiter, header=header, format=format)
    return read.seeds if like is None else match_seeds(read.seeds, like, missing="keep")


def read_seeds_file(
    path: str | os.PathLike[str],
    *,
    node: Pick = None,
    label: Pick = None,
    probability: Pick = None,
    seed_weight: Pick = None,
    several: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
) -> SeedsFile:
    """Read seeds as `read_seeds` does, and say which columns, header and delimiter were found.

    ``seed_weight`` is the column of weights of trust; a seed without one is certain.
    """
    path = os.fspath(path)
    Input(path).check()
    known = format_of(path, format)
    file = Input(path, known.compression)
    if known.name not in TABLES:
        raise FileError(f"{file.name}: seeds are read from tables ({', '.join(TABLES)}), not from {known.name}")
    picks = {"node": node, "label": label, "seed_weight": seed_weight, "probability": probability}
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
    rows = seed_rows.read_rows(file.name, table.batches(places))
    weights = seed_rows.trusted(file.name, rows) if seed_weight is not None else None
    if probability is not None:
        return SeedsFile(seed_rows.distributions(file.name, rows), layout, weights)
    seeds = seed_rows.sets(rows) if several else seed_rows.single_labels(file.name, rows)
    return SeedsFile(seeds, layout, weights)


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
    some = ", ".join(map(shown, lost[:MOST_SHOWN])) + (", ..." if len(lost) > MOST_SHOWN else "")
    nodes = "" if matched else f" ({graph.n_nodes} nodes, such as {', '.join(map(shown, graph.nodes[:3].tolist()))})"
    return f"{number} not in the graph{nodes}: {some}; correct {them}, or leave {them} out with missing='drop'"


def _texts(wanted: set[str], nodes: list[Any]) -> dict[str, Any]:
    """Nodes by these texts, without those that share one."""
    texts: dict[str, Any] = {}
    shared = set()
    for node in nodes if wanted else ():
        text = str(node)
        if text in wanted and texts.setdefault(text, node) is not node:
            shared.add(text)
    return {text: node for text, node in texts.items() if text not in shared}
