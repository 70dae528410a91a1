"""Graphs of nearest neighbours, compared with scikit-learn's search and with distances worked out by hand."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import kneighbors_graph

from isotherm import Graph
from isotherm.choices import MetricName, WeightsName
from isotherm.graphs.neighbours import Neighbours, ZeroRowWarning
from isotherm.graphs.vector_rows import ScaleWarning


def blobs(n: int = 300, columns: int = 6, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, columns)) + 3 * rng.integers(0, 4, n)[:, None]


def neighbours(X: Any, **more: Any) -> Neighbours:
    usual: dict[str, Any] = {
        "k": 10,
        "metric": "euclidean",
        "weights": "gaussian",
        "scale": False,
        "recall": 0.98,
        "threads": 1,
    }
    return Neighbours.of(X, **usual | more)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("k", [1, 5, 10])
def test_edges_are_those_of_scikit_learn_in_either_direction(k: int, metric: MetricName) -> None:
    X = blobs()
    theirs = kneighbors_graph(X, k, metric=metric)
    union = theirs.maximum(theirs.T).toarray()
    np.testing.assert_array_equal(Graph.from_vectors(X, k, metric, weights=None).adjacency.toarray(), union)


def test_gaussian_weights_are_the_mean_of_both_directions() -> None:
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    exponents = {(0, 1): 4 / 9, (0, 2): 4, (1, 0): 1, (1, 2): 4, (2, 1): 16 / 9, (2, 0): 4, (3, 2): 16 / 9, (3, 1): 4}
    arcs = np.zeros((4, 4))
    for arc, exponent in exponents.items():
        arcs[arc] = np.exp(-exponent)
    np.testing.assert_allclose(Graph.from_vectors(X, k=2).adjacency.toarray(), (arcs + arcs.T) / 2, rtol=1e-5)


def test_self_tuning_weights_use_the_reach_of_both_rows() -> None:
    X = np.array([[0.0], [1.0], [3.0]])
    adjacency = Graph.from_vectors(X, k=1, weights="self-tuning").adjacency.toarray()
    assert adjacency[0, 1] == pytest.approx(np.exp(-1), rel=1e-6)
    assert adjacency[1, 2] == pytest.approx(np.exp(-(2**2) / (2 * 1)) / 2, rel=1e-6)  # one direction only


@pytest.mark.parametrize(
    "kind",
    [np.float32, np.asfortranarray, pd.DataFrame, pl.DataFrame, csr_matrix, csr_array, coo_array, np.ndarray.tolist],
    ids=lambda kind: kind.__name__,
)
def test_tables_of_all_kinds_give_the_same_graph(kind: Any) -> None:
    X = np.round(blobs(), 2)
    ours, plain = Graph.from_vectors(kind(X)), Graph.from_vectors(X)
    np.testing.assert_array_equal(ours.csr.indices, plain.csr.indices)
    np.testing.assert_allclose(ours.csr.weights, plain.csr.weights, rtol=2e-4)  # type: ignore[arg-type]


def test_rows_may_have_ids() -> None:
    graph = Graph.from_vectors([[0.0], [1.0], [5.0]], k=1, ids=["a", "b", "c"])
    assert graph.nodes.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="ids has 2 values for 3 rows"):
        Graph.from_vectors([[0.0], [1.0], [5.0]], ids=["a", "b"])
    with pytest.raises(ValueError, match="'a' is given more than once"):
        Graph.from_vectors([[0.0], [1.0], [5.0]], ids=["a", "b", "a"])


@pytest.mark.parametrize("weights", ["gaussian", "self-tuning", None])
def test_copies_of_a_row_form_no_island(weights: WeightsName | None) -> None:
    """50 copies would fill each other's lists of 5 neighbours; GraphLearning's weights are NaN there."""
    X = np.concatenate([np.repeat([[0.5, 0.5]], 50, axis=0), blobs(100, 2) / 3])
    graph = Graph.from_vectors(X, k=5, weights=weights)
    alone = Graph.from_vectors(X[49:], k=5, weights=weights)
    assert connected_components(graph.adjacency)[0] == connected_components(alone.adjacency)[0]
    assert np.isfinite(graph.adjacency.data).all()
    assert (np.diff(graph.csr.indptr)[1:50] == 1).all()  # twins have one edge: to the first of them
    np.testing.assert_allclose(graph.degrees[1:50], alone.degrees[0], rtol=1e-5)


def test_a_table_of_one_repeated_row_is_a_star() -> None:
    graph = Graph.from_vectors(np.ones((5, 3)), k=2)
    assert np.diff(graph.csr.indptr).tolist() == [4, 1, 1, 1, 1]


def test_rows_that_share_a_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.concatenate([blobs(50), blobs(50)])
    expected = Graph.from_vectors(X).adjacency.toarray()
    monkeypatch.setattr("isotherm.graphs.neighbours._hashes", lambda rows: np.zeros(len(rows), np.uint64))
    np.testing.assert_array_equal(Graph.from_vectors(X).adjacency.toarray(), expected)


def test_zero_rows_have_no_direction() -> None:
    X = blobs()
    X[[3, 8]] = 0
    with pytest.warns(ZeroRowWarning, match=r"2 rows \(the first is 3\) of the table are zero .* metric='euclidean'"):
        graph = Graph.from_vectors(X, metric="cosine")
    assert np.flatnonzero(graph.degrees == 0).tolist() == [3, 8]
    rest = np.delete(X, [3, 8], axis=0)
    kept = np.delete(np.delete(graph.adjacency.toarray(), [3, 8], 0), [3, 8], 1)
    np.testing.assert_allclose(kept, Graph.from_vectors(rest, metric="cosine").adjacency.toarray(), rtol=1e-3)
    with pytest.raises(ValueError, match="all rows of the table are zero"):
        Graph.from_vectors(np.zeros((4, 2)), metric="cosine")


@pytest.mark.parametrize(("bad", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("kind", [np.asarray, csr_array, pd.DataFrame], ids=lambda kind: kind.__name__)
def test_values_that_are_not_finite_are_named(bad: float, name: str, kind: Any) -> None:
    X = blobs()
    X[7, 2] = bad
    with pytest.raises(ValueError, match=f"row 7 has {name} in column 2: replace such values"):
        Graph.from_vectors(kind(X))


def test_large_finite_values_are_no_infinities() -> None:
    X = blobs()
    scaled = Graph.from_vectors(X * 1e300).adjacency.toarray()
    np.testing.assert_allclose(scaled, Graph.from_vectors(X).adjacency.toarray(), rtol=1e-3)
    np.testing.assert_allclose(
        Graph.from_vectors(X * 1e-300).adjacency.toarray(), Graph.from_vectors(X).adjacency.toarray(), rtol=1e-3
    )


def test_a_constant_column_and_an_offset_change_nothing() -> None:
    X = np.round(blobs() * 64) / 64
    moved = np.column_stack([X + 2.0**20, np.full(len(X), 1e9)])
    np.testing.assert_allclose(
        Graph.from_vectors(moved).adjacency.toarray(), Graph.from_vectors(X).adjacency.toarray(), rtol=1e-3
    )


def test_columns_of_other_scales_are_told_and_scaled_on_request() -> None:
    X = blobs()
    wide = X * [1, 1, 1000, 1, 1, 1]
    with pytest.warns(ScaleWarning, match=r"column 2 of the table holds 100.0% .* pass scale=True"):
        Graph.from_vectors(wide)
    ours = Graph.from_vectors(wide, scale=True).adjacency.toarray()
    np.testing.assert_allclose(ours, Graph.from_vectors(X, scale=True).adjacency.toarray(), rtol=1e-3)
    expected = Graph.from_vectors(X / X.std(axis=0)).adjacency.toarray()
    np.testing.assert_allclose(ours, expected, rtol=1e-3)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_with_fewer_rows_than_k_all_are_joined(n: int) -> None:
    graph = Graph.from_vectors(blobs(n), k=10, weights=None)
    np.testing.assert_array_equal(graph.adjacency.toarray(), 1 - np.eye(n))


def test_a_hub_keeps_all_its_edges() -> None:
    """Rows on a sphere in many dimensions have its centre as their nearest row."""
    sphere = np.random.default_rng(0).standard_normal((400, 200))
    X = np.concatenate([np.zeros((1, 200)), sphere / np.linalg.norm(sphere, axis=1, keepdims=True)])
    graph = Graph.from_vectors(X, k=3)
    assert np.diff(graph.csr.indptr)[0] == 400
    assert connected_components(graph.adjacency)[0] == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"k": 0}, "k=0, but a row needs at least 1 neighbour"),
        ({"k": 2.5}, r"k=2\.5, but it must be a whole number"),
        ({"metric": "manhattan"}, "metric='manhattan' is unknown: choose 'euclidean' or 'cosine'"),
        ({"weights": "binary"}, "weights='binary' is unknown"),
        ({"recall": 0.0}, r"recall=0\.0, but it is a share"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph.from_vectors(blobs(), **more)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ([["a", "b"]], TypeError, "encode or leave out"),
        ([1.0, 2.0], ValueError, "two dimensions"),
        (np.zeros((0, 3)), ValueError, "needs rows and columns"),
        (np.zeros((3, 2), complex), TypeError, "real numbers, not complex128"),
        (np.array([["x", 1.0]], dtype=object), TypeError, "columns of text"),
    ],
    ids=str,
)
def test_what_is_no_table_is_refused(table: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Graph.from_vectors(table)


def manifold(n: int) -> NDArray[np.float32]:
    """Rows near a curved surface of five dimensions in 24 columns."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n, 5))
    return np.asarray(np.sin(latent @ rng.standard_normal((5, 24))) + 0.05 * rng.standard_normal((n, 24)), np.float32)


