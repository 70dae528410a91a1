"""``isotherm classify``: files in, labels out."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from isotherm.cli.inputs import classify_on_workers, estimate_files, fit_files, inputs_of, labels_inside
from isotherm.cli.options import (
    OUTPUT,
    VARIABLES,
    Edges,
    Fitting,
    LabelsOrInside,
    Quiet,
    Results,
    Strict,
    changed_options,
    option,
)
from isotherm.cli.outputs import calibrate, check_results, write_results
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, option_name

if TYPE_CHECKING:
    from isotherm.cli.inputs import Files
    from isotherm.graph_classifier import GraphClassifier
    from isotherm.study.splits import HiddenAccuracy

USAGE = "isotherm classify [OPTIONS] EDGES [SEEDS]"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm classify edges.csv seeds.csv -o labels.csv
  isotherm classify edges.csv seeds.csv --save model.npz -o labels.tsv
  isotherm classify edges.csv seeds.csv --probabilities -o labels.parquet
  isotherm classify edges.csv seeds.csv --multi-label -o found.csv
  isotherm classify edges.csv seeds.csv -o checked.csv --quiet --json
  isotherm classify cells.h5ad --label cell_type -o labelled.h5ad
  isotherm classify graph.iso seeds.csv --engine dask -o labels/
  cat edges.csv | isotherm classify - seeds.csv --only-unlabelled --quiet
"""


def classify(
    edges: Edges,
    seeds: LabelsOrInside = None,
    /,
    *,
    results: Results = Results(),  # noqa: B008 - frozen
    estimate: Annotated[
        bool, option("Print the memory and time that it will take, and label nothing.", group=OUTPUT)
    ] = False,
    quiet: Quiet = False,
    strict: Strict = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Label all nodes of a graph from a few known ones.

    The result has one row for each node, in order of first appearance: node,
    label, confidence. Confidence is the probability that the label is right. A
    node without a path to a seed has an empty label and confidence 0.

    The suffix of a file decides its format: .csv .tsv .txt .jsonl .parquet
    .arrow .xlsx .mtx .npz .mat .graphml .gexf .gml .net .graph .h5ad .iso. Text
    may be compressed: .gz, .zst, .bz2, .xz or .zip.
    """
    with Job(quiet=quiet, strict=strict) as job:
        seeds, reading = labels_inside(edges, seeds, fitting.reading, usage=("classify", "SEEDS"))
        fitting = replace(fitting, reading=reading)
        names, confidence = [edges, seeds], not fitting.solving.no_confidence
        if results.output.endswith("/"):
            if estimate:
                raise UsageError("--estimate is for a fit on this machine, not for a folder that workers write")
            job.say(classify_on_workers(names, fitting, results, job))
            return
        check_results(results, [*names, *inputs_of(fitting)], several=fitting.kinds.multi_label, confidence=confidence)
        if estimate:
            print(estimate_files(names, fitting, job))
            unused = ", ".join(
                map(option_name, (*changed_options(results), *["evidence"] * (fitting.evidence != "auto")))
            )
            job.say(*[f"nothing is labelled or written, so these options had no effect: {unused}"] * bool(unused))
            return
        clf, files = fit_files(names, fitting, job)
        calibrate(clf, results, job)
        hidden = _hidden_accuracy(clf, files, job) if confidence and fitting.table.wanted else None
        summary = write_results(
            clf,
            results,
            job,
            source=edges,
            files=files.layouts,
            repeated_edges_counted=files.counted,
            warnings=job.warnings,
            hidden_seeds=hidden and hidden._asdict(),
        )
        job.say(f"{files}\n\n{summary.text()}")


def _hidden_accuracy(clf: "GraphClassifier", files: "Files", job: Job) -> "HiddenAccuracy | None":
    """For a table: how well hidden seeds are found, and how well without the graph."""
    from isotherm.study.splits import hidden_accuracy

    with job.stage("comparing"):
        return hidden_accuracy(clf, files.graph, files.vectors, files.known)
