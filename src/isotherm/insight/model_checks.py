"""Whether a saved model can be trusted: what would crash the kernels, or mislead quietly, is refused.

A model file may come from anywhere. Its checksum tells damage, not intent, so each part is checked here as if it came
from a user: the graph as by the constructors of `Graph`, the settings as by the classifier, and the shape, type and
range of every array. The shapes are stated once, in `SHAPES`.
"""

from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.equilibrium.certificate import Certificate
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Csr, Graph
from isotherm.graphs.csr import check_size
from isotherm.graphs.nodes import distinct_ids
from isotherm.insight.confidence.found import Experts, Found
from isotherm.insight.confidence.rule_choice import RuleScore
from isotherm.labelling.decisions import Decided, Decision
from isotherm.labelling.label_sets import LabelSets
from isotherm.labelling.outcomes import AllScores, BestScores
from isotherm.labelling.rules import RULES, ProbabilityRule
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import Calibration
from isotherm.probability.label_odds import LabelOdds
from isotherm.seeds import Seeds

__all__ = [
    "PARTS",
    "check_compressed",
    "check_found",
    "check_graph",
    "check_names",
    "check_seed_columns",
    "check_seeds",
    "check_settings",
    "checked_outcome",
]


class Array(NamedTuple):
    """What an array must be: the kinds of its type, its shape by the letters of `_sizes`, and the range of its values.

    A dot stands for any size. NaN is allowed only where that is said.
    """

    kinds: str
    shape: str
    least: float = -np.inf
    most: float = np.inf
    nan: bool = False
    optional: bool = False


# n nodes, s seeds, K classes. Fields that are not here hold plain values or other parts.
SHAPES: dict[type[Any], dict[str, Array]] = {
    Seeds: {
        "nodes": Array("i", "s", 0),
        "codes": Array("i", "s", -1),
        "classes": Array("ibO", "K"),
        "table": Array("f", "sK", 0, 1, optional=True),
        "weights": Array("f", "s", np.finfo(np.float64).tiny, optional=True),
    },
    AllScores: {},
    Decided: {"chances": Array("f", "nK", 0, 1.001)},
    Decision: {"mean": Array("f", "K", 0, 1.001), "weights": Array("f", "K", 0, optional=True)},
    BestScores: {
        "best_classes": Array("i", "n.", -1),
        "best_scores": Array("f", "n.", nan=True),
        "certainty": Array("f", "n", 0, 1.001),
    },
    LabelSets: {
        "labels": Array("b", "nK"),
        "warmth": Array("f", "nK"),
        "thresholds": Array("f", "K"),
        "reached": Array("b", "n"),
    },
    Certificate: {
        "temperatures": Array("f", "nK", nan=True),
        "times": Array("f", "n", 0),
        "residual": Array("f", "K", 0, nan=True),
    },
    Experts: {"weights": Array("f", "E", 0), "odds": Array("f", "EnK")},
    Calibration: {
        "slopes": Array("f", "e"),
        "bias": Array("f", "K"),
        "shares": Array("f", "K", 0, 1),
        "mean": Array("f", "K", nan=True),
        "misfits": Array("f", ".", 0, 1),
        "covariance": Array("f", "ee"),
    },
}

PARTS: tuple[type[Any], ...] = (
    *(AllScores, BestScores, Calibration, Certificate, Csr, Decided, Decision, Experts, Found, Graph),
    *(LabelOdds, LabelSets, RuleScore, Seeds, Settings, Solution, SolveOptions),
)
NUMBERS = (bool, int, float, str, type(None))


