"""``isotherm pack``: files of edges to a graph that is mapped into memory."""

from typing import Annotated

from isotherm.cli.options import (
    OUTPUT,
    VARIABLES,
    EdgeReading,
    Force,
    Quiet,
    in_bytes,
    option,
    output_option,
    positional,
)
from isotherm.cli.outputs import check_apart
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, usage_errors
from isotherm.cli.terminal.process import exit_cleanly, hidden_panics

USAGE = "isotherm pack [OPTIONS] EDGES... --output GRAPH.iso"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm pack edges.csv -o graph.iso
  isotherm pack edges.csv -o small.iso --simple --max-memory 500MB
  isotherm classify graph.iso seeds.csv -o labels.csv
"""


def pack(
    *edges: Annotated[str, positional("Files of edges, or folders of such files; all are one graph.")],
    output: Annotated[str, output_option("Folder for the graph, such as graph.iso.", "FOLDER")],
    simple: Annotated[bool, option("Count parallel edges once, and ignore all weights.", group=OUTPUT)] = False,
    max_memory: Annotated[
        str | None, option("Memory to use, such as 4GB; by default half of what is free.", "SIZE", group=OUTPUT)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    reading: EdgeReading = EdgeReading(),  # noqa: B008 - frozen
) -> None:
    """Write a graph that may be larger than memory.

    All commands take the folder in place of a file of edges: it is opened at
    once, mapped into memory instead of read, and shared by several processes.
    Edges are read twice from CSV, TSV, text, Parquet or Arrow, and sorted on
    disk. Nodes are in ascending order of their ids. The folder appears when it
    is complete.
    """
    if not edges:
        raise UsageError("isotherm pack needs files of edges; see isotherm pack --help")
    if simple and reading.weight is not None:
        raise UsageError(f"--simple and --weight {reading.weight} contradict each other: give one of them")
    check_apart(output, edges)
    with Job(quiet=quiet) as job:
        with exit_cleanly(), job.stage("packing") as bar, usage_errors(), hidden_panics():
            from isotherm.io import pack_edges

            graph = pack_edges(
                edges,
                output,
                **reading.for_edges(),
                simple=simple,
                max_memory=None if max_memory is None else in_bytes(max_memory),
                force=force,
                progress=bar.amount,
            )
        kinds = f"{'directed, ' * graph.directed}{'weighted' if graph.weighted else 'unweighted'}"
        counts = f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {kinds}"
        job.say(f"{output}: {counts}, packed in {job.seconds['total']:.1f} s")
