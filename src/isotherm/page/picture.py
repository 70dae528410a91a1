"""The map without a server: a picture by matplotlib, or one HTML file that can be panned and searched."""

import base64
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from isotherm.arrays import Doubles
from isotherm.errors import ParameterError
from isotherm.files import check_target, writing
from isotherm.io.errors import need
from isotherm.page.contents import Contents
from isotherm.page.session import EDGES_UP_TO, FEW, Labeller, colour_strength, drawn_edges, shortened

SUFFIXES = (".png", ".svg", ".pdf", ".html")
# The same as in static/colours.js: hues, shapes (here markers of matplotlib), and how colours are mixed.
HUES = ("#d22d3c", "#2d78d2", "#b4a500", "#a500a5", "#00b4c3", "#e1874b", "#875aff", "#789669", "#ff4ba5", "#874b69")
MARKERS = ("o", "s", "D", "^", "P", "X")
BEYOND, NOTHING = "#a08c64", "#bdbdbd"  # classes after the sixtieth, nodes without a label
PALEST = 0.5  # share of white in the colour of the least certain label
DEEPER = 0.2  # share of black in every second round of hues
NAMES_UP_TO = 100  # nodes of a graph whose names are drawn
MOST_NAMES = 20  # class names on the map and in the legend
OF_CLASS = "class"  # marks these names on the map
GRID = 32  # cells along each side of the map, by which class names are placed
TEMPLATE = Path(__file__).parent / "viewer.html"
PALETTE = Path(__file__).parent / "static" / "colours.js"
LONGEST_NAME = 200  # characters of a name in the HTML file
STRIP = -1.01  # upper bound of the strip of small components


@dataclass(frozen=True, eq=False)
class MapData:
    """What is drawn; classes are numbered by size, the largest first."""

    positions: NDArray[np.float32]  # (n, 2)
    codes: NDArray[np.int64]  # (n,) class number, -1 where nothing is known
    confidence: Doubles  # (n,) from 0 to 1; with few seeds, the strength of colour instead
    seeds: NDArray[np.int64]  # positions in the graph
    classes: list[str]
    counts: list[int]  # nodes of each class
    marks: list[int]  # number of the mark of each class, as on the page: classes with many seeds come first
    names: list[str]  # of the nodes
    edges: NDArray[np.int64]  # (m, 2); none if the graph is large
    few: bool  # too few seeds to tell how certain labels are
    texts: list[str]  # the beginning of what each node holds; empty if nothing is known

    @classmethod
    def of(cls, clf: Labeller, contents: Contents | None = None) -> "MapData":
        """The map of a fitted classifier."""
        fit = clf.fitted_
        if fit.outcome.several:
            raise ParameterError("a map is for nodes with one label each: there is one hue for each node")
        few, positions = len(fit.seeds.nodes) < FEW, fit.graph.layout()
        codes = np.asarray(fit.outcome.codes, np.int64)
        counts = np.bincount(codes[codes >= 0], minlength=len(clf.classes_))
        order = np.argsort(-counts, kind="stable")
        rank, marks = np.empty((2, len(order)), np.int64)
        rank[order] = np.arange(len(order))
        marks[np.argsort(-np.bincount(fit.seeds.codes, minlength=len(order)), kind="stable")] = np.arange(len(order))
        return cls(
            positions,
            np.where(codes >= 0, rank[np.maximum(codes, 0)], -1),
            colour_strength(fit.outcome) if few else np.nan_to_num(np.asarray(clf.confidence_, np.float64)),
            fit.seeds.nodes,
            [str(label) for label in clf.classes_[order].tolist()],
            counts[order].tolist(),
            marks[order].tolist(),
            [str(node) for node in fit.graph.nodes.tolist()],
            drawn_edges(fit.graph, positions),
            few,
            [contents.snippet(place) for place in range(fit.graph.n_nodes)] if contents and contents.columns else [],
        )

    @property
    def in_strip(self) -> NDArray[np.bool_]:
        """(n,) whether a node is in the strip of small components below the map."""
        return self.positions[:, 1] < STRIP

    @property
    def strength(self) -> str:
        """What a stronger colour means."""
        return "stands out more" if self.few else "more certain"

    def spot(self, code: int) -> NDArray[np.float32] | None:
        """Where to write the name of a class: the mean of its nodes in its densest 3 x 3 cells, above the strip."""
        own = self.positions[(self.codes == code) & ~self.in_strip]
        if not len(own):
            return None
        cell = np.clip((own + 1) / 2.001 * GRID, 0, GRID - 1).astype(np.int64)
        counts = np.zeros((GRID + 2, GRID + 2), np.int64)
        np.add.at(counts, tuple(cell.T + 1), 1)
        around = sliding_window_view(counts, (3, 3)).sum(axis=(2, 3))
        best = np.array(np.unravel_index(around.argmax(), around.shape))
        return own[(np.abs(cell - best) <= 1).all(axis=1)].mean(axis=0)


