"""The base class of certificates: bounds on numerical errors, not on the meaning of a result."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

import numpy as np

from mercer.results import plain


class Certificate(ABC):
    """Bounds on the numerical error of a fit.

    Subclasses are frozen dataclasses (``eq=False``) of numbers and arrays.
    """

    converged: bool

    @property
    def certified(self) -> bool:
        """Whether the error meets the tolerance."""
        return self.converged

    @property
    @abstractmethod
    def summary(self) -> str:
        """One line."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """Everything that is proven."""

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain Python objects."""
        return {"summary": self.summary, "certified": self.certified, **plain(self._values())}

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = other._values()
        return all(np.array_equal(value, theirs[name]) for name, value in self._values().items())

    def __hash__(self) -> int:
        return hash(tuple(value for value in self._values().values() if not isinstance(value, np.ndarray)))
