"""The base class of certificates: bounds on numerical errors, not on the meaning of a result."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.rounding import TINY
from mercer.results import plain
from mercer.storable import get_state
from mercer.text import number

ANGLE = 0.05  # a direction less certain than this is unresolved
NARROW = 0.1  # width of an interval relative to its upper end, up to which an eigenvalue is called known


class Certificate(ABC):
    """Bounds on the numerical error of a fit.

    Subclasses are storable (`mercer.storable`): what they store is what they compare and what a model file holds.
    """

    converged: bool
    remedies: ClassVar[Any] = ()  # parameters that would establish more
    _shown: ClassVar[tuple[str, ...]] = ()  # attributes of `to_dict`; what is stored if there are none

    @property
    def certified(self) -> bool:
        """Whether everything that the certificate is about is established."""
        return self.converged

    @property
    @abstractmethod
    def summary(self) -> str:
        """One line; for a result that is not certified, it names the part that is not established."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """Everything that is proven; the first one is the summary."""

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects."""
        names = self._shown or tuple(get_state(self))
        return {"summary": self.summary, "certified": self.certified, **{n: plain(getattr(self, n)) for n in names}}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = get_state(other)
        return all(_equal(value, theirs[name]) for name, value in get_state(self).items())

    def __hash__(self) -> int:
        return hash((type(self), self.converged))


class IntervalCertificate(Certificate):
    """Intervals of eigenvalues that were not measured by residuals: what landmarks and sketches know."""

    lower: NDArray
    upper: NDArray
    angles: NDArray
    bound_beyond: float
    rounding: float

    @property
    def n_components(self) -> int:
        return len(self.lower)

    @property
    def n_complete(self) -> int:
        """Number of leading components that are known to be the leading ones."""
        return int(np.sum(np.logical_and.accumulate(self.lower > self.bound_beyond)))

    @property
    def unresolved(self) -> tuple[int, ...]:
        """Components with variance whose direction is not determined to 0.05."""
        return tuple(np.flatnonzero((self.angles > ANGLE) & (self.upper > self.rounding)).tolist())

    def _known(self) -> str:
        widths = (self.upper - self.lower) / np.maximum(self.upper, TINY)
        narrow = int(np.sum(np.logical_and.accumulate(widths <= NARROW)))
        if narrow:
            return f"relative width of the first {narrow} intervals at most {widths[:narrow].max():.1e}"
        return f"the first lies between {number(self.lower[0])} and {number(self.upper[0])}"


def _equal(one: Any, other: Any) -> bool:
    numeric = isinstance(one, (float, np.ndarray))  # NaN equals NaN here
    return bool(np.array_equal(one, other, equal_nan=True)) if numeric else bool(one == other)
