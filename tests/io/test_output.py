"""Targets of output: what is refused, what is kept, and that nothing is ever half written."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from isotherm import write_labels
from isotherm.files import writing
from isotherm.graphs import Graph
from isotherm.io import FileError, check_output, output

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here
COLUMNS = {"label": ["left", None], "confidence": [1.0, 0.0]}
PAIR = Graph.from_edges(["a"], ["b"])
CSV = "node,label,confidence\na,left,1.0\nb,,0.0\n"


NAMES = ["l.csv", "l.tsv", "l.jsonl", "l.parquet", "l.arrow", "l.csv.gz", "l.tsv.zst", "l.jsonl.zst"]


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("precious")
    with pytest.raises(
        FileError, match="exists already, and is kept; choose another name, or overwrite it with force=True"
    ):
        write_labels(path, PAIR, COLUMNS)
    assert path.read_text() == "precious"
    write_labels(path, PAIR, COLUMNS, force=True)
    assert path.read_text() == CSV


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none/l.csv", "the directory .*none does not exist; create it"),
        (
            "folder",
            r"folder: labels are written as \.csv, .* or \.xlsx; end the name in one of these, or set format",
        ),
        ("folder.csv", "is a directory, not a file"),
        ("file/l.csv", "the directory .*file does not exist"),
        ("file.d", "file.d is a directory, not a file"),
        ("l.mtx", r"l\.mtx: labels are written as \.csv"),
        ("l.parquet.gz", r"l\.parquet\.gz: labels are written as \.csv"),
    ],
)
def test_bad_targets_are_refused_early(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.d").mkdir()
    (tmp_path / "file").touch()
    for refuse in (lambda path: check_output(path), lambda path: write_labels(path, PAIR, COLUMNS)):
        with pytest.raises(FileError, match=sentence):
            refuse(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(FileError, match="is not writable"):
            check_output(tmp_path / "l.csv")
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    def written() -> None:
        with writing(str(tmp_path / "folder" / "l.csv")) as file:
            file.write(b"x")
            shutil.rmtree(tmp_path / "folder")

    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match=r"l\.csv cannot be written: No such file"):
        written()


def test_a_file_that_another_process_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"

    def written(*, force: bool) -> None:
        with writing(str(path), force=force) as file:
            file.write(b"ours")
            path.write_text("theirs")

    with pytest.raises(
        FileError, match=r"l\.csv was written by another process meanwhile, and is kept; choose another"
    ):
        written(force=False)
    assert path.read_text() == "theirs"
    assert [entry.name for entry in tmp_path.iterdir()] == ["l.csv"]
    written(force=True)
    assert path.read_text() == "ours"


def test_a_disk_on_which_files_have_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*names: str) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write_labels(tmp_path / "l.csv", PAIR, COLUMNS)
    assert (tmp_path / "l.csv").read_text() == CSV
    assert [entry.name for entry in tmp_path.iterdir()] == ["l.csv"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no small disk could be mounted: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_an_excel_file_needs_no_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    write_labels(tmp_path / "l.xlsx", PAIR, COLUMNS)
    assert pl.read_excel(tmp_path / "l.xlsx").height == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["l.xlsx"]


@pytest.mark.parametrize("name", [*NAMES, "labels.xlsx"])
def test_a_full_disk(small_disk: Path, name: str) -> None:
    path = small_disk / name
    path.write_text("precious")
    rng = np.random.default_rng(0)
    nodes = rng.integers(0, 2**62, size=20_000)
    graph = Graph.from_edges(nodes[:-1], nodes[1:])
    with pytest.raises(FileError, match=f"{name} cannot be written: the disk is full"):
        write_labels(path, graph, {"label": nodes, "confidence": rng.random(len(nodes))}, force=True)
    assert path.read_text() == "precious"
    assert [entry.name for entry in small_disk.iterdir()] == [name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_device() -> None:
    with pytest.raises(FileError, match="the disk is full"):
        write_labels("/dev/full", PAIR, COLUMNS, format="csv")


def test_devices_are_written_to_and_links_are_kept(tmp_path: Path) -> None:
    write_labels("/dev/null", PAIR, COLUMNS, format="csv")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with pytest.raises(FileError, match="exists already"):
        write_labels(tmp_path / "link.csv", PAIR, COLUMNS)
    write_labels(tmp_path / "link.csv", PAIR, COLUMNS, force=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == CSV


def test_files_have_the_usual_mode(tmp_path: Path) -> None:
    write_labels(tmp_path / "l.csv", PAIR, COLUMNS)
    (tmp_path / "usual").touch()
    assert (tmp_path / "l.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
@pytest.mark.parametrize("name", ["l.csv", "link.csv"])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, name: str, mode: int) -> None:
    real = tmp_path / "l.csv"
    real.write_text("old")
    real.chmod(mode)
    (tmp_path / "link.csv").symlink_to(real)
    with writing(str(tmp_path / name), force=True) as file:
        file.write(b"new")
        drafts = [entry for entry in tmp_path.iterdir() if entry.suffix == ".tmp"]
        assert [stat.S_IMODE(draft.stat().st_mode) for draft in drafts] == [0o600]  # nobody reads along
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == mode
    assert (tmp_path / "link.csv").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_that_is_replaced_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    write_labels(path, PAIR, COLUMNS, force=True)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_file_that_grows_too_large(tmp_path: Path) -> None:
    """As on a full disk, without the rights to mount one."""
    (tmp_path / "l.csv").write_text("precious")
    code = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n" + SLOW.replace("0.05", "0")
    command = [sys.executable, "-c", code, str(tmp_path / "l.csv"), "0.5"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert "FileError" in result.stderr
    assert "l.csv cannot be written: File too large" in result.stderr
    assert (tmp_path / "l.csv").read_text() == "precious"
    assert [entry.name for entry in tmp_path.iterdir()] == ["l.csv"]


SLOW = """
import sys, time
import numpy as np
from isotherm.graphs import Graph
from isotherm import write_labels
from isotherm.io import output
texts = output._texts
def slowly(frame, name, header):
    for text in texts(frame, name, header=header):
        for start in range(0, len(text), 100_000):
            yield text[start : start + 100_000]
            print("writing", flush=True)
            time.sleep(float(sys.argv[3]))
