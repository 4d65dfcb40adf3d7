"""What a comparison of methods leaves behind: a record to read, print, draw and keep as JSON."""

import json
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted, shortened
from mercer_old.limits import bytes_in_words
from mercer_old.models.upstairs import WithPicturesAbove
from mercer_old.readings.measures import Measured

__all__ = ["MEASURES", "Comparison", "Line", "Measure"]


_WIDEST = 100  # letters of a line of the table


@dataclass(frozen=True)
class Measure:
    """What a number says, and which end of it is good."""

    head: str  # of its column
    phrase: str
    larger_is_better: bool = True
    chance: float | None = None  # what a picture drawn by chance has

    def better(self, gap: float) -> float:
        """A difference, positive where the first is better."""
        return gap if self.larger_is_better else -gap


#: In the order of the columns.
MEASURES = {
    "trustworthiness": Measure("trust", "neighbours in the picture are neighbours in the rows", chance=0.5),
    "continuity": Measure("continuity", "neighbours in the rows are neighbours in the picture", chance=0.5),
    "lcmc": Measure("lcmc", "share of neighbours that stay, beyond chance", chance=0.0),
    "distances": Measure("distances", "rank correlation of distances", chance=0.0),
    "label_hit": Measure("labels", "rows whose label most of their neighbours in the picture have"),
    "new_rows": Measure("new rows", "trustworthiness of where new rows are placed", chance=0.5),
    "new_rows_off": Measure("off", "how far new rows are placed from where a fit to all has them", False),
    "reconstruction_error": Measure("lost", "share of the variance of new rows that does not come back", False),
    "moved": Measure("moved", "Procrustes distance to a picture from fewer rows and another seed", False),
    "reseeded": Measure("seed", "Procrustes distance to a picture of the same rows from another seed", False),
}


