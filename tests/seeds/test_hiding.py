"""What the policies draw, how labels are dealt to folds, and what stays visible."""

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isotherm.graphs import Graph
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import (
    codes_of_nodes,
    deal,
    hide,
    hideable,
    sample,
    sample_balanced,
    sample_degree,
    sample_dominant,
    sample_per_class,
    sample_two_classes,
    sample_uniform,
    show,
)

LABELS = np.array([0, 1, -1, 0, 2, 0, -1, 1, 0, 0])
DEGREES = np.array([3.0, 1, 9, 2, 5, 1, 9, 0, 4, 2])


@pytest.mark.parametrize("policy", ["uniform", "degree", "balanced", "dominant"])
@pytest.mark.parametrize("size", [0.25, 0.7, 1, 5])
def test_draws_are_labelled_nodes_each_once_ascending_and_reproducible(policy: str, size: float) -> None:
    drawn = [sample(policy, LABELS, size, np.random.default_rng(seed), degrees=DEGREES) for seed in (0, 0, 1, 2, 3)]
    for seeds in drawn:
        assert seeds.dtype == np.int64
        assert (np.diff(seeds) > 0).all()
        assert (LABELS[seeds] >= 0).all()
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert len({tuple(seeds) for seeds in drawn}) > 1


@pytest.mark.parametrize(("size", "count"), [(1, 1), (3, 3), (np.int64(8), 8), (0.5, 4), (1.0, 8), (0.01, 1)])
def test_an_int_is_a_number_and_a_float_a_share_of_the_labelled(size: float, count: int) -> None:
    assert len(sample_uniform(LABELS, size, np.random.default_rng(0))) == count


@pytest.mark.parametrize("size", [0, 9, -1, 0.0, 1.5, -0.5, float("nan")])
@pytest.mark.parametrize("policy", ["uniform", "degree", "balanced", "dominant"])
def test_sizes_out_of_range_are_refused(policy: str, size: float) -> None:
    with pytest.raises(ValueError, match=r"seeds cannot be drawn from 8 labelled|above 0 and at most 1, not"):
        sample(policy, LABELS, size, np.random.default_rng(0), degrees=DEGREES)


def test_policies_that_cannot_draw_say_so() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="no policy 'best': choose uniform, degree, balanced or dominant"):
        sample("best", LABELS, 0.5, rng)
    with pytest.raises(ValueError, match="'degree' needs the degrees"):
        sample("degree", LABELS, 0.5, rng)
    with pytest.raises(ValueError, match="8 seeds cannot be drawn: only 7 labelled nodes have edges"):
        sample_degree(LABELS, 8, rng, degrees=DEGREES)
    with pytest.raises(ValueError, match="no node is labelled"):
        sample_uniform(np.full(3, -1), 0.5, rng)
    with pytest.raises(ValueError, match=r"ratio=0.5 is below 1"):
        sample_dominant(LABELS, 0.5, rng, ratio=0.5)
    with pytest.raises(ValueError, match=r"ratio=10 .* asks for 50 seeds of a class of 5"):
        sample_dominant(LABELS, 8, rng, ratio=10)


def test_uniform_draws_all_sets_alike() -> None:
    rng = np.random.default_rng(1)
    labels = np.array([0, -1, 1, 1, 0, 1])
    drawn = Counter(tuple(sample_uniform(labels, 2, rng).tolist()) for _ in range(4000))
    assert len(drawn) == 10
    assert stats.chisquare(list(drawn.values())).pvalue > 1e-3


def test_degree_draws_one_after_another_in_proportion() -> None:
    rng = np.random.default_rng(2)
    labels, degrees = np.array([0, 1, -1, 1, 0, 1]), np.array([1.0, 2, 50, 3, 4, 0])
    drawn = Counter(tuple(sample_degree(labels, 2, rng, degrees=degrees).tolist()) for _ in range(4000))
    chance: Counter[tuple[int, ...]] = Counter()
    for i, j in permutations([0, 1, 3, 4], 2):
        chance[min(i, j), max(i, j)] += degrees[i] / 10 * degrees[j] / (10 - degrees[i])
    assert set(drawn) == set(chance)
    assert stats.chisquare([drawn[pair] for pair in chance], [4000 * c for c in chance.values()]).pvalue > 1e-3


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=200), st.floats(0.01, 1))
def test_balanced_draws_the_share_of_each_class_and_at_least_one(labels: list[int], fraction: float) -> None:
    codes = np.array([*labels, 0])
    drawn = sample_balanced(codes, fraction, np.random.default_rng(0))
    n_labelled = np.count_nonzero(codes >= 0)
    count = max(1, round(fraction * n_labelled))
    lifted = 0
    for label in set(codes.tolist()) - {-1}:
        quota = count * np.count_nonzero(codes == label) / n_labelled
        n_drawn = np.count_nonzero(codes[drawn] == label)
        assert n_drawn >= 1
        assert abs(n_drawn - quota) < 1
        lifted += int(quota < 1)
    assert count <= len(drawn) <= count + lifted


