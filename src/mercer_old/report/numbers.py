"""Numbers as a record has them: finite, in as few letters as are seen, and pictures of them as bytes in texts."""

import base64

import numpy as np

from mercer_old.arrays import Array

__all__ = ["bytes_of", "in_bytes", "plain_numbers"]

_DIGITS = 6


def plain_numbers(values: Array) -> tuple[float, ...]:
    """With six digits, which is more than a picture shows."""
    return tuple(float(f"{value:.{_DIGITS}g}") for value in np.asarray(values, dtype=np.float64).ravel().tolist())


def in_bytes(values: Array, low: float, high: float) -> str:
    """Each as one of 256 steps from low to high, in base64."""
    part = (np.asarray(values, dtype=np.float64) - low) / (high - low) if high > low else np.zeros(np.shape(values))
    steps = np.round(255 * np.clip(np.nan_to_num(part), 0.0, 1.0)).astype(np.uint8)
    return base64.b64encode(steps.tobytes()).decode("ascii")


def bytes_of(said: str) -> Array:
    """The steps again."""
    return np.frombuffer(base64.b64decode(said), dtype=np.uint8)
