"""Labels that the workers of a real cluster write, against those of a fit in this process."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import isotherm as iso
from isotherm.graphs.packed import PackedGraph, open_packed
from isotherm.labelling.remote import label_remotely
from isotherm.labelling.rows import Columns
from isotherm.node_classifier import classifier_by
from isotherm.seeds import as_seeds

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")


def communities(kind: str) -> tuple[iso.Graph, dict[Any, Any]]:
    rng = np.random.default_rng(7)
    n = 1500
    community = rng.integers(4, size=n)
    source, target = rng.integers(n, size=(2, 12 * n))
    kept = (community[source] == community[target]) | (rng.random(12 * n) < 0.1)
    kept &= (source > 5) & (target > 5)  # six nodes are not connected
    weight = rng.lognormal(size=12 * n)[kept] if kind == "weighted" else None
    nodes: Any = np.array([f"n{node:05d}" for node in range(n)]) if kind == "text" else np.arange(n)
    graph = iso.Graph.from_edges(nodes[source[kept]], nodes[target[kept]], weight, nodes=nodes.tolist())
    if kind == "two classes":
        community = np.minimum(community, 1)
    seeds = {nodes[node].item(): f"c{community[node]}" for node in rng.choice(np.arange(6, n), 200, replace=False)}
    return graph, seeds


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("numbers", "balanced"),
        ("two classes", "balanced"),
        ("text", "centered"),
        ("text", "weighted"),
        ("weighted", "probable"),
    ],
)
def test_workers_write_the_labels_of_a_local_fit(cluster: Any, tmp_path: Path, kind: str, rule: str) -> None:
    graph, seeds = communities(kind)
    graph.pack(tmp_path / "graph.iso")
    distant = open_packed(tmp_path / "graph.iso", unread=True)
    clf = classifier_by(rule, solver="cg", tol=1e-6)
    columns = Columns(probabilities=True, temperatures=True)
    target = str(tmp_path / "labels")
    done = label_remotely(distant, as_seeds(seeds, distant, None), clf.settings, target, columns=columns)
    assert isinstance(distant, PackedGraph)
    parts = sorted((tmp_path / "labels").iterdir())
    assert len(parts) == len(cluster.scheduler_info()["workers"])
    found = pl.concat([pl.read_parquet(part) for part in parts])
    alone = {"evidence": None} if isinstance(clf, iso.NodeClassifier) else {}  # workers go by heat alone
    clf.fit(iso.Graph.open(tmp_path / "graph.iso"), seeds, **alone)
    assert found["node"].to_list() == list(clf.graph_.nodes[0 : graph.n_nodes])
    assert found["label"].to_list() == clf.labels_.tolist()
    np.testing.assert_allclose(found["confidence"], np.where(clf.reached_, clf.confidence_, 0), atol=1e-4)
    probabilities = found.select(pl.selectors.starts_with("p_")).to_numpy()
    np.testing.assert_allclose(probabilities, clf.predict_proba(), atol=1e-4)
    temperatures = found.select(pl.selectors.starts_with("t_")).to_numpy()
    np.testing.assert_allclose(temperatures, clf.temperatures_, atol=1e-5)
    assert done.unreached == np.count_nonzero(~clf.reached_) >= 6
    assert done.rule == clf.rule_
    assert done.rows == graph.n_nodes
    assert sum(done.counts.values()) == graph.n_nodes - done.unreached


def test_what_workers_cannot_do_is_refused(cluster: Any, tmp_path: Path) -> None:
    arcs = iso.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)
    arcs.pack(tmp_path / "arcs.iso")
    graph = open_packed(tmp_path / "arcs.iso", unread=True)
    settings = iso.NodeClassifier().settings
    with pytest.raises(ValueError, match="labels of a directed graph; write them to a file"):
        label_remotely(graph, as_seeds({0: "a", 3: "b"}, graph, None), settings, str(tmp_path / "labels"))
