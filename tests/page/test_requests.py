"""What the server refuses: requests of other sites, and of people without the address."""

import http.client
from collections.abc import Iterator

import pytest
from page_graphs import write_club
from pages import PATIENCE, Server, browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(write_club(tmp_path_factory.mktemp("requests")), "edges.csv", "seeds.csv") as running:
        yield running


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(b'{"node": 1, "label": "Hi"}' if method == "POST" else None)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content


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
    kind = {"Content_Type": "text/plain", "Content_Length": "26"}
    assert ask(server, f"/{server.token}/api/label", "POST", **kind)[0] == 415
    assert ask(server, f"/{server.token}/api/label", "DELETE")[0] == 403


def test_another_site_cannot_read_it(server: Server) -> None:
    with browser() as window:
        page = window.new_page()
        page.route("http://evil.example/", lambda route: route.fulfill(body="<p>evil", content_type="text/html"))
        page.goto("http://evil.example/")
        tried = page.evaluate(f"() => fetch('{server.address}api/state').then(() => 'read', () => 'refused')")
        assert tried == "refused"
        page.close()
