"""Evidence besides the links, as users give it: features or probabilities of nodes, in many kinds of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isotherm.arrays import Doubles, Ints
from isotherm.errors import Option, ParameterError, Worded, warn
from isotherm.graphs import Graph
from isotherm.graphs.untrusted import checked_sparse
from isotherm.kernels.numbering import Words, mixed
from isotherm.probability.experts.expert import Rows
from isotherm.probability.experts.spectral import Structure
from isotherm.seeds import Seeds
from isotherm.seeds.encoding import has_index, index_of_nodes

AUTO, SPECTRAL, COMPATIBILITY = "auto", "spectral", "compatibility"
MOST_ENTRIES, MOST_NODES, MOST_STRUCTURE_ODDS = 2_000_000, 200_000, 10_000_000  # limits of structure by default
MOST_ODDS = 50_000_000  # nodes times classes; beyond, the columns of a table are left out
ID_COLUMNS = ("node", "id", "node_id")  # names of the column of node ids in a table


class EvidenceWarning(Worded, UserWarning):
    """Evidence that is used by default was left out, because the graph is large."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about nodes besides links."""

    features: Rows | None = None  # (n, d), dense or sparse; zeros for a node without features
    opinion: Doubles | None = None  # (n, K) probabilities of the classes by another model; NaN rows where it has none
    structure: Structure | None = None  # the features of the graph itself, if they are to be used
    prior: Mapping[str, float] = field(default_factory=dict)  # prior weights of experts, where unusual
    compatibility: bool = False  # whether to learn which classes are neighbours of which
    clustered: bool = False  # classes are clusters, as among nearest rows: neighbours have the same labels

    @classmethod
    def of_table(cls, rows: Rows) -> "Evidence":
        """The columns of the table (n, d) whose nearest rows are the graph; heat reflects much of them already."""
        return cls(rows, prior={"majority": 0.75, "neighbours": 0.25, "second round": 0.25}, clustered=True)

    @property
    def beyond_links(self) -> bool:
        """Whether it may tell something about nodes that no seed reaches."""
        return self.features is not None or self.opinion is not None

    def marks(self, nodes: Ints) -> Words:
        """(s,) hashes of the rows of some nodes; the order of the columns does not matter."""
        found = np.zeros(len(nodes), np.uint64)
        for rows in (self.features, self.opinion):
            if rows is not None:
                values = csr_array(rows[nodes], dtype=np.float64).tocoo()
                np.add.at(found, values.row, mixed(values.data.view(np.uint64)))
        return found


def structure_is_cheap(graph: Graph, n_classes: int) -> bool:
    """Whether a graph is small enough to use its spectrum by default; a fit then takes 1.6 to 1.7 times as long."""
    few = graph.csr.entries <= MOST_ENTRIES and graph.n_nodes <= MOST_NODES
    return few and graph.n_nodes * n_classes <= MOST_STRUCTURE_ODDS


def read_evidence(features: Any, evidence: Any, graph: Graph, seeds: Seeds) -> Evidence | None:
    """Read what `fit` was given; None to go by heat alone.

    ``evidence`` may also be an `Evidence` with one row for each node. Raises `ParameterError` if rows do not fit the
    nodes, or columns of probabilities the classes.
    """
    if isinstance(evidence, Evidence):
        if graph.n_nodes * seeds.n_classes <= MOST_ODDS:
            return evidence
        _warn_about_size("the columns of the table were left out as evidence, since there are many rows and classes")
        return None
    rows = None if features is None else read_rows(features, graph, "features")
    if not isinstance(evidence, str):
        opinion = None if evidence is None else _read_opinion(evidence, graph, seeds)
        return None if rows is None and opinion is None else Evidence(rows, opinion)
    if evidence in (SPECTRAL, COMPATIBILITY):
        return Evidence(rows, structure=Structure(graph), compatibility=evidence == COMPATIBILITY)
    if evidence != AUTO:
        raise ParameterError(
            "{given}, but it must be 'auto', 'spectral', 'compatibility' or a table of probabilities",
            given=Option("evidence", evidence),
        )
    if structure_is_cheap(graph, seeds.n_classes):
        return Evidence(rows, structure=Structure(graph))
    _warn_about_size("the graph is large, so its structure is left out as evidence: set {spectral} to use it")
    return None if rows is None else Evidence(rows)


def _warn_about_size(message: str) -> None:
    spectral, none = Option("evidence", SPECTRAL), Option("evidence", None)
    warn(EvidenceWarning(message + " ({none} does the same without this warning)", spectral=spectral, none=none))


