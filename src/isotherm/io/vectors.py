"""Files to vectors: numeric columns or a column of lists, arrays of NumPy, or texts; also as features of nodes."""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.choices import DecimalSign
from isotherm.errors import Option, ParameterError, warn
from isotherm.files import FileError, is_stream
from isotherm.graphs import Graph
from isotherm.graphs.untrusted import sparse_of_arrays
from isotherm.graphs.vector_rows import REMEDY, first_odd
from isotherm.io.batches import Table, check_decimal_sign, written_numbers
from isotherm.io.columns import (
    ANSWERS,
    MOST_LABELS,
    MOSTLY,
    Names,
    is_index_name,
    named,
    node_places,
    picked_place,
)
from isotherm.io.errors import FileWarning, UnclearError, blaming, need, shorten
from isotherm.io.file_layout import Column, Layout, Pick
from isotherm.io.formats import TEXTUAL, format_of
from isotherm.io.matrices import opened_npz
from isotherm.io.memory import Budget
from isotherm.io.number_styles import find_style, unclear_number
from isotherm.io.streams import Input, opened, peek
from isotherm.io.tables import open_table

if TYPE_CHECKING:  # few commands need features
    import polars as pl

    from isotherm.io.feature_table import FeatureTable
    from isotherm.io.node_rows import NodeFeatures

ARRAYS = (".npy", ".npz")
IDS_ONLY = ("id", "nodeid", "node", "vertex", "vertexid")  # names of columns whose values must differ
TABLES = (*TEXTUAL, "jsonl", "parquet", "arrow", "xlsx")


class VectorsFile(NamedTuple):
    """A table that was read."""

    vectors: Any  # the numbers, (n, p), dense or sparse; for texts their TF-IDF
    ids: list[Any] | None  # the ids of the rows; None if they are counted from 0
    layout: Layout  # how the file is laid out
    names: tuple[str | int, ...] | None = None  # the name or number of each column of numbers, for messages

    @property
    def named(self) -> Any:
        """The vectors with the names of their columns, as `Graph.from_vectors` takes them."""
        return self.vectors if self.names is None else NamedColumns(self.vectors, self.names)


@dataclass(frozen=True)
class NamedColumns:
    """An array whose columns have names, as in a data frame."""

    values: Any  # (n, p)
    columns: tuple[str | int, ...]

    def to_numpy(self) -> Any:
        """The array."""
        return self.values


@dataclass(frozen=True)
class TableOptions:
    """What the caller knows about a table; None for what is to be found out."""

    id: Pick = None
    text: Pick = None  # a column of texts, to be read in place of numbers: their words are weighted by TF-IDF
    delimiter: str | None = None
    header: bool | None = None
    format: str | None = None
    encoding: str | None = None
    thousands: bool | None = None
    decimal: DecimalSign | None = None


def read_vectors(
    path: str | os.PathLike[str],
    options: TableOptions = TableOptions(),
    *,
    seeds: Collection[Any] = (),  # they tell which column has the ids, if no name does
) -> VectorsFile:
    r"""Read a table of vectors, and the ids of its rows.

    Parquet and Arrow files and JSON lines have a column of lists, or numeric columns. CSV, TSV and Excel files have
    numeric columns below a header. ``.npy`` has an array of two dimensions; ``.npz`` such an array, if it is named
    vectors or the only one, or a sparse matrix of SciPy. A column that is named id, node or the like has the ids, or
    the one that holds the seeds; one named label, class, target or the like is left out.

    >>> import tempfile
    >>> from pathlib import Path
    >>> table = Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = table.write_text("id,x,y\na,0,1\nb,2,3\n")
    >>> read_vectors(table)[:2]
    (array([[0., 1.],
           [2., 3.]]), ['a', 'b'])
    """
    path = os.fspath(path)
    opened = _opened(path, options)
    if isinstance(opened, VectorsFile):
        return opened
    file, kind, table = opened
    return _from_table(file.name, kind, table, options, seeds, partial(_place_of_row, path, options))


