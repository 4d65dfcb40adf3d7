"""What linear estimators share: attributes of a fit, scores and inverse, the normal distribution that fits."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.contract import Eigenspectrum, LinearMap, Projection
from mercer.data.conversion import check_numbers
from mercer.data.dataset import Dataset
from mercer.errors import DataError, warn, warn_each
from mercer.estimators._base import COMMON_ATTRIBUTES, Estimator, numbered
from mercer.estimators._linear_solve import OVERFLOW, LinearProblem, PrincipalAxes
from mercer.linalg.eigen import column_signs
from mercer.numerics.blocking import block_rows, slices
from mercer.numerics.rounding import TINY, UNIT, UNIT_SINGLE, gamma
from mercer.numerics.threads import parallel
from mercer.storable import Stored

_HUGE = float(np.finfo(float).max)
_ROWS = 2048  # rows that are centered and multiplied at once

LINEAR_ATTRIBUTES = (
    *COMMON_ATTRIBUTES,
    Stored("components_", "float", "kd"),
    Stored("explained_variance_", "float", "k", finite=False),
    Stored("explained_variance_ratio_", "float", "k"),
    Stored("singular_values_", "float", "k"),
    Stored("mean_", "float", "d"),
    Stored("scale_", "positive", "d", optional=True),
    Stored("total_variance_", "number", finite=False),
    Stored("noise_variance_", "number", finite=False),
    Stored("reconstruction_error_", "number"),
    Stored("_mean64", "float", "d"),
    Stored("_eigenvalues", "float", "k"),
    Stored("_feature_squares", "float", "d"),
    Stored("_total_weight", "number"),
    Stored("_n_possible", "count"),
)


class LinearEstimator(Estimator):
    """Scores z = W((x − mean)/scale), x ≈ mean + scale·Wᵀz; W has orthonormal rows."""

    checks_finite_itself = True  # sums show what is not finite
    whiten: bool
    accepts_integers = True
    _ddof = 1  # variances divide by Σw − _ddof

    # ------------------------------------------------------------------ attributes of a fit

    def _linear_problem(
        self, data: Dataset, weights: NDArray | None, n_components: Any, **options: Any
    ) -> LinearProblem:
        """Data and parameters of a fit."""
        names = getattr(self, "feature_names_in_", None)
        return LinearProblem(data, weights, n_components, self._rng(), names, self.progress, **options)

    def _store(self, found: PrincipalAxes, dtype: Any) -> None:
        """Set the fitted attributes, and warn."""
        moments, unit, degrees = found.moments, found.unit, found.moments.total_weight - self._ddof
        if degrees <= 1e-12:  # weights that add up to one may exceed it by rounding
            degrees = np.inf if moments.n_samples == 1 else np.nan  # variances of 0 and NaN
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            variances = found.eigenvalues / degrees * unit * unit
            total, dropped = found.total / degrees * unit * unit, found.dropped / degrees * unit * unit
            self.reconstruction_error_ = float(found.dropped / moments.total_weight * unit * unit)
            self._eigenvalues = found.eigenvalues * unit * unit
            self._feature_squares = moments.feature_squares * unit * unit
        ratio = found.eigenvalues / found.total if found.total > 0 else np.zeros(len(variances))
        self.components_ = cast_if_representable(completed(found.axes, found.eigenvalues > 0), dtype)
        self.explained_variance_ = cast_if_representable(variances, dtype)
        self.explained_variance_ratio_ = cast_if_representable(ratio, dtype)
        self.singular_values_ = cast_if_representable(np.sqrt(found.eigenvalues) * unit, dtype)
        self.mean_ = cast_if_representable(moments.mean, dtype)
        if moments.scale is not None:
            self.scale_ = cast_if_representable(moments.scale, dtype)
        self.n_components_, self.n_samples_, self.total_variance_ = len(variances), moments.n_samples, float(total)
        self.noise_variance_ = float(dropped / max(1, found.n_possible - len(variances)))
        self.plan_ = found.plan
        stored_unit = UNIT_SINGLE if np.dtype(dtype) == np.float32 else UNIT
        self.certificate_ = found.certificate.for_attributes(unit, stored_unit)
        self._mean64, self._total_weight, self._n_possible = moments.mean, moments.total_weight, found.n_possible
        if np.isnan(degrees):
            warn(f"The sample weights sum to {self._total_weight:.3g}, so variances are NaN. Scale the weights up.")
        warn_each(found.warnings)
        n_lost = int(np.sum((found.eigenvalues > 0) & (variances < TINY))) if unit != 1 else 0
        if n_lost:
            lost = f"{n_lost} of {len(variances)} variances underflow."
            warn(f"{lost} Singular values, ratios and scores are correct.")

    @property
    def loadings_(self) -> NDArray:
        """Axes times standard deviations, (n_features, n_components); correlations if standardized."""
        check_is_fitted(self)
        return self.components_.T * np.sqrt(self.explained_variance_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    # ------------------------------------------------------------------ scores and inverse

    def _scores(self, rows: Any, n_threads: int) -> NDArray:
        return self._project(rows, n_threads, self.whiten, self._score_dtype(rows))

    def iter_scores(self, data: Dataset, *, whiten: bool | None = None) -> Iterator[tuple[int, NDArray]]:
        """The first row and the scores of each block; ``whiten=False``: in float64 and not whitened."""
        if whiten is None:
            yield from super().iter_scores(data)
            return
        yield from numbered(data.map_blocks(self._project, 1, whiten, np.float64, size=block_rows(data.shape[1])))

    def _score_dtype(self, data: Any) -> Any:
        single = data.dtype == np.float32 and self.components_.dtype == np.float32
        return np.float32 if single else np.float64

    def _project(self, rows: Any, n_threads: int, whiten: bool, dtype: Any) -> NDArray:
        """Scores of rows in memory. The mean is subtracted before the product, so a large one costs no digits."""
        map = self.linear_map() if whiten == self.whiten else self._map(whiten)
        with np.errstate(over="ignore", invalid="ignore"):
            axes = map.encoder / map.scale
        if sparse.issparse(rows):
            return (rows @ axes.T - axes @ map.mean).astype(dtype, copy=False)
        transposed = np.ascontiguousarray(axes.T, dtype=dtype)
        out = np.empty((len(rows), len(axes)), dtype=dtype)
        high = map.mean.astype(dtype, copy=False)
        low = None if high is map.mean else (map.mean - high).astype(dtype)  # what float32 takes from the mean

        def project(piece: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                moved = np.subtract(rows[piece], high, dtype=dtype, casting="same_kind")
                if low is not None:
                    moved -= low
                np.matmul(moved, transposed, out=out[piece])

        parallel(project, slices(len(rows), _ROWS), n_threads)
        return out

    def inverse_transform(self, X: Any) -> NDArray:
        """Return the rows with these scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Rows in the subspace of the components, in the units of X.
        """
        check_is_fitted(self)
        check_numbers(X, "X")
        scores = check_array(X, input_name="X", dtype=[np.float64, np.float32], ensure_min_features=0)
        map = self.linear_map()
        if scores.shape[1] != len(map.decoder):
            raise DataError(
                f"X has {scores.shape[1]} features, "
                f"but inverse_transform expects {len(map.decoder)}: one per component."
            )
        rows = (scores @ map.decoder) * map.scale + map.mean
        return rows.astype(np.result_type(scores.dtype, self.components_.dtype), copy=False)

    # ------------------------------------------------------------------ the contract

    def linear_map(self) -> LinearMap:
        """The affine map of the model, from its attributes as they are now."""
        return self._map(self.whiten)

    def _map(self, whiten: bool) -> LinearMap:
        axes = np.asarray(self.components_, dtype=np.float64)
        scale = np.asarray(self.scale_, np.float64) if hasattr(self, "scale_") else np.ones(axes.shape[1])
        encoder = decoder = axes
        if whiten:
            deviations = self._deviations(axes)
            inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
            encoder, decoder = axes * inverse[:, None], axes * deviations[:, None]
        return LinearMap(self._current_mean(), scale, axes, encoder, decoder)

    def _deviations(self, axes: NDArray) -> NDArray:
        """Standard deviations along the axes."""
        deviations = np.sqrt(np.asarray(self.explained_variance_, np.float64))
        if len(deviations) != len(axes):
            raise DataError(
                f"components_ has {len(axes)} rows and explained_variance_ has {len(deviations)} entries. "
                "Set both attributes."
            )
        return deviations

    def _current_mean(self) -> NDArray:
        """The mean in float64; if the user replaced `mean_`, that one."""
        exact, public = getattr(self, "_mean64", None), np.asarray(self.mean_)
        if exact is not None and np.array_equal(cast_if_representable(exact, public.dtype), public):
            return exact
        return public.astype(np.float64)

    def spectrum(self) -> Eigenspectrum:
        """Eigenvalues of the scatter matrix with their intervals."""
        certificate, degrees = self.certificate_, self._total_weight - self._ddof
        known: dict[str, Any] = {"lower": np.full(self.n_components_, np.nan)}
        known["upper"] = known["lower"]
        if hasattr(certificate, "lower"):
            known = {name: getattr(certificate, name) for name in ("lower", "upper", "bound_beyond", "unresolved")}
            known["total_error"] = certificate.trace_error(self.total_variance_ * max(degrees, 0.0))
        return Eigenspectrum(
            eigenvalues=self._eigenvalues,
            variances=np.asarray(self.explained_variance_, np.float64),
            total=self.total_variance_,
            complete=self.n_components_ >= self._n_possible,
            total_weight=self._total_weight,
            ddof=self._ddof,
            feature_variances=self._feature_squares / (degrees if degrees > 0 else np.nan),
            **known,
        )

    def project(self, rows: Any, *, rounding: bool = False) -> Projection:
        """Scores without whitening, and squared distances from the subspace; with `rounding`, bounds on their errors.

        Squares that overflow are the largest number. Distances that are rounding are zero.
        """
        map = self._map(False)
        kept = self._deviations(map.axes) > 0
        axes = map.axes[kept]
        dense = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
        unit = UNIT_SINGLE if self.components_.dtype == np.float32 else UNIT
        relative = gamma(map.axes.shape[1] + 8) + 4 * unit
        with np.errstate(over="ignore", invalid="ignore"):
            moved = dense - map.mean
            if hasattr(self, "scale_"):
                moved /= map.scale
            scores = moved @ axes.T
            lengths = np.sqrt(np.einsum("ij,ij->i", moved, moved))
            if not np.isfinite(lengths).all():  # squares that overflow
                lengths = np.hypot.reduce(moved, axis=1)
            moved -= scores @ axes
            q = np.einsum("ij,ij->i", moved, moved)
            is_rounding = np.isfinite(lengths) & (np.sqrt(q) <= relative * lengths)
            q = np.where(is_rounding, 0.0, np.nan_to_num(q, nan=_HUGE))
            if not rounding:
                return Projection(scores, q, kept)
            error = np.nan_to_num(relative * lengths, nan=_HUGE)
            q_error = np.nan_to_num(2 * np.sqrt(q) * error + error**2, nan=_HUGE)
        return Projection(scores, q, kept, np.repeat(error[:, None], scores.shape[1], 1), q_error)

    # ------------------------------------------------------------------ the normal distribution

    def get_covariance(self) -> NDArray:
        """Return Wᵀ diag(λ − σ²) W + σ²I in the units of X, with σ² = ``noise_variance_``.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            Covariance of the columns under the model.
        """
        check_is_fitted(self)
        along, noise, axes = self._variances()
        covariance = (axes.T * (along - noise)) @ axes
        covariance.flat[:: len(covariance) + 1] += noise
        scale = self._map(False).scale
        return cast_if_representable(covariance * np.multiply.outer(scale, scale), self.components_.dtype)

    def get_precision(self) -> NDArray:
        """Return the inverse of `get_covariance`; directions without variance are left out.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            Inverse, or pseudo-inverse, of the covariance.
        """
        check_is_fitted(self)
        inverse, outside, axes = self._inverse_variances()
        precision = (axes.T * (inverse - outside)) @ axes
        precision.flat[:: len(precision) + 1] += outside
        scale = self._map(False).scale
        return cast_if_representable(precision / np.multiply.outer(scale, scale), self.components_.dtype)

    def score_samples(self, X: Any) -> NDArray:
        """Return the log-likelihood of each row under the normal distribution with `get_covariance`.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            Log-likelihood of each row.
        """
        data = self.open(X)
        parts = list(data.map_blocks(self._log_density(), size=block_rows(data.shape[1])))
        return np.concatenate(parts).astype(self.components_.dtype, copy=False)

    def _log_density(self) -> Callable[[Any], NDArray]:
        """The function that gives the log-likelihood of each row of a block."""
        inverse, outside, axes = self._inverse_variances()
        factors = np.append(inverse, np.full(self.n_features_in_ - len(inverse), outside))
        present, map = factors > 0, self._map(False)
        constant = np.log(factors[present]).sum() - 2 * np.log(map.scale).sum() - present.sum() * np.log(2 * np.pi)
        arguments = dict(mean=map.mean, scale=map.scale, axes=axes, inverse=inverse, outside=outside, constant=constant)
        return partial(log_likelihood, **arguments)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        log_likelihood : float
            Mean of `score_samples`.
        """
        return float(np.mean(self.score_samples(X)))

    def _variances(self) -> tuple[NDArray, float, NDArray]:
        """Variances along the axes and outside them, and the axes; whitened models follow scikit-learn."""
        variances, noise = np.asarray(self.explained_variance_, np.float64), float(self.noise_variance_)
        along = np.maximum(variances - noise, 0.0) * (variances if self.whiten else 1.0)
        return along + noise, noise, np.asarray(self.components_, np.float64)

    def _inverse_variances(self) -> tuple[NDArray, float, NDArray]:
        along, noise, axes = self._variances()
        floor = np.finfo(float).eps * along.max(initial=noise)
        n_missing = int(np.sum(along <= floor)) + (self.n_features_in_ - len(along) if noise <= floor else 0)
        if n_missing:
            warn(
                f"The covariance is singular: {n_missing} of {self.n_features_in_} directions have no "
                "variance. They are left out of the likelihood. Keep fewer components."
            )
        inverse = np.divide(1.0, along, out=np.zeros_like(along), where=along > floor)
        return inverse, 1 / noise if noise > floor else 0.0, axes


