"""Fitted names as tables of text (CSV), and as arrays (npz) that can be read without trusting them."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, dense, to_numpy
from mercer_old.conversions.rows import as_text
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.terminal import plain

__all__ = ["csv_files", "npz_files"]

# What each family keeps, by the fitted names without their underscore; those that a model does not have are left out.
_ARRAYS = {
    LinearModel: [
        "components_",
        "mean_",
        "scale_",
        "singular_values_",
        "explained_variance_",
        "explained_variance_ratio_",
    ],
    KernelModel: [
        "eigenvalues_",
        "eigenvectors_",
        "scale_",
        "explained_variance_",
        "explained_variance_ratio_",
        "landmarks_",
    ],
}
_OF_OTHERS = ["embedding_", "scale_"]


def npz_files(model: Any, path: Path) -> tuple[dict[Path, bytes], str]:
    """One archive of arrays of numbers and of names."""
    names = next((names for family, names in _ARRAYS.items() if isinstance(model, family)), _OF_OTHERS)
    held = {name.rstrip("_"): getattr(model, name) for name in names if hasattr(model, name)}
    arrays = {name: dense(value) if sparse.issparse(value) else to_numpy(value) for name, value in held.items()}
    things = [name for name, array in arrays.items() if array.dtype.kind not in "fiub"]
    for name in things:
        del arrays[name]
    arrays["component_names"] = _texts(model.get_feature_names_out())
    if hasattr(model, "feature_names_in_"):
        arrays["feature_names"] = _texts(model.feature_names_in_)
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    without = f" Without {', '.join(things)}, which are no numbers." if things else ""
    return {path: archive.getvalue()}, f"{plain(path.name)} has {', '.join(arrays)}.{without}"


def _texts(names: Iterable[Any]) -> Array:
    return np.array([str(name) for name in names], dtype=np.str_)


def csv_files(model: Any, path: Path) -> tuple[dict[Path, bytes], str]:
    """A table of the columns, one of the components, or one of the rows, each in a file of its own."""
    stem = path.with_suffix("") if path.suffix.lower() == ".csv" else path
    names = [str(name) for name in model.get_feature_names_out()]
    if isinstance(model, LinearModel):
        tables = {"components": _of_columns(model, names), "eigenvalues": _of_spectrum(model, names)}
    elif isinstance(model, KernelModel):
        tables = {"eigenvalues": _of_spectrum(model, names)}
        if hasattr(model, "eigenvectors_"):
            tables["eigenvectors"] = _of_rows(names, to_numpy(model.eigenvectors_))
    else:
        tables = {"embedding": _of_rows(names, np.asarray(model.embedding_))}
    files = {stem.with_name(f"{stem.name}.{name}.csv"): content for name, content in tables.items()}
    return files, f"Tables of {', '.join(tables)}."


def _of_columns(model: Any, names: list[str]) -> bytes:
    """A line for each column: its name, mean and scale, and its entry in every axis."""
    columns = [str(name) for name in getattr(model, "feature_names_in_", range(model.n_features_in_))]
    numbers = np.column_stack([model._mean(), model._scales(), model._number("components_").T])
    return _csv(["feature", "mean", "scale", *names], columns, numbers)


def _of_spectrum(model: Any, names: list[str]) -> bytes:
    """A line for each component."""
    linear = isinstance(model, LinearModel)
    values = np.square(to_numpy(model.singular_values_)) if linear else to_numpy(model.eigenvalues_)
    variances, shares = to_numpy(model.explained_variance_), to_numpy(model.explained_variance_ratio_)
    heading = ["component", "eigenvalue", "explained_variance", "explained_variance_ratio"]
    return _csv(heading, names, np.column_stack([values, variances, shares]))


def _of_rows(names: list[str], numbers: Array) -> bytes:
    """A line for each row of the fit, by its number from 0 on."""
    return _csv(["row_index", *names], [str(i) for i in range(len(numbers))], numbers)


def _csv(heading: Sequence[str], first: Sequence[str], numbers: Array) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows([name, *map(as_text, row)] for name, row in zip(first, numbers, strict=True))
    return text.getvalue().encode("utf-8", "backslashreplace")
