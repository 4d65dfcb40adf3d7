"""What one column of a table says about how alike two rows are: numbers, categories, ranks, dates, sets and texts.

Each kind turns cells into rows of numbers (or leaves texts as they are), and a kernel compares those. A gap is like
nothing else: its row is zero, which in columns of numbers, categories, ranks and dates is the mean of the column.
"""

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.errors import BadData, in_short
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.dot import Linear
from mercer_old.sources.cells import Cells, Coded, Odd, kind_of, present

__all__ = ["Column", "require_rows", "said"]

_WORDS = {
    "numbers": "numbers",
    "dates": "dates",
    "text": "text",
    "truth": "truth values",
    "sets": "lists or sets",
}


class Column(ABC):
    """A kind of column, whose parameters that are None are learned from the cells of a fit."""

    takes: ClassVar[tuple[str, ...]]  # kinds of cells

    @abstractmethod
    def learned(self, cells: Cells, weights: Array, name: Any) -> Self:
        """The same with numbers in it, from the cells of a fit with at least one that is no gap."""

    @abstractmethod
    def rows(self, cells: Cells) -> Held:
        """What the kernel compares: rows of numbers, dense or CSR, or texts. Of a gap, a row of zeros."""

    @property
    @abstractmethod
    def is_learned(self) -> bool: ...

    @property
    def compared_by(self) -> Kernel:
        """The kernel that compares them."""
        return getattr(self, "kernel", None) or Linear()

    @property
    def width(self) -> int:
        """Numbers of a row, once it is learned."""
        return 1

    def width_of(self, cells: Cells) -> int:
        """The same, or letters of these cells: what comparing them costs."""
        return self.width

    @property
    def is_sparse(self) -> bool:
        """Whether exact features are mostly zeros."""
        return False

    @property
    def has_features(self) -> bool:
        """Whether the kernel has exact features of such rows."""
        return self.compared_by.n_features(np.zeros((1, self.width))) is not None

    @property
    def roundings(self) -> int:
        """How many roundings are behind a number of `rows`."""
        return 3  # a difference, a quotient, and what was learned is taken at its word

    def resolved(self, rows: Held, rng: np.random.Generator) -> Self:
        """With a kernel that has numbers in it."""
        kernel = getattr(self, "kernel", None)
        return self if kernel is None else replace(self, kernel=kernel.resolved(rows, rng))  # type: ignore[type-var]

    def there(self, cells: Cells) -> Array:
        """Which cells say something."""
        return present(cells)

    def check(self, cells: Cells, name: Any, label: str) -> None:
        """One sentence for cells that this kind of column has no place for."""
        if isinstance(cells, Odd):
            raise BadData(f"Column {name!r} of {label} {cells.why}; make them one kind, or leave the column out.")
        kind = kind_of(cells)
        if kind not in self.takes and present(cells).any():
            wanted = " or ".join(_WORDS[take] for take in self.takes)
            raise BadData(
                f"Column {name!r} of {label} holds {_WORDS[kind]}, such as {in_short(_first(cells), 30)}, and "
                f"{type(self).__name__} takes {wanted}. {_HINTS.get(kind, '')}".strip()
            )
        if kind == "numbers" and np.isinf(cells).any():
            row = int(np.argmax(np.isinf(cells)))
            raise BadData(
                f"Column {name!r} of {label} has an infinite value ({cells[row]}) at row index {row}. Make it a gap, "
                "or leave out the row."
            )

    def about_fit(self, cells: Cells, name: Any) -> str:
        """What a user should know of the cells that it has learned from."""
        return ""

    def about_new(self, cells: Cells, name: Any) -> str:
        """What a user should know of cells that were not in the fit."""
        return ""

    def __repr__(self) -> str:
        return said(self)


def said(value: Any) -> str:
    """A dataclass as one would write it, without what need not be said."""
    own: list[tuple[str, Any, Any]] = [(part.name, getattr(value, part.name), part.default) for part in fields(value)]
    words = [f"{name}={inner!r}" for name, inner, usual in own if inner != usual]
    return f"{type(value).__name__}({', '.join(words)})"


_HINTS = {
    "text": "Category() compares what is equal, Spectrum(3) the letters.",
    "dates": "Date() takes them.",
    "truth": "Category() takes them.",
    "sets": "Sets() takes them.",
    "numbers": "Numeric() takes them.",
}


def _first(cells: Cells) -> Any:
    """A cell that is no gap."""
    i = int(np.argmax(present(cells)))
    return cells.values[cells.codes[i]] if isinstance(cells, Coded) else cells[i].item()


def require_rows(kernel: Any, kind: str) -> None:
    if kernel is not None and not (isinstance(kernel, Kernel) and kernel.takes == "rows"):
        raise ValueError(f"{kind} takes a kernel of rows, such as RBF(gamma=0.5); got {in_short(kernel)}.")
