"""A cloud of points as JSON can say it. Texts are as they are in the data: whoever shows them has to escape them."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Arrows", "Axis", "Cloud", "Column", "View"]


@dataclass(frozen=True)
class Axis:
    """The scores of all rows on a component: `low` and 65 534 times `step` is `high`; code 65 535 is no number."""

    name: str
    low: float
    high: float
    step: float
    codes: str  # packed, two bytes each


@dataclass(frozen=True)
class Column:
    """What is known of every row beside its scores.

    Of categories, `codes` are places in `names`, and the largest code of that width is a missing one. Numbers are
    floats of four bytes, or steps from `low` of two, as those of an `Axis`.
    """

    name: str
    kind: str  # "category" or "number"
    width: int  # bytes of a code
    codes: str  # packed
    names: str = ""  # of categories: a packed list
    n_names: int = 0
    low: float = 0.0  # of numbers that are finite
    high: float = 0.0
    step: float = 0.0


@dataclass(frozen=True)
class Arrows:
    """Columns of the data as directions among the components: `tips[j][i]` is how far column j reaches along i."""

    names: tuple[str, ...]
    tips: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class View:
    """Two axes by their places, and what the map of them is called."""

    name: str
    x: int
    y: int


@dataclass(frozen=True)
class Cloud:
    """Rows as points: at least two axes, and as much else as there is room for."""

    count: int
    axes: tuple[Axis, ...]
    ids: str  # a packed list, or nothing: rows go by their numbers then
    columns: tuple[Column, ...]
    color: str | None  # the column that points have their colours by at first
    arrows: Arrows | None
    views: tuple[View, ...]  # maps that stand side by side at first; one map where there are none
    heads: tuple[str, ...]  # of the first rows as a table
    first: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]  # what is not there, a sentence each

    def as_dict(self) -> dict[str, Any]:
        """For JSON: dicts, lists, texts, finite numbers and None."""
        return asdict(self)
