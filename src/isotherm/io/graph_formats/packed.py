"""Packed graphs: folders that are mapped, not read."""

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.graphs.packed import open_packed
from isotherm.io.layout import Layout, Options
from isotherm.io.streams import Input

__all__ = ["read_packed"]


def read_packed(file: Input, options: Options) -> tuple[Graph, Layout]:
    """Open a packed graph; whether it is directed was decided when it was packed."""
    graph = open_packed(file.path)
    if options.directed not in (None, graph.directed):
        kind = "a directed" if graph.directed else "an undirected"
        message = "{path} was packed as {kind} graph; leave out {directed}, or pack the edges again"
        raise FileError(message, path=file.name, kind=kind, directed=Option("directed", options.directed))
    if options.weight not in (None, True, False):
        message = "{path}: a packed graph has no columns; leave out {weight}, or pack the edges again"
        raise FileError(message, path=file.name, weight=Option("weight", options.weight))
    found = graph.unweighted() if options.weight is False else graph
    return found, Layout("iso", first_id=0 if graph.manifest.ids == "none" else None)
