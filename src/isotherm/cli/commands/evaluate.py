"""``isotherm evaluate``: how well hidden labels are found again."""

from typing import Annotated

from isotherm.choices import DrawPolicy
from isotherm.cli.inputs import connect_to_cluster, inputs_of, known_besides, labels_inside, read_files
from isotherm.cli.options import (
    HIDING,
    OUTPUT,
    VARIABLES,
    Edges,
    FeatureOptions,
    Fitting,
    Fraction,
    IgnoreMissing,
    LabelsOrInside,
    Quiet,
    RandomState,
    Reading,
    Rule,
    Runs,
    ScoreOutput,
    Solving,
    Strict,
    leave_out,
    option,
)
from isotherm.cli.outputs import check_scores, write_scores
from isotherm.cli.reports.picture import draw_evaluation
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import LABELS, UsageError, option_name, usage_errors

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
    results: ScoreOutput = ScoreOutput(),  # noqa: B008 - frozen
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
        fitting = Fitting(
            solving=solving, ignore_missing_seeds=ignore_missing_seeds, reading=reading, table=table.beside_links()
        )
        check_scores(results, [edges, labels, *inputs_of(fitting)])
        for name, given in {"per_class": per_class, "confusion": confusion}.items():
            if given and results.fills_stdout:
                raise UsageError(f"{option_name(name)} is for the text on standard output: {leave_out(name)}")
        rules = _rules(rule, solving)
        files = read_files(edges, labels, fitting, job, rules=rules)
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
                **solving.for_temperatures(),
            )
        text = found.text(per_class=per_class, confusion_matrix=confusion)
        write_scores(found, draw_evaluation, results, job, layouts=str(files), text=text)


def _rules(wanted: tuple[str, ...], solving: Solving) -> tuple[str, ...]:
    """The rules to score; decisions on probabilities need confidence."""
    from isotherm.labelling.rules import RULES
    from isotherm.node_classifier import RULE_NAMES

    usual = tuple(RULES) if solving.no_confidence else RULE_NAMES
    for name in wanted:
        if name not in usual:
            raise UsageError(f"--no-confidence and --rule {name} contradict each other: give one of them")
    rules = tuple(dict.fromkeys(wanted)) or usual
    if solving.stop == "labels" and len(rules) > 1:
        raise UsageError(
            "--stop labels stops when the labels of one rule are certain: name it, such as --rule centered"
        )
    return rules
