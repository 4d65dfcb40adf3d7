"""Columns of categories: δ_ab/p_a − 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted, in_short, listed
from mercer_old.kernels.base import require_positive
from mercer_old.kernels.tables.base import Column
from mercer_old.kernels.tables.contrasts import contrasts, pairwise_chain
from mercer_old.sources.cells import Cells, Coded, kind_of, present

__all__ = ["Category", "about_unseen", "as_whole", "known_places", "labelled"]


@dataclass(frozen=True, repr=False)
class Category(Column):
    """Categories, k(a, b) = δ_ab/p_a − 1, where p_a is the share of category a in the fit: rare ones tell more.

    This is the coding of multiple correspondence analysis. `counts` are learned: how often every category was there. A
    category that the fit has not seen is a gap.
    """

    counts: Mapping[Any, float] | None = None

    takes: ClassVar[tuple[str, ...]] = ("text", "truth", "numbers", "dates")

    def __post_init__(self) -> None:
        for label, count in (self.counts or {}).items():
            require_positive(count, f"the count of {label!r}")

    def __hash__(self) -> int:
        return hash(frozenset((self.counts or {}).items()))

    @property
    def is_learned(self) -> bool:
        return self.counts is not None

    def learned(self, cells: Cells, weights: Array, name: Any) -> Self:
        if self.counts is not None:
            return self
        codes, labels = labelled(cells)
        counts = np.bincount(codes[codes >= 0], weights[codes >= 0], len(labels))
        return replace(self, counts={label: as_whole(c) for label, c in zip(labels, counts, strict=True) if c > 0})

    def rows(self, cells: Cells) -> Any:
        assert self.counts is not None
        table = contrasts(tuple(self.counts.values()))  # of which the last row, of zeros, is that of a gap
        places = self._places(cells)
        return table[places] if self.width > _FEW else table.toarray()[places]

    def there(self, cells: Cells) -> Array:
        return self._places(cells) >= 0

    @property
    def width(self) -> int:
        return max(1, len(self.counts or {}) - 1)

    @property
    def roundings(self) -> int:
        """Of four sums of counts, which numpy adds in pieces, under a root."""
        return 2 * pairwise_chain(len(self.counts or {})) + 4

    def about_fit(self, cells: Cells, name: Any) -> str:
        """Categories that (nearly) every row has for itself: names and numbers of rows, not kinds of them."""
        different, count = len(self.counts or {}), int(self.there(cells).sum())
        if count < _ROWS or different < _UNIQUE * count:
            return ""
        instead = "Numeric() takes numbers" if kind_of(cells) == "numbers" else "Spectrum(3) compares letters"
        return (
            f"Column {name!r} has {different:,} categories in {counted(count, 'row')}: hardly two rows share one, so "
            f"that it makes no two of them alike. Leave it out, or say what it holds: {instead}."
        )

    def about_new(self, cells: Cells, name: Any) -> str:
        return about_unseen(cells, self._places(cells), name)

    def _places(self, cells: Cells) -> Array:
        codes, labels = labelled(cells)
        return known_places(codes, labels, list(self.counts or {}))


_FEW = 64  # numbers of a row up to which zeros among them are kept
_ROWS, _UNIQUE = 10, 0.9  # rows from which on categories can be too many, and how many of them that is


def labelled(cells: Cells) -> tuple[Array, list[Any]]:
    """Numbers of categories, −1 for gaps, and what they are called."""
    if isinstance(cells, Coded):
        return cells.codes, list(cells.values)
    there = present(cells)
    labels, inverse = np.unique(cells[there], return_inverse=True)
    codes = np.full(len(cells), -1)
    codes[there] = inverse
    return codes, [as_whole(label) if isinstance(label, float) else label for label in labels.tolist()]


def known_places(codes: Array, labels: Sequence[Any], known: Sequence[Any]) -> Array:
    """The numbers of the same categories in a list of known ones; −1 for others."""
    places = {label: i for i, label in enumerate(known)}
    return np.array([*(places.get(label, -1) for label in labels), -1])[codes]


def as_whole(number: float) -> float:
    """A whole number as one."""
    return int(number) if number == int(number) else float(number)


def about_unseen(cells: Cells, places: Array, name: Any) -> str:
    unseen = np.flatnonzero(present(cells) & (places < 0))
    if not len(unseen):
        return ""
    codes, labels = labelled(cells)
    which = listed(map(in_short, dict.fromkeys(labels[code] for code in codes[unseen].tolist())))
    cells_of = "One cell" if len(unseen) == 1 else f"{len(unseen):,} cells"
    return (
        f"{cells_of} of column {name!r} hold{'s' * (len(unseen) == 1)} what the fit has not seen ({which}): they count "
        "as gaps."
    )
