"""``isotherm plot``: the map of a graph as a picture, or as a page in one file."""

from typing import Annotated

from isotherm.cli.inputs.fitting import fit_files
from isotherm.cli.options import OUTPUT, VARIABLES, Edges, Fitting, Force, Labels, Quiet
from isotherm.cli.parameters import option
from isotherm.cli.terminal.signals import exit_at_once
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.wording import collected_warnings, say, usage_errors

__all__ = ["EXAMPLES", "plot"]

EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm plot edges.csv seeds.csv -o map.png
  isotherm plot edges.csv seeds.csv -o map.html
"""


def plot(
    edges: Edges,
    seeds: Labels,
    /,
    *,
    output: Annotated[
        str, option("File for the map: .png, .svg, .pdf or .html.", "FILE", name=("--output", "-o"), group=OUTPUT)
    ],
    title: Annotated[str, option("Text above the map; by default the name of the edges.", "TEXT", group=OUTPUT)] = "",
    force: Force = False,
    quiet: Quiet = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Draw the map of a graph: hue is the label, strength of colour the confidence.

    Neighbours are near each other on the map. Seeds have rings. An .html file
    holds everything it needs, and can be panned, zoomed and searched.
    """
    stages = Stages(quiet=quiet)
    with collected_warnings(quiet), exit_at_once():
        from isotherm.cli.inputs.reading import check_apart
        from isotherm.page.picture import check_picture

        check_apart(output, [edges, seeds, *fitting.reading.seeds, *fitting.reading.edges])
        with usage_errors():
            check_picture(output, force=force)
        clf, files = fit_files([edges, seeds], fitting, stages)
        with stages.stage("placing"):
            files.graph.layout()
    with stages.stage("drawing"), usage_errors():
        clf.plot(output, title=title or edges, force=force)
    if not quiet:
        say(f"{files}\nthe map of {files.graph.n_nodes:,} nodes to {output}")
