"""Rows that are pictures, or profiles: their shape, and how many of them are drawn in one."""

from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short

__all__ = ["check_shape", "mosaic"]


def check_shape(image_shape: Any, d: int) -> tuple[int, int] | None:
    """Height and width of a picture of d pixels; None: a square if that is one of eight by eight or more, else none."""
    if image_shape is None:
        side = int(np.sqrt(d) + 0.5)
        return (side, side) if side * side == d and side >= 8 else None
    shape = tuple(image_shape) if isinstance(image_shape, tuple | list) else ()
    if len(shape) != 2 or not all(isinstance(side, int | np.integer) and side > 0 for side in shape):
        raise ValueError(f"image_shape is a height and a width in pixels; got {in_short(image_shape)}.")
    if shape[0] * shape[1] != d:
        raise BadData(
            f"image_shape {shape[0]} × {shape[1]} is {shape[0] * shape[1]:,} pixels, and rows have {d:,} columns."
        )
    return int(shape[0]), int(shape[1])


def mosaic(rows: Array, across: int, shape: tuple[int, int], gap: float = np.nan) -> Array:
    """Pictures beside each other, `across` in a line from above, with a pixel between them."""
    h, w = shape
    lines = -(-len(rows) // across)
    out = np.full((lines * (h + 1) - 1, across * (w + 1) - 1), gap)
    for number, row in enumerate(rows):
        i, j = divmod(number, across)
        out[i * (h + 1) : i * (h + 1) + h, j * (w + 1) : j * (w + 1) + w] = row.reshape(h, w)
    return out
