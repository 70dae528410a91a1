"""``isotherm classify``: files in, labels out."""

from itertools import combinations
from typing import Annotated

from cyclopts.validators import Number

from isotherm.cli.options import (
    AS_FOUND,
    BY_DEFAULT,
    CERTAIN,
    OUTPUT,
    SOLVING,
    VARIABLES,
    Certainty,
    Columns,
    Edges,
    Force,
    Labels,
    Missing,
    Output,
    OutputFormat,
    Quiet,
    Rule,
    Solving,
    option,
)
from isotherm.cli.reading import check_apart, read_files, same_file
from isotherm.cli.signals import nothing_at_stake
from isotherm.cli.stages import Stages
from isotherm.cli.wording import OUTPUT as OF_OUTPUT
from isotherm.cli.wording import UsageError, noted, say, speaking

__all__ = ["EXAMPLES", "classify"]

EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm classify edges.csv seeds.csv -o labels.csv
  isotherm classify edges.csv seeds.csv --save model.npz -o labels.tsv
  isotherm classify edges.csv seeds.csv --probabilities -o labels.parquet
  isotherm classify edges.csv seeds.csv --multi-label -o found.csv
  cat edges.csv | isotherm classify - seeds.csv --only-unlabelled --quiet
"""


def classify(
    edges: Edges,
    seeds: Labels,
    /,
    *,
    output: Output = "-",
    output_format: OutputFormat = None,
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
    save: Annotated[
        str | None, option("Save all that was found, for isotherm explain MODEL: .npz.", "MODEL", group=OUTPUT)
    ] = None,
    quiet: Quiet = False,
    rule: Annotated[Rule, option("How temperatures become labels.", "NAME", group=SOLVING)] = "centered",
    solving: Solving = BY_DEFAULT,
    ignore_missing_seeds: Missing = False,
    columns: Columns = AS_FOUND,
    certainty: Certainty = CERTAIN,
) -> None:
    """Label all nodes of a graph from a few known ones.

    The suffix of a file decides its format: .csv .tsv .txt .parquet .arrow
    .mtx .npz .graphml .gexf .graph; text also with .gz or .zst. The result has
    one row for each node, in order of first appearance: node, label,
    confidence. An unreached node has an empty label and confidence 0. Of the
    labels of confidence 0.8, about 80% are right. With --multi-label there is a
    row for each label of a node.
    """
    stages = Stages(quiet=quiet)
    with noted(quiet) as notes:
        with nothing_at_stake():
            if certainty.multi_label and (probabilities or temperatures):
                raise UsageError("--multi-label excludes --probabilities and --temperatures: leave them out")
            if solving.no_confidence and (probabilities or min_confidence is not None):
                wanted = "--probabilities" if probabilities else "--min-confidence"
                raise UsageError(f"--no-confidence and {wanted} contradict each other: give one of them")
            _check_targets(output, json_summary, save, [edges, seeds], output_format, force)
            files = read_files(edges, seeds, columns, stages, missing=ignore_missing_seeds, certainty=certainty)
            from isotherm.classifier import DirichletClassifier
            from isotherm.io import write_labels

            clf = DirichletClassifier(rule=rule, **solving.of_classifier)
            with stages.stage("solving") as bar:
                clf.fit(files.graph, files.known, seed_weight=files.weights, progress=bar.errors(solving.tol))
            calibration = None
            if not solving.no_confidence:
                with stages.stage("calibrating"):
                    clf.confidence_  # noqa: B018 - so that its time is counted here
                    if clf.labels_.ndim == 1 and hasattr(clf, "temperatures_"):
                        calibration = clf.calibration_
        if save is not None:
            with stages.stage("saving"), speaking(OF_OUTPUT, save):
                clf.save(save, force=force)
        with stages.stage("writing") as bar, speaking(OF_OUTPUT):
            rows = write_labels(
                output,
                files.graph,
                clf,
                format=output_format,
                confidence=not solving.no_confidence,
                probabilities=probabilities,
                temperatures=temperatures,
                only_unlabelled=only_unlabelled,
                min_confidence=min_confidence,
                force=force,
                progress=bar.amount,
            )
    from isotherm.cli.summary import Summary

    where = "standard output" if output == "-" else output
    told = {"output": where, "model": save or "", "layouts": files.layouts, "warnings": notes}
    summary = Summary.of(clf, stages.seconds, calibration, rows=rows, **told)
    if json_summary is not None:
        _write(json_summary, summary.json(), force)
    if not quiet:
        say(f"{files}\n\n{summary.text()}")


def _check_targets(
    output: str, summary: str | None, save: str | None, sources: list[str], output_format: str | None, force: bool
) -> None:
    """Refuse what cannot end well before anything is read."""
    from isotherm.io import check_output
    from isotherm.io.models import check_model
    from isotherm.io.output import check_target

    with speaking(OF_OUTPUT):
        check_output(output, force=force, format=output_format)
        if summary is not None:
            check_target(summary, force=force)
        if save is not None:
            check_model(save, force=force)
    targets = {"--output": output, "--json-summary": summary, "--save": save}
    given = [(name, target) for name, target in targets.items() if target is not None]
    for (one, target), (other, same) in combinations(given, 2):
        if same_file(target, same):
            both = "standard output" if target == "-" else same
            raise UsageError(f"{one} and {other} are both {both}: give one of them another name")
    for _, target in given:
        check_apart(target, sources)


def _write(path: str, content: bytes, force: bool) -> None:
    from isotherm.io.output import writing

    with speaking(OF_OUTPUT), writing(path, force=force) as file:
        file.write(content)