@dataclass(frozen=True, eq=False)
class Line:
    """One method: what it is, what it took, and what was measured; or why not."""

    name: str
    title: str
    keeps: str
    assumes: str
    settings: dict[str, Any] = field(default_factory=dict)
    by: str = ""
    seconds: float | None = None  # of the fit to all rows
    cpu_seconds: float | None = None
    peak_memory: int | None = None  # bytes of its process, libraries and all
    loading_seconds: float | None = None  # of libraries
    fits: int = 0
    places_new: bool = False
    goes_back: bool = False
    reason: str = ""  # why there is no answer, or less of it than was asked for
    warnings: tuple[str, ...] = ()
    measures: dict[str, Measured] = field(default_factory=dict)
    coordinates: Array | None = None

    @property
    def done(self) -> bool:
        return self.coordinates is not None

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts; what is not known is None."""
        plain = {
            "method": self.name,
            "title": self.title,
            "done": self.done,
            "reason": self.reason,
            "by": self.by,
            "settings": {name: _plain(value) for name, value in self.settings.items()},
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_memory": self.peak_memory,
            "loading_seconds": self.loading_seconds,
            "fits": self.fits,
            "places_new_rows": self.places_new,
            "goes_back": self.goes_back,
        }
        for name in MEASURES:
            found = self.measures.get(name)
            plain[name] = None if found is None else _finite(found.value)
            plain[f"{name}_error"] = None if found is None else _finite(found.error)
        return plain | {"keeps": self.keeps, "assumes": self.assumes, "warnings": list(self.warnings)}


@dataclass(frozen=True, eq=False)
class Comparison(WithPicturesAbove):
    """What `compare` found.

    Attributes
    ----------
    lines : list of Line
        One for each method, in the order in which they were asked for.
    table : list of dict
        The same as plain numbers and texts.
    advice : list of str
        Sentences that follow from the numbers, each with those that it rests on.
    coordinates : dict of ndarray
        The picture of every method that was done, by its title.
    notes : list of str
        What was done to the rows, and what was left out.
    """

    lines: list[Line]
    advice: list[str]
    n_rows: int
    n_columns: int
    n_components: int
    n_neighbors: int
    rows_looked_at: int
    rows_without_gaps: int
    repeats: int
    budget: float | None
    seed: int
    notes: list[str] = field(default_factory=list)
    labels: Array | None = field(default=None, repr=False)
    input_hit: Measured | None = field(default=None, repr=False)  # label hits by all columns
    commonest_label: float | None = None

    @property
    def table(self) -> list[dict[str, Any]]:
        return [line.as_dict() for line in self.lines]

    @property
    def coordinates(self) -> dict[str, Array]:
        return {line.title: line.coordinates for line in self.lines if line.coordinates is not None}

    def to_dict(self) -> dict[str, Any]:
        """All numbers and sentences, as JSON can hold them; coordinates are left out."""
        hit = self.input_hit
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "n_components": self.n_components,
            "n_neighbors": self.n_neighbors,
            "rows_looked_at": self.rows_looked_at,
            "rows_without_gaps": self.rows_without_gaps,
            "repeats": self.repeats,
            "budget": self.budget,
            "seed": self.seed,
            "notes": list(self.notes),
            "label_hit_of_all_columns": None if hit is None else _finite(hit.value),
            "label_hit_of_all_columns_error": None if hit is None else _finite(hit.error),
            "commonest_label": self.commonest_label,
            "measures": {name: measure.phrase for name, measure in MEASURES.items()},
            "table": self.table,
            "advice": list(self.advice),
        }

    def to_json(self) -> str:
        """`to_dict` as a text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        lines = _as_lines(*self.cells())
        lines += [f"{line.title}: {line.reason}" for line in self.lines if line.reason]
        meanings = "; ".join(f"{head}: {phrase}" for head, phrase in self.meanings.items())
        below = [self.about, *self.notes, *([f"{meanings}."] if meanings else [])]
        return "\n".join(
            [*lines, *([""] if lines[-1] else []), *below, "", *(f"- {sentence}" for sentence in self.advice)]
        )

    @property
    def about(self) -> str:
        """What the numbers are of."""
        every = self.rows_looked_at == self.rows_without_gaps
        looked = "all of them" if every else f"{self.rows_looked_at:,} of them, drawn by chance"
        if self.rows_without_gaps < self.n_rows:
            looked = f"the {self.rows_without_gaps:,} without a gap" if every else f"{looked} without a gap"
        return (
            f"{counted(self.n_rows, 'row')} of {counted(self.n_columns, 'column')}, "
            f"{counted(self.n_components, 'coordinate')}, {counted(self.n_neighbors, 'neighbour')}, measured on "
            f"{looked}; ± one standard error."
        )

    @property
    def meanings(self) -> dict[str, str]:
        """Of the columns of the table that are measures."""
        return {MEASURES[name].head: MEASURES[name].phrase for name in self.shown}

    @property
    def shown(self) -> list[str]:
        """Names of the measures that any method has, in the order of the columns."""
        return [name for name in MEASURES if any(name in line.measures for line in self.lines)]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The table for people: heads, and a list of texts for each method that was done."""
        shown = self.shown
        heads = ["method", "seconds", "CPU", "memory", *(MEASURES[name].head for name in shown)]
        return heads, [
            [
                shortened(line.title, 40),
                f"{line.seconds:.2f}",
                f"{line.cpu_seconds:.2f}",
                "" if line.peak_memory is None else bytes_in_words(line.peak_memory),
                *(line.measures[name].in_short if name in line.measures else "–" for name in shown),
            ]
            for line in self.lines
            if line.done
        ]


def _as_lines(heads: list[str], body: list[list[str]]) -> list[str]:
    """The table, in as many parts below each other as a terminal needs; every part begins with the methods."""
    rows, lines, first = [heads, *body], list[str](), 1
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    while first < len(heads):
        last = first + 1
        while last < len(heads) and sum(2 + width for width in widths[first : last + 1]) + widths[0] <= _WIDEST:
            last += 1
        for row in rows:
            cells = [row[column].rjust(widths[column]) for column in range(first, last)]
            lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
        lines, first = [*lines, ""], last
    return lines


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    kept = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    return value if kept else str(value)
