import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import isotherm as iso

KINDS = ["card", "address", "card", "address"]


def four() -> iso.Graph:
    return iso.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [1.0, 10.0, 3.0, 30.0], kind=KINDS)


def test_the_graph_is_the_sum_of_its_kinds() -> None:
    graph = four()
    plain = iso.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [1.0, 10.0, 3.0, 30.0])
    np.testing.assert_array_equal(graph.adjacency.toarray(), plain.adjacency.toarray())
    assert [name for name, _ in graph.kinds] == ["address", "card"]
    parts = sum(csr.to_scipy().toarray() for _, csr in graph.kinds)
    np.testing.assert_array_equal(parts, plain.adjacency.toarray())
    assert repr(graph) == "<Graph: 4 nodes, 4 edges of 2 kinds, weighted>"
    alike = graph.weigh_kinds()
    assert not alike.kinds
    np.testing.assert_array_equal(alike.adjacency.toarray(), plain.adjacency.toarray())
    assert plain.weigh_kinds() is plain


def test_weights_of_kinds_are_means() -> None:
    """Whatever the unit of the weights of a kind is: cards have 1 and 3, addresses 10 and 30."""
    found = four().weigh_kinds({"card": 1.0, "address": 0.1})
    expected = iso.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [0.5, 0.05, 1.5, 0.15])
    np.testing.assert_allclose(found.adjacency.toarray(), expected.adjacency.toarray(), rtol=1e-12)
    assert found.kind_weights == {"card": 1.0, "address": 0.1}
    assert four().weigh_kinds({"card": 1.0, "address": 0.0}).n_edges == 2


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ({"card": 1.0}, "weights for the kinds card, but the kinds of edges are address, card"),
        ({"card": 1.0, "address": -1.0}, "finite and not negative"),
        ({"card": 1.0, "address": float("nan")}, "finite and not negative"),
    ],
)
def test_weights_that_do_not_fit(weights: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        four().weigh_kinds(weights)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_kinds_in_a_data_frame(frame: type) -> None:
    """Kinds are texts, numbers or missing; blanks around them do not matter."""
    columns = {"source": [1, 2, 3, 4], "target": [2, 3, 4, 5], "type": ["a", " a ", None, ""]}
    graph = iso.Graph.from_pandas(frame(columns), kind="type")
    assert {name: csr.entries for name, csr in graph.kinds} == {"a": 4, "missing": 4}
    with pytest.raises(ValueError, match="no column for kind='sort'"):
        iso.Graph.from_pandas(frame(columns), kind="sort")
    assert [name for name, _ in iso.Graph.from_edges([1, 2], [2, 3], kind=[7, np.nan]).kinds] == ["7", "missing"]


def test_kinds_that_are_none() -> None:
    with pytest.raises(ValueError, match="kind has 1 values for 2 edges"):
        iso.Graph.from_edges([1, 2], [2, 3], kind=["a"])
    with pytest.raises(ValueError, match="kind has 30 kinds of edges, but at most 20"):
        iso.Graph.from_edges(range(30), range(1, 31), kind=range(30))


def test_each_kind_may_have_its_edges_in_both_directions() -> None:
    graph = iso.Graph.from_edges([0, 1, 1], [1, 0, 2], kind=["a", "a", "b"])
    assert graph.n_edges == 2
    arcs = iso.Graph.from_edges([0, 1, 1], [1, 0, 2], kind=["a", "a", "b"], directed=True)
    assert arcs.n_edges == 3
    assert arcs.weigh_kinds({"a": 1.0, "b": 0.5}).directed


def test_kinds_survive_pickles_and_further_nodes() -> None:
    graph = pickle.loads(pickle.dumps(four())).with_nodes([9])
    found = graph.weigh_kinds({"card": 1.0, "address": 0.1})
    assert found.n_nodes == 5
    np.testing.assert_allclose(found.degrees, [0.55, 2.0, 1.7, 0.15, 0.0])


def test_kinds_are_not_forgotten_silently(tmp_path: Path) -> None:
    """Only NodeClassifier finds weights; all else asks for them."""
    graph, wanted = four(), "only NodeClassifier finds weights: give graph.weigh_kinds"
    with pytest.raises(ValueError, match=wanted):
        iso.DirichletClassifier().fit(graph, {0: "a", 3: "b"})
    with pytest.raises(ValueError, match=wanted):
        iso.solve_dirichlet(graph, {0: 0.0, 3: 1.0})
    with pytest.raises(ValueError, match=wanted):
        graph.pack(tmp_path / "graph.iso")
    assert not (tmp_path / "graph.iso").exists()
    iso.DirichletClassifier(calibration=None).fit(graph.weigh_kinds(), {0: "a", 3: "b"})


def test_other_graphs_have_no_kinds() -> None:
    assert iso.Graph.from_networkx(nx.path_graph(3)).kinds == ()
    assert iso.Graph.from_networkx(nx.path_graph(3)).kind_weights is None