def check_graph(graph: Any) -> None:
    """Refuse what no constructor of `Graph` could have made."""
    _require(isinstance(graph, Graph) and isinstance(graph.csr, Csr), "it has no graph")
    csr, n, directed = graph.csr, len(graph.nodes), graph.directed
    _require(isinstance(directed, bool), "its graph is neither directed nor undirected")
    _require(graph.nodes.dtype == np.int64 or graph.nodes.dtype == object, "its node ids are of an unknown type")
    check_size(n, directed)
    distinct_ids(graph.nodes)
    types = [np.dtype(np.int64), np.dtype(np.int32)]
    _require([csr.indptr.dtype, csr.indices.dtype] == types, "its graph has indices of the wrong type")
    weights = np.ones(len(csr.indices), np.float32) if csr.weights is None else csr.weights
    _require(weights.dtype in (np.float32, np.float64), "its graph has weights of the wrong type")
    _require([array.shape for array in csr[:2]] == [(n + 1,), weights.shape], "its graph has arrays of other lengths")
    check_compressed(weights, csr.indices, csr.indptr, (n, n))
    matrix = csr_array((weights, csr.indices, csr.indptr), shape=(n, n))
    again = Graph.from_scipy(matrix, directed=directed).csr
    _require(_equal(again, csr), "its graph has duplicate edges, loops, or edges without weight")
    if not directed:  # the constructors take a hash for it, which can be fooled
        matrix.has_sorted_indices = True
        _require(_equal(matrix, csr_array(matrix.T)), "its graph is not symmetric")
    if graph.n_rows is not None:
        _check_bipartite(csr, graph.n_rows, n)


def check_compressed(data: Any, indices: Any, indptr: Any, shape: Any) -> None:
    """Refuse a matrix in compressed rows that points outside of itself; SciPy overlooks some of them."""
    _require(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (data, indices, indptr)), "no matrix")
    _require(
        all(type(size) is int and 0 <= size < 2**62 for size in shape) and len(shape) == 2, "a matrix has no shape"
    )
    _require(indptr.dtype.kind == indices.dtype.kind == "i", "a matrix has indices of the wrong type")
    ends = len(indptr) == shape[0] + 1 and (indptr[0], indptr[-1]) == (0, len(indices)) and len(data) == len(indices)
    _require(ends and bool(np.all(indptr[1:] >= indptr[:-1])), "the rows of a matrix are out of order")
    _require(bool(np.all((indices >= 0) & (indices < shape[1]))), "a matrix has indices out of range")


def _equal(one: Any, other: Any) -> bool:
    names = ("indptr", "indices", "data" if isinstance(one, csr_array) else "weights")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _check_bipartite(csr: Csr, n_rows: Any, n: int) -> None:
    _require(type(n_rows) is int and 0 <= n_rows <= n, "its graph has more rows than nodes")
    _require(bool(np.all((csr.rows < n_rows) != (csr.indices < n_rows))), "its graph is not bipartite")


def check_seeds(seeds: Any, n: int) -> None:
    """Refuse seeds that are not in the graph, or of classes that do not exist."""
    _require(isinstance(seeds, Seeds) and isinstance(seeds.several, bool), "it has no seeds")
    _check_arrays(seeds, {"n": n, "s": len(seeds.nodes), "K": len(seeds.classes)})
    classes = seeds.classes.tolist()
    _require(len(classes) >= 1, "it has no classes")
    _require(
        len({type(label) for label in classes} | {{"i": int, "b": bool, "O": str}[seeds.classes.dtype.kind]}) == 1,
        "its labels are neither int nor str nor bool",
    )
    _require(all(a < b for a, b in pairwise(classes)), "its classes are not distinct and sorted")
    nodes, codes = seeds.nodes, seeds.codes
    _require(len(nodes) > 0 and bool(np.all(np.diff(nodes) > 0)) and nodes[-1] < n, "its seeds are not in the graph")
    least = -1 if seeds.several else 0
    _require(bool(np.all((codes >= least) & (codes < len(classes)))), "its seeds have classes that do not exist")
    if seeds.table is None:
        _require(not seeds.several, "its seeds have no sets of labels")
    elif not seeds.several:
        sums = seeds.table.sum(axis=1)
        _require(bool(np.allclose(sums, 1, atol=1e-9)), "the probabilities of its seeds do not add up to 1")
    _require(seeds.several or bool(np.all(seeds.shares > 0)), "it has classes without seeds")


