"""Columns of categories with an order: their mean ranks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short, listed
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.tables.base import Column, require_rows
from mercer_old.kernels.tables.categories import about_unseen, as_whole, known_places, labelled
from mercer_old.kernels.tables.numbers import z_scores
from mercer_old.sources.cells import Cells, Coded

__all__ = ["Ordinal"]


@dataclass(frozen=True, repr=False)
class Ordinal(Column):
    """Categories with an order, each by the mean rank of its cells in the fit, standardised as numbers are.

    `order` names them from the lowest to the highest; numbers have one of their own.
    """

    order: Sequence[Any] | None = None
    kernel: Kernel | None = None
    counts: Sequence[float] | None = None

    takes: ClassVar[tuple[str, ...]] = ("text", "truth", "numbers", "dates")

    def __post_init__(self) -> None:
        require_rows(self.kernel, "Ordinal")
        if self.order is not None and len(set(self.order)) < max(1, len(self.order)):
            raise ValueError(f"order has to name categories, each once; got {in_short(self.order)}.")

    def __hash__(self) -> int:
        return hash((tuple(self.order or ()), self.kernel, tuple(self.counts or ())))

    @property
    def is_learned(self) -> bool:
        return self.counts is not None

    def learned(self, cells: Cells, weights: Array, name: Any) -> Self:
        codes, labels = labelled(cells)
        if self.order is None and isinstance(cells, Coded) and cells.kind == "text":
            raise BadData(
                f"Column {name!r} holds text: Ordinal([…]) needs its categories, from the lowest to the highest."
            )
        order = tuple(labels if self.order is None else self.order)
        places = known_places(codes, labels, order)
        strange = np.flatnonzero((codes >= 0) & (places < 0))
        if len(strange):
            raise BadData(
                f"Column {name!r} holds {in_short(labels[codes[strange[0]]])} at row index {strange[0]}, which is not "
                f"in the order of its Ordinal: {listed(map(in_short, order), 10)}."
            )
        counts = np.bincount(places[places >= 0], weights[places >= 0], len(order))
        return replace(self, order=order, counts=tuple(map(as_whole, counts.tolist())))

    def rows(self, cells: Cells) -> Array:
        return np.append(self._scores(), 0.0)[self._places(cells)][:, None]

    def there(self, cells: Cells) -> Array:
        return self._places(cells) >= 0

    def about_new(self, cells: Cells, name: Any) -> str:
        return about_unseen(cells, self._places(cells), name)

    def _places(self, cells: Cells) -> Array:
        return known_places(*labelled(cells), self.order or ())

    def _scores(self) -> Array:
        """What is below, and half of what is beside; of mean 0 and variance 1."""
        counts = np.array(self.counts, dtype=np.float64)
        ranks = np.cumsum(counts) - counts / 2
        mean = counts @ ranks / counts.sum()
        scale = np.sqrt(counts @ (ranks - mean) ** 2 / counts.sum()) if np.sum(counts > 0) > 1 else 0.0
        return z_scores(ranks, float(mean), float(scale))
