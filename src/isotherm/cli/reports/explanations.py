"""Reports about single nodes: explanations, and tables of nodes to label or of seeds to check."""

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.cli.terminal.messages import UsageError
from isotherm.insight.explanation import joined
from isotherm.labelling.rows import Columns, rows
from isotherm.tables import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isotherm.arrays import Doubles, Ints
    from isotherm.graph_classifier import GraphClassifier
    from isotherm.graphs import Graph
    from isotherm.insight.doubt import DoubtfulSeeds
    from isotherm.insight.explanation import Explanation

MOST_SEARCHED = 1_000_000  # nodes among which a similar name is looked for
MOST_COMPARED = 20_000  # names that are searched for similar ones


@dataclass(frozen=True)
class NodeReport:
    """Why a node has its label."""

    explanation: "Explanation"
    label: Any  # a list if a node may have several labels
    confidence: Any  # likewise; None if there is none
    known: bool  # whether the node is a seed
    top: int | None  # how many seeds are listed; None for all
    paths: int  # the number of seeds to which a path is given

    def plain(self) -> dict[str, Any]:
        """For machines."""
        each = self.explanation
        seeds = each.seeds(self.top, paths=self.paths)
        return {
            "node": each.node,
            "label": self.label,
            "confidence": self.confidence,
            "known": self.known,
            "rule": each.rule,
            "classes": each.compared(),
            "seeds": seeds,
            "left_out": len(each.seed) - len(seeds),
            "note": each.note,
            "experts": each.experts,
            "columns": each.columns,
        }

    def text(self) -> str:
        """For people."""
        if len(self.explanation.seed):
            return self.explanation.text(self.top, paths=self.paths, title=self._heading())
        link = "since" if self.label is None else "although"
        return self.explanation.text(title=f"{self._heading()}, {link} no path joins it to a seed")

    def _heading(self) -> str:
        several = isinstance(self.label, list)
        facts = ["a seed"] if self.known else []
        if not several and self.confidence and not (self.known and self.confidence == 1):
            facts.append(f"confidence {self.confidence:.3f}")
        note = f" ({', '.join(facts)})" if facts else ""
        label = joined(self.label)
        return f"{shown(self.explanation.node)}: {'no label' if label in (None, '') else shown(label)}{note}"


def explained_nodes(
    clf: "GraphClassifier",
    explanations: "Iterable[Explanation]",
    *,
    top: int | None,
    paths: int,
    confidence: bool = True,
) -> list[NodeReport]:
    """A report on each node, with its first seeds and the paths to some of them; perhaps without confidence."""
    explanations = list(explanations)
    if not explanations:  # do not compute confidence for nothing
        return []
    places = clf.graph_.index([each.node for each in explanations])
    confidence = confidence and clf.settings.calibration is not None
    pairs = _labels_at(clf, places, confidence=confidence)
    return [
        NodeReport(each, label, certainty, place in clf.seeds_.nodes, top, paths)
        for each, place, (label, certainty) in zip(explanations, places.tolist(), pairs, strict=True)
    ]


def share_columns(explanations: "Iterable[Explanation]", top: int | None) -> dict[str, list[Any]]:
    """A table of shares, with one row for each node and each of its seeds."""
    columns: dict[str, list[Any]] = {"node": [], "seed": [], "label": [], "share": []}
    for each in explanations:
        columns["node"] += [each.node] * len(each.seed[:top])
        columns["seed"] += each.seed[:top].tolist()
        columns["label"] += map(joined, each.label[:top].tolist())
        columns["share"] += each.share[:top].tolist()
    return columns


