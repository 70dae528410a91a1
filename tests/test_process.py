"""What only a process of its own can show: Ctrl-C, fork, threads, and a machine without a compiler."""

import copy
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pickle import dumps, loads
from threading import Event
from typing import TypeAlias

import numpy as np
import pytest
from commands import command
from numpy.typing import NDArray
from sklearn.base import clone

import isotherm as iso
from isotherm import kernels
from isotherm.paper.block_model import stochastic_block_model

LONG_SOLVE = """
import numpy as np, isotherm as iso
n = 400
grid = np.arange(n * n).reshape(n, n)
source = np.concatenate([grid[:, :-1].ravel(), grid[:-1].ravel()])
target = np.concatenate([grid[:, 1:].ravel(), grid[1:].ravel()])
graph = iso.Graph.from_edges(source, target)
print("solving", flush=True)
iso.solve_dirichlet(graph, {0: 1.0, n * n - 1: 0.0}, solver="sweeps", tol=None, max_iter=10**7)
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )


def test_a_long_solve_can_be_interrupted_at_any_time() -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG_SOLVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"solving\n"
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert b"KeyboardInterrupt" in errors


BUSY_AT_THE_END = """
import sys, threading, time
import numpy as np
from isotherm import kernels

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)

sys.slow = Slow()  # Python deletes it while it ends, and lets other threads go on meanwhile
ends = np.random.default_rng(0).integers(0, 1_000_000, (2, 1_000_000)).astype(np.int32)
indptr, indices = np.empty(1_000_001, np.int64), np.empty(1_000_000, np.int32)

def work():
    while True:
        kernels.native.assemble(*ends, None, indptr, indices, None, 1)

threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""


@pytest.mark.skipif(kernels.native is None, reason="installed without a C++ compiler")
def test_python_may_end_while_a_thread_is_inside_a_kernel() -> None:
    outcome = run(BUSY_AT_THE_END)
    assert (outcome.returncode, outcome.stderr) == (0, "")


SMALL_FIT = """
import isotherm as iso
clf = iso.DirichletClassifier(solver="cg").fit(iso.Graph.from_edges([0, 1, 2], [1, 2, 3]), {0: "a", 3: "b"})
print(clf.labels_.tolist())
"""


def test_without_native_kernels_everything_works_and_one_line_says_so() -> None:
    hidden = "import sys; sys.modules['isotherm.kernels._native'] = None\n"
    result = run(hidden + SMALL_FIT)
    assert result.stdout == "['a', 'a', 'b', 'b']\n"
    assert result.stderr.count("installed without a C++ compiler") == 1
    assert run(hidden + SMALL_FIT, ISOTHERM_KERNELS="native").returncode != 0


def test_reference_kernels_can_be_asked_for() -> None:
    result = run(SMALL_FIT + "print(iso.kernels.description())", ISOTHERM_KERNELS="reference")
    assert result.stdout == "['a', 'a', 'b', 'b']\nreference (SciPy)\n"
    assert result.stderr == ""


@pytest.mark.parametrize("name", kernels.instruction_sets())
def test_every_instruction_set_of_this_processor_can_be_asked_for(name: str) -> None:
    result = run(SMALL_FIT + "print(iso.kernels.description())", ISOTHERM_KERNELS="native", ISOTHERM_ISA=name)
    assert result.stdout.startswith(f"['a', 'a', 'b', 'b']\nnative ({name}), ")
    assert result.stderr == ""


@pytest.mark.skipif(kernels.native is None, reason="the native kernels were not built")
def test_an_unknown_instruction_set_is_refused_in_one_sentence(tmp_path: Path) -> None:
    available = ", ".join(kernels.instruction_sets())
    sentence = f"ISOTHERM_ISA is 'abacus', which is unknown; this processor has {available}"
    environment = {"ISOTHERM_KERNELS": "native", "ISOTHERM_ISA": "abacus"}
    assert run("import isotherm.kernels", **environment).stderr.endswith(f"KernelsError: {sentence}\n")
    for arguments in (["--version"], ["classify", "edges.csv", "seeds.csv"]):
        outcome = command(*arguments, folder=tmp_path, **environment)
        assert (outcome.status, outcome.out, outcome.err) == (2, "", f"isotherm: {sentence}\n")


def test_unknown_kernels_are_refused_in_one_sentence(tmp_path: Path) -> None:
    sentence = "ISOTHERM_KERNELS is 'python', which is unknown; choose from auto, native, reference"
    assert run("import isotherm.kernels", ISOTHERM_KERNELS="python").stderr.endswith(f"KernelsError: {sentence}\n")
    outcome = command("classify", "edges.csv", "seeds.csv", folder=tmp_path, ISOTHERM_KERNELS="python")
    assert (outcome.status, outcome.out, outcome.err) == (2, "", f"isotherm: {sentence}\n")