def _place_of_row(path: str, options: TableOptions, row: int) -> str:
    """Where a row of a table is in its file, which is read again to find that."""
    opened = None if is_stream(path) else _opened(path, options)
    if opened is not None and not isinstance(opened, VectorsFile):
        before = 0
        for batch in opened[2].batches({"0": 0}):
            if row < before + batch.frame.height:
                return batch.place(row - before)
            before += batch.frame.height
    return f"row {row + 1}"


def _opened(path: str, options: TableOptions) -> VectorsFile | tuple[Input, str, Table]:
    """An array that was read, or a table that was opened, with its file and format."""
    Input(path).check()
    if options.format == "npz" or (options.format is None and path.lower().endswith(ARRAYS)):
        for name in ("id", "text", "delimiter", "header", "thousands", "decimal"):
            if getattr(options, name) is not None:
                message = "{path} is an array, which has no columns with names; leave out {option}"
                raise FileError(message, path=path, option=Option(name))
        return VectorsFile(_read_array(Input(path)), None, Layout(path[-3:].lower(), first_id=0))
    known = format_of(path, options.format)
    if known.name not in TABLES:
        raise FileError(f"{path}: a table of vectors is {', '.join(TABLES)}, npy or npz, not {known.name}")
    file, wanted = Input(path, known.compression, None, options.encoding), (options.id, options.text)
    delimiter, header = options.delimiter, options.header
    table = open_table(file, known.name, rows="vectors", delimiter=delimiter, header=header, wanted=wanted)
    return file, known.name, table


@dataclass(frozen=True)
class FeatureFile:
    """A table of features that was read, before its columns become numbers."""

    name: str  # of the file, for messages
    content: Any  # the columns by name, or an array
    ids: list[Any]  # the ids of the rows
    layout: Layout
    text: str | None = None  # the name of the column of texts that was picked

    def most_are_nodes(self, graph: Graph) -> bool:
        """Whether most rows are nodes, so that the others may be nodes without links."""
        from isotherm.io.node_rows import matched_rows, node_texts

        return 2 * len(matched_rows(self.ids, node_texts(graph)).rows) > len(self.ids)

    def at(self, graph: Graph, how: "FeatureTable | None" = None) -> "NodeFeatures":
        """The features of the nodes of a graph; rows of other nodes are left out, and zeros are filled in."""
        from isotherm.io.feature_table import FeatureTable
        from isotherm.io.node_rows import chosen_rows, features_of

        table = FeatureTable() if how is None else how
        if self.text is not None:
            table = FeatureTable(**table.get_params() | {"text": self.text})
        try:
            found = chosen_rows(self.ids, graph, self.name)
            without = graph.n_nodes - len(found.rows)
            if without:
                lost = f"{without:,} of {graph.n_nodes:,} nodes have no features"
                warn(FileWarning(f"{self.name}: {lost}; theirs are 0"))
            return features_of(found, self.content, graph, self.name, table)
        except ParameterError as error:
            if "name" in error.facts:  # the sentence names the file
                raise FileError(error.template, **error.facts) from None
            raise FileError("{path}: {error}", path=self.name, error=error) from None


