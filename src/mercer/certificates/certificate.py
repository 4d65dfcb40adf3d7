"""The base class of certificates: bounds on numerical errors, not on the meaning of a result."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from mercer.results import plain
from mercer.storable import get_state


class Certificate(ABC):
    """Bounds on the numerical error of a fit.

    Subclasses are storable (`mercer.storable`): what they store is what they compare and what a model file holds.
    """

    converged: bool
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


def _equal(one: Any, other: Any) -> bool:
    numeric = isinstance(one, (float, np.ndarray))  # NaN equals NaN here
    return bool(np.array_equal(one, other, equal_nan=True)) if numeric else bool(one == other)
