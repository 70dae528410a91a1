"""The closed forms against dense solves, and the stochastic sampler against its distribution."""

import math
from collections import Counter
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import isotherm as iso
from isotherm.graphs import Graph
from isotherm.node_classifier import classifier_by
from isotherm.paper.block_model import BlockModel, _distinct, _triangle, stochastic_block_model

WEIGHT = st.floats(0.01, 10)


WEIGHTS = st.tuples(WEIGHT | st.just(0.0), WEIGHT | st.just(0.0))


@st.composite
def block_models(draw: st.DrawFn, weights: st.SearchStrategy[tuple[float, float]] = WEIGHTS) -> BlockModel:
    sizes = draw(st.lists(st.integers(1, 30), min_size=2, max_size=5))
    seeds = [draw(st.integers(1, size)) for size in sizes]
    p, q = draw(weights)
    assume(p + q > 0)
    return BlockModel(sizes, seeds, p, q)


ASSORTATIVE = st.tuples(WEIGHT, st.just(0.0) | st.floats(0.01, 0.99)).map(lambda pair: (pair[0], pair[0] * pair[1]))


def dense_temperatures(model: BlockModel, *, loops: bool) -> NDArray[np.float64]:
    """All n x K temperatures, by a dense solve of the Dirichlet problem."""
    A = model.adjacency().toarray()
    if loops:
        np.fill_diagonal(A, model.p)
    boundary = model.seed_nodes()
    interior = np.setdiff1d(np.arange(model.n_nodes), boundary)
    L = np.diag(A.sum(axis=1)) - A
    temperatures = np.zeros((model.n_nodes, model.n_blocks))
    temperatures[boundary, model.labels()[boundary]] = 1
    heat = A[np.ix_(interior, boundary)] @ temperatures[boundary]
    temperatures[interior] = np.linalg.solve(L[np.ix_(interior, interior)], heat)
    return temperatures


@pytest.mark.parametrize("loops", [False, True])
@settings(max_examples=300, deadline=None)
@given(model=block_models())
def test_lemma_1_is_the_solution_of_the_dirichlet_problem(model: BlockModel, loops: bool) -> None:
    expected = dense_temperatures(model, loops=loops)
    interior = np.setdiff1d(np.arange(model.n_nodes), model.seed_nodes())
    found = model.temperatures()[model.labels()[interior]]
    np.testing.assert_allclose(found, expected[interior], rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.mean_temperatures(), expected.mean(axis=0), rtol=0, atol=1e-10)


@given(model=block_models())
def test_temperatures_sum_to_one_over_the_problems(model: BlockModel) -> None:
    np.testing.assert_allclose(model.temperatures().sum(axis=1), 1)
    np.testing.assert_allclose(model.mean_temperatures().sum(), 1)


@settings(max_examples=300)
@given(model=block_models(ASSORTATIVE))
def test_theorem_1_comparison_with_the_mean_is_right_on_all_blocks(model: BlockModel) -> None:
    temperatures, means = model.temperatures(), model.mean_temperatures()
    blocks = np.arange(model.n_blocks)
    np.testing.assert_array_equal((temperatures - means).argmax(axis=1), blocks)
    np.testing.assert_array_equal((temperatures / means).argmax(axis=1), blocks)


@settings(max_examples=300, deadline=None)
@given(model=block_models())
def test_the_vanilla_rule_errs_exactly_where_the_condition_says(model: BlockModel) -> None:
    temperatures = dense_temperatures(model, loops=False)
    for node in np.setdiff1d(np.arange(model.n_nodes), model.seed_nodes()):
        block = model.labels()[node]
        lead = temperatures[node, block] - np.delete(temperatures[node], block).max()
        if abs(lead) > 1e-9:
            assert model.vanilla_correct()[block] == (lead > 0)


@settings(max_examples=300)
@given(model=block_models())
def test_the_vanilla_margin_is_the_inequality_of_section_4_3(model: BlockModel) -> None:
    n, p, q = model.n_nodes, model.p, model.q

    def term(k: int) -> float:
        size, seeds = model.sizes[k], model.seeds[k]
        return seeds * q * (size * (p - q) + n * q) / (seeds * (p - q) + n * q)

    pairs = list(zip(model.sizes, model.seeds, strict=True))
    rest = 1 - sum((size - seeds) * q / (seeds * (p - q) + n * q) for size, seeds in pairs)
    margins = [
        term(k) + model.seeds[k] * (p - q) * rest - max(term(j) for j in range(len(pairs)) if j != k)
        for k in range(len(pairs))
    ]
    np.testing.assert_allclose(model.vanilla_margin(), margins, rtol=1e-8, atol=1e-9 * (p + q) * n)


