"""A session: a graph, what a person says about it, and the labels that follow, found in the background.

Each action is written to the journal, applied at once, and announced with a new version number. A thread then labels
the graph again from the newest seeds; a label that arrives meanwhile makes it start over when it is done with a part.
Readers always see the last finished fit.
"""

import copy
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Ints
from isotherm.errors import ParameterError
from isotherm.graphs import Graph
from isotherm.insight.suggestion import suggest
from isotherm.io import Layout
from isotherm.page.journal import Journal, Labels

__all__ = ["FEW", "HUES", "Labeller", "NameIndex", "Session", "Shown", "warmth"]

SUGGESTIONS = 10
PROVISIONAL = 0.35  # confidence of a label that has just changed, until it is calibrated
HEAD_START = 3.0  # seconds that the map has to itself; beside a fit it would take twice as long
FEW = 20  # seeds; with fewer, calibrated confidence is flat
HUES = 10  # classes that have a colour of their own
FAINTEST = 0.15  # strength of the weakest colour
STRONG = 0.95  # quantile of the margins from which on colour has full strength
SEED = 255  # the shade of a seed


class Labeller(Protocol):
    """What is used of a classifier."""

    classes_: Any
    labels_: Any
    reached_: Any
    scores_: Any
    confidence_: Any
    fitted_: Any

    def fit(self, X: Any, y: Any) -> Any:
        """Label a graph."""

    def update(self, add: Any = None, remove: Any = ()) -> Any:
        """Label it again after a change of the seeds."""

    def suggest(self, k: int = 10) -> Any:
        """Nodes to label next."""

    def explain(self, node: Any, *, top: int | None = None) -> Any:
        """Seeds that heat a node."""

    def predict_proba(self) -> Any:
        """Probabilities of all classes."""

    def save(self, path: Any, *, force: bool = False) -> None:
        """Save a model."""


class Shown:
    """What the map shows, as of one version.

    Attributes
    ----------
    codes : ndarray of int16, shape (n,)
        The class number of each node, -1 for none.
    confidence : ndarray of float32, shape (n,)
        From 0 to 1; 1 for seeds.
    shades : ndarray of uint8, shape (n,)
        The confidence as it is sent to the page: from 0 to 254, and 255 for seeds.
    version : int
        Grows with every change.
    """

    def __init__(
        self, codes: NDArray[np.int16], confidence: NDArray[np.float32], shades: NDArray[np.uint8], version: int
    ) -> None:
        self.codes, self.confidence, self.shades, self.version = codes, confidence, shades, version

    @classmethod
    def nothing(cls, n: int, version: int = 0) -> "Shown":
        """Nodes without labels."""
        return cls(np.full(n, -1, np.int16), np.zeros(n, np.float32), np.zeros(n, np.uint8), version)

    def of(self, codes: NDArray[np.int16], confidence: Doubles) -> "Shown":
        """The next version: the labels of a fit."""
        known = np.where(codes >= 0, confidence, 0).astype(np.float32)
        shades = np.clip(np.rint(known * (SEED - 1)), 0, SEED - 1).astype(np.uint8)
        return Shown(codes, known, shades, self.version + 1)

    def with_seeds(self, seeds: dict[int, int]) -> "Shown":
        """The next version: these nodes are seeds of the classes with these numbers."""
        codes, confidence, shades = self.codes.copy(), self.confidence.copy(), self.shades.copy()
        places = np.fromiter(seeds, np.int64, len(seeds))
        codes[places] = np.fromiter(seeds.values(), np.int16, len(seeds))
        confidence[places], shades[places] = 1, SEED
        return Shown(codes, confidence, shades, self.version + 1)

    @property
    def guessed(self) -> NDArray[np.bool_]:
        """(n,) the nodes that have a label and are not seeds."""
        return (self.codes >= 0) & (self.shades < SEED)


def warmth(outcome: Any) -> Doubles:
    """(n,) the margin between the two best classes of each node, scaled to strengths of colour."""
    margins = np.nan_to_num(np.asarray(outcome.margins(), np.float64))
    top = np.quantile(margins[margins > 0], STRONG) if (margins > 0).any() else 1
    return FAINTEST + (1 - FAINTEST) * np.clip(margins / top, 0, 1)


