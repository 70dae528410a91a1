"""The sheet of ``isotherm suggest``: nodes to label, with an empty column to fill in."""

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.cli.reports.accounts import joined, labels_of

if TYPE_CHECKING:
    from isotherm.arrays import Doubles
    from isotherm.dirichlet_classifier import DirichletClassifier

__all__ = ["sheet"]


def sheet(nodes: Any, values: "Doubles", clf: "DirichletClassifier | None") -> dict[str, list[Any]]:
    """Columns for some nodes: node and label as in the file of seeds, the label empty; guess, confidence and value.

    Without a classifier nothing is guessed. A filled-in sheet can be read as a file of seeds: `sheet_places` in
    `isotherm.io.tables.guessing.names` knows the added columns.
    """
    present = [(None, 0.0)] * len(nodes) if clf is None else labels_of(clf, clf.graph_.index(nodes))
    names = {} if clf is None else clf.seed_columns_
    filled = {"node": nodes.tolist(), "label": [None] * len(nodes)}
    columns = {names.get(role, role): filled[role] for role in names or filled}
    added: dict[str, list[Any]] = {
        "guess": [None if label in (None, []) else joined(label) for label, _ in present],
        "confidence": [min(each, default=0.0) if isinstance(each, list) else each for _, each in present],
        "value": np.asarray(values).tolist(),
    }
    return columns | {name: column for name, column in added.items() if name not in columns}
