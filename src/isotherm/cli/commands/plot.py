"""``isotherm plot``: the map of a graph as a picture, or as a page in one file."""

from typing import Annotated

from isotherm.cli.inputs import contents_of, fit_files, inputs_of
from isotherm.cli.options import OUTPUT, VARIABLES, Edges, Fitting, Force, Labels, Quiet, option, output_option
from isotherm.cli.outputs import check_apart
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import usage_errors
from isotherm.cli.terminal.process import exit_cleanly

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
    output: Annotated[str, output_option("File for the map: .png, .svg, .pdf or .html.")],
    title: Annotated[str, option("Text above the map; by default the name of the edges.", "TEXT", group=OUTPUT)] = "",
    force: Force = False,
    quiet: Quiet = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Draw the map of a graph: hue is the label, strength of colour the confidence.

    Neighbours are near each other on the map. Seeds have rings. An .html file
    holds everything it needs, and can be panned, zoomed and searched; it shows
    what nodes hold in --features, --nodes or the table of --vectors.
    """
    with Job(quiet=quiet) as job:
        from isotherm.page.picture import check_picture, draw

        check_apart(output, [edges, seeds, *inputs_of(fitting)])
        with usage_errors():
            check_picture(output, force=force)
        clf, files = fit_files([edges, seeds], fitting, job)
        with job.stage("placing"):
            files.graph.layout()
        with exit_cleanly(), job.stage("drawing"), usage_errors():
            contents = contents_of(files.graph, files.features, edges, fitting)
            draw(clf, output, title=title or edges, force=force, contents=contents)
        job.say(f"{files}\nthe map of {files.graph.n_nodes:,} nodes to {output}")
