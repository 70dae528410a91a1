"""Loaders on small files in the formats of the real sources, and on the real files at hand."""

import gzip
import hashlib
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from source_files import ARCS, LABELS, NAMES, SNAP_COMMUNITIES, SNAP_EDGES, bundle, graph_file, packed

from isotherm.study import datasets
from isotherm.study.datasets import DownloadError, StandInWarning
from isotherm.study.datasets.catalogue import CATALOGUE
from isotherm.study.datasets.sources import (
    merge_small,
    read_netset,
    read_planetoid,
    read_snap,
    sparse_matrix,
    word_clusters,
)

pytestmark = pytest.mark.usefixtures("own_cache")

MEGA = 1 << 20


class TestNetSet:
    @pytest.mark.parametrize("form", ["folder", "archive"])
    def test_a_directed_graph_with_names(self, tmp_path: Path, form: str) -> None:
        meta = {"name": "wikischools", "description": "links"}
        folder = bundle(tmp_path / "ws", names=NAMES, meta=meta, names_labels=np.array(["Places", "Science"]))
        path = folder
        if form == "archive":
            path = tmp_path / "wikischools_npz.tar.gz"
            path.write_bytes(packed(folder))
        found = read_netset(path, name="wikischools", directed=True, most_bytes=MEGA)
        np.testing.assert_array_equal(found.graph.adjacency.toarray(), ARCS)
        assert found.graph.directed
        assert found.graph.nodes.tolist() == NAMES.tolist()
        assert found.labels.tolist() == LABELS.tolist()
        assert found.label_names is not None
        assert found.label_names.tolist() == ["Places", "Science"]
        assert found.n_classes == 2

    def test_names_that_repeat_are_no_ids(self, tmp_path: Path) -> None:
        folder = bundle(tmp_path / "ws", names=np.array(["a", "a", "b", "c"]))
        assert read_netset(folder, name="", directed=True, most_bytes=MEGA).graph.nodes.tolist() == [0, 1, 2, 3]

    def test_an_undirected_graph(self, tmp_path: Path) -> None:
        folder = bundle(tmp_path / "cora", adjacency=(ARCS + ARCS.T > 0).astype(float))
        found = read_netset(folder, name="cora", directed=False, most_bytes=MEGA)
        assert not found.graph.directed
        assert not found.graph.weighted

    def test_what_is_missing_or_does_not_fit_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"needs adjacency.npz and labels.npy"):
            read_netset(bundle(tmp_path / "a", labels=None), name="", directed=True, most_bytes=MEGA)
        with pytest.raises(ValueError, match=r"3 labels do not fit an adjacency matrix of shape \(4, 4\)"):
            read_netset(bundle(tmp_path / "b", labels=LABELS[:3]), name="", directed=True, most_bytes=MEGA)

    def test_a_pickle_with_code_refuses_the_archive(self, tmp_path: Path) -> None:
        path = tmp_path / "ws.tar.gz"
        path.write_bytes(packed(bundle(tmp_path / "ws", meta=print)))
        with pytest.raises(ValueError, match=r"meta.p is not read: it asks for builtins.print"):
            read_netset(path, name="", directed=True, most_bytes=MEGA)

    @pytest.mark.parametrize("kind", ["csr", "coo"])
    def test_matrices_as_scipy_saves_them(self, tmp_path: Path, kind: str) -> None:
        sp.save_npz(tmp_path / "a.npz", sp.coo_matrix(ARCS).asformat(kind))
        with np.load(tmp_path / "a.npz") as arrays:
            np.testing.assert_array_equal(sparse_matrix(dict(arrays), "a").toarray(), ARCS)

    def test_other_matrices_are_refused(self) -> None:
        for kind in (b"dia", b"csr", b"none"):
            with pytest.raises(ValueError, match="a is not a sparse matrix"):
                sparse_matrix({"format": np.array(kind), "shape": np.array([2, 2])}, "a")


class TestSnap:
    def read(self, folder: Path, edges: str = SNAP_EDGES, communities: str = SNAP_COMMUNITIES) -> datasets.Dataset:
        (folder / "edges.gz").write_bytes(gzip.compress(edges.encode()))
        (folder / "cmty").write_text(communities)
        return read_snap(folder / "edges.gz", folder / "cmty", name="dblp", most_bytes=MEGA)

    def test_edges_and_overlapping_communities(self, tmp_path: Path) -> None:
        found = self.read(tmp_path)
        assert found.graph.nodes.tolist() == [10, 20, 30, 7, 99]
        assert found.graph.n_edges == 5
        assert found.communities is not None
        assert [c.tolist() for c in found.communities] == [[0, 1, 2], [3, 4], [2, 3, 4], [3, 4]]
        assert found.labels.tolist() == [0, 0, 0, 2, 2]  # the largest of each node, the first where sizes tie
        assert found.n_classes == 4

    def test_lines_that_do_not_fit_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"cmty, line 2: 1 node is not in the graph: 12345"):
            self.read(tmp_path, communities="10\t20\n7\t12345\n")
        with pytest.raises(ValueError, match=r"cmty, line 1: .*'x'"):
            self.read(tmp_path, communities="10\tx\n")
        with pytest.raises(ValueError, match=r"edges.gz is not a list of edges: .*row 2"):
            self.read(tmp_path, edges="1\t2\n3\n")
        with pytest.raises(ValueError, match=r"edges.gz is not a list of edges: its lines have 3 numbers"):
            self.read(tmp_path, edges="1\t2\t3\n")


