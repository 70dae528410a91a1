"""A folder of small graphs under the names of the real ones, for experiments that end in a second."""

import gzip
from pathlib import Path

import numpy as np

from isotherm.paper.block_model import stochastic_block_model


def write_graph(folder: Path, name: str, sizes: list[int], *, directed: bool = False, seed: int = 0) -> None:
    """A block model, its blocks being the classes; a directed one has each edge as one arc."""
    graph = stochastic_block_model(sizes, 0.2, 0.02, seed)
    row, col = graph.adjacency.nonzero()
    once = row < col
    labels = np.repeat(np.arange(len(sizes)), sizes)
    numbers = {"n": np.array(sum(sizes)), "directed": np.array(directed)}
    np.savez(folder / f"{name}.npz", row=row[once], col=col[once], labels=labels, **numbers)  # type: ignore[arg-type]


def write_communities(folder: Path, name: str, sizes: list[int]) -> None:
    """A block model in SNAP's format, its blocks being the communities, the first of them twice."""
    graph = stochastic_block_model(sizes, 0.05, 0.001, 0)
    row, col = graph.adjacency.nonzero()
    edges = "".join(f"{i}\t{j}\n" for i, j in zip(row, col, strict=True) if i < j)
    kept = set(row.tolist())
    nodes = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    lines = ["\t".join(str(i) for i in block if i in kept) for block in (nodes[0], *nodes)]
    (folder / f"com-{name}.ungraph.txt.gz").write_bytes(gzip.compress(("# SNAP\n" + edges).encode()))
    (folder / f"com-{name}.top5000.cmty.txt.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


def write_small_data(folder: Path) -> Path:
    """Everything that the experiments on real graphs need."""
    write_graph(folder, "cora", [200, 150, 100])
    write_graph(folder, "citeseer", [250, 150, 20], seed=1)
    write_graph(folder, "wikispeedia", [150, 100], directed=True, seed=2)
    write_graph(folder, "wikivitals_l3", [120, 120, 120], directed=True, seed=3)
    for place, name in enumerate(("extra_a", "extra_b", "other")):
        write_graph(folder, name, [150, 60], seed=10 + place)
    for name in ("dblp", "amazon"):
        write_communities(folder, name, [300, 300, 300, 300])
    return folder
