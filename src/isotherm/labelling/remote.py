"""Labels that stay on the workers of a cluster: each decides and writes the labels of its own nodes.

The steps are the same as on one machine: solve, hide seeds to learn probabilities, decide, write rows. Only sums and
features of some nodes come to the client. Workers go by heat alone: experts need the whole graph in one process.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.options import Progress
from isotherm.equilibrium.problem import Problem
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import ParameterError
from isotherm.graphs.packed import PackedGraph, read_ids
from isotherm.labelling.outcomes import best_codes, softmax
from isotherm.labelling.rows import Columns, Rows, label_rows
from isotherm.labelling.rules import FittedDecision, Rule, Totals, class_factors, sampled_nodes
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import Calibration
from isotherm.probability.learning import Learnt, learn, rough_options
from isotherm.probability.node_features import NodeFeatures, effective_number
from isotherm.seeds import Seeds

if TYPE_CHECKING:  # only those who have a cluster import it
    from isotherm.engines.cluster import RemoteSolution
    from isotherm.engines.worker import SolvedPart

CHUNK = 1 << 13  # nodes whose features and probabilities are in memory at once
FEW = 1 << 12  # nodes whose edges are copied at once
GROUP, PAGE = 1 << 15, 1 << 16  # rows of a row group, and bytes of a page, in Parquet files


@dataclass(frozen=True)
class RemoteLabels:
    """What was done: the solution without temperatures, what decided, and how many nodes got each label."""

    solution: Solution
    rule: str
    rows: int
    counts: dict[object, int]
    unreached: int
    n_held_out: int | None


def label_remotely(
    graph: PackedGraph,  # an undirected packed graph, which may be opened unread
    seeds: Seeds,  # its seeds, with one certain label each
    settings: Settings,  # the parameters of the classifier
    target: str,  # the folder, which appears when it is complete
    *,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    force: bool = False,  # whether to replace a folder that exists
    progress: Progress | None = None,  # called after each iteration with its number and the present error
) -> RemoteLabels:
    """Label all nodes of a packed graph, and have the workers write the labels into a folder of Parquet files.

    Labels are the same as by a fit on one machine without evidence. Workers must see the folder of the target. They
    read the folder of the graph if they see it, and get their rows from the client otherwise. If a worker is lost, all
    begins again.
    """
    from isotherm.engines.session import restarting
    from isotherm.io.output import PARTS

    _check(graph, seeds, settings)
    PARTS.check(Path(target), force=force)

    def attempt() -> RemoteLabels:
        with PARTS.writing(Path(target), force=force) as folder:
            return _label(graph, seeds, settings, columns, folder.absolute(), progress)

    return restarting(attempt)


def _check(graph: PackedGraph, seeds: Seeds, settings: Settings) -> None:
    """Refuse what workers cannot do by themselves."""
    obstacles = {
        "a directed graph": graph.directed,
        "several labels for each node": seeds.several,
        "seeds that are not certain": seeds.weights is not None or seeds.table is not None,
        "known class sizes": settings.class_sizes is not None,
        "a fit that stops by labels": settings.stop == "labels",
    }
    for obstacle in (name for name, holds in obstacles.items() if holds):
        raise ParameterError(
            f"workers cannot write the labels of {obstacle}; write them to a file, such as labels.parquet"
        )


def _label(
    graph: PackedGraph, seeds: Seeds, settings: Settings, columns: Columns, folder: Path, progress: Progress | None
) -> RemoteLabels:
    from isotherm.engines.cluster import DaskEngine

    engine, options = DaskEngine(), settings.solving
    with engine.solve_remote(Problem.of_seeds(graph, seeds, "edges"), replace(options, progress=progress)) as remote:
        remote.warn_about_unreached()
        field, learnt = RemoteFeatures(remote), None
        if settings.calibration is not None:
            rough = rough_options(options, remote.solution)
            with ExitStack() as fold:

                def solve(visible: Seeds) -> RemoteFeatures:
                    fold.close()  # frees the temperatures of the fold before
                    problem = Problem.of_seeds(graph, visible, "edges")
                    return RemoteFeatures(fold.enter_context(engine.solve_remote(problem, rough)))

                learnt = learn(field, graph, seeds, solve)
        labeller = _labeller(field, graph, seeds, settings, learnt)
        written = _written(remote, graph, labeller, seeds, columns, folder)
    names = seeds.classes.tolist()
    counts = Counter(dict.fromkeys(names, 0))
    for part in written:
        counts.update({names[code]: count for code, count in part.counts.items()})
    return RemoteLabels(
        remote.solution,
        labeller.name,
        sum(part.rows for part in written),
        dict(counts),
        sum(part.unreached for part in written),
        None if learnt is None else learnt.calibration.n_held_out,
    )


class RemoteFeatures:
    """Features of nodes whose temperatures stay on the workers; see `isotherm.probability.node_features.Features`."""

    def __init__(self, remote: "RemoteSolution") -> None:
        self.remote = remote

    @property
    def mean(self) -> Doubles:
        """(K,) mean temperature of each class over reached nodes."""
        return self.remote.mean()

    @property
    def totals(self) -> Totals:
        """The totals over all nodes that rules on temperatures need."""
        return Totals(self.mean, np.sum(self.remote.map(_mass), axis=0))

    def at(self, nodes: Ints) -> NodeFeatures:
        """Features of some of the nodes."""
        found = self.remote.map(_features_at, nodes)
        order = np.argsort(np.concatenate([places for places, _ in found]), kind="stable")
        return NodeFeatures(*(np.concatenate([some[kind] for _, some in found])[order] for kind in range(3)))


class _Labeller(NamedTuple):
    """How a worker labels nodes: by a rule on temperatures, or by a decision on probabilities.

    ``calibration`` is None if probabilities are the softmax of the scores of the rule.
    """

    calibration: Calibration | None
    rule: Rule | None
    totals: Totals
    shares: Doubles
    decision: FittedDecision | None = None

    @property
    def name(self) -> str:
        """The name of the rule or decision."""
        if self.rule is not None:
            return self.rule.name
        assert self.decision is not None
        return self.decision.rule.name

    def label(self, features: NodeFeatures) -> tuple[Ints, Doubles]:
        """Class numbers (m,) of some nodes, -1 where unreached, and probabilities (m, K)."""
        if self.rule is not None:
            scores: Floats = self.rule.scored(features.temperatures, self.totals, self.shares)
            chances = softmax(scores) if self.calibration is None else self.calibration.probabilities(features)
            codes = best_codes(np.nan_to_num(scores, nan=-np.inf))
        else:
            assert self.calibration is not None
            assert self.decision is not None
            chances = self.calibration.probabilities(features)
            codes = self.decision.codes(chances)
        return np.where(np.isnan(features.temperatures[:, 0]), -1, codes), chances


def _labeller(
    field: RemoteFeatures, graph: PackedGraph, seeds: Seeds, settings: Settings, learnt: Learnt | None
) -> _Labeller:
    calibration = None if learnt is None else learnt.calibration
    if settings.decision is None or calibration is None:
        return _Labeller(calibration, settings.heat_rule, field.totals, seeds.shares)
    found = field.remote.map(_chance_sums, calibration)
    mean = np.sum([total for total, _ in found], axis=0) / max(1, sum(count for _, count in found))
    sample = calibration.probabilities(field.at(sampled_nodes(seeds, graph)))
    weights = class_factors(settings.class_weight, seeds)
    decision = FittedDecision.by_mean(settings.decision, mean, sample, seeds, weights)
    return _Labeller(calibration, None, Totals(field.mean, field.mean), seeds.shares, decision)


def _written(
    remote: "RemoteSolution", graph: PackedGraph, labeller: _Labeller, seeds: Seeds, columns: Columns, folder: Path
) -> "list[_Written]":
    from isotherm.engines.session import ClusterError

    bounds = zip(remote.bounds[:-1], remote.bounds[1:], strict=True)
    ids = [graph.folder.absolute() if remote.sees_folder else graph.nodes[first:last] for first, last in bounds]
    try:
        return remote.map(_write_part, labeller, seeds.classes, columns, folder, each=ids)
    except OSError as error:
        raise ClusterError(
            f"the workers cannot write to {folder.parent} ({error.strerror or error}); "
            "choose a folder that all of them see"
        ) from None


# What follows runs on the workers, each with the temperatures of its own nodes.


def _mass(part: "SolvedPart") -> Doubles:
    """(K,) the sum of the temperatures of own nodes that are reached and not seeds."""
    total = np.zeros(part.temperatures.shape[1])
    for rows in _chunks(part):
        known = np.nan_to_num(part.temperatures[rows])
        known[_own_seeds(part, rows)[0]] = 0
        total += known.sum(axis=0, dtype=np.float64)
    return total


def _features_at(part: "SolvedPart", nodes: Ints) -> tuple[Ints, NodeFeatures]:
    """Features of those nodes that are this worker's own, and their places among all that are asked for."""
    places = np.flatnonzero((nodes >= part.first) & (nodes < part.first + part.own))
    return places, _features(part, nodes[places] - part.first, _held_places(part))


