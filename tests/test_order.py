"""Labels do not depend on the order of lines, the numbering of nodes, the names of classes, or repeated lines."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from commands import command
from numpy.typing import NDArray
from scipy.sparse import csr_array
from tools.fuzz import order

import isotherm as iso
from isotherm.choices import RuleName, SolverName
from isotherm.paper.block_model import stochastic_block_model


@pytest.mark.parametrize(("seed", "number"), [*((1, number) for number in range(25)), (0, 170)])
def test_labels_do_not_depend_on_any_order(seed: int, number: int) -> None:
    """In the last case two seeds of a class have the same links, and different features."""
    assert order.case(seed, number) is None


@pytest.mark.parametrize("number", range(4))
def test_labels_do_not_depend_on_any_order_where_nodes_look_alike(number: int) -> None:
    """Some of the nodes show the spread of the evidence. In a ring, all have the same colour; positions chose them."""
    assert order.alike(1, number) is None


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("most", ["calibration.MOST_ENTRIES", "experts.expert.MOST_TAUGHT"])
def test_samples_of_seeds_do_not_depend_on_any_order(most: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"isotherm.probability.{most}", 30)
    monkeypatch.setattr("isotherm.probability.experts.expert.LEAST_TAUGHT", 3)
    assert order.case(2, number) is None


def test_order_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check fails if folds go by the numbers of the nodes."""
    monkeypatch.setattr("isotherm.probability.hidden_seeds.colours_at", lambda graph, nodes: nodes.astype(np.uint64))
    assert any(order.case(1, number) for number in range(5))


