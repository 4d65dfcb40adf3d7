"""Landmarks that join later: a basis that grows, and what is known of rows that came before.

K_SS = LLᵀ has a factor whose leading rows and columns stay as they are when landmarks join, so the features of a row
under fewer landmarks are the first coordinates φ_old(x) of those under more. The others, b(x), of a row that is gone
are not known, but they are no longer than what was left of it: ‖b(x)‖² ≤ k(x, x) − ‖φ_old(x)‖². Here they are taken to
be zero, and the sum ρ of what was left, over all rows that came before the last landmarks joined, is kept (`stale`,
with its rounding): `certificates/intervals.py` makes an interval of it.

Fewer landmarks, S′ ⊂ S, span a part of what S spans: with the features of S′ among their rows, L_S′ᵀ = QR, the
coordinates are Qᵀφ(x), and what is lost, the trace of (I − QQᵀ)M(I − QQᵀ) with M = Σwφφᵀ, is known. Of rows that are
stale, φ = u + r with Σw‖r‖² ≤ ρ and r orthogonal to the coordinates that all rows know, but not to what u loses of the
others, `mixed`: Σw‖φ − QQᵀu‖² ≤ left + lost + 2√(mixed·ρ), by Cauchy and Schwarz. Landmarks that all rows know come
first in Q, so that their coordinates stay known.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from mercer_old.arrays import Array, Held
from mercer_old.kernels.check import refuse_non_finite
from mercer_old.rounding import gamma
from mercer_old.sweeps.landmarks import LandmarkMap, Moments, how_inexact

_ROUNDED = 50  # times the unit roundoff and the number of landmarks: below it a pivot is rounding


@dataclass(frozen=True)
class Stream:
    """Rows that were seen batch by batch: landmarks, sums over their features, and what these do not know."""

    features: LandmarkMap
    moments: Moments
    count: int  # rows of positive weight
    given: int  # all rows
    indices: Array | None = None  # numbers of the landmarks among all rows; None if they were given as rows
    settled: int = 0  # so many leading coordinates are known of every row
    stale: float = 0.0  # ρ = Σw·e over the rows of which later coordinates are not known …
    stale_roots: float = 0.0  # … and Σw·√e over them

    @classmethod
    def of(cls, features: LandmarkMap, moments: Moments, count: int, given: int, indices: Array | None) -> "Stream":
        return cls(features, moments, count, given, indices, features.count)

    # ------------------------------------------------------------------ growing

    def with_landmarks(self, rows: Held, numbers: Array) -> "Stream":
        """More landmarks, as far as they tell something new; whatever is left of the rows so far is stale then."""
        features, order = grow(self.features, rows) if len(numbers) else (self.features, numbers)
        if not len(order):
            return self
        kept = features.count - len(order)
        return replace(
            self,
            features=features,
            moments=_widened(self.moments, kept, features.count),
            indices=None if self.indices is None else np.append(self.indices[:kept], self.given + numbers[order]),
            settled=min(self.settled, kept),
            stale=self.moments.left + self.moments.rounding,
            stale_roots=self.moments.roots + float(np.sqrt(self.moments.weight * self.moments.rounding)),
        )

    def with_rows(self, batch: Moments, count: int, given: int) -> "Stream":
        """The sums with those of another batch, from the same origin; each sum is rounded once more."""
        mine, count, given = self.moments, self.count + count, self.given + given
        added = ("weight", "total", "square", "diagonal", "left", "roots", "floor", "rounding")
        sums: dict[str, Any] = {name: getattr(mine, name) + getattr(batch, name) for name in added}
        sums["rounding"] += 4 * gamma(1) * sums["diagonal"]
        moments = replace(mine, **sums, least=min(mine.least, batch.least))
        return replace(self, moments=moments, count=count, given=given)

    # ------------------------------------------------------------------ shrinking

    def with_fewer(self, most: int) -> tuple["Stream", float]:
        """At most so many of the landmarks, those that see most of the rows; and Σw‖φ‖² that is lost."""
        if most >= self.features.count:
            return self, 0.0
        M = self._second_moments()
        chosen = most_telling(self.features.own, M, most)
        chosen = np.concatenate([chosen[chosen < self.settled], chosen[chosen >= self.settled]])
        Q, R = np.linalg.qr(self.features.own[chosen].T)
        turned = np.where(np.diag(R) < 0, -1.0, 1.0)
        Q, L = Q * turned, np.tril((R * turned[:, None]).T)
        MQ = M @ Q
        each = np.diag(M) - 2 * np.sum(Q * MQ, axis=1) + np.sum((Q @ (Q.T @ MQ)) * Q, axis=1)  # of (I − QQᵀ)M(I − QQᵀ)
        lost, mixed = max(float(each.sum()), 0.0), max(float(each[self.settled :].sum()), 0.0)
        return self._turned(chosen, Q, L, lost + 2 * float(np.sqrt(mixed * self.stale)), lost), lost

    def _turned(self, chosen: Array, Q: Array, L: Array, more: float, lost: float) -> "Stream":
        """The same sums along the columns of Q, which span fewer landmarks, with so much more left."""
        features, moments = self.features, self.moments
        inverse = np.ascontiguousarray(solve_triangular(L, np.eye(len(L)), lower=True).T)
        rounding = 4 * gamma(2 * features.count) * moments.diagonal
        return replace(
            self,
            features=replace(
                features,
                rows=features.rows[chosen],
                own=L,
                inverse=inverse,
                diagonal=float(np.mean(np.einsum("ij,ij->i", L, L))),
                inexact=how_inexact(inverse, L),
            ),
            moments=replace(
                moments,
                origin=moments.origin @ Q,
                total=moments.total @ Q,
                square=_symmetric(Q.T @ moments.square @ Q),
                left=moments.left + more,
                roots=moments.roots + float(np.sqrt(moments.weight * lost)),
                rounding=moments.rounding + rounding,
            ),
            indices=None if self.indices is None else self.indices[chosen],
            settled=int(np.sum(chosen < self.settled)),
        )

    def _second_moments(self) -> Array:
        """Σwφφᵀ, before centring."""
        m = self.moments
        crossed = np.outer(m.origin, m.total)
        return m.square + crossed + crossed.T + m.weight * np.outer(m.origin, m.origin)

    # ------------------------------------------------------------------ what is certain

    @property
    def variance(self) -> tuple[float, float]:
        """An interval for the sum of all eigenvalues of the centred matrix, Σw·k(x, x) − Σw·‖mean‖².

        The mean has the coordinates a that all rows know and b, off by at most d = Σ√e/Σw over stale rows; outside of
        them it is at most Σ√e/Σw long, over all rows: a² + (|b| − d)₊² ≤ ‖mean‖² ≤ a² + b² + 2|b|d + (Σ√e/Σw)².
        """
        m = self.moments
        if not self.stale:
            return m.variance
        known, later = m.mean[: self.settled], float(np.linalg.norm(m.mean[self.settled :]))
        off, outside = self.stale_roots / m.weight, m.roots / m.weight
        fewest = float(known @ known) + max(later - off, 0.0) ** 2
        most = float(known @ known) + later**2 + 2 * later * off + outside**2
        return m.diagonal - m.weight * most, m.diagonal - m.weight * fewest

    @property
    def seen(self) -> float:
        """The variance that landmarks see for certain: ‖JB‖ ≥ ‖JB̃‖ − √ρ along the coordinates not known of all."""
        variances = np.diag(self.moments.scatter)
        later = max(float(variances[self.settled :].sum()), 0.0)
        return float(variances[: self.settled].sum()) + max(np.sqrt(later) - np.sqrt(self.stale), 0.0) ** 2

    def stretched(self, factor: float) -> Array:
        """The scatter with its later coordinates times √factor: AAᵀ + factor·B̃B̃ᵀ, as a matrix between coordinates."""
        by = np.ones(self.features.count)
        by[self.settled :] = np.sqrt(factor)
        return by[:, None] * self.moments.scatter * by


def grow(features: LandmarkMap, rows: Held) -> tuple[LandmarkMap, Array]:
    """Landmarks and more of them, and which of these were left: L grows by rows (M, N), where MLᵀ = K_TS and
    NNᵀ = K_TT − MMᵀ, with pivots. Landmarks on which the kernel is zero are replaced."""
    kernel, L = features.kernel, features.own
    if not L.any():
        fresh, order = LandmarkMap.of(kernel, rows)
        return (fresh, order) if fresh.own.any() else (features, order[:0])
    K, r = kernel.block(rows, rows), len(L)
    refuse_non_finite(K, kernel)
    M = solve_triangular(L, kernel.block(features.rows, rows), lower=True).T
    H, floor = K - M @ M.T, _ROUNDED * (r + len(K)) * np.finfo(float).eps * np.abs(np.diag(K)).max()
    if not np.diag(H).max() > floor:
        return features, np.zeros(0, dtype=int)
    N, order, rank, _ = lapack.dpstrf(H, tol=floor, lower=1)
    order, N = order[:rank] - 1, np.tril(N[:rank, :rank])
    own = np.block([[L, np.zeros((r, rank))], [M[order], N]])
    inverse = np.ascontiguousarray(solve_triangular(own, np.eye(r + rank), lower=True).T)
    diagonal = (r * features.diagonal + float(np.diag(K)[order].sum())) / (r + rank)
    grown = LandmarkMap(
        kernel, _together(features.rows, rows[order]), inverse, own, diagonal, how_inexact(inverse, own)
    )
    return grown, order


def most_telling(own: Array, M: Array, count: int) -> Array:
    """Landmarks one after the other, each the one that sees most of what is left: qᵀMq along its new direction q."""
    left, seen, chosen = own.copy(), own @ M, list[int]()
    lengths = np.einsum("ij,ij->i", own, own)
    for _ in range(min(count, len(own))):
        squares = np.einsum("ij,ij->i", left, left)
        new = squares > _ROUNDED * len(own) * np.finfo(float).eps * lengths.max()
        new[chosen] = False
        if not new.any():
            break
        gains = np.einsum("ij,ij->i", seen, left) / np.where(new, squares, 1.0)
        best = int(np.argmax(np.where(new, gains, -np.inf)))
        q = left[best] / np.sqrt(squares[best])
        along = left @ q
        left -= np.outer(along, q)
        seen -= np.outer(along, q @ M)
        chosen.append(best)
    return np.array(chosen or [0])


def _widened(moments: Moments, kept: int, count: int) -> Moments:
    """Sums over features of which some coordinates are added: zero, as far as is known."""
    more = (0, count - kept)
    return replace(
        moments,
        origin=np.pad(moments.origin[:kept], more),
        total=np.pad(moments.total[:kept], more),
        square=np.pad(moments.square[:kept, :kept], more),
    )


def _together(old: Held, new: Held) -> Held:
    """Rows under rows, in an array of the kind of the first."""
    if sparse.issparse(old):
        return sparse.vstack([old, sparse.csr_array(new)], format="csr")
    return np.concatenate([old, new.toarray() if sparse.issparse(new) else new])


def _symmetric(A: Array) -> Array:
    return (A + A.T) / 2
