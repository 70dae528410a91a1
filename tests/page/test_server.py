"""The server as a process: how the browser finds it, and that it ends at a signal, whatever it is doing."""

import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from commands import ISOTHERM
from page_graphs import write_club
from pages import PATIENCE
from pages import browser as windows

SLOW = """
import time
from isotherm.page import answers, server
from isotherm.page.answers import NEW_SEEDS
from isotherm.page.session import Session
from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.study.datasets import karate_club

def slow(*_):
    print("working", flush=True)
    time.sleep(600)

answers.found = slow

class SlowJournal:
    entries, add = [], slow
    def close(self): pass

listener = server.free_port()
print(listener.getsockname()[1], flush=True)
session = Session(karate_club().graph, {}, DirichletClassifier(), SlowJournal(), source=NEW_SEEDS)
server.serve(session, listener, "token")
"""


@pytest.mark.parametrize(("asked", "said"), [("search?q=x", None), ("label", b'{"nodes": [1], "label": "x"}')])
def test_it_ends_at_once_while_an_answer_is_worked_out(asked: str, said: bytes | None) -> None:
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = f"http://127.0.0.1:{process.stdout.readline().strip()}/token/api/{asked}"
    request = urllib.request.Request(address, said, {"Content-Type": "application/json"})
    Thread(target=_ask, args=(request,), daemon=True).start()
    assert process.stdout.readline() == "working\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def _ask(request: urllib.request.Request) -> None:
    with suppress(OSError):  # the server goes away
        urllib.request.urlopen(request, timeout=300)


def test_the_browser_is_opened_without_showing_the_token_to_others(tmp_path: Path) -> None:
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {opened}.tmp && mv {opened}.tmp {opened}\n')
    browser.chmod(0o700)
    write_club(tmp_path)
    command = [*ISOTHERM, "explore", "edges.csv", "seeds.csv"]
    known = {**os.environ, "BROWSER": str(browser), "DISPLAY": ":9"}
    process = subprocess.Popen(command, cwd=tmp_path, env=known, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    address = next(line.strip() for line in process.stderr if line.startswith("http://"))
    limit = time.monotonic() + PATIENCE
    while not opened.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    said = opened.read_text()
    link = Path(said.strip().removeprefix("file://"))
    assert address.rsplit("/", 2)[1] not in said
    assert (link.parent, stat.S_IMODE(link.stat().st_mode)) == (tmp_path, 0o600)
    with windows() as window:
        page = window.new_page()
        page.goto(link.as_uri())
        page.wait_for_url(address)
        limit = time.monotonic() + PATIENCE
        while page.evaluate("() => window.isotherm?.state?.nodes") != 34:  # Playwright's own wait needs eval
            assert time.monotonic() < limit
            time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert not link.exists()
