"""Linear algebra on small matrices: with one thread, and the least value of a loss with few parameters."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from isotherm.arrays import Doubles

__all__ = ["fitting_threads", "minimum"]

LARGE = 10**8  # multiplications in a product from which several threads pay


def fitting_threads(work: int = 0) -> AbstractContextManager[Any]:
    """Let products of matrices with ``work`` multiplications take one thread, unless they are large.

    Further threads would wait for the next product, and on busy cores take many times as long as the product itself.
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
    """The parameters with the least loss, which gives its value and gradient with so much work, by L-BFGS."""
    from scipy.optimize import minimize  # slow to import, and not needed where no seed can be hidden

    with fitting_threads(work):
        found: Doubles = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return found


@cache
def _libraries() -> Any:
    """The libraries of linear algebra in this process; to find them takes some milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
