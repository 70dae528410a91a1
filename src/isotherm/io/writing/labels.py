"""Labels to files, some nodes at a time: what is known about all nodes is found first, then the file is written."""

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import need
from isotherm.io.streams import Progress
from isotherm.io.writing.output import check_output, output_format, writing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Labelled", "as_series", "write_labels", "write_table"]

FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?[0-9]+(\.[0-9]+)?$"
SHEET = (1 << 20) - 1  # rows of a sheet of Excel below its header
ROWS = 1 << 16  # rows of text that are written at once
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
    path = os.fspath(path)
    check_output(path, force=force, format=format)
    pl = need("polars", "writing labels")
    if isinstance(result, Mapping):
        if probabilities or temperatures or only_unlabelled:
            raise TypeError("probabilities, temperatures and only_unlabelled need a classifier, not columns")
        columns = [pl.Series(name, values, strict=False) for name, values in result.items()]
        frames = iter([_frame(graph.nodes[:], columns)])
    elif result.fitted_.outcome.several:
        if probabilities or temperatures:
            raise TypeError("probabilities and temperatures are for one label per node: leave them out")
        nodes, columns = _pairs(graph, result)
        frames = iter([_without_seeds(_frame(graph.nodes[nodes], columns), nodes, result, only_unlabelled)])
    else:
        reached = np.asarray(result.reached_)
        tables = _tables(result, confidence, probabilities, temperatures)

        def piece(rows: slice) -> Any:
            frame = _frame(graph.nodes[rows], _columns(result, reached[rows], tables, rows))
            return _without_seeds(frame, rows, result, only_unlabelled)

        frames = map(piece, _pieces(graph.n_nodes))
    if min_confidence is not None:
        frames = (frame.filter(pl.col("confidence") >= min_confidence) for frame in frames)
    return _written(path, frames, format, force, safe_cells, _reporting(progress, graph.n_nodes))


def _pieces(n: int) -> Iterator[slice]:
    """Ranges of rows, so that text and columns of all nodes are never in memory at once."""
    return (slice(first, min(first + PIECE, n)) for first in range(0, max(n, 1), PIECE))


def _reporting(progress: Progress | None, total: int) -> Callable[[int], None]:
    return lambda done: None if progress is None else progress(min(done, total), total)


def _without_seeds(frame: "pl.DataFrame", nodes: Any, result: Labelled, only_unlabelled: bool) -> "pl.DataFrame":
    if not only_unlabelled:
        return frame
    places = np.arange(nodes.start, nodes.stop) if isinstance(nodes, slice) else nodes
    return frame.filter(~np.isin(places, result.seeds_.nodes))


def write_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, Iterable[Any]],
    *,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    force: bool = False,
    safe_cells: bool = False,
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
    frame = pl.DataFrame([as_series(name, values) for name, values in columns.items()])
    return _written(path, iter([frame]), format, force, safe_cells)


def _written(
    path: str,
    frames: Iterator["pl.DataFrame"],
    wanted: str | None,
    force: bool,
    safe_cells: bool,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Write frames one after another, and give the number of rows."""
    known = output_format(path, wanted)
    if safe_cells and known.name in ("csv", "tsv"):
        frames = map(_harmless, frames)
    counted = _Counted(frames, progress)
    with writing(path, compression=known.compression, force=force) as file:
        _write(counted, file, known.name)
    return counted.rows


class _Counted:
    """Frames, and the number of rows of those that were used."""

    def __init__(self, frames: Iterator["pl.DataFrame"], progress: Callable[[int], None]) -> None:
        self._frames, self._progress, self.rows = frames, progress, 0

    def __iter__(self) -> Iterator["pl.DataFrame"]:
        for frame in self._frames:
            self.rows += frame.height
            yield frame
            self._progress(self.rows)


def _harmless(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The same, with an apostrophe before text that begins like a formula and is no number."""
    import polars as pl

    text = pl.selectors.string()
    formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    names = {name: f"'{name}" for name in frame.columns if re.search(FORMULA, name)}
    return frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep()).rename(names)


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


def _columns(
    result: Labelled, reached: NDArray[np.bool_], tables: Mapping[str, NDArray[np.floating]], rows: slice
) -> list["pl.Series"]:
    """The columns of a classifier with one label for each node, at some of the nodes."""
    import polars as pl

    columns = [as_series("label", result.labels_[rows], reached)]
    for prefix, values in tables.items():
        if values.ndim == 1:
            columns.append(pl.Series(prefix, np.where(reached, values[rows], 0)))
        else:
            names = (f"{prefix}_{label}" for label in result.classes_.tolist())
            columns += map(pl.Series, names, values[rows].T)
    return columns


