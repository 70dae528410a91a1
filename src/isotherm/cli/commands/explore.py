"""``isotherm explore``: look at a graph in the browser, and label it."""

import os
from typing import Annotated

from isotherm.cli.inputs.reading import read_seeded
from isotherm.cli.options import OUTPUT, VARIABLES, Edges, Fitting, Quiet
from isotherm.cli.parameters import at_least, class_weights, option, positional
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.wording import UsageError, collected_warnings, say, usage_errors

__all__ = ["EXAMPLES", "USAGE", "explore"]

USAGE = "isotherm explore [OPTIONS] EDGES [SEEDS]"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm explore edges.csv
  isotherm explore edges.csv seeds.csv
  isotherm explore edges.csv seeds.csv --log monday.log --no-browser
"""


def explore(
    edges: Edges,
    seeds: Annotated[str | None, positional("Known labels, if there are any: a table of nodes and labels.")] = None,
    /,
    *,
    log: Annotated[
        str | None,
        option("File that keeps each label given; by default beside the seeds, or the edges.", "FILE", group=OUTPUT),
    ] = None,
    port: Annotated[
        int, option("Port on this machine; by default a free one.", "N", group=OUTPUT, validator=at_least(0))
    ] = 0,
    no_browser: Annotated[bool, option("Only print the address, and open no browser.", group=OUTPUT)] = False,
    quiet: Quiet = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Look at a graph in the browser, label its nodes, and watch the heat change.

    The page runs on this machine only, and contacts no other. Each label is
    kept in a log at once; with the same log, the page is where it was.
    """
    stages = Stages(quiet=quiet)
    if fitting.table.features is not None:
        raise UsageError("the page goes by links alone: leave out --features")
    with collected_warnings(quiet):
        graph, known, source = read_seeded(edges, seeds, stages, fitting)
    from isotherm.classifier import DirichletClassifier
    from isotherm.page.page_methods import PageOptions, open_page

    kept = log or _beside(edges if seeds is None else seeds)
    name = "standard input" if edges == "-" else os.path.basename(edges)
    if not quiet:
        say(f"{graph!r}")
    with usage_errors():
        weights = class_weights(fitting.class_weight, known.values())
        clf = DirichletClassifier(rule=fitting.rule, class_weight=weights, **fitting.solving.for_classifier())
        open_page(graph, known, clf, PageOptions(port=port, browser=not no_browser, log=kept, name=name, source=source))


def _beside(path: str) -> str:
    """Where labels are kept unless it is said."""
    return "isotherm-explore.log" if path == "-" else f"{path}.explore.log"