def test_balanced_is_uniform_inside_a_class() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1], [8, 4])
    times = sum(np.bincount(sample_balanced(codes, 3, rng), minlength=12) for _ in range(3000))
    assert np.all(np.abs(times - 3000 / 4) < 5 * np.sqrt(3000 / 4 * 3 / 4))


def test_dominant_adds_nested_seeds_of_the_largest_class_only() -> None:
    codes = np.random.default_rng(0).choice([0, 1, 2], size=3000, p=[0.2, 0.5, 0.3])
    draws = [sample_dominant(codes, 0.05, np.random.default_rng(9), ratio=ratio) for ratio in (1, 2, 3.5, 10)]
    counts = np.array([np.bincount(codes[drawn]) for drawn in draws])
    assert len(draws[0]) == 150
    np.testing.assert_array_equal(draws[0], sample_uniform(codes, 0.05, np.random.default_rng(9)))
    assert counts[:, 1].tolist() == [round(ratio * counts[0, 1]) for ratio in (1, 2, 3.5, 10)]
    assert np.ptp(counts[:, [0, 2]], axis=0).tolist() == [0, 0]
    for smaller, larger in pairwise(draws):
        assert set(smaller) <= set(larger)


def test_two_classes_are_drawn_even_if_one_is_rare() -> None:
    truth = np.array([0] * 99 + [1] + [-1] * 50)
    for number in range(20):
        seeds = sample_two_classes(truth, 0.03, np.random.default_rng(number))
        assert len(np.unique(truth[seeds])) == 2
        assert truth[seeds].min() == 0
    even = sample_two_classes(np.arange(100) % 2, 0.1, np.random.default_rng(0))
    assert len(even) == 10


@pytest.mark.parametrize(("size", "counts"), [(3, [3, 3, 1, 1]), (0.1, [5, 1, 1, 1]), (0.5, [25, 2, 1, 1])])
def test_seeds_per_class_are_a_number_or_a_share_and_at_least_one(size: float, counts: list[int]) -> None:
    truth = np.repeat([0, 1, 2, 3], [50, 4, 2, 1])
    seeds = sample_per_class(truth, size, np.random.default_rng(0))
    assert np.bincount(truth[seeds]).tolist() == counts


def test_only_shown_labels_are_visible() -> None:
    seeds = Seeds.from_labels({"b": "x", "d": "y", "e": "x"}, Graph.from_edges(list("abcd"), list("bcde")))
    codes = codes_of_nodes(seeds, 5)
    assert codes.tolist() == [-1, 0, -1, 1, 0]
    assert show(codes, np.array([1, 3])).tolist() == [-1, 0, -1, 1, -1]
    assert hide(codes, np.array([1, 3])).tolist() == [-1, -1, -1, -1, 0]
    assert codes.tolist() == [-1, 0, -1, 1, 0]


@given(st.lists(st.integers(-1, 4), max_size=80), st.integers(2, 6), st.booleans())
def test_every_label_with_another_of_its_class_is_dealt_once(labels: list[int], folds: int, by_class: bool) -> None:
    codes = np.array(labels, dtype=np.int64)
    usable = [place for place, code in enumerate(labels) if code >= 0 and labels.count(code) > 1]
    dealt = deal(codes, np.random.default_rng(0).permutation(hideable(codes)), folds, by_class=by_class)
    assert len(dealt) == min(folds, len(usable))
    assert sorted(place for fold in dealt for place in fold.tolist()) == usable
    for fold in dealt:
        assert (np.diff(fold) > 0).all()
        assert by_class <= (set(codes[hide(codes, fold) >= 0]) == set(codes[codes >= 0]))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=60), st.integers(2, 6))
def test_folds_by_class_take_turns_in_each_class_by_key(seeds: list[tuple[int, int]], folds: int) -> None:
    codes, keys = np.array(seeds, dtype=np.int64).reshape(-1, 2).T
    shared = hideable(codes)
    dealt = deal(codes, shared[np.argsort(keys[shared], kind="stable")], folds)
    turns = sorted((code, key, place) for place, (code, key) in enumerate(seeds) if (codes == code).sum() > 1)
    expected = [sorted(place for _, _, place in turns[first::folds]) for first in range(min(folds, len(turns)))]
    assert [fold.tolist() for fold in dealt] == expected


@given(st.permutations(range(12)), st.integers(2, 20))
def test_folds_by_rank_are_remainders_of_the_rank(ranks: list[int], folds: int) -> None:
    dealt = deal(np.zeros(12, np.int64), np.argsort(ranks), folds, by_class=False)
    assert [fold.tolist() for fold in dealt] == [
        [place for place, rank in enumerate(ranks) if rank % folds == each] for each in range(min(folds, 12))
    ]