def test_inverted_lists_find_the_share_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    X = manifold(6000)
    exact = neighbours(X)
    assert exact.index.recall == 1
    monkeypatch.setattr("isotherm.graphs.neighbours.MOST_EXACT", 1e6)
    for recall in (0.9, 0.98):
        found = neighbours(X, recall=recall)
        assert found.index.probes is not None
        hits = (found.near[:, :, None] == exact.near[:, None, :]).any(axis=2).mean()
        assert recall <= hits <= 0.9999
        assert found.index.recall == pytest.approx(hits, abs=0.015)
    assert neighbours(X, recall=1).index.probes is None


def test_lists_give_the_same_answer_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotherm.graphs.neighbours.MOST_EXACT", 1e6)
    X = manifold(5000)
    one, again, four = (neighbours(X, threads=threads) for threads in (1, 1, 4))
    for other in (again, four):
        np.testing.assert_array_equal(one.near, other.near)
        np.testing.assert_array_equal(one.distances, other.distances)


@pytest.mark.parametrize("lists", [False, True])
def test_new_rows_find_their_neighbours(lists: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if lists:
        monkeypatch.setattr("isotherm.graphs.neighbours.MOST_EXACT", 1e6)
    X = manifold(3200)
    found = neighbours(X[:3000], weights=None)
    ours = found.to_new(X[3000:], 1).toarray() > 0
    gaps = ((X[3000:, None].astype(float) - X[None, :3000]) ** 2).sum(axis=2)
    theirs = np.zeros_like(ours)
    np.put_along_axis(theirs, np.argsort(gaps, axis=1)[:, :10], True, axis=1)
    assert (ours & theirs).sum() >= (0.95 if lists else 1) * theirs.sum()


def test_a_new_row_that_is_zero_has_no_neighbours_by_direction() -> None:
    found = neighbours(blobs(), metric="cosine")
    weights = found.to_new(np.zeros((1, 6)), 1)
    assert weights.shape == (1, 300)
    assert weights.nnz == 0


def test_a_wide_sparse_table_is_compared_along_a_few_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    topics = rng.random((4, 400)) ** 8
    X = csr_array(rng.poisson(topics[np.arange(600) % 4] * 2).astype(float))
    X = csr_array(X[np.asarray(X.sum(axis=1)).ravel() > 0])
    monkeypatch.setattr("isotherm.graphs.vector_rows.MOST_DENSE", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = neighbours(X, metric="cosine")
    assert found.index.rows.shape[1] == 128
    topic = np.arange(X.shape[0]) % 4
    if X.shape[0] == 600:
        assert (topic[found.first[found.near]] == topic[found.first, None]).mean() > 0.9
    again = neighbours(X, metric="cosine")
    np.testing.assert_array_equal(found.near, again.near)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("recall", [0.98, 0.5])
def test_equally_near_rows_do_not_depend_on_the_order_of_rows(
    scale: bool, recall: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small integers have many equal distances; of equal rows, the one with the first id has the neighbours."""
    monkeypatch.setattr("isotherm.graphs.neighbours.MOST_EXACT", 1e9 if recall == 0.98 else 1e4)
    rng = np.random.default_rng(0)
    table, ids = rng.integers(0, 4, (400, 5)), np.array([f"r{row}" for row in range(400)])
    assert len(np.unique(table, axis=0)) < 400
    first = Graph.from_vectors(table, k=4, scale=scale, ids=ids, recall=recall).adjacency
    for _ in range(3):
        order = rng.permutation(400)
        found = Graph.from_vectors(table[order], k=4, scale=scale, ids=ids[order], recall=recall).adjacency
        back = np.argsort(order)
        np.testing.assert_allclose(found[back][:, back].toarray(), first.toarray(), rtol=1e-6)
