"""A plan for data that need not exist yet."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from mercer_old.drop_in.svd_solvers import resolve_svd_solver
from mercer_old.errors import NoRoom, in_short
from mercer_old.fits.kernel.opening import asked_kernel, describe, kernel_for
from mercer_old.fits.linear.task import linear_problem
from mercer_old.fits.local.task import local_problem
from mercer_old.kernels import Kernel
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.lle import LocallyLinearEmbedding
from mercer_old.models.pca import PCA
from mercer_old.operators.tiles import STRIP
from mercer_old.plans.linear import LinearProblem
from mercer_old.plans.local import choose_local_plan
from mercer_old.plans.pace import linear_plan_ahead, local_plan_ahead, plan_ahead
from mercer_old.plans.plan import Plan
from mercer_old.plans.share import FIRST_GUESS, Share
from mercer_old.plans.sizes import Problem
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Items
from mercer_old.sources.texts import Texts

_Problem = TypeVar("_Problem", Problem, LinearProblem)
_LETTERS = "eeeeeetttttaaaaooooiiinnnsssrrrhhhlldddccuummmffppggwwyybbvk "  # about as often as in English
_TEXTS = 5000  # that are made up


def plan(
    n_rows: int,
    n_features: int,
    n_components: int | float | None = 10,
    *,
    method: str = "kpca",
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    **params: Any,
) -> Plan:
    """What PCA, kernel PCA or LLE of so many rows would do: which solver, how much memory, what time, and why.

    Parameters
    ----------
    n_rows, n_features : int
        The shape of the data, which need not exist yet; of texts, how many and how long.
    n_components : int, float or None, default=10
        As in `KernelPCA`, `PCA` or `LocallyLinearEmbedding`. How many components a share of the variance takes is not
        known without rows: the plan is that for all of them, and ``plan.few`` the one for few.
    method : {"kpca", "pca", "ppca", "lle"}, default="kpca"
        Which of them. Of LLE, rows on a surface are assumed; `LocallyLinearEmbedding.plan` looks at the rows.
    memory_limit, n_jobs
        As in all of them.
    **params
        Any other parameter of the model; ``kernel`` is "rbf" if nothing is said.

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
    if not isinstance(method, str) or method not in _WAYS:
        raise ValueError(f"method={in_short(method)} is none of {', '.join(_WAYS)}.")
    return _WAYS[method](n, d, n_components, dict(memory_limit=memory_limit, n_jobs=n_jobs, **params))


def _kernel_plan(n: int, d: int, k: Any, params: dict[str, Any]) -> Plan:
    model = KernelPCA(k, **{"kernel": "rbf"} | params)
    model.check_params()
    made_up = _made_up(n, d, asked_kernel(model))
    resolved = kernel_for(model, made_up)
    learned = resolved.feature_map(made_up.load()) if resolved.sparse_features else None
    problem, limits = describe(model, made_up, resolved, learned, n), model._limits()
    most = min(n, problem.n_features or n)
    return _of_any_number(k, most, problem, lambda few: plan_ahead(few, resolved, made_up, limits))


def _made_up(n: int, d: int, kernel: Kernel) -> Items:
    """Items as many and as wide as they may be, to look at: rows of noise, or texts of letters as frequent as ours."""
    rng = np.random.default_rng(0)
    if kernel.takes == "texts":
        letters = rng.choice(list(_LETTERS), size=(max(2, min(n, _TEXTS, 10**7 // d)), d))
        return Texts(["".join(text) for text in letters])
    rows = rng.standard_normal((max(2, min(STRIP, 10**7 // d)), d))
    return HeldRows(np.abs(rows) if kernel.non_negative else rows)


def _linear_plan(n: int, d: int, k: Any, params: dict[str, Any]) -> Plan:
    model = PCA(k, **params)
    model.check_params()
    resolve_svd_solver(model, (n, d), is_sparse=False)
    problem, limits = linear_problem(model, n, d), model._limits()
    return _of_any_number(k, min(n, d), problem, lambda few: linear_plan_ahead(few, limits))


def _of_any_number(asked: Any, most: int, problem: _Problem, plan: Callable[[_Problem], Plan]) -> Plan:
    """For a share of the variance of rows that nobody has seen: the plans for few components and for all of them."""
    if not isinstance(asked, float):
        return plan(problem)
    few, unknown = plan(replace(problem, k=min(FIRST_GUESS, most))), Share(asked, 1, FIRST_GUESS, most)
    try:
        return replace(plan(replace(problem, k=None)), few=few, components=unknown)
    except NoRoom as error:
        return replace(few, why=f"{few.why} {unknown}; this is for few of them, and nearly all would not do: {error}")


def _local_plan(n: int, d: int, k: Any, params: dict[str, Any]) -> Plan:
    model = LocallyLinearEmbedding(n_components=k, **params)
    model.check_params()
    return local_plan_ahead(choose_local_plan(local_problem(model, (n, d)), model._limits()))


_WAYS = {"kpca": _kernel_plan, "pca": _linear_plan, "ppca": _linear_plan, "lle": _local_plan}


def _whole(value: Any, name: str, most: int) -> int:
    number = float(value) if isinstance(value, Real) else np.nan
    if not 1 <= number <= most or number != int(number):
        raise ValueError(f"{name} must be a whole number from 1 to {most:,}; got {value!r}.")
    return int(number)
