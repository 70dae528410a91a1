"""Out-of-core packing: all edges are read twice, and memory never holds more than a few batches or one bucket.

The first pass numbers the nodes and counts the edges; nothing is written yet, so disk space can be checked. The second
deals the edges to buckets on disk, by row. Then each bucket is sorted, merged and appended to the packed graph.
"""

import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.graphs.csr import check_size
from isotherm.graphs.packed import open_packed
from isotherm.graphs.packed_writing import PackWriter, check_folder, writing_folder
from isotherm.io.formats import FORMATS
from isotherm.io.layout import Options, Pick
from isotherm.io.memory import available_memory
from isotherm.io.packing.buckets import SORTING, Buckets, balanced_bounds
from isotherm.io.packing.numbering import NUMBERINGS, Numbering, UnsuitableError
from isotherm.io.packing.sources import Meter, PackProgress, Sources, files_to_pack
from isotherm.io.reading.graphs import read_graph

__all__ = ["pack_edges"]

LEAST_MEMORY = 1 << 22
USUAL_MEMORY = 1 << 32  # if the system does not say what is free
MOST_BUCKETS = 4096
SAMPLE = 1 << 20  # ends of edges by which buckets are balanced
DEALT = 256  # bytes for each edge while it is dealt
MARGIN = 1.02  # of disk space


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
    format: str | None = None,  # noqa: A002 - the name that the commands use
    simple: bool = False,
    max_memory: int | None = None,
    force: bool = False,
    progress: PackProgress | None = None,
) -> Graph:
    r"""Write edges as a packed graph, which may be larger than memory, and open it.

    The graph is that of :func:`isotherm.read_graph`, with its nodes in ascending order of their ids. Ids of delimited
    text that are all whole numbers, written without leading zeros, are stored as integers.

    Parameters
    ----------
    paths
        Files of edges, and folders of such files: delimited text, Parquet or Arrow. Other formats that
        :func:`isotherm.read_graph` knows are read into memory, one file only.
    output
        The folder to write, such as ``graph.iso``. It appears when it is complete.
    directed, source, target, weight, delimiter, header, encoding, thousands, format
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
    names = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    goal = Path(output)
    check_folder(goal, force=force)
    files = files_to_pack(names, format)
    weight = False if simple else weight
    others = [file for file in files if FORMATS[file.known.name].reader is not None]
    if others and len(files) > 1:
        raise FileError(f"{others[0].path} holds a whole graph, so it cannot be packed with other files; give it alone")
    if others:
        graph = read_graph(names[0], directed=directed, weight=weight, format=format, max_graph_memory=max_memory)
        graph.pack(goal, force=force)
        return open_packed(goal)
    memory = max(_usual_memory() if max_memory is None else max_memory, LEAST_MEMORY)
    options = Options(directed, source, target, weight, delimiter, header, encoding=encoding, thousands=thousands)
    sources = Sources(files, options)
    meter = Meter(progress)
    survey = _surveyed(sources, memory, meter, simple=simple, directed=bool(directed))
    _write(goal, sources, survey, memory, meter, simple=simple, directed=bool(directed), force=force)
    meter.report(1.0)
    return open_packed(goal)


def _usual_memory() -> int:
    free = available_memory()
    return USUAL_MEMORY if free is None else free // 2


def _surveyed(sources: Sources, memory: int, meter: Meter, *, simple: bool, directed: bool) -> _Survey:
    """The first pass; it starts again if ids turn out to be of another kind."""
    kind = "small"
    while True:
        try:
            numbering = NUMBERINGS[kind](memory // 2)
            return _pass_over(sources, numbering, meter, mirrored=not simple and not directed)
        except UnsuitableError as error:
            kind = error.instead


def _pass_over(sources: Sources, numbering: Numbering, meter: Meter, *, mirrored: bool) -> _Survey:
    meter.stage("numbering nodes", 0.0, 0.3)
    edges, kinds, mirror, sampler = 0, set[Any](), _Mirror(), _Sampler()
    for file, batch in sources.batches(meter):
        words = numbering.see(file, batch)
        edges += words.shape[1]
        kinds.add(None if batch.weight is None else batch.weight.dtype)
        sampler.add(words)
        if mirrored:
            mirror.add(words, batch.weight)
    if not edges:
        raise FileError(f"{sources.files[0].path} has no rows, so no edges")
    numbering.finish()
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


def _write(
    goal: Path,
    sources: Sources,
    survey: _Survey,
    memory: int,
    meter: Meter,
    *,
    simple: bool,
    directed: bool,
    force: bool,
) -> None:
    """The second pass, and the rows."""
    n = survey.numbering.n
    check_size(n, directed)
    one_way = directed or survey.both_ways
    entries = survey.edges * (1 if one_way else 2)
    itemsize = 8 + (0 if survey.weights is None else survey.weights.itemsize)
    each = 3 * itemsize + SORTING
    count = int(np.clip(-(-entries * each // (memory // 2)), 1, MOST_BUCKETS))
    _check_disk(goal, entries * itemsize + 40 * n)
    with writing_folder(goal, force=force) as draft, ExitStack() as files:
        buckets = Buckets(draft, balanced_bounds(survey.sample, n, count), survey.weights)
        meter.stage(f"dealing edges to {len(buckets)} buckets", 0.3, 0.7)
        _deal(sources, survey.numbering, buckets, meter, one_way=one_way, directed=directed, memory=memory)
        meter.stage("sorting rows", 0.7, 1.0)
        writer = files.enter_context(PackWriter(draft, directed=directed))
        for number in range(len(buckets)):
            writer.append(*buckets.rows(number, simple=simple, memory=memory))
            meter.report((number + 1) / len(buckets))
        survey.numbering.store(writer)
        writer.finish()


def _deal(
    sources: Sources,
    numbering: Numbering,
    buckets: Buckets,
    meter: Meter,
    *,
    one_way: bool,
    directed: bool,
    memory: int,
) -> None:
    """Deal all edges, in portions of many batches: fewer and longer writes."""
    most = min(memory // 2 // DEALT, 1 << 22)
    held: list[tuple[NDArray[np.int32], NDArray[Any] | None]] = []
    rows = 0
    for file, batch in sources.batches(meter):
        held.append((numbering.positions(file, batch), _weights(batch.weight, len(batch.source), buckets.weights)))
        rows += len(batch.source)
        if rows >= most:
            _deal_portion(held, buckets, one_way=one_way, directed=directed)
            held, rows = [], 0
    if held:
        _deal_portion(held, buckets, one_way=one_way, directed=directed)


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
        sizes = f"needs about {needed / 2**30:.1f} GB of disk, but {parent} has only {free / 2**30:.1f} GB"
        raise FileError(f"{goal}: packing {sizes}; free some, or choose another place")
