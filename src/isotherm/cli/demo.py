"""``isotherm demo``: the Karate Club, then a real job on the packages of Debian."""

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from isotherm.cli.options import option
from isotherm.cli.stages import Stages
from isotherm.cli.status import say

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.classifier import DirichletClassifier

__all__ = ["EXAMPLES", "demo"]

EXAMPLES = """Examples:

  isotherm demo
  isotherm demo --out pictures
"""
SHARE = 0.01
MOST = 8  # packages in a list


def demo(*, out: Annotated[str, option("Folder for the picture.", "OUT", metavar="DIR")] = "out") -> None:
    """Show what Isotherm does, on two graphs that come with it.

    First the Karate Club with two seeds, as in figure 1 of the paper: a table,
    and a picture in the folder. Then the packages of Debian 12 and their
    dependencies: the archive section of all packages from those of 1% of them.
    """
    began = time.perf_counter()
    _karate(Path(out))
    _debian()
    print(f"\nAll this took {time.perf_counter() - began:.1f} seconds.")


def _karate(folder: Path) -> None:
    from isotherm.cli.status import UsageError
    from isotherm.experiments import figure1

    print("The Karate Club from its two leaders\n")
    result = figure1.classify()
    print(figure1.table(result), figure1.summary(result), sep="\n\n")
    path = folder / "figure1.png"
    try:
        figure1.draw(result, path)
        print(f"The picture is in {path}")
    except ImportError as error:
        say(f"isotherm: warning: {error}")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another folder with --out") from None


def _debian() -> None:
    import numpy as np

    from isotherm.classifier import DirichletClassifier
    from isotherm.cli.summary import Summary, peak_memory
    from isotherm.datasets import debian_packages
    from isotherm.seeds import encode_labels, sample

    print(f"\n\nThe packages of Debian 12: the sections of all from those of {SHARE:.0%}\n", flush=True)
    stages = Stages()
    with stages.stage("reading"):
        packages = debian_packages()
    codes, _ = encode_labels(packages.labels)
    seeds = sample("uniform", codes, SHARE, np.random.default_rng(0))
    known = dict(zip(packages.graph.nodes[seeds], packages.labels[seeds], strict=True))
    clf = DirichletClassifier()
    with stages.stage("solving") as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the summary has the numbers
        clf.fit(packages.graph, known, progress=bar.errors(1e-3))
    summary = Summary.of(clf)
    summary.seconds, summary.peak_memory_bytes = stages.seconds, peak_memory()
    print(summary.text(), _accuracy(clf, packages.labels), _extremes(clf, packages.labels), sep="\n\n")


def _accuracy(clf: "DirichletClassifier", truth: "NDArray[Any]") -> str:
    """Overall, and for each section, the largest first."""
    import numpy as np

    from isotherm.cli.summary import aligned

    hidden = np.ones(len(truth), dtype=bool)
    hidden[clf.seeds_.nodes] = False
    right = clf.labels_ == truth
    reached = hidden & clf.reached_
    sections, counts = np.unique(truth[hidden].astype(str), return_counts=True)
    rows = [["section", "packages", "reached", "right", "accuracy"]]
    for place in np.argsort(-counts, kind="stable"):
        own = hidden & (truth == sections[place])
        there, good = int((own & clf.reached_).sum()), int((own & right).sum())
        share = f"{good / there:.2f}" if there else ""
        rows.append([str(sections[place]), f"{counts[place]:,}", f"{there:,}", f"{good:,}", share])
    return (
        f"accuracy {right[hidden].mean():.2f} of the {hidden.sum():,} packages that are no seeds, "
        f"{right[reached].mean():.2f} of the {reached.sum():,} of these that a path joins to a seed;\n"
        f"the most frequent section is that of {counts.max() / hidden.sum():.2f} of them. By section, among those "
        f"reached:\n\n{aligned(rows, left=(0,))}"
    )


def _extremes(clf: "DirichletClassifier", truth: "NDArray[Any]") -> str:
    """The packages that the classifier is most and least certain of."""
    import numpy as np

    from isotherm.cli.summary import aligned

    hidden = clf.reached_.copy()
    hidden[clf.seeds_.nodes] = False
    places = np.flatnonzero(hidden)
    order = places[np.argsort(-clf.confidence_[places], kind="stable")]
    parts = []
    for title, some in (("most", order[:MOST]), ("least", order[-MOST:])):
        rows = [["package", "label", "confidence", ""]]
        for place in some:
            verdict = "right" if clf.labels_[place] == truth[place] else f"wrong: {truth[place]}"
            rows.append([clf.graph_.nodes[place], clf.labels_[place], f"{clf.confidence_[place]:.3f}", verdict])
        parts.append(f"{title} certain:\n{aligned(rows, left=(0, 1, 3))}")
    return "\n\n".join(parts)
