"""GraphML and GEXF, read element by element; a DOCTYPE, which could define entities, is refused."""

from abc import ABC, abstractmethod
from typing import Any, NoReturn, TypeAlias
from xml.parsers import expat

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import blaming, shorten
from isotherm.io.graph_formats.attributes import NodeAttributes
from isotherm.io.layout import Layout, Options, Pick
from isotherm.io.memory import Budget
from isotherm.io.streams import Input
from isotherm.io.tables.guessing.sniff import is_number

__all__ = ["gexf_labels", "graphml_labels", "read_gexf", "read_graphml"]

Attributes: TypeAlias = dict[str, str]

CHECKED = 1 << 16  # nodes or edges after which memory is checked again


def read_graphml(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from GraphML; the weight of an edge is its data named ``weight``."""
    return _GraphML(file, options).graph(), Layout("graphml")


def read_gexf(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from GEXF; the weight of an edge is its attribute ``weight``."""
    return _Gexf(file, options).graph(), Layout("gexf")


def graphml_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The labels of nodes in GraphML, from one of their attributes, and the name of that."""
    return _GraphML(file, options, NodeAttributes(file.name, options.id, label, labels=True)).labels()


def gexf_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The same for GEXF."""
    return _Gexf(file, options, NodeAttributes(file.name, options.id, label, labels=True)).labels()


class _Document(ABC):
    """What both formats share: nodes with ids, edges with ends, and a kind of edge."""

    root: str

    def __init__(self, file: Input, options: Options, attributes: NodeAttributes | None = None) -> None:
        self.file, self.options = file, options
        self.attributes = attributes or NodeAttributes(file.name, options.id)
        self.budget = Budget(file.name, options.max_memory)
        self.nodes: dict[str, None] = {}
        self.source: list[str] = []
        self.target: list[str] = []
        self.weights: list[float] = []
        self.directed: bool | None = None
        self.text: list[str] | None = None  # of the open element, if it is a weight or an attribute that is wanted
        self.data_key: str | None = None  # the key of that attribute
        self.in_node = False
        self.parser: Any = expat.ParserCreate(namespace_separator=" ")
        named = options.weight not in (None, True, False)
        self.weight_name = str(options.weight) if named else "weight"
        self.weight_key: str | None = None  # the id of that attribute in the document
        self.weight_default: float = 1

    def labels(self) -> tuple[dict[Any, Any], str]:
        """The labels of the nodes, and the name of their attribute."""
        self._parse()
        return self.attributes.labels(self.nodes)

    def graph(self) -> Graph:
        """The graph of the document."""
        self._parse()
        return self._graph()

    def _parse(self) -> None:
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
                where, problem = f"{self.file.name}, line {error.lineno}", expat.errors.messages[error.code]
                raise FileError(f"{where}: the XML is damaged: {problem}; correct it, or write it again") from None

    @abstractmethod
    def start(self, name: str, attributes: Attributes) -> None:
        """Process the start of an element."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Process the end of an element."""

    def fail(self, problem: str, **facts: Any) -> NoReturn:
        line = self.parser.CurrentLineNumber
        raise FileError("{path}, line {line}: " + problem, path=self.file.name, line=line, **facts)

    def add_node(self, attributes: Attributes) -> None:
        node = self._needed(attributes, "id", "node")
        if node in self.nodes:
            self.fail("the node {node} is there twice; delete one of them", node=shorten(node))
        self.nodes[node] = None
        self.node, self.in_node = node, True
        for name, value in attributes.items():
            self.attributes.own(node, name, value)
        if len(self.nodes) % CHECKED == 0:
            self.budget.check(nodes=len(self.nodes), edges=len(self.source))

    def add_edge(self, attributes: Attributes, directed: bool | None) -> None:
        self.source.append(self._needed(attributes, "source", "edge"))
        self.target.append(self._needed(attributes, "target", "edge"))
        self.weights.append(self.weight_default)
        if len(self.source) % CHECKED == 0:
            self.budget.check(nodes=len(self.nodes), edges=len(self.source), weighted=True)
        if self.options.directed is None and self.directed not in (None, directed):
            choice = {"directed": Option("directed", True), "undirected": Option("directed", False)}
            self.fail("some edges are directed and others are not; decide with {directed} or {undirected}", **choice)
        self.directed = directed

    def weight(self, text: str) -> float:
        """A weight from its text."""
        if not is_number(text) or not 0 <= float(text) < float("inf"):
            self.fail("the weight is {weight}; it must be a finite number from 0 on", weight=shorten(text.strip()))
        return float(text)

    def _needed(self, attributes: Attributes, name: str, element: str) -> str:
        if not attributes.get(name):
            self.fail(f"the {element} has no {name}; add it, or delete the {element}")
        return attributes[name]

    def _start_root(self, name: str, attributes: Attributes) -> None:
        if _local(name) != self.root:
            message = "the document is <{found}>, not <{expected}>; give another file, or set {format}"
            self.fail(message, found=_local(name), expected=self.root, format=Option("format"))
        self.parser.StartElementHandler = lambda name, attributes: self.start(_local(name), attributes)

    def _collect(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _refuse_doctype(self, *_: object) -> None:
        self.fail("the document has a DOCTYPE, which is not supported; delete it")

    def _graph(self) -> Graph:
        path = self.file.name
        unknown = next((end for end in (*self.source, *self.target) if end not in self.nodes), None)
        if unknown is not None:
            raise FileError(f"{path}: an edge names {shorten(unknown)}, which is no node; add it, or delete the edge")
        if self.weight_name != "weight" and self.weight_key is None:
            raise FileError(f"{path}: edges have no attribute {shorten(self.weight_name)} for the weight")
        weights = None if self.options.weight is False else self.weights
        directed = bool(self.directed if self.options.directed is None else self.options.directed)
        renamed = self.attributes.ids(self.nodes)
        source, target = (list(map(renamed.__getitem__, ends)) for ends in (self.source, self.target))
        return Graph.from_edges(source, target, weights, directed=directed, nodes=list(renamed.values()))


class _GraphML(_Document):
    root = "graphml"
    default_directed: bool | None = None
    in_edge = in_key = False
    node_key: str | None = None  # of the <key> that is open, if it is for nodes

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "node":
            self.add_node(attributes)
        elif name == "edge":
            own = attributes.get("directed")
            self.add_edge(attributes, self.default_directed if own is None else own == "true")
            self.in_edge = True
        elif name == "data" and self.in_edge and attributes.get("key") == self.weight_key:
            self.text = []
        elif name == "data" and self.in_node and self.attributes.wants(attributes.get("key", "")):
            self.text, self.data_key = [], attributes["key"]
        elif name == "graph":
            self.default_directed = attributes.get("edgedefault") == "directed"
        elif name == "key":
            self._start_key(attributes)
        elif name == "default" and (self.in_key or self.attributes.wants(self.node_key or "")):
            self.text = []
        elif name == "hyperedge":
            self.fail("there is a hyperedge, but only edges with two ends are supported; delete it")

    def _start_key(self, attributes: Attributes) -> None:
        use, key, title = attributes.get("for", "all"), attributes.get("id", ""), attributes.get("attr.name", "")
        if use in ("edge", "all"):
            self.in_key = title == self.weight_name
            self.weight_key = key if self.in_key else self.weight_key
        if use in ("node", "all"):
            self.node_key = key
            self.attributes.declare(key, title or key)

    def end(self, name: str) -> None:
        if name in ("data", "default") and self.text is not None:
            text, self.text = "".join(self.text), None
            if name == "default" and self.attributes.wants(self.node_key or ""):
                self.attributes.default(self.node_key or "", text)
            if self.data_key is not None:
                self.attributes.add(self.node, self.data_key, text)
                self.data_key = None
            elif name == "data":
                self.weights[-1] = self.weight(text)
            elif self.in_key:
                self.weight_default = self.weight(text)
        elif name == "edge":
            self.in_edge = False
        elif name == "node":
            self.in_node = False
        elif name == "key":
            self.in_key, self.node_key = False, None


class _Gexf(_Document):
    root = "gexf"
    default_type = "undirected"
    in_edge = of_edges = of_nodes = False

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
        elif name == "attvalue" and self.in_node:
            self.attributes.add(self.node, attributes.get("for", attributes.get("id", "")), attributes.get("value", ""))
        elif name == "graph":
            self.default_type = attributes.get("defaultedgetype", "undirected")
        elif name == "attributes":
            self.of_edges, self.of_nodes = (attributes.get("class") == kind for kind in ("edge", "node"))
        elif name == "attribute" and self.of_nodes:
            self.attributes.declare(attributes.get("id", ""), attributes.get("title", ""))
        elif name == "attribute" and self.of_edges and attributes.get("title") == self.weight_name:
            self.weight_key = attributes.get("id")

    def end(self, name: str) -> None:
        if name == "edge":
            self.in_edge = False
        elif name == "node":
            self.in_node = False


def _local(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition(" ")[2]