def log_likelihood(
    rows: Any, mean: NDArray, scale: NDArray, axes: NDArray, inverse: NDArray, outside: float, constant: float
) -> NDArray:
    """Logarithms of the normal density with these inverse variances along the axes and outside them."""
    moved = ((rows.toarray() if sparse.issparse(rows) else rows) - mean) / scale
    scores = moved @ axes.T
    with np.errstate(over="ignore", invalid="ignore"):
        distances = scores**2 @ inverse
        if outside:  # of what the axes leave, since ‖moved‖² minus the squares of scores may cancel
            moved -= scores @ axes
            distances += outside * np.einsum("ij,ij->i", moved, moved)
    if not np.isfinite(distances).all():
        raise DataError(OVERFLOW)
    return (constant - distances) / 2


def cast_if_representable(array: NDArray, dtype: Any) -> NDArray:
    """The array in this type, or as it is if a value would over- or underflow."""
    if array.dtype == dtype:
        return array
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = array.astype(dtype)
        lost = (np.isinf(narrow) & np.isfinite(array)) | ((np.abs(narrow) < np.finfo(dtype).tiny) & (array != 0))
    return array if lost.any() else narrow


def completed(axes: NDArray, kept: NDArray) -> NDArray:
    """Axes without variance replaced by a fixed orthonormal completion of the others."""
    if kept.all():
        return axes
    known = axes[kept].T
    fill = np.random.default_rng(0).standard_normal((axes.shape[1], int(np.sum(~kept))))
    for _ in range(2):
        fill, R = np.linalg.qr(fill - known @ (known.T @ fill))
        fill *= np.where(np.diag(R) < 0, -1.0, 1.0)
    out = axes.copy()
    out[~kept] = (fill * column_signs(fill)).T
    return out
