"""Verdicts of a detector on the rows of a file, written to another."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.outlets import outlet, refuse_same_file
from mercer.sources.items import Items

__all__ = ["WithVerdictsInFiles", "verdicts_on", "write_verdicts"]

_COLUMNS = ("novelty", "p_value", "novel")


class WithVerdictsInFiles:
    """A detector that writes what it says of rows."""

    def verdicts_to(self, X: Any, path: str | Path | None, fdr: float | None = None) -> Path | None:
        """Write the score, the p-value and the verdict (1: novel) of every row to a file.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows. Names of rows, and what a file has beside them, are written along.
        path : path or None
            A .npy, .csv, .parquet, .arrow or .feather file. It appears when it is complete, or not at all. None:
            standard output, as CSV.
        fdr : float, default=None
            Call rows novel as `select` does with this rate. None: as `predict` does.

        Returns
        -------
        path : pathlib.Path or None
            Where they are.
        """
        items = X if isinstance(X, Items) else self._open(X, reset=False)  # type: ignore[attr-defined]
        write_verdicts(verdicts_on(self, items, fdr), items, path)
        return None if path is None else Path(path)


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
