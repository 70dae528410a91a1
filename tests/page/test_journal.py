"""The journal: nothing that was said is lost, and half a line is harmless."""

import os
import subprocess
import sys
from pathlib import Path

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
    for length in range(len(whole) - 14, len(whole)):
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
