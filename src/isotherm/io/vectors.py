"""Files to vectors: numeric columns or a column of lists, arrays of NumPy, or texts; also as features of nodes."""

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse, load_npz

from isotherm.errors import Option, warn
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.columns import CLEAR_LABELS, is_index_name, named, node_places
from isotherm.io.errors import FileWarning, blaming, need, shorten
from isotherm.io.file_layout import Column, Layout, Pick
from isotherm.io.formats import format_of
from isotherm.io.streams import Input

if TYPE_CHECKING:
    import polars as pl

__all__ = ["VectorsFile", "read_features", "read_vectors", "read_vectors_file"]


class VectorsFile(NamedTuple):
    """A table that was read.

    Attributes
    ----------
    vectors
        The numbers, (n, p), dense or sparse; for texts their TF-IDF.
    ids
        The ids of the rows; None if they are counted from 0.
    layout
        How the file is laid out.
    """

    vectors: Any
    ids: list[Any] | None
    layout: Layout


def read_vectors(
    path: str | os.PathLike[str],
    *,
    id: Pick = None,  # noqa: A002 - the name of the option
    text: Pick = None,
) -> tuple[Any, list[Any] | None]:
    r"""Read a table of vectors, and the ids of its rows (None if they are counted from 0).

    Parquet and Arrow files have a column of lists, or numeric columns. CSV and TSV have numeric columns below a header.
    ``.npy`` has an array of two dimensions; ``.npz`` such an array, if it is named vectors or the only one, or a sparse
    matrix of SciPy. A column that is named id, node or the like has the ids; one named label, class or the like is left
    out.

    Parameters
    ----------
    path
        The file.
    id
        The column of ids, by name or by number from 1.
    text
        A column of texts, to be read in place of numbers: their words are weighted by TF-IDF.

    Examples
    --------
    >>> import tempfile
    >>> table = Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = table.write_text("id,x,y\na,0,1\nb,2,3\n")
    >>> read_vectors(table)
    (array([[0., 1.],
           [2., 3.]]), ['a', 'b'])
    """
    read = read_vectors_file(path, id=id, text=text)
    return read.vectors, read.ids


def read_vectors_file(
    path: str | os.PathLike[str],
    *,
    id: Pick = None,  # noqa: A002 - the name of the option
    text: Pick = None,
) -> VectorsFile:
    """Read a table as `read_vectors` does, and say which columns were found."""
    file = Input(os.fspath(path))
    file.check()
    if file.path.lower().endswith((".npy", ".npz")):
        if id is not None or text is not None:
            raise FileError(f"{file.name} has no columns with names: leave out the column of ids or texts")
        return VectorsFile(_read_array(file), None, Layout(file.path[-3:].lower(), first_id=0))
    kind = format_of(file.path).name
    with blaming(file.name, f"a table in the format {kind}"):
        frame = _read_frame(file, kind)
    return _from_frame(file.name, kind, frame, id, text)


