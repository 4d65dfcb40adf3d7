"""Check on a sample of the data whether a function is a Mercer kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.conversion import is_list_of_rows, list_of_objects
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.validation import as_dataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import Kernel, Precomputed, get_kernel
from mercer.numerics.random_state import lazy_generator
from mercer.numerics.rounding import power_of_two
from mercer.results import Result
from mercer.text import counted, short_repr

_ASYMMETRIC = 1e-8  # of the largest value
_NEGATIVE = 1e-10  # of the largest eigenvalue


@dataclass(frozen=True)
class KernelCheck(Result):
    """Result of `check_kernel`: true if the sample does not contradict a Mercer kernel.

    Attributes
    ----------
    kernel : str
        The kernel.
    n_sampled : int
        Number of samples that were compared.
    is_finite : bool
        Whether all values are finite.
    asymmetry : float
        Largest \\|k(x, y) − k(y, x)\\|, relative to the largest \\|k\\|.
    diagonal_error : float
        Largest difference between `Kernel.diag` and the diagonal of the kernel matrix, relative to the largest \\|k\\|.
    smallest_eigenvalue, largest_eigenvalue : float
        Eigenvalues of the kernel matrix.
    """

    kernel: str
    n_sampled: int
    is_finite: bool
    asymmetry: float
    diagonal_error: float
    smallest_eigenvalue: float
    largest_eigenvalue: float

    @property
    def is_psd(self) -> bool:
        """Whether no eigenvalue is negative, up to rounding."""
        return self.is_finite and self.smallest_eigenvalue >= -_NEGATIVE * abs(self.largest_eigenvalue)

    def __bool__(self) -> bool:
        return self.is_psd and max(self.asymmetry, self.diagonal_error) < _ASYMMETRIC

    @property
    def summary(self) -> str:
        on = f"on {counted(self.n_sampled, 'sample')}"
        values = f"eigenvalues between {self.smallest_eigenvalue:.2e} and {self.largest_eigenvalue:.2e} {on}"
        if not self.is_finite:
            text = f"is not a kernel: it returned values that are not finite {on}."
        elif self.asymmetry >= _ASYMMETRIC:
            text = f"is not symmetric: k(x, y) and k(y, x) differ by up to {self.asymmetry:.1e} of max|k| {on}."
        elif self.diagonal_error >= _ASYMMETRIC:
            size = f"{self.diagonal_error:.1e} of max|k| {on}"
            text = f"is inconsistent: diag(X) differs from the diagonal of k(X, X) by up to {size}."
        elif not self.is_psd:
            text = f"is not positive semi-definite: {values}. Kernel PCA uses the positive eigenvalues only."
        else:
            text = f"is symmetric and positive semi-definite on this sample: {values}. A sample proves nothing."
        return f"{self.kernel} {text}"

    def columns(self) -> dict[str, Sequence[Any]]:
        values = {name: [getattr(self, name)] for name in self.__dataclass_fields__}
        return {**values, "is_psd": [self.is_psd]}

    def __str__(self) -> str:
        return self.summary


def check_kernel(kernel: Any, X: Any, *, n_sampled: int = 200, random_state: Any = 0) -> KernelCheck:
    """Check on a sample of X whether a kernel is symmetric, finite and positive semi-definite.

    Parameters
    ----------
    kernel : str, Kernel or callable
        Anything that `KernelPCA` takes.
    X : array-like or sequence
        Samples; the kernel matrix for "precomputed".
    n_sampled : int, default=200
        Number of samples that are compared.
    random_state : int, RandomState, Generator or None, default=0
        Determines the sample.

    Returns
    -------
    check : KernelCheck
        True if the sample does not contradict a Mercer kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels.check import check_kernel
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> bool(check_kernel("rbf", X)), bool(check_kernel(lambda x, y: -np.sum((x - y) ** 2), X))
    (True, False)
    """
    if isinstance(n_sampled, bool) or not isinstance(n_sampled, Integral) or n_sampled < 2:
        raise ParameterError("n_sampled", n_sampled, "an integer of at least 2")
    rng, found = lazy_generator(random_state), get_kernel(kernel)
    data = _open(found, X)
    if len(data) < 2:
        raise DataError(f"check_kernel needs at least two samples; X has {len(data)}.")
    found = found.resolve(data, rng)
    chosen = np.sort(rng().choice(len(data), size=min(int(n_sampled), len(data)), replace=False))
    name = repr(kernel) if isinstance(kernel, str) else short_repr(found)
    if isinstance(found, Precomputed):
        K: Any = data.load()
        K = K[chosen][:, chosen]
        return _check(name, np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64))
    samples = data.take(chosen)
    found.validate(samples)
    half = len(chosen) // 2
    # Half of the pairs are evaluated again in the other order, in an array of its own.
    first, second = samples[:half], samples[half:]
    return _check(name, found(samples, samples), found(second, first), np.asarray(found.diag(samples)))


def _check(name: str, K: NDArray, lower: NDArray | None = None, diag: NDArray | None = None) -> KernelCheck:
    """Check a kernel matrix, its lower left part as it was evaluated on its own, and its diagonal."""
    n, most = len(K), np.finfo(float).max
    if not all(part is None or np.isfinite(part).all() for part in (K, lower, diag)):
        return KernelCheck(name, n, False, *[float("nan")] * 4)
    scale = 2 * float(power_of_two(np.abs(K).max()))  # sums and eigenvalues of numbers near 1e308 would overflow
    K = K / scale
    lower = K[n // 2 :, : n // 2] if lower is None else lower / scale
    diag = np.diag(K) if diag is None else diag / scale
    largest = float(np.abs(K).max()) or 1.0
    asymmetry = max(float(np.abs(part).max()) for part in (K - K.T, K[: n // 2, n // 2 :] - lower.T)) / largest
    diagonal = float(np.abs(diag - np.diag(K)).max()) / largest
    with np.errstate(over="ignore"):
        values = np.clip(np.linalg.eigvalsh((K + K.T) / 2) * scale, -most, most)
    return KernelCheck(name, n, True, asymmetry, diagonal, float(values[0]), float(values[-1]))


def _open(kernel: Kernel, X: Any) -> Dataset:
    """The samples as a dataset of the kind that the kernel compares."""
    kind = kernel.input_kind
    if kind == "any":
        values = None if sparse.issparse(X) else list_of_objects(X)
        kind = "vectors" if values is None or is_list_of_rows(values) else "objects"
    if kind != "precomputed":
        from sklearn.base import BaseEstimator

        return as_dataset(X, BaseEstimator(), reset=True, kind=kind)
    matrix = X if sparse.issparse(X) else np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"Precomputed kernel must be a square matrix; X has shape {matrix.shape}.")
    if matrix.dtype.kind == "c":
        raise DataError("Complex data not supported. A kernel matrix has real entries.")
    return ArrayDataset(sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix, "precomputed")
