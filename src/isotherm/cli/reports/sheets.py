"""The sheet of ``isotherm suggest``: nodes to label, with an empty column to fill in."""

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.cli.reports.accounts import joined, labels_of

if TYPE_CHECKING:
    from isotherm.arrays import Doubles
    from isotherm.classifier import DirichletClassifier
    from isotherm.io import Layout

__all__ = ["sheet"]


def sheet(clf: "DirichletClassifier", nodes: Any, values: "Doubles", layout: "Layout | None") -> dict[str, list[Any]]:
    """Columns for some nodes: node and label as in the file of seeds, the label empty; guess, confidence and value.

    A filled-in sheet can be read as a file of seeds: `sheet_places` in `isotherm.io.tables.guessing.names` knows the
    added columns.
    """
    present = labels_of(clf, clf.graph_.index(nodes))
    filled = {"node": nodes.tolist(), "label": [None] * len(nodes)}
    columns = {name: filled[role] for role, name in _names(layout).items()}
    added: dict[str, list[Any]] = {
        "guess": [None if label in (None, []) else joined(label) for label, _ in present],
        "confidence": [min(each, default=0.0) if isinstance(each, list) else each for _, each in present],
        "value": np.asarray(values).tolist(),
    }
    return columns | {name: column for name, column in added.items() if name not in columns}


def _names(layout: "Layout | None") -> dict[str, str]:
    """The names of the columns of node and label, in the order in which the file of seeds has them."""
    roles = {} if layout is None else {role: layout.roles.get(role) for role in ("node", "label")}
    order = sorted(("node", "label"), key=lambda role: getattr(roles.get(role), "number", 0))
    return {role: getattr(roles.get(role), "name", None) or role for role in order}
