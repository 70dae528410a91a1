"""``isotherm check``: which given labels look wrong."""

from typing import Annotated

from isotherm.cli.inputs import inputs_of, split_arguments
from isotherm.cli.options import (
    VARIABLES,
    Fitting,
    Json,
    Quiet,
    Strict,
    TableFormat,
    number_option,
    output_option,
    positional,
)
from isotherm.cli.outputs import check_report, write_columns
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import usage_errors
from isotherm.errors import Option

USAGE = "isotherm check [OPTIONS] EDGES [SEEDS]\n       isotherm check [OPTIONS] MODEL"
EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm check edges.csv seeds.csv
  isotherm check edges.csv seeds.csv --features items.csv -o doubtful.csv
  isotherm check edges.csv seeds.csv -n 100 --json
  isotherm check model.npz
"""


def check(
    *names: Annotated[
        str,
        positional("A graph and its known labels, which may be in the same file; or a saved MODEL of classify --save."),
    ],
    number: Annotated[
        int | None, number_option("How many seeds; by default all for which another class is more probable.")
    ] = None,
    json: Json = False,
    output: Annotated[str | None, output_option("Write a table: node, label, guess, confidence, doubt.")] = None,
    table: TableFormat = TableFormat(),  # noqa: B008 - frozen
    quiet: Quiet = False,
    strict: Strict = False,
    fitting: Fitting = Fitting(),  # noqa: B008 - frozen
) -> None:
    """Say which of the given labels look wrong, and what they should probably be.

    The seeds are hidden in turn, and their labels compared with what the other
    seeds say. The most doubtful seeds come first: the seed, the label that it was
    given, the most probable class with its probability, and the probability that
    the given label is wrong. The only seed of a class cannot be judged. In the
    table of --output, node and label have the names that they have in the seeds
    file; with labels corrected, it can be given to classify with --more-seeds.
    """
    with Job(quiet=quiet, strict=strict) as job:
        source = split_arguments("check", names)
        if source.seedless:
            source, fitting = source.with_labels_inside("check", fitting)
        check_report(output, [*source.files, *inputs_of(fitting)], table, json=json)
        clf, layouts = source.fitted(fitting, job)
        with job.stage("checking"), usage_errors({Option("k"): "--number"}):
            found = clf.doubtful_seeds(number)
        if layouts:
            job.say(f"{layouts}\n")
        if output is not None:
            from isotherm.cli.reports.explanations import doubt_columns

            job.say(found.title, write_columns(output, doubt_columns(found, clf), table))
        if json:
            from json import dumps

            print(dumps(found.rows(), indent=2, ensure_ascii=False))
        elif output is None:
            print(found)
