"""The first nodes to label, where there is no fit yet."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from isotherm.equilibrium.options import SolveOptions
from isotherm.errors import Option, ParameterError
from isotherm.graphs import as_graph
from isotherm.insight.suggest import suggestion

__all__ = ["suggest"]

WITHOUT_FIT = ("diverse", "uncertainty")


def suggest(
    graph: Any,
    k: int = 10,
    *,
    known: Iterable[Any] = (),
    policy: str = "diverse",
    among: Iterable[Any] | None = None,
    return_values: bool = False,
    n_threads: int | None = None,
) -> Any:
    """The k nodes to label first, the best first, in a graph without labels. See docs/labelling.md.

    With labels of two or more classes, fit a classifier and ask it: :meth:`DirichletClassifier.suggest` knows more.

    Parameters
    ----------
    graph : Graph, sparse or dense adjacency matrix, networkx or igraph graph
        The graph.
    k : int
        How many.
    known : iterable, optional
        Nodes that have a label already, of whatever class; they are not suggested, nor nodes like them.
    policy : {"diverse", "uncertainty"}
        "diverse" takes nodes that are like many others, each unlike the earlier ones; "uncertainty" those whose heat
        reaches most nodes.
    among : iterable, optional
        The nodes that can be labelled; by default all.
    return_values : bool
        Whether to give also what each is worth, to be compared with others of the same call.
    n_threads : int, optional
        Number of threads; by default ``ISOTHERM_THREADS``, or all cores.

    Examples
    --------
    Two stars that are joined at their hubs:

    >>> import isotherm as iso
    >>> stars = iso.Graph.from_edges(["a"] * 5 + ["b"] * 3, ["b", "a1", "a2", "a3", "a4", "b1", "b2", "b3"])
    >>> iso.suggest(stars, 2).tolist()
    ['a', 'b']
    """
    if policy in suggestion.POLICIES and policy not in WITHOUT_FIT:
        message = "{given} goes by the labels of a fit, and without seeds there is none: use {instead}"
        raise ParameterError(message, given=Option("policy", policy), instead=Option("policy", WITHOUT_FIT[0]))
    suggestion.check_request(k, policy)
    network = as_graph(graph)
    chosen, values = suggestion.suggest(
        network,
        np.sort(network.index(list(known))),
        k,
        np.ones(network.n_nodes),
        policy=policy,
        among=None if among is None else network.index(among),
        options=SolveOptions(threads=n_threads),
    )
    nodes = network.nodes[chosen]
    return (nodes, values) if return_values else nodes
