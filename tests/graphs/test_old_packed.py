"""Packed graphs that release 0.2.0 wrote: they open, hold what they held there, and are used like any other.

Release 0.2.0 made the folders and, after opening them again, wrote down what they hold. Its manifests have version 1 of
the format, and bounds of blocks of rows.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotherm as iso
from isotherm.graphs.packed import read_ids, read_rows

GRAPHS = Path(__file__).parents[1] / "graphs_0.2.0"
EXPECTED: dict[str, dict[str, Any]] = json.loads((GRAPHS / "expected.json").read_text(encoding="utf-8"))


def test_each_folder_has_the_version_of_then() -> None:
    manifests = {path.parent.stem: json.loads(path.read_text()) for path in GRAPHS.glob("*/manifest.json")}
    assert manifests.keys() == EXPECTED.keys()
    assert all(manifest["version"] == 1 and "blocks" in manifest for manifest in manifests.values())


@pytest.mark.parametrize("name", EXPECTED)
def test_it_holds_what_it_held(name: str) -> None:
    graph, expected = iso.Graph.open(GRAPHS / f"{name}.iso", verify=True), EXPECTED[name]
    assert graph.nodes[:].tolist() == expected["nodes"]
    assert (graph.directed, graph.n_rows) == (expected["directed"], expected["n_rows"])
    assert _edges(graph) == expected["edges"]
    assert expected["weights"] == (None if graph.csr.weights is None else graph.csr.weights.dtype.name)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")  # the bipartite graph has several components
@pytest.mark.parametrize("name", EXPECTED)
def test_it_is_solved_as_it_was(name: str) -> None:
    graph, expected = iso.Graph.open(GRAPHS / f"{name}.iso"), EXPECTED[name]
    ends = {expected["nodes"][0]: 1.0, expected["nodes"][-1]: 0.0}
    found = iso.solve_dirichlet(graph, ends, tol=1e-10)
    np.testing.assert_allclose(found, np.array(expected["temperatures"], float), atol=1e-8)


@pytest.mark.parametrize("name", EXPECTED)
def test_workers_read_its_rows(name: str) -> None:
    folder, expected = GRAPHS / f"{name}.iso", EXPECTED[name]
    rows, nodes = read_rows(folder, 3, 20), expected["nodes"]
    assert read_ids(folder, 3, 20).tolist() == nodes[3:20]
    found = [nodes[place] for place in rows.indices]
    assert found == [target for source, target, _ in expected["edges"] if source in nodes[3:20]]


@pytest.mark.parametrize("name", EXPECTED)
def test_it_can_be_packed_again(name: str, tmp_path: Path) -> None:
    iso.Graph.open(GRAPHS / f"{name}.iso").pack(tmp_path / "graph.iso")
    assert _edges(iso.Graph.open(tmp_path / "graph.iso", verify=True)) == EXPECTED[name]["edges"]


def _edges(graph: iso.Graph) -> list[list[Any]]:
    """Source, target and weight of each entry, row by row."""
    matrix, nodes = graph.adjacency.tocoo(), graph.nodes[:].tolist()
    entries = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    return [[nodes[source], nodes[target], weight] for source, target, weight in entries]
