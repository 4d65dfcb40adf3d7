"""A cloud drawn without a script: what there is on paper, and where a browser cannot draw points by itself."""

import base64
from dataclasses import dataclass
from html import escape

import numpy as np

from mercer_old.arrays import Array
from mercer_old.report.cloud.look import GREY, PLAIN, STILL, colours_of
from mercer_old.report.cloud.packing import STEPS, unpack, unquantised
from mercer_old.report.cloud.png import indexed_png
from mercer_old.report.cloud.record import Axis, Cloud, Column
from mercer_old.terminal import plain

__all__ = ["picture_of"]

_AS_DOTS = 3_000  # points that are drawn one by one; of more, a raster
_FINER = 2  # pixels of the raster for one of the picture
_LEVELS = (70, 120, 180, 255)  # opacity where 1, 2, up to 4 and more points fall on a pixel


@dataclass(frozen=True)
class _Box:
    """How large a picture is, and what is left of it for points."""

    width: int
    height: int
    left: int
    bottom: int
    margin: int
    most_dots: int = _AS_DOTS

    @property
    def room(self) -> tuple[int, int]:
        return self.width - self.left - self.margin, self.height - self.bottom - self.margin


_WHOLE = _Box(720, 480, 56, 44, 10)
_SMALL = _Box(360, 270, 6, 6, 6, 1_000)  # without numbers at its axes, whose turns and sizes a method may leave open


def picture_of(cloud: Cloud) -> str:
    """The first two components as SVG, which takes the colours of its words from the page; or all views, small."""
    colours = _colours(cloud)
    if not cloud.views:
        return _drawn(cloud, cloud.axes[0], cloud.axes[1], colours, _WHOLE)
    small = (
        f"<figure><figcaption><bdi>{escape(plain(view.name))}</bdi></figcaption>\n"
        f"{_drawn(cloud, cloud.axes[view.x], cloud.axes[view.y], colours, _SMALL)}</figure>"
        for view in cloud.views
    )
    return f'<div class="map-stills">{"".join(small)}</div>'


def _drawn(cloud: Cloud, x: Axis, y: Axis, colours: tuple[list[str], Array], box: _Box) -> str:
    place = _Place(x, y, box)
    there = np.isfinite(values_of(x)) & np.isfinite(values_of(y))
    left, top = place.of(values_of(x)[there], values_of(y)[there])
    shades, codes = colours[0], colours[1][there]
    few = len(left) <= box.most_dots
    points = _dots(left, top, codes, shades) if few else _raster(left, top, codes, shades, box)
    words = escape(plain(f"{cloud.count:,} points by {x.name} and {y.name}"), quote=True)
    return (
        f'<svg class="map-still" viewBox="0 0 {box.width} {box.height}" role="img" aria-label="{words}">\n'
        f"{_axes(x, y, place) if box is _WHOLE else _outline(box)}\n{points}\n</svg>"
    )


def _outline(box: _Box) -> str:
    return f'<rect class="map-frame" x="1" y="1" width="{box.width - 2}" height="{box.height - 2}" rx="4"/>'


def values_of(axis: Axis) -> Array:
    return unquantised(axis.low, axis.step, unpack(axis.codes, np.uint16))


class _Place:
    """Where numbers of both axes stand in the picture: one unit is as long on either."""

    def __init__(self, x: Axis, y: Axis, box: _Box) -> None:
        self.box, (width, height) = box, box.room
        longest = max(x.step, y.step) * STEPS or 1.0  # an axis on which all are alike is as long as the other
        across, up = (axis.step * STEPS or longest for axis in (x, y))
        self.scale = min(width / across, height / up) / 1.06
        self.middles = [axis.low / 2 + axis.high / 2 for axis in (x, y)]
        self.centre = box.left + width / 2, box.margin + height / 2

    def of(self, x: Array, y: Array) -> tuple[Array, Array]:
        return (
            self.centre[0] + (np.asarray(x) - self.middles[0]) * self.scale,
            self.centre[1] - (np.asarray(y) - self.middles[1]) * self.scale,
        )


def _colours(cloud: Cloud) -> tuple[list[str], Array]:
    """The colours there are, and which of them each point has."""
    column = next((column for column in cloud.columns if column.name == cloud.color), None)
    if column is None:
        return [PLAIN], np.zeros(cloud.count, dtype=np.int64)
    if column.kind == "category":
        colours = colours_of(column)
        codes = unpack(column.codes, f"u{column.width}").astype(np.int64)
        return [*colours, GREY], np.minimum(codes, len(colours))
    return [*STILL, GREY], _steps_of_ramp(column, len(STILL))


