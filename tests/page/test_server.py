"""The server as a process: it ends at a signal, whatever it is doing."""

import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress
from threading import Thread

SLOW = """
import time
from isotherm.page import answers, server
from isotherm.page.answers import NEW_SEEDS
from isotherm.page.session import Session
from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.study.datasets import karate_club

def slow(session, text):
    print("working", flush=True)
    time.sleep(600)

answers.found = slow
listener = server.free_port()
print(listener.getsockname()[1], flush=True)
server.serve(Session(karate_club().graph, {}, DirichletClassifier(), None, source=NEW_SEEDS), listener, "token")
"""


def test_it_ends_at_once_while_an_answer_is_worked_out() -> None:
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = f"http://127.0.0.1:{process.stdout.readline().strip()}/token/api/search?q=x"
    Thread(target=_ask, args=(address,), daemon=True).start()
    assert process.stdout.readline() == "working\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def _ask(address: str) -> None:
    with suppress(OSError):  # the server goes away
        urllib.request.urlopen(address, timeout=300)
