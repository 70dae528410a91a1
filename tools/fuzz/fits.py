"""Fits of all kinds with weights over many decades, and sequences of updates, against dense elimination.

Seeds are certain, soft or distributions; graphs are undirected or directed, of each side; tolerances go down to 1e-12,
and some solves stop after a few iterations. An answer is wrong without a word if

- other nodes are reached, or temperatures are outside the range of those of the seeds;
- the solve says that it converged, but the error is above three times the tolerance;
- the bound on the error is below the error;
- the shares of an explanation are off by more than three times the tolerance, and no warning says so;
- after an update, temperatures or labels are not those of a new fit.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import isotherm as iso
from tools.fuzz.dense import Given, shares
from tools.fuzz.mutate import generator

__all__ = ["DECADES", "case", "updates"]

DECADES = (6, 12, 24)
SOLVERS = ("auto", "cg", "direct", "elimination", "sweeps")
STEPWISE = ("cg", "sweeps")  # they take a number of iterations instead of a tolerance
TOLS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12)
SIDES = ("both", "source", "edges")
STEPS = 30  # updates in a sequence
MOST_SWEEPS = 500  # for each of them, which is enough for some
EXPLAINED = 4  # nodes
ROUNDING = 1e-14  # of the reference, for each node of the graph, and of this comparison
CONSTANT = 1e-13  # columns that spread less are constant

Doubles = NDArray[np.float64]


class Truth(NamedTuple):
    """The exact temperatures (n, K), NaN where unreached."""

    temperatures: Doubles

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Which nodes have a temperature."""
        return ~np.isnan(self.temperatures[:, 0])

    @property
    def rounding(self) -> Doubles:
        """The rounding errors of this comparison, relative to the spread of each column."""
        return ROUNDING * len(self.temperatures) / self.spread

    @property
    def spread(self) -> Doubles:
        """The spread of each column; infinite if it is constant, since nothing is relative to 0."""
        spread = self.temperatures[self.reached].std(axis=0)
        return np.where(spread > CONSTANT, spread, np.inf)

    def errors(self, found: NDArray[np.floating]) -> Doubles:
        """The largest error of each column, relative to its spread."""
        return np.asarray(np.abs(found - self.temperatures)[self.reached].max(axis=0, initial=0) / self.spread)


