"""What ``isotherm classify`` and ``isotherm update`` write: labels, a saved classifier, a summary."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from isotherm.cli.options import Results
from isotherm.cli.outputs import check_apart, same_file
from isotherm.cli.terminal import messages
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, usage_errors
from isotherm.cli.terminal.process import exit_cleanly

if TYPE_CHECKING:
    from isotherm.cli.reports.summary import Summary
    from isotherm.dirichlet_classifier import DirichletClassifier
    from isotherm.probability.calibration import Calibration

__all__ = ["calibrated", "check_kept", "check_results", "write_results"]


def check_results(results: Results, sources: Sequence[str], *, several: bool = False, confidence: bool = True) -> None:
    """Refuse options that contradict each other, and targets that cannot be written, before anything is read."""
    if several and (results.probabilities or results.temperatures):
        raise UsageError("--multi-label excludes --probabilities and --temperatures: leave them out")
    if not confidence and (results.probabilities or results.min_confidence is not None):
        other = "--probabilities" if results.probabilities else "--min-confidence"
        raise UsageError(f"--no-confidence and {other} contradict each other: give one of them")
    if results.json and results.json_summary == "-":
        raise UsageError("--json and --json-summary - are the same: give one of them")
    if results.json and results.output == "-":
        raise UsageError("--json and the table are both for standard output: name a file with --output")
    _check_targets(results, sources)


def _check_targets(results: Results, sources: Sequence[str]) -> None:
    from isotherm.files import check_target
    from isotherm.io import check_output
    from isotherm.io.models import check_model

    with usage_errors(messages.OUTPUT):
        check_output(results.output, force=results.force, format=results.output_format)
        if results.json_summary is not None:
            check_target(results.json_summary, force=results.force)
        if results.save is not None:
            check_model(results.save, force=results.force)
    targets = {"--output": results.output, "--json-summary": results.json_summary, "--save": results.save}
    given = [(name, target) for name, target in targets.items() if target is not None]
    for (one, target), (other, same) in combinations(given, 2):
        if same_file(target, same):
            both = "standard output" if target == "-" else same
            raise UsageError(f"{one} and {other} are both {both}: give one of them another name")
    for _, target in given:
        check_apart(target, sources)


def check_kept(clf: "DirichletClassifier", results: Results) -> None:
    """Refuse columns for each class if only the best scores were kept."""
    if (results.probabilities or results.temperatures) and not clf.fitted_.outcome.kept:
        raise UsageError("there are too many classes to keep all temperatures; raise --max-memory")


def calibrated(clf: "DirichletClassifier", job: Job) -> "Calibration | None":
    """Compute confidence now, so that its time is counted here; its calibration, if there is one."""
    if clf.calibration is None:
        return None
    with job.stage("calibrating"):
        clf.confidence_  # noqa: B018
        outcome = clf.fitted_.outcome
        return clf.calibration_ if outcome.kept and not outcome.several else None


def write_results(
    clf: "DirichletClassifier",
    results: Results,
    job: Job,
    *,
    calibration: "Calibration | None",
    **facts: Any,
) -> "Summary":
    """Save the classifier, write labels and summary, and return the summary; ``facts`` are more of its fields."""
    from isotherm.cli.reports.summary import Summary
    from isotherm.files import writing

    with exit_cleanly():
        if results.save is not None:
            with job.stage("saving"), usage_errors(culprit=results.save):
                clf.save(results.save, force=results.force)
        rows = _write_labels(clf, results, job)
        output, model = "standard output" if results.output == "-" else results.output, results.save or ""
        summary = Summary.of(clf, job.seconds, calibration, rows=rows, output=output, model=model, **facts)
        for target in ("-" if results.json else None, results.json_summary):
            if target is not None:
                with usage_errors(), writing(target, force=results.force) as file:
                    file.write(summary.json())
    return summary


def _write_labels(clf: "DirichletClassifier", results: Results, job: Job) -> int:
    with job.stage("writing") as bar, usage_errors(messages.OUTPUT):
        from isotherm.labelling.rows import write_labels

        return write_labels(
            results.output,
            clf.graph_,
            clf,
            format=results.output_format,
            confidence=clf.calibration is not None,
            probabilities=results.probabilities,
            temperatures=results.temperatures,
            only_unlabelled=results.only_unlabelled,
            min_confidence=results.min_confidence,
            force=results.force,
            safe_cells=results.safe_cells,
            progress=bar.amount,
        )
