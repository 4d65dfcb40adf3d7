"""From rows and kernels to a choice: distances, folds, candidates, and a judge on all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.errors import BadData, counted
from mercer_old.kernels.base import n_rows
from mercer_old.progress import Listener, working
from mercer_old.readings.tuning.candidates import KnownDistances, candidates_of
from mercer_old.readings.tuning.folds import FoldScores, cut_into_folds
from mercer_old.readings.tuning.judges import Judge, WayBack
from mercer_old.readings.tuning.search import Found, find_best
from mercer_old.squares import first_of_equals

__all__ = ["Comparison", "JudgeOf", "about_sample", "compare_kernels", "groups_of_equals"]

_SMALLEST, _LARGEST = 1e-140, 1e140  # of entries
JudgeOf = Callable[[Array, np.random.Generator], Judge]  # of the fold of every row


@dataclass(frozen=True)
class Comparison:
    """What was found, who judged, and by how many components."""

    found: Found
    judge: Judge
    k: int


def compare_kernels(
    rows: Held,
    kernels: Sequence[Any],
    k: int,
    folds: int,
    rng: np.random.Generator,
    *,
    judge_of: JudgeOf | None = None,
    classes: Array | None = None,
    threads: int = 1,
    progress: Listener = False,
) -> Comparison:
    """Judge every kernel with every bandwidth; by the way back to rows, which are dense then, if by nobody else."""
    groups, n = groups_of_equals(rows), n_rows(rows)
    _refuse_few(len(np.unique(groups)), folds)
    _refuse_sizes(rows)
    fold = cut_into_folds(groups, folds, rng, classes)
    judge = WayBack(np.asarray(rows, dtype=np.float64), fold, rng) if judge_of is None else judge_of(fold, rng)
    distances = KnownDistances(rows)
    options = list(candidates_of(kernels, distances, rng))
    k = max(1, min(k, n - int(np.bincount(fold).max()) - 1))
    with working(progress, len(options), "kernels compared", threads=threads) as on_pass:
        found = find_best(options, distances, judge, FoldScores(fold, k, rng, threads=threads), on_pass)
    return Comparison(found, judge, k)


def _refuse_few(different: int, folds: int) -> None:
    if different < max(folds, 2):
        raise BadData(
            f"folds={folds} takes as many different rows, and there {'is' if different == 1 else 'are'} "
            f"{different:,}: give more rows, or fewer folds (at least 2)."
        )


def _refuse_sizes(rows: Held) -> None:
    """Squares, and squares of sums of squares, have to be numbers."""
    if not (isinstance(rows, np.ndarray) and rows.dtype.kind == "f"):
        return
    far = float(np.abs(rows - rows.mean(axis=0)).max())
    if not _SMALLEST <= far <= _LARGEST:
        raise BadData(
            f"Rows are up to {far:.3g} away from their mean, which has no square in a number of 64 bits: scale them "
            f"{'up' if far < _SMALLEST else 'down'} first."
        )


def groups_of_equals(rows: Held) -> Array:
    """The same number for equal rows, so that none is left out while a copy of it is there."""
    n = n_rows(rows)
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "fiub":
        first = first_of_equals(np.asarray(rows, dtype=np.float64), rows.mean(axis=0))
        return np.arange(n) if first is None else first
    try:
        seen: dict[Any, int] = {}
        return np.array([seen.setdefault(rows[i], i) for i in range(n)])
    except TypeError:  # things without a hash: each is one of its own
        return np.arange(n)


def about_sample(n: int, sampled: int) -> str:
    """How many rows were looked at."""
    return counted(n, "row") if n == sampled else f"{sampled:,} of {n:,} rows"
