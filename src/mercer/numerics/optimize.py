"""Minimization of smooth functions by L-BFGS within bounds."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MEMORY = 20  # steps whose curvature is remembered
_EVALUATIONS = 3  # that an iteration may take, on average
_LEAST_GAIN = 1e-15  # relative to the value: less is rounding


class Minimum(NamedTuple):
    """Where a minimization ended.

    `values` are those at the start and after each iteration, and never increase. `gradient` is zero where a
    bound is active.
    """

    x: NDArray
    values: list[float]
    gradient: NDArray

    @property
    def n_iter(self) -> int:
        return len(self.values) - 1

    @property
    def gradient_norm(self) -> float:
        """Largest entry of the gradient, in absolute value."""
        return float(np.abs(self.gradient).max(initial=0.0))


def minimize(
    function: Callable[[NDArray], tuple[float, NDArray]],
    start: NDArray,
    *,
    tol: float,
    max_iter: int,
    bounds: tuple[NDArray, NDArray] | None = None,
    progress: Any = None,
    callback: Callable[[NDArray], bool] | None = None,
) -> Minimum:
    """Minimize a function that returns value and gradient, until no entry of the gradient exceeds `tol`.

    `callback` receives the point after each iteration, and ends the minimization by returning True.
    """
    from scipy.optimize import OptimizeResult
    from scipy.optimize import minimize as minimize_scipy

    known: dict[bytes, tuple[float, NDArray]] = {}  # scipy evaluates the start again

    def evaluate(x: NDArray) -> tuple[float, NDArray]:
        key = x.tobytes()
        if key not in known:
            known.clear()
            known[key] = function(x)
        return known[key]

    def record(intermediate_result: OptimizeResult) -> None:
        values.append(float(intermediate_result.fun))
        if progress:
            progress(min((len(values) - 1) / max_iter, 1.0))
        if callback is not None and callback(np.asarray(intermediate_result.x)):
            raise StopIteration

    x = np.asarray(start, dtype=np.float64)
    values = [float(evaluate(x)[0])]
    if not len(x):
        return Minimum(x, values, np.zeros(0))
    while True:  # a short step may end L-BFGS-B far from the minimum: it starts again while that helps
        before, left = values[-1], max_iter + 1 - len(values)
        limits = {"gtol": tol, "ftol": _LEAST_GAIN, "maxiter": left, "maxfun": _EVALUATIONS * left + 20}
        found = minimize_scipy(
            evaluate,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=None if bounds is None else np.column_stack(bounds),
            callback=record,
            options=limits | {"maxcor": _MEMORY, "maxls": 40},
        )
        x, gradient = found.x, np.array(found.jac, dtype=np.float64)
        if bounds is not None:
            gradient[((x <= bounds[0]) & (gradient > 0)) | ((x >= bounds[1]) & (gradient < 0))] = 0.0
        gained = before - values[-1] > _LEAST_GAIN * max(abs(before), abs(values[-1]))
        if not gained or len(values) > max_iter or found.status or np.abs(gradient).max() <= tol:
            return Minimum(x, values, gradient)
