"""From a start to latent places: by landmarks first, then exactly.

What is made largest is log p(Y | Z) + log N(Z; 0, I) over the places Z, the signal and the noise. The kernel's length
is set before, where the rows are most probable at the start, and stays: were it free, places and length could shrink
together, which the rows do not see, and the prior would say nothing. The bound by landmarks is smoother than what it
bounds, and a descent along it ends about as high as a hundred exact steps from the same start, in a fraction of their
time; which of the two ends higher if both go on is chance.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.fits.descent import Descent, descend
from mercer_old.fits.latent.bound import Bound
from mercer_old.fits.latent.likelihood import LOG_2_PI, Exact, Gradient
from mercer_old.kernels.base import Kernel
from mercer_old.progress import OnPass

SIGNAL, NOISE, LENGTH = (1e-2, 10.0), (1e-5, 2.0), (0.02, 50.0)  # where they are sought; rows have mean square one
_STEPS, _STILL = 10, 1e-3  # the last iterations, and the share of all gains that they should not have
_ALONG = 100  # iterations that find signal, noise and length at the start


@dataclass(frozen=True)
class LatentTask:
    """Rows, a start, and what steers the search."""

    Y: Array  # n×d of mean square one, or fewer columns with the same YYᵀ
    columns: int
    start: Array  # n×q
    kernel: Kernel
    landmarks: int
    length: float | None  # of the kernel; None: that of the greatest likelihood at the start
    prior: float  # weight of log N(Z; 0, I)
    tol: float
    max_iter: int
    polish: int  # iterations with the exact likelihood after those by landmarks
    rng: Callable[[], np.random.Generator]

    @property
    def exact(self) -> bool:
        """Whether all places are landmarks."""
        return self.landmarks >= len(self.start)


@dataclass(frozen=True)
class Point:
    """Where a search is."""

    Z: Array
    U: Array  # landmarks, in the units of the places; none where the likelihood is exact
    signal: float
    noise: float
    length: float


@dataclass(frozen=True)
class Places:
    """All that a model keeps of the search."""

    at: Point
    certificate: LocalOptimum
    gained: float  # by the last iterations, as a share of all that was gained


def find_places(task: LatentTask, on_pass: OnPass = None) -> Places:
    """The kernel's length at the start, a descent by landmarks, and one with the exact likelihood if that is asked."""
    start = _at_the_start(task)
    at, walks = start, []
    if not task.exact:
        walks.append(_descent(task, at, task.max_iter, on_pass))
        at = _unpacked(walks[-1].point, at)
    if task.exact or task.polish:
        at, start = replace(at, U=at.U[:0]), replace(start, U=start.U[:0])
        walks.append(_descent(task, at, task.max_iter if task.exact else task.polish, on_pass))
        at = _unpacked(walks[-1].point, at)
    first = walks[0].values[0] if len(walks) == 1 else _objective(task, start)(_packed(start))[0]
    return Places(at, _certificate(task, at, walks, first), _late_gain(walks[-1], first))


def _descent(task: LatentTask, at: Point, most: int, on_pass: OnPass) -> Descent:
    x = _packed(at)
    low, high = np.full(len(x), -np.inf), np.full(len(x), np.inf)
    low[-2:], high[-2:] = np.log([SIGNAL, NOISE]).T
    return descend(_objective(task, at), x, tol=task.tol, max_iter=most, low=low, high=high, on_pass=on_pass)


# ---------------------------------------------------------------------- points as vectors


def _packed(at: Point) -> Array:
    return np.concatenate([at.Z.ravel(), at.U.ravel(), np.log([at.signal, at.noise])])


def _unpacked(x: Array, like: Point) -> Point:
    Z, U, logs = np.split(x, [like.Z.size, like.Z.size + like.U.size])
    signal, noise = np.exp(logs)
    return replace(like, Z=Z.reshape(like.Z.shape), U=U.reshape(like.U.shape), signal=float(signal), noise=float(noise))


def _objective(task: LatentTask, like: Point) -> Callable[[Array], tuple[float, Array]]:
    """−log p(Y | Z) − log N(Z; 0, I), by landmarks if there are any, as a function of a vector."""
    likelihood, length = _likelihood(task, like), like.length

    def function(x: Array) -> tuple[float, Array]:
        at = _unpacked(x, like)
        g = likelihood(at)
        value = g.value + task.prior * 0.5 * (float(np.vdot(at.Z, at.Z)) + at.Z.size * LOG_2_PI)
        parts = [(g.places / length + task.prior * at.Z).ravel(), (g.landmarks / length).ravel()]
        return value, np.concatenate([*parts, [g.log_signal, g.log_noise]])

    return function


def _likelihood(task: LatentTask, like: Point) -> Callable[[Point], Gradient]:
    if len(like.U):
        bound = Bound(task.Y, task.columns, task.kernel)
        return lambda at: bound(at.Z / at.length, at.U / at.length, at.signal, at.noise)
    exact = Exact(task.Y, task.columns, task.kernel)
    return lambda at: exact(at.Z / at.length, at.signal, at.noise)


# ---------------------------------------------------------------------- the start


def _at_the_start(task: LatentTask) -> Point:
    """Signal, noise and length of the greatest likelihood, with the places where they are."""
    n = len(task.start)
    chosen = np.zeros(0, dtype=int) if task.exact else task.rng().choice(n, task.landmarks, replace=False)
    like = Point(task.start, task.start[np.sort(chosen)], 0.9, 0.3, task.length or 1.0)
    likelihood = _likelihood(task, like)

    def function(x: Array) -> tuple[float, Array]:
        signal, noise, length = (float(number) for number in np.exp(x))
        at = replace(like, signal=signal, noise=noise, length=length if task.length is None else task.length)
        g = likelihood(at)
        stretched = -float(np.vdot(g.places, at.Z) + np.vdot(g.landmarks, at.U)) / at.length
        return g.value, np.array([g.log_signal, g.log_noise, stretched if task.length is None else 0.0])

    low, high = np.log([SIGNAL, NOISE, LENGTH]).T
    first = np.clip(np.log([like.signal, like.noise, 1.0]), low, high)
    found = descend(function, first, tol=task.tol, max_iter=_ALONG, low=low, high=high)
    signal, noise, length = (float(number) for number in np.exp(found.point))
    return replace(like, signal=signal, noise=noise, length=length if task.length is None else task.length)


# ---------------------------------------------------------------------- what is known at the end


def _certificate(task: LatentTask, at: Point, walks: list[Descent], first: float) -> LocalOptimum:
    bound = f"Log-probability of rows and places, a lower bound on it by {len(at.U)} landmarks"
    floor = ("The noise is at the least that is sought.",) if at.noise < 1.01 * NOISE[0] else ()
    return LocalOptimum(
        what=bound if len(at.U) else "Log-probability of rows and places",
        start=-first,
        end=-walks[-1].values[-1],
        gradient=walks[-1].steepness,
        tol=task.tol,
        iterations=sum(walk.iterations for walk in walks),
        more=floor,
    )


def _late_gain(walk: Descent, first: float) -> float:
    values = walk.values
    late = values[max(0, len(values) - 1 - _STEPS)] - values[-1]
    return late / max(first - values[-1], np.finfo(float).tiny)