def _pairs(graph: Graph, result: Labelled) -> tuple[NDArray[Any], list["pl.Series"]]:
    """A row for each label of each node, and one with an empty label for a node without labels."""
    import polars as pl

    found = result.confidence_.tocoo()  # (n, L)
    bare = np.flatnonzero(np.bincount(found.row, minlength=graph.n_nodes) == 0)
    nodes = np.concatenate([found.row, bare])
    labels = np.concatenate([found.col, np.full(len(bare), -1)])
    confidence = np.concatenate([found.data, np.zeros(len(bare))])
    order = np.lexsort((labels, -confidence, nodes))
    names = as_series("label", result.classes_[labels[order]], labels[order] >= 0)
    return nodes[order], [names, pl.Series("confidence", confidence[order])]


def _frame(nodes: NDArray[Any], columns: list["pl.Series"]) -> "pl.DataFrame":
    import polars as pl

    for column in columns:
        if len(column) != len(nodes):
            raise ValueError(f"the column {column.name!r} has {len(column)} values for {len(nodes)} nodes")
    return pl.DataFrame([as_series("node", nodes), *columns]).with_columns(pl.selectors.float().fill_nan(None))


def as_series(name: str, values: Any, known: NDArray[np.bool_] | None = None) -> "pl.Series":
    """A column of integers, of real numbers, or of the texts of anything else; null for None, and where not known."""
    import polars as pl

    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        values = _alike(list(values))
    column = pl.Series(name, values)
    return column if known is None else column.zip_with(pl.Series(known), pl.Series([None], dtype=column.dtype))


def _alike(values: list[Any]) -> "pl.Series":
    """Values of one type."""
    import polars as pl

    kinds = set(map(type, values)) - {type(None)}
    if kinds == {float} or (kinds == {int} and _fit_in_64_bits(values)):
        return pl.Series(values, dtype=pl.Float64 if kinds == {float} else pl.Int64)
    if kinds == {str}:
        return pl.Series(values, dtype=pl.String)
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)


def _fit_in_64_bits(values: list[int | None]) -> bool:
    given = [value for value in values if value is not None]
    return -(2**63) <= min(given) <= max(given) < 2**63


def _write(frames: Iterable["pl.DataFrame"], file: IO[bytes], name: str) -> None:
    if name == "xlsx":
        _write_sheet(list(frames), file)
        return
    if name in ("parquet", "arrow"):
        _write_columns(frames, file, name)
        return
    for number, frame in enumerate(frames):
        for text in _texts(frame, name, header=number == 0):
            file.write(text)


def _write_sheet(frames: list["pl.DataFrame"], file: IO[bytes]) -> None:
    """Write an Excel file; texts are never formulas in it."""
    import polars as pl

    whole = pl.concat(frames)
    if whole.height > SHEET:
        raise FileError(
            f"a sheet of Excel has at most {SHEET:,} rows, and there are {whole.height:,}; write CSV instead"
        )
    whole.write_excel(file, autofit=True)


def _write_columns(frames: Iterable["pl.DataFrame"], file: IO[bytes], name: str) -> None:
    """Write a columnar file, piece by piece if there are several."""
    from polars.io.plugins import register_io_source

    remaining = iter(frames)
    first, second = next(remaining), next(remaining, None)
    if second is None:
        first.write_parquet(file) if name == "parquet" else first.write_ipc(file, compression="zstd")
        return

    def source(*_: Any) -> Iterator["pl.DataFrame"]:
        return chain([first, second], remaining)

    rows = register_io_source(source, schema=first.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # polars may change how pieces are passed
        if name == "parquet":
            rows.sink_parquet(file, maintain_order=True)
        else:
            rows.sink_ipc(file, compression="zstd", maintain_order=True)


def _texts(frame: "pl.DataFrame", name: str, *, header: bool) -> Iterator[bytes]:
    """The rows as text, many at a time."""
    for start in range(0, max(frame.height, 1), ROWS):
        part = frame.slice(start, ROWS)
        if name == "jsonl":
            yield part.write_ndjson().encode()
        else:
            separator = "\t" if name == "tsv" else ","
            yield part.write_csv(separator=separator, include_header=header and start == 0).encode()
