"""Experts, against scikit-learn, dense algebra, and graphs on which it is clear what they should say."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import normalize

import isotherm as iso
from isotherm.arrays import Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.equilibrium.options import SolveOptions
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts import EXPERTS, STRUCTURAL, Knowledge, Question, regression, scaling, spectral
from isotherm.probability.experts.diffusion import DiffusedFeatures
from isotherm.probability.experts.expert import GivenProbabilities, links, mean_weight
from isotherm.probability.experts.majority import Majority
from isotherm.probability.experts.regression import MeanFeatures, Path, Regression, axes_of_rows
from isotherm.probability.experts.scaling import left_out_errors, scaled_rows, scales
from isotherm.probability.experts.spectral import REGULARISATION, Structure, spectral_features
from isotherm.seeds import Seeds

NONE = np.empty(0, np.int64)
C = 20.0
diffusion, majority = (import_module(f"isotherm.probability.experts.{name}") for name in ("diffusion", "majority"))


def averaging(graph: iso.Graph) -> csr_array:
    return Averaging(links(graph), dtype=np.float64).to_scipy()


def convolving(graph: iso.Graph) -> csr_array:
    csr = links(graph)
    return Averaging.convolution(csr, mean_weight(csr), dtype=np.float64).to_scipy()


def unit_rows(features: Any) -> Any:
    return scaled_rows(features, seeds_of(np.arange(2), np.arange(2), 2))


def seeds_of(nodes: Ints, codes: Ints, n_classes: int = 3) -> Seeds:
    return Seeds(nodes, codes, np.arange(n_classes))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("products", [0, 4000])
@pytest.mark.parametrize(("make", "hops"), [(averaging, (0, 1, 2)), (convolving, (2,))])
def test_regression_is_that_of_scikit_learn_on_averaged_features(
    world: Any,
    sparse: bool,
    wide: bool,
    products: int,
    make: Callable[[iso.Graph], csr_array],
    hops: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regression, "MOST_PRODUCTS", products)
    graph, truth, features, _ = world
    rng = np.random.default_rng(1)
    table = features @ rng.normal(size=(12, 80)) if wide else features
    rows = unit_rows(csr_array(table) if sparse else table)
    dense = rows.toarray() if sparse else rows
    average = make(graph)
    means = [np.linalg.matrix_power(average.toarray(), hop) @ dense for hop in hops]
    model = MeanFeatures(rows, average, hops)
    scales = [model.scales[hop] if hop else np.ones(graph.n_nodes) for hop in hops]
    for mean, scale in zip(means, scales, strict=True):
        length = np.linalg.norm(mean, axis=1)
        np.testing.assert_allclose((length * scale)[length > 0], 1, atol=0.4)  # about five standard errors
    whole = np.hstack([mean * scale[:, None] for mean, scale in zip(means, scales, strict=True)])
    nodes = np.arange(0, 240, 3)
    seeds = seeds_of(nodes, truth[nodes])
    expert = Regression(model, seeds, [C])
    for visible in (np.arange(len(nodes)), np.arange(0, len(nodes), 2)):
        codes = truth[nodes][visible]
        theirs = LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(whole[nodes][visible], codes)
        shares = seeds.smoothed_shares / (np.bincount(codes) / len(codes))  # of all seeds instead of the visible ones
        ours = expert.logits(Question(seeds, visible, NONE))
        np.testing.assert_allclose(
            softmax(ours, axis=1), normalize(theirs.predict_proba(whole) * shares, "l1"), atol=0.005
        )
        some = expert.logits(Question(seeds, visible, NONE, hidden=np.array([5, 7])))
        np.testing.assert_allclose(some, ours[nodes[[5, 7]]], atol=1e-4)
    values = rng.normal(size=(graph.n_nodes, 4))
    np.testing.assert_allclose(model.adjoint(values), whole.T @ values, atol=1e-8)


def test_averages_over_neighbours_by_hand() -> None:
    path = iso.Graph.from_edges([0, 1], [1, 2], weight=[1, 3])
    np.testing.assert_allclose(averaging(path).toarray(), np.array([[0, 4, 0], [1, 0, 3], [0, 4, 0]]) / 4)
    looped = np.array([[2, 1, 0], [1, 2, 3], [0, 3, 2]]) / np.sqrt(np.outer([3, 6, 5], [3, 6, 5]))
    np.testing.assert_allclose(convolving(path).toarray(), looped)  # a loop weighs as much as the mean edge
    np.testing.assert_array_equal(convolving(iso.Graph.from_scipy(csr_array((2, 2)))).toarray(), np.eye(2))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_diffusion_is_the_sum_over_walks(world: Any, sparse: bool, weighted: bool) -> None:
    graph, _, features, _ = world
    rng = np.random.default_rng(2)
    if weighted:
        factors = rng.uniform(0.5, 2, size=graph.n_nodes)
        graph = iso.Graph.from_scipy(csr_array(graph.adjacency.toarray() * np.outer(factors, factors)))
    rows = unit_rows(csr_array(np.maximum(features, 0)) if sparse else features)
    dense = rows.toarray() if sparse else rows
    step, walks = convolving(graph).toarray(), np.zeros((graph.n_nodes, graph.n_nodes))
    for hop in range(diffusion.STEPS + 1):
        walks += 0.9**hop * np.linalg.matrix_power(step, hop)
    csr = links(graph)
    model = DiffusedFeatures(rows, Averaging.convolution(csr, mean_weight(csr)).times(diffusion.CONTINUE))
    lengths = np.linalg.norm(walks @ dense, axis=1)
    np.testing.assert_allclose((lengths * model.scale)[lengths > 0], 1, atol=0.4)
    whole = walks @ dense * model.scale[:, None]
    for nodes in (np.array([3, 200, 77]), np.arange(0, 240, 3)):  # fewer and more than there are columns
        np.testing.assert_allclose(model.at(nodes), whole[nodes], atol=1e-4)
    weights = rng.normal(size=(dense.shape[1], 20))
    np.testing.assert_allclose(model.logits(weights), whole @ weights, atol=1e-3)
    values = rng.normal(size=(graph.n_nodes, 5))
    np.testing.assert_allclose(model.adjoint(values), whole.T @ values, atol=1e-3)


def test_a_path_of_penalties_is_that_of_scikit_learn(world: Any) -> None:
    _, truth, features, _ = world
    rows, codes = np.asarray(features[:240:4], np.float64), truth[:240:4] % 2
    path = Path(axes_of_rows(rows), codes, 2)
    fits = [path.fit(c) for c in (100.0, 1.0, 0.01)]
    for c, found in zip((100.0, 1.0, 0.01), fits, strict=True):
        theirs = LogisticRegression(C=2 * c, tol=1e-10, max_iter=5000).fit(rows, codes)  # one column for two classes
        ours = np.diff(rows @ found.weights + found.bias, axis=1).ravel()
        np.testing.assert_allclose(ours, theirs.decision_function(rows), atol=2e-3)
    mean = path.mean((100.0, 1.0, 0.01), np.array([0.25, 0.75, 0.0]))
    np.testing.assert_allclose(mean.weights, 0.25 * fits[0].weights + 0.75 * fits[1].weights, atol=1e-12)


def test_the_seeds_that_teach_do_not_depend_on_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """All nodes of a ring look alike, so features tell them apart."""
    monkeypatch.setattr("isotherm.probability.experts.expert.MOST_TAUGHT", 40)
    rng, n, chosen = np.random.default_rng(3), 200, []
    rows, codes = rng.normal(size=(n, 5)), np.repeat([0, 1, 2, 3], [150, 40, 7, 3])
    for places in (np.arange(n), rng.permutation(n)):
        graph, old = iso.Graph.from_edges(places, np.roll(places, 1), nodes=range(n)), np.argsort(places)
        seeds = Seeds.from_labels(codes[old], graph)
        taught = Knowledge(Evidence(rows[old]), graph, seeds, SolveOptions()).taught
        assert np.bincount(seeds.codes[taught]).tolist() == [30, 10, 7, 3]
        chosen.append(sorted(old[seeds.nodes[taught]].tolist()))
    assert chosen[0] == chosen[1]


def test_all_seeds_teach_the_last_regression_of_few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, nodes, some = np.random.default_rng(4), np.arange(300), np.arange(0, 300, 7)
    codes = nodes % 3
    rows = rng.normal(size=(300, 4)) + np.eye(3, 4)[codes]
    seeds = seeds_of(nodes, codes)

    def against(taught: Ints, visible: Ints) -> None:
        expert = Regression(MeanFeatures(rows), seeds, [C], pool=some)
        theirs = LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(rows[taught], codes[taught])
        shares = seeds.smoothed_shares / (np.bincount(codes[taught]) / len(taught))
        found = softmax(expert.logits(Question(seeds, visible, NONE)), axis=1)
        np.testing.assert_allclose(found, normalize(theirs.predict_proba(rows) * shares, "l1"), atol=1e-4)

    against(nodes, nodes)
    against(np.setdiff1d(some, [some[3], 5]), np.setdiff1d(nodes, [some[3], 5]))  # where seeds are hidden
    monkeypatch.setattr(regression, "MOST_NUMBERS", 1199)
    against(some, nodes)


def thirds(seeds: Seeds, folds: Ints) -> list[Question]:
    """What is asked when the seeds of each fold are hidden."""
    return [Question(seeds, np.flatnonzero(folds != f), NONE, np.flatnonzero(folds == f)) for f in range(3)]


def test_penalties_that_are_too_weak_to_count_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels at random: weak penalties make absurd log-odds, and what is left is as if all had been tried."""
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(240) % 2)
    seeds, rows = seeds_of(np.arange(240), codes, 2), rng.normal(size=(240, 60))
    blends = []
    for limit in (regression.HOPELESS, np.inf):
        monkeypatch.setattr(regression, "HOPELESS", limit)
        expert = Regression(MeanFeatures(rows), seeds)
        found = expert.likelihoods(thirds(seeds, np.arange(240) % 3))
        blends.append(expert.blend(np.dstack(found)))
        assert np.isneginf(found[0][0]).all() == np.isfinite(limit)
    np.testing.assert_allclose(blends[0], blends[1], atol=1e-6)


