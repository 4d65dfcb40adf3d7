"""Arrays and lists as short texts: bytes of one place beside each other, deflated, in base64."""

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer_old.arrays import Array

__all__ = ["STEPS", "pack", "pack_list", "quantised", "unpack", "unpack_list", "unquantised"]

STEPS = 65_534  # from the lowest to the highest number; code 65 535 is none


def pack(values: Array) -> str:
    """Numbers of any width. High bytes are alike among neighbours, low ones are not: apart, the high ones shrink."""
    planes = values.astype(values.dtype.newbyteorder(">")).view(np.uint8).reshape(len(values), values.dtype.itemsize)
    return _deflated(np.ascontiguousarray(planes.T).tobytes())


def unpack(text: str, dtype: Any) -> Array:
    kind = np.dtype(dtype)
    planes = np.frombuffer(_inflated(text), dtype=np.uint8).reshape(kind.itemsize, -1)
    return np.ascontiguousarray(planes.T).view(kind.newbyteorder(">")).reshape(-1).astype(kind)


def pack_list(texts: Sequence[str]) -> str:
    """As JSON, in which half a pair of surrogates is written out."""
    return _deflated(json.dumps(list(texts), separators=(",", ":")).encode("ascii"))


def unpack_list(text: str) -> list[str]:
    return list(json.loads(_inflated(text)))


def quantised(values: Array, whole: bool = False) -> tuple[float, float, float, Array]:
    """The lowest and the highest finite number, a step, and all numbers in steps from the lowest: `STEPS` of them reach
    the highest, or as many as there are `whole` numbers on the way, if these are."""
    finite = np.isfinite(values)
    if not finite.any():
        return 0.0, 0.0, 0.0, np.full(len(values), STEPS + 1, dtype=np.uint16)
    low, high = float(values[finite].min()), float(values[finite].max())
    step = high / STEPS - low / STEPS  # high − low may be beyond the largest number
    if whole and step <= 1 and np.array_equal(values[finite], np.rint(values[finite])):
        step = 1.0
    steps = np.where(finite, values, low) / (step or 1.0) - low / (step or 1.0)
    return low, high, step, np.where(finite, np.rint(steps), STEPS + 1).astype(np.uint16)


def unquantised(low: float, step: float, codes: Array) -> Array:
    """What `quantised` has rounded."""
    return np.where(codes > STEPS, np.nan, low + codes * step)


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def _inflated(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
