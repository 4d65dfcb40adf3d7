"""What a solver returns, and the conventions every answer ends with."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.rounding import UNIT, frobenius, lengths
from mercer_old.symmetric import SymmetricOperator

NOT_FINITE = (
    "The kernel matrix has entries that are not finite: an overflow in the kernel, or weights that are far too large. "
    "Scale the data down (StandardScaler)."
)


@dataclass(frozen=True)
class Eigenpairs:
    """Approximate eigenpairs of a symmetric matrix A with what was measured of them, largest eigenvalue first.

    Solvers for the other end of the spectrum (shift_invert.py) give the smallest first; `bound` and `beyond` mirror it.

    values θ (k,), vectors U (n×k, orthonormal), residuals ρᵢ = ‖Auᵢ − θᵢuᵢ‖ (k,).
    """

    values: Array
    vectors: Array
    residuals: Array
    products: Array = field(repr=False)  # A U, as computed for the residuals
    beyond: Array = field(default_factory=lambda: np.empty(0))  # Ritz values after the k-th, as far as they were seen
    beyond_residuals: Array = field(default_factory=lambda: np.empty(0))
    spare: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False)  # vectors of those beyond, if at hand
    lowest: float = np.inf  # smallest Ritz value seen: a negative one proves A indefinite
    size: float = 0.0  # largest |eigenvalue| seen: what rounding is relative to
    columns: int = 0  # how many columns A was multiplied with: the honest cost
    passes: int = 0  # in how many blocks
    open: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))  # which have not met the rule; empty: none
    bound: float = np.inf  # on the eigenvalue after the k-th largest of A, if the method itself gives one
    probes: Array | None = field(default=None, repr=False)  # Gaussian columns Ω that the solver never looked at …
    probed: Array | None = field(default=None, repr=False)  # … and A Ω, which it brought along
    level: str = ""  # how the bound, or the rest, is known
    rest: float = np.inf  # on every eigenvalue outside the found pairs, if the solver looked beyond them itself
    complete: bool = False  # whether the method itself excludes a missed pair (all were computed, or counted)
    product_rounding: float = 0.0  # how far a product with a unit vector can be off, as the operator says
    turned: int = 1  # columns of products that `products` are a combination of; 1: they were measured as they are

    def __len__(self) -> int:
        return len(self.values)

    @property
    def residual_size(self) -> float:
        """‖AU − UΘ‖₂."""
        R = self.products - self.vectors * self.values
        peak = float(np.abs(R).max(initial=0.0))
        if not peak:
            return 0.0
        R /= peak  # squares of very large or small numbers are none
        return peak * float(np.sqrt(max(np.linalg.eigvalsh(R.T @ R)[-1], 0.0)))

    @property
    def tilt(self) -> float:
        """‖Uᵀ(AU − UΘ)‖_F: how far the values are from Ritz values of their own vectors."""
        return frobenius(self.vectors.T @ (self.products - self.vectors * self.values))

    @property
    def column_noise(self) -> float:
        """How far one product can be off: itself by `product_rounding`, or as a combination of m that are."""
        return self.product_rounding * float(np.sqrt(self.turned))

    @property
    def product_noise(self) -> float:
        """How far the products can be off, all together: ‖E‖₂ of k columns."""
        return self.product_rounding * float(np.sqrt(max(self.turned, len(self))))

    def _rest_after(self, k: int) -> float:
        """The same bound with pairs after the k-th outside too: the norm of [[Θ + F, Eᵀ], [E, B]], R = [F; E]."""
        if k >= len(self) or not np.isfinite(self.rest):
            return self.rest
        return max(self.rest, float(self.values[k])) + 2 * self.residual_size

    @property
    def converged(self) -> bool:
        return not self.open.any()

    def first(self, k: int) -> "Eigenpairs":
        """The first k of them; the rest shows what lies beyond."""
        return replace(
            self,
            values=self.values[:k],
            vectors=self.vectors[:, :k],
            residuals=self.residuals[:k],
            products=self.products[:, :k],
            beyond=np.append(self.values[k:], self.beyond),
            beyond_residuals=np.append(self.residuals[k:], self.beyond_residuals),
            open=self.open[:k],
            bound=self.bound if k >= len(self) else np.inf,  # it was for what comes after all of them
            rest=self._rest_after(k),
        )


class Solver(ABC):
    """Finds leading eigenpairs. Holds settings, no data; its docstring says which questions it asks the operator."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, for people who do not write Python."""

    @abstractmethod
    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        """The k largest eigenvalues of op with their vectors."""


