"""Results for other libraries: data frames of pandas and polars, attributes of networkx and igraph, HTML."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from isotherm.graphs import Graph
from isotherm.graphs.other_libraries import igraph_ids
from isotherm.labelling.fit import Fit
from isotherm.labelling.rows import Column, Columns, Rows, rows
from isotherm.tables import facts, table

MOST_CLASSES = 10  # classes in the HTML


def to_polars(fit: Fit, probabilities: bool, temperatures: bool) -> Any:
    """The results as a data frame of polars."""
    from isotherm.io.output import as_series

    polars, wanted = _needed("polars"), Columns(probabilities=probabilities, temperatures=temperatures, sides=True)
    frames = [
        polars.DataFrame([as_series(name, values) for name, values in part.items()]) for part in rows(fit, wanted)
    ]
    return polars.concat(frames)


def to_pandas(fit: Fit, probabilities: bool, temperatures: bool) -> Any:
    """The results as a data frame of pandas; integers with gaps stay integers."""
    wanted = Columns(probabilities=probabilities, temperatures=temperatures, sides=True)
    pandas, whole = _needed("pandas"), _joined(fit, wanted)
    return pandas.DataFrame({name: _for_pandas(pandas, values) for name, values in whole.items()})


def _joined(fit: Fit, wanted: Columns) -> Rows:
    parts = list(rows(fit, wanted))
    joined: Any = np.ma.concatenate
    return {name: joined([part[name] for part in parts]) for name in parts[0]}


def _for_pandas(pandas: Any, values: Column) -> Any:
    missing, data = np.ma.getmaskarray(values), np.ma.getdata(values)
    if not missing.any():
        return data
    if values.dtype.kind == "i":
        return pandas.arrays.IntegerArray(data.astype(np.int64), missing)
    found = data.astype(object)
    found[missing] = None
    return found


def to_networkx(fit: Fit, G: Any, label: str, confidence: str) -> Any:
    """A copy of a networkx graph with the results as attributes of its nodes."""
    networkx = _needed("networkx")
    found = _new_networkx(networkx, fit.graph) if G is None else G.copy()
    for node, own, certainty in _by_node(fit, list(found)):
        attributes = found.nodes[node]
        attributes.pop(label, None)
        attributes |= {confidence: certainty} if own is None else {label: own, confidence: certainty}
    return found


def to_igraph(fit: Fit, G: Any, label: str, confidence: str) -> Any:
    """A copy of an igraph graph with the results as attributes of its vertices."""
    igraph = _needed("igraph")
    found = _new_igraph(igraph, fit.graph) if G is None else G.copy()
    ids = list(igraph_ids(found))
    by_id = {node: (own, certainty) for node, own, certainty in _by_node(fit, ids)}
    found.vs[label], found.vs[confidence] = ([by_id[node][part] for node in ids] for part in (0, 1))
    return found


def _by_node(fit: Fit, nodes: list[Any]) -> Iterable[tuple[Any, Any, Any]]:
    """Node, label (None for none) and confidence; lists, by class, where a node may have several labels."""
    if set(nodes) != set(fit.graph.nodes.tolist()):
        raise ValueError("G has other nodes than the graph of the fit: give that graph, or none to get a new one")
    whole = _joined(fit, Columns())
    triples = zip(*(whole[name].tolist() for name in ("node", "label", "confidence")), strict=True)
    if not fit.outcome.several:
        return triples
    sets: dict[Any, tuple[list[Any], list[float]]] = {node: ([], []) for node in nodes}
    for node, label, certainty in sorted((row for row in triples if row[1] is not None), key=lambda row: row[1]):
        sets[node][0].append(label)
        sets[node][1].append(certainty)
    return ((node, *pair) for node, pair in sets.items())


def contained(container: str, probabilities: Any, classes: list[Any], nodes: Iterable[Any] | None) -> Any:
    """Probabilities (m, K) as a data frame of pandas or polars; ``nodes`` become the index in pandas."""
    library = _needed(container)
    if container == "polars":
        return library.DataFrame(probabilities, schema=[str(name) for name in classes], orient="row")
    return library.DataFrame(probabilities, columns=classes, index=None if nodes is None else list(nodes))


def summary(fit: Fit, title: str) -> str:
    """What was found, in HTML for notebooks."""
    graph, outcome = fit.graph, fit.outcome
    unreached = graph.n_nodes - int(np.count_nonzero(outcome.reached))
    values = [("graph", repr(graph).strip("<>")), ("seeds", len(fit.seeds.nodes)), ("unreached", unreached)]
    values += [("rule", fit.rule.name), ("solution", str(outcome.solution))]
    return facts(title, values) + _class_table(fit)


def _class_table(fit: Fit) -> str:
    labels, seeds, classes = fit.outcome.labels, fit.seeds, fit.seeds.classes
    found = labels.sum(axis=0) if fit.outcome.several else [np.count_nonzero(labels == each) for each in classes]
    counts = sorted(zip(classes.tolist(), seeds.counts.tolist(), map(int, found), strict=True), key=lambda row: -row[2])
    more = len(counts) - MOST_CLASSES
    note = f"and {more:,} more classes" if more > 0 else ""
    total = max(1, fit.graph.n_nodes)
    shown = [(str(name), given, number, number / total) for name, given, number in counts[:MOST_CLASSES]]
    return table("Classes", ("class", "seeds", "nodes", "share"), shown, note=note)


def _needed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"results for {name} need that package: pip install {name}", name=name) from None


def _edges(graph: Graph) -> tuple[list[int], list[int], list[float] | None]:
    """Positions of the ends of each edge, once, and their weights, if there are some."""
    entries = graph.csr.to_scipy().tocoo()
    once = np.full(entries.nnz, True) if graph.directed else entries.row <= entries.col
    weights = entries.data[once].tolist() if graph.weighted else None
    return entries.row[once].tolist(), entries.col[once].tolist(), weights


def _new_networkx(networkx: Any, graph: Graph) -> Any:
    found, nodes = (networkx.DiGraph if graph.directed else networkx.Graph)(), graph.nodes.tolist()
    found.add_nodes_from(nodes)
    for place, node in enumerate(nodes if graph.n_rows is not None else ()):
        found.nodes[node]["bipartite"] = int(place >= (graph.n_rows or 0))
    source, target, weights = _edges(graph)
    ends = [(nodes[one], nodes[other]) for one, other in zip(source, target, strict=True)]
    if weights is None:
        found.add_edges_from(ends)
    else:
        found.add_weighted_edges_from((*pair, weight) for pair, weight in zip(ends, weights, strict=True))
    return found


def _new_igraph(igraph: Any, graph: Graph) -> Any:
    source, target, weights = _edges(graph)
    found = igraph.Graph(graph.n_nodes, list(zip(source, target, strict=True)), directed=graph.directed)
    if weights is not None:
        found.es["weight"] = weights
    if not np.array_equal(graph.nodes, np.arange(graph.n_nodes)):
        found.vs["name"] = graph.nodes.tolist()
    if graph.n_rows is not None:
        found.vs["type"] = [place >= graph.n_rows for place in range(graph.n_nodes)]
    return found