def read_feature_file(
    path: str | os.PathLike[str],
    graph: Graph | None = None,  # its nodes tell which column has the ids, if no name does
    options: TableOptions = TableOptions(),
) -> FeatureFile:
    """Read a table of features, and find the column of ids; without one, rows are the nodes 0, 1, ..."""
    from isotherm.io.node_rows import id_place

    path, picks = os.fspath(path), {"id": options.id, "text": options.text}
    opened = _opened(path, options)
    if isinstance(opened, VectorsFile):
        return FeatureFile(path, opened.vectors, list(range(opened.vectors.shape[0])), opened.layout)
    file, kind, table = opened
    columns = {_title(table.names, place): column for place, column in enumerate(_frame(table, None).iter_columns())}
    picked, texts = (picked_place(file.name, table.names, pick, role) for role, pick in picks.items())
    place = id_place(table.names, list(columns.values()), graph, taken={texts}) if picked is None else picked
    titles = list(columns)
    roles = {"id": None if place is None else Column(place + 1, table.names[place])}
    layout = table.layout(kind, roles)
    chosen = None if texts is None else titles[texts]
    if place is None:
        ids: list[Any] = list(range(len(next(iter(columns.values())))))
        return FeatureFile(file.name, columns, ids, replace(layout, first_id=0), chosen)
    ids = columns.pop(titles[place]).to_list()
    empty = next((row for row, each in enumerate(ids, 1) if each is None or each == ""), None)
    if empty is not None:
        raise _empty_id(file.name, f"row {empty}")
    return FeatureFile(file.name, columns, ids, layout, chosen)


def read_node_ids(path: str | os.PathLike[str], *, id: Pick = None) -> list[Any]:  # noqa: A002 - the name of the option
    """The ids in a table of nodes: of the column that its name tells, else of the first."""
    path = os.fspath(path)
    opened = _opened(path, TableOptions(id=id))
    if isinstance(opened, VectorsFile):
        raise FileError(f"{path} is an array, which has no ids of nodes; give a table")
    file, _, table = opened
    place = picked_place(file.name, table.names, id, "id")
    if place is None:
        place = next(iter(node_places(table.names, ())), 0)
    return _frame(table, None).to_series(place).drop_nulls().to_list()


def _read_array(file: Input) -> Any:
    source = file.source()
    kind = "an array of NumPy or a sparse matrix of SciPy"
    with blaming(file.name, kind):
        if peek(source, 2) != b"PK":
            with opened(source) as handle:
                return np.lib.format.read_array(handle, allow_pickle=False)
        with opened_npz(file, source=source) as handle, np.load(handle, allow_pickle=False) as loaded:
            if "format" in loaded and "shape" in loaded:
                matrix = sparse_of_arrays(loaded)
                Budget(file.name).check_bytes(8 * matrix.shape[0], f"a matrix of {matrix.shape[0]:,} rows")
                return matrix
            wide = [name for name in loaded if loaded[name].ndim == 2]
            name = "vectors" if "vectors" in wide else wide[0] if len(wide) == 1 else None
            if name is not None:
                return loaded[name]
    listed = f" ({', '.join(wide)})" if wide else ""
    raise FileError(
        f"{file.name} has {len(wide) or 'no'} arrays of two dimensions{listed}: name the one to read vectors"
    )


