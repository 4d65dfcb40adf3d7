"""Explicit features of new rows, as ONNX operators: for kernel PCA whose plan found components among features."""

from collections import Counter
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.conversions.onnx.graph import Graph
from mercer_old.conversions.onnx.kernels import directions, refuse_kernel
from mercer_old.kernels import Constant, Cosine, Linear, Polynomial
from mercer_old.kernels.features import ByFormula, FeatureMap, Joined, Multiplied

__all__ = ["features", "monomials"]


def features(graph: Graph, learned: FeatureMap, x: str, columns: int) -> str:
    """φ(x) (m×D) of rows of so many columns, in the order of `learned.features`."""
    if isinstance(learned, Joined):
        parts = [features(graph, part, x, columns) for part in (learned.left, learned.right)]
        return graph.add("Concat", *parts, axis=-1)
    if isinstance(learned, Multiplied):
        return graph.add("Mul", features(graph, learned.map, x, columns), graph.numbers(np.sqrt(learned.factor)))
    assert isinstance(learned, ByFormula), "other maps are learned from texts and tables, which are refused"
    return _by_formula(graph, learned.kernel, x, columns)


def _by_formula(graph: Graph, kernel: Any, x: str, columns: int) -> str:
    refuse_kernel(kernel)
    if type(kernel) is Linear:
        return x
    if type(kernel) is Cosine:
        return directions(graph, x)
    if type(kernel) is Constant:
        return graph.repeated(x, np.sqrt([kernel.value]))
    assert type(kernel) is Polynomial, "all kernels with features by a formula are above"
    return _expanded(graph, kernel, x, columns)


def _expanded(graph: Graph, kernel: Polynomial, x: str, columns: int) -> str:
    """All monomials of (√γ·x, √coef0) of the degree, each times the root of how often it occurs."""
    scaled = graph.add("Mul", x, graph.numbers(np.sqrt(kernel.known_gamma)))
    z = graph.add("Concat", scaled, graph.repeated(x, np.sqrt([kernel.coef0])), axis=-1)
    factors, often = monomials(columns + 1, int(kernel.degree))
    product = graph.numbers(often)
    for which in factors.T:
        product = graph.add("Mul", product, graph.add("Gather", z, graph.whole(which), axis=1))
    return product


def monomials(variables: int, degree: int) -> tuple[Array, Array]:
    """The factors (D×degree) of every monomial, in order, and the root of how often it occurs in a power (D,)."""
    factors = list(combinations_with_replacement(range(variables), degree))
    often = [factorial(degree) / prod(map(factorial, Counter(each).values())) for each in factors]
    return np.array(factors), np.sqrt(often)
