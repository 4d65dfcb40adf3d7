"""Plans for data that do not exist yet."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np

from mercer.data.dataset import ArrayDataset, Dataset, object_array
from mercer.errors import ParameterError
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.pca import PCA
from mercer.planning.plan import Plan
from mercer.planning.plan_kernel import plan_kernel_pca
from mercer.planning.plan_linear import plan_linear

_SAMPLES, _ENTRIES = 256, 10**7  # of the synthetic data that kernels look at
_STRINGS = 5000
_LETTERS = "eeeeeetttttaaaaooooiiinnnsssrrrhhhlldddccuummmffppggwwyybbvk "  # about as frequent as in English
_METHODS = ("kernel_pca", "pca")


def plan(
    n_rows: int,
    n_features: int,
    n_components: int | float | None = 10,
    *,
    method: str = "kernel_pca",
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    **params: Any,
) -> Plan:
    """Return what a fit of so many rows would do: solver, memory and the reason.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the data, which need not exist. For kernels on strings: their number and length.
    n_components : int, float or None, default=10
        As in the estimator.
    method : {"kernel_pca", "pca"}, default="kernel_pca"
        The estimator.
    memory_limit, n_jobs
        As in the estimator.
    **params
        Other parameters of the estimator. ``kernel`` is "rbf" by default.

    Returns
    -------
    plan : Plan
        Route, memory and reason.

    Examples
    --------
    >>> from mercer.estimators.plan_ahead import plan
    >>> plan(n_rows=80_000, n_features=30, n_components=20, memory_limit="2GB").route
    'matrix-free'
    """
    n, d = _count("n_rows", n_rows, 10**12), _count("n_features", n_features, 10**7)
    if method not in _METHODS:
        raise ParameterError("method", method, f"one of {', '.join(map(repr, _METHODS))}")
    resources = {"memory_limit": memory_limit, "n_jobs": n_jobs}
    return (_plan_pca if method == "pca" else _plan_kernel_pca)(n, d, n_components, resources | params)


def _plan_kernel_pca(n: int, d: int, n_components: Any, params: dict[str, Any]) -> Plan:
    model = KernelPCA(n_components, **{"kernel": "rbf", **params})
    model._validate_params()
    data = _synthetic(n, d, model.input_kind, model._kernel().non_negative)
    data, _, kernel, feature_map = model._prepare(data, None, model._rng())
    return plan_kernel_pca(model, data, kernel, feature_map, n_samples=n)


def _plan_pca(n: int, d: int, n_components: Any, params: dict[str, Any]) -> Plan:
    model = PCA(n_components, **params)
    model._validate_params()
    budget = model.resources()
    return plan_linear(model._problem(_Shape(n, d), None, budget=budget).sizes, budget)


class _Shape(Dataset):
    """Rows that do not exist."""

    in_memory = True
    dtype = np.dtype(np.float64)

    def __init__(self, n: int, d: int) -> None:
        self.shape, self.nbytes = (n, d), 8 * n * d

    def blocks(self, size: int) -> Iterator[Any]:
        raise NotImplementedError


def _synthetic(n: int, d: int, kind: str, non_negative: bool) -> Dataset:
    """Samples of this kind to look at: noise, or strings of letters."""
    rng = np.random.default_rng(0)
    if kind == "strings":
        letters = rng.choice(list(_LETTERS), size=(max(2, min(n, _STRINGS, _ENTRIES // d)), d))
        return ArrayDataset(object_array(["".join(row) for row in letters]), "strings")
    if kind not in ("vectors", "precomputed"):
        raise ParameterError("kernel", kind, "a kernel on vectors or strings: others need data to look at")
    rows = rng.standard_normal((max(2, min(n, _SAMPLES, _ENTRIES // d)), d))
    return ArrayDataset(np.abs(rows) if non_negative else rows)


def _count(name: str, value: Any, most: int) -> int:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not 1 <= number <= most or number != int(number):
        raise ParameterError(name, value, f"an integer from 1 to {most:,}")
    return int(number)
