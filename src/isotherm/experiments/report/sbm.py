"""The section on stochastic block models."""

from typing import TYPE_CHECKING

import numpy as np

from isotherm.experiments.report import plots
from isotherm.experiments.report.document import Picture, Section, Table, Text
from isotherm.experiments.report.words import along, listed, percent
from isotherm.experiments.results import Results
from isotherm.experiments.sbm import DEGREES, ERROR, NODES, PREDICTED, SHARES
from isotherm.experiments.scoring import UNREACHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["in_short", "sbm_section"]

FIXED, GROWING = DEGREES
SMALLEST, LARGEST = str(NODES[0]), str(NODES[-1])
SHOWN = (SHARES[0], SHARES[2], SHARES[-1])
FLOOR = 1e-5  # where no error at all is drawn
CONSISTENT = ("centered", "relative")


def sbm_section(title: str, results: Results) -> Section:
    """Error against the number of nodes and the share of seeds, and what follows."""
    words = (
        "The paper proves consistency on a block model whose edges are weights, and leaves the stochastic one open. "
        "Here graphs have three blocks in proportion 3 : 2 : 1, edges are ten times as likely inside a block as "
        "between two, and seeds are drawn in proportion to the blocks. The average degree is 10 whatever the number n "
        "of nodes, or 10 log n. The error is the share of wrong labels among nodes that are no seeds, at equilibrium; "
        "an unreached node is wrong."
    )
    growth = f"{title}: mean error as n grows. No error in any run is drawn at the bottom."
    share = f"{title}: mean error against the share of seeds, n = {NODES[-1]:,}. Grey: the condition of section 4.3."
    return Section(
        title,
        [
            Text(words),
            *map(Text, _conclusion(results)),
            Picture("sbm-nodes", _growth(results), growth),
            Picture("sbm-seeds", _shares(results), share),
            _table(results),
        ],
    )


def _error(results: Results, regime: str, nodes: str, rule: str, share: float) -> float:
    return float(results.values(regime, nodes, rule, ERROR, share).mean())


def _growth(results: Results) -> "Figure":
    figure, axes = plots.panels(6, columns=3, height=2.6)
    places = [(regime, share) for regime in DEGREES for share in SHOWN]
    for each, (regime, share) in zip(axes, places, strict=True):
        for rule in plots.ORDER:
            errors = [max(_error(results, regime, str(n), rule, share), FLOOR) for n in NODES]
            each.plot(NODES, errors, label=rule, **plots.style(rule))
        _log_axes(each)
        each.set_xticks((1000, 10_000, 100_000), ["1,000", "10,000", "100,000"])
        each.set_title(f"{regime}, {100 * share:g} % seeds", fontsize=9)
        each.set_xlabel("nodes n", fontsize=8.5)
    for each in axes[::3]:
        each.set_ylabel("share of wrong labels", fontsize=8.5)
    plots.keys(figure, axes[0])
    return figure


def _shares(results: Results) -> "Figure":
    figure, axes = plots.panels(2)
    for each, regime in zip(axes, DEGREES, strict=True):
        for rule in plots.ORDER:
            errors = [max(_error(results, regime, LARGEST, rule, share), FLOOR) for share in SHARES]
            each.plot(SHARES, errors, label=rule, **plots.style(rule))
        predicted = along(results, regime, LARGEST, "vanilla", PREDICTED)
        each.plot(predicted.x, predicted.mean, color="0.45", linewidth=0.9, marker="_", label="vanilla, predicted")
        _log_axes(each)
        each.set_xticks(SHARES, [f"{100 * share:g} %" for share in SHARES])
        each.set_title(regime, fontsize=9.5)
        each.set_xlabel("share of seeds", fontsize=8.5)
    axes[0].set_ylabel("share of wrong labels", fontsize=8.5)
    plots.keys(figure, axes[0])
    return figure


def _log_axes(axes: "Axes") -> None:
    axes.set(xscale="log", yscale="log", ylim=(FLOOR * 0.7, 1))
    axes.set_yticks((FLOOR, 1e-4, 1e-3, 1e-2, 1e-1, 1), ["none", "0.01 %", "0.1 %", "1 %", "10 %", "100 %"])
    axes.minorticks_off()


def _table(results: Results) -> Table:
    rows = []
    for regime in DEGREES:
        for share in SHARES:
            errors = [_error(results, regime, LARGEST, rule, share) for rule in plots.ORDER]
            predicted = results.values(regime, LARGEST, "vanilla", PREDICTED, share).mean()
            unreached = results.values(regime, LARGEST, "", UNREACHED, share).mean()
            numbers = [percent(value) for value in (*errors, predicted, unreached)]
            rows.append([f"{regime}, {100 * share:g} %", *numbers, *_exact(results, regime, share)])
    header = ["degree and seeds", *(f"error, {rule}" for rule in plots.ORDER), "vanilla predicted", "unreached"]
    header += [f"exact runs, {rule}" for rule in CONSISTENT]
    return Table(f"Mean error at n = {NODES[-1]:,}, and the runs without a single error", header, rows)