@given(model=block_models(st.tuples(st.floats(0.5, 1), st.floats(0.1, 0.4))))
def test_the_condition_with_few_seeds_is_its_limit(model: BlockModel) -> None:
    large = BlockModel([size * 10**9 for size in model.sizes], model.seeds, model.p, model.q)
    first = np.array(large.seeds) * (np.array(large.sizes) * (large.p - large.q) + large.n_nodes * large.q)
    ranked = np.sort(first)
    assume(ranked[-1] > 1.001 * ranked[-2])
    np.testing.assert_array_equal(large.vanilla_correct_few_seeds(), large.vanilla_correct())
    np.testing.assert_array_equal(large.vanilla_correct_few_seeds(), np.arange(len(first)) == first.argmax())


def test_equal_blocks_tie_with_few_seeds_but_are_right() -> None:
    model = BlockModel([1000, 1000], [1, 1], p=0.2, q=0.1)
    assert not model.vanilla_correct_few_seeds().any()
    assert model.vanilla_correct().all()


def test_means_are_exact_when_seeds_are_few() -> None:
    model = BlockModel([10**15, 10**15], [1, 3], p=1, q=1)
    np.testing.assert_allclose(model.mean_temperatures(), [0.25, 0.75], rtol=1e-12)


def test_nodes_are_numbered_block_by_block_with_the_seeds_first() -> None:
    model = BlockModel(np.array([2, 3]), [1, 2], p=2, q=0.5)  # type: ignore[arg-type]
    assert model == BlockModel((2, 3), (1, 2), p=2, q=0.5)
    assert model.labels().tolist() == [0, 0, 1, 1, 1]
    assert model.seed_nodes().tolist() == [0, 2, 3]
    assert model.adjacency().toarray()[1].tolist() == [2, 0, 0.5, 0.5, 0.5]


def test_weights_of_zero_are_no_entries() -> None:
    assert BlockModel([2, 2], [1, 1], p=1, q=0).adjacency().nnz == 4


@pytest.mark.parametrize(
    ("sizes", "seeds", "p", "q", "message"),
    [
        ([3], [1], 1, 1, "at least two blocks"),
        ([3, 3], [1], 1, 1, "2 sizes and 1 numbers of seeds"),
        ([3, 0], [1, 0], 1, 1, "block 1 has 0 nodes and 0 seeds"),
        ([3, 3], [1, 4], 1, 1, "block 1 has 3 nodes and 4 seeds"),
        ([3, 3], [0, 1], 1, 1, "block 0 has 3 nodes and 0 seeds"),
        ([3, 3], [1, 1], -1, 1, "p=-1, q=1"),
        ([3, 3], [1, 1], 1, math.inf, "p=1, q=inf"),
        ([3, 3], [1, 1], math.nan, 1, "p=nan, q=1"),
        ([3, 3], [1, 1], 0, 0, "not both zero"),
    ],
)
def test_parameters_out_of_range_are_refused(
    sizes: list[int], seeds: list[int], p: float, q: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        BlockModel(sizes, seeds, p, q)


def test_sizes_are_whole_numbers() -> None:
    with pytest.raises(TypeError, match="float"):
        BlockModel([2.5, 3], [1, 1], p=1, q=1)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="float"):
        stochastic_block_model([2.5, 3], 1, 1)  # type: ignore[list-item]


