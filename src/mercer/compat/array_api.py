"""Arrays of other libraries (torch, cupy, …), through the array API: in as numpy arrays, out as they came.

scikit-learn decides whether results follow X: ``sklearn.config_context(array_api_dispatch=True)``. Fits run in numpy
on the CPU.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn import get_config

from mercer.errors import DataError, warn

_Method = TypeVar("_Method", bound=Callable[..., Any])
_own_types: set[type] = {np.ndarray, type}  # types of values that are not arrays of another library, as they come


class ArrayNamespace(NamedTuple):
    """The library and the device of an array."""

    xp: Any
    device: Any = None

    @classmethod
    def of(cls, array: Any) -> "ArrayNamespace":
        """Where an array is: in numpy, unless scikit-learn's `array_api_dispatch` is on."""
        if not is_foreign(array) or not get_config()["array_api_dispatch"]:
            return NUMPY
        from sklearn.utils._array_api import get_namespace_and_device

        xp, _, device = get_namespace_and_device(array)
        return cls(xp, device)

    @property
    def on_cpu(self) -> bool:
        return self.xp is np or "cpu" in str(self.device).lower()

    def __str__(self) -> str:
        name = str(self.xp.__name__).rpartition(".")[2]
        return name if self.device is None else f"{name} on {self.device}"

    def asarray(self, value: Any) -> Any:
        """A numpy array of numbers in this namespace, in float32 where it has no float64; other values as they are."""
        if isinstance(value, tuple):
            return tuple(map(self.asarray, value))
        if self.xp is np or not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
            return value
        if value.dtype == np.float64 and not self._has_float64():
            value = value.astype(np.float32)
        return self.xp.asarray(np.require(value, requirements=["C", "W"]), device=self.device)  # as torch needs them

    def _has_float64(self) -> bool:
        return self.on_cpu or "float64" in self.xp.__array_namespace_info__().dtypes(device=self.device)


NUMPY = ArrayNamespace(np)


def is_foreign(value: Any) -> bool:
    """Whether it is an array of another library: those can all be exchanged by DLPack."""
    return type(value) not in _own_types and _are_foreign({type(value)})


def has_foreign(model: Any) -> bool:
    """Whether fitted arrays belong to another library."""
    return _are_foreign({*map(type, vars(model).values())})


def _are_foreign(kinds: set[type]) -> bool:
    """Whether one of the types is that of arrays of another library. Others are remembered: a fit takes 150 µs."""
    unknown = kinds - _own_types
    foreign = {
        kind for kind in unknown if hasattr(kind, "__dlpack__") and not issubclass(kind, (np.ndarray, np.generic))
    }
    _own_types.update(unknown - foreign)
    return bool(foreign)


def to_numpy(value: Any) -> Any:
    """An array of another library as one of numpy, without a copy if possible; other values as they are."""
    if not is_foreign(value):
        return value
    if getattr(value, "requires_grad", False):
        raise DataError("The array requires gradients, which do not pass through a fit. Pass array.detach().")
    from sklearn.utils._array_api import move_to

    try:
        array = np.asarray(move_to(value, xp=np, device="cpu"))
        reason = "" if array.dtype != object else "it has no numbers"
    except (RuntimeError, TypeError, ValueError, BufferError) as error:
        reason = str(error)
    if reason:
        raise DataError(
            f"An array of {type(value).__module__} with values of type {value.dtype} cannot be converted to numpy: "
            f"{reason.rstrip('.')}. Pass float32 or float64."
        )
    return array


def in_numpy(model: Any) -> Any:
    """The model, or a copy of it whose fitted arrays are those of numpy if they are not."""
    if not has_foreign(model):
        return model
    twin = object.__new__(type(model))
    twin.__dict__.update({name: to_numpy(value) for name, value in vars(model).items()})
    return twin


def namespace_of_fit(model: Any) -> ArrayNamespace:
    """The namespace of the fitted arrays."""
    return next((ArrayNamespace.of(value) for value in vars(model).values() if is_foreign(value)), NUMPY)


def check_namespace(model: Any, X: Any, method: str) -> ArrayNamespace:
    """The namespace of the fitted arrays, which has to be that of new arrays; files and lists have none."""
    fitted, given = namespace_of_fit(model), ArrayNamespace.of(X)
    if given != fitted and (is_foreign(X) or isinstance(X, np.ndarray)):
        raise ValueError(
            f"Inputs passed to {type(model).__name__}.{method}() must use the same namespace and the same device as "
            f"those passed to fit(): {given}, not {fitted}."
        )
    return fitted


def move_fitted(model: Any, namespace: ArrayNamespace) -> None:
    """Move the fitted arrays to a namespace, also private ones: scikit-learn's tests look at all of them."""
    parameters = model.get_params(deep=False)
    vars(model).update({n: namespace.asarray(v) for n, v in vars(model).items() if n not in parameters})
    if not namespace.on_cpu:
        warn(f"X is on {namespace.device}. The fit ran in numpy on the CPU.", severity="note")


def follow_namespace(method: _Method) -> _Method:
    """A method of a fitted model that computes in numpy and returns arrays in the namespace of its argument."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if not is_foreign(X) and not has_foreign(self):
            return method(self, *args, **kwargs)  # nearly always
        fitted = check_namespace(self, X, method.__name__)
        args = tuple(map(to_numpy, args))
        kwargs = {name: to_numpy(value) for name, value in kwargs.items()}
        return fitted.asarray(method(in_numpy(self), *args, **kwargs))

    return wrapper  # type: ignore[return-value]
