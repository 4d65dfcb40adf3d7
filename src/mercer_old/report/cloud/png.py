"""A small writer of PNG: places in a palette, of which each colour may let the page shine through."""

import struct
import zlib
from collections.abc import Sequence

import numpy as np

from mercer_old.arrays import Array

__all__ = ["indexed_png"]


def indexed_png(places: Array, palette: Sequence[tuple[int, int, int, int]]) -> bytes:
    """A picture of (height, width) places in a palette of red, green, blue and opacity."""
    height, width = places.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)  # each begins with its filter: none
    lines[:, 1:] = places
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(part for colour in palette for part in colour[:3])),
        (b"tRNS", bytes(colour[3] for colour in palette)),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*chunks, strict=True)))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
