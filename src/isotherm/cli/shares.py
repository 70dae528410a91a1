"""What ``isotherm explain`` says of a node."""

from dataclasses import asdict, dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.cli.tables import aligned, arrow, bar, counted, shown
from isotherm.cli.wording import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from isotherm.classifier import DirichletClassifier
    from isotherm.explanation import Explanation
    from isotherm.graph import Graph

__all__ = ["Account", "accounts", "found_nodes", "joined", "labels_of"]

MOST_CLASSES = 5
LONGEST_PATH = 8
MOST_SIMILAR = 20_000  # names that are compared letter by letter


@dataclass(frozen=True)
class Account:
    """Why a node has its label.

    Attributes
    ----------
    label, confidence
        Lists where a node may have several labels; no confidence where none is calibrated.
    known
        Whether the node is a seed.
    classes
        Class, temperature and score, the highest score first.
    seeds
        Seed, label, share and, of the first few, the path; the largest share first.
    left_out
        Number of further seeds.
    """

    node: Any
    label: Any
    confidence: Any
    known: bool
    rule: str
    classes: list[dict[str, Any]]
    seeds: list[dict[str, Any]]
    left_out: int

    def plain(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)

    def text(self) -> str:
        """For people."""
        if not self.seeds:
            return f"{shown(self.node)}: no label, since no path joins it to a seed"
        return "\n\n".join([self._heading(), self._class_table(), self._seed_table()])

    def _heading(self) -> str:
        several = isinstance(self.label, list)
        facts = ["a seed"] if self.known else []
        if not several and self.confidence is not None and not (self.known and self.confidence == 1):
            facts.append(f"confidence {self.confidence:.3f}")
        note = f" ({', '.join(facts)})" if facts else ""
        return f"{shown(self.node)}: {shown(joined(self.label)) or 'no label'}{note}"

    def _class_table(self) -> str:
        rows = [["class", "temperature", f"score ({self.rule})", ""]]
        for each in self.classes[:MOST_CLASSES]:
            heat, score = each["temperature"], each["score"]
            rows.append([shown(each["class"]), f"{heat:.3f}", f"{score:.3f}", bar(heat)])
        more = len(self.classes) - MOST_CLASSES
        note = f"\nand {more:,} more of lower scores" if more > 0 else ""
        return aligned(rows, left=(0, 3)) + note

    def _seed_table(self) -> str:
        rows = [["seed", "class", "share", "", "path"]]
        for each in self.seeds:
            path = _path(each["path"]) if "path" in each else ""
            rows.append(
                [shown(each["seed"]), shown(joined(each["label"])), _percent(each["share"]), bar(each["share"]), path]
            )
        rest = 1 - sum(each["share"] for each in self.seeds)
        note = f"\nand {self.left_out:,} more, {_percent(max(rest, 0))} together" if self.left_out else ""
        return aligned(rows, left=(0, 1, 3, 4)) + note


def accounts(
    clf: "DirichletClassifier", explained: "Iterable[Explanation]", *, top: int | None, paths: int
) -> list[Account]:
    """An account of each node, with its first seeds and the paths to some of them."""
    explained = list(explained)
    if not explained:  # nothing that confidence would be needed for
        return []
    places = clf.graph_.index([each.node for each in explained])
    pairs = labels_of(clf, places)
    return [
        Account(
            node=each.node,
            label=label,
            confidence=confidence if clf.calibration or place in clf.seeds_.nodes else None,
            known=place in clf.seeds_.nodes,
            rule=clf.rule_,
            classes=_classes(clf, place, each) if clf.reached_[place] else [],
            seeds=_seeds(each, top, paths),
            left_out=len(each.seed[top:]) if top else 0,
        )
        for each, place, (label, confidence) in zip(explained, places.tolist(), pairs, strict=True)
    ]


def labels_of(clf: "DirichletClassifier", places: "NDArray[np.int64]") -> list[tuple[Any, Any]]:
    """The label of each node and its confidence, or all of its labels and theirs; None and 0 where unreached."""
    confidence = clf.confidence_[places]
    if hasattr(clf.labels_, "tolist"):
        pairs = list(zip(clf.labels_[places].tolist(), confidence.tolist(), strict=True))
    else:
        found = [np.flatnonzero(row) for row in clf.labels_[places].toarray()]
        likely = confidence.toarray()
        pairs = [(clf.classes_[own].tolist(), likely[row, own].tolist()) for row, own in enumerate(found)]
    return [pair if reached else (None, 0.0) for pair, reached in zip(pairs, clf.reached_[places], strict=True)]


def _seeds(explained: "Explanation", top: int | None, paths: int) -> list[dict[str, Any]]:
    rows = zip(*(explained[column][:top].tolist() for column in explained), strict=True)
    seeds: list[dict[str, Any]] = [dict(zip(explained, row, strict=True)) for row in rows]
    for seed in seeds[:paths]:
        seed["path"] = explained.path(seed["seed"])
    return seeds


def _classes(clf: "DirichletClassifier", place: int, explained: "Explanation") -> list[dict[str, Any]]:
    """All classes whose scores are known; where temperatures were not kept, these are sums of shares."""
    names = clf.classes_.tolist()
    heat = np.array([explained.classes[name] for name in names])
    if hasattr(clf, "temperatures_"):
        heat, scores = clf.temperatures_[place], clf.scores_[place]
        places = np.arange(len(names))
    elif hasattr(clf, "best_scores_"):
        known = clf.best_classes_[place] >= 0
        places, scores = clf.best_classes_[place][known], clf.best_scores_[place][known]
    else:
        places, scores = np.arange(len(names)), heat - clf.thresholds_
    order = np.argsort(-scores, kind="stable")
    rows = zip(places[order].tolist(), heat[places[order]].tolist(), scores[order].tolist(), strict=True)
    return [{"class": names[c], "temperature": warmth, "score": score} for c, warmth, score in rows]


def joined(label: Any) -> Any:
    """A label, or several in one text."""
    return ", ".join(map(str, label)) if isinstance(label, list | tuple) else label


def _path(nodes: list[Any]) -> str:
    """The nodes on the way; of a long one, those at its ends."""
    names = list(map(shown, nodes))
    if len(names) > LONGEST_PATH:
        half = LONGEST_PATH // 2
        names[half:-half] = [f"({len(names) - 2 * half} more)"]
    return arrow().join(names)


def _percent(share: float) -> str:
    """A share, to three digits where it is small."""
    return f"{100 * share:.1f}%" if share >= 0.001 or share == 0 else f"{100 * share:.1g}%"


def found_nodes(texts: list[str], graph: "Graph") -> list[Any]:
    """The nodes that have these ids; ``7`` is also the integer."""
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
    """A node that may be meant, or what nodes look like."""
    from isotherm.io.errors import shorten

    names = list(map(str, graph.nodes.tolist()))
    folded = text.strip().casefold()
    close = next((name for name in names if name.strip().casefold() == folded), None)
    if close is None:
        alike = (name for name in names if name[:1] == text[:1] and abs(len(name) - len(text)) <= 2)
        close = next(iter(get_close_matches(text, islice(alike, MOST_SIMILAR), n=1, cutoff=0.65)), None)
    if close is not None:
        return f"did you mean {shorten(close)}?"
    return f"it has {graph.n_nodes:,} nodes, such as {', '.join(map(shorten, names[:3]))}"
