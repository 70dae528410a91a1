"""The pictures of ``isotherm evaluate`` and ``isotherm compare``: scores on top, then what explains them."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isotherm.cli.terminal.messages import UsageError, usage_errors
from isotherm.tables import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isotherm.study.comparison import Comparison, Curve
    from isotherm.study.evaluation import Evaluation
    from isotherm.study.scores import Scores

SUFFIXES = (".png", ".pdf", ".svg")
BLUE, RED, PALE = "#2b5c8a", "#b2182b", "#bfd3e6"
FIGURES = {"macro_f1": ("macro-F1", BLUE, "o", -0.17), "accuracy": ("accuracy", RED, "s", 0.17)}  # offset in a row last
MOST_CLASSES = 30
ROW, CLASS_ROW, DIAGRAM = 0.42, 0.21, 3.0  # heights of a row of scores, a class and a diagram, in inches
MARGINS = 1.0  # height of the title, legend and scale of a panel


def check_picture(path: str, *, force: bool) -> None:
    """Refuse a picture that cannot be drawn, before any work is done for it."""
    from isotherm.files import check_target
    from isotherm.io.errors import need

    if os.path.splitext(path)[1].lower() not in SUFFIXES:
        raise UsageError(f"--plot: {path} must end in {', '.join(SUFFIXES)}")
    need("matplotlib", "--plot")
    with usage_errors():
        check_target(path, force=force)


def draw_evaluation(found: "Evaluation", path: str, *, force: bool) -> None:
    """Draw the scores of all rules and of the largest classes, and a reliability diagram, if confidence was scored."""
    classes = min(len(found.classes), MOST_CLASSES)
    figure, panels = _panels([len(found.rules) * ROW, classes * CLASS_ROW, *[DIAGRAM] * found.calibrated])
    runs = f"{len(found.seeds)} run{'s' * (len(found.seeds) > 1)} of {found.seeds.mean():,.0f} seeds"
    _draw_scores(panels[0], found.rules, f"Rules: mean and standard deviation over {runs}")
    _draw_classes(panels[1], found, classes)
    if found.calibrated:
        _draw_reliability(panels[2], found)
    _save(figure, path, force=force)


def draw_comparison(found: "Comparison", path: str, *, force: bool) -> None:
    """Draw the scores of all methods, the best on top, and below them the learning curve."""
    figure, (above, below) = _panels([len(found.methods) * ROW, DIAGRAM])
    _draw_scores(above, found.ranked, f"{found.seeds:,} labels shown: mean and standard deviation over draws")
    for name, tick in zip(found.ranked, above.get_yticklabels(), strict=True):
        tick.set_fontweight("bold" if name.startswith("Isotherm") else "normal")
    _draw_curve(below, found.curve)
    _save(figure, path, force=force)


def _panels(heights: list[float]) -> tuple[Any, Any]:
    """A figure with panels of these heights below each other."""
    from matplotlib.figure import Figure

    size = (7.6, sum(heights) + MARGINS * len(heights))
    figure: Any = Figure(figsize=size, facecolor="white", layout="constrained")
    return figure, figure.subplots(len(heights), 1, height_ratios=heights)


def _save(figure: Any, path: str, *, force: bool) -> None:
    from isotherm.files import writing

    with usage_errors(), writing(path, force=force) as file:
        figure.savefig(file, format=os.path.splitext(path)[1][1:].lower(), dpi=160)


def _draw_scores(axes: "Axes", found: "Mapping[str, Scores]", title: str) -> None:
    """Mean and standard deviation as a point with whiskers, single runs as pale points."""
    for figure, (label, colour, marker, shift) in FIGURES.items():
        for row, scores in enumerate(found.values()):
            values, place = getattr(scores, figure), row + shift
            axes.scatter(values, [place] * len(values), s=9, color=colour, alpha=0.25, linewidths=0, clip_on=False)
            style: dict[str, Any] = {"color": colour, "fmt": marker, "capsize": 3, "markersize": 5.5, "clip_on": False}
            bars = axes.errorbar(values.mean(), place, xerr=values.std(), label=None if row else label, **style)
            for part in bars.lines[1] + bars.lines[2]:
                part.set_clip_on(False)
            across = axes.get_yaxis_transform()
            axes.text(1.03, place, f"{values.mean():.3f}", transform=across, va="center", fontsize=7.5, color=colour)
    _name_rows(axes, list(found))
    _finish(axes, title)


def _draw_classes(axes: "Axes", found: "Evaluation", most: int) -> None:
    """F1, precision and recall of the largest classes, the largest on top."""
    import numpy as np

    from isotherm.study.scores import class_scores

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
    _name_rows(axes, [f"{shown(found.classes[place])} ({sizes[place]:,.0f})" for place in order])
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


def _draw_curve(axes: "Axes", curve: "Curve") -> None:
    """Scores against the number of labels shown."""
    from matplotlib.ticker import NullLocator

    for figure, (label, colour, marker, _) in FIGURES.items():
        values = getattr(curve, figure)
        mean, spread = values.mean(axis=1), values.std(axis=1)
        axes.plot(curve.seeds, mean, color=colour, marker=marker, markersize=5, label=label)
        axes.fill_between(curve.seeds, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
    _finish(axes, f"{curve.method} with fewer labels")
    axes.autoscale()
    axes.set_xscale("log")
    axes.set_xticks(curve.seeds, [f"{seeds:,}" for seeds in curve.seeds])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("labels shown", fontsize=8.5)
    axes.grid(axis="y", color="0.9")


def _name_rows(axes: "Axes", names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _finish(axes: "Axes", title: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left", pad=22)
    axes.legend(frameon=False, fontsize=8, ncols=3, loc="lower left", bbox_to_anchor=(-0.01, 1), borderpad=0.2)
    axes.set_xlim(0, 1)
    axes.tick_params(labelsize=8.5, length=2.5)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
