"""Texts: lists, arrays and columns of frames, as items whose kernel reads them letter by letter."""

import sys
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short
from mercer_old.sources.held import HeldItems

__all__ = ["Texts", "require_texts"]


class Texts(HeldItems):
    """Texts in memory, each a str or bytes; those of a file know what to call each of them where scores are written."""

    kind = "texts"

    def __init__(
        self, X: Any, label: str = "X", *, names: Sequence[str] | None = None, heading: str = "text", path: Any = None
    ) -> None:
        texts = _one_column(X, label)
        if not texts:
            raise BadData(f"Found array with 0 sample(s): {label} has no texts.")
        _refuse_others(texts, label)
        _refuse_both(texts, label)
        self.label, self.path = label, path if path is None else Path(path)
        self.row_names, self.heading = names, heading
        self._nbytes = sum(map(sys.getsizeof, texts)) + 8 * len(texts)
        self.letters = sum(map(len, texts))  # of all of them
        super().__init__(texts, width=max(1, self.letters // max(len(texts), 1)))

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def in_memory(self, kept: Array | None = None) -> "Texts":
        return self if kept is None else Texts(self.load(kept), self.label)  # as wide as those that are left


def require_texts(X: Any, label: str) -> None:
    """One sentence for what is no list of texts; there may be none in it."""
    _refuse_other_things(X, label)
    if not hasattr(X, "__len__"):
        raise _no_text(X, label)
    _refuse_others(X, label)


def _one_column(X: Any, label: str) -> list[Any]:
    """The things in a list, an array, a series of pandas, polars or pyarrow, or a table of one column."""
    _refuse_other_things(X, label)
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(X, way) and len(getattr(X, "shape", (0,))) == 1 and not hasattr(X, "columns"):
            return list(getattr(X, way)())
    if getattr(X, "ndim", 1) == 2 or hasattr(X, "columns"):
        return _column_of(X, label)
    try:
        return list(X)
    except TypeError:
        raise _no_text(X, label) from None


def _no_text(X: Any, label: str) -> BadData:
    return BadData(f"{label} is {in_short(X)}, and no text: give a list of texts, each a str.")


def _refuse_other_things(X: Any, label: str) -> None:
    """What is no column at all."""
    if isinstance(X, (str, bytes)):
        raise BadData(
            f"{label} is one text, {in_short(X)}; give a list of texts, or pathlib.Path(…) if it is the name of a file."
        )
    if isinstance(X, Mapping):
        raise BadData(
            f"{label} is a {type(X).__name__}, not a list of texts: list(X.values()) is one, list(X) its keys."
        )
    if isinstance(X, Set):
        raise BadData(f"{label} is a {type(X).__name__}, whose texts have no order: give a list, such as sorted(X).")
    numbers = sparse.issparse(X) or getattr(getattr(X, "dtype", None), "kind", "O") in "biufcmM"
    if numbers and len(shape := np.shape(X)) == 2:
        raise BadData(
            f"{label} is a table of numbers ({shape[0]:,}×{shape[1]:,}), and this kernel compares texts: give a list "
            "of texts, or take a kernel of rows, such as RBF."
        )


def _column_of(X: Any, label: str) -> list[Any]:
    """The only column of a table."""
    names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
    columns = len(names) if names else np.shape(X)[1]
    if columns != 1:
        which = f" ({', '.join(names[:5])}{', …' * (columns > 5)})" if names else ""
        raise BadData(f"{label} has {columns} columns{which}, and texts are one: choose a column.")
    if hasattr(X, "column") and hasattr(X, "schema"):  # of pyarrow
        return list(X.column(0).to_pylist())
    return list(np.asarray(X, dtype=object)[:, 0])


def _refuse_others(texts: Sequence[Any], label: str) -> None:
    """One sentence for the first thing that is no text."""
    wrong = tuple(kind for kind in set(map(type, texts)) if not issubclass(kind, (str, bytes)))
    if wrong:
        _refuse([i for i, text in enumerate(texts) if isinstance(text, wrong)], texts, label)


def _refuse_both(texts: list[Any], label: str) -> None:
    """Bytes among texts that are str: whoever mixes them did not mean each byte to be a letter."""
    kinds = set(map(type, texts))
    if any(issubclass(kind, bytes) for kind in kinds) and any(issubclass(kind, str) for kind in kinds):
        first = next(i for i, text in enumerate(texts) if isinstance(text, bytes) != isinstance(texts[0], bytes))
        raise BadData(
            f"{label}: item 0 is {in_short(texts[0], 30)} and item {first} is {in_short(texts[first], 30)}: texts are "
            "all str or all bytes. Decode the bytes first."
        )


def _refuse(wrong: list[int], texts: Sequence[Any], label: str) -> None:
    first = texts[wrong[0]]
    gap = first is None or type(first).__name__ in ("NAType", "NaTType")
    missing = gap or (isinstance(first, float) and np.isnan(first))
    what = "missing" if missing else f"{in_short(first)}, which is no text"
    hint = 'Leave it out, or fill in "".' if missing else "Turn it into a str."
    raise BadData(f"{label}: item {wrong[0]} is {what} ({len(wrong):,} of {len(texts):,} items are no texts). {hint}")
