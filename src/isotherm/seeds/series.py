"""Values in a pandas Series or DataFrame: by node id if its index holds ids, by position otherwise."""

from typing import Any

import numpy as np

from isotherm.errors import warn
from isotherm.graphs import Graph
from isotherm.seeds.encoding import LabelWarning


def has_index(values: Any) -> bool:
    """Whether this is a pandas Series or DataFrame; pandas is optional, and not imported for that."""
    return hasattr(values, "iloc") and hasattr(values, "index")


def index_of_nodes(values: Any, graph: Graph, name: str) -> list[Any] | None:
    """The node ids in the index of a pandas Series; None if its values are by position, or if it has no index.

    The default index of pandas counts rows, so the values are by position. Any other index holds node ids if most of
    its entries are nodes. If no entry is a node, and there are as many values as nodes, the values are by position;
    if the entries and the node ids are both text, there is a warning. Errors call the values by their ``name``.

    >>> import pandas as pd
    >>> rod = Graph.from_edges(["a", "b"], ["b", "c"])
    >>> index_of_nodes(pd.Series(["hot", "cold"], index=["c", "a"]), rod, "labels")
    ['c', 'a']
    >>> index_of_nodes(pd.Series(["cold", None, "hot"]), rod, "labels") is None
    True
    """
    if not has_index(values):
        return None
    fits = len(values) in (graph.n_nodes, graph.n_rows)
    index = values.index
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:  # the default of pandas
        _check_row_numbers(len(values), fits, graph, name)
        return None
    ids, found = index.tolist(), _count_nodes(index, graph)
    if 2 * found > len(ids):
        for node in index[index.duplicated()].tolist()[:1]:
            problem = f"the node {node!r} occurs more than once in the index of {name}"
            raise ValueError(f"{problem}: keep one entry of each node")
        return ids
    nodes = graph.nodes.tolist()
    if found or not fits or not {str(node) for node in nodes}.isdisjoint(map(str, ids)):
        example = f"such as {ids[0]!r}, while nodes are such as {nodes[0]!r}" if ids and nodes else "is empty"
        raise ValueError(
            f"the index of {name} holds {found} nodes among {len(ids)} entries, {example}: set node ids as the index, "
            "or drop it with reset_index(drop=True) if there is one entry per node, in the order of graph.nodes"
        )
    if isinstance(ids[0], str) and isinstance(nodes[0], str):
        warn(
            f"no entry of the index of {name}, such as {ids[0]!r}, is a node, such as {nodes[0]!r}, so {name} is read "
            "in the order of graph.nodes: set node ids as the index, or drop it with reset_index(drop=True)",
            LabelWarning,
        )
    return None


def _count_nodes(index: Any, graph: Graph) -> int:
    """How many entries of an index are nodes."""
    if index.nlevels == 1:
        return int(index.astype(object).isin(graph.nodes).sum())  # an index of Arrow texts refuses tuples
    nodes = set(graph.nodes.tolist())
    return sum(entry in nodes for entry in index.tolist())


def _check_row_numbers(length: int, fits: bool, graph: Graph, name: str) -> None:
    numbered = graph.nodes.dtype.kind == "i" and (graph.nodes[:length] == np.arange(length)).all()
    if not fits:
        raise ValueError(
            f"{name} has {length} entries and no node ids as its index, but the graph has {graph.n_nodes} nodes: "
            f"give one entry per node, set node ids as the index, or pass {name}.to_dict() if these are nodes 0, 1, ..."
        )
    if not numbered and set(range(length)).issubset(graph.nodes.tolist()):
        warn(
            f"{name} is read in the order of graph.nodes, which is not 0, 1, 2, ...: "
            f"pass {name}.to_dict() if its index holds node ids",
            LabelWarning,
        )
