"""K = ΦΦᵀ with fewer features than rows: the eigenproblem of the D×D side.

ΦcᵀΦc V = V Λ gives U = Φc V Λ^−½ with the same eigenvalues; residuals are measured where the rows are.
"""

from dataclasses import dataclass, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData
from mercer_old.solvers.base import NOT_FINITE, Eigenpairs, Solver, measured, rounding_floor
from mercer_old.solvers.completeness import rule_out_missed
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.symmetric import Measured, SymmetricOperator
from mercer_old.threads import blas_threads_for


@dataclass(frozen=True)
class Factored(Solver):
    """PCA by covariance: asks `feature_scatter` and `from_features`, never for anything n×n."""

    @property
    def words(self) -> str:
        return "LAPACK"

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        square = op.feature_scatter()
        if not np.isfinite(square).all():
            raise BadData(NOT_FINITE)
        with blas_threads_for(len(square) ** 3):
            values, V = np.linalg.eigh(square)
        values, V = values[::-1], V[:, ::-1]
        kept = min(k, int(np.sum(values > _rounding(values))))
        return replace(
            _as_rows_see_them(op, values[:kept], V[:, :kept], k, rng),
            beyond=np.maximum(values[kept : kept + 1], 0.0) if kept < len(values) else np.zeros(1),
            beyond_residuals=np.zeros(1),
            lowest=float(min(values[-1], 0.0)),
            size=float(max(values[0], 0.0)),
            columns=k,
            passes=2,
            complete=True,
        )


@dataclass(frozen=True)
class FactoredKrylov(Solver):
    """The same where D×D numbers are too many: `feature_products` has the products, and the basis has D rows, not n."""

    steps: BlockKrylov

    @property
    def words(self) -> str:
        return self.steps.words

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        side = op.feature_products()
        if not np.isfinite(side.trace):
            raise BadData(NOT_FINITE)
        known = None if start is None else op.to_features(start)
        found = self.steps.solve(side, min(k, side.n), rng, known)
        found, rest, level = rule_out_missed(self.steps, side, found, rng)
        kept = int(np.sum(found.values > max(_rounding(found.values, side.n), side.floor)))
        return replace(
            _as_rows_see_them(op, found.values[:kept], found.vectors[:, :kept], k, rng),
            beyond=np.append(found.values[kept:], found.beyond),
            beyond_residuals=np.append(found.residuals[kept:], found.beyond_residuals),
            lowest=found.lowest,
            size=found.size,
            columns=found.columns + k,
            passes=found.passes + 2,
            open=np.append(found.open[:kept], np.zeros(k - kept, dtype=bool)),
            level=level,
            rest=_rest_of_rows(op, side, found, kept, rest),
        )

    def memory(self, n: int, D: int, k: int) -> int:
        """Bytes of the basis and of what products of features take, or of vectors of n rows, which come after it."""
        return max(self.steps.memory(D, min(k, D)) + 8 * 20 * D * self.steps.block, 8 * n * (6 * k + 4))


def _rest_of_rows(op: SymmetricOperator, side: Measured, found: Eigenpairs, kept: int, rest: float) -> float:
    """From ‖ΦcV⊥‖² ≤ rest to ‖QΦc‖² with Q = I − UUᵀ: every eigenvalue outside the pairs as the rows see them.

    QΦc = QΦcVVᵀ + QΦcV⊥V⊥ᵀ, so ‖QΦc‖² ≤ ‖QΦcV‖² + ‖ΦcV⊥‖². Of ΦcV, Q leaves what rounding did to it, squared (far less
    than one product is off by), and the columns that were not kept, as no digit is left of them.
    """
    lost = np.abs(found.values[kept:]) + found.residuals[kept:] + found.column_noise
    rounding = rounding_floor(op.n, found.size) + rounding_floor(side.n, found.size) + op.product_rounding
    return float(rest + side.noise + lost.sum() + rounding)


def _rounding(values: Array, size: int | None = None) -> float:
    """Eigenvalues of a D×D matrix, largest first, are zero up to this."""
    return float(np.finfo(float).eps * max(values[0], 0.0) * (size or len(values)))


def _as_rows_see_them(op: SymmetricOperator, values: Array, V: Array, k: int, rng: np.random.Generator) -> Eigenpairs:
    """k values with vectors of n rows, from vectors V of the features."""
    U = op.from_features(V)
    U /= np.sqrt(values)
    U = np.linalg.qr(U)[0]  # a small eigenvalue's vector is orthogonal to the large ones' only to rounding
    if len(values) < k:  # more components than the data have directions: the rest has eigenvalue zero
        U = _complete(U, op, k, rng)
    theta = np.zeros(k)
    theta[: len(values)] = values
    return measured(op, theta, U)


def _complete(U: Array, op: SymmetricOperator, k: int, rng: np.random.Generator) -> Array:
    """Append orthonormal columns up to k, orthogonal to U and (as far as there is room) to the null vector."""
    extra = op.project(rng.standard_normal((op.n, k - U.shape[1])))
    for _ in range(2):
        extra -= U @ (U.T @ extra)
        extra = np.linalg.qr(extra)[0]
    return np.concatenate([U, extra], axis=1)
