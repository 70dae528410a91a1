"""``isotherm classify``: files in, labels out."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts.validators import Number

from isotherm.cli.options import (
    AS_FOUND,
    BY_DEFAULT,
    OUTPUT,
    SOLVING,
    Columns,
    Edges,
    Labels,
    Quiet,
    Rule,
    Solving,
    option,
)
from isotherm.cli.stages import Stages
from isotherm.cli.status import UsageError, naming, nothing_at_stake, say

if TYPE_CHECKING:
    from isotherm.graph import Graph

__all__ = ["EXAMPLES", "classify", "read_input"]

EXAMPLES = """Examples:

  isotherm classify edges.csv seeds.csv -o labels.csv
  isotherm classify edges.csv seeds.csv --probabilities -o labels.parquet
  cat edges.csv | isotherm classify - seeds.csv --only-unlabelled --quiet
"""

MISSING = {"not in the graph": "; correct them, or leave them out with --ignore-missing-seeds"}


def classify(
    edges: Edges,
    seeds: Labels,
    /,
    *,
    output: Annotated[
        str, option("Where the labels go; - for standard output.", name=("--output", "-o"), group=OUTPUT)
    ] = "-",
    output_format: Annotated[
        str | None, option("csv, tsv, jsonl, parquet or arrow, in place of the suffix.", group=OUTPUT)
    ] = None,
    force: Annotated[bool, option("Replace the output if it exists.", "FORCE", group=OUTPUT)] = False,
    probabilities: Annotated[bool, option("Add a column of probabilities for each class.", group=OUTPUT)] = False,
    temperatures: Annotated[bool, option("Add a column of temperatures for each class.", group=OUTPUT)] = False,
    only_unlabelled: Annotated[bool, option("Leave out the seeds.", group=OUTPUT)] = False,
    min_confidence: Annotated[
        float | None,
        option("Leave out nodes of less confidence.", group=OUTPUT, validator=Number(gte=0, lte=1), metavar="X"),
    ] = None,
    json_summary: Annotated[
        str | None, option("Write the summary to a file, as JSON.", group=OUTPUT, metavar="FILE")
    ] = None,
    quiet: Quiet = False,
    rule: Annotated[Rule, option("How temperatures become labels.", "RULE", group=SOLVING)] = "centered",
    solving: Solving = BY_DEFAULT,
    ignore_missing_seeds: Annotated[
        bool, option("Go on without seeds that are not in the graph.", "IGNORE_MISSING_SEEDS", group=SOLVING)
    ] = False,
    columns: Columns = AS_FOUND,
) -> None:
    """Label all nodes of a graph from a few known ones.

    The suffix of a file decides its format: .csv .tsv .txt .parquet .arrow
    .mtx .npz .graphml .gexf .graph; text also with .gz or .zst. The result has
    one row for each node: node, label, confidence. An option with an "env var"
    takes its default from there.
    """
    _check_files(edges, seeds, output, output_format, json_summary, force)
    stages = Stages(quiet=quiet)
    with _noted(quiet) as notes:
        graph, known, layouts = read_input(edges, seeds, columns, stages, missing=ignore_missing_seeds)
        from isotherm.classifier import DirichletClassifier
        from isotherm.cli.summary import Summary, peak_memory
        from isotherm.io import write_labels

        clf = DirichletClassifier(rule=rule, **solving.of_classifier)
        with stages.stage("solving") as bar:
            clf.fit(graph, known, progress=bar.errors(solving.tol))
        with stages.stage("writing") as bar:
            rows = write_labels(
                output,
                graph,
                clf,
                format=output_format,
                probabilities=probabilities,
                temperatures=temperatures,
                only_unlabelled=only_unlabelled,
                min_confidence=min_confidence,
                force=force,
                progress=bar.amount,
            )
    summary = Summary.of(clf)
    summary.rows, summary.output = rows, "standard output" if output == "-" else output
    summary.layouts, summary.warnings = layouts, notes
    summary.seconds, summary.peak_memory_bytes = stages.seconds, peak_memory()
    if json_summary is not None:
        _write_bytes(json_summary, summary.json())
    if not quiet:
        for name, layout in layouts.items():
            say(f"{name}: {layout}")
        say(f"\n{summary.text()}")


def read_input(
    edges: str, labels: str, columns: Columns, stages: Stages, *, missing: bool
) -> "tuple[Graph, dict[Any, Any], dict[str, str]]":
    """The graph, the labels of its nodes, and how both files are laid out."""
    with stages.stage("reading") as bar, nothing_at_stake():
        from isotherm.io import match_seeds, read_graph_file, read_seeds_file
        from isotherm.seeds import Seeds

        seeds_file = read_seeds_file(labels, **columns.of_labels)
        graph_file = read_graph_file(edges, progress=bar.amount, **columns.of_edges)
        graph = graph_file.graph
        with naming(labels, MISSING):
            known = match_seeds(seeds_file.seeds, graph, missing="drop" if missing else "raise")
        lost = len(seeds_file.seeds) - len(known)
        if lost:
            message = (
                f"{labels}: {lost} of {len(seeds_file.seeds)} labelled nodes are not in the graph and are left out"
            )
            warnings.warn(message, UserWarning, stacklevel=2)
        with naming(labels):
            Seeds.from_labels(known, graph)
    return graph, known, {edges: str(graph_file.layout), labels: str(seeds_file.layout)}


def _check_files(
    edges: str, seeds: str, output: str, output_format: str | None, json_summary: str | None, force: bool
) -> None:
    """Refuse what cannot end well before anything is read."""
    from isotherm.io import check_output

    if edges == seeds == "-":
        raise UsageError("EDGES and SEEDS cannot both be standard input: give a file for one of them")
    with naming("--output"):
        check_output(output, force=force, format=output_format)
    targets = [output]
    if json_summary is not None:
        with naming("--json-summary"):
            check_output(json_summary, force=force, format="jsonl")
        targets.append(json_summary)
        if _same(output, json_summary):
            raise UsageError(f"--output and --json-summary are both {output}: give them two names")
    for target in targets:
        for source in (edges, seeds):
            if _same(source, target):
                raise UsageError(f"{target} is also an input: give the output another name")


def _same(one: str, other: str) -> bool:
    if "-" in (one, other):
        return False
    return os.path.realpath(one) == os.path.realpath(other) and not os.path.realpath(one).startswith("/dev/")


@contextmanager
def _noted(quiet: bool) -> Iterator[list[str]]:
    """Collect the warnings of a job, and print them unless it is to be quiet."""
    notes: list[str] = []
    show = warnings.showwarning

    def note(message: Warning | str, *rest: Any, **more: Any) -> None:
        notes.append(str(message))
        if not quiet:
            show(message, *rest, **more)

    warnings.showwarning = note
    try:
        yield notes
    finally:
        warnings.showwarning = show


def _write_bytes(path: str, content: bytes) -> None:
    from isotherm.io.output import writing

    with writing(path) as file:
        file.write(content)
