"""A session: a graph, the labels that a person gives, and a thread that labels all other nodes.

Each action is written to the journal, applied at once, and announced with a new version number. A thread then labels
the graph again from the newest seeds, in three steps: fit, suggest, calibrate. If a label arrives meanwhile, the thread
finishes its step and starts over. Readers always see the last finished fit.

`Shown` is what the map shows of each node: its class, and how strong its colour is. The strength is the calibrated
confidence, or the margin between the two best classes if there are few seeds.
"""

import copy
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Ints
from isotherm.equilibrium.averages import reached_moments
from isotherm.errors import ParameterError
from isotherm.graphs import Graph
from isotherm.insight.suggestion import suggest
from isotherm.io import Layout
from isotherm.labelling.outcomes import at_codes
from isotherm.page.contents import Contents
from isotherm.page.journal import Journal, Labels

SUGGESTIONS = 10
PROVISIONAL = 0.35  # confidence of a label that has just changed, until it is calibrated
HEAD_START = 3.0  # seconds before the first fit; during a fit, the map would take twice as long
LAST_REQUEST = 1.0  # seconds for a request that is at work when the page ends
FEW = 20  # seeds below which calibrated confidence is nearly the same for all nodes
FAINTEST = 0.15  # strength of the weakest colour
STRONG = 0.95  # quantile of the margins above which a colour has full strength
SEED = 255  # the shade of a seed
EDGES_UP_TO = 5_000  # nodes of a graph whose edges may be drawn
ALWAYS_UP_TO = 500  # nodes of a graph whose edges are always drawn
CLEAREST = 0.5  # share of the map that drawn edges may cover, if none crossed another
EDGE_WIDTH = 1 / 400  # in units of the map, which is 2 wide
STEP = 0.05  # a forecast is for the next multiple of this accuracy
FEWEST_POINTS = 5  # fewest points of a curve that is extrapolated
FLATTEST = -0.02  # slope of the logarithm of the errors above which nothing is forecast
FARTHEST = 20  # curves are extrapolated up to this multiple of the present number of labels
POINTS = 60  # most points kept of the curve of expected accuracy


class Labeller(Protocol):
    """The part of a classifier that the page uses."""

    classes_: Any
    reached_: Any
    confidence_: Any
    fitted_: Any

    def fit(self, X: Any, y: Any, **known: Any) -> Any:
        """Label a graph from its seeds, and what is known besides."""

    def update(self, add: Any = None, remove: Any = ()) -> Any:
        """Label the graph again after a change of the seeds."""

    def suggest(self, k: int = 10, *, among: Any = None) -> Any:
        """The nodes most worth labelling next."""

    def explain(self, node: Any, *, top: int | None = None) -> Any:
        """The seeds that heat a node."""

    def predict_proba(self) -> Any:
        """The probabilities of all classes at each node."""

    def save(self, path: Any, *, force: bool = False) -> None:
        """Write the model to a file."""


class Shown(NamedTuple):
    """One version of what the map shows."""

    codes: NDArray[np.int16]  # (n,) class number of each node, -1 for none
    confidence: NDArray[np.float32]  # (n,) from 0 to 1; 1 for seeds
    shades: NDArray[np.uint8]  # (n,) confidence as it is sent to the page: 0 to 254, and 255 for seeds
    version: int  # grows with every change

    @classmethod
    def nothing(cls, n: int, version: int = 0) -> "Shown":
        """No node has a label."""
        return cls(np.full(n, -1, np.int16), np.zeros(n, np.float32), np.zeros(n, np.uint8), version)

    def with_fit(self, codes: NDArray[np.int16], confidence: Doubles) -> "Shown":
        """The next version, with the labels of a fit."""
        known = np.where(codes >= 0, confidence, 0).astype(np.float32)
        shades = np.clip(np.rint(known * (SEED - 1)), 0, SEED - 1).astype(np.uint8)
        return Shown(codes, known, shades, self.version + 1)

    def with_seeds(self, seeds: dict[int, int]) -> "Shown":
        """The next version, with these nodes as seeds; the values are class numbers."""
        codes, confidence, shades = self.codes.copy(), self.confidence.copy(), self.shades.copy()
        places = np.fromiter(seeds, np.int64, len(seeds))
        codes[places] = np.fromiter(seeds.values(), np.int16, len(seeds))
        confidence[places], shades[places] = 1, SEED
        return Shown(codes, confidence, shades, self.version + 1)

    @property
    def guessed(self) -> NDArray[np.bool_]:
        """(n,) whether a node has a label and is not a seed."""
        return (self.codes >= 0) & (self.shades < SEED)


