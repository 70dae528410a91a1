"""What ``isotherm explain`` says about a node, and the sheet of ``isotherm suggest``: nodes to label."""

from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.cli.terminal.messages import UsageError
from isotherm.cli.terminal.text import aligned, arrow, bar, counted, shown
from isotherm.labelling.rows import Columns, rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isotherm.arrays import Doubles, Ints
    from isotherm.graph_classifier import GraphClassifier
    from isotherm.graphs import Graph
    from isotherm.insight.explanation import Explanation

__all__ = ["NodeReport", "explained_nodes", "matching_nodes", "share_columns", "sheet_columns"]

MOST_CLASSES = 5
LONGEST_PATH = 8
MOST_SEARCHED = 1_000_000  # nodes among which a similar name is looked for
MOST_COMPARED = 20_000  # names that are searched for similar ones


@dataclass(frozen=True)
class NodeReport:
    """Why a node has its label.

    Attributes
    ----------
    label, confidence
        Lists if a node may have several labels; None if there is no confidence.
    known
        Whether the node is a seed.
    classes
        Class, temperature, its mean over all reached nodes, score and, if it decided, probability; by falling score.
    experts
        What each expert adds to the logit of each class, if there was evidence besides links.
    note
        Why the label is not the most probable class; empty if it is.
    seeds
        Seed, label, share and, for the first few, the path; by falling share.
    left_out
        Number of seeds that are not listed.
    """

    node: Any
    label: Any
    confidence: Any
    known: bool
    rule: str
    classes: list[dict[str, Any]]
    seeds: list[dict[str, Any]]
    left_out: int
    note: str = ""
    experts: dict[str, dict[Any, float]] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)

    def text(self) -> str:
        """For people."""
        if not self.seeds:
            return f"{shown(self.node)}: no label, since no path joins it to a seed"
        parts = [self._heading(), self._class_table(), self.note, self._expert_table(), self._seed_table()]
        return "\n\n".join(part for part in parts if part)

    def _heading(self) -> str:
        several = isinstance(self.label, list)
        facts = ["a seed"] if self.known else []
        if not several and self.confidence is not None and not (self.known and self.confidence == 1):
            facts.append(f"confidence {self.confidence:.3f}")
        note = f" ({', '.join(facts)})" if facts else ""
        return f"{shown(self.node)}: {shown(_joined(self.label)) or 'no label'}{note}"

    def _class_table(self) -> str:
        decided = all("probability" in each for each in self.classes)
        compared = [name for name in ("mean", "probability") if all(name in each for each in self.classes)]
        numbers = ["temperature", *compared, "score"]
        rows = [["class", *numbers[:-1], f"score ({self.rule})", ""]]
        for each in self.classes[:MOST_CLASSES]:
            share = bar(each["score" if decided else "temperature"])
            rows.append([shown(each["class"]), *(f"{each[name]:.3f}" for name in numbers), share])
        more = len(self.classes) - MOST_CLASSES
        note = f"\nand {more:,} more of lower scores" if more > 0 else ""
        return aligned(rows, left=(0, len(rows[0]) - 1)) + note

    def _expert_table(self) -> str:
        """What each expert adds to the logits of the first classes."""
        if not self.experts:
            return ""
        names = [each["class"] for each in self.classes[:MOST_CLASSES]]
        rows = [["evidence", *map(shown, names)]]
        rows += [[expert, *(f"{odds[name]:+.2f}" for name in names)] for expert, odds in self.experts.items()]
        return aligned(rows, left=(0,))

    def _seed_table(self) -> str:
        rows = [["seed", "class", "share", "", "path"]]
        for each in self.seeds:
            path = _path(each["path"]) if "path" in each else ""
            rows.append(
                [shown(each["seed"]), shown(_joined(each["label"])), _percent(each["share"]), bar(each["share"]), path]
            )
        rest = 1 - sum(each["share"] for each in self.seeds)
        note = f"\nand {self.left_out:,} more, {_percent(max(rest, 0))} together" if self.left_out else ""
        return aligned(rows, left=(0, 1, 3, 4)) + note


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
        NodeReport(
            node=each.node,
            label=label,
            confidence=certainty,
            known=place in clf.seeds_.nodes,
            rule=clf.rule_,
            classes=_classes(clf, place, each) if clf.reached_[place] else [],
            seeds=_seeds(each, top, paths),
            left_out=len(each.seed[top:]) if top else 0,
            note=each.note,
            experts=each.experts,
        )
        for each, place, (label, certainty) in zip(explanations, places.tolist(), pairs, strict=True)
    ]


