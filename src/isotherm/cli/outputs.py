"""Files that commands write: checked before any work is done for them, and written whole or not at all."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from isotherm.cli.options import Results, ScoreOutput, TableFormat, changed_options, leave_out
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import OUTPUT, UsageError, option_name, usage_errors
from isotherm.cli.terminal.process import exit_cleanly
from isotherm.tables import counted

if TYPE_CHECKING:
    from isotherm.cli.inputs import FileRead
    from isotherm.cli.reports.summary import Summary
    from isotherm.graph_classifier import GraphClassifier
    from isotherm.study.score_tables import ScoreReport


def check_table(output: str | None, sources: Iterable[str], table: TableFormat | ScoreOutput) -> None:
    """Refuse a table that cannot be written, or that is an input."""
    if output is not None:
        from isotherm.io import check_output

        check_apart(output, sources)
        with usage_errors(OUTPUT):
            check_output(output, force=table.force, format=table.output_format)
            _check_safe(output, table)


def _check_safe(output: str, table: TableFormat | ScoreOutput) -> None:
    """Refuse an option about text cells for a file that has none."""
    from isotherm.io.output import output_format

    if isinstance(table, TableFormat) and table.safe_cells:
        name = "parquet" if output.endswith("/") else output_format(output, table.output_format).name
        if name not in ("csv", "tsv"):
            raise UsageError(f"--safe-cells is for csv and tsv, not for {name}: {leave_out('safe_cells')}")


def check_apart(target: str, sources: Iterable[str]) -> None:
    """Refuse to write to a file that is read."""
    if target != "-" and any(_same_file(source, target) for source in sources):
        raise UsageError(f"{target} is also an input: give the output another name")


def _same_file(one: str, other: str) -> bool:
    """Whether two names stand for one file, or both for standard input or output."""
    if "-" in (one, other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other) and not os.path.realpath(one).startswith("/dev/")


def write_columns(output: str, columns: Mapping[str, Sequence[Any]], table: TableFormat) -> str:
    """Write a table, and return a line that says how many rows went where."""
    from isotherm.io import write_table

    with exit_cleanly(), usage_errors(OUTPUT):
        rows = write_table(output, columns, format=table.output_format, force=table.force, safe_cells=table.safe_cells)
    return f"{counted(rows, 'row')} to {'standard output' if output == '-' else output}"


def check_report(output: str | None, sources: Iterable[str], table: TableFormat, *, json: bool) -> None:
    """Refuse options that contradict each other where a report is printed, and a table that cannot be written."""
    if output == "-" and json:
        raise UsageError("--output and --json are both for standard output: give one of them")
    for name in changed_options(table) if output is None else ():
        raise UsageError(f"{option_name(name)} is for a table: name its file with --output, or {leave_out(name)}")
    check_table(output, sources, table)


def check_scores(results: ScoreOutput, sources: Sequence[str]) -> None:
    """Refuse options that contradict each other, and targets that cannot be written, before labels are hidden."""
    if sum((results.json, results.latex, results.output == "-")) > 1:
        raise UsageError("--json, --latex and --output - are all for standard output: give one of them")
    if results.output is None and results.output_format is not None:
        raise UsageError(
            f"--output-format is for a table: name its file with --output, or {leave_out('output_format')}"
        )
    if results.plot is not None:
        from isotherm.cli.reports.picture import check_picture

        check_apart(results.plot, sources)
        check_picture(results.plot, force=results.force)
    check_table(results.output, sources, results)


def write_scores(
    found: "ScoreReport", draw: Callable[..., None], results: ScoreOutput, job: Job, *, layouts: str, text: str
) -> None:
    """Draw the scores, write their table, and print them, as text if nothing else is wanted."""
    written = []
    if results.plot is not None:
        with exit_cleanly():
            draw(found, results.plot, force=results.force)
        written.append(f"The picture is in {results.plot}")
    if results.output is not None:
        write_columns(results.output, found.table.columns(), TableFormat(results.output_format, results.force))
        if results.output != "-":
            written.append(f"All draws are in {results.output}")
    job.say(layouts, *(written or [""]))
    if not results.fills_stdout:
        print(text)
    elif results.output != "-":
        print(found.to_json() if results.json else found.to_latex())


def check_results(results: Results, sources: Sequence[str], *, several: bool = False, confidence: bool = True) -> None:
    """Refuse options that contradict each other, and targets that cannot be written, before anything is read."""
    if several and (results.probabilities or results.temperatures):
        raise UsageError("--multi-label excludes --probabilities and --temperatures: leave them out")
    if not confidence and (results.probabilities or results.min_confidence is not None):
        other = "--probabilities" if results.probabilities else "--min-confidence"
        raise UsageError(f"--no-confidence and {other} contradict each other: give one of them")
    if results.json_summary == "-":
        raise UsageError("--json-summary - is now --json: use that, or name a file")
    if results.json and results.output == "-":
        raise UsageError("--json and the table are both for standard output: name a file with --output")
    if _is_cells(results.output):
        _check_cells(results, sources[0], several=several, confidence=confidence)
    _check_result_files(results, sources)


def _is_cells(name: str) -> bool:
    return name.lower().endswith(".h5ad")


def _check_cells(results: Results, source: str, *, several: bool, confidence: bool) -> None:
    """Refuse to write a file of cells if none is read, and options that are for rows of a table."""
    output = results.output
    if not _is_cells(source):
        raise UsageError(f"{output} would be a copy of a file of cells, but {source} is not one: write to a .csv file")
    rows = ("output_format", "safe_cells", "probabilities", "temperatures", "only_unlabelled", "min_confidence")
    unfit = [*(name for name in changed_options(results) if name in rows), *["multi_label"] * several]
    for name in [*unfit, *["no_confidence"] * (not confidence)]:
        why = "is for a table, and a file of cells has all labels and probabilities"
        raise UsageError(f"{option_name(name)} {why}: {leave_out(name)}, or write to a .csv file")


def _check_result_files(results: Results, sources: Sequence[str]) -> None:
    from isotherm.files import check_target
    from isotherm.io import check_output
    from isotherm.io.models import check_model

    with usage_errors(OUTPUT):
        if _is_cells(results.output):
            check_target(results.output, force=results.force)
        else:
            check_output(results.output, force=results.force, format=results.output_format)
            _check_safe(results.output, results)
        if results.json_summary is not None:
            check_target(results.json_summary, force=results.force)
        if results.save is not None:
            check_model(results.save, force=results.force)
    targets = {"--output": results.output, "--json-summary": results.json_summary, "--save": results.save}
    given = [(name, target) for name, target in targets.items() if target is not None]
    for (one, target), (other, same) in combinations(given, 2):
        if _same_file(target, same):
            both = "standard output" if target == "-" else same
            raise UsageError(f"{one} and {other} are both {both}: give one of them another name")
    for _, target in given:
        check_apart(target, sources)


def calibrate(clf: "GraphClassifier", results: Results, job: Job) -> None:
    """Find the confidence of labels now, so that its time is counted; refuse columns that were not kept."""
    if (results.probabilities or results.temperatures) and not clf.fitted_.outcome.kept:
        raise UsageError("there are too many classes to keep all temperatures; raise --max-memory")
    if clf.settings.calibration is not None:
        with job.stage("calibrating"):
            clf.confidence_  # noqa: B018


def write_results(
    clf: "GraphClassifier",
    results: Results,
    job: Job,
    *,
    files: "Mapping[str, FileRead]",
    source: str = "",
    **facts: Any,
) -> "Summary":
    """Save the classifier, write labels and summary, and return the summary; ``facts`` are more of its fields.

    ``source`` is the file of the graph.
    """
    from isotherm.cli.reports.summary import Summary
    from isotherm.files import writing

    with exit_cleanly():
        if results.save is not None:
            with job.stage("saving"), usage_errors(culprit=results.save):
                clf.save(results.save, force=results.force)
        rows = (
            _write_cells(clf, results, job, source) if _is_cells(results.output) else _write_labels(clf, results, job)
        )
        output, model = "standard output" if results.output == "-" else results.output, results.save or ""
        facts |= {"layouts": {name: str(file) for name, file in files.items()}}
        facts |= {"columns_read": {name: file.columns for name, file in files.items()}}
        summary = Summary.of_classifier(clf, job.seconds, rows=rows, output=output, model=model, **facts)
        for target in ("-" if results.json else None, results.json_summary):
            if target is not None:
                with usage_errors(), writing(target, force=results.force) as file:
                    file.write(summary.json())
    return summary


def _write_cells(clf: "GraphClassifier", results: Results, job: Job, source: str) -> int:
    """Write a copy of a file of cells with the labels in it."""
    with job.stage("writing"), usage_errors(OUTPUT):
        from isotherm.bridges.cells import KEY, cell_entries
        from isotherm.io.cells import write_h5ad

        write_h5ad(source, results.output, cell_entries(clf, KEY), force=results.force)
        return clf.graph_.n_nodes


def _write_labels(clf: "GraphClassifier", results: Results, job: Job) -> int:
    with job.stage("writing") as bar, usage_errors(OUTPUT):
        from isotherm.labelling.rows import write_labels

        return write_labels(
            results.output,
            clf.graph_,
            clf,
            format=results.output_format,
            **results.wanted,
            confidence=clf.settings.calibration is not None,
            force=results.force,
            safe_cells=results.safe_cells,
            progress=bar.amount,
        )