def _from_table(
    path: str, kind: str, table: Table, options: TableOptions, seeds: Collection[Any], where: Callable[[int], str]
) -> VectorsFile:
    names = table.names
    picks = {"text": options.text, "id": options.id}
    texts, picked = (picked_place(path, names, pick, role) for role, pick in picks.items())
    unpicked = (place for place in range(len(names)) if place not in {texts, picked})
    answers = {place for place in unpicked if named([names[place]], ANSWERS, ()) is not None}
    likely = node_places(names, {texts, *answers}) + [place for place, name in enumerate(names) if is_index_name(name)]
    numbers = {place for place, each in enumerate(table.values) if each.numbering} if seeds else set[int]()
    as_texts = range(len(names)) if options.decimal == "," else ()
    raw = _frame(table, {texts, picked, *likely, *numbers, *as_texts})
    as_ids = (lambda column: column) if table.dialect is None else _as_ids
    ids = picked
    if picked is None:
        free = [place for place in range(len(names)) if place not in {texts, *answers}]
        columns = {place: as_ids(raw.to_series(place)) for place in {*likely, *(free if seeds else ())}}
        ids = _place_of_ids(path, names, columns, likely, seeds, where)
    roles = {"id": None if ids is None else Column(ids + 1, names[ids])}
    titles: tuple[str | int, ...] | None = None
    unread: tuple[str, ...] = ()
    if texts is not None:
        roles["text"] = Column(texts + 1, names[texts])
        column = raw.to_series(texts)
        vectors = _tf_idf(path, column if table.dialect is None else _typed(column), _title(names, texts))
    else:
        apart = {ids, *answers}
        frame = _with_numbers(path, kind, table, raw, apart, options, where)
        places = _vector_places(path, frame, apart | {_answer_y(names, frame, apart)})
        if options.decimal is None:
            check_decimal_sign(path, table.values, {_title(names, place): place for place in places})
        vectors = _numbers(path, frame, places)
        _check_finite(path, vectors, [_title(names, place) for place in places], where)
        roles["vectors"] = Column(places[0] + 1, names[places[0]])
        roles["to"] = Column(places[-1] + 1, names[places[-1]]) if len(places) > 1 else None
        unread = tuple(_title(names, place) for place in range(len(names)) if place not in {ids, *places})
        if len(places) == vectors.shape[1]:
            titles = tuple(names[place] or place + 1 for place in places)
    found = None if ids is None else as_ids(raw.to_series(ids)).to_list()
    if found is not None and None in found:
        raise _empty_id(path, where(found.index(None)))
    first_id = 0 if found is None else None
    return VectorsFile(vectors, found, replace(table.layout(kind, roles), first_id=first_id, left_out=unread), titles)


def _place_of_ids(
    path: str,
    names: Names,
    columns: "dict[int, pl.Series]",  # columns that may hold ids, by place
    likely: list[int],  # places of columns with names of ids
    seeds: Collection[Any],
    where: Callable[[int], str],
) -> int | None:
    """The column of ids, None if rows are to be counted."""
    found = next((place for place in likely if _identifies(columns[place])), None)
    if found is None and seeds:
        found = _place_by_seeds(path, names, columns, seeds)
    if found is None:
        _check_repeated(path, names, {place: columns[place] for place in likely}, where)
    return found


def _with_numbers(
    path: str,
    kind: str,
    table: Table,
    raw: "pl.DataFrame",
    others: set[int | None],
    options: TableOptions,
    where: Callable[[int], str],
) -> "pl.DataFrame":
    """The columns of a table, those of written numbers as numbers; one that is mostly numbers is refused."""
    columns = []
    for place, column in enumerate(raw.iter_columns()):
        if place not in others and str(column.dtype) == "String" and (table.dialect is not None or kind == "xlsx"):
            given, title = column.str.strip_chars().replace("", None), _title(table.names, place)
            column = column if table.dialect is None else _written(path, given, title, options)
            if str(column.dtype) == "String":
                _check_unmixed(path, given, title, where, bare=table.names[place] is None)
        columns.append(column)
    return raw.with_columns(columns)


def _written(path: str, given: "pl.Series", title: str, options: TableOptions) -> "pl.Series":
    """Texts as numbers or truth values if all of them are such, in any style; else the same."""
    decimal, thousands = options.decimal, bool(options.thousands)
    numbers = written_numbers(given, decimal, thousands)
    if numbers.null_count() == given.null_count():
        return numbers
    if given.is_in(["true", "false"]).all():
        return given == "true"
    try:
        style = find_style(given.drop_nulls().unique().to_list(), decimal=decimal, thousands=thousands)
    except ParameterError as error:
        raise FileError("{path}: {error}", path=path, error=unclear_number(error.facts["text"], title)) from None
    return given if style is None else written_numbers(given, style.decimal, thousands=True)


