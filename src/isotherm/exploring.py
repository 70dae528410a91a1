"""``isotherm.explore``: the page for a graph, with or without known labels."""

import os
from typing import Any

from isotherm.graph_classifier import GraphClassifier
from isotherm.graphs import as_graph
from isotherm.node_classifier import NodeClassifier
from isotherm.page.open_page import PageOptions, certain_seeds, open_page
from isotherm.seeds import as_seeds


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
        The classifier that labels the graph; only its parameters are used, not its fit.
    log : path, optional
        A file that keeps each label as soon as it is given. With the same file, the page resumes where it was.
    port : int
        The port on this machine; by default a free one.
    browser : bool
        Whether to open a browser; the address is printed in any case.
    name : str
        What the page calls the graph.
    """
    network = as_graph(graph)
    known = {} if seeds is None else certain_seeds(as_seeds(seeds, network, None), network)
    options = PageOptions(port=port, browser=browser, log=log, name=name)
    open_page(network, known, NodeClassifier() if classifier is None else classifier, options)
