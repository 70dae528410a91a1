"""``isotherm evaluate``: how well labels are found again."""

from typing import Annotated, Literal

from cyclopts import Group
from cyclopts.validators import Number

from isotherm.cli.options import (
    AS_FOUND,
    BY_DEFAULT,
    OUTPUT,
    VARIABLES,
    Columns,
    Edges,
    Force,
    Labels,
    Quiet,
    Solving,
    option,
)
from isotherm.cli.reading import read_files
from isotherm.cli.signals import nothing_at_stake
from isotherm.cli.stages import Stages
from isotherm.cli.wording import LABELS, say, speaking

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm evaluate edges.csv labels.csv --fraction 0.4 --policy balanced
  isotherm evaluate edges.csv labels.csv --fraction 0.7 --per-class --confusion
  isotherm evaluate edges.csv labels.csv --fraction 0.7 --plot rules.png
"""
HIDING = Group("Hiding labels", sort_key=1)


def evaluate(
    edges: Edges,
    labels: Labels,
    /,
    *,
    fraction: Annotated[
        float, option("Share of the labels that is shown.", "X", validator=Number(gt=0, lt=1), group=HIDING)
    ] = 0.01,
    policy: Annotated[
        Literal["uniform", "degree", "balanced"], option("How these are drawn.", "NAME", group=HIDING)
    ] = "uniform",
    runs: Annotated[int, option("How many draws.", "N", validator=Number(gte=1), group=HIDING)] = 10,
    random_state: Annotated[int, option("Fixes the draws.", "N", validator=Number(gte=0), group=HIDING)] = 0,
    per_class: Annotated[bool, option("Print the scores of each class, for the best rule.", group=OUTPUT)] = False,
    confusion: Annotated[bool, option("Print the confusion matrix of the best rule.", group=OUTPUT)] = False,
    plot: Annotated[str | None, option("Draw scores and confidence: .png, .pdf or .svg.", "FILE", group=OUTPUT)] = None,
    force: Force = False,
    quiet: Quiet = False,
    solving: Solving = BY_DEFAULT,
    columns: Columns = AS_FOUND,
) -> None:
    """Hide labels that are known, find them again, and score every rule.

    All rules are scored from the same temperatures, on the nodes whose label
    was hidden: mean and standard deviation over the draws. The rule auto is the
    one that seeds, held out, speak for; ECE, the expected calibration error, is
    how far confidence and accuracy are apart.
    """
    stages = Stages(quiet=quiet)
    with nothing_at_stake():
        if plot is not None:
            from isotherm.cli.picture import check_picture

            check_picture(plot, force=force)
        files = read_files(edges, labels, columns, stages, missing=True)
        from isotherm.evaluation import evaluate as evaluated
        from isotherm.rules import RULES

        with stages.stage("solving") as bar, speaking(LABELS, labels):
            found = evaluated(
                files.graph,
                files.known,
                fraction=fraction,
                policy=policy,
                runs=runs,
                random_state=random_state,
                progress=bar.amount,
                rules=RULES if solving.no_confidence else (*RULES, "auto"),
                **solving.of_classifier,
            )
    if plot is not None:
        from isotherm.cli.picture import draw_rules

        draw_rules(found, plot, force=force)
    if not quiet:
        say(f"{files}\n{f'The picture is in {plot}' if plot else ''}")
    from isotherm.cli import scores

    print(scores.heading(found, policy), scores.of_rules(found), sep="\n\n")
    if per_class:
        print(f"\nRule {found.best}, all runs:\n\n{scores.of_classes(found)}")
    if confusion:
        print(f"\nRule {found.best}, all runs, true classes in rows:\n\n{scores.confusion(found)}")
