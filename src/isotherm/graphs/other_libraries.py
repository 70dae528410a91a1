"""What is read from other libraries: edges in data frames, ids and attributes of networkx and igraph graphs.

The libraries are optional, so none is imported here: their objects are recognised by what they have.
"""

from collections.abc import Iterable
from typing import Any

from isotherm.errors import Option, ParameterError, first_few

VERTEX_NAMES = ("name", "_nx_name")  # graphs converted from networkx by igraph have their ids in the second
USUAL_WEIGHT = "weight"


def edge_columns(frame: Any, source: Any, target: Any, weight: Any, kind: Any = None) -> dict[str, Any]:
    """The columns of sources, targets, weights and kinds, by role; "weight" may be missing, other names may not."""
    names, picks = list(frame.columns), {"source": source, "target": target, "weight": weight, "kind": kind}
    for role, name in picks.items():
        optional = (role == "weight" and name in (None, USUAL_WEIGHT)) or (role == "kind" and name is None)
        if name not in names and not optional:
            message = "the data frame has no column for {given}: it has {shown}"
            raise ParameterError(message, given=Option(role, name), shown=first_few(names))
    return {role: _column(frame, name) for role, name in picks.items() if name in names}


def _column(frame: Any, name: Any) -> Iterable[Any]:
    column = frame[name]
    if getattr(column, "ndim", 1) != 1:  # pandas returns all columns that share a name
        raise ParameterError("the data frame has several columns named {name}: rename one", name=repr(name))
    return column.to_list() if column.dtype == object or not hasattr(column, "to_numpy") else column.to_numpy()


def is_networkx(G: Any) -> bool:
    """Whether this is a networkx graph."""
    return hasattr(G, "nodes") and hasattr(G, "adj") and hasattr(G, "is_multigraph")


def is_igraph(G: Any) -> bool:
    """Whether this is an igraph graph."""
    return hasattr(G, "vs") and hasattr(G, "get_edgelist")


def igraph_ids(G: Any) -> Iterable[Any]:
    """The ids of the vertices: their names if they have any, their numbers otherwise."""
    attributes = G.vs.attributes()
    return next((G.vs[name] for name in VERTEX_NAMES if name in attributes), range(G.vcount()))


def node_attribute(G: Any, name: str) -> dict[Any, Any]:
    """The values of a node attribute, by node; nodes without it, or with None or NaN, are left out.

    >>> import networkx as nx
    >>> node_attribute(nx.karate_club_graph(), "club")[33]
    'Officer'
    """
    if is_networkx(G):
        values, known = dict(G.nodes(data=name)), {each for _, data in G.nodes(data=True) for each in data}
    elif is_igraph(G):
        known = set(G.vs.attributes())
        values = dict(zip(igraph_ids(G), G.vs[name], strict=True)) if name in known else {}
    else:
        kind = type(G).__name__
        raise TypeError(f"{name!r} names an attribute of nodes, which a {kind} has not: give {{node: label}}")
    if name not in known:
        there = f"they have {', '.join(map(repr, sorted(map(str, known))))}" if known else "they have none"
        raise ValueError(f"no node has the attribute {name!r}: {there}")
    return {node: value for node, value in values.items() if value is not None and value == value}
