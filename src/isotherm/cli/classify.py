"""``isotherm classify``: files in, labels out."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from cyclopts.validators import Number

from isotherm.cli.late import load_beside
from isotherm.cli.options import (
    AS_FOUND,
    BY_DEFAULT,
    OUTPUT,
    SOLVING,
    VARIABLES,
    Columns,
    Edges,
    Force,
    Labels,
    Quiet,
    Rule,
    Solving,
    option,
)
from isotherm.cli.reading import read_files
from isotherm.cli.signals import nothing_at_stake
from isotherm.cli.stages import Stages
from isotherm.cli.wording import OUTPUT as OF_OUTPUT
from isotherm.cli.wording import SOLVING as OF_SOLVING
from isotherm.cli.wording import UsageError, in_options, say, speaking

__all__ = ["EXAMPLES", "classify"]

EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm classify edges.csv seeds.csv -o labels.csv
  isotherm classify edges.csv seeds.csv --probabilities -o labels.parquet
  cat edges.csv | isotherm classify - seeds.csv --only-unlabelled --quiet
"""


def classify(
    edges: Edges,
    seeds: Labels,
    /,
    *,
    output: Annotated[
        str,
        option(
            "Where the labels go; by default to standard output.",
            "FILE",
            name=("--output", "-o"),
            allow_leading_hyphen=True,
            group=OUTPUT,
        ),
    ] = "-",
    output_format: Annotated[
        str | None, option("csv, tsv, jsonl, parquet or arrow, in place of the suffix.", "NAME", group=OUTPUT)
    ] = None,
    force: Force = False,
    probabilities: Annotated[bool, option("Add a column of probabilities for each class.", group=OUTPUT)] = False,
    temperatures: Annotated[bool, option("Add a column of temperatures for each class.", group=OUTPUT)] = False,
    only_unlabelled: Annotated[bool, option("Leave out the seeds.", group=OUTPUT)] = False,
    min_confidence: Annotated[
        float | None,
        option("Leave out nodes of less confidence.", "X", validator=Number(gte=0, lte=1), group=OUTPUT),
    ] = None,
    json_summary: Annotated[
        str | None, option("Write the summary as JSON.", "FILE", allow_leading_hyphen=True, group=OUTPUT)
    ] = None,
    quiet: Quiet = False,
    rule: Annotated[Rule, option("How temperatures become labels.", "NAME", group=SOLVING)] = "centered",
    solving: Solving = BY_DEFAULT,
    ignore_missing_seeds: Annotated[
        bool, option("Go on without seeds that are not in the graph.", group=SOLVING)
    ] = False,
    columns: Columns = AS_FOUND,
) -> None:
    """Label all nodes of a graph from a few known ones.

    The suffix of a file decides its format: .csv .tsv .txt .parquet .arrow
    .mtx .npz .graphml .gexf .graph; text also with .gz or .zst. The result has
    one row for each node, in order of first appearance: node, label,
    confidence. An unreached node has an empty label and confidence 0.
    """
    stages = Stages(quiet=quiet)
    with _noted(quiet) as notes:
        with nothing_at_stake():
            _check_targets(output, json_summary, [edges, seeds], output_format, force)
            load_beside("isotherm.classifier", edges)
            files = read_files(edges, seeds, columns, stages, missing=ignore_missing_seeds)
            from isotherm.classifier import DirichletClassifier
            from isotherm.io import write_labels

            clf = DirichletClassifier(rule=rule, **solving.of_classifier)
            with stages.stage("solving") as bar:
                clf.fit(files.graph, files.known, progress=bar.errors(solving.tol))
        with stages.stage("writing") as bar, speaking(OF_OUTPUT):
            rows = write_labels(
                output,
                files.graph,
                clf,
                format=output_format,
                probabilities=probabilities,
                temperatures=temperatures,
                only_unlabelled=only_unlabelled,
                min_confidence=min_confidence,
                force=force,
                progress=bar.amount,
            )
    from isotherm.cli.summary import Summary

    where = "standard output" if output == "-" else output
    summary = Summary.of(clf, stages.seconds, rows=rows, output=where, layouts=files.layouts, warnings=notes)
    if json_summary is not None:
        _write(json_summary, summary.json(), force)
    if not quiet:
        say(f"{files}\n\n{summary.text()}")


def _check_targets(
    output: str, summary: str | None, sources: list[str], output_format: str | None, force: bool
) -> None:
    """Refuse what cannot end well before anything is read."""
    from isotherm.io import check_output
    from isotherm.io.output import check_target

    with speaking(OF_OUTPUT):
        check_output(output, force=force, format=output_format)
        if summary is not None:
            check_target(summary, force=force)
    if summary is not None and _same(output, summary):
        both = "standard output" if output == "-" else summary
        raise UsageError(f"--output and --json-summary are both {both}: give one of them another name")
    for target in (output, summary):
        if target not in (None, "-") and any(_same(source, target) for source in sources):
            raise UsageError(f"{target} is also an input: give the output another name")


def _same(one: str, other: str | None) -> bool:
    if other is None or "-" in (one, other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other) and not os.path.realpath(one).startswith("/dev/")


@contextmanager
def _noted(quiet: bool) -> Iterator[list[str]]:
    """Collect the warnings of a job, and print them unless it is to be quiet."""
    notes: list[str] = []
    show = warnings.showwarning

    def note(message: Warning | str, *rest: Any, **more: Any) -> None:
        notes.append(in_options(str(message), OF_SOLVING))
        if not quiet:
            show(message, *rest, **more)

    warnings.showwarning = note
    try:
        yield notes
    finally:
        warnings.showwarning = show


def _write(path: str, content: bytes, force: bool) -> None:
    from isotherm.io.output import writing

    with speaking(OF_OUTPUT), writing(path, force=force) as file:
        file.write(content)
