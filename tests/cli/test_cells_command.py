"""Files of single cells on the command line: ``.h5ad`` in, tables or ``.h5ad`` out."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import isotherm as iso
from isotherm.anndata import label_transfer
from isotherm.cli import main

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

N = 120


@pytest.fixture
def cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two clusters of cells, of which one in six is annotated, in ``cells.h5ad`` of the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, 3)) + 4 * np.repeat([[0], [1]], N // 2, axis=0)
    known = np.repeat(["B/plasma", "T"], N // 2).astype(object)
    known[np.arange(N) % 6 > 0] = None
    obs = pd.DataFrame({"cell_type": pd.Categorical(known), "genes": np.arange(N)}, index=[f"c{i}" for i in range(N)])
    found = anndata.AnnData(X=rng.poisson(1.0, (N, 5)).astype(np.float32), obs=obs, obsm={"X_pca": rows})
    found.obsp["connectivities"] = iso.Graph.from_vectors(rows, k=6).adjacency
    found.obsp["coarse_connectivities"] = iso.Graph.from_vectors(rows, k=20).adjacency
    found.uns["neighbors"] = {"connectivities_key": "connectivities", "params": {"n_neighbors": 6}}
    found.uns["coarse"] = {"connectivities_key": "coarse_connectivities", "params": {"n_neighbors": 20}}
    found.write_h5ad("cells.h5ad")
    return found


def test_a_copy_of_the_file_gets_the_labels(cells: Any) -> None:
    assert main(["classify", "cells.h5ad", "--rule", "probable", "-o", "out.h5ad", "-q"]) == 0
    found = anndata.read_h5ad("out.h5ad")
    label_transfer(cells, "cell_type")
    assert found.obs["isotherm"].tolist() == cells.obs["isotherm"].tolist()
    np.testing.assert_allclose(found.obs["isotherm_confidence"], cells.obs["isotherm_confidence"])
    np.testing.assert_allclose(found.obsm["isotherm_probabilities"], cells.obsm["isotherm_probabilities"])
    assert found.uns["isotherm"]["classes"].tolist() == ["B/plasma", "T"]
    np.testing.assert_array_equal(found.X, cells.X)  # all else is as it was
    np.testing.assert_array_equal(found.obs["genes"], cells.obs["genes"])
    assert set(found.obsp) == set(cells.obsp)
    assert main(["classify", "out.h5ad", "--label", "cell_type", "-o", "out2.h5ad", "-q"]) == 0  # once more


def test_a_table_has_a_row_for_each_barcode(cells: Any) -> None:
    Path("known.csv").write_text("barcode,type\nc0,B\nc7,B\nc80,T\nc90,T\n")
    assert main(["classify", "cells.h5ad", "known.csv", "--node", "barcode", "-o", "labels.csv", "-q"]) == 0
    found = pl.read_csv("labels.csv")
    assert found["node"].to_list() == cells.obs_names.tolist()
    assert found["label"].to_list() == ["B"] * (N // 2) + ["T"] * (N // 2)


def test_another_neighbour_graph_can_be_chosen(cells: Any) -> None:
    for name, key in (("one", []), ("other", ["--neighbors-key", "coarse"])):
        more = ["--json-summary", f"{name}.json", "-o", f"{name}.csv", "-q"]
        assert main(["classify", "cells.h5ad", "--label", "cell_type", *key, *more]) == 0
    edges = [iso.read_graph("cells.h5ad", neighbors_key=key).n_edges for key in (None, "coarse")]
    assert edges[1] > 2 * edges[0]
    assert all(
        f'"edges": {count}' in Path(f"{name}.json").read_text().replace(",\n", "\n")
        for name, count in zip(("one", "other"), edges, strict=True)
    )


def test_the_library_reads_the_same(cells: Any) -> None:
    graph, seeds = iso.read_labelled("cells.h5ad", label="cell_type")
    assert graph.nodes.tolist() == cells.obs_names.tolist()
    assert seeds == cells.obs["cell_type"].dropna().to_dict()
    np.testing.assert_allclose(graph.adjacency.toarray(), cells.obsp["connectivities"].toarray())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cells.h5ad", "--label", "genus"], "cells have the annotations 'cell_type', 'genes', and none is 'genus'"),
        (["cells.h5ad", "--neighbors-key", "none"], "there is no neighbour graph obsp['none_connectivities']"),
        (["cells.h5ad", "-o", "out.h5ad", "--only-unlabelled"], "--only-unlabelled is for a table"),
        (["cells.h5ad", "-o", "out.h5ad", "--probabilities"], "--probabilities is for a table"),
        (["cells.h5ad", "-o", "out.h5ad", "--rule", "vanilla", "--no-confidence"], "--no-confidence is for a table"),
        (
            ["cells.h5ad", "-o", "out.h5ad", "--nodes", "nodes.csv"],
            "a file of cells has all its nodes: leave out --nodes",
        ),
        (["cells.h5ad", "--features", "nodes.csv"], "has features of its nodes already: leave out --features"),
        (["edges.csv", "seeds.csv", "-o", "out.h5ad"], "but edges.csv is not one: write to a .csv file"),
        (["edges.csv", "seeds.csv", "--neighbors-key", "x"], "--neighbors-key is for files of cells"),
        (["text.h5ad"], "text.h5ad is not an .h5ad file"),
        (["empty.h5ad"], "empty.h5ad is not an .h5ad file: it has no obs"),
        (["-", "--format", "h5ad"], "SEEDS is missing"),
    ],
)
def test_errors(cells: Any, arguments: list[str], says: str, capfd: pytest.CaptureFixture[str]) -> None:
    import h5py

    Path("nodes.csv").write_text("node,x\n" + "".join(f"c{i},{i}\n" for i in range(N)) + "more,7\n")
    Path("edges.csv").write_text("source,target\na,b\n")
    Path("seeds.csv").write_text("node,label\na,x\nb,y\n")
    Path("text.h5ad").write_text("these are no cells\n")
    h5py.File("empty.h5ad", "w").close()
    assert main(["classify", *arguments]) == 2
    assert says in capfd.readouterr().err
    assert not Path("out.h5ad").exists()