def colour_strength(outcome: Any) -> Doubles:
    """(n,) the margin between the two best classes of each node, scaled to strengths of colour."""
    margins = np.nan_to_num(np.asarray(outcome.margins(), np.float64))
    top = np.quantile(margins[margins > 0], STRONG) if (margins > 0).any() else 1
    return FAINTEST + (1 - FAINTEST) * np.clip(margins / top, 0, 1)


def drawn_edges(graph: Graph, positions: NDArray[np.float32] | None) -> NDArray[np.int64]:
    """(m, 2) the edges that are drawn, each once: all, or none where the graph is large or they would hide the map."""
    csr, nothing = graph.csr, np.empty((0, 2), np.int64)
    if csr.n > EDGES_UP_TO or positions is None:
        return nothing
    pairs = np.stack([csr.rows, csr.indices], axis=1).astype(np.int64)
    pairs = pairs if graph.directed else pairs[pairs[:, 0] < pairs[:, 1]]
    lengths = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
    return pairs if csr.n <= ALWAYS_UP_TO or lengths.sum() * EDGE_WIDTH <= CLEAREST * np.pi else nothing


class Forecast(NamedTuple):
    """How many more labels would probably give an expected accuracy."""

    labels: int
    accuracy: float


def forecast(curve: Sequence[tuple[int, float]]) -> Forecast | None:
    """The labels needed for an accuracy of the next multiple of 0.05, if errors go on falling as a power of the labels.

    The power is the slope of ``log(1 - accuracy)`` over the logarithm of the labels, by least squares. None if there
    are fewer than five points, or if errors do not fall.

    >>> forecast([(n, 1 - n**-0.5) for n in (10, 20, 30, 40, 50)])
    Forecast(labels=50, accuracy=0.9)
    """
    known = [(labels, accuracy) for labels, accuracy in curve if labels > 0 and accuracy < 1]
    if len(known) < FEWEST_POINTS:
        return None
    slope = float(np.polyfit(np.log([each for each, _ in known]), np.log([1 - each for _, each in known]), 1)[0])
    labels, accuracy = known[-1]
    aim = round((np.floor(accuracy / STEP + 1e-9) + 1) * STEP, 3)
    if slope >= FLATTEST or aim >= 1:
        return None
    times = ((1 - aim) / (1 - accuracy)) ** (1 / slope)
    return Forecast(max(1, int(np.ceil(labels * (times - 1) - 1e-6))), float(aim)) if times <= FARTHEST else None


