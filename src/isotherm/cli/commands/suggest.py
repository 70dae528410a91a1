"""``isotherm suggest``: which nodes to label next."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from isotherm.cli.inputs.fitting import Source, split_arguments
from isotherm.cli.inputs.reading import labels_inside, read_unseeded
from isotherm.cli.options import OUTPUT, VARIABLES, Fitting, Force, Output, OutputFormat, Quiet, SafeCells, Strict
from isotherm.cli.parameters import at_least, option, positional
from isotherm.cli.terminal import wording
from isotherm.cli.terminal.signals import exit_at_once
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.tables import counted
from isotherm.cli.terminal.wording import UsageError, collected_warnings, refuse_warnings, say, usage_errors
from isotherm.errors import Option

__all__ = ["EXAMPLES", "USAGE", "suggest"]

USAGE = "isotherm suggest [OPTIONS] EDGES [SEEDS]\n       isotherm suggest [OPTIONS] MODEL"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm suggest edges.csv seeds.csv
  isotherm suggest edges.csv -n 20 -o sheet.csv
  isotherm suggest edges.csv seeds.csv -n 100 -o todo.csv
  isotherm suggest edges.csv seeds.csv --class tea
  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm suggest model.npz --policy margin
"""


def suggest(
    *names: Annotated[
        str, positional("A graph and its known labels, if there are any; or a saved MODEL of classify --save.")
    ],
    number: Annotated[
        int, option("How many nodes.", "N", name=("--number", "-n"), validator=at_least(1), group=OUTPUT)
    ] = 10,
    policy: Annotated[
        Literal["diverse", "uncertainty", "margin", "likely"] | None,
        option("What makes a node worth labelling, by default diverse", "NAME", group=OUTPUT),
    ] = None,
    label: Annotated[
        str | None,
        option("List the most probable members of a class: --policy likely.", "LABEL", name="--class", group=OUTPUT),
    ] = None,
    output: Output = "-",
    output_format: OutputFormat = None,
    force: Force = False,
    safe_cells: SafeCells = False,
    quiet: Quiet = False,
    strict: Strict = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Say which nodes are most worth labelling next.

    The table has one row for each node, the best first: the node, an empty label
    to fill in, the present guess with its confidence (empty and 0 if it is
    unreached), and the value of knowing the true label. Node and label have the
    names that they have in the file of seeds; filled in, the table can be given
    to isotherm update, or to classify with --seeds. Without seeds, it lists the
    nodes to begin with; filled in, the table is a file of seeds.
    """
    stages = Stages(quiet=quiet)
    with collected_warnings(quiet) as warned, exit_at_once():
        source = split_arguments("suggest", names, seedless=True)
        if source.rest:
            raise UsageError(
                f"isotherm suggest takes EDGES and perhaps SEEDS, or MODEL, and no {source.rest[0]!r}: leave it out"
            )
        if source.seedless and fitting.reading.label is not None:
            seeds, reading = labels_inside(source.files[0], None, fitting.reading, usage=("suggest", "SEEDS"))
            source, fitting = Source([*source.files, seeds], []), replace(fitting, reading=reading)
        source.check_output(output, output_format, force, (*fitting.reading.seeds, *fitting.reading.edges))
        policy = policy or ("diverse" if label is None else "likely")
        if source.seedless:
            if label is not None:
                raise UsageError("--class needs seeds that show what the class is: name their file after the edges")
            table, layouts = _first_sheet(source.files[0], stages, fitting, number, policy)
        else:
            clf, layouts = source.fitted(stages, fitting)
            with stages.stage("suggesting"), usage_errors({Option("label"): "--class"}):
                from isotherm.cli.reports.sheets import sheet
                from isotherm.io import labels_like

                wanted = None if label is None else labels_like({0: label}, clf.classes_.tolist())[0]
                nodes, values = clf.suggest(number, policy=policy, label=wanted, return_values=True)
                table = sheet(nodes, values, clf)
    from isotherm.io import write_table

    with usage_errors(wording.OUTPUT):
        rows = write_table(output, table, format=output_format, force=force, safe_cells=safe_cells)
    if not quiet:
        where = "standard output" if output == "-" else output
        say("\n".join(filter(None, [layouts, f"{counted(rows, 'row')} to {where}"])))
    if strict:
        refuse_warnings(warned, quiet=quiet)


def _first_sheet(
    edges: str, stages: Stages, fitting: Fitting, number: int, policy: str
) -> tuple[dict[str, list[Any]], str]:
    """The sheet for a graph without seeds, and how the graph was read."""
    if fitting.reading.seeds:
        raise UsageError(f"--seeds adds to a file of seeds: name that file after {edges}")
    if fitting.table.features is not None:
        raise UsageError("without seeds, suggestions go by links alone: leave out --features")
    graph, layout = read_unseeded(edges, stages, fitting)
    with stages.stage("suggesting"), usage_errors():
        from isotherm.cli.reports.sheets import sheet
        from isotherm.insight.suggestion import suggest as suggest_first

        nodes, values = suggest_first(
            graph, number, policy=policy, return_values=True, n_threads=fitting.solving.threads
        )
    return sheet(nodes, values, None), f"{layout}\nno seeds: these nodes are the best to begin with"
