"""``isotherm demo``: the Karate Club, then a real job on the packages of Debian."""

import os
import textwrap
import time
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotherm.cli.options import Folder
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, say
from isotherm.tables import aligned, bar, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph_classifier import GraphClassifier
    from isotherm.paper.figure1 import Result

EXAMPLES = """Examples:

  isotherm demo
  isotherm demo --output pictures
"""
SHARE = 0.01
MOST = 6  # classes in the summary
LONGEST = 28  # characters of the name of a package
BINS = (0, 0.2, 0.4, 0.6, 0.8, 0.9, 1)  # borders of ranges of confidence


def demo(*, output: Folder = "out") -> None:
    """Show what Isotherm does, on two graphs that come with it.

    First the Karate Club with two seeds, as in figure 1 of the paper: the
    temperature of each member, and a picture in the folder. Then the packages
    of Debian 12 and their dependencies: the archive section of all packages,
    from the sections of 1% of them. These are put into the folder too, for
    isotherm explore, and the map of all packages as a page.
    """
    began = time.perf_counter()
    folder = Path(output)
    _check(folder)
    _karate(folder)
    edges, seeds = _debian(folder)
    print(f"\nAll this took {time.perf_counter() - began:.1f} seconds. isotherm classify --help has the rest.")
    print(
        f"\nTo see these packages on a map, and to label more of them:\n\n  isotherm explore {edges} {seeds} --directed"
    )


def _check(folder: Path) -> None:
    """Refuse a folder into which no picture could be written."""
    parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        said = "is not open to you" if parent.is_dir() else "is a file"
        raise UsageError(f"no picture can be put into {folder}: {parent} {said}; choose another folder with --output")


def _karate(folder: Path) -> None:
    from isotherm.paper import figure1

    result = figure1.classify()
    print("The Karate Club: who sides with whom, from its two leaders\n")
    print(_thermometer(result), textwrap.fill(figure1.summary(result), 80), sep="\n\n")
    path = folder / "figure1.png"
    try:
        figure1.draw(result, path)
        print(f"The picture is in {path}")
    except ImportError as error:
        say(f"isotherm: warning: {error}")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another folder with --output") from None


def _thermometer(result: "Result") -> str:
    """Nodes by temperature, from hot to cold, with the mean in its place."""
    rows: dict[tuple[bool, float], list[str]] = {}
    for place in (-result.temperatures).argsort(kind="stable").tolist():
        warm = float(result.temperatures[place])
        sign = "*" if place in result.seeds else "" if result.right[place] else "!"
        rows.setdefault((warm > result.mean, round(warm, 1)), []).append(f"{result.dataset.graph.nodes[place]}{sign}")
    hot, cold = (
        [[f"{level:.1f}", " ".join(rows[side, level])] for side, level in rows if side == wanted]
        for wanted in (True, False)
    )
    lines = aligned([["temperature", "nodes (* seed, ! wrong)"], *hot, ["mean", ""], *cold], left=(1,)).splitlines()
    hi, officer = (str(result.labels[place]) for place in result.seeds)
    border = f"-- {result.mean:.2f}  above: with {hi}, below: with the {officer.lower()} --"
    return "\n".join(border if line.strip() == "mean" else line for line in lines)


def _debian(folder: Path) -> tuple[Path, Path]:
    import numpy as np

    from isotherm.cli.reports.summary import Summary
    from isotherm.node_classifier import NodeClassifier
    from isotherm.seeds.encoding import encode_labels
    from isotherm.seeds.hiding import sample
    from isotherm.study.datasets import debian_packages

    print(f"\n\nThe packages of Debian 12: the sections of all, from the sections of {SHARE:.0%}\n", flush=True)
    job = Job()
    with job.stage("reading"):
        packages = debian_packages()
    codes, _ = encode_labels(packages.labels)
    seeds = sample("balanced", codes, SHARE, np.random.default_rng(0))
    known = dict(zip(packages.graph.nodes[seeds], packages.labels[seeds], strict=True))
    clf = NodeClassifier()
    with job.stage("solving") as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the summary has the numbers
        clf.fit(packages.graph, known, progress=bar.errors(1e-3))
    hidden = clf.reached_.copy()
    hidden[clf.seeds_.nodes] = False
    print(Summary.of_classifier(clf, job.seconds).text(MOST))
    for part in (_accuracy, _sections, _samples):
        print(f"\n{part(clf, packages.labels, hidden)}")
    edges, seeds_file = _written(folder, clf)
    with job.stage("placing"):
        clf.plot(
            folder / "debian-map.html", title="Debian 12: the sections of all packages from 1% of them", force=True
        )
    print(f"\nThe map is in {folder / 'debian-map.html'}: open it in a browser, search it, click sections.")
    return edges, seeds_file


