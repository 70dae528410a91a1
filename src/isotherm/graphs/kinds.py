"""Kinds of edges: which relation each edge of a list belongs to."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option, ParameterError
from isotherm.graphs.nodes import flat, is_missing

MOST_KINDS = 20  # each takes a few solves
MISSING = "missing"  # the kind of edges whose kind is not given


class EdgeKinds(NamedTuple):
    """The names of kinds, ascending, and the kind of each edge as a place among them."""

    names: tuple[str, ...]
    codes: NDArray[np.integer]


def edge_kinds(kind: Any, edges: int) -> EdgeKinds:
    """One kind per edge, compared as text.

    >>> edge_kinds(["pays", None, "knows", "pays"], 4)
    EdgeKinds(names=('knows', 'missing', 'pays'), codes=array([2, 1, 0, 2]))
    """
    values = flat(kind, "kind")
    if len(values) != edges:
        raise ValueError(f"kind has {len(values)} values for {edges} edges")
    texts = [MISSING if is_missing(value) else str(value).strip() or MISSING for value in values.tolist()]
    check_number(texts, Option("kind"))
    names, codes = np.unique(np.array(texts, dtype=np.str_), return_inverse=True)
    return EdgeKinds(tuple(names.tolist()), codes)


def check_number(kinds: Any, option: Option) -> None:
    """Refuse a column with so many values that they are hardly kinds."""
    found = len(set(kinds))
    if found > MOST_KINDS:
        message = (
            "{kind} has {found} kinds of edges, but at most {most} can be weighed: give another column, or merge some"
        )
        raise ParameterError(message, kind=option, found=f"{found:,}", most=MOST_KINDS)