def check_picture(path: str, *, force: bool = False) -> None:
    """Refuse a file that cannot be drawn or written, before any work is done."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise ParameterError(f"{path} must end in {', '.join(SUFFIXES)}")
    if suffix != ".html":
        need("matplotlib", "a picture of the map", extra="plot")
    check_target(path, force=force)


def draw(
    clf: Labeller,
    path: str | os.PathLike[str] | None,
    *,
    title: str = "",
    force: bool = False,
    contents: Contents | None = None,
) -> Any:
    """Draw the map of a fitted classifier to a file, or return a matplotlib figure; HTML shows what nodes hold."""
    if path is None:
        need("matplotlib", "a picture of the map", extra="plot")
        return _figure(MapData.of(clf), title)
    name = os.fspath(path)
    check_picture(name, force=force)
    data, suffix = MapData.of(clf, contents), os.path.splitext(name)[1].lower()
    with writing(name, force=force) as file:
        if suffix == ".html":
            file.write(html(data, title or "map").encode("utf-8", "replace"))
        else:
            _figure(data, title).savefig(file, format=suffix[1:], dpi=150)
    return None


def class_colour(code: int) -> tuple[float, float, float]:
    """The colour of a class by the number of its mark; -1 is for no label."""
    round_, hue = divmod(code, len(HUES))
    name = NOTHING if code < 0 else BEYOND if round_ >= len(MARKERS) else HUES[hue]
    deep = DEEPER if 0 <= code < len(HUES) * len(MARKERS) and round_ % 2 else 0
    red, green, blue = (int(name[at : at + 2], 16) / 255 * (1 - deep) for at in (1, 3, 5))
    return red, green, blue


def _shape(code: Any) -> Any:
    """The place in `MARKERS` of the shape of a class, or of several, by the numbers of their marks."""
    return np.clip(code // len(HUES), 0, len(MARKERS) - 1)


def _colours(data: MapData) -> Doubles:
    """(n, 3) the colour of each node: the hue of its class, paler where it is less certain."""
    table = np.array([class_colour(code) for code in (*data.marks, -1)])
    pale = np.where(data.codes < 0, 0, PALEST * (1 - data.confidence))[:, None]
    return table[data.codes] * (1 - pale) + pale


def _figure(data: MapData, title: str) -> Any:
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(11, 8), facecolor="white", layout="constrained")
    axes, n = figure.subplots(), len(data.names)
    _draw_edges(axes, data)
    size = float(np.clip(20_000 / max(n, 1), 0.6, 120))
    order = np.lexsort((data.confidence, data.codes >= 0))
    colours, shapes = _colours(data), _shape(np.array([*data.marks, -1])[data.codes[order]])
    for shape, marker in enumerate(MARKERS):
        own = order[shapes == shape]
        style = {"marker": marker, "s": size, "linewidths": 0, "zorder": 2, "rasterized": n > EDGES_UP_TO}
        axes.scatter(*data.positions[own].T, c=colours[own], **style)
    rings = data.positions[data.seeds]
    axes.scatter(*rings.T, s=2.2 * size + 6, facecolors="none", edgecolors="black", linewidths=0.7, zorder=3)
    _write_names(axes, data)
    _note_strip(axes, data)
    _draw_legend(axes, data)
    axes.set_title(title, loc="left", fontsize=11, parse_math=False)
    axes.set_aspect("equal")
    axes.axis("off")
    _hide_covered(figure, axes.texts)
    return figure


def _draw_edges(axes: Any, data: MapData) -> None:
    from matplotlib.collections import LineCollection

    width = 0.7 if len(data.names) <= NAMES_UP_TO else 0.25
    lines = list(data.positions[data.edges])
    axes.add_collection(LineCollection(lines, colors="#d5d5d5", linewidths=width, zorder=1))


def _write_names(axes: Any, data: MapData) -> None:
    """Write the names of nodes on a small graph, the names of classes on a large one."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    if len(data.names) <= NAMES_UP_TO:
        for name, (x, y) in zip(data.names, data.positions, strict=True):
            style: dict[str, Any] = {"fontsize": 7, "ha": "center", "va": "bottom", "zorder": 4, "parse_math": False}
            above = {"xytext": (0, 6), "textcoords": "offset points"}
            axes.annotate(shortened(name, 30), (x, y), path_effects=halo, **above, **style)
        return
    for code, name in enumerate(data.classes[:MOST_NAMES]):
        spot = data.spot(code)
        if spot is not None:
            weight = "bold" if code < len(HUES) else "normal"
            style = {"weight": weight, "path_effects": halo, "zorder": 5, "parse_math": False, "gid": OF_CLASS}
            axes.text(*spot, shortened(name, 30), fontsize=9, ha="center", va="center", **style)


