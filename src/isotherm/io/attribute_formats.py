"""Formats whose nodes have attributes: GraphML, GEXF and GML. One attribute may be the id of a node, another its label.

XML is read element by element; a DOCTYPE, which could define entities, is refused. GML has nested lists of keys and
values, with a ``node [...]`` for each node and an ``edge [...]`` for each edge.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from typing import Any, NamedTuple, NoReturn, TypeAlias
from xml.parsers import expat

from isotherm.errors import Option, first_few
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.columns import label_place
from isotherm.io.errors import blaming, shorten
from isotherm.io.file_layout import Layout, Options, Pick
from isotherm.io.memory import Budget
from isotherm.io.sniffing import is_number
from isotherm.io.streams import Input

CHECKED = 1 << 16  # nodes or edges after which memory is checked again


class NodeAttributes:
    """The attributes of the nodes of a file, of which at most two are kept."""

    def __init__(self, path: str, id: Pick = None, label: Pick = None, *, labels: bool = False) -> None:  # noqa: A002
        self.path, self.picks = path, {"id": id, "label": label}
        self.labels_wanted = labels
        self.names: dict[str, str] = {}  # by key
        self.chosen: dict[str, str] | None = None  # the name of the attribute of each role
        self.values: dict[str, dict[str, str]] = {"id": {}, "label": {}}  # by role and node
        self.defaults: dict[str, str] = {}

    def declare(self, key: str, name: str) -> None:
        """Take note of an attribute, by the key under which nodes have it."""
        self.names[key] = name

    def own(self, node: str, name: str, value: str) -> None:
        """Take an attribute that a node has under its own name; it counts only if it was asked for."""
        for role, pick in self.picks.items():
            if pick is not None and name == pick:
                self.values[role].setdefault(node, value)

    def wants(self, key: str) -> bool:
        """Whether the attribute of this key may be kept; one to be found by its name may."""
        name = self.names.get(key)
        return name is not None and (
            name in self.picks.values() or (self.labels_wanted and self.picks["label"] is None)
        )

    def default(self, key: str, text: str) -> None:
        """The value for nodes that have none."""
        self.defaults[self.names[key]] = text

    def add(self, node: str, key: str, text: str) -> None:
        """Take the value of a node."""
        name = self.names.get(key, key)
        for role, chosen in self._choice().items():
            if chosen == name:
                self.values[role][node] = text

    def ids(self, nodes: Iterable[str]) -> dict[str, Any]:
        """The id of each node, by the one that the format has."""
        if self.picks["id"] is None:
            return {node: node for node in nodes}
        found = self._filled("id", nodes)
        seen: dict[str, str] = {}
        for node in nodes:
            text = found.get(node, "")
            if not text:
                raise FileError(f"{self.path}: the node {shorten(node)} has no {self._name_of('id')}; add it")
            if text in seen:
                both = f"{shorten(seen[text])} and {shorten(node)}"
                raise FileError(f"{self.path}: the nodes {both} have the same {self._name_of('id')}, {shorten(text)}")
            seen[text] = node
        return {node: text for text, node in seen.items()}

    def labels(self, nodes: Iterable[str]) -> tuple[dict[Any, Any], str]:
        """The labels of nodes that have one, by their ids, and the name of the attribute."""
        ids, found = self.ids(nodes), self._filled("label", nodes)
        labels = {ids[node]: text for node, text in found.items() if text.strip()}
        if not labels:
            raise FileError(f"{self.path} has no seeds: no node has a {self._name_of('label')}; fill some in")
        return labels, str(self._choice().get("label", self.picks["label"]))

    def _name_of(self, role: str) -> str:
        return shorten(self._choice().get(role, self.picks[role]))

    def _filled(self, role: str, nodes: Iterable[str]) -> Mapping[str, str]:
        """The values of a role, with the default for nodes that have none."""
        name = self._choice().get(role)
        if name is None and not self.values[role]:
            raise self._missing(role)
        default = self.defaults.get(name or "")
        found = self.values[role]
        return found if default is None else {node: found.get(node, default) for node in nodes}

    def _choice(self) -> dict[str, str]:
        """The name of the attribute of each role, once attributes are declared."""
        if self.chosen is None:
            known = list(dict.fromkeys(self.names.values()))
            self.chosen = {role: str(pick) for role, pick in self.picks.items() if pick in known}
            if self.labels_wanted and self.picks["label"] is None:
                place = label_place(known, ())
                others = [name for name in known if name != self.picks["id"]]
                guess = known[place] if place is not None else others[0] if len(others) == 1 else None
                self.chosen |= {} if guess is None else {"label": guess}
        return self.chosen

    def _missing(self, role: str) -> FileError:
        known = list(dict.fromkeys(self.names.values()))
        if not known:
            return FileError(f"{self.path}: nodes have no attributes, so there is no {role} to read; give another file")
        shown = first_few(known, text=shorten)
        pick, example = self.picks[role], Option(role, known[0])
        problem = "none is clearly a label" if pick is None else f"none is {shorten(pick)}"
        message = "{path}: nodes have the attributes {shown}, and {problem}; choose one, as in {example}"
        return FileError(message, path=self.path, shown=shown, problem=problem, example=example)


Attributes: TypeAlias = dict[str, str]


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
        self.text: list[str] | None = None  # text of the open element, if it is a weight or a wanted attribute
        self.data_key: str | None = None  # the key of that attribute
        self.in_node = False
        self.parser: Any = expat.ParserCreate(namespace_separator=" ")
        named = options.weight not in (None, True, False)
        self.weight_name = str(options.weight) if named else "weight"
        self.weight_key: str | None = None  # the id of that attribute in the document
        self.weight_default: float = 1

    @classmethod
    def read(cls, file: Input, options: Options) -> tuple[Graph, Layout]:
        """The graph of a file; the weight of an edge is its attribute ``weight``."""
        document = cls(file, options)
        document._parse()
        return document._graph(), Layout(cls.root)

    @classmethod
    def labels(cls, file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
        """The labels of the nodes, from one of their attributes, and the name of that."""
        document = cls(file, options, NodeAttributes(file.name, options.id, label, labels=True))
        document._parse()
        return document.attributes.labels(document.nodes)

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
    node_key: str | None = None  # id of the open <key>, if it is for nodes

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


read_graphml, graphml_labels = _GraphML.read, _GraphML.labels
read_gexf, gexf_labels = _Gexf.read, _Gexf.labels


def _local(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition(" ")[2]


TOKEN = re.compile(r'\s*(?:"([^"]*)"|(\[)|(\])|([^\s\[\]"]+))')
COMMENT = re.compile(r"(?m)^[ \t]*#.*$")
NODE_ID = "label"  # the attribute that names a node, if all nodes have it and no two the same

Item: TypeAlias = dict[str, str]


class _Content(NamedTuple):
    """What a file holds: nodes by their numbers, edges, and whether these are arcs."""

    nodes: dict[str, Item]
    edges: list[Item]
    directed: bool


def read_gml(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from GML; the id of a node is its label if all labels differ, else its number."""
    content = _read(file, options)
    ids, name = _ids(file, content, options), "weight" if options.weight in (None, True) else str(options.weight)
    if options.weight not in (None, True, False) and not any(name in edge for edge in content.edges):
        raise FileError(f"{file.name}: edges have no attribute {shorten(name)} for the weight")
    source, target = ([ids[_end(file, edge, end, ids)] for edge in content.edges] for end in ("source", "target"))
    usual = name if name != "weight" or any(name in edge for edge in content.edges) else "value"
    weights = None if options.weight is False else [_weight(file, edge.get(usual, "1")) for edge in content.edges]
    directed = content.directed if options.directed is None else options.directed
    return Graph.from_edges(source, target, weights, directed=directed, nodes=list(ids.values())), Layout("gml")


