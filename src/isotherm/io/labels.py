"""Labels to files."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from isotherm.graph import Graph
from isotherm.io.errors import need
from isotherm.io.output import check_output, output_format, writing
from isotherm.io.streams import Progress

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Labelled", "write_labels", "write_table"]

ROWS = 1 << 16  # of text at once


class Labelled(Protocol):
    """What is written of a fitted classifier."""

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
    progress: Progress | None = None,
) -> int:
    """Write one row for each node, in the order of the graph: node, label, confidence.

    The label of an unreached node is empty and its confidence is 0. Where nodes may have several labels, there is a row
    for each of them, the most certain first, and one with an empty label if there is none. The file appears when it is
    complete; until then, and if anything goes wrong, what was there before stays.

    Parameters
    ----------
    path
        The file, or ``-`` for standard output. Its suffix decides the format: CSV, TSV, JSON lines (each also with
        ``.gz`` or ``.zst``), Parquet or Arrow.
    graph
        The graph whose nodes these are.
    result
        A fitted classifier; or columns of one value for each node, written as they are.
    format
        In place of the suffix: csv, tsv, jsonl, parquet or arrow.
    confidence
        Whether to write that column; it costs a classifier three solves on first use.
    probabilities, temperatures
        Whether to add a column ``p_<class>`` or ``t_<class>`` for each class.
    only_unlabelled
        Whether to leave out the seeds.
    min_confidence
        Leave out nodes whose confidence is below this.
    force
        Whether to replace a file that exists.
    progress
        Called with the rows that are written and all rows.

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
    path = os.fspath(path)
    check_output(path, force=force, format=format)
    need("polars", "writing labels")
    if isinstance(result, Mapping):
        if probabilities or temperatures or only_unlabelled:
            raise TypeError("probabilities, temperatures and only_unlabelled need a classifier, not columns")
        columns, keep = dict(result), np.ones(graph.n_nodes, dtype=bool)
    elif issparse(result.labels_):
        if probabilities or temperatures:
            raise TypeError("probabilities and temperatures are for one label per node: leave them out")
        return _written(path, _pairs(graph, result, only_unlabelled, min_confidence), format, force, progress)
    else:
        columns, keep = _columns(result, confidence, probabilities, temperatures), np.ones(graph.n_nodes, dtype=bool)
        keep[result.seeds_.nodes] = not only_unlabelled
    frame = _frame(graph, columns)
    if min_confidence is not None:
        keep &= frame["confidence"].to_numpy() >= min_confidence
    frame = frame if keep.all() else frame.filter(keep)
    return _written(path, frame, format, force, progress)


def _pairs(graph: Graph, result: Labelled, only_unlabelled: bool, min_confidence: float | None) -> "pl.DataFrame":
    """Rows of nodes and their labels, several for a node or one that is empty."""
    import polars as pl

    found = result.confidence_.tocoo()
    enough = found.data >= (min_confidence or 0)
    rows, columns, confidence = found.row[enough], found.col[enough], found.data[enough]
    bare = np.flatnonzero(np.bincount(rows, minlength=graph.n_nodes) == 0) if not min_confidence else rows[:0]
    nodes = np.concatenate([rows, bare])
    labels = np.concatenate([columns, np.full(len(bare), -1)])
    confidence = np.concatenate([confidence, np.zeros(len(bare))])
    order = np.lexsort((labels, -confidence, nodes))
    if only_unlabelled:
        order = order[~np.isin(nodes[order], result.seeds_.nodes)]
    known = len(result.classes_)
    names = _labels(np.append(result.classes_, result.classes_[:1]), np.arange(known + 1) < known)  # the last is empty
    label = names.gather(np.where(labels < 0, known, labels)[order]).alias("label")
    return pl.DataFrame([_ids(graph.nodes[nodes[order]]), label, pl.Series("confidence", confidence[order])])