def _held_places(part: "SolvedPart") -> NDArray[np.int32]:
    """The place of each node among the held ones; -1 for others."""
    place = np.full(part.conductance.n, -1, np.int32)
    place[part.boundary] = np.arange(len(part.boundary))
    return place


def _features(part: "SolvedPart", own: Ints, place: NDArray[np.int32]) -> NodeFeatures:
    """Features of own nodes; the edges of few nodes are copied at once."""
    some = [_few(part, own[first : first + FEW], place) for first in range(0, max(len(own), 1), FEW)]
    return NodeFeatures(*(np.concatenate(kind) for kind in zip(*some, strict=True)))


def _few(part: "SolvedPart", own: Ints, place: NDArray[np.int32]) -> NodeFeatures:
    csr = part.conductance
    owner, ends, weights = csr.entries_at(own)
    total = np.bincount(owner, weights, minlength=len(own))
    held = place[ends] >= 0
    shape = len(own), len(part.boundary)
    touching = csr_array((weights[held].astype(np.float64), (owner[held], place[ends[held]])), shape=shape)
    direct = np.asarray(touching @ part.values) / np.where(total > 0, total, np.inf)[:, None]
    counts = np.concatenate([[0], np.cumsum(csr.indptr[own + 1] - csr.indptr[own])])
    neighbours = effective_number(counts, None if csr.weights is None else weights)
    return NodeFeatures(part.temperatures[own], direct, neighbours)