def gml_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The labels of nodes in GML, from one of their attributes, and the name of that."""
    content = _read(file, options)
    attributes = NodeAttributes(file.name, None, label, labels=True)
    ids = _ids(file, content, options)
    named = {name for item in content.nodes.values() for name in item} - {"id", str(options.id or NODE_ID)}
    for name in sorted(named | ({str(label)} if label is not None else set())):
        attributes.declare(name, name)
    for node, item in content.nodes.items():
        for name, value in item.items():
            attributes.add(node, name, value)
    found, attribute = attributes.labels(content.nodes)
    return {ids[node]: value for node, value in found.items()}, attribute


def _ids(file: Input, content: _Content, options: Options) -> dict[str, str]:
    """The id of each node, by its number."""
    if options.id is not None and options.id != "id":
        attributes = NodeAttributes(file.name, options.id)
        for name in sorted({name for item in content.nodes.values() for name in item}):
            attributes.declare(name, name)
        for node, item in content.nodes.items():
            attributes.add(node, str(options.id), item.get(str(options.id), ""))
        return attributes.ids(content.nodes)
    labels = [item.get(NODE_ID, "") for item in content.nodes.values()]
    if options.id is None and all(labels) and len(set(labels)) == len(labels):
        return dict(zip(content.nodes, labels, strict=True))
    return {node: node for node in content.nodes}


def _read(file: Input, options: Options) -> _Content:
    text = file.whole_text("latin-1")
    content = _Content({}, [], False)
    budget = Budget(file.name, options.max_memory)
    found = False
    for key, item, line in _items(file, COMMENT.sub("", text)):
        if key == "graph":
            found, content = True, content._replace(directed=item.get("directed") == "1")
        elif key == "node":
            node = item.get("id", "")
            if not node or node in content.nodes:
                _fail(
                    file, line, f"the node has {'no id' if not node else f'the id {node} of another one'}; correct it"
                )
            content.nodes[node] = item
        else:
            content.edges.append(item | {"line": str(line)})
        if (len(content.nodes) + len(content.edges)) % CHECKED == 0:
            budget.check(nodes=len(content.nodes), edges=len(content.edges), weighted=True)
    if not found:
        raise FileError(f"{file.name} has no graph [ ... ], so it is no GML file; give another, or write it again")
    return content


def _items(file: Input, text: str) -> Iterator[tuple[str, Item, int]]:
    """Each node and edge, and then the graph, with their values that are not lists; and the line where each begins."""
    path: list[tuple[str, Item, int]] = []
    key, place, line = "", 0, 1
    while place < len(text.rstrip()):
        token = TOKEN.match(text, place)
        if token is None:
            _fail(file, line, "a text has no end: a quotation mark is missing; add it")
        line += text.count("\n", place, token.end())
        place = token.end()
        quoted, opening, closing, word = token.groups()
        if opening:
            path.append((key, {}, line))
            key = ""
        elif closing:
            if not path or key:
                _fail(file, line, "there is a ] too many, or a value is missing; correct it")
            name, item, began = path.pop()
            if (name in ("node", "edge") and len(path) == 1) or (name == "graph" and not path):
                yield name, item, began
        elif key:
            if path:
                path[-1][1][key] = unescape(quoted) if quoted is not None else word
            key = ""
        elif word is None:
            _fail(file, line, f"there is the text {shorten(quoted)} where a name is expected; correct it")
        else:
            key = word
    if path:
        _fail(file, path[-1][2], f"the list of {path[-1][0]} has no end: a ] is missing; the file may be cut off")


def _end(file: Input, edge: Item, end: str, ids: dict[str, str]) -> str:
    node = edge.get(end, "")
    if node not in ids:
        problem = f"the edge names {shorten(node)}, which is no node" if node else f"the edge has no {end}"
        _fail(file, int(edge["line"]), f"{problem}; add it, or delete the edge")
    return node


def _weight(file: Input, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise FileError(f"{file.name}: a weight is {shorten(text)}; it must be a finite number from 0 on")
    return weight


def _fail(file: Input, line: int, problem: str) -> NoReturn:
    raise FileError(f"{file.name}, line {line}: {problem}")
