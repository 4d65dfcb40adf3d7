"""Arrays of other libraries (torch, cupy, …), through the array API: in as numpy arrays, out as they came.

scikit-learn decides whether they are looked at: ``sklearn.config_context(array_api_dispatch=True)``.
"""

from dataclasses import dataclass
from sys import getsizeof
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
    "here",
    "is_foreign",
    "pillow",
    "single_or_double",
    "to_numpy",
    "weight_of",
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

        from mercer_old.unpromised import namespace_of

        return cls(namespace_of(array), array.device) if get_config()["array_api_dispatch"] else HERE

    @property
    def foreign(self) -> bool:
        return self.library is not np

    @property
    def elsewhere(self) -> bool:
        """Whether arrays are not in main memory, so that numpy sees copies of them alone."""
        return self.foreign and "cpu" not in str(self.device).lower()

    @property
    def has_double(self) -> bool:
        """Whether there is float64, which some devices lack."""
        return not self.elsewhere or "float64" in self.library.__array_namespace_info__().dtypes(device=self.device)

    @property
    def name(self) -> str:
        """Of the library, as people know it."""
        return str(self.library.__name__).split(".")[-1]

    def __str__(self) -> str:
        return f"{self.name} on {self.device}" if self.foreign else self.name

    def bring(self, array: Any) -> Any:
        """A numpy array, at home here: of numbers, that is, in float32 where there is no float64."""
        if not self.foreign or not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            return array
        if array.dtype == np.float64 and not self.has_double:
            array = array.astype(np.float32)
        array = np.require(array, requirements=["C", "W"])  # as torch takes them
        return self.library.asarray(array, device=self.device)


HERE = Home()


def is_foreign(array: Any) -> bool:
    """Whether it is an array of another library: those can all be exchanged by DLPack."""
    return hasattr(array, "__dlpack__") and not isinstance(array, (np.ndarray, type))


def to_numpy(array: Any) -> Any:
    """The same numbers in main memory, without a copy if they are there already."""
    return here(array) if is_foreign(array) else np.asarray(array)


def here(value: Any) -> Any:
    """An array of another library as one of numpy; whatever else it is, as it is."""
    if not is_foreign(value):
        return value
    from mercer_old.errors import BadData
    from mercer_old.unpromised import moved_here

    if getattr(value, "requires_grad", False):
        raise BadData("An array requires gradients, and none pass through a fit: give array.detach().")
    try:
        return moved_here(value)
    except (RuntimeError, TypeError, ValueError, BufferError) as error:
        raise BadData(
            f"An array of {type(value).__module__} with numbers of the kind {value.dtype} cannot be read by numpy: "
            f"{error} Give it as float32 or float64."
        ) from None


def hdf5() -> Any:
    """h5py, which comes with the extra `io`."""
    from mercer_old.errors import MissingPart

    try:
        import h5py
    except ModuleNotFoundError:
        raise MissingPart("A .h5ad file", "h5py", "io") from None
    return h5py


def pillow() -> Any:
    """Pillow's module of images, which comes with the extra `io`."""
    from mercer_old.errors import MissingPart

    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise MissingPart("A folder of images", "Pillow", "io") from None
    return Image


def arrow(part: str) -> Any:
    """pyarrow's module of this name, which comes with the extra `app`."""
    from importlib import import_module

    from mercer_old.errors import MissingPart

    try:
        return import_module(f"pyarrow.{part}")
    except ModuleNotFoundError:
        raise MissingPart("Reading tables", "pyarrow", "app") from None


def dask(part: str) -> Any:
    """Dask's module of this name, which comes with the extra `dask`."""
    from importlib import import_module

    from mercer_old.errors import MissingPart

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


def weight_of(thing: Any) -> int:
    """Bytes of something with all that is inside: by this, a cluster knows what it takes to move it to another worker.

    Python does not count the numbers of an array that came from elsewhere, whose memory belongs to the message.
    """
    return object.__sizeof__(thing) + sum(map(_weight_inside, vars(thing).values()))


def _weight_inside(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_weight_inside, value))
    return int(value.nbytes) if isinstance(value, np.ndarray) else getsizeof(value)
