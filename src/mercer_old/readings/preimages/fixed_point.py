"""The fixed point of Mika et al., guarded: no step is taken that leads farther away in feature space."""

import numpy as np

from mercer_old.arrays import Array
from mercer_old.readings.preimages.radial import Radial

__all__ = ["fixed_points"]

_STEPS = 100
_REJECTED = 8  # halvings of a step, one after the other, that lead nowhere: the last digits are reached
_SHORT = 1e-5  # of the kernel's length: a full step that is shorter ends the search
_BALANCE = 0.05  # of Σ|w|: with less left of Σw, a step is no longer than by so much


def fixed_points(radial: Radial, C: Array, start: Array) -> tuple[Array, Array]:
    """z with z = Σwᵢxᵢ/Σwᵢ, w = −c·κ'(‖z − x‖²), from every row of `start` with its coefficients (m×n).

    That step is −∇f/(4·scale·Σw) of f(z) = −2Σcᵢκ(‖z − xᵢ‖²), ‖p − φ(z)‖² but for a constant: downhill as long as
    Σw > 0. Negative coefficients can bring it near zero or below, and then the step, still downhill, is divided by a
    share of Σ|w| instead. A step that raises f is halved. Also returns f + 2Σcᵢ, which keeps its digits where all
    rows look alike.
    """
    Z = np.asarray(start - radial.centre, dtype=np.float64)
    active = np.arange(len(Z))
    height, step = _look(radial, C, Z)
    reach, rejected = np.ones(len(Z)), np.zeros(len(Z), dtype=int)
    for _ in range(_STEPS):
        long = _lengths(step[active]) > _SHORT * radial.length
        active = active[long & (rejected[active] < _REJECTED)]
        if not len(active):
            break
        trial = Z[active] + reach[active, None] * step[active]
        now, following = _look(radial, C[active], trial)
        falls = now < height[active]
        taken, refused = active[falls], active[~falls]
        Z[taken], height[taken], step[taken] = trial[falls], now[falls], following[falls]
        reach[taken], rejected[taken] = np.minimum(1.0, 2 * reach[taken]), 0
        reach[refused] /= 2
        rejected[refused] += 1
    return Z + radial.centre, height


def _look(radial: Radial, C: Array, Z: Array) -> tuple[Array, Array]:
    """f + 2Σcᵢ of every row, and the step from there."""
    values, weights = radial.values_and_slopes(Z)
    height = -2 * np.einsum("ij,ij->i", C, values)
    weights *= C
    total, moduli = weights.sum(axis=1), np.abs(weights).sum(axis=1)
    step = weights @ radial.moved - total[:, None] * Z
    by = np.maximum(total, _BALANCE * moduli)[:, None]
    return height, np.divide(step, by, out=np.zeros_like(step), where=by > 0)


def _lengths(step: Array) -> Array:
    return np.sqrt(np.einsum("ij,ij->i", step, step))
