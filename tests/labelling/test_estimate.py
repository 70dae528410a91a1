"""Estimates of memory: near what a process takes, and a refusal where that is too much."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import isotherm as iso
from isotherm.labelling.estimate import estimate_fit
from isotherm.labelling.settings import Settings

FIT = """
import os, sys, time, threading, warnings
warnings.simplefilter("ignore")
import isotherm as iso
from isotherm.labelling.estimate import estimate_fit
from isotherm.labelling.settings import Settings

def own():
    return 1024 * int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1])

peak = 0
def watch():
    global peak
    while True:
        peak = max(peak, own())
        time.sleep(0.002)

threading.Thread(target=watch, daemon=True).start()
graph = iso.Graph.open(sys.argv[1])
kind = getattr(iso, sys.argv[2])
clf = kind(max_iter=6).fit(graph, {node: node // 100 % 4 for node in range(0, graph.n_nodes, 100)})
clf.confidence_
print(peak, estimate_fit(graph, 4, Settings(), structure=kind is iso.NodeClassifier).memory)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks Linux for the memory of a process")
@pytest.mark.parametrize("kind", ["DirichletClassifier", "NodeClassifier"])
def test_a_fit_takes_the_memory_that_was_estimated(tmp_path: Path, kind: str) -> None:
    n = 500_000
    ends = np.random.default_rng(0).integers(0, n, (2, 3 * n))
    iso.Graph.from_edges(*ends, nodes=np.arange(n)).pack(tmp_path / "graph.iso")
    command = [sys.executable, "-c", FIT, str(tmp_path / "graph.iso"), kind]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    peak, estimated = map(int, out.split())
    assert 0.5 * estimated < peak < 1.25 * estimated


def test_a_packed_graph_that_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    ring.pack(tmp_path / "ring.iso")
    monkeypatch.setattr("isotherm.io.memory.available_memory", lambda: 100 << 20)
    packed = iso.Graph.open(tmp_path / "ring.iso")
    with pytest.raises(ValueError, match="2 classes on 4 nodes takes 150 MB of memory, but 100 MB are free"):
        iso.DirichletClassifier().fit(packed, {0: "a", 2: "b"})
    iso.DirichletClassifier().fit(ring, {0: "a", 2: "b"})


def test_what_estimates_grow_with() -> None:
    rng = np.random.default_rng(0)
    small, large = (iso.Graph.from_edges(*rng.integers(0, n, (2, 10 * n)), nodes=np.arange(n)) for n in (10**4, 10**5))
    base = estimate_fit(small, 4, Settings())
    assert estimate_fit(large, 4, Settings()).memory > base.memory
    assert estimate_fit(large, 4, Settings()).seconds == pytest.approx(10 * base.seconds, rel=0.01)
    assert estimate_fit(small, 40, Settings()).seconds > 3 * base.seconds
    assert estimate_fit(small, 4, Settings(), confidence=False).seconds < base.seconds
    assert base.mapped == 0