@pytest.fixture(scope="module")
def blocks() -> iso.Graph:
    return stochastic_block_model([30_000, 30_000], 4e-4, 1e-4, np.random.default_rng(0))


SEEDS = {node: int(node >= 30_000) for node in range(0, 60_000, 100)}


def test_fits_in_threads_do_not_disturb_each_other(blocks: iso.Graph) -> None:
    alone = iso.DirichletClassifier(n_threads=2).fit(blocks, SEEDS).temperatures_
    with ThreadPoolExecutor(4) as pool:
        fits = [pool.submit(iso.DirichletClassifier(n_threads=2).fit, blocks, SEEDS) for _ in range(4)]
        for fit in fits:
            np.testing.assert_array_equal(fit.result().temperatures_, alone)


def test_threads_with_classifiers_of_their_own_do_not_disturb_each_other() -> None:
    graph = stochastic_block_model([300, 300], 0.02, 0.005, np.random.default_rng(1))
    tables = [np.random.default_rng(number).normal(size=(600, 3)) for number in range(4)]
    seeds = {node: int(node >= 300) for node in range(0, 600, 20)}

    def probabilities(table: NDArray[np.float64]) -> NDArray[np.float64]:
        return iso.NodeClassifier().fit(graph, seeds, features=table).predict_proba()

    alone = [probabilities(table) for table in tables]
    filters = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(pool.map(probabilities, tables), alone, strict=True):
            np.testing.assert_array_equal(found, expected)
    assert warnings.filters == filters  # a thread that restores them late would leave others


Either: TypeAlias = iso.NodeClassifier | iso.DirichletClassifier


@pytest.mark.parametrize("copied", [lambda clf: clf, copy.copy, copy.deepcopy, lambda clf: loads(dumps(clf))])
@pytest.mark.parametrize("estimator", [iso.NodeClassifier(), iso.DirichletClassifier()])
def test_threads_that_update_one_classifier_lose_no_seed(estimator: Either, copied: Callable[[Either], Either]) -> None:
    graph = stochastic_block_model([60, 60], 0.2, 0.05, np.random.default_rng(1))
    first, added = range(0, 120, 20), range(1, 120, 4)
    original = clone(estimator).fit(graph, {node: int(node >= 60) for node in first})
    clf = copied(original)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda node: clf.update(add={node: int(node >= 60)}), added))
    assert set(clf.seeds_.nodes.tolist()) == {*first, *added}
    assert clf is original or set(original.seeds_.nodes.tolist()) == {*first}


def test_threads_may_read_a_classifier_while_another_updates_it() -> None:
    graph = stochastic_block_model([60, 60], 0.2, 0.05, np.random.default_rng(1))
    seeds = {node: "old" if node < 60 else "new" for node in range(0, 120, 3)}
    clf = iso.NodeClassifier().fit(graph, seeds)
    ended = Event()

    def read() -> int:
        count = 0
        while not ended.is_set() or not count:
            assert clf.explain(46).share.sum() == pytest.approx(1)
            assert clf.predict_proba().sum(axis=1) == pytest.approx(1)
            assert set(clf.predict(unreached="none")) <= {"old", "new", "newest"}
            assert len(clf.suggest(3)) == 3
            count += 1
        return count

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for node in range(1, 41, 3):
                clf.update(add={node: "newest", node + 1: "newest"})
        finally:
            ended.set()
        assert all(reader.result() for reader in readers)
    again = iso.NodeClassifier().fit(graph, seeds | {node: "newest" for node in range(42) if node % 3})
    assert set(clf.explain(46).seed) == set(again.explain(46).seed)


def test_the_number_of_threads_changes_nothing(blocks: iso.Graph) -> None:
    one, many = (iso.DirichletClassifier(n_threads=k).fit(blocks, SEEDS).temperatures_ for k in (1, 5))
    np.testing.assert_array_equal(one, many)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_can_fit_after_its_parent_did(blocks: iso.Graph) -> None:
    before = iso.DirichletClassifier(n_threads=2).fit(blocks, SEEDS).labels_
    child = os.fork()
    if child == 0:
        same = np.array_equal(iso.DirichletClassifier(n_threads=2).fit(blocks, SEEDS).labels_, before)
        os._exit(0 if same else 1)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the forked child hangs")


def test_the_classifier_is_imported_without_what_only_files_need() -> None:
    command = "import sys, isotherm; isotherm.DirichletClassifier; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    loaded = result.stdout.split()
    assert "isotherm.dirichlet_classifier" in loaded
    assert not [name for name in loaded if name.startswith(("isotherm.io", "isotherm.study", "isotherm.paper"))]
