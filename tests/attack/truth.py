"""What is true of a problem: eigenvalues and eigenvectors to some 30 digits, with a bound on their own error.

Every truth is about a matrix that was scaled by a power of two, so that nothing overflows: `exponent` is that power.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attack.precise import DD, UNIT, as_dd, concatenate, sqrt

U = 2.0**-53  # the unit of rounding of what is judged
ROUNDS = 9


@dataclass(frozen=True)
class Truth:
    """Eigenpairs of a symmetric matrix, largest first; every eigenvalue that is not listed is zero."""

    values: DD
    vectors: DD | None  # n×m, orthonormal; None: only values are known
    error: float  # that an eigenvalue may be off by; divided by a gap, what its vector may be
    size: int  # of the matrix
    exponent: int = 0  # the matrix is that of the problem times 2^exponent
    scale: float = 0.0  # largest modulus of an entry, or sum of squares, before means were taken away

    @property
    def norm(self):
        return float(np.abs(self.values.hi).max(initial=0.0))

    @cached_property
    def padded(self):
        """All of them: the listed ones, with zeros where they belong."""
        rest = self.size - len(self.values)
        if rest <= 0:
            return self.values
        positive = int(np.sum(self.values.hi > 0))
        return concatenate([self.values[:positive], np.zeros(rest), self.values[positive:]])

    @property
    def total(self):
        return self.values.sum()


# ---------------------------------------------------------------------- the eigenproblem


def eigenpairs(A):
    """Values (largest first), vectors and error: LAPACK's, turned again and again by what A shows in their basis."""
    n = len(A)
    size = max(float(np.abs(A.hi).sum(axis=1).max(initial=0.0)), 1e-300)
    X = DD(np.linalg.eigh(A.hi)[1][:, ::-1])
    for round_ in range(ROUNDS):
        X, defect = orthonormal(X)
        S = X.T @ (A @ X)
        diagonal = DD(np.diag(S.hi), np.diag(S.lo))
        off = S.hi - np.diag(np.diag(S.hi))
        rest = float(np.linalg.norm(off))
        if rest <= n * UNIT * size or round_ == ROUNDS - 1:
            break
        X = X @ turned(diagonal, S, off, rest)
    order = np.argsort(-diagonal.hi, kind="stable")
    error = rest + 2 * size * defect + 8 * n * UNIT * size
    return diagonal[order], X[:, order], error


def orthonormal(X):
    """X(XᵀX)^−½ by Newton's iteration, and what is left of I − XᵀX."""
    for _ in range(8):
        R = DD(np.eye(X.shape[1])) - X.T @ X
        defect = float(np.linalg.norm(R.hi))
        if defect <= X.shape[1] * 64 * UNIT:
            break
        X = X + X @ (R * 0.5)
    return X, defect


def turned(diagonal, S, off, rest):
    """The rotation that first-order theory asks for between distant eigenvalues, and LAPACK's among close ones."""
    order = np.lexsort((-diagonal.lo, -diagonal.hi))
    gaps = (diagonal[order[:-1]] - diagonal[order[1:]]).hi  # of 106 bits: those of hi alone may be off by a unit of it
    blocks = np.split(order, np.flatnonzero(gaps > 1e3 * rest) + 1)
    label = np.empty(len(order), dtype=int)
    Q = np.zeros_like(off)
    for number, block in enumerate(blocks):
        label[block] = number
        inner = S[np.ix_(block, block)] - np.eye(len(block)) * diagonal.hi[block[0]]
        Q[np.ix_(block, block)] = np.linalg.eigh(inner.hi)[1][:, ::-1] if len(block) > 1 else 1.0
    apart = label[:, None] != label
    distance = (DD(diagonal.hi[None, :], diagonal.lo[None, :]) - DD(diagonal.hi[:, None], diagonal.lo[:, None])).hi
    E = np.where(apart, off / np.where(apart, distance, 1.0), 0.0)
    return (DD(np.eye(len(off))) + E) @ DD(Q)


def truth_of(A, error=0.0, **more):
    """The truth about a matrix of which every entry is known to 106 bits, the whole of it to `error`."""
    values, vectors, own = eigenpairs((A + A.T) * 0.5)
    return Truth(values, vectors, own + error, len(A), **more)


# ---------------------------------------------------------------------- rows


