"""Where rows are looked at from: products of rows far from zero lose the digits in which the rows differ."""

import numpy as np

from mercer_old.arrays import Held
from mercer_old.kernels import Kernel, Linear

__all__ = ["seen_from_mean"]


def seen_from_mean(kernel: Kernel, rows: Held) -> Held:
    """Rows around their mean for the linear kernel, whose centred matrix that leaves the same; else as they are.

    Sparse rows stay where they are, or they would be sparse no more. Kernels of distances subtract first by themselves,
    and to all others the place of zero means something.
    """
    return rows - rows.mean(axis=0) if isinstance(kernel, Linear) and isinstance(rows, np.ndarray) else rows
