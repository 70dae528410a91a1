"""The parameters of the classifier: which values make sense."""

from typing import Any

from isotherm.engines import ENGINES
from isotherm.rules import RULES
from isotherm.solvers import SOLVERS

__all__ = ["check_parameters"]

CHOICES: dict[str, tuple[str | None, ...]] = {
    "rule": (*RULES, "auto"),
    "calibration": ("auto", None),
    "solver": tuple(SOLVERS),
    "side": ("both", "source"),
    "stop": ("error", "labels"),
    "engine": tuple(ENGINES),
}


def check_parameters(
    *,
    tol: float | None,
    max_iter: int | None,
    max_memory: int | None,
    open_share: float,
    threshold: str | float | None,
    n_threads: int | None,
    **choices: Any,
) -> None:
    """Refuse values that `DirichletClassifier` cannot work with, in a sentence that says which it can.

    >>> check_parameters(**dict.fromkeys(("tol", "max_memory", "threshold", "n_threads")), max_iter=0, open_share=0)
    Traceback (most recent call last):
    ValueError: max_iter=0, but it must be at least 1
    """
    for name, value in choices.items():
        if value not in CHOICES[name]:
            raise ValueError(f"{name}={value!r}, but it must be one of {', '.join(map(repr, CHOICES[name]))}")
    if isinstance(threshold, str) and threshold != "auto":
        raise ValueError(f"threshold={threshold!r}, but it must be 'auto', None or a number")
    if isinstance(threshold, int | float) and not 0 <= threshold < 1:
        raise ValueError(f"threshold={threshold!r}, but it must be at least 0 and below 1")
    if tol is None and max_iter is None:
        raise ValueError("tol=None asks for a fixed number of iterations: set max_iter")
    if tol is not None and not tol > 0:
        raise ValueError(f"tol={tol!r}, but it must be positive, or None for exactly max_iter iterations")
    if not 0 <= open_share < 1:
        raise ValueError(f"open_share={open_share!r}, but it must be at least 0 and below 1")
    if max_memory is not None and not max_memory > 0:
        raise ValueError(f"max_memory={max_memory!r}, but it must be a positive number of bytes")
    if max_iter is not None and max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r}, but it must be at least 1")
    if n_threads is not None and n_threads < 1:
        raise ValueError(f"n_threads={n_threads!r}, but it must be at least 1, or None for all cores")
