"""The settings of a classifier: its validated parameters."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from isotherm.engines import ENGINES
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import SOLVERS
from isotherm.errors import Option, ParameterError
from isotherm.labelling.rules import DEFAULT_RULE, RULES, Rule, TemperatureRule

__all__ = ["AUTO", "Settings"]

AUTO = "auto"  # the rule is selected on held-out seeds, the side by the rule
CHOICES: dict[str, tuple[str | None, ...]] = {
    "rule": (*RULES, AUTO),
    "calibration": ("auto", None),
    "solver": tuple(SOLVERS),
    "side": (AUTO, "both", "source", "edges"),
    "stop": ("error", "labels"),
    "engine": tuple(ENGINES),
}


@dataclass(frozen=True)
class Settings:
    """Validated parameters; `isotherm.DirichletClassifier` documents each."""

    rule: str = DEFAULT_RULE
    class_weight: Mapping[Any, float] | None = None
    calibration: str | None = "auto"
    side: str = "both"
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
        verbose: bool = False,
        **others: Any,
    ) -> "Settings":
        """The settings for these parameters of the classifier; raises `ParameterError` for invalid values."""
        options = SolveOptions(solver=solver, tol=tol, max_iter=max_iter, engine=engine, threads=n_threads)
        settings = cls(**others, solving=options)
        settings._check()
        _check("verbose", verbose, isinstance(verbose, bool | np.bool_), "True or False")
        return replace(settings, side=settings._side) if settings.side == AUTO else settings

    @property
    def _side(self) -> str:
        """How a directed graph is read if it is not said: for rules on temperatures as in the paper, else as edges."""
        return "both" if isinstance(RULES.get(self.rule), TemperatureRule) else "edges"

    @property
    def selects_rule(self) -> bool:
        """Whether the rule is selected on held-out seeds."""
        return self.rule == AUTO

    @property
    def allowed_memory(self) -> int:
        """Bytes allowed for temperatures, scores and probabilities; by default a quarter of physical memory."""
        if self.max_memory is not None:
            return self.max_memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4

    def _check(self) -> None:
        solving, threshold = self.solving, self.threshold
        chosen = {"rule": self.rule, "side": self.side, "stop": self.stop, "calibration": self.calibration}
        chosen |= {"solver": solving.solver, "engine": solving.engine}
        for name, value in chosen.items():
            known = CHOICES[name]
            _check(name, value, value in known, f"one of {', '.join(map(repr, known))}")
        if self.class_weight is not None:
            _check_class_weight(self.class_weight, RULES.get(self.rule))
        if isinstance(threshold, str):
            _check("threshold", threshold, threshold == "auto", "'auto', None or a number")
        elif threshold is not None:
            _check("threshold", threshold, 0 <= threshold < 1, "at least 0 and below 1")
        tol, max_iter, threads = solving.tol, solving.max_iter, solving.threads
        if tol is None and max_iter is None:
            raise ParameterError(
                "{tol} asks for a fixed number of iterations: set {max_iter}",
                tol=Option("tol", None),
                max_iter=Option("max_iter"),
            )
        _check("tol", tol, tol is None or tol > 0, "positive, or None for exactly max_iter iterations")
        _check("open_share", self.open_share, 0 <= self.open_share < 1, "at least 0 and below 1")
        _check(
            "max_memory", self.max_memory, self.max_memory is None or self.max_memory > 0, "a positive number of bytes"
        )
        _check("max_iter", max_iter, max_iter is None or max_iter >= 1, "at least 1")
        _check("n_threads", threads, threads is None or threads >= 1, "at least 1, or None for all cores")


def _check_class_weight(weights: Any, rule: Rule | None) -> None:
    valid = isinstance(weights, Mapping) and all(map(_is_positive, weights.values()))
    _check("class_weight", weights, valid, "None, or a mapping of labels to positive numbers")
    if isinstance(rule, TemperatureRule):
        raise ParameterError(
            "{weights} is for rules on probabilities: set {rule}",
            weights=Option("class_weight"),
            rule=Option("rule", DEFAULT_RULE),
        )


def _is_positive(weight: Any) -> bool:
    return isinstance(weight, int | float | np.number) and not isinstance(weight, bool) and 0 < float(weight) < math.inf


def _check(name: str, value: Any, valid: bool, wanted: str) -> None:
    """Refuse an invalid value.

    >>> _check("max_iter", 0, False, "at least 1")
    Traceback (most recent call last):
    isotherm.errors.ParameterError: max_iter=0, but it must be at least 1
    """
    if not valid:
        raise ParameterError("{given}, but it must be {wanted}", given=Option(name, value), wanted=wanted)
