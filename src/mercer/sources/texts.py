"""Texts: lists, arrays and columns of frames, as items whose kernel reads them letter by letter."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import BadData, in_short
from mercer.sources.held import HeldItems

__all__ = ["Texts"]


class Texts(HeldItems):
    """Texts in memory, each a str or bytes."""

    def __init__(self, X: Any, label: str = "X") -> None:
        texts = _one_column(X, label)
        _refuse_others(texts, label)
        super().__init__(texts, width=max(1, sum(map(len, texts)) // max(len(texts), 1)))

    def in_memory(self, kept: Array | None = None) -> "Texts":
        return self if kept is None else Texts(self.load(kept), self.label)  # as wide as those that are left


def _one_column(X: Any, label: str) -> list[Any]:
    """The things in a list, an array, a series of pandas, polars or pyarrow, or a table of one column."""
    if isinstance(X, (str, bytes)):
        raise BadData(f"{label} is one text, {in_short(X)}; give a list of texts.")
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(X, way) and np.ndim(X) == 1:
            return list(getattr(X, way)())
    if getattr(X, "ndim", 1) == 2 or hasattr(X, "columns"):
        table = np.asarray(X, dtype=object)
        if table.shape[1] != 1:
            raise BadData(f"{label} has {table.shape[1]} columns, and texts are one: choose a column.")
        return list(table[:, 0])
    try:
        return list(X)
    except TypeError:
        raise BadData(f"{label} is no list of texts: {in_short(X)}.") from None


def _refuse_others(texts: list[Any], label: str) -> None:
    """One sentence for the first thing that is no text."""
    if not texts:
        raise BadData(f"Found array with 0 sample(s): {label} has no texts.")
    wrong = [i for i, text in enumerate(texts) if not isinstance(text, (str, bytes))]
    if not wrong:
        return
    first = texts[wrong[0]]
    missing = first is None or (isinstance(first, float) and np.isnan(first))
    what = "missing" if missing else f"{in_short(first)}, which is no text"
    hint = 'Leave it out, or fill in "".' if missing else "Turn it into a str."
    raise BadData(f"{label}: item {wrong[0]} is {what} ({len(wrong):,} of {len(texts):,} such items). {hint}")
