"""Files of edges to packed graphs, however large: memory never holds more than a few batches or one bucket.

All edges are read twice. The first pass numbers the nodes and counts the edges; nothing is written yet, so disk space
can be checked. The second deals the edges to buckets on disk, by row. Then each bucket is sorted, merged and appended
to the packed graph.
"""

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.choices import DecimalSign
from isotherm.errors import Option
from isotherm.files import FileError, is_stream
from isotherm.graphs import Graph
from isotherm.graphs.csr import check_size
from isotherm.graphs.packed import open_packed
from isotherm.graphs.packed_writing import PACKED, PackWriter
from isotherm.io.batches import EdgeBatch, ahead
from isotherm.io.edges import found_files, opened_tables
from isotherm.io.file_layout import Options, Pick
from isotherm.io.formats import FORMATS, SourceFile
from isotherm.io.graphs import names_of, read_graph
from isotherm.io.memory import available_memory
from isotherm.io.numbering import Numbering, UnsuitableError, numbering_of, warn_about_twins
from isotherm.tables import size

PackProgress: TypeAlias = Callable[..., None]  # called with the share done, 1.0 and a note

LEAST_MEMORY = 1 << 22  # bytes
SORTING = 48  # bytes planned per entry for sorting, in addition to three copies of it; about half are needed
USUAL_MEMORY = 1 << 32  # bytes, if the system does not say what is free
MOST_BUCKETS = 4096
SAMPLE = 1 << 20  # ends of edges, by which buckets are balanced
DEALT = 256  # bytes for each edge while it is dealt
MARGIN = 1.02  # factor on the disk space that is needed


class _Survey(NamedTuple):
    """What the first pass found."""

    numbering: Numbering
    edges: int
    weights: np.dtype[Any] | None
    both_ways: bool  # each edge is listed in both directions with the same weight
    sample: NDArray[np.int64]


def pack_edges(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    source: Pick = None,
    target: Pick = None,
    weight: Pick | bool = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    thousands: bool = False,
    decimal: DecimalSign | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    simple: bool = False,
    max_memory: int | None = None,
    force: bool = False,
    progress: PackProgress | None = None,
) -> Graph:
    r"""Write edges as a packed graph, which may be larger than memory, and open it.

    It is the graph of :func:`isotherm.read_graph`, with its nodes in ascending order of their ids. Ids of delimited
    text that are all whole numbers, written without leading zeros, are stored as integers.

    Parameters
    ----------
    paths
        Files of edges, and folders of such files: delimited text, Parquet or Arrow. Other formats that
        :func:`isotherm.read_graph` knows are read into memory, one file only.
    output
        The folder to write, such as ``graph.iso``. It appears when it is complete.
    directed, source, target, weight, delimiter, header, encoding, thousands, decimal, format
        As in :func:`isotherm.read_graph`.
    simple
        Whether parallel edges count once, and weights are ignored; otherwise the weights of parallel edges are added.
    max_memory
        Bytes to use; by default half of what is free. With less, more buckets are written.
    force
        Whether to replace a packed graph that exists.
    progress
        Called with the share of the work that is done, 1.0, and a note.

    Raises
    ------
    FileError
        If a file cannot be read, or if there is not enough disk space, which is checked before anything is written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("from,to\n7,9\n9,7000\n")
    >>> graph = pack_edges(folder / "edges.csv", folder / "graph.iso")
    >>> graph, graph.nodes[:].tolist()
    (<Graph: 3 nodes, 2 edges>, [7, 9, 7000])
    """
    names = names_of(paths)
    goal = Path(output)
    PACKED.check(goal, force=force)
    files = _files_to_pack(names, format)
    weight = False if simple else weight
    others = [file for file in files if FORMATS[file.known.name].reader is not None]
    if others and len(files) > 1:
        raise FileError(f"{others[0].path} holds a whole graph, so it cannot be packed with other files; give it alone")
    if others:
        graph = read_graph(names[0], directed=directed, weight=weight, format=format, max_graph_memory=max_memory)
        graph.pack(goal, force=force)
        return open_packed(goal)
    memory = max(_usual_memory() if max_memory is None else max_memory, LEAST_MEMORY)
    options = Options(directed, source, target, weight, delimiter, header, None, None, encoding, thousands, decimal)
    plan = _Plan(files, options, _Meter(progress), memory, simple, bool(directed))
    _write(goal, plan, _surveyed(plan), force=force)
    plan.meter.report(1.0)
    return open_packed(goal)


def _usual_memory() -> int:
    free = available_memory()
    return USUAL_MEMORY if free is None else free // 2