def _exact(results: Results, regime: str, share: float) -> list[str]:
    runs = [results.values(regime, LARGEST, rule, ERROR, share) for rule in CONSISTENT]
    return [f"{np.count_nonzero(values == 0)} of {len(values)}" for values in runs]


def _conclusion(results: Results) -> list[str]:
    """What the numbers carry."""
    rule, share, least = min(
        ((rule, share, _error(results, FIXED, LARGEST, rule, share)) for rule in plots.ORDER for share in SHARES),
        key=lambda each: each[2],
    )
    before = _error(results, FIXED, SMALLEST, rule, share)
    fixed = (
        f"**At fixed degree** no rule becomes exact: the smallest error at n = {NODES[-1]:,} is {percent(least)} "
        f"({rule}, {percent(share)} seeds), after {percent(before)} at n = {NODES[0]:,}."
    )
    growing = [*(_falls(results, rule) for rule in CONSISTENT), _exact_words(results)]
    others = [_stays(results, rule) for rule in plots.ORDER if rule not in CONSISTENT]
    return [fixed, f"**At logarithmic degree** {' '.join(filter(None, growing))}", " ".join(others), _carried(results)]


def in_short(results: Results) -> str:
    """The errors at the largest number of nodes, in one sentence."""
    share = SHARES[2]
    errors = {rule: _error(results, GROWING, LARGEST, rule, share) for rule in plots.ORDER}
    ranked = sorted(errors, key=lambda rule: errors[rule])
    return (
        f"**Block models.** On stochastic graphs of {NODES[-1]:,} nodes whose degree grows like log n, with "
        f"{percent(share)} seeds, the share of wrong labels is "
        f"{listed([f'{percent(errors[rule])} for {rule}' for rule in ranked])}."
    )


def _ends(results: Results, rule: str) -> dict[float, tuple[float, float]]:
    """The errors at logarithmic degree on the smallest and the largest graphs, by the share of seeds."""
    smallest, largest = ({s: _error(results, GROWING, n, rule, s) for s in SHARES} for n in (SMALLEST, LARGEST))
    return {share: (smallest[share], largest[share]) for share in SHARES}


def _falling(results: Results, rule: str, share: float) -> bool:
    """Whether the error falls, or is below what the smallest graphs could show: one wrong label in all runs."""
    first, last = _ends(results, rule)[share]
    runs = len(results.values(GROWING, SMALLEST, rule, ERROR, share))
    return last < first or last <= 1 / (NODES[0] * (1 - share) * runs)


def _falls(results: Results, rule: str) -> str:
    ends = {share: both for share, both in _ends(results, rule).items() if both[0] > 0}
    verb = "falls" if all(_falling(results, rule, share) for share in ends) else "does not always fall"
    words = [f"from {percent(a)} to {percent(b)} with {percent(share)} seeds" for share, (a, b) in ends.items()]
    return f"the error of {rule} {verb} from n = {NODES[0]:,} to {NODES[-1]:,}: {listed(words)};" if words else ""


def _exact_words(results: Results) -> str:
    exact = [percent(share) for share in SHARES if all(_mostly_exact(results, rule, share) for rule in CONSISTENT)]
    if not exact:
        return f"no share of seeds makes most runs at n = {NODES[-1]:,} exact."
    return f"with {listed(exact)} seeds most runs of both at n = {NODES[-1]:,} have not a single wrong label."


def _stays(results: Results, rule: str) -> str:
    """What is left of the error of another rule."""
    errors = {share: _error(results, GROWING, LARGEST, rule, share) for share in SHARES}
    share = min(errors, key=lambda each: errors[each])
    runs = np.concatenate([results.values(GROWING, LARGEST, rule, ERROR, share) for share in SHARES])
    exact = np.count_nonzero(runs == 0)
    words = (
        f"{rule.capitalize()} errs there on {percent(errors[share])} at least, with {percent(share)} seeds, and "
        f"{'no run' if exact == 0 else f'{exact} of {len(runs)} runs'} of it is exact"
    )
    if rule != "vanilla":
        return f"{words}."
    off = max(
        abs(errors[share] - float(results.values(GROWING, LARGEST, rule, PREDICTED, share).mean())) for share in SHARES
    )
    return (
        f"{words}; the condition of section 4.3, which is for the block model, predicts its error to within {off:.2f}."
    )


def _carried(results: Results) -> str:
    if all(_falling(results, rule, share) for rule in CONSISTENT for share in SHARES):
        return (
            "**Conclusion.** So far as these graphs tell, Theorem 1 carries over to stochastic graphs whose degree "
            "grows like log n, for centered as for relative."
        )
    return "**Conclusion.** These graphs do not tell whether Theorem 1 carries over to stochastic graphs."


def _mostly_exact(results: Results, rule: str, share: float) -> bool:
    return bool((results.values(GROWING, LARGEST, rule, ERROR, share) == 0).mean() > 0.5)
