"""The paper's numbers, from published.toml."""

import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

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


_ALL: dict[str, Any] = tomllib.loads(files("isotherm.paper").joinpath("published.toml").read_text(encoding="utf-8"))

TABLES: dict[str, dict[tuple[str, str], Published]] = {  # by table; then by column and rule
    name: {
        (column, rule): Published(*entry)
        for rule, entries in table.items()
        if rule != "columns"
        for column, entry in zip(table["columns"], entries, strict=True)
    }
    for name, table in _ALL["tables"].items()
}
CURVES: dict[str, dict[str, list[float]]] = {  # by figure and rule
    name: {
        rule: np.linspace(points[0], points[1], 10).round(4).tolist() if len(points) == 2 else points
        for rule, points in curves.items()
    }
    for name, curves in _ALL["curves"].items()
}
ENDS: dict[tuple[str, str], tuple[float, float]] = {  # by column and rule
    (column, rule): tuple(points) for column, curves in _ALL["ends"].items() for rule, points in curves.items()
}
DATASETS: dict[str, list[int]] = _ALL["datasets"]
