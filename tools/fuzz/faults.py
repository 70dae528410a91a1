"""Faults of the system: the n-th allocation of the kernels, the n-th write and the n-th new name of a file fail.

Each job is done with one fault after another, for all n, by a library that `make fuzz` compiles (tools/faults). A
command must then end with its result, or with one sentence and the old target; nothing may be left behind. What the
journal accepted must be in it, and nothing that it refused. Without that library there are no cases.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import isotherm as iso
from isotherm.cli import main
from isotherm.page.journal import Journal, JournalError
from tools.fuzz.workers import Job

__all__ = ["NAME", "case", "jobs"]

NAME = "faults of the system"
LIBRARY = Path("build/faults/faults.so")
KINDS = {"allocation": 1, "write": 2, "name": 3}
LINKS = [(first, second) for first in range(40) for second in (first + 1, (7 * first + 3) % 41) if first != second]
MANY = "source,target,weight\n" + "".join(f"n{one},n{two},{1 + one % 3}\n" for one, two in LINKS)
FEW = "source,target\na,b\nb,c\n"
SEEDS = "node,label\n" + "".join(f"n{node},{'xyz'[node % 3]}\n" for node in range(0, 40, 2))
ANSWERS = "node,label\nn1,x\nn7,y\n"
OLD = "old"
COMMANDS: dict[str, list[str]] = {
    "classify": ["classify", "many.csv", "seeds.csv", "-o", "out.csv", "--save", "out.npz", "--force"],
    "classify to Parquet": ["classify", "many.csv", "seeds.csv", "-o", "out.parquet", "--force"],
    "classify to Excel": ["classify", "many.csv", "seeds.csv", "-o", "out.xlsx", "--force"],
    "classify to a new file": ["classify", "many.csv", "seeds.csv", "-o", "new.csv.gz"],
    "pack": ["pack", "many.csv", "-o", "out.iso", "--force"],
    "update": ["update", "model.npz", "answers.csv", "-o", "out.csv", "--save", "out.npz", "--force"],
}


def jobs(most: int) -> list[Job]:
    """Cases for all n, or as many of them as there may be, evenly; none without the library."""
    if not LIBRARY.exists():
        return []
    os.environ["LD_PRELOAD"] = str(LIBRARY.absolute())  # for the processes that run the cases
    counted = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True).stdout
    found: list[Job] = [
        (case, (name, kind, number)) for name, kind, count in json.loads(counted) for number in range(1, count + 1)
    ]
    step = max(1, -(-len(found) // most))
    return found[::step]


def case(name: str, kind: str, number: int) -> str | None:
    """What is wrong after one fault; None if nothing is."""
    fault, _ = _tried(name, kind, number)
    return fault


def _tried(name: str, kind: str, number: int) -> tuple[str | None, int]:
    """Do a job in a new folder: what is wrong, and how many calls of this kind there were."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return (_journal if name == "journal" else _command)(place, name, kind, number)


def _command(folder: Path, name: str, kind: str, number: int) -> tuple[str | None, int]:
    wanted = _wanted(name)
    _prepare(folder)
    before = _content(folder)
    arguments = [str(folder / word) if "." in word else word for word in COMMANDS[name]]
    (status, sentence), count = _with_fault(folder, kind, number, lambda: _said(arguments))
    after = _content(folder)
    if "Traceback" in sentence or (status and sentence.count("\n") != 1):
        return f"status {status}: {sentence[-500:]}", count
    if status == 0:
        return (None if after == {**before, **wanted} else _difference(after, {**before, **wanted})), count
    partly = {path: content for path, content in after.items() if content != before.get(path)}
    if any(content != wanted.get(path) for path, content in partly.items()) or before.keys() - after.keys():
        return f"status {status}: {_difference(after, before)}", count
    return None, count


