"""Little memory: a sentence and an exit status, also where libraries would abort; kernels go on with fewer threads."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from isotherm import kernels

resource = pytest.importorskip("resource")
GIGA = 1 << 30

needs_kernels = pytest.mark.skipif(not hasattr(kernels.native, "say_on_abort"), reason="needs native kernels")


def classify(folder: Path, limit: int, *more: str, threads: int = 1) -> subprocess.CompletedProcess[str]:
    (folder / "e.csv").write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(100)))
    (folder / "s.csv").write_text("node,label\n0,a\n100,b\n")
    command = [sys.executable, "-m", "isotherm", "classify", "e.csv", "s.csv", "-o", "o.csv", "--quiet", *more]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "ISOTHERM_THREADS": str(threads)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("limit", [0.06, 0.1, 0.2, 0.3, 0.5, 1, 1.5])
def test_a_limit_that_is_too_small_for_the_libraries(tmp_path: Path, limit: float) -> None:
    done = classify(tmp_path, int(limit * GIGA))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"isotherm: a process may take {limit:.1f} GB of address space here (ulimit -v), but")
    assert done.stderr.endswith("isotherm needs 1.75 GB for 1 thread; raise the limit\n")
    assert not (tmp_path / "o.csv").exists()


def test_fewer_threads_need_less(tmp_path: Path) -> None:
    done = classify(tmp_path, GIGA, threads=4)
    assert done.stderr.endswith("2.50 GB for 4 threads; raise the limit, or use fewer threads (ISOTHERM_THREADS=1)\n")
    assert classify(tmp_path, 2 * GIGA).returncode == 0
    assert (tmp_path / "o.csv").exists()


def limited(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in which ``limit(megabytes)`` allows so much more address space than is taken at that moment."""
    text = f"{LIMIT}\n{script}"
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)


LIMIT = """
import os, resource
import numpy as np
from isotherm import kernels
from isotherm.graphs import Graph

def limit(megabytes):
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (megabytes << 20), resource.RLIM_INFINITY))

n = 300_000
near = np.arange(n)
ends = np.concatenate([(near + step) % n for step in range(1, 6)])
graph = Graph.from_edges(np.tile(near, 5), ends).csr
"""


@needs_kernels
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_threads_that_cannot_start_are_done_without() -> None:
    done = limited("""
alone = kernels.native.scan(*graph, 1)
limit(2)  # the stack of a thread takes eight
assert kernels.native.scan(*graph, 4) == alone
print("fine")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


@needs_kernels
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
@pytest.mark.parametrize("megabytes", [2, 40, 80])
def test_a_kernel_that_runs_out_of_memory_raises(megabytes: int) -> None:
    done = limited(f"""
interior = np.ones(n, np.uint8)
interior[::1000] = 0
for call in (
    lambda: kernels.native.eliminate(*graph, interior, 1, 4096, 4),
    lambda: kernels.native.renumber(*graph, near.astype(np.int32)),
):
    limit({megabytes})
    try:
        call()
        print("fine")
    except MemoryError:
        print("no memory")
""")
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split("\n")) <= {"fine", "no memory", ""}


@needs_kernels
def test_an_abort_is_said_in_one_sentence() -> None:
    done = limited("""
from isotherm.cli.terminal.process import SENTENCE
kernels.native.say_on_abort(SENTENCE + chr(10))
os.close(2)  # as while panics are hidden
os.abort()
""")
    assert done.returncode == 1
    assert done.stderr == (
        "isotherm: there is not enough memory; use a machine with more, fewer threads (ISOTHERM_THREADS=1), "
        "or a smaller --max-memory\n"
    )


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs the GNU C library")
def test_freed_memory_is_used_again() -> None:
    code = """
import resource
from isotherm.cli.terminal.process import reuse_memory
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        bytearray(8 << 20)[::4096] = bytes(2048)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(faults())
reuse_memory()
print(faults())
"""
    env = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}  # so that the library does not learn what to keep
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True)
    given_back, kept = map(int, done.stdout.split())
    assert kept < given_back / 4
