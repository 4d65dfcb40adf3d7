"""What a report is about: a fitted model, rows with their scores and names, and columns to colour them by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense, here
from mercer_old.displays.asking import for_inner, prefix_of, scores_of, shares_of, under
from mercer_old.displays.words import axis_label, component_name
from mercer_old.errors import BadData, counted, shortened
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.functions.asking import names_of_columns
from mercer_old.kernels.base import kind_of_items
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.report.labels import Columns, columns_of_labels, told_apart
from mercer_old.report.rows import most_columns, names_of_rows
from mercer_old.sources.files import open_rows
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Items
from mercer_old.sources.kinds import OPENERS

__all__ = ["Subject", "subject_of", "too_few"]

_LONGEST = 150  # letters of a name
_SEED = 0


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and some rows; without rows, there are no scores."""

    model: Any
    X: Any
    scores: Array | None  # n×k
    labels: Columns  # by name, those to colour by first
    of_fit: bool = True  # whether the rows are those of the fit

    @property
    def inner(self) -> Any:
        """The model with components."""
        return under(self.model)

    @property
    def prefix(self) -> str:
        return prefix_of(self.inner)

    def name(self, j: int) -> str:
        return component_name(self.prefix, j)

    def axis(self, j: int) -> str:
        """With the share of the variance."""
        return axis_label(self.prefix, j, shares_of(self.inner))

    @cached_property
    def items(self) -> Items | None:
        """The rows as the model opens them: of kernels, in their units."""
        if self.X is None or self._by_matrix:
            return None
        items: Items = self.inner._new_items(for_inner(self.model, self.X))
        return items

    @property
    def _by_matrix(self) -> bool:
        inner = self.inner
        return (isinstance(inner, KernelModel) and is_precomputed(inner)) or getattr(
            inner, "metric", ""
        ) == "precomputed"

    @cached_property
    def _known(self) -> Any:
        """The rows, or what the fit has kept of them where none are given."""
        if self.items is not None:
            return self.items
        known = None if self._by_matrix or self.scores is None else getattr(self.inner, "X_fit_", None)
        return None if known is None else here(known)

    @property
    def given(self) -> Any:
        """The rows as they were given, or as the fit has kept them; None where there are none."""
        if self.X is not None or self._known is None:
            return self.X
        if self.kind == "tables":  # of which the fit has kept cells, and no frame
            return None
        return HeldRows(self.rows()) if self.of_numbers else list(self._known)

    @property
    def kind(self) -> str:
        """What the model compares: rows, texts, tables, …; nothing where no rows are at hand."""
        if self._known is None:
            return ""
        return str(kind_of_items(getattr(self.inner, "kernel_", getattr(self.inner, "metric", None))))

    @property
    def of_numbers(self) -> bool:
        return self.kind == "rows"

    def __len__(self) -> int:
        return 0 if self.scores is None else len(self.scores)

    def sample(self, most: int) -> Array:
        """Numbers of so many rows at most, drawn by a fixed seed, in ascending order."""
        if len(self) <= most:
            return np.arange(len(self))
        return np.sort(np.random.default_rng(_SEED).choice(len(self), size=most, replace=False))

    def seen(self, some: Array) -> Any:
        """These items as the model compares them."""
        return self._known[some]

    def rows(self, some: Array | None = None, columns: Sequence[int] | None = None) -> Array:
        """Rows of numbers in the units of X; of many columns, those that are asked for alone are made dense."""
        if not self.of_numbers:
            raise BadData("Columns of numbers are needed here, and this model compares other things.")
        every = self._known.load() if isinstance(self._known, Items) else self._known
        chosen = slice(None) if columns is None else columns
        rows = dense((every if some is None else self._known[some])[:, chosen], np.float64)
        if isinstance(self.inner, LinearModel) or not hasattr(self.inner, "scale_"):
            return rows
        return rows * here(self.inner.scale_)[chosen]

    @cached_property
    def names(self) -> list[str]:
        """Of the columns, none of them endless, each once."""
        return told_apart(names_of_columns(self.model, int(self.inner.n_features_in_), None))

    def items_as_texts(self, some: Array) -> list[str]:
        """What to call these items: by their names, the texts that they are, or their numbers."""
        names = self.ids
        if names is not None:
            return [names[i] for i in some]
        return [str(text) for text in self.seen(some)] if self.kind == "texts" else [f"row {i}" for i in some]

    @cached_property
    def ids(self) -> list[str] | None:
        """Names of the rows, where they have any."""
        names = names_of_rows(self.X, len(self))
        if names is not None or self.kind != "texts":
            return names
        return [shortened(str(text), _LONGEST) for text in self._known[np.arange(len(self))]]

    def columns(self, first: Sequence[str] = ()) -> dict[str, Sequence[Any]]:
        """What rows can be coloured by: labels, what stands beside them, and columns, of which some come first."""
        found: dict[str, Sequence[Any]] = dict(self.labels)
        for name, values in self._own_columns(first).items():
            found.setdefault(name, values)
        return found

    @property
    def most_columns(self) -> int:
        """How many of their own columns a page looks at."""
        return most_columns(len(self))

    def _own_columns(self, first: Sequence[str]) -> Mapping[str, Any]:
        if self.of_numbers:
            place = {name: i for i, name in enumerate(self.names)}
            chosen = list(dict.fromkeys([*(name for name in first if name in place), *place]))[: self.most_columns]
            numbers = sorted(place[name] for name in chosen)
            return dict(zip((self.names[i] for i in numbers), self.rows(columns=numbers).T, strict=True))
        if self.kind == "tables" and isinstance(self.items, Items):
            columns = self.items.load()
            return dict(zip(told_apart(columns.names), map(list, zip(*columns, strict=True)), strict=True))
        return {}


def subject_of(model: Any, X: Any = None, labels: Any = None) -> Subject:
    """Rows that the model does not take are refused here, and labels that are not those of the rows."""
    X = _opener(under(model))(X) if isinstance(X, Path) else X
    scores = scores_of(model, X) if X is not None else _known_scores(model)
    if scores is None and labels is not None:
        raise BadData(
            f"labels are one for each row, and {type(under(model)).__name__} keeps no rows: give the rows as X too."
        )
    count = 0 if scores is None else len(scores)
    beside = dict(X.beside) if isinstance(X, Items) else {}
    given, read = columns_of_labels(labels, count), columns_of_labels(beside or None, count)
    return Subject(model, X, scores, given | {name: values for name, values in read.items() if name not in given})


def _known_scores(model: Any) -> Array | None:
    """Of the rows of the fit, where the model has kept them."""
    try:
        return scores_of(model)
    except ValueError:
        return None


def _opener(inner: Any) -> Any:
    """What opens a file of what the model compares."""
    return OPENERS.get(kind_of_items(getattr(inner, "kernel_", getattr(inner, "metric", None))), open_rows)


def too_few(count: int, least: int, what: str) -> None:
    """Say that there are not enough rows for a chapter."""
    if count < least:
        raise BadData(f"{what} takes {counted(least, 'row')} at least, and there are {count}.")
