"""One function for each kernel: k(x, y) of new rows x and the rows y of a model, as ONNX operators.

All are written for double precision. Rows are compared by products around the mean of the model's rows, or column by
column where products would cost digits or there is no product in the formula.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.conversions.onnx.graph import Graph
from mercer_old.errors import WrongUse, in_short
from mercer_old.kernels import (
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    Constant,
    Cosine,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Tanimoto,
)
from mercer_old.kernels.algebra import Product, Scaled, Sum
from mercer_old.kernels.euclidean import EuclideanKernel
from mercer_old.rounding import TINY

__all__ = ["Pair", "directions", "refuse_kernel", "similarities"]


@dataclass(frozen=True)
class Pair:
    """New rows x, by their name in the graph, and the rows y of the model. What is asked for twice is made once."""

    graph: Graph
    x: str
    rows: Array

    @cached_property
    def y(self) -> str:
        return self.graph.numbers(self.rows)

    @cached_property
    def columns(self) -> str:
        """Those of the rows y (d×n); a file has them once, and a runtime turns them when it opens it."""
        return self.graph.swapped(self.y)

    @cached_property
    def products(self) -> str:
        """xᵀy (m×n)."""
        return self.graph.add("MatMul", self.x, self.columns)

    @cached_property
    def own_squares(self) -> str:
        """‖x‖² (m×1)."""
        return self.graph.total(self.graph.add("Mul", self.x, self.x))

    @cached_property
    def own_sums(self) -> str:
        """Σx (m×1)."""
        return self.graph.total(self.x)

    @cached_property
    def squares(self) -> str:
        """‖x − y‖² (m×n), around the mean of the rows y."""
        centre = self.rows.mean(axis=0)
        moved = self.graph.add("Sub", self.x, self.graph.numbers(centre))
        return Pair(self.graph, moved, self.rows - centre).squares_from_products

    @cached_property
    def squares_from_products(self) -> str:
        """‖x − y‖² = ‖x‖² + ‖y‖² − 2xᵀy, and never below zero."""
        graph = self.graph
        both = graph.add("Add", self.own_squares, graph.numbers(np.einsum("ij,ij->i", self.rows, self.rows)))
        twice = graph.add("Mul", self.products, graph.numbers(2.0))
        return graph.add("Max", graph.add("Sub", both, twice), graph.numbers(0.0))

    def for_each(self, factor: float) -> str:
        """One number as a row (n,): onnxruntime makes a single one a part of the product before it, in float32."""
        return self.graph.numbers(np.full(len(self.rows), factor))

    def summed(self, term: Callable[[Graph, str, str], str]) -> str:
        """Σ term(xᵢ, yᵢ) over the columns, one after the other: nothing larger than m×n is held."""
        graph = self.graph

        def step(inner: Graph, total: str, parts: list[str]) -> str:
            x, y = inner.at(parts[0], 1), inner.at(parts[1], 0)
            return inner.add("Add", total, term(inner, x, y))

        none = graph.repeated(self.x, np.zeros(len(self.rows)))
        return graph.scan(none, [graph.swapped(self.x), self.columns], step)


def similarities(kernel: Kernel, pair: Pair) -> str:
    """k(x, y) (m×n)."""
    refuse_kernel(kernel)
    return _FORMULAS[type(kernel)](kernel, pair)


def refuse_kernel(kernel: Kernel) -> None:
    """One sentence for a kernel, or a part of one, that ONNX has no operators for."""
    for part in _parts(kernel):
        if type(part) not in _FORMULAS or getattr(part, "packed", False):
            what = "it is a function of Python" if part.takes == "anything" else f"it compares {part.takes}"
            what = what if part.takes != "rows" else "its formula is not among those that are known there"
            raise WrongUse(
                f"ONNX cannot express {in_short(part)}: {what}. Kernels of rows of numbers can be converted, such as "
                "RBF, Matern, Polynomial or ChiSquared, and their sums and products."
            )


def _parts(kernel: Kernel) -> list[Kernel]:
    if isinstance(kernel, Sum | Product):
        return [*_parts(kernel.left), *_parts(kernel.right)]
    return _parts(kernel.kernel) if isinstance(kernel, Scaled) else [kernel]


# ---------------------------------------------------------------------- functions of xᵀy


def _linear(kernel: Linear, pair: Pair) -> str:
    return pair.products


def _polynomial(kernel: Polynomial, pair: Pair) -> str:
    graph = pair.graph
    return graph.add("Pow", _affine(kernel, pair), graph.numbers(float(kernel.degree)))


def _sigmoid(kernel: Sigmoid, pair: Pair) -> str:
    return pair.graph.add("Tanh", _affine(kernel, pair))


def _affine(kernel: Polynomial | Sigmoid, pair: Pair) -> str:
    """γxᵀy + coef0."""
    graph = pair.graph
    scaled = graph.add("Mul", pair.products, pair.for_each(kernel.known_gamma))
    return graph.add("Add", scaled, graph.numbers(float(kernel.coef0)))


def _cosine(kernel: Cosine, pair: Pair) -> str:
    rows = np.asarray(kernel.rows(pair.rows))
    return pair.graph.add("MatMul", directions(pair.graph, pair.x), pair.graph.numbers(rows.T))


def directions(graph: Graph, x: str) -> str:
    """x/‖x‖ of every row, divided by its largest entry first, as squares may overflow; a row of zeros stays."""
    peak = graph.add("ReduceMax", graph.add("Abs", x), axes=[-1], keepdims=1)
    moderate = graph.add("Div", x, _or_one(graph, peak))
    length = graph.add("Sqrt", graph.total(graph.add("Mul", moderate, moderate)))
    return graph.add("Div", moderate, _or_one(graph, length))


def _or_one(graph: Graph, values: str) -> str:
    """Numbers to divide by: 1 for 0."""
    positive = graph.add("Greater", values, graph.numbers(0.0))
    return graph.add("Where", positive, values, graph.numbers(1.0))


def _tanimoto(kernel: Tanimoto, pair: Pair) -> str:
    y = np.einsum("ij,ij->i", pair.rows, pair.rows)
    return _share_of_either(pair.graph, pair.products, pair.own_squares, y)


def _share_of_either(graph: Graph, common: str, x: str, y: Array) -> str:
    """c/(x + y − c), and 1 where that is 0/0."""
    either = graph.add("Sub", graph.add("Add", x, graph.numbers(y)), common)
    there = graph.add("Greater", either, graph.numbers(0.0))
    share = graph.add("Div", common, _or_one(graph, either))
    return graph.add("Where", there, share, graph.numbers(1.0))


# ---------------------------------------------------------------------- functions of a distance


def _exponent(kernel: EuclideanKernel, pair: Pair) -> str:
    """scale·‖x − y‖² (m×n): by products, or by differences where the kernel itself takes those."""
    graph, scale = pair.graph, pair.graph.numbers(kernel.scale)
    if kernel.smooth and kernel.reach(pair.rows) < np.inf:
        return graph.add("Mul", scale, pair.squares)
    return graph.add("Mul", scale, pair.summed(_squared_difference))


def _squared_difference(graph: Graph, x: str, y: str) -> str:
    apart = graph.add("Sub", x, y)
    return graph.add("Mul", apart, apart)


def _rbf(kernel: RBF, pair: Pair) -> str:
    return _falling(pair.graph, _exponent(kernel, pair))


def _falling(graph: Graph, exponent: str) -> str:
    """e^−x."""
    return graph.add("Exp", graph.add("Neg", exponent))


def _matern(kernel: Matern, pair: Pair) -> str:
    graph = pair.graph
    squares = _exponent(kernel, pair)
    r = graph.add("Sqrt", squares)
    falling = _falling(graph, r)
    if kernel.nu == 0.5:
        return falling
    factor = graph.add("Add", r, graph.numbers(1.0))
    if kernel.nu == 2.5:
        factor = graph.add("Add", factor, graph.add("Div", squares, graph.numbers(3.0)))
    return graph.add("Mul", factor, falling)


def _rational_quadratic(kernel: RationalQuadratic, pair: Pair) -> str:
    graph = pair.graph
    base = graph.add("Add", graph.add("Div", _exponent(kernel, pair), graph.numbers(kernel.alpha)), graph.numbers(1.0))
    return graph.add("Pow", base, graph.numbers(-float(kernel.alpha)))


def _laplacian(kernel: Laplacian, pair: Pair) -> str:
    graph = pair.graph
    distances = pair.summed(lambda inner, x, y: inner.add("Abs", inner.add("Sub", x, y)))
    return _falling(graph, graph.add("Mul", distances, graph.numbers(kernel.known_gamma)))


# ---------------------------------------------------------------------- sums over columns of what two numbers share


def _mean_or_tiny(graph: Graph, x: str, y: str) -> str:
    """(x + y)/2, and no zero to divide by."""
    return graph.add("Max", graph.add("Mul", graph.add("Add", x, y), graph.numbers(0.5)), graph.numbers(TINY))


def _additive_chi_squared(kernel: AdditiveChiSquared, pair: Pair) -> str:
    """Σ x/(x/2 + y/2)·y."""
    return pair.summed(
        lambda graph, x, y: graph.add("Mul", graph.add("Div", x, _mean_or_tiny(graph, x, y)), y),
    )


def _chi_squared(kernel: ChiSquared, pair: Pair) -> str:
    def term(graph: Graph, x: str, y: str) -> str:
        apart = graph.add("Sub", x, y)
        return graph.add("Mul", graph.add("Div", apart, _mean_or_tiny(graph, x, y)), apart)

    graph = pair.graph
    return _falling(graph, graph.add("Mul", pair.summed(term), graph.numbers(0.5 * kernel.known_gamma)))


def _intersection(kernel: HistogramIntersection | MinMax, pair: Pair) -> str:
    return pair.summed(lambda graph, x, y: graph.add("Min", x, y))


def _min_max(kernel: MinMax, pair: Pair) -> str:
    return _share_of_either(pair.graph, _intersection(kernel, pair), pair.own_sums, pair.rows.sum(axis=1))


# ---------------------------------------------------------------------- of other kernels


def _constant(kernel: Constant, pair: Pair) -> str:
    return pair.graph.repeated(pair.x, np.full(len(pair.rows), kernel.value))


def _scaled(kernel: Scaled, pair: Pair) -> str:
    return pair.graph.add("Mul", pair.for_each(kernel.factor), similarities(kernel.kernel, pair))


def _sum(kernel: Sum, pair: Pair) -> str:
    return pair.graph.add("Add", similarities(kernel.left, pair), similarities(kernel.right, pair))


def _product(kernel: Product, pair: Pair) -> str:
    return pair.graph.add("Mul", similarities(kernel.left, pair), similarities(kernel.right, pair))


# By the class itself: one that is derived from it may have another formula.
_FORMULAS: dict[type, Callable[[Any, Pair], str]] = {
    AdditiveChiSquared: _additive_chi_squared,
    ChiSquared: _chi_squared,
    Constant: _constant,
    Cosine: _cosine,
    HistogramIntersection: _intersection,
    Laplacian: _laplacian,
    Linear: _linear,
    Matern: _matern,
    MinMax: _min_max,
    Polynomial: _polynomial,
    Product: _product,
    RBF: _rbf,
    RationalQuadratic: _rational_quadratic,
    Scaled: _scaled,
    Sigmoid: _sigmoid,
    Sum: _sum,
    Tanimoto: _tanimoto,
}
