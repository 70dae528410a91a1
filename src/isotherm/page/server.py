"""The web server of the page, on this machine only.

The address has a random token in its path, so a page of another site cannot guess it. The ``Host`` header must name
this machine and port, which stops DNS rebinding; an ``Origin`` header, if there is one, must be our own. Every response
of the application, errors included, has a Content-Security-Policy under which the page can load nothing from elsewhere.
A request that cannot be understood is answered with one sentence.
"""

import asyncio
import json
import secrets
import socket
import threading
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from isotherm.errors import Option, ParameterError
from isotherm.page import answers
from isotherm.page.answers import labels_file, model_file, notes_file, seeds_file
from isotherm.page.session import Session

STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
BINARY = "application/octet-stream"
MOST_BYTES = 1 << 20  # size limit of a request
DIGITS = 18  # most digits of a number in an address
HEARTBEAT = 15.0  # seconds without a new version after which the last event is repeated


def new_token() -> str:
    """A random token for the path of the address."""
    return secrets.token_urlsafe(24)


def free_port(port: int = 0) -> socket.socket:
    """A listening socket on this machine only; port 0 takes any free port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # now, so that a browser can connect as soon as the address is printed
    except OSError as error:
        listener.close()
        message = "port {number} cannot be used: {reason}; leave {port} out for a free one"
        raise ParameterError(message, number=port, reason=error.strerror, port=Option("port")) from None
    return listener


class RequestFilter:
    """Accepts only requests to this host, from this origin, with a known method; adds `HEADERS` to every response.

    It is around the whole application, because Starlette answers unexpected errors outside of its own middleware.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{host}:{port}" for host in ("127.0.0.1", "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(Request(scope))

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        if refusal is None:
            await self.app(scope, receive, with_headers)
        else:
            await Response(refusal, status_code=403, media_type="text/plain")(scope, receive, with_headers)

    def refusal(self, request: Request) -> str | None:
        """Why a request is refused, or None."""
        if request.headers.get("host") not in self.hosts:
            return "wrong host"
        if request.headers.get("origin", next(iter(self.origins))) not in self.origins:
            return "wrong origin"
        if request.method not in ("GET", "HEAD", "POST"):
            return "wrong method"
        same_site = request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        return None if same_site or _is_visit(request) else "wrong site"


def _is_visit(request: Request) -> bool:
    """Whether a person follows a link to the page, as from the file with which a browser is opened."""
    kind = [request.headers.get(f"sec-fetch-{name}") for name in ("mode", "dest")]
    return request.method == "GET" and kind == ["navigate", "document"]


