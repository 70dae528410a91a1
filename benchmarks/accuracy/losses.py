"""Where Isotherm loses, and why."""

import numpy as np

from benchmarks.accuracy.graphs import Facts
from benchmarks.accuracy.runs import Results
from benchmarks.accuracy.statistics import Panel
from benchmarks.accuracy.tables import OURS, markdown
from isotherm.study.tasks import PROTOCOLS

__all__ = ["loss_table", "reason"]

MARGIN = 0.03  # of accuracy and macro-F1 together: smaller losses are left out
FEW = 15  # seeds in all
WEAK = 0.15  # of what links could tell beyond chance


def loss_table(results: Results, facts: dict[str, Facts], names: list[str], peers: list[str]) -> str:
    """Graphs on which a peer is ahead by three points or more in the mean of accuracy and macro-F1, the worst first."""
    found = []
    for protocol in PROTOCOLS:
        panel = Panel(results, names, protocol)
        ours = _both(panel, OURS)
        theirs = np.array([_both(panel, peer) for peer in peers])  # (peers, graphs)
        for place, name in enumerate(names):
            column = np.where(np.isnan(theirs[:, place]), -np.inf, theirs[:, place])
            best = int(column.argmax())
            found.append((column[best] - ours[place], name, protocol, peers[best]))
    lost = sorted((row for row in found if row[0] >= MARGIN), reverse=True)
    if not lost:
        return f"Nowhere by more than {100 * MARGIN:.0f} points (mean of accuracy and macro-F1)."
    rows = [["graph", "protocol", "best peer", "points behind", "why"]]
    rows += [
        [name, protocol, peer, f"{100 * gap:.1f}", reason(facts[name], protocol)] for gap, name, protocol, peer in lost
    ]
    return markdown(rows)


def _both(panel: Panel, method: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return (panel.by_graph(method, "accuracy") + panel.by_graph(method, "macro_f1")) / 2


def reason(facts: Facts, protocol: str) -> str:
    """What about a graph and its seeds makes heat a poor guide."""
    if np.isnan(facts.alike):
        return "no link joins two labelled nodes"
    told = (facts.alike - facts.chance) / (1 - facts.chance)
    share = f"{facts.alike:.0%} of links join a class to itself, {facts.chance:.0%} by chance"
    if told < WEAK:
        return f"classes hardly follow links: {share}"
    if facts.nodes < 500:
        return f"{facts.nodes:.0f} nodes: a handful of seeds, and chance decides ({share})"
    if protocol == "3 per class" and 3 * facts.classes <= FEW:
        return f"{3 * facts.classes:.0f} seeds in all, too few to calibrate by: single draws go wrong ({share})"
    if facts.edges / facts.nodes > 20:
        return f"dense: {2 * facts.edges / facts.nodes:.0f} neighbours blur the heat of few seeds ({share})"
    return share
