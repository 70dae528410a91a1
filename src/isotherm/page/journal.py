"""The journal: every label that a person gives, on disk before the page says so.

It is a file of JSON lines that only grows. The first line says which graph it belongs to. Undo and redo are lines too,
so that a journal read again leads to the same state. Each line is synchronised to disk at once: a process that is
killed loses nothing but perhaps half a line, which is cut off when the journal is opened again.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from isotherm.errors import ParameterError

__all__ = ["Journal", "JournalError", "Labels", "lock"]

FORMAT = "isotherm explore 1"
NEEDED = {"label": {"node", "label"}, "skip": {"node"}, "class": {"label"}, "undo": set(), "redo": set()}
FAR = 1 << 40  # the byte that is locked on Windows: beyond the end, since a locked byte cannot be read there


class JournalError(ParameterError):
    """A journal that cannot be used."""


class Journal:
    """A journal that is open for more lines, and locked for others.

    Parameters
    ----------
    path
        The file; it is made if it does not exist.
    graph
        A fingerprint of the graph. A journal of another graph is refused.

    Attributes
    ----------
    entries
        The lines that it held when it was opened.
    """

    def __init__(self, path: str, graph: str) -> None:
        self.path = path
        try:
            self._file = open(path, "a+b")  # noqa: SIM115 - it stays open
        except OSError as error:
            raise JournalError(f"{path} cannot be opened: {error.strerror}; choose another with --log") from None
        try:
            self._lock()
            self.entries = list(self._read(graph))
        except JournalError:
            self._file.close()
            raise
        if os.fstat(self._file.fileno()).st_size == 0:
            self.add({"format": FORMAT, "graph": graph})

    def _lock(self) -> None:
        try:
            lock(self._file)
        except OSError:
            why = "is in use by another isotherm explore; end that, or choose another with --log"
            raise JournalError(f"{self.path} {why}") from None

    def add(self, entry: dict[str, Any]) -> None:
        """Write a line, and return when it is on disk."""
        self._file.write(json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def _read(self, graph: str) -> Iterator[dict[str, Any]]:
        """The entries after the first; half a line at the end is cut off."""
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        lines = [self._entry(number, line) for number, line in enumerate(whole.splitlines(), start=1)]
        if not lines:
            return
        if lines[0].get("format") != FORMAT:
            raise JournalError(f"{self.path} is not a log of isotherm explore; choose another with --log")
        if lines[0].get("graph") != graph:
            raise JournalError(f"{self.path} is the log of another graph; choose another with --log")
        yield from lines[1:]

    def _entry(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            entry = json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or (number > 1 and not NEEDED.get(str(entry.get("do")), {""}) <= entry.keys()):
            raise JournalError(f"{self.path}, line {number} is damaged; restore the file, or choose another with --log")
        return entry


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
    """Seeds by position of their node, and the steps that led to them.

    Attributes
    ----------
    first
        The seeds that were read from a file or given by the program.
    named
        Classes that were named on the page, which may have no seed yet.
    steps, undone
        Labels that were given, as (node, label or None), the last one last; and those that were undone.
    skipped
        Nodes that are not to be suggested.
    """

    first: Mapping[int, Any]
    named: list[Any] = field(default_factory=list)
    steps: list[tuple[int, Any]] = field(default_factory=list)
    undone: list[tuple[int, Any]] = field(default_factory=list)
    skipped: set[int] = field(default_factory=set)

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
        """All classes that were seen or named, each once, sorted if possible."""
        seen = {*self.first.values(), *self.named, *(label for _, label in self.steps if label is not None)}
        return sorted(seen, key=lambda label: (isinstance(label, str), label))

    def apply(self, entry: Mapping[str, Any], node: int | None) -> None:
        """Take one entry of the journal; ``node`` is the position of the node that it names."""
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