def _check_unmixed(path: str, given: "pl.Series", title: str, where: Callable[[int], str], *, bare: bool) -> None:
    """Refuse a column of which most values are numbers, but not all."""
    known = given.is_not_null()
    numbers = min(
        (written_numbers(given, sign, thousands=True) for sign in (".", ",")), key=lambda each: each.null_count()
    )
    odd = known & numbers.is_null()
    if odd.any() and 2 * odd.sum() < known.sum():
        row = odd.arg_max() or 0
        found = f"{shorten(given[row])} in the column {shorten(title)} is not a number, as most of its values are"
        message = "{path}, {where}: {found}; correct it, or delete the row or the column"
        message += ", or {header} if this row is a header" if bare and row == 0 else ""
        raise FileError(message, path=path, where=where(row), found=found, header=Option("header", True))


def _check_finite(path: str, vectors: Any, titles: list[str], where: Callable[[int], str]) -> None:
    """Refuse a table with a value that is missing or infinite."""
    odd = first_odd(vectors)
    if odd is not None:
        row, column, value = odd
        title = titles[column] if len(titles) == vectors.shape[1] else titles[0]
        raise FileError(f"{path}, {where(row)}: the column {shorten(title)} has {value}; {REMEDY}")


def _answer_y(names: Names, frame: "pl.DataFrame", others: set[int | None]) -> int | None:
    """A column named y that holds labels, as for scikit-learn: few values, and no column named x."""
    place = named(names, ("y",), others)
    if place is None or named(names, ("x",), ()) is not None:
        return None
    return place if frame.to_series(place).n_unique() <= min(MOST_LABELS, frame.height / 2) else None


def _place_by_seeds(path: str, names: Names, columns: "dict[int, pl.Series]", seeds: Collection[Any]) -> int | None:
    """The column of ids that has most of the seeds; a question if they may be numbers of rows as well."""
    wanted = set(map(str, seeds))
    held = {
        place: len(wanted.intersection(map(str, column.to_list())))
        for place, column in columns.items()
        if _identifies(column) and not _counts_rows(column)
    }
    best = max(held, key=held.__getitem__, default=None)
    if best is None or 2 * held[best] <= len(wanted):
        return None
    rows = len(wanted.intersection(map(str, range(len(columns[best])))))
    if rows >= held[best]:
        message = (
            "{path}: the labelled nodes may be values of the column {title} or numbers of rows from 0; add a column "
            "named id if they are numbers of rows, else name that column, as in {id}"
        )
        choice = Option("id", names[best] or best + 1)
        raise UnclearError(message, path=path, title=shorten(_title(names, best)), id=choice)
    return best


def _counts_rows(column: "pl.Series") -> bool:
    return bool(column.dtype.is_integer()) and column.to_list() == list(range(len(column)))


def _check_repeated(path: str, names: Names, columns: "dict[int, pl.Series]", where: Callable[[int], str]) -> None:
    """Refuse a column that is named as ids are, and holds one of them twice."""
    for place, column in columns.items():
        certain = named([names[place]], IDS_ONLY, ()) is not None
        if column.dtype.is_float() or is_index_name(names[place]) or column.is_unique().all():
            continue
        if certain and column.null_count():
            raise _empty_id(path, where(column.is_null().arg_max() or 0))
        if not certain and column.n_unique() <= MOSTLY * len(column):
            continue
        again = (~column.is_first_distinct()).arg_max() or 0
        first = column.to_list().index(column[again])
        twice = f"the id {shorten(column[again])} in {shorten(_title(names, place))} occurs twice"
        message = "{path}, {where}: {twice}, first in {first}; keep one of the rows, or choose another column with {id}"
        facts = {"where": where(again), "twice": twice, "first": where(first), "id": Option("id")}
        raise FileError(message, path=path, **facts)


def _empty_id(path: str, place: str) -> FileError:
    return FileError(f"{path}, {place}: the id is empty; fill it in, or drop the row")


