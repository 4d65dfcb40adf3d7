"""A fitted model as one file of ONNX: which numbers it computes with, and what it says of itself."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old import __version__
from mercer_old.arrays import here
from mercer_old.conversions.onnx.graph import Graph, as_file
from mercer_old.conversions.onnx.kernel import kernel_scores
from mercer_old.conversions.onnx.linear import linear_scores
from mercer_old.conversions.onnx.local import local_scores
from mercer_old.errors import WrongUse, in_short
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.local_model import LocalModel
from mercer_old.terminal import plain

__all__ = ["onnx_files"]

_DTYPES = {"float32": np.float32, "float64": np.float64}
_FAMILIES: dict[type, Callable[[Graph, Any, str], str]] = {
    LinearModel: linear_scores,
    KernelModel: kernel_scores,
    LocalModel: local_scores,
}


def onnx_files(model: Any, path: Path, dtype: str = "float32") -> tuple[dict[Path, bytes], str]:
    """The file, and what it is in words."""
    if dtype not in _DTYPES:
        raise WrongUse(f'dtype is "float32" or "float64"; got {in_short(dtype)}.')
    outside = _DTYPES[dtype]
    # Kernels and weights of neighbours multiply rounding errors, by as much as their eigenvalues are small.
    inside = outside if isinstance(model, LinearModel) else np.float64
    graph = Graph(inside)
    scores = next(make for family, make in _FAMILIES.items() if isinstance(model, family))
    found = scores(graph, model, "X" if isinstance(model, LinearModel) else _in_units(graph, model, outside))
    found = found if inside is outside else graph.cast(found, outside)
    names = list(model.get_feature_names_out())
    content = as_file(graph, found, int(model.n_features_in_), len(names), outside, _notes(model, names))
    shapes = f"takes X (rows × {model.n_features_in_}) and gives scores (rows × {len(names)})"
    cast = "" if inside is outside else ", computed in float64"
    return {path: content}, f"{plain(path.name)} {shapes}, {dtype}{cast}."


def _in_units(graph: Graph, model: Any, outside: Any) -> str:
    """The rows as the model has its own: divided by the scales of columns, in the precision of `transform`."""
    scale = here(getattr(model, "scale_", None))
    if scale is None:
        return graph.cast("X", graph.dtype)
    if outside is np.float32 and scale.dtype == np.float32:
        return graph.cast(graph.add("Div", "X", graph.single(scale)), graph.dtype)
    return graph.add("Div", graph.cast("X", graph.dtype), graph.numbers(scale))


def _notes(model: Any, names: list[str]) -> dict[str, str]:
    """What a reader of the file may want to know of it."""
    notes = {
        "mercer_version": __version__,
        "model": type(model).__name__,
        "component_names": json.dumps(names),
        "certificate": str(model.certificate_),
    }
    if hasattr(model, "kernel_"):
        notes["kernel"] = repr(model.kernel_)
        if model.kernel_.non_negative:
            notes["domain"] = (
                "Rows without negative numbers; others are not refused here, and their scores mean nothing."
            )
    if hasattr(model, "feature_names_in_"):
        notes["feature_names"] = json.dumps(list(map(str, model.feature_names_in_)))
    return notes
