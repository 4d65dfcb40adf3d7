"""Leading eigenpairs from products alone: block Lanczos with thick restarts.

Invariant of the basis: Q is orthonormal and in the space of A, AQ are its products, H = QᵀAQ. Residuals AQy −
θQy are explicit, so they are true whatever the start was.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.linalg.completeness import N_PROBES, Probes, bound_by_start
from mercer.linalg.eigen import Eigenpairs, Generator, rounding_floor
from mercer.linalg.operators import SymmetricOperator
from mercer.numerics.rounding import TINY, column_norms
from mercer.storable import storable

GUARD = 4  # Ritz pairs after the k-th that are followed too
_NO_RESTART = 10_000  # side up to which the basis may have twice as many columns: a restart costs completeness
_MORE_PASSES = 4  # that completeness may cost


@storable
@dataclass(frozen=True)
class BlockKrylov:
    """Block Lanczos: a pair has converged when its residual is at most `tol` times its eigenvalue, or rounding.

    After `max_passes` the pairs are returned as they are, with ``converged=False``. The random start shows whether
    an eigenvalue was missed, unless there was a restart; from a given start, random probes do, which ride on its first
    passes.
    """

    tol: float = 1e-8
    block_size: int = 8
    max_passes: int = field(default=300, repr=False)

    @property
    def description(self) -> str:
        return f"block Lanczos (blocks of {self.block_size}, tolerance {self.tol:g})"

    def solve(
        self, A: SymmetricOperator, k: int, rng: Generator, *, start: Any = None, progress: Any = None
    ) -> Eigenpairs:
        """The k largest eigenvalues with their vectors, and a few after them."""
        basis = _Basis(A, self._most_columns(A.n, k), None if start is None else Probes(A, rng()))
        if start is None:
            first = self._grow(basis, k, rng)
            bound = self._bound(basis, first, k)
            pairs = self._refine(basis, k, rng)
            return replace(pairs, bound=bound + pairs.residual_norm) if pairs.converged else pairs
        basis.extend(np.concatenate([start, rng().standard_normal((A.n, GUARD))], axis=1))
        return self._refine(basis, k, rng)

    def _grow(self, basis: "_Basis", k: int, rng: Generator) -> NDArray:
        """Each block is what the product of the last one adds; its size shows when pairs have converged.

        Returns the random start.
        """
        first = basis.A.project(rng().standard_normal((basis.A.n, min(self.block_size, basis.A.n))))
        basis.extend(first)
        looks: list[tuple[int, float]] = []
        due = 2 * (1 + k // self.block_size)
        while basis.room > 0 and basis.n_passes < self.max_passes:
            remainder = basis.remainder()
            if basis.n_passes >= due and basis.m >= k:
                allowed = allowed_residuals(basis.A, basis.spectrum[0][:k], basis.norm, self.tol)
                excess = float((basis.residual_estimates(remainder, k) / allowed).max())
                if excess <= 1:
                    break
                looks.append((basis.n_passes, float(np.log(excess))))
                due = basis.n_passes + _passes_to_wait(looks)
            if basis.m + self.block_size > basis.most:
                basis.restart(self._kept(k, basis.most))
            if not basis.extend_by_remainder(remainder):  # an invariant subspace
                break
        return first

    def _bound(self, basis: "_Basis", first: NDArray, k: int) -> float:
        """A bound on all eigenvalues but the k largest, after a few passes more if they are enough."""
        for _ in range(_MORE_PASSES):
            bound = basis.bound_by_start(first, k)
            full = basis.room <= 0 or basis.m + self.block_size > basis.most or basis.n_passes >= self.max_passes
            if np.isfinite(bound) or full or not basis.has_gap(k):
                break
            if not basis.extend_by_remainder(basis.remainder()):
                break
        return bound

    def _refine(self, basis: "_Basis", k: int, rng: Generator) -> Eigenpairs:
        """Explicit residuals, and the largest of them as new directions, until every pair has converged."""
        while True:
            count = min(k + GUARD, basis.m)
            values, U, AU = basis.ritz(count)
            R = AU - U * values
            residuals = column_norms(R)
            wide = np.flatnonzero(residuals[:k] > allowed_residuals(basis.A, values[:k], basis.norm, self.tol))
            enough = basis.m >= min(k, basis.A.dimension)
            if basis.room <= 0 or (enough and (not len(wide) or basis.n_passes >= self.max_passes)):
                break
            if basis.m + self.block_size > basis.most:
                basis.restart(self._kept(k, basis.most))
            relative = residuals / np.maximum(np.abs(values), TINY)
            relative[wide] += 1e300  # those first
            worst = np.argsort(-relative, kind="stable")[: self.block_size]
            if not basis.extend(R[:, worst]):
                basis.extend(rng().standard_normal((basis.A.n, min(self.block_size, basis.room))))
        return Eigenpairs.measured(
            values,
            U,
            AU,
            min(k, count),
            norm=basis.norm,
            lowest=float(basis.spectrum[0][-1]),
            converged=not len(wide),
            complete=basis.room <= 0 and not len(wide),
            probes=basis.probes,
            product_error=basis.A.product_error,
            n_combined=basis.m,
            n_passes=basis.n_passes,
            n_products=basis.n_products,
        )

    def memory(self, n: int, k: int) -> int:
        """Bytes of the basis, its products and the vectors worked on."""
        width = self.block_size + N_PROBES
        return 8 * n * (2 * min(self._most_columns(n, k), n) + 4 * (k + GUARD) + 8 * width)

    def expected_passes(self, k: int) -> int:
        """Passes for ordinary spectra, within a half."""
        return min(7 + 2 * k // self.block_size, self.max_passes)

    def flops(self, n: int, k: int) -> float:
        """Cost besides the products, for ordinary spectra."""
        return 4.0 * n * (self.block_size * self.expected_passes(k)) ** 2

    def _most_columns(self, n: int, k: int) -> int:
        """Columns of the basis before a restart; where that is nearly all of them, it grows to n."""
        most = max(4 * k, k + (40 if n <= _NO_RESTART else 20) * self.block_size)
        return most if most + 2 * self.block_size < n else n + self.block_size

    def _kept(self, k: int, most: int) -> int:
        return min(k + max(self.block_size, k // 4), most - self.block_size)


def allowed_residuals(A: SymmetricOperator, values: NDArray, norm: float, tol: float) -> NDArray:
    """Residuals up to this have converged."""
    return np.maximum(tol * np.abs(values), max(rounding_floor(A.n, norm), A.floor, TINY))


def _passes_to_wait(looks: list[tuple[int, float]]) -> int:
    """Convergence is about geometric, so two looks (passes, log of the worst excess) predict the third."""
    if len(looks) < 2:
        return 1
    (first, before), (second, now) = looks[-2:]
    fall = (before - now) / (second - first)
    return int(np.clip(0.8 * now / fall, 1, 3)) if fall > 0 else 2


class _Basis:
    """Q, AQ and H, in arrays that are allocated once."""

    def __init__(self, A: SymmetricOperator, most: int, probes: Probes | None = None) -> None:
        self.A, self.most, self.probes = A, most, probes
        self.m = self.last = self.n_passes = self.n_products = 0
        self.restarted = False
        room = min(most, A.n + 64)
        self._Q = np.empty((A.n, room), order="F")  # memory is touched as it grows
        self._AQ = np.empty((A.n, room), order="F")
        self._H = np.zeros((room, room))
        self._spectrum: tuple[NDArray, NDArray] | None = None

    @property
    def room(self) -> int:
        """Directions that are left."""
        return self.A.dimension - self.m

    @property
    def Q(self) -> NDArray:
        return self._Q[:, : self.m]

    @property
    def spectrum(self) -> tuple[NDArray, NDArray]:
        """Eigenvalues, largest first, and vectors of H."""
        if self._spectrum is None:
            values, Y = np.linalg.eigh(self._H[: self.m, : self.m])
            self._spectrum = values[::-1], Y[:, ::-1]
        return self._spectrum

    @property
    def norm(self) -> float:
        """The largest |Ritz value|."""
        values = self.spectrum[0]
        return float(max(abs(values[0]), abs(values[-1]))) if self.m else 0.0

    def extend(self, W: NDArray) -> int:
        """Add the directions of W that are new: one pass. Returns how many there were."""
        W = self.A.project(W)
        sizes = column_norms(W)
        W = W[:, sizes > 0] / sizes[sizes > 0]
        W -= self.Q @ (self.Q.T @ W)
        return self._append(self._orthonormal(W, drop=1e-10))

    def remainder(self) -> NDArray:
        """What the products of the last block add to the basis."""
        new = slice(self.m - self.last, self.m)
        return self._AQ[:, new] - self.Q @ self._H[: self.m, new]

    def extend_by_remainder(self, W: NDArray) -> int:
        """Add the remainder of the last block, which is orthogonal to Q but for rounding."""
        size = float(column_norms(self._AQ[:, self.m - self.last : self.m]).max()) or 1.0
        return self._append(self._orthonormal(W / size, drop=rounding_floor(self.A.n, 1.0)))

    def residual_estimates(self, remainder: NDArray, k: int) -> NDArray:
        """‖AQy − θQy‖ = ‖remainder·y_last‖, if every block is the remainder of the one before."""
        Y = self.spectrum[1][self.m - self.last :, :k]
        size = float(np.abs(remainder).max()) or 1.0
        inner = (remainder / size).T @ (remainder / size)
        return size * np.sqrt(np.maximum(np.einsum("ij,ij->j", Y, inner @ Y), 0.0))

    def ritz(self, count: int) -> tuple[NDArray, NDArray, NDArray]:
        """Leading Ritz values, vectors and their products."""
        values, Y = self.spectrum
        Y = np.ascontiguousarray(Y[:, :count])
        return values[:count], self.Q @ Y, self._AQ[:, : self.m] @ Y

    def bound_by_start(self, first: NDArray, k: int) -> float:
        """A bound on all eigenvalues but the k largest, if `first` is the random start of this basis."""
        if self.restarted:
            return np.inf
        AQ, H = self._AQ[:, : self.m], self._H[: self.m, : self.m]
        return bound_by_start(first, self.Q, AQ, H, self.spectrum, k, self.A.product_error)

    def has_gap(self, k: int) -> bool:
        """Whether the next Ritz value is so far from the k-th that a bound can lie between them."""
        values = self.spectrum[0]
        return not self.restarted and k < self.m and bool(values[k - 1] - values[k] > 1e-4 * values[k - 1])

    def restart(self, kept: int) -> None:
        """Keep the leading Ritz vectors and their products, which need no pass."""
        self.restarted = True
        values, U, AU = self.ritz(kept)
        self._Q[:, :kept], self._AQ[:, :kept] = U, AU
        self._H[:kept, :kept] = np.diag(values)
        self.m = self.last = kept
        self._spectrum = None

    def _append(self, Z: NDArray) -> int:
        b = Z.shape[1]
        if not b:
            return 0
        carried = self.probes is not None and self.probes.wanted
        AZ = self.probes.multiply(self.A, Z) if self.probes is not None else self.A.matmat(Z)
        self.n_passes, self.n_products = self.n_passes + 1, self.n_products + b + carried * N_PROBES
        new = slice(self.m, self.m + b)
        self._Q[:, new], self._AQ[:, new] = Z, AZ
        self.m, self.last, self._spectrum = self.m + b, b, None
        coupling = self.Q.T @ AZ
        self._H[: self.m, new], self._H[new, : self.m] = coupling, coupling.T
        self._H[new, new] = (coupling[new] + coupling[new].T) / 2
        return b

    def _orthonormal(self, W: NDArray, drop: float) -> NDArray:
        """An orthonormal basis of the span of W without its part in Q; directions shorter than `drop` are
        left out.

        WV has orthogonal columns if V diagonalizes WᵀW. Their lengths are measured, as the eigenvalues of WᵀW
        know nothing of directions 10⁸ times shorter than the longest.
        """
        W = W @ np.linalg.eigh(W.T @ W)[1][:, ::-1]
        sizes = column_norms(W)
        W = (W[:, sizes > drop] / sizes[sizes > drop])[:, : max(0, self.room)]
        if not W.shape[1]:
            return W
        W -= self.Q @ (self.Q.T @ W)
        squares, V = np.linalg.eigh(W.T @ W)
        large = squares > 0.5  # the others were in the span of Q but for rounding
        return W @ (V[:, large] / np.sqrt(squares[large]))
