"""Where displays are drawn: matplotlib is asked for when the first picture is, and its settings stay as they are."""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.errors import MissingPart, WrongUse, counted, in_short, warn
from mercer_old.outlets import write_whole
from mercer_old.terminal import plain

__all__ = ["KINDS", "THEMES", "Look", "as_bytes", "check_kind", "check_size", "drawing", "part", "renderer_of", "save"]

THEMES = ("light", "dark")
_DPI = 150
_LARGEST = 40.0  # inches: more would be hundreds of megabytes of pixels
_HALF = 1.5  # of red, green and blue together: more is light
_MOST_PIXELS = 2e8  # of a picture: more would be a gigabyte
# Without the date and the version of matplotlib, so that the same picture is the same file.
_ANONYMOUS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
KINDS = tuple(_ANONYMOUS)


def part(name: str) -> Any:
    """A module of matplotlib, which is an optional dependency: `part("figure")`."""
    try:
        return import_module(f"matplotlib.{name}" if name else "matplotlib")
    except ImportError as missing:
        raise MissingPart("A display", missing.name or "matplotlib", "app") from None


@dataclass(frozen=True)
class Look:
    """Colours of what is drawn: of a theme, or of axes that somebody else has made."""

    ink: Any
    paper: Any
    faint: Any
    diverging: str

    @property
    def strength(self) -> str:
        """A colour map of shares in which the large ones stand out from the paper."""
        light = sum(part("colors").to_rgb(self.paper)) > _HALF
        return "cividis_r" if light else "cividis"

    @classmethod
    def of_axes(cls, ax: Any) -> "Look":
        paper, ink = ax.get_facecolor(), ax.xaxis.label.get_color()
        faint = 0.8 * np.array(part("colors").to_rgb(paper)) + 0.2 * np.array(part("colors").to_rgb(ink))
        return cls(ink, paper, tuple(faint), "RdBu_r" if sum(paper[:3]) > _HALF else "berlin")

    @classmethod
    def current(cls) -> "Look":
        settings = part("").rcParams
        return cls(*(settings[name] for name in ("text.color", "axes.facecolor", "grid.color", "image.cmap")))


@contextmanager
def drawing(ax: Any, theme: str | None, size: tuple[float, float]) -> Iterator[tuple[Any, Any, Look]]:
    """A figure, the axes to draw on (None where they are still to be made) and the look.

    Axes that were given keep the look that they have, unless a theme is named.
    """
    if theme is not None and (not isinstance(theme, str) or theme not in THEMES):
        raise ValueError(f"theme must be light or dark; got {in_short(theme)}.")
    mpl = part("")
    if ax is not None and theme is None:
        first = _first(ax)
        yield first.get_figure(root=True), ax, Look.of_axes(first)
        return
    from mercer_old.look import THEMES as SETTINGS

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS[theme or "light"])
        figure = part("figure").Figure(figsize=size, layout="constrained") if ax is None else None
        if figure is not None:  # a canvas that keeps its pixels: others make them anew for every text that is measured
            part("backends.backend_agg").FigureCanvasAgg(figure)
        yield figure or _first(ax).get_figure(root=True), ax, Look.current()


def renderer_of(figure: Any) -> Any:
    """What measures texts, made once; the canvas of a figure stays its own."""
    own = figure.canvas
    if hasattr(own, "get_renderer"):
        return own.get_renderer()
    renderer = part("backends.backend_agg").FigureCanvasAgg(figure).get_renderer()
    figure.set_canvas(own)
    return renderer


def _first(ax: Any) -> Any:
    """The one, or the first, of what was given."""
    first = ax if hasattr(ax, "get_figure") else next(iter(np.ravel(ax)), None)
    if not hasattr(first, "get_figure"):
        raise ValueError(f"ax must be axes of matplotlib, or an array of them; got {in_short(ax)}.")
    return first


def check_size(size: Sequence[float] | None, usual: tuple[float, float]) -> tuple[float, float]:
    """Width and height in inches; None: those that suit the display."""
    if size is None:
        return usual
    numbers = [float(side) for side in size if isinstance(side, Real) and 0 < side <= _LARGEST]
    if len(numbers) != 2 or len(size) != 2:
        raise ValueError(f"size must be a width and a height in inches, up to {_LARGEST:g}; got {in_short(size)}.")
    return numbers[0], numbers[1]


def check_kind(path: str | Path) -> str:
    """The kind of picture that a name asks for."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise WrongUse(f"{plain(path)}: pictures of this kind cannot be written; known are .png, .svg and .pdf.")
    return kind


def as_bytes(figure: Any, kind: str, dpi: int = _DPI) -> bytes:
    """The picture; drawn twice, it is the same to the last bit."""
    out = io.BytesIO()
    settings = {"svg.hashsalt": "mercer", "svg.fonttype": "path", "path.simplify": True}
    with part("").rc_context(settings), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        figure.savefig(out, format=kind, dpi=dpi, metadata=_ANONYMOUS[kind])
    _tell(said)
    return out.getvalue()


def _tell(said: Sequence[warnings.WarningMessage]) -> None:
    """Warnings of matplotlib; of letters that its font does not have, one for all."""
    letters = [one for one in said if "missing from" in str(one.message)]
    if letters:
        warn(f"{counted(len(letters), 'letter')} of names are not in the font of the picture, and drawn as boxes.")
    for one in said:
        if one not in letters:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def save(figure: Any, path: str | Path, dpi: int = _DPI) -> Path:
    """Write the picture whole, or not at all."""
    kind, sides = check_kind(path), figure.get_size_inches()
    if isinstance(dpi, bool) or not isinstance(dpi, Real) or not 1 <= dpi <= np.sqrt(_MOST_PIXELS / sides.prod()):
        most = int(np.sqrt(_MOST_PIXELS / sides.prod()))
        raise ValueError(f"dpi is a number from 1 to {most} for a picture of this size; got {in_short(dpi)}.")
    write_whole(Path(path), as_bytes(figure, kind, dpi))
    return Path(path)
