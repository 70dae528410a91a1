"""How many labels `suggest` saves against a uniform draw, on fifty graphs.

Half of the labelled nodes are a test set that is never shown. A draw begins with 0.2% of the labels, drawn uniformly,
and goes on in steps of 0.2%: with a uniform draw, or with batches of `suggest`, each after an `update`. What counts is
macro-F1 on the test set, the mean over draws. The work is done with as many labels as the (monotone) curve of `suggest`
needs for what a uniform draw has with 1% and with 2%.
"""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

import isotherm as iso
from benchmarks.results import Result
from isotherm.seeds.encoding import encode_labels
from isotherm.study.datasets import available, load
from isotherm.study.scores import macro_f1

__all__ = ["CONFIRMATION", "DEVELOPMENT", "draw_curves", "races"]

# All graphs with one label for each node and from 500 to 50,000 labelled nodes, drawn into two halves at random; two
# directed twins, of Cora and of CiteSeer, are in the half of the undirected graph. The policy was chosen on the first.
DEVELOPMENT = (
    *("actor_film", "airports_usa", "amazon_computers", "chameleon_filtered", "cora", "cora_directed"),
    *("cora_ml_directed", "email_eu_core", "facebook_pages", "fb100_amherst41", "fb100_cornell5", "fb100_reed98"),
    *("fb100_stanford3", "fb100_yale4", "knn_mnist10k", "polblogs", "squirrel_filtered", "twitch_de", "twitch_engb"),
    *("twitch_es", "twitch_fr", "twitch_ptbr", "wiki_tadw", "wikischool_bonald", "wikivitals_l3"),
)
CONFIRMATION = (
    *("acm", "amazon_photo", "blogcatalog_attr", "citeseer", "citeseer_directed", "coauthor_cs", "coauthor_physics"),
    *("dblp_citation", "deezer_europe", "fb100_brown11", "fb100_duke14", "fb100_johns_hopkins55", "fb100_mit8"),
    *("fb100_ucla26", "fb100_upenn7", "flickr_attr", "github_social", "knn_hhar", "knn_reut", "knn_usps"),
    *("lastfm_asia", "pubmed", "tolokers", "twitch_ru", "uai2010"),
)
HALVES = {"confirmation": CONFIRMATION, "development": DEVELOPMENT}
SHOWN = ("citeseer", "lastfm_asia", "amazon_photo", "knn_hhar", "fb100_mit8", "dblp_citation")
STEP, MOST = 0.002, 0.024  # of the labels
GOALS = (0.01, 0.02)
PICTURE = Path("out/labelling.png")


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Result]:
    """Labels needed on all graphs that are at hand; the graphs have one size only."""
    warnings.simplefilter("ignore")
    at_hand = available() if os.environ.get("ISOTHERM_DATA") else {}
    for half, names in HALVES.items():
        curves = [_measured(name, rounds) for name in names if name in at_hand]
        for share in GOALS if curves else ():
            work = f"macro-F1 of {share:.0%} uniform labels, {len(curves)} graphs for {half}"
            ours = [curve.needed(share) / share for curve in curves]
            yield Result(work, "uniform", [1.0] * len(ours), "suggest", ours, goal=1 / 0.6, unit="of the labels")
        shown = [curve for name in SHOWN for curve in curves if curve.name == name]
        if len(shown) == len(SHOWN):
            PICTURE.parent.mkdir(parents=True, exist_ok=True)
            draw_curves(shown, PICTURE)


def _measured(name: str, rounds: int) -> "Curve":
    curve = Curve(name, rounds)
    ratios = " and ".join(f"{curve.needed(share) / share:.2f}" for share in GOALS)
    print(f"{name}: {ratios} of uniform's labels", flush=True)
    return curve


class Curve:
    """Macro-F1 with more and more labels, shape (draws, sizes): of `suggest`, and of four times as many draws."""

    def __init__(self, name: str, draws: int) -> None:
        dataset = load(name)
        self.name, self.graph, self.labels = name, dataset.graph, encode_labels(dataset.labels)[0]
        total = np.count_nonzero(self.labels >= 0)
        sizes = np.unique(np.round(np.arange(STEP, MOST + STEP / 2, STEP) * total).astype(int))
        self.sizes = sizes[sizes >= 3]
        self.shares = self.sizes / total
        self.suggested = np.array([self._run(draw, suggest=True) for draw in range(draws)])
        self.uniform = np.array([self._run(draw, suggest=False) for draw in range(4 * draws)])

    def needed(self, share: float) -> float:
        """The share of labels with which `suggest` has the macro-F1 of so many uniform ones; infinite if none has."""
        goal = np.interp(share, self.shares, isotonic_regression(self.uniform.mean(axis=0)))
        ours = isotonic_regression(self.suggested.mean(axis=0))
        if ours[-1] < goal:
            return float("inf")
        after = int(np.argmax(ours >= goal))
        return float(np.interp(goal, ours[max(after - 1, 0) : after + 1], self.shares[max(after - 1, 0) : after + 1]))

    def _run(self, draw: int, *, suggest: bool) -> list[float]:
        rng = np.random.default_rng(draw)
        order = rng.permutation(np.flatnonzero(self.labels >= 0))
        test, pool = order[: len(order) // 2], order[len(order) // 2 :]
        first = self.sizes[0]
        while len(set(self.labels[pool[:first]].tolist())) < 2:
            first += 1
        clf = iso.NodeClassifier().fit(self.graph, self._answers(pool[:first]))
        scores = []
        for size in self.sizes:
            more = size - len(clf.seeds_.nodes)
            if more > 0:
                asked = clf.suggest(more, among=self.graph.nodes[pool]) if suggest else self.graph.nodes[pool[:size]]
                clf.update(self._answers(self.graph.index(asked)))
            scores.append(macro_f1(self.labels[test], clf.labels_[test]))
        return scores

    def _answers(self, places: NDArray[np.int64]) -> dict[object, int]:
        return dict(zip(self.graph.nodes[places].tolist(), self.labels[places].tolist(), strict=True))


def draw_curves(curves: list[Curve], path: Path) -> None:
    """Macro-F1 against labels: mean and spread over draws."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    for axes, curve in zip(figure.subplots(2, 3).flat, curves, strict=True):
        for scores, name, colour, dash in (
            (curve.uniform, "uniform", "#D55E00", "--"),
            (curve.suggested, "suggest", "#0072B2", "-"),
        ):
            mean, spread = scores.mean(axis=0), scores.std(axis=0)
            axes.plot(100 * curve.shares, mean, dash, color=colour, label=name)
            axes.fill_between(100 * curve.shares, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
        axes.set_title(curve.name, fontsize=10)
        axes.set_xlabel("labels, % of the nodes")
        axes.set_ylabel("macro-F1")
    figure.axes[0].legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=110)
