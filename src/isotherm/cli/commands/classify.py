"""``isotherm classify``: files in, labels out."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from isotherm.cli.inputs.fitting import estimate_files, fit_files
from isotherm.cli.inputs.on_workers import classify_on_workers, is_for_workers
from isotherm.cli.inputs.reading import labels_inside
from isotherm.cli.options import OUTPUT, VARIABLES, Edges, Fitting, LabelsOrInside, Quiet, Results, Strict
from isotherm.cli.parameters import option
from isotherm.cli.reports.results import calibrated, check_kept, check_results, write_results
from isotherm.cli.terminal.signals import exit_at_once
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.wording import collected_warnings, refuse_warnings, say

if TYPE_CHECKING:
    from isotherm.cli.inputs.reading import Files
    from isotherm.dirichlet_classifier import DirichletClassifier
    from isotherm.study.tables import HiddenAccuracy

__all__ = ["EXAMPLES", "USAGE", "classify"]

USAGE = "isotherm classify [OPTIONS] EDGES [SEEDS]"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm classify edges.csv seeds.csv -o labels.csv
  isotherm classify edges.csv seeds.csv --save model.npz -o labels.tsv
  isotherm classify edges.csv seeds.csv --probabilities -o labels.parquet
  isotherm classify edges.csv seeds.csv --multi-label -o found.csv
  isotherm classify edges.csv seeds.csv -o checked.csv --quiet --json
  isotherm classify graph.iso seeds.csv --engine dask -o labels/
  cat edges.csv | isotherm classify - seeds.csv --only-unlabelled --quiet
"""


def classify(
    edges: Edges,
    seeds: LabelsOrInside = None,
    /,
    *,
    results: Results = Results(),  # noqa: B008 - frozen
    estimate: Annotated[bool, option("Say what it will take, and label nothing.", group=OUTPUT)] = False,
    quiet: Quiet = False,
    strict: Strict = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Label all nodes of a graph from a few known ones.

    The suffix of a file decides its format: .csv .tsv .txt .jsonl .parquet
    .arrow .xlsx .mtx .npz .mat .graphml .gexf .gml .net .graph .iso; text also
    with .gz, .zst, .bz2, .xz or .zip. The result has one row for each node, in
    order of first appearance: node, label, confidence. An unreached node has an
    empty label and confidence 0. About 80% of the labels with confidence 0.8 are
    right. With --multi-label there is a row for each label of a node. Exit
    status: 0 success, 2 bad input, 3 warnings with --strict, 1 an error inside
    isotherm.
    """
    stages = Stages(quiet=quiet)
    with collected_warnings(quiet) as warned:
        with exit_at_once():
            seeds, reading = labels_inside(edges, seeds, fitting.reading, usage=("classify", "SEEDS"))
            fitting, sources = replace(fitting, reading=reading), [edges, seeds, *reading.seeds, *reading.edges]
            confidence = not fitting.solving.no_confidence
            if estimate:
                print(estimate_files([edges, seeds], fitting, stages))
                return
            if is_for_workers(fitting, results):
                told = classify_on_workers([edges, seeds], fitting, results, stages)
                if not quiet:
                    say(told)
                return
            check_results(results, sources, several=fitting.kinds.multi_label, confidence=confidence)
            clf, files = fit_files([edges, seeds], fitting, stages)
            check_kept(clf, results)
            calibration = calibrated(clf, stages)
            hidden = _hidden_accuracy(clf, files, stages) if confidence else None
        summary = write_results(
            clf,
            results,
            stages,
            calibration=calibration,
            layouts=files.layouts,
            repeated_edges_counted=files.counted,
            warnings=warned,
            hidden_seeds=hidden and hidden._asdict(),
        )
    if not quiet:
        say(f"{files}\n\n{summary.text()}")
    if strict:
        refuse_warnings(warned, quiet=quiet)


def _hidden_accuracy(clf: "DirichletClassifier", files: "Files", stages: Stages) -> "HiddenAccuracy | None":
    """For a table: how well hidden seeds are found, and how well without the graph."""
    if files.vectors is None:
        return None
    from isotherm.study.tables import hidden_accuracy

    with stages.stage("comparing"):
        return hidden_accuracy(clf, files.graph, files.vectors, files.known)