@pytest.mark.parametrize("solver", ["auto", "cg", "sweeps"])
def test_rules_on_temperatures_do_not_depend_on_the_numbering(solver: SolverName) -> None:
    graph = stochastic_block_model([60, 60, 60], 0.1, 0.03, 0)
    rng = np.random.default_rng(0)
    places = rng.permutation(180)
    matrix = graph.adjacency[np.argsort(places)][:, np.argsort(places)]
    seeds = {int(node): int(node) // 60 for node in rng.permutation(180)[:30]}
    clf = iso.DirichletClassifier(solver=solver, tol=1e-9).fit(graph, seeds)
    moved = iso.DirichletClassifier(solver=solver, tol=1e-9).fit(
        iso.Graph.from_scipy(matrix), {int(places[node]): label for node, label in seeds.items()}
    )
    np.testing.assert_array_equal(moved.labels_[places], clf.labels_)
    np.testing.assert_allclose(moved.predict_proba()[places], clf.predict_proba(), atol=1e-6)


def test_ties_go_to_the_first_class_however_nodes_are_numbered() -> None:
    """In the middle of a ring of 3 n nodes with seeds a, b at equal distances, only rounding errors decide."""
    n, rng = 40, np.random.default_rng(0)
    for _ in range(5):
        places = rng.permutation(n)
        graph = iso.Graph.from_edges(places, places[(np.arange(n) + 1) % n], nodes=range(n))
        seeds = {int(places[0]): "b", int(places[n // 2]): "a"}
        clf = iso.DirichletClassifier(rule="vanilla", tol=1e-12).fit(graph, seeds)
        assert clf.labels_[places[n // 4]] == clf.labels_[places[3 * n // 4]] == "a"


def test_two_equal_parts_do_not_depend_on_the_order_of_nodes() -> None:
    """Two eigenvalues of the graph are the largest."""
    rng = np.random.default_rng(1)
    part = rng.integers(0, 20, (40, 2))
    seeds = {int(node): "abc"[3 * node // 40] for node in rng.permutation(40)[:9]}
    check_orders(np.concatenate([part, part + 20]), seeds, rng)


@pytest.mark.parametrize("kind", ["many nodes", "along arcs"])
def test_what_is_left_of_errors_is_too_small_to_see(kind: str) -> None:
    """Sampled elimination and walks along arcs have errors that depend on the order of nodes."""
    n, rng = (1500 if kind == "many nodes" else 120), np.random.default_rng(2)
    if kind == "along arcs":
        ends = np.stack([np.repeat(np.arange(n), 3), (np.repeat(np.arange(n), 3) + np.tile([1, 2, 3], n)) % n], axis=1)
    else:
        ends = np.array([(node, int(rng.integers(node) * rng.random() ** 2)) for node in range(1, n) for _ in range(2)])
    weights = 10.0 ** rng.uniform(-2, 2, len(ends))
    seeds = {int(node): "abc"[3 * node // n] for node in rng.permutation(n)[: 8 if kind == "many nodes" else 4]}
    check_orders(ends, seeds, rng, weights, along=kind == "along arcs")


def check_orders(
    ends: NDArray[np.int64],
    seeds: dict[int, str],
    rng: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
    along: bool = False,
) -> None:
    """Check that the order of nodes and edges changes no label, and no probability by more than 0.000001."""
    n, found = int(ends.max()) + 1, []
    for nodes in (np.arange(n), *(rng.permutation(n) for _ in range(4))):
        lines = rng.permutation(len(ends))
        weight = None if weights is None else weights[lines]
        graph = iso.Graph.from_edges(ends[lines, 0], ends[lines, 1], weight, nodes=nodes, directed=along)
        clf = iso.NodeClassifier(side="along" if along else "edges")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(graph, seeds)
            found.append((clf.labels_[np.argsort(nodes)], clf.predict_proba()[np.argsort(nodes)]))
    for labels, chances in found[1:]:
        np.testing.assert_array_equal(labels, found[0][0])
        np.testing.assert_allclose(chances, found[0][1], atol=1e-6, rtol=0)


@pytest.mark.parametrize("rule", ["centered", "relative", "vanilla", "weighted"])
@pytest.mark.parametrize("updated", [False, True])
def test_no_name_of_a_class_decides_where_its_seed_is_alone(rule: RuleName, updated: bool) -> None:
    """Node 3000 has no neighbours. Rounding errors of its class were all that reached others."""
    ends = np.random.default_rng(0).integers(0, 3000, (2, 6000))
    graph = iso.Graph.from_edges(*ends, nodes=range(3001))
    for near, far in (("a", "b"), ("b", "a")):
        clf = iso.DirichletClassifier(rule=rule, solver="direct", tol=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(graph, {0: near, 1: near, 3000: far} | ({} if updated else {2: near}))
            if updated:
                clf.update({2: near})
        assert set(clf.labels_[:3000]) == {near, None}


@pytest.mark.parametrize("n_labels", [3, 25, 90])
def test_sets_of_labels_do_not_depend_on_any_order(n_labels: int) -> None:
    """Beyond 60 labels some are drawn; beyond 16 they are solved for in several blocks."""
    n, rng = 300, np.random.default_rng(n_labels)
    ends = rng.integers(0, n, (4 * n, 2))
    weights = rng.lognormal(size=len(ends))
    seeds = {int(node): rng.choice(n_labels, 2, replace=False) for node in rng.permutation(n)[:120]}
    found = []
    for nodes in (np.arange(n), rng.permutation(n)):
        lines, names = rng.permutation(len(ends)), rng.permutation(n_labels)
        graph = iso.Graph.from_edges(ends[lines, 0], ends[lines, 1], weights[lines], nodes=nodes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = iso.NodeClassifier().fit(graph, {node: names[own].tolist() for node, own in seeds.items()})
            rows, columns = np.ix_(
                np.argsort(nodes), np.searchsorted(clf.classes_, names[np.isin(names, clf.classes_)])
            )
            found.append((csr_array(clf.labels_).toarray()[rows, columns], clf.predict_proba()[rows, columns]))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-6, rtol=0)


def test_the_command_does_not_depend_on_the_order_of_lines(tmp_path: Path) -> None:
    adjacency = stochastic_block_model([50, 50, 50], 0.12, 0.04, 1).adjacency.tocoo()
    once = adjacency.row < adjacency.col
    lines = [f"n{a},n{b}" for a, b in zip(adjacency.row[once], adjacency.col[once], strict=True)]
    rng = np.random.default_rng(2)
    seeds = [f"n{node},c{node // 50}" for node in rng.permutation(150)[:30]]
    found = []
    for number in range(2):
        edges, known, out = (tmp_path / f"{name}{number}.csv" for name in ("edges", "seeds", "out"))
        edges.write_text("source,target\n" + "\n".join(rng.permutation(lines)) + "\n")
        known.write_text("node,label\n" + "\n".join(rng.permutation(seeds)) + "\n")
        assert command("classify", edges, known, "-o", out, folder=tmp_path).status == 0
        found.append(sorted(line.split(",") for line in out.read_text().splitlines()[1:]))
    assert [row[:2] for row in found[0]] == [row[:2] for row in found[1]]
    first, second = (np.array([row[2] for row in rows], float) for rows in found)
    np.testing.assert_allclose(first, second, atol=1e-6)
