"""Files that expand: pieces are bounded, and a graph that does not fit is refused before it takes the memory."""

import gzip
import io
import os
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from isotherm.io import FileError, memory, read_graph, read_seeds
from isotherm.io.streams import EXPANDED, Input, decompressed

ROWS = b"a,b\n" * (1 << 18)  # 1 MB


def bomb(path: Path, megabytes: int) -> Path:
    if path.suffix == ".gz":
        with gzip.open(path, "wb", compresslevel=9) as file:
            for _ in range(megabytes):
                file.write(ROWS)
    else:
        with path.open("wb") as raw, zstandard.ZstdCompressor(level=9).stream_writer(raw) as packed:
            for _ in range(megabytes):
                packed.write(ROWS)
    return path


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_piece_expands_to_a_bounded_size(tmp_path: Path, suffix: str) -> None:
    path = bomb(tmp_path / f"e.csv{suffix}", 200)
    assert path.stat().st_size < 300_000  # one piece of the file
    sizes = [len(piece) for piece in Input(str(path), suffix).pieces()]
    assert max(sizes) <= EXPANDED
    assert sum(sizes) == 200 << 20


@given(st.lists(st.binary(max_size=3000), max_size=4), st.integers(1, 500), st.booleans(), st.integers(0, 5))
def test_frames_of_zstandard(parts: list[bytes], step: int, checksum: bool, level: int) -> None:
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=checksum)
    packed = b"".join(compressor.compress(part * 50) for part in parts)
    skippable = b"\x50\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"skipped"
    packed = skippable + packed + bytes(3)  # padding
    pieces = (packed[start : start + step] for start in range(0, len(packed), step))
    assert b"".join(decompressed("x.zst", pieces, ".zst", named=True)) == b"".join(part * 50 for part in parts)


@pytest.mark.parametrize("name", ["e.csv.gz", "e.csv.zst"])
def test_a_small_file_that_expands_to_a_large_graph_is_refused(tmp_path: Path, name: str) -> None:
    path = bomb(tmp_path / name, 100)  # 26 million edges
    with pytest.raises(
        FileError, match=r"a graph of 2 nodes and [\d,]+ edges needs about .* but only 1\.0 GB are allowed"
    ):
        read_graph(path, max_graph_memory=1 << 30)


LIMITED = """
import sys, resource
from isotherm.io import read_graph
import polars, zstandard, scipy.sparse
import isotherm.io.edges, isotherm.io.matrices
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 3 * (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    read_graph(sys.argv[1])
except ValueError as error:  # getrusage would tell the peak of the parent, if that is higher
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(error, int(peak) // 1024, sep="|")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["e.csv.zst", "e.npz"])
def test_the_limit_is_what_the_process_may_still_use(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "e.npz":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for array in ("row", "col"):
                with archive.open(f"{array}.npy", "w", force_zip64=True) as file:
                    head = {"descr": "<i8", "fortran_order": False, "shape": (12 * 10**7,)}
                    np.lib.format.write_array_header_1_0(file, head)
                    for _ in range(120):
                        file.write(bytes(8 * 10**6))
            n = io.BytesIO()
            np.save(n, np.int64(5))
            archive.writestr("n.npy", n.getvalue())
    else:
        bomb(path, 150)
    result = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=300, check=True
    )
    sentence, peak = result.stdout.strip().split("|")
    assert name in sentence
    assert "of memory, but only" in sentence
    assert int(peak) < 3000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.mtx", "%%MatrixMarket matrix coordinate pattern general\n1000000000 1000000000 1\n1 2\n"),
        ("e.mtx", "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n"),
        ("e.graph", "2000000000 1\n2\n1\n"),
    ],
)
def test_a_size_that_is_only_announced(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=f"{name}: a graph of .* nodes and .* edges needs about .* GB of memory"):
        read_graph(tmp_path / name, max_graph_memory=1 << 34)


def test_announced_nodes_of_an_npz_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "e.npz", row=[0], col=[1], n=2 * 10**9)
    with pytest.raises(FileError, match="a graph of 2,000,000,000 nodes"):
        read_graph(tmp_path / "e.npz", max_graph_memory=1 << 34)


def test_seeds_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    for name, content in (("s.csv", "a,x\n" * 10), ("s.jsonl", '{"node": "a", "label": "x"}\n' * 10)):
        (tmp_path / name).write_text(content)
        with pytest.raises(FileError, match=r"the table of seeds needs about \d KB of memory, but only 1 KB are free"):
            read_seeds(tmp_path / name)


def test_control_groups_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "outer" / "inner"
    group.mkdir(parents=True)
    for folder, most in ((group, "max"), (group.parent, str(3 << 20))):
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{2 << 20}\n")
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {1 << 19}\n")
    found = list(memory._group(tmp_path, "/outer/inner", "memory.max", "memory.current", "inactive_file"))
    assert found == [(3 << 20) - (2 << 20) + (1 << 19)]
    monkeypatch.setattr(memory, "_groups", lambda: iter(found))
    assert memory.available_memory() == found[0]


@pytest.mark.skipif(not os.path.exists("/proc/meminfo"), reason="needs /proc")
def test_the_machine_has_memory() -> None:
    assert 0 < (memory.available_memory() or 0) <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert resource.getrlimit(resource.RLIMIT_AS)
