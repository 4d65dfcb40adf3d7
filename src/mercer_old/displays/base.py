"""What all displays share: where they are drawn, what they say in words, and how they are saved."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.canvas import Look, as_bytes, check_size, drawing, save
from mercer_old.displays.names import place_names
from mercer_old.displays.words import about_names, wrapped
from mercer_old.errors import WrongUse

__all__ = ["Display"]

_SMALL = 8.0  # points: of notes, names and legends
_LINE = 1.25  # times their size


class Display(ABC):
    """Numbers that were computed elsewhere, and how they are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.
    notes_ : list of str
        What the picture says in words, such as how many names found no room.
    """

    ax_: Any
    figure_: Any
    notes_: list[str]
    _ours: bool  # whether the figure was made here
    _words: Any  # the notes as they stand in the picture

    @abstractmethod
    def plot(self, ax: Any = None, *, theme: str | None = None, size: Sequence[float] | None = None) -> Self:
        """Draw it."""

    @classmethod
    def from_predictions(cls, *values: Any, **options: Any) -> Self:
        """Draw plain arrays: those that the class takes, in its order and by its names; others are options of `plot`.

        Parameters
        ----------
        *values : array-like
            As the class takes them.
        **options : dict
            By name, values of the class and options of `plot`, ``ax`` and ``theme`` among them.

        Returns
        -------
        display : Display
            The display, drawn.
        """
        drawn = {name: options.pop(name) for name in list(options) if name in signature(cls.plot).parameters}
        return cls(*values, **options).plot(**drawn)

    def save(self, path: str | Path, dpi: int = 150) -> Path:
        """Write the picture to a .png, .svg or .pdf file, which appears when it is complete, or not at all.

        The same display gives the same file, to the last bit: no date is in it.

        Parameters
        ----------
        path : path
            The file.
        dpi : int, default=150
            Dots per inch, of .png.

        Returns
        -------
        path : pathlib.Path
            Where it is.
        """
        return save(self._figure(), path, dpi)

    def _repr_png_(self) -> bytes:
        """What notebooks show."""
        return as_bytes(self._figure(), "png", 110)

    def _figure(self) -> Any:
        if not hasattr(self, "figure_"):
            raise WrongUse(f"This {type(self).__name__} is not drawn yet: call plot() first.")
        return self.figure_

    # ------------------------------------------------------------------ where it is drawn

    @contextmanager
    def _one(self, ax: Any, theme: str | None, size: Any, usual: tuple[float, float]) -> Iterator[tuple[Any, Look]]:
        """One panel."""
        with drawing(ax, theme, check_size(size, usual)) as (figure, given, look):
            self.figure_, self.notes_, self._ours = figure, [], given is None
            self.ax_ = figure.subplots() if given is None else given
            _dress(self.ax_, look, given is None or theme is not None)
            yield self.ax_, look

    @contextmanager
    def _many(
        self, ax: Any, theme: str | None, size: Any, usual: tuple[float, float], shape: tuple[int, int], **how: Any
    ) -> Iterator[tuple[Any, Look]]:
        """rows × columns panels; axes that were given are cut into so many, or are so many themselves."""
        with drawing(ax, theme, check_size(size, usual)) as (figure, given, look):
            self.figure_, self.notes_, self._ours = figure, [], given is None
            self.ax_ = figure.subplots(*shape, squeeze=False, **how) if given is None else _cut(given, shape)
            for one in self.ax_.flat:
                _dress(one, look, given is None or theme is not None)
            yield self.ax_, look

    # ------------------------------------------------------------------ what it says

    def _say(self, ax: Any, look: Look, title: str = "", notes: Iterable[str] = (), top: float = 0.0) -> None:
        """A title and sentences above the axes, at the left; `top` points are taken already. Names in them are safe."""
        self.notes_ += [note for note in notes if note]
        text = wrapped(self.notes_, _letters(ax.get_window_extent().width, ax))
        top += _power_of_ten(ax)
        lines = text.count("\n") + 1 if text else 0
        if text:
            self._words = ax.annotate(
                text, (0, 1), (0, 5 + top), xycoords="axes fraction", textcoords="offset points", va="bottom",
                fontsize=_SMALL, color=look.ink, alpha=0.8,
            )  # fmt: skip
        if title:
            ax.set_title(title, loc="left", pad=7 + top + _LINE * _SMALL * lines, color=look.ink)

    def _held_for(self, names: Sequence[Any]) -> str:
        """The line that `_write_names` will rewrite."""
        return about_names(len(names), len(names))

    def _write_names(self, ax: Any, look: Look, points: Array, names: Sequence[str], **how: Any) -> None:
        """Names beside points, once all else has its place, and how many found none.

        Notes hold the line for it already, as one more would move the axes; one less gives names more room.
        """
        left = place_names(ax, points, names, colour=look.ink, **how)[1]
        before, after = self._held_for(names), about_names(left, len(names))
        said = (after if note == before else note for note in self.notes_)
        self.notes_ = [note for note in said if note]
        self._words.set_text(wrapped(self.notes_, _letters(ax.get_window_extent().width, ax)))

    def _say_above_all(self, look: Look, notes: Iterable[str]) -> None:
        """Sentences above all panels of a figure that is ours; above the first one of others."""
        if not self._ours:
            self._say(self.ax_.flat[0], look, "", notes, top=12.0)
            return
        self.notes_ += [note for note in notes if note]
        if text := wrapped(self.notes_, _letters(self.figure_.bbox.width, self.ax_.flat[0])):
            self.figure_.suptitle(text, x=0.01, ha="left", fontsize=_SMALL, color=look.ink, alpha=0.8)

    def _legend(self, ax: Any, handles: Sequence[Any], names: Sequence[str], away: float = 1.02) -> None:
        """Beside the axes, or (None) beside all panels, where it covers nothing.

        Names, which are safe, are set when it is there: it would leave out those that begin with _.
        """
        if not handles:
            return
        how = {"fontsize": _SMALL + 0.5, "ncols": 1 + (len(handles) - 1) // 24, "frameon": False, "borderaxespad": 0}
        how["markerscale"] = 1.5
        words = ["name"] * len(handles)
        if ax is None and self._ours:
            legend = self.figure_.legend(handles, words, loc="outside right upper", **how)
        else:
            beside = self.ax_[0, -1] if ax is None else ax
            legend = beside.legend(handles, words, loc="upper left", bbox_to_anchor=(away, 1), **how)
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set_text(name)

    def _colour_bar(self, ax: Any, look: Look, shown: Any, label: str = "", place: str = "right") -> None:
        """What colours mean, beside the axes or below them, or (None) beside all panels."""
        if ax is None and not self._ours:  # panels inside of axes have no room to give away
            bar = self.figure_.colorbar(shown, cax=self.ax_[0, -1].inset_axes((1.05, 0, 0.08, 1)))
        else:
            beside = self.ax_ if ax is None else ax
            bar = self.figure_.colorbar(shown, ax=beside, location=place, fraction=0.046, pad=0.02)
        bar.ax.tick_params(colors=look.ink, labelsize=8)
        bar.outline.set_visible(False)
        bar.set_label(label, color=look.ink, fontsize=_SMALL)


def _letters(pixels: float, ax: Any) -> int:
    """How many letters of a note find room in so many pixels."""
    return int(pixels / ax.get_figure(root=True).dpi * 72 / (0.53 * _SMALL))


def _power_of_ten(ax: Any) -> float:
    """Points that the unit of the numbers takes above the axes at the left, such as 1e−7; most have none."""
    form = ax.yaxis.get_major_formatter()
    form.format_ticks(ax.yaxis.get_majorticklocs())
    return 11.0 if form.get_offset() else 0.0


def _dress(ax: Any, look: Look, ours: bool) -> None:
    """Ticks are made when they are drawn, by the settings of then: their colours are said now."""
    if not ours:
        return
    ax.set_facecolor(look.paper)
    ax.tick_params(colors=look.ink, labelsize=9)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(look.ink)
        axis.get_offset_text().set_color(look.ink)
    ax.spines[:].set_color(look.ink)
    ax.spines[["top", "right"]].set_visible(False)


def _cut(given: Any, shape: tuple[int, int]) -> Any:
    """So many axes inside of one, or those that were given."""
    rows, columns = shape
    if not hasattr(given, "inset_axes"):
        panels = np.ravel(given)
        if len(panels) < rows * columns:
            raise ValueError(f"This display has {rows} × {columns} panels; ax has {len(panels)}.")
        return panels[: rows * columns].reshape(shape)
    given.set_axis_off()
    width, height, gap = 1 / columns, 1 / rows, 0.12
    boxes = [
        (j * width, 1 - (i + 1) * height, (1 - gap) * width, (1 - gap) * height)
        for i in range(rows)
        for j in range(columns)
    ]
    return np.array([given.inset_axes(box) for box in boxes], dtype=object).reshape(shape)
