"""The settings of a classifier: its validated parameters."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isotherm.engines import ENGINES
from isotherm.equilibrium.options import ALONG, SolveOptions, check_along
from isotherm.equilibrium.solvers import SOLVERS
from isotherm.errors import Option, ParameterError
from isotherm.labelling.rules import DECISIONS, HEAT_RULE, RULES, Decision, Rule

CHOICES: dict[str, tuple[str | None, ...]] = {
    "calibration": ("auto", None),
    "solver": tuple(SOLVERS),
    "side": ("source", "both", "edges", ALONG),
    "stop": ("error", "labels"),
    "engine": tuple(ENGINES),
}


@dataclass(frozen=True)
class Settings:
    """Validated parameters; `DirichletClassifier` and `NodeClassifier` document each.

    A rule on temperatures decides the labels, or else a decision on probabilities.
    """

    rule: Rule | None = None
    decision: Decision | None = None
    class_weight: Mapping[Any, float] | None = None
    class_sizes: Mapping[Any, float] | None = None
    calibration: str | None = "auto"
    side: str = "source"
    stop: str = "error"
    open_share: float = 0.05
    threshold: str | float | None = "auto"
    max_memory: int | None = None
    solving: SolveOptions = field(default_factory=SolveOptions)

    @classmethod
    def of(
        cls,
        *,
        solver: str,
        tol: float | None,
        max_iter: int | None,
        engine: str,
        n_threads: int | None,
        rule: str | None = None,
        decision: str | None = None,
        verbose: bool = False,
        **others: Any,
    ) -> "Settings":
        """The settings for these parameters of a classifier; raises `ParameterError` for invalid values."""
        options = SolveOptions(solver=solver, tol=tol, max_iter=max_iter, engine=engine, threads=n_threads)
        by_rule = None if decision is not None else _known_rule(rule)
        by_probability = None if decision is None else _known_decision(decision)
        settings = cls(by_rule, by_probability, **others, solving=options)
        settings._check()
        _check("verbose", verbose, isinstance(verbose, bool | np.bool_), "True or False")
        return settings

    @property
    def parameters(self) -> dict[str, Any]:
        """What `of` makes these settings of."""
        names = ("class_weight", "class_sizes", "calibration", "side", "stop", "open_share", "threshold", "max_memory")
        solving = ("solver", "tol", "max_iter", "engine")
        return {
            "rule": None if self.rule is None else self.rule.name,
            "decision": None if self.decision is None else self.decision.name,
            **{name: getattr(self, name) for name in names},
            **{name: getattr(self.solving, name) for name in solving},
            "n_threads": self.solving.threads,
        }

    @property
    def heat_rule(self) -> Rule:
        """The rule on temperatures; the default one where a decision is asked for but has no probabilities."""
        return HEAT_RULE if self.rule is None else self.rule

    @property
    def allowed_memory(self) -> int:
        """Bytes allowed for temperatures, scores and probabilities; by default a quarter of physical memory."""
        if self.max_memory is not None:
            return self.max_memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4

    def _check(self) -> None:
        solving, threshold = self.solving, self.threshold
        chosen = {"side": self.side, "stop": self.stop, "calibration": self.calibration}
        chosen |= {"solver": solving.solver, "engine": solving.engine}
        for name, value in chosen.items():
            _check(name, value, value in CHOICES[name], _one_of(CHOICES[name]))
        if self.side == ALONG:
            check_along(solving)
        if self.class_weight is not None:
            _check_by_label("class_weight", self.class_weight, math.inf, "positive numbers")
        if self.class_sizes is not None:
            _check_by_label("class_sizes", self.class_sizes, 1, "shares above 0 and at most 1")
        if isinstance(threshold, str):
            _check("threshold", threshold, threshold == "auto", "'auto', None or a number")
        elif threshold is not None:
            _check("threshold", threshold, _is_number(threshold) and 0 <= threshold < 1, "at least 0 and below 1")
        tol, max_iter, threads = solving.tol, solving.max_iter, solving.threads
        if tol is None and max_iter is None:
            raise ParameterError(
                "{tol} asks for a fixed number of iterations: set {max_iter}",
                tol=Option("tol", None),
                max_iter=Option("max_iter"),
            )
        _check(
            "tol",
            tol,
            tol is None or (_is_number(tol) and tol > 0),
            "positive, or None for exactly max_iter iterations",
        )
        share, memory = self.open_share, self.max_memory
        _check("open_share", share, _is_number(share) and 0 <= share < 1, "at least 0 and below 1")
        _check(
            "max_memory", memory, memory is None or (_is_number(memory) and memory > 0), "a positive number of bytes"
        )
        _check("max_iter", max_iter, max_iter is None or (_is_number(max_iter) and max_iter >= 1), "at least 1")
        enough = threads is None or (_is_number(threads) and threads >= 1)
        _check("n_threads", threads, enough, "at least 1, or None for all cores")


def _check_by_label(name: str, given: Any, most: float, numbers: str) -> None:
    valid = isinstance(given, Mapping) and all(_is_positive(each) and each <= most for each in given.values())
    _check(name, given, valid, f"None, or a mapping of labels to {numbers}")


def _known_rule(name: Any) -> Rule:
    """The rule on temperatures of this name.

    >>> _known_rule("balanced")
    Traceback (most recent call last):
    isotherm.errors.ParameterError: rule='balanced' decides by probabilities: use NodeClassifier(decision='balanced')
    """
    if name in DECISIONS:
        message = "{rule} decides by probabilities: use NodeClassifier(decision={name!r})"
        raise ParameterError(message, rule=Option("rule", name), name=name)
    _check("rule", name, name in RULES, _one_of(RULES))
    return RULES[name]


def _known_decision(name: Any) -> Decision:
    if name in RULES:
        message = "{decision} compares temperatures: use DirichletClassifier(rule={name!r})"
        raise ParameterError(message, decision=Option("decision", name), name=name)
    _check("decision", name, name in DECISIONS, _one_of(DECISIONS))
    return DECISIONS[name]


def _one_of(names: Iterable[Any]) -> str:
    return f"one of {', '.join(map(repr, names))}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number)


def _is_positive(weight: Any) -> bool:
    return _is_number(weight) and not isinstance(weight, bool) and 0 < float(weight) < math.inf


def _check(name: str, value: Any, valid: bool, wanted: str) -> None:
    """Refuse an invalid value.

    >>> _check("max_iter", 0, False, "at least 1")
    Traceback (most recent call last):
    isotherm.errors.ParameterError: max_iter=0, but it must be at least 1
    """
    if not valid:
        raise ParameterError("{given}, but it must be {wanted}", given=Option(name, value), wanted=wanted)
