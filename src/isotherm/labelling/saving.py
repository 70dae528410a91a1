"""Saved classifiers: the primary data of a fit, from which the rest is rebuilt.

A file holds parameters, graph, seeds, solution, outcome, and what hidden seeds taught. It may come from anywhere, and
its checksum only shows damage, not intent. So `load_model` trusts nothing: `PARTS` says what each field must be, and
parts that depend on each other are compared or built by the constructors that validate user input. What would crash
the kernels, or mislead quietly, is refused with one sentence.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.equilibrium.certificate import Certificate
from isotherm.equilibrium.problem import Problem
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Csr, Graph
from isotherm.graphs.csr import check_size
from isotherm.graphs.nodes import distinct_ids
from isotherm.graphs.packed import PackedGraph
from isotherm.graphs.untrusted import check_compressed
from isotherm.io.models import DAMAGE, damaged, read_model, write_model
from isotherm.labelling.fit import Fit
from isotherm.labelling.label_sets import LabelSets
from isotherm.labelling.outcomes import BestScores, OneLabel
from isotherm.labelling.rules import DECISIONS, FittedDecision
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import UNIT_POWER, Calibration
from isotherm.probability.combination import Combination
from isotherm.probability.label_odds import LabelOdds
from isotherm.probability.learning import Learnt
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds

Made = TypeVar("Made")

SPARSE = ("data", "indices", "indptr")
PLAIN = (bool, int, float, str)
BY_LABEL = ("class_weight", "class_sizes")  # parameters that are mappings of labels
FEATURE_SOURCE = {"file": str, "columns": tuple, "text": str, "decimal": str, "thousands": bool, "id": str}


class Saved(NamedTuple):
    """The state of a classifier that is saved."""

    parameters: dict[str, Any]
    fit: Fit
    feature_names: NDArray[Any] | None = None  # columns of the matrix that it was fitted on
    seed_columns: Mapping[str, str] | None = None  # names of the columns of node and label in the file of seeds
    feature_source: Mapping[str, Any] | None = None  # where features came from, and how their columns were read


class Field(NamedTuple):
    """The type, shape and range that a field of a part must have."""

    types: tuple[str, ...]  # of Python, or of the entries of an array: "f8" is float64
    shape: str = ""  # a letter for each dimension: the same letter is the same size, "." is any
    least: float = -np.inf
    most: float | str = np.inf  # a number, or a letter: below the size of that letter
    nan: bool = False  # whether numbers may be NaN
    optional: bool = False  # whether it may be None


INDEX, DOUBLE, FLOAT, MASK, NUMBER = ("i8",), ("f8",), ("f4", "f8"), ("b1",), ("int", "float")
FINITE = -1e30, 1e30
COUNT = Field(("int",), least=0, most=2**31)
ANY_NUMBER = Field(NUMBER, nan=True)

# n nodes, s seeds, K classes, h hidden seeds, E experts, l nodes of the lifted graph
PARTS: dict[str, dict[str, Field]] = {
    "seeds": {
        "nodes": Field(INDEX, "s", 0),
        "codes": Field(INDEX, "s", -1),
        "classes": Field(("i8", "b1", "O"), "K"),
        "table": Field(FLOAT, "sK", 0, 1, optional=True),
        "weights": Field(DOUBLE, "s", np.finfo(np.float64).tiny, optional=True),
        "several": Field(("bool",)),
    },
    "solution": {
        "temperatures": Field(FLOAT, "n.", nan=True),
        "solver": Field(("str",)),
        "iterations": COUNT,
        **dict.fromkeys(("residual", "error", "error_bound", "seconds"), ANY_NUMBER),
        "converged": Field(("bool",)),
        "times": Field(FLOAT, "l", 0, optional=True),
    },
    "decision": {
        "chances": Field(DOUBLE, "nK", 0, 1.001),
        "mean": Field(DOUBLE, "K", 0, 1.001),
        "weights": Field(DOUBLE, "K", 0, optional=True),
        "factors": Field(DOUBLE, "K", 0, 1e300, optional=True),
    },
    "best scores": {
        "best_classes": Field(("i4",), "nb", -1, "K"),
        "best_scores": Field(DOUBLE, "nb", nan=True),
        "certainty": Field(DOUBLE, "n", 0, 1.001),
    },
    "label sets": {
        "warmth": Field(DOUBLE, "nK", *FINITE),
        "thresholds": Field(DOUBLE, "K", *FINITE),
        "reached": Field(MASK, "n"),
    },
    "experts": {
        "names": Field(("tuple",), "E"),
        "weights": Field(DOUBLE, "E", 0, 1e30),
        "odds": Field(("f4",), "EnK", *FINITE),
    },
    "calibration": {
        "slopes": Field(DOUBLE, "e", *FINITE),
        "bias": Field(DOUBLE, "K", *FINITE),
        "lapse": Field(NUMBER, least=0, most=1),
        "shares": Field(DOUBLE, "K", 0, 1),
        "mean": Field(DOUBLE, "K", nan=True),
        "n_held_out": COUNT,
        "error": ANY_NUMBER,
        "misfits": Field(DOUBLE, ".", -0.001, 1),
        "covariance": Field(DOUBLE, "ee", *FINITE),
    },
    "trial": {
        "nodes": Field(INDEX, "h", 0, "n"),
        "codes": Field(INDEX, "h", 0, "K"),
        "fold": Field(INDEX, "h", 0, "h"),
        "known": Field(MASK, "h"),
        "probabilities": Field(DOUBLE, "hK", 0, 1.001),
        "n_lone": COUNT,
        "labels": Field(INDEX, "h", -1, "K", optional=True),
    },
    "certificate": {
        "temperatures": Field(DOUBLE, "nK", nan=True),
        "times": Field(DOUBLE, "n", 0),
        "residual": Field(DOUBLE, "K", 0, nan=True),
    },
    "label odds": {"scale": ANY_NUMBER, "bias": ANY_NUMBER, "n_seen": COUNT},
}


def save_model(path: str | os.PathLike[str], saved: Saved, *, force: bool = False) -> None:
    """Save a classifier to a file whose name ends in ``.npz``; with ``force``, replace an existing file."""
    packing = _Packing()
    content = {name: packing.packed(name, value) for name, value in _primary(saved).items()}
    write_model(os.fspath(path), content, packing.arrays, force=force)


def load_model(path: str | os.PathLike[str], make: Callable[[dict[str, Any]], Made]) -> tuple[Made, Saved]:
    """Load what `save_model` saved; raises `FileError` if the file is damaged or malicious.

    ``make`` makes a classifier of parameters, and raises an error for those that it does not have.
    """
    path = os.fspath(path)
    version, content, arrays = read_model(path)
    try:
        parts = {name: _unpacked(value, arrays) for name, value in content.items()}
        saved = _rebuilt(_from_version_3(parts) if version == 3 else parts)
        return make(saved.parameters), saved
    except DAMAGE as error:  # the message of a ValueError is ours; other errors come from Python itself
        raise damaged(path, str(error).replace("\n", " ") if isinstance(error, ValueError) else "") from None


def _primary(saved: Saved) -> dict[str, Any]:
    """What is saved of a classifier."""
    fit = saved.fit
    graph = fit.graph.loaded() if isinstance(fit.graph, PackedGraph) else fit.graph  # the file stands on its own
    parts = {
        "parameters": saved.parameters,
        "settings": fit.settings.parameters,  # may differ from the parameters, which can be set after the fit
        "graph": {**graph.csr._asdict(), "nodes": graph.nodes, "directed": graph.directed, "n_rows": graph.n_rows},
        "seeds": _fields(fit.seeds),
        "solution": _fields(fit.outcome.solution),
        "outcome": _outcome_fields(fit.outcome),
        "learnt": None,
        "experts": None,
        "proof": fit.proof and _fields(fit.proof),
        "label_odds": fit.taught_odds and _fields(fit.taught_odds),
        "feature_names": saved.feature_names,
    }
    if (taught := fit.taught) is not None:
        parts["learnt"] = {name: _fields(getattr(taught, name)) for name in ("seeds", "calibration", "trial")}
        if (combination := taught.combination) is not None:  # its shares follow from the seeds
            parts["experts"] = {"names": combination.names, "weights": combination.weights, "odds": fit.odds}
    more = {
        "seed_columns": saved.seed_columns,
        "feature_source": saved.feature_source,
        "kind_weights": graph.kind_weights,
    }
    return parts | {name: dict(value) for name, value in more.items() if value}


def _outcome_fields(outcome: OneLabel | LabelSets) -> dict[str, Any]:
    """What an outcome has besides solution and seeds; nothing if labels go by a rule on temperatures."""
    if isinstance(outcome, OneLabel) and outcome.decision is not None:
        decision, sizes = outcome.decision, {} if outcome.factors is None else {"factors": outcome.factors}
        return {"chances": outcome.chances, "mean": decision.mean, "weights": decision.weights, **sizes}
    if isinstance(outcome, LabelSets | BestScores):
        names = PARTS["label sets" if isinstance(outcome, LabelSets) else "best scores"]
        return {name: getattr(outcome, name) for name in names}
    return {}


def _fields(part: Any) -> dict[str, Any]:
    names = [field.name for field in fields(part)] if is_dataclass(part) else part._fields
    return {name: getattr(part, name) for name in names}


def _from_version_3(old: dict[str, Any]) -> dict[str, Any]:
    """The parts of a file that release 0.2.0 wrote, when one class had all rules. Nothing is checked here."""
    settings, outcome, found, rule = old["settings"], old["outcome"], old["found"], old["rule"]
    settings |= settings.pop("solving")
    settings["n_threads"] = settings.pop("threads")
    _require(settings.pop("progress") is None, "it has settings of another type")
    parameters = _split(old["parameters"], rule, ("calibration", "stop", "open_share"), ("class_weight",))
    if parameters["side"] == "auto":
        parameters["side"] = settings["side"]
    csr, decision, solution = old["graph"].pop("csr"), outcome.pop("decision", None), outcome.pop("solution")
    outcome = {name: outcome[name] for name in outcome.keys() - {"seeds", "rule", "labels", "hidden"}}
    if decision is not None:
        outcome |= {name: decision[name] for name in ("mean", "weights")}
    learnt = {"seeds": found["learnt_from"] or old["seeds"], "calibration": found["calibration"], "trial": None}
    return {
        "parameters": parameters,
        "settings": _split(settings, rule),
        "graph": old["graph"] | csr,
        "seeds": old["seeds"],
        "solution": solution,
        "outcome": outcome,
        "learnt": None if found["calibration"] is None else learnt,  # judged; the hidden seeds were not saved
        "experts": None if decision is None else found["experts"],
        "proof": old["certificate"],
        "label_odds": found["label_odds"],
        "feature_names": old["names"],
        "seed_columns": old.get("seed_columns"),
    }


def _split(
    given: dict[str, Any], selected: str, not_decision: tuple[str, ...] = (), not_rule: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Parameters of 0.2.0 for the classifier that has the rule now, without those that it does not have."""
    rule = selected if given["rule"] == "auto" else given["rule"]
    kind, dropped = ("decision", not_decision) if rule in DECISIONS else ("rule", not_rule)
    return {kind: rule, **{name: value for name, value in given.items() if name not in ("rule", *dropped)}}


