"""Formats that number their nodes from 1: Pajek's networks, and METIS with a line of neighbours for each node."""

import re
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.edges import Edges, built
from isotherm.io.errors import shorten
from isotherm.io.file_layout import Layout, Options
from isotherm.io.memory import Budget, joined
from isotherm.io.sniffing import is_number
from isotherm.io.streams import Input

FIELD = re.compile(r'"([^"]*)"|(\S+)')
DIRECTED = {"*edges": False, "*edgeslist": False, "*arcs": True, "*arcslist": True}


def read_pajek(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from a ``.net`` file; ids are the labels of its vertices if all have one and all differ, else numbers."""
    network = _Network(file, options)
    for number, line in enumerate(file.whole_text("cp1252").splitlines(), start=1):
        network.take(number, line.strip())
    return network.graph()


class _Network:
    """What was read so far."""

    def __init__(self, file: Input, options: Options) -> None:
        self.file, self.options = file, options
        self.size: int | None = None
        self.labels: dict[int, str] = {}
        self.section = ""
        self.arcs: list[tuple[int, int, float]] = []
        self.edges: list[tuple[int, int, float]] = []

    def take(self, number: int, line: str) -> None:
        """Read one line."""
        if not line or line.startswith("%"):
            return
        fields = [quoted or word for quoted, word in FIELD.findall(line)]
        if line.startswith("*"):
            self._begin(number, fields)
        elif self.section == "*vertices":
            vertex = self._vertex(number, fields[0])
            self.labels[vertex] = fields[1] if len(fields) > 1 else ""
        elif self.section in DIRECTED:
            self._links(number, fields)

    def _begin(self, number: int, fields: list[str]) -> None:
        self.section = fields[0].lower()
        if self.section == "*vertices":
            if len(fields) < 2 or not fields[1].isdecimal():
                self._fail(number, "*Vertices must be followed by their number")
            self.size = int(fields[1])
            Budget(self.file.name, self.options.max_memory).check(nodes=self.size)
        elif self.section == "*matrix":
            self._fail(number, "a *Matrix is not read; save the network as *Arcs or *Edges")
        elif self.section in DIRECTED and self.size is None:
            self._fail(number, "links come before *Vertices; put these first")

    def _links(self, number: int, fields: list[str]) -> None:
        found = self.arcs if DIRECTED[self.section] else self.edges
        if self.section.endswith("list"):
            one, *others = (self._vertex(number, field) for field in fields)
            found.extend((one, other, 1.0) for other in others)
            return
        if len(fields) < 2:
            self._fail(number, "a link needs two vertices")
        text = fields[2] if len(fields) > 2 and self.options.weight is not False else "1"
        if not is_number(text) or not 0 <= float(text) < float("inf"):
            self._fail(number, f"the weight is {shorten(text)}; it must be a finite number from 0 on")
        found.append((self._vertex(number, fields[0]), self._vertex(number, fields[1]), float(text)))

    def _vertex(self, number: int, text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= (self.size or 0):
            self._fail(number, f"{shorten(text)} is no vertex; they are numbered from 1 to {self.size}")
        return int(text)

    def _fail(self, number: int, problem: str) -> NoReturn:
        raise FileError(f"{self.file.name}, line {number}: {problem}")

    def graph(self) -> tuple[Graph, Layout]:
        """The graph: directed if there are arcs; edges among them then go both ways."""
        if self.size is None:
            raise FileError(f"{self.file.name} has no *Vertices, so it is no Pajek network; give another file")
        if self.options.weight not in (None, True, False):
            raise FileError(f"{self.file.name}: links have one weight only; leave out the name {self.options.weight!r}")
        directed = bool(self.arcs) if self.options.directed is None else self.options.directed
        back = [(two, one, weight) for one, two, weight in self.edges] if directed else []
        ends = np.array([*self.arcs, *self.edges, *back], dtype=np.float64).reshape(-1, 3)
        labels = [self.labels.get(vertex, "") for vertex in range(1, self.size + 1)]
        named = self.size > 0 and all(labels) and len(set(labels)) == self.size
        nodes = np.array(labels, dtype=object) if named else np.arange(1, self.size + 1)
        source, target = (nodes[ends[:, column].astype(np.int64) - 1] for column in (0, 1))
        graph = Graph.from_edges(source, target, ends[:, 2], directed=directed, nodes=nodes)
        return graph, Layout("pajek", first_id=None if named else 1)


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
