"""What a user would take in place of a packed graph, in a process of its own: ten sweeps from the same files."""

import sys
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.process import reported

__all__ = ["by_joins", "by_scikit_network"]

SWEEPS = 10


def by_scikit_network(folder: Path) -> int:
    """Ten sweeps on a matrix in memory; returns the number of labels."""
    from scipy.sparse import coo_matrix
    from sknetwork.classification import DiffusionClassifier

    edges = pl.read_parquet(folder / "edges")
    source, target = edges["source"].to_numpy(), edges["target"].to_numpy()
    n = int(max(source.max(), target.max())) + 1
    matrix = coo_matrix((np.ones(len(source), np.float32), (source, target)), shape=(n, n)).tocsr()
    del edges, source, target
    matrix = (matrix + matrix.T).tocsr()
    seeds = pl.read_parquet(folder / "seeds.parquet")
    labels = np.full(n, -1)
    labels[seeds["node"].to_numpy()] = seeds["label"].to_numpy()
    return len(DiffusionClassifier(n_iter=SWEEPS).fit(matrix, labels).labels_)


def by_joins(folder: Path) -> int:
    """Ten sweeps, each a join of the edges with the temperatures and a mean by node."""
    edges = pl.scan_parquet(folder / "edges")
    both = pl.concat([edges, edges.select(pl.col("target").alias("source"), pl.col("source").alias("target"))])
    seeds = pl.read_parquet(folder / "seeds.parquet").with_columns(pl.col("node").cast(pl.Int32))
    classes = seeds["label"].unique().sort().to_list()
    names = [f"t{label}" for label in classes]
    held = seeds.select("node", *((pl.col("label") == label).cast(pl.Float32).alias(f"t{label}") for label in classes))
    known = held
    for _ in range(SWEEPS):
        warm = both.join(known.lazy(), left_on="target", right_on="node").group_by("source")
        means = warm.agg(pl.col(names).mean()).rename({"source": "node"})
        known = means.join(held.lazy(), on="node", how="anti").collect(engine="streaming").vstack(held)
    scores = known.select(pl.concat_list(pl.col(name) - pl.col(name).mean() for name in names).list.arg_max())
    return scores.height


if __name__ == "__main__":
    methods = {"scikit-network": by_scikit_network, "Polars joins": by_joins}
    with reported():
        methods[sys.argv[1]](Path(sys.argv[2]))