def rounding_floor(n: int, size: float) -> float:
    """Below this a residual is rounding noise: 8 u √n ‖A‖.

    An empirical allowance for what theory bounds only by a polynomial p(n) that nobody knows: how far LAPACK's pairs
    are from those of the matrix it was given, and vectors from being orthonormal. docs/design/rounding.md says more.
    """
    return float(8 * UNIT * np.sqrt(n) * abs(size))


def measured(op: SymmetricOperator, values: Array, vectors: Array) -> Eigenpairs:
    """Pairs as they are, with their products and residuals; what else is known of them is for the solver to say."""
    products = op.matmat(vectors)
    residuals = lengths(products - vectors * values)
    return Eigenpairs(values, vectors, residuals, products, product_rounding=op.product_rounding)


def measured_anew(pairs: Eigenpairs, op: SymmetricOperator) -> Eigenpairs:
    """The same vectors with products of their own, not turned from those of others: their rounding is one product's."""
    if pairs.turned == 1 or not len(pairs):
        return pairs
    products = op.matmat(pairs.vectors)
    return replace(
        pairs,
        products=products,
        residuals=lengths(products - pairs.vectors * pairs.values),
        turned=1,
        columns=pairs.columns + len(pairs),
        passes=pairs.passes + 1,
    )


def settle(values: Array, vectors: Array, *, by: Array | None = None) -> tuple[Array, Array]:
    """The conventions: largest first, the largest entry of each vector positive, what is zero but for rounding is zero.

    With `by` (n×k) the signs are those that make its largest entries positive. Significantly negative eigenvalues are
    an error: the same thresholds and texts as scikit-learn's, so that code which relies on them keeps working.
    """
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    by = vectors if by is None else by[:, order]
    return clean_spectrum(values), vectors * signs_by(by)


def settle_pairs(pairs: Eigenpairs, floor: float, root: Array | None = None) -> Eigenpairs:
    """The same for pairs with their products; what is below the floor is zero, signs are those of rows over `root`."""
    found = np.where(np.abs(pairs.values) <= floor, 0.0, pairs.values)
    by = None if root is None else pairs.vectors / root[:, None]
    values, vectors = settle(found, pairs.vectors, by=by)
    signs = np.sign(np.sum(vectors * pairs.vectors, axis=0))
    return replace(pairs, values=values, vectors=vectors, products=pairs.products * signs)


def signs_by(columns: Array) -> Array:
    """±1 for each column, which makes its largest entry positive."""
    count = columns.shape[1]
    peaks = columns[np.abs(columns).argmax(axis=0), np.arange(count)] if count else np.empty(0)
    return np.where(peaks < 0, -1.0, 1.0)


def clean_spectrum(values: Array) -> Array:
    """Values of a positive semi-definite matrix without the dirt: tiny or slightly negative ones become zero."""
    if not len(values):
        return values
    advice = "Either the matrix is not PSD, or there was an issue while computing the eigendecomposition of the matrix."
    top, bottom = values.max(), values.min()
    if top < 0:
        raise ValueError(f"All eigenvalues are negative (maximum is {top:g}). {advice}")
    if bottom < -1e-5 * top and bottom < -1e-10:
        share = f"{-bottom / top:g} of the maximum positive" if top > 0 else f"{bottom:g}, and none is positive"
        raise ValueError(
            f"There are significant negative eigenvalues ({share}). {advice} "
            f"Check it with mercer.kernels.check_kernel, or ask for fewer components."
        )
    return np.where(values > 1e-12 * top, values, 0.0)
