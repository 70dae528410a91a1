"""The journal: nothing that was said is lost, nothing that was refused comes back, and half a line is harmless."""

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from isotherm.page.journal import Journal, JournalError


def test_entries_are_read_again_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    journal = Journal(path, "graph")
    for number in range(3):
        journal.add({"do": "label", "node": "ü\n\ud800", "label": number})
    journal.close()
    again = Journal(path, "graph")
    assert [entry["label"] for entry in again.entries] == [0, 1, 2]
    assert again.entries[0]["node"] == "ü\n\ud800"
    again.close()


def test_half_a_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "log"
    journal = Journal(str(path), "graph")
    journal.add({"do": "undo"})
    journal.close()
    whole = path.read_bytes()
    for length in range(whole.index(b"\n") + 1, len(whole) - 1):
        path.write_bytes(whole[:length])
        again = Journal(str(path), "graph")
        assert again.entries == []
        again.add({"do": "redo"})
        again.close()
        last = Journal(str(path), "graph")
        assert last.entries == [{"do": "redo"}]
        last.close()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("hello\n", "line 1 is damaged"),
        ("[1]\n", "line 1 is damaged"),
        ('{"a": 1}\n', "is not a log of isotherm explore"),
        ('{"format": "isotherm explore 1", "graph": "other"}\n', "is the log of another graph"),
        ('{"format": "isotherm explore 1", "graph": "graph"}\n\x00\n', "line 2 is damaged"),
        ('{"format": "isotherm explore 1", "graph": "graph"}\n{"do": "label", "node": "a"}\n', "line 2 is damaged"),
        ('{"format": "isotherm explore 1", "graph": "graph"}\n{"do": "x"}\n', "line 2 is damaged"),
        ('{"format": "isotherm explore 2", "graph": "graph"}\n', "line 1 is damaged"),
        ('{"format": "isotherm explore 1", "graph": "graph"}\n' + "[" * 100_000 + "\n", "line 2 is damaged"),
    ],
)
def test_what_is_no_journal_is_refused_and_kept(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "log"
    path.write_text(content)
    with pytest.raises(JournalError, match=sentence):
        Journal(str(path), "graph")
    assert path.read_text() == content


def test_a_journal_is_for_one_process(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    journal = Journal(path, "graph")
    code = f"from isotherm.page.journal import Journal; Journal({path!r}, 'graph')"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "is in use by another isotherm explore" in outcome.stderr
    journal.close()


class FakeLocks:
    """The locks of Windows: on a byte of an open file, from where the file is read."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.taken: set[int] = set()

    def locking(self, handle: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        assert os.lseek(handle, 0, os.SEEK_CUR) > os.fstat(handle).st_size, "a locked byte could not be read"
        if self.taken:
            raise PermissionError(13, "Permission denied")
        self.taken.add(handle)


def test_where_there_is_no_fcntl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", FakeLocks())
    monkeypatch.setitem(sys.modules, "fcntl", None)
    path = str(tmp_path / "log")
    journal = Journal(path, "graph")
    journal.add({"do": "undo"})
    with pytest.raises(JournalError, match="is in use by another isotherm explore"):
        Journal(path, "graph")
    journal.close()
    monkeypatch.setitem(sys.modules, "msvcrt", FakeLocks())
    again = Journal(path, "graph")
    assert again.entries == [{"do": "undo"}]
    again.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be opened: No such file"):
        Journal(str(tmp_path / "none" / "log"), "graph")


def entries_of(path: Path) -> list[dict[str, Any]]:
    journal = Journal(str(path), "graph")
    journal.close()
    return journal.entries


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file become larger than this many bytes, as on a disk that is full: a write beyond is cut short."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.mark.parametrize("room", range(0, 70, 7))
def test_what_does_not_fit_on_the_disk_is_refused_and_does_not_come_back(tmp_path: Path, room: int) -> None:
    path = tmp_path / "log"
    journal = Journal(str(path), "graph")
    journal.add({"do": "class", "label": "kept"})
    with room_for(path.stat().st_size + room):
        for _ in range(2):
            with pytest.raises(JournalError, match="cannot be written, so this change is not kept"):
                journal.add({"do": "class", "label": "refused" * 10})
    journal.add({"do": "class", "label": "later"})
    journal.close()
    assert [entry["label"] for entry in entries_of(path)] == ["kept", "later"]


def test_a_line_that_could_not_be_taken_back_is_taken_back_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(str(tmp_path / "log"), "graph")

    class Failing:
        """A disk that breaks after a line was written, and works again later."""

        def __init__(self, file: Any) -> None:
            self.file, self.truncations = file, 0

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def truncate(self, size: int) -> None:
            self.truncations += 1
            if self.truncations == 2:
                raise OSError(errno.EIO, "Input/output error")
            self.file.truncate(size)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journal, "_file", Failing(journal._file))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(JournalError, match="the disk is full; free some space"):
            journal.add({"do": "class", "label": "refused"})
    journal.add({"do": "class", "label": "later"})
    journal.close()
    assert [entry["label"] for entry in entries_of(tmp_path / "log")] == ["later"]


def written(path: Path, *, old: bool = False) -> list[dict[str, Any]]:
    """Write a journal, with its first two lines by release 0.2.0 if it is old; returns its entries."""
    entries: list[dict[str, Any]] = [{"do": "label", "node": f"é{number}", "label": "a\nb"} for number in range(3)]
    entries.append({"do": "undo"})
    if old:
        lines = [{"format": "isotherm explore 1", "graph": "graph"}, entries[0]]
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    journal = Journal(str(path), "graph")
    for entry in entries[old:]:
        journal.add(entry)
    journal.close()
    return entries


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_a_cut_journal_has_the_first_entries(tmp_path: Path, old: bool) -> None:
    path = tmp_path / "log"
    entries = written(path, old=old)
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        lines = whole[:length].count(b"\n")
        found = entries_of(path)
        assert found in (entries[: max(lines - 1, 0)], entries[:lines])  # the second if only the end of the line is cut
        assert entries_of(path) == found
    assert entries_of(path) == entries


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_each_changed_byte_is_noticed(tmp_path: Path, old: bool) -> None:
    path = tmp_path / "log"
    entries = written(path, old=old)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    damaged = [b"".join(lines[:place] + lines[place + 1 :]) for place in range(1, len(lines) - 1)]
    damaged += [b"".join([lines[0], lines[2], lines[1], *lines[3:]]), whole + lines[-1]]
    for place in range(len(whole)):
        damaged.append(whole[:place] + whole[place + 1 :])
        damaged += [whole[:place] + bytes([whole[place] ^ bits]) + whole[place + 1 :] for bits in (1, 0x20, 0x80, 0xFF)]
    for content in damaged:
        path.write_bytes(content)
        try:
            assert entries_of(path) == entries  # a changed digit in upper case, or a newline at the end
        except JournalError:
            assert path.read_bytes() == content