class _Json(JSONResponse):
    """JSON in ASCII, so that names may contain any character, even half a surrogate pair."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def application(session: Session, port: int, token: str) -> ASGIApp:
    """The web application of a session; all its addresses begin with the token."""
    routes = [
        Route("/", _static(STATIC)),
        Route("/{name:str}", _static(STATIC)),
        Route("/vendor/{name:str}", _static(STATIC / "vendor")),
        Mount("/api", routes=_calls(session)),
    ]
    return RequestFilter(Starlette(routes=[Mount(f"/{token}", routes=routes)]), port)


def serve(session: Session, listener: socket.socket, token: str, *, ready: Callable[[], None] | None = None) -> None:
    """Serve a session until the process gets a signal to stop."""
    import uvicorn

    app = application(session, listener.getsockname()[1], token)
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page itself shows unreached nodes and the numbers of seeds
        session.start()
        if ready is not None:
            ready()
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            session.stop()


def _calls(session: Session) -> list[Route]:
    """The routes: what the page asks for, and what it tells the session."""

    def get(path: str, answer: Callable[[Request], Any]) -> Route:
        """A route whose answer is computed in a thread: bytes, values for JSON, or a whole response."""

        async def handle(request: Request) -> Response:
            try:
                found = await _in_thread(answer, request)
            except ParameterError as error:
                return _refused(str(error), 400)
            if isinstance(found, Response):
                return found
            return Response(found, media_type=BINARY) if isinstance(found, bytes) else _Json(found)

        return Route(path, handle)

    def about(answer: Callable[[Session, int], Any]) -> Callable[[Request], Any]:
        """An answer about the node that the path names."""

        def answer_about(request: Request) -> Any:
            place = _number(request.path_params["node"])
            known = 0 <= place < session.graph.n_nodes
            return answer(session, place) if known else _refused("there is no such node", 404)

        return answer_about

    def positions(_: Request) -> bytes:
        found = session.positions
        return b"" if found is None else found.astype("<f4").tobytes()

    async def events(request: Request) -> Response:
        return StreamingResponse(_versions(session, request), media_type="text/event-stream")

    async def act(request: Request) -> Response:
        """An action of the user: a POST with JSON, which a form on another page cannot send."""
        if request.headers.get("content-type") != "application/json":
            return _refused("the body must be JSON", 415)
        body = await _body(request)
        if body is None:
            return _refused("the request is too long", 413)
        try:
            await _in_thread(_act, session, request.path_params["action"], body)
        except ValueError as error:  # ParameterError, or text that is no JSON
            return _refused(str(error), 400)
        return _Json(await _in_thread(answers.state, session))

    def briefs(request: Request) -> Any:
        return answers.briefs(session, [_number(text) for text in request.query_params.get("ids", "").split(",")])

    return [
        Route("/events", events),
        get("/state", lambda _: answers.state(session)),
        get("/map", positions),
        get("/colours", lambda request: answers.colours(session, _number(request.query_params.get("since", "")))),
        get("/edges", lambda _: answers.edges(session)),
        get("/names", lambda _: answers.names(session)),
        get("/node/{node:str}", about(answers.node)),
        get("/explain/{node:str}", about(answers.explained)),
        get("/near/{node:str}", about(answers.neighbourhood)),
        get("/search", lambda request: answers.found(session, request.query_params.get("q", ""))),
        get("/briefs", briefs),
        get("/columns", lambda _: answers.columns(session)),
        get("/values", lambda request: answers.values(session, *map(request.query_params.get, ("column", "has")))),
        get("/export/{kind:str}", lambda request: _export(session, request.path_params["kind"])),
        Route("/{action:str}", act, methods=["POST"]),
    ]


async def _versions(session: Session, request: Request) -> AsyncIterator[str]:
    """An event for each new version, upon which the page asks for the state."""
    sent, silent = 0, 0.0
    while not await request.is_disconnected():
        version = session.version
        if version != sent or silent >= HEARTBEAT:
            sent, silent = version, 0.0
            yield f"data: {version}\n\n"
        await asyncio.sleep(0.05)
        silent += 0.05


def _export(session: Session, kind: str) -> Response:
    make = {"seeds": seeds_file, "labels": labels_file, "notes": notes_file, "model": model_file}.get(kind)
    if make is None:
        return _refused("there is no such export", 404)
    try:
        name, content = make(session)
    except ValueError as error:
        return _refused(str(error), 409)
    quoted = name.encode("ascii", "replace").decode().replace('"', "")
    return Response(content, headers={"Content-Disposition": f'attachment; filename="{quoted}"'}, media_type=BINARY)


async def _body(request: Request) -> bytes | None:
    """The body of a request; None if it is too long, and then the rest is not read."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _act(session: Session, action: str, body: bytes) -> None:
    """Do what a request says; `ValueError` if that is not understood."""
    try:
        said = json.loads(body)
    except RecursionError:
        raise ParameterError("the request is nested too deeply") from None

    def detail(name: str, *kinds: type) -> Any:
        value = said.get(name, ...) if isinstance(said, dict) else ...
        if type(value) not in kinds:
            raise ParameterError(f"the request needs a valid {name}")
        return value

    def several(name: str, kind: type) -> list[Any]:
        found: list[Any] = detail(name, list)
        if not all(type(each) is kind for each in found):
            raise ParameterError(f"the request needs a valid {name}")
        return found

    actions: dict[str, Callable[[], None]] = {
        "label": lambda: session.label(several("nodes", int), detail("label", str, type(None))),
        "unsure": lambda: session.unsure(several("nodes", int)),
        "note": lambda: session.note(detail("node", int), detail("text", str)),
        "undo": session.undo,
        "redo": session.redo,
        "classes": lambda: session.add_classes(several("names", str)),
        "rename": lambda: session.rename(detail("label", str), detail("to", str)),
        "delete": lambda: session.delete(detail("label", str)),
        "order": lambda: session.arrange(several("labels", str)),
        "skip": lambda: session.skip(detail("node", int)),
        "more": session.more,
    }
    if action not in actions:
        raise ParameterError("there is no such action")
    actions[action]()


async def _in_thread(answer: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a slow function, computed in a thread that does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def finish(settle: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():  # the page may have been closed
            settle(outcome)

    def work() -> None:
        settle: Callable[[Any], None] = future.set_result
        try:
            outcome = answer(*arguments)
        except Exception as error:
            settle, outcome = future.set_exception, error
        with suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(finish, settle, outcome)

    threading.Thread(target=work, daemon=True).start()
    return await future


def _number(text: str) -> int:
    """The number of a node, a class or a version; -1 if the text is not a number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS else -1


def _refused(error: str, status: int) -> Response:
    return _Json({"error": error}, status_code=status)


def _static(folder: Path) -> Callable[[Request], Any]:
    """A handler for the files that are in this folder now, and no others."""
    files = {path.name: path for path in folder.iterdir() if path.suffix in TYPES}

    async def answer(request: Request) -> Response:
        path = files.get(request.path_params.get("name", "index.html"))
        if path is None:
            return Response("not found", status_code=404)
        return Response(path.read_bytes(), media_type=TYPES[path.suffix])

    return answer
