"""Labels to files, some nodes at a time: what is known about all nodes is found first, then the file is written."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.graphs import Graph
from isotherm.io.errors import need
from isotherm.io.output import check_output, write_rows
from isotherm.io.streams import Progress

__all__ = ["Labelled", "write_labels"]

Columns: TypeAlias = dict[str, Any]

PIECE = 1 << 20  # nodes whose columns are in memory at once


class Labelled(Protocol):
    """What `write_labels` needs of a fitted classifier."""

    fitted_: Any
    labels_: Any
    classes_: NDArray[Any]
    temperatures_: NDArray[Any]
    reached_: NDArray[np.bool_]
    seeds_: Any

    @property
    def confidence_(self) -> Any:
        """(n,), or (n, L) where nodes may have several labels."""

    def predict_proba(self) -> NDArray[Any]:
        """(n, K)."""


def write_labels(
    path: str | os.PathLike[str],
    graph: Graph,
    result: Labelled | Mapping[str, Any],
    *,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    confidence: bool = True,
    probabilities: bool = False,
    temperatures: bool = False,
    only_unlabelled: bool = False,
    min_confidence: float | None = None,
    force: bool = False,
    safe_cells: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write one row for each node, in the order of the graph: node, label, confidence.

    An unreached node has an empty label and confidence 0. If nodes may have several labels, there is a row for each
    label, the most certain first, and a row with an empty label for a node without any. The file appears when it is
    complete; if anything goes wrong, an existing file is kept.

    Parameters
    ----------
    path
        The file, or ``-`` for standard output. Its suffix decides the format: CSV, TSV, JSON lines (each also with
        ``.gz`` or ``.zst``), Parquet or Arrow.
    graph
        The graph whose nodes these are.
    result
        A fitted classifier; or columns with one value for each node, written unchanged.
    format
        Overrides the suffix: csv, tsv, jsonl, parquet or arrow.
    confidence
        Whether to write this column; on first use a classifier needs up to three more solves for it.
    probabilities, temperatures
        Whether to add a column ``p_<class>`` or ``t_<class>`` for each class.
    only_unlabelled
        Whether to leave out the seeds.
    min_confidence
        Leave out nodes whose confidence is below this.
    force
        Whether to replace a file that exists.
    safe_cells
        Whether to put an apostrophe before text that a spreadsheet would run as a formula, in CSV and TSV. Without it
        ids and labels are written as they are, so that they can be read again.
    progress
        Called with the number of rows written so far and the total.

    Returns
    -------
    int
        The number of rows.

    Examples
    --------
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "eve"])
    >>> write_labels("-", graph, {"label": ["left", "left", None], "confidence": [1, 0.75, 0]})
    node,label,confidence
    ann,left,1.0
    bob,left,0.75
    eve,,0.0
    3
    """
    check_output(path, force=force, format=format)  # before the columns are worked out
    if isinstance(result, Mapping):
        if probabilities or temperatures or only_unlabelled:
            raise TypeError("probabilities, temperatures and only_unlabelled need a classifier, not columns")
        batches = iter([_given(graph, result)])
    elif result.fitted_.outcome.several:
        if probabilities or temperatures:
            raise TypeError("probabilities and temperatures are for one label per node: leave them out")
        batches = _pairs(graph, result, only_unlabelled)
    else:
        tables = _tables(result, confidence, probabilities, temperatures)
        batches = _single(graph, result, tables, only_unlabelled)
    if min_confidence is not None:
        batches = (_kept(columns, np.asarray(columns["confidence"]) >= min_confidence) for columns in batches)
    n = graph.n_nodes
    report = None if progress is None else (lambda done, _: progress(min(done, n), n))
    return write_rows(path, batches, format=format, force=force, safe_cells=safe_cells, progress=report)


def _given(graph: Graph, columns: Mapping[str, Any]) -> Columns:
    """Columns with one value for each node."""
    pl = need("polars", "writing labels")
    found = {name: pl.Series(name, values, strict=False) for name, values in columns.items()}
    for name, column in found.items():
        if len(column) != graph.n_nodes:
            raise ValueError(f"the column {name!r} has {len(column)} values for {graph.n_nodes} nodes")
    return {"node": graph.nodes[:], **found}


def _tables(
    result: Labelled, confidence: bool, probabilities: bool, temperatures: bool
) -> dict[str, NDArray[np.floating]]:
    """What is known about each node besides its label: confidence (n,), and tables of (n, K)."""
    found: dict[str, NDArray[np.floating]] = {"confidence": result.confidence_} if confidence else {}
    if probabilities or temperatures:
        kept = result.temperatures_  # raises an error if they were not kept
        found |= {"p": result.predict_proba()} if probabilities else {}
        found |= {"t": kept} if temperatures else {}
    return found


def _single(
    graph: Graph, result: Labelled, tables: Mapping[str, NDArray[np.floating]], only_unlabelled: bool
) -> Iterator[Columns]:
    """One label for each node, some nodes at a time, so that the columns of all nodes are never in memory at once."""
    for first in range(0, max(graph.n_nodes, 1), PIECE):
        rows = slice(first, min(first + PIECE, graph.n_nodes))
        reached = np.asarray(result.reached_[rows])
        columns = {"node": graph.nodes[rows], "label": np.ma.masked_array(result.labels_[rows], ~reached)}
        for prefix, values in tables.items():
            if values.ndim == 1:
                columns[prefix] = np.where(reached, values[rows], 0)
            else:
                names = (f"{prefix}_{label}" for label in result.classes_.tolist())
                columns |= zip(names, values[rows].T, strict=True)
        others = ~np.isin(np.arange(rows.start, rows.stop), result.seeds_.nodes)
        yield _kept(columns, others) if only_unlabelled else columns


def _pairs(graph: Graph, result: Labelled, only_unlabelled: bool) -> Iterator[Columns]:
    """A row for each label of each node, and one with an empty label for a node without labels."""
    found = result.confidence_.tocoo()  # (n, L)
    bare = np.flatnonzero(np.bincount(found.row, minlength=graph.n_nodes) == 0)
    nodes = np.concatenate([found.row, bare])
    codes = np.concatenate([found.col, np.full(len(bare), -1)])
    confidence = np.concatenate([found.data, np.zeros(len(bare))])
    order = np.lexsort((codes, -confidence, nodes))
    nodes, codes = nodes[order], codes[order]
    labels = np.ma.masked_array(result.classes_[codes], codes < 0)
    columns = {"node": graph.nodes[nodes], "label": labels, "confidence": confidence[order]}
    yield _kept(columns, ~np.isin(nodes, result.seeds_.nodes)) if only_unlabelled else columns


def _kept(columns: Columns, rows: NDArray[np.bool_]) -> Columns:
    """Some of the rows."""
    return {
        name: values[rows] if isinstance(values, np.ndarray) else values.filter(rows)
        for name, values in columns.items()
    }
