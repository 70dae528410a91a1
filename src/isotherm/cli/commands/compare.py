"""``isotherm compare``: which method finds hidden labels best, and how many labels would help."""

from typing import Annotated

from isotherm.cli.inputs import inputs_of, known_besides, read_files
from isotherm.cli.options import (
    HIDING,
    VARIABLES,
    Edges,
    FeatureOptions,
    Fitting,
    Fraction,
    IgnoreMissing,
    Labels,
    Quiet,
    RandomState,
    Reading,
    Runs,
    ScoreOutput,
    Strict,
    option,
)
from isotherm.cli.outputs import check_scores, write_scores
from isotherm.cli.reports.picture import draw_comparison
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import LABELS, usage_errors

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
    results: ScoreOutput = ScoreOutput(),  # noqa: B008 - frozen
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
        fitting = Fitting(reading=reading, ignore_missing_seeds=ignore_missing_seeds, table=table.beside_links())
        check_scores(results, [edges, labels, *inputs_of(fitting)])
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
        write_scores(found, draw_comparison, results, job, layouts=str(files), text=found.text())
