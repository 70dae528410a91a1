"""Doubtful seeds: flipped labels are found, every seed is judged, and what cannot be judged is refused."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import isotherm as iso
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability import hidden_seeds

quiet = pytest.mark.filterwarnings(
    "ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning", "ignore::isotherm.CalibrationWarning"
)
SIZES = (200, 200, 200)


def blocks() -> tuple[iso.Graph, NDArray[np.int64]]:
    return stochastic_block_model(SIZES, 0.06, 0.004, 1), np.repeat(np.arange(3), SIZES)


def flipped(truth: NDArray[np.int64], count: int = 120, wrong: int = 8) -> tuple[dict[int, int], set[int]]:
    """Labels of some nodes, and those of them that have the next class instead of their own."""
    nodes = np.random.default_rng(2).choice(len(truth), count, replace=False).tolist()
    labels = {node: int(truth[node]) for node in nodes}
    return labels | {node: (labels[node] + 1) % 3 for node in nodes[:wrong]}, set(nodes[:wrong])


@pytest.mark.parametrize("make", [iso.NodeClassifier, iso.DirichletClassifier])
def test_flipped_labels_are_found_and_corrected(make: type[iso.NodeClassifier]) -> None:
    graph, truth = blocks()
    labels, wrong = flipped(truth)
    found = make().fit(graph, labels).doubtful_seeds()
    assert set(found["seed"][: len(wrong)].tolist()) == wrong
    np.testing.assert_array_equal(found.guess[: len(wrong)], truth[found.seed[: len(wrong)]])
    np.testing.assert_array_equal(found.label, [labels[node] for node in found.seed.tolist()])
    assert (np.diff(found.doubt) <= 0).all()
    assert (found.guess != found.label).all()
    assert (found.confidence <= found.doubt + 1e-12).all()  # the guess is one of the classes that are not the label


def test_vectors_are_judged_too() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    rows = rng.normal(size=(200, 2)) + 6 * truth[:, None]
    given = np.where(rng.random(200) < 0.3, truth, -1)
    culprit = int(np.flatnonzero(given == 0)[3])
    given[culprit] = 1
    assert iso.VectorClassifier().fit(rows, given).doubtful_seeds().seed.tolist() == [culprit]


def test_k_takes_the_most_doubtful_whatever_is_more_probable() -> None:
    graph, truth = blocks()
    labels, _ = flipped(truth)
    clf = iso.NodeClassifier().fit(graph, labels)
    every = clf.doubtful_seeds(len(labels))
    assert sorted(every.seed.tolist()) == sorted(labels)
    assert clf.doubtful_seeds(5).seed.tolist() == every.seed[:5].tolist()
    wrong = every.guess != every.label
    assert clf.doubtful_seeds().seed.tolist() == every.seed[wrong].tolist()
    for found in (every, clf.doubtful_seeds(), clf.doubtful_seeds(2), clf.doubtful_seeds(5)):
        assert found.title == f"{wrong.sum()} of {len(labels)} seeds look wrong"


def test_a_wrong_label_does_not_change_the_guess_for_its_own_seed() -> None:
    graph, truth = blocks()
    labels, _ = flipped(truth, wrong=0)
    node = next(iter(labels))
    clf = iso.NodeClassifier().fit(graph, labels)
    right, other = (
        dict(zip((table := fitted.doubtful_seeds(len(labels))).seed.tolist(), table.guess.tolist(), strict=True))[node]
        for fitted in (clf, iso.NodeClassifier().fit(graph, labels | {node: (labels[node] + 1) % 3}))
    )
    assert right == other == truth[node]


@quiet
def test_all_seeds_are_judged_where_a_fit_hides_only_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_seeds, "ENOUGH", 30)
    graph, truth = blocks()
    labels, wrong = flipped(truth)
    clf = iso.NodeClassifier().fit(graph, labels)
    assert len(clf.fitted_.learnt.trial.nodes) < len(labels)
    found = clf.doubtful_seeds(len(labels))
    assert sorted(found.seed.tolist()) == sorted(labels)
    assert set(clf.doubtful_seeds().seed[: len(wrong)].tolist()) == wrong


def test_seeds_that_an_update_added_are_judged() -> None:
    graph, truth = blocks()
    labels, _ = flipped(truth, wrong=0)
    node = next(node for node in range(len(truth)) if node not in labels)
    clf = iso.NodeClassifier().fit(graph, labels)
    clf.update(add={node: int(truth[node] + 1) % 3})
    assert len(clf.fitted_.learnt.trial.nodes) == len(labels)  # what was learnt is kept
    assert clf.doubtful_seeds().seed[0] == node


@quiet
def test_a_saved_classifier_says_the_same(tmp_path: Path) -> None:
    graph, truth = blocks()
    labels, _ = flipped(truth)
    clf = iso.NodeClassifier().fit(graph, labels)
    clf.save(tmp_path / "model.npz")
    again = iso.load(tmp_path / "model.npz").doubtful_seeds()
    assert again.seed.tolist() == clf.doubtful_seeds().seed.tolist()
    np.testing.assert_allclose(again.doubt, clf.doubtful_seeds().doubt)


@quiet
def test_the_only_seed_of_a_class_and_unreached_seeds_are_not_judged() -> None:
    graph = iso.Graph.from_edges(list("abcdx"), list("bcdey"))
    clf = iso.NodeClassifier().fit(graph, {"a": 0, "b": 0, "d": 1, "e": 1, "c": 2, "x": 0})
    found = clf.doubtful_seeds(10)
    assert not {"c", "x"}.intersection(found.seed.tolist())
    assert (found.n_seeds, found.n_judged) == (6, 4)
    assert "2 could not be judged" in found.title


@quiet
@pytest.mark.filterwarnings("ignore::isotherm.LabelWarning")
def test_seeds_of_one_class_cannot_be_judged() -> None:
    graph = iso.Graph.from_edges(list("abcd"), list("bcde"))
    found = iso.NodeClassifier().fit(graph, {"a": "x", "c": "x", "e": "x"}).doubtful_seeds(10)
    assert (found.n_judged, found.n_wrong, len(found.seed)) == (0, 0, 0)
    assert str(found) == "none of 3 seeds could be judged"


def test_text_and_html_show_the_first_rows() -> None:
    graph, truth = blocks()
    labels, _ = flipped(truth, wrong=30)
    found = iso.NodeClassifier().fit(graph, labels).doubtful_seeds(25)
    lines = str(found).splitlines()
    assert lines[0] == found.title
    assert lines[2].split() == ["seed", "label", "guess", "confidence", "doubt"]
    assert lines[3].split()[:3] == [str(found[name][0]) for name in ("seed", "label", "guess")]
    assert lines[-1] == "and 5 more"
    assert found._repr_html_().count("<tr>") == 21
    with pytest.raises(KeyError, match="share"):
        found["share"]


def test_what_cannot_be_judged_is_refused() -> None:
    graph, truth = blocks()
    labels, _ = flipped(truth)
    with pytest.raises(ValueError, match="doubtful seeds need hidden seeds, but calibration=None"):
        iso.DirichletClassifier(calibration=None).fit(graph, labels).doubtful_seeds()
    with pytest.raises(ValueError, match="one label each"):
        iso.NodeClassifier().fit(graph, {0: {"a", "b"}, 1: {"b"}, 2: {"a"}}).doubtful_seeds()
    clf = iso.NodeClassifier().fit(graph, labels)
    with pytest.raises(ValueError, match="k=0, but it must be at least 1"):
        clf.doubtful_seeds(0)
    with pytest.raises(TypeError, match=r"k=1\.5, but it must be an integer"):
        clf.doubtful_seeds(1.5)  # type: ignore[arg-type]
