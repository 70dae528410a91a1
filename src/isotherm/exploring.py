"""``isotherm.explore``: the page for a graph, and for known labels if there are any."""

import os
from typing import Any

from isotherm.graph_classifier import GraphClassifier
from isotherm.graphs import as_graph
from isotherm.node_classifier import NodeClassifier
from isotherm.page.page_methods import Opening, certain_seeds, open_page
from isotherm.seeds import as_seeds

__all__ = ["explore"]


def explore(
    graph: Any,
    seeds: Any = None,
    *,
    classifier: GraphClassifier | None = None,
    log: str | os.PathLike[str] | None = None,
    port: int = 0,
    browser: bool = True,
    name: str = "graph",
) -> None:
    """Open a graph in the browser, to look at it and to label its nodes; ends with Ctrl-C. See docs/explore.md.

    Parameters
    ----------
    graph : Graph, sparse or dense adjacency matrix, networkx or igraph graph
        The graph.
    seeds : mapping, array or Series, optional
        Known labels, as for `NodeClassifier.fit`. Without any, the page asks for the names of the classes.
    classifier : NodeClassifier or DirichletClassifier, optional
        What labels the graph; its parameters are used, not its fit.
    log : path, optional
        A file in which each label is kept as soon as it is given. Opened again, the page is where it was.
    port : int
        The port on this machine; by default a free one.
    browser : bool
        Whether to open a browser; the address is printed in any case.
    name : str
        What the page calls the graph.
    """
    network = as_graph(graph)
    known = {} if seeds is None else certain_seeds(as_seeds(seeds, network, None), network)
    opening = Opening(port=port, browser=browser, log=log, name=name)
    open_page(network, known, NodeClassifier() if classifier is None else classifier, opening)
