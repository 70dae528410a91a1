"""Pajek's network files: numbered vertices, then edges, arcs, or lists of them."""

import re
from typing import NoReturn

import numpy as np

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import shorten
from isotherm.io.layout import Layout, Options
from isotherm.io.memory import Budget, joined
from isotherm.io.streams import Input
from isotherm.io.tables.guessing.sniff import is_number

__all__ = ["read_pajek"]

FIELD = re.compile(r'"([^"]*)"|(\S+)')
DIRECTED = {"*edges": False, "*edgeslist": False, "*arcs": True, "*arcslist": True}


def read_pajek(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from a ``.net`` file; ids are the labels of its vertices if all have one and all differ, else numbers."""
    network = _Network(file, options)
    for number, line in enumerate(network.lines(), start=1):
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

    def lines(self) -> list[str]:
        """The lines of the file."""
        try:
            return joined(self.file.name, self.file.text()).decode().splitlines()
        except UnicodeDecodeError:
            message = "{path} is not UTF-8 text; say how it is written, as in {encoding}"
            raise FileError(message, path=self.file.name, encoding=Option("encoding", "cp1252")) from None

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
