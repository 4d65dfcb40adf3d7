"""The rows a model learns from: checked, weighted, and without those that do not count."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from mercer_old.arrays import Array, Held
from mercer_old.engines.base import Engine
from mercer_old.kernels import Kernel
from mercer_old.kernels.features import FeatureMap
from mercer_old.plans.plan import Cut
from mercer_old.sources.chunked import Chunks, lent
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Items
from mercer_old.sources.weights import check_weights, copies_of


@dataclass(frozen=True)
class Training:
    """The rows of positive weight, and the way back to the rows as they were given."""

    items: Items
    weights: Array | None = None  # None: all count the same
    kept: Array | None = None  # which of the given ones are left; None: all
    given: Items | None = None  # all of them, if some were left out
    own: bool = True  # whether they are in an array of ours
    scale: Array | None = None  # that their columns were divided by
    notes: tuple[str, ...] = ()  # what a user should be told about them
    helpers: Engine | None = None  # a cluster whose workers may be sent items that are here
    chunks: Chunks | None = None  # the same items in pieces, kept by the workers of a cluster, if those have work

    @property
    def count(self) -> int:
        """How many rows there are that count."""
        return len(self.items) if self.weights is None else int(np.sum(self.weights > 0))

    @property
    def copies(self) -> int:
        """How many rows there would be if those of weight two came twice; rows of other weights are counted."""
        return self.count if self.weights is None else copies_of(self.weights, self.count)

    @property
    def elsewhere(self) -> Engine | None:
        """Who has these items, and others that do not count, elsewhere; None: nobody, or exactly these."""
        there = self.all_items.chunks
        return None if there is None or self.given is None or not there.engine.elsewhere else there.engine

    @property
    def data(self) -> Held:
        """All that count in one array, for kernels to compare."""
        return self.items.load()

    def kept_data(self, copy: bool) -> Held:
        """The same for a model to keep, in an array that nobody else will change if `copy`."""
        return self.data.copy() if copy and not self.own else self.data

    @property
    def all_items(self) -> Items:
        """The items as they were given."""
        return self.items if self.given is None else self.given

    def learn_features(self, kernel: Kernel) -> FeatureMap | None:
        """The map to exact features, learned once; of items that are not in memory, when they are."""
        return None if self.items.by_matrix or not self.items.held else kernel.feature_map(self.data)

    def in_memory(self, cut: Cut | None = None) -> "Training":
        """The same with all items in an array, which is read from a file if need be, or brought from the workers of a
        cluster. If workers are to go on with them, they keep them in pieces, `cut` in this way."""
        return self._in_pieces(cut) if cut is not None else self if self.items.held else self._read()

    def _in_pieces(self, cut: Cut) -> "Training":
        there = self.all_items.chunks
        if there is None:
            assert self.helpers is not None, "a plan for workers has some"
            read = self.in_memory()
            return replace(read, chunks=lent(self.helpers, read.data, cut(read.count)))
        if self.items.held:
            return replace(self, items=self.items.alone(), chunks=there.recut(cut(self.count), self.kept))
        there = there.kept()  # what they are read from is not read twice
        held = HeldRows(there.load(self._marked))
        held = held if self._marked is not None else held.named_as(self.items)
        return replace(self._without_others(held), chunks=there.recut(cut(len(held)), self._marked))

    def _read(self) -> "Training":
        return self._without_others(self.items.in_memory(self._marked))

    @property
    def _marked(self) -> Array | None:
        """Which of the items count; None: all."""
        return None if self.weights is None or self.weights.all() else self.weights > 0

    def _without_others(self, held: Items) -> "Training":
        """The same with these items, which are those that count."""
        read, kept = replace(self, items=held, own=True), self._marked
        if kept is None or self.weights is None:
            return read
        return replace(read, weights=self.weights[kept], kept=kept, given=self.items)


def weigh(items: Items, sample_weight: ArrayLike | None) -> Training:
    """Items of weight zero are left out, where they are in memory; of a matrix between items, their columns too."""
    if sample_weight is None:
        return Training(items, own=items.brought)
    weights = check_weights(sample_weight, len(items))
    kept = weights > 0
    if not items.held or kept.all():
        return Training(items, weights, own=not items.held or items.brought)
    if items.is_operator:
        raise ValueError(
            f"{np.sum(~kept)} of {len(kept)} sample weights are zero, and rows cannot be taken out of a "
            "LinearOperator; give the operator of the items that count."
        )
    return Training(items.in_memory(kept), weights[kept], kept, items)
