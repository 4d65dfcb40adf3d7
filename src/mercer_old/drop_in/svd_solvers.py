"""The solver that scikit-learn's PCA would name, and its rules for it."""

from typing import Any

from mercer_old.errors import warn

__all__ = ["refuse_foreign", "resolve_svd_solver"]


def resolve_svd_solver(model: Any, shape: tuple[int, int], is_sparse: bool) -> str:
    """The solver that scikit-learn would name, whose rules for `n_components` hold; what is done is in ``plan_``."""
    asked, solver, (n, d) = model.n_components, model.svd_solver, shape
    if is_sparse and solver in ("full", "randomized", "qr", "gram"):
        raise TypeError(
            f'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while "{solver}" was '
            'passed. svd_solver="auto" and "krylov" do too.'
        )
    if solver == "auto":
        own_rule = isinstance(asked, str) and asked != "mle"  # of which scikit-learn has no opinion
        solver = "arpack" if is_sparse and not own_rule else _usual_solver(asked, n, d)
    if solver in ("arpack", "randomized", "krylov"):
        _refuse_truncated(asked, min(n, d), solver)
    elif asked == "mle" and n < d:
        raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
    elif not isinstance(asked, str) and asked is not None and not 0 <= asked <= min(n, d):
        raise ValueError(
            f"n_components={asked} must be between 0 and min(n_samples, n_features)={min(n, d)} with "
            f"svd_solver={solver!r}"
        )
    return solver


def _usual_solver(asked: Any, n: int, d: int) -> str:
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or isinstance(asked, str):
        return "full"
    return "randomized" if asked is not None and 1 <= asked < 0.8 * min(n, d) else "full"


def _refuse_truncated(asked: Any, most: int, solver: str) -> None:
    if isinstance(asked, str):
        raise ValueError(f"n_components={asked!r} cannot be a string with svd_solver='{solver}'")
    if isinstance(asked, float) or asked is None:
        return
    if not 1 <= asked <= most:
        raise ValueError(
            f"n_components={asked!r} must be between 1 and min(n_samples, n_features)={most!r} with "
            f"svd_solver='{solver}'"
        )
    if solver == "arpack" and asked == most:
        raise ValueError(
            f"n_components={asked!r} must be strictly less than min(n_samples, n_features)={most!r} with "
            f"svd_solver='{solver}'"
        )


def refuse_foreign(model: Any) -> None:
    """The limits that scikit-learn's tests set for arrays of other libraries."""
    if model.svd_solver == "arpack":
        raise ValueError("PCA with svd_solver='arpack' is not supported for Array API inputs.")
    if model.svd_solver == "randomized" and model.power_iteration_normalizer == "LU":
        raise ValueError("Array API does not support LU factorization. Set `power_iteration_normalizer='QR'` instead.")
    if model.svd_solver == "randomized" and model.power_iteration_normalizer == "auto":
        warn(
            "Array API does not support LU factorization, falling back to QR instead. Set "
            "`power_iteration_normalizer='QR'` explicitly to silence this warning."
        )
