"""What a person did: `Labels` in memory, with undo and redo, and the `Journal` on disk.

The journal is a file of JSON lines that only grows. The first line says which graph it belongs to. Undo and redo are
lines too, so that reading a journal leads to the same state. Each line is synchronised to disk before the page shows
the change: a process that is killed loses at most half a line, which is cut off when the journal is opened again. A
line that cannot be written is taken back, so that a change that was refused does not come back later.

Each line ends with the CRC-32 of all lines up to and including it, without their checksums. So a line that was changed,
removed or moved is noticed. Journals of release 0.2.0 have no checksums; lines that are added to one have them.
"""

import errno
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from isotherm.errors import Option, ParameterError
from isotherm.files import write_whole

FORMAT, OLD_FORMAT = "isotherm explore 2", "isotherm explore 1"
NEEDED = {
    **{"label": {"label"}, "unsure": {"nodes"}, "note": {"nodes", "text"}, "skip": {"node"}},  # about nodes
    **{"class": {"label"}, "rename": {"label", "to"}, "delete": {"label"}, "order": {"to"}},  # about classes
    **{"undo": set(), "redo": set()},
}
UNDOABLE = {"label", "unsure", "note", "rename", "delete", "order"}
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
            known = bool(entry) if number == 1 else _is_known(entry)
            right = int(whole[2], 16) == self._check if whole else not checked and entry.get("format") != FORMAT
            if not (known and right):
                raise self._unusable("is damaged; restore the file, or choose another", place=f", line {number}")
            checked = whole is not None
            entries.append(entry)
        return entries

    def _unusable(self, problem: str, place: str = "") -> JournalError:
        message = "{path}{place} {problem} with {log}"
        return JournalError(message, path=self.path, place=place, problem=problem, log=Option("log"))


def _is_known(entry: dict[str, Any]) -> bool:
    """Whether an entry has a known action and its fields; in release 0.2.0, a label was about one node."""
    kind = str(entry.get("do"))
    return NEEDED.get(kind, {""}) <= entry.keys() and (kind != "label" or bool({"node", "nodes"} & entry.keys()))


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


class Step(NamedTuple):
    """One thing that a person did."""

    kind: str  # as in `NEEDED`
    nodes: tuple[int, ...] = ()  # positions
    label: Any = None  # a class, or the text of a note
    other: Any = None  # the new name of a class, or all classes in a new order


@dataclass
class Labels:
    """What a person said so far, and the steps that led to it.

    A class keeps its slot, which gives its colour, whatever happens to other classes. A class that is renamed to
    another one is merged into it, and leaves an empty slot behind. Collections are replaced, never changed, because
    other threads read them.
    """

    first: Mapping[int, Any]  # the seeds at the start of the session, by position of their node
    seeds: dict[int, Any] = field(init=False)  # the present seeds
    slots: list[Any] = field(init=False)  # classes in the order in which they came; None where one is gone
    order: list[Any] = field(init=False)  # classes in the order of their keys
    given: set[int] = field(init=False)  # nodes that were labelled in the session
    skipped: set[int] = field(init=False)  # nodes that are not suggested again
    unsure: set[int] = field(init=False)  # nodes about which the person could not tell; not suggested again either
    notes: dict[int, str] = field(init=False)
    steps: list[Step] = field(default_factory=list)
    undone: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        """The state before the first step; classes with many seeds come first, then numbers before texts."""
        self.seeds, self.given, self.skipped, self.unsure, self.notes = dict(self.first), set(), set(), set(), {}
        counts = Counter(self.first.values())
        self.slots = sorted(counts, key=lambda label: (-counts[label], isinstance(label, str), label))
        self.order = list(self.slots)

    @property
    def undoable(self) -> list[Step]:
        """The steps that can be undone, the oldest first."""
        return [step for step in self.steps if step.kind in UNDOABLE]

    def apply(self, entry: Mapping[str, Any], nodes: Sequence[int]) -> None:
        """Apply an entry of the journal; ``nodes`` are the positions of the nodes that it names."""
        kind = entry["do"]
        if kind == "undo":
            self._undo()
        elif kind == "redo":
            if self.undone:
                self._take(self.undone.pop())
        elif nodes or not ({"node", "nodes"} & entry.keys()):  # the nodes may be gone from the graph
            self._take(Step(kind, tuple(nodes), entry.get("label", entry.get("text")), entry.get("to")))
            if kind in UNDOABLE:
                self.undone.clear()

    def _undo(self) -> None:
        place = next((at for at in reversed(range(len(self.steps))) if self.steps[at].kind in UNDOABLE), None)
        if place is None:
            return
        self.undone.append(self.steps.pop(place))
        again = Labels(self.first)
        for step in self.steps:
            again._do(step)
        for name in ("seeds", "slots", "order", "given", "skipped", "unsure", "notes"):
            setattr(self, name, getattr(again, name))

    def _take(self, step: Step) -> None:
        if step.kind == "label" and step.label is not None and step.label not in self.slots:
            self._take(Step("class", label=step.label))  # a step of its own, so that the class outlives an undo
        self.steps.append(step)
        self._do(step)

    def _do(self, step: Step) -> None:
        kind, nodes, label = step.kind, step.nodes, step.label
        if kind == "label":
            self._label(nodes, label)
        elif kind == "class":
            if label not in self.slots:
                self.slots, self.order = [*self.slots, label], [*self.order, label]
        elif kind in ("rename", "delete"):
            self._rename(label, step.other)
        elif kind == "order":
            wanted = [each for each in step.other if each in self.order]
            self.order = [*wanted, *(each for each in self.order if each not in wanted)]
        elif kind == "note":
            self.notes = self.notes | dict.fromkeys(nodes, label)
        elif kind == "skip":
            self.skipped = self.skipped.union(nodes)
        else:
            self.unsure = self.unsure.union(nodes)

    def _label(self, nodes: tuple[int, ...], label: Any) -> None:
        self.unsure = self.unsure.difference(nodes)
        self.given = self.given.difference(nodes) if label is None else self.given.union(nodes)
        gone = set(nodes) if label is None else set()
        given = {} if label is None else dict.fromkeys(nodes, label)
        self.seeds = {node: each for node, each in self.seeds.items() if node not in gone} | given

    def _rename(self, label: Any, other: Any) -> None:
        """Give a class another name, or merge it into the class with this name; without a name, delete it."""
        if label not in self.slots:
            return
        gone = other is None or other in self.slots
        self.slots = [each if each != label else None if gone else other for each in self.slots]
        self.order = [each if each != label else other for each in self.order if each != label or not gone]
        own = tuple(node for node, each in self.seeds.items() if each == label)
        if other is None:
            self._label(own, None)
        else:
            self.seeds = self.seeds | dict.fromkeys(own, other)

    def label_from(self, text: str) -> Any:
        """The class that a text on the page stands for: an integer if all classes are integers."""
        known = {str(label): label for label in self.order}
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
