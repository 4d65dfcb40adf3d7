"""A plan: what will be done, with what, and why; and whether it fits."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mercer_old.errors import NoRoom, counted
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.plans.share import Share
from mercer_old.solvers.among import AmongLandmarks
from mercer_old.solvers.base import Solver
from mercer_old.solvers.landmarks import Landmarks

HELD_TOL = 1e-8  # of residuals, where a product costs little
Cut = Callable[[int], list[slice]]  # so many items into pieces
BUFFERS = 14_000_000  # bytes of what the allocator keeps


@dataclass(frozen=True)
class Plan:
    """What will be done, with what, and why."""

    solver: Solver
    held: str  # how the matrix is held; a key of _HELD
    memory: int  # bytes that fit allocates beyond X, at the peak
    why: str
    tol: float = HELD_TOL
    passes: int = 1  # over the matrix, about
    seconds: float | None = None  # expected, scaled by timed tiles; shown, and decides nothing
    warning: str = ""
    cut: Cut | None = None  # how items are, for workers of a cluster who evaluate the matrix; None: nobody else does
    moved: int = 0  # bytes that go to the workers of a cluster and come from them, about
    components: Share | None = None  # that a share of the variance is expected to take; the plan is for the most
    few: "Plan | None" = None  # the plan if it takes few of them, where nothing is known
    there: bool = False  # whether products are computed on the device of arrays of another library
    place: str = ""  # where it is carried out and why, of such arrays

    @property
    def notice(self) -> str:
        """What a user is told who did not ask for it; nothing if all is as asked."""
        return self.warning and f"{self.why[0].upper()}{self.why[1:]} {self.warning}"

    @property
    def approximate(self) -> bool:
        """Whether it does not even try to meet the tolerance for all rows, and says so beforehand."""
        return isinstance(self.solver, (Landmarks, AmongLandmarks)) or self.held == "sketch"

    @property
    def streams(self) -> bool:
        """Whether rows are looked at block by block, and never all of them."""
        return isinstance(self.solver, Landmarks) and not self.solver.refine

    @property
    def is_filled(self) -> bool:
        """Whether the matrix is evaluated once, and held: here, or by the workers of a cluster."""
        return self.held in ("gram", "gathered")

    def __str__(self) -> str:
        return self._told(repr)

    @property
    def in_words(self) -> str:
        """The same for people who do not write Python: solvers are described."""
        return self._told(lambda solver: solver.words)

    def _told(self, name: Callable[[Solver], str]) -> str:
        if self.few:
            most = replace(self, few=None, components=None)
            always, few = most._told(name), self.few._told(name)
            ways = f"In any case: {always}" if most.is_like(self.few) else f"If few: {few} If nearly all: {always}"
            return f"{self.components}. {ways}"
        time = "" if self.seconds is None else f", about {seconds_in_words(self.seconds)} on an idle machine"
        passes = f", about {counted(self.passes, 'pass')}"
        how = f"{name(self.solver)} on {_HELD[self.held]}" + ("" if self.streams else passes)
        return (
            f"{how}{time}, {bytes_in_words(self.memory)} at the peak: {self.why}"
            + (f" {self.warning}" if self.warning else "")
            + self._range
            + (f" {self.place}" if self.place else "")
        )

    def is_like(self, other: "Plan") -> bool:
        """Whether both are told in the same words; their times are measured each for itself, and differ a little."""
        mine, its = self.seconds or 0.0, other.seconds or 0.0
        alike = max(mine, its) <= 2 * min(mine, its)
        return alike and str(replace(self, seconds=None)) == str(replace(other, seconds=None))

    @property
    def _range(self) -> str:
        if not self.components:
            return ""
        return f" {self.components}" + ("; time and memory are for the most." if self.components.rows else ".")


_HELD = {
    "gram": "the Gram matrix in memory",
    "gathered": "the Gram matrix in memory, filled by the workers of a cluster",
    "recomputed": "the Gram matrix evaluated anew in each pass",
    "spread": "the Gram matrix evaluated anew in each pass by the workers of a cluster",
    "features": "explicit features",
    "given": "the matrix given",
    "landmarks": "what they see of the rows in one sweep",
    "scatter": "the products of all columns, summed up in one sweep",
    "sketch": "a sketch of the rows, from one sweep",
    "triangle": "the triangle of a QR factorisation, from one sweep",
    "rows": "the centred rows",
    "products": "products with the rows",
    "gapped": "the rows with their gaps, in memory",
    "gapped chunks": "the rows with their gaps, chunk by chunk",
    "neighborhoods": "the sparse matrix of the neighbourhoods",
    "landmark neighborhoods": "the sparse matrix of the neighbourhoods of landmarks",
}


def within(limits: Limits, plan: Plan, advice: str, inverse: int = 0) -> Plan:
    """The plan, if it fits with the bytes that learning the way back takes; a refusal with what to try, if not."""
    what = "fit and the inverse transform" if inverse > plan.memory else "fit"
    plan = replace(plan, memory=max(plan.memory, inverse))
    if plan.memory > limits.memory:
        why, most = plan.why.rstrip("."), bytes_in_words(limits.memory)
        raise NoRoom(f"The {what} needs {bytes_in_words(plan.memory)} ({why}), over the limit of {most}. {advice}")
    return plan


def seconds_in_words(seconds: float) -> str:
    """A time for people: "40 s", "3 min", "2.5 h"."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 99.5 * size or unit == "h":
            break
    return f"{seconds / size:.2g} {unit}" if seconds < 99.5 * size else f"{seconds / size:,.0f} {unit}"
