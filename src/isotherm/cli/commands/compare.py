"""``isotherm compare``: which method finds hidden labels best, and how many labels would help."""

from typing import Annotated

from isotherm.cli.inputs import known_besides, read_files
from isotherm.cli.options import (
    HIDING,
    OUTPUT,
    VARIABLES,
    Edges,
    FeatureOptions,
    Fitting,
    Force,
    Fraction,
    IgnoreMissing,
    Labels,
    Latex,
    Quiet,
    RandomState,
    Reading,
    Runs,
    Strict,
    TableFormat,
    option,
)
from isotherm.cli.outputs import check_targets, write_columns
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import LABELS, UsageError, usage_errors
from isotherm.cli.terminal.process import exit_cleanly

EXAMPLES = f"""{VARIABLES}

Examples:

  isotherm compare edges.csv labels.csv --fraction 0.7
  isotherm compare edges.csv labels.csv --fraction 0.7 --plot methods.png
  isotherm compare edges.csv labels.csv --no-peers --json -o draws.csv
"""


def compare(
    edges: Edges,
    labels: Labels,
    /,
    *,
    fraction: Fraction = 0.5,
    runs: Runs = 10,
    random_state: RandomState = 0,
    no_peers: Annotated[bool, option("Compare only the rules and evidence of Isotherm.", group=HIDING)] = False,
    json: Annotated[bool, option("Print the scores as JSON.", group=OUTPUT)] = False,
    latex: Latex = False,
    output: Annotated[
        str | None, option("File for a table of all draws.", "FILE", name=("--output", "-o"), group=OUTPUT)
    ] = None,
    plot: Annotated[str | None, option("Draw scores and curve: .png, .pdf or .svg.", "FILE", group=OUTPUT)] = None,
    force: Force = False,
    quiet: Quiet = False,
    strict: Strict = False,
    ignore_missing_seeds: IgnoreMissing = False,
    table: FeatureOptions = FeatureOptions(),  # noqa: B008 - frozen
    reading: Reading = Reading(),  # noqa: B008 - frozen
) -> None:
    """Hide known labels, and see which method finds them best.

    Every setting of Isotherm and every other method that is installed sees the
    same seeds, and is scored on the labels that were hidden: mean and standard
    deviation over the draws. A learning curve shows whether more labels would help.
    """
    with Job(quiet=quiet, strict=strict) as job:
        sources = [edges, labels, *reading.more_seeds, *reading.more_edges, *table.inputs]
        check_targets(output, plot, sources, force=force)
        if json and latex:
            raise UsageError("--json and --latex are both for standard output: give one of them")
        fitting = Fitting(reading=reading, ignore_missing_seeds=ignore_missing_seeds, table=table.beside_links())
        files = read_files(edges, labels, fitting, job)
        features = known_besides(files, fitting, job).get("features")
        from isotherm.study.comparison import compare as compared

        with job.stage("comparing") as bar, usage_errors(LABELS, labels):
            found = compared(
                files.graph,
                files.known,
                features=features,
                fraction=fraction,
                runs=runs,
                peers=not no_peers,
                random_state=random_state,
                progress=bar.amount,
            )
        if plot is not None:
            from isotherm.cli.reports.picture import draw_comparison

            with exit_cleanly():
                draw_comparison(found, plot, force=force)
        if output is not None:
            write_columns(output, found.table.columns(), TableFormat(force=force))
        written = [f"The picture is in {plot}"] * bool(plot) + [f"All draws are in {output}"] * bool(output)
        job.say(str(files), *written)
        print(found.to_json() if json else found.to_latex() if latex else found)
