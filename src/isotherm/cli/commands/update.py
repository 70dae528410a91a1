"""``isotherm update``: label again with the answers that people gave."""

from typing import Annotated

from isotherm.cli.inputs import features_of_model, load_model, read_answers
from isotherm.cli.options import (
    OPTIONS,
    VARIABLES,
    LabelReading,
    Labels,
    Quiet,
    Results,
    Strict,
    at_least,
    option,
    positional,
)
from isotherm.cli.outputs import calibrate, check_results, write_results
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import usage_errors
from isotherm.tables import counted

EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm classify edges.csv seeds.csv -o labels.csv --save model.npz
  isotherm suggest model.npz -n 20 -o sheet.csv
  isotherm update model.npz answers.csv -o better.csv
  isotherm update model.npz answers.csv -o better.tsv --save newer.npz
"""


def update(
    model: Annotated[str, positional("A classifier that classify --save wrote.")],
    seeds: Labels,
    /,
    *,
    results: Results = Results(),  # noqa: B008 - frozen
    ignore_missing_seeds: Annotated[bool, option("Ignore seeds that are not in the graph.", group=OPTIONS)] = False,
    features: Annotated[
        str | None,
        option("Table of features that the model was fitted with; the model does not hold it.", "FILE", group=OPTIONS),
    ] = None,
    threads: Annotated[
        int | None, option("Number of threads; by default all cores.", "N", validator=at_least(1), group=OPTIONS)
    ] = None,
    quiet: Quiet = False,
    strict: Strict = False,
    reading: LabelReading = LabelReading(),  # noqa: B008 - frozen
) -> None:
    """Label the nodes again, with more seeds.

    SEEDS is a table of nodes and labels, such as a filled-in sheet of isotherm
    suggest. It is added to the seeds of the model; a node that is a seed already
    takes its new label. Rows without a label are left out. The solve starts from
    the temperatures of the model, which is much faster than a new one. Graph,
    rule and other options come from the model. A model that was fitted with
    features needs their file again.
    """
    with Job(quiet=quiet, strict=strict) as job:
        names = [seeds, *reading.more_seeds]
        sources = [model, *names, *([] if features is None else [features])]
        check_results(results, sources)
        clf = load_model(model, job, threads=threads)
        several, confidence = clf.fitted_.outcome.several, clf.settings.calibration is not None
        check_results(results, sources, several=several, confidence=confidence)
        missing = ignore_missing_seeds
        known, layouts = read_answers(names, clf, job, model=model, reading=reading, ignore_missing=missing)
        given = {} if features is None else {"features": features_of_model(clf, features, job)}
        with job.stage("solving") as bar, usage_errors():
            clf.update(add=known, progress=None if clf.tol is None else bar.errors(clf.tol), **given)
        calibrate(clf, results, job)
        summary = write_results(clf, results, job, files=layouts, warnings=job.warnings)
        lines = [f"{name}: {layout}" for name, layout in layouts.items()]
        job.say(*lines, f"{counted(len(known), 'answer')} added\n", summary.text())
