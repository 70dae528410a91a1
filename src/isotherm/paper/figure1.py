"""Figure 1 of the paper: the Karate Club with two seeds, its ground truth and its temperatures.

The two leaders are the seeds, Mr. Hi hot and the officer cold. A node takes the hot class if its temperature is above
the mean. Its confidence, as in section 3.1, is the distance of its temperature to the mean.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu

from isotherm.arrays import Doubles, Mask
from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.equilibrium.solvers import Solution
from isotherm.files import writing
from isotherm.paper.experiment import Data, Draw, Experiment, Measurement, Setting
from isotherm.study.datasets import Dataset, karate_club

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEADERS = [0, 33]
WRONG_NODES, FARTHEST, CLOSER = "wrong nodes", "distance to the mean of a wrong node", "nodes closer to the mean"
HOT, COLD = "Mr. Hi", "Officer"

# Each class has its own hue and shape, so that the picture works for colour-blind readers and in grey print.
PALE = {HOT: (0.99, 0.84, 0.77), COLD: (0.80, 0.88, 0.95)}
FULL = {HOT: (0.70, 0.09, 0.17), COLD: (0.10, 0.36, 0.65)}
SHAPE = {HOT: ("o", 150), COLD: ("s", 128)}  # marker, and its area in square points
SEED, WRONG = "solid", (0, (2, 1.2))  # line styles of the rings around them
RING: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.3}
RING_AREA = 340
LUMINANCE = np.array([0.30, 0.59, 0.11])


@dataclass(frozen=True, eq=False)
class Result:
    """The Karate Club, classified."""

    dataset: Dataset
    seeds: list[int]  # positions of the two seeds, hot and cold
    temperatures: Doubles  # (n,) between 1 at the hot seed and 0 at the cold one
    labels: NDArray[Any]  # (n,)
    solution: Solution

    @property
    def mean(self) -> float:
        """The mean temperature, which is the border between the classes."""
        return float(self.temperatures.mean())

    @property
    def confidence(self) -> Doubles:
        """Distance of each temperature to the mean."""
        return np.abs(self.temperatures - self.mean)

    @property
    def right(self) -> Mask:
        """Whether each label is the true one."""
        return np.asarray(self.labels == self.dataset.labels)


def classify() -> Result:
    """Classify the Karate Club from its two leaders."""
    club = karate_club()
    seeds = {club.graph.nodes[leader]: club.labels[leader] for leader in LEADERS}
    clf = DirichletClassifier(rule="centered", side="source").fit(club.graph, seeds)
    hot = clf.classes_.tolist().index(HOT)
    return Result(club, LEADERS, clf.temperatures_[:, hot].astype(np.float64), clf.labels_, clf.solution_)


def summary(result: Result) -> str:
    """How many labels are wrong, how far these nodes are from the mean, and how long the solve took."""
    wrong = np.flatnonzero(~result.right).tolist()
    parts = [f"{len(wrong)} of {len(result.labels)} labels wrong"]
    for i in wrong:
        closer = np.count_nonzero(result.confidence < result.confidence[i])
        node, distance = result.dataset.graph.nodes[i], result.confidence[i]
        parts.append(f"node {node} is {distance:.3f} from the mean ({closer} nodes are closer)")
    return "; ".join([*parts, f"solver {result.solution.solver}, {result.solution.seconds:.4f} seconds"])


def draw(result: Result, path: str | os.PathLike[str]) -> None:
    """Draw both panels into a file, whose suffix decides the format; needs matplotlib."""
    figure, path = picture(result), Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(str(path), force=True) as file:
        figure.savefig(file, dpi=200, format=path.suffix.removeprefix("."))


def picture(result: Result) -> "Figure":
    """Both panels; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figure 1 needs matplotlib: pip install 'isotherm[plot]'") from error
    figure = Figure(figsize=(7.2, 3.9), facecolor="white")
    truth, answer = (figure.add_axes((left, 0.165, 0.49, 0.78)) for left in (0.005, 0.505))
    true = result.dataset.labels
    full, shaded = np.array([FULL[label] for label in true]), _colours(result.temperatures, result.mean)
    _draw_panel(truth, result, true, full, "(a) Ground truth")
    _draw_panel(answer, result, result.labels, shaded, "(b) Solution of the Dirichlet problem")
    _draw_rings(answer, result, ~result.right, WRONG)
    _draw_keys(truth)
    _draw_scale(figure.add_axes((0.63, 0.085, 0.30, 0.035)), result)
    return figure


