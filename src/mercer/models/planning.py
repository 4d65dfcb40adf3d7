"""A plan for data that need not exist yet."""

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from mercer.models.ahead import plan_ahead
from mercer.models.kernel_pca import KernelPCA
from mercer.models.problem import describe
from mercer.operators.tiles import STRIP
from mercer.solvers.plan import Plan


def plan(
    n_rows: int,
    n_features: int,
    n_components: int | float | None = 10,
    *,
    kernel: Any = "rbf",
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    **params: Any,
) -> Plan:
    """What kernel PCA of so many rows would do: which solver, with how much memory, in what time, and why.

    Parameters
    ----------
    n_rows, n_features : int
        The shape of the data, which need not exist yet.
    n_components : int, float or None, default=10
        As in `KernelPCA`.
    kernel : str, mercer.kernels.Kernel or callable, default="rbf"
        As in `KernelPCA`.
    memory_limit, n_jobs
        As in `KernelPCA`.
    **params
        Any other parameter of `KernelPCA`.

    Returns
    -------
    plan : Plan
        Print it.

    Examples
    --------
    >>> import mercer
    >>> plan = mercer.plan(n_rows=80_000, n_features=30, n_components=20, memory_limit="2GB")
    >>> plan.held, plan.memory < 2e9
    ('recomputed', True)
    """
    n, d = _whole(n_rows, "n_rows", 10**12), _whole(n_features, "n_features", 10**7)
    model = KernelPCA(n_components, kernel=kernel, memory_limit=memory_limit, n_jobs=n_jobs, **params)
    model.check_params()
    made_up = np.random.default_rng(0).standard_normal((max(2, min(STRIP, 10**7 // d)), d))
    resolved = model._resolve_kernel(made_up)
    problem = describe(model, made_up, resolved)
    problem = replace(problem, n=n, copied=problem.copied * n // len(made_up))
    return plan_ahead(problem, resolved, made_up, model._limits())


def _whole(value: Any, name: str, most: int) -> int:
    number = float(value) if isinstance(value, Real) else np.nan
    if not 1 <= number <= most or number != int(number):
        raise ValueError(f"{name} must be a whole number from 1 to {most:,}; got {value!r}.")
    return int(number)