def _difference(after: dict[str, bytes], wanted: dict[str, bytes]) -> str:
    changed = {path for path in after.keys() | wanted.keys() if after.get(path) != wanted.get(path)}
    return f"other content or other files: {sorted(changed)}"


def _with_fault(folder: Path, kind: str, number: int, work: Callable[[], Any]) -> tuple[Any, int]:
    """The result of some work during which one call fails, and how many calls there were."""
    library = ctypes.CDLL(None)
    library.isotherm_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_char_p]
    library.isotherm_disarm.restype = ctypes.c_long
    library.isotherm_arm(KINDS[kind], number, os.fsencode(folder))
    try:
        result = work()
    finally:
        count = library.isotherm_disarm()
    return result, count


def _journal(folder: Path, name: str, kind: str, number: int) -> tuple[str | None, int]:
    """Label some nodes, open the journal again, and compare it with what was accepted."""
    path, accepted = str(folder / "log"), list[int]()
    Journal(path, "graph").close()

    def work() -> None:
        for session in range(2):
            try:
                journal = Journal(path, "graph")
            except JournalError:
                continue
            for label in range(4):
                try:
                    journal.add({"do": "class", "label": 4 * session + label})
                except JournalError:
                    continue
                accepted.append(4 * session + label)
            journal.close()

    _, count = _with_fault(folder, kind, number, work)
    journal = Journal(path, "graph")
    journal.close()
    kept = [entry["label"] for entry in journal.entries]
    return (None if kept == accepted else f"accepted {accepted}, kept {kept}"), count


def _prepare(folder: Path) -> None:
    """Write the inputs of all commands, and old targets."""
    for path, content in {"many.csv": MANY, "seeds.csv": SEEDS, "answers.csv": ANSWERS, "few.csv": FEW}.items():
        (folder / path).write_text(content)
    for path in ("out.csv", "out.npz", "out.parquet", "out.xlsx"):
        (folder / path).write_text(OLD)
    for path, data in _made().items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)


@cache
def _made() -> dict[str, bytes]:
    """A model and an old packed graph."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in {"many.csv": MANY, "seeds.csv": SEEDS, "few.csv": FEW}.items():
            (folder / path).write_text(content)
        _run(folder, "classify", "many.csv", "seeds.csv", "-o", "x.csv", "--save", "model.npz")
        _run(folder, "pack", "few.csv", "-o", "out.iso")
        made = [folder / "model.npz", *(folder / "out.iso").iterdir()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in made}


@cache
def _wanted(name: str) -> dict[str, bytes]:
    """The files that a command writes if nothing fails."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _prepare(folder)
        before = _content(folder)
        _run(folder, *COMMANDS[name])
        return {path: content for path, content in _content(folder).items() if content != before.get(path)}


def _run(folder: Path, *words: str) -> None:
    status, sentence = _said([str(folder / word) if "." in word else word for word in words])
    if status:
        raise RuntimeError(sentence)


def _said(arguments: list[str]) -> tuple[int, str]:
    """The status of a command, and what it said."""
    with tempfile.TemporaryFile("w+") as said:
        with redirect_stderr(said), redirect_stdout(said):
            status = main([*arguments, "--quiet"])
        said.seek(0)
        return status, said.read()


def _content(folder: Path) -> dict[str, bytes]:
    """What all files below a folder hold; models and Excel files have times in them, which do not count."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if content.startswith(b"PK") and path.suffix == ".npz":
                content = str(iso.load(path).labels_.tolist()).encode()
            elif content.startswith(b"PK"):
                content = str(pl.read_excel(path).rows()).encode()
            found[str(path.relative_to(folder))] = content
        elif not any(path.iterdir()):
            found[str(path.relative_to(folder))] = b""
    return found


def _count() -> list[tuple[str, str, int]]:
    return [(name, kind, _tried(name, kind, 0)[1]) for name in [*COMMANDS, "journal"] for kind in KINDS]


if __name__ == "__main__":
    print(json.dumps(_count()))
