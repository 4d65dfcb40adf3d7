"""The contract between the matrix and its solver: what may be asked of a symmetric operator."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array, Matrix

__all__ = ["UNDERFLOW", "Measured", "SymmetricOperator"]

UNDERFLOW = 1e-303  # eigenvalues below cannot be told from zero: they are sums of numbers without digits


class SymmetricOperator(ABC):
    """A symmetric n×n matrix that need not be held anywhere.

    An operator holds data and no settings. `matmat`, `diag`, `columns` and `dense` always mean the true matrix.
    """

    n: int
    dtype: DTypeLike = np.float64
    at_hand: bool = True  # whether a product costs little: nothing is evaluated anew for it
    underflow: float = UNDERFLOW
    kernel: object = None  # whose matrix it is, for messages
    shift: float = 0.0  # what centring need not see of every entry
    coarse: float = 0.0  # error of products beyond float64's rounding, relative to the largest eigenvalue

    @abstractmethod
    def matmat(self, B: Array) -> Array:
        """The product with a block of columns B (n×b)."""

    @abstractmethod
    def diag(self) -> Array:
        """The diagonal (n,)."""

    def columns(self, indices: Array) -> Array:
        """Some columns (n×len(indices)); from products with unit vectors, if an operator knows nothing better."""
        unit = np.zeros((self.n, len(indices)))
        unit[indices, np.arange(len(indices))] = 1.0
        return self.matmat(unit)

    def block(self, rows: Array, columns: Array) -> Array:
        """The entries of some rows in some columns."""
        return self.columns(columns)[rows]

    def dense(self) -> Array:
        """The whole matrix, in an array of its own."""
        return self.columns(np.arange(self.n))

    def sparse(self) -> Matrix:
        """The matrix as a sparse array, if it is held as one; else the whole of it."""
        return self.dense()

    @property
    def floor(self) -> float:
        """Residuals up to this are noise in the entries of the matrix; asked after the first product only.

        What rounding is likely to do, so that a solver knows when to stop. What it *can* do is `product_rounding` and
        the noise of the entries, which a certificate adds to every statement.
        """
        return 0.0

    @property
    def product_rounding(self) -> float:
        """How far a product with a unit vector can be off: γ of the chain it is summed in times ‖|A|‖ (0: not said)."""
        return 0.0

    @property
    def rough(self) -> "SymmetricOperator":
        """Nearly the same matrix for less work, if there is one."""
        return self

    @property
    def uncentred(self) -> "SymmetricOperator":
        """The matrix before centring: that of a kernel, positive semi-definite, with columns worth choosing."""
        return self

    # Where eigenvectors are sought: everywhere, unless a vector is known that the matrix sends to zero.

    @property
    def dimension(self) -> int:
        """Of the space the eigenvectors are sought in."""
        return self.n

    def project(self, B: Array) -> Array:
        """The part of B in that space, in an array of its own."""
        return B.copy()

    # What centring asks. K − c11ᵀ − w1ᵀ − 1wᵀ has the same centred matrix for all c and w, so an operator may leave out
    # what would only cancel: with a wide kernel, all of K is 1 but for the last digits. "Shifted" means: after that.

    def shifted_matmat(self, B: Array) -> Array:
        return self.matmat(B)

    def shifted_diag(self) -> Array:
        return self.diag()

    def shifted_columns(self, indices: Array) -> Array:
        return self.columns(indices)

    def shifted_floor(self, mean: float) -> float:
        """What rounding is likely to do to an entry after the shift, which leaves entries with this mean."""
        return float(4 * np.finfo(float).eps * (abs(mean) + np.abs(self.shifted_diag()).max(initial=0.0)))

    def entry_rounding(self, weights: Array | None) -> float:
        """How far the entries can be off, all together: a bound on ‖SδKS‖_F with S = diag(√w)."""
        return 0.0

    def shifted_norm(self, weights: Array | None = None) -> float | None:
        """‖SKS‖_F of the matrix after the shift, if it is cheap to say."""
        return None

    def shifted_moduli(self, weights: Array | None = None, sums: Array | None = None) -> float | None:
        """A bound on ‖S|K|S‖ of the matrix after the shift, as it is multiplied; None if nobody knows.

        `sums` is the product Kw of that matrix, if it is at hand.
        """
        return self.shifted_norm(weights)

    #: Roundings behind an entry of `shifted_matmat`.
    shifted_chain: int = 0

    # What few matrices can answer, and only the solvers made for those ask.

    def feature_scatter(self) -> Array:
        """ΦᵀΦ (D×D) of a matrix ΦΦᵀ with few features."""
        raise NotImplementedError(f"{type(self).__name__} has no features.")

    def feature_products(self) -> "Measured":
        """The same ΦᵀΦ known by products alone, where D×D numbers are too many."""
        raise NotImplementedError(f"{type(self).__name__} has no features.")

    def from_features(self, V: Array) -> Array:
        """ΦV of the same matrix."""
        raise NotImplementedError(f"{type(self).__name__} has no features.")

    def to_features(self, U: Array) -> Array:
        """ΦᵀU."""
        raise NotImplementedError(f"{type(self).__name__} has no features.")

    def dilated(self) -> Array:
        """X, if the matrix is [[0, X], [Xᵀ, 0]]."""
        raise NotImplementedError(f"{type(self).__name__} is no dilation.")


class Measured(SymmetricOperator):
    """A matrix that also knows its size: what the share of the variance, the search for missed pairs and the
    certificate ask for, after a solver is done.

    With `floor`, `coarse` and `product_rounding` these are all numbers that a statement about its eigenvalues rests on.
    """

    @property
    @abstractmethod
    def trace(self) -> float:
        """The sum of all eigenvalues."""

    @property
    @abstractmethod
    def noise(self) -> float:
        """How far rounding in the entries can move an eigenvalue: a bound on ‖δA‖ (Weyl)."""

    @abstractmethod
    def squared_norm(self, unit: float) -> tuple[float, float] | None:
        """‖A/unit‖_F² and a bound on its rounding error; None if it is not to be had."""