def case(decades: int, seed: int, number: int) -> str | None:
    """What is wrong with one fit, or with its explanations; None if nothing is."""
    rng = generator(seed, 3000 + decades, number)
    given, graph = _random_graph(rng, decades)
    labels, values = _random_labels(rng, given.seeds)
    soft = np.isfinite(given.trust)
    trust = {node: float(weight) for node, weight in zip(given.seeds, given.trust, strict=True) if np.isfinite(weight)}
    options = _random_options(rng, given, TOLS)
    match int(rng.integers(10)):
        case 0:
            options["max_iter"] = int(10 ** rng.uniform(0, 4))
        case 1:
            options |= {
                "tol": None,
                "max_iter": int(10 ** rng.uniform(0, 3)),
                "solver": str(rng.choice(["cg", "sweeps"])),
            }
    clf = iso.DirichletClassifier(rule="vanilla", calibration=None, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(graph, labels, seed_weight=trust or None)
    measure = shares(given)
    fault = _fault(clf, Truth(measure @ values), options["tol"]) or _explanation_fault(clf, given, measure, rng)
    return fault and f"{options}, {graph.n_nodes} nodes, {soft.sum()} of {len(soft)} seeds soft: {fault}"


def updates(seed: int, number: int) -> str | None:
    """What is wrong after one of many updates; None if nothing is."""
    rng = generator(seed, 4000, number)
    given, graph = _random_graph(rng, int(rng.choice([0, 2, 6])), most=60, soft=False)
    n, classes = graph.n_nodes, int(rng.choice([2, 3, 16, 17, 20]))
    seeds = {node: int(rng.integers(classes)) for node in given.seeds} | {0: 0, n - 1: 1}
    options = _random_options(rng, given, TOLS[1:5])
    if options["solver"] == "sweeps":
        options["max_iter"] = MOST_SWEEPS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = iso.DirichletClassifier(rule="vanilla", calibration=None, **options).fit(graph, seeds)
        for step in range(STEPS):
            add, remove = _random_change(rng, seeds, n, classes)
            clf.update(add, remove)
            seeds = {node: label for node, label in seeds.items() if node not in remove} | add
            if fault := _update_fault(clf, given, seeds, options["tol"]):
                return f"{options}, {n} nodes, {classes} classes, update {step}: {fault}"
        fresh = iso.DirichletClassifier(rule="vanilla", calibration=None, **options).fit(graph, seeds)
    if _same_labels(clf, fresh) or not (clf.solution_.converged and fresh.solution_.converged):
        return None
    return f"{options}, {n} nodes: other labels than those of a new fit"


def _random_graph(
    rng: np.random.Generator, decades: int, *, most: int = 30, soft: bool | None = None
) -> tuple[Given, iso.Graph]:
    n = int(rng.integers(2, most if rng.random() < 0.3 else 12))
    directed, single = bool(rng.random() < 0.4), bool(rng.random() < 0.2)
    single &= not directed  # opposite arcs would be added in float32
    present = rng.random((n, n)) < rng.choice([1 / n, 2 / n, 0.5])
    for node in range(1, n):
        present[node - 1 if rng.random() < 0.5 else rng.integers(node), node] |= rng.random() < 0.9
    present &= directed | np.triu(np.ones((n, n), bool), 1)
    weights = present * 10.0 ** rng.uniform(-decades / 2, decades / 2, (n, n))
    weights = weights.astype(np.float32 if single else np.float64)
    source, target = np.nonzero(weights)
    graph = iso.Graph.from_edges(source, target, weights[source, target], directed=directed, nodes=range(n))
    seeds = sorted(rng.permutation(n)[: rng.integers(1, max(2, n // 2) + 1)].tolist())
    trust = np.full(len(seeds), np.inf)
    if soft if soft is not None else rng.random() < 0.6:
        trust = np.where(rng.random(len(seeds)) < 0.8, 10.0 ** rng.uniform(-decades / 2, 3, len(seeds)), np.inf)
    whole = weights.astype(np.float64)
    return Given(whole if directed else whole + whole.T, directed, str(rng.choice(SIDES)), seeds, trust), graph


def _random_options(rng: np.random.Generator, given: Given, tols: tuple[float, ...]) -> dict[str, Any]:
    return {"solver": str(rng.choice(SOLVERS)), "tol": float(rng.choice(tols)), "side": given.side}


def _random_labels(rng: np.random.Generator, seeds: list[int]) -> tuple[dict[int, Any], Doubles]:
    """A label or a distribution for each seed, and these as rows over the classes that occur."""
    classes = int(rng.choice([1, 2, 3, 16, 20]))
    rows = np.eye(classes)[rng.integers(classes, size=len(seeds))]
    if rng.random() < 0.7:
        names = rows.argmax(axis=1)
        return dict(zip(seeds, names.tolist(), strict=True)), np.eye(classes)[names][:, np.unique(names)]
    rows = rng.dirichlet(np.full(classes, 0.3), len(seeds))
    labels = {node: dict(enumerate(row.tolist())) for node, row in zip(seeds, rows, strict=True)}
    return labels, rows


def _random_change(
    rng: np.random.Generator, seeds: dict[int, int], n: int, classes: int
) -> tuple[dict[int, int], list[int]]:
    nodes = rng.permutation(n)[: rng.integers(1, 4)].tolist()
    remove = [node for node in nodes if node in seeds and rng.random() < 0.5]
    add = {node: int(rng.integers(classes)) for node in nodes if node not in remove}
    left = {label for node, label in ({node: seeds[node] for node in seeds if node not in remove} | add).items()}
    return (add, remove) if len(left) > 1 else ({0: 0, n - 1: 1}, [])


def _fault(clf: Any, truth: Truth, tol: float | None) -> str | None:
    found, solution = np.asarray(clf.temperatures_, np.float64), clf.solution_
    if found.shape != truth.temperatures.shape or not np.array_equal(np.isnan(found[:, 0]), ~truth.reached):
        return "other nodes or classes are reached"
    known = found[truth.reached]
    if known.size and not (known.min() >= 0 and known.max() <= 1):
        return f"temperatures are from {known.min()} to {known.max()}"
    errors, rounding = truth.errors(found), truth.rounding
    if solution.converged and tol is not None and (errors > 3 * tol + rounding).any():
        return f"converged, but the error is {errors.max():.2g}; it was estimated as {solution.error:.2g}"
    if (errors > solution.error_bound + rounding).any():
        return f"the bound is {solution.error_bound:.2g}, but the error is {errors.max():.2g}"
    return None


def _explanation_fault(clf: Any, given: Given, measure: Doubles, rng: np.random.Generator) -> str | None:
    nodes = rng.permutation(len(measure))[:EXPLAINED].tolist()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explanations = clf.explain_many(nodes)
    if any(issubclass(each.category, iso.ConvergenceWarning) for each in caught):
        return None
    tol = 1e-3 if clf.tol is None else clf.tol
    for node, found in zip(nodes, explanations, strict=True):
        if np.isnan(measure[node, 0]):
            if len(found.seed):
                return "an unreached node has shares"
            continue
        table = dict(zip(found.seed.tolist(), found.share.tolist(), strict=True))
        wrong = 0.5 * sum(abs(table.get(s, 0.0) - share) for s, share in zip(given.seeds, measure[node], strict=True))
        if not wrong <= 3 * tol + ROUNDING * len(measure):
            return f"shares of heat are off by {wrong:.2g} at node {node}"
    return None


def _update_fault(clf: Any, given: Given, seeds: dict[int, int], tol: float) -> str | None:
    nodes, classes = sorted(seeds), sorted(set(seeds.values()))
    if clf.classes_.tolist() != classes:
        return "other classes"
    rows = np.array([[float(seeds[node] == label) for label in classes] for node in nodes])
    now = given._replace(seeds=nodes, trust=np.full(len(nodes), np.inf))
    return _fault(clf, Truth(shares(now) @ rows), tol)


def _same_labels(one: Any, two: Any) -> bool:
    """Whether labels agree wherever the warmest class is clear within the tolerance."""
    order = np.sort(np.nan_to_num(two.temperatures_), axis=1)
    spread = np.nanstd(two.temperatures_, axis=0).max(initial=0)
    clear = order[:, -1] - order[:, -2] > 12 * one.tol * spread + 1e-6
    return bool(np.array_equal(one.labels_[clear], two.labels_[clear]))
