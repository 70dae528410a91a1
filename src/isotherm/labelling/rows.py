"""The one table of results: a row for each node, or for each label of a node.

Data frames, files, the workers of a cluster and reports all take their rows from here.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.errors import ParameterError
from isotherm.labelling.fit import Fit
from isotherm.labelling.label_sets import LabelSets
from isotherm.seeds.encoding import Labels

__all__ = ["Column", "Columns", "Rows", "label_rows", "rows"]

PIECE = 1 << 20  # nodes whose columns are in memory at once

Column: TypeAlias = NDArray  # a masked array where values are missing
Rows: TypeAlias = dict[str, Column]


class Columns(NamedTuple):
    """Which columns and rows are wanted.

    Attributes
    ----------
    confidence
        Whether to add the probability of each label; a `DirichletClassifier` hides seeds for it.
    probabilities, temperatures
        Whether to add a column ``p_<class>`` or ``t_<class>`` for each class.
    sides
        Whether to say of the nodes of a bipartite graph if they are rows or columns.
    only_unlabelled
        Whether to leave out the seeds.
    min_confidence
        Leave out nodes whose confidence is below this.
    """

    confidence: bool = True
    probabilities: bool = False
    temperatures: bool = False
    sides: bool = False
    only_unlabelled: bool = False
    min_confidence: float | None = None


def rows(fit: Fit, wanted: Columns = Columns(), nodes: Ints | slice | None = None) -> Iterator[Rows]:  # noqa: B008
    """The results of some nodes, or of all, in pieces; where a node may have several labels, a row for each.

    Labels are missing where nothing is known about a node.
    """
    outcome, graph = fit.outcome, fit.graph
    if isinstance(outcome, LabelSets):
        if wanted.probabilities or wanted.temperatures:
            raise ParameterError("probabilities and temperatures are for one label per node: leave them out")
        yield _pairs(fit, outcome, wanted, nodes)
        return
    needs_confidence = wanted.confidence or wanted.min_confidence is not None
    confidence = fit.confidence if needs_confidence else None
    temperatures = outcome.temperatures if wanted.temperatures else None
    chances = fit.probabilities() if wanted.probabilities else None
    is_seed = _is_seed(fit)
    for piece in _pieces(graph.n_nodes) if nodes is None else [nodes]:
        yield label_rows(
            graph.nodes[piece],
            outcome.codes[piece],
            fit.seeds.classes,
            wanted,
            confidence=None if confidence is None else confidence[piece],
            chances=None if chances is None else chances[piece],
            temperatures=None if temperatures is None else temperatures[piece],
            is_seed=is_seed[piece],
            is_row=None if graph.n_rows is None else np.arange(graph.n_nodes)[piece] < graph.n_rows,
        )


def label_rows(
    nodes: NDArray,
    codes: Ints,
    classes: Labels,
    wanted: Columns,
    *,
    confidence: Doubles | None = None,
    chances: Doubles | None = None,
    temperatures: Floats | None = None,
    is_seed: Mask | None = None,
    is_row: Mask | None = None,
) -> Rows:
    """The rows of nodes with one label each; class number -1 means no label."""
    found: Rows = {"node": nodes}
    if wanted.sides and is_row is not None:
        found["side"] = np.where(is_row, "row", "column").astype(object)
    found["label"] = np.ma.array(classes[codes], mask=codes < 0)
    if wanted.confidence and confidence is not None:
        found["confidence"] = np.where(codes >= 0, confidence, 0)
    for prefix, table in (("p", chances), ("t", temperatures)):
        if table is not None:
            names = (f"{prefix}_{label}" for label in classes.tolist())
            found |= dict(zip(names, np.ma.masked_invalid(table).T, strict=True))
    return _chosen(found, wanted, is_seed, confidence)


def _chosen(found: Rows, wanted: Columns, is_seed: Mask | None, confidence: Doubles | None) -> Rows:
    keep = np.ones(len(found["node"]), bool)
    if wanted.only_unlabelled and is_seed is not None:
        keep &= ~is_seed
    if wanted.min_confidence is not None and confidence is not None:
        keep &= confidence >= wanted.min_confidence
    return found if keep.all() else {name: column[keep] for name, column in found.items()}


def _is_seed(fit: Fit) -> Mask:
    is_seed = np.zeros(fit.graph.n_nodes, bool)
    is_seed[fit.seeds.nodes] = True
    return is_seed


def _pieces(n: int) -> Iterator[slice]:
    """Ranges of nodes, so that text and columns of all nodes are never in memory at once."""
    return (slice(first, min(first + PIECE, n)) for first in range(0, max(n, 1), PIECE))


def _pairs(fit: Fit, outcome: LabelSets, wanted: Columns, nodes: Ints | slice | None) -> Rows:
    """A row for each label of each node, most certain first; one without label for a node that has none."""
    graph = fit.graph
    chosen = np.arange(graph.n_nodes)[slice(None) if nodes is None else nodes]
    table = fit.confidence if wanted.confidence or wanted.min_confidence is not None else outcome.warmth
    found = table[chosen].tocoo()  # (m, L)
    bare = np.flatnonzero(np.bincount(found.row, minlength=len(chosen)) == 0)
    places = np.concatenate([found.row, bare])
    codes = np.concatenate([found.col, np.full(len(bare), -1)])
    confidence = np.concatenate([found.data, np.zeros(len(bare))])
    order = np.lexsort((codes, -confidence, places))
    positions = chosen[places[order]]
    return label_rows(
        graph.nodes[positions],
        codes[order],
        fit.seeds.classes,
        wanted,
        confidence=confidence[order],
        is_seed=_is_seed(fit)[positions],
        is_row=None if graph.n_rows is None else positions < graph.n_rows,
    )
