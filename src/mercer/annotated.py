"""What .h5ad files are told of a fit, and elements with the marks by which anndata knows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array

__all__ = ["Annotations", "element", "mapping"]


@dataclass(frozen=True)
class Annotations:
    """What a .h5ad file is told of a fit, beside the scores: it is a copy of the file that rows were read from."""

    source: Path
    key: str = ""  # of the scores in obsm, after X_
    used: Array | None = None  # the numbers of the columns that were features; None: there are no loadings
    loadings: Array | None = None  # a row for each of those
    variances: Mapping[str, Array] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)


def element(store: Any, group: str, name: str, values: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array in a group, with the marks by which anndata knows it; what had its name is taken away."""
    home = mapping(store, group, {})
    if name in home:
        del home[name]
    made = home.create_dataset(name, shape, dtype) if shape else home.create_dataset(name, data=values)
    text, scalar = isinstance(values, str), np.ndim(values) == 0
    _mark(made, "string" if text else "numeric-scalar" if scalar else "array", "0.2.0")
    return made


def mapping(store: Any, name: str, content: Mapping[str, Any]) -> Any:
    """A group with these elements, and the groups above it; what others have put there stays."""
    made = store
    for part in filter(None, name.split("/")):
        made = made.require_group(part)
        if "encoding-type" not in made.attrs:
            _mark(made, "dict", "0.1.0")
    for key, value in content.items():
        if isinstance(value, Mapping):
            mapping(made, key, value)
        else:
            element(made, "", key, value)
    return made


def _mark(element: Any, kind: str, version: str) -> None:
    element.attrs["encoding-type"], element.attrs["encoding-version"] = kind, version