@pytest.mark.parametrize(
    ("by_penalty", "tried"),
    [([0, 0, -99, -40], 2), ([-20, -45, -50, -60], 4), ([-3, -2, -41, -10], 4)],
    ids=["falls", "rises without slopes", "falls a little"],
)
def test_weak_penalties_are_tried_while_they_may_count(
    monkeypatch: pytest.MonkeyPatch, by_penalty: list[int], tried: int
) -> None:
    """Log-likelihoods for each seed, with slope 1; with larger slopes, strong penalties do better."""
    asked = set()

    def likelihood(self: Regression, question: Question, penalty: int) -> Any:
        asked.add(penalty)
        more = np.array([0, 10, 30]) if penalty == 2 else np.zeros(3)
        return np.repeat((by_penalty[penalty] + more)[:, None], 3, axis=1)

    monkeypatch.setattr(Regression, "_likelihood", likelihood)
    seeds = seeds_of(np.arange(9), np.arange(9) % 3, 3)
    Regression(MeanFeatures(np.eye(9)), seeds).likelihoods(thirds(seeds, np.arange(9) // 3))
    assert len(asked) == tried


def test_hidden_seeds_choose_the_penalty() -> None:
    """Columns of noise need a strong penalty, one clear column a weak one."""
    rng, blends = np.random.default_rng(0), []
    codes, places = np.arange(120) % 2, np.arange(120)
    seeds = seeds_of(places, codes, 2)
    for noise, columns in ((0.01, 1), (6.0, 40)):
        rows = noise * rng.normal(size=(120, columns)) + (2.0 * codes - 1)[:, None] * (np.arange(columns) == 0)
        expert = Regression(MeanFeatures(rows), seeds)
        found = expert.likelihoods(thirds(seeds, places % 3))
        blends.append(expert.blend(np.dstack(found)))
        np.testing.assert_allclose(expert.blend(found[0][..., :0]), expert.prior * np.mean(regression.SLOPES, axis=1))
    assert blends[0][0] > 0.7 > 0.1 > blends[1][0]


def test_classes_with_fewer_visible_seeds_are_not_less_probable() -> None:
    """Hidden seeds are of classes with fewer visible ones: columns that say nothing must not point elsewhere."""
    codes = np.repeat([0, 1], 20)
    seeds = seeds_of(np.arange(40), codes, 2)
    visible = np.flatnonzero(np.arange(40) % 20 >= np.where(codes == 0, 10, 2))
    expert = Regression(MeanFeatures(np.zeros((40, 3))), seeds)
    found = expert.logits(Question(seeds, visible, NONE, hidden=np.arange(10)))
    np.testing.assert_allclose(softmax(found, axis=1), 0.5)


def test_strong_penalties_that_order_classes_best_are_not_held_back_by_small_odds() -> None:
    """Many noisy columns and few seeds: a strong penalty finds most hidden seeds, if its log-odds are scaled up."""
    rng, n_classes = np.random.default_rng(5), 12
    codes, places = np.arange(60) % n_classes, np.arange(60)
    rows = 0.25 * rng.normal(size=(60, 48)) + np.eye(n_classes)[codes] @ rng.normal(size=(n_classes, 48)) / 7
    seeds = seeds_of(places, codes, n_classes)
    expert = Regression(MeanFeatures(rows), seeds)
    found = expert.likelihoods(thirds(seeds, places // n_classes % 3))
    by_slope = np.dstack(found).mean(axis=2)
    assert by_slope[3].max() > by_slope[3, 0] + 0.1
    assert expert.blend(np.dstack(found)).sum() > 1


@pytest.mark.parametrize("columns", [3, 30])
def test_errors_of_seeds_that_are_left_out_are_those_of_as_many_regressions(columns: int) -> None:
    rng = np.random.default_rng(3)
    rows, codes = rng.normal(size=(20, columns)), np.arange(20) % 3
    targets = np.eye(3)[codes]
    found = []
    total = ((rows - rows.mean(axis=0)) ** 2).sum()
    for penalty in scaling.PENALTIES * total / len(rows):
        errors = []
        for one in range(20):
            others = np.arange(20) != one
            model = Ridge(alpha=penalty).fit(rows[others], targets[others])
            errors.append(((targets[one] - model.predict(rows[one : one + 1])[0]) ** 2).sum())
        found.append(errors)
    np.testing.assert_allclose(left_out_errors(rows, codes), min(found, key=sum), rtol=1e-8)


def test_seeds_choose_the_scale_of_dense_features() -> None:
    """Columns in different units are standardised. Those of an embedding, where short ones are noise, are not."""
    rng = np.random.default_rng(4)
    codes = np.arange(60) % 2
    seeds = seeds_of(np.arange(60), codes, 2)
    embedding = 0.05 * rng.normal(size=(80, 40)) + np.eye(40)[0] * (np.arange(80) % 2 - 0.5)[:, None]
    found = scaled_rows(embedding, seeds)
    np.testing.assert_allclose(found[0] / embedding[0], found[0, 0] / embedding[0, 0])
    units = rng.normal(size=(80, 4)) * [1e6, 1e6, 1e6, 1]
    units[:, 3] += 3 * (np.arange(80) % 2)
    found = scaled_rows(units, seeds)
    assert np.abs(found[:, 3]).mean() > 0.1
    np.testing.assert_allclose([np.mean((scale.apply(units) ** 2).sum(axis=1)) for scale in scales(units)], 1)
    blank = np.vstack([units, np.zeros((1, 4))])
    assert all(not scale.apply(blank)[-1].any() for scale in scales(blank))


def test_a_class_without_a_seed_is_impossible(world: Any) -> None:
    _, truth, features, _ = world
    nodes = np.arange(120, 240)
    seeds = seeds_of(nodes, truth[nodes])
    expert = Regression(MeanFeatures(unit_rows(features)), seeds)
    assert np.isneginf(expert.logits(Question(seeds, np.arange(120), NONE))[:, 0]).all()
    one = expert.logits(Question(seeds, np.arange(5), NONE))
    np.testing.assert_array_equal(softmax(one, axis=1), np.tile([0.0, 1.0, 0.0], (242, 1)))
    few = expert.logits(Question(seeds, np.arange(5), NONE, hidden=np.array([7, 100])))
    np.testing.assert_array_equal(softmax(few, axis=1), np.tile([0.0, 1.0, 0.0], (2, 1)))


def test_experts_that_apply_to_the_evidence(world: Any) -> None:
    graph, _, features, known = world
    nodes = np.flatnonzero(known >= 0)
    seeds, opinion = seeds_of(nodes, known[nodes]), np.full((242, 3), 1 / 3)

    def names(evidence: Evidence) -> set[str]:
        knowledge = Knowledge(evidence, graph, seeds, SolveOptions(), evidence.features)
        return {name for name, make in EXPERTS.items() if make(knowledge) is not None}

    assert names(Evidence()) == set()
    assert names(Evidence(features)) == {"features", "neighbours", "convolution", "diffusion"}
    assert names(Evidence(features, clustered=True)) == {"features", "neighbours", "majority"}
    assert names(Evidence(structure=Structure(graph))) == {"spectrum", "degree"} < STRUCTURAL
    assert names(Evidence(opinion=opinion)) == {"evidence"}


def test_given_probabilities_are_scaled_to_sum_to_one() -> None:
    seeds = seeds_of(np.array([0, 2]), np.array([0, 1]), 2)
    expert = GivenProbabilities(np.array([[2.0, 6], [np.nan, np.nan], [0, 1], [0.5, 0.5]]))
    everyone = np.exp(expert.logits(Question(seeds, np.arange(2), NONE)))
    wanted = np.array([[0.25, 0.75], [np.nan, np.nan], [0, 1], [0.5, 0.5]])
    np.testing.assert_allclose(everyone, wanted, atol=1e-8)
    hidden = np.exp(expert.logits(Question(seeds, np.array([0]), NONE, hidden=np.array([1]))))
    np.testing.assert_allclose(hidden, [[0, 1]], atol=1e-8)


def test_the_spectrum_is_that_of_a_dense_solver() -> None:
    graph = stochastic_block_model([100, 100, 100], 0.3, 0.02, 0)
    matrix = graph.adjacency.toarray()
    degrees = matrix.sum(axis=1)
    roots = np.sqrt(degrees + REGULARISATION * degrees.mean())
    values, vectors = np.linalg.eigh(matrix / np.outer(roots, roots))
    found = spectral_features(graph, SolveOptions(), 1)[:, :2]
    wanted = vectors[:, -3:-1] / roots[:, None] * values[-3:-1]
    own, theirs = (each @ np.linalg.pinv(each) for each in (found, wanted))  # projections on the two spaces
    np.testing.assert_allclose(own, theirs, atol=1e-3)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_spectrum_that_was_started_is_the_same(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    graph, options = stochastic_block_model([300, 300], 0.05, 0.005, 0), SolveOptions(threads=threads)
    monkeypatch.setattr(spectral, "FEWEST_NODES", 600)
    alone, started = Structure(graph), Structure(graph)
    started.start(options)
    assert (started._started is None) == (threads == 1)
    for one, other in zip(alone.features(options), started.features(options), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_what_fails_in_a_thread_is_raised_by_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(spectral, "FEWEST_NODES", 0)
    monkeypatch.setattr(spectral, "spectral_features", fails)
    structure, options = Structure(iso.Graph.from_edges([0], [1])), SolveOptions(threads=2)
    structure.start(options)
    with pytest.raises(MemoryError):
        structure.features(options)


def test_the_spectrum_of_a_graph_with_fewer_nodes_than_columns() -> None:
    found = spectral_features(iso.Graph.from_edges([0, 1, 2], [1, 2, 3]), SolveOptions())
    assert np.isfinite(found).all()
    assert len(found) == 4


def test_the_majority_undoes_a_leak() -> None:
    """With one seed for each of six clusters, heat crosses the gaps; a node has most neighbours in its own cluster."""
    right = []
    for draw in range(4):
        X, truth = make_blobs(800, 8, centers=6, cluster_std=2.25, center_box=(-5, 5), random_state=draw)
        graph = iso.Graph.from_vectors(X)
        nodes = np.array([np.flatnonzero(truth == cluster)[0] for cluster in range(6)])
        heat = iso.DirichletClassifier(rule="relative").fit(graph, dict(zip(nodes, truth[nodes], strict=True)))
        question = Question(heat.seeds_, np.arange(6), heat.labels_)
        found = Majority(Averaging(links(graph))).logits(question)
        right.append([np.mean(labels == truth) for labels in (found.argmax(axis=1), heat.labels_)])
    by_majority, by_heat = np.mean(right, axis=0)
    assert by_majority > by_heat + 0.01


@pytest.mark.parametrize("n_classes", [3, 20])
def test_the_majority_is_threshold_dynamics(world: Any, n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds, against dense algebra: also with more classes than fit a block, and with unreached nodes."""
    monkeypatch.setattr(majority, "ROUNDS", 2)
    graph, _, _, known = world
    nodes = np.flatnonzero(known >= 0)
    rng = np.random.default_rng(0)
    labels = np.append(rng.integers(0, n_classes, 240), [-1, -1])
    codes = rng.integers(0, n_classes, len(nodes))
    seeds = seeds_of(nodes, codes, n_classes)
    expert = Majority(Averaging(links(graph)))
    found = expert.logits(Question(seeds, np.arange(len(nodes)), labels))
    walk = averaging(graph).toarray()
    stay = np.union1d(nodes, np.flatnonzero(walk.sum(axis=1) == 0))
    walk[stay] = np.eye(242)[stay]
    expected = labels.copy()
    for _ in range(2):
        expected[nodes] = codes
        average = np.linalg.matrix_power(walk, majority.STEPS)[:, :240] @ np.eye(n_classes)[expected[:240]]
        expected = (average / average[:240].mean(axis=0)).argmax(axis=1)
    smoothed = average + majority.SMOOTHING
    np.testing.assert_allclose(
        softmax(found[:240], axis=1), (smoothed / smoothed.sum(axis=1, keepdims=True))[:240], atol=1e-5
    )
    assert np.isnan(found[240:]).all()
    some = expert.logits(Question(seeds, np.arange(2, len(nodes)), labels, hidden=np.array([0, 1])))
    assert some.shape == (2, n_classes)
    assert np.isfinite(some).all()


def communities(unit: float) -> iso.Graph:
    """A graph of 600 nodes in three communities, with weights in some unit."""
    rng = np.random.default_rng(0)
    ends = rng.integers(600, size=(2, 10 * 600))
    alike = ends[0] % 3 == ends[1] % 3
    source, target = ends[:, (alike | (rng.random(10 * 600) < 0.2)) & (ends[0] != ends[1])]
    return iso.Graph.from_edges(source, target, unit * rng.lognormal(size=len(source)), nodes=range(600))


def evidence_of(kind: str) -> Evidence | Literal["spectral"]:
    features = np.random.default_rng(1).normal(size=(600, 5)) + np.eye(3, 5)[np.arange(600) % 3]
    return "spectral" if kind == "structure" else Evidence(features, clustered=kind == "table")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e30, 1e290])
@pytest.mark.parametrize("kind", ["structure", "features", "table"])
def test_the_unit_of_weights_changes_nothing(kind: str, unit: float) -> None:
    seeds = {node: node % 3 for node in range(60)}
    usual, other = (
        iso.NodeClassifier().fit(communities(each), seeds, evidence=evidence_of(kind)) for each in (1.0, unit)
    )
    assert other.experts_ == pytest.approx(usual.experts_, abs=0.01)
    np.testing.assert_allclose(other.predict_proba(), usual.predict_proba(), atol=0.01)


def test_rounding_errors_do_not_choose_the_scale_of_features() -> None:
    """With one seed of each of two classes, no scale is better than another."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        features, seeds = rng.normal(size=(30, 6)), seeds_of(rng.permutation(30)[:2], np.arange(2), 2)
        np.testing.assert_array_equal(scaled_rows(features, seeds), scales(features)[0].apply(features))


def test_the_scale_of_features_does_not_depend_on_the_order_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where only some of the seeds choose it."""
    monkeypatch.setattr(scaling, "MOST_SEEDS", 10)
    rng, chosen = np.random.default_rng(3), []
    for _ in range(20):
        codes = rng.integers(0, 2, 60)
        features = (rng.random((60, 12)) < 0.5) * rng.uniform(0.1, 5, 12) + 0.4 * codes[:, None] * np.eye(12)[0]
        order = rng.permutation(60)
        found = scaled_rows(features, seeds_of(np.arange(60), codes, 2))
        moved = scaled_rows(features[order], seeds_of(np.arange(60), codes[order], 2))
        np.testing.assert_allclose(moved, found[order], atol=1e-12)
        chosen.append([np.allclose(found, scale.apply(features)) for scale in scales(features)].index(True))
    assert len(set(chosen)) > 1  # the seeds that choose matter here


def test_diffused_features_of_small_graphs_do_not_depend_on_the_order_of_nodes(world: Any) -> None:
    """They are in double precision; the single one gave probabilities that differed by 0.00001."""
    graph, _, features, _ = world
    order = np.random.default_rng(0).permutation(graph.n_nodes)
    moved = iso.Graph.from_scipy(graph.adjacency[order][:, order])
    found = []
    for some, rows, nodes in ((graph, features, order[:5]), (moved, features[order], np.arange(5))):
        seeds = seeds_of(nodes, np.array([0, 0, 1, 1, 1]), 2)
        knowledge = Knowledge(Evidence(rows), some, seeds, SolveOptions(), unit_rows(rows))
        found.append(diffusion.diffusion(knowledge).map.at(nodes))
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)