class TestPlanetoid:
    def files(self, folder: Path, parts: dict[str, Any], order: list[int]) -> dict[str, Path]:
        paths = {}
        for part, value in parts.items():
            paths[part] = folder / f"ind.toy.{part}"
            paths[part].write_bytes(pickle.dumps(value, 2))
        paths["test.index"] = folder / "ind.toy.test.index"
        paths["test.index"].write_text("".join(f"{i}\n" for i in order))
        return paths

    def test_test_nodes_are_put_where_the_index_says(self, tmp_path: Path) -> None:
        """Node 4 has no label and node 6 no labelled neighbour: both are dropped, as in CiteSeer."""
        neighbours = {0: [1, 1, 0], 1: [0, 2], 2: [5], 3: [5], 4: [6], 5: [2, 3], 6: [4]}
        parts = {"ally": np.eye(2, dtype=np.int32)[[0, 1, 0]], "ty": np.eye(2)[[1, 0, 1]], "graph": neighbours}
        found = read_planetoid(self.files(tmp_path, parts, [5, 3, 6]), name="toy")
        edges = {frozenset(e) for e in zip(*found.graph.adjacency.nonzero(), strict=True)}
        assert edges == {frozenset(e) for e in [(0, 1), (1, 2), (2, 4), (3, 4)]}
        assert found.labels.tolist() == [0, 1, 0, 0, 1]
        assert found.graph.nodes.tolist() == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize("name", ["cora", "citeseer"])
    def test_the_real_files_give_the_papers_graphs(self, data_folder: Path, name: str) -> None:
        paths = {file.name: data_folder / file.name for file in CATALOGUE[name].files}
        found = CATALOGUE[name].read(paths)
        with np.load(data_folder / f"{name}.npz") as truth:
            edges = np.sort(np.stack([truth["row"], truth["col"]], axis=1), axis=1)
            np.testing.assert_array_equal(found.labels, truth["labels"])
        ours = np.stack(sp.triu(found.graph.adjacency).nonzero(), axis=1)
        np.testing.assert_array_equal(ours[np.lexsort(ours.T[::-1])], edges[np.lexsort(edges.T[::-1])])

    @pytest.mark.parametrize("name", ["cora", "citeseer", "dblp"])
    def test_checksums_are_those_of_the_real_files(self, data_folder: Path, name: str) -> None:
        for remote in CATALOGUE[name].files:
            assert remote.sha256 == hashlib.sha256((data_folder / remote.name).read_bytes()).hexdigest()


class TestWikilinks:
    def words(self) -> sp.csr_matrix:
        """60 articles in 12 groups of falling size, each with words of its own, and a few words for all."""
        rng = np.random.default_rng(0)
        group = np.repeat(np.arange(12), [10, 9, 8, 7, 6, 5, 4, 3, 2, 2, 2, 2])
        own = np.kron(np.eye(12), np.ones((1, 8)))[group]
        common = rng.random((60, 3)) < 0.2
        return sp.csr_matrix(np.hstack([own, common]))

    def test_articles_are_clustered_by_their_words(self) -> None:
        labels = word_clusters(self.words())
        group = np.repeat(np.arange(12), [10, 9, 8, 7, 6, 5, 4, 3, 2, 2, 2, 2])
        assert labels[group < 8].tolist() == group[group < 8].tolist()
        assert np.bincount(labels).tolist() == [10, 9, 8, 7, 6, 5, 4, 3, 2, 6]  # beyond the ninth, merged

    def test_the_whole_way_from_an_archive(self, own_cache: Path, tmp_path: Path) -> None:
        links = sp.random(60, 60, 0.1, random_state=0)
        content = packed(bundle(tmp_path / "wl", links, None, biadjacency=self.words()))
        own_cache.mkdir(parents=True)
        (own_cache / "wikilinks_npz.tar.gz").write_bytes(content)
        found = datasets.load("WL")
        assert found.graph.directed
        assert found.n_classes == 10
        assert (own_cache / "wikilinks_labels.npy").exists()  # Louvain runs once
        np.testing.assert_array_equal(datasets.load("wikilinks").labels, found.labels)

    def test_without_scikit_network_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sknetwork.clustering", None)
        with pytest.raises(ImportError, match="pip install scikit-network"):
            word_clusters(self.words())

    def test_few_clusters_are_left_alone(self) -> None:
        assert merge_small(np.array([3, 3, 1]), 10).tolist() == [0, 0, 1]


