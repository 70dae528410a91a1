"""A classifier that can be asked: fitted on two files, or saved before and loaded from one."""

import os
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

from isotherm.cli.options import AS_FOUND, BY_DEFAULT, CERTAIN, Certainty, Columns, Rule, Solving
from isotherm.cli.reading import check_apart, read_files
from isotherm.cli.stages import Stages
from isotherm.cli.wording import OUTPUT, UsageError, speaking

if TYPE_CHECKING:
    from isotherm.classifier import DirichletClassifier

__all__ = ["Asked", "asked"]


@dataclass(frozen=True)
class Asked:
    """What to ask: a saved classifier, or a graph and its seeds, to be solved for now.

    Attributes
    ----------
    files
        The name of the one, or of the two.
    rest
        What was given besides.
    """

    files: list[str]
    rest: list[str]

    def fitted(
        self, stages: Stages, *, rule: Rule, solving: Solving, columns: Columns, certainty: Certainty, missing: bool
    ) -> "tuple[DirichletClassifier, str]":
        """The classifier, and how its files are laid out."""
        if len(self.files) == 1:
            late = [*["rule"] * (rule != "centered"), *["ignore_missing_seeds"] * missing]
            late += _changed(replace(solving, threads=None, no_confidence=False), BY_DEFAULT)
            self._check([*late, *_changed(columns, AS_FOUND), *_changed(certainty, CERTAIN)])
            return self._loaded(stages, solving), ""
        edges, seeds = self.files
        files = read_files(edges, seeds, columns, stages, missing=missing, certainty=certainty)
        from isotherm.classifier import DirichletClassifier

        clf = DirichletClassifier(rule=rule, **solving.of_classifier)
        with stages.stage("solving") as bar:
            clf.fit(files.graph, files.known, seed_weight=files.weights, progress=bar.errors(solving.tol))
        return clf, str(files)

    def check_output(self, output: str, output_format: str | None, force: bool) -> None:
        """Refuse an output that could not be written, or that is read."""
        from isotherm.io import check_output

        check_apart(output, self.files)
        with speaking(OUTPUT):
            check_output(output, force=force, format=output_format)

    def _loaded(self, stages: Stages, solving: Solving) -> "DirichletClassifier":
        with stages.stage("reading"), speaking(OUTPUT):
            from isotherm.classifier import load

            clf = load(self.files[0])
        if solving.threads is not None:
            clf.n_threads = solving.threads
        if solving.no_confidence:
            clf.calibration = None
        return clf

    def _check(self, late: list[str]) -> None:
        """Refuse options that come too late."""
        if late:
            option, variable = f"--{late[0].replace('_', '-')}", f"ISOTHERM_{late[0].upper()}"
            remedy = f"unset {variable}" if variable in os.environ else f"leave out {option}"
            raise UsageError(f"{self.files[0]} is fitted already: {remedy}, or give the edges and the seeds")


def asked(command: str, arguments: tuple[str, ...], needed: str = "") -> Asked:
    """Tell whether a command begins with a saved classifier or with edges and seeds."""
    from isotherm.io.models import is_model

    given = list(arguments)
    files = 1 if given and (is_model(given[0]) or _may_be_model(given)) else 2
    if len(given) < files + bool(needed):
        words = f" {needed}" if needed else ""
        raise UsageError(
            f"isotherm {command} needs EDGES SEEDS{words}, or MODEL{words} with what classify --save wrote; "
            f"see isotherm {command} --help"
        )
    return Asked(given[:files], given[files:])


def _may_be_model(given: list[str]) -> bool:
    """Whether the first is a missing or damaged model: a matrix can be opened, or is followed by a file of seeds."""
    seeds = any(name == "-" or os.path.exists(name) for name in given[1:2])
    return given[0].endswith(".npz") and not seeds and not is_zipfile(given[0])


def _changed(given: Any, usual: Any) -> list[str]:
    names = [field.name for field in fields(usual)]
    return [name for name in names if getattr(given, name) != getattr(usual, name)]
