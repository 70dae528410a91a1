"""The picture of ``isotherm evaluate``: scores of the rules, then classes and confidence under the best rule."""

import os
from typing import TYPE_CHECKING, Any

from isotherm.cli.terminal.messages import UsageError, usage_errors
from isotherm.cli.terminal.text import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isotherm.study.evaluation import Evaluation

__all__ = ["check_picture", "draw_rules"]

SUFFIXES = (".png", ".pdf", ".svg")
BLUE, RED, PALE = "#2b5c8a", "#b2182b", "#bfd3e6"
SCORES = {"macro-F1": (BLUE, "o", -0.17), "accuracy": (RED, "s", 0.17)}  # colour, marker, offset in the row of a rule
MOST_CLASSES = 30
ROW = {"rule": 0.42, "class": 0.21}  # heights, in inches
DIAGRAM = 3.0  # height of the reliability diagram
REST = 1.9, 1.0  # height of titles, legends and scales: of two panels, and of a third


def check_picture(path: str, *, force: bool) -> None:
    """Refuse a picture that cannot be drawn, before any work is done for it."""
    from isotherm.files import check_target
    from isotherm.io.errors import need

    if os.path.splitext(path)[1].lower() not in SUFFIXES:
        raise UsageError(f"--plot: {path} must end in {', '.join(SUFFIXES)}")
    need("matplotlib", "--plot")
    with usage_errors():
        check_target(path, force=force)


def draw_rules(found: "Evaluation", path: str, *, force: bool = False) -> None:
    """Draw the scores of all rules and of the largest classes, and a reliability diagram, if confidence was scored."""
    from matplotlib.figure import Figure

    from isotherm.files import writing

    classes = min(len(found.classes), MOST_CLASSES)
    heights = [len(found.rules) * ROW["rule"], classes * ROW["class"], *[DIAGRAM] * found.calibrated]
    height = sum(heights) + sum(REST[: len(heights) - 1])
    figure: Any = Figure(figsize=(7.2, height), facecolor="white", layout="constrained")
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    _draw_rules(panels[0], found)
    _draw_classes(panels[1], found, classes)
    if found.calibrated:
        _draw_reliability(panels[2], found)
    with usage_errors(), writing(path, force=force) as file:
        figure.savefig(file, format=os.path.splitext(path)[1][1:].lower(), dpi=160)


def _draw_rules(axes: "Axes", found: "Evaluation") -> None:
    """Mean and standard deviation as a point with whiskers, single runs as pale points."""
    for name, (colour, marker, shift) in SCORES.items():
        for row, scores in enumerate(found.rules.values()):
            values = scores.macro_f1 if name == "macro-F1" else scores.accuracy
            place = row + shift
            axes.scatter(values, [place] * len(values), s=9, color=colour, alpha=0.25, linewidths=0, clip_on=False)
            style: dict[str, Any] = {"color": colour, "fmt": marker, "capsize": 3, "markersize": 5.5, "clip_on": False}
            bars = axes.errorbar(values.mean(), place, xerr=values.std(), label=None if row else name, **style)
            for part in bars.lines[1] + bars.lines[2]:
                part.set_clip_on(False)
            across = axes.get_yaxis_transform()
            axes.text(1.03, place, f"{values.mean():.3f}", transform=across, va="center", fontsize=7.5, color=colour)
    runs = f"{len(found.seeds)} run{'s' * (len(found.seeds) > 1)} of {found.seeds.mean():,.0f} seeds"
    _name_rows(axes, list(found.rules))
    _finish(axes, f"Rules: mean and standard deviation over {runs}")


def _draw_classes(axes: "Axes", found: "Evaluation", most: int) -> None:
    """F1, precision and recall of the largest classes, the largest on top."""
    import numpy as np

    from isotherm.study.evaluation import class_scores

    confusion = found.rules[found.best].confusion
    sizes = confusion.sum(axis=1) / len(found.seeds)
    order = np.argsort(-sizes, kind="stable")[:most]
    precision, recall, f1 = class_scores(confusion)[order].T
    rows = np.arange(most)
    axes.barh(rows, f1, color=PALE, height=0.72, label="F1")
    points: dict[str, Any] = {"s": 16, "zorder": 3, "clip_on": False}
    axes.scatter(precision, rows, marker="<", color=BLUE, label="precision", **points)
    axes.scatter(recall, rows, marker=">", facecolors="white", edgecolors=BLUE, label="recall", **points)
    which = "Classes" if most == len(found.classes) else f"The {most} largest of {len(found.classes)} classes"
    names = [f"{shown(found.classes[place])} ({sizes[place]:,.0f})" for place in order]
    _name_rows(axes, names)
    _finish(axes, f"{which} by the rule {found.best} (number of hidden nodes)")
    axes.tick_params(axis="y", labelsize=7.5)


def _draw_reliability(axes: "Axes", found: "Evaluation") -> None:
    """Accuracy against confidence; points on the diagonal are well calibrated."""
    diagram = found.rules[found.best].reliability
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle=(0, (4, 3)), label="perfect calibration")
    axes.vlines(diagram.confidence, diagram.confidence, diagram.accuracy, color=PALE, linewidth=5)
    points: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 5.5, "clip_on": False}
    bins = f"{len(diagram.count)} bins of {diagram.count.mean():,.0f} labels"
    axes.plot(diagram.confidence, diagram.accuracy, linewidth=1, label=bins, **points)
    axes.set(ylim=(0, 1))
    axes.set_xlabel("confidence", fontsize=8.5)
    axes.set_ylabel("accuracy", fontsize=8.5)
    _finish(axes, f"Confidence against accuracy, rule {found.best}: expected calibration error {diagram.error:.3f}")
    axes.grid(axis="y", color="0.9")


def _name_rows(axes: "Axes", names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _finish(axes: "Axes", title: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left", pad=22)
    axes.legend(frameon=False, fontsize=8, ncols=3, loc="lower left", bbox_to_anchor=(-0.01, 1), borderpad=0.2)
    axes.set_xlim(0, 1)
    axes.tick_params(labelsize=8.5, length=2.5, labelbottom=True)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