def edges(graph: Graph) -> tuple[tuple[int, int], ...]:
    rows, columns = graph.adjacency.nonzero()
    return tuple((i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if i < j)


@pytest.mark.parametrize(("p", "q"), [(0.6, 0.3), (0.2, 0.9)])
def test_every_graph_has_its_probability(p: float, q: float) -> None:
    rng = np.random.default_rng(7)
    n_samples = 4000
    drawn = Counter(edges(stochastic_block_model([2, 2], p, q, rng)) for _ in range(n_samples))
    pairs = list(combinations(range(4), 2))
    expected, observed = [], []
    for present in product([False, True], repeat=len(pairs)):
        chances = [p if i // 2 == j // 2 else q for i, j in pairs]
        chance = math.prod(c if there else 1 - c for c, there in zip(chances, present, strict=True))
        expected.append(n_samples * chance)
        observed.append(drawn[tuple(pair for pair, there in zip(pairs, present, strict=True) if there)])
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_edge_counts_of_all_pairs_of_blocks_are_within_5_sigma() -> None:
    sizes, chances = [300, 200, 500], np.array([[0.1, 0.02, 0.7], [0.02, 0.5, 0.0], [0.7, 0.0, 1.0]])
    graph = stochastic_block_model(sizes, chances, rng=1)
    A = graph.adjacency
    assert (A != A.T).nnz == 0
    assert A.diagonal().sum() == 0
    assert not graph.weighted
    bounds = np.cumsum([0, *sizes])
    for a, b in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]:
        n_pairs = sizes[a] * (sizes[a] - 1) // 2 if a == b else sizes[a] * sizes[b]
        found = A[bounds[a] : bounds[a + 1], bounds[b] : bounds[b + 1]].nnz / (2 if a == b else 1)
        sigma = math.sqrt(n_pairs * chances[a, b] * (1 - chances[a, b]))
        assert abs(found - n_pairs * chances[a, b]) <= 5 * sigma


def test_degrees_are_distributed_as_those_of_networkx() -> None:
    sizes, chances = [400, 600], [[0.05, 0.01], [0.01, 0.03]]
    ours = [stochastic_block_model(sizes, chances, rng=seed).degrees for seed in range(5)]
    theirs = [list(dict(nx.stochastic_block_model(sizes, chances, seed=seed).degree).values()) for seed in range(5)]
    for block in (slice(0, 400), slice(400, 1000)):
        pooled = [np.concatenate([degrees[block] for degrees in sample]) for sample in (ours, theirs)]
        assert stats.ks_2samp(*pooled).pvalue > 1e-3


def test_the_same_seed_gives_the_same_graph() -> None:
    model = BlockModel([50, 70], [1, 1], p=0.3, q=0.1)
    first, again, other = (model.sample(seed) for seed in (3, np.random.default_rng(3), 4))
    assert edges(first) == edges(again) != edges(other)


@pytest.mark.parametrize("sizes", [[5], [1, 1], [3, 0, 4], [6, 2]])
def test_probabilities_of_zero_and_one(sizes: list[int]) -> None:
    n = sum(sizes)
    assert edges(stochastic_block_model(sizes, 0, 0)) == ()
    assert edges(stochastic_block_model(sizes, 1, 1)) == tuple(combinations(range(n), 2))


@pytest.mark.parametrize(
    ("sizes", "p", "q", "message"),
    [
        ([3, 3], 0.5, None, "give p and q, or a symmetric 2 x 2 matrix"),
        ([3, 3], [[0.5, 0.1], [0.2, 0.5]], None, "symmetric"),
        ([3, 3], [[0.5, 0.1]], None, "symmetric"),
        ([3, 3], [[0.5, 0.1], [0.1, 0.5]], 0.1, "give p and q, or"),
        ([3, 3], 1.5, 0.1, "between 0 and 1"),
        ([3, 3], 0.5, -0.1, "between 0 and 1"),
        ([3, 3], math.nan, 0.1, "between 0 and 1"),
        ([3, -3], 0.5, 0.1, "numbers of nodes"),
        ([], 0.5, 0.1, "numbers of nodes"),
    ],
)
def test_models_that_do_not_exist_are_refused(sizes: list[int], p: Any, q: float | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stochastic_block_model(sizes, p, q)


@given(data=st.data(), widths=st.lists(st.integers(0, 40), min_size=1, max_size=6))
def test_distinct_draws_keep_to_their_ranges(data: st.DataObject, widths: list[int]) -> None:
    counts = [data.draw(st.integers(0, width)) for width in widths]
    drawn = _distinct(np.array(widths), np.array(counts), np.random.default_rng(0))
    assert (np.diff(drawn) > 0).all()
    assert len(drawn) == sum(counts)
    assert np.diff(np.searchsorted(drawn, np.cumsum([0, *widths]))).tolist() == counts


@pytest.mark.parametrize("count", [2, 3, 4])
def test_all_subsets_are_equally_likely(count: int) -> None:
    rng = np.random.default_rng(5)
    drawn = Counter(tuple(_distinct(np.array([6]), np.array([count]), rng).tolist()) for _ in range(3000))
    assert stats.chisquare([drawn[subset] for subset in combinations(range(6), count)]).pvalue > 1e-3


def test_pairs_of_a_triangle_are_found_exactly_however_many() -> None:
    j = [1, 2, 3, 1000, 10**6 - 1, 10**6, 2**26, 2**26 + 1, 2**31 - 1]
    first = np.array([value * (value - 1) // 2 for value in j])
    last = first + np.array(j) - 1
    for place, i in ((first, np.zeros(len(j))), (last, np.array(j) - 1)):
        np.testing.assert_array_equal(_triangle(place), [i, j])
    assert list(zip(*_triangle(np.arange(6)), strict=True)) == [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning", "ignore::isotherm.RareClassWarning")
@pytest.mark.parametrize("rule", ["centered", "balanced", "probable"])
@pytest.mark.parametrize("seeds", [(10, 10, 10), (9, 6, 3), (2, 2, 2), (1, 1, 1)])
@pytest.mark.parametrize(("p", "q"), [(0.9, 0.1), (0.2, 0.1), (0.11, 0.1)])
def test_rules_on_probabilities_make_no_error_where_algorithm_1_makes_none(
    rule: str, seeds: tuple[int, ...], p: float, q: float
) -> None:
    """Theorem 1: with p > q, temperatures minus their means label every node right."""
    model = BlockModel((120, 60, 40), seeds, p, q)
    labels = model.labels()
    known = np.full(len(labels), -1)
    known[model.seed_nodes()] = labels[model.seed_nodes()]
    clf = classifier_by(rule, tol=1e-8).fit(iso.Graph.from_scipy(model.adjacency()), known)
    np.testing.assert_array_equal(clf.labels_, labels)