class NameIndex:
    """Finds names that have a text in them, in upper or lower case.

    Parameters
    ----------
    names
        The names; a name that has lines is found by any of them.

    Examples
    --------
    >>> NameIndex(["xab", "ab", "abc", "zz"]).find("AB", most=3)
    [1, 2, 0]
    """

    def __init__(self, names: Sequence[str]) -> None:
        lower = [name.lower() for name in names]
        self._text = "\n".join(["", *lower, ""])
        self._ends = np.cumsum([len(name) + 1 for name in lower])  # of each name in the text

    def find(self, text: str, most: int) -> list[int]:
        """The first names that are the text, then those that begin with it, then those that have it in them."""
        wanted = text.lower().strip()
        found: dict[int, None] = {}
        for part in (f"\n{wanted}\n", f"\n{wanted}", wanted) if wanted else ():
            for place in self._places(part):
                found[place] = None
                if len(found) == most:
                    return list(found)
        return list(found)

    def _places(self, part: str) -> Iterator[int]:
        """The number of each name that has a part, in their order."""
        at, shift = self._text.find(part), part.startswith("\n")
        while at >= 0:
            place = int(np.searchsorted(self._ends, at + shift, side="left"))
            yield place
            at = self._text.find(part, int(self._ends[place]))


class Session:
    """A graph that a person labels.

    Parameters
    ----------
    graph : Graph
        The graph.
    seeds : dict
        Known labels by node id; may be empty.
    labeller : Labeller
        An unfitted classifier.
    journal : Journal, optional
        Where labels are kept; without one they are lost with the process.
    source : tuple of str and Layout
        The name of the file of seeds, and how it is laid out; they are exported in the same way.
    name : str
        What the page calls the graph.
    fitted : Labeller, optional
        A classifier that was fitted on these seeds, to begin with.
    """

    def __init__(
        self,
        graph: Graph,
        seeds: dict[Any, Any],
        labeller: Labeller,
        journal: Journal | None,
        *,
        source: tuple[str, Layout],
        name: str = "graph",
        fitted: Labeller | None = None,
    ) -> None:
        self.graph, self.name, self.source = graph, name, source
        self._journal, self._plain = journal, labeller
        places = graph.index(list(seeds)).tolist() if seeds else []
        self.labels = Labels(dict(zip(places, seeds.values(), strict=True)))
        for entry in journal.entries if journal is not None else []:
            self.labels.apply(entry, self._place_of(entry))
        self.positions: NDArray[np.float32] | None = None
        self.fitted = fitted
        self.fitted_seeds: dict[int, Any] = {} if fitted is None else dict(self.labels.first)
        self.fits = 0  # how many were shown
        self.calibrated = False
        self.classes: list[Any] = self.labels.classes
        self.hues: list[Any] = []
        self.shown = Shown.nothing(graph.n_nodes)
        self.history: list[Shown] = []
        self.suggestions: list[int] = []
        self.wanted = SUGGESTIONS
        self.busy, self.failure, self.no_map, self.version = "placing the nodes", "", "", 1
        self.changed = threading.Condition()
        self._work = threading.Event()
        self._placed = threading.Event()
        self._stop = False
        self._means: tuple[Labeller | None, dict[Any, float]] = None, {}
        self._names: list[str] | None = None
        self._index: NameIndex | None = None
        self._threads = [threading.Thread(target=task, daemon=True) for task in (self._keep_fitting, self._place)]

    def start(self) -> None:
        """Begin to work in the background."""
        self._mark_seeds()
        self._work.set()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the work in the background, and release the journal."""
        self._stop = True
        self._work.set()
        self._placed.set()
        self.announce()
        if self._journal is not None:
            self._journal.close()

    @property
    def names(self) -> list[str]:
        """The names of all nodes, as text."""
        if self._names is None:
            self._names = [str(node) for node in self.graph.nodes.tolist()]
        return self._names

    @property
    def index(self) -> NameIndex:
        """Finds nodes by name."""
        if self._index is None:
            self._index = NameIndex(self.names)
        return self._index

    @property
    def mean_heat(self) -> dict[Any, float]:
        """The mean temperature of each class over the reached nodes; nothing if temperatures were not kept."""
        fitted, (known, means) = self.fitted, self._means
        if fitted is None or not fitted.fitted_.outcome.kept:
            return {}
        if known is not fitted:
            found = np.asarray(np.nanmean(fitted.fitted_.outcome.temperatures, axis=0, dtype=np.float64))
            means = dict(zip(fitted.classes_.tolist(), found.tolist(), strict=True))
            self._means = fitted, means
        return means

    # What a person does

    def label(self, node: int, text: str | None) -> None:
        """Give a node a label, or take it away."""
        if not 0 <= node < self.graph.n_nodes:
            raise ParameterError(f"there is no node number {node}")
        with self.changed:
            label = None if text is None else self.labels.label_from(text)
            if label is None and node not in self.labels.seeds:
                raise ParameterError("this node has no label to take away")
            self._enter({"do": "label", "node": self.names[node], "place": node, "label": label, "time": time.time()})

    def undo(self) -> None:
        """Take back the last label."""
        with self.changed:
            if self.labels.steps:
                self._enter({"do": "undo"})

    def redo(self) -> None:
        """Give again the label that was taken back last."""
        with self.changed:
            if self.labels.undone:
                self._enter({"do": "redo"})

    def add_classes(self, texts: list[str]) -> None:
        """Name classes, before they have seeds."""
        with self.changed:
            for text in texts:
                self._enter({"do": "class", "label": self.labels.label_from(text)})

    def skip(self, node: int) -> None:
        """Suggest this node no more."""
        with self.changed:
            self._enter({"do": "skip", "node": self.names[node], "place": node})
            self.suggestions = [each for each in self.suggestions if each != node]

    def more(self) -> None:
        """Suggest more nodes."""
        self.wanted += SUGGESTIONS
        self._work.set()

    def give_hue(self, text: str) -> None:
        """Give a class a hue, that of the class which got one longest ago if none is left."""
        label = self.labels.label_from(text)
        with self.changed:
            if label in self.classes and label not in self.hues:
                if len(self.hues) >= HUES:
                    self.hues[-1] = label
                else:
                    self.hues.append(label)
        self.announce()

    def announce(self, busy: str | None = None) -> None:
        """Tell all pages that something is new."""
        with self.changed:
            self.version += 1
            self.busy = self.busy if busy is None else busy
            self.changed.notify_all()

    # Inside

    def _enter(self, entry: dict[str, Any]) -> None:
        if self._journal is not None:
            self._journal.add(entry)
        self.labels.apply(entry, entry.get("place"))
        if entry["do"] != "skip":
            self._mark_seeds()
            seeds = self.labels.seeds
            self.suggestions = [node for node in self.suggestions if node not in seeds]
        self.announce("labelling")
        self._work.set()

    def _place_of(self, entry: dict[str, Any]) -> int | None:
        """The position of the node that an entry names; the order of nodes may have changed since."""
        place, name = entry.get("place"), entry.get("node")
        if name is None:
            return None
        if isinstance(place, int) and 0 <= place < self.graph.n_nodes and str(self.graph.nodes[place]) == name:
            return place
        found = [number for number, node in enumerate(self.graph.nodes.tolist()) if str(node) == name]
        return found[0] if len(found) == 1 else None

    def _mark_seeds(self) -> None:
        """Show seeds with their labels at once, before anything is fitted."""
        classes = self.classes
        for label in self.labels.classes:
            if label not in classes:
                classes = [*classes, label]
        self.classes = classes
        number = {label: code for code, label in enumerate(classes)}
        self._show(self.shown.with_seeds({node: number[label] for node, label in self.labels.seeds.items()}))
        self._choose_hues(self.shown.codes)

    def _show(self, shown: Shown) -> None:
        with self.changed:
            self.shown = shown
            self.history = [*self.history[-7:], shown]

    def _choose_hues(self, codes: NDArray[np.int16]) -> None:
        """The largest classes get hues, and keep them; if there are many, once it is known which are large."""
        if len(self.classes) > HUES and self.fitted is None:
            return
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes))
        for code in np.argsort(-counts, kind="stable").tolist():
            label = self.classes[code]
            if len(self.hues) < HUES and label not in self.hues:
                self.hues = [*self.hues, label]

    def _place(self) -> None:
        try:
            _ = self.index  # so that the first search need not wait for it
            self.positions = self.graph.layout()
        except Exception as error:  # a graph can be labelled without a map
            self.no_map = f"there is no map: {error}"
        self._placed.set()
        self.announce()

    def _keep_fitting(self) -> None:
        self._placed.wait(HEAD_START)
        while not self._stop:
            self._work.wait()
            self._work.clear()
            if self._stop:
                return
            try:
                self._fit_and_tell()
                self.failure = ""
            except Exception as error:  # the page must live on, and say why it stands still
                self.failure = str(error)
            if not self._work.is_set():
                self.announce("")

    def _fit_and_tell(self) -> None:
        """Label the graph from the newest seeds, then suggest, then calibrate; stop early if there are newer seeds."""
        for part in (self._fit, self._suggest, self._calibrate):
            part()
            if self._work.is_set():
                return

    def _fit(self) -> None:
        seeds = self.labels.seeds
        if seeds == self.fitted_seeds and self.fitted is not None and self.fits:
            return
        if len(set(seeds.values())) < 2:
            self.fitted, self.fitted_seeds, self.calibrated = None, {}, False
            self.fits += 1
            self._clear()
            return
        self.announce("labelling")
        self.fitted, before = self._labelled(seeds), self.shown
        outcome, enough = self.fitted.fitted_.outcome, len(seeds) >= FEW
        self.fitted_seeds, self.calibrated = seeds, enough and outcome.decision is not None
        self.fits += 1
        codes = self._codes(self.fitted)
        if self.calibrated:  # the probabilities by which labels were decided
            level = outcome.softmax
        elif enough:
            level = np.where((codes == before.codes) & (before.shades > 0), before.confidence, PROVISIONAL)
        else:
            level = warmth(outcome)
        self._show_fit(codes, level)

    def _labelled(self, seeds: dict[int, Any]) -> Labeller:
        """A classifier fitted on these seeds, from the last fit if there is one."""
        ids = self.graph.nodes
        if self.fitted is None:
            return copy.copy(self._plain).fit(self.graph, {ids[node]: label for node, label in seeds.items()})
        add = {ids[node]: label for node, label in seeds.items() if self.fitted_seeds.get(node, seeds) != label}
        remove = [ids[node] for node in self.fitted_seeds if node not in seeds]
        if not add and not remove:
            return self.fitted
        return copy.copy(self.fitted).update(add=add, remove=remove)

    def _codes(self, fitted: Labeller) -> NDArray[np.int16]:
        """The class number of each node as the page counts them; -1 where unreached."""
        number = {label: code for code, label in enumerate(self.classes)}
        table = np.array([number[label] for label in fitted.classes_.tolist()], np.int16)
        places = fitted.fitted_.outcome.codes
        return np.where(np.asarray(fitted.reached_), table[np.maximum(places, 0)], np.int16(-1)).astype(np.int16)

    def _show_fit(self, codes: NDArray[np.int16], level: Doubles) -> None:
        with self.changed:  # there may be newer seeds than those of the fit
            self._show(self.shown.of(codes, level))
            self._mark_seeds()
            self.announce()

    def _clear(self) -> None:
        with self.changed:
            self._show(Shown.nothing(self.graph.n_nodes, self.shown.version + 1))
            self._mark_seeds()

    def _suggest(self) -> None:
        self.announce("choosing nodes to label next")
        seeds, wanted = self.labels.seeds, self.wanted + len(self.labels.skipped)
        if self.fitted is not None:
            nodes = self.fitted.suggest(min(wanted, self.graph.n_nodes))
        else:
            nodes = suggest(self.graph, wanted, known=self.graph.nodes[list(seeds)])
        found: Ints = self.graph.index(nodes)
        fresh = [node for node in found.tolist() if node not in seeds and node not in self.labels.skipped]
        self.suggestions = fresh[: self.wanted]
        self.announce()

    def _calibrate(self) -> None:
        if self.fitted is None or self.calibrated or len(self.fitted_seeds) < FEW:
            return
        self.announce("calibrating confidence")
        fitted = self.fitted
        level = np.asarray(fitted.confidence_, np.float64)
        if self._work.is_set():
            return
        self.calibrated = True
        self._show_fit(self._codes(fitted), level)

    def wait(self, ready: Callable[[], bool], timeout: float = 60) -> bool:
        """Wait until something holds; for programs and tests."""
        with self.changed:
            return self.changed.wait_for(ready, timeout)
