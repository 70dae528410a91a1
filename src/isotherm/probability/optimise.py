"""Small fits: minimise a smooth loss by Newton's method.

Each step finds the Newton direction by conjugate gradient, which needs only products with the curvature. The method
goes to the minimum itself, so results do not depend on the order of rows or classes.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Mask

LARGE = 10**8  # multiplications in a product; from here on several threads pay
MOST_STEPS, MOST_PRODUCTS = 50, 100  # of Newton's method, and of conjugate gradient in each step
GRADIENT = 1e-10  # length of the gradient at the minimum, relative to that at the start
DECREASE, LEAST_SIZE = 1e-4, 1e-6  # least decrease, relative to the slope, and least fraction of a step
NEGLIGIBLE = 1e-9  # decreases of minus a log-likelihood that are as small make no difference to any parameter
ROUNDING = 1e-13  # decreases of the loss that are as small, relative to it, are rounding errors


class Local(NamedTuple):
    """A loss around a point."""

    value: float
    gradient: Doubles
    curve: Callable[[Doubles], Doubles]  # the product of the curvature with a direction


Loss = Callable[[Doubles], Local]


def fitting_threads(work: int = 0) -> AbstractContextManager[Any]:
    """Limit matrix products of ``work`` multiplications to one thread, unless they are large.

    On busy cores, waiting for further threads takes many times as long as a small product itself.
    """
    return _libraries().limit(limits=None if work >= LARGE else 1, user_api="blas")


def one_thread() -> AbstractContextManager[Any]:
    """Limit all libraries to one thread."""
    return _libraries().limit(limits=1)


def minimum(loss: Loss, start: Doubles, gradient: float = GRADIENT, enough: float = 0.0) -> Doubles:
    """The point near ``start``, an array of any shape, where a loss is least.

    Its gradient is at most ``gradient`` times as long as that at the start, or the last step was to decrease the loss
    by at most ``enough``.

    >>> bowl = lambda x: Local(float(np.vdot(x - 3, x - 3)), 2 * (x - 3), lambda step: 2 * step)
    >>> minimum(bowl, np.zeros(2))
    array([3., 3.])
    """
    x, here = start, loss(start)
    first = float(np.linalg.norm(here.gradient))
    for _ in range(MOST_STEPS):
        length = float(np.linalg.norm(here.gradient))
        if length <= gradient * first:
            break
        step, size = _newton_step(here, min(0.1, np.sqrt(length / first))), 1.0
        slope = float(np.vdot(here.gradient, step))
        if -slope <= max(ROUNDING * abs(here.value), enough):  # perhaps too flat to compare values of the loss
            return x + step
        while not (there := _far(loss, x + size * step)).value <= here.value + DECREASE * size * slope:
            size /= 2
            if size < LEAST_SIZE:  # only rounding errors are left
                return x
        x, here = x + size * step, there
    return x


def _far(loss: Loss, x: Doubles) -> Local:
    """The loss after a step, which may be so long that it is infinite there."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return loss(x)


def _newton_step(here: Local, tol: float) -> Doubles:
    """Minus the inverse curvature times the gradient, by conjugate gradient, as far as the curvature is positive."""
    step, residual = np.zeros_like(here.gradient), -here.gradient
    direction, square = residual, float(np.vdot(residual, residual))
    enough = tol**2 * square
    for count in range(MOST_PRODUCTS):
        product = here.curve(direction)
        curvature = float(np.vdot(direction, product))
        if curvature <= 0:
            return step if count else residual
        length = square / curvature
        step = step + length * direction
        residual = residual - length * product
        before, square = square, float(np.vdot(residual, residual))
        if square <= enough:
            break
        direction = residual + square / before * direction
    return step


def bounded_minimum(loss: Loss, start: Doubles, low: float, high: float) -> Doubles:
    """The same for a convex loss of a few numbers, each between ``low`` and ``high``.

    >>> bowl = lambda x: Local(float(np.vdot(x - [3, -1], x - [3, -1])), 2 * (x - [3, -1]), lambda step: 2 * step)
    >>> bounded_minimum(bowl, np.ones(2), 0.0, 2.0)
    array([2., 0.])
    """
    x, free = start.copy(), np.ones(len(start), bool)
    for _ in range(4 * len(start)):
        x[free] = minimum(_restricted(loss, x, free), x[free], enough=NEGLIGIBLE)
        outside = (x < low) | (x > high)
        np.clip(x, low, high, out=x)
        downhill = loss(x).gradient * np.where(x <= low, 1, -1) < 0  # at a bound: the loss decreases inwards
        now = (free & ~outside) | (~free & downhill)
        if (now == free).all():
            break
        free = now
    return x


def _restricted(loss: Loss, x: Doubles, free: Mask) -> Loss:
    """The loss as a function of some of the numbers."""

    def filled(some: Doubles, rest: Doubles) -> Doubles:
        whole = rest.copy()
        whole[free] = some
        return whole

    def restricted(some: Doubles) -> Local:
        value, gradient, curve = loss(filled(some, x))
        return Local(value, gradient[free], lambda step: curve(filled(step, np.zeros_like(x)))[free])

    return restricted


@cache
def _libraries() -> Any:
    """Controls the linear algebra libraries of this process; finding them takes some milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