def _written(folder: Path, clf: "GraphClassifier") -> tuple[Path, Path]:
    """The graph and its seeds as files for ``isotherm explore``; nodes without links are left out."""
    import numpy as np

    graph, seeds = clf.graph_, clf.seeds_
    ends = graph.csr.rows, graph.csr.indices
    kept = np.isin(seeds.nodes, np.concatenate(ends))
    labels = seeds.decode(seeds.codes)[kept]
    tables = {
        "debian-edges.tsv": ("source", "target", graph.nodes[ends[0]], graph.nodes[ends[1]]),
        "debian-seeds.tsv": ("package", "section", graph.nodes[seeds.nodes[kept]], labels),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, (first, second, left, right) in tables.items():
        rows = "".join(f"{a}\t{b}\n" for a, b in zip(left, right, strict=True))
        (folder / name).write_text(f"{first}\t{second}\n{rows}", encoding="utf-8")
    return folder / "debian-edges.tsv", folder / "debian-seeds.tsv"


def _accuracy(clf: "GraphClassifier", truth: "NDArray[Any]", hidden: "NDArray[Any]") -> str:
    """The accuracy of the rule, of the rule vanilla, and of guessing the largest section."""
    from isotherm.labelling.rules import RULES

    unseen = len(truth) - len(clf.seeds_.nodes)
    right = (clf.labels_ == truth)[hidden]
    vanilla = clf.classes_[RULES["vanilla"].scores(clf.temperatures_, clf.seeds_).argmax(axis=1)]
    section, packages = Counter(truth[hidden].tolist()).most_common(1)[0]
    shares = {
        f"rule {clf.rule_}": right.mean(),
        "rule vanilla": (vanilla == truth)[hidden].mean(),
        f"always {section}": packages / hidden.sum(),
    }
    rows = [[name, f"{share:.2f}", bar(share)] for name, share in shares.items()]
    return (
        f"Accuracy on the {hidden.sum():,} packages that are reached and not seeds:\n\n{aligned(rows, left=(0, 2))}\n\n"
        f"Rule {clf.rule_} has {right.sum() / unseen:.2f} on all {unseen:,} that are not seeds. By section:"
    )


def _sections(clf: "GraphClassifier", truth: "NDArray[Any]", hidden: "NDArray[Any]") -> str:
    """The accuracy on each section, the largest first, in two halves side by side."""
    cells = []
    for section in clf.classes_.tolist():
        own = hidden & (truth == section)
        share = float((clf.labels_[own] == section).mean()) if own.any() else 0.0
        cells.append([section, int(own.sum()), f"{share:.2f}", bar(share, 8)])
    cells.sort(key=lambda cell: -cell[1])
    cells = [[section, f"{packages:,}", *rest] for section, packages, *rest in cells]
    half = (len(cells) + 1) // 2
    halves = zip(cells[:half], [*cells[half:], *[[""] * 4] * (len(cells) % 2)], strict=True)
    title = ["section", "packages", "accuracy", ""]
    return aligned([[*title, *title], *([*left, *right] for left, right in halves)], left=(0, 3, 4, 7))


def _samples(clf: "GraphClassifier", truth: "NDArray[Any]", hidden: "NDArray[Any]") -> str:
    """How many labels are right in each range of confidence, with one package of each drawn at random."""
    import numpy as np

    rng, confidence = np.random.default_rng(0), np.nan_to_num(clf.confidence_)
    rows = [["confidence", "packages", "right", "one of them", "label", ""]]
    for low, high in pairwise(BINS):
        own = np.flatnonzero(hidden & (confidence >= low) & ((confidence < high) | (high == 1)))
        if not len(own):
            continue
        place = int(rng.choice(own))
        verdict = "right" if clf.labels_[place] == truth[place] else f"wrong: {truth[place]}"
        share = f"{(clf.labels_[own] == truth[own]).mean():.2f}"
        package = shown(clf.graph_.nodes[place])[:LONGEST], clf.labels_[place], verdict
        rows.append([f"{low:.1f} to {high:.1f}", f"{len(own):,}", share, *package])
    return f"By confidence, with one package of each range:\n\n{aligned(rows, left=(0, 3, 4, 5))}"
