"""Kernel PCA as ONNX operators: by all training rows, by landmarks, by features or by a matrix that is given."""

from math import fsum
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.conversions.onnx.features import features
from mercer_old.conversions.onnx.graph import Graph
from mercer_old.conversions.onnx.kernels import Pair, refuse_kernel, similarities
from mercer_old.kernels import Precomputed
from mercer_old.operators.projection import ByFeatures, ByKernel, ByMatrix

__all__ = ["kernel_scores"]


def kernel_scores(graph: Graph, model: Any, x: str) -> str:
    """(k(x, ·) − shift)α − offset, or the same from features, of rows in the units of the model."""
    if not isinstance(model.kernel_, Precomputed):
        refuse_kernel(model.kernel_)
    projection = model._projection.now(model)
    if isinstance(projection, ByFeatures):
        found = features(graph, projection.map, x, int(model.n_features_in_))
        product = graph.add(
            "MatMul", graph.add("Sub", found, graph.numbers(projection.origin)), graph.numbers(projection.axes)
        )
    elif isinstance(projection, ByMatrix):
        if model._kept_items is not None:
            x = graph.add("Gather", x, graph.whole(np.flatnonzero(model._kept_items)), axis=1)
        product = graph.add("MatMul", x, graph.numbers(projection.alpha))
    else:
        assert isinstance(projection, ByKernel)
        seen = similarities(projection.kernel, Pair(graph, x, dense(projection.rows, np.float64)))
        product = _weighted(graph, seen, projection.alpha, projection.shift)
    return graph.add("Sub", product, graph.numbers(projection.offset))


def _weighted(graph: Graph, seen: str, alpha: Array, shift: float) -> str:
    """(k − shift)α of every row k as (k − r)α + (r − shift)Σα with r the mean of the row: α sums up to nearly nothing,
    and products with numbers that are large and nearly the same would leave no digits of it."""
    middle = graph.add("ReduceMean", seen, axes=[-1], keepdims=1)
    around = graph.add("MatMul", graph.add("Sub", seen, middle), graph.numbers(alpha))
    totals = np.array([fsum(column) for column in alpha.T])
    common = graph.add("Sub", middle, graph.numbers(shift)) if shift else middle
    return graph.add("Add", around, graph.add("Mul", common, graph.numbers(totals)))
