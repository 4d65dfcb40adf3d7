"""Kernel matrices to 106 bits, from the formulas: nothing of the library's is used but its parameters."""

import numpy as np

from attack.precise import DD, UNIT, expm1, log1p, sqrt, tanh, where

SHIFTED = (
    "RBF",
    "Laplacian",
    "Matern",
    "RationalQuadratic",
    "ChiSquared",
)  # their formulas give K − 1, which has more digits where K is nearly one
AT_ONCE = 10_000  # numbers of an array: it stays in the cache


def kernel_matrix(kernel, X, Y=None):
    """K (DD, n×m) but for a constant, which does not matter once means are taken away; and every entry's error."""
    X = dense(X)
    Y = X if Y is None else dense(Y)
    (rows, i), (others, j) = distinct(X), distinct(Y)
    K, peak = FORMULAS[type(kernel).__name__](kernel, rows, others)
    return K[np.ix_(i, j)], 16 * (X.shape[1] + 32) * UNIT * peak


def whole_matrix(kernel, X, Y=None):
    """The same with the constant."""
    K, error = kernel_matrix(kernel, X, Y)
    return (K + 1.0 if type(kernel).__name__ in SHIFTED else K), error


def dense(X):
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def distinct(X):
    """Every row once, copies left out; and which of them each row is."""
    found = {}
    which = np.array([found.setdefault(row.tobytes(), len(found)) for row in X], dtype=int)
    return X[np.unique(which, return_index=True)[1]], which


def over_columns(term, X, Y):
    """Σ term(x, y) over pairs of numbers of one column, for all pairs of rows; some columns at a time."""
    total = DD(np.zeros((len(X), len(Y))))
    several = max(1, AT_ONCE // max(1, total.hi.size))
    for j in range(0, X.shape[1], several):
        x, y = X.T[j : j + several, :, None], Y.T[j : j + several, None, :]
        total = total + term(DD(x), DD(y)).sum()
    return total


def squared_distances(X, Y):
    return over_columns(lambda x, y: square(x - y), X, Y)


def square(x):
    return x * x


def products(X, Y):
    return DD(X) @ DD(Y.T)


def rbf(kernel, X, Y):
    return expm1(squared_distances(X, Y) * -float(kernel.gamma)), 1.0


def laplacian(kernel, X, Y):
    return expm1(over_columns(lambda x, y: abs(x - y), X, Y) * -float(kernel.gamma)), 1.0


def matern(kernel, X, Y):
    r = sqrt(squared_distances(X, Y) * (2 * kernel.nu)) / float(kernel.length_scale)
    decay = expm1(-r)
    if kernel.nu == 0.5:
        return decay, 1.0
    factor = r + 1.0 if kernel.nu == 1.5 else r * r / 3.0 + r + 1.0
    return decay * factor + (factor - 1.0), 1.0 + min(float(factor.hi.max()), 1e4)


def rational_quadratic(kernel, X, Y):
    x = squared_distances(X, Y) * 0.5 / float(kernel.length_scale) / float(kernel.length_scale)
    return expm1(log1p(x / float(kernel.alpha)) * -float(kernel.alpha)), 4.0


def share(part, whole, nothing):
    """part/whole, and `nothing` where there is nothing."""
    return where(whole.hi > 0, part / where(whole.hi > 0, whole, 1.0), nothing)


def chi_squared(kernel, X, Y):
    total = over_columns(lambda x, y: share(square(x - y), x + y, 0.0), X, Y)
    return expm1(total * -float(kernel.gamma)), 1.0


def additive_chi_squared(kernel, X, Y):
    return over_columns(lambda x, y: share(x * y * 2.0, x + y, 0.0), X, Y), float(X.sum(axis=1).max())


def smaller(x, y):
    return where(x.hi < y.hi, x, y)


def histogram_intersection(kernel, X, Y):
    return over_columns(smaller, X, Y), float(X.sum(axis=1).max())


def min_max(kernel, X, Y):
    least = over_columns(smaller, X, Y)
    return share(least, over_columns(lambda x, y: x + y - smaller(x, y), X, Y), 1.0), 4.0


def tanimoto(kernel, X, Y):
    both, x, y = products(X, Y), (DD(X) * X).sum(axis=1), (DD(Y) * Y).sum(axis=1)
    return share(both, DD(x.hi[:, None], x.lo[:, None]) + DD(y.hi[None], y.lo[None]) - both, 1.0), 4.0


def linear(kernel, X, Y):
    return products(X, Y), largest(X) * largest(Y)


def polynomial(kernel, X, Y):
    base = products(X, Y) * float(kernel.gamma) + float(kernel.coef0)
    K = base
    for _ in range(int(kernel.degree) - 1):
        K = K * base
    size = kernel.gamma * largest(X) * largest(Y) + abs(kernel.coef0)
    return K, kernel.degree * size**kernel.degree


def cosine(kernel, X, Y):
    return unit_rows(X) @ unit_rows(Y).T, 1.0


def unit_rows(X):
    X = X / np.where(X.any(axis=1), 2.0 ** np.frexp(np.abs(X).max(axis=1))[1], 1.0)[:, None]
    squares = (DD(X) * X).sum(axis=1)
    lengths = sqrt(where(squares.hi > 0, squares, 1.0))
    return DD(X) / DD(lengths.hi[:, None], lengths.lo[:, None])


def sigmoid(kernel, X, Y):
    base = products(X, Y) * float(kernel.gamma) + float(kernel.coef0)
    return tanh(base), 1.0 + kernel.gamma * largest(X) * largest(Y)


def largest(X):
    return float(np.sqrt((X**2).sum(axis=1).max(initial=0.0)))


def scaled(kernel, X, Y):
    K, error = whole_matrix(kernel.kernel, X, Y)
    return K * float(kernel.factor), abs(kernel.factor) * error / UNIT


def both(kernel, X, Y):
    """The matrices of two kernels, the largest entry of each, and their errors in units."""
    (K, first), (L, second) = whole_matrix(kernel.left, X, Y), whole_matrix(kernel.right, X, Y)
    return K, L, largest_entry(K), largest_entry(L), first / UNIT, second / UNIT


def sum_of_two(kernel, X, Y):
    K, L, k, l, first, second = both(kernel, X, Y)
    return K + L, k + l + first + second


def product_of_two(kernel, X, Y):
    K, L, k, l, first, second = both(kernel, X, Y)
    return K * L, k * l + k * second + l * first


def largest_entry(K):
    return float(np.abs(K.hi).max(initial=0.0))


FORMULAS = {
    "RBF": rbf,
    "Laplacian": laplacian,
    "Matern": matern,
    "RationalQuadratic": rational_quadratic,
    "ChiSquared": chi_squared,
    "AdditiveChiSquared": additive_chi_squared,
    "HistogramIntersection": histogram_intersection,
    "MinMax": min_max,
    "Tanimoto": tanimoto,
    "Linear": linear,
    "Polynomial": polynomial,
    "Cosine": cosine,
    "Sigmoid": sigmoid,
    "Scaled": scaled,
    "Sum": sum_of_two,
    "Product": product_of_two,
}
