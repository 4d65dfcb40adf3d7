"""Items with the distance of a kernel, in its feature space."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held, dense
from mercer_old.blocks import steps
from mercer_old.kernels.base import Compared, Kernel
from mercer_old.progress import OnPass
from mercer_old.sources.held import bytes_of, groups_of, same_items
from mercer_old.sources.items import Items
from mercer_old.spaces.base import Neighbors, Space
from mercer_old.spaces.nearest import by_blocks
from mercer_old.squares import from_products

_TOGETHER = 8  # points whose neighbours a kernel compares at once: more than asked for, but in one call


@dataclass(frozen=True, eq=False)
class KernelRows(Space):
    """Rows (dense, sparse or any items) with the distance of a kernel: ‖x − y‖² = k(x, x) + k(y, y) − 2k(x, y)."""

    by_kernel = True

    rows: Held
    kernel: Kernel
    diag: Array  # k(x, x) of every row

    @classmethod
    def seen_by(cls, kernel: Kernel, rows: Held) -> "KernelRows":
        compared = kernel.compared_with(rows)
        return cls(rows, kernel, np.asarray(compared.diag(), dtype=np.float64))._knowing(compared)

    def with_diag(self, diag: Array) -> "KernelRows":
        """The same where items have other lengths."""
        return replace(self, diag=diag)._knowing(self._compared)

    def _knowing(self, compared: Compared) -> "KernelRows":
        self.__dict__["_compared"] = compared
        return self

    @property
    def n(self) -> int:
        return int(self.rows.shape[0])

    @cached_property
    def _compared(self) -> Compared:
        return self.kernel.compared_with(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be prepared again."""
        return {name: value for name, value in self.__dict__.items() if name != "_compared"}

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return sparse.issparse(self.rows)

    def nearest(self, k: int, threads: int, on_pass: OnPass = None) -> Neighbors:
        shape, own, known = (self.n, self.n), np.arange(self.n), self._compared  # once, before threads share it
        return by_blocks(lambda s: self._squared(known, self.rows[s], self.diag[s]), shape, k, own, threads, on_pass)

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self.gram_at(self.rows[items], neighbors)

    def take(self, items: Array) -> "KernelRows":
        return replace(self, rows=self.rows[items], diag=self.diag[items])

    def groups(self) -> Array:
        return groups_of(self.rows)

    def distances_from(self, item: int) -> Array:
        return self._squared(self._compared, self.rows[item : item + 1], self.diag[item : item + 1])[0]

    def as_given(self) -> Held:
        return self.rows

    @property
    def nbytes(self) -> int:
        prepared = self._compared.nbytes if "_compared" in self.__dict__ else 0
        return bytes_of(self.rows) + prepared

    def admit(self, new: Items) -> None:
        self.kernel.admit(new, new.label)

    def prepare(self, new: Held) -> Held:
        if self.is_sparse:
            return sparse.csr_array(new, dtype=np.float64)
        return dense(new) if sparse.issparse(new) else new  # items of any kind

    def nearest_to(self, new: Held, k: int, threads: int) -> Neighbors:
        diag, shape, known = self.kernel.diag(new), (new.shape[0], self.n), self._compared
        return by_blocks(lambda rows: self._squared(known, new[rows], diag[rows]), shape, k, None, threads)

    def gram_at(self, new: Held, neighbors: Array) -> Array:
        parts = steps(len(neighbors), _TOGETHER)
        return np.concatenate([self._gram_of_few(new[some], neighbors[some]) for some in parts])

    def _gram_of_few(self, new: Held, neighbors: Array) -> Array:
        """A kernel compares two sets of rows, not many pairs of sets: all are compared, and few of them are read."""
        b, k = neighbors.shape
        around = self.rows[neighbors.ravel()]
        each = np.arange(b)
        seen = self.kernel.block(new, around).reshape(b, b, k)[each, each]
        between = self.kernel.block(around, around).reshape(b, k, b, k)[each, :, each]
        return between - seen[:, :, None] - seen[:, None, :] + self.kernel.diag(new)[:, None, None]

    def equal(self, new: Held, near: Neighbors) -> Array:
        """A distance of zero may be rounding, or no distance at all: the rows themselves are compared."""
        same = near.distances == 0
        rows, columns = np.nonzero(same)
        same[rows, columns] = same_items(new[rows], self.rows[near.indices[rows, columns]])
        return same

    def _squared(self, known: Compared, rows: Held, diag: Array) -> Array:
        D = known.block(rows)
        from_products(D.T, self.diag, diag)
        rounding = 16 * np.finfo(float).eps * float(np.abs(self.diag).max(initial=0.0))
        if D.min() < rounding:  # equal items, but for rounding
            D[16 * np.finfo(float).eps * (np.abs(diag)[:, None] + np.abs(self.diag)) > D] = 0.0
        return D