def _rebuilt(parts: dict[str, Any]) -> Saved:
    """The classifier, if its parts can be trusted."""
    parameters, settings = parts["parameters"], _settings(parts["settings"])
    by_decision = settings.decision is not None
    _require(by_decision == (_settings(parameters).decision is not None), "its parameters are of another classifier")
    graph = replace(_graph(parts["graph"]), kind_weights=_kind_weights(parts.get("kind_weights")))
    seeds = _seeds(parts["seeds"], graph.n_nodes)
    problem, sizes = Problem.of_seeds(graph, seeds, settings.side), {"n": graph.n_nodes, "K": seeds.n_classes}
    outcome = _outcome(parts["outcome"], _solution(parts["solution"], problem, sizes), seeds, settings, sizes)
    odds = combination = taught = proof = label_odds = None
    if parts["experts"] is not None:
        experts = _checked("experts", parts["experts"], sizes)
        _require(outcome.decision is not None and all(map(_is_text, experts["names"])), "its experts have no names")
        combination, odds = Combination(experts["names"], experts["weights"], seeds.smoothed_shares), experts["odds"]
    if parts["learnt"] is not None:
        taught = replace(_learnt(parts["learnt"], seeds, sizes), combination=combination)
    if parts["proof"] is not None:
        proof = Certificate(**_checked("certificate", parts["proof"], sizes))
    if parts["label_odds"] is not None:
        label_odds = LabelOdds(**_checked("label odds", parts["label_odds"], sizes))
    fit = Fit(problem, seeds, settings, outcome, None, odds, taught, proof, label_odds)
    _check_names(parts["feature_names"], parts.get("seed_columns"))
    _check_source(parts.get("feature_source"))
    if taught is None and combination is not None:  # 0.2.0 did not always save what hidden seeds taught
        fit = replace(fit, taught=replace(fit.learnt, combination=combination))
    return Saved(parameters, fit, parts["feature_names"], parts.get("seed_columns"), parts.get("feature_source"))


