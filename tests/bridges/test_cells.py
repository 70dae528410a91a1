"""Single cells: `label_transfer` reads and writes AnnData objects as scanpy keeps them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.anndata import label_transfer
from isotherm.probability.evidence import Evidence

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

TYPES = np.array(["T/NK cell", "B cell", "Monocyte"])
N = 240


@pytest.fixture
def cells() -> Any:
    """Three clusters in four components; one cell in eight is annotated."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N)
    rows = rng.normal(size=(N, 4)) + 5 * np.eye(4)[truth]
    known = np.where(np.arange(N) % 8, "Unknown", TYPES[truth])
    obs = pd.DataFrame(
        {"cell_type": pd.Categorical(known, ["T/NK cell", "Monocyte", "B cell", "Unknown"]), "truth": TYPES[truth]},
        index=[f"AAAC{i}-1" for i in range(N)],
    )
    found = anndata.AnnData(X=np.ones((N, 2), np.float32), obs=obs, obsm={"X_pca": rows})
    found.obsp["connectivities"] = iso.Graph.from_vectors(rows, k=8).adjacency
    return found


def known_seeds(cells: Any) -> dict[str, str]:
    return {name: label for name, label in cells.obs["cell_type"].items() if label != "Unknown"}


def test_labels_are_those_of_the_classifier(cells: Any) -> None:
    assert label_transfer(cells, "cell_type") is None
    graph = iso.Graph.from_scipy(cells.obsp["connectivities"], nodes=cells.obs_names)
    evidence = Evidence.of_table(cells.obsm["X_pca"])
    clf = iso.NodeClassifier("probable").fit(graph, known_seeds(cells), evidence=evidence)
    assert cells.obs["isotherm"].tolist() == clf.labels_.tolist()
    np.testing.assert_array_equal(cells.obs["isotherm_confidence"], clf.confidence_)
    assert np.mean(cells.obs["isotherm"].to_numpy() == cells.obs["truth"].to_numpy()) > 0.95
    assert cells.uns["isotherm"]["experts"] == clf.experts_


def test_types_keep_the_order_of_their_categories(cells: Any) -> None:
    label_transfer(cells, "cell_type")
    order = ["T/NK cell", "Monocyte", "B cell"]
    assert cells.obs["isotherm"].cat.categories.tolist() == order
    assert cells.uns["isotherm"]["classes"].tolist() == order
    chances = cells.obsm["isotherm_probabilities"]
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert [order[place] for place in chances.argmax(axis=1)] == cells.obs["isotherm"].tolist()


def test_missing_values_and_other_words_mean_unknown(cells: Any) -> None:
    plain = label_transfer(cells, "cell_type", copy=True)
    cells.obs["cell_type"] = [None if label == "Unknown" else label for label in cells.obs["cell_type"]]
    with_none = label_transfer(cells, "cell_type", copy=True)
    cells.obs["cell_type"] = ["Doublet?" if label is None else label for label in cells.obs["cell_type"]]
    with_word = label_transfer(cells, "cell_type", unknown="doublet?", copy=True)
    for other in (with_none, with_word):
        assert other.obs["isotherm"].tolist() == plain.obs["isotherm"].tolist()


def test_a_copy_leaves_the_original_alone(cells: Any) -> None:
    copy = label_transfer(cells, "cell_type", key_added="transferred", copy=True)
    assert "transferred_confidence" in copy.obs
    assert not any("transferred" in name for part in (cells.obs, cells.obsm, cells.uns) for name in part)


def test_the_key_chooses_graph_and_representation(cells: Any) -> None:
    """As in scanpy: the record of a neighbour graph says where its matrix is and what it was made of."""
    cells.obsm["X_joint"] = cells.obsm["X_pca"] @ np.diag([1.0, 2.0, 3.0, 0.0])
    cells.obsp["joint_connectivities"] = iso.Graph.from_vectors(cells.obsm["X_joint"], k=8).adjacency
    params = {"use_rep": "X_joint", "n_pcs": 3}
    cells.uns["joint"] = {"connectivities_key": "joint_connectivities", "params": params}
    label_transfer(cells, "cell_type", neighbors_key="joint")
    graph = iso.Graph.from_scipy(cells.obsp["joint_connectivities"], nodes=cells.obs_names)
    evidence = Evidence.of_table(cells.obsm["X_joint"][:, :3])
    clf = iso.NodeClassifier("probable").fit(graph, known_seeds(cells), evidence=evidence)
    np.testing.assert_array_equal(cells.obs["isotherm_confidence"], clf.confidence_)


def test_without_components_the_graph_alone_decides(cells: Any) -> None:
    label_transfer(cells, "cell_type", use_rep=None)
    assert not {"features", "majority"} & set(cells.uns["isotherm"]["experts"])
    del cells.obsm["X_pca"]
    again = label_transfer(cells, "cell_type", key_added="again", copy=True)
    assert again.obs["again"].tolist() == cells.obs["isotherm"].tolist()


def test_cells_that_nothing_is_known_about_have_no_type(cells: Any) -> None:
    matrix = cells.obsp["connectivities"].tolil()
    matrix[5], matrix[:, 5] = 0, 0
    cells.obsp["connectivities"] = csr_array(matrix)
    with pytest.warns(iso.UnreachedWarning):
        label_transfer(cells, "cell_type", use_rep=None)
    assert cells.obs["isotherm"].isna().tolist() == (np.arange(N) == 5).tolist()


def test_a_query_takes_the_types_of_a_reference_by_their_joint_graph(cells: Any) -> None:
    """The reference is annotated whole, the query not at all."""
    query = np.arange(N) % 2 == 0
    cells.obs["reference"] = np.where(query, None, cells.obs["truth"])
    label_transfer(cells, "reference")
    found = cells.obs.loc[query, "isotherm"].to_numpy()
    assert np.mean(found == cells.obs.loc[query, "truth"].to_numpy()) > 0.95
    assert (cells.obs.loc[~query, "isotherm"].to_numpy() == cells.obs.loc[~query, "truth"].to_numpy()).all()


def test_errors_name_what_is_missing(cells: Any) -> None:
    with pytest.raises(TypeError, match="adata must be an AnnData object, not DataFrame"):
        label_transfer(pd.DataFrame({"cell_type": ["a"]}), "cell_type")
    with pytest.raises(ValueError, match="obs has no 'celltype': give one of 'cell_type', 'truth'"):
        label_transfer(cells, "celltype")
    with pytest.raises(ValueError, match=r"obsp\['other_connectivities'\]: make it with scanpy.pp.neighbors"):
        label_transfer(cells, "cell_type", neighbors_key="other")
    with pytest.raises(ValueError, match="obsm has no 'X_umap'"):
        label_transfer(cells, "cell_type", use_rep="X_umap")
    cells.obs["empty"] = "NA"
    with pytest.raises(ValueError, match=r"no cell has a known type in obs\['empty'\]"):
        label_transfer(cells, "empty")
    cells.obsm["X_pca"][3, 1] = np.nan
    with pytest.raises(ValueError, match=r"obsm\['X_pca'\] holds a value that is missing"):
        label_transfer(cells, "cell_type")
    cells.obs_names = ["same", "same", *cells.obs_names[2:]]
    with pytest.raises(ValueError, match="'same' is given more than once: make them so with obs_names_make_unique"):
        label_transfer(cells, "cell_type")


def test_scanpy_is_not_imported(tmp_path: Path) -> None:
    """Nor is anndata by the module itself, which works on what it is given."""
    code = "import sys, isotherm.anndata; print({'scanpy', 'anndata'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout == "set()\n"
