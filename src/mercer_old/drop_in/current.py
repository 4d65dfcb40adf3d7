"""The way from new rows to scores by the fitted names as they are now: those of the fit, or others set since.

People cut, turn and load fitted arrays (``model.eigenvectors_ = model.eigenvectors_[:, :2]``), and scikit-learn's
models follow them. What a fit has prepared is used as long as the arrays are those that it left behind.
"""

from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np

from mercer_old.arrays import Array, Held, Home, here, to_numpy
from mercer_old.errors import BadData
from mercer_old.kernels.base import Kernel
from mercer_old.operators.projection import ByKernel, Centring

__all__ = ["Current"]

ENTRIES = 2**16  # of an array that are kept and compared; all, of small ones


@dataclass(frozen=True, eq=False)
class _Trace:
    """Enough of an array to tell whether it is still the same, in place or not."""

    shape: tuple[int, ...]
    some: Array
    by_columns: bool = False  # the order in which all entries of a large array are summed up
    checksum: int = 0

    @classmethod
    def of(cls, array: Any, by_columns: bool | None = None) -> "_Trace":
        array = to_numpy(array)
        by_columns = array.flags.fnc if by_columns is None else by_columns
        step = max(1, -(-array.size // ENTRIES))
        some = array[::step].copy() if array.ndim else array
        return cls(array.shape, some, by_columns, _checksum(array.T if by_columns else array) if step > 1 else 0)

    def fits(self, array: Any) -> bool:
        other = _Trace.of(array, self.by_columns)
        same = self.shape == other.shape and self.checksum == other.checksum
        return same and np.array_equal(self.some, other.some, equal_nan=True)


def _checksum(array: Array) -> int:
    """Of all bytes, at gigabytes a second: little beside the kernel between one row and as many training rows."""
    return crc32(np.ascontiguousarray(array).data)


@dataclass(frozen=True, eq=False)
class Current:
    """A projection, and how to make another of ``eigenvalues_``, ``eigenvectors_``, ``gamma_`` and ``X_fit_``."""

    fitted: Any  # the projection; without the training rows, which are the model's
    centring: Centring | None  # None: by landmarks, where there are no vectors to set
    traces: dict[str, _Trace]
    training: Array | None = None  # scores of the training rows, if they were had along the way

    @classmethod
    def of(cls, model: Any, projection: Any, centring: Centring | None, training: Array | None = None) -> "Current":
        if centring is None:
            return cls(projection, None, {}, training)
        traces = {name: _Trace.of(getattr(model, name)) for name in ("eigenvalues_", "eigenvectors_", "gamma_")}
        return cls(_without_rows(projection), centring, traces, training)

    def is_as_fitted(self, model: Any) -> bool:
        """Whether the fitted names are those that the fit left behind."""
        return all(trace.fits(getattr(model, name)) for name, trace in self.traces.items())

    def now(self, model: Any) -> Any:
        """The projection, which goes to the device of the fitted names if they are on one."""
        found, home = self._here(model), Home.of(model.eigenvalues_)
        return replace(found, home=home) if home.elsewhere and isinstance(found, ByKernel) else found

    def _here(self, model: Any) -> Any:
        if self.centring is None:
            return self.fitted
        if self.is_as_fitted(model):
            return replace(self.fitted, rows=here(model.X_fit_)) if isinstance(self.fitted, ByKernel) else self.fitted
        values, vectors = to_numpy(model.eigenvalues_), to_numpy(model.eigenvectors_)
        if vectors.shape != (n := len(self.centring.means), len(values)):
            raise BadData(
                f"eigenvectors_ is of shape {vectors.shape}, but there are {n:,} training rows and {len(values)} "
                "eigenvalues_: set both names."
            )
        return self.centring.projection(_kernel_now(model), here(model.X_fit_), values, vectors)

    def kernel(self, model: Any) -> Kernel:
        """The one that scores are made with: with γ as it is now, but for landmarks, which are prepared with theirs."""
        return model.kernel_ if self.centring is None else _kernel_now(model)

    def sums(self, model: Any) -> tuple[Kernel, Held, Array]:
        """k, items xᵢ and α (n×k): the component functions are Σ αᵢk(·, xᵢ), but for a constant each."""
        projection = self.now(model)
        if isinstance(projection, ByKernel):
            return projection.kernel, projection.rows, projection.alpha
        assert self.centring is not None  # there are features, or a matrix: not by landmarks
        alpha, _ = self.centring.dual(to_numpy(model.eigenvalues_), to_numpy(model.eigenvectors_))
        return _kernel_now(model), here(model.X_fit_), alpha


def _kernel_now(model: Any) -> Kernel:
    """The kernel, with γ as it is now."""
    kernel: Kernel = model.kernel_
    return kernel if getattr(kernel, "gamma", model.gamma_) == model.gamma_ else kernel.with_params(gamma=model.gamma_)


def _without_rows(projection: Any) -> Any:
    return replace(projection, rows=None) if isinstance(projection, ByKernel) else projection
