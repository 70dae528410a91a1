"""What a worker does with the temperatures that it keeps: sums, features of some nodes, probabilities, labels."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.engines.worker import SolvedPart
from isotherm.graphs.packed import read_ids
from isotherm.insight.confidence.calibration import Calibration
from isotherm.insight.confidence.neighbourhood import Field, Warmth, effective_number
from isotherm.labelling.outcome.decided import Decision
from isotherm.labelling.rules import TemperatureRule, Totals

__all__ = ["Columns", "Decide", "Sums", "Written", "chance_sums", "some_warmth", "temperature_sums", "write_part"]

CHUNK = 1 << 13  # nodes whose features and probabilities are in memory at once
FEW = 1 << 12  # nodes whose entries are
GROUP = 1 << 15  # rows that are written at once,
PAGE = 1 << 16  # and bytes of a column


class Sums(NamedTuple):
    """Sums over the own nodes of a worker: temperatures (K,) of reached nodes and of non-seeds, and their number."""

    reached: Doubles
    others: Doubles
    n_reached: int


def temperature_sums(part: SolvedPart) -> Sums:
    """The sums that rules and calibration need."""
    temperatures = part.temperatures
    is_seed = np.zeros(part.own, bool)
    is_seed[part.boundary[part.boundary < part.own]] = True
    sums = np.zeros((2, temperatures.shape[1]))
    for rows in _chunks(part):
        known = np.nan_to_num(temperatures[rows])
        sums += known.sum(axis=0, dtype=np.float64), known[~is_seed[rows]].sum(axis=0, dtype=np.float64)
    return Sums(sums[0], sums[1], int(np.count_nonzero(~np.isnan(temperatures[:, 0]))))


def some_warmth(part: SolvedPart, nodes: Ints) -> tuple[Ints, Warmth]:
    """Features of those nodes that are this worker's own, and their places among all that are asked for."""
    first = part.first
    places = np.flatnonzero((nodes >= first) & (nodes < first + part.own))
    return places, _warmth(part, nodes[places] - first, _held_places(part))


def _held_places(part: SolvedPart) -> NDArray[np.int32]:
    """The place of each node among the held ones; -1 for others."""
    place = np.full(part.conductance.n, -1, np.int32)
    place[part.boundary] = np.arange(len(part.boundary))
    return place


def _warmth(part: SolvedPart, own: Ints, place: NDArray[np.int32]) -> Warmth:
    """Features of own nodes: temperatures, the heat that comes directly from seeds, and effective neighbours."""
    some = [_few(part, own[first : first + FEW], place) for first in range(0, max(len(own), 1), FEW)]
    temperatures, direct, neighbours = (np.concatenate(kind) for kind in zip(*some, strict=True))
    return Warmth(temperatures, direct, neighbours)


def _few(part: SolvedPart, own: Ints, place: NDArray[np.int32]) -> Warmth:
    """Features of few nodes, whose entries are copied."""
    csr = part.conductance
    owner, ends, weights = csr.entries_at(own)
    total = np.bincount(owner, weights, minlength=len(own))
    held = place[ends] >= 0
    shape = len(own), len(part.boundary)
    touching = csr_array((weights[held].astype(np.float64), (owner[held], place[ends[held]])), shape=shape)
    direct = np.asarray(touching @ part.values) / np.where(total > 0, total, np.inf)[:, None]
    counts = np.concatenate([[0], np.cumsum(csr.indptr[own + 1] - csr.indptr[own])])
    return Warmth(part.temperatures[own], direct, effective_number(counts, None if csr.weights is None else weights))


class Decide(NamedTuple):
    """How nodes get their labels.

    Attributes
    ----------
    calibration
        How temperatures become probabilities; None for the softmax of the scores.
    rule
        The rule, if it goes by temperatures; None if it goes by probabilities.
    decision
        How probabilities become scores, otherwise.
    totals, shares
        What a rule on temperatures has to know.
    """

    calibration: Calibration | None
    rule: TemperatureRule | None
    decision: Decision | None
    totals: Totals
    shares: Doubles

    @property
    def rule_name(self) -> str:
        """The name of the rule."""
        if self.rule is not None:
            return self.rule.name
        assert self.decision is not None
        return self.decision.rule.name

    def found(self, warmth: Warmth) -> tuple[Ints, Doubles]:
        """Class numbers (m,) of some nodes, -1 where unreached, and probabilities (m, K)."""
        scores = None if self.rule is None else self.rule.scored(warmth.temperatures, self.totals, self.shares)
        if self.calibration is not None:
            field = Field(warmth.temperatures, csr_array(warmth.direct), warmth.neighbours)
            chances = self.calibration.probabilities(field)
        else:
            assert scores is not None
            powers = np.exp(scores - scores.max(axis=1, keepdims=True), dtype=np.float64)
            chances = np.nan_to_num(powers / powers.sum(axis=1, keepdims=True))
        if scores is None:
            assert self.decision is not None
            scores = self.decision.scores(chances)
        codes = np.nan_to_num(scores, nan=-np.inf).argmax(axis=1)
        return np.where(np.isnan(warmth.temperatures[:, 0]), -1, codes), chances


