"""The split of the graphs into development and confirmation."""

import sys
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.accuracy.halves import DRAWN, HALVES, TWINS, WITH_FEATURES, draw


def test_the_file_is_what_chance_gave_once() -> None:
    assert draw(HALVES) == DRAWN
    assert draw(HALVES, seed=15) != DRAWN


def test_halves_are_disjoint_and_of_the_same_size() -> None:
    development, confirmation = DRAWN["development"], DRAWN["confirmation"]
    assert not set(development) & set(confirmation)
    assert len(development) == len(confirmation) == 28
    assert sorted(len(set(half) & set(WITH_FEATURES)) for half in DRAWN.values()) == [5, 6]


def test_two_files_of_one_graph_are_in_the_same_half() -> None:
    assert all(HALVES[one] == HALVES[other] for pair in TWINS for one, other in combinations(pair, 2))


def test_the_halves_do_not_depend_on_the_order_of_the_names() -> None:
    assert draw(sorted(HALVES, reverse=True)) == DRAWN