def _read_array(file: Input) -> Any:
    source = BytesIO(file.content()) if file.path == "-" else file.path
    with blaming(file.name, "an array of NumPy or a sparse matrix of SciPy"):
        loaded = np.load(source, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            if "format" in loaded and "shape" in loaded:
                return load_npz(source)
            wide = [name for name in loaded if loaded[name].ndim == 2]
            name = "vectors" if "vectors" in wide else wide[0] if len(wide) == 1 else None
            if name is not None:
                return loaded[name]
    listed = f" ({', '.join(wide)})" if wide else ""
    raise FileError(
        f"{file.name} has {len(wide) or 'no'} arrays of two dimensions{listed}: name the one to read vectors"
    )


def _read_frame(file: Input, kind: str) -> "pl.DataFrame":
    pl = need("polars", "reading tables")
    source = BytesIO(file.content()) if kind in ("csv", "tsv", "jsonl") else file.source()
    if kind == "parquet":
        return pl.read_parquet(source)
    if kind == "arrow":
        return pl.read_ipc(source) if Path(file.path).suffix != ".stream" else pl.read_ipc_stream(source)
    if kind == "jsonl":
        return pl.read_ndjson(source)
    if kind in ("csv", "tsv"):
        return pl.read_csv(source, separator="," if kind == "csv" else "\t", infer_schema_length=10_000)
    raise FileError(f"{file.name}: a table of vectors is csv, tsv, jsonl, parquet, arrow, npy or npz, not {kind}")


def _from_frame(name: str, kind: str, frame: "pl.DataFrame", id: Pick, text: Pick) -> VectorsFile:  # noqa: A002
    names = frame.columns
    texts = None if text is None else _place(name, names, text, "text")
    ids = _place(name, names, id, "id") if id is not None else _id_place(frame, texts)
    roles: dict[str, Column | None] = {"id": None if ids is None else Column(ids + 1, names[ids])}
    if texts is not None:
        roles["text"] = Column(texts + 1, names[texts])
        vectors, label = _tf_idf(name, frame.to_series(texts)), None
    else:
        label = named(names, CLEAR_LABELS, {ids})
        places = _vector_places(name, frame, {ids, label})
        vectors = _numbers(name, frame, places)
        roles["vectors"] = Column(places[0] + 1, names[places[0]])
        roles["to"] = Column(places[-1] + 1, names[places[-1]]) if len(places) > 1 else None
    found = None if ids is None else frame.to_series(ids).to_list()
    if found is not None and None in found:
        raise FileError(f"{name}, row {found.index(None) + 1}: the id is empty; fill it in, or drop the row")
    return VectorsFile(vectors, found, Layout(kind, roles, first_id=0 if found is None else None))


def _place(path: str, names: Sequence[str], pick: Pick, role: str) -> int:
    if pick in names:
        return list(names).index(str(pick))
    if str(pick).isdigit() and 1 <= int(str(pick)) <= len(names):
        return int(str(pick)) - 1
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise FileError(
        "{path} has no column {pick} for {role}: choose one of {shown}",
        path=path,
        pick=repr(pick),
        role=Option(role),
        shown=shown,
    )


def _id_place(frame: "pl.DataFrame", texts: int | None) -> int | None:
    """The column of ids: the first that is named so and has each value once."""
    names, label = frame.columns, named(frame.columns, CLEAR_LABELS, {texts})
    places = node_places(names, {texts, label}) + [place for place, name in enumerate(names) if is_index_name(name)]
    good = (place for place in places if _identifies(frame.to_series(place)))
    return next(good, None)


def _identifies(column: "pl.Series") -> bool:
    return (column.dtype.is_integer() or str(column.dtype) in ("String", "Categorical")) and column.is_unique().all()


def _vector_places(path: str, frame: "pl.DataFrame", left_out: set[int | None]) -> list[int]:
    free = [place for place in range(frame.width) if place not in left_out]
    lists = [place for place in free if str(frame.dtypes[place]).startswith(("List", "Array"))]
    if len(lists) > 1:
        raise FileError(f"{path} has {len(lists)} columns of lists: keep the one with the vectors")
    places = lists or [
        place for place in free if frame.dtypes[place].is_numeric() or str(frame.dtypes[place]) == "Boolean"
    ]
    if not places:
        raise FileError(
            "{path} has no numeric columns and no column of lists: name a column of texts with {text}, or encode them",
            path=path,
            text=Option("text"),
        )
    return places


def _numbers(path: str, frame: "pl.DataFrame", places: list[int]) -> Any:
    import polars as pl

    columns = frame.select(frame.columns[place] for place in places)
    if not str(columns.dtypes[0]).startswith(("List", "Array")):
        narrow = all(dtype == pl.Float32 for dtype in columns.dtypes)
        return columns.cast(pl.Float32 if narrow else pl.Float64).to_numpy()
    column = columns.to_series()
    lengths = (
        column.cast(pl.List(pl.Float64)).list.len() if str(column.dtype).startswith("Array") else column.list.len()
    )
    if lengths.null_count() or lengths.n_unique() != 1:
        row = next(place for place, length in enumerate(lengths) if length is None or length != lengths[0])
        raise FileError(f"{path}, row {row + 1}: the list has not as many numbers as that of the first row")
    exploded = column.explode()
    kind = np.float32 if exploded.dtype == pl.Float32 else np.float64
    return exploded.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(kind).reshape(len(column), -1)


def _tf_idf(path: str, texts: "pl.Series") -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    if str(texts.dtype) not in ("String", "Categorical"):
        raise FileError(f"{path}: the column {texts.name} holds {texts.dtype}, not texts; choose another column")
    words = texts.cast(str).fill_null("").to_list()
    try:
        found = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, min_df=2 if len(words) > 100 else 1)
        vectors = found.fit_transform(words)
    except ValueError:
        raise FileError(f"{path}: the column {texts.name} has no words; choose another column") from None
    assert issparse(vectors)
    return vectors


def read_features(
    path: str | os.PathLike[str],
    graph: Graph,
    *,
    id: Pick = None,  # noqa: A002 - the name of the option
    text: Pick = None,
) -> Any:
    """The features of the nodes of a graph, one row for each, in its order; dense or sparse as in the file.

    Parameters
    ----------
    path, id, text
        As for `isotherm.io.vectors.read_vectors`.
    graph
        The graph. Ids are compared as text; without a column of ids, rows are the nodes 0, 1, ... Rows of other nodes
        are left out. Nodes without a row have zeros, with a warning.

    Raises
    ------
    FileError
        If the file cannot be read, none of its rows is a node, or a node has two.
    """
    name = os.fspath(path)
    read = read_vectors_file(path, id=id, text=text)
    ids = range(read.vectors.shape[0]) if read.ids is None else read.ids
    rows, places = _matched(name, ids, graph)
    if len(rows) < graph.n_nodes:
        lost = f"{graph.n_nodes - len(rows):,} of {graph.n_nodes:,} nodes have no features"
        warn(FileWarning(f"{name}: {lost}; theirs are 0"))
    if not issparse(read.vectors):
        found = np.zeros((graph.n_nodes, read.vectors.shape[1]))
        found[places] = read.vectors[rows]
        return found
    order = csr_array((np.ones(len(rows)), (places, rows)), shape=(graph.n_nodes, read.vectors.shape[0]))
    return csr_array(order @ csr_array(read.vectors))


def _matched(name: str, ids: Any, graph: Graph) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The rows that are nodes, and the places of these nodes."""
    known = {str(node): place for place, node in enumerate(graph.nodes.tolist())}
    found = np.array([known.get(str(each), -1) for each in ids], dtype=np.int64)
    rows = np.flatnonzero(found >= 0)
    if not len(rows):
        raise FileError(f"{name}: none of its {len(found):,} rows is a node of the graph; choose another column of ids")
    nodes, counts = np.unique(found[rows], return_counts=True)
    if counts.max() > 1:
        twice = shorten(graph.nodes[nodes[counts.argmax()]])
        raise FileError(f"{name}: the node {twice} has {counts.max()} rows; keep one of them")
    return rows, found[rows]
