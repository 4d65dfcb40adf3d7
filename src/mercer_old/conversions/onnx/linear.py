"""PCA as ONNX operators: (x − mean)Wᵀ, with a mean of two numbers where one has too few digits."""

from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.conversions.onnx.graph import Graph
from mercer_old.models.with_gaps import FillsGaps

__all__ = ["linear_scores"]


def linear_scores(graph: Graph, model: Any, x: str) -> str:
    """The scores of PCA and IncrementalPCA.

    In single precision the mean is subtracted in two parts: rows near 1e6 have hardly a digit after the point, and a
    mean that is rounded as they are would move all scores.
    """
    axes = model._number("components_") / model._scale()
    if isinstance(model, FillsGaps):  # of complete rows: a graph has no NaN
        axes = axes * model._shrinkage()[:, None]
    elif model.whiten:
        deviations = model._deviations(axes)
        axes = axes * np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)[:, None]
    return graph.add("MatMul", _moved(graph, x, model._mean()), graph.numbers(axes.T))


def _moved(graph: Graph, x: str, mean: Array) -> str:
    """x − mean."""
    near = mean.astype(graph.dtype)
    moved = graph.add("Sub", x, graph.numbers(near))
    rest = mean - near.astype(np.float64)
    return graph.add("Sub", moved, graph.numbers(rest)) if rest.any() else moved
