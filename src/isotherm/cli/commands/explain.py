"""``isotherm explain``: the seeds that heat a node."""

from typing import Annotated

from isotherm.cli.inputs import inputs_of, split_arguments
from isotherm.cli.options import (
    OUTPUT,
    VARIABLES,
    Fitting,
    Json,
    Quiet,
    Strict,
    TableFormat,
    at_least,
    leave_out,
    number_option,
    option,
    output_option,
    positional,
)
from isotherm.cli.outputs import check_report, write_columns
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError

USAGE = "isotherm explain [OPTIONS] EDGES SEEDS NODES...\n       isotherm explain [OPTIONS] MODEL NODES..."
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm explain edges.csv seeds.csv bob
  isotherm explain edges.csv seeds.csv bob cat -n 5 --json
  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm explain model.npz dan eve -o shares.csv
"""
SEEDS, PATHS = 10, 3  # what people see by default
PATHS_SHOWN = f"For how many of them the strongest path is shown; by default {PATHS}."


def explain(
    *names: Annotated[
        str, positional("A graph and its known labels, or a saved MODEL of classify --save; then nodes.")
    ],
    number: Annotated[
        int | None, number_option(f"How many seeds; by default {SEEDS}, or all with --json or --output.")
    ] = None,
    paths: Annotated[int | None, option(PATHS_SHOWN, "N", validator=at_least(0), group=OUTPUT)] = None,
    json: Json = False,
    output: Annotated[str | None, output_option("Write a table: node, seed, label, share.")] = None,
    table: TableFormat = TableFormat(),  # noqa: B008 - frozen
    quiet: Quiet = False,
    strict: Strict = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Say why nodes have their labels: which seeds heat them.

    The share of a seed is the probability that a random walk from the node
    reaches this seed before any other. The shares of a class add up to its
    temperature. The path is the most probable one.
    """
    with Job(quiet=quiet, strict=strict) as job:
        source = split_arguments("explain", names, "NODE")
        check_report(output, [*source.files, *inputs_of(fitting)], table, json=json)
        if paths is not None and output is not None and not json:
            raise UsageError(f"--paths is not for the table of --output: {leave_out('paths')}, or add --json")
        clf, layouts = source.fitted(fitting, job, later=("threads", "no_confidence"))
        from isotherm.cli.reports.explanations import explained_nodes, matching_nodes, share_columns

        nodes = matching_nodes(source.rest, clf.graph_)
        for_people = not json and output is None
        with job.stage("explaining"):
            explanations = clf.explain_many(nodes)
            reports = explained_nodes(
                clf,
                explanations if for_people or json else [],
                top=SEEDS if for_people and number is None else number,
                paths=PATHS if paths is None else paths,
                confidence=not fitting.solving.no_confidence,
            )
        if layouts:
            job.say(f"{layouts}\n")
        if output is not None:
            job.say(write_columns(output, share_columns(explanations, number), table))
        if json:
            from json import dumps

            print(dumps([report.plain() for report in reports], indent=2, ensure_ascii=False))
        elif for_people:
            print("\n\n".join(report.text() for report in reports))
