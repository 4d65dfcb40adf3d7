"""Columns of sets and of texts, and what a user may say of a column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.errors import in_short
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.dot import Cosine
from mercer_old.kernels.tables.base import Column, require_rows
from mercer_old.kernels.tables.numbers import Numeric
from mercer_old.sources.cells import Cells

__all__ = ["Sets", "Text", "as_column"]


@dataclass(frozen=True, repr=False)
class Sets(Column):
    """Sets, such as the tags of a page: |A∩B|/√(|A||B|), or by a kernel of rows of 0 and 1, such as ``Tanimoto()``.

    Members that no row of the fit had are left out.
    """

    kernel: Kernel | None = None
    members: Sequence[Any] | None = None

    takes: ClassVar[tuple[str, ...]] = ("sets",)

    def __post_init__(self) -> None:
        require_rows(self.kernel, "Sets")

    def __hash__(self) -> int:
        return hash((self.kernel, tuple(self.members or ())))

    @property
    def is_learned(self) -> bool:
        return self.members is not None

    @property
    def compared_by(self) -> Kernel:
        return self.kernel or Cosine()

    def learned(self, cells: Cells, weights: Array, name: Any) -> Self:
        used = dict.fromkeys(cells.codes[cells.codes >= 0].tolist())
        members = dict.fromkeys(member for code in used for member in sorted(cells.values[code], key=_order))
        return replace(self, members=tuple(members))

    def rows(self, cells: Cells) -> Any:
        places = {member: i for i, member in enumerate(self.members or ())}
        ones = [[places[member] for member in some if member in places] for some in cells.values]
        ends = np.concatenate([[0], np.cumsum([len(some) for some in ones])]).astype(np.int64)
        columns = np.array([place for some in ones for place in sorted(some)], dtype=np.int64)
        shape = (len(ones), self.width)
        each = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)
        return sparse.vstack([each, sparse.csr_array((1, self.width))], format="csr")[cells.codes]

    @property
    def is_sparse(self) -> bool:
        return True

    @property
    def has_features(self) -> bool:
        return self.compared_by.n_features(sparse.csr_array((1, self.width))) is not None

    @property
    def width(self) -> int:
        return max(1, len(self.members or ()))

    @property
    def roundings(self) -> int:
        return 0


def _order(member: Any) -> tuple[str, str]:
    """Sets have no order, and an answer should not depend on the one they come in."""
    return type(member).__name__, str(member)


@dataclass(frozen=True, repr=False)
class Text(Column):
    """Texts, compared by a kernel of texts: ``columns={"name": Spectrum(3)}`` is short for ``Text(Spectrum(3))``."""

    kernel: Kernel

    takes: ClassVar[tuple[str, ...]] = ("text",)

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel) or self.kernel.takes != "texts":
            raise ValueError(f"Text takes a kernel of texts, such as Spectrum(3); got {in_short(self.kernel)}.")

    @property
    def is_learned(self) -> bool:
        return True

    def learned(self, cells: Cells, weights: Array, name: Any) -> Self:
        return self

    def rows(self, cells: Cells) -> Array:
        return np.append(cells.values, [""])[cells.codes]

    def width_of(self, cells: Cells) -> int:
        """Letters of a text, on average; gaps have none."""
        lengths = np.append([len(text) for text in cells.values], 0)
        return max(1, round(float(lengths[cells.codes].mean())))

    @property
    def is_sparse(self) -> bool:
        return self.kernel.sparse_features

    @property
    def has_features(self) -> bool:
        return self.kernel.sparse_features

    @property
    def roundings(self) -> int:
        return 0


def as_column(kind: Any, name: Any) -> Column:
    """What a user says of a column: a kind, or the kernel of texts or rows that compares its cells."""
    if isinstance(kind, Column):
        return kind
    if isinstance(kind, Kernel) and kind.takes == "texts":
        return Text(kind)
    if isinstance(kind, Kernel) and kind.takes == "rows":
        return Numeric(kind)
    raise ValueError(
        f"Column {name!r} is {in_short(kind)}; it has to be Numeric(), Category(), Ordinal([…]), Date(), Sets(), or a "
        "kernel of texts or rows, such as Spectrum(3) or RBF()."
    )
