"""What .h5ad files are told of a fit, where scanpy has it, with the marks by which anndata knows elements."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array, hdf5
from mercer_old.errors import BadData, in_short

__all__ = ["Annotations", "annotate"]


@dataclass(frozen=True)
class Annotations:
    """What a .h5ad file is told of a fit, beside the scores: it is a copy of the file that rows were read from."""

    source: Path
    key: str = ""  # of the scores in obsm, after X_
    used: Array | None = None  # the numbers of the columns that were features; None: there are no loadings
    loadings: Array | None = None  # a row for each of those
    variances: Mapping[str, Array] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)


def annotate(store: Any, told: Annotations, shape: tuple[int, int], dtype: Any) -> Any:
    """Loadings and variances, in place of those of an earlier fit, and scores that are still to be filled in."""
    n_columns = 0 if told.used is None else len(store["var"][store["var"].attrs["_index"]])
    if told.variances:
        _forget(store, "uns", told.key)
        _forget(store, "varm", "PCs")
        _mapping(store, f"uns/{told.key}", {"params": {**told.params, **_mask(told, n_columns)}, **told.variances})
    if told.used is not None and told.loadings is not None:
        kind = told.loadings.dtype if len(told.used) == n_columns else np.float64  # as scanpy has them
        loadings = np.zeros((n_columns, told.loadings.shape[1]), dtype=kind)
        loadings[told.used] = told.loadings
        _element(store, "varm", "PCs", loadings)
    return _element(store, "obsm", f"X_{told.key}", np.empty((0, 0)), shape, dtype)


def _mask(told: Annotations, n_columns: int) -> dict[str, Array]:
    """Which columns were features, if not all: a truth value for each. Of all, scanpy's None is not written at all."""
    if told.used is None or len(told.used) == n_columns:
        return {}
    mask = np.zeros(n_columns, dtype=bool)
    mask[told.used] = True
    return {"mask_var": mask}


def _forget(store: Any, group: str, name: str) -> None:
    """Take away what an earlier fit has left, all of which was about other scores."""
    home = _mapping(store, group, {})
    if home.get(name, getlink=True) is not None:
        del home[name]


def _element(store: Any, group: str, name: str, values: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array in a group, with the marks by which anndata knows it; what had its name is taken away."""
    _forget(store, group, name)
    home = _mapping(store, group, {})
    made = home.create_dataset(name, shape, dtype) if shape else home.create_dataset(name, data=values)
    text, scalar = isinstance(values, str), np.ndim(values) == 0
    _mark(made, "string" if text else "numeric-scalar" if scalar else "array", "0.2.0")
    return made


def _mapping(store: Any, name: str, content: Mapping[str, Any]) -> Any:
    """A group with these elements, and the groups above it; what others have put there stays."""
    made = store
    for part in filter(None, name.split("/")):
        link = made.get(part, getlink=True)
        if link is not None and not (isinstance(link, hdf5().HardLink) and hasattr(made[part], "keys")):
            raise BadData(f"{in_short(part)} of the .h5ad file is a link, or no group: nothing can be written there.")
        made = made.require_group(part)
        if "encoding-type" not in made.attrs:
            _mark(made, "dict", "0.1.0")
    for key, value in content.items():
        if isinstance(value, Mapping):
            _mapping(made, key, value)
        else:
            _element(made, "", key, value)
    return made


def _mark(element: Any, kind: str, version: str) -> None:
    element.attrs["encoding-type"], element.attrs["encoding-version"] = kind, version
