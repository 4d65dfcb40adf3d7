"""Places of new rows: each where it is most probable, given all that was learned.

For a place z the process predicts every column with the mean m(z) = c(z)ᵀα and the variance V(z) = s·k(z, z) + v −
c(z)ᵀMc(z), with c(z) = s·k(z, P). Exactly, P are all places, α = K⁻¹Y and M = K⁻¹; by landmarks P are those, α is their
mean and M = K_uu⁻¹ − (K_uu + K_uf K_fu/v)⁻¹. A row y is placed where

    h(z) = (d/2)·log V(z) + ‖y − m(z)‖²/(2V(z)) + ½‖z‖²

is least, from the place of the nearest row of the fit: a local optimum. All rows are descended at once, each by a BFGS
of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.fits.latent.bound import JITTER
from mercer_old.fits.latent.likelihood import cholesky, with_diagonal
from mercer_old.fits.latent.search import Point
from mercer_old.kernels.base import Kernel

_MOST, _FLAT = 100, 1e-5  # iterations, and the gradient at which a row is done
_HALVINGS, _GAIN = 25, 1e-4  # of a step, until it gains this share of what the slope promises


@dataclass(frozen=True, eq=False)
class Predictor:
    """m(z) and V(z)."""

    kernel: Kernel
    inputs: Array  # P, in units of the kernel's length
    weights: Array  # α (p×d)
    known: Array  # M (p×p)
    signal: float
    noise: float
    length: float

    @classmethod
    def of(cls, kernel: Kernel, at: Point, Y: Array) -> "Predictor":
        """Exactly, or by landmarks if there are any."""
        T, U = at.Z / at.length, at.U / at.length
        if not len(U):
            lower = cholesky(with_diagonal(at.signal * kernel.block(T, T), at.noise))
            weights, known = (linalg.cho_solve((lower, True), side) for side in (Y, np.eye(len(T))))
            return cls(kernel, T, weights, known, at.signal, at.noise, at.length)
        K_uu = at.signal * kernel.block(U, U)
        lower = cholesky(with_diagonal(K_uu, JITTER * float(K_uu.diagonal().mean())))
        A = linalg.solve_triangular(lower, at.signal * kernel.block(U, T), lower=True) / np.sqrt(at.noise)
        factor = cholesky(with_diagonal(A @ A.T, 1.0))
        inner = linalg.cho_solve((factor, True), A @ Y) / np.sqrt(at.noise)
        inside = np.eye(len(U)) - linalg.cho_solve((factor, True), np.eye(len(U)))
        half = linalg.solve_triangular(lower, inside, lower=True, trans="T")
        known = linalg.solve_triangular(lower, half.T, lower=True, trans="T")
        weights = linalg.solve_triangular(lower, inner, lower=True, trans="T")
        return cls(kernel, U, weights, 0.5 * (known + known.T), at.signal, at.noise, at.length)

    def mean(self, Z: Array) -> Array:
        """m(z) of every place."""
        return self.signal * self.kernel.block(Z / self.length, self.inputs) @ self.weights

    def loss(self, Z: Array, Y: Array, prior: float) -> tuple[Array, Array]:
        """h(z) of every row, and its gradient."""
        T, d = Z / self.length, Y.shape[1]
        slopes = self.kernel.slopes(T, self.inputs)
        seen = self.signal * self.kernel.block(T, self.inputs)
        seen_known = seen @ self.known
        most = self.signal * self.kernel.diag(T) + self.noise
        variance = np.maximum(most - np.einsum("ij,ij->i", seen, seen_known), 1e-12 * most)
        residuals = Y - seen @ self.weights
        squares = np.einsum("ij,ij->i", residuals, residuals)
        values = 0.5 * (d * np.log(variance) + squares / variance + prior * np.einsum("ij,ij->i", Z, Z))
        of_variance = 0.5 * (d - squares / variance) / variance
        C = -(residuals / variance[:, None]) @ self.weights.T - 2 * of_variance[:, None] * seen_known
        pulled = slopes.pull(C) + of_variance[:, None] * self.kernel.diag_pull(T)
        return values, self.signal * pulled / self.length + prior * Z


def place_rows(predictor: Predictor, Y: Array, start: Array, prior: float) -> Array:
    """The places of rows (m×q), from a start for each."""
    return descend_each(lambda Z, some: predictor.loss(Z, Y[some], prior), start)


def descend_each(function: Callable[[Array, Array], tuple[Array, Array]], start: Array) -> Array:
    """Where many small functions are least, each near its start: one BFGS for each, in step.

    `function` takes points and the numbers of the problems they belong to. A problem that is flat, or gains nothing any
    more, is left alone. One whose value is no number, an overflow, has no place: NaN.
    """
    Z, q = start.astype(np.float64), start.shape[1]
    values, slopes = function(Z, np.arange(len(Z)))
    H, open_ = np.tile(np.eye(q), (len(Z), 1, 1)), np.abs(slopes).max(axis=1, initial=0.0) > _FLAT
    for _ in range(_MOST):
        some = np.flatnonzero(open_)
        if not len(some):
            break
        steps = _directions(H, slopes, some)
        found, new_values, new_slopes = _line_search(function, Z[some], values[some], slopes[some], steps, some)
        gained = values[some] - new_values
        _update(H, some, found - Z[some], new_slopes - slopes[some])
        Z[some], values[some], slopes[some] = found, new_values, new_slopes
        steep = np.abs(new_slopes).max(axis=1) > _FLAT
        open_[some] = steep & (gained > 1e-13 * np.abs(new_values))
    Z[~np.isfinite(values)] = np.nan
    return Z


def _directions(H: Array, slopes: Array, some: Array) -> Array:
    """Downhill, and no longer than one."""
    steps = -np.einsum("mij,mj->mi", H[some], slopes[some])
    uphill = np.einsum("mi,mi->m", steps, slopes[some]) >= 0
    H[some[uphill]] = np.eye(H.shape[1])
    steps[uphill] = -slopes[some[uphill]]
    lengths = np.sqrt(np.einsum("mi,mi->m", steps, steps))
    return np.asarray(steps / np.maximum(lengths, 1.0)[:, None])


def _line_search(
    function: Callable[[Array, Array], tuple[Array, Array]],
    Z: Array,
    values: Array,
    slopes: Array,
    steps: Array,
    numbers: Array,
) -> tuple[Array, Array, Array]:
    """Steps that are halved until each gains enough; where none does, nothing moves."""
    promised = _GAIN * np.einsum("mi,mi->m", steps, slopes)
    out, out_values, out_slopes = Z.copy(), values.copy(), slopes.copy()
    waiting, size = np.arange(len(Z)), 1.0
    for _ in range(_HALVINGS):
        tried = Z[waiting] + size * steps[waiting]
        new_values, new_slopes = function(tried, numbers[waiting])
        good = new_values <= values[waiting] + size * promised[waiting]
        done = waiting[good]
        out[done], out_values[done], out_slopes[done] = tried[good], new_values[good], new_slopes[good]
        waiting, size = waiting[~good], size / 2
        if not len(waiting):
            break
    return out, out_values, out_slopes


def _update(H: Array, some: Array, moved: Array, bent: Array) -> None:
    """BFGS's inverse Hessians, where the curvature along the step is positive."""
    curvature = np.einsum("mi,mi->m", moved, bent)
    fine = curvature > 1e-12 * np.einsum("mi,mi->m", moved, moved)
    s, y, rho = moved[fine], bent[fine], 1 / curvature[fine]
    left = np.eye(H.shape[1]) - rho[:, None, None] * np.einsum("mi,mj->mij", s, y)
    H[some[fine]] = left @ H[some[fine]] @ left.transpose(0, 2, 1) + rho[:, None, None] * np.einsum("mi,mj->mij", s, s)
