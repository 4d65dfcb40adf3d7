"""Values of kernels on vectors in 60 digits, by their formulas."""

import mpmath
import numpy as np
from mpmath import mpf
from scipy import sparse

from mercer.kernels.algebra import Constant, Product, Scaled, Sum
from mercer.kernels.distance import RBF, Laplacian, Matern, RationalQuadratic
from mercer.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.histograms import AdditiveChiSquared, ChiSquared, HistogramIntersection, MinMax, Tanimoto
from mercer.kernels.origin import MovedPolynomial, MovedRows

mpmath.mp.dps = 60


def squared_distance(x, y):
    return mpmath.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def dot(x, y):
    return mpmath.fsum(a * b for a, b in zip(x, y, strict=True))


def cosine(x, y):
    lengths = mpmath.sqrt(dot(x, x) * dot(y, y))
    return dot(x, y) / lengths if lengths else mpf(0)


def matern(kernel, x, y):
    squares = squared_distance(x, y)
    if kernel.nu == np.inf:
        return mpmath.exp(-squares / (2 * mpf(kernel.length_scale) ** 2))
    r = mpmath.sqrt(2 * mpf(kernel.nu) * squares) / mpf(kernel.length_scale)
    return {0.5: mpf(1), 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[kernel.nu] * mpmath.exp(-r)


def rational_quadratic(kernel, x, y):
    alpha = mpf(kernel.alpha)
    return (1 + squared_distance(x, y) / (2 * alpha * mpf(kernel.length_scale) ** 2)) ** -alpha


def chi_squared(x, y):
    return mpmath.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b)


def min_max(x, y):
    largest = mpmath.fsum(map(max, x, y))
    return mpmath.fsum(map(min, x, y)) / largest if largest else mpf(1)


def tanimoto(x, y):
    union = dot(x, x) + dot(y, y) - dot(x, y)
    return dot(x, y) / union if union else mpf(1)


FORMULAS = {
    Linear: lambda k, x, y: dot(x, y),
    Cosine: lambda k, x, y: cosine(x, y),
    Polynomial: lambda k, x, y: (mpf(k.gamma) * dot(x, y) + mpf(k.coef0)) ** mpf(k.degree),
    Sigmoid: lambda k, x, y: mpmath.tanh(mpf(k.gamma) * dot(x, y) + mpf(k.coef0)),
    RBF: lambda k, x, y: mpmath.exp(-mpf(k.gamma) * squared_distance(x, y)),
    Matern: matern,
    RationalQuadratic: rational_quadratic,
    Laplacian: lambda k, x, y: mpmath.exp(-mpf(k.gamma) * mpmath.fsum(abs(a - b) for a, b in zip(x, y, strict=True))),
    HistogramIntersection: lambda k, x, y: mpmath.fsum(map(min, x, y)),
    MinMax: lambda k, x, y: min_max(x, y),
    ChiSquared: lambda k, x, y: mpmath.exp(-mpf(k.gamma) * chi_squared(x, y)),
    AdditiveChiSquared: lambda k, x, y: mpmath.fsum(2 * a * b / (a + b) for a, b in zip(x, y, strict=True) if a + b),
    Tanimoto: lambda k, x, y: tanimoto(x, y),
    Constant: lambda k, x, y: mpf(k.value),
    Scaled: lambda k, x, y: mpf(k.factor) * exact(k.kernel, x, y),
    Sum: lambda k, x, y: exact(k.left, x, y) + exact(k.right, x, y),
    Product: lambda k, x, y: exact(k.left, x, y) * exact(k.right, x, y),
}


def exact(kernel, x, y):
    """k(x, y) of two lists of numbers."""
    if isinstance(kernel, MovedRows | MovedPolynomial):
        o = [mpf(value) for value in kernel.origin.tolist()]
        inner = kernel.kernel
        return exact(inner, x, y) - exact(inner, x, o) - exact(inner, o, y) + exact(inner, o, o)
    return FORMULAS[type(kernel)](kernel, x, y)


def exact_matrix(kernel, X, Y):
    """All values, as a list of rows."""
    dense = [(Z.toarray() if sparse.issparse(Z) else Z).tolist() for Z in (X, Y)]
    left, right = ([[mpf(value) for value in row] for row in rows] for rows in dense)
    return [[exact(kernel, x, y) for y in right] for x in left]
