"""Block Rayleigh–Ritz with thick restart: leading eigenpairs from products alone.

Invariant: Q (n×m) orthonormal and orthogonal to op's null vector, AQ its product, H = QᵀAQ. Ritz pairs (θ, Qy) come
from H y = θ y, and their residuals AQy − θQy are explicit, so they are true whatever the start block was.

From a random start this is block Krylov (block Lanczos with thick restart); from a good start it needs a few passes.
"""

from dataclasses import dataclass

import numpy as np

from mercer.solvers.base import Eigenpairs, Solver, rounding_floor
from mercer.solvers.tall import tall_times, transposed_times
from mercer.symmetric import Array, SymmetricOperator

ROOM = 64  # columns of storage beyond the largest basis, for a start block that is wider than usual
GUARD = 4  # Ritz pairs after the k-th that are followed too: they show the gap and speed up the last ones


@dataclass(frozen=True)
class BlockKrylov(Solver):
    """Asks `matmat`, never `dense` or `columns`.

    A pair has converged when ρᵢ ≤ max(tol·θᵢ, 8u√n·θ₁): relative to its own eigenvalue, as small components are worth
    as much as large ones to whoever asked for them.
    """

    tol: float = 1e-8
    block: int = 16
    max_passes: int = 300
    threads: int = 1

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        basis = Basis(op, self._largest_basis(op.n, k), self.threads)
        basis.extend(self._start(op, rng, start))
        done = 0  # so many leading pairs have converged
        while True:
            ritz, open_pairs, done = self._look(basis, k, done)
            spent = basis.passes >= self.max_passes and basis.m >= min(k, basis.dimension)
            if done >= k or basis.room <= 0 or spent:
                # All residuals anew: a pair that appeared late may have pushed others down since they were looked at.
                ritz = basis.ritz(0, min(k + GUARD, basis.m))
                open_pairs = self._open(ritz, k, basis)
                if basis.room <= 0 or spent or not open_pairs.any():
                    return ritz.pairs(basis, k, converged=not open_pairs.any())
                done = int(np.argmax(open_pairs))
            if basis.m + self.block > basis.most:
                basis.restart(self._kept(k, basis.most))
            added = basis.extend(self._directions(ritz, open_pairs))
            if not added:  # an invariant subspace: only fresh directions can show more
                basis.extend(rng.standard_normal((op.n, min(self.block, basis.room))))

    def _look(self, basis: "Basis", k: int, done: int) -> tuple["Ritz", Array, int]:
        """A window of Ritz pairs from the first that has not converged; which are still open; how many are done.

        Residuals cost a product with the whole basis, so only those are computed that decide what comes next.
        """
        while True:
            ritz = basis.ritz(done, min(done + 2 * self.block, k + GUARD, basis.m))
            open_pairs = self._open(ritz, k - done, basis)
            closed = len(ritz.values) if not open_pairs.any() else int(np.argmax(open_pairs))
            seen_all = done + len(ritz.values) >= min(k, basis.m)
            done = min(done + closed, k)
            if closed < len(ritz.values) or seen_all:
                return ritz, open_pairs, done if done < basis.m or basis.m >= k else 0

    def memory(self, n: int, k: int) -> int:
        """Bytes of Q, AQ and the vectors worked on."""
        return 8 * n * (2 * (self._largest_basis(n, k) + ROOM) + 5 * (k + GUARD) + 4 * self.block)

    def _start(self, op: SymmetricOperator, rng: np.random.Generator, start: Array | None) -> Array:
        width = min(self.block, op.n)
        if start is None:
            return rng.standard_normal((op.n, width))
        return np.concatenate([start, rng.standard_normal((op.n, min(GUARD, op.n)))], axis=1)

    def _open(self, ritz: "Ritz", wanted: int, basis: "Basis") -> Array:
        """Which of these pairs are wanted and have not converged."""
        allowed = np.maximum(self.tol * np.abs(ritz.values), rounding_floor(basis.op.n, basis.size))
        return (np.arange(len(ritz.values)) < wanted) & (ritz.residuals > allowed)

    def _directions(self, ritz: "Ritz", open_pairs: Array) -> Array:
        """Residuals of the pairs that need it most, then of the guards: what the next block is made of."""
        floor = 2 * rounding_floor(len(ritz.R), ritz.size)
        useful = ritz.residuals > floor
        own_size = np.maximum(np.abs(ritz.values), max(floor, np.finfo(float).tiny))
        urgency = ritz.residuals / own_size + np.where(open_pairs, 1e300, 0.0)
        order = np.argsort(-np.where(useful, urgency, -1.0), kind="stable")
        return ritz.R[:, order[: min(self.block, int(useful.sum()))]]

    def _largest_basis(self, n: int, k: int) -> int:
        """So many columns before a restart; where that is nearly all there are, the basis just grows to n."""
        most = max(3 * k, k + 6 * self.block)
        return most if most + 2 * self.block < n else n + self.block

    def _kept(self, k: int, most: int) -> int:
        return min(k + max(self.block, k // 4), most - self.block)


class Basis:
    """Q, AQ and H in storage allocated once."""

    def __init__(self, op: SymmetricOperator, most: int, threads: int) -> None:
        self.op, self.most, self.threads = op, most, threads
        self.dimension = op.n - 1 if hasattr(op, "project") else op.n  # of the space the vectors live in
        self.m = self.columns = self.passes = 0
        self._Q, self._AQ = np.empty((op.n, 0)), np.empty((op.n, 0))
        self._H = np.zeros((0, 0))
        self._spectrum: tuple[Array, Array] | None = None
        self._reserve(most + ROOM)

    @property
    def room(self) -> int:
        """How many directions are left."""
        return self.dimension - self.m

    @property
    def Q(self) -> Array:
        return self._Q[:, : self.m]

    @property
    def AQ(self) -> Array:
        return self._AQ[:, : self.m]

    def extend(self, W: Array) -> int:
        """Add the directions of W that are new, and their products: one pass. Returns how many were."""
        Z = self._new_directions(W)
        b = Z.shape[1]
        if not b:
            return 0
        self._reserve(self.m + b)
        AZ = self.op.matmat(Z)
        self.columns, self.passes = self.columns + b, self.passes + 1
        old, new = slice(0, self.m), slice(self.m, self.m + b)
        self._Q[:, new], self._AQ[:, new] = Z, AZ
        coupling = transposed_times(self._Q[:, old], AZ, self.threads)
        corner = Z.T @ AZ
        self._H[old, new], self._H[new, old] = coupling, coupling.T
        self._H[new, new] = (corner + corner.T) / 2
        self.m, self._spectrum = self.m + b, None
        return b

    def ritz(self, first: int, last: int) -> "Ritz":
        """The Ritz pairs first … last − 1, largest first, with their residual vectors."""
        if self._spectrum is None:
            values, Y = np.linalg.eigh(self._H[: self.m, : self.m])
            self._spectrum = values[::-1], Y[:, ::-1]
        values, Y = self._spectrum
        some = np.ascontiguousarray(Y[:, first:last])
        U, AU = tall_times(self.Q, some, self.threads), tall_times(self.AQ, some, self.threads)
        R = AU - U * values[first:last]
        return Ritz(values[first:last], U, AU, R, np.linalg.norm(R, axis=0), self.size, lowest=float(values[-1]))

    @property
    def size(self) -> float:
        """The largest Ritz value in modulus: what rounding is relative to."""
        return 0.0 if self._spectrum is None else float(np.abs(self._spectrum[0][[0, -1]]).max())

    def restart(self, kept: int) -> None:
        """Thick restart: keep the leading Ritz vectors and their products, which need no new pass."""
        assert self._spectrum is not None
        values, Y = self._spectrum
        leading = np.ascontiguousarray(Y[:, :kept])
        self._Q[:, :kept] = tall_times(self.Q, leading, self.threads)
        self._AQ[:, :kept] = tall_times(self.AQ, leading, self.threads)
        self._H[:kept, :kept] = np.diag(values[:kept])
        self.m, self._spectrum = kept, None

    def _new_directions(self, W: Array) -> Array:
        """Orthonormal columns spanning W less the null vector and Q; what is only rounding is dropped."""
        W = self.op.project(W) if hasattr(self.op, "project") else W.copy()
        norms = np.linalg.norm(W, axis=0)
        W = W[:, norms > 0] / norms[norms > 0]
        self._remove_basis(W)
        squares, V = np.linalg.eigh(W.T @ W)
        large = squares > 1e-20 * max(squares.max(initial=0.0), 1e-8)
        W = W @ (V[:, large] / np.sqrt(squares[large]))[:, ::-1][:, : max(0, self.room)]
        if not W.shape[1]:
            return W
        self._remove_basis(W)  # twice is enough
        return W @ np.linalg.inv(np.linalg.cholesky(W.T @ W)).T

    def _remove_basis(self, W: Array) -> None:
        W -= tall_times(self.Q, transposed_times(self.Q, W, self.threads), self.threads)

    def _reserve(self, room: int) -> None:
        if self._Q.shape[1] >= room:
            return
        for name in ("_Q", "_AQ"):
            larger = np.empty((self.op.n, room))
            larger[:, : self.m] = getattr(self, name)[:, : self.m]
            setattr(self, name, larger)
        H = np.zeros((room, room))
        H[: self.m, : self.m] = self._H[: self.m, : self.m]
        self._H = H


@dataclass(frozen=True)
class Ritz:
    """Some Ritz pairs: values θ, vectors U, products AU, residual vectors R and their lengths."""

    values: Array
    U: Array
    AU: Array
    R: Array
    residuals: Array
    size: float
    lowest: float

    def pairs(self, basis: Basis, k: int, converged: bool) -> Eigenpairs:
        k = min(k, len(self.values))
        return Eigenpairs(
            values=self.values[:k],
            vectors=self.U[:, :k],
            residuals=self.residuals[:k],
            products=self.AU[:, :k],
            beyond=self.values[k:],
            beyond_residuals=self.residuals[k:],
            lowest=self.lowest,
            size=self.size,
            columns=basis.columns,
            passes=basis.passes,
            converged=converged,
        )
