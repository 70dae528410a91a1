"""``isotherm update``: label again with the answers that people gave."""

from typing import Annotated

from isotherm.cli.inputs.fitting import load_model
from isotherm.cli.inputs.reading import read_answers
from isotherm.cli.options import OPTIONS, VARIABLES, LabelReading, Labels, Quiet, Results, Strict
from isotherm.cli.parameters import at_least, option, positional
from isotherm.cli.reports.results import calibrated, check_kept, check_results, write_results
from isotherm.cli.terminal.signals import exit_at_once
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.tables import counted
from isotherm.cli.terminal.wording import collected_warnings, refuse_warnings, say, usage_errors

__all__ = ["EXAMPLES", "update"]

EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm suggest model.npz -n 20 -o sheet.csv
  isotherm update model.npz answers.csv -o better.csv
  isotherm update model.npz answers.csv -o better.tsv --save newer.npz
"""


def update(
    model: Annotated[str, positional("A classifier that classify --save wrote.")],
    answers: Labels,
    /,
    *,
    results: Results = Results(),  # noqa: B008 - frozen
    ignore_missing_seeds: Annotated[bool, option("Ignore answers that are not in the graph.", group=OPTIONS)] = False,
    threads: Annotated[
        int | None, option("Number of threads; by default all cores.", "N", validator=at_least(1), group=OPTIONS)
    ] = None,
    quiet: Quiet = False,
    strict: Strict = False,
    reading: LabelReading = LabelReading(),  # noqa: B008 - frozen
) -> None:
    """Label the nodes again, with more seeds.

    The answers are a table of nodes and labels, such as a sheet of isotherm
    suggest that somebody filled in. They are added to the seeds of the model; a
    node that is a seed already takes its new label. Rows without a label are
    left out. The solve starts from the temperatures of the model, which is much
    faster than a new one. Graph, rule and other options are those of the model.
    """
    stages = Stages(quiet=quiet)
    with collected_warnings(quiet) as warned:
        with exit_at_once():
            check_results(results, [model, answers, *reading.seeds])
            clf = load_model(model, stages)
            clf.n_threads = threads or clf.n_threads
            names, missing = [answers, *reading.seeds], ignore_missing_seeds
            read = read_answers(names, clf, stages, model=model, reading=reading, ignore_missing=missing)
            with stages.stage("solving") as bar, usage_errors():
                clf.update(add=read.known, progress=None if clf.tol is None else bar.errors(clf.tol))
            check_kept(clf, results)
            calibration = calibrated(clf, stages)
        facts = {"layouts": read.layouts, "warnings": warned}
        summary = write_results(clf, results, stages, calibration=calibration, **facts)
    if not quiet:
        layouts = "\n".join(f"{name}: {layout}" for name, layout in read.layouts.items())
        say(f"{layouts}\n{counted(len(read.known), 'answer')} added\n\n{summary.text()}")
    if strict:
        refuse_warnings(warned, quiet=quiet)
