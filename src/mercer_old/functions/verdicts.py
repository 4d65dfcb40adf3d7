"""Verdicts of a detector on the rows of a file, written to another."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.outlets import outlet, refuse_same_file
from mercer_old.sources.items import Items

__all__ = ["rows_for", "verdicts_on", "write_verdicts"]

_COLUMNS = ("novelty", "p_value", "novel")


def rows_for(detector: Any, X: Any) -> Items:
    """As they are named where they come from."""
    rows: Items = X if isinstance(X, Items) else detector._open(X, reset=False)
    return rows


def verdicts_on(detector: Any, rows: Items, fdr: float | None) -> Array:
    """Score, p-value and verdict of every row (m×3)."""
    scores = -detector.score_samples(rows)
    p_values = detector._calibration.p_values(scores)
    novel = scores > detector.threshold_ if fdr is None else detector._chosen(p_values, fdr)
    return np.column_stack([scores, p_values, novel])


def write_verdicts(found: Array, rows: Items, path: str | Path | None) -> None:
    """With the names that rows have, to a file or (None) as CSV to standard output."""
    where = None if path is None else Path(path)
    if where is not None:
        refuse_same_file(rows.path, where)
    told = None if rows.annotations is None else replace(rows.annotations, key="novelty")
    with outlet(where, _COLUMNS, len(found), np.float64, rows.written_along, told) as sink:
        sink(found)
