"""Small fits: minimise a loss with few parameters, with one thread of linear algebra."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from isotherm.arrays import Doubles

LARGE = 10**8  # multiplications in a product; from here on several threads pay


def fitting_threads(work: int = 0) -> AbstractContextManager[Any]:
    """Limit matrix products of ``work`` multiplications to one thread, unless they are large.

    On busy cores, waiting for further threads takes many times as long as a small product itself.
    """
    return _libraries().limit(limits=None if work >= LARGE else 1, user_api="blas")


def minimum(
    loss: Callable[[Doubles], tuple[float, Doubles]],
    start: Doubles,
    *,
    bounds: Sequence[tuple[float, float]] | None = None,
    options: Mapping[str, Any] | None = None,
    work: int = 0,
) -> Doubles:
    """Minimise a loss by L-BFGS; it returns its value and gradient, at the cost of ``work`` multiplications."""
    from scipy.optimize import minimize  # slow to import, and not needed where no seed can be hidden

    with fitting_threads(work):
        found: Doubles = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return found


@cache
def _libraries() -> Any:
    """Controls the linear algebra libraries of this process; finding them takes some milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
