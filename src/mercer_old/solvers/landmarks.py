"""PCA of what landmarks see: choosing them, and the eigenproblem of their r×r side."""

from dataclasses import dataclass, field, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.blocks import THREAD_ROWS
from mercer_old.errors import counted
from mercer_old.progress import OnPass
from mercer_old.solvers.base import Eigenpairs, Solver
from mercer_old.solvers.pivoted import pivoted_cholesky, proposals
from mercer_old.solvers.warm import WarmKrylov, start_columns
from mercer_old.symmetric import SymmetricOperator

_ENOUGH = 1e-6  # share of the variance: more landmarks that see less than this cost time and tell nothing
_SAMPLE = 64  # rows from which the variance is guessed


@dataclass(frozen=True)
class Landmarks(Solver):
    """PCA of what `count` landmarks see, and as many exact passes over the matrix as `refine` says.

    The first is one sweep over the rows (`operators/landmarks.py`) and needs no operator. `solve` does the second, as
    `WarmKrylov` does; it asks the same questions.
    """

    count: int
    sample: int = field(default=0, repr=False)  # rows among which they are chosen; all if there are no more
    refine: int = 0
    tol: float = field(default=0.0, repr=False)  # 0: ENOUGH for the landmarks, WarmKrylov's for the passes after them
    threads: int = field(default=1, repr=False)
    spread: bool = field(default=False, repr=False)  # whether they are drawn among all rows of chunks, where those lie

    @property
    def words(self) -> str:
        passes = f" and {counted(self.refine, 'exact pass')}" if self.refine else ""
        return f"PCA by {counted(self.count, 'landmark')}{passes}"

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        """Exact passes, from the landmarks' vectors if they are there."""
        return self._after(k).solve(op, k, rng, start)

    def _after(self, k: int) -> WarmKrylov:
        """Who does the exact passes, with room for no more of them than there are."""
        passes = max(1, self.refine)
        return WarmKrylov(
            self.tol or WarmKrylov.tol,
            WarmKrylov.block_for(k),
            self.count,
            max_passes=passes,
            threads=self.threads,
            blocks=min(passes, WarmKrylov.blocks),
        )

    def exact(self, n: int, k: int) -> int:
        """Bytes of the exact passes at their peak, with the scores that start them."""
        return replace(self._after(k), rank=0).memory(n, k) + 24 * n * (k + start_columns(k))

    def choose(self, op: SymmetricOperator, rng: np.random.Generator, on_pass: OnPass = None) -> Array:
        """Rows drawn where the matrix is seen worst: asks `diag`, `columns` and `block`. The factor is gone again.

        They end once less than a share of the *variance* is left, of which the trace before centring may be a
        multiple.
        """
        some = few_of(op.n)
        enough = self.enough(op.block(some, some))
        return pivoted_cholesky(op, self.count, rng, tol=enough, threads=self.threads, on_pass=on_pass).pivots

    def enough(self, K: Array) -> float:
        """The share of the trace that may be left, by the matrix of a few rows."""
        variance = 1 - float(K.mean()) / max(float(np.mean(np.diag(K))), np.finfo(float).tiny)
        return (self.tol or _ENOUGH) * max(variance, 0.0)

    def memory(self, d: int, block_rows: int) -> int:
        """Bytes at the peak: of the factor while landmarks are chosen, or of the sweep and the eigenproblem."""
        chosen = 0 if self.spread else self.sample * (self.count + 3 * proposals(self.count) + 4 * d)
        swept = self.count * (6 * self.count + 2 * d) + block_rows * (self.count + 3 * d)
        return 8 * max(chosen, swept + self.threads * min(THREAD_ROWS, block_rows) * (2 * self.count + 4 * d))


def few_of(n: int) -> Array:
    """Numbers of a few of n rows, from the first to the last."""
    return np.linspace(0, n - 1, min(n, _SAMPLE)).astype(int)
