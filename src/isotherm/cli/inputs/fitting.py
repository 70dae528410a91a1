"""Fitted classifiers: fitted on two files, or loaded from the file that ``isotherm classify --save`` wrote."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import is_zipfile

from isotherm.cli.inputs.reading import Files, check_apart, read_files
from isotherm.cli.options import Fitting, Solving
from isotherm.cli.parameters import class_weights
from isotherm.cli.terminal.stages import Stages
from isotherm.cli.terminal.wording import OUTPUT, UsageError, say, usage_errors

if TYPE_CHECKING:
    from isotherm.classifier import DirichletClassifier

__all__ = [
    "Fitted",
    "Source",
    "connect_to_cluster",
    "estimate_files",
    "fit_files",
    "load_model",
    "split_arguments",
]


def fit_files(names: Sequence[str], fitting: Fitting, stages: Stages) -> "tuple[DirichletClassifier, Files]":
    """Read a graph and its seeds, and fit a classifier on them."""
    edges, seeds = names
    missing = fitting.ignore_missing_seeds
    files = read_files(
        edges,
        seeds,
        stages,
        reading=fitting.reading,
        kinds=fitting.kinds,
        ignore_missing=missing,
        table=fitting.table,
        threads=fitting.solving.threads,
    )
    features = _read_features(files, fitting, stages)
    from isotherm.classifier import DirichletClassifier

    connect_to_cluster(fitting.solving)
    weights = class_weights(fitting.class_weight, files.seeds.classes.tolist())
    clf = DirichletClassifier(rule=fitting.rule, class_weight=weights, **fitting.solving.for_classifier())
    evidence = _evidence(files, fitting)
    with stages.stage("solving") as bar, usage_errors():
        progress = bar.errors(fitting.solving.tol)
        clf.fit(files.graph, files.seeds, features=features, evidence=evidence, progress=progress)
    clf.seed_columns_ = files.seeds_layout.seed_columns
    return clf, files


def _evidence(files: Files, fitting: Fitting) -> Any:
    """What `fit` takes as evidence: by default that of the columns, if the graph was made of a table."""
    if files.vectors is not None and fitting.evidence == "auto":
        from isotherm.insight.experts.evidence import Evidence

        return Evidence.of_table(files.vectors)
    return None if fitting.evidence == "none" else fitting.evidence


def connect_to_cluster(solving: Solving) -> None:
    """Connect to the Dask cluster, or start one and say so, if the engine needs it."""
    if solving.engine != "dask":
        if solving.scheduler is not None:
            raise UsageError("--scheduler is for --engine dask: add that, or leave out the address")
        return
    with usage_errors():
        from isotherm.engines.cluster import connect

        _, done = connect(solving.scheduler)
    say(done)


def _read_features(files: Files, fitting: Fitting, stages: Stages) -> Any:
    """The features of the nodes, if there is a file of them."""
    table = fitting.table
    if table.features is None:
        return None
    from isotherm.io import read_features

    with stages.stage("reading features"), usage_errors():
        return read_features(table.features, files.graph, id=table.id, text=table.text)


def estimate_files(names: Sequence[str], fitting: Fitting, stages: Stages) -> str:
    """Read a graph and its seeds, and say what a fit on them will take."""
    edges, seeds = names
    missing = fitting.ignore_missing_seeds
    files = read_files(edges, seeds, stages, reading=fitting.reading, kinds=fitting.kinds, ignore_missing=missing)
    from isotherm.classifier import DirichletClassifier
    from isotherm.labelling.estimate import estimate_fit
    from isotherm.labelling.settings import Settings

    parameters = DirichletClassifier(rule=fitting.rule, **fitting.solving.for_classifier()).get_params()
    settings, confidence = Settings.of(**parameters), not fitting.solving.no_confidence
    found = estimate_fit(files.graph, files.seeds.n_classes, settings, confidence=confidence)
    return f"{files.graph.n_nodes:,} nodes, {files.graph.n_edges:,} edges, {files.seeds.n_classes} classes: {found}"


class Fitted(NamedTuple):
    """A classifier, and how the files were laid out that it was fitted on; empty for one that was saved."""

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

    def fitted(self, stages: Stages, fitting: Fitting) -> Fitted:
        """The classifier, and how its files are laid out."""
        if len(self.files) == 2:
            clf, files = fit_files(self.files, fitting, stages)
            return Fitted(clf, str(files))
        self._check_unchanged(fitting)
        clf = load_model(self.files[0], stages)
        if fitting.solving.threads is not None:
            clf.n_threads = fitting.solving.threads
        if fitting.solving.no_confidence:
            clf.calibration = None
        return Fitted(clf)

    def check_output(self, output: str, output_format: str | None, force: bool, more: Sequence[str] = ()) -> None:
        """Refuse an output that cannot be written, or that is read; ``more`` are further inputs."""
        from isotherm.io import check_output

        check_apart(output, [*self.files, *more])
        with usage_errors(OUTPUT):
            check_output(output, force=force, format=output_format)

    def _check_unchanged(self, fitting: Fitting) -> None:
        """Refuse options that would change a fit that is saved already; two options work without a new fit."""
        solving = replace(fitting.solving, threads=Solving.threads, no_confidence=Solving.no_confidence)
        changed = next(_changed(replace(fitting, solving=solving), Fitting()), None)
        if changed is not None:
            option, variable = f"--{changed.replace('_', '-')}", f"ISOTHERM_{changed.upper()}"
            remedy = f"unset {variable}" if variable in os.environ else f"leave out {option}"
            raise UsageError(f"{self.files[0]} is fitted already: {remedy}, or give the edges and the seeds")


def load_model(path: str, stages: Stages) -> "DirichletClassifier":
    """The classifier that ``isotherm classify --save`` wrote."""
    with stages.stage("reading"), usage_errors():
        from isotherm.classifier import load

        return load(path)


def split_arguments(command: str, arguments: tuple[str, ...], needed: str = "", *, seedless: bool = False) -> Source:
    """Find out whether arguments begin with a saved classifier or with edges and seeds.

    With ``seedless``, edges alone are allowed too.
    """
    from isotherm.io.writing.models import is_model

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
    seeds = any(name == "-" or os.path.exists(name) for name in given[1:2])
    return given[0].endswith(".npz") and not seeds and not is_zipfile(given[0])


def _changed(given: Any, usual: Any) -> Iterator[str]:
    """The names of options, in nested groups of options, that are not the usual ones."""
    for field in fields(usual):
        ours, theirs = getattr(given, field.name), getattr(usual, field.name)
        if is_dataclass(ours):
            yield from _changed(ours, theirs)
        elif ours != theirs:
            yield field.name
