"""Hidden labels, found again: scores against those of scikit-learn."""

from typing import get_args

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_recall_fscore_support

import isotherm as iso
from isotherm.choices import RuleName
from isotherm.labelling.rules import RULES
from isotherm.node_classifier import RULE_NAMES
from isotherm.probability.evidence import EvidenceWarning
from isotherm.seeds.encoding import encode_labels
from isotherm.seeds.hiding import sample
from isotherm.study.comparison import compare
from isotherm.study.datasets import karate_club
from isotherm.study.evaluation import evaluate
from isotherm.study.scores import class_scores


def test_scores_are_those_of_scikit_learn() -> None:
    club = karate_club()
    found = evaluate(club.graph, club.labels, fraction=0.2, policy="balanced", runs=3, random_state=5)
    codes, classes = encode_labels(club.labels)
    for rule in get_args(RuleName):
        total = np.zeros((2, 2))
        for run in range(3):
            seeds = sample("balanced", codes, 0.2, np.random.default_rng([5, run]))
            known = {club.graph.nodes[i]: club.labels[i] for i in seeds}
            guess = np.delete(iso.DirichletClassifier(rule=rule).fit(club.graph, known).labels_, seeds)
            truth = np.delete(club.labels, seeds)
            scores = found.rules[rule]
            assert scores.accuracy[run] == pytest.approx(accuracy_score(truth, guess))
            assert scores.macro_f1[run] == pytest.approx(f1_score(truth, guess, average="macro"))
            assert scores.micro_f1[run] == pytest.approx(f1_score(truth, guess, average="micro"))
            total += confusion_matrix(truth, guess, labels=classes)
        np.testing.assert_array_equal(found.rules[rule].confusion.toarray()[:, :2], total)
    assert found.seeds.tolist() == [7, 7, 7]
    assert found.hidden.tolist() == [27, 27, 27]
    assert found.unreached.tolist() == [0, 0, 0]


def test_class_scores_are_those_of_scikit_learn() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, 4, (2, 200))
    confusion = np.pad(confusion_matrix(truth, guess), ((0, 0), (0, 1)))
    theirs = precision_recall_fscore_support(truth, guess)[:3]
    np.testing.assert_allclose(class_scores(csr_array(confusion)), np.stack(theirs, axis=1))


def test_unreached_nodes_count_as_wrong() -> None:
    graph = iso.Graph.from_edges([0, 1, 2, 10], [1, 2, 3, 11])
    found = evaluate(
        graph, {0: "a", 1: "a", 2: "b", 3: "b", 10: "a", 11: "b"}, fraction=0.34, policy="balanced", runs=20
    )
    for scores in found.rules.values():
        assert (scores.accuracy <= 1 - found.unreached / found.hidden).all()
    assert set(found.unreached.tolist()) == {0, 2, 4}
    assert found.best in RULE_NAMES


def test_with_too_many_classes_to_keep_their_temperatures_the_scores_are_the_same() -> None:
    rng = np.random.default_rng(3)
    graph = iso.Graph.from_edges(*rng.integers(0, 300, (2, 900)), nodes=range(300))
    labels = rng.integers(0, 40, 300)
    kept = evaluate(graph, labels, fraction=0.5, runs=2, solver="direct")
    with pytest.warns(EvidenceWarning, match="labels go by heat alone"):
        streamed = evaluate(graph, labels, fraction=0.5, runs=2, solver="direct", max_memory=1000)
    assert {*streamed.rules} == {*RULES}
    for rule in RULES:
        difference = kept.rules[rule].confusion - streamed.rules[rule].confusion
        assert abs(difference).sum() == 0
    assert kept.unreached.tolist() == streamed.unreached.tolist()


def test_bad_draws_are_explained() -> None:
    club = karate_club()
    for study in (evaluate, compare):
        with pytest.raises(ValueError, match="runs=0, but it must be a whole number of at least 1"):
            study(club.graph, club.labels, runs=0)
    with pytest.raises(ValueError, match="a draw of 1 seed has only one class of 2: raise fraction"):
        evaluate(club.graph, club.labels, fraction=0.01)
    with pytest.raises(ValueError, match="no label is hidden to compare with"):
        evaluate(club.graph, club.labels, fraction=1.0)
