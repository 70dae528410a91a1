"""``isotherm suggest``: which nodes to label next."""

from typing import Annotated, Any

from isotherm.choices import SuggestPolicy
from isotherm.cli.inputs import inputs_of, read_unseeded, split_arguments
from isotherm.cli.options import (
    OUTPUT,
    UNSEEDED,
    VARIABLES,
    Fitting,
    Output,
    Quiet,
    Strict,
    TableFormat,
    changed_options,
    leave_out,
    number_option,
    option,
    positional,
)
from isotherm.cli.outputs import check_table, write_columns
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, usage_errors
from isotherm.errors import Option

USAGE = "isotherm suggest [OPTIONS] EDGES [SEEDS]\n       isotherm suggest [OPTIONS] MODEL"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm suggest edges.csv seeds.csv
  isotherm suggest edges.csv -n 20 -o sheet.csv
  isotherm suggest edges.csv seeds.csv -n 100 -o todo.csv
  isotherm suggest edges.csv seeds.csv --class tea
  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm suggest model.npz --strategy margin
"""
SPELLINGS = {Option("label"): "--class", Option("policy"): "--strategy"}


def suggest(
    *names: Annotated[
        str, positional("A graph and its known labels, if there are any; or a saved MODEL of classify --save.")
    ],
    number: Annotated[int, number_option("How many nodes.")] = 10,
    strategy: Annotated[
        SuggestPolicy | None, option("What makes a node worth labelling, by default diverse", "NAME", group=OUTPUT)
    ] = None,
    label: Annotated[
        str | None,
        option("List the most probable members of a class: --strategy likely.", "LABEL", name="--class", group=OUTPUT),
    ] = None,
    output: Output = "-",
    table: TableFormat = TableFormat(),  # noqa: B008 - frozen
    quiet: Quiet = False,
    strict: Strict = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Say which nodes are most worth labelling next.

    The table has one row for each node, the best first: the node, an empty label
    to fill in, the present guess with its confidence (empty and 0 if it is
    unreached), and the value of knowing the true label. Node and label have the
    names that they have in the seeds file; filled in, the table can be given
    to isotherm update, or to classify with --more-seeds. Without seeds, the table
    lists the nodes to begin with; filled in, it is a seeds file.
    """
    with Job(quiet=quiet, strict=strict) as job:
        source = split_arguments("suggest", names)
        if source.seedless and fitting.reading.label is not None:
            source, fitting = source.with_labels_inside("suggest", fitting)
        check_table(output, [*source.files, *inputs_of(fitting)], table)
        policy = strategy or ("diverse" if label is None else "likely")
        if source.seedless:
            if label is not None:
                raise UsageError("--class needs seeds that show what the class is: name their file after the edges")
            sheet, layouts = _first_sheet(source.files[0], fitting, job, number, policy)
        else:
            clf, layouts = source.fitted(fitting, job)
            with job.stage("suggesting"), usage_errors(SPELLINGS):
                from isotherm.cli.reports.explanations import sheet_columns
                from isotherm.io import labels_like

                wanted = None if label is None else labels_like({0: label}, clf.classes_.tolist())[0]
                nodes, values = clf.suggest(number, policy=policy, label=wanted, return_values=True)
                sheet = sheet_columns(nodes, values, clf)
        job.say("\n".join(filter(None, [layouts, write_columns(output, sheet, table)])))


def _first_sheet(
    edges: str, fitting: Fitting, job: Job, number: int, policy: SuggestPolicy
) -> tuple[dict[str, list[Any]], str]:
    """The sheet for a graph without seeds, and how the graph was read."""
    if fitting.reading.more_seeds:
        raise UsageError(f"--more-seeds adds to a file of seeds: name that file after {edges}")
    if fitting.table.features is not None:
        raise UsageError("without seeds, suggestions go by links alone: leave out --features")
    for name in changed_options(fitting, allowed=(*UNSEEDED, "threads")):
        raise UsageError(f"without seeds nothing is fitted: {leave_out(name)}, or name a file of seeds after {edges}")
    graph, layout, _ = read_unseeded(edges, fitting, job)
    with job.stage("suggesting"), usage_errors(SPELLINGS):
        from isotherm.cli.reports.explanations import sheet_columns
        from isotherm.insight.suggestion import suggest as suggest_first

        threads = fitting.solving.threads
        nodes, values = suggest_first(graph, number, policy=policy, return_values=True, n_threads=threads)
    return sheet_columns(nodes, values, None), f"{layout}\nno seeds: these nodes are the best to begin with"
