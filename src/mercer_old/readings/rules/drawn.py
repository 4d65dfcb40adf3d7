"""Rules that draw noise from the rows themselves: columns permuted, signs flipped, kernels of permuted columns."""

from collections.abc import Callable
from math import ceil

import numpy as np

from mercer_old.arrays import Array, Held, dense
from mercer_old.kernels import Kernel
from mercer_old.progress import OnPass
from mercer_old.readings.origin import seen_from_mean
from mercer_old.readings.rules.noise import LEVEL
from mercer_old.readings.rules.scree import Opinion, Scree, exceeding, silent

__all__ = ["drawn_numbers", "flip", "horn", "kernel_parallel", "too_dear"]

DRAWS = 39  # the 38th of 39 is exceeded by one more like them in 2 of 40 cases: 5 %
KERNEL_DRAWS = 19  # the largest of 19, in 1 of 20
KERNEL_ROWS = 1000  # that kernels are compared on
_MOST_NUMBERS = 50_000_000  # that are permuted, and so dense
_WORK = 3e11  # products of all draws beyond which nobody wants to wait


def horn(scree: Scree, rows: Array, rng: np.random.Generator, draws: int = DRAWS, on_draw: OnPass = None) -> Opinion:
    """λᵢ > 95 % of the i-th variances of the same columns, each permuted by itself (Horn 1965, with permutations).

    Permuting leaves each column's distribution as it is and takes away what columns have in common. `rows` are centred
    (and scaled, if the scree is); one component after the other until one fails. Equal is not above. A large component
    takes part of the total from those after it, which are then compared with too much: small ones are missed.
    """
    if why := too_dear(rows.shape, draws):
        return silent("horn", why)
    limits = _limits(lambda: _variances(rng.permuted(rows, axis=0), scree.freedom), draws, on_draw)
    return exceeding("horn", scree, limits[: scree.most], f"95% of {draws} permutations")


def flip(scree: Scree, rows: Array, rng: np.random.Generator, draws: int = DRAWS, on_draw: OnPass = None) -> Opinion:
    """λᵢ > 95 % of the largest variances of the same rows with signs flipped at random, entry by entry (FlipPA).

    Flipping keeps the size of every entry, so noise may differ from row to row and from column to column (Hong, Sheng
    and Dobriban 2020). Needs the centred rows. Equal is not above. A large component makes flipped rows large too, and
    can hide smaller ones.
    """
    if why := too_dear(rows.shape, draws):
        return silent("flip", why)

    def largest() -> Array:
        signs = rng.integers(0, 2, size=rows.shape, dtype=np.int8)
        return _variances(np.where(signs, rows, -rows), scree.freedom)[:1]

    limits = _limits(largest, draws, on_draw)
    return exceeding("flip", scree, np.full(scree.most, limits[0]), f"95% of {draws} flips of signs")


def kernel_parallel(
    kernel: Kernel, rows: Held, n: int, rng: np.random.Generator, draws: int = KERNEL_DRAWS, on_draw: OnPass = None
) -> Opinion:
    """ηᵢ > 95 % of the i-th eigenvalues of the kernel of the same columns, each permuted by itself.

    Parallel analysis of kernel PCA (Jørgensen and Hansen 2012), on `rows`: all n, or `drawn_numbers` of them. Both
    sides of the comparison are exact eigenvalues of the same number of rows, as approximate ones would be smaller for
    permuted rows than for true ones. Equal is not above. All it sees is how columns depend on each other: clusters
    along single columns are noise to it.
    """
    if rows.shape[1] < 2:
        return silent("parallel", "one column has nothing in common with others, so permuting it changes nothing")
    if rows.shape[0] * rows.shape[1] > _MOST_NUMBERS:
        many = f"{rows.shape[0]:,} dense rows of {rows.shape[1]:,} columns"
        return silent("parallel", f"{many} are too many numbers to permute")
    some = seen_from_mean(kernel, dense(rows, np.float64))
    values = _kernel_variances(kernel, some)
    limits = _limits(lambda: _kernel_variances(kernel, rng.permuted(some, axis=0)), draws, on_draw)
    scree = Scree(values, float(values.sum()), len(some), len(some), by_kernel=True)
    which = f"{len(some):,} of {n:,} rows" if len(some) < n else f"{n:,} rows"
    return exceeding("parallel", scree, limits[: scree.most], f"95% of {draws} permutations, on {which}")


def drawn_numbers(n: int, rng: np.random.Generator) -> Array:
    """Numbers of the rows that kernels are compared on: all, or 1,000 drawn at random."""
    return np.arange(n) if n <= KERNEL_ROWS else np.sort(rng.choice(n, size=KERNEL_ROWS, replace=False))


def too_dear(shape: tuple[int, ...], draws: int) -> str:
    """Why so many draws of rows of this shape are left out; nothing if they are not."""
    n, d = shape
    if draws * n * d * min(n, d) <= _WORK:
        return ""
    return f"{draws} draws of {n:,}×{d:,} numbers take too long; parallel says the same without draws"


def _limits(draw: Callable[[], Array], draws: int, on_draw: OnPass) -> Array:
    """What 95 % of draws do not exceed, one more draw among them: the smallest that is a test of that level."""
    drawn = []
    for i in range(draws):
        drawn.append(draw())
        if on_draw:
            on_draw((i + 1) / draws)
    return np.sort(drawn, axis=0)[ceil((1 - LEVEL) * (draws + 1)) - 1]


def _variances(rows: Array, freedom: float) -> Array:
    """Squared singular values, largest first, by the smaller side."""
    square = rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T
    return np.maximum(np.linalg.eigvalsh(square)[::-1], 0.0) / freedom


def _kernel_variances(kernel: Kernel, rows: Array) -> Array:
    """Eigenvalues of the centred kernel matrix, largest first, divided by n − 1."""
    K = kernel.block(rows, rows)
    K = K - K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return np.maximum(np.linalg.eigvalsh((K + K.T) / 2)[::-1], 0.0) / max(len(rows) - 1, 1)
