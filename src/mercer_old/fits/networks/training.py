"""From random weights down the error of the training rows, until rows that were held out say that it is enough."""

from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.fits.descent import descend
from mercer_old.fits.networks.network import Network
from mercer_old.progress import OnPass
from mercer_old.solvers.dense import leading_eigenpairs

_PATIENCE = 30  # iterations in which held-out rows have to be rebuilt better than before
_FEWEST = 20  # rows from which some are held out
_LEFT = 2  # rows that are left to train with, however large a share is held out


@dataclass(frozen=True)
class Trained:
    """Weights, and what became of the error, in units of the mean square of the rows."""

    weights: Array
    errors: list[float]  # of the training rows with the penalty, at the start and after each iteration
    held_out: list[float]  # of the rows held out, if there are any
    certificate: LocalOptimum


@dataclass(frozen=True)
class Lesson:
    """What training is to do."""

    alpha: float  # weight decay
    share: float  # of the rows that is held out
    starts: int
    tol: float
    max_iter: int


def train(network: Network, Y: Array, rng: np.random.Generator, lesson: Lesson, on_pass: OnPass = None) -> Trained:
    """The best of several starts: by the rows held out, or by all rows if there are none."""
    order = rng.permutation(len(Y))
    out = min(round(lesson.share * len(Y)), len(Y) - _LEFT) if len(Y) >= _FEWEST else 0
    watched, rows = Y[order[:out]], Y[order[out:]]
    tried = [_train_once(network, rows, watched, rng, lesson, on_pass) for _ in range(lesson.starts)]
    return min(tried, key=lambda one: min(one.held_out or one.errors))


def _train_once(
    network: Network, rows: Array, watched: Array, rng: np.random.Generator, lesson: Lesson, on_pass: OnPass
) -> Trained:
    """Weights where the error of the training rows is flat, or that of the rows held out was least."""
    keeper, out, alpha, tol = _Keeper(network, watched), len(watched), lesson.alpha, lesson.tol
    start = network.first_weights(rng)
    keeper(start)
    found = descend(
        lambda weights: network.loss(weights, rows, alpha),
        start,
        tol=tol,
        max_iter=lesson.max_iter,
        on_pass=on_pass,
        watch=keeper if out else None,
    )
    early = bool(out) and keeper.least_at < found.iterations
    weights = keeper.best if early else found.point
    gradient = network.loss(weights, rows, alpha)[1] if early else found.gradient
    return Trained(
        weights=weights,
        errors=[2 * value for value in found.values],
        held_out=keeper.errors if out else [],
        certificate=LocalOptimum(
            what="Error of the training rows, of their mean square",
            start=2 * found.values[0],
            end=2 * found.values[keeper.least_at if early else -1],
            gradient=float(np.abs(gradient).max()),
            tol=tol,
            iterations=keeper.least_at if early else found.iterations,
            more=tuple(_about_held_out(keeper, early) if out else ()),
        ),
    )


def _about_held_out(keeper: "_Keeper", early: bool) -> list[str]:
    least = keeper.errors[keeper.least_at]
    why = ", after which it grew: training was stopped there" if early else ""
    return [f"Error of {len(keeper.rows)} rows that were held out: {least:.4g}{why}."]


class _Keeper:
    """The weights that rebuild held-out rows best, so far."""

    def __init__(self, network: Network, rows: Array) -> None:
        self.network, self.rows = network, rows
        self.errors: list[float] = []
        self.least_at, self.best = 0, np.empty(0)

    def __call__(self, weights: Array) -> bool:
        """Whether there is nothing more to wait for."""
        if not len(self.rows):
            return False
        self.errors.append(self.network.error(weights, self.rows))
        if len(self.errors) == 1 or self.errors[-1] < self.errors[self.least_at]:
            self.least_at, self.best = len(self.errors) - 1, weights.copy()
        return len(self.errors) - 1 - self.least_at >= _PATIENCE


def principal_error(Y: Array, k: int) -> float:
    """The error that PCA leaves of centred rows, of their mean square: what a linear network can reach."""
    gram = Y.T @ Y if Y.shape[1] <= len(Y) else Y @ Y.T
    total = float(np.trace(gram))
    return max(total - float(leading_eigenpairs(gram, k)[0][:k].sum()), 0.0) / Y.size
