"""What is known of a fit to rows with gaps: nothing is proven but that the objective never fell, and much is measured.

The likelihood of what is observed has a stationary point where expectation and maximisation stop, and may have others:
so the last gain says how far the climb is over, not how high the hill is. Numbers that were held out, which the fit did
not see, say what filled gaps are worth; that is an estimate for gaps that come about as those were drawn, by lot.
"""

import math
from dataclasses import dataclass

from mercer_old.certificates.base import Proof
from mercer_old.errors import are, counted

__all__ = ["FillingCertificate"]

_PRIORS = {"normal": "with a normal prior", "ard": "with a normal prior for each factor", "": "maximum likelihood"}


@dataclass(frozen=True, eq=False)
class FillingCertificate(Proof):
    """How many numbers are missing, how the climb ended, and how well numbers are told that were held out."""

    rows: int
    columns: int
    missing: int  # numbers
    rows_with_gaps: int
    empty_rows: int  # without any number
    patterns: int  # of gaps that differ
    prior: str  # "normal", "ard" or ""
    passes: int
    gain: float  # of the last step, in nats for each number that is there
    converged: bool
    stopped: bool  # as numbers that were held out were told worse and worse
    held_out: int  # numbers
    error: float  # root mean square for those, in units of what means of columns leave; 0 if none were held out
    tried: tuple[int, ...] = ()  # numbers of components that were compared
    errors: tuple[float, ...] = ()  # of each
    more_patterns: bool = False  # whether there may be more than were counted

    @property
    def certified(self) -> bool:
        """Whether the climb is over."""
        return self.converged

    @property
    def share(self) -> float:
        """Of the numbers that are missing."""
        return self.missing / (self.rows * self.columns)

    def sentences(self) -> list[str]:
        return [self._gaps(), self._climb(), *self._told(), *self._by_lot()]

    def _gaps(self) -> str:
        empty = f", {counted(self.empty_rows, 'row')} without any number" if self.empty_rows else ""
        patterns = f"{'at least ' if self.more_patterns else ''}{counted(self.patterns, 'pattern')}"
        return (
            f"{self.missing:,} of {self.rows * self.columns:,} numbers are missing ({100 * self.share:.3g} %), in "
            f"{self.rows_with_gaps:,} of {counted(self.rows, 'row')}{empty}, in {patterns}"
        )

    def _climb(self) -> str:
        how = f"expectation and maximisation, {_PRIORS[self.prior]}: {counted(self.passes, 'pass')}"
        if self.stopped:
            return f"{how}, stopped early, as numbers that were held out were told worse from there on"
        end = "converged" if self.converged else "not converged"
        if not math.isfinite(self.gain):
            return f"{how}, {end}: too few to say what one gains"
        return f"{how}, {end}, the last of which gained {self.gain:.1e} for each number; none lost"

    def _told(self) -> list[str]:
        if not self.held_out:
            return []
        by = f", best of {self.tried[0]} to {self.tried[-1]} components" if len(self.tried) > 1 else ""
        return [
            f"{counted(self.held_out, 'number')} that {are(self.held_out)} there, held out to see, told with "
            f"{self.error:.3g} times the error of the columns' means{by}"
        ]

    def _by_lot(self) -> list[str]:
        if not self.missing:
            return []
        return ["all of this takes gaps as missing at random: whether a number is there must not depend on what it is"]
