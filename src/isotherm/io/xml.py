"""GraphML and GEXF, read element by element; documents with a DOCTYPE are refused, and so are their entities."""

from abc import ABC, abstractmethod
from typing import Any, NoReturn, TypeAlias
from xml.parsers import expat

from isotherm.graph import Graph
from isotherm.io.edges import Options
from isotherm.io.errors import FileError, blaming, shorten
from isotherm.io.layout import Layout
from isotherm.io.sniff import is_number
from isotherm.io.streams import Input

__all__ = ["read_gexf", "read_graphml"]

Attributes: TypeAlias = dict[str, str]


def read_graphml(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from GraphML; the weight of an edge is its data of the name ``weight``."""
    return _GraphML(file, options).read(), Layout("graphml")


def read_gexf(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from GEXF; the weight of an edge is its attribute ``weight``."""
    return _Gexf(file, options).read(), Layout("gexf")


class _Document(ABC):
    """What both formats share: nodes with ids, edges with ends, and a kind of edge."""

    root: str

    def __init__(self, file: Input, options: Options) -> None:
        self.file, self.options = file, options
        self.nodes: dict[str, None] = {}
        self.source: list[str] = []
        self.target: list[str] = []
        self.weights: list[float] = []
        self.directed: bool | None = None
        self.text: list[str] | None = None  # of the element that is open, if anything will be made of it
        self.parser: Any = expat.ParserCreate(namespace_separator=" ")
        named = options.weight not in (None, True, False)
        self.weight_name = str(options.weight) if named else "weight"
        self.weight_key: str | None = None  # what stands for the name in the document
        self.weight_default: float = 1

    def read(self) -> Graph:
        """The graph of the document."""
        self.parser.StartElementHandler = self._start_root
        self.parser.EndElementHandler = lambda name: self.end(_local(name))
        self.parser.CharacterDataHandler = self._collect
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.buffer_text = True
        with blaming(self.file.name, "an XML file"):
            try:
                for piece in self.file.pieces():
                    self.parser.Parse(piece, False)
                self.parser.Parse(b"", True)
            except expat.ExpatError as error:
                said = expat.errors.messages[error.code]
                where = f"{self.file.name}, line {error.lineno}"
                raise FileError(f"{where}: the XML is damaged: {said}; correct it, or write the file again") from None
        return self._graph()

    @abstractmethod
    def start(self, name: str, attributes: Attributes) -> None:
        """Take note of an element that begins."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Take note of an element that ends."""

    def fail(self, what: str) -> NoReturn:
        raise FileError(f"{self.file.name}, line {self.parser.CurrentLineNumber}: {what}")

    def add_node(self, attributes: Attributes) -> None:
        node = self._needed(attributes, "id", "node")
        if node in self.nodes:
            self.fail(f"the node {shorten(node)} is there twice; delete one of them")
        self.nodes[node] = None

    def add_edge(self, attributes: Attributes, directed: bool | None) -> None:
        self.source.append(self._needed(attributes, "source", "edge"))
        self.target.append(self._needed(attributes, "target", "edge"))
        self.weights.append(self.weight_default)
        if self.options.directed is None and self.directed not in (None, directed):
            self.fail("some edges are directed and others are not; decide with directed=True or False")
        self.directed = directed

    def weight(self, text: str) -> float:
        """A weight from its text."""
        if not is_number(text) or not 0 <= float(text) < float("inf"):
            self.fail(f"the weight is {shorten(text.strip())}; weights are numbers, finite and not negative")
        return float(text)

    def _needed(self, attributes: Attributes, name: str, element: str) -> str:
        if not attributes.get(name):
            self.fail(f"the {element} has no {name}; add it, or delete the {element}")
        return attributes[name]

    def _start_root(self, name: str, attributes: Attributes) -> None:
        if _local(name) != self.root:
            self.fail(f"the document is <{_local(name)}>, not <{self.root}>; give another file, or name its format")
        self.parser.StartElementHandler = lambda name, attributes: self.start(_local(name), attributes)

    def _collect(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _refuse_doctype(self, *_: object) -> None:
        self.fail("the document has a DOCTYPE, which is not read; delete it")

    def _graph(self) -> Graph:
        path = self.file.name
        strange = next((end for end in (*self.source, *self.target) if end not in self.nodes), None)
        if strange is not None:
            raise FileError(
                f"{path}: an edge names the node {shorten(strange)}, which is not there; add it, or delete the edge"
            )
        if self.weight_name != "weight" and self.weight_key is None:
            raise FileError(f"{path}: edges have no attribute {shorten(self.weight_name)} for the weight")
        weights = None if self.options.weight is False else self.weights
        directed = bool(self.directed if self.options.directed is None else self.options.directed)
        return Graph.from_edges(self.source, self.target, weights, directed=directed, nodes=list(self.nodes))


class _GraphML(_Document):
    root = "graphml"
    default_directed: bool | None = None
    in_edge = in_key = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "node":
            self.add_node(attributes)
        elif name == "edge":
            said = attributes.get("directed")
            self.add_edge(attributes, self.default_directed if said is None else said == "true")
            self.in_edge = True
        elif name == "data" and self.in_edge and attributes.get("key") == self.weight_key:
            self.text = []
        elif name == "graph":
            self.default_directed = attributes.get("edgedefault") == "directed"
        elif name == "key" and attributes.get("for", "all") in ("edge", "all"):
            self.in_key = attributes.get("attr.name") == self.weight_name
            self.weight_key = attributes.get("id") if self.in_key else self.weight_key
        elif name == "default" and self.in_key:
            self.text = []
        elif name == "hyperedge":
            self.fail("there is a hyperedge; only edges with two ends are read, so delete it")

    def end(self, name: str) -> None:
        if name in ("data", "default") and self.text is not None:
            value, self.text = self.weight("".join(self.text)), None
            if name == "data":
                self.weights[-1] = value
            else:
                self.weight_default = value
        elif name == "edge":
            self.in_edge = False
        elif name == "key":
            self.in_key = False


class _Gexf(_Document):
    root = "gexf"
    default_type = "undirected"
    in_edge = of_edges = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "node":
            self.add_node(attributes)
        elif name == "edge":
            self.add_edge(attributes, attributes.get("type", self.default_type) == "directed")
            self.in_edge = True
            if self.weight_name == "weight" and "weight" in attributes:
                self.weights[-1] = self.weight(attributes["weight"])
        elif name == "attvalue" and self.in_edge and self.weight_key in (attributes.get("for"), attributes.get("id")):
            if self.weight_key is not None:
                self.weights[-1] = self.weight(attributes.get("value", ""))
        elif name == "graph":
            self.default_type = attributes.get("defaultedgetype", "undirected")
        elif name == "attributes":
            self.of_edges = attributes.get("class") == "edge"
        elif name == "attribute" and self.of_edges and attributes.get("title") == self.weight_name:
            self.weight_key = attributes.get("id")

    def end(self, name: str) -> None:
        if name == "edge":
            self.in_edge = False


def _local(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition(" ")[2]