def scaled_rows(rows):
    """The rows times a power of two, near one, and that power."""
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    peak = np.abs(rows).max(initial=0.0)
    exponent = -int(np.frexp(peak)[1]) if peak > 0 else 0
    return np.ldexp(rows, exponent), exponent


def scaled_weights(weights, n):
    """The weights times an even power of two, and that power."""
    weights = as_dd(np.ones(n) if weights is None else weights)
    exponent = -2 * (int(np.frexp(weights.hi.max())[1]) // 2)
    return weights.scaled(exponent), exponent


def centred(rows, weights):
    """x − mean in 106 bits: moved to the medians first, which costs no digits, and then twice to the mean."""
    moved = DD(rows) - np.median(rows, axis=0)
    total = weights.sum()
    for _ in range(2):
        moved = moved - (moved * weights_column(weights)).sum() / total
    return moved


def weights_column(weights):
    return DD(weights.hi[:, None], weights.lo[:, None])


def linear_truth(rows, weights=None, standardize=False):
    """Of the scatter matrix Σw(x − mean)(x − mean)ᵀ, on its smaller side; vectors are the axes (d×m)."""
    rows, shift = scaled_rows(rows)
    weights, by_weight = scaled_weights(weights, len(rows))
    X = centred(rows, weights) * sqrt(weights_column(weights))
    exponent = 2 * shift + by_weight
    if standardize:
        X, exponent = standardized(X, weights.sum().scaled(-by_weight)), 0
    n, d = X.shape
    scale = float((X * X).sum(axis=None))
    error = 64 * (n + d) * UNIT * scale
    if d <= max(n, 64):
        return truth_of(X.T @ X, error, exponent=exponent, scale=scale)
    left = truth_of(X @ X.T, error)
    there = left.values.hi > 1e-16 * left.norm
    sigma = sqrt(left.values[there])
    axes = (X.T @ left.vectors[:, there]) / DD(sigma.hi[None], sigma.lo[None])
    return replace(left, values=left.values[there], vectors=axes, size=d, exponent=exponent, scale=scale)


def standardized(X, weight):
    """Columns of √w(x − mean), each divided by the standard deviation; constant ones as they are."""
    degrees = weight - 1.0 if float(weight) > 1 else weight
    squares = (X * X).sum()
    deviation = sqrt(squares / X_weight(X, degrees))
    varies = squares.hi > 0
    safe = DD(np.where(varies, deviation.hi, 1.0), np.where(varies, deviation.lo, 0.0))
    return X / DD(safe.hi[None], safe.lo[None])


def X_weight(X, degrees):
    return DD(np.full(X.shape[1], degrees.hi), np.full(X.shape[1], degrees.lo))


# ---------------------------------------------------------------------- kernel matrices


def kernel_truth(K, error, weights=None, exponent=0):
    """Of √W P K Pᵀ √W, P the projection that takes the weighted mean away; K is known to `error` in every entry."""
    n = len(K)
    weights, by_weight = scaled_weights(weights, n)
    root, total = sqrt(weights), weights.sum()
    peak = float(np.abs(K.hi).max(initial=0.0))
    means = (K * weights_column(weights)).sum() / total
    mean = (means * weights).sum() / total
    A = K - DD(means.hi[None], means.lo[None]) - DD(means.hi[:, None], means.lo[:, None]) + mean
    A = A * DD(root.hi[None], root.lo[None]) * weights_column(root)
    error = float(total) * (4 * error + 64 * n * UNIT * peak)
    return truth_of(A, error, exponent=exponent + by_weight, scale=peak * float(total))


def copied(truth, groups):
    """The truth about rows of which row i is the groups[i]-th distinct one, from that with their counts as weights.

    The matrix grows by rows that are copies: the same eigenvalues, and vectors with √count of each entry shared out.
    """
    counts = np.bincount(groups)
    root = sqrt(DD(counts.astype(float)))
    vectors = truth.vectors / weights_column(root)
    return replace(truth, vectors=vectors[groups], size=len(groups))


def known(values, vectors=None, error=0.0, size=None, exponent=0):
    """A closed form: values as they are, exact or to an error."""
    values = as_dd(np.asarray(values, dtype=float) if not isinstance(values, DD) else values)
    order = np.argsort(-values.hi, kind="stable")
    vectors = None if vectors is None else as_dd(vectors)[:, order]
    return Truth(values[order], vectors, error, size or len(values), exponent, float(np.abs(values.hi).max()))
