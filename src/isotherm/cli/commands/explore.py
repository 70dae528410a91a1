"""``isotherm explore``: look at a graph in the browser, and label it."""

import os
from typing import Annotated

from isotherm.cli.inputs import classifier_of, connect_to_cluster, contents_of, known_besides, read_files, read_unseeded
from isotherm.cli.options import (
    OUTPUT,
    UNSEEDED,
    VARIABLES,
    Edges,
    Fitting,
    Quiet,
    Solving,
    at_least,
    changed_options,
    leave_out,
    names_of,
    option,
    positional,
)
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, option_name, usage_errors
from isotherm.cli.terminal.process import exit_cleanly

USAGE = "isotherm explore [OPTIONS] EDGES [SEEDS]"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm explore edges.csv
  isotherm explore edges.csv seeds.csv
  isotherm explore edges.csv seeds.csv --log monday.log --no-browser
  isotherm explore papers.csv seeds.csv --text abstract --names title
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
    names: Annotated[
        str | None,
        option("Column of names of nodes, in --features, --nodes or the table of --vectors.", "COLUMN", group=OUTPUT),
    ] = None,
    no_browser: Annotated[bool, option("Only print the address, and open no browser.", group=OUTPUT)] = False,
    quiet: Quiet = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Look at a graph in the browser, label its nodes, and watch the heat change.

    The page runs on this machine only, and contacts no other. Each label is
    kept in a log at once; with the same log, the page is where it was.
    """
    _check(fitting, seeds)
    with Job(quiet=quiet) as job:
        from isotherm.page.open_page import PageOptions, certain_seeds, open_page

        known, source = {}, None
        if seeds is None:
            unseeded = read_unseeded(edges, fitting, job)
            graph, features, besides = unseeded.graph, unseeded.features, known_besides(unseeded, fitting, job)
        else:
            files = read_files(edges, seeds, fitting, job)
            besides = known_besides(files, fitting, job)
            graph, features = files.graph, files.features
            name = "seeds.csv" if seeds == "-" else os.path.basename(seeds)
            source = name, files.seeds_layout
            with usage_errors(culprit="standard input" if seeds == "-" else seeds):
                known = certain_seeds(files.seeds, graph)
        contents = contents_of(graph, features, edges, fitting, names)
        beside = edges if seeds is None else seeds
        log = log or ("isotherm-explore.log" if beside == "-" else f"{beside}.explore.log")
        name = "standard input" if edges == "-" else os.path.basename(edges)
        job.say(f"{graph!r}")
        with exit_cleanly(), usage_errors():
            connect_to_cluster(fitting.solving)
            clf = classifier_of(fitting, known.values())
            options = PageOptions(
                port=port, browser=not no_browser, log=log, name=name, source=source, known=besides, contents=contents
            )
            open_page(graph, known, clf, options)


def _check(fitting: Fitting, seeds: str | None) -> None:
    """Refuse options that the page has no use for."""
    if fitting.evidence != "auto":
        raise UsageError(f"the page chooses by itself whether structure counts: {leave_out('evidence')}")
    if seeds is None:
        for name in changed_options(fitting, allowed=(*UNSEEDED, *names_of(Solving), "rule", "edge_kind")):
            raise UsageError(
                f"{option_name(name)} is about seeds: name their file after the edges, or {leave_out(name)}"
            )