def write_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, Iterable[Any]],
    *,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    force: bool = False,
) -> int:
    """Write columns of ids, labels or numbers, as `write_labels` does, and give the number of rows.

    >>> write_table("-", {"seed": ["ann", 7, None], "share": [0.75, 0.25, 0.0]})
    seed,share
    ann,0.75
    7,0.25
    ,0.0
    3
    """
    path = os.fspath(path)
    check_output(path, force=force, format=format)
    pl = need("polars", "writing tables")
    frame = pl.DataFrame([_series(name, list(values)) for name, values in columns.items()])
    return _written(path, frame, format, force)


def _series(name: str, values: list[Any]) -> "pl.Series":
    """Integers, or real numbers, or the texts of all others; None is empty."""
    import polars as pl

    given = [value for value in values if value is not None]
    kinds = set(map(type, given))
    if kinds == {int} and -(2**63) <= min(given) <= max(given) < 2**63:
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds == {float}:
        return pl.Series(name, values, dtype=pl.Float64)
    texts = [None if value is None else str(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def _written(
    path: str, frame: "pl.DataFrame", wanted: str | None, force: bool, progress: Progress | None = None
) -> int:
    known = output_format(path, wanted)
    with writing(path, compression=known.compression, force=force) as file:
        _write(frame, file, known.name, progress)
    return frame.height


def _columns(result: Labelled, confidence: bool, probabilities: bool, temperatures: bool) -> dict[str, Any]:
    """The columns of a classifier."""
    columns: dict[str, Any] = {"label": (result.labels_, result.reached_)}
    if confidence:
        columns["confidence"] = np.where(result.reached_, result.confidence_, 0)
    if not (probabilities or temperatures):
        return columns
    kept = result.temperatures_  # which says so if there were too many to keep
    for wanted, prefix, values in ((probabilities, "p", result.predict_proba), (temperatures, "t", lambda: kept)):
        if wanted:
            names = (f"{prefix}_{label}" for label in result.classes_.tolist())
            columns |= zip(names, values().T, strict=True)
    return columns


def _frame(graph: Graph, columns: Mapping[str, Any]) -> "pl.DataFrame":
    import polars as pl

    series = [_ids(graph.nodes)]
    for name, values in columns.items():
        column = _labels(*values) if isinstance(values, tuple) else pl.Series(values, strict=False)
        if len(column) != graph.n_nodes:
            raise ValueError(f"the column {name!r} has {len(column)} values for {graph.n_nodes} nodes")
        series.append(column.alias(name))
    return pl.DataFrame(series).with_columns(pl.selectors.float().fill_nan(None))


def _ids(nodes: NDArray[Any]) -> "pl.Series":
    """Node ids as integers or text; others by their text."""
    import polars as pl

    if nodes.dtype.kind in "iu":
        return pl.Series("node", nodes)
    try:
        return pl.Series("node", nodes.tolist(), dtype=pl.String)
    except TypeError:
        return pl.Series("node", list(map(str, nodes.tolist())), dtype=pl.String)


def _labels(labels: NDArray[Any], reached: NDArray[np.bool_]) -> "pl.Series":
    """Labels, null where unreached."""
    import polars as pl

    column = pl.Series(labels) if labels.dtype.kind in "iu" else pl.Series(labels.tolist(), dtype=pl.String)
    return column if reached.all() else column.zip_with(pl.Series(reached), pl.Series([None], dtype=column.dtype))


def _write(frame: "pl.DataFrame", file: IO[bytes], name: str, progress: Progress | None) -> None:
    if name == "parquet":
        frame.write_parquet(file)
    elif name == "arrow":
        frame.write_ipc(file, compression="zstd")
    else:
        done = 0
        for text in _texts(frame, name):
            file.write(text)
            done = min(done + ROWS, frame.height)
            if progress:
                progress(done, frame.height)


def _texts(frame: "pl.DataFrame", name: str) -> Iterator[bytes]:
    """The rows as text, some at a time."""
    for start in range(0, max(frame.height, 1), ROWS):
        part = frame.slice(start, ROWS)
        if name == "jsonl":
            yield part.write_ndjson().encode()
        else:
            yield part.write_csv(separator="\t" if name == "tsv" else ",", include_header=start == 0).encode()
