"""What each experiment draws: graphs of the right sizes, and the right numbers of seeds."""

import itertools
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from small_data import write_small_data

from isotherm.paper.block_experiments import (
    AS_RUN,
    AS_WRITTEN,
    DEGREES,
    figure2a,
    figure2b,
    figure3a,
    figure3b_model,
    p_settings,
    sbm_model,
)
from isotherm.paper.experiment import AUTHORS, CORRECTED, Draw, Setting
from isotherm.paper.graph_experiments import (
    LEAVING,
    WARMTH,
    by_degree,
    column,
    copies,
    figure4_points,
    largest,
    load_graph,
    one_point,
    run_table4,
    stands_in,
    two_per_class,
    uniform,
)
from isotherm.paper.runner import EXPERIMENTS
from isotherm.paper.scoring import Point
from isotherm.seeds.hiding import sample_balanced


def draw(run: int = 0, case: str = "case") -> Draw:
    return Draw.of(0, "test", case, run)


def seed_counts(points: Iterable[Point]) -> np.ndarray:
    return np.array([np.bincount(p.labels[p.seeds], minlength=p.labels.max() + 1) for p in points])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_data(tmp_path_factory.mktemp("data"))


class TestDraw:
    def test_runs_differ_and_each_is_repeatable(self) -> None:
        first = [draw(run).own().random() for run in range(5)]
        assert len(set(first)) == 5
        assert first == [draw(run).own().random() for run in range(5)]
        assert len({draw(run).shared().random() for run in range(5)}) == 1
        assert draw(0, "a").own().random() != draw(0, "b").own().random()

    def test_streams_are_spawned(self) -> None:
        children = [draw(run).single for run in range(3)]
        assert [child.spawn_key for child in children] == [(1,), (2,), (3,)]
        assert len({str(child.entropy) for child in children}) == 1


class TestBlocks:
    def test_figure2a_authors(self) -> None:
        points = list(figure2a(Setting(AUTHORS, ""), draw(), None))
        counts = seed_counts(points)
        assert [p.x for p in points] == list(range(1, 11))
        assert counts[0].sum() == 1000
        assert len(set(counts[:, 1])) == 1  # block 2 keeps its seeds
        share = counts[:, 0] / 5000
        expected = 1 - (1 - share[0]) * (1 - np.arange(10) / 10)  # one more tenth at each x, some of them seeds already
        np.testing.assert_allclose(share, expected, atol=0.02)
        assert len({id(p.graph) for p in points}) == 1

    def test_figure2a_corrected(self) -> None:
        counts = seed_counts(figure2a(Setting(CORRECTED, ""), draw(), None))
        np.testing.assert_array_equal(counts, [[250 * x, 250] for x in range(1, 11)])

    def test_figure2b(self) -> None:
        for protocol in (AUTHORS, CORRECTED):
            runs = [list(figure2b(Setting(protocol, ""), draw(run), None)) for run in range(2)]
            sizes = np.array([np.bincount(p.labels) for p in runs[0]])
            assert (sizes.sum(axis=1) == 10_000).all()
            np.testing.assert_allclose(sizes[:, 0] / sizes[:, 1], range(1, 11), rtol=0.01)
            np.testing.assert_allclose(seed_counts(runs[0]), sizes / 10, atol=1)
            same = np.array_equal(runs[0][3].graph.csr.indices, runs[1][3].graph.csr.indices)
            assert same == (protocol == AUTHORS)
            assert not np.array_equal(runs[0][3].seeds, runs[1][3].seeds)

    def test_figure3a(self) -> None:
        authors = seed_counts(figure3a(Setting(AUTHORS, AS_RUN), draw(), None))
        assert (authors[:, 1:] == 100).all()
        assert authors[0, 0] == 100
        corrected = seed_counts(figure3a(Setting(CORRECTED, AS_RUN), draw(), None))
        np.testing.assert_array_equal(corrected, [[50 * x, *[50] * 9] for x in range(1, 11)])
        assert [s.case for s in p_settings(AUTHORS, None)] == ["p = 0.005"]
        assert [s.case for s in p_settings(CORRECTED, None)] == ["p = 0.005", "p = 0.05"]

    def test_figure3b_has_one_block_more_in_the_authors_program(self) -> None:
        for x in (1, 10):
            model = figure3b_model(Setting(AUTHORS, AS_RUN), x)
            n = sum(model.sizes)
            assert model.sizes == (1000 * (x + 1), *[1000] * 9)
            assert (model.p, model.q) == (50 / n, 1 / n)
            corrected = figure3b_model(Setting(CORRECTED, AS_WRITTEN), x)
            assert corrected == ((1000 * x, *[1000] * 9), 0.05, 1e-4)

    @pytest.mark.parametrize(("regime", "degree"), [("fixed degree", 10), ("logarithmic degree", 10 * np.log(3162))])
    def test_sbm_has_the_degree_it_says(self, regime: str, degree: float) -> None:
        blocks = sbm_model(DEGREES[regime](3162), 3162)
        sizes = np.array(blocks.sizes)
        mean = (sizes / 3162) @ (sizes * blocks.p + (3162 - sizes) * blocks.q)
        assert mean == pytest.approx(degree, rel=1e-3)
        np.testing.assert_allclose(sizes / 3162, [1 / 2, 1 / 3, 1 / 6], atol=1e-3)