def _frame(table: Table, not_numbers: set[int | None] | None) -> "pl.DataFrame":
    """All columns of a table; text stays text, unless it is numeric and its place is not in ``not_numbers``."""
    pl = need("polars", "reading tables")
    places = {str(place): place for place in range(len(table.names))}
    numeric = set[str]()
    if not_numbers is not None:
        numeric = {str(place) for place, each in enumerate(table.values) if each.numeric and place not in not_numbers}
    frames = [batch.frame for batch in table.batches(places, frozenset(numeric))]
    return pl.concat(frames, how="vertical_relaxed")


def _typed(column: "pl.Series") -> "pl.Series":
    """A column of texts as numbers or truth values, if all of them are; empty ones are null."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    given = column.set(column.str.strip_chars() == "", None)
    numbers = given.str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count() == given.null_count():
        return numbers
    return given == "true" if given.is_in(["true", "false"]).all() else given


def _as_ids(column: "pl.Series") -> "pl.Series":
    """Ids of delimited text: integers if all are written as such, else text; numbers with fractions are no ids."""
    import polars as pl

    typed = _typed(column)
    if column.dtype != pl.String or typed.dtype != pl.Float64:
        return typed
    given = column.set(column.str.strip_chars() == "", None)
    whole = given.cast(pl.Int64, strict=False)
    if whole.null_count() == given.null_count() and (whole.cast(pl.String) == given).all():
        return whole
    return given if given.str.contains(r"^[0-9]+$").all() else typed


def _title(names: Names, place: int) -> str:
    """The name of a column; its number if it has none, or shares it."""
    name = names[place]
    return str(place + 1) if not name or list(names).count(name) > 1 else name


def _identifies(column: "pl.Series") -> bool:
    return (column.dtype.is_integer() or str(column.dtype) in ("String", "Categorical")) and column.is_unique().all()


def _vector_places(path: str, frame: "pl.DataFrame", left_out: set[int | None]) -> list[int]:
    free = [place for place in range(frame.width) if place not in left_out]
    lists = [place for place in free if _holds_lists(frame.to_series(place))]
    if len(lists) > 1:
        raise FileError(f"{path} has {len(lists)} columns of lists: keep the one with the vectors")
    places = lists or [
        place for place in free if frame.dtypes[place].is_numeric() or str(frame.dtypes[place]) == "Boolean"
    ]
    if not places:
        message = (
            "{path} has no numeric columns and no column of lists: name a column of texts with {text}, or encode them"
        )
        raise FileError(message, path=path, text=Option("text"))
    return places


def _holds_lists(column: "pl.Series") -> bool:
    return str(column.dtype).startswith(("List", "Array"))


def _numbers(path: str, frame: "pl.DataFrame", places: list[int]) -> Any:
    import polars as pl

    columns = frame.select(frame.columns[place] for place in places)
    if not _holds_lists(columns.to_series(0)):
        narrow = all(dtype == pl.Float32 for dtype in columns.dtypes)
        return columns.cast(pl.Float32 if narrow else pl.Float64).to_numpy()
    column = columns.to_series()
    column = column.arr.to_list() if str(column.dtype).startswith("Array") else column
    lengths = column.list.len()
    if lengths.null_count() or lengths.n_unique() != 1:
        row = next(place for place, length in enumerate(lengths) if length is None or length != lengths[0])
        raise FileError(f"{path}, row {row + 1}: the list has a different length from the first row")
    exploded = column.explode()
    kind = np.float32 if exploded.dtype == pl.Float32 else np.float64
    return exploded.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(kind).reshape(len(column), -1)


def _tf_idf(path: str, texts: "pl.Series", title: str) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    if str(texts.dtype) not in ("String", "Categorical"):
        raise FileError(f"{path}: the column {title} holds {texts.dtype}, not texts; choose another column")
    words = texts.cast(str).fill_null("").to_list()
    try:
        found = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, min_df=2 if len(words) > 100 else 1)
        return found.fit_transform(words)
    except ValueError:
        raise FileError(f"{path}: the column {title} has no words; choose another column") from None