def _steps_of_ramp(column: Column, count: int) -> Array:
    """Which step of the ramp each number has; what is none has one more."""
    if column.width == 4:
        values = unpack(column.codes, np.float32).astype(np.float64)
    else:
        values = unquantised(column.low, column.step, unpack(column.codes, np.uint16))
    finite = np.isfinite(values)
    half = column.high / 2 - column.low / 2
    share = (np.where(finite, values, column.low) / 2 - column.low / 2) / (half or 1.0)
    return np.where(finite, np.clip(share * count, 0, count - 1), count).astype(np.int64)


def _dots(left: Array, top: Array, codes: Array, colours: list[str]) -> str:
    """A path of round strokes without length for each colour."""
    size = 7 if len(left) <= 500 else 5
    paths = []
    for code, colour in enumerate(colours):
        own = codes == code
        points = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(left[own], top[own], strict=True))
        if points:
            paths.append(f'<path d="{points}" stroke="{colour}"/>')
    return f'<g stroke-width="{size}" stroke-linecap="round" stroke-opacity=".85">{"".join(paths)}</g>'


def _raster(left: Array, top: Array, codes: Array, colours: list[str], box: _Box) -> str:
    """Pixels, each in the colour that most of its points have, the denser the more points there are."""
    width, height = box.width * _FINER, box.height * _FINER
    pixels = (np.clip((top * _FINER).astype(np.int64), 0, height - 1) * width) + (left * _FINER).astype(np.int64)
    counts = np.zeros((len(colours), width * height), dtype=np.uint32)
    np.add.at(counts, (codes, pixels), 1)
    total = counts.sum(axis=0)
    level = np.searchsorted([1, 2, 4], total, side="left").clip(0, len(_LEVELS) - 1)
    places = np.where(total > 0, 1 + counts.argmax(axis=0) * len(_LEVELS) + level, 0).astype(np.uint8)
    palette = [(0, 0, 0, 0)] + [(*_parts(colour), opacity) for colour in colours for opacity in _LEVELS]
    png = base64.b64encode(indexed_png(places.reshape(height, width), palette)).decode("ascii")
    return f'<image width="{box.width}" height="{box.height}" href="data:image/png;base64,{png}"/>'


def _parts(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def _axes(x: Axis, y: Axis, place: _Place) -> str:
    """Numbers along both axes, where they are round, and what the axes are."""
    box = place.box
    bottom, right = box.height - box.bottom, box.width - box.margin
    marks = [f'<path class="map-frame" d="M{box.left} {box.margin}V{bottom}H{right}"/>']
    for value in _round_numbers(x, place, (box.width - box.left) / 2):
        left = float(place.of(np.array(value), np.array(0.0))[0])
        if box.left <= left <= right:
            marks.append(f'<text x="{left:.1f}" y="{bottom + 16}" text-anchor="middle">{_number(value)}</text>')
    for value in _round_numbers(y, place, box.height / 2):
        top = float(place.of(np.array(0.0), np.array(value))[1])
        if box.margin <= top <= bottom:
            marks.append(f'<text x="{box.left - 6}" y="{top + 4:.1f}" text-anchor="end">{_number(value)}</text>')
    names = (escape(plain(axis.name)) for axis in (x, y))
    across, up = names
    middle = box.left + (box.width - box.left) / 2
    marks.append(f'<text class="map-axis" x="{middle}" y="{box.height - 8}" text-anchor="middle">{across}</text>')
    marks.append(
        f'<text class="map-axis" transform="translate(12 {bottom / 2}) rotate(-90)" text-anchor="middle">{up}</text>'
    )
    return "".join(marks)


def _round_numbers(axis: Axis, place: _Place, reach: float) -> Array:
    """About six numbers that are one, two or five times a power of ten, apart alike."""
    middle, half = axis.low / 2 + axis.high / 2, reach / place.scale
    rough = half / 3
    if not 0 < rough < np.inf:
        return np.array([middle])
    power = 10.0 ** np.floor(np.log10(rough))
    step = next((times * power for times in (1, 2, 5) if times * power >= rough), 10 * power)
    return np.arange(np.ceil((middle - half) / step), np.floor((middle + half) / step) + 1) * step


def _number(value: float) -> str:
    return f"{value + 0.0:.6g}".replace("-", "−")
