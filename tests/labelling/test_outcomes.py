"""The best scores, block after block, against all scores at once."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import isotherm as iso
from isotherm.choices import RuleName
from isotherm.labelling.outcomes import Ranking
from isotherm.labelling.rules import RULES

SCORES = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 20)), elements=st.integers(-3, 3))


@given(SCORES, st.integers(1, 7), st.integers(1, 4))
def test_blocks_do_not_matter(scores: np.ndarray, width: int, keep: int) -> None:
    """Also where scores are equal: the class that comes first is the better one."""
    scores[0] = np.nan
    ranking = Ranking(len(scores), keep)
    for first in range(0, scores.shape[1], width):
        ranking.add(first, scores[:, first : first + width])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :keep]
    found = order.shape[1]
    np.testing.assert_array_equal(ranking.classes[1:, :found], order[1:])
    np.testing.assert_array_equal(ranking.scores[1:, :found], np.take_along_axis(scores, order, axis=1)[1:])
    assert (ranking.classes[0] == -1).all()
    assert (ranking.classes[:, found:] == -1).all()
    softmax = np.exp(scores[1:]) / np.exp(scores[1:]).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ranking.softmax[1:], softmax.max(axis=1), rtol=1e-12)
    assert ranking.softmax[0] == 0


def many_classes(directed: bool) -> tuple[iso.Graph, dict[int, int]]:
    rng = np.random.default_rng(0)
    ends = rng.integers(3000, size=(2, 9000))
    graph = iso.Graph.from_edges(*ends, directed=directed, nodes=range(3100))
    return graph, dict(zip(rng.choice(3000, 160, replace=False).tolist(), np.arange(160) % 40, strict=True))


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_little_memory_gives_the_same_labels(rule: RuleName, directed: bool) -> None:
    graph, seeds = many_classes(directed)
    full = iso.DirichletClassifier(rule=rule).fit(graph, seeds)
    small = iso.DirichletClassifier(rule=rule, max_memory=1_000_000).fit(graph, seeds)
    np.testing.assert_array_equal(small.labels_, full.labels_)
    np.testing.assert_array_equal(small.reached_, full.reached_)
    best = np.sort(full.scores_[full.reached_], axis=1)[:, :-6:-1]
    np.testing.assert_array_equal(small.best_scores_[full.reached_], best)
    held = np.take_along_axis(full.scores_, small.best_classes_.astype(np.int64), axis=1)
    np.testing.assert_array_equal(held[full.reached_], best)
    assert small.solution_.iterations == full.solution_.iterations
    assert small.solution_.error == full.solution_.error


PEAK = """
import sys, tracemalloc, warnings
import numpy as np
import isotherm as iso

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
graph = iso.Graph.from_edges(*rng.integers(3000, size=(2, 9000)))
seeds = rng.choice(graph.nodes, 600, replace=False).tolist()
for classes in map(int, sys.argv[1:]):
    labels = {node: place % classes for place, node in enumerate(seeds)}
    clf = iso.DirichletClassifier(solver="cg", max_memory=1).fit(graph, labels)  # imports what it needs
    tracemalloc.start()
    clf.fit(graph, labels)
    print(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
"""


@pytest.mark.parametrize("blocks", [(3, 9), (10, 20)])  # on the whole graph, and on its core
def test_memory_does_not_grow_with_the_number_of_classes(blocks: tuple[int, int]) -> None:
    """To keep one number per node of each block of 15 classes would take 12 kB a block.

    In a process of its own: threads of other tests allocate memory too.
    """
    command = [sys.executable, "-c", PEAK, *(str(15 * count) for count in blocks)]
    few, many = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert many < few + (blocks[1] - blocks[0]) * 6000


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
def test_what_was_not_kept_says_so() -> None:
    graph, seeds = many_classes(False)
    clf = iso.DirichletClassifier(max_memory=1_000_000).fit(graph, seeds)
    for name in ("temperatures_", "scores_"):
        with pytest.raises(AttributeError, match=f"{name} was not kept, since.*best_scores_"):
            getattr(clf, name)
    clf.set_params(max_memory=None).fit(graph, seeds)
    assert clf.temperatures_.shape == (graph.n_nodes, 40)
    assert not hasattr(clf, "best_scores_")


def test_memory_is_positive() -> None:
    with pytest.raises(ValueError, match="max_memory=0, but it must be a positive"):
        iso.DirichletClassifier(max_memory=0).fit(*many_classes(False))
