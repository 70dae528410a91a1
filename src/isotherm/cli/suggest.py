"""``isotherm suggest``: which nodes to label next."""

from typing import Annotated, Literal

from cyclopts.validators import Number

from isotherm.cli.fitting import asked
from isotherm.cli.options import (
    AS_FOUND,
    BY_DEFAULT,
    CERTAIN,
    OUTPUT,
    SOLVING,
    VARIABLES,
    Certainty,
    Columns,
    Force,
    Missing,
    Output,
    OutputFormat,
    Quiet,
    Rule,
    Solving,
    option,
    positional,
)
from isotherm.cli.signals import nothing_at_stake
from isotherm.cli.stages import Stages
from isotherm.cli.tables import counted
from isotherm.cli.wording import OUTPUT as OF_OUTPUT
from isotherm.cli.wording import UsageError, noted, say, speaking

__all__ = ["EXAMPLES", "USAGE", "suggest"]

USAGE = "isotherm suggest [OPTIONS] EDGES SEEDS\n       isotherm suggest [OPTIONS] MODEL"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm suggest edges.csv seeds.csv
  isotherm suggest edges.csv seeds.csv -n 100 -o todo.csv
  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm suggest model.npz --policy margin
"""


def suggest(
    *names: Annotated[str, positional("A graph and its known labels, or a saved MODEL of classify --save.")],
    number: Annotated[
        int, option("How many nodes.", "N", name=("--number", "-n"), validator=Number(gte=1), group=OUTPUT)
    ] = 10,
    policy: Annotated[
        Literal["diverse", "uncertainty", "margin"],
        option("What makes a node worth labelling: see docs/labelling.md.", "NAME", group=OUTPUT),
    ] = "diverse",
    output: Output = "-",
    output_format: OutputFormat = None,
    force: Force = False,
    quiet: Quiet = False,
    rule: Annotated[Rule, option("How temperatures become labels.", "NAME", group=SOLVING)] = "centered",
    solving: Solving = BY_DEFAULT,
    ignore_missing_seeds: Missing = False,
    columns: Columns = AS_FOUND,
    certainty: Certainty = CERTAIN,
) -> None:
    """Say which nodes are most worth labelling next.

    The table has one row for each, the best first: node, label and confidence
    as they are now (empty and 0 if no seed reaches the node), and the value of
    knowing better.
    """
    stages = Stages(quiet=quiet)
    with noted(quiet), nothing_at_stake():
        given = asked("suggest", names)
        if given.rest:
            raise UsageError(f"isotherm suggest takes EDGES SEEDS, or MODEL, and no {given.rest[0]!r}: leave it out")
        given.check_output(output, output_format, force)
        clf, told = given.fitted(
            stages, rule=rule, solving=solving, columns=columns, certainty=certainty, missing=ignore_missing_seeds
        )
        with stages.stage("suggesting"):
            from isotherm.cli.shares import joined, labels_of

            nodes, values = clf.suggest(number, policy=policy, return_values=True)
            now = labels_of(clf, clf.graph_.index(nodes))
    table = {
        "node": nodes.tolist(),
        "label": [None if label in (None, []) else joined(label) for label, _ in now],
        "confidence": [min(each, default=0.0) if isinstance(each, list) else each for _, each in now],
        "value": values.tolist(),
    }
    from isotherm.io import write_table

    with speaking(OF_OUTPUT):
        rows = write_table(output, table, format=output_format, force=force)
    if not quiet:
        where = "standard output" if output == "-" else output
        say("\n".join(filter(None, [told, f"{counted(rows, 'row')} to {where}"])))
