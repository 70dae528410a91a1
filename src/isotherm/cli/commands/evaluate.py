"""``isotherm evaluate``: how well hidden labels are found again."""

from typing import Annotated

from isotherm.choices import DrawPolicy
from isotherm.cli.inputs import connect_to_cluster, known_besides, labels_inside, read_files
from isotherm.cli.options import (
    HIDING,
    OUTPUT,
    VARIABLES,
    Edges,
    FeatureOptions,
    Fitting,
    Force,
    Fraction,
    IgnoreMissing,
    LabelsOrInside,
    Latex,
    OutputFormat,
    Quiet,
    RandomState,
    Reading,
    Rule,
    Runs,
    Solving,
    Strict,
    TableFormat,
    leave_out,
    option,
    output_option,
)
from isotherm.cli.outputs import check_targets, write_columns
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import LABELS, UsageError, option_name, usage_errors
from isotherm.cli.terminal.process import exit_cleanly

USAGE = "isotherm evaluate [OPTIONS] EDGES [LABELS]"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm evaluate edges.csv labels.csv --fraction 0.4 --policy balanced
  isotherm evaluate edges.csv labels.csv --fraction 0.7 --per-class --confusion
  isotherm evaluate edges.csv labels.csv --fraction 0.7 --plot rules.png
  isotherm evaluate edges.csv labels.csv --fraction 0.7 --rule balanced --json
"""


def evaluate(
    edges: Edges,
    labels: LabelsOrInside = None,
    /,
    *,
    fraction: Fraction = 0.01,
    policy: Annotated[DrawPolicy, option("How the shown labels are drawn.", "NAME", group=HIDING)] = "uniform",
    runs: Runs = 10,
    random_state: RandomState = 0,
    rule: Annotated[tuple[Rule, ...], option("A rule to score; may be repeated; by default all.", "NAME")] = (),
    per_class: Annotated[bool, option("Print the scores of each class, for the best rule.", group=OUTPUT)] = False,
    confusion: Annotated[bool, option("Print the confusion matrix of the best rule.", group=OUTPUT)] = False,
    json: Annotated[bool, option("Print JSON, with the scores of each draw.", group=OUTPUT)] = False,
    latex: Latex = False,
    output: Annotated[str | None, output_option("Write a table with a row for each rule and draw.")] = None,
    output_format: OutputFormat = None,
    plot: Annotated[str | None, option("Draw scores and confidence: .png, .pdf or .svg.", "FILE", group=OUTPUT)] = None,
    force: Force = False,
    quiet: Quiet = False,
    strict: Strict = False,
    ignore_missing_seeds: IgnoreMissing = False,
    table: FeatureOptions = FeatureOptions(),  # noqa: B008 - frozen
    solving: Solving = Solving(),  # noqa: B008 - frozen
    reading: Reading = Reading(),  # noqa: B008 - frozen
) -> None:
    """Hide known labels, find them again, and score every rule.

    All rules see the same seeds and are scored on the nodes whose label was
    hidden: mean and standard deviation over the draws. By default 1% of the
    labels is shown, as in the paper. Balanced and probable decide by
    probabilities, the others by temperatures alone. ECE, the expected
    calibration error, is the mean gap between confidence and accuracy.
    """
    with Job(quiet=quiet, strict=strict) as job:
        labels, reading = labels_inside(edges, labels, reading, usage=("evaluate", "LABELS"))
        if sum((json, latex, output == "-")) > 1:
            raise UsageError("--json, --latex and --output - are all for standard output: give one of them")
        if output is None and output_format is not None:
            raise UsageError(
                f"--output-format is for a table: name its file with --output, or {leave_out('output_format')}"
            )
        for name, given in {"per_class": per_class, "confusion": confusion}.items():
            if given and (json or latex or output == "-"):
                raise UsageError(f"{option_name(name)} is for the text on standard output: {leave_out(name)}")
        sources = [edges, labels, *reading.more_seeds, *reading.more_edges, *table.inputs]
        check_targets(output, plot, sources, force=force, output_format=output_format)
        rules = _rules(rule, solving)
        fitting = Fitting(
            solving=solving, ignore_missing_seeds=ignore_missing_seeds, reading=reading, table=table.beside_links()
        )
        files = read_files(edges, labels, fitting, job)
        features = known_besides(files, fitting, job).get("features")
        connect_to_cluster(solving)
        from isotherm.study.evaluation import evaluate as evaluated

        with job.stage("solving") as bar, usage_errors(LABELS, labels):
            found = evaluated(
                files.graph,
                files.known,
                fraction=fraction,
                policy=policy,
                runs=runs,
                random_state=random_state,
                progress=bar.amount,
                rules=rules,
                features=features,
                **solving.for_classifier(),
            )
        if plot is not None:
            from isotherm.cli.reports.picture import draw_evaluation

            with exit_cleanly():
                draw_evaluation(found, plot, force=force)
        if output is not None:
            write_columns(output, found.table.columns(), TableFormat(output_format, force))
        written = [f"The picture is in {plot}"] * bool(plot)
        written += [f"All draws are in {output}"] * bool(output and output != "-")
        job.say(str(files), *(written or [""]))
        if json:
            print(found.to_json())
        elif latex:
            print(found.to_latex())
        elif output != "-":
            print(found.text(per_class=per_class, confusion_matrix=confusion))


def _rules(wanted: tuple[str, ...], solving: Solving) -> tuple[str, ...]:
    """The rules to score; decisions on probabilities need confidence."""
    from isotherm.labelling.rules import RULES
    from isotherm.node_classifier import RULE_NAMES

    usual = tuple(RULES) if solving.no_confidence else RULE_NAMES
    for name in wanted:
        if name not in usual:
            raise UsageError(f"--no-confidence and --rule {name} contradict each other: give one of them")
    return tuple(dict.fromkeys(wanted)) or usual
