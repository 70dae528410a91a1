"""What the server refuses: requests of other sites, of people without the address, and those that make no sense."""

import asyncio
import http.client
import json
import select
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import pytest
from page_graphs import write_club
from pages import PATIENCE, Server, browser

from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.graphs import Graph
from isotherm.page import answers
from isotherm.page.server import _Json, application
from isotherm.page.session import Session
from isotherm.study.datasets import karate_club


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(write_club(tmp_path_factory.mktemp("requests")), "edges.csv", "seeds.csv") as running:
        yield running


def ask(
    server: Server, path: str, method: str = "GET", body: Any = b'{"nodes": [1], "label": "Hi"}', **headers: str
) -> tuple[int, str]:
    """The status and the content of an answer, whose headers must be there whatever they are."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(body if method == "POST" else None)
    answer = connection.getresponse()
    content = answer.read().decode(errors="replace")
    connection.close()
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return answer.status, content


def say(server: Server, action: str, body: bytes) -> tuple[int, str]:
    """Send an action, as the page does."""
    headers = {"Content_Type": "application/json", "Content_Length": str(len(body))}
    return ask(server, f"/{server.token}/api/{action}", "POST", body, **headers)


def test_a_known_address_is_answered(server: Server) -> None:
    assert ask(server, f"/{server.token}/api/state")[0] == 200


def test_a_wrong_token_finds_nothing(server: Server) -> None:
    for path in (
        "/",
        "/api/state",
        "/wrong/api/state",
        f"/{server.token}x/api/state",
        f"/{server.token}/../etc/passwd",
    ):
        assert ask(server, path)[0] == 404


def test_a_wrong_host_is_refused(server: Server) -> None:
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1"):
        assert ask(server, f"/{server.token}/api/state", Host=host)[0] == 403


def test_another_origin_is_refused(server: Server) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
        assert ask(server, f"/{server.token}/api/state", **headers)[0] == 403


def test_a_form_cannot_label(server: Server) -> None:
    kind = {"Content_Type": "text/plain", "Content_Length": "29"}
    assert ask(server, f"/{server.token}/api/label", "POST", **kind)[0] == 415
    assert ask(server, f"/{server.token}/api/label", "DELETE")[0] == 403


@pytest.mark.parametrize(
    ("action", "body", "sentence"),
    [
        ("label", b'{"nodes": [1e999], "label": "Hi"}', "a valid nodes"),
        ("label", b'{"nodes": [NaN], "label": "Hi"}', "a valid nodes"),
        ("label", b'{"nodes": [1.5], "label": "Hi"}', "a valid nodes"),
        ("label", b'{"nodes": [true], "label": "Hi"}', "a valid nodes"),
        ("label", b'{"nodes": [34], "label": "Hi"}', "no node number 34"),
        ("label", b'{"nodes": [1' + b"0" * 4000 + b'], "label": "Hi"}', "no node number 1000"),
        ("label", b'{"nodes": [1' + b"0" * 5000 + b'], "label": "Hi"}', "4300 digits"),
        ("label", b'{"nodes": [5], "label": {}}', "a valid label"),
        ("label", rb'{"nodes": [5], "label": "\ud800"}', "half a surrogate pair"),
        ("label", b'{"nodes": [5], "label": " "}', "needs a name"),
        ("label", b"[" * 100_000, "nested too deeply"),
        ("label", b"[]", "a valid nodes"),
        ("label", b"7", "a valid nodes"),
        ("label", b"\xff\xfe\xfd", "decode"),
        ("label", b"", "Expecting value"),
        ("skip", b'{"node": 99}', "no node number 99"),
        ("skip", b'{"node": -1}', "no node number -1"),
        ("classes", b'{"names": "abc"}', "a valid names"),
        ("classes", b'{"names": [1]}', "a valid names"),
        ("label", b'{"nodes": [], "label": "Hi"}', "no node is named"),
        ("unsure", b'{"nodes": [1, "2"]}', "a valid nodes"),
        ("note", b'{"node": 1, "text": 7}', "a valid text"),
        ("note", b'{"node": 77, "text": "x"}', "no node number 77"),
        ("rename", b'{"label": "nobody", "to": "x"}', "there is no class 'nobody'"),
        ("rename", b'{"label": "Hi", "to": " "}', "needs a name"),
        ("delete", b'{"label": "nobody"}', "there is no class 'nobody'"),
        ("order", b'{"labels": ["Hi", "nobody"]}', "there is no class 'nobody'"),
        ("classes", b"{}", "a valid names"),
        ("dance", b"{}", "no such action"),
    ],
)
def test_what_is_not_understood_is_refused_with_a_sentence(
    server: Server, action: str, body: bytes, sentence: str
) -> None:
    status, content = say(server, action, body)
    assert status == 400
    assert sentence in json.loads(content)["error"]
    assert len(content) < 300


@pytest.mark.parametrize("number", ["9" * 5000, "34", "-1", "x", "٣", "1e3", "%00"])
def test_numbers_in_addresses_may_be_anything(server: Server, number: str) -> None:
    api = f"/{server.token}/api"
    assert ask(server, f"{api}/colours?since={quote(number)}")[0] == 200
    assert ask(server, f"{api}/briefs?ids={quote(number)}")[0] == 200
    assert ask(server, f"{api}/values?column={quote(number)}")[0] == 400
    for kind in ("node", "explain", "near"):
        assert ask(server, f"{api}/{kind}/{quote(number)}")[0] == 404


def test_a_long_request_is_refused_before_it_has_arrived(server: Server) -> None:
    announced, sent = 300 << 20, 0
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(
            f"POST /{server.token}/api/label HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {announced}\r\n\r\n".encode()
        )
        while sent < 8 << 20 and not select.select([line], [], [], 0)[0]:  # more fits between the two ends
            with suppress(ConnectionError):
                sent += line.send(bytes(1 << 16))
        assert line.recv(100).startswith(b"HTTP/1.1 413 ")


def test_an_unexpected_error_has_the_headers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(answers, "state", broken)
    told: list[Any] = []
    scope = {"type": "http", "method": "GET", "path": "/token/api/state", "query_string": b"", "root_path": ""}
    scope |= {"headers": [(b"host", b"127.0.0.1:80")], "http_version": "1.1", "scheme": "http"}

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    session = Session(karate_club().graph, {}, DirichletClassifier(), None, source=answers.NEW_SEEDS)
    with pytest.raises(RuntimeError, match="unexpected"):
        asyncio.run(application(session, 80, "token")(scope, receive, send))  # type: ignore[arg-type]
    assert told[0]["status"] == 500
    assert b"content-security-policy" in dict(told[0]["headers"])


def test_a_node_whose_name_is_no_text_is_shown() -> None:
    graph = Graph.from_edges(["a", "\ud800", "b"], ["\ud800", "b", "a"])
    session = Session(graph, {"a": "\udfff", "b": "y"}, DirichletClassifier(), None, source=answers.NEW_SEEDS)
    session._mark_seeds()
    for answer in (answers.names(session), answers.state(session), answers.found(session, "\ud800")):
        assert json.loads(bytes(_Json(answer).body)) == json.loads(json.dumps(answer))


def test_another_site_cannot_read_it(server: Server) -> None:
    with browser() as window:
        page = window.new_page()
        page.route("http://evil.example/", lambda route: route.fulfill(body="<p>evil", content_type="text/html"))
        page.goto("http://evil.example/")
        tried = page.evaluate(f"() => fetch('{server.address}api/state').then(() => 'read', () => 'refused')")
        assert tried == "refused"
        page.close()