def shortened(text: str, most: int) -> str:
    """The text, cut to this number of characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class NameIndex:
    """Finds the names that contain a text, in upper or lower case, by a search in one long text of all names.

    >>> NameIndex(["xab", "ab", "abc", "zz"]).find("AB", most=3)
    [1, 2, 0]
    """

    def __init__(self, names: Sequence[str]) -> None:
        lower = [name.lower() for name in names]
        self._text = "\n".join(["", *lower, ""])
        self._ends = np.cumsum([len(name) + 1 for name in lower])  # where each name ends in the text

    def find(self, text: str, most: int) -> list[int]:
        """Up to ``most`` names: those equal to the text, then those that begin with it, then those that contain it."""
        wanted = text.lower().strip()
        found: dict[int, None] = {}
        for part in (f"\n{wanted}\n", f"\n{wanted}", wanted) if wanted else ():
            for place in self._places(part):
                found[place] = None
                if len(found) == most:
                    return list(found)
        return list(found)

    def _places(self, part: str) -> Iterator[int]:
        """The numbers of the names that contain a part, ascending."""
        at, shift = self._text.find(part), part.startswith("\n")
        while at >= 0:
            place = int(np.searchsorted(self._ends, at + shift, side="left"))
            yield place
            at = self._text.find(part, int(self._ends[place]))


class Session:
    """A graph that a person labels."""

    def __init__(
        self,
        graph: Graph,
        seeds: dict[Any, Any],  # known labels by node id; may be empty
        labeller: Labeller,  # unfitted
        journal: Journal | None,  # without one, labels are lost when the process ends
        *,
        source: tuple[str, Layout],  # name and layout of the exported file of seeds
        name: str = "graph",
        known: Mapping[str, Any] | None = None,  # arguments of `fit` besides graph and seeds
        fitted: Labeller | None = None,  # fitted on these seeds, so that no first fit is needed
        contents: Contents | None = None,  # what the nodes hold
    ) -> None:
        self.contents = contents or Contents()
        self.graph, self.name, self.source = graph, name, source
        self._known = known or {}
        self._exported: tuple[dict[int, Any], Labeller] | None = None  # the last exported classifier, after its seeds
        self._journal, self._plain = journal, labeller
        places = graph.index(list(seeds)).tolist() if seeds else []
        self.labels = Labels(dict(zip(places, seeds.values(), strict=True)))
        for entry in journal.entries if journal is not None else []:
            self.labels.apply(entry, self._places_of(entry))
        self.positions: NDArray[np.float32] | None = None
        self.fitted = fitted
        self.fitted_seeds: dict[int, Any] = {} if fitted is None else dict(self.labels.first)
        self.fits = 0  # the number of fits that were shown
        self.calibrated = False
        self.number = time.time_ns()  # the id of this session: a page notices by it that the server was started again
        self.curve: list[tuple[int, float]] = []  # number of seeds and expected accuracy, for each fit
        self._curve_classes: set[Any] = set()
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
        self._threads = [threading.Thread(target=task, daemon=True) for task in (self._keep_fitting, self._place)]

    def start(self) -> None:
        """Start the work in the background."""
        self._mark_seeds()
        self._work.set()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the work in the background, and release the journal.

        A request that is still at work, such as one that waits for a slow disk, is given a second. After that the
        journal is released when the process ends.
        """
        self._stop = True
        self._work.set()
        self._placed.set()
        if self.changed.acquire(timeout=LAST_REQUEST):
            self.announce()
            if self._journal is not None:
                self._journal.close()
            self.changed.release()

    @property
    def classes(self) -> list[Any]:
        """The classes by number; None where one was merged or deleted."""
        return self.labels.slots

    @cached_property
    def names(self) -> list[str]:
        """The names of all nodes, as text."""
        return self.contents.names(self.graph)

    @cached_property
    def index(self) -> NameIndex:
        """Finds nodes by name."""
        return NameIndex(self.names)

    @property
    def mean_temperatures(self) -> dict[Any, float]:
        """The mean temperature of each class over the reached nodes; empty if temperatures were not kept."""
        fitted, (known, means) = self.fitted, self._means
        if fitted is None or not fitted.fitted_.outcome.kept:
            return {}
        if known is not fitted:
            found = reached_moments(fitted.fitted_.outcome.temperatures).mean
            means = dict(zip(fitted.classes_.tolist(), found.tolist(), strict=True))
            self._means = fitted, means
        return means

    def label(self, nodes: Sequence[int], text: str | None) -> None:
        """Give nodes a label in one step; None takes their labels away."""
        with self.changed:
            label = None if text is None else self.labels.label_from(text)
            if label is None:
                nodes = [node for node in nodes if node in self.labels.seeds]
                if not nodes:
                    raise ParameterError("this node has no label to take away")
            self._enter({"do": "label", **self._named(nodes), "label": label, "time": time.time()})

    def unsure(self, nodes: Sequence[int]) -> None:
        """Note that the labels of these nodes cannot be told, and do not suggest them again."""
        with self.changed:
            self._enter({"do": "unsure", **self._named(nodes), "time": time.time()})

    def note(self, node: int, text: str) -> None:
        """Keep a remark on a node; an empty one takes it away."""
        with self.changed:
            self._enter({"do": "note", **self._named([node]), "text": text, "time": time.time()})

    def undo(self) -> None:
        """Undo the last step."""
        with self.changed:
            if self.labels.undoable:
                self._enter({"do": "undo"})

    def redo(self) -> None:
        """Redo the step that was undone last."""
        with self.changed:
            if self.labels.undone:
                self._enter({"do": "redo"})

    def add_classes(self, texts: list[str]) -> None:
        """Name classes, which need not have seeds."""
        with self.changed:
            for label in [self.labels.label_from(text) for text in texts]:
                self._enter({"do": "class", "label": label})

    def rename(self, text: str, to: str) -> None:
        """Give a class another name; if another class has it, the two become one."""
        with self.changed:
            label = self._class(text)
            others = [each for each in self.labels.order if each != label]
            if others or not isinstance(label, int):
                to = self.labels.label_from(to)
            if to != label:
                self._enter({"do": "rename", "label": label, "to": to})

    def delete(self, text: str) -> None:
        """Delete a class; its seeds lose their labels."""
        with self.changed:
            self._enter({"do": "delete", "label": self._class(text)})

    def arrange(self, texts: Sequence[str]) -> None:
        """Put classes, and so their keys, in another order."""
        with self.changed:
            self._enter({"do": "order", "to": [self._class(text) for text in texts]})

    def skip(self, node: int) -> None:
        """Do not suggest this node again."""
        with self.changed:
            named = self._named([node])
            self._enter({"do": "skip", "node": named["nodes"][0], "place": node})

    def more(self) -> None:
        """Suggest more nodes."""
        self.wanted += SUGGESTIONS
        self._work.set()

    def announce(self, busy: str | None = None) -> None:
        """Raise the version number, by which pages notice a change."""
        with self.changed:
            self.version += 1
            self.busy = self.busy if busy is None else busy
            self.changed.notify_all()

    def _enter(self, entry: dict[str, Any]) -> None:
        if self._journal is not None:
            self._journal.add(entry)
        self.labels.apply(entry, entry.get("places", [entry["place"]] if "place" in entry else []))
        if entry["do"] not in ("skip", "unsure", "note", "order"):
            self._mark_seeds()
        self.suggestions = [node for node in self.suggestions if node not in self._answered()]
        self.announce("labelling")
        self._work.set()

    def _answered(self) -> set[int]:
        """Nodes that are not suggested."""
        return self.labels.seeds.keys() | self.labels.skipped | self.labels.unsure

    def _class(self, text: str) -> Any:
        """The class with this name."""
        label = self.labels.label_from(text)
        if label not in self.labels.order:
            raise ParameterError(f"there is no class {shortened(text, 40)!r}")
        return label

    def _named(self, nodes: Sequence[int]) -> dict[str, list[Any]]:
        """How a journal entry names nodes: by their ids, and by their positions, which are found faster."""
        for node in nodes:
            if not 0 <= node < self.graph.n_nodes:
                raise ParameterError(f"there is no node number {shortened(str(node), 20)}")
        if not nodes:
            raise ParameterError("no node is named")
        places = list(dict.fromkeys(nodes))
        return {"nodes": [str(self.graph.nodes[place]) for place in places], "places": places}

    def _places_of(self, entry: dict[str, Any]) -> list[int]:
        """The positions of the nodes that a journal entry names; the order of nodes may have changed since."""
        names = entry.get("nodes", [entry["node"]] if "node" in entry else [])
        places = entry.get("places", [entry.get("place")])
        if all(self._is_at(place, name) for place, name in zip(places, names, strict=False)):
            return list(places[: len(names)])
        found: dict[str, list[int]] = {}
        for place, node in enumerate(self.graph.nodes.tolist()):
            found.setdefault(str(node), []).append(place)
        return [found[name][0] for name in names if len(found.get(name, ())) == 1]

    def _is_at(self, place: Any, name: str) -> bool:
        return isinstance(place, int) and 0 <= place < self.graph.n_nodes and str(self.graph.nodes[place]) == name

    def _mark_seeds(self) -> None:
        """Show seeds with their labels at once, before anything is fitted."""
        number = self._class_numbers()
        self._show(self.shown.with_seeds({node: number[label] for node, label in self.labels.seeds.items()}))

    def _class_numbers(self) -> dict[Any, int]:
        return {label: code for code, label in enumerate(self.classes) if label is not None}

    def _show(self, shown: Shown) -> None:
        with self.changed:
            self.shown = shown
            self.history = [*self.history[-7:], shown]

    def _place(self) -> None:
        try:
            _ = self.index  # built now, so that the first search is fast
            self.positions = self.graph.layout()
        except Exception as error:  # labelling works without a map
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
                for part in (self._fit, self._suggest, self._calibrate):
                    part()
                    if self._work.is_set():  # there are newer seeds
                        break
                self.failure = ""
            except Exception as error:  # the page goes on, and shows the error
                self.failure = str(error)
            if not self._work.is_set():
                self.announce("")

    def _fit(self) -> None:
        seeds = self.labels.seeds
        if seeds == self.fitted_seeds and self.fitted is not None and self.fits:
            return
        if len(set(seeds.values())) < 2:
            self.fitted, self.fitted_seeds, self.calibrated = None, {}, False
            self.fits += 1
            with self.changed:
                self._show(Shown.nothing(self.graph.n_nodes, self.shown.version + 1))
                self._mark_seeds()
            return
        self.announce("labelling")
        self.fitted, before = self._labelled(seeds), self.shown
        outcome, enough = self.fitted.fitted_.outcome, len(seeds) >= FEW
        self.fitted_seeds, self.calibrated = seeds, enough and outcome.decision is not None
        self.fits += 1
        codes = self._codes(self.fitted)
        if self.calibrated:  # the labels were decided by probabilities
            level = at_codes(outcome.chances, outcome.codes)
        elif enough:
            level = np.where((codes == before.codes) & (before.shades > 0), before.confidence, PROVISIONAL)
        else:
            level = colour_strength(outcome)
        self._show_fit(codes, level)
        if enough and outcome.chances is not None:
            self._expect(at_codes(outcome.chances, outcome.codes))

    def _expect(self, confidence: Doubles) -> None:
        """Add the expected accuracy of the labels to the curve: the mean confidence of all nodes that are not seeds.

        The curve starts again with each new class, because nodes are then told apart from more classes.
        """
        guessed, classes = self.shown.guessed, set(self.fitted_seeds.values())
        if guessed.any():
            point = len(self.fitted_seeds), float(confidence[guessed].mean())
            before = self.curve if classes == self._curve_classes else []
            self.curve = [*(each for each in before if each[0] < point[0]), point][-POINTS:]
            self._curve_classes = classes

    def _labelled(self, seeds: dict[int, Any]) -> Labeller:
        """A classifier fitted on these seeds, starting from the last fit if there is one."""
        ids = self.graph.nodes
        if self.fitted is None:
            return self._fit_from_scratch(seeds)
        add = {ids[node]: label for node, label in seeds.items() if self.fitted_seeds.get(node, seeds) != label}
        remove = [ids[node] for node in self.fitted_seeds if node not in seeds]
        if not add and not remove:
            return self.fitted
        return copy.copy(self.fitted).update(add=add, remove=remove)

    def for_export(self) -> Labeller:
        """A classifier fitted from scratch on the seeds, as ``isotherm classify`` is on the exported seeds."""
        seeds = self.fitted_seeds
        if self._exported is None or self._exported[0] != seeds:
            self._exported = seeds, self._fit_from_scratch(seeds)
        return self._exported[1]

    def _fit_from_scratch(self, seeds: dict[int, Any]) -> Labeller:
        known = {self.graph.nodes[node]: label for node, label in seeds.items()}
        fresh: Labeller = copy.copy(self._plain).fit(self.graph, known, **self._known)
        return fresh

    def _codes(self, fitted: Labeller) -> NDArray[np.int16]:
        """The class number of each node, in the order of ``self.classes``; -1 where it has no label."""
        number = self._class_numbers()
        table = np.array([number.get(label, -1) for label in fitted.classes_.tolist()], np.int16)
        places = fitted.fitted_.outcome.codes
        return np.where(places >= 0, table[np.maximum(places, 0)], np.int16(-1)).astype(np.int16)

    def _show_fit(self, codes: NDArray[np.int16], level: Doubles) -> None:
        with self.changed:  # there may be newer seeds than the fit has
            self._show(self.shown.with_fit(codes, level))
            self._mark_seeds()
            self.announce()

    def _suggest(self) -> None:
        self.announce("choosing nodes to label next")
        ids = self.graph.nodes
        put_off = self.labels.skipped | self.labels.unsure
        among = None if not put_off else np.delete(ids, list(put_off))
        if self.fitted is not None:
            nodes = self.fitted.suggest(min(self.wanted, self.graph.n_nodes), among=among)
        else:
            nodes = suggest(self.graph, self.wanted, known=ids[list(self.labels.seeds)], among=among)
        found: Ints = self.graph.index(nodes)
        with self.changed:  # nodes may have been answered meanwhile
            answered = self._answered()
            self.suggestions = self._reached_first([node for node in found.tolist() if node not in answered])
            self.announce()

    def _reached_first(self, nodes: list[int]) -> list[int]:
        """The suggestions, with reached nodes first in each batch: labels of these correct others at once."""
        if self.fitted is None:
            return nodes
        reached = self.fitted.reached_
        batches = (nodes[start : start + SUGGESTIONS] for start in range(0, len(nodes), SUGGESTIONS))
        return [node for batch in batches for node in sorted(batch, key=lambda node: not reached[node])]

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
        self._expect(level)

    def wait(self, ready: Callable[[], bool], timeout: float = 60) -> bool:
        """Wait until a condition holds; for programs and tests."""
        with self.changed:
            return self.changed.wait_for(ready, timeout)
