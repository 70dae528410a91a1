"""``isotherm explain``: the seeds that heat a node."""

from typing import TYPE_CHECKING, Annotated

from isotherm.cli.inputs.fitting import split_arguments
from isotherm.cli.options import OUTPUT, VARIABLES, Fitting, Force, OutputFormat, Quiet, SafeCells, Strict
from isotherm.cli.parameters import at_least, option, positional
from isotherm.cli.terminal import wording
from isotherm.cli.terminal.signals import exit_at_once
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.tables import counted
from isotherm.cli.terminal.wording import UsageError, collected_warnings, refuse_warnings, say, usage_errors

if TYPE_CHECKING:
    from isotherm.insight.explanation import Explanation

__all__ = ["EXAMPLES", "USAGE", "explain"]

USAGE = "isotherm explain [OPTIONS] EDGES SEEDS NODES...\n       isotherm explain [OPTIONS] MODEL NODES..."
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm explain edges.csv seeds.csv bob
  isotherm explain edges.csv seeds.csv bob cat --top 5 --json
  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm explain model.npz dan eve -o shares.csv
"""
ROWS = 10  # seeds shown to people by default


def explain(
    *names: Annotated[
        str, positional("A graph and its known labels, or a saved MODEL of classify --save; then nodes.")
    ],
    top: Annotated[
        int | None,
        option(
            f"How many seeds; by default {ROWS}, or all with --json or --output.",
            "N",
            name=("--top", "-n"),
            validator=at_least(1),
            group=OUTPUT,
        ),
    ] = None,
    paths: Annotated[
        int, option("For how many of them the strongest path is shown.", "N", validator=at_least(0), group=OUTPUT)
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
    safe_cells: SafeCells = False,
    quiet: Quiet = False,
    strict: Strict = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Say why nodes have their labels: which seeds heat them.

    The share of a seed is the probability that a random walk from the node
    reaches this seed before any other. The shares of a class add up to its
    temperature. The path is the most probable one.
    """
    stages = Stages(quiet=quiet)
    with collected_warnings(quiet) as warned, exit_at_once():
        source = split_arguments("explain", names, "NODE")
        if output == "-" and json:
            raise UsageError("--output and --json are both for standard output: give one of them")
        if output is not None:
            source.check_output(output, output_format, force, (*fitting.reading.seeds, *fitting.reading.edges))
        clf, layouts = source.fitted(stages, fitting)
        from isotherm.cli.reports.accounts import accounts, found_nodes

        nodes = found_nodes(source.rest, clf.graph_)
        people = not json and output is None
        with stages.stage("explaining"):
            explained = clf.explain_many(nodes)
            shown = explained if people or json else []
            found = accounts(clf, shown, top=ROWS if people and top is None else top, paths=paths)
    if layouts and not quiet:
        say(f"{layouts}\n")
    if output is not None:
        rows = _write(output, _columns(explained, top), output_format, force, safe_cells)
        if not quiet:
            say(f"{counted(rows, 'row')} to {'standard output' if output == '-' else output}")
    if json:
        from json import dumps

        print(dumps([account.plain() for account in found], indent=2, ensure_ascii=False))
    elif people:
        print("\n\n".join(account.text() for account in found))
    if strict:
        refuse_warnings(warned, quiet=quiet)


def _columns(explained: "list[Explanation]", top: int | None) -> dict[str, list[object]]:
    """One row for each node and each of its seeds."""
    from isotherm.cli.reports.accounts import joined

    columns: dict[str, list[object]] = {"node": [], "seed": [], "label": [], "share": []}
    for each in explained:
        columns["node"] += [each.node] * len(each.seed[:top])
        columns["seed"] += each.seed[:top].tolist()
        columns["label"] += map(joined, each.label[:top].tolist())
        columns["share"] += each.share[:top].tolist()
    return columns


def _write(
    output: str, columns: dict[str, list[object]], output_format: str | None, force: bool, safe_cells: bool
) -> int:
    from isotherm.io import write_table

    with usage_errors(wording.OUTPUT):
        return write_table(output, columns, format=output_format, force=force, safe_cells=safe_cells)
