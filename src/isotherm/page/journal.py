"""What a person did: `Labels` in memory, with undo and redo, and the `Journal` on disk.

The journal is a file of JSON lines that only grows. The first line says which graph it belongs to. Undo and redo are
lines too, so that reading a journal leads to the same state. Each line is synchronised to disk before the page shows
the change: a process that is killed loses at most half a line, which is cut off when the journal is opened again. A
line that cannot be written is taken back, so that a change that was refused does not come back later.

Each line ends with the CRC-32 of all lines up to there, without their checksums. So a line that was changed, removed or
moved is noticed. Journals of release 0.2.0 have no checksums; lines that are added to one have them.
"""

import errno
import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from zlib import crc32

from isotherm.errors import Option, ParameterError
from isotherm.files import write_whole

FORMAT, OLD_FORMAT = "isotherm explore 2", "isotherm explore 1"
NEEDED = {"label": {"node", "label"}, "skip": {"node"}, "class": {"label"}, "undo": set(), "redo": set()}
FAR = 1 << 40  # the byte locked on Windows: a locked byte cannot be read, so it lies beyond the end of the file
CHECKED = re.compile(rb'(.*), "check": "([0-9a-f]{8})"\}')


class JournalError(ParameterError):
    """A journal that cannot be used."""


class Journal:
    """A journal, open for appending and locked for other processes; ``graph`` is the fingerprint of its graph."""

    entries: list[dict[str, Any]]  # those that the file had when it was opened

    def __init__(self, path: str, graph: str) -> None:
        self.path = path
        self._size = self._check = 0  # of the lines that are on disk
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 - it stays open
        except OSError as error:
            raise self._unusable(f"cannot be opened: {error.strerror}; choose another") from None
        try:
            self.entries = self._read(graph)
            if not self._size:
                self.add({"format": FORMAT, "graph": graph})
        except BaseException:
            self._file.close()
            raise

    def add(self, entry: dict[str, Any]) -> None:
        """Write an entry, and return when it is on disk; after an error the file is as before."""
        body = json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass")[:-1]
        check = crc32(body, self._check)
        self._append(body + b', "check": "%08x"}\n' % check)
        self._check = check

    def close(self) -> None:
        """Close the file, which unlocks it."""
        self._file.close()

    def _append(self, line: bytes) -> None:
        try:
            self._file.truncate(self._size)  # in case that failed after the last error
            write_whole(self._file, line)
            os.fsync(self._file.fileno())
        except BaseException as error:
            with suppress(OSError):
                self._file.truncate(self._size)
            if not isinstance(error, OSError):
                raise
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = "the disk is full; free some space" if full else f"{error.strerror}; look into that"
            raise JournalError(f"{self.path} cannot be written, so this change is not kept: {reason}") from None
        self._size += len(line)

    def _read(self, graph: str) -> list[dict[str, Any]]:
        """Lock the file and read the entries after its first line; an unfinished last line is cut off."""
        try:
            lock(self._file)
        except OSError:
            raise self._unusable("is in use by another isotherm explore; end that, or choose another") from None
        self._file.seek(0)
        content = self._file.readall()
        *lines, rest = content.split(b"\n")
        unended = CHECKED.match(rest) is not None  # a whole line of which at most the end is damaged
        entries = self._entries([*lines, rest] if unended else lines)
        if entries and entries[0].get("format") not in (FORMAT, OLD_FORMAT):
            raise self._unusable("is not a log of isotherm explore; choose another")
        if entries and entries[0].get("graph") != graph:
            raise self._unusable("is the log of another graph; choose another")
        self._size = len(content) - (0 if unended else len(rest))
        if unended:
            self._append(b"\n")
        elif rest:
            self._file.truncate(self._size)
        return entries[1:]

    def _entries(self, lines: list[bytes]) -> list[dict[str, Any]]:
        """The entries of all lines, each with a checksum unless the journal is an old one."""
        entries: list[dict[str, Any]] = []
        checked = False
        for number, line in enumerate(lines, start=1):
            whole = CHECKED.fullmatch(line)
            body = whole[1] if whole else line[:-1]
            self._check = crc32(body, self._check)
            entry = _parsed(body + b"}" if whole else line)
            known = bool(entry) if number == 1 else NEEDED.get(str(entry.get("do")), {""}) <= entry.keys()
            right = int(whole[2], 16) == self._check if whole else not checked and entry.get("format") != FORMAT
            if not (known and right):
                raise self._unusable("is damaged; restore the file, or choose another", place=f", line {number}")
            checked = whole is not None
            entries.append(entry)
        return entries

    def _unusable(self, problem: str, place: str = "") -> JournalError:
        message = "{path}{place} {problem} with {log}"
        return JournalError(message, path=self.path, place=place, problem=problem, log=Option("log"))


def _parsed(line: bytes) -> dict[str, Any]:
    """The object that a line of JSON holds; empty if it holds none."""
    try:
        entry = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


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
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ParameterError("the name of the class holds half a surrogate pair, which is no text: leave that out")
        if known and not any(isinstance(label, str) for label in known.values()):
            try:
                return int(text)
            except ValueError:
                raise ParameterError(f"the classes are integers, but {text!r} is not one: give a number") from None
        return text
