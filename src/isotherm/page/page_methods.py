"""What a classifier can do with its map: `plot` it, and `explore` it in the browser."""

import os
import sys
import webbrowser
from typing import TYPE_CHECKING, Any

from isotherm.errors import ParameterError
from isotherm.graphs import Graph
from isotherm.seeds import Seeds

if TYPE_CHECKING:  # a classifier is imported without the page and the readers of files
    from isotherm.io import Layout
    from isotherm.page.session import Labeller

__all__ = ["Explorable", "Opening", "certain_seeds", "open_page"]


class Opening:
    """How a page is opened.

    Parameters
    ----------
    port
        The port; 0 takes any that is free.
    browser
        Whether to open a browser; its address is printed in any case.
    log
        The file in which labels are kept; None keeps none.
    name
        What the page calls the graph.
    source
        The name and the layout of the file of seeds, in which they are exported; None for a CSV.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        browser: bool = True,
        log: str | os.PathLike[str] | None = None,
        name: str = "graph",
        source: "tuple[str, Layout] | None" = None,
    ) -> None:
        self.port, self.browser, self.log, self.name, self.source = port, browser, log, name, source


class Explorable:
    """A classifier whose graph can be looked at."""

    def explore(
        self,
        *,
        log: str | os.PathLike[str] | None = None,
        port: int = 0,
        browser: bool = True,
        name: str = "graph",
    ) -> None:
        """Open the graph in the browser, to look at it and to label more nodes; ends with Ctrl-C. See docs/explore.md.

        Parameters
        ----------
        log : path, optional
            A file in which each label is kept as soon as it is given. Opened again, the page is where it was.
        port : int
            The port on this machine; by default a free one.
        browser : bool
            Whether to open a browser; the address is printed in any case.
        name : str
            What the page calls the graph.
        """
        fit = self.fitted_  # type: ignore[attr-defined]
        opening = Opening(port=port, browser=browser, log=log, name=name)
        labeller = self.on_graph()
        open_page(fit.graph, certain_seeds(fit.seeds, fit.graph), labeller, opening, fitted=labeller)

    def on_graph(self) -> "Labeller":
        """The classifier itself, or its twin that is fitted on a graph."""
        return self  # type: ignore[return-value]

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "", force: bool = False) -> Any:
        """Draw the map of the graph: hue is the label, strength of colour the confidence, a ring a seed.

        Parameters
        ----------
        path : path, optional
            ``.png``, ``.svg`` or ``.pdf`` need matplotlib; ``.html`` is one file that can be panned and searched.
            Without a path, the matplotlib figure is returned.
        title : str
            Above the map.
        force : bool
            Whether to replace a file that exists.
        """
        from isotherm.page.picture import draw

        return draw(self, path, title=title, force=force)  # type: ignore[arg-type]


def certain_seeds(seeds: Seeds, graph: Graph) -> dict[Any, Any]:
    """Seeds as ``{node: label}``; those with several labels, probabilities or weights are refused."""
    if seeds.table is not None or seeds.weights is not None:
        kind = "several labels" if seeds.several else "weights" if seeds.table is None else "probabilities"
        raise ParameterError(
            f"the page is for seeds with one certain label each, but these have {kind}: give one label for each node"
        )
    labels = seeds.decode(seeds.codes).tolist()
    return dict(zip(graph.nodes[seeds.nodes].tolist(), labels, strict=True))


def open_page(
    graph: Graph, seeds: dict[Any, Any], labeller: "Labeller", opening: Opening, *, fitted: "Labeller | None" = None
) -> None:
    """Serve the page of a graph until the process is told to stop; ``fitted`` has been fitted on these seeds."""
    from isotherm.io.errors import need

    need("starlette", "the page", extra="explore")
    need("uvicorn", "the page", extra="explore")
    from isotherm.map_layout.cache import fingerprint
    from isotherm.page.answers import NEW_SEEDS
    from isotherm.page.journal import Journal, JournalError
    from isotherm.page.server import free_port, new_token, serve
    from isotherm.page.session import Session

    listener, token = free_port(opening.port), new_token()
    try:
        journal = None if opening.log is None else Journal(os.fspath(opening.log), fingerprint(graph.csr, 0))
    except JournalError:
        listener.close()
        raise
    source = opening.source or NEW_SEEDS
    session = Session(graph, seeds, labeller, journal, source=source, name=opening.name, fitted=fitted)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/"

    def ready() -> None:
        kept = "labels are not kept: give a log" if opening.log is None else f"labels are kept in {opening.log}"
        print(f"{address}\n{kept}; Ctrl-C ends", file=sys.stderr, flush=True)
        if opening.browser and _has_screen():
            webbrowser.open(address)

    serve(session, listener, token, ready=ready)


def _has_screen() -> bool:
    """Whether a browser could show anything; in a bare terminal a text browser would take it over."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
