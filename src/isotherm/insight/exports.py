"""Results for other libraries: data frames of pandas and polars, attributes of networkx and igraph, HTML."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Self

import numpy as np

from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph
from isotherm.graphs.other_libraries import igraph_ids
from isotherm.notebooks import facts, table

__all__ = ["Exporting"]

MOST_CLASSES = 10  # in the HTML
CONTAINERS = ("default", "pandas", "polars")


class Exporting:
    """The part of a classifier that gives its results to other libraries."""

    def to_polars(self: Any, *, probabilities: bool = False, temperatures: bool = False) -> Any:
        """The results as a data frame of polars: the columns of `isotherm.io.write_labels`.

        Columns are node, label and confidence, and on request ``p_<class>`` and ``t_<class>``. A node that has no label
        has null. For a graph of rows and columns, ``side`` says which a node is. Where nodes may have several labels,
        there is a row for each label.

        Examples
        --------
        >>> import isotherm as iso
        >>> rod = iso.Graph.from_edges(["a", "b"], ["b", "c"])
        >>> clf = iso.DirichletClassifier(calibration=None, rule="vanilla").fit(rod, {"a": "hot", "c": "cold"})
        >>> clf.to_polars()["label"].to_list()
        ['hot', 'cold', 'cold']
        """
        from isotherm.io.writing.labels import as_series

        polars, columns = _needed("polars"), self._columns(probabilities, temperatures)
        frame = polars.DataFrame([as_series(name, values) for name, values in columns.items()])
        return frame.with_columns(polars.selectors.float().fill_nan(None))

    def to_pandas(self: Any, *, probabilities: bool = False, temperatures: bool = False) -> Any:
        """The results as a data frame of pandas, with the columns of `to_polars`.

        Examples
        --------
        >>> import isotherm as iso
        >>> rod = iso.Graph.from_edges(["a", "b"], ["b", "c"])
        >>> clf = iso.DirichletClassifier(calibration=None, rule="vanilla").fit(rod, {"a": "hot", "c": "cold"})
        >>> clf.to_pandas()["label"].to_list()
        ['hot', 'cold', 'cold']
        """
        pandas, columns = _needed("pandas"), self._columns(probabilities, temperatures)
        return pandas.DataFrame({name: _for_pandas(pandas, values) for name, values in columns.items()})

    def _columns(self: Any, probabilities: bool, temperatures: bool) -> dict[str, Any]:
        """The results by name: a row for each node, or for each label of a node."""
        graph: Graph = self.graph_
        nodes: Any = np.arange(graph.n_nodes)
        if self.fitted_.outcome.several:
            if probabilities or temperatures:
                raise ParameterError("probabilities and temperatures are for one label per node: leave them out")
            rows = [(place, *pair) for place, (_, *found) in enumerate(self._by_node()) for pair in _pairs(*found)]
            nodes, labels, certainty = (list(part) for part in zip(*rows, strict=True))
        else:
            labels, certainty = ([row[part] for row in self._by_node()] for part in (1, 2))
        columns: dict[str, Any] = {"node": graph.nodes[nodes].tolist()}
        if graph.n_rows is not None:
            columns["side"] = ["row" if place < graph.n_rows else "column" for place in nodes]
        columns |= {"label": labels, "confidence": certainty}
        tables = {"p": self.predict_proba} if probabilities else {}
        tables |= {"t": lambda: self.temperatures_} if temperatures else {}
        for prefix, values in tables.items():
            found = np.asarray(values(), dtype=np.float64)
            columns |= {f"{prefix}_{name}": column for name, column in zip(self.classes_, found.T, strict=True)}
        return columns

    def to_networkx(self: Any, G: Any = None, *, label: str = "label", confidence: str = "confidence") -> Any:
        """A copy of a networkx graph with the results as attributes of its nodes.

        Parameters
        ----------
        G : networkx graph, optional
            The graph of the fit; without it a new one is made, in which the rows of a biadjacency matrix have
            ``bipartite=0`` and its columns 1.
        label, confidence : str
            The names of the attributes. A node without a label has no such attribute. Where nodes may have several
            labels, they are lists.

        Examples
        --------
        >>> import networkx as nx
        >>> import isotherm as iso
        >>> club = nx.karate_club_graph()
        >>> clf = iso.DirichletClassifier(rule="centered", calibration=None).fit(club, {0: "Mr. Hi", 33: "Officer"})
        >>> clf.to_networkx(club).nodes[8]["label"]
        'Officer'
        """
        networkx = _needed("networkx")
        found = _new_networkx(networkx, self.graph_) if G is None else G.copy()
        self._check_same(list(found))
        for node, own, certainty in self._by_node():
            attributes = found.nodes[node]
            attributes.pop(label, None)
            attributes |= {confidence: certainty} if own is None else {label: own, confidence: certainty}
        return found

    def to_igraph(self: Any, G: Any = None, *, label: str = "label", confidence: str = "confidence") -> Any:
        """A copy of an igraph graph with the results as attributes of its vertices; see `to_networkx`.

        A vertex without a label has None.
        """
        igraph = _needed("igraph")
        found = _new_igraph(igraph, self.graph_) if G is None else G.copy()
        ids = list(igraph_ids(found))
        self._check_same(ids)
        rows = {node: (own, certainty) for node, own, certainty in self._by_node()}
        found.vs[label], found.vs[confidence] = ([rows[node][part] for node in ids] for part in (0, 1))
        return found

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `predict_proba` gives: arrays ("default"), or data frames of "pandas" or "polars".

        A data frame has a column for each class. As in scikit-learn, None changes nothing.
        """
        if transform is None:
            return self
        if transform not in CONTAINERS:
            given, known = Option("transform", transform), ", ".join(map(repr, CONTAINERS))
            raise ParameterError("{given}, but it must be one of {known}", given=given, known=known)
        self._sklearn_output_config = {"transform": transform}
        return self

    def contained(self: Any, probabilities: Any, nodes: Iterable[Any] | None) -> Any:
        """Probabilities (m, K) in the container that `set_output` chose; ``nodes`` become the index in pandas."""
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if wanted == "default":
            return probabilities
        library, names = _needed(wanted), self.classes_.tolist()
        if wanted == "polars":
            return library.DataFrame(probabilities, schema=[str(name) for name in names], orient="row")
        return library.DataFrame(probabilities, columns=names, index=None if nodes is None else list(nodes))

    def _html_repr(self) -> str:
        """What notebooks show: before the fit the parameters, as of any estimator; then what was found.

        The page of scikit-learn for a fitted estimator would read all attributes, and so compute the lazy ones.
        """
        fitted = getattr(self, "fitted_", None) is not None
        return self._summary() if fitted else str(super()._html_repr())  # type: ignore[misc]

    def _summary(self: Any) -> str:
        """What was found, in HTML."""
        graph, fit = self.graph_, self.fitted_
        unreached = graph.n_nodes - int(np.count_nonzero(self.reached_))
        values = [("graph", repr(graph).strip("<>")), ("seeds", len(fit.seeds.nodes)), ("unreached", unreached)]
        values += [("rule", fit.rule.name), ("solution", str(fit.outcome.solution))]
        return facts(repr(self), values) + self._class_table()

    def _class_table(self: Any) -> str:
        labels, seeds = self.labels_, self.fitted_.seeds
        several = self.fitted_.outcome.several
        found = labels.sum(axis=0) if several else [np.count_nonzero(labels == each) for each in self.classes_]
        rows = sorted(zip(self.classes_.tolist(), seeds.counts.tolist(), map(int, found), strict=True), key=_size)
        more = len(rows) - MOST_CLASSES
        note = f"and {more:,} more classes" if more > 0 else ""
        total = max(1, self.graph_.n_nodes)
        shown = [(str(name), given, number, number / total) for name, given, number in rows[:MOST_CLASSES]]
        return table("Classes", ("class", "seeds", "nodes", "share"), shown, note=note)

    def _by_node(self: Any) -> Iterable[tuple[Any, Any, Any]]:
        """Node, label (None for none) and confidence, or lists of labels and their confidence."""
        nodes, confidence = self.graph_.nodes.tolist(), self.confidence_
        if self.fitted_.outcome.several:
            rows = zip(self.labels_.toarray(), confidence.toarray(), strict=True)
            found = [(self.classes_[own].tolist(), certainty[own].tolist()) for own, certainty in rows]
            return [(node, *pair) for node, pair in zip(nodes, found, strict=True)]
        unknown = self.fitted_.seeds.unknown
        labels = [None if label == unknown else label for label in self.labels_.tolist()]
        return list(zip(nodes, labels, confidence.tolist(), strict=True))

    def _check_same(self: Any, nodes: list[Any]) -> None:
        """Refuse a graph of other nodes than that of the fit."""
        if set(nodes) != set(self.graph_.nodes.tolist()):
            raise ValueError("G has other nodes than the graph of the fit: give that graph, or none to get a new one")


def _size(row: tuple[Any, int, int]) -> int:
    return -row[2]


def _pairs(labels: list[Any], certainty: list[float]) -> list[tuple[Any, float]]:
    """The labels of a node, the most certain first; one row without a label for a node without any."""
    return sorted(zip(labels, certainty, strict=True), key=lambda pair: -pair[1]) or [(None, 0.0)]


def _for_pandas(pandas: Any, values: Any) -> Any:
    """Integers with gaps stay integers."""
    if isinstance(values, list) and None in values and any(type(value) is int for value in values):
        return pandas.array(values, dtype="Int64")
    return values


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
