"""Facts of a comparison, as one record that JSON can say; the page is made from it alone.

Texts are as they are in the data: whoever shows them has to escape them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from mercer_old.report.cloud import Cloud
from mercer_old.report.records import as_record

__all__ = ["Compared", "Figure", "Measure", "Method"]


@dataclass(frozen=True)
class Measure:
    """What was asked of every method."""

    name: str
    head: str  # of its column
    phrase: str
    larger_is_better: bool
    chance: float | None  # what a picture drawn by chance has


@dataclass(frozen=True)
class Figure:
    """What a method has of a measure."""

    value: float
    error: float | None  # one standard error, where there is one
    words: str  # both
    best: bool  # or not to be told from the best, while others are surely worse


@dataclass(frozen=True)
class Method:
    """A method: what it is, what it took and what was measured, or why not."""

    title: str
    by: str
    keeps: str
    assumes: str
    done: bool
    reason: str
    warnings: tuple[str, ...]
    seconds: float | None
    cpu_seconds: float | None
    memory: str
    figures: Mapping[str, Figure]  # by the name of the measure


@dataclass(frozen=True)
class Compared:
    """A comparison, told."""

    title: str
    about: str
    rows: int
    columns: int
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    measures: tuple[Measure, ...]
    methods: tuple[Method, ...]
    settings: Mapping[str, str]  # how it was asked for, and with what
    cloud: Cloud | None  # with a view for every method that was done

    def as_dict(self) -> dict[str, Any]:
        """For JSON: dicts, lists, texts, truths, finite numbers and None."""
        return asdict(self)

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The same facts, from what JSON has kept of them."""
        facts: Self = as_record(cls, said)
        return facts
