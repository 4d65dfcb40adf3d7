"""Rows that scores stand for, rows without noise, and rows without gaps, written to files block by block."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense, here, to_numpy
from mercer_old.blocks import rows_at_a_time
from mercer_old.errors import WrongUse
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.outlets import Labels, outlet, refuse_same_file
from mercer_old.sources.files import open_rows
from mercer_old.sources.held import HeldRows, as_read
from mercer_old.sources.items import Items, Rows

__all__ = ["as_items", "as_scores", "write_back", "write_filled"]

_WRITTEN = ("rows", "texts", "anything")


def as_scores(X: Any) -> Items:
    """Scores of a file, or in memory."""
    scores = open_rows(X) if isinstance(X, Path) else X
    return scores if isinstance(scores, Items) else HeldRows(np.asarray(here(scores), dtype=np.float64))


def as_items(model: Any, X: Any) -> Items:
    """What a model compares, as it is named where it comes from."""
    items: Items = X if isinstance(X, Items) else model._new_items(X)
    return items


def write_back(model: Any, items: Items, path: str | Path | None, error: bool, noisy: bool) -> Array:
    """Write the rows that scores stand for, or rows without noise, with what is written along; their errors."""
    if getattr(getattr(model, "kernel_", None), "takes", "rows") not in _WRITTEN:
        way = "denoise" if noisy else "inverse_transform"
        raise WrongUse(
            f"{model.kernel_.takes.capitalize()} have no columns of numbers to write: {way} gives the items."
        )
    if error and not noisy and not isinstance(model, KernelPCA):
        raise WrongUse("with_error is for kernel PCA: rows of PCA have the scores that they are made from.")
    where = None if path is None else Path(path)
    if where is not None:
        refuse_same_file(items.path, where)
    found, all_errors = _found(model, items, error, noisy), list[Array]()
    along = {} if items.written_along is None else dict(items.written_along.columns)
    if _gives_texts(model):
        texts = list(found)
        along |= {"text": [text for some, _ in texts for text in some]}
        found = ((np.empty((len(some), 0)), errors) for some, errors in texts)
    names = [*_columns_of(model), *(["error"] if error else [])]
    labels = Labels(along, items.row_names is not None) if along else None
    with outlet(where, names, len(items), np.float64, labels) as write:
        for rows, errors in found:
            write(np.column_stack([rows, errors]) if error else rows)
            all_errors.append(errors)
    return np.concatenate(all_errors)


def write_filled(model: Any, rows: Rows, path: str | Path | None) -> tuple[int, int]:
    """Write the rows without gaps; how many numbers were missing, and in how many rows."""
    where = None if path is None else Path(path)
    if where is not None:
        refuse_same_file(rows.path, where)
    rows, numbers, some = rows.allowing_gaps(), 0, 0
    with outlet(where, _columns_of(model), len(rows), np.float64, rows.written_along) as write:
        for block in rows.blocks(rows_at_a_time(rows.width)):
            gaps = np.isnan(dense(block))
            write(model.impute(_with_names(block, rows)))
            numbers, some = numbers + int(gaps.sum()), some + int(gaps.any(axis=1).sum())
    return numbers, some


def _found(model: Any, items: Items, error: bool, noisy: bool) -> Iterator[tuple[Any, Array]]:
    """Block after block of rows, or texts, and how far each is from what it stands for."""
    back = model.denoise if noisy else model.inverse_transform
    kernel = isinstance(model, KernelPCA)
    for block in items.blocks(rows_at_a_time(items.width)):
        given = _with_names(block, items) if noisy and isinstance(items, Rows) else block
        given = model._home().bring(given)
        if error and kernel:
            rows, errors = back(given, return_error=True)
            yield here(rows), to_numpy(errors)
            continue
        rows = here(back(given))
        yield rows, _distances(dense(block), rows) if error else np.zeros(len(rows))


def _distances(rows: Array, others: Array) -> Array:
    """Of each row, as far as there are numbers."""
    return np.linalg.norm(np.where(np.isnan(rows), 0.0, rows - others), axis=1)


def _with_names(block: Any, rows: Rows) -> Rows:
    """Some rows as their file calls their columns, so that the model knows them."""
    if not rows.gaps:
        return as_read(block, None, rows.label, names=rows.names)
    some = HeldRows(block)
    some.names, some.label, some.gaps = rows.names, rows.label, True
    return some


def _gives_texts(model: Any) -> bool:
    return getattr(getattr(model, "kernel_", None), "takes", "") == "texts"


def _columns_of(model: Any) -> Sequence[str]:
    """As the file of the fit called them."""
    if _gives_texts(model):
        return []
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]
