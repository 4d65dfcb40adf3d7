"""Arrays of other libraries (torch, cupy, …), through the array API: in as numpy arrays, out as they came.

scikit-learn decides whether they are looked at: ``sklearn.config_context(array_api_dispatch=True)``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Home:
    """The library and the device that an array belongs to."""

    library: Any = np
    device: Any = None

    @classmethod
    def of(cls, array: Any) -> "Home":
        """Where an array is at home: with numpy, unless scikit-learn was told to look for others."""
        from sklearn.utils._array_api import device, get_namespace

        library, other = get_namespace(array)
        return cls(library, device(array)) if other and not isinstance(array, np.ndarray) else HERE

    @property
    def foreign(self) -> bool:
        return self.library is not np

    def bring(self, array: Any) -> Any:
        """A numpy array, at home here."""
        return self.library.asarray(array, device=self.device) if self.foreign else array


HERE = Home()


def to_numpy(array: Any) -> Any:
    """The same numbers in main memory."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__array_namespace__"):
        return np.asarray(array)
    try:
        from sklearn.utils._array_api import move_to
    except ImportError:  # before scikit-learn 1.8
        from sklearn.utils._array_api import _convert_to_numpy

        return _convert_to_numpy(array, array.__array_namespace__())
    return move_to(array, xp=np, device="cpu")
