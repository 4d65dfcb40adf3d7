"""What all certificates have in common: they are values, and printed they are a few English lines."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

import numpy as np


class Proof(ABC):
    """Statements about an answer. Subclasses are frozen dataclasses (``eq=False``) of numbers and arrays."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """What is proven, for people."""

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __eq__(self, other: object) -> bool:
        """Whether all statements are the same, to the last digit."""
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(mine, getattr(other, name)) for name, mine in self._statements())

    def __hash__(self) -> int:
        return hash(tuple(value for _, value in self._statements() if not isinstance(value, np.ndarray)))

    def _statements(self) -> list[tuple[str, Any]]:
        return [(part.name, getattr(self, part.name)) for part in fields(self)]  # type: ignore[arg-type]