def _colours(temperatures: Doubles, mean: float) -> Doubles:
    """Colours, (n, 3): the hue says on which side of the mean a temperature is; the closer to it, the paler."""
    hot = temperatures > mean
    pale, full = (np.where(hot[:, None], shade[HOT], shade[COLD]) for shade in (PALE, FULL))
    strength = np.abs(temperatures - mean) / max(mean, 1 - mean)
    return pale + strength[:, None] * (full - pale)


def _draw_panel(axes: "Axes", result: Result, labels: NDArray[Any], colours: Doubles, title: str) -> None:
    graph, positions = result.dataset.graph, np.asarray(result.dataset.positions)
    edges = np.stack(triu(graph.adjacency).nonzero())  # (2, m)
    axes.plot(*positions[edges].transpose(2, 0, 1), color="0.72", linewidth=0.6, zorder=1)
    for label, (marker, area) in SHAPE.items():
        own = labels == label
        x, y = positions[own].T
        axes.scatter(x, y, c=colours[own], marker=marker, s=area, linewidths=0.6, edgecolors="0.3", zorder=2)
    for node, (x, y), colour in zip(graph.nodes, positions, colours, strict=True):
        ink = "white" if colour @ LUMINANCE < 0.5 else "black"
        axes.text(x, y, str(node), color=ink, fontsize=6.5, ha="center", va="center_baseline", zorder=4)
    _draw_rings(axes, result, result.seeds, SEED)
    axes.set_title(title, fontsize=9.5, pad=3)
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.axis("off")


def _draw_rings(axes: "Axes", result: Result, nodes: Any, style: Any) -> None:
    x, y = np.asarray(result.dataset.positions)[nodes].T
    axes.scatter(x, y, s=RING_AREA, linestyle=style, zorder=3, **RING)


def _draw_keys(axes: "Axes") -> None:
    for label, (marker, area) in SHAPE.items():
        axes.scatter([], [], color=FULL[label], marker=marker, s=area / 2, label=label)
    for label, style in (("seed", SEED), ("wrong", WRONG)):
        axes.scatter([], [], s=RING_AREA / 3, linestyle=style, label=label, **RING)
    spacing: dict[str, Any] = {"columnspacing": 1.6, "handletextpad": 0.2}
    axes.legend(loc="center", bbox_to_anchor=(0.5, -0.08), ncols=4, fontsize=8, frameon=False, **spacing)


def _draw_scale(axes: "Axes", result: Result) -> None:
    """The colour scale, with a tick above it for each node."""
    ramp = _colours(np.linspace(0, 1, 512), result.mean)
    axes.imshow(ramp[None], extent=(0, 1, 0, 1), aspect="auto")
    axes.vlines(result.temperatures, 1.2, 1.8, color="black", linewidth=0.6, clip_on=False)
    for i in np.flatnonzero(~result.right):
        name = str(result.dataset.graph.nodes[i])
        axes.text(result.temperatures[i], 1.9, name, fontsize=6.5, ha="center", va="bottom")
    axes.set_xticks([0, result.mean, 1], ["0", f"mean {result.mean:.2f}", "1"], fontsize=7.5)
    axes.set_yticks([0.5], ["temperature"], fontsize=8)
    axes.tick_params(length=2, pad=2, width=0.5)
    axes.tick_params(axis="y", length=0, pad=5)
    axes.spines[:].set_linewidth(0.5)
    axes.set_ylim(0, 1)


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """How many nodes are wrong, how far from the mean they are, and how many nodes are closer to it."""
    result = classify()
    wrong = ~result.right
    farthest = float(result.confidence[wrong].max(initial=0))
    yield Measurement(0, "centered", WRONG_NODES, int(wrong.sum()))
    yield Measurement(0, "centered", FARTHEST, farthest)
    yield Measurement(0, "centered", CLOSER, int((result.confidence < farthest).sum()))


def _settings(protocol: str, data: Data) -> list[Setting]:
    return [Setting(protocol, "Karate Club")]


EXPERIMENT = Experiment("figure1", "Figure 1: the Karate Club", _settings, run, ("two seeds",), repeated=False)