output._texts = slowly
nodes = np.arange(50_000)
graph = Graph.from_edges(nodes[:-1], nodes[1:])
write_labels(sys.argv[1], graph, {"label": nodes, "confidence": np.full(len(nodes), float(sys.argv[2]))}, force=True)
"""


def start_writing(path: Path, confidence: float = 0.5, *, pause: float) -> subprocess.Popen[str]:
    """A process that is in the middle of writing, with a pause in seconds after each piece."""
    command = [sys.executable, "-c", SLOW, str(path), str(confidence), str(pause)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_process_leaves_the_old_file(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "l.csv"
    path.write_text("precious")
    process = start_writing(path, pause=60)
    drafts = [entry for entry in tmp_path.iterdir() if entry != path]
    assert len(drafts) == 1
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert path.read_text() == "precious"
    if number == signal.SIGINT:
        assert [entry.name for entry in tmp_path.iterdir()] == ["l.csv"]


def test_two_writers_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    writers = [start_writing(path, confidence, pause=0.05) for confidence in (0.25, 0.75)]
    seen = set[str]()
    while any(writer.poll() is None for writer in writers):
        seen |= _confidences(path)
        time.sleep(0.01)
    for writer in writers:
        assert writer.communicate()[1] == ""
    seen |= _confidences(path)
    assert seen <= {"0.25", "0.75"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["l.csv"]


def _confidences(path: Path) -> set[str]:
    """The confidences in a complete file, which are all the same; none if there is no file yet."""
    try:
        rows = path.read_text().splitlines()
    except FileNotFoundError:
        return set()
    assert len(rows) == 50_001
    found = {row.rpartition(",")[2] for row in rows[1:]}
    assert len(found) == 1
    return found


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_an_exception_while_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def failing(frame: Any, name: str, *, header: bool) -> Iterator[bytes]:
        yield b"half"
        raise error

    monkeypatch.setattr(output, "_texts", failing)
    for name in ("l.csv", "l.csv.gz", "l.csv.zst"):
        (tmp_path / name).write_text("precious")
        with pytest.raises(error):
            write_labels(tmp_path / name, PAIR, COLUMNS, force=True)
        assert (tmp_path / name).read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 3


def test_threads_may_write_the_same_target(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    threads = [
        threading.Thread(target=write_labels, args=(path, PAIR, COLUMNS), kwargs={"force": True}) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == CSV
    assert len(list(tmp_path.iterdir())) == 1
