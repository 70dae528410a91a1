"""``isotherm evaluate``: how well labels are found again."""

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group
from cyclopts.validators import Number

from isotherm.cli.classify import read_input
from isotherm.cli.options import AS_FOUND, BY_DEFAULT, OUTPUT, Columns, Edges, Labels, Quiet, Solving, option
from isotherm.cli.stages import Stages
from isotherm.cli.status import naming, say

if TYPE_CHECKING:
    from isotherm.evaluation import Evaluation

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = """Examples:

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
        float, option("Share of the labels that is shown.", "FRACTION", validator=Number(gt=0, lt=1), group=HIDING)
    ] = 0.01,
    policy: Annotated[
        Literal["uniform", "degree", "balanced"], option("How these are drawn.", "POLICY", group=HIDING)
    ] = "uniform",
    runs: Annotated[int, option("How many draws.", "RUNS", validator=Number(gte=1), group=HIDING)] = 10,
    random_state: Annotated[int, option("Fixes the draws.", "RANDOM_STATE", group=HIDING)] = 0,
    per_class: Annotated[bool, option("Print the scores of each class, for the best rule.", group=OUTPUT)] = False,
    confusion: Annotated[bool, option("Print the confusion matrix of the best rule.", group=OUTPUT)] = False,
    plot: Annotated[str | None, option("Draw the scores into a file.", group=OUTPUT, metavar="FILE")] = None,
    force: Annotated[bool, option("Replace the picture if it exists.", "FORCE", group=OUTPUT)] = False,
    quiet: Quiet = False,
    solving: Solving = BY_DEFAULT,
    columns: Columns = AS_FOUND,
) -> None:
    """Hide labels that are known, find them again, and score every rule.

    All rules are scored from the same temperatures, on the nodes whose label
    was hidden: mean and standard deviation over the draws.
    """
    if plot is not None:
        from isotherm.cli.picture import check_picture

        check_picture(plot, force=force)
    stages = Stages(quiet=quiet)
    graph, known, layouts = read_input(edges, labels, columns, stages, missing=True)
    if not quiet:
        for name, layout in layouts.items():
            say(f"{name}: {layout}")
    from isotherm.evaluation import evaluate as evaluated

    with stages.stage("solving") as bar, naming(labels):
        found = evaluated(
            graph,
            known,
            fraction=fraction,
            policy=policy,
            runs=runs,
            random_state=random_state,
            progress=bar.amount,
            **solving.of_classifier,
        )
    print(_heading(found, policy), _rules(found), sep="\n\n")
    if per_class:
        print(f"\nrule {found.best}, all runs:\n\n{_classes(found)}")
    if confusion:
        print(f"\nrule {found.best}, all runs, true classes in rows:\n\n{_confusion(found)}")
    if plot is not None:
        from isotherm.cli.picture import draw_rules

        draw_rules(found, plot)
        say(f"The picture is in {plot}")


def _heading(found: "Evaluation", policy: str) -> str:
    runs = len(found.seeds)
    return (
        f"{found.seeds.mean():,.0f} seeds ({policy}), {found.hidden.mean():,.0f} hidden labels "
        f"({found.unreached.mean():,.0f} unreached), {len(found.classes)} classes, {runs} run{'s' * (runs > 1)}"
    )


def _rules(found: "Evaluation") -> str:
    """Mean and standard deviation of the scores of each rule."""
    from isotherm.cli.summary import aligned

    rows = [["rule", "macro-F1", "", "micro-F1", "", "accuracy", ""]]
    for rule, scores in found.rules.items():
        row = [rule]
        for values in (scores.macro_f1, scores.micro_f1, scores.accuracy):
            row += [f"{values.mean():.4f}", f"\N{PLUS-MINUS SIGN} {values.std():.4f}"]
        rows.append(row)
    return aligned(rows, left=(0,))


def _classes(found: "Evaluation") -> str:
    from isotherm.cli.summary import aligned
    from isotherm.evaluation import class_scores

    confusion = found.rules[found.best].confusion
    nodes = confusion.sum(axis=1)
    rows = [["class", "nodes", "precision", "recall", "F1"]]
    for label, count, scores in zip(found.classes.tolist(), nodes, class_scores(confusion), strict=True):
        rows.append([str(label), f"{count:,}", *(f"{score:.3f}" for score in scores)])
    return aligned(rows, left=(0,))


def _confusion(found: "Evaluation") -> str:
    from isotherm.cli.summary import aligned

    names = [str(label) for label in found.classes.tolist()]
    counts = found.rules[found.best].confusion.toarray()  # (K, K + 1)
    rows = [["", *names, "unreached"]]
    rows += [[name, *map(str, row)] for name, row in zip(names, counts.tolist(), strict=True)]
    return aligned(rows, left=(0,))
