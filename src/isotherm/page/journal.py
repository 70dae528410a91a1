"""What a person did: `Labels` in memory, with undo and redo, and the `Journal` on disk.

The journal is a file of JSON lines that only grows. The first line says which graph it belongs to. Undo and redo are
lines too, so that reading a journal leads to the same state. Each line is synchronised to disk before the page shows
the change: a process that is killed loses at most half a line, which is cut off when the journal is opened again.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from isotherm.errors import Option, ParameterError

FORMAT = "isotherm explore 1"
NEEDED = {"label": {"node", "label"}, "skip": {"node"}, "class": {"label"}, "undo": set(), "redo": set()}
FAR = 1 << 40  # the byte locked on Windows: a locked byte cannot be read, so it lies beyond the end of the file


class JournalError(ParameterError):
    """A journal that cannot be used."""


class Journal:
    """A journal, open for appending and locked for other processes; ``graph`` is the fingerprint of its graph."""

    entries: list[dict[str, Any]]  # those that the file had when it was opened

    def __init__(self, path: str, graph: str) -> None:
        self.path = path
        try:
            self._file = open(path, "a+b")  # noqa: SIM115 - it stays open
        except OSError as error:
            raise self._unusable(f"cannot be opened: {error.strerror}; choose another") from None
        try:
            self.entries = list(self._read(graph))
        except JournalError:
            self._file.close()
            raise
        if os.fstat(self._file.fileno()).st_size == 0:
            self.add({"format": FORMAT, "graph": graph})

    def add(self, entry: dict[str, Any]) -> None:
        """Write an entry, and return when it is on disk."""
        self._file.write(json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, which unlocks it."""
        self._file.close()

    def _read(self, graph: str) -> Iterator[dict[str, Any]]:
        """Lock the file and read the entries after its first line; an unfinished last line is cut off."""
        try:
            lock(self._file)
        except OSError:
            raise self._unusable("is in use by another isotherm explore; end that, or choose another") from None
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        lines = [self._entry(number, line) for number, line in enumerate(whole.splitlines(), start=1)]
        if not lines:
            return
        if lines[0].get("format") != FORMAT:
            raise self._unusable("is not a log of isotherm explore; choose another")
        if lines[0].get("graph") != graph:
            raise self._unusable("is the log of another graph; choose another")
        yield from lines[1:]

    def _entry(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            entry = json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or (number > 1 and not NEEDED.get(str(entry.get("do")), {""}) <= entry.keys()):
            raise self._unusable("is damaged; restore the file, or choose another", place=f", line {number}")
        return entry

    def _unusable(self, problem: str, place: str = "") -> JournalError:
        message = "{path}{place} {problem} with {log}"
        return JournalError(message, path=self.path, place=place, problem=problem, log=Option("log"))


def lock(file: BinaryIO) -> None:
    """Lock an open file until it is closed; `OSError` if another process has locked it."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@dataclass
class Labels:
    """The seeds of a session, by position of their node, and the steps that led to them."""

    first: Mapping[int, Any]  # the seeds at the start of the session
    named: list[Any] = field(default_factory=list)  # classes named on the page, with or without seeds
    steps: list[tuple[int, Any]] = field(default_factory=list)  # (node, label); the label None takes a label away
    undone: list[tuple[int, Any]] = field(default_factory=list)
    skipped: set[int] = field(default_factory=set)  # nodes that are not suggested again

    @property
    def seeds(self) -> dict[int, Any]:
        """The present seeds, in the order in which they were given."""
        found = dict(self.first)
        for node, label in self.steps:
            if label is None:
                found.pop(node, None)
            else:
                found[node] = label
        return found

    @property
    def classes(self) -> list[Any]:
        """All classes that had a seed or were named, sorted, numbers before texts."""
        seen = {*self.first.values(), *self.named, *(label for _, label in self.steps if label is not None)}
        return sorted(seen, key=lambda label: (isinstance(label, str), label))

    def apply(self, entry: Mapping[str, Any], node: int | None) -> None:
        """Apply an entry of the journal; ``node`` is the position of the node that it names."""
        kind = entry["do"]
        if kind == "label" and node is not None:
            self.steps.append((node, entry["label"]))
            self.undone.clear()
        elif kind == "undo" and self.steps:
            self.undone.append(self.steps.pop())
        elif kind == "redo" and self.undone:
            self.steps.append(self.undone.pop())
        elif kind == "class" and entry["label"] not in self.named:
            self.named.append(entry["label"])
        elif kind == "skip" and node is not None:
            self.skipped.add(node)

    def label_from(self, text: str) -> Any:
        """The class that a text on the page stands for: an integer if all classes are integers."""
        known = {str(label): label for label in self.classes}
        if text in known:
            return known[text]
        if not text.strip():
            raise ParameterError("a class needs a name")
        if known and not any(isinstance(label, str) for label in known.values()):
            try:
                return int(text)
            except ValueError:
                raise ParameterError(f"the classes are integers, but {text!r} is not one: give a number") from None
        return text
