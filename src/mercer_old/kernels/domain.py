"""What a kernel compares: rows that it has no formula for are refused, with their place."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Matrix
from mercer_old.errors import BadData, in_short
from mercer_old.kernels.base import Held, Kernel
from mercer_old.sources.held import CheckedRows
from mercer_old.sources.items import Items

__all__ = ["refuse_inverse", "refuse_negative", "without_negative"]


def without_negative(items: Items, kernel: Kernel, model: Any) -> Items:
    """The items, looked over: those in memory at once, others when they are read.

    The model knows the names of the columns, if they have any.
    """
    label, names = items.label, getattr(model, "feature_names_in_", None)

    if items.held:
        refuse_negative(items.load(), kernel, label, names)
        return items

    def check(rows: Matrix, numbers: Array) -> None:
        refuse_negative(rows, kernel, label, names, numbers)

    return CheckedRows(items.as_rows(), check)


def refuse_negative(X: Held, kernel: Kernel, label: str = "X", names: Any = None, numbers: Array | None = None) -> None:
    """One sentence for rows with a number below zero; `numbers` are those of the rows, if these are not all of them."""
    values = X.data if sparse.issparse(X) else X
    if not values.size or values.min() >= 0:
        return
    rows, columns = np.nonzero(X < 0)
    row, column = rows[0], columns[0]
    number = row if numbers is None else numbers[row]
    name = str(column) if names is None else repr(names[column])
    others = f", the first of {len(rows):,}" if len(rows) > 1 and numbers is None else ""
    verb = "have" if label == "landmarks" else "has"
    raise BadData(
        f"{label} {verb} a negative number, {X[row, column]:.6g} at row index {number}, column {name}{others}, and "
        f"{in_short(kernel)} compares rows without any (counts, shares, histograms). Leave out or move what is below "
        "zero, or take a kernel of distances, such as RBF or Laplacian."
    )


def refuse_inverse(kernel: Kernel) -> None:
    """The way back leads to rows of numbers, and compares scores by the kernel, some of which are negative."""
    if kernel.takes not in ("rows", "anything"):
        raise ValueError(
            f"fit_inverse_transform finds rows of numbers, and {in_short(kernel)} compares {kernel.takes}: leave it "
            "out."
        )
    if kernel.non_negative:
        raise ValueError(
            f"fit_inverse_transform compares scores by the kernel, and about half of them are negative, which "
            f"{in_short(kernel)} cannot compare. Leave it out, or take another kernel."
        )