def _hide_covered(figure: Any, texts: Any) -> None:
    """Hide names of classes that would cover that of a larger class; the legend has all of them."""
    names = [text for text in texts if text.get_gid() == OF_CLASS]
    shown: list[Any] = []
    for name in names:
        name.set_in_layout(False)
    figure.draw_without_rendering()
    for name in names:
        box = name.get_window_extent()
        name.set_visible(not box.count_overlaps(shown))
        shown += [box] * name.get_visible()


def _note_strip(axes: Any, data: MapData) -> None:
    """Write below the strip what it is."""
    apart = data.positions[data.in_strip]
    if len(apart):
        note = f"{len(apart):,} nodes in small components, apart from the map"
        place = {"xytext": (0, -8), "textcoords": "offset points", "va": "top"}
        axes.annotate(note, apart.min(axis=0), fontsize=8, color="#626262", **place)


def _draw_legend(axes: Any, data: MapData) -> None:
    from matplotlib.lines import Line2D

    def dot(code: int, text: str) -> Any:
        return Line2D([], [], marker=MARKERS[_shape(code)], linestyle="none", color=class_colour(code), label=text)

    named = list(zip(data.marks, data.classes, data.counts, strict=True))
    rows = [dot(mark, f"{shortened(name, 24)}  {count:,}") for mark, name, count in named[:MOST_NAMES]]
    if len(named) > MOST_NAMES:
        rest = sum(count for *_, count in named[MOST_NAMES:])
        rows.append(Line2D([], [], linestyle="none", label=f"{len(named) - MOST_NAMES} more classes  {rest:,}"))
    unreached = int((data.codes < 0).sum())
    rows += [dot(-1, f"no label  {unreached:,}")] if unreached else []
    ring: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": "black", "fillstyle": "none"}
    rows.append(Line2D([], [], label=f"seed  {len(data.seeds):,}", **ring))
    legend = axes.legend(handles=rows, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8.5)
    legend.set_title(f"class, nodes\n(stronger colour: {data.strength})", prop={"size": 8.5})
    for text in legend.get_texts():
        text.set_parse_math(False)


def html(data: MapData, title: str) -> str:
    """The map as one HTML file, which needs no network: the template ``viewer.html`` with the colours of the page."""
    shown = {
        "title": title,
        "classes": data.classes,
        "counts": data.counts,
        "marks": data.marks,
        "strength": data.strength,
        "few": data.few,
        "unreached": int((data.codes < 0).sum()),
        "edges": _packed(data.edges.astype("<u4")),
        "seeds": data.seeds.tolist(),
        "names": [name[:LONGEST_NAME] for name in data.names],
        "texts": data.texts,
        "positions": _packed(data.positions.astype("<f4")),
        "codes": _packed((data.codes + 1).astype("<u2")),
        "confidence": _packed(np.rint(255 * data.confidence).astype(np.uint8)),
        "spots": [None if (spot := data.spot(code)) is None else spot.tolist() for code in range(len(data.classes))],
    }
    # Every "<" is escaped, so that nothing in the data can end the script element.
    text = json.dumps(shown, ensure_ascii=True).replace("<", "\\u003c")
    colours = PALETTE.read_text(encoding="utf-8").replace("export ", "")
    return TEMPLATE.read_text(encoding="utf-8").replace("/*COLOURS*/", colours).replace("/*DATA*/", text)


def _packed(values: Any) -> str:
    return base64.b64encode(values.tobytes()).decode()
