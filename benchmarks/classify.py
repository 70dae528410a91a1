"""``isotherm classify`` from file to file, on a graph that looks like the links of a large wiki.

From Parquet: peak memory, and reading against Polars, which reads the same columns and does nothing with them. From
CSV: the whole command against the script that one would write instead. Each turn is a process of its own, as a
command is; to read, libraries are imported before the clock starts.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from compileall import compile_dir
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import isotherm
from benchmarks.harness import Contestant, Race
from benchmarks.process import measure, reported
from benchmarks.results import Result

__all__ = ["races", "web_like", "write_job"]

NODES, ARCS, CSV_ARCS = 3_200_000, 67_000_000, 10_000_000
CLASSES = 10
SEED_SHARE = 0.01
MEMORY_GOAL = 12  # GB, at full size
LIBRARIES = 0.5  # GB of them, at any size

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


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race | Result]:
    """Memory and reading from Parquet, then all from CSV."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = write_job(folder / "large", int(NODES * scale), int(ARCS * scale), "parquet")
        yield memory(large, LIBRARIES + (MEMORY_GOAL - LIBRARIES) * scale)
        yield reading(large, rounds)
        share = CSV_ARCS / ARCS * scale
        yield end_to_end(write_job(folder / "small", int(NODES * share), int(ARCS * share), "csv"), rounds)


def web_like(n: int, arcs: int, *, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Arcs between n nodes, 99% of the number at least, sorted by source, none twice and none from a node to itself.

    Nearly every node has an arc. In-degrees and out-degrees have heavy tails; four arcs in five stay in their class,
    which is the remainder of a node by `CLASSES`.
    """
    rng = np.random.default_rng(seed)
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < 0.99 * arcs:  # some are the same
        source, target = (_rank(rng, n, arcs - len(pairs), power) for power in (1.6, 2.5))
        if not len(pairs):
            source[:n] = np.arange(n)
        inside = rng.random(len(source)) < 0.8
        target[inside] += source[inside] % CLASSES - target[inside] % CLASSES
        kept = (source != target) & (target >= 0) & (target < n)
        pairs = np.unique(np.concatenate([pairs, source[kept] * n + target[kept]]))
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


def memory(job: Path, limit: float) -> Result:
    """The peak of the command from Parquet to Parquet, as its summary has it."""
    _run([*_classify(job, "parquet"), "--json-summary", str(job / "summary.json")])
    summary = json.loads((job / "summary.json").read_text())
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in summary["seconds"].items())
    print(f"{stages}; {summary['iterations']} iterations of {summary['solver']}", flush=True)
    peak = summary["peak_memory_bytes"] / 2**30
    return Result("Parquet to Parquet, peak memory", "limit", [limit], "isotherm classify", [peak], goal=1, unit="GB")


def reading(job: Path, rounds: int) -> Result:
    """From a file to a graph, and from a file to a table."""
    path = job / "edges.parquet"
    turns = [(measure(__name__, "table", path), measure(__name__, "graph", path)) for _ in range(rounds)]
    theirs, ours = ([turn[who].seconds for turn in turns] for who in (0, 1))
    return Result("reading Parquet", "Polars, columns alone", theirs, "read_graph", ours, goal=1 / 2.5)


def read(what: str, path: str) -> None:
    """Read a file once."""
    from isotherm.io import read_graph

    with reported():
        if what == "graph":
            graph = read_graph(path, directed=True)
        else:
            table = pl.read_parquet(path, columns=["source", "target"])
    size = graph.n_edges if what == "graph" else table.height
    if size != pl.scan_parquet(path).select(pl.len()).collect().item():
        raise SystemExit(f"{size} arcs were read, not all")


def end_to_end(job: Path, rounds: int) -> Race:
    """From CSV to CSV; our modules are compiled first, as pip has done for those of the peer."""
    compile_dir(Path(isotherm.__file__).parent, quiet=2)
    files = [str(job / name) for name in ("edges.csv", "seeds.csv", "script.csv")]
    script = [sys.executable, "-W", "ignore", "-c", SCRIPT, *files]
    peer = Contestant("pandas and scikit-network", lambda: _run(script))
    ours = Contestant("isotherm classify", lambda: _run(_classify(job, "csv")))
    race = Race("CSV to CSV", peer, ours, goal=4)
    race.run(rounds)
    return race


def _classify(job: Path, suffix: str) -> list[str]:
    files = [str(job / f"edges.{suffix}"), str(job / "seeds.csv"), "--directed", "-o", str(job / f"labels.{suffix}")]
    return [sys.executable, "-m", "isotherm", "classify", *files, "--force", "--quiet"]


def _run(command: list[str]) -> None:
    if subprocess.run(command).returncode:
        raise SystemExit(f"{command[:4]} failed")


if __name__ == "__main__":
    read(*sys.argv[1:])
