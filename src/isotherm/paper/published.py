"""The paper's numbers. Curves were read off its figures by eye, to about 0.01."""

from typing import NamedTuple

import numpy as np

RUNS = 10  # behind each published mean and standard deviation


class Published(NamedTuple):
    """A mean and a standard deviation; `program` has them as the authors' program gives them, if they differ."""

    mean: float
    std: float
    program: tuple[float, float] | None = None

    @property
    def versions(self) -> list["Published"]:
        """The printed numbers, then the numbers of the program, if they differ."""
        return [Published(self.mean, self.std), *([Published(*self.program)] if self.program else [])]

    @property
    def note(self) -> str:
        """A note about the numbers of the program, if they differ."""
        return "" if self.program is None else "the output of the program has {:.2f} ± {:.2f}".format(*self.program)


def _row(*values: tuple[float, float] | tuple[float, float, tuple[float, float]]) -> list[Published]:
    return [Published(*value) for value in values]


def _table(columns: str, **rows: list[Published]) -> dict[tuple[str, str], Published]:
    """Entries by column and rule."""
    return {
        (column, rule): entry
        for rule, entries in rows.items()
        for column, entry in zip(columns.split(), entries, strict=True)
    }


# The rows of the weighted rule are not in the paper but in the output of its programs.
TABLES: dict[str, dict[tuple[str, str], Published]] = {
    "table2": _table(
        "CO CS WS WV WL",
        vanilla=_row((0.19, 0.12), (0.17, 0.04), (0.04, 0.02), (0.09, 0.04), (0.19, 0.01)),
        weighted=_row((0.19, 0.12), (0.17, 0.04), (0.04, 0.02), (0.08, 0.03), (0.18, 0.01)),
        centered=_row(
            (0.42, 0.18),
            (0.36, 0.04),
            (0.16, 0.11, (0.21, 0.14)),
            (0.55, 0.03),
            (0.51, 0.01, (0.55, 0.01)),
        ),
    ),
    "table3": _table(
        "CO CS WS WV WL",
        vanilla=_row((0.30, 0.08), (0.16, 0.07), (0.02, 0.01), (0.10, 0.04), (0.34, 0.00)),
        weighted=_row((0.29, 0.08), (0.17, 0.07), (0.02, 0.01), (0.12, 0.05), (0.40, 0.00)),
        centered=_row((0.51, 0.08), (0.26, 0.13), (0.06, 0.04), (0.48, 0.02), (0.45, 0.00)),
    ),
    "table4": _table(
        "DBLP Amazon",
        vanilla=_row((0.04, 0.00), (0.05, 0.01)),
        weighted=_row((0.04, 0.00), (0.05, 0.01)),
        centered=_row((0.19, 0.01), (0.18, 0.02, (0.18, 0.16))),
    ),
}


def _line(first: float, last: float) -> list[float]:
    return np.linspace(first, last, 10).round(4).tolist()


CURVES: dict[str, dict[str, list[float]]] = {
    "figure2a": {
        "centered": _line(0.96, 0.97),
        "vanilla": [0.96, 0.85, 0.745, 0.69, 0.66, 0.64, 0.625, 0.615, 0.61, 0.605],
        "weighted": [0.96, 0.84, 0.675, 0.585, 0.53, 0.50, 0.485, 0.47, 0.46, 0.455],
    },
    "figure2b": {
        "centered": [0.96, 0.95, 0.92, 0.89, 0.865, 0.835, 0.82, 0.80, 0.79, 0.76],
        "vanilla": [0.96, 0.72, 0.65, 0.64, 0.625, 0.62, 0.62, 0.61, 0.61, 0.61],
        "weighted": [0.96, 0.83, 0.735, 0.71, 0.68, 0.665, 0.66, 0.65, 0.645, 0.64],
    },
    "figure3a": {
        "centered": _line(0.955, 0.95),
        "vanilla": [0.955, 0.95, 0.935, 0.915, 0.89, 0.865, 0.84, 0.81, 0.785, 0.76],
        "weighted": [0.955, 0.95, 0.93, 0.88, 0.795, 0.705, 0.625, 0.56, 0.51, 0.455],
    },
    "figure3b": {
        "centered": [0.945, 0.93, 0.915, 0.90, 0.885, 0.87, 0.855, 0.84, 0.825, 0.815],
        "vanilla": [0.93, 0.855, 0.74, 0.65, 0.585, 0.53, 0.495, 0.475, 0.45, 0.435],
        "weighted": [0.945, 0.91, 0.855, 0.795, 0.74, 0.69, 0.65, 0.62, 0.595, 0.575],
    },
}

# Figure 4: the first and the last point of each curve.
ENDS: dict[tuple[str, str], tuple[float, float]] = {
    ("CO", "centered"): (0.52, 0.52),
    ("CO", "vanilla"): (0.205, 0.12),
    ("CS", "centered"): (0.35, 0.33),
    ("CS", "vanilla"): (0.16, 0.105),
    ("WS", "centered"): (0.12, 0.12),
    ("WS", "vanilla"): (0.025, 0.025),
    ("WV", "centered"): (0.53, 0.50),
    ("WV", "vanilla"): (0.095, 0.05),
}

# Table 1: nodes, edges, classes, percent labelled.
DATASETS: dict[str, tuple[int, int, int, int]] = {
    "CO": (2708, 10_556, 7, 100),
    "CS": (3264, 9072, 6, 100),
    "WS": (4403, 112_834, 16, 100),
    "WV": (10_012, 792_091, 11, 100),
    "WL": (3_210_346, 67_196_296, 10, 100),
    "DBLP": (317_080, 2_099_732, 5000, 29),
    "Amazon": (334_863, 1_851_744, 5000, 5),
}
