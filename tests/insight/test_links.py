"""Experts do not depend on the unit of weights."""

import numpy as np
import pytest

import isotherm as iso
from isotherm.probability.evidence import Evidence

NODES, COMMUNITIES = 600, 3


def communities(unit: float) -> iso.Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(NODES, size=(2, 10 * NODES))
    alike = ends[0] % COMMUNITIES == ends[1] % COMMUNITIES
    source, target = ends[:, (alike | (rng.random(10 * NODES) < 0.2)) & (ends[0] != ends[1])]
    return iso.Graph.from_edges(source, target, unit * rng.lognormal(size=len(source)), nodes=range(NODES))


def evidence(kind: str) -> Evidence | str:
    features = np.random.default_rng(1).normal(size=(NODES, 5)) + np.eye(COMMUNITIES, 5)[np.arange(NODES) % COMMUNITIES]
    return "spectral" if kind == "structure" else Evidence(features, clustered=kind == "table")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e30, 1e290])
@pytest.mark.parametrize("kind", ["structure", "features", "table"])
def test_the_unit_of_weights_changes_nothing(kind: str, unit: float) -> None:
    seeds = {node: node % COMMUNITIES for node in range(60)}
    usual, other = (
        iso.DirichletClassifier().fit(communities(each), seeds, evidence=evidence(kind)) for each in (1.0, unit)
    )
    assert other.experts_ == pytest.approx(usual.experts_, abs=0.01)
    np.testing.assert_allclose(other.predict_proba(), usual.predict_proba(), atol=0.01)
