"""Pictures of the report, drawn with matplotlib.

Each rule has its own colour, marker and dashes, so that it can be recognised in grey print too. The colours are from
the palette of Okabe and Ito, which colour-blind readers can tell apart.
"""

import io
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from isotherm.paper.experiment import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORDER = ("centered", "relative", "vanilla", "weighted")
STYLES: dict[str, dict[str, Any]] = {
    "centered": {"color": "#0072B2", "marker": "o", "linestyle": "-", "markersize": 6},
    "relative": {"color": "#CC79A7", "marker": "D", "linestyle": ":", "markersize": 3.2},  # visible on top of centered
    "vanilla": {"color": "#D55E00", "marker": "^", "linestyle": "--", "markersize": 4.5},
    "weighted": {"color": "#009E73", "marker": "s", "linestyle": "-.", "markersize": 4.5},
}
GREY = "0.35"
FONTS = "'DejaVu Sans', Verdana, Arial, sans-serif"  # the layout was computed with DejaVu Sans
LOOK: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "isotherm",  # the same picture gives the same file
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
}


def need_libraries() -> None:
    """Raise an ImportError that says what to install, before anything is run."""
    for module, package in (("matplotlib", "matplotlib"), ("markdown_it", "markdown-it-py")):
        try:
            import_module(module)
        except ImportError as error:
            raise ImportError(f"the report needs {package}: pip install 'isotherm[plot]'", name=module) from error


def style(rule: str) -> dict[str, Any]:
    """Colour, marker and dashes of a rule."""
    return {**STYLES[rule], "linewidth": 1.4}


def panels(count: int, *, height: float = 3.1, width: float | None = None, columns: int | None = None) -> Any:
    """A figure with `count` axes, in one row or in rows of `columns`."""
    from matplotlib.figure import Figure

    columns = columns or count
    rows = -(-count // columns)
    figure = Figure(figsize=(width or min(9.0, 3.7 * columns), height * rows), facecolor="white", layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.axis("off")
    for each in axes[:count]:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(axis="y", color="0.9", linewidth=0.6)
        each.tick_params(labelsize=8)
    return figure, axes[:count].tolist()


def curve(axes: "Axes", rule: str, points: Sequence[tuple[float, Summary]], **changes: Any) -> None:
    """Draw means with error bars; `points` are positions on the axis with the summary there."""
    means, deviations = [summary.mean for _, summary in points], [summary.std for _, summary in points]
    look = style(rule) | changes
    axes.errorbar([x for x, _ in points], means, deviations, capsize=2, elinewidth=0.8, label=rule, **look)


def hollow(axes: "Axes", rule: str, x: Sequence[float], y: Sequence[float]) -> None:
    """Draw published points: hollow markers of the rule, without a line."""
    look = style(rule) | {"linestyle": "none", "markersize": 8}
    axes.plot(x, y, markerfacecolor="none", markeredgewidth=0.9, alpha=0.85, **look)


def keys(figure: "Figure", axes: "Axes", *, published: bool = False) -> None:
    """A legend above all axes."""
    handles, labels = axes.get_legend_handles_labels()
    if published:
        (dummy,) = axes.plot([], [], "o", markerfacecolor="none", color=GREY, markersize=8)
        handles, labels = [*handles, dummy], [*labels, "published (hollow)"]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=8.5)


def svg(figure: "Figure", metadata: Mapping[str, Any] | None = None) -> bytes:
    """The figure as an SVG file; the same figure always gives the same bytes."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context(LOOK):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, **(metadata or {})})
    return _leaner(buffer.getvalue().decode()).encode()


def _leaner(text: str) -> str:
    """The same picture in half the bytes.

    Coordinates are rounded to hundredths of a point, the font is named once, and what has no effect is removed:
    indentation, rotations by 0, ids of groups, and strokes of markers that repeat their template.
    """

    def rounded(attribute: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}".rstrip("0").rstrip("."), attribute[0])

    def filled(use: re.Match[str]) -> str:
        kept = "; ".join(part for part in use[2].split("; ") if part.startswith("fill"))
        return f'{use[1]} style="{kept}"' if kept else use[1]

    text = re.sub(r'(<use [^>]*?) style="([^"]*)"', filled, text)
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", re.sub(r'<g id="[^"]*"', "<g", text))
    text = re.sub(r"<metadata>.*?</metadata>", "", re.sub(r"font-family: [^;\"]*(; )?", "", text), flags=re.DOTALL)
    text = text.replace('<style type="text/css">', f'<style type="text/css">text{{font-family: {FONTS}}}')
    return re.sub(r"\s*\n\s*", "\n", re.sub(r'="[^"]*"', rounded, text))
