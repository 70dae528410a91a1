"""The two protocols, figure 1, and how it was run."""

from importlib.metadata import version
from typing import NamedTuple

from isotherm import kernels
from isotherm.experiments import figure1
from isotherm.experiments.report.document import Picture, Section, Table, Text
from isotherm.experiments.report.verdicts import CHANCE, ELSEWHERE, OUTSIDE, WITHIN, marked
from isotherm.experiments.report.words import numbered
from isotherm.experiments.results import Results

__all__ = ["Conditions", "figure1_section", "protocols_section", "run_section"]


class Conditions(NamedTuple):
    """How the runs were made."""

    runs: int
    seed: int
    processes: int
    seconds: float


def protocols_section() -> Section:
    """The two protocols, side by side."""
    rows = [
        ["temperatures", "ten sweeps from the mean temperature of the seeds", "equilibrium, to 1e-4 of their spread"],
        ["classes", "column numbers taken for class numbers", "each column for its own class"],
        ["weighted rule", "normalised over non-seeds and seeds of class 0", "normalised over non-seeds"],
        ["unreached nodes", "at the mean temperature of the seeds", "no label; wrong wherever they are counted"],
        [
            "directed graphs",
            "seeds among all 2n copies, labels on both",
            "seeds and labels on source copies; beside it, on both",
        ],
        ["settings", "those of the programs", "those of the text"],
        ["score", "macro-F1 over all nodes, seeds included", "over all nodes, and over those that are no seeds"],
    ]
    return Section(
        "The two protocols",
        [
            Table("What is done in each", ["", "authors", "corrected"], rows),
            Text(
                "Rules: **vanilla** takes the class of the highest temperature, **centered** subtracts each class's "
                "mean temperature first, **relative** divides by it, and **weighted** is the class-mass normalisation "
                "of Zhu, Ghahramani and Lafferty. All four are scored from the same temperatures; the paper has no "
                "relative rule."
            ),
            Table("What the verdicts mean", ["verdict", "on a table", "on a curve"], _verdicts()),
        ],
    )


def _verdicts() -> list[list[str]]:
    return [
        [
            marked(WITHIN),
            "the means differ by no more than the published standard deviation, and 0.005 for rounding",
            "it is within 0.03 (centered) or 0.05 (vanilla, weighted) of the published one at every point",
        ],
        [marked(CHANCE), "by no more than twice the standard error of the difference of two means of ten", ""],
        [marked(OUTSIDE), "by more", "it is not; published curves were read off the figures by eye"],
        [marked(ELSEWHERE), "measured on a stand-in, so that there is no verdict", ""],
    ]


def figure1_section(title: str, results: Results) -> Section:
    """The Karate Club."""
    answer = figure1.classify()
    wrong, distance, closer = (
        results.summary("two seeds", "Karate Club", "centered", measure)
        for measure in (figure1.WRONG_NODES, figure1.FARTHEST, figure1.CLOSER)
    )
    assert wrong is not None, "the experiment has been run"
    assert distance is not None
    assert closer is not None
    agrees = "as in the paper" if wrong.mean == 1 else "where the paper has one"
    words = (
        f"{wrong.mean:.0f} of {numbered(len(answer.labels), 'node')} wrong, {agrees}; at most {distance.mean:.3f} from "
        f"the mean temperature, to which {numbered(round(closer.mean), 'node')} are closer."
    )
    caption = f"{title}: two seeds; the paler a node, the closer its temperature to the mean."
    return Section(title, [Picture("figure1", figure1.picture(answer), caption), Text(words)])


def run_section(conditions: Conditions) -> Section:
    """How to get the same numbers again."""
    kernel = kernels.description().partition(",")[0]
    words = (
        f"isotherm {version('isotherm')}, kernels {kernel}, {conditions.runs} runs of each setting, random state "
        f"{conditions.seed}, {conditions.processes} processes of one thread each; the runs of this call took "
        f"{conditions.seconds:.0f} seconds. Each run has a random generator of its own, spawned from that state, the "
        "experiment, the graph and the number of the run: the same command gives the same numbers, bit for bit, on the "
        "same machine. The score of every run is in the folder `runs`, in a CSV file for each experiment."
    )
    return Section("How it was run", [Text(words)])
