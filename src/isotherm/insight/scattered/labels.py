"""Label a packed graph on a cluster, and let the workers write the labels: nothing of the whole graph comes here."""

import math
import os
import secrets
import shutil
import uuid
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.engines.cluster import current_session, packed_matrix
from isotherm.engines.session import ClusterError, LostWorker, Matrix, Session
from isotherm.engines.worker import Keep, Question
from isotherm.equilibrium.options import Progress, SolveOptions
from isotherm.equilibrium.problem import UnreachedWarning, column_blocks, joined
from isotherm.equilibrium.solvers import MOST_COLUMNS, Request, Solution
from isotherm.errors import Option, ParameterError
from isotherm.graphs.packed import PackedGraph
from isotherm.insight.confidence.calibration import Calibration, calibrate
from isotherm.insight.confidence.held_out import hold_out
from isotherm.insight.confidence.neighbourhood import Field, Warmth
from isotherm.insight.scattered.parts import (
    Columns,
    Decide,
    Sums,
    Written,
    chance_sums,
    some_warmth,
    temperature_sums,
    write_part,
)
from isotherm.labelling.outcome.decided import Decision, class_factors, sampled_nodes
from isotherm.labelling.rules import FALLBACK, RULES, ProbabilityRule, TemperatureRule, Totals
from isotherm.labelling.settings import AUTO, Settings
from isotherm.seeds import Seeds

__all__ = ["Scattered", "check_target_folder", "label_on_workers"]

ATTEMPTS = 3  # if workers are lost while labels are decided and written


@dataclass(frozen=True)
class Scattered:
    """What was done: the solution without temperatures, the rule, and how many nodes got each label."""

    solution: Solution
    rule: str
    rows: int
    counts: dict[object, int]
    unreached: int
    held_out: int | None


def label_on_workers(
    graph: PackedGraph,
    seeds: Seeds,
    settings: Settings,
    target: str | os.PathLike[str],
    *,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    force: bool = False,
    progress: Progress | None = None,
) -> Scattered:
    """Label all nodes of a packed graph, and have the workers write the labels into a folder of Parquet files.

    The labels are those of a fit with ``engine="dask"``. Workers must see the folder of the target; that of the graph
    is read by the workers if they see it, and sent to them otherwise. If a worker is lost after the solve, all begins
    again.

    Parameters
    ----------
    graph
        An undirected packed graph, which may be opened unread.
    seeds
        Its seeds, with one certain label each.
    settings
        The parameters of the classifier.
    target
        The folder, which appears when it is complete.
    columns
        What is written.
    force
        Whether to replace a folder that exists.
    progress
        Called after each iteration with its number and the present error.
    """
    _check(graph, seeds, settings)
    path = Path(target)
    check_target_folder(path, force=force)
    for attempt in range(ATTEMPTS):
        draft = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
        draft.mkdir()
        try:
            found = _Labelling(graph, seeds, settings, progress).write(draft.absolute(), columns)
            if path.exists():
                shutil.rmtree(path)
            os.rename(draft, path)
            return found
        except LostWorker as lost:
            if attempt == ATTEMPTS - 1:
                raise ClusterError(f"workers were lost again and again ({lost}); look into their logs") from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    raise AssertionError


def check_target_folder(path: Path, *, force: bool = False) -> None:
    """Refuse a folder that cannot be written."""
    if path.exists() and not (path.is_dir() and all(each.suffix == ".parquet" for each in path.iterdir())):
        raise ParameterError(f"{path} exists and is not a folder of Parquet files; choose another name")
    if path.exists() and not force:
        message = "{path} exists already, and is kept; choose another name, or overwrite it with {force}"
        raise ParameterError(message, path=path, force=Option("force", True))
    if not path.absolute().parent.is_dir():
        raise ParameterError(f"{path} cannot be written: the directory {path.absolute().parent} does not exist")


def _check(graph: PackedGraph, seeds: Seeds, settings: Settings) -> None:
    """Refuse what workers cannot do by themselves."""
    if graph.directed:
        obstacle = "a directed graph"
    elif seeds.several:
        obstacle = "several labels for each node"
    elif seeds.weights is not None:
        obstacle = "seeds that are not certain"
    elif settings.stop == "labels" or settings.rule == AUTO:
        obstacle = "rule='auto' or stop='labels'"
    else:
        return
    raise ParameterError(f"workers cannot write the labels of {obstacle}; write them to a file, such as labels.parquet")


