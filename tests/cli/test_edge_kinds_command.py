"""``--edge-kind``: edges of several kinds in files."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Run, runner
from scipy.sparse import triu

import isotherm as iso
from isotherm.paper.block_model import stochastic_block_model

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.probability.calibration.CalibrationWarning")

CLASSES = np.repeat(["left", "right"], 80)


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


@pytest.fixture
def files(run: Run) -> None:
    """Useful and useless links in one table, some of whose kinds are missing; ids have leading zeros."""
    found = triu(stochastic_block_model([80, 80], 0.08, 0.008, 0).adjacency, 1).tocoo()
    useful, rng = np.stack([found.row, found.col]), np.random.default_rng(0)
    ends = np.concatenate([useful, rng.integers(0, 160, useful.shape)], axis=1)
    kinds = np.repeat(["call", "street"], found.nnz).astype(object)
    kinds[-3:] = [None, "", " street "]
    ids = np.array([f"{node:04d}" for node in range(160)])
    lines = rng.permutation(len(kinds))
    table = pl.DataFrame({"von": ids[ends[0]], "an": ids[ends[1]], "Art": kinds.tolist()})[lines]
    table.write_csv("links.csv")
    table.write_csv("links.tsv", separator="\t")
    table.write_parquet("links.parquet")
    chosen = np.sort(rng.choice(160, 24, replace=False))
    pl.DataFrame({"node": ids[chosen], "label": CLASSES[chosen]}).write_csv("known.csv")


ENDS = ("known.csv", "--source", "von", "--target", "an")
ARGUMENTS = (*ENDS, "--edge-kind", "Art")


@pytest.mark.usefixtures("files")
def test_the_summary_and_the_json_have_the_weights(run: Run) -> None:
    status, _, err = run("classify", "links.csv", *ARGUMENTS, "-o", "labels.csv", "--save", "model.npz")
    assert status == 0
    assert "edge_kind=col 3 (Art)" in err
    (line,) = (line for line in err.splitlines() if line.startswith("edge kinds"))
    assert line.split(maxsplit=2)[2].startswith("call 1, missing ")
    assert line.endswith("(mean weights found by held-out seeds)")
    status, out, _ = run("classify", "links.csv", *ARGUMENTS, "-o", "again.csv", "--quiet", "--json")
    found = json.loads(out)
    assert list(found["edge_kinds"]) == ["call", "missing", "street"]
    assert found["edge_kinds"]["call"] == 1 > found["edge_kinds"]["street"]
    assert found["columns_read"]["links.csv"]["edge_kind"] == "Art"
    assert not found["repeated_edges_counted"]
    assert Path("labels.csv").read_text() == Path("again.csv").read_text()
    Path("more.csv").write_text("node,label\n0001,left\n")
    status, out, _ = run("update", "model.npz", "more.csv", "-o", "third.csv", "--quiet", "--json")
    assert json.loads(out)["edge_kinds"] == found["edge_kinds"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["links.tsv", "links.parquet"])
def test_other_tables_and_python_give_the_same(run: Run, name: str) -> None:
    assert run("classify", "links.csv", *ARGUMENTS, "-o", "labels.csv")[0] == 0
    assert run("classify", name, *ARGUMENTS, "-o", "others.csv")[0] == 0
    assert Path("labels.csv").read_text() == Path("others.csv").read_text()
    graph, seeds = iso.read_labelled(name, "known.csv", source="von", target="an", edge_kind="Art")
    assert [kind for kind, _ in graph.kinds] == ["call", "missing", "street"]
    assert repr(graph) == repr(iso.read_graph(name, source="von", target="an", edge_kind="Art"))
    clf = iso.NodeClassifier().fit(graph, seeds)
    written = dict(pl.read_csv("labels.csv", infer_schema=False).select("node", "label").iter_rows())
    assert written == dict(zip(graph.nodes.tolist(), clf.labels_.tolist(), strict=True))


@pytest.mark.usefixtures("files")
def test_kinds_in_several_files(run: Run) -> None:
    table = pl.read_csv("links.csv", infer_schema=False)
    for number, part in enumerate((table[:200], table[200:])):
        part.write_csv(f"part{number}.csv")
    assert run("classify", "links.csv", *ARGUMENTS, "-o", "labels.csv")[0] == 0
    assert run("classify", "part0.csv", *ARGUMENTS, "--more-edges", "part1.csv", "-o", "parts.csv")[0] == 0
    assert Path("labels.csv").read_text() == Path("parts.csv").read_text()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--edge-kind", "Art", "--rule", "centered"), "--edge-kind is for probabilities"),
        (("--edge-kind", "Art", "--estimate"), "--estimate does not know what --edge-kind takes"),
        (("--edge-kind", "Art", "--multi-label"), "cannot be weighed here, since nodes may have several labels"),
        (("--edge-kind", "Sorte"), "no column named 'Sorte' for --edge-kind"),
        (("--edge-kind", "an"), "must be different columns"),
    ],
)
def test_refusals(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    status, _, err = run("classify", "links.csv", *ENDS, "-o", "labels.csv", *arguments)
    assert (status, Path("labels.csv").exists()) == (2, False)
    assert sentence in err
    assert "Traceback" not in err


def test_a_column_of_many_values_is_not_one_of_kinds(run: Run) -> None:
    Path("times.csv").write_text("source,target,when\n" + "".join(f"a{i},b{i},{i}\n" for i in range(30)))
    status, _, err = run("classify", "times.csv", "seeds.csv", "--edge-kind", "when")
    assert status == 2
    assert "times.csv: --edge-kind has 30 kinds of edges, but at most 20" in err


def test_graphs_without_a_table_of_edges(run: Run) -> None:
    assert run("pack", "edges.csv", "-o", "graph.iso")[0] == 0
    for name in ("graph.iso", "graph.mtx"):
        Path("graph.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")
        status, _, err = run("classify", name, "seeds.csv", "--edge-kind", "type")
        assert status == 2
        assert "--edge-kind" in err


def test_without_hidden_seeds_the_summary_says_so(run: Run) -> None:
    Path("kinds.csv").write_text("from,to,type\nann,bob,friend\nbob,gus,street\n")
    status, _, err = run("classify", "kinds.csv", "seeds.csv", "--edge-kind", "type", "-o", "labels.csv")
    assert status == 0
    assert "friend 1, street 1 (all alike: no seed can be hidden)" in err
