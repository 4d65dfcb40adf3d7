"""What is known of the end of a descent: how flat it is there, and no more than that.

A differentiable function has a local optimum only where its gradient (over the variables that no bound stops) is zero.
The converse does not hold, and of a function that is not convex nothing is said about other places: another start may
end higher. So the sentences name the start and the end, the gradient that is left, and what they do not prove.
"""

from dataclasses import dataclass

from mercer_old.certificates.base import Proof
from mercer_old.errors import counted


@dataclass(frozen=True, eq=False)
class LocalOptimum(Proof):
    """Where a descent began and ended, and how flat it is at the end."""

    what: str  # the quantity that was made larger or smaller
    start: float
    end: float
    gradient: float  # the largest entry in size that no bound stops, in the units that `tol` has
    tol: float
    iterations: int
    more: tuple[str, ...] = ()  # what else is known

    @property
    def converged(self) -> bool:
        """Whether the gradient is within the tolerance."""
        return self.gradient <= self.tol

    def sentences(self) -> list[str]:
        way = f"{self.what}: {_short(self.start)} at the start, {_short(self.end)} after "
        flat = f"largest entry of the gradient {self.gradient:.1g}"
        rule = f"within the tolerance of {self.tol:g}" if self.converged else f"above the tolerance of {self.tol:g}"
        lines = [f"{way}{counted(self.iterations, 'iteration')}; {flat}, {rule}."]
        lines += ["This is a local optimum at best: the function is not convex, and another start may end elsewhere."]
        return [*lines, *self.more]


def _short(value: float) -> str:
    """Seven digits tell the end from the start."""
    return f"{value:,.1f}" if abs(value) >= 1e5 else f"{value:.7g}"
