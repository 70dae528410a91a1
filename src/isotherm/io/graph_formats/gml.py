"""GML: nested lists of keys and values, with a ``node [...]`` for each node and an ``edge [...]`` for each edge."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple, NoReturn, TypeAlias

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import shorten
from isotherm.io.graph_formats.attributes import NodeAttributes
from isotherm.io.layout import Layout, Options, Pick
from isotherm.io.memory import Budget, joined
from isotherm.io.streams import Input

__all__ = ["gml_labels", "read_gml"]

TOKEN = re.compile(r'\s*(?:"([^"]*)"|(\[)|(\])|([^\s\[\]"]+))')
COMMENT = re.compile(r"(?m)^[ \t]*#.*$")
NODE_ID = "label"  # the attribute that names a node, if all nodes have it and no two the same
CHECKED = 1 << 16  # nodes or edges after which memory is checked again

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
    try:
        text = joined(file.name, file.text()).decode()
    except UnicodeDecodeError:
        message = "{path} is not UTF-8 text; say how it is written, as in {encoding}"
        raise FileError(message, path=file.name, encoding=Option("encoding", "latin-1")) from None
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
