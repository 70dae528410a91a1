"""What a type checker says about programs that use Isotherm: results are arrays, and misspelled names are refused."""

import subprocess
import sys
from pathlib import Path

import pytest

RIGHT = """
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import isotherm as iso

graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
clf = iso.NodeClassifier(decision="probable", solver="cg", side="both", engine="local", threshold=0.5)
clf = clf.fit(graph, {"a": "x", "c": "y"}, evidence="spectral").update({"b": "x"})
clf = clf.fit(graph, {"a": "x", "c": "y"}, evidence=np.ones((3, 2)))
clf = clf.fit(graph, {"a": "x", "c": "y"}, evidence={"x": [1.0, 0.5, 0.0], "y": [0.0, 0.5, 1.0]})
paper = iso.DirichletClassifier("vanilla", calibration=None, stop="labels").set_output(transform="polars")
rows = iso.VectorClassifier(metric="cosine", weights="self-tuning").fit(np.ones((9, 2)), [0, 1] + 7 * [-1])
labels: NDArray[np.object_] = clf.labels_
confidence: NDArray[np.float64] = clf.confidence_
share: float = clf.explain("b").share.sum()
nodes, values = clf.suggest(2, policy="margin", return_values=True)
best: float = values.max()
names: list[str] = paper.to_polars().columns
assert_type(clf.labels_, NDArray[Any])
assert_type(clf.confidence_, NDArray[np.float64])
assert_type(clf.predict(), NDArray[Any])
assert_type(clf.predict_proba(), NDArray[np.float64])
assert_type(clf.predict_set(), NDArray[np.bool_])
assert_type(clf.suggest(3), NDArray[Any])
assert_type(clf.suggest(3, return_values=True), tuple[NDArray[Any], NDArray[np.float64]])
assert_type(iso.suggest(graph, 3), NDArray[Any])
assert_type(rows.transduction_, NDArray[Any])
assert_type(clf.update({}), iso.NodeClassifier)
"""
BEFORE = ["import isotherm as iso", 'graph = iso.Graph.from_edges(["a"], ["b"])', "clf = iso.NodeClassifier()"]
WRONG = {
    'iso.DirichletClassifier(rule="nonsense")': "arg-type",
    'iso.DirichletClassifier(stop="never")': "arg-type",
    'iso.NodeClassifier(decision="centered")': "arg-type",
    'iso.NodeClassifier(side="left")': "arg-type",
    'iso.NodeClassifier(solver="gauss")': "arg-type",
    'iso.NodeClassifier(threshold="rule")': "arg-type",
    'iso.NodeClassifier().fit(graph, {}, evidence="structure")': "arg-type",
    'iso.VectorClassifier(metric="manhattan")': "arg-type",
    'clf.suggest(3, policy="random")': "call-overload",
    'clf.set_output(transform="arrow")': "arg-type",
    'iso.solve_dirichlet(graph, {"a": 1.0}, engine="spark")': "arg-type",
    'iso.read_labelled("edges.csv", "seeds.csv", missing="ignore")': "arg-type",
    'iso.evaluate(graph, {}, policy="random")': "arg-type",
    'iso.read_graph("edges.csv", decimal=";")': "arg-type",
    'iso.FeatureTable(decimal=";")': "arg-type",
    "text: str = clf.labels_": "assignment",
    "clf.confidence_.colour": "attr-defined",
}


@pytest.mark.slow
def test_what_mypy_says_about_programs(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("\n".join([*BEFORE, *WRONG]))
    command = [sys.executable, "-m", "mypy", "--strict", "--show-error-codes", "--no-pretty", "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if " error: " in line]
    assert not [line for line in errors if not line.startswith("wrong.py")]
    codes = {int(line.split(":")[1]): line.rpartition("[")[2].rstrip("]") for line in errors}
    assert codes == dict(enumerate(WRONG.values(), len(BEFORE) + 1))
