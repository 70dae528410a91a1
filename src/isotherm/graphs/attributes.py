"""Ids and attributes of the nodes of graphs of networkx and igraph."""

from collections.abc import Iterable
from typing import Any

__all__ = ["igraph_ids", "is_igraph", "is_networkx", "node_attribute"]

NAMES = ("name", "_nx_name")  # igraph keeps ids of networkx under the second


def is_networkx(G: Any) -> bool:
    """Whether this is a graph of networkx, which need not be imported to find out."""
    return hasattr(G, "nodes") and hasattr(G, "adj") and hasattr(G, "is_multigraph")


def is_igraph(G: Any) -> bool:
    """The same for igraph."""
    return hasattr(G, "vs") and hasattr(G, "get_edgelist")


def igraph_ids(G: Any) -> Iterable[Any]:
    """The ids of the vertices: their names, if they have some, else their numbers."""
    attributes = G.vs.attributes()
    return next((G.vs[name] for name in NAMES if name in attributes), range(G.vcount()))


def node_attribute(G: Any, name: str) -> dict[Any, Any]:
    """The values of an attribute, by node; nodes without it, or with None or NaN, are left out.

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