def _files_to_pack(paths: Iterable[str], wanted: str | None) -> list[SourceFile]:
    """The files that these names stand for, none of which may be a pipe."""
    names = list(paths)
    for name in names:
        if is_stream(name):
            raise FileError(f"{name}: edges are read twice to be packed, so they cannot come from a pipe; give a file")
    return found_files(names, wanted)


class _Meter:
    """The share of the work that is done, with an estimate of the time that is left."""

    def __init__(self, progress: PackProgress | None) -> None:
        self._progress, self._began = progress, time.monotonic()
        self._base, self._width, self._note = 0.0, 1.0, ""

    def stage(self, note: str, begin: float, end: float) -> None:
        """Begin a stage, which takes the work from one share to another."""
        self._base, self._width, self._note = begin, end - begin, note
        self.report(0.0)

    def report(self, share: float) -> None:
        """Report the share of the stage that is done."""
        if self._progress is None:
            return
        done, seconds = self._base + self._width * min(max(share, 0.0), 1.0), time.monotonic() - self._began
        left = seconds / done - seconds if done > 0.02 else 0.0
        text = f", about {left / 60:.0f} min left" if left >= 60 else f", about {left:.0f} s left" if left else ""
        self._progress(done, 1.0, f"{self._note}{text}")


class _Plan(NamedTuple):
    """What is packed, and how."""

    files: list[SourceFile]
    options: Options
    meter: _Meter
    memory: int  # bytes to use
    simple: bool
    directed: bool

    def batches(self) -> Iterator[tuple[SourceFile, EdgeBatch]]:
        """All edges, read anew at each call."""

        def progress(done: int, total: int | None) -> None:
            self.meter.report(done / (total or 1))

        for file, table in opened_tables(self.files, self.options, progress):
            yield from ((file, batch) for batch in ahead(table.batches))


class MergedRows(NamedTuple):
    """Some rows of a matrix: the number of entries of each, and for all entries column and weight."""

    counts: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[Any] | None


