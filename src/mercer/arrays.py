"""Arrays of other libraries (torch, cupy, …), through the array API: in as numpy arrays, out as they came.

scikit-learn decides whether they are looked at: ``sklearn.config_context(array_api_dispatch=True)``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

__all__ = [
    "HERE",
    "Array",
    "Held",
    "Home",
    "Matrix",
    "arrow",
    "as_narrow",
    "dask",
    "dense",
    "hdf5",
    "is_foreign",
    "pillow",
    "single_or_double",
    "to_numpy",
]

Array = NDArray[Any]  # of numpy; of which numbers, the function says
Matrix = Any  # a dense array or a scipy sparse one
Held = Any  # items in memory, whose first axis counts: a dense array, a CSR matrix or an array of objects


def single_or_double(dtype: DTypeLike) -> type[np.float32] | type[np.float64]:
    """What numbers of this kind are computed and kept in: float32 stays what it is, all others become float64."""
    return np.float32 if dtype == np.float32 else np.float64


def dense(block: Matrix, dtype: DTypeLike | None = None) -> Array:
    """The same numbers in an array, without a copy if they are in one of this kind already."""
    return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=dtype)


@dataclass(frozen=True)
class Home:
    """The library and the device that an array belongs to."""

    library: Any = np
    device: Any = None

    @classmethod
    def of(cls, array: Any) -> "Home":
        """Where an array is at home: with numpy, unless scikit-learn was told to look for others."""
        if not is_foreign(array):
            return HERE
        from sklearn import get_config

        from mercer.unpromised import namespace_of

        return cls(namespace_of(array), array.device) if get_config()["array_api_dispatch"] else HERE

    @property
    def foreign(self) -> bool:
        return self.library is not np

    def bring(self, array: Any) -> Any:
        """A numpy array, at home here."""
        return self.library.asarray(array, device=self.device) if self.foreign else array


HERE = Home()


def is_foreign(array: Any) -> bool:
    """Whether it is an array of another library: those can all be exchanged by DLPack."""
    return hasattr(array, "__dlpack__") and not isinstance(array, (np.ndarray, type))


def to_numpy(array: Any) -> Any:
    """The same numbers in main memory."""
    if not is_foreign(array):
        return np.asarray(array)
    from mercer.unpromised import moved_here

    return moved_here(array)


def hdf5() -> Any:
    """h5py, which comes with the extra `io`."""
    from mercer.errors import MissingPart

    try:
        import h5py
    except ModuleNotFoundError:
        raise MissingPart("A .h5ad file", "h5py", "io") from None
    return h5py


def pillow() -> Any:
    """Pillow's module of images, which comes with the extra `io`."""
    from mercer.errors import MissingPart

    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise MissingPart("A folder of images", "Pillow", "io") from None
    return Image


def arrow(part: str) -> Any:
    """pyarrow's module of this name, which comes with the extra `app`."""
    from importlib import import_module

    from mercer.errors import MissingPart

    try:
        return import_module(f"pyarrow.{part}")
    except ModuleNotFoundError:
        raise MissingPart("Reading tables", "pyarrow", "app") from None


def dask(part: str) -> Any:
    """Dask's module of this name, which comes with the extra `dask`."""
    from importlib import import_module

    from mercer.errors import MissingPart

    try:
        return import_module(f"dask.{part}")
    except ModuleNotFoundError as missing:
        raise MissingPart("Work on a cluster", missing.name or "dask", "dask") from None


def as_narrow(array: Array, dtype: Any) -> Array:
    """In this precision, if all of it is still a number there, and the largest keeps its digits."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = array.astype(dtype)
    size, least = np.abs(array).max(initial=0.0), np.finfo(dtype).tiny / np.finfo(dtype).eps
    there = np.isfinite(narrow).all() and not 0 < size < least
    return narrow if there or not np.isfinite(array).all() else array
