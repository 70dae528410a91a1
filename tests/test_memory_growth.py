"""Memory that a process keeps: many fits and updates need no more than a few."""

import subprocess
import sys

import pytest

GROWTH = 5 << 20  # bytes that 500 fits and 500 updates may add
WORK = """
import gc, resource, sys, warnings
import numpy as np
import isotherm as iso

warnings.simplefilter("ignore")
rng, n = np.random.default_rng(0), 2000
graph = iso.Graph.from_edges(*rng.integers(n, size=(2, 6 * n)), rng.lognormal(size=6 * n), nodes=range(n))
solvers = ["cg", "elimination", "sweeps", "auto"]

def resident():
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * resource.getpagesize()

def work(rounds):
    for number in range(rounds):
        seeds = {int(node): int(rng.integers(3)) for node in rng.permutation(n)[:60]}
        clf = iso.DirichletClassifier(solver=solvers[number % 4], tol=1e-2, calibration=None, n_threads=2)
        clf.fit(graph, seeds)
        clf.update({int(rng.integers(n)): 1})
        clf.labels_, clf.explain(int(rng.integers(n)))

work(60)
before = resident()
work(500)
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_500_fits_and_500_updates_keep_no_memory() -> None:
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True, timeout=600)
    assert int(done.stdout) < GROWTH
