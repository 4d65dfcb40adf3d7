"""The kernel matrix where the rows are: evaluated, held and multiplied by another array library, on its own device."""

import numpy as np

from mercer_old.arrays import Array, Held, Home, to_numpy
from mercer_old.blocks import cut
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.elsewhere import TilesElsewhere, has_formula, longer_sums
from mercer_old.operators.gram import RecomputedGram
from mercer_old.progress import OnPass

__all__ = ["WORKING", "GramElsewhere", "can_go_to", "products_elsewhere"]

_ENTRIES = 1_000_000  # of a strip of rows that is evaluated at once
WORKING = 8 * 6 * _ENTRIES  # bytes of a strip, and of what is made on the way to it


class GramElsewhere(RecomputedGram):
    """All of it held on the device, or evaluated there anew for each product; columns of the product come and go.

    Nobody here knows in which order the library adds up n products, so the chain is n. Its own diagonal, some columns
    and what the size of rounding is made of are asked of the rows in main memory, as ever.
    """

    def __init__(
        self, kernel: Kernel, X: Held, home: Home, held: bool = True, threads: int = 1, on_pass: OnPass = None
    ) -> None:
        super().__init__(kernel, X, threads, on_pass=on_pass)
        self.home, self.at_hand = home, held
        self._there = TilesElsewhere(kernel, X, None, self.shift, home)
        self._strips = strips_of(self.n, self.n)
        self._held = [self._there.rows(some) for some in self._strips] if held else None

    @property
    def rough(self) -> "GramElsewhere":
        return self

    def shifted_matmat(self, B: Array) -> Array:
        there, out, squares = self.home.bring(np.asarray(B, dtype=np.float64)), np.empty(B.shape), np.empty(self.n)
        for i, some in enumerate(self._strips):
            entries = self._there.rows(some) if self._held is None else self._held[i]
            out[some] = to_numpy(entries @ there)
            if self._squares is None:  # of every row there, and then of all of them here, in a shorter chain
                squares[some] = to_numpy(self.home.library.sum(entries * entries, axis=1))
            if self.on_pass and self._held is None:
                self.on_pass(some.stop / self.n)
        self._squares = float(squares.sum()) if self._squares is None else self._squares
        return out

    @property
    def shifted_chain(self) -> int:  # type: ignore[override]
        return self.n + 1

    def entry_rounding(self, weights: Array | None) -> float:
        return longer_sums(self.X) * super().entry_rounding(weights)


def can_go_to(home: Home, kernel: Kernel) -> bool:
    """Whether the library has all that an evaluation takes; arrays in main memory are read where they are."""
    return home.elsewhere and home.has_double and has_formula(kernel)


def products_elsewhere(kernel: Kernel, X: Held, rows: Held, shift: float, B: Array, home: Home) -> Array:
    """(k(X, rows) − shift)·B, strip after strip of X."""
    tiles, there, out = TilesElsewhere(kernel, X, rows, shift, home), home.bring(B), np.empty((len(X), B.shape[1]))
    for some in strips_of(len(X), len(rows)):
        out[some] = to_numpy(tiles.rows(some) @ there)
    return out


def strips_of(m: int, n: int) -> list[slice]:
    """Strips of m rows with so many entries that a device has something to do, and no more."""
    return cut(m, max(1, _ENTRIES // max(n, 1)))