def _settings(given: Any) -> Settings:
    """Refuse what a classifier would refuse, and values of types that it would accept but cannot use."""
    _require(isinstance(given, dict), "it has no settings")
    for name, value in given.items():
        plain = value is None or isinstance(value, PLAIN) or (name in BY_LABEL and isinstance(value, dict))
        counts = name not in ("n_threads", "max_iter") or value is None or type(value) is int
        _require(plain and counts, "it has settings of another type")
    return Settings.of(**given)


def _graph(record: Any) -> Graph:
    """Refuse what no constructor of `Graph` could have made."""
    names = (*Csr._fields, "nodes", "directed", "n_rows")
    _require(isinstance(record, dict) and record.keys() == {*names}, "it has no graph")
    *arrays, nodes, directed, n_rows = map(record.get, names)
    csr, n = Csr(*arrays), len(nodes)
    _require(isinstance(directed, bool), "its graph is neither directed nor undirected")
    _require(nodes.dtype == np.int64 or nodes.dtype == object, "its node ids are of an unknown type")
    check_size(n, directed)
    distinct_ids(nodes)
    types = [np.dtype(np.int64), np.dtype(np.int32)]
    _require([csr.indptr.dtype, csr.indices.dtype] == types, "its graph has indices of the wrong type")
    weights = np.ones(len(csr.indices), np.float32) if csr.weights is None else csr.weights
    _require(weights.dtype in (np.float32, np.float64), "its graph has weights of the wrong type")
    _require([array.shape for array in csr[:2]] == [(n + 1,), weights.shape], "its graph has arrays of other lengths")
    _check_compressed(weights, csr.indices, csr.indptr, (n, n))
    matrix = csr_array((weights, csr.indices, csr.indptr), shape=(n, n))
    again = Graph.from_scipy(matrix, directed=directed).csr
    _require(_same(again, csr, Csr._fields), "its graph has duplicate edges, loops, or edges without weight")
    if not directed:  # the constructors compare hashes, which can be fooled
        matrix.has_sorted_indices = True
        _require(_same(matrix, csr_array(matrix.T), SPARSE), "its graph is not symmetric")
    if n_rows is not None:
        _require(type(n_rows) is int and 0 <= n_rows <= n, "its graph has more rows than nodes")
        _require(bool(np.all((csr.rows < n_rows) != (csr.indices < n_rows))), "its graph is not bipartite")
    return Graph(csr, nodes, directed, n_rows)


