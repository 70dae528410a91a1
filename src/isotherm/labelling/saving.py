"""Saved classifiers: the primary data of a fit, from which the rest is rebuilt.

A file holds parameters, graph, seeds, solution, outcome, and what hidden seeds taught. It may come from anywhere, and
its checksum only shows damage, not intent. So `load_model` trusts nothing: `PARTS` says what each field must be, and
parts that depend on each other are compared or built by the constructors that validate user input. What would crash
the kernels, or mislead quietly, is refused with one sentence.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.equilibrium.certificate import Certificate
from isotherm.equilibrium.dirichlet import Problem
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Csr, Graph
from isotherm.graphs.csr import check_size
from isotherm.graphs.nodes import distinct_ids
from isotherm.graphs.packed import PackedGraph
from isotherm.io.writing.models import DAMAGE, damaged, read_model, write_model
from isotherm.labelling.best_scores import BestScores
from isotherm.labelling.decisions import DECISIONS, FittedDecision
from isotherm.labelling.fit import Fit
from isotherm.labelling.label_sets import LabelSets
from isotherm.labelling.outcomes import OneLabel
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import UNIT_POWER, Calibration
from isotherm.probability.combination import Combination
from isotherm.probability.label_odds import LabelOdds
from isotherm.probability.learning import Learnt, dirichlet_problem
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds

__all__ = ["Saved", "load_model", "save_model"]

Made = TypeVar("Made")

SPARSE = ("data", "indices", "indptr")
PLAIN = (bool, int, float, str)
MOST_ITERATIONS = 2**31


class Saved(NamedTuple):
    """The state of a classifier that is saved.

    Attributes
    ----------
    parameters
        Its parameters.
    fit
        The fit.
    feature_names
        Column names of the matrix that it was fitted on, if any.
    seed_columns
        The names of the columns of node and label in the file of seeds, in its order, if they are known.
    """

    parameters: dict[str, Any]
    fit: Fit
    feature_names: NDArray[Any] | None = None
    seed_columns: Mapping[str, str] | None = None


class Field(NamedTuple):
    """What a field of a part must be.

    Attributes
    ----------
    types
        Types of Python, or types of the entries of an array (dense or sparse), such as "f8" for float64.
    shape
        A letter for each dimension of an array. The same letter is the same size; "." is any size.
    least, most
        Range of the numbers; ``most`` may be a letter, for indices below its size.
    nan
        Whether numbers may be NaN.
    optional
        Whether it may be None.
    """

    types: tuple[str, ...]
    shape: str = ""
    least: float = -np.inf
    most: float | str = np.inf
    nan: bool = False
    optional: bool = False


INDEX, DOUBLE, FLOAT, MASK, NUMBER = ("i8",), ("f8",), ("f4", "f8"), ("b1",), ("int", "float")
COUNT = Field(("int",), least=0, most=MOST_ITERATIONS)
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
    },
    "best scores": {
        "best_classes": Field(("i4",), "nb", -1, "K"),
        "best_scores": Field(DOUBLE, "nb", nan=True),
        "certainty": Field(DOUBLE, "n", 0, 1.001),
    },
    "label sets": {
        "warmth": Field(DOUBLE, "nK"),
        "thresholds": Field(DOUBLE, "K"),
        "reached": Field(MASK, "n"),
    },
    "experts": {
        "names": Field(("tuple",), "E"),
        "weights": Field(DOUBLE, "E", 0),
        "odds": Field(("f4",), "EnK"),
    },
    "calibration": {
        "slopes": Field(DOUBLE, "e"),
        "bias": Field(DOUBLE, "K"),
        "lapse": Field(NUMBER, least=0, most=1),
        "shares": Field(DOUBLE, "K", 0, 1),
        "mean": Field(DOUBLE, "K", nan=True),
        "n_held_out": COUNT,
        "error": ANY_NUMBER,
        "misfits": Field(DOUBLE, ".", -0.001, 1),
        "covariance": Field(DOUBLE, "ee"),
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
    fit = saved.fit.with_computed
    graph = fit.graph.loaded() if isinstance(fit.graph, PackedGraph) else fit.graph  # the file stands on its own
    parts = {
        "parameters": saved.parameters,
        "settings": fit.settings.parameters,  # may differ from the parameters, which can be set after the fit
        "graph": {**graph.csr._asdict(), "nodes": graph.nodes, "directed": graph.directed, "n_rows": graph.n_rows},
        "seeds": _fields(fit.seeds),
        "solution": _fields(fit.outcome.solution),
        "outcome": _outcome_data(fit.outcome),
        "learnt": None,
        "experts": None,
        "proof": None if fit.proof is None else _fields(fit.proof),
        "label_odds": None if fit.taught_odds is None else _fields(fit.taught_odds),
    }
    combination = fit.weighed
    if fit.taught is not None:
        seeds, calibration, trial, combination = (getattr(fit.taught, name) for name in _fields(fit.taught))
        parts["learnt"] = {"seeds": _fields(seeds), "calibration": _fields(calibration), "trial": trial._asdict()}
    if combination is not None:  # shares follow from the seeds
        parts["experts"] = {"names": combination.names, "weights": combination.weights, "odds": fit.odds}
    parts["feature_names"] = saved.feature_names
    return parts | ({"seed_columns": dict(saved.seed_columns)} if saved.seed_columns else {})


def _outcome_data(outcome: OneLabel | LabelSets) -> dict[str, Any]:
    """What an outcome has besides solution and seeds; nothing if a rule on temperatures gives it."""
    if isinstance(outcome, LabelSets):
        names = PARTS["label sets"]
    elif isinstance(outcome, BestScores):
        names = PARTS["best scores"]
    elif outcome.decision is not None:
        return {"chances": outcome.chances, "mean": outcome.decision.mean, "weights": outcome.decision.weights}
    else:
        return {}
    return {name: getattr(outcome, name) for name in names}


def _fields(part: Any) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(part)}


def _from_version_3(old: dict[str, Any]) -> dict[str, Any]:
    """The content of a file that release 0.2.0 wrote, when one class had all rules. Nothing is checked here."""
    settings, outcome, found, rule = old["settings"], dict(old["outcome"]), old["found"], old["rule"]
    settings |= settings.pop("solving")
    settings["n_threads"] = settings.pop("threads")
    _require(settings.pop("progress") is None, "it has settings of another type")
    parameters = _split(old["parameters"], rule, ("calibration", "stop", "open_share"), ("class_weight",))
    if parameters["side"] == "auto":
        parameters["side"] = settings["side"]
    new = {name: old.get(name) for name in ("graph", "seeds", "seed_columns")}
    new |= {"parameters": parameters, "settings": _split(settings, rule), "solution": outcome.pop("solution")}
    new |= {"proof": old["certificate"], "label_odds": found["label_odds"], "feature_names": old["names"]}
    new["graph"] = {**old["graph"], **old["graph"]["csr"]}
    del new["graph"]["csr"]
    decision = outcome.pop("decision", None)
    for name in ("seeds", "rule", "labels", "hidden"):
        outcome.pop(name, None)
    if decision is not None:
        outcome |= {"mean": decision["mean"], "weights": decision["weights"]}
    new["outcome"] = outcome
    new["experts"] = None if decision is None else found["experts"]
    seeds, calibration = found["learnt_from"] or old["seeds"], found["calibration"]  # judged; its trial was not saved
    new["learnt"] = calibration and {"seeds": seeds, "calibration": calibration, "trial": None}
    return new


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
    graph = _graph(parts["graph"])
    seeds, sizes = _seeds(parts["seeds"], graph.n_nodes), {"n": graph.n_nodes}
    sizes["K"] = seeds.n_classes
    problem = dirichlet_problem(graph, seeds, settings.side)
    outcome = _outcome(parts["outcome"], _solution(parts["solution"], problem, sizes), seeds, settings, sizes)
    experts, learnt, combination = parts["experts"], parts["learnt"], None
    if experts is not None:
        names, weights, _ = map(_checked("experts", experts, sizes).get, PARTS["experts"])
        decided = isinstance(outcome, OneLabel) and outcome.decision is not None
        _require(decided and all(map(_is_text, names)), "its experts have no names")
        combination = Combination(names, weights, seeds.smoothed_shares)
    taught = None if learnt is None else _learnt(learnt, seeds, combination, sizes)
    proof, odds = parts["proof"], parts["label_odds"]
    fit = Fit(
        problem,
        seeds,
        settings,
        outcome,
        odds=None if experts is None else experts["odds"],
        taught=taught,
        proof=None if proof is None else Certificate(**_checked("certificate", proof, sizes)),
        taught_odds=None if odds is None else LabelOdds(**_checked("label odds", odds, sizes)),
        weighed=combination if taught is None else None,
    )
    names, columns = parts["feature_names"], parts.get("seed_columns")
    _check_names(names, columns)
    return Saved(parameters, fit, names, columns)


def _settings(given: Any) -> Settings:
    """Refuse what a classifier would refuse, and types that its users would be told about later."""
    _require(isinstance(given, dict), "it has no settings")
    for name, value in given.items():
        plain = value is None or isinstance(value, PLAIN) or (name == "class_weight" and isinstance(value, dict))
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
    same = all(np.array_equal(one, other) for one, other in zip(again, csr, strict=True))
    _require(same, "its graph has duplicate edges, loops, or edges without weight")
    if not directed:  # the constructors compare hashes, which can be fooled
        matrix.has_sorted_indices = True
        other = csr_array(matrix.T)
        same = all(np.array_equal(getattr(matrix, name), getattr(other, name)) for name in SPARSE)
        _require(same, "its graph is not symmetric")
    if n_rows is not None:
        _require(type(n_rows) is int and 0 <= n_rows <= n, "its graph has more rows than nodes")
        _require(bool(np.all((csr.rows < n_rows) != (csr.indices < n_rows))), "its graph is not bipartite")
    return Graph(csr, nodes, directed, n_rows)


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
    _require(times is None or len(times) == problem.lifting.heat.n, "its times are not for this graph")
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
    return OneLabel(solution, seeds, chances=record["chances"], decision=decision)


def _learnt(record: Any, seeds: Seeds, combination: Combination | None, sizes: dict[str, int]) -> Learnt:
    """Refuse what hidden seeds could not have taught."""
    _require(isinstance(record, dict) and record.keys() == {"seeds", "calibration", "trial"}, "its findings are lost")
    earlier = _seeds(record["seeds"], sizes["n"])
    alike = np.array_equal(earlier.classes, seeds.classes)
    _require(alike and not earlier.several, "it learnt from seeds of other classes")
    calibration = Calibration(**_checked("calibration", record["calibration"], {**sizes, "e": len(UNIT_POWER)}))
    if record["trial"] is None:
        return Learnt(earlier, calibration, Trial.empty(sizes["K"]), combination)
    trial = Trial(**_checked("trial", record["trial"], sizes))
    _require(trial.n_lone <= len(earlier.nodes), "it has more seeds of rare classes than seeds")
    return Learnt(earlier, calibration, trial, combination)


def _check_names(names: Any, columns: Any) -> None:
    """Refuse names of columns that are not texts."""
    plain = names is None or (isinstance(names, np.ndarray) and names.ndim == 1 and all(map(_is_text, names.tolist())))
    _require(plain, "its feature names are not texts")
    if columns is not None:
        _require(isinstance(columns, dict) and columns.keys() == {"node", "label"}, "its seeds have other columns")
        _require(all(map(_is_text, columns.values())), "the columns of its seeds have no names")
        _require(len(set(columns.values())) == 2, "the columns of its seeds have the same name")


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
    try:
        text = json.dumps(objects.tolist(), default=_plain)
    except TypeError:
        bad = next(each for each in objects.tolist() if not _can_be_saved(each))
        raise TypeError(
            f"{name} cannot be saved: {bad!r} is neither int, float, bool, str nor a tuple of these; "
            "make it a str before the graph is built"
        ) from None
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _plain(value: Any) -> Any:
    if isinstance(value, np.number | np.bool_):
        return value.item()
    raise TypeError


def _can_be_saved(value: Any) -> bool:
    try:
        json.dumps(value, default=_plain)
    except TypeError:
        return False
    return True


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
        case {"tuple": inside}:
            return tuple(_unpacked(each, arrays) for each in inside)
    raise ValueError


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _check_compressed(data: Any, indices: Any, indptr: Any, shape: Any) -> None:
    """Refuse a matrix in compressed rows that points outside of itself; SciPy overlooks some of them."""
    _require(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (data, indices, indptr)), "no matrix")
    sizes = all(type(size) is int and 0 <= size < 2**62 for size in shape) and len(shape) == 2
    _require(sizes, "a matrix has no shape")
    _require(indptr.dtype.kind == indices.dtype.kind == "i", "a matrix has indices of the wrong type")
    ends = len(indptr) == shape[0] + 1 and (indptr[0], indptr[-1]) == (0, len(indices)) and len(data) == len(indices)
    _require(ends and bool(np.all(indptr[1:] >= indptr[:-1])), "the rows of a matrix are out of order")
    _require(bool(np.all((indices >= 0) & (indices < shape[1]))), "a matrix has indices out of range")
