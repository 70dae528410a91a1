"""Labels that the workers of a cluster write into a folder, without reading the graph here."""

from collections.abc import Sequence
from pathlib import Path

from isotherm.cli.inputs.fitting import connect_to_cluster
from isotherm.cli.inputs.reading import read_files
from isotherm.cli.options import Fitting, Results
from isotherm.cli.parameters import class_weights
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.wording import OUTPUT, UsageError, usage_errors

__all__ = ["classify_on_workers", "is_for_workers"]


def is_for_workers(fitting: Fitting, results: Results) -> bool:
    """Whether labels go to a folder, which is for workers to write."""
    folder = results.output.endswith("/")
    if folder and fitting.solving.engine != "dask":
        raise UsageError(f"{results.output} is a folder, which is for --engine dask; give the name of a file")
    return folder


def classify_on_workers(names: Sequence[str], fitting: Fitting, results: Results, stages: Stages) -> str:
    """Label a packed graph on a cluster, and say what was done."""
    _check(fitting, results)
    edges, seeds = names
    missing = fitting.ignore_missing_seeds
    files = read_files(
        edges, seeds, stages, reading=fitting.reading, kinds=fitting.kinds, ignore_missing=missing, unread=True
    )
    from isotherm.dirichlet_classifier import DirichletClassifier
    from isotherm.graphs.packed import PackedGraph
    from isotherm.insight.scattered.labels import check_target_folder, label_on_workers
    from isotherm.insight.scattered.parts import Columns
    from isotherm.labelling.settings import Settings

    weights = class_weights(fitting.class_weight, files.seeds.classes.tolist())
    clf = DirichletClassifier(rule=fitting.rule, class_weight=weights, **fitting.solving.for_classifier())
    columns = Columns(
        confidence=not fitting.solving.no_confidence,
        probabilities=results.probabilities,
        temperatures=results.temperatures,
        only_unlabelled=results.only_unlabelled,
        min_confidence=results.min_confidence,
    )
    assert isinstance(files.graph, PackedGraph)
    with usage_errors(OUTPUT):
        check_target_folder(Path(results.output), force=results.force)
    connect_to_cluster(fitting.solving)
    with stages.stage("solving") as bar, usage_errors(OUTPUT):
        done = label_on_workers(
            files.graph,
            files.seeds,
            Settings.of(**clf.get_params()),
            results.output,
            columns=columns,
            force=results.force,
            progress=bar.errors(fitting.solving.tol),
        )
    counts = ", ".join(f"{label}: {count:,}" for label, count in done.counts.items())
    return (
        f"{files}\n\n{done.rows:,} rows written to {results.output} by the workers, with the rule {done.rule} after "
        f"{done.solution.iterations} iterations\n{counts}, unreached: {done.unreached:,}"
    )


def _check(fitting: Fitting, results: Results) -> None:
    """Refuse what is for labels in a file."""
    for name in ("json", "json_summary", "save", "safe_cells", "output_format"):
        if getattr(results, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for labels in a file, not in the folder {results.output}: leave it out")
    if fitting.table.wanted:
        raise UsageError("--vectors is for labels in a file, not in a folder: pack a graph first")