def _kind_weights(given: Any) -> dict[str, float] | None:
    """Refuse what no fit could have found."""
    if given is not None:
        right = (
            isinstance(given, dict)
            and all(map(_is_text, given))
            and all(type(each) is float for each in given.values())
        )
        _require(right and all(0 <= each < np.inf for each in given.values()), "its kinds of edges have no weights")
    return given


def _same(one: Any, other: Any, names: tuple[str, ...]) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _seeds(record: Any, n: int) -> Seeds:
    """Refuse seeds that are not in the graph, or of classes that do not exist."""
    seeds = Seeds(**_checked("seeds", record, {"n": n}))
    nodes, codes, classes = seeds.nodes, seeds.codes, seeds.classes.tolist()
    _require(len(classes) >= 1, "it has no classes")
    kind = {"i": int, "b": bool, "O": str}[seeds.classes.dtype.kind]
    _require({type(label) for label in classes} == {kind}, "its labels are neither int nor str nor bool")
    _require(all(a < b for a, b in pairwise(classes)), "its classes are not distinct and sorted")
    _require(len(nodes) > 0 and bool(np.all(np.diff(nodes) > 0)) and nodes[-1] < n, "its seeds are not in the graph")
    least = -1 if seeds.several else 0
    _require(bool(np.all((codes >= least) & (codes < len(classes)))), "its seeds have classes that do not exist")
    if seeds.table is None:
        _require(not seeds.several, "its seeds have no sets of labels")
    elif not seeds.several:
        sums = seeds.table.sum(axis=1)
        _require(bool(np.allclose(sums, 1, atol=1e-9)), "the probabilities of its seeds do not add up to 1")
    _require(seeds.several or bool(np.all(seeds.shares > 0)), "it has classes without seeds")
    return seeds


