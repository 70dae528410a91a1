"""The section on stochastic block models."""

from typing import TYPE_CHECKING

import numpy as np

from isotherm.paper.experiments.sbm import DEGREES, ERROR, NODES, PREDICTED, SHARES
from isotherm.paper.report.numbers import percent
from isotherm.paper.report.page import pictures
from isotherm.paper.report.page.document import Picture, Section, Table
from isotherm.paper.report.texts import words
from isotherm.paper.running.results import Results
from isotherm.paper.running.scoring import UNREACHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["sbm_section", "summary_row"]

FIXED, GROWING = DEGREES
LARGEST = str(NODES[-1])
SHOWN = (SHARES[0], SHARES[2], SHARES[-1])
FLOOR = 1e-5  # where an error of zero is drawn
CONSISTENT = ("centered", "relative")


def sbm_section(title: str, results: Results) -> Section:
    """Error against the number of nodes and against the share of seeds."""
    growth = f"{title}: mean error as n grows. No error in any run is drawn at the bottom."
    share = f"{title}: mean error against the share of seeds, n = {NODES[-1]:,}. Grey: the condition of section 4.3."
    nodes, seeds = Picture("sbm-nodes", _growth(results), growth), Picture("sbm-seeds", _shares(results), share)
    return Section(title, [*words("sbm"), nodes, seeds, _table(results)])


def summary_row(results: Results) -> list[str]:
    """The errors on the largest graphs, with logarithmic degree."""
    errors = [percent(results.mean(GROWING, LARGEST, rule, ERROR, SHOWN[1])) for rule in pictures.ORDER]
    return [f"Block models, wrong labels, {GROWING}, {percent(SHOWN[1])} seeds, n = {NODES[-1]:,}", *errors]


def _growth(results: Results) -> "Figure":
    figure, axes = pictures.panels(6, columns=3, height=2.6)
    places = [(regime, share) for regime in DEGREES for share in SHOWN]
    for each, (regime, share) in zip(axes, places, strict=True):
        for rule in pictures.ORDER:
            errors = [max(results.mean(regime, str(n), rule, ERROR, share), FLOOR) for n in NODES]
            each.plot(NODES, errors, label=rule, **pictures.style(rule))
        _log_axes(each, "nodes n")
        each.set_title(f"{regime}, {100 * share:g} % seeds", fontsize=9)
        each.set_xticks((1000, 10_000, 100_000), ["1,000", "10,000", "100,000"])
    for each in axes[::3]:
        each.set_ylabel("share of wrong labels", fontsize=8.5)
    pictures.keys(figure, axes[0])
    return figure


def _shares(results: Results) -> "Figure":
    figure, axes = pictures.panels(2)
    for each, regime in zip(axes, DEGREES, strict=True):
        for rule in pictures.ORDER:
            errors = [max(results.mean(regime, LARGEST, rule, ERROR, share), FLOOR) for share in SHARES]
            each.plot(SHARES, errors, label=rule, **pictures.style(rule))
        predicted = [results.mean(regime, LARGEST, "vanilla", PREDICTED, share) for share in SHARES]
        each.plot(SHARES, predicted, color="0.45", linewidth=0.9, marker="_", label="vanilla, predicted")
        _log_axes(each, "share of seeds")
        each.set_title(regime, fontsize=9.5)
        each.set_xticks(SHARES, [f"{100 * share:g} %" for share in SHARES])
    axes[0].set_ylabel("share of wrong labels", fontsize=8.5)
    pictures.keys(figure, axes[0])
    return figure


def _log_axes(axes: "Axes", label: str) -> None:
    axes.set(xscale="log", yscale="log", ylim=(FLOOR * 0.7, 1))
    axes.set_yticks((FLOOR, 1e-4, 1e-3, 1e-2, 1e-1, 1), ["none", "0.01 %", "0.1 %", "1 %", "10 %", "100 %"])
    axes.minorticks_off()
    axes.set_xlabel(label, fontsize=8.5)


def _table(results: Results) -> Table:
    shown = [*((rule, ERROR) for rule in pictures.ORDER), ("vanilla", PREDICTED), ("", UNREACHED)]
    rows = [
        [
            f"{regime}, {100 * share:g} %",
            *(percent(results.mean(regime, LARGEST, *column, share)) for column in shown),
            *(_exact(results.values(regime, LARGEST, rule, ERROR, share)) for rule in CONSISTENT),
        ]
        for regime in DEGREES
        for share in SHARES
    ]
    header = ["degree and seeds", *(f"error, {rule}" for rule in pictures.ORDER), "vanilla predicted", "unreached"]
    header += [f"exact runs, {rule}" for rule in CONSISTENT]
    return Table(f"Mean error at n = {NODES[-1]:,}, and the runs without any error", header, rows)


def _exact(errors: np.ndarray) -> str:
    return f"{np.count_nonzero(errors == 0)} of {len(errors)}"
