"""``isotherm pack``: files of edges to a graph that is mapped into memory."""

from typing import Annotated

from isotherm.cli.inputs.reading import check_apart
from isotherm.cli.options import OUTPUT, VARIABLES, EdgeReading, Force, Quiet
from isotherm.cli.parameters import in_bytes, option, positional
from isotherm.cli.terminal.panics import hidden_panics
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.wording import UsageError, say, usage_errors

__all__ = ["EXAMPLES", "USAGE", "pack"]

USAGE = "isotherm pack [OPTIONS] EDGES... --output GRAPH.iso"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm pack edges.csv -o graph.iso
  isotherm pack edges.csv -o small.iso --simple --max-memory 500MB
  isotherm classify graph.iso seeds.csv -o labels.csv
"""


def pack(
    *edges: Annotated[str, positional("Files of edges, or folders of such files; all are one graph.")],
    output: Annotated[
        str, option("Folder for the graph, such as graph.iso.", "FOLDER", name=("--output", "-o"), group=OUTPUT)
    ],
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
    check_apart(output, edges)
    stages = Stages(quiet=quiet)
    with stages.stage("packing") as bar, usage_errors(), hidden_panics():
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
    if not quiet:
        kinds = f"{'directed, ' * graph.directed}{'weighted' if graph.weighted else 'unweighted'}"
        counts = f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {kinds}"
        say(f"{output}: {counts}, packed in {stages.seconds['total']:.1f} s")
