"""Downhill by gradients, for any kernel that has them: L-BFGS for many queries at once, each with its own memory."""

import numpy as np

from mercer_old.arrays import Array
from mercer_old.readings.preimages.expansion import Expansion

__all__ = ["descend"]

_STEPS = 200
_MEMORY = 6  # pairs of steps and changes of the gradient
_REJECTED = 30  # halvings of a step, one after the other, that lead nowhere
_FALL = 1e-4  # of what the slope promises: a step that brings less is halved (Armijo)
_FLAT = 1e-7  # of the first gradient: what is left of it ends the search
_LITTLE = 1e-7  # of all that was gained: a step that brings less ends it too
_FARTHEST = 3.0  # times the way from the rows' middle to the farthest: as far as a search goes without a lowest point


def descend(expansion: Expansion, C: Array, start: Array) -> Array:
    """z of small k(z, z) − 2Σcᵢk(z, xᵢ), from every row of `start` with its coefficients (m×n); it never rises.

    Of a kernel for rows without negative numbers, steps end at zero. Without a proof that k is one there may be no
    lowest point, and the search stays near the rows.
    """
    search = _Search(expansion, C, start)
    for _ in range(_STEPS):
        if not search.step():
            break
    return search.Z


class _Search:
    """Where every query is, and what it remembers of its way."""

    def __init__(self, expansion: Expansion, C: Array, start: Array) -> None:
        self.expansion, self.C, self.Z = expansion, C, np.array(start, dtype=np.float64)
        self.height, self.gradient = self._look(self.Z, C)
        self.top = self.height.copy()
        self.middle = np.asarray(expansion.rows.mean(axis=0), dtype=np.float64)
        self.most = _FARTHEST * _norms(expansion.rows - self.middle).max(initial=0.0)
        m, d = self.Z.shape
        self.moves, self.changes = np.zeros((_MEMORY, m, d)), np.zeros((_MEMORY, m, d))
        self.curvature = np.zeros((_MEMORY, m))  # 1/⟨move, change⟩; 0: nothing remembered
        self.reach, self.rejected = np.ones(m), np.zeros(m, dtype=int)
        self.first = _norms(self.gradient)
        self.done = ~(self.first > 0)

    def _look(self, Z: Array, C: Array) -> tuple[Array, Array]:
        e = self.expansion
        return e.objective(Z, C), e.kernel.diag_pull(Z) - 2 * e.kernel.pull(Z, e.rows, C)

    def step(self) -> bool:
        """One step of all that are not done; False once there are none."""
        active = np.flatnonzero(~self.done)
        if not len(active):
            return False
        direction = self._direction(active)
        trial = self.Z[active] + self.reach[active, None] * direction
        self._fence(trial)
        height, gradient = self._look(trial, self.C[active])
        promised = np.einsum("ij,ij->i", self.gradient[active], trial - self.Z[active])
        falls = height < self.height[active] + _FALL * np.minimum(promised, 0.0)
        self._accept(active[falls], trial[falls], height[falls], gradient[falls])
        refused = active[~falls]
        self.reach[refused] /= 2
        self.rejected[refused] += 1
        self.done[refused] |= self.rejected[refused] > _REJECTED
        return True

    def _fence(self, trial: Array) -> None:
        """Where the kernel has a meaning, in place."""
        if not self.expansion.kernel.psd:
            away = trial - self.middle
            lengths = _norms(away)
            trial -= (1 - self.most / np.maximum(lengths, max(self.most, np.finfo(float).tiny)))[:, None] * away
        if self.expansion.kernel.non_negative:
            np.maximum(trial, 0.0, out=trial)

    def _accept(self, taken: Array, Z: Array, height: Array, gradient: Array) -> None:
        move, change = Z - self.Z[taken], gradient - self.gradient[taken]
        product = np.einsum("ij,ij->i", move, change)
        for memory in (self.moves, self.changes, self.curvature):
            memory[:-1, taken] = memory[1:, taken]
        self.moves[-1, taken], self.changes[-1, taken] = move, change
        usable = product > 1e-10 * _norms(move) * _norms(change)
        self.curvature[-1, taken] = np.divide(1.0, product, out=np.zeros_like(product), where=usable)
        gained = self.height[taken] - height
        self.Z[taken], self.height[taken], self.gradient[taken] = Z, height, gradient
        self.reach[taken], self.rejected[taken] = 1.0, 0
        small = np.maximum(np.finfo(float).eps * np.abs(height), _LITTLE * (self.top[taken] - height))
        self.done[taken] = (_norms(gradient) <= _FLAT * self.first[taken]) | (gained <= small)

    def _direction(self, active: Array) -> Array:
        """−H∇f by the two loops over what is remembered; the first step is as long as the way to the rows' middle."""
        q, kept = self.gradient[active].copy(), []
        for i in range(_MEMORY - 1, -1, -1):
            rho, s, y = self.curvature[i, active], self.moves[i, active], self.changes[i, active]
            a = rho * np.einsum("ij,ij->i", s, q)
            q -= a[:, None] * y
            kept.append((a, rho, s, y))
        q *= self._unit(active)[:, None]
        for a, rho, s, y in reversed(kept):
            q += (a - rho * np.einsum("ij,ij->i", y, q))[:, None] * s
        uphill = np.einsum("ij,ij->i", q, self.gradient[active]) <= 0
        q[uphill] = self.gradient[active][uphill] * self._first_unit(active[uphill])[:, None]
        return -q

    def _unit(self, active: Array) -> Array:
        """⟨s, y⟩/⟨y, y⟩ of the last step, which is what a gradient is worth in steps."""
        rho, y = self.curvature[-1, active], self.changes[-1, active]
        squares = np.einsum("ij,ij->i", y, y)
        known = (rho > 0) & (squares > 0)
        return np.where(known, 1 / np.where(known, rho * squares, 1.0), self._first_unit(active))

    def _first_unit(self, active: Array) -> Array:
        apart = _norms(self.Z[active] - self.middle)
        away = np.where(apart > 0, apart, 1.0)
        return away / np.maximum(_norms(self.gradient[active]), np.finfo(float).tiny)


def _norms(rows: Array) -> Array:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))
