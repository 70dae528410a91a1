"""``isotherm classify`` from file to file, on a graph that looks like the links of a large wiki.

From Parquet: peak memory, and reading against Polars, which reads the same columns and does nothing with them. From
CSV: the whole command against the script that one would write instead, each in a process of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.harness import Contestant, Race
from isotherm.io import read_graph

__all__ = ["races", "web_like", "write_job"]

NODES, ARCS, CSV_ARCS = 3_200_000, 67_000_000, 10_000_000
CLASSES = 10
SEED_SHARE = 0.01
MEMORY_GOAL = 12  # GB, at full size

SCRIPT = """
import sys
import numpy as np, pandas as pd
from scipy.sparse import csr_matrix
from sknetwork.classification import DiffusionClassifier

edges, seeds = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2])
codes, nodes = pd.factorize(np.concatenate([edges["source"], edges["target"]]))
source, target = np.split(codes, 2)
adjacency = csr_matrix((np.ones(len(source)), (source, target)), shape=(len(nodes), len(nodes)))
position = pd.Series(np.arange(len(nodes)), index=nodes)
known, classes = pd.factorize(seeds["label"])
labels = np.full(len(nodes), -1)
labels[position[seeds["node"]]] = known
model = DiffusionClassifier(n_iter=10).fit(adjacency, labels)
found = pd.Series(classes).reindex(model.labels_).to_numpy()
confidence = np.asarray(model.probs_.max(axis=1).todense()).ravel()
pd.DataFrame({"node": nodes, "label": found, "confidence": confidence}).to_csv(sys.argv[3], index=False)
"""


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race]:
    """Reading from Parquet, then all from CSV; the memory of the first is printed on the way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = write_job(folder / "large", int(NODES * scale), int(ARCS * scale), "parquet")
        _print_memory(large, scale)
        yield _reading(large, rounds)
        share = CSV_ARCS / ARCS * scale
        yield _end_to_end(write_job(folder / "small", int(NODES * share), int(ARCS * share), "csv"), rounds)


def web_like(n: int, arcs: int, *, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Arcs between n nodes, sorted by source, none twice and none from a node to itself.

    Each node has an arc at least. In-degrees and out-degrees have heavy tails; four arcs in five stay in their class,
    which is the remainder of a node by `CLASSES`.
    """
    rng = np.random.default_rng(seed)
    count = arcs * 21 // 20  # some are the same
    source = np.concatenate([np.arange(n), _rank(rng, n, count - n, 1.6)])
    target = _rank(rng, n, count, 2.5)
    inside = rng.random(count) < 0.8
    target[inside] += source[inside] % CLASSES - target[inside] % CLASSES
    kept = (source != target) & (target >= 0) & (target < n)
    pairs = np.unique(source[kept] * n + target[kept])
    return pairs // n, pairs % n


def write_job(folder: Path, n: int, arcs: int, suffix: str) -> Path:
    """Write the edges, with text for ids, and the seeds: 1% of the nodes."""
    folder.mkdir(parents=True)
    source, target = web_like(n, arcs)
    names = pl.Series(np.random.default_rng(1).permutation(10 * n)[:n])
    texts = pl.select(pl.format("Article_{}", names)).to_series()
    frame = pl.DataFrame({"source": texts.gather(source), "target": texts.gather(target)})
    frame.write_parquet(folder / "edges.parquet") if suffix == "parquet" else frame.write_csv(folder / "edges.csv")
    chosen = np.random.default_rng(2).choice(np.unique(source), int(SEED_SHARE * n), replace=False)
    labels = pl.select(pl.format("topic {}", pl.Series(chosen % CLASSES))).to_series()
    pl.DataFrame({"node": texts.gather(chosen), "label": labels}).write_csv(folder / "seeds.csv")
    size = (folder / f"edges.{suffix}").stat().st_size / 2**20
    print(f"web-like graph: {n} nodes, {len(source)} arcs, {size:.0f} MB of {suffix}", flush=True)
    return folder


def _rank(rng: np.random.Generator, n: int, count: int, power: float) -> NDArray[np.int64]:
    """Nodes, the first ones far more often than the last."""
    return np.minimum(n * rng.random(count) ** power, n - 1).astype(np.int64)


def _print_memory(job: Path, scale: float) -> None:
    """Run the command once; its summary and the system say what it took."""
    peak = _run([*_classify(job, "parquet", "parquet"), "--json-summary", str(job / "summary.json")])
    summary = json.loads((job / "summary.json").read_text())
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in summary["seconds"].items())
    goal = f" (goal: below {MEMORY_GOAL})" if scale == 1 else ""
    print(
        f"Parquet to Parquet: peak memory {peak:.2f} GB{goal}; {stages}; {summary['iterations']} iterations", flush=True
    )


def _reading(job: Path, rounds: int) -> Race:
    path = job / "edges.parquet"

    def alone() -> None:
        pl.read_parquet(path, columns=["source", "target"])

    def as_graph() -> None:
        read_graph(path, directed=True)

    ours, peer = Contestant("read_graph", as_graph), Contestant("Polars, columns alone", alone)
    race = Race("reading Parquet", peer, ours, goal=1 / 2.5)
    race.run(rounds)
    return race


def _end_to_end(job: Path, rounds: int) -> Race:
    files = [str(job / name) for name in ("edges.csv", "seeds.csv", "script.csv")]
    script = [sys.executable, "-W", "ignore", "-c", SCRIPT, *files]
    peer = Contestant("pandas and scikit-network", lambda: _run(script))
    ours = Contestant("isotherm classify", lambda: _run(_classify(job, "csv", "csv")))
    race = Race("CSV to CSV", peer, ours, goal=4)
    race.run(rounds)
    return race


def _classify(job: Path, edges: str, labels: str) -> list[str]:
    files = [str(job / f"edges.{edges}"), str(job / "seeds.csv"), "--directed"]
    return [sys.executable, "-m", "isotherm", "classify", *files, "-o", str(job / f"labels.{labels}"), "--force", "-q"]


def _run(command: list[str]) -> float:
    """Run a command to its end, and give its peak memory in GB."""
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:4]} failed")
    return used.ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
