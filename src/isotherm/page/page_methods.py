"""The methods `explore` and `plot` of classifiers, and how the page is opened."""

import os
import sys
import webbrowser
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isotherm.errors import ParameterError
from isotherm.graphs import Graph
from isotherm.seeds import Seeds

if TYPE_CHECKING:  # importing a classifier loads neither the page nor the readers of files
    from isotherm.io import Layout
    from isotherm.page.session import Labeller

__all__ = ["Explorable", "PageOptions", "certain_seeds", "open_page"]


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """How the page is opened.

    Parameters
    ----------
    port
        The port; 0 takes any free one.
    browser
        Whether to open a browser; the address is printed in any case.
    log
        The file in which labels are kept; None means that they are not kept.
    name
        What the page calls the graph.
    source
        The name and the layout of the file of seeds, in which seeds are exported; None exports a CSV file.
    """

    port: int = 0
    browser: bool = True
    log: str | os.PathLike[str] | None = None
    name: str = "graph"
    source: "tuple[str, Layout] | None" = None


class Explorable:
    """The methods that show the graph of a fitted classifier."""

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
            A file that keeps each label as soon as it is given. With the same file, the page resumes where it was.
        port : int
            The port on this machine; by default a free one.
        browser : bool
            Whether to open a browser; the address is printed in any case.
        name : str
            What the page calls the graph.
        """
        fit = self.fitted_  # type: ignore[attr-defined]
        options = PageOptions(port=port, browser=browser, log=log, name=name)
        labeller = self.on_graph()
        open_page(fit.graph, certain_seeds(fit.seeds, fit.graph), labeller, options, fitted=labeller)

    def on_graph(self) -> "Labeller":
        """The classifier that is fitted on a graph: this one, unless a subclass has another."""
        return self  # type: ignore[return-value]

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "", force: bool = False) -> Any:
        """Draw the map of the graph: the hue shows the label, the strength of colour the confidence, and a ring a seed.

        Parameters
        ----------
        path : path, optional
            ``.png``, ``.svg`` or ``.pdf`` need matplotlib; ``.html`` is one file that can be panned and searched.
            Without a path, the matplotlib figure is returned.
        title : str
            The title above the map.
        force : bool
            Whether to replace a file that exists.
        """
        from isotherm.page.picture import draw

        return draw(self, path, title=title, force=force)  # type: ignore[arg-type]


def certain_seeds(seeds: Seeds, graph: Graph) -> dict[Any, Any]:
    """Seeds as ``{node: label}``; seeds with several labels, probabilities or weights are refused."""
    if seeds.table is not None or seeds.weights is not None:
        kind = "several labels" if seeds.several else "weights" if seeds.table is None else "probabilities"
        raise ParameterError(
            f"the page is for seeds with one certain label each, but these have {kind}: give one label for each node"
        )
    labels = seeds.decode(seeds.codes).tolist()
    return dict(zip(graph.nodes[seeds.nodes].tolist(), labels, strict=True))


def open_page(
    graph: Graph, seeds: dict[Any, Any], labeller: "Labeller", options: PageOptions, *, fitted: "Labeller | None" = None
) -> None:
    """Serve the page of a graph until the process gets a signal; ``fitted`` is a classifier fitted on these seeds."""
    from isotherm.io.errors import need

    need("starlette", "the page", extra="explore")
    need("uvicorn", "the page", extra="explore")
    from isotherm.map_layout.cache import fingerprint
    from isotherm.page.answers import NEW_SEEDS
    from isotherm.page.journal import Journal, JournalError
    from isotherm.page.server import free_port, new_token, serve
    from isotherm.page.session import Session

    listener, token = free_port(options.port), new_token()
    try:
        journal = None if options.log is None else Journal(os.fspath(options.log), fingerprint(graph.csr, 0))
    except JournalError:
        listener.close()
        raise
    source = options.source or NEW_SEEDS
    session = Session(graph, seeds, labeller, journal, source=source, name=options.name, fitted=fitted)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/"

    def ready() -> None:
        kept = "labels are not kept: give a log" if options.log is None else f"labels are kept in {options.log}"
        print(f"{address}\n{kept}; Ctrl-C ends", file=sys.stderr, flush=True)
        if options.browser and _has_screen():
            webbrowser.open(address)

    serve(session, listener, token, ready=ready)


def _has_screen() -> bool:
    """Whether there is a screen; without one, a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