def _solution(record: Any, problem: Problem, sizes: dict[str, int]) -> Solution:
    solution = Solution(**_checked("solution", record, sizes))
    _require(not np.isinf(solution.temperatures).any(), "it has infinite temperatures")
    lost, times = np.isnan(solution.temperatures), solution.times
    _require(bool(np.all(lost == lost[:, :1])), "some temperatures of a node are missing")
    _require(times is None or len(times) == problem.lifting.conductance.n, "its times are not for this graph")
    return solution


def _outcome(
    record: Any, solution: Solution, seeds: Seeds, settings: Settings, sizes: dict[str, int]
) -> OneLabel | LabelSets:
    _require(isinstance(record, dict), "it has no outcome")
    few, shape = seeds.several or "best_classes" in record, solution.temperatures.shape
    kept = shape[1] == sizes["K"] or (few and shape[1] == 0)  # few scores may be without temperatures
    _require(kept, f"its temperatures has the shape {shape}")
    if seeds.several:
        record = _checked("label sets", record, sizes)
        warmth = record["warmth"]
        labels = csr_array((np.ones(warmth.nnz, bool), warmth.indices, warmth.indptr), warmth.shape)
        return LabelSets(solution, seeds, labels, **record)
    if few:
        record = _checked("best scores", record, sizes)
        _require(record["best_classes"].shape[1] >= min(2, sizes["K"]), "its best classes are too few")
        return BestScores(solution, seeds, settings.heat_rule, **record)
    if not record:
        return OneLabel(solution, seeds, settings.heat_rule)
    record = _checked("decision", record, sizes)
    _require(settings.decision is not None, "its rule did not decide")
    assert settings.decision is not None
    decision = FittedDecision(settings.decision, record["mean"], record["weights"])
    return OneLabel(solution, seeds, chances=record["chances"], decision=decision, factors=record.get("factors"))


def _learnt(record: Any, seeds: Seeds, sizes: dict[str, int]) -> Learnt:
    """Refuse what hidden seeds could not have taught."""
    earlier = _seeds(record["seeds"], sizes["n"])
    alike = np.array_equal(earlier.classes, seeds.classes)
    _require(alike and not earlier.several, "it learnt from seeds of other classes")
    calibration = Calibration(**_checked("calibration", record["calibration"], {**sizes, "e": len(UNIT_POWER)}))
    trial = Trial.empty(sizes["K"])
    if record["trial"] is not None:
        trial = Trial(**_checked("trial", record["trial"], sizes))
    _require(trial.n_lone <= len(earlier.nodes), "more of its seeds are never hidden than there are")
    return Learnt(earlier, calibration, trial)


def _check_names(names: Any, columns: Any) -> None:
    """Refuse names of columns that are not texts."""
    plain = names is None or (isinstance(names, np.ndarray) and names.ndim == 1 and all(map(_is_text, names.tolist())))
    _require(plain, "its feature names are not texts")
    if columns is not None:
        _require(isinstance(columns, dict) and columns.keys() == {"node", "label"}, "its seeds have other columns")
        _require(all(map(_is_text, columns.values())), "the columns of its seeds have no names")
        _require(len(set(columns.values())) == 2, "the columns of its seeds have the same name")


