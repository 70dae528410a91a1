"""The certificate against dense solves: the error never exceeds the bound, and the bound is of use."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import Problem, harmonic, problems

import isotherm as iso
from isotherm.choices import RuleName, SideName
from isotherm.equilibrium.certificate import certify
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem as Stated
from isotherm.equilibrium.problem import solve
from isotherm.labelling.certification import certain_codes
from isotherm.labelling.rules import RULES
from isotherm.paper.block_model import stochastic_block_model
from isotherm.seeds import Seeds

TOLERANCES = st.sampled_from([0.5, 0.1, 1e-2, 1e-4])


def exact_temperatures(problem: Problem, side: str) -> np.ndarray:
    graph, n = problem.graph, problem.graph.n_nodes
    if not graph.directed:
        return harmonic(graph.heat.to_scipy(), problem.nodes, problem.values)
    both = side == "both"
    nodes = np.concatenate([problem.nodes, problem.nodes + n]) if both else problem.nodes
    values = np.concatenate([problem.values] * (1 + both))
    copies = harmonic(graph.heat.to_scipy(), nodes, values)
    if not both:
        return copies[:n]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(np.stack([copies[:n], copies[n:]]), axis=0)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.filterwarnings("ignore::isotherm.ConvergenceWarning")
@given(
    problems(),
    TOLERANCES,
    st.sampled_from(["cg", "elimination", "sweeps", "direct", "auto"]),
    st.sampled_from(["both", "source"]),
)
@settings(max_examples=300)
def test_the_error_is_within_its_bound(problem: Problem, tol: float, solver: str, side: str) -> None:
    """And every certified label is that of exact equilibrium, by each rule."""
    exact = exact_temperatures(problem, side)
    stated = Stated.of(problem.graph, problem.nodes, problem.values, side=side)
    rough = solve(stated, SolveOptions(solver="sweeps", tol=tol, max_iter=100)).temperatures
    certificate = certify(stated, rough, SolveOptions(solver=solver, tol=tol))
    reached = ~np.isnan(exact[:, 0])
    np.testing.assert_array_equal(np.isnan(certificate.temperatures[:, 0]), ~reached)
    bound = certificate.times[:, None] * certificate.residual
    error = np.abs(certificate.temperatures - exact)
    assert (error[reached] <= bound[reached] + 1e-15).all()
    seeds = Seeds(problem.nodes, problem.codes, np.arange(problem.values.shape[1]))
    for rule in RULES.values():
        codes = certain_codes(certificate, rule, seeds)
        sure = codes >= 0
        scores = rule.scores(exact, seeds)
        best = scores.max(axis=1, where=reached[:, None], initial=-np.inf)
        assert (codes[~reached] == -1).all()
        assert (scores[sure, codes[sure]] >= best[sure] - 1e-12).all()


@pytest.fixture(scope="module")
def blocks() -> tuple[iso.Graph, np.ndarray]:
    graph = stochastic_block_model([2000] * 5, 0.008, 0.001, 0)
    truth = np.repeat(np.arange(5), 2000)
    labels = np.full(graph.n_nodes, -1)
    seeds = np.random.default_rng(0).choice(graph.n_nodes, 100, replace=False)
    labels[seeds] = truth[seeds]
    return graph, labels


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize("rule", RULES)
def test_most_labels_are_certified(blocks: tuple[iso.Graph, np.ndarray], rule: RuleName) -> None:
    clf = iso.DirichletClassifier(rule=rule).fit(*blocks)
    exact = iso.DirichletClassifier(rule=rule, tol=1e-10).fit(*blocks)
    assert clf.certified_[clf.reached_].mean() > 0.95
    np.testing.assert_array_equal(clf.labels_[clf.certified_], exact.labels_[clf.certified_])
    assert not clf.certified_[~clf.reached_].any()


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize("side", ["both", "source"])
def test_labels_of_a_directed_graph_are_certified(blocks: tuple[iso.Graph, np.ndarray], side: SideName) -> None:
    undirected, labels = blocks
    graph = iso.Graph.from_scipy(undirected.adjacency, directed=True)
    clf = iso.DirichletClassifier(rule="centered", side=side).fit(graph, labels)
    exact = iso.DirichletClassifier(rule="centered", side=side, tol=1e-10).fit(graph, labels)
    assert clf.certified_[clf.reached_].mean() > 0.9
    np.testing.assert_array_equal(clf.labels_[clf.certified_], exact.labels_[clf.certified_])


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
def test_stop_by_labels(blocks: tuple[iso.Graph, np.ndarray]) -> None:
    exact = iso.DirichletClassifier(rule="centered", solver="cg", tol=1e-8).fit(*blocks)
    for share in (0.2, 0.01):
        clf = iso.DirichletClassifier(rule="centered", solver="cg", stop="labels", open_share=share).fit(*blocks)
        assert np.mean(~clf.certified_[clf.reached_]) <= share
        np.testing.assert_array_equal(clf.labels_[clf.certified_], exact.labels_[clf.certified_])
        assert clf.n_iter_ < exact.n_iter_
        assert clf.solution_.error_bound < np.inf


def test_ties_are_never_certified() -> None:
    square = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    with pytest.warns(iso.ConvergenceWarning, match="50.0% of the labels are not certified"):
        clf = iso.DirichletClassifier(stop="labels").fit(square, {0: "a", 2: "b"})
    assert clf.certified_.tolist() == [True, False, True, False]
