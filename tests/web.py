"""A web server on this machine that can be told to misbehave."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """Files by path, and what goes wrong with them.

    Attributes
    ----------
    files : dict
        The content of each path.
    cuts : dict
        For each path, after how many bytes the line is cut, in the order of requests.
    refusals : dict
        For each path, the status to answer with, in the order of requests.
    tags : dict
        The version of each path; without one, the server gives no ETag.
    places : dict
        For each path, where a part is said to be, in the order of requests for parts; then the truth.
    ranges : bool
        Whether parts are served.
    requests : list
        The path of every request so far, and the range that it asked for.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cuts: dict[str, list[int]] = {}
        self.refusals: dict[str, list[int]] = {}
        self.tags: dict[str, str] = {}
        self.places: dict[str, list[str]] = {}
        self.ranges = True
        self.requests: list[tuple[str, str | None]] = []
        self.address = ""


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site, path, wanted = self.site, self.path, self.headers["Range"]
        site.requests.append((path, wanted))
        refusals = site.refusals.get(path, [])
        if refusals or path not in site.files:
            self.send_error(refusals.pop(0) if refusals else 404)
            return
        content = site.files[path]
        first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        partial = bool(wanted) and site.ranges and self.headers["If-Range"] in (None, site.tags.get(path))
        if partial and first >= len(content):
            self.send_error(416)
            return
        body = content[first:] if partial else content
        self.send_response(206 if partial else 200)
        self.send_header("Content-Length", str(len(body)))
        if partial:
            lies = site.places.get(path)
            place = lies.pop(0) if lies else f"bytes {first}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", place)
        if path in site.tags:
            self.send_header("ETag", site.tags[path])
        self.end_headers()
        cuts = site.cuts.get(path, [])
        self.wfile.write(body[: cuts.pop(0)] if cuts else body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        """Be quiet."""


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