def _chance_sums(part: "SolvedPart", calibration: Calibration) -> tuple[Doubles, int]:
    """The sum of the probabilities (K,) of own nodes, and the number of nodes that have any."""
    total, count, place = np.zeros(part.temperatures.shape[1]), 0, _held_places(part)
    for rows in _chunks(part):
        chances = calibration.probabilities(_features(part, np.arange(rows.start, rows.stop), place))
        seeds, values = _own_seeds(part, rows)
        chances[seeds] = values
        total += chances.sum(axis=0)
        count += int(np.count_nonzero(chances.any(axis=1)))
    return total, count


class _Written(NamedTuple):
    """Rows that a worker wrote, how many nodes have each label, and how many are unreached."""

    rows: int
    counts: dict[int, int]
    unreached: int


def _write_part(
    part: "SolvedPart",
    labeller: _Labeller,
    classes: NDArray[Any],
    columns: Columns,
    folder: Path,
    ids: Path | NDArray[Any],
) -> _Written:
    """Write the labels of own nodes as a Parquet file into a folder."""
    counts, unreached = Counter[int](), 0

    def batches() -> Iterator[Rows]:
        nonlocal unreached
        place = _held_places(part)
        for rows in _chunks(part):
            features = _features(part, np.arange(rows.start, rows.stop), place)
            codes, chances = labeller.label(features)
            seeds, values = _own_seeds(part, rows)
            chances[seeds], codes[seeds] = values, values.argmax(axis=1)
            counts.update(codes[codes >= 0].tolist())
            unreached += int(np.count_nonzero(codes < 0))
            first, is_seed = part.first, np.zeros(len(codes), bool)
            is_seed[seeds] = True
            yield label_rows(
                read_ids(ids, first + rows.start, first + rows.stop) if isinstance(ids, Path) else ids[rows],
                codes,
                classes,
                columns,
                confidence=chances[np.arange(len(codes)), np.maximum(codes, 0)],
                chances=chances if columns.probabilities else None,
                temperatures=features.temperatures if columns.temperatures else None,
                is_seed=is_seed,
            )

    with _frugal_memory():
        rows = _write_parquet(folder / f"part-{part.rank:05d}.parquet", batches())
    return _Written(rows, dict(counts), unreached)


@contextmanager
def _frugal_memory() -> Iterator[None]:
    """Let Arrow give back memory at once: its own pools keep tens of megabytes."""
    import pyarrow as pa

    usual = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


def _write_parquet(path: Path, batches: Iterator[Rows]) -> int:
    """Write batches by pyarrow, which a worker has loaded, and which takes less memory than polars."""
    import pyarrow as pa
    from pyarrow import parquet

    count, tables = 0, list[Any]()
    with ExitStack() as stack:
        writer: Any = None
        for batch in chain(batches, [None]):
            if batch is not None:
                tables.append(pa.table({name: _arrow(pa, column) for name, column in batch.items()}))
                count += tables[-1].num_rows
            if tables and (batch is None or sum(table.num_rows for table in tables) >= GROUP):
                if writer is None:  # a dictionary of distinct values would take more memory than the values
                    layout = {"use_dictionary": ["label"], "data_page_size": PAGE}
                    writer = stack.enter_context(parquet.ParquetWriter(path, tables[0].schema, **layout))
                writer.write_table(pa.concat_tables(tables))
                tables.clear()
    return count


def _arrow(pa: Any, column: NDArray[Any]) -> Any:
    """A column of Arrow; NaN is null."""
    missing, values = np.ma.getmaskarray(column), np.ma.getdata(column)
    if values.dtype != object:
        return pa.array(values, mask=missing, from_pandas=True)
    kinds = set(map(type, values.tolist()))
    kind = {frozenset({int}): pa.int64(), frozenset({bool}): pa.bool_()}.get(frozenset(kinds), pa.string())
    return pa.array(values, kind, mask=missing)


def _own_seeds(part: "SolvedPart", rows: slice) -> tuple[Ints, Doubles]:
    """Places of the seeds among some own nodes, and their temperatures."""
    inside = (part.boundary >= rows.start) & (part.boundary < rows.stop)
    return part.boundary[inside] - rows.start, part.values[inside]


def _chunks(part: "SolvedPart") -> Iterator[slice]:
    for first in range(0, part.own, CHUNK):
        yield slice(first, min(first + CHUNK, part.own))
