"""Fitted classifiers: fitted on two files, here or on a cluster, or loaded from a file that `classify --save` wrote."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import is_zipfile

from isotherm.cli.inputs.reading import Files, read_files
from isotherm.cli.options import Fitting, Results, Solving, changed_options, class_weights, leave_out
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import OUTPUT, UsageError, option_name, say, usage_errors
from isotherm.cli.terminal.process import exit_cleanly

if TYPE_CHECKING:
    from isotherm.dirichlet_classifier import DirichletClassifier

__all__ = [
    "Fitted",
    "Source",
    "check_options",
    "classifier_of",
    "classify_on_workers",
    "connect_to_cluster",
    "estimate_files",
    "fit_files",
    "inputs_of",
    "load_model",
    "split_arguments",
]

# What workers can do that read a packed graph and write a folder, without this process seeing either.
ON_WORKERS = {
    *("output", "force", "probabilities", "temperatures", "only_unlabelled", "min_confidence"),
    *("rule", "class_weight", "solver", "tol", "max_iter", "engine", "scheduler", "no_confidence", "threads"),
    *("ignore_missing_seeds", "node", "label", "seeds", "seed_weight", "label_probability", "multi_label"),
    *("labels_delimiter", "labels_header", "labels_format", "labels_encoding"),
}


def inputs_of(fitting: Fitting) -> list[str]:
    """The files that options name."""
    features = [] if fitting.table.features is None else [fitting.table.features]
    return [*fitting.reading.seeds, *fitting.reading.edges, *features]


def check_options(fitting: Fitting) -> None:
    """Refuse options that would have no effect without another one."""
    table, solving = fitting.table, fitting.solving
    needs = {
        "threshold": ("--multi-label", fitting.kinds.multi_label),
        "open_share": ("--stop labels", solving.stop == "labels"),
        "scheduler": ("--engine dask", solving.engine == "dask"),
        **dict.fromkeys(("k", "metric", "scale"), ("--vectors or --text", table.wanted)),
    }
    for name in changed_options(fitting):
        other, given = needs.get(name, ("", True))
        if not given:
            raise UsageError(f"{option_name(name)} is for {other}: add that, or {leave_out(name)}")


def classifier_of(fitting: Fitting, classes: Iterable[Any]) -> "DirichletClassifier":
    """The classifier that the options ask for, not fitted yet."""
    from isotherm.dirichlet_classifier import DirichletClassifier

    weights = class_weights(fitting.class_weight, classes)
    return DirichletClassifier(rule=fitting.rule, class_weight=weights, **fitting.solving.for_classifier())


def _read(names: Sequence[str], fitting: Fitting, job: Job, *, unread: bool = False) -> Files:
    edges, seeds = names
    check_options(fitting)
    return read_files(
        edges,
        seeds,
        job,
        reading=fitting.reading,
        kinds=fitting.kinds,
        ignore_missing=fitting.ignore_missing_seeds,
        table=fitting.table,
        threads=fitting.solving.threads,
        unread=unread,
    )


def fit_files(names: Sequence[str], fitting: Fitting, job: Job) -> "tuple[DirichletClassifier, Files]":
    """Read a graph and its seeds, and fit a classifier on them."""
    files = _read(names, fitting, job)
    features = _read_features(files, fitting, job)
    connect_to_cluster(fitting.solving)
    clf = classifier_of(fitting, files.seeds.classes.tolist())
    evidence = _evidence(files, fitting)
    with job.stage("solving") as bar, usage_errors():
        progress = bar.errors(fitting.solving.tol)
        clf.fit(files.graph, files.seeds, features=features, evidence=evidence, progress=progress)
    clf.seed_columns_ = files.seeds_layout.seed_columns
    return clf, files


def _read_features(files: Files, fitting: Fitting, job: Job) -> Any:
    """The features of the nodes, if there is a file of them."""
    table = fitting.table
    if table.features is None:
        return None
    from isotherm.io import read_features

    with job.stage("reading features"), usage_errors():
        encoding = fitting.reading.encoding
        return read_features(table.features, files.graph, id=table.id, text=table.text, encoding=encoding)


def _evidence(files: Files, fitting: Fitting) -> Any:
    """The argument ``evidence`` of `fit`; for the graph of a table it is the columns of the table, by default."""
    if files.vectors is not None and fitting.evidence == "auto":
        from isotherm.probability.evidence import Evidence

        return Evidence.of_table(files.vectors)
    return None if fitting.evidence == "none" else fitting.evidence


def connect_to_cluster(solving: Solving) -> None:
    """Connect to the Dask cluster, or start one and say so, if the engine needs it."""
    if solving.engine != "dask":
        return
    with usage_errors():
        from isotherm.engines.cluster import connect

        _, message = connect(solving.scheduler)
    say(message)


def estimate_files(names: Sequence[str], fitting: Fitting, job: Job) -> str:
    """Read a graph and its seeds, and say what a fit on them will take."""
    if fitting.table.features is not None:
        raise UsageError(f"--estimate does not know what features take: {leave_out('features')}")
    files = _read(names, fitting, job)
    from isotherm.labelling.estimate import estimate_fit
    from isotherm.labelling.settings import Settings

    n_classes = files.seeds.n_classes
    settings = Settings.of(**classifier_of(fitting, files.seeds.classes.tolist()).get_params())
    estimate = estimate_fit(files.graph, n_classes, settings, confidence=not fitting.solving.no_confidence)
    return f"{files.graph.n_nodes:,} nodes, {files.graph.n_edges:,} edges, {n_classes} classes: {estimate}"


def classify_on_workers(names: Sequence[str], fitting: Fitting, results: Results, job: Job) -> str:
    """Have the workers of a cluster label a packed graph and write a folder, and say what was done."""
    if fitting.solving.engine != "dask":
        raise UsageError(f"{results.output} is a folder, which is for --engine dask; give the name of a file")
    allowed = ON_WORKERS | ({"evidence"} if fitting.evidence == "none" else set())
    for name in (*changed_options(results, allowed=allowed), *changed_options(fitting, allowed=allowed)):
        where = f"is for labels in a file, not in the folder {results.output}"
        raise UsageError(f"{option_name(name)} {where}: {leave_out(name)}, or write to a file such as labels.parquet")
    files = _read(names, fitting, job, unread=True)
    from isotherm.graphs.packed import PackedGraph
    from isotherm.insight.scattered.labels import check_target_folder, label_on_workers
    from isotherm.insight.scattered.parts import Columns
    from isotherm.labelling.settings import Settings

    clf = classifier_of(fitting, files.seeds.classes.tolist())
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
    with exit_cleanly(), job.stage("solving") as bar, usage_errors(OUTPUT):
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
        f"{files}\n\n{done.rows:,} rows written to {results.output} by the workers, with the rule {done.rule} and by "
        f"heat alone, after {done.solution.iterations} iterations\n{counts}, unreached: {done.unreached:,}"
    )


class Fitted(NamedTuple):
    """A classifier, and the layouts of the files that it was fitted on; empty for a saved one."""

    clf: "DirichletClassifier"
    layouts: str = ""


@dataclass(frozen=True)
class Source:
    """Where a classifier comes from.

    Attributes
    ----------
    files
        A saved classifier, or edges and seeds, or edges alone.
    rest
        The other arguments of the command.
    seedless
        Whether there are edges without seeds.
    """

    files: list[str]
    rest: list[str]
    seedless: bool = False

    def fitted(self, job: Job, fitting: Fitting) -> Fitted:
        """The classifier, and how its files are laid out."""
        if len(self.files) == 2:
            clf, files = fit_files(self.files, fitting, job)
            return Fitted(clf, str(files))
        for name in changed_options(fitting, allowed=("threads", "no_confidence")):
            raise UsageError(f"{self.files[0]} is fitted already: {leave_out(name)}, or give the edges and the seeds")
        clf = load_model(self.files[0], job)
        if fitting.solving.threads is not None:
            clf.n_threads = fitting.solving.threads
        if fitting.solving.no_confidence:
            clf.calibration = None
        return Fitted(clf)


def load_model(path: str, job: Job) -> "DirichletClassifier":
    """The classifier that ``isotherm classify --save`` wrote."""
    with job.stage("reading"), usage_errors():
        from isotherm.dirichlet_classifier import load

        return load(path)


def split_arguments(command: str, arguments: tuple[str, ...], needed: str = "", *, seedless: bool = False) -> Source:
    """Find out whether arguments begin with a saved classifier or with edges and seeds.

    With ``seedless``, edges alone are allowed too.
    """
    from isotherm.io.models import is_model

    given = list(arguments)
    count = 1 if given and (is_model(given[0]) or _may_be_model(given)) else 2
    if seedless and (len(given), count) == (1, 2):
        return Source(given, [], seedless=True)
    if len(given) < count + bool(needed):
        words = f" {needed}" if needed else ""
        raise UsageError(
            f"isotherm {command} needs EDGES SEEDS{words}, or MODEL{words} with what classify --save wrote; "
            f"see isotherm {command} --help"
        )
    return Source(given[:count], given[count:])


def _may_be_model(given: list[str]) -> bool:
    """Whether the first argument is a missing or damaged model, not a matrix of edges.

    A matrix is a zip file, and is followed by a file of seeds.
    """
    has_seeds = any(name == "-" or os.path.exists(name) for name in given[1:2])
    return given[0].endswith(".npz") and not has_seeds and not is_zipfile(given[0])
