"""A start that is nearly the answer: for matrices so large that every pass over them counts.

K ≈ FFᵀ by randomly pivoted Cholesky. The leading eigenvectors of the centred FFᵀ cost a small eigenproblem and start
the block solver; all of them make a preconditioner; what FFᵀ leaves of the trace bounds what can have been missed. The
solver works on a rough copy of the matrix first and sees the true one only for the last few steps, the first of which
also carries the probes for missed eigenvalues.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.blocks import steps
from mercer_old.errors import counted
from mercer_old.solvers.base import Eigenpairs, Solver
from mercer_old.solvers.completeness import PROBES
from mercer_old.solvers.krylov import GUARD, BlockKrylov
from mercer_old.solvers.pivoted import Factor, pivoted_cholesky, proposals
from mercer_old.solvers.tall import tall_times, transposed_times
from mercer_old.symmetric import SymmetricOperator

# By the guess's doubt (see there), from passes counted on real and made-up spectra: up to POOR the preconditioner saves
# passes, up to HOPELESS the start alone does, and beyond it is only a better block for block Lanczos to begin with.
_POOR, _HOPELESS = 100.0, 200.0
_ROUGH_PASSES = 25  # what has not converged by then may not be the fault of the start


@dataclass(frozen=True)
class WarmKrylov(Solver):
    """Asks `matmat` of the matrix and of its `rough` copy, and `diag`, `columns`, `block` of the uncentred one."""

    tol: float = 1e-4
    block: int = 32
    rank: int = 300
    max_passes: int = field(default=300, repr=False)
    precondition: bool = field(default=True, repr=False)
    threads: int = field(default=1, repr=False)
    blocks: int = field(default=10, repr=False)  # that the basis has room for before it is restarted

    @property
    def words(self) -> str:
        steps = f"Krylov steps of {counted(self.block, 'column')} (residuals of {self.tol:g})"
        return f"{steps} from a guess of rank {self.rank:,}"

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        bound, done, precondition, krylov = np.inf, None, None, self._krylov(op.n, k)
        if start is None:
            guess = self._guess(op, rng)
            start, bound, doubt = guess.start(k), guess.bound_beyond(k), guess.doubt(k)
            precondition = guess if self.precondition and doubt < _POOR else None
            # Growing takes passes to become as wide as k; with few of them the start has to do.
            hopeless = doubt >= _HOPELESS and self.max_passes * self.block > 4 * k
            if op.rough is not op and self.max_passes > 1:
                most = min(self.max_passes - 1, _ROUGH_PASSES)
                roughly = replace(krylov, tol=0.5 * self.tol, max_passes=most, hand_over=True, grow=hopeless)
                done = roughly.solve(op.rough, k, rng, start, precondition)
                start = np.concatenate([done.vectors, done.spare], axis=1)
                krylov = replace(krylov, max_passes=max(1, self.max_passes - done.passes))
            else:
                krylov = replace(krylov, grow=hopeless)
        carrier = _Carrier(op, rng.standard_normal((op.n, PROBES)))
        pairs = krylov.solve(carrier, k, rng, start, precondition)
        return replace(
            pairs,
            bound=bound,
            probes=carrier.cargo,
            probed=carrier.product,
            passes=pairs.passes + (done.passes if done else 0),
            columns=pairs.columns + (done.columns if done else 0) + PROBES,
        )

    @staticmethod
    def block_for(k: int) -> int:
        """Columns a pass for so many components."""
        return max(8, min(32, k))

    def _guess(self, op: SymmetricOperator, rng: np.random.Generator) -> "Guess":
        """The factor is gone when this returns."""
        factor = pivoted_cholesky(op.uncentred, self.rank, rng, tol=0.1 * self.tol, threads=self.threads)
        return Guess.of(op, factor, self.threads)

    def _krylov(self, n: int, k: int) -> BlockKrylov:
        return BlockKrylov(self.tol, self.block, self.max_passes, self.threads, basis=self._basis(n, k))

    def _basis(self, n: int, k: int) -> int:
        """Room for the start and some blocks."""
        return min(n, k + start_columns(k) + self.blocks * self.block)

    def memory(self, n: int, k: int) -> int:
        """Bytes at the peak: of the factor while it is made or turned, or of the basis next to the preconditioner."""
        factor = n * max(8 * self.rank + 3 * 8 * proposals(self.rank), 12 * self.rank + 2 * 8 * 32)
        columns = k + start_columns(k) + self.block + PROBES + 1  # of the exact pass: the last step's directions too
        work = n * (16 * self._basis(n, k) + 36 * columns)  # Q and AQ; a block in about 4.5 copies
        return max(factor, 4 * n * self.rank + work)


def start_columns(k: int) -> int:
    """Vectors of the guess after the k-th that start as well, and random ones."""
    return max(8, k // 4) + GUARD


class Guess:
    """The eigenpairs (a, U) of the centred FFᵀ; called on residuals, a preconditioner."""

    def __init__(self, values: Array, vectors: Array, error: float, rounding: float, threads: int) -> None:
        self.values, self.vectors, self.error, self.threads = values, vectors, error, threads
        self.rounding = rounding  # in all of these, and what was dropped as such
        self.distance = error  # ‖K̂ − K‖ as far as it matters: how well the values are known

    @classmethod
    def of(cls, op: SymmetricOperator, factor: Factor, threads: int = 1) -> "Guess":
        """From FcᵀFc V = V a: U = Fc V a^−½. F is used up, and U kept in float32, which is plenty for a guess."""
        F = factor.F
        for some in steps(F.shape[1], 32):
            F[:, some] = op.project(F[:, some])
        values, V = np.linalg.eigh(transposed_times(F, F, threads))
        least = max(F.shape[1], 1) * np.finfo(np.float32).eps ** 2 * values.max(initial=0.0)
        good = values > least
        values, V = values[good][::-1], V[:, good][:, ::-1]
        rounding = float(least) + 50 * max(F.shape[1], 1) * float(np.finfo(float).eps) * factor.trace
        U = tall_times(F, V / np.sqrt(values), threads, dtype=np.float32)
        return cls(values, U, factor.error, rounding, threads)

    def start(self, k: int) -> Array:
        """The k leading vectors and a few more."""
        return self.vectors[:, : k + start_columns(k) - GUARD].astype(np.float64)

    def bound_beyond(self, k: int) -> float:
        """λ_{k+1} ≤ a_{k+1} + tr(E) (Weyl): certain but for rounding, as E is positive semi-definite."""
        return float(self.values[k] if k < len(self.values) else 0.0) + self.error + self.rounding

    def doubt(self, k: int) -> float:
        """tr(E)/a_k: how much the factor leaves, against the smallest eigenvalue that is wanted."""
        return self.error / float(self.values[: max(k, 1)][-1]) if len(self.values) else 0.0

    def calibrate(self, Q: Array, AQ: Array) -> None:
        """How far FFᵀ is from the matrix on the space at hand: eigenvalues nearer than this cannot be told apart."""
        rest = AQ - self._times(self.values[:, None] * self._transposed_times(Q))
        self.distance = float(np.sqrt(max(np.linalg.eigvalsh(rest.T @ rest)[-1], 0.0)))

    def __call__(self, R: Array, theta: Array) -> Array:
        """(θᵢ − K̂)⁻¹ rᵢ by the eigenform, where the difference is kept from becoming too small to mean anything."""
        C = self._transposed_times(R)
        gap = theta - self.values[:, None]
        floor = np.maximum(0.02 * np.abs(theta), self.distance)
        gap = np.where(np.abs(gap) < floor, np.where(gap < 0, -floor, floor), gap)
        return R / theta + self._times(C / gap - C / theta)

    def _times(self, C: Array) -> Array:
        small, size = _in_single(C)
        return tall_times(self.vectors, small, self.threads, dtype=np.float32) * size

    def _transposed_times(self, B: Array) -> Array:
        small, size = _in_single(B)
        return transposed_times(self.vectors, small, self.threads) * size


def _in_single(B: Array) -> tuple[Array, np.float64]:
    """B in float32, divided by its size: float32 ends at 10³⁸."""
    size = np.float64(np.abs(B).max(initial=0.0)) or np.float64(1.0)
    return (B / size).astype(np.float32), size


class _Carrier(SymmetricOperator):
    """An operator whose first product takes a few columns more with it: the entries are being evaluated anyway."""

    def __init__(self, op: SymmetricOperator, cargo: Array) -> None:
        self.op, self.n, self.cargo, self.coarse = op, op.n, op.project(cargo), op.coarse
        assert not self.coarse, "the last passes are exact"
        self.product: Array | None = None

    def matmat(self, B: Array) -> Array:
        if self.product is not None:
            return self.op.matmat(B)
        both = self.op.matmat(np.concatenate([B, self.cargo], axis=1))
        self.product = both[:, B.shape[1] :].copy()
        return both[:, : B.shape[1]]

    @property
    def floor(self) -> float:
        return self.op.floor

    @property
    def product_rounding(self) -> float:
        return self.op.product_rounding

    def diag(self) -> Array:
        return self.op.diag()

    def columns(self, indices: Array) -> Array:
        return self.op.columns(indices)

    @property
    def dimension(self) -> int:
        return self.op.dimension

    def project(self, B: Array) -> Array:
        return self.op.project(B)
