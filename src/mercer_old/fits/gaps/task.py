"""What a fit to rows with gaps is asked for, and what it finds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.fits.gaps.columns import Extent
from mercer_old.limits import Limits
from mercer_old.progress import Listener
from mercer_old.sources.items import Rows
from mercer_old.sweeps.factors import Factors

__all__ = ["Answer", "GapsFound", "GapsTask", "HeldOut"]


class GapsFound(Exception):
    """Numbers are missing: these rows need another way than complete ones."""


@dataclass(frozen=True, eq=False)
class GapsTask:
    """Rows, NaN where a number is missing, with those parameters of the model that steer the fit."""

    rows: Rows
    weights: Array | None
    asked: int | str  # components: a number, or "cv"
    prior: str | None
    tol: float
    most_passes: int
    held_out: float  # share of the numbers that are there
    standardize: bool
    limits: Limits
    rng: Callable[[], np.random.Generator]
    names: Array | None = None
    progress: Listener = False


@dataclass(frozen=True, eq=False)
class HeldOut:
    """How well numbers are told that were held out, by how many components."""

    count: int  # numbers
    components: tuple[int, ...]
    errors: tuple[float, ...]  # root mean square, in units of what the columns' means leave


@dataclass(frozen=True, eq=False)
class Answer:
    """Factors along principal axes, of rows moved to `centre` and divided by `scale`."""

    factors: Factors  # its mean is that of rows which are moved and divided
    centre: Array
    scale: Array  # what columns were divided by, one number of them all if they are not standardized
    passes: int
    gain: float  # of the last pass, in nats for each number that is there
    converged: bool
    stopped: bool  # as numbers that were held out were told worse and worse
    held_out: HeldOut | None
    likelihood: float  # log p of all numbers that are there, in the units of the rows
    extent: Extent  # what is there, and what is missing
    patterns: int  # of gaps that differ
    more_patterns: bool = False  # than were counted
    warnings: tuple[str, ...] = ()