def balanced_bounds(sample: NDArray[np.int64], n: int, buckets: int) -> NDArray[np.int64]:
    """Bounds of ranges of rows, from 0 to n, with about as many entries each, judged by the rows of a sample.

    A row that is several times among the quantiles of the sample is a hub, and gets a bucket of its own.

    >>> balanced_bounds(np.array([0, 0, 0, 0, 5, 6]), 10, 3)
    array([ 0,  1,  5, 10])
    """
    quantiles = np.sort(sample)[np.arange(buckets) * len(sample) // buckets]
    after_hubs = quantiles[1:][quantiles[1:] == quantiles[:-1]] + 1
    return np.unique(np.concatenate([[0, n], quantiles, after_hubs]))


class Buckets:
    """Entries of a matrix on disk, by ranges of rows."""

    def __init__(self, folder: Path, bounds: NDArray[np.int64], weights: np.dtype[Any] | None) -> None:
        self.bounds, self.weights = bounds, weights
        fields: list[Any] = [("row", np.int32), ("column", np.int32)]
        self.entry = np.dtype(fields if weights is None else [*fields, ("weight", weights)])
        self._paths = [folder / f"bucket-{number}" for number in range(len(bounds) - 1)]
        kind = np.uint8 if len(self) <= 256 else np.uint16
        self._bucket_of = np.repeat(np.arange(len(self), dtype=kind), np.diff(bounds))  # (n,)

    def __len__(self) -> int:
        return len(self._paths)

    def deal(self, rows: NDArray[np.int32], columns: NDArray[np.int32], weights: NDArray[Any] | None) -> None:
        """Append entries to the files of their rows."""
        numbers = self._bucket_of[rows]
        order = np.argsort(numbers, kind="stable")  # a radix sort
        entries = np.empty(len(rows), dtype=self.entry)
        entries["row"], entries["column"] = rows[order], columns[order]
        if self.weights is not None:
            entries["weight"] = 1 if weights is None else weights[order]
        ends = np.cumsum(np.bincount(numbers, minlength=len(self)))
        for number, end in enumerate(ends.tolist()):
            first = int(ends[number - 1]) if number else 0
            if end > first:
                with open(self._paths[number], "ab", buffering=0) as file:
                    entries[first:end].tofile(file)

    def rows(self, number: int, *, simple: bool, memory: int) -> MergedRows:
        """The sorted rows of a bucket, with duplicates merged; its file is removed."""
        low, high = self.bounds[number], self.bounds[number + 1]
        path = self._paths[number]
        if not path.exists():
            return MergedRows(np.zeros(high - low, np.int64), np.empty(0, np.int32), None)
        self._check_fits(path, int(low), int(high), memory)
        entries = np.fromfile(path, dtype=self.entry)
        rows, columns = entries["row"] - np.int32(low), np.ascontiguousarray(entries["column"])
        weights = None if self.weights is None else np.ascontiguousarray(entries["weight"])
        path.unlink()
        del entries
        indptr, indices = np.empty(high - low + 1, np.int64), np.empty_like(columns)
        ordered = None if weights is None else np.empty_like(weights)
        kernels.active.assemble(rows, columns, weights, indptr, indices, ordered, kernels.thread_count())
        del rows, columns, weights
        return _merged(indptr, indices, ordered, simple=simple)

    def _check_fits(self, path: Path, low: int, high: int, memory: int) -> None:
        """Refuse a bucket that is too large, which happens only if one node has very many edges."""
        count = path.stat().st_size // self.entry.itemsize
        needed = count * (3 * self.entry.itemsize + SORTING) // 2  # the plan allows for twice as much
        if needed > max(memory, 1 << 26):
            alone = high - low == 1
            where = f"the node at position {low} has" if alone else f"the nodes at positions {low} to {high - 1} have"
            raise FileError(
                "{where} {count:,} edges, which need {needed} to be sorted; raise {max_memory}",
                where=where,
                count=count,
                needed=size(needed),
                max_memory=Option("max_memory"),
            )


def _merged(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[Any] | None, *, simple: bool
) -> MergedRows:
    """MergedRows without duplicates: weights are added, or with ``simple`` an entry counts once; zeros are dropped."""
    first = np.ones(len(indices), dtype=bool)
    np.not_equal(indices[1:], indices[:-1], out=first[1:])
    first[indptr[:-1][np.diff(indptr) > 0]] = True
    if not first.all():
        starts = np.flatnonzero(first)
        if not simple and weights is not None:
            with np.errstate(over="ignore"):  # infinite sums are refused below
                weights = np.add.reduceat(weights, starts, dtype=np.float64).astype(weights.dtype)
        elif not simple:
            weights = np.diff(starts, append=len(indices)).astype(np.float32)
        indptr, indices = np.searchsorted(starts, indptr), indices[starts]
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        indptr, indices, weights = np.searchsorted(kept, indptr), indices[kept], weights[kept]
    if weights is not None and len(weights) and not weights.max() < np.inf:
        raise FileError("the sum of the weights of parallel edges is not finite; divide all weights by a constant")
    return MergedRows(np.diff(indptr), indices, weights)


def _surveyed(plan: _Plan) -> _Survey:
    """The first pass; it starts again if ids turn out to be of another kind."""
    kind = "small"
    while True:
        try:
            return _pass_over(plan, numbering_of(kind, plan.memory // 2))
        except UnsuitableError as error:
            kind = error.kind


def _pass_over(plan: _Plan, numbering: Numbering) -> _Survey:
    plan.meter.stage("numbering nodes", 0.0, 0.3)
    edges, kinds, mirror, sampler = 0, set[Any](), _Mirror(), _Sampler()
    for file, batch in plan.batches():
        words = numbering.see(file, batch)
        edges += words.shape[1]
        kinds.add(None if batch.weight is None else batch.weight.dtype)
        sampler.add(words)
        if not plan.simple and not plan.directed:
            mirror.add(words, batch.weight)
    if not edges:
        raise FileError(f"{plan.files[0].path} has no rows, so no edges")
    numbering.finish()
    warn_about_twins(plan.files[0].path, numbering.twins)
    known = kinds - {None}
    weights = np.dtype(known.pop() if len(known) == 1 else np.float64) if known else None
    return _Survey(numbering, edges, weights, mirror.closed, numbering.ranks(sampler.all()))


class _Sampler:
    """A sample of the ends of edges, of bounded size."""

    def __init__(self) -> None:
        self._step, self._parts, self._size = 1, list[NDArray[np.uint64]](), 0

    def add(self, words: NDArray[np.uint64]) -> None:
        self._parts.append(words[:, :: self._step].ravel().copy())
        self._size += len(self._parts[-1])
        if self._size > SAMPLE:
            self._parts, self._step = [self.all()[::2].copy()], 2 * self._step
            self._size = len(self._parts[0])

    def all(self) -> NDArray[np.uint64]:
        return np.concatenate(self._parts)


class _Mirror:
    """Whether a list holds every edge in both directions with the same weight.

    Each edge adds a random hash of its ends and weight if it leads up, and subtracts it if it leads down. The sum is 0
    if all edges cancel out, and otherwise with probability 2^-64.
    """

    def __init__(self) -> None:
        self._factors = [np.uint64(secrets.randbits(64) | 1) for _ in range(3)]
        self._sum, self._any = np.uint64(0), False

    def add(self, words: NDArray[np.uint64], weight: NDArray[Any] | None) -> None:
        source, target = words
        mixed = np.minimum(source, target) * self._factors[0] + np.maximum(source, target)
        if weight is not None:
            mixed = _scrambled(mixed) + weight.astype(np.float64).view(np.uint64)
        mixed = _scrambled(mixed * self._factors[1]) * self._factors[2]
        up, down = source < target, source > target
        with np.errstate(over="ignore"):
            self._sum += np.add.reduce(mixed, where=up) - np.add.reduce(mixed, where=down)
        self._any = self._any or bool(up.any() or down.any())

    @property
    def closed(self) -> bool:
        return self._any and self._sum == 0


def _scrambled(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = words ^ (words >> np.uint64(29))
    words = words * np.uint64(0xBF58476D1CE4E5B9)
    return words ^ (words >> np.uint64(32))


def _write(goal: Path, plan: _Plan, survey: _Survey, *, force: bool) -> None:
    """The second pass, and the rows."""
    n, meter, memory = survey.numbering.n, plan.meter, plan.memory
    check_size(n, plan.directed)
    one_way = plan.directed or survey.both_ways
    entries = survey.edges * (1 if one_way else 2)
    itemsize = 8 + (0 if survey.weights is None else survey.weights.itemsize)
    each = 3 * itemsize + SORTING
    count = int(np.clip(-(-entries * each // (memory // 2)), 1, MOST_BUCKETS))
    _check_disk(goal, entries * itemsize + 40 * n)
    with PACKED.writing(goal, force=force) as draft, ExitStack() as files:
        buckets = Buckets(draft, balanced_bounds(survey.sample, n, count), survey.weights)
        meter.stage(f"dealing edges to {len(buckets)} buckets", 0.3, 0.7)
        _deal(plan, survey.numbering, buckets, one_way=one_way)
        meter.stage("sorting rows", 0.7, 1.0)
        writer = files.enter_context(PackWriter(draft, directed=plan.directed))
        for number in range(len(buckets)):
            writer.append(*buckets.rows(number, simple=plan.simple, memory=memory))
            meter.report((number + 1) / len(buckets))
        survey.numbering.store(writer)
        writer.finish()


def _deal(plan: _Plan, numbering: Numbering, buckets: Buckets, *, one_way: bool) -> None:
    """Deal all edges, in portions of many batches: fewer and longer writes."""
    most = min(plan.memory // 2 // DEALT, 1 << 22)
    held: list[tuple[NDArray[np.int32], NDArray[Any] | None]] = []
    rows = 0
    for file, batch in plan.batches():
        held.append((numbering.positions(file, batch), _weights(batch.weight, len(batch.source), buckets.weights)))
        rows += len(batch.source)
        if rows >= most:
            _deal_portion(held, buckets, one_way=one_way, directed=plan.directed)
            held, rows = [], 0
    if held:
        _deal_portion(held, buckets, one_way=one_way, directed=plan.directed)


def _weights(weight: NDArray[Any] | None, count: int, dtype: np.dtype[Any] | None) -> NDArray[Any] | None:
    if dtype is None:
        return None
    return np.ones(count, dtype) if weight is None else weight.astype(dtype, copy=False)


def _deal_portion(
    held: list[tuple[NDArray[np.int32], NDArray[Any] | None]], buckets: Buckets, *, one_way: bool, directed: bool
) -> None:
    source, target = np.concatenate([ends for ends, _ in held], axis=1)
    parts = [weights for _, weights in held if weights is not None]
    weights = np.concatenate(parts) if parts else None
    if not directed and (loops := source == target).any():
        source, target = source[~loops], target[~loops]
        weights = None if weights is None else weights[~loops]
    buckets.deal(source, target, weights)
    if not one_way:
        buckets.deal(target, source, weights)


def _check_disk(goal: Path, needed: int) -> None:
    """Refuse to begin what would fill the disk."""
    parent = goal.absolute().parent
    free = shutil.disk_usage(parent).free
    if needed * MARGIN > free:
        sizes = f"needs about {size(needed)} of disk, but {parent} has only {size(free)}"
        raise FileError(f"{goal}: packing {sizes}; free some, or choose another place")
