"""Block Rayleigh–Ritz with thick restart: leading eigenpairs from products alone.

Invariant: Q (n×m) orthonormal and orthogonal to op's null vector, AQ its product, H = QᵀAQ. Ritz pairs (θ, Qy) come
from H y = θ y, and their residuals AQy − θQy are explicit, so they are true whatever the start block was.

From a random start the basis first grows by block Lanczos; from a good start a few residuals are all that is added.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted
from mercer_old.rounding import lengths
from mercer_old.solvers.base import Eigenpairs, Solver, rounding_floor
from mercer_old.solvers.tall import tall_times, transposed_times
from mercer_old.symmetric import SymmetricOperator

GUARD = 4  # Ritz pairs after the k-th that are followed too: they show the gap and speed up the last ones


class _Preconditioner(Protocol):
    """Turns residuals rᵢ into directions that correct their pairs better: about (θᵢ − A)⁻¹rᵢ."""

    def calibrate(self, Q: Array, AQ: Array) -> None:
        """See how good it is on a space whose products are known."""

    def __call__(self, R: Array, theta: Array) -> Array: ...


@dataclass(frozen=True)
class BlockKrylov(Solver):
    """Asks `matmat`, never `dense` or `columns`.

    A pair has converged when ρᵢ ≤ max(tol·θᵢ, 8u√n·θ₁): relative to its own eigenvalue, as small components are worth
    as much as large ones to whoever asked for them.
    """

    tol: float = 1e-8
    block: int = 16
    max_passes: int = field(default=300, repr=False)
    threads: int = field(default=1, repr=False)
    grow: bool = field(default=False, repr=False)  # from a start too, if it is far from the answer
    hand_over: bool = field(default=False, repr=False)  # leave the last step to whoever goes on, with its directions
    basis: int | None = field(default=None, repr=False)  # columns before a restart; None: so many that none is needed

    @property
    def words(self) -> str:
        return f"Krylov steps of {counted(self.block, 'column')} (residuals of {self.tol:g})"

    def solve(
        self,
        op: SymmetricOperator,
        k: int,
        rng: np.random.Generator,
        start: Array | None = None,
        precondition: _Preconditioner | None = None,
    ) -> Eigenpairs:
        basis = _Basis(op, self._largest_basis(op.n, k), self.threads)
        if start is None or self.grow:
            self._grow(basis, k, rng, start)
        else:
            basis.extend(np.concatenate([start, rng.standard_normal((op.n, min(GUARD, op.n)))], axis=1))
        return self._refine(basis, k, rng, precondition)

    def _grow(self, basis: "_Basis", k: int, rng: np.random.Generator, start: Array | None) -> None:
        """Block Lanczos: each block is what the product of the last one adds, so no Ritz vector is formed on the way.

        Its recurrence tells the residuals almost for free; it only says when it is worth computing them.
        """
        block = rng.standard_normal((basis.op.n, min(self.block, basis.op.n)))
        if start is not None:
            known = min(start.shape[1], max(0, block.shape[1] - GUARD))
            block[:, :known] = start[:, :known]
        basis.extend(block)
        looks: list[tuple[int, float]] = []
        due = 2 * (1 + k // self.block)
        while basis.room > 0 and basis.passes < self.max_passes:
            block = basis.remainder()
            if basis.passes >= due:
                excess = basis.residuals_by_recurrence(block, k) / self._allowed(basis.spectrum[0][:k], basis)
                if excess.max() <= 1:
                    return
                looks.append((basis.passes, float(np.log(excess.max()))))
                due = basis.passes + _passes_to_wait(looks)
            if basis.m + self.block > basis.most:
                basis.restart(self._kept(k, basis.most))
            if not basis.extend_by_remainder(block):  # an invariant subspace
                return

    def _refine(
        self, basis: "_Basis", k: int, rng: np.random.Generator, precondition: _Preconditioner | None
    ) -> Eigenpairs:
        """Explicit residuals, and the worst of them as new directions, until every pair meets the rule."""
        worst: list[float] = []  # excess over what is allowed
        distance: list[float] = []  # to the goal, in powers of e over all pairs
        if precondition:
            precondition.calibrate(basis.Q, basis.AQ)
        while True:
            ritz = basis.ritz(min(k + GUARD, basis.m))
            open_pairs = (np.arange(len(ritz.values)) < k) & (ritz.residuals > self._allowed(ritz.values, basis))
            spent = basis.passes >= self.max_passes and basis.m >= min(k, basis.op.dimension)
            excess = (ritz.residuals / self._allowed(ritz.values, basis))[:k]
            distance.append(float(np.log(np.maximum(excess, 1.0)).sum()))
            stuck = len(distance) > 2 and distance[-1] > 0.9 * distance[-3]
            precondition = None if stuck else precondition
            spent |= bool(basis.op.coarse) and stuck  # a rough matrix has no more to give
            if basis.room <= 0 or spent or (basis.m >= k and not open_pairs.any()):
                return ritz.pairs(basis, k, open_pairs)
            worst.append(float(excess.max()))
            if self.hand_over and basis.m >= k and _one_step_is_enough(worst):
                return ritz.pairs(basis, k, open_pairs, self._directions(ritz, open_pairs, precondition))
            if basis.m + self.block > basis.most:
                basis.restart(self._kept(k, basis.most))
            if not basis.extend(self._directions(ritz, open_pairs, precondition)):  # only fresh ones can show more
                basis.extend(rng.standard_normal((basis.op.n, min(self.block, basis.room))))

    def usual_passes(self, k: int) -> int:
        """What k components take on ordinary spectra (blobs, rolls, digits, noise of many sizes): within a half."""
        return min(12 + 5 * k // (2 * self.block), self.max_passes)

    def memory(self, n: int, k: int) -> int:
        """Bytes of Q, AQ and the vectors worked on."""
        return 8 * n * (2 * self._largest_basis(n, k) + 5 * (k + GUARD) + 6 * self.block)

    def _allowed(self, values: Array, basis: "_Basis") -> Array:
        """ρᵢ up to this is converged."""
        floors = rounding_floor(basis.op.n, basis.size), basis.op.floor, basis.op.coarse * basis.size
        return np.maximum(self.tol * np.abs(values), max(*floors, np.finfo(float).tiny))

    def _directions(self, ritz: "_Ritz", open_pairs: Array, precondition: _Preconditioner | None = None) -> Array:
        """Residuals of the pairs that need it most, then of the guards: what the next block is made of."""
        floor = rounding_floor(len(ritz.R), ritz.size)
        useful = ritz.residuals > floor
        own_size = np.maximum(np.abs(ritz.values), max(floor, np.finfo(float).tiny))
        urgency = ritz.residuals / own_size + np.where(open_pairs, 1e300, 0.0)
        order = np.argsort(-np.where(useful, urgency, -1.0), kind="stable")
        some = order[: min(self.block, int(useful.sum()))]
        if precondition and np.all(ritz.values[some] > 0):
            return precondition(ritz.R[:, some], ritz.values[some])
        return ritz.R[:, some]

    def _largest_basis(self, n: int, k: int) -> int:
        """So many columns before a restart; where that is nearly all there are, the basis just grows to n."""
        most = max(self.basis, k + 2 * self.block) if self.basis else max(5 * k, k + 200)
        return most if most + 2 * self.block < n else n + self.block

    def _kept(self, k: int, most: int) -> int:
        return min(k + max(self.block, k // 4), most - self.block)


def _passes_to_wait(looks: list[tuple[int, float]]) -> int:
    """Convergence is about geometric, so two looks (passes, log of the worst excess) foretell the third."""
    if len(looks) < 2:
        return 2
    (first, before), (second, now) = looks[-2:]
    fall = (before - now) / (second - first)
    return int(np.clip(0.8 * now / fall, 1, 8)) if fall > 0 else 4  # a little early: it gets faster on the way


def _one_step_is_enough(worst: list[float]) -> bool:
    """Whether the next step will bring the worst excess below 1, if it does half as well as the last one did.

    Before there is one, a step is taken to gain a factor of 4: warm starts have seldom gained less than 5.
    """
    return 2 * worst[-1] ** 2 <= worst[-2] if len(worst) > 1 else worst[-1] <= 4


class _Basis:
    """Q, AQ and H in storage allocated once."""

    def __init__(self, op: SymmetricOperator, most: int, threads: int) -> None:
        self.op, self.most, self.threads = op, most, threads
        self.m = self.last = self.columns = self.passes = 0
        self._Q, self._AQ = np.empty((op.n, 0)), np.empty((op.n, 0))
        self._H = np.zeros((0, 0))
        self._spectrum: tuple[Array, Array] | None = None
        self._reserve(most)

    @property
    def room(self) -> int:
        """How many directions are left."""
        return self.op.dimension - self.m

    @property
    def Q(self) -> Array:
        return self._Q[:, : self.m]

    @property
    def AQ(self) -> Array:
        return self._AQ[:, : self.m]

    @property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues, largest first, and vectors of H."""
        if self._spectrum is None:
            values, Y = np.linalg.eigh(self._H[: self.m, : self.m])
            self._spectrum = values[::-1], Y[:, ::-1]
        return self._spectrum

    @property
    def size(self) -> float:
        """The largest Ritz value in modulus: what rounding is relative to."""
        return float(np.abs(self.spectrum[0][[0, -1]]).max()) if self.m else 0.0

    def extend(self, W: Array) -> int:
        """Add the directions of W that are new, and their products: one pass. Returns how many were."""
        W = self.op.project(W)
        norms = lengths(W)
        W = W[:, norms > 0] / norms[norms > 0]
        self._remove_basis(W)
        return self._append(self._orthonormal(W, drop=1e-10))

    def extend_by_remainder(self, W: Array) -> int:
        """The same for a remainder, which is orthogonal to Q but for rounding; what is nothing else is dropped."""
        size = float(np.abs(self._AQ[:, self.m - self.last : self.m]).max()) or 1.0
        return self._append(self._orthonormal(W / size, drop=rounding_floor(self.op.n, 1.0)))

    def remainder(self) -> Array:
        """What the product of the last block adds to the basis: its part orthogonal to Q."""
        new = slice(self.m - self.last, self.m)
        return self._AQ[:, new] - tall_times(self.Q, np.ascontiguousarray(self._H[: self.m, new]), self.threads)

    def residuals_by_recurrence(self, remainder: Array, k: int) -> Array:
        """‖AQy − θQy‖, which is remainder·(y's rows of the last block) if every block is the remainder of the last."""
        Y = self.spectrum[1][self.m - self.last :, :k]
        scale = float(np.abs(remainder).max()) or 1.0  # squares of tiny numbers would vanish
        gram = transposed_times(remainder / scale, remainder / scale, self.threads)
        return scale * np.sqrt(np.maximum(np.einsum("ij,ij->j", Y, gram @ Y), 0.0))

    def ritz(self, count: int) -> "_Ritz":
        """The leading Ritz pairs with their residual vectors."""
        values, Y = self.spectrum
        some = np.ascontiguousarray(Y[:, :count])
        U, AU = tall_times(self.Q, some, self.threads), tall_times(self.AQ, some, self.threads)
        R = AU - U * values[:count]
        lowest = float(values.min(initial=np.inf))
        return _Ritz(values[:count], U, AU, R, lengths(R), self.size, lowest)

    def restart(self, kept: int) -> None:
        """Thick restart: keep the leading Ritz vectors and their products, which need no new pass.

        Turning AQ instead of multiplying anew adds rounding of a few u‖A‖, which `rounding_floor` has room for.
        """
        values, Y = self.spectrum
        leading = np.ascontiguousarray(Y[:, :kept])
        self._Q[:, :kept] = tall_times(self.Q, leading, self.threads)
        self._AQ[:, :kept] = tall_times(self.AQ, leading, self.threads)
        self._H[:kept, :kept] = np.diag(values[:kept])
        self.m, self.last, self._spectrum = kept, kept, None

    def _append(self, Z: Array) -> int:
        b = Z.shape[1]
        if not b:
            return 0
        self._reserve(self.m + b)
        AZ = self.op.matmat(Z)
        self.columns, self.passes = self.columns + b, self.passes + 1
        new = slice(self.m, self.m + b)
        self._Q[:, new], self._AQ[:, new] = Z, AZ
        self.m, self.last, self._spectrum = self.m + b, b, None
        coupling = transposed_times(self.Q, AZ, self.threads)
        self._H[: self.m, new], self._H[new, : self.m] = coupling, coupling.T
        self._H[new, new] = (coupling[new] + coupling[new].T) / 2
        return b

    def _orthonormal(self, W: Array, drop: float) -> Array:
        """An orthonormal basis of the span of W, once more without its part in Q; directions shorter than `drop` go.

        W V has orthogonal columns if V diagonalises WᵀW. Their lengths are measured, as the eigenvalues of WᵀW know
        nothing of directions 10⁸ times shorter than the longest.
        """
        V = np.linalg.eigh(transposed_times(W, W, self.threads))[1][:, ::-1]
        W = tall_times(W, np.ascontiguousarray(V), self.threads)
        lengths = np.linalg.norm(W, axis=0)
        W = (W[:, lengths > drop] / lengths[lengths > drop])[:, : max(0, self.room)]
        if not W.shape[1]:
            return W
        self._remove_basis(W)  # twice is enough
        squares, V = np.linalg.eigh(transposed_times(W, W, self.threads))
        large = squares > 0.5  # what was not orthogonal to Q by now is rounding
        return tall_times(W, V[:, large] / np.sqrt(squares[large]), self.threads)

    def _remove_basis(self, W: Array) -> None:
        W -= tall_times(self.Q, transposed_times(self.Q, W, self.threads), self.threads)

    def _reserve(self, room: int) -> None:
        if self._Q.shape[1] >= room:
            return
        for name in ("_Q", "_AQ"):
            larger = np.empty((self.op.n, room), order="F")  # so that columns not yet used cost no memory
            larger[:, : self.m] = getattr(self, name)[:, : self.m]
            setattr(self, name, larger)
        H = np.zeros((room, room))
        H[: self.m, : self.m] = self._H[: self.m, : self.m]
        self._H = H


@dataclass(frozen=True)
class _Ritz:
    """Some Ritz pairs: values θ, vectors U, products AU, residual vectors R and their lengths."""

    values: Array
    U: Array
    AU: Array
    R: Array
    residuals: Array
    size: float
    lowest: float

    def pairs(self, basis: _Basis, k: int, open_pairs: Array, directions: Array | None = None) -> Eigenpairs:
        k = min(k, len(self.values))
        return Eigenpairs(
            values=self.values[:k],
            vectors=self.U[:, :k],
            residuals=self.residuals[:k],
            products=self.AU[:, :k],
            beyond=self.values[k:],
            beyond_residuals=self.residuals[k:],
            spare=self.U[:, k:] if directions is None else np.concatenate([self.U[:, k:], directions], axis=1),
            lowest=self.lowest,
            size=self.size,
            columns=basis.columns,
            passes=basis.passes,
            open=open_pairs[:k],
            product_rounding=basis.op.product_rounding,
            turned=basis.m,
        )
