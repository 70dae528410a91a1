"""The picture of ``isotherm evaluate``: rules side by side, and the classes under the best of them."""

import os
from typing import TYPE_CHECKING, Any

from isotherm.cli.status import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isotherm.evaluation import Evaluation

__all__ = ["check_picture", "draw_rules"]

SUFFIXES = (".png", ".pdf", ".svg")
SCORES = {"macro-F1": ("#2b5c8a", "o"), "accuracy": ("#b2182b", "s")}
MOST_CLASSES = 30


def check_picture(path: str, *, force: bool) -> None:
    """Refuse a picture that could not be drawn, before any work is done for it."""
    from isotherm.io import check_output
    from isotherm.io.errors import need

    if os.path.splitext(path)[1].lower() not in SUFFIXES:
        raise UsageError(f"--plot: {path} must end in {', '.join(SUFFIXES)}")
    need("matplotlib", "--plot")
    check_output(path, force=force, format="jsonl")  # a picture is as good as any file here


def draw_rules(found: "Evaluation", path: str) -> None:
    """Draw the scores of all rules, and F1 of each class under the best one; the suffix decides the format."""
    from matplotlib.figure import Figure

    from isotherm.io.output import writing

    shown = min(len(found.classes), MOST_CLASSES)
    height = max(3.2, 1.1 + 0.2 * shown)
    figure: Any = Figure(figsize=(9, height), facecolor="white", layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    _draw_scores(left, found)
    _draw_classes(right, found, shown)
    with writing(path) as file:
        figure.savefig(file, format=os.path.splitext(path)[1][1:].lower(), dpi=160)


def _draw_scores(axes: "Axes", found: "Evaluation") -> None:
    """Mean and standard deviation as a point with whiskers, single runs as pale points."""
    for shift, (name, (colour, marker)) in zip((-0.13, 0.13), SCORES.items(), strict=True):
        for place, scores in enumerate(found.rules.values()):
            values = scores.macro_f1 if name == "macro-F1" else scores.accuracy
            axes.scatter([place + shift] * len(values), values, s=10, color=colour, alpha=0.25, linewidths=0)
            label = name if place == 0 else None
            style: dict[str, Any] = {"color": colour, "fmt": marker, "capsize": 3, "markersize": 6}
            axes.errorbar(place + shift, values.mean(), values.std(), label=label, **style)
    axes.set_xticks(range(len(found.rules)), list(found.rules), fontsize=9)
    axes.set_xlim(-0.5, len(found.rules) - 0.5)
    axes.set_ylim(0, 1)
    axes.set_title(f"Rules, {found.seeds.mean():,.0f} seeds, {len(found.seeds)} runs", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    _tidy(axes, "y")


def _draw_classes(axes: "Axes", found: "Evaluation", shown: int) -> None:
    """F1 of the largest classes, the largest on top."""
    import numpy as np

    from isotherm.evaluation import class_scores

    confusion = found.rules[found.best].confusion
    sizes = confusion.sum(axis=1) / len(found.seeds)
    order = np.argsort(-sizes, kind="stable")[:shown]
    axes.barh(range(shown), class_scores(confusion)[order, 2], color=SCORES["macro-F1"][0], height=0.7)
    names = [f"{found.classes[place]} ({sizes[place]:,.0f})" for place in order]
    axes.set_yticks(range(shown), names, fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_ylim(shown - 0.4, -0.6)
    which = "Classes" if shown == len(found.classes) else f"The {shown} largest classes"
    axes.set_title(f"{which} (hidden nodes): F1, rule {found.best}", fontsize=10)
    _tidy(axes, "x")


def _tidy(axes: "Axes", grid: Any) -> None:
    axes.grid(axis=grid, color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
