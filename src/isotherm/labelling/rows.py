"""The one table of results: a row for each node, or for each label of a node.

Data frames, files, the workers of a cluster and reports all take their rows from here.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.errors import ParameterError
from isotherm.graphs import Graph
from isotherm.labelling.fit import Fit
from isotherm.labelling.label_sets import LabelSets
from isotherm.seeds.encoding import Labels

PIECE = 1 << 20  # nodes whose columns are in memory at once

Column: TypeAlias = NDArray[Any]  # a masked array where values are missing
Rows: TypeAlias = dict[str, Column]


class Labelled(Protocol):
    """A fitted classifier."""

    fitted_: Fit


class Columns(NamedTuple):
    """Which columns and rows are wanted."""

    confidence: bool = True  # whether to add the probability of each label; a `DirichletClassifier` hides seeds for it
    probabilities: bool = False
    temperatures: bool = False
    sides: bool = False  # whether to add a column that says, in a bipartite graph, if a node is a row or a column
    only_unlabelled: bool = False  # whether to leave out the seeds
    min_confidence: float | None = None  # leave out nodes whose confidence is below this


def rows(fit: Fit, wanted: Columns = Columns(), nodes: Ints | slice | None = None) -> Iterator[Rows]:  # noqa: B008
    """The results of some nodes, or of all, in pieces; where a node may have several labels, a row for each.

    Labels are missing where nothing is known about a node.
    """
    outcome, graph = fit.outcome, fit.graph
    if isinstance(outcome, LabelSets):
        if wanted.probabilities or wanted.temperatures:
            raise ParameterError("probabilities and temperatures are for one label per node: leave them out")
        yield _pairs(fit, outcome, wanted, nodes)
        return
    needs_confidence = wanted.confidence or wanted.min_confidence is not None
    confidence = fit.confidence if needs_confidence else None
    temperatures = outcome.temperatures if wanted.temperatures else None
    chances = fit.probabilities() if wanted.probabilities else None
    is_seed = _is_seed(fit)
    for piece in _pieces(graph.n_nodes) if nodes is None else [nodes]:
        yield label_rows(
            graph.nodes[piece],
            outcome.codes[piece],
            fit.seeds.classes,
            wanted,
            confidence=None if confidence is None else confidence[piece],
            chances=None if chances is None else chances[piece],
            temperatures=None if temperatures is None else temperatures[piece],
            is_seed=is_seed[piece],
            is_row=None if graph.n_rows is None else np.arange(graph.n_nodes)[piece] < graph.n_rows,
        )


def label_rows(
    nodes: NDArray[Any],
    codes: Ints,
    classes: Labels,
    wanted: Columns,
    *,
    confidence: Doubles | None = None,
    chances: Doubles | None = None,
    temperatures: Floats | None = None,
    is_seed: Mask | None = None,
    is_row: Mask | None = None,
) -> Rows:
    """The rows of nodes with one label each; class number -1 means no label."""
    found: Rows = {"node": nodes}
    if wanted.sides and is_row is not None:
        found["side"] = np.where(is_row, "row", "column").astype(object)
    found["label"] = np.ma.array(classes[codes], mask=codes < 0)
    if wanted.confidence and confidence is not None:
        found["confidence"] = np.where(codes >= 0, confidence, 0)
    for prefix, table in (("p", chances), ("t", temperatures)):
        if table is not None:
            names = (f"{prefix}_{label}" for label in classes.tolist())
            found |= dict(zip(names, table.T, strict=True))
    return _chosen(found, wanted, is_seed, confidence)


def _chosen(found: Rows, wanted: Columns, is_seed: Mask | None, confidence: Doubles | None) -> Rows:
    keep = np.ones(len(found["node"]), bool)
    if wanted.only_unlabelled and is_seed is not None:
        keep &= ~is_seed
    if wanted.min_confidence is not None and confidence is not None:
        keep &= confidence >= wanted.min_confidence
    return found if keep.all() else {name: column[keep] for name, column in found.items()}


def _is_seed(fit: Fit) -> Mask:
    is_seed = np.zeros(fit.graph.n_nodes, bool)
    is_seed[fit.seeds.nodes] = True
    return is_seed


def _pieces(n: int) -> Iterator[slice]:
    """Ranges of nodes, so that text and columns of all nodes are never in memory at once."""
    return (slice(first, min(first + PIECE, n)) for first in range(0, max(n, 1), PIECE))


def _pairs(fit: Fit, outcome: LabelSets, wanted: Columns, nodes: Ints | slice | None) -> Rows:
    """A row for each label of each node, most certain first; one without label for a node that has none."""
    graph = fit.graph
    chosen = np.arange(graph.n_nodes)[slice(None) if nodes is None else nodes]
    table = fit.confidence if wanted.confidence or wanted.min_confidence is not None else outcome.warmth
    found = table[chosen].tocoo()  # (m, L)
    bare = np.flatnonzero(np.bincount(found.row, minlength=len(chosen)) == 0)
    places = np.concatenate([found.row, bare])
    codes = np.concatenate([found.col, np.full(len(bare), -1)])
    confidence = np.concatenate([found.data, np.zeros(len(bare))])
    order = np.lexsort((codes, -confidence, places))
    positions = chosen[places[order]]
    return label_rows(
        graph.nodes[positions],
        codes[order],
        fit.seeds.classes,
        wanted,
        confidence=confidence[order],
        is_seed=_is_seed(fit)[positions],
        is_row=None if graph.n_rows is None else positions < graph.n_rows,
    )


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
    progress: Callable[[int, int], None] | None = None,
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
    from isotherm.io.output import check_output, write_rows  # few fits need the writers of files

    check_output(path, force=force, format=format)  # before the columns are worked out
    if isinstance(result, Mapping):
        if probabilities or temperatures or only_unlabelled:
            raise TypeError("probabilities, temperatures and only_unlabelled need a classifier, not columns")
        batches: Iterable[Mapping[str, Any]] = [_checked_columns(graph, result, min_confidence)]
    else:
        wanted = Columns(
            confidence, probabilities, temperatures, only_unlabelled=only_unlabelled, min_confidence=min_confidence
        )
        batches = rows(result.fitted_, wanted)
    n = graph.n_nodes
    report = None if progress is None else (lambda done, _: progress(min(done, n), n))
    return write_rows(path, batches, format=format, force=force, safe_cells=safe_cells, progress=report)


def _checked_columns(graph: Graph, columns: Mapping[str, Any], min_confidence: float | None) -> dict[str, Any]:
    """Node ids and columns given by the caller, after a check that each has one value for each node."""
    from isotherm.io.errors import need

    pl = need("polars", "writing labels")
    found = {name: pl.Series(name, values, strict=False) for name, values in columns.items()}
    for name, column in found.items():
        if len(column) != graph.n_nodes:
            raise ValueError(f"the column {name!r} has {len(column)} values for {graph.n_nodes} nodes")
    keep = np.ones(graph.n_nodes, bool)
    if min_confidence is not None:
        keep = found["confidence"].to_numpy() >= min_confidence
    return {"node": graph.nodes[:][keep], **{name: column.filter(keep) for name, column in found.items()}}
