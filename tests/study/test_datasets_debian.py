"""The bundled packages of Debian."""

import numpy as np
import pytest

from isotherm.study.datasets import Dataset
from isotherm.study.datasets.sources.debian import debian_packages


@pytest.fixture(scope="module")
def packages() -> Dataset:
    return debian_packages()


def test_sizes(packages: Dataset) -> None:
    graph = packages.graph
    assert (graph.n_nodes, graph.n_edges, graph.directed, graph.weighted) == (63_436, 247_686, True, False)
    assert packages.n_classes == 58
    assert packages.labelled.all()


def test_arcs_lead_from_a_package_to_what_it_depends_on(packages: Dataset) -> None:
    package, needed = packages.graph.index(["0ad", "0ad-data"])
    row = slice(*packages.graph.csr.indptr[[package, package + 1]])
    assert needed in packages.graph.csr.indices[row]


def test_sections_are_names(packages: Dataset) -> None:
    section = dict(zip(packages.graph.nodes.tolist(), packages.labels.tolist(), strict=True))
    assert section["bash"] == "shells"
    assert section["python3-numpy"] == "python"
    assert section["git"] == "vcs"
    assert {type(label) for label in packages.labels} == {str}
    assert np.isin(["libs", "libdevel", "perl"], packages.labels.astype(str)).all()
