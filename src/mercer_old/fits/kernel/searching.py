"""`gamma="cv"`: the bandwidth whose components lead back to rows best, looked for on a sample before the fit."""

from dataclasses import replace
from math import isqrt
from numbers import Integral

import numpy as np

from mercer_old.arrays import Array, Held, dense
from mercer_old.errors import BadData
from mercer_old.fits.kernel.task import Parameters
from mercer_old.fits.training import Training
from mercer_old.kernel_names import BY_NAME
from mercer_old.kernels import Kernel
from mercer_old.limits import Limits
from mercer_old.readings.tuning.comparing import compare_kernels
from mercer_old.readings.tuning.wording import doubts
from mercer_old.sources.items import Items

__all__ = ["COMPONENTS", "FOLDS", "SAMPLE", "dense_sample", "rows_within", "sample_numbers", "search_bandwidth"]

SAMPLE, FOLDS, COMPONENTS = 1000, 5, 10
_MATRICES = 8  # between the rows of a sample, at the peak
_MOST_NUMBERS = 50_000_000  # of a sample that is held as dense rows


def search_bandwidth(model: Parameters, training: Training, usual: Kernel, limits: Limits) -> tuple[Kernel, Training]:
    """The kernel with the γ that was found, and the rows with what is to be told of it.

    A kernel without a γ, or one that is an object with parameters of its own, is the usual one.
    """
    named = BY_NAME.get(model.kernel) if isinstance(model.kernel, str) else None
    if named is None or "gamma" not in named.takes:
        return usual, training
    rng = model._rng()
    rows = dense_sample(training.items, min(SAMPLE, rows_within(limits.memory)), rng, training.weights)
    k = int(model.n_components) if isinstance(model.n_components, Integral) else COMPONENTS
    compared = compare_kernels(
        rows, [usual.with_params(gamma=None)], k, FOLDS, rng, threads=limits.threads, progress=model.progress
    )
    return compared.found.chosen.candidate.kernel, replace(training, notes=(*training.notes, *doubts(compared)))


def rows_within(memory: int) -> int:
    """So many rows whose distances, kernel matrix and what is worked on with it fit into these bytes."""
    return isqrt(memory // (8 * _MATRICES))


def sample_numbers(n: int, size: int, rng: np.random.Generator, weights: Array | None = None) -> Array:
    """The numbers of some rows, in their order: the heavier, the likelier to be among them."""
    there = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
    if len(there) <= size:
        return there
    shares = None if weights is None else weights[there] / weights[there].sum()
    return np.sort(rng.choice(there, size=size, replace=False, p=shares))


def dense_sample(items: Items, size: int, rng: np.random.Generator, weights: Array | None = None) -> Held:
    """Some rows as an array of numbers, which a way back to them needs."""
    if items.width * min(len(items), size) > _MOST_NUMBERS:
        raise BadData(
            f"{min(len(items), size):,} dense rows of {items.width:,} columns are too many numbers to find a way back "
            "to: reduce the columns first (TruncatedSVD), or give gamma as a number."
        )
    return dense(items[sample_numbers(len(items), size, rng, weights)], np.float64)
