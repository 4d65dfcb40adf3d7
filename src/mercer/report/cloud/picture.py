"""A cloud drawn without a script: what there is on paper, and where a browser cannot draw points by itself."""

import base64
from html import escape

import numpy as np

from mercer.arrays import Array
from mercer.report.cloud.look import GREY, PLAIN, STILL, colours_of
from mercer.report.cloud.packing import STEPS, unpack, unquantised
from mercer.report.cloud.png import indexed_png
from mercer.report.cloud.record import Axis, Cloud, Column
from mercer.terminal import plain

__all__ = ["picture_of"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _MARGIN = 720, 480, 56, 44, 10
_AS_DOTS = 3_000  # points that are drawn one by one; of more, a raster
_FINER = 2  # pixels of the raster for one of the picture
_LEVELS = (70, 120, 180, 255)  # opacity where 1, 2, up to 4 and more points fall on a pixel


def picture_of(cloud: Cloud) -> str:
    """The first two components as SVG, which takes the colours of its words from the page."""
    x, y = cloud.axes[:2]
    place = _Place(x, y)
    there = np.isfinite(values_of(x)) & np.isfinite(values_of(y))
    left, top = place.of(values_of(x)[there], values_of(y)[there])
    colours, codes = _colours(cloud)
    dots = _dots if len(left) <= _AS_DOTS else _raster
    words = escape(plain(f"{cloud.count:,} points by {x.name} and {y.name}"), quote=True)
    return (
        f'<svg class="map-still" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{words}">\n'
        f"{_axes(x, y, place)}\n{dots(left, top, codes[there], colours)}\n</svg>"
    )


def values_of(axis: Axis) -> Array:
    return unquantised(axis.low, axis.step, unpack(axis.codes, np.uint16))


class _Place:
    """Where numbers of both axes stand in the picture: one unit is as long on either."""

    def __init__(self, x: Axis, y: Axis) -> None:
        width, height = _WIDTH - _LEFT - _MARGIN, _HEIGHT - _BOTTOM - _MARGIN
        longest = max(x.step, y.step) * STEPS or 1.0  # an axis on which all are alike is as long as the other
        across, up = (axis.step * STEPS or longest for axis in (x, y))
        self.scale = min(width / across, height / up) / 1.06
        self.middles = [axis.low / 2 + axis.high / 2 for axis in (x, y)]
        self.centre = _LEFT + width / 2, _MARGIN + height / 2

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


def _raster(left: Array, top: Array, codes: Array, colours: list[str]) -> str:
    """Pixels, each in the colour that most of its points have, the denser the more points there are."""
    width, height = _WIDTH * _FINER, _HEIGHT * _FINER
    pixels = (np.clip((top * _FINER).astype(np.int64), 0, height - 1) * width) + (left * _FINER).astype(np.int64)
    counts = np.zeros((len(colours), width * height), dtype=np.uint32)
    np.add.at(counts, (codes, pixels), 1)
    total = counts.sum(axis=0)
    level = np.searchsorted([1, 2, 4], total, side="left").clip(0, len(_LEVELS) - 1)
    places = np.where(total > 0, 1 + counts.argmax(axis=0) * len(_LEVELS) + level, 0).astype(np.uint8)
    palette = [(0, 0, 0, 0)] + [(*_parts(colour), opacity) for colour in colours for opacity in _LEVELS]
    png = base64.b64encode(indexed_png(places.reshape(height, width), palette)).decode("ascii")
    return f'<image width="{_WIDTH}" height="{_HEIGHT}" href="data:image/png;base64,{png}"/>'


def _parts(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def _axes(x: Axis, y: Axis, place: _Place) -> str:
    """Numbers along both axes, where they are round, and what the axes are."""
    bottom = _HEIGHT - _BOTTOM
    marks = [f'<path class="map-frame" d="M{_LEFT} {_MARGIN}V{bottom}H{_WIDTH - _MARGIN}"/>']
    for value in _round_numbers(x, place, (_WIDTH - _LEFT) / 2):
        left = float(place.of(np.array(value), np.array(0.0))[0])
        if _LEFT <= left <= _WIDTH - _MARGIN:
            marks.append(f'<text x="{left:.1f}" y="{bottom + 16}" text-anchor="middle">{_number(value)}</text>')
    for value in _round_numbers(y, place, _HEIGHT / 2):
        top = float(place.of(np.array(0.0), np.array(value))[1])
        if _MARGIN <= top <= bottom:
            marks.append(f'<text x="{_LEFT - 6}" y="{top + 4:.1f}" text-anchor="end">{_number(value)}</text>')
    names = (escape(plain(axis.name)) for axis in (x, y))
    across, up = names
    middle = _LEFT + (_WIDTH - _LEFT) / 2
    marks.append(f'<text class="map-axis" x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{across}</text>')
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
