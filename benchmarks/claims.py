"""Numbers in the prose of the pages, taken from the rows that the pages of results are made of.

In a page, a number with a comment after it, such as ``59.4<!--accuracy 1%-->``, is the figure of that name.
``python -m benchmarks.claims`` writes the present figures into all pages; a test compares. Run it after
``python -m benchmarks accuracy --page`` or ``python -m benchmarks --page``.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.__main__ import SUITES
from benchmarks.accuracy.graphs import MASKS, TWENTY
from benchmarks.accuracy.halves import DRAWN
from benchmarks.accuracy.methods import best_variants
from benchmarks.accuracy.page import compared_with_networks, graphs_of, kept_facts, kept_results, main_methods
from benchmarks.accuracy.reach import REGRESSION, TABLE
from benchmarks.accuracy.runs import Results
from benchmarks.accuracy.statistics import Panel, mean_difference
from benchmarks.accuracy.tables import FEATURES, OURS, wins
from benchmarks.results import Result, latest
from isotherm.study.tasks import PROTOCOLS

__all__ = ["MARK", "PAGES", "figures", "filled"]

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "which-tool.md", ROOT / "docs" / "faq.md"]
MARK = re.compile(r"([\d.,+-]*\d)<!--(.+?)-->")
RACES = ROOT / "docs" / "benchmarks.jsonl"


def filled(page: str) -> str:
    """The page with the present figures."""
    known = figures()
    return MARK.sub(lambda found: f"{known[found[2]]}<!--{found[2]}-->", page)


@cache
def figures() -> dict[str, str]:
    """All figures that a page may name."""
    results = best_variants(kept_results())
    parts = (_links(results), _confidence(results), _features(results), _tables(results), _races())
    return {name: text for part in parts for name, text in part}


def _links(results: Results) -> Iterator[tuple[str, str]]:
    """Links alone, on the graphs for confirmation: Isotherm, each peer, and the least lead over any of them."""
    graphs, methods = graphs_of(results, "confirmation"), main_methods(results)
    panels = {protocol: Panel(results, graphs, protocol) for protocol in PROTOCOLS}
    peers = [name for name in methods if name != OURS]
    yield "graphs", str(len(graphs))
    yield "all graphs", str(sum(map(len, DRAWN.values())))
    yield "peers", str(len(peers))
    for protocol, panel in panels.items():
        for name in methods:
            for figure in ("accuracy", "macro_f1"):
                yield f"{name}, {figure} {protocol}", f"{100 * panel.mean(name, figure).mean:.1f}"
        lead = min(panel.difference(OURS, peer, "accuracy").mean for peer in peers)
        yield f"lead {protocol}", f"{100 * lead:.1f}"
    ours = methods.index(OURS)
    yield "wins", str(sum(wins(panel, methods, "accuracy")[ours] for panel in panels.values()))
    yield "cases", str(len(graphs) * len(panels))
    for name in methods:
        seconds = np.concatenate([panel.by_graph(name, "seconds") for panel in panels.values()])
        yield f"{name}, seconds", f"{np.nanmean(seconds):.2f}"


def _confidence(results: Results) -> Iterator[tuple[str, str]]:
    """How far confidence is off, in points: the mean of the graphs for confirmation, and the worst of them."""
    for protocol in PROTOCOLS:
        panel = Panel(results, graphs_of(results, "confirmation"), protocol)
        for name in (OURS, "scikit-network diffusion"):
            error = panel.mean(name, "calibration_error").mean
            yield f"{name}, confidence {protocol}", f"{100 * error:.0f}"
        yield f"worst confidence {protocol}", f"{100 * np.nanmax(panel.by_graph(OURS, 'together')):.0f}"


def _features(results: Results) -> Iterator[tuple[str, str]]:
    """With features, Isotherm minus trained networks, in points: the mean of four protocols."""
    alike, _ = compared_with_networks(results, kept_facts())
    protocols = [*PROTOCOLS, TWENTY]
    yield "graphs with features", str(len(alike))
    for name in ("GCN", "GAT", "APPNP"):
        panels = [Panel(results, alike, protocol) for protocol in protocols]
        lead = 100 * mean_difference(panels, FEATURES, name, "accuracy").mean
        yield f"over {name}", f"{lead:+.1f}"
        yield f"lead over {name}", f"{lead:.1f}"
        for panel in panels:
            gap = panel.difference(FEATURES, name, "accuracy").mean
            yield f"over {name} {panel.protocol}", f"{100 * gap:+.1f}"
    for name in ("GCN", "GAT", "APPNP", FEATURES):
        seconds = np.concatenate([Panel(results, alike, each).by_graph(name, "seconds") for each in protocols])
        yield f"{name}, seconds", f"{np.nanmean(seconds):.1f}"
    for graph in ("chameleon_filtered", "squirrel_filtered"):
        panel = Panel(results, [f"heterophilous/{graph}"], MASKS)
        for name in (FEATURES, "GCN"):
            yield f"{name}, {graph}", f"{100 * panel.mean(name, 'accuracy').mean:.1f}"


def _tables(results: Results) -> Iterator[tuple[str, str]]:
    """Tables of vectors: Isotherm and logistic regression, with 20 labels for each class."""
    for table in ("mnist", "package_words64"):
        panel = Panel(results, [f"table/{table}"], TWENTY)
        for name, method in (("Isotherm", TABLE), ("regression", REGRESSION)):
            yield f"{name}, {table}", f"{100 * panel.mean(method, 'accuracy').mean:.1f}"


def _races() -> Iterator[tuple[str, str]]:
    """Races against other libraries; the latest run of each suite."""
    races = {(run.suite, each.work, each.peer): each for run in latest([RACES], 1.0, SUITES) for each in run.results}
    wanted: dict[str, tuple[tuple[str, str, str], Callable[[Result], str]]] = {
        "from CSV to CSV": (("classify", "CSV to CSV", "pandas and scikit-network"), lambda race: f"{race.ratio:.1f}"),
        "labels saved": (
            ("labelling", "macro-F1 of 1% uniform labels, 25 graphs for confirmation", "uniform"),
            lambda race: f"{100 / race.ratio:.0f}",
        ),
    }
    for name, (key, words) in wanted.items():
        yield name, words(races[key])


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