def read_rows(table: Any, graph: Graph, name: str, *, missing: float = 0.0) -> Rows:
    """One row of numbers for each node, from an array, a sparse matrix, a data frame or a mapping.

    Rows are by node id in a mapping, and in a data frame that has node ids as its index or in a column "node" or "id";
    nodes that are left out get rows of ``missing``. Otherwise they are by position: one for each node, or, in a
    bipartite graph, one for each row or for each column of its matrix.
    """
    ids, values = _split(table, graph, name)
    if ids is None:
        return _placed(values, graph, name, missing)
    try:
        places = graph.index(ids)
    except ValueError as error:
        raise ParameterError("in {name}, {error}", name=Option(name), error=str(error)) from None
    if len(np.unique(places)) < len(places):
        twice = next(node for node in ids if list(ids).count(node) > 1)
        raise ParameterError("in {name}, the node {node!r} has two rows: keep one", name=Option(name), node=twice)
    return _spread(values, places, graph.n_nodes, missing)


def _split(table: Any, graph: Graph, name: str) -> tuple[Sequence[Any] | None, Rows]:
    """The node ids of a table, None if its rows are by position, and its numbers."""
    if isinstance(table, Mapping) and not hasattr(table, "columns"):
        return list(table), _numbers([*table.values()], name)
    if hasattr(table, "columns"):  # pandas and polars
        column = next((each for each in ID_COLUMNS if each in list(table.columns)), None)
        if column is not None:
            rest = table.drop(columns=column) if has_index(table) else table.drop(column)
            return table[column].to_list(), _numbers(rest.to_numpy(), name)
        return index_of_nodes(table, graph, name), _numbers(table.to_numpy(), name)
    return None, _numbers(table, name)


def _numbers(values: Any, name: str) -> Rows:
    if issparse(values):
        found: Any = csr_array(checked_sparse(values), dtype=np.float64)
        finite = np.isfinite(found.data).all()
    else:
        try:
            found = np.asarray(values, dtype=np.float64)
        except (ValueError, TypeError):
            raise ParameterError(
                "{name} must be numbers, in rows of equal length: leave out other columns, or encode them",
                name=Option(name),
            ) from None
        finite = name != "features" or np.isfinite(found).all()
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2:
        raise ParameterError("{name} must be a table, not of shape {shape}", name=Option(name), shape=found.shape)
    if not finite:
        raise ParameterError(
            "{name} has a value that is missing or infinite: fill it, for example with the mean of its column",
            name=Option(name),
        )
    return found


def _placed(values: Rows, graph: Graph, name: str, missing: float) -> Rows:
    n, rows = graph.n_nodes, graph.n_rows
    length = values.shape[0]
    if length == n:
        return values
    if rows is not None and length == rows:
        return _spread(values, np.arange(rows), n, missing)
    if rows is not None and length == n - rows:
        return _spread(values, np.arange(rows, n), n, missing)
    sides = "" if rows is None else f" ({rows} rows and {n - rows} columns)"
    raise ParameterError(
        "{name} has {length} rows, but the graph has {n} nodes{sides}: give one row per node, or {{node: row}}",
        name=Option(name),
        length=length,
        n=n,
        sides=sides,
    )


def _spread(values: Rows, places: Any, n: int, missing: float) -> Rows:
    """The rows at their places among n."""
    if issparse(values):
        chosen = csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(n, len(places)))
        return csr_array(chosen @ values)
    found = np.full((n, values.shape[1]), missing)
    found[places] = values
    return found


def _read_opinion(evidence: Any, graph: Graph, seeds: Seeds) -> Doubles:
    """Probabilities of the classes, with columns in their order; a data frame may name the classes."""
    names = [each for each in getattr(evidence, "columns", ()) if each not in ID_COLUMNS]
    labels = seeds.classes.tolist()
    found: Any = read_rows(evidence, graph, "evidence", missing=np.nan)
    found = found.toarray() if issparse(found) else found
    texts = list(map(str, names))
    if names and set(map(str, labels)) <= set(texts):
        found = found[:, [texts.index(str(label)) for label in labels]]
    if found.shape[1] != len(labels):
        raise ParameterError(
            "{evidence} has {columns} columns, but there are {classes} classes: give one for each: {names}",
            evidence=Option("evidence"),
            columns=found.shape[1],
            classes=len(labels),
            names=", ".join(map(repr, labels[:5])) + ", ..." * (len(labels) > 5),
        )
    if np.nanmin(found, initial=0) < 0 or np.isinf(found).any():
        raise ParameterError("{evidence} must be probabilities, not negative or infinite", evidence=Option("evidence"))
    return found
