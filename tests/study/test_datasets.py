"""Bundled graphs against copies from elsewhere."""

import networkx as nx
import numpy as np
import pytest
from scipy.spatial.distance import pdist

from isotherm.graphs import Graph
from isotherm.study.datasets import Dataset, debian_packages, karate_club


@pytest.fixture(scope="module")
def club() -> Dataset:
    return karate_club()


def test_edges_are_those_of_networkx(club: Dataset) -> None:
    ours = {frozenset(edge) for edge in zip(*club.graph.adjacency.nonzero(), strict=True)}
    theirs = {frozenset(edge) for edge in nx.karate_club_graph().edges}
    assert ours == theirs
    assert len(ours) == club.graph.n_edges == 78
    assert not club.graph.weighted
    assert not club.graph.directed


def test_labels_are_those_of_networkx(club: Dataset) -> None:
    theirs = nx.get_node_attributes(nx.karate_club_graph(), "club")
    assert dict(zip(club.graph.nodes.tolist(), club.labels.tolist(), strict=True)) == theirs


def test_nodes_are_numbered_in_order(club: Dataset) -> None:
    assert club.name == "Karate Club"
    assert club.graph.nodes.tolist() == list(range(34))


def test_no_node_is_drawn_over_another_or_over_an_edge(club: Dataset) -> None:
    positions = np.asarray(club.positions)
    assert positions.shape == (34, 2)
    assert np.abs(positions).max() <= 1
    assert pdist(positions).min() > 0.18
    assert min(distances_to_foreign_edges(club.graph, positions)) > 0.07


def distances_to_foreign_edges(graph: Graph, positions: np.ndarray) -> list[float]:
    """Of each node to each edge that does not end in it."""
    distances = []
    for i, j in zip(*graph.adjacency.nonzero(), strict=True):
        start, along = positions[i], positions[j] - positions[i]
        others = np.delete(positions, [i, j], axis=0)
        share = np.clip((others - start) @ along / (along @ along), 0, 1)
        distances.extend(np.hypot(*(others - start - share[:, None] * along).T).tolist())
    return distances


def test_every_call_gives_arrays_of_its_own(club: Dataset) -> None:
    again = karate_club()
    again.labels[:] = "nobody"
    np.asarray(again.positions)[:] = 0
    fresh = karate_club()
    np.testing.assert_array_equal(fresh.labels, club.labels)
    np.testing.assert_array_equal(fresh.positions, club.positions)


@pytest.fixture(scope="module")
def packages() -> Dataset:
    return debian_packages()


def test_debian_has_its_sizes(packages: Dataset) -> None:
    graph = packages.graph
    assert (graph.n_nodes, graph.n_edges, graph.directed, graph.weighted) == (63_436, 247_686, True, False)
    assert packages.n_classes == 58
    assert packages.labelled.all()


def test_arcs_lead_from_a_package_to_what_it_depends_on(packages: Dataset) -> None:
    package, needed = packages.graph.index(["0ad", "0ad-data"])
    row = slice(*packages.graph.csr.indptr[[package, package + 1]])
    assert needed in packages.graph.csr.indices[row]


def test_sections_are_names(packages: Dataset) -> None:
    section = dict(zip(packages.graph.nodes.tolist(), packages.labels.tolist(), strict=True))
    assert section["bash"] == "shells"
    assert section["python3-numpy"] == "python"
    assert section["git"] == "vcs"
    assert {type(label) for label in packages.labels} == {str}
    assert np.isin(["libs", "libdevel", "perl"], packages.labels.astype(str)).all()