def _check_source(source: Any) -> None:
    """Refuse a description of features that `NodeClassifier` did not write."""
    if source is not None:
        _require(
            isinstance(source, dict) and source.keys() <= FEATURE_SOURCE.keys(), "its features are of another kind"
        )
        right = all(isinstance(value, FEATURE_SOURCE[name]) for name, value in source.items())
        _require(right and all(map(_is_text, source.get("columns", ()))), "its features are of another kind")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _checked(part: str, record: Any, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The fields of a part, if each is what `PARTS` says; those that are missing need a default."""
    known = dict(sizes)
    _require(isinstance(record, dict) and record.keys() <= PARTS[part].keys(), f"it has no {part}")
    for name, field in PARTS[part].items():
        if name in record and not (record[name] is None and field.optional):
            _check_field(name, record[name], field, known)
    return record


def _check_field(name: str, value: Any, field: Field, sizes: dict[str, int]) -> None:
    array = isinstance(value, np.ndarray | csr_array)
    kind = value.dtype.str[1:] if array else type(value).__name__
    _require(kind in field.types, f"its {name} is of type {value.dtype if array else kind}")
    shape = value.shape if array else (len(value),) if isinstance(value, tuple) else ()
    fits = len(shape) == len(field.shape) and all(
        letter == "." or sizes.setdefault(letter, size) == size for letter, size in zip(field.shape, shape, strict=True)
    )
    _require(fits, f"its {name} has the shape {shape}")
    numbers = value.data if isinstance(value, csr_array) else np.asarray(value)
    if numbers.dtype.kind in "if":
        most = sizes[field.most] - 1 if isinstance(field.most, str) else field.most
        inside = (numbers >= field.least) & (numbers <= most)
        _require(bool(np.all(inside | np.isnan(numbers) if field.nan else inside)), f"its {name} is out of range")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


class _Packing:
    """Turns values into JSON that refers to arrays by name; an array shared by several values is stored once."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names: dict[int, str] = {}

    def packed(self, name: str, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, PLAIN):
            return value
        if isinstance(value, np.ndarray):
            return self._array(name, value)
        if isinstance(value, csr_array):
            inside = {part: self.packed(f"{name}.{part}", getattr(value, part)) for part in SPARSE}
            return {"sparse": inside, "shape": list(value.shape)}
        if isinstance(value, dict) and all(map(_is_text, value)):
            return {"fields": {key: self.packed(f"{name}.{key}", each) for key, each in value.items()}}
        if isinstance(value, Mapping):
            return {"dict": [[self.packed(name, each) for each in pair] for pair in value.items()]}
        if isinstance(value, tuple):
            return {"tuple": [self.packed(f"{name}.{place}", each) for place, each in enumerate(value)]}
        raise TypeError(f"{name} cannot be saved: it holds {type(value).__name__}")

    def _array(self, name: str, array: NDArray[Any]) -> dict[str, str]:
        kind = "array" if array.dtype.kind in "biuf" else "objects"
        known = self._names.setdefault(id(array), name)
        if known == name:
            self.arrays[name] = array if kind == "array" else _text(name, array)
        return {kind: known}


def _text(name: str, objects: NDArray[Any]) -> NDArray[np.uint8]:
    """Node ids or labels as JSON, which preserves types. Tuples become lists, and are restored: no id is a list."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.number | np.bool_):
            return value.item()
        message = f"{name} cannot be saved: {value!r} is neither int, float, bool, str nor a tuple of these"
        raise TypeError(f"{message}; make it a str before the graph is built")

    return np.frombuffer(json.dumps(objects.tolist(), default=plain).encode(), dtype=np.uint8)


def _unpacked(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The value that `_Packing` packed; of the parts and rules that 0.2.0 wrote, their fields and names."""
    if not isinstance(value, dict):
        return value
    match value:
        case {"array": name}:
            return arrays[name]
        case {"objects": name}:
            values = json.loads(arrays[name].tobytes())
            return np.fromiter(map(_hashable, values), dtype=object, count=len(values))
        case {"sparse": inside, "shape": shape}:
            data, indices, indptr = (_unpacked(inside[part], arrays) for part in SPARSE)
            _check_compressed(data, indices, indptr, shape)
            return csr_array((data, indices, indptr), shape=tuple(shape))
        case {"fields": inside}:
            return {field: _unpacked(each, arrays) for field, each in inside.items()}
        case {"rule": name}:
            return name
        case {"dict": pairs}:
            return {_unpacked(key, arrays): _unpacked(each, arrays) for key, each in pairs}
        case {"tuple": inside} | {"list": inside}:
            return tuple(_unpacked(each, arrays) for each in inside)
    raise ValueError


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _check_compressed(data: Any, indices: Any, indptr: Any, shape: Any) -> None:
    """Refuse a matrix in compressed rows that points outside of itself; SciPy overlooks some of them."""
    _require(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (data, indices, indptr)), "no matrix")
    sizes = len(shape) == 2 and all(type(size) is int and 0 <= size < 2**62 for size in shape)
    _require(sizes, "a matrix has no shape")
    _require(indptr.dtype.kind == indices.dtype.kind == "i", "a matrix has indices of the wrong type")
    check_compressed(indptr, indices, tuple(shape), len(data))
    _require(indptr[-1] == len(indices) == len(data), "a matrix has entries that are in none of its rows")
