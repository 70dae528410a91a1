"""Rows of a table for the nodes of a graph: the column of ids is found, and ids are compared as text.

`read_node_features` reads what users pass as ``features``, and `isotherm.io.vectors` files of features; both end in
`features_of`, unless rows are by position.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from isotherm.errors import Option, ParameterError, muted, warn
from isotherm.graphs import Graph
from isotherm.graphs.untrusted import checked_sparse
from isotherm.io.columns import Names, is_index_name, node_places
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.feature_table import NUMBERED, FeatureTable, as_array, columns_of
from isotherm.seeds.encoding import LabelWarning, index_of_nodes

ID_COLUMNS = ("node", "id", "node_id")  # names of the column of node ids, whatever it holds


class NodeFeatures(NamedTuple):
    """Features of the nodes of a graph."""

    rows: Any  # (n, d) dense or sparse, in the order of the nodes; zeros for a node without features
    table: FeatureTable | None = None  # how the columns were read; None if numbers were given


class Matched(NamedTuple):
    """Rows that are nodes."""

    rows: NDArray[np.int64]  # (m,)
    places: NDArray[np.int64]  # (m,) of their nodes


def node_texts(graph: Graph) -> dict[str, int]:
    """The places of the nodes, by their ids as text."""
    return {str(node): place for place, node in enumerate(graph.nodes.tolist())}


def id_text(value: Any) -> str:
    """An id as text; pandas makes 7.0 of 7 where another id is missing.

    >>> id_text(7), id_text(7.0), id_text("007")
    ('7', '7', '007')
    """
    return str(int(value)) if isinstance(value, float) and value % 1 == 0 else str(value)


def matched_rows(ids: Collection[Any], texts: Mapping[str, int]) -> Matched:
    """The rows whose ids are nodes, given the texts of all nodes."""
    places = np.array([texts.get(id_text(each), -1) for each in ids], dtype=np.int64)
    rows = np.flatnonzero(places >= 0)
    return Matched(rows, places[rows])


def id_place(names: Names, columns: Sequence[Any], graph: Graph | None, *, taken: set[int | None]) -> int | None:
    """The column of ids: the one with the most nodes, of those whose name tells it or that are texts; None if none.

    Else it is a column of integers that number the nodes.
    """
    numbered = [place for place, name in enumerate(names) if is_index_name(name)]
    likely = [place for place in (*node_places(names, taken), *numbered) if _all_differ(columns[place], (str, int))]
    if graph is None:
        return next(iter(likely), None)
    texts = [place for place in range(len(names)) if place not in taken and _all_differ(columns[place], (str,))]
    known = node_texts(graph)
    counts = {place: len(matched_rows(listed(columns[place]), known).rows) for place in (*likely, *texts)}
    best = max(counts, key=counts.__getitem__, default=None)
    found = best is not None and (counts[best] > 0 if best in likely else 2 * counts[best] > len(columns[best]))
    if found:
        return best
    free = (place for place in range(len(names)) if place not in taken and place not in likely)
    numbers = (place for place in free if _number_nodes(columns[place], known))
    return next(numbers, next(iter(likely), None))


def _number_nodes(column: Any, texts: Mapping[str, int]) -> bool:
    """Whether integers are ids of nodes: of all nodes, or of most and of nothing else.

    Integers below 20 alone may as well be ranks or counts.
    """
    if not _all_differ(column, (int,)) or max(ids := listed(column)) < NUMBERED - 1:
        return False
    found = len(matched_rows(ids, texts).rows)
    return found == len(texts) or (found == len(ids) and 2 * found > len(texts))


def _all_differ(column: Any, kinds: tuple[type, ...]) -> bool:
    values = listed(column)
    return bool(values) and all(type(each) in kinds for each in values) and len(set(values)) == len(values)


def listed(column: Any) -> list[Any]:
    """The values of a column."""
    to_list = getattr(column, "to_list", None) or getattr(column, "tolist", None)
    return list(to_list() if to_list else column)


def read_node_features(table: Any, graph: Graph, how: FeatureTable | None = None) -> NodeFeatures:
    """Features as they are given to `fit`: an array, a sparse matrix, a data frame, columns by name, or rows by node.

    Rows are by node id in ``{node: row}``, and in a table that has node ids as its index or in a column; otherwise they
    are by position: one for each node, or, in a bipartite graph, one for each row or for each column of its matrix.
    """
    if isinstance(table, NodeFeatures):
        return table
    name, reader = Option("features"), how or FeatureTable()
    ids, content = split_ids(table, graph, name)
    if ids is not None:
        return features_of(chosen_rows(ids, graph, name), content, graph, name, reader)
    rows, used = _numbers(content, name, reader)
    return NodeFeatures(placed(rows, graph, name, 0.0), used)


def split_ids(table: Any, graph: Graph, name: Option) -> tuple[Sequence[Any] | None, Any]:
    """The node ids of a table, None if its rows are by position, and its rows or its columns by name."""
    if isinstance(table, Mapping) and not hasattr(table, "columns"):
        if not _holds_columns(table, graph):
            return list(table), [*table.values()]
    elif not hasattr(table, "columns"):
        return None, table
    columns = columns_of(table)
    place = next((list(columns).index(each) for each in ID_COLUMNS if each in columns), None)
    if place is None and not _index_has_nodes(table, graph):
        place = id_place(list(columns), list(columns.values()), graph, taken=set())
        if place is not None and not _any_node(list(columns.values())[place], graph):
            place = None
    if place is not None:
        title = list(columns)[place]
        ids = listed(columns[title])
        clear = title in ID_COLUMNS or node_places([title], ()) or type(ids[0]) is str
        natural = not clear and _are_places(graph, len(ids))  # rows may as well go by position
        if not natural or ids != list(range(len(ids))):
            if natural:
                message = "rows of {name} are matched to nodes by the column {title}, not by position"
                warn(FileWarning(message + ": drop it if it has no ids", name=name, title=shorten(title)))
            del columns[title]
            return ids, columns
    with muted(LabelWarning):
        found = index_of_nodes(table, graph, name.name)
    if found is None and not _are_places(graph, len(listed(next(iter(columns.values()), ())))):
        message = "{name} has no node ids, so its rows are read in the order of graph.nodes: {remedy}"
        remedy = "give ids in a column named node (graph.nodes itself, if the rows are in that order)"
        warn(FileWarning(message, name=name, remedy=remedy))
    return found, columns


def _are_places(graph: Graph, length: int) -> bool:
    """Whether the ids of the first nodes are 0, 1, 2, ..., as rows are numbered."""
    return np.array_equal(graph.nodes[:length], np.arange(length))


def _any_node(column: Any, graph: Graph) -> bool:
    return len(matched_rows(listed(column), node_texts(graph)).rows) > 0


def _index_has_nodes(table: Any, graph: Graph) -> bool:
    """Whether this is a data frame of pandas whose index does not just count rows, and has nodes."""
    counted = not hasattr(table, "iloc") or type(table.index).__name__ == "RangeIndex"
    return not counted and _any_node(table.index, graph)


def _holds_columns(table: Mapping[Any, Any], graph: Graph) -> bool:
    """Whether a mapping has columns by name, and not rows by node."""
    if not table or not all(isinstance(name, str) for name in table):
        return False
    lengths = {len(values) if hasattr(values, "__len__") else -1 for values in table.values()}
    return len(lengths) == 1 and lengths != {-1} and not len(matched_rows(table, node_texts(graph)).rows)


def features_of(found: Matched, content: Any, graph: Graph, name: Any, how: FeatureTable) -> NodeFeatures:
    """The features of the nodes, from the rows that are nodes; ``name`` is what messages call them."""
    if isinstance(content, Mapping):
        content = {title: as_array(values)[found.rows] for title, values in content.items()}
        rows, used = _numbers(content, name, how)
    else:
        rows, used = _numbers(content, name, how)
        rows = rows[found.rows]
    return NodeFeatures(spread(rows, found.places, graph.n_nodes, 0.0), used)


def chosen_rows(ids: Sequence[Any], graph: Graph, name: Any) -> Matched:
    """The rows that are nodes; there must be some, and one for each node at most. Others give a warning."""
    found = matched_rows(ids, node_texts(graph))
    if not len(found.rows):
        message = (
            "{name}: none of the {count} rows is a node of the graph: ids are such as {id}, and nodes such as {node}"
        )
        node, first = (shorten(each[0]) if len(each) else "none" for each in (graph.nodes[:1].tolist(), list(ids)))
        facts = {"name": name, "count": f"{len(ids):,}", "node": node, "id": first}
        option = "" if isinstance(name, Option) else Option(" with id")
        raise ParameterError(message + "; choose another column of ids{option}", option=option, **facts)
    nodes, counts = np.unique(found.places, return_counts=True)
    if counts.max() > 1:
        twice = shorten(graph.nodes[nodes[counts.argmax()]])
        message = "{name}: the node {node} has {count} rows; keep one of them"
        raise ParameterError(message, name=name, node=twice, count=counts.max())
    lost = len(ids) - len(found.rows)
    if lost:
        first = ids[int(np.setdiff1d(np.arange(len(ids)), found.rows)[0])]
        message = (
            "{name}: {lost} of {all} rows are no nodes of the graph, such as {first}, and are left out; {add} adds them"
        )
        facts = {
            "lost": f"{lost:,}",
            "all": f"{len(ids):,}",
            "first": shorten(first),
            "add": Option("graph.with_nodes"),
        }
        warn(FileWarning(message, name=name, **facts))
    return found


def _numbers(content: Any, name: Any, how: FeatureTable) -> tuple[Any, FeatureTable | None]:
    """The numbers (n, d) of rows or columns, and how columns were read if they were no numbers already."""
    if issparse(content):
        return complete(csr_array(checked_sparse(content), dtype=np.float64), name), None
    if not isinstance(content, Mapping):
        try:
            found = np.asarray(content, dtype=np.float64)
        except (ValueError, TypeError):
            found = np.asarray(content, dtype=object)
        found = found[:, None] if found.ndim == 1 else found
        if found.ndim != 2:
            raise ParameterError("{name} must be a table, not of shape {shape}", name=name, shape=found.shape)
        if found.dtype != object and not np.isnan(found).any():
            return complete(found, name), None
        content = columns_of(found)
    from sklearn.base import clone

    used = clone(how)
    return used.fit_transform(content), used


def complete(values: Any, name: Any) -> Any:
    """The same values; missing or infinite ones are refused."""
    if not np.isfinite(values.data if issparse(values) else values).all():
        message = "{name} has a value that is missing or infinite: fill it, for example with the mean of its column"
        raise ParameterError(message, name=name)
    return values


def placed(values: Any, graph: Graph, name: Any, missing: float) -> Any:
    """Rows by position, for all nodes, or for one side of a bipartite graph."""
    n, rows = graph.n_nodes, graph.n_rows
    length = values.shape[0]
    if length == n:
        return values
    if rows is not None and length == rows:
        return spread(values, np.arange(rows), n, missing)
    if rows is not None and length == n - rows:
        return spread(values, np.arange(rows, n), n, missing)
    sides = "" if rows is None else f" ({rows} rows and {n - rows} columns)"
    message = "{name} has {length} rows, but the graph has {n} nodes{sides}: give one row per node, or {{node: row}}"
    raise ParameterError(message, name=name, length=length, n=n, sides=sides)


def spread(values: Any, places: Any, n: int, missing: float) -> Any:
    """The rows at their places among n."""
    if issparse(values):
        chosen = csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(n, len(places)))
        return csr_array(chosen @ values)
    found = np.full((n, values.shape[1]), missing)
    found[places] = values
    return found
