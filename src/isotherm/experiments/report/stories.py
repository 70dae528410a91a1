"""What is particular to each of figures 2 and 3: the settings, and what came out as the text has it."""

from collections.abc import Callable
from typing import NamedTuple

from isotherm.experiments import figure2b
from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.figure3a import AS_RUN, AS_WRITTEN
from isotherm.experiments.report.plots import ORDER
from isotherm.experiments.report.published import CURVES
from isotherm.experiments.report.words import listed, mean_of
from isotherm.experiments.results import Results
from isotherm.experiments.scoring import ALL, OTHERS, SHIFTED

__all__ = ["STORIES", "Story"]

SEEDS_AXIS, SIZES_AXIS = "s₁/s₂: seeds of block 1 over another's", "n₁/n₂: nodes of block 1 over another's"


class Story(NamedTuple):
    """The axis, how the authors' program differs from the text, and sentences computed from the results."""

    axis: str
    settings: str
    outcome: Callable[[Results], list[str]]


def _at(results: Results, case: str, rule: str, x: float, measure: str = ALL) -> float:
    return mean_of(results, CORRECTED, case, rule, measure, x)


def _ends(results: Results, case: str, figure: str, rules: tuple[str, ...]) -> str:
    """Where curves end in the corrected protocol, and in the published figure."""
    return listed(
        [f"{rule} has {_at(results, case, rule, 10):.3f} (published {CURVES[figure][rule][-1]:.3f})" for rule in rules]
    )


def _figure2a(results: Results) -> list[str]:
    (case,) = results.cases(CORRECTED)
    others = [f"{rule} {_at(results, case, rule, 10, OTHERS):.3f}" for rule in CURVES["figure2a"]]
    return [
        "Block 2 has the text's 250 seeds in the corrected protocol, where the program has about 500. At x = 10 "
        f"{_ends(results, case, 'figure2a', ('centered', 'vanilla', 'weighted'))}. These scores count the seeds, which "
        f"are always right; without them the three rules have {listed(others)}."
    ]


def _figure2b(results: Results) -> list[str]:
    (case,) = results.cases(CORRECTED)
    sizes, p, q = figure2b.model(10)
    words = (
        f"At x = 10 a node of block 2 has on average {p * sizes[1]:.1f} neighbours in its own block and "
        f"{q * sizes[0]:.1f} in the other, so that there is little to go by. At equilibrium centered has "
        f"{_at(results, case, 'centered', 10):.3f} there and weighted {_at(results, case, 'weighted', 10):.3f}"
    )
    if results.cases(AUTHORS):
        swept = mean_of(results, AUTHORS, case, "centered", SHIFTED, 10)
        words += f"; after the authors' ten sweeps centered has {swept:.3f}"
    return [f"{words}."]


def _lowest(results: Results, rules: tuple[str, ...]) -> float:
    return min(_at(results, AS_WRITTEN, rule, x) for rule in rules for x in results.axis(CORRECTED, AS_WRITTEN))


def _as_printed(results: Results, figure: str) -> str:
    lowest = {rule: _lowest(results, (rule,)) for rule in ORDER}
    published = min(min(curve) for curve in CURVES[figure].values())
    return (
        "With p = 0.05, as the text prints it, a node has about fifty neighbours of its own block and one elsewhere. "
        f"No rule is then below {min(lowest.values()):.3f} at any x, whereas the published curves come down to "
        f"{published:.3f}: they cannot be from that value."
    )


def _figure3a(results: Results) -> list[str]:
    return [
        "With the p of the program and, as in the text of figure 2a, 5 % of each other block as seeds, at x = 10 "
        f"{_ends(results, AS_RUN, 'figure3a', ('centered', 'vanilla', 'weighted'))}.",
        _as_printed(results, "figure3a"),
    ]


def _figure3b(results: Results) -> list[str]:
    gap = CURVES["figure3b"]["centered"][0] - CURVES["figure3b"]["vanilla"][0]
    right = _at(results, AS_RUN, "centered", 1) - _at(results, AS_RUN, "vanilla", 1)
    words = f"At x = 1 the published vanilla is {gap:.3f} below centered. "
    if results.cases(AUTHORS):
        slip = [mean_of(results, AUTHORS, AS_RUN, rule, SHIFTED, 1) for rule in ("centered", "vanilla")]
        words += f"It is {slip[0] - slip[1]:.3f} below with 1000 (x + 1) nodes in block 1, "
    words += f"and {right:.3f} below with 1000 x nodes, as the text has it."
    return [
        words,
        "With fixed probabilities, p = 0.005, block 1 grows denser as it grows larger. At x = 10 "
        f"{_ends(results, AS_RUN, 'figure3b', ('centered', 'vanilla', 'weighted'))}.",
        _as_printed(results, "figure3b"),
    ]


STORIES = {
    "figure2a": Story(
        SEEDS_AXIS,
        "In the authors' program the seeds are a uniform sample of a tenth of all nodes, to which (x - 1) tenths of "
        "block 1 are added, some of which are seeds already. The text says instead that block 2 has 250 seeds and "
        "block 1 has x times as many.",
        _figure2a,
    ),
    "figure2b": Story(
        SIZES_AXIS,
        "The authors draw one graph for each ratio and only the seeds anew in each of the ten runs, so that the "
        "published deviations leave out the randomness of the graph. The corrected protocol draws both anew.",
        _figure2b,
    ),
    "figure3a": Story(
        SEEDS_AXIS,
        "The text says p = 0.05; the authors' program has p = 50/n = 0.005 and q = 1/n. As in figure 2a, a reference "
        "sample (here a tenth of each block) is topped up with (x - 1) tenths of block 1.",
        _figure3a,
    ),
    "figure3b": Story(
        SIZES_AXIS,
        "In the authors' program block 1 has 1000 (x + 1) nodes, one block more than the axis says, and p = 50/n and "
        "q = 1/n shrink as n grows.",
        _figure3b,
    ),
}
