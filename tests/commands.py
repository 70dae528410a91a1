"""Commands to test: in this process where that shows as much, in one of their own where it does not."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from isotherm.cli import main
from isotherm.cli.app import app

ISOTHERM = [sys.executable, "-m", "isotherm"]
EDGES = "source,target,weight\nann,bob,1\nann,cat,1\nbob,cat,2\ncat,dan,1\ndan,eve,1\ndan,fay,1\neve,fay,1\nfay,gus,1\n"
SEEDS = "node,label\nann,tea\ngus,coffee\n"


def options_of(command: str) -> list[str]:
    """The options of a command, each by its first name."""
    found: Any = app
    for name in command.split():
        found = found[name]
    names = [argument.names[0] for argument in found.assemble_argument_collection()]
    return [name for name in names if name.startswith("--")]


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


def runner(folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a command in this process, in a folder with edges.csv and seeds.csv."""
    monkeypatch.chdir(folder)
    (folder / "edges.csv").write_text(EDGES)
    (folder / "seeds.csv").write_text(SEEDS)

    def run(*arguments: str | Path) -> Outcome:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        return Outcome(status, *capfd.readouterr())

    return run


def start(*arguments: str | Path, folder: Path, **environment: str) -> "subprocess.Popen[str]":
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [*ISOTHERM, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command(*arguments: str | Path, folder: Path, **environment: str) -> Outcome:
    """Run a command in a process of its own."""
    process = start(*arguments, folder=folder, **environment)
    out, err = process.communicate(timeout=300)
    return Outcome(process.returncode, out, err)


def interrupt(process: "subprocess.Popen[str]") -> None:
    """Press Ctrl-C until the process ends; Python may lose one that comes while it is busy, such as with imports."""
    for _ in range(60):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
            return
    process.kill()


def rounded(text: str) -> str:
    """The same text without the last digits of its numbers, which depend on the order of sums."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.9g}", text)


def leftovers(folder: Path) -> list[str]:
    """Unfinished files."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".") or path.suffix == ".tmp"]
