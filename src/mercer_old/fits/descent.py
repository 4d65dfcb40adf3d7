"""Down a smooth function to where it is flat: L-BFGS within bounds, with a record of the way."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.progress import OnPass

_MEMORY = 20  # steps whose curvature is remembered
_TRIES = 3  # evaluations that an iteration may take, on average
_LEAST_GAIN = 1e-15  # relative to the value: less is rounding

Function = Callable[[Array], tuple[float, Array]]  # from a point to value and gradient


@dataclass(frozen=True)
class Descent:
    """Where it ended, and how it came there."""

    point: Array
    values: list[float]  # at the start and after each iteration, each no larger than the one before
    gradient: Array  # at the end, and zero where a bound stops the descent

    @property
    def iterations(self) -> int:
        return len(self.values) - 1

    @property
    def steepness(self) -> float:
        """The largest entry of the gradient, in size."""
        return float(np.abs(self.gradient).max(initial=0.0))


def descend(
    function: Function,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    low: Array | None = None,
    high: Array | None = None,
    on_pass: OnPass = None,
    watch: Callable[[Array], bool] | None = None,
) -> Descent:
    """From a start to a point where no entry of the gradient is larger than `tol`, or to the last iteration allowed.

    `watch` sees the point after each iteration, and ends the descent when it says True.
    """
    steps = _Steps(function, max_iter, on_pass, watch)
    steps.first(start)
    if not len(start):
        return Descent(start, steps.values, np.zeros(0))
    bounds = None if low is None or high is None else np.column_stack([low, high])
    options = {
        "maxcor": _MEMORY,
        "gtol": tol,
        "ftol": _LEAST_GAIN,
        "maxiter": max_iter,
        "maxfun": _TRIES * max_iter + 20,
        "maxls": 40,
    }
    found = scipy.optimize.minimize(
        steps.evaluate, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=steps.take, options=options
    )
    gradient = np.asarray(found.jac, dtype=np.float64).copy()
    if low is not None and high is not None:
        gradient[((found.x <= low) & (gradient > 0)) | ((found.x >= high) & (gradient < 0))] = 0.0
    return Descent(found.x, steps.values, gradient)


class _Steps:
    """Evaluations as scipy asks for them, and the values at those points that it keeps."""

    def __init__(self, function: Function, most: int, on_pass: OnPass, watch: Callable[[Array], bool] | None) -> None:
        self.function, self.most, self.on_pass, self.watch = function, most, on_pass, watch
        self.values: list[float] = []
        self.known: tuple[Array, tuple[float, Array]] | None = None

    def first(self, start: Array) -> None:
        self.values.append(self.evaluate(start)[0])

    def evaluate(self, point: Array) -> tuple[float, Array]:
        if self.known is not None and np.array_equal(self.known[0], point):  # the start is asked for twice
            return self.known[1]
        value, gradient = self.function(point)
        self.known = point.copy(), (float(value), gradient)
        return self.known[1]

    def take(self, intermediate_result: "object") -> None:
        """Named as scipy wants it, which then hands over value and point."""
        self.values.append(float(intermediate_result.fun))  # type: ignore[attr-defined]
        if self.on_pass:
            self.on_pass(min(len(self.values) / (self.most + 1), 1.0))
        if self.watch and self.watch(np.asarray(intermediate_result.x)):  # type: ignore[attr-defined]
            raise StopIteration