def chance_sums(part: SolvedPart, calibration: Calibration) -> tuple[Doubles, int]:
    """The sum of the probabilities (K,) of own nodes, and the number of nodes that have any."""
    total, count, place = np.zeros(part.temperatures.shape[1]), 0, _held_places(part)
    for rows in _chunks(part):
        warmth = _warmth(part, np.arange(rows.start, rows.stop), place)
        chances = calibration.probabilities(Field(warmth.temperatures, csr_array(warmth.direct), warmth.neighbours))
        _hold(part, rows, chances)
        total += chances.sum(axis=0)
        count += int(np.count_nonzero(chances.any(axis=1)))
    return total, count


class Columns(NamedTuple):
    """What is written besides node and label, and which nodes are left out."""

    confidence: bool = True
    probabilities: bool = False
    temperatures: bool = False
    only_unlabelled: bool = False
    min_confidence: float | None = None


class Written(NamedTuple):
    """Rows that a worker wrote, how many nodes have each label, and how many are unreached."""

    rows: int
    counts: dict[int, int]
    unreached: int


def write_part(
    part: SolvedPart, decide: Decide, classes: list[Any], columns: Columns, folder: Path, ids: Path | NDArray[Any]
) -> Written:
    """Write the labels of own nodes as a Parquet file into a folder."""
    with _frugal():
        return _write(part, decide, classes, columns, folder, ids)


@contextmanager
def _frugal() -> Iterator[None]:
    """Let Arrow give back memory at once: its own pools keep tens of megabytes."""
    import pyarrow as pa

    usual = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


def _write(
    part: SolvedPart, decide: Decide, classes: list[Any], columns: Columns, folder: Path, ids: Path | NDArray[Any]
) -> Written:
    from pyarrow import concat_tables, parquet

    rows_written, counts, unreached, place = 0, Counter[int](), 0, _held_places(part)
    name = f"part-{part.rank:05d}.parquet"
    writer, tables = None, []
    for rows in _chunks(part):
        warmth = _warmth(part, np.arange(rows.start, rows.stop), place)
        codes, chances = decide.found(warmth)
        _hold(part, rows, chances)
        seeds = _own_seeds(part, rows)
        codes[seeds[0]] = seeds[1].argmax(axis=1)
        counts.update(codes[codes >= 0].tolist())
        unreached += int(np.count_nonzero(codes < 0))
        first = part.first
        nodes = read_ids(ids, first + rows.start, first + rows.stop) if isinstance(ids, Path) else ids[rows]
        table = _table(nodes, codes, chances, warmth, classes, columns, seeds[0])
        rows_written += table.num_rows
        tables.append(table)
        if rows.stop == part.own or sum(each.num_rows for each in tables) >= GROUP:
            # a dictionary of values that are all different would take more memory than the values
            writer = writer or parquet.ParquetWriter(
                folder / name, table.schema, use_dictionary=["label"], data_page_size=PAGE
            )
            writer.write_table(concat_tables(tables))
            tables.clear()
    if writer is not None:
        writer.close()
    return Written(rows_written, dict(counts), unreached)


def _table(
    nodes: NDArray[Any],
    codes: Ints,
    chances: Doubles,
    warmth: Warmth,
    classes: list[Any],
    columns: Columns,
    seeds: Ints,
) -> Any:
    import pyarrow as pa

    kept = np.ones(len(nodes), bool)
    confidence = np.where(codes >= 0, chances[np.arange(len(codes)), np.maximum(codes, 0)], 0)
    if columns.only_unlabelled:
        kept[seeds] = False
    if columns.min_confidence is not None:
        kept &= confidence >= columns.min_confidence
    kind = {bool: pa.bool_(), int: pa.int64()}.get(type(classes[0]), pa.string())
    labels = pa.array(classes, kind).take(pa.array(np.maximum(codes, 0)[kept]))
    labels = pa.compute.if_else(pa.array((codes >= 0)[kept]), labels, pa.scalar(None, kind))
    found = {
        "node": pa.array(nodes[kept].tolist()) if nodes.dtype == object else pa.array(nodes[kept]),
        "label": labels,
    }
    if columns.confidence:
        found["confidence"] = pa.array(confidence[kept])
    tables: dict[str, Floats] = {"p": chances} if columns.probabilities else {}
    tables |= {"t": warmth.temperatures} if columns.temperatures else {}
    for prefix, values in tables.items():
        for column, label in enumerate(classes):
            found[f"{prefix}_{label}"] = pa.array(values[kept, column], from_pandas=True)  # NaN is null
    return pa.table(found)


def _own_seeds(part: SolvedPart, rows: slice) -> tuple[Ints, Doubles]:
    """Places of the seeds among some own nodes, and their temperatures."""
    inside = (part.boundary >= rows.start) & (part.boundary < rows.stop)
    return part.boundary[inside] - rows.start, part.values[inside]


def _hold(part: SolvedPart, rows: slice, chances: Doubles) -> None:
    """A seed has the probabilities that are given."""
    places, values = _own_seeds(part, rows)
    chances[places] = values


def _chunks(part: SolvedPart) -> Iterator[slice]:
    for first in range(0, part.own, CHUNK):
        yield slice(first, min(first + CHUNK, part.own))
