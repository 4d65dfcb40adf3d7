"""The base class of certificates: bounds on numerical errors, not on the meaning of a result."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.rounding import TINY
from mercer.results import plain
from mercer.storable import get_state
from mercer.text import counted, listed, number

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


class PairCertificate(Certificate):
    """Residuals, completeness and directions of computed eigenpairs."""

    values: NDArray
    angles: NDArray
    clusters: tuple[tuple[int, int], ...]
    unresolved: tuple[int, ...]
    n_complete: int
    n_passes: int
    n_products: int

    @property
    def n_components(self) -> int:
        return len(self.values)

    @property
    def certified(self) -> bool:
        """Whether residuals, completeness and directions are established."""
        return not self.not_established

    @cached_property
    def not_established(self) -> tuple[str, ...]:
        """The parts that are not established: "residuals", "completeness", "directions"."""
        missing = [] if self.converged else ["residuals"]
        if self.n_complete < self.n_components:
            missing.append("completeness")
        return (*missing, "directions") if self.unresolved else tuple(missing)

    def _verdict(self, established: str) -> str:
        """Whether the components are certified, and by what is established or which part is not."""
        if not self.n_components:
            return "No components, nothing to certify."
        count, parts = counted(self.n_components, "component"), " and ".join(self.not_established)
        if not parts:
            return f"{count} certified: {established}."
        return f"{count} NOT certified: {parts} {'is' if parts == 'completeness' else 'are'} not established."

    def _about_directions(self, zero: Any = False) -> list[str]:
        """Statements on directions, but for components that are zero, and on the cost."""
        lines, sure = [], np.flatnonzero((self.angles <= ANGLE) & ~np.asarray(zero))
        if len(sure):
            where = sure[np.argmax(self.angles[sure])]
            condition = "" if where < self.n_complete else ", if no eigenvalue was missed"
            error = f"sine of the error at most {self.angles[where]:.1e} (component {where + 1})"
            lines.append(f"Directions: {error}{condition}.")
        lines += [
            f"Directions of components {start + 1}–{stop} are determined as a span: equal eigenvalues, to rounding."
            for start, stop in self.clusters
            if self.angles[start] <= ANGLE
        ]
        if self.unresolved:
            names = listed((i + 1 for i in self.unresolved), 10)
            lines.append(f"Not determined to {ANGLE}: the direction of component {names}.")
        return [*lines, f"Cost: {counted(self.n_passes, 'pass')}, {counted(self.n_products, 'product')}."]


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
