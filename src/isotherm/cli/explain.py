"""``isotherm explain``: the seeds that heat a node."""

from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from isotherm.explanation import Explanation

__all__ = ["EXAMPLES", "USAGE", "explain"]

USAGE = "isotherm explain [OPTIONS] EDGES SEEDS NODES...\n       isotherm explain [OPTIONS] MODEL NODES..."
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm explain edges.csv seeds.csv bob
  isotherm explain edges.csv seeds.csv bob cat --top 5 --json
  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm explain model.npz dan eve -o shares.csv
"""
ROWS = 10  # for people


def explain(
    *names: Annotated[
        str, positional("A graph and its known labels, or a saved MODEL of classify --save; then nodes.")
    ],
    top: Annotated[
        int | None,
        option(
            f"How many seeds; by default {ROWS} for people and all for machines.",
            "N",
            name=("--top", "-n"),
            validator=Number(gte=1),
            group=OUTPUT,
        ),
    ] = None,
    paths: Annotated[
        int, option("To how many of them the strongest path is shown.", "N", validator=Number(gte=0), group=OUTPUT)
    ] = 3,
    json: Annotated[bool, option("Print JSON, with all digits.", group=OUTPUT)] = False,
    output: Annotated[
        str | None,
        option(
            "Write a table: node, seed, label, share.",
            "FILE",
            name=("--output", "-o"),
            allow_leading_hyphen=True,
            group=OUTPUT,
        ),
    ] = None,
    output_format: OutputFormat = None,
    force: Force = False,
    quiet: Quiet = False,
    rule: Annotated[Rule, option("How temperatures become labels.", "NAME", group=SOLVING)] = "centered",
    solving: Solving = BY_DEFAULT,
    ignore_missing_seeds: Missing = False,
    columns: Columns = AS_FOUND,
    certainty: Certainty = CERTAIN,
) -> None:
    """Say why nodes have their labels: which seeds heat them.

    The share of a seed is the probability that a random walk from the node
    comes to this seed before all others. The shares of a class add up to its
    temperature. The path is the most probable one.
    """
    stages = Stages(quiet=quiet)
    with noted(quiet), nothing_at_stake():
        given = asked("explain", names, "NODE")
        if output == "-" and json:
            raise UsageError("--output and --json are both for standard output: give one of them")
        if output is not None:
            given.check_output(output, output_format, force)
        clf, told = given.fitted(
            stages, rule=rule, solving=solving, columns=columns, certainty=certainty, missing=ignore_missing_seeds
        )
        from isotherm.cli.shares import accounts, found_nodes

        nodes = found_nodes(given.rest, clf.graph_)
        people = not json and output is None
        with stages.stage("explaining"):
            explained = clf.explain_many(nodes)
            wanted = explained if people or json else []
            found = accounts(clf, wanted, top=ROWS if people and top is None else top, paths=paths)
    if told and not quiet:
        say(f"{told}\n")
    if output is not None:
        rows = _write(output, explained, top, output_format, force)
        if not quiet:
            say(f"{counted(rows, 'row')} to {'standard output' if output == '-' else output}")
    if json:
        from json import dumps

        print(dumps([account.plain() for account in found], indent=2, ensure_ascii=False))
    elif people:
        print("\n\n".join(account.text() for account in found))


def _write(output: str, explained: "list[Explanation]", top: int | None, output_format: str | None, force: bool) -> int:
    """One row for each node and each of its seeds."""
    from isotherm.cli.shares import joined
    from isotherm.io import write_table

    columns: dict[str, list[object]] = {"node": [], "seed": [], "label": [], "share": []}
    for each in explained:
        columns["node"] += [each.node] * len(each.seed[:top])
        columns["seed"] += each.seed[:top].tolist()
        columns["label"] += map(joined, each.label[:top].tolist())
        columns["share"] += each.share[:top].tolist()
    with speaking(OF_OUTPUT):
        return write_table(output, columns, format=output_format, force=force)
