"""What ``isotherm compare`` prints, writes and draws."""

import json
import math
import os
from typing import TYPE_CHECKING, Any

from isotherm.cli.reports.latex import score_table
from isotherm.cli.terminal.messages import usage_errors
from isotherm.cli.terminal.text import aligned, counted, plus_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isotherm.study.comparison.compare import Comparison, Curve

__all__ = ["as_json", "as_latex", "draw", "draws", "text"]

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.6"
SHAPES = {"accuracy": (BLUE, "o", -0.15), "macro_f1": (ORANGE, "s", 0.15)}  # colour, marker, offset in a row
WORDS = {"accuracy": "accuracy", "macro_f1": "macro-F1"}


def text(found: "Comparison") -> str:
    """The table of methods, the learning curve, and what follows from them."""
    parts = [
        _heading(found),
        _method_table(found),
        _advice(found),
        _curve_table(found.curve),
        _labels_advice(found.curve),
    ]
    if found.left_out:
        parts.append("Left out: " + "; ".join(f"{name} ({why})" for name, why in found.left_out.items()))
    return "\n\n".join(parts)


def as_json(found: "Comparison") -> str:
    """The same for machines; figures that do not exist are null."""
    values = {
        "seeds": found.seeds,
        "hidden": found.hidden,
        "classes": found.classes,
        "best": found.best,
        "best_of_isotherm": found.best_of_ours,
        "methods": {
            name: {
                "accuracy": _listed(scores.accuracy),
                "macro_f1": _listed(scores.macro_f1),
                "calibration_error": _listed(scores.calibration_error),
                "cpu_seconds": _number(scores.seconds),
            }
            for name, scores in found.methods.items()
        },
        "left_out": found.left_out,
        "learning_curve": {
            "method": found.curve.method,
            "seeds": found.curve.seeds.tolist(),
            "accuracy": [_listed(row) for row in found.curve.accuracy],
            "macro_f1": [_listed(row) for row in found.curve.macro_f1],
        },
    }
    return json.dumps(values, indent=2, ensure_ascii=False)


def as_latex(found: "Comparison") -> str:
    """The table of methods in LaTeX."""
    rows = {
        name: [scores.accuracy, scores.macro_f1, scores.calibration_error] for name, scores in found.methods.items()
    }
    return score_table(["method", "accuracy", "macro-F1", "ECE"], rows, best=found.best)


def draws(found: "Comparison") -> dict[str, list[Any]]:
    """A table with one row for each method and draw."""
    rows = [
        (name, draw, *figures)
        for name, scores in found.methods.items()
        for draw, figures in enumerate(zip(scores.accuracy, scores.macro_f1, scores.calibration_error, strict=True))
    ]
    names = ("method", "draw", "accuracy", "macro_f1", "calibration_error")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return table | {name: [_number(value) for value in table[name]] for name in names[2:]}


def draw(found: "Comparison", path: str, *, force: bool = False) -> None:
    """Draw the scores of all methods, and below them the learning curve."""
    from matplotlib.figure import Figure

    from isotherm.files import writing

    rows = 0.36 * len(found.methods)
    figure: Any = Figure(figsize=(7.6, rows + 4.4), facecolor="white", layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=[rows, 2.8])
    _draw_methods(above, found)
    _draw_curve(below, found.curve)
    with usage_errors(), writing(path, force=force) as file:
        figure.savefig(file, format=os.path.splitext(path)[1][1:].lower(), dpi=160)


def _heading(found: "Comparison") -> str:
    draws = counted(len(found.methods["Isotherm"].accuracy), "draw")
    shown, hidden = counted(found.seeds, "label"), counted(found.hidden, "hidden label")
    return f"{shown} shown, {hidden}, {found.classes:,} classes, {draws}; ± is the standard deviation over draws"


def _ordered(found: "Comparison") -> list[str]:
    """Methods, the best first."""
    return sorted(found.methods, key=lambda name: -(found.methods[name].accuracy + found.methods[name].macro_f1).mean())


def _method_table(found: "Comparison") -> str:
    rows = [["method", "accuracy", "macro-F1", "ECE", "CPU s", ""]]
    for name in _ordered(found):
        scores = found.methods[name]
        error = float(scores.calibration_error.mean())
        columns = [plus_minus(values.mean(), values.std()) for values in (scores.accuracy, scores.macro_f1)]
        note = "best" if name == found.best else ""
        rows.append([name, *columns, "" if math.isnan(error) else f"{error:.3f}", f"{scores.seconds:.2f}", note])
    return aligned(rows, left=(0, 5))


def _advice(found: "Comparison") -> str:
    best, ours = found.best, found.best_of_ours
    if best == ours:
        return f"{best} finds hidden labels best on this graph."
    lead, error = found.behind(ours)
    sure = "more" if lead > 2 * error else "less"
    return (
        f"{best} finds hidden labels best on this graph; {ours} is {100 * lead:.1f} points of macro-F1 behind, "
        f"{sure} than two standard errors over draws."
    )


def _curve_table(curve: "Curve") -> str:
    rows = [["labels shown", "accuracy", "macro-F1"]]
    for seeds, accuracy, macro_f1 in zip(curve.seeds, curve.accuracy, curve.macro_f1, strict=True):
        columns = [plus_minus(values.mean(), values.std()) for values in (accuracy, macro_f1)]
        rows.append([f"{seeds:,}", *columns])
    return f"{curve.method}, with fewer labels:\n\n{aligned(rows, left=())}"


def _labels_advice(curve: "Curve") -> str:
    gain, error = curve.gain
    if math.isnan(gain):
        return "There are too few labels to say whether more would help."
    known = "" if math.isnan(error) else f" (standard error {100 * error:.1f})"
    found = f"The last doubling of the labels added {100 * gain:+.1f} points of macro-F1{known}"
    if gain <= 0.005 or (not math.isnan(error) and gain < 2 * error):
        return f"{found}: more labels may not help much."
    return f"{found}; the next one should add about as much, or a little less."


def _draw_methods(axes: "Axes", found: "Comparison") -> None:
    """Mean and standard deviation as a point with whiskers."""
    names = _ordered(found)
    for figure, (colour, marker, shift) in SHAPES.items():
        for row, name in enumerate(names):
            values = getattr(found.methods[name], figure)
            style: dict[str, Any] = {"color": colour, "fmt": marker, "capsize": 2.5, "markersize": 5}
            label = None if row else WORDS[figure]
            axes.errorbar(values.mean(), row + shift, xerr=values.std(), label=label, **style)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    for name, tick in zip(names, axes.get_yticklabels(), strict=True):
        tick.set_fontweight("bold" if name.startswith("Isotherm") else "normal")
    _finish(axes, f"{found.seeds:,} labels shown: mean and standard deviation over draws")


def _draw_curve(axes: "Axes", curve: "Curve") -> None:
    from matplotlib.ticker import NullLocator

    for figure, (colour, marker, _) in SHAPES.items():
        values = getattr(curve, figure)
        mean, spread = values.mean(axis=1), values.std(axis=1)
        axes.plot(curve.seeds, mean, color=colour, marker=marker, markersize=5, label=WORDS[figure])
        axes.fill_between(curve.seeds, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(curve.seeds, [f"{seeds:,}" for seeds in curve.seeds])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("labels shown", fontsize=8.5)
    _finish(axes, f"{curve.method} with fewer labels")


def _finish(axes: "Axes", title: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left", pad=20)
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(-0.01, 1), borderpad=0.2)
    axes.tick_params(labelsize=8.5, length=2.5)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _listed(values: Any) -> list[float | None]:
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