class TestLoad:
    def test_karate_is_always_there(self) -> None:
        assert datasets.load("karate").graph.n_nodes == 34
        assert datasets.at_hand("karate") == "karate"

    def test_the_folder_goes_before_the_cache(
        self, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        graph_file(own_cache, "cora", labels=[5, 5, 6])
        assert datasets.load("CO").labels.tolist() == [5, 5, 6]
        graph_file(tmp_path / "data", "cora")
        assert datasets.load("cora", data=tmp_path / "data").labels.tolist() == [0, -1, 1]
        monkeypatch.setenv("ISOTHERM_DATA", str(tmp_path / "data"))
        assert datasets.load("cora").labels.tolist() == [0, -1, 1]
        assert datasets.available()["cora"] == str(tmp_path / "data")

    def test_any_graph_of_the_folder_loads_by_its_name(self, tmp_path: Path) -> None:
        graph_file(
            tmp_path, "mine", weight=[2.0, 3.0], directed=True, node_names=["a", "b", "c"], label_names=["x", "y"]
        )
        mine = datasets.load("mine", data=tmp_path)
        assert mine.graph.directed
        assert mine.graph.nodes.tolist() == ["a", "b", "c"]
        assert mine.graph.adjacency.sum() == 5
        assert mine.label_names is not None
        assert mine.label_names.tolist() == ["x", "y"]
        assert mine.communities is None
        assert "mine" in datasets.available(tmp_path)

    def test_communities_of_a_file(self, tmp_path: Path) -> None:
        graph_file(tmp_path, "mine", member_node=[2, 0, 1, 2], member_comm=[1, 0, 0, 0])
        communities = datasets.load("mine", data=tmp_path).communities
        assert communities is not None
        assert [c.tolist() for c in communities] == [[0, 1, 2], [2]]

    def test_a_stand_in_is_marked_and_can_be_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        graph_file(tmp_path, "wikispeedia", directed=True)
        with pytest.warns(StandInWarning, match="wikischools is not there: wikispeedia stands in for it"):
            found = datasets.load("WS", data=tmp_path)
        assert (found.name, found.stand_in_for) == ("wikispeedia", "wikischools")
        assert datasets.at_hand("wikischools", data=tmp_path) == "wikispeedia"
        assert datasets.load("wikispeedia", data=tmp_path).stand_in_for is None
        entry = CATALOGUE["wikischools"]
        nowhere = replace(entry, files=(replace(entry.files[0], url="http://127.0.0.1:9/x"),))
        monkeypatch.setitem(CATALOGUE, "wikischools", nowhere)
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        with pytest.raises(DownloadError, match="cannot be reached"):
            datasets.load("WS", data=tmp_path, stand_in=False)

    def test_the_real_graph_goes_before_a_stand_in(self, tmp_path: Path) -> None:
        graph_file(tmp_path, "wikispeedia", directed=True)
        bundle(tmp_path / "wikischools")
        assert datasets.load("wikischools", data=tmp_path).stand_in_for is None
        assert datasets.at_hand("wikischools", data=tmp_path) == "wikischools"

    def test_errors_name_the_remedy(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"no dataset 'nope'; isotherm datasets list prints all names"):
            datasets.load("nope")
        with pytest.raises(ValueError, match=r"is not a folder: point data or ISOTHERM_DATA to a folder"):
            datasets.load("cora", data=tmp_path / "nowhere")
        np.savez(tmp_path / "cora.npz", row=np.arange(2))
        with pytest.raises(ValueError, match=r"cora.npz is not a graph: it lacks the array 'col'"):
            datasets.load("cora", data=tmp_path)

    @pytest.mark.parametrize(
        ("name", "nodes", "entries", "classes", "labelled"),
        [
            ("CO", 2708, 10_556, 7, 1.0),
            ("CS", 3264, 9072, 6, 1.0),
            ("DBLP", 317_080, 2_099_732, 5000, 0.2947),
            ("Amazon", 334_863, 1_851_744, 5000, 0.0499),
        ],
    )
    def test_the_papers_graphs_count_for_count(
        self, data_folder: Path, name: str, nodes: int, entries: int, classes: int, labelled: float
    ) -> None:
        found = datasets.load(name, data=data_folder)
        assert (found.graph.n_nodes, found.graph.csr.entries, found.n_classes) == (nodes, entries, classes)
        assert found.labelled.mean() == pytest.approx(labelled, abs=1e-4)
        assert found.stand_in_for is None
