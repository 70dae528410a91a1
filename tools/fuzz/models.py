"""Saved models: a damaged one is refused, or answers as the original; a crafted one does no harm.

Every other case is a file with changed bytes. The others are changed inside and get a new checksum, as by somebody who
means harm: whatever such a model answers, it must not crash, hang, or raise anything but a sentence.
"""

import json
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import isotherm as iso
from isotherm.graph_classifier import GraphClassifier
from isotherm.io.models import read_model, write_model
from tools.fuzz.mutate import generator, mutated, other_array

__all__ = ["case"]

OLD = Path(__file__).parents[2] / "tests" / "models_0.2.0"


def case(seed: int, number: int) -> str | None:
    """What is wrong with one changed model; None if nothing is."""
    rng = generator(seed, 1000, number)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.npz"
        content, answers = _models()[int(rng.integers(len(_models())))]
        path.write_bytes(content)
        if number % 2:
            _craft(path, rng)
        else:
            path.write_bytes(mutated(content, rng))
        return _fault(path, None if number % 2 else answers)


def _fault(path: Path, expected: list[NDArray[Any]] | None) -> str | None:
    try:
        found = _answers(iso.load(path))
    except (ValueError, TypeError) as error:
        return f"several lines: {error}" if "\n" in str(error) else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if expected is not None and not all(map(_same, found, expected)):
        return "other answers than the original"
    return None


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _answers(clf: GraphClassifier) -> list[NDArray[Any]]:
    """What a model says, with all that may be computed anew."""
    labels = clf.labels_.toarray() if hasattr(clf.labels_, "toarray") else clf.labels_
    confidence = clf.confidence_.toarray() if hasattr(clf.confidence_, "toarray") else clf.confidence_
    answers = [clf.graph_.nodes, clf.classes_, np.asarray(labels), np.asarray(confidence), clf.reached_]
    explained = clf.explain(clf.graph_.nodes[-1])
    answers += [np.asarray(explained[name]) for name in ("seed", "share")]
    if clf.fitted_.outcome.kept:
        answers += [clf.temperatures_, np.asarray(clf.suggest(2))]
    clf.update(remove=[], add={})
    return answers


@cache
def _models() -> list[tuple[bytes, list[NDArray[Any]]]]:
    club = nx.karate_club_graph()
    arcs = nx.gnp_random_graph(30, 0.15, seed=1, directed=True)
    ring = nx.random_regular_graph(3, 60, seed=1)
    some = {0: "a", 33: "b", 5: "a", 30: "b", 9: "c"}
    sets: dict[Any, Any] = {0: {"a", "b"}, 33: {"b"}, 5: set(), 20: {"a"}}
    soft: dict[Any, Any] = {0: {"a": 0.7, "b": 0.3}, 33: "b", 5: "c"}
    fits: list[tuple[Any, GraphClassifier, dict[Any, Any], Any]] = [
        (club, iso.NodeClassifier(), {0: "a", 33: "b"}, None),
        (club, iso.NodeClassifier(), {node: "ab"[node % 2] for node in range(0, 34, 3)}, None),
        (club, iso.DirichletClassifier("vanilla"), some, None),
        (iso.Graph.from_networkx(club, weight=None), iso.DirichletClassifier(stop="labels"), some, None),
        (arcs, iso.NodeClassifier("probable", {0: 2.0}), {node: node % 2 for node in range(0, 30, 3)}, None),
        (ring, iso.NodeClassifier(max_memory=500), {node: f"class {node}" for node in range(12)}, None),
        (club, iso.NodeClassifier(), sets, None),
        (club, iso.DirichletClassifier(tol=1e-8), soft, {5: 0.5}),
    ]
    old = [path.read_bytes() for path in sorted(OLD.glob("*.npz")) if path.stem != "features"]  # no update without them
    return [*(_saved(*fit) for fit in fits), *((content, _loaded(content)) for content in old)]


def _loaded(content: bytes) -> list[NDArray[Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        path.write_bytes(content)
        return _answers(iso.load(path))


def _saved(graph: Any, clf: GraphClassifier, seeds: dict[Any, Any], weight: Any) -> tuple[bytes, Any]:
    _ = clf.fit(graph, seeds, seed_weight=weight).confidence_
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        clf.save(path)
        return path.read_bytes(), _answers(iso.load(path))


def _craft(path: Path, rng: np.random.Generator) -> None:
    """Change some of the content, and have the checksum fit again."""
    version, content, arrays = read_model(str(path))
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.25:
            content = _other_value(content, rng)
        else:
            name = list(arrays)[rng.integers(len(arrays))]
            arrays[name] = other_array(arrays[name], rng)
    write_model(str(path), content, arrays, version=version, force=True)


def _other_value(content: Any, rng: np.random.Generator) -> Any:
    """The description with one of its leaves replaced."""
    text = json.dumps(content)
    leaves: list[tuple[Any, Any]] = []
    fresh = json.loads(text)
    _collect(fresh, leaves)
    owner, key = leaves[rng.integers(len(leaves))]
    others: list[Any] = [
        None,
        True,
        -1,
        0,
        10**18,
        1e300,
        float("nan"),
        "",
        "relative",
        [],
        {},
        {"array": "seeds.nodes"},
    ]
    owner[key] = others[rng.integers(len(others))]
    return fresh


def _collect(value: Any, leaves: list[tuple[Any, Any]]) -> None:
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        leaves.append((value, key))
        if isinstance(each, dict | list):
            _collect(each, leaves)
