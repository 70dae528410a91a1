"""Labels do not depend on the order of lines, the numbering of nodes, the names of classes, or repeated lines."""

from pathlib import Path

import numpy as np
import pytest
from commands import command
from tools.fuzz import order

import isotherm as iso
from isotherm.choices import SolverName
from isotherm.paper.block_model import stochastic_block_model


@pytest.mark.parametrize(("seed", "number"), [*((1, number) for number in range(25)), (0, 170)])
def test_labels_do_not_depend_on_any_order(seed: int, number: int) -> None:
    """In the last case two seeds of a class have the same links, and different features."""
    assert order.case(seed, number) is None


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
