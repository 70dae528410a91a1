"""How the page is opened, by ``isotherm.explore``, by a classifier or by the command line."""

import os
import re
import sys
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

from isotherm.errors import ParameterError
from isotherm.graphs import Graph
from isotherm.io import Layout
from isotherm.io.errors import need
from isotherm.map_layout.cache import fingerprint
from isotherm.page.answers import NEW_SEEDS
from isotherm.page.contents import Contents
from isotherm.page.journal import Journal, JournalError
from isotherm.page.session import Labeller, Session
from isotherm.seeds import Seeds

TOKEN = r"[\w-]{32}"  # as `new_token` makes them
LINK_LIVES = 60.0  # seconds that a browser has to read the file that leads to the page


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """How the page is opened."""

    port: int = 0  # any free one
    browser: bool = True  # the address is printed in any case
    log: str | os.PathLike[str] | None = None  # the file in which labels are kept
    name: str = "graph"  # what the page calls the graph
    source: tuple[str, Layout] | None = None  # name and layout of the exported file of seeds; None: a CSV file
    known: Mapping[str, Any] = field(default_factory=dict)  # arguments of `fit` besides graph and seeds
    contents: Contents | None = None  # what the nodes hold


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
    graph: Graph, seeds: dict[Any, Any], labeller: Labeller, options: PageOptions, *, fitted: Labeller | None = None
) -> None:
    """Serve the page of a graph until the process gets a signal; ``fitted`` is a classifier fitted on these seeds."""
    need("starlette", "the page", extra="explore")
    need("uvicorn", "the page", extra="explore")
    from isotherm.page.server import free_port, new_token, serve

    listener = free_port(options.port)
    try:
        journal = None if options.log is None else Journal(os.fspath(options.log), fingerprint(graph.csr, 0))
    except JournalError:
        listener.close()
        raise
    token = new_token() if options.log is None else kept_token(f"{os.fspath(options.log)}.token", new_token())
    source = options.source or NEW_SEEDS
    session = Session(
        graph,
        seeds,
        labeller,
        journal,
        source=source,
        name=options.name,
        known=options.known,
        fitted=fitted,
        contents=options.contents,
    )
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/"

    kept = "labels are not kept: give a log" if options.log is None else f"labels are kept in {options.log}"
    with ExitStack() as ends:

        def ready() -> None:
            print(f"{address}\n{kept}; Ctrl-C ends", file=sys.stderr, flush=True)
            if options.browser and _has_screen():
                with suppress(OSError):  # the address was printed
                    webbrowser.open(ends.enter_context(_link_to(address, options.log)).as_uri())
                    timer = Timer(LINK_LIVES, ends.close)
                    timer.daemon = True
                    timer.start()

        serve(session, listener, token, ready=ready)


def kept_token(path: str, fresh: str) -> str:
    """The token in a file that only this user can read, or a fresh one, which is then kept there.

    With the same log and port, a page that is still open goes on after the server was started again.
    """
    with suppress(OSError, UnicodeDecodeError):
        with open(path, encoding="ascii") as file:
            found, mode = file.read().strip(), os.fstat(file.fileno())
        private = sys.platform == "win32" or (mode.st_mode & 0o077 == 0 and mode.st_uid == os.getuid())
        if private and re.fullmatch(TOKEN, found):
            return found
    with suppress(OSError):  # a page without a kept token works until the server ends
        with suppress(FileNotFoundError):
            os.unlink(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(f"{fresh}\n")
    return fresh


@contextmanager
def _link_to(address: str, log: str | os.PathLike[str] | None) -> Iterator[Path]:
    """A file that leads a browser to the page, and that only this user can read.

    All users see the arguments of a browser that is started, so the address with its token cannot be one of them. The
    file is beside the log, because some browsers may not read hidden or temporary folders.
    """
    folder = None if log is None else os.path.dirname(os.path.abspath(log))
    folder = folder if folder is not None and os.access(folder, os.W_OK) else None
    handle, name = tempfile.mkstemp(".html", "isotherm-", folder)
    try:
        with open(handle, "w", encoding="ascii") as file:
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">\n')
        yield Path(name)
    finally:
        os.unlink(name)


def _has_screen() -> bool:
    """Whether there is a screen; without one, a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
