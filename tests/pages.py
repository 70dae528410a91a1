"""A page under test: the command in a process of its own, and a browser."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import ISOTHERM

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),  # WebGL without a graphics card
]
SETTLED = "!isotherm.state.busy && isotherm.colours === isotherm.state.colours"
READY = f"window.isotherm?.state && isotherm.map.drawn && isotherm.map.names !== undefined && {SETTLED}"
PATIENCE = 180.0  # seconds for anything on a busy machine; all waits end as soon as they can


class Server:
    """``isotherm explore`` on a free port."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        command = [*ISOTHERM, "explore", *arguments, "--no-browser"]
        known = {**os.environ, **environment}
        self.process = subprocess.Popen(command, cwd=folder, env=known, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            if address := re.search(r"http://127\.0\.0\.1:(\d+)/(\S+)/", said):
                self.address, self.port, self.token = address[0], int(address[1]), address[2]
                return
        pytest.fail(f"no address: {said}")

    def cpu_seconds(self) -> float:
        """The processor time that it has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # in the kernel and outside

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=PATIENCE)


def chromium() -> str:
    """The browser; without one the test is skipped, or fails where ISOTHERM_BROWSER says that there must be one."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "needs Chromium: apt-get install chromium"
        if os.environ.get("ISOTHERM_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium with software rendering and an empty profile."""
    path = chromium()
    if os.environ.get("ISOTHERM_BROWSER") != "required":
        pytest.importorskip("playwright", reason="needs playwright: pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        window = play.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield window
        finally:
            window.close()


def finish(view: "View") -> None:
    """Close a tab in which nothing went wrong."""
    assert view.errors == []
    assert view.elsewhere == []
    view.page.close()


class View:
    """A tab, with what goes wrong in it collected."""

    def __init__(
        self, window: Any, address: str, *, width: int = 1280, height: int = 720, scheme: str = "light"
    ) -> None:
        self.page = window.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page.set_default_timeout(1000 * PATIENCE)
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda request: self._note(request.url, address))
        self.page.goto(address)

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            self.elsewhere.append(url)

    def get(self, expression: str) -> Any:
        """The value of an expression on the page."""
        return self.page.evaluate(f"() => ({expression})")

    def wait(self, expression: str, seconds: float = PATIENCE) -> None:
        """Wait until an expression holds; Playwright's own wait needs eval, which the page forbids."""
        end = time.monotonic() + seconds
        while not self.get(f"!!({expression})"):
            assert time.monotonic() < end, f"not in {seconds} s: {expression}; {self.errors}"
            self.page.wait_for_timeout(30)

    def ready(self) -> "View":
        """Wait until the map is drawn and nothing is going on."""
        self.wait(READY)
        return self

    def spot(self, node: int) -> tuple[float, float]:
        """Where a node is in the window."""
        left, top = self.get("(({left, top}) => [left, top])(isotherm.map.container.getBoundingClientRect())")
        place = self.get(f"isotherm.map.at({node})")
        return left + place["x"], top + place["y"]

    def colour(self, node: int) -> list[int]:
        """The colour of the pixel in the middle of a node."""
        return self.colours([node])[0]

    def colours(self, nodes: list[int]) -> list[list[int]]:
        """The colours of the pixels in the middle of some nodes, read from the canvas that sigma draws on."""
        return self.get(
            f"""(() => {{
              const map = isotherm.map, canvas = map.sigma.getCanvases().nodes;
              map.sigma.render(); // as it is drawn now: the pixels of a frame are gone after it
              const ratio = canvas.width / canvas.clientWidth, copy = document.createElement("canvas");
              [copy.width, copy.height] = [canvas.width, canvas.height];
              const pen = copy.getContext("2d", {{ willReadFrequently: true }});
              pen.drawImage(canvas, 0, 0);
              return {nodes}.map((node) => map.at(node)).map(({{ x, y }}) =>
                [...pen.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data]);
            }})()"""
        )
