"""The files that commands read: a graph, and labels of its nodes."""

import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from isotherm.cli.options import CERTAIN, Certainty, Columns
from isotherm.cli.stages import Stages
from isotherm.cli.tables import shown
from isotherm.cli.wording import EDGES, LABELS, UsageError, speaking

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.io import GraphFile, Layout, SeedsFile

__all__ = ["Files", "check_apart", "read_files", "same_file"]


class Files(NamedTuple):
    """A graph, labels of its nodes, and how the file of each is laid out: what was found is printed."""

    graph: "Graph"
    known: dict[Any, Any]
    layouts: dict[str, str]
    weights: dict[Any, Any] | None

    def __str__(self) -> str:
        return "\n".join(f"{name}: {layout}" for name, layout in self.layouts.items())


def read_files(
    edges: str, labels: str, columns: Columns, stages: Stages, *, missing: bool, certainty: Certainty = CERTAIN
) -> Files:
    """Read a graph, and labels of its nodes; if ``missing``, then others may be labelled too, and are left out."""
    if edges == labels == "-":
        raise UsageError("both files cannot be standard input: give the name of one of them")
    with stages.stage("reading") as bar:
        from isotherm.io import match_seeds, read_graph_file, read_seeds_file
        from isotherm.label_sets import any_seeds

        with speaking(LABELS):
            seeds_file = read_seeds_file(labels, **columns.of_labels, **certainty.of_labels)
        with speaking(EDGES):
            graph_file = read_graph_file(edges, progress=bar.amount, **columns.of_edges)
        with speaking(LABELS, _name(labels)):
            known = _matched(seeds_file, graph_file, missing)
            weights = seeds_file.weights and match_seeds(seeds_file.weights, graph_file.graph, missing="drop")
            any_seeds(known, graph_file.graph, weights)
        lost, all_of_them = len(seeds_file.seeds) - len(known), len(seeds_file.seeds)
        if lost:
            message = f"{_name(labels)}: {lost} of {all_of_them} labelled nodes are not in the graph and are left out"
            warnings.warn(message + _about_headers(seeds_file, graph_file), UserWarning, stacklevel=2)
    seed = ": ".join(map(str, next(iter(seeds_file.seeds.items()))))
    layouts = {
        _name(edges): _described(graph_file.layout, graph_file.graph.nodes[0]),
        _name(labels): _described(seeds_file.layout, seed),
    }
    return Files(graph_file.graph, known, layouts, weights)


def check_apart(target: str, sources: Iterable[str]) -> None:
    """Refuse to write to a file that is read."""
    if target != "-" and any(same_file(source, target) for source in sources):
        raise UsageError(f"{target} is also an input: give the output another name")


def same_file(one: str, other: str) -> bool:
    """Whether two names stand for one file, or both for standard input or output."""
    if "-" in (one, other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other) and not os.path.realpath(one).startswith("/dev/")


def _matched(seeds_file: "SeedsFile", graph_file: "GraphFile", missing: bool) -> dict[Any, Any]:
    from isotherm.io import match_seeds

    try:
        return match_seeds(seeds_file.seeds, graph_file.graph, missing="drop" if missing else "raise")
    except ValueError as error:
        raise ValueError(f"{error}{_about_headers(seeds_file, graph_file)}") from None


def _about_headers(seeds_file: "SeedsFile", graph_file: "GraphFile") -> str:
    """What to try if the seeds that are lost are in a header that was taken for data, or the other way round."""
    from isotherm.io import match_seeds

    def lost(node: Any) -> bool:
        return node in seeds_file.seeds and not match_seeds({node: 0}, graph_file.graph, missing="drop")

    names = [column.name for column in graph_file.layout.roles.values() if column]
    if graph_file.layout.header and any(map(lost, names)):
        return "; or read the first row of the edges as an edge, with --no-header"
    if seeds_file.layout.header is False and lost(next(iter(seeds_file.seeds))):
        return "; or read the first row of the labels as a header, with --labels-header"
    return ""


def _described(layout: "Layout", first: Any) -> str:
    """The layout; without a header also what is read from the first row, where a header that was missed is seen."""
    return f"{layout}, first={shown(first)}" if layout.header is False else str(layout)


def _name(path: str) -> str:
    return "standard input" if path == "-" else path
