"""Evidence besides the links, as users give it: features or probabilities of nodes, in many kinds of tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isotherm.arrays import Doubles, Ints
from isotherm.errors import Option, ParameterError, Worded, first_few, warn
from isotherm.graphs import Graph
from isotherm.kernels.numbering import Words, mixed
from isotherm.probability.experts.expert import Rows
from isotherm.probability.experts.spectral import Structure
from isotherm.seeds import Seeds

if TYPE_CHECKING:
    from isotherm.io.feature_table import FeatureTable

AUTO, SPECTRAL, COMPATIBILITY = "auto", "spectral", "compatibility"
UNNAMED = ("{}", "column_{}")  # how pandas and polars name the columns of an array
MOST_ODDS = 50_000_000  # nodes times classes; beyond, structure and the columns of a table are left out by default


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
    table: "FeatureTable | None" = None  # how the columns of the features were read, if they were no numbers

    @classmethod
    def of_table(cls, rows: Rows) -> "Evidence":
        """The columns of the table (n, d) whose nearest rows are the graph; heat reflects much of them already."""
        return cls(rows, prior={"majority": 0.75, "neighbours": 0.25, "second round": 0.25}, clustered=True)

    def on(self, graph: Graph) -> "Evidence":
        """The same for a graph with the same nodes and other weights."""
        return self if self.structure is None else replace(self, structure=Structure(graph))

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


def has_room(graph: Graph, n_classes: int) -> bool:
    """Whether the log-odds of several experts are small enough to be kept by default."""
    return graph.n_nodes * n_classes <= MOST_ODDS


def read_evidence(
    features: Any, evidence: Any, graph: Graph, seeds: Seeds, feature_table: "FeatureTable | None" = None
) -> Evidence | None:
    """Read what `fit` was given; None to go by heat alone.

    ``evidence`` may also be an `Evidence` with one row for each node. Raises `ParameterError` if rows do not fit the
    nodes, or columns of probabilities the classes.
    """
    if isinstance(evidence, Evidence):
        if has_room(graph, seeds.n_classes):
            return evidence
        _warn_about_size("the columns of the table were left out as evidence, since there are many rows and classes")
        return None
    rows, table = None, None
    if features is not None:
        from isotherm.io.node_rows import read_node_features  # few fits have features

        rows, table = read_node_features(features, graph, feature_table)
    if not isinstance(evidence, str):
        opinion = None if evidence is None else _read_opinion(evidence, graph, seeds)
        return None if rows is None and opinion is None else Evidence(rows, opinion, table=table)
    if evidence in (SPECTRAL, COMPATIBILITY):
        compatibility = evidence == COMPATIBILITY
        return Evidence(rows, structure=Structure(graph), compatibility=compatibility, table=table)
    if evidence != AUTO:
        raise ParameterError(
            "{given}, but it must be 'auto', 'spectral', 'compatibility' or a table of probabilities",
            given=Option("evidence", evidence),
        )
    if has_room(graph, seeds.n_classes):
        return Evidence(rows, structure=Structure(graph), table=table)
    why = "the structure of the graph was left out as evidence, since there are many nodes and classes"
    _warn_about_size(f"{why}: set {{spectral}} to use it")
    return None if rows is None else Evidence(rows, table=table)


def _warn_about_size(message: str) -> None:
    spectral, none = Option("evidence", SPECTRAL), Option("evidence", None)
    warn(EvidenceWarning(message + " ({none} does the same without this warning)", spectral=spectral, none=none))


def _read_opinion(evidence: Any, graph: Graph, seeds: Seeds) -> Doubles:
    """Probabilities of the classes, with columns in their order; a data frame must name the classes."""
    from isotherm.io.node_rows import chosen_rows, placed, split_ids, spread

    labels, name = seeds.classes.tolist(), Option("evidence")
    ids, content = split_ids(evidence, graph, name)
    by_column = isinstance(content, Mapping)
    if by_column:
        content = [content[each] for each in _class_names(list(content), labels)]
    found = _probabilities(content, by_column=by_column)
    if ids is None:
        found = placed(found, graph, name, np.nan)
    else:
        rows, places = chosen_rows(ids, graph, name)
        found = spread(found[rows], places, graph.n_nodes, np.nan)
    if found.shape[1] != len(labels):
        raise ParameterError(
            "{evidence} has {columns} columns, but there are {classes} classes: give one for each: {names}",
            evidence=Option("evidence"),
            columns=found.shape[1],
            classes=len(labels),
            names=first_few(labels, 5),
        )
    if np.nanmin(found, initial=0) < 0 or np.isinf(found).any():
        raise ParameterError("{evidence} must be probabilities, not negative or infinite", evidence=Option("evidence"))
    return found


def _class_names(names: list[str], labels: list[Any]) -> list[str]:
    """The columns of the classes: named by them, such as ``fraud``, or ``p_fraud`` in our results, or not at all."""
    if names in ([form.format(place) for place in range(len(names))] for form in UNNAMED):
        texts = [str(label) for label in labels]
        return texts if set(texts) <= set(names) else names
    wanted = min(
        ([f"{prefix}{label}" for label in labels] for prefix in ("", "p_")), key=lambda w: len({*w} - {*names})
    )
    if missing := [name for name in wanted if name not in names]:
        raise ParameterError(
            "{evidence} has no column for {missing}, only {names}: name each column by its class, or give an array",
            evidence=Option("evidence"),
            missing=first_few(missing, 5),
            names=first_few(names, 5),
        )
    return wanted


def _probabilities(content: Any, *, by_column: bool) -> Doubles:
    """Numbers in two dimensions, from rows or from columns; NaN where one is missing."""
    try:
        found = np.asarray(content.toarray() if issparse(content) else content, dtype=np.float64)
    except (ValueError, TypeError):
        message = "{evidence} must be numbers, in rows of equal length: leave out other columns"
        raise ParameterError(message, evidence=Option("evidence")) from None
    found = found[:, None] if found.ndim == 1 and not by_column else found
    if found.ndim != 2:
        message = "{evidence} must be a table, not of shape {shape}"
        raise ParameterError(message, evidence=Option("evidence"), shape=found.shape)
    return found.T if by_column else found