class _Labelling:
    """One attempt."""

    def __init__(self, graph: PackedGraph, seeds: Seeds, settings: Settings, progress: Progress | None) -> None:
        self.graph, self.seeds, self.settings, self.progress = graph, seeds, settings, progress
        self.session: Session = current_session()
        self.kept: list[str] = []  # names of the solves whose temperatures the workers keep
        self.matrix: Matrix = packed_matrix(graph, f"{graph.folder.absolute()} {hash(graph.manifest.json())}")

    def write(self, folder: Path, columns: Columns) -> Scattered:
        try:
            field = self._solved(self.seeds, self.settings.solving, self.progress)
            if field.n_unreached:
                message = f"{field.n_unreached} of {self.graph.n_nodes} nodes are not connected to any seed"
                warnings.warn(f"{message} and have no temperature", UnreachedWarning, stacklevel=4)
            decide, held_out = self._decided(field)
            written = self._written(field.name, decide, folder, columns)
        finally:
            self._forget()
        counts: dict[object, int] = dict.fromkeys(self.seeds.classes.tolist(), 0)
        for part in written:
            for code, count in part.counts.items():
                counts[self.seeds.classes.tolist()[code]] += count
        rows, unreached = sum(part.rows for part in written), sum(part.unreached for part in written)
        return Scattered(field.solution, decide.rule_name, rows, counts, unreached, held_out)

    def _forget(self, *, but: str = "") -> None:
        """Let workers forget the temperatures of all solves but one."""
        for name in self.kept:
            if name != but:
                self.session.forget(name)
        self.kept = [but] if but else []

    def _solved(self, seeds: Seeds, options: SolveOptions, progress: Progress | None = None) -> "_Remote":
        """Solve with some seeds; the temperatures stay with the workers."""
        name, parts = uuid.uuid4().hex, []
        self.kept.append(name)
        for block in column_blocks(seeds.n_classes):
            columns = list(range(seeds.n_classes))[block]
            closed = 2 <= seeds.n_classes <= MOST_COLUMNS + 1
            values = seeds.values(block)
            follows = int(values.sum(axis=0).argmax()) if closed else None
            kept = [column for column in columns if column != follows]
            keep = Keep(name, kept, seeds.n_classes, follows)
            request = Request(values[:, [column - columns[0] for column in kept]], options, closed=closed)
            question = Question(seeds.nodes, request, keep=keep)
            parts.append(self.session.solve(self.matrix, question, progress)[0].solution)
        return _Remote(self.session, name, seeds, joined(parts, options.tol), self.graph.n_nodes)

    def _decided(self, field: "_Remote") -> tuple[Decide, int | None]:
        """How nodes get their labels, and the number of seeds that were hidden to find out."""
        rule, shares = RULES[self.settings.rule], self.seeds.shares
        calibration = self._calibration(field) if self.settings.calibration is not None else None
        if isinstance(rule, ProbabilityRule) and (calibration is None or not calibration.n_held_out):
            rule = FALLBACK
        hidden = None if calibration is None else calibration.n_held_out
        if isinstance(rule, TemperatureRule):
            return Decide(calibration, rule, None, field.totals, shares), hidden
        assert isinstance(rule, ProbabilityRule)
        assert calibration is not None
        found = self.session.on_parts(field.name, chance_sums, [(calibration,)] * len(self.session.addresses))
        mean = np.sum([total for total, _ in found], axis=0) / max(1, sum(count for _, count in found))
        some = field.at(sampled_nodes(self.seeds, self.graph.n_nodes))
        sample = calibration.probabilities(Field(some.temperatures, csr_array(some.direct), some.neighbours))
        weights = class_factors(self.settings.class_weight, self.seeds)
        decision = Decision.by_mean(rule, mean, sample, self.seeds, weights)
        return Decide(calibration, None, decision, field.totals, shares), hidden

    def _calibration(self, field: "_Remote") -> Calibration:
        """The calibration on held-out seeds, solved for as roughly as on one machine."""
        rough = replace(self.settings.solving, tol=None, max_iter=2 + math.ceil(field.solution.iterations / 3))
        options = self.settings.solving if self.settings.solving.tol is None else rough

        def solve(seeds: Seeds) -> _Remote:
            self._forget(but=field.name)
            return self._solved(seeds, options)

        calibrated = calibrate(hold_out(self.seeds, self.graph, solve), field, self.seeds)
        self._forget(but=field.name)
        return calibrated.calibration

    def _written(self, name: str, decide: Decide, folder: Path, columns: Columns) -> list[Written]:
        classes, session = self.seeds.classes.tolist(), self.session
        ids: list[Path | NDArray[Any]] = [self.graph.folder.absolute()] * len(session.addresses)
        if not session.sees_folder:
            bounds = zip(session.bounds[:-1], session.bounds[1:], strict=True)
            ids = [self.graph.nodes[first:last] for first, last in bounds]
        try:
            return session.on_parts(name, write_part, [(decide, classes, columns, folder, each) for each in ids])
        except OSError as error:
            raise ClusterError(
                f"the workers cannot write to {folder.parent} ({error.strerror or error}); "
                "choose a folder that all of them see"
            ) from None


class _Remote:
    """Features of nodes that the workers keep; see `isotherm.insight.confidence.neighbourhood.Features`."""

    def __init__(self, session: Session, name: str, seeds: Seeds, solution: Solution, n_nodes: int) -> None:
        self.session, self.name, self.solution = session, name, solution
        found: list[Sums] = session.on_parts(name, temperature_sums, [()] * len(session.addresses))
        count = sum(part.n_reached for part in found)
        self.n_unreached = n_nodes - count
        self.mean: Doubles = np.sum([part.reached for part in found], axis=0) / max(count, 1)
        self.totals = Totals(self.mean, np.sum([part.others for part in found], axis=0))

    def at(self, nodes: Ints) -> Warmth:
        """Features of some of the nodes."""
        found = self.session.on_parts(self.name, some_warmth, [(nodes,)] * len(self.session.addresses))
        order = np.argsort(np.concatenate([places for places, _ in found]), kind="stable")
        temperatures, direct, neighbours = (
            np.concatenate([warmth[kind] for _, warmth in found])[order] for kind in range(3)
        )
        return Warmth(temperatures, direct, neighbours)

    def scores(self, rule: TemperatureRule, seeds: Seeds, nodes: Ints) -> Floats:
        """(m, K) the scores of a rule at some of the nodes."""
        return rule.scored(self.at(nodes).temperatures, self.totals, seeds.shares)

    def labels(self, rule: TemperatureRule, seeds: Seeds) -> NDArray[np.int32]:
        """Empty: they stay with the workers."""
        return np.empty(0, np.int32)
