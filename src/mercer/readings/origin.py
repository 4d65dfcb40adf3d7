"""Where rows are looked at from: products of rows far from zero lose the digits in which the rows differ."""

from mercer.arrays import Array
from mercer.kernels import Kernel, Linear

__all__ = ["seen_from_mean"]


def seen_from_mean(kernel: Kernel, rows: Array) -> Array:
    """Rows around their mean for the linear kernel, whose centred matrix that leaves the same; else as they are.

    Kernels of distances subtract first by themselves, and to all others the place of zero means something.
    """
    return rows - rows.mean(axis=0) if isinstance(kernel, Linear) else rows
