"""New rows of locally linear embedding as ONNX operators: neighbours, weights by elimination, places."""

from functools import partial
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.conversions.onnx.graph import Graph
from mercer_old.conversions.onnx.kernels import Pair, directions
from mercer_old.errors import WrongUse, in_short
from mercer_old.spaces.points import DIGITS, Points

__all__ = ["local_scores"]


def local_scores(graph: Graph, model: Any, x: str) -> str:
    """z = Σⱼwⱼzⱼ over the k nearest training rows; a row that equals one of them gets its place."""
    hoods = model._hoods
    space, k = hoods.space, hoods.indices.shape[1]
    _refuse(model, space)
    places = graph.numbers(model._places)
    new = _prepared(graph, space, x)
    pair = Pair(graph, new, space.rows)
    # Rows lie around their medians, where distances of whole numbers are exact; directions do not.
    near = _nearest(graph, pair.squares if space.unit else pair.squares_from_products, k, model._apart)  # m×k
    apart = graph.add("Sub", graph.add("Gather", pair.y, near, axis=0), graph.at(new, 1))  # m×k×d
    weights = _weights(graph, apart, k, model.reg)  # m×k×1
    around = graph.add("Gather", places, near, axis=0)  # m×k×c
    between = graph.total(graph.add("Mul", weights, around), axis=1, keep=False)
    return _of_equal_rows(graph, apart, near, places, space.n, between)


def _refuse(model: Any, space: Any) -> None:
    if not isinstance(space, Points):
        raise WrongUse(
            f"ONNX has new rows of locally linear embedding for dense rows and Euclidean or cosine distances, and this "
            f"model is of sparse rows or has metric={in_short(model.metric)}. Give X.toarray(), or another metric."
        )
    if not model.reg > 0:
        raise WrongUse(
            "ONNX has no eigenvectors, which reg=0 needs where neighbours depend on each other: fit with a small reg, "
            "such as 1e-6."
        )


def _prepared(graph: Graph, space: Points, x: str) -> str:
    """As the space has its own rows."""
    if not space.unit:
        return graph.add("Sub", graph.add("Div", x, graph.numbers(space.scale)), graph.numbers(space.centre))
    power = graph.numbers(10.0**DIGITS)
    return graph.add("Div", graph.add("Round", graph.add("Mul", directions(graph, x), power)), power)


def _nearest(graph: Graph, distances: str, k: int, labels: Array | None) -> str:
    """Numbers of the k nearest rows (m×k), the first of those that are equally near; of one part, if there are some."""
    if labels is not None:
        own = graph.whole(labels)
        nearest = graph.add("Gather", own, graph.add("ArgMin", distances, axis=1, keepdims=1), axis=0)
        distances = graph.add("Where", graph.add("Equal", own, nearest), distances, graph.numbers(np.inf))
    return graph.add("TopK", distances, graph.whole([k]), result=1, axis=1, largest=0, sorted=1)


def _weights(graph: Graph, apart: str, k: int, reg: float) -> str:
    """w (m×k×1) of (G + reg·tr(G)·I)w ∝ 1 with sum one, G = ZZᵀ the Gram matrix of the neighbours around x.

    By Gauss and Jordan's elimination of [G + reg·tr(G)·I, 1], column after column and for all rows at once. The matrix
    is positive definite, so that no pivots have to be looked for.
    """
    gram = graph.add("MatMul", apart, graph.swapped(apart, (0, 2, 1)))
    eye = graph.numbers(np.eye(k))
    trace = graph.total(graph.total(graph.add("Mul", gram, eye)), axis=1)  # m×1×1
    some = graph.add("Greater", trace, graph.numbers(0.0))
    ridge = graph.add("Where", some, graph.add("Mul", trace, graph.numbers(reg)), graph.numbers(1.0))
    system = graph.add("Add", gram, graph.add("Mul", ridge, eye))
    ones = graph.add("Add", graph.total(graph.add("Mul", system, graph.numbers(0.0))), graph.numbers(1.0))
    solved = graph.scan(graph.add("Concat", system, ones, axis=2), [eye], partial(_eliminated, k=k))
    solution = graph.add("Gather", solved, graph.whole([k]), axis=2)
    return graph.add("Div", solution, graph.total(solution, axis=1))


def _eliminated(graph: Graph, system: str, parts: list[str], k: int) -> str:
    """After one step: A − (Ae − e)p with e the unit vector of the column and p its row divided by the pivot."""
    across, down = graph.at(parts[0], 0), graph.at(parts[0], 1)
    column = graph.add("MatMul", graph.add("Gather", system, graph.whole(np.arange(k)), axis=2), down)
    row = graph.add("MatMul", across, system)
    row = graph.add("Div", row, graph.add("MatMul", across, column))
    return graph.add("Sub", system, graph.add("MatMul", graph.add("Sub", column, down), row))


def _of_equal_rows(graph: Graph, apart: str, near: str, places: str, n: int, between: str) -> str:
    """The place of the first training row that a row equals; `between` if there is none."""
    farthest = graph.add("ReduceMax", graph.add("Abs", apart), axes=[2], keepdims=0)
    equal = graph.add("Equal", farthest, graph.numbers(0.0))
    first = graph.add("ReduceMin", graph.add("Where", equal, near, graph.whole(n)), axes=[1], keepdims=0)
    there = graph.at(graph.add("Less", first, graph.whole(n)), 1)
    place = graph.add("Gather", places, graph.add("Min", first, graph.whole(n - 1)), axis=0)
    return graph.add("Where", there, place, between)
