"""T² and Q: the distance of a row from the mean within the subspace of the components, and from the subspace.

Both, and the errors of both, follow from `project`, so they are defined for any model that has it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.contract import FittedModel, Projection
from mercer.errors import ParameterError

HUGE = float(np.finfo(float).max)  # in place of squares that overflow
_ROUNDINGS = 64 * np.finfo(float).eps  # of a variance, for each column


def hotelling_t2(scores: NDArray, variances: NDArray) -> NDArray:
    """T² = Σ yᵢ²/λᵢ. Components without variance are left out, as by a pseudo-inverse.

    >>> float(hotelling_t2(np.array([[2.0, 3.0, 5.0]]), np.array([4.0, 1.0, 0.0]))[0])
    10.0
    """
    varies = variances > 0
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (scores[:, varies] ** 2 / variances[varies]).sum(axis=1)
    return np.nan_to_num(squares, nan=HUGE, posinf=HUGE)


def monitoring_index(t2: NDArray, q: NDArray, n_components: int, rest: float) -> NDArray:
    """T²/k + Q/rest: each statistic relative to its mean, where `rest` is the variance outside of the components."""
    with np.errstate(over="ignore"):
        return np.minimum(t2 / max(n_components, 1) + q / rest, HUGE)


def t2_contributions(centered: NDArray, scores: NDArray, axes: NDArray, variances: NDArray) -> NDArray:
    """xⱼ·(WᵀΛ⁻¹y)ⱼ of rows x − mean: signed, and their sum over the columns is T²."""
    varies = variances > 0
    return centered * ((scores[:, varies] / variances[varies]) @ axes[varies])


def relevant_components(variances: NDArray, n_features: int = 1) -> NDArray:
    """Which variances are more than rounding of the largest one, in a sum over so many columns."""
    return np.asarray(variances > _ROUNDINGS * n_features * variances.max(initial=0.0))


class VarianceSplit(NamedTuple):
    """Variances of a model along its components, 0 where they are rounding, and outside of them."""

    variances: NDArray
    rest: float  # at least rounding of the total variance, by which Q is divided
    has_rest: bool  # whether it is more than that
    by_difference: bool  # whether Q is ‖φ(x) − mean‖² − Σ yᵢ², which cancels

    @property
    def n_relevant(self) -> int:
        return int(np.sum(self.variances > 0))


def split_variance(model: FittedModel) -> VarianceSplit:
    """The variances of a fitted model within and outside of the subspace of its components."""
    spectrum, map = model.spectrum(), model.linear_map()
    if spectrum is None or spectrum.variances is None or spectrum.total is None:
        name = type(model).__name__
        message = (
            f"{name} has no distances from the subspace of its components. Use PCA, ProbabilisticPCA or KernelPCA."
        )
        raise ParameterError("estimator", model, "a model with components, such as PCA", message=message)
    n_features = 1 if map is None else map.axes.shape[1]
    relevant = relevant_components(spectrum.variances, n_features)
    variances = np.where(relevant, spectrum.variances, 0.0)
    rest, rounding = spectrum.total - float(variances.sum()), _ROUNDINGS * n_features * spectrum.total
    has_rest = rest > rounding and not (spectrum.complete and relevant.all())
    return VarianceSplit(variances, max(rest, rounding) or 1.0, bool(has_rest), map is None)


class Statistics(NamedTuple):
    """T² and Q of rows, and bounds on their errors, 0 if they are not known. Q is None for a precomputed kernel."""

    t2: NDArray
    q: NDArray | None
    t2_error: NDArray
    q_error: NDArray | None


def measure_rows(model: FittedModel, split: VarianceSplit, rows: object, *, rounding: bool = False) -> Statistics:
    """T² and Q of rows in memory. Components whose variances are rounding belong to the rest."""
    projection = model.project(rows, rounding=rounding)
    assert projection is not None  # a model with a spectrum of variances has projections
    variances, scores, q = split.variances[projection.kept], projection.scores, projection.q
    t2 = hotelling_t2(scores, variances)
    if q is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            within = np.einsum("ij,ij->i", scores, scores)
            if split.by_difference:
                q = np.where(q <= _ROUNDINGS * (within + q), 0.0, q)
            beyond = scores[:, variances == 0]
            q = np.nan_to_num(q + np.einsum("ij,ij->i", beyond, beyond), nan=HUGE, posinf=HUGE)
    t2_error, q_error = _errors(projection, variances)
    return Statistics(t2, q, t2_error, q_error)


def _errors(projection: Projection, variances: NDArray) -> tuple[NDArray, NDArray | None]:
    """How far T² and Q are off if scores and squared distances are off by their bounds."""
    scores, error, q_error = projection.scores, projection.scores_error, projection.q_error
    if error is None:
        none = np.zeros(len(scores))
        return none, None if projection.q is None else none
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.nan_to_num((2 * np.abs(scores) + error) * error, nan=HUGE, posinf=HUGE)
        varies = variances > 0
        t2_error = np.minimum((squares[:, varies] / variances[varies]).sum(axis=1), HUGE)
        if q_error is not None:
            q_error = np.minimum(q_error + squares[:, ~varies].sum(axis=1), HUGE)
    return t2_error, q_error
