"""Eigenpairs with what was measured of them, and the conventions that every result ends with."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DataError
from mercer.numerics.rounding import UNIT, column_norms, norm

_NONE = np.empty(0)
Generator = Callable[[], np.random.Generator]
_NOT_PSD = (
    "Either the matrix is not PSD, or there was an issue while computing the eigendecomposition of the matrix. "
    "Use similarities, not distances, and a kernel that is positive semi-definite, or fewer components."
)


@dataclass(frozen=True)
class Eigenpairs:
    """Approximate eigenpairs of a symmetric matrix A, largest first, with what was measured of them."""

    values: NDArray  # θ
    vectors: NDArray  # U, orthonormal
    residuals: NDArray  # ‖Auᵢ − θᵢuᵢ‖
    products: NDArray = field(repr=False)  # AU
    next_values: NDArray = field(default_factory=lambda: _NONE)  # after the k-th, as far as they were computed
    next_residuals: NDArray = field(default_factory=lambda: _NONE)
    norm: float = 0.0  # the largest |eigenvalue|, which rounding is relative to
    lowest: float = np.inf  # the smallest Ritz value: a negative one shows that A is indefinite; ∞: not known
    converged: bool = True  # whether every pair met the tolerance of the solver
    complete: bool = False  # whether the method itself excludes a missed pair
    bound: float = np.inf  # on all other eigenvalues, if the solver established one
    evidence: str = ""  # how that bound is known, if the solver reports it
    probes: Any = field(default=None, repr=False)  # products with random columns that the solver carried along
    product_error: float = 0.0  # bound on the error of a product with a unit vector
    n_combined: int = 1  # measured products that a column of `products` combines
    n_passes: int = 1  # over the matrix
    n_products: int = 0  # columns that it was multiplied with

    @classmethod
    def measured(cls, values: NDArray, vectors: NDArray, products: NDArray, k: int, **known: Any) -> Self:
        """The first k pairs with their residuals; the others become `next_values`."""
        residuals = column_norms(products - vectors * values)
        pairs = values[:k], vectors[:, :k], residuals[:k], products[:, :k]
        return cls(*pairs, next_values=values[k:], next_residuals=residuals[k:], **known)

    def first(self, k: int) -> "Eigenpairs":
        """The first k pairs; the others become `next_values`."""
        if k >= len(self.values):
            return self
        bound = self.bound  # of pairs that are counted, or not bounded at all, none is needed
        if np.isfinite(bound):
            bound = max(float(self.values[k]), bound) + 2 * self.residual_norm
        return replace(
            self,
            values=self.values[:k],
            vectors=self.vectors[:, :k],
            residuals=self.residuals[:k],
            products=self.products[:, :k],
            next_values=np.append(self.values[k:], self.next_values),
            next_residuals=np.append(self.residuals[k:], self.next_residuals),
            bound=bound,
        )

    @property
    def residual_norm(self) -> float:
        """‖AU − UΘ‖₂."""
        R = self.products - self.vectors * self.values
        peak = float(np.abs(R).max(initial=0.0))
        if not peak:
            return 0.0
        R /= peak  # squares may over- or underflow
        return peak * float(np.sqrt(max(np.linalg.eigvalsh(R.T @ R)[-1], 0.0)))

    @property
    def ritz_error(self) -> float:
        """‖Uᵀ(AU − UΘ)‖_F: how far the values are from Ritz values of their own vectors."""
        return norm(self.vectors.T @ (self.products - self.vectors * self.values))


def remeasure(pairs: Eigenpairs, A: Any) -> Eigenpairs:
    """The same vectors with products of their own, where those at hand combine too many roundings."""
    combined = pairs.product_error * np.sqrt(pairs.n_combined)
    if pairs.n_combined == 1 or combined <= max(A.entry_error, 0.1 * float(pairs.residuals.max(initial=0.0))):
        return pairs
    products = A.matmat(pairs.vectors)
    residuals = column_norms(products - pairs.vectors * pairs.values)
    cost = {"n_passes": pairs.n_passes + 1, "n_products": pairs.n_products + products.shape[1]}
    return replace(pairs, products=products, residuals=residuals, n_combined=1, **cost)


def apply_conventions(pairs: Eigenpairs, *, floor: float, root: NDArray | None = None) -> Eigenpairs:
    """Largest first, the largest entry of each vector (over √w) positive, zero what is rounding."""
    order = np.argsort(-pairs.values, kind="stable")
    vectors = pairs.vectors[:, order]
    signs = column_signs(vectors if root is None else vectors / root[:, None])
    values = np.where(np.abs(pairs.values[order]) <= floor, 0.0, pairs.values[order])
    return replace(
        pairs,
        values=clean_eigenvalues(values),
        vectors=vectors * signs,
        residuals=pairs.residuals[order],
        products=pairs.products[:, order] * signs,
    )


def clean_eigenvalues(values: NDArray) -> NDArray:
    """Set tiny and slightly negative eigenvalues to zero, and raise for others, by scikit-learn's rules."""
    if not len(values):
        return values
    most, least = float(values.max()), float(values.min())
    if most < 0:
        raise DataError(f"All eigenvalues are negative (maximum is {most:g}). {_NOT_PSD}")
    if least < -1e-5 * most and least < -1e-10:
        size = f"{-least / most:g} of the maximum positive" if most > 0 else f"{least:g}, and none is positive"
        raise DataError(f"There are significant negative eigenvalues ({size}). {_NOT_PSD}")
    return np.where(values > 1e-12 * most, values, 0.0)


class Solver(Protocol):
    """Settings of an eigensolver; it holds no data."""

    @property
    def description(self) -> str: ...

    def solve(self, A: Any, k: int, rng: Generator, *, start: Any = None, progress: Any = None) -> Eigenpairs: ...

    def memory(self, n: int, k: int) -> int: ...


def solve_fraction(
    solver: Solver,
    A: Any,
    fraction: float,
    rng: Generator,
    check_memory: Callable[[int], Any] | None = None,
    most: int | None = None,
) -> Eigenpairs:
    """Enough pairs for their eigenvalues to exceed a fraction of the trace.

    Ten, then twice as many each time. Each time starts at random, as only a random start shows that nothing was missed.
    The search ends without success after `most` pairs, where other methods are faster, or if the solver did not
    converge. `check_memory` is called with the number of pairs before each step.
    """
    most = A.dimension if most is None else most
    k, n_passes, n_products = min(10, A.dimension), 0, 0
    while True:
        if check_memory is not None:
            check_memory(k)
        pairs = solver.solve(A, k, rng)
        n_passes, n_products = n_passes + pairs.n_passes, n_products + pairs.n_products
        reached = float(pairs.values.sum()) > fraction * A.trace
        if reached or not pairs.converged or k >= min(most, A.dimension):
            return replace(pairs, n_passes=n_passes, n_products=n_products)
        k = min(2 * k, A.dimension)


def rounding_floor(n: int, size: float) -> float:
    """Residuals up to 8u√n‖A‖ are rounding: an empirical allowance for LAPACK's backward error."""
    return float(8 * UNIT * np.sqrt(n) * abs(size))


def deflate(V: NDArray, U: NDArray) -> NDArray:
    """The part of V orthogonal to U; twice, as the first is off by rounding."""
    V = V - U @ (U.T @ V)
    return V - U @ (U.T @ V)


def column_signs(vectors: NDArray) -> NDArray:
    """±1 for each column, which makes its entry of largest modulus positive."""
    n_columns = vectors.shape[1]
    if not n_columns:
        return np.empty(0)
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(n_columns)]
    return np.where(peaks < 0, -1.0, 1.0)