def share_columns(explanations: "Iterable[Explanation]", top: int | None) -> dict[str, list[Any]]:
    """A table of shares, with one row for each node and each of its seeds."""
    columns: dict[str, list[Any]] = {"node": [], "seed": [], "label": [], "share": []}
    for each in explanations:
        columns["node"] += [each.node] * len(each.seed[:top])
        columns["seed"] += each.seed[:top].tolist()
        columns["label"] += map(_joined, each.label[:top].tolist())
        columns["share"] += each.share[:top].tolist()
    return columns


def sheet_columns(nodes: Any, values: "Doubles", clf: "GraphClassifier | None") -> dict[str, list[Any]]:
    """A sheet of nodes to label, with an empty column to fill in.

    Node and label are named as in the file of seeds. Guess, confidence and value follow; without a classifier nothing
    is guessed. A filled-in sheet can be read as a file of seeds: `sheet_places` in
    `isotherm.io.columns` knows the added columns.
    """
    present = [(None, 0.0)] * len(nodes) if clf is None else _labels_at(clf, clf.graph_.index(nodes))
    names = {} if clf is None else clf.seed_columns_
    filled = {"node": nodes.tolist(), "label": [None] * len(nodes)}
    columns = {names.get(role, role): filled[role] for role in names or filled}
    added: dict[str, list[Any]] = {
        "guess": [None if label in (None, []) else _joined(label) for label, _ in present],
        "confidence": [min(each, default=0.0) if isinstance(each, list) else each for _, each in present],
        "value": np.asarray(values).tolist(),
    }
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


def _seeds(explained: "Explanation", top: int | None, paths: int) -> list[dict[str, Any]]:
    rows = zip(*(explained[column][:top].tolist() for column in explained), strict=True)
    seeds: list[dict[str, Any]] = [dict(zip(explained, row, strict=True)) for row in rows]
    for seed in seeds[:paths]:
        seed["path"] = explained.path(seed["seed"])
    return seeds


def _classes(clf: "GraphClassifier", place: int, explained: "Explanation") -> list[dict[str, Any]]:
    """The classes whose scores are known, by falling score."""
    names = clf.classes_.tolist()
    shares = np.array([explained.classes[name] for name in names])
    ranked = clf.fitted_.outcome.ranked(place, shares)
    found = [{"class": names[code], "temperature": heat, "score": score} for code, heat, score in ranked]
    for name, values in {"mean": explained.means, "probability": explained.probabilities}.items():
        for row in found if values else ():
            row[name] = values[row["class"]]
    return found


def _joined(label: Any) -> Any:
    """A label; several labels as one text."""
    return ", ".join(map(str, label)) if isinstance(label, list | tuple) else label


def _path(nodes: list[Any]) -> str:
    """The nodes of a path; the middle of a long one is left out."""
    names = list(map(shown, nodes))
    if len(names) > LONGEST_PATH:
        half = LONGEST_PATH // 2
        names[half:-half] = [f"({len(names) - 2 * half} more)"]
    return arrow().join(names)


def _percent(share: float) -> str:
    """A share in percent; a very small one with one significant digit."""
    return f"{100 * share:.1f}%" if share >= 0.001 or share == 0 else f"{100 * share:.1g}%"


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