class TestRealGraphs:
    def test_settings_list_what_is_at_hand(self, data: Path) -> None:
        authors = [s.case for s in EXPERIMENTS["table2"].settings(AUTHORS, data)]
        assert authors == ["cora", "citeseer", "wikispeedia", "wikivitals_l3"]
        corrected = [s.case for s in EXPERIMENTS["table2"].settings(CORRECTED, data)]
        assert corrected[2:4] == ["wikispeedia", "wikispeedia, both copies"]
        assert [column(case) for case in corrected] == ["CO", "CS", "WS*", "WS*", "WV*", "WV*"]
        assert stands_in("wikispeedia, both copies") == "wikischools"
        assert stands_in("cora") is None

    def test_directed_graphs_have_labels_on_both_copies_for_the_authors(self, data: Path) -> None:
        graph, labels, side = copies(Setting(AUTHORS, "wikispeedia"), data)
        assert len(labels) == graph.heat.n == 2 * graph.n_nodes
        graph, labels, side = copies(Setting(CORRECTED, "wikispeedia, both copies"), data)
        assert (len(labels), side) == (graph.n_nodes, "both")

    def test_both_protocols_draw_the_same_uniform_seeds(self, data: Path) -> None:
        points = one_point(uniform)
        (a,), (c,) = (points(Setting(protocol, "cora"), draw(), data) for protocol in (AUTHORS, CORRECTED))
        np.testing.assert_array_equal(a.seeds, c.seeds)
        assert len(a.seeds) == 4  # 1 % of 450, rounded

    def test_degree_seeds_are_drawn_among_copies_with_edges(self, data: Path) -> None:
        for run in range(20):
            (point,) = one_point(by_degree)(Setting(AUTHORS, "wikispeedia"), draw(run), data)
            assert len(point.seeds) == 5  # 1 % of 2 x 250
            assert (np.diff(point.graph.heat.indptr)[point.seeds] > 0).all()

    def test_figure4_adds_seeds_of_the_dominant_class_only(self, data: Path) -> None:
        for protocol in (AUTHORS, CORRECTED):
            points = list(figure4_points(Setting(protocol, "cora"), draw(), data))
            counts = seed_counts(points)
            assert (counts[:, 1:] == counts[0, 1:]).all()
            assert (np.diff(counts[:, 0]) >= 0).mean() > 0.8
            if protocol == CORRECTED:
                np.testing.assert_array_equal(counts[:, 0], counts[0, 0] * np.arange(1, 11))
                assert all(np.isin(a.seeds, b.seeds).all() for a, b in itertools.pairwise(points))

    def test_table4_takes_the_largest_communities_even_if_they_are_the_same(self, data: Path) -> None:
        communities = load_graph("dblp", data).communities
        assert communities is not None
        found = largest(communities, 3)
        np.testing.assert_array_equal(found[0], found[1])
        assert [len(c) for c in found] == sorted(map(len, communities), reverse=True)[:3]

    def test_table4_centered_and_relative_are_one_rule(self, data: Path) -> None:
        for protocol in (AUTHORS, CORRECTED):
            scores = {(m.rule, m.measure): m.value for m in run_table4(Setting(protocol, "dblp"), draw(), data)}
            for (rule, measure), value in scores.items():
                assert value >= 0
                if rule == "centered":
                    assert scores["relative", measure] == value

    def test_table4_tells_of_each_community(self, data: Path) -> None:
        """Against counts from the dense adjacency matrix, and a dense solve for the first community."""
        dataset = load_graph("dblp", data)
        assert dataset.communities is not None
        measured = {(m.x, m.measure): m.value for m in run_table4(Setting(CORRECTED, "dblp"), draw(), data)}
        A = dataset.graph.adjacency.toarray()
        for number, members in enumerate(largest(dataset.communities, 3), start=1):
            outside = np.setdiff1d(np.arange(len(A)), members)
            leaving = A[np.ix_(members, outside)].sum() / A[members].sum()
            assert measured[number, LEAVING] == pytest.approx(leaving)
        truth = np.isin(np.arange(len(A)), dataset.communities[0]).astype(np.int64)
        seeds = sample_balanced(truth, 0.01, draw().own())
        inside = np.setdiff1d(np.arange(len(A)), seeds)
        T = truth.astype(float)
        L = np.diag(A.sum(axis=1)) - A
        T[inside] = np.linalg.solve(L[np.ix_(inside, inside)], -L[np.ix_(inside, seeds)] @ truth[seeds])
        assert measured[1, WARMTH] == pytest.approx(T.mean() / truth[seeds].mean(), rel=1e-3)

    def test_many_draws_are_made_on_the_papers_own_graphs(self, data: Path) -> None:
        authors = [s.case for s in EXPERIMENTS["draws"].settings(AUTHORS, data)]
        graphs = ["table2 cora", "table2 citeseer", "table3 cora", "table3 citeseer"]
        assert authors == [*graphs, "table4 dblp", "table4 amazon"]
        assert [s.case for s in EXPERIMENTS["draws"].settings(CORRECTED, data)] == graphs
        whole = EXPERIMENTS["table2"].run(Setting(AUTHORS, "cora"), draw(), data)
        kept = EXPERIMENTS["draws"].run(Setting(AUTHORS, "table2 cora"), draw(), data)
        assert set(kept) == set(whole)

    def test_the_panel_takes_single_label_graphs_and_two_seeds_of_each_class(self, data: Path) -> None:
        names = [s.case for s in EXPERIMENTS["panel"].settings("equilibrium", data)]
        assert names == ["citeseer", "cora", "extra_a", "extra_b", "other", "wikispeedia", "wikivitals_l3"]
        labels = np.repeat([0, 1, 2, 3], [1000, 50, 2, 1])
        labels[:10] = -1
        for run in range(10):
            seeds = two_per_class(labels, draw(run).own())
            counts = np.bincount(labels[seeds], minlength=4)
            assert (counts >= [2, 2, 2, 1]).all()
            assert counts.sum() <= 10 + 2 + 2 + 1
            assert len(np.unique(seeds)) == len(seeds)