def check_settings(settings: Any, parameters: Any) -> None:
    """Refuse what the classifier would refuse."""
    _require(isinstance(settings, Settings) and isinstance(settings.solving, SolveOptions), "it has no settings")
    _require(isinstance(parameters, dict), "it has no parameters")
    Settings.of(**parameters)
    others = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name != "solving"}
    solving = settings.solving
    _require(solving.progress is None, "it has settings of another type")
    Settings.of(
        solver=solving.solver,
        tol=solving.tol,
        max_iter=solving.max_iter,
        engine=solving.engine,
        n_threads=solving.threads,
        **others,
    )
    for count in (solving.threads, solving.max_iter, parameters.get("n_threads"), parameters.get("max_iter")):
        _require(count is None or type(count) is int, "it has settings of another type")
    for name, value in (*others.items(), *parameters.items()):
        plain = isinstance(value, NUMBERS) or (name == "class_weight" and isinstance(value, dict))
        _require(plain, "it has settings of another type")


def checked_outcome(outcome: Any, fit: dict[str, Any], n: int) -> Any:
    """The outcome, with the seeds and the rule of the fit itself, so that there is only one of each."""
    seeds, sizes = fit["seeds"], {"n": n, "K": fit["seeds"].n_classes}
    _require(isinstance(outcome, AllScores | BestScores | Decided | LabelSets), "it has no outcome")
    _require(fit["rule"] in RULES.values(), "it has no rule")
    _require(isinstance(outcome, LabelSets) == seeds.several, "its outcome does not fit its seeds")
    _check_solution(outcome, sizes)
    _check_arrays(outcome, sizes)
    if isinstance(outcome, BestScores):
        _require(outcome.best_classes.dtype == np.int32, "its best classes are of the wrong type")
        _require(outcome.best_classes.shape == outcome.best_scores.shape, "its best classes have no scores")
        _require(bool(np.all(outcome.best_classes < sizes["K"])), "its best classes do not exist")
        _require(outcome.best_classes.shape[1] >= min(2, sizes["K"]), "its best classes are too few")
    if isinstance(outcome, LabelSets):
        _require(outcome.hidden is None, "it has hidden seeds")
        _require(_equal_places(outcome.labels, outcome.warmth), "its labels have no temperatures")
    if fit["certificate"] is not None:
        _require(isinstance(fit["certificate"], Certificate), "its certificate is of another type")
        _check_arrays(fit["certificate"], sizes)
    _require(isinstance(fit["obstacle"], str), "its obstacle is not a text")
    _require(isinstance(outcome, Decided) == isinstance(fit["rule"], ProbabilityRule), "its rule did not decide")
    if isinstance(outcome, AllScores):
        return replace(outcome, seeds=seeds, rule=fit["rule"])
    if isinstance(outcome, Decided):
        _require(isinstance(outcome.decision, Decision), "its decision is of another type")
        _check_arrays(outcome.decision, sizes)
        return replace(outcome, seeds=seeds, decision=replace(outcome.decision, rule=fit["rule"]))
    return replace(outcome, seeds=seeds)


def _equal_places(one: csr_array, other: csr_array) -> bool:
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices)


def _check_solution(outcome: Any, sizes: dict[str, int]) -> None:
    solution = outcome.solution
    _require(isinstance(solution, Solution), "it has no solution")
    temperatures = solution.temperatures
    kept = isinstance(outcome, AllScores | Decided) or temperatures.shape[1] > 0
    _check_array("temperatures", temperatures, Array("f", "nK" if kept else "n.", nan=True), sizes)
    lost = np.isnan(temperatures)
    _require(not kept or bool(np.all(lost.any(axis=1) == lost.all(axis=1))), "some temperatures of a node are missing")
    _require(not np.isinf(temperatures).any(), "it has infinite temperatures")
    kinds = {"solver": str, "iterations": int, "converged": bool}
    for name in ("residual", "error", "error_bound", "seconds"):
        kinds[name] = float
    for name, kind in kinds.items():
        value = getattr(solution, name)
        _require(type(value) is kind or (kind is float and type(value) is int), f"its {name} is of another type")


