"""The METIS format: a line for each node, with its neighbours."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import shorten
from isotherm.io.layout import Layout, Options
from isotherm.io.memory import Budget, joined
from isotherm.io.streams import Input
from isotherm.io.tables.edges import Edges, built

__all__ = ["read_metis"]


class _Head(NamedTuple):
    """The first line: ``n m [fmt [ncon]]``."""

    nodes: int
    edges: int
    skipped: int  # numbers at the start of each line: the size and the weights of the node
    weighted: bool


def read_metis(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from a METIS file; ids are 1 to n, and every edge is listed at both of its ends."""
    path = file.name
    lines = [(number, line) for number, line in _lines(joined(path, file.text())) if not line.startswith(b"%")]
    head = _head(path, *lines.pop(0)) if lines else None
    if head is None:
        raise FileError(f"{path} has no rows: it is empty, or holds comments only")
    Budget(path, options.max_memory).check(nodes=head.nodes, edges=head.edges, weighted=head.weighted)
    while len(lines) > head.nodes and not lines[-1][1].strip():
        lines.pop()
    if len(lines) != head.nodes:
        counts = f"the first line announces {head.nodes} nodes, but {len(lines)} lines follow"
        raise FileError(f"{path}: {counts}; correct it, or copy the file again")
    source, target, weight = _arcs(path, head, lines)
    if len(source) != 2 * head.edges:
        counts = f"the first line announces {head.edges} edges, but {len(source)} neighbours are listed"
        raise FileError(f"{path}: {counts}; list every edge at both of its ends")
    weight = None if options.weight is False else weight
    edges = Edges(source, target, weight, np.arange(1, head.nodes + 1), Layout("metis", first_id=1))
    return built(edges, directed=bool(options.directed)), edges.layout


def _lines(content: bytes) -> list[tuple[int, bytes]]:
    return list(enumerate(content.removesuffix(b"\n").split(b"\n"), start=1))


def _head(path: str, number: int, line: bytes) -> _Head:
    values = _integers(path, number, line).tolist()
    if not 2 <= len(values) <= 4 or min(values) < 0:
        raise _malformed(path, number, "METIS begins with the numbers of nodes and edges")
    flags = f"{values[2] if len(values) > 2 else 0:03d}"
    if len(flags) > 3 or set(flags) - {"0", "1"}:
        raise FileError(f"{path}, line {number}: the METIS format is {flags}; it must be three digits of 0 and 1")
    weights = values[3] if len(values) > 3 else 1
    return _Head(values[0], values[1], int(flags[0]) + int(flags[1]) * weights, flags[2] == "1")


def _arcs(
    path: str, head: _Head, lines: list[tuple[int, bytes]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    """Source, target and weight of each neighbour that is listed."""
    values = [_integers(path, number, line) for number, line in lines]
    step = 2 if head.weighted else 1
    for (number, _), row in zip(lines, values, strict=True):
        if len(row) < head.skipped or (len(row) - head.skipped) % step:
            raise FileError(f"{path}, line {number}: {len(row)} numbers do not fit the format in the first line")
    rows = [row[head.skipped :] for row in values]
    listed = np.concatenate([*rows, np.empty(0, dtype=np.int64)])
    source = np.repeat(np.arange(len(rows)), [len(row) // step for row in rows])
    target = listed[::step] - 1
    outside = (target < 0) | (target >= head.nodes)
    if outside.any():
        arc = int(outside.argmax())
        where = lines[source[arc]][0]
        raise FileError(f"{path}, line {where}: there is no node {target[arc] + 1}; nodes are 1 to {head.nodes}")
    weight = listed[1::2].astype(np.float64) if head.weighted else None
    if weight is not None and len(weight) and weight.min() < 0:
        where = lines[source[int(weight.argmin())]][0]
        raise FileError(f"{path}, line {where}: the weight is {weight.min():g}; it must not be negative")
    return source, target, weight


def _integers(path: str, number: int, line: bytes) -> NDArray[np.int64]:
    try:
        return np.array(line.split(), dtype=np.bytes_).astype(np.int64) if line.strip() else np.empty(0, dtype=np.int64)
    except (ValueError, OverflowError):
        numbers = shorten(line.decode(errors="replace").strip())
        raise _malformed(path, number, f"{numbers} are not all whole numbers") from None


def _malformed(path: str, number: int, problem: str) -> FileError:
    message = "{path}, line {number}: {problem}; correct it, or set {format}"
    return FileError(message, path=path, number=number, problem=problem, format=Option("format"))
