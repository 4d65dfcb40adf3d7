"""Step after step, some of them long ones, until nothing is gained; the objective never falls."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer_old.fits.gaps.em import State, improve, stretched
from mercer_old.sweeps.gaps import Gapped

__all__ = ["Climb", "Watch", "climb"]

_PATIENCE = 12  # passes over which numbers that were held out are told worse and worse, before that is believed
_WORSE = 1.01  # of the least error so far
_ROUNDING = 1e-9  # of the objective

Watch = Callable[[State], float]  # the error of a guess for numbers that were held out


@dataclass(frozen=True, eq=False)
class Climb:
    """Where it ended, and how."""

    state: State
    passes: int
    gain: float  # of the last step, in nats for each number that is there
    converged: bool
    stopped: bool  # as numbers that were held out were told worse and worse
    error: float  # of the state, for those; nan if nobody looked
    objectives: tuple[float, ...]  # one for each guess that was kept


def climb(rows: Gapped, start: State, *, tol: float, most: int, threads: int, watch: Watch | None = None) -> Climb:
    """From a guess to where a step gains no more than `tol` for each number that is there, in at most so many passes.

    Of three guesses in a row, a long step (SQUAREM) is tried, and kept if the objective is no lower there.
    """
    count, heights = float(rows.counts.sum()), list[float]()
    best, least, worse, gain = start, np.inf, 0, np.inf
    line, far, kept = [start], None, start  # guesses in a row, one that they lead to, and the last that was kept
    for passes in range(1, most + 1):
        now = line[-1] if far is None else far
        later, height = _improved(rows, now, threads)
        if far is not None and not height >= heights[-1]:
            far, line = None, line[-1:]  # a long step that led nowhere
            continue
        if not np.isfinite(height) or (heights and height < heights[-1] - _ROUNDING * abs(heights[-1])):
            # There is no noise left to divide by: what comes now is rounding.
            return Climb(kept, passes, 0.0, True, False, watch(kept) if watch else np.nan, tuple(heights))
        kept = now
        if now.begun:
            gain = (height - heights[-1]) / count if heights else np.inf
            heights.append(height)
        if watch is not None:
            error = watch(now)
            best, least, worse = (now, error, 0) if error < least else (best, least, worse + (error > _WORSE * least))
            if worse >= _PATIENCE:
                return Climb(best, passes, gain, False, True, least, tuple(heights))
        if far is None and gain <= tol:
            return Climb(now, passes, max(gain, 0.0), True, False, watch(now) if watch else np.nan, tuple(heights))
        line = [*line, later] if far is None else [later]
        far = stretched(*line) if len(line) == 3 and line[0].begun else None
        line = line[-1:] if len(line) == 3 and far is None else line
    return Climb(kept, most, gain, False, False, watch(kept) if watch else np.nan, tuple(heights))


def _improved(rows: Gapped, now: State, threads: int) -> tuple[State, float]:
    """The next guess, and how good this one is: not at all, if matrices are singular to rounding."""
    try:
        return improve(rows, now, threads)
    except np.linalg.LinAlgError:
        return now, -np.inf