def sheet_columns(nodes: Any, values: "Doubles", clf: "GraphClassifier | None") -> dict[str, list[Any]]:
    """A sheet of nodes to label, with an empty column to fill in.

    Node and label are named as in the file of seeds. Guess, confidence and value follow; without a classifier nothing
    is guessed. A filled-in sheet can be read as a file of seeds: `sheet_places` in
    `isotherm.io.columns` knows the added columns.
    """
    present = [(None, 0.0)] * len(nodes) if clf is None else _labels_at(clf, clf.graph_.index(nodes))
    filled = {"node": nodes.tolist(), "label": [None] * len(nodes)}
    added: dict[str, list[Any]] = {
        "guess": [None if label in (None, []) else joined(label) for label, _ in present],
        "confidence": [min(each, default=0.0) if isinstance(each, list) else each for _, each in present],
        "value": np.asarray(values).tolist(),
    }
    return _sheet({} if clf is None else clf.seed_columns_, filled, added)


def doubt_columns(found: "DoubtfulSeeds", clf: "GraphClassifier") -> dict[str, list[Any]]:
    """A sheet of seeds with their labels, to be corrected; see `sheet_columns`."""
    seed, label, *others = found
    filled = {"node": found[seed].tolist(), "label": found[label].tolist()}
    return _sheet(clf.seed_columns_, filled, {name: found[name].tolist() for name in others})


def _sheet(
    names: "Mapping[str, str]", filled: dict[str, list[Any]], added: dict[str, list[Any]]
) -> dict[str, list[Any]]:
    """Columns of node and label, named as in the file of seeds, and the added ones."""
    columns = {names.get(role, role): filled[role] for role in names or filled}
    return columns | {name: column for name, column in added.items() if name not in columns}


def _labels_at(clf: "GraphClassifier", places: "Ints", *, confidence: bool = True) -> list[tuple[Any, Any]]:
    """Label and confidence of each node, or lists of them if nodes may have several; None and 0 without a label."""
    fit = clf.fitted_
    (found,) = rows(fit, Columns(confidence=confidence), places)
    labels = found["label"].tolist()  # None where it is masked
    certainties = found["confidence"].tolist() if confidence else [None] * len(labels)
    if not fit.outcome.several:
        return list(zip(labels, certainties, strict=True))
    lists: dict[Any, tuple[list[Any], list[Any]]] = {node: ([], []) for node in clf.graph_.nodes[places].tolist()}
    for node, label, certainty in zip(found["node"].tolist(), labels, certainties, strict=True):
        if label is not None:
            lists[node][0].append(label)
            lists[node][1].append(certainty)
    reached = clf.reached_[places]
    return [pair if known else (None, 0.0) for pair, known in zip(lists.values(), reached, strict=True)]


def matching_nodes(texts: list[str], graph: "Graph") -> list[Any]:
    """The nodes with these ids; ``7`` also matches the integer."""
    from isotherm.io import match_seeds
    from isotherm.io.errors import shorten

    nodes = {text: node for node, text in match_seeds({text: text for text in texts}, graph, missing="drop").items()}
    lost = [text for text in texts if text not in nodes]
    if lost:
        if lost[0].startswith("--"):
            raise UsageError(f"{lost[0]} is neither an option nor a node; see isotherm explain --help")
        number = "is" if len(lost) == 1 else f"and {counted(len(lost) - 1, 'more node')} are"
        raise UsageError(f"{shorten(lost[0])} {number} not in the graph; {_remedy(lost[0], graph)}")
    return [nodes[text] for text in dict.fromkeys(texts)]


def _remedy(text: str, graph: "Graph") -> str:
    """Suggest a similar node, or show what nodes look like."""
    from isotherm.io.errors import shorten

    names = list(map(str, graph.nodes[:MOST_SEARCHED].tolist()))
    folded = text.strip().casefold()
    close = next((name for name in names if name.strip().casefold() == folded), None)
    if close is None:
        alike = (name for name in names if name[:1] == text[:1] and abs(len(name) - len(text)) <= 2)
        close = next(iter(get_close_matches(text, islice(alike, MOST_COMPARED), n=1, cutoff=0.65)), None)
    if close is not None:
        return f"did you mean {shorten(close)}?"
    return f"it has {graph.n_nodes:,} nodes, such as {', '.join(map(shorten, names[:3]))}"