def check_found(found: Any, seeds: Seeds, n: int) -> None:
    """Refuse what held-out seeds could not have told."""
    _require(isinstance(found, Found), "its findings are of another type")
    calibration, odds, report = found.calibration, found.label_odds, found.rule_report
    if calibration is not None:
        _require(isinstance(calibration, Calibration), "its calibration is of another type")
        _check_arrays(calibration, {"n": n, "K": seeds.n_classes, "e": len(calibration.slopes)})
        _check_numbers(calibration, ("lapse", "n_held_out", "error"))
        _require(0 <= calibration.lapse <= 1, "its calibration has an impossible lapse")
    if found.experts is not None:
        _check_experts(found.experts, {"n": n, "K": seeds.n_classes})
    if odds is not None:
        _require(isinstance(odds, LabelOdds), "its odds are of another type")
        _check_numbers(odds, ("scale", "bias", "n_seen"))
    if found.learnt_from is not None:
        check_seeds(found.learnt_from, n)
        alike = np.array_equal(found.learnt_from.classes, seeds.classes)
        _require(alike and not found.learnt_from.several, "it learnt from seeds of other classes")
    _require(found.best_rule is None or found.best_rule in RULES, "its best rule does not exist")
    for name, score in ({} if report is None else report).items():
        _require(name in RULES and isinstance(score, RuleScore), "its report is about rules that do not exist")
        _check_numbers(score, ("macro_f1", "std"))


def _check_experts(experts: Any, sizes: dict[str, int]) -> None:
    _require(isinstance(experts, Experts) and isinstance(experts.names, tuple), "its experts are of another type")
    _require(all(map(_is_text, experts.names)), "its experts have no names")
    for name, wanted in SHAPES[Experts].items():
        _check_array(name, getattr(experts, name), wanted, {**sizes, "E": len(experts.names)})


def check_names(names: Any) -> None:
    """Refuse names of columns that are not texts."""
    plain = names is None or (isinstance(names, np.ndarray) and names.ndim == 1 and all(map(_is_text, names.tolist())))
    _require(plain, "its feature names are not texts")


def check_seed_columns(columns: Any) -> None:
    """Refuse names of the columns of a file of seeds that are not two different texts."""
    if columns is not None:
        _require(isinstance(columns, dict) and set(columns) == {"node", "label"}, "its seeds have other columns")
        _require(all(map(_is_text, columns.values())), "the columns of its seeds have no names")
        _require(len(set(columns.values())) == 2, "the columns of its seeds have the same name")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _check_numbers(part: Any, names: tuple[str, ...]) -> None:
    for name in names:
        _require(type(getattr(part, name)) in (int, float), f"its {name} is not a number")


def _check_arrays(part: Any, sizes: dict[str, int]) -> None:
    """Check all arrays of a part, and that no other field of it holds one."""
    wanted = SHAPES[type(part)]
    for name in (field.name for field in fields(part)) if is_dataclass(part) else part._fields:
        value = getattr(part, name)
        if name in wanted and not (value is None and wanted[name].optional):
            _check_array(name, value, wanted[name], sizes)
        else:
            _require(isinstance(value, (*NUMBERS, *PARTS)) or value in RULES.values(), f"its {name} is of another type")


def _check_array(name: str, value: Any, wanted: Array, sizes: dict[str, int]) -> None:
    _require(isinstance(value, np.ndarray | csr_array), f"its {name} is not an array")
    values: NDArray[Any] = value.data if isinstance(value, csr_array) else value
    _require(value.dtype.kind in wanted.kinds, f"its {name} is of type {value.dtype}")
    _require(value.dtype.kind not in "if" or value.dtype.itemsize >= 4, f"its {name} is of type {value.dtype}")
    fits = len(value.shape) == len(wanted.shape)
    fits = fits and all(
        letter == "." or sizes[letter] == size for letter, size in zip(wanted.shape, value.shape, strict=True)
    )
    _require(fits, f"its {name} has the shape {value.shape}")
    if values.dtype.kind in "if" and values.size:
        outside = ~((values >= wanted.least) & (values <= wanted.most))
        _require(not np.any(outside & ~np.isnan(values) if wanted.nan else outside), f"its {name} is out of range")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
