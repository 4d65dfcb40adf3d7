"""What PCA and IncrementalPCA share: scores and back, and the normal distribution that fits them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import HERE, Array, Home, as_narrow, dense, here, to_numpy
from mercer_old.blocks import cut
from mercer_old.certificates.residuals import Certificate
from mercer_old.errors import BadData, warn, warn_each
from mercer_old.fits.door import open_items
from mercer_old.fits.lazily import lazy_on_collections
from mercer_old.fits.linear.summing import OVERFLOW
from mercer_old.fits.linear.task import Axes
from mercer_old.fits.linear.units import about_range, certificate_in, squared_units
from mercer_old.inputs import table, told_where
from mercer_old.models.base import Model
from mercer_old.models.upstairs import WithRowsInFiles
from mercer_old.plans.plan import Plan
from mercer_old.readings.components import shares
from mercer_old.rounding import UNIT, UNIT_SINGLE
from mercer_old.solvers.base import signs_by
from mercer_old.sources.items import Items
from mercer_old.sources.weights import about_total_weight
from mercer_old.threads import blas_threads_for, run

_MOVED_ROWS = 2048  # rows that are moved to the mean and multiplied at once


@dataclass(frozen=True, eq=False)
class Exact:
    """What a model needs in double precision, whatever the rows are."""

    mean: Array
    columns: Array | None = None  # their variances, of divided columns if the rows were divided
    weight: float = 0.0  # of all rows

    def mean_for(self, public: Array) -> Array:
        """The mean behind a fitted name; if somebody has set another since, that one."""
        return self.mean if np.array_equal(as_narrow(self.mean, public.dtype), public) else public.astype(np.float64)


class LinearModel(WithRowsInFiles, Model):
    """Scores z = W((x − mean)/scale), x ≈ mean + scale·Wᵀz; W has orthonormal rows, and scale is 1 if not asked for."""

    whiten: bool
    components_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    singular_values_: Array
    mean_: Array
    scale_: Array
    n_components_: int
    n_features_in_: int
    feature_names_in_: Array
    noise_variance_: float
    total_variance_: float
    reconstruction_error_: float
    certificate_: Certificate
    plan_: Plan
    _dtype: Any = np.float64
    _exact: Exact | None = None  # of the fit; arrays that were set by hand have nothing behind them

    # ------------------------------------------------------------------ what a fit leaves behind

    def _keep(self, found: Axes, home: Home = HERE) -> None:
        """All fitted names that follow from the axes."""
        self.components_ = home.bring(as_narrow(_completed(found.axes, found.values > 0), self._dtype))
        self.plan_, self.certificate_ = found.plan, _stored(found, self._dtype)
        variances = squared_units(found.values * found.per_degree, found.unit)
        rest = squared_units(found.rest * found.per_degree, found.unit)
        arrays = {
            "explained_variance_": variances,
            "explained_variance_ratio_": shares(found.values, found.total),
            "singular_values_": np.sqrt(found.values) * found.unit,
            "mean_": found.mean,
        }
        for name, array in arrays.items():
            setattr(self, name, home.bring(as_narrow(array, self._dtype)))
        self.__dict__.pop("scale_", None)
        if found.scale is not None:
            self.scale_ = home.bring(found.scale.astype(self._dtype))
        self.n_components_ = len(variances)
        self.total_variance_ = squared_units(found.total * found.per_degree, found.unit)
        self.noise_variance_ = rest / max(1, found.all - len(variances))
        self.reconstruction_error_ = squared_units(found.rest / found.weight, found.unit)
        self._exact = Exact(found.mean, squared_units(found.spread * found.per_degree, found.unit), found.weight)
        few = about_total_weight(found.weight, found.count) if np.isnan(found.per_degree) else ""
        warn_each([few, *found.warnings, *about_range(found.values, variances)])

    @property
    def loadings_(self) -> Array:
        """The axes times standard deviations (d×k): the covariance of every column with every score of variance one.

        With ``standardize=True``, their correlations.
        """
        check_is_fitted(self)
        axes, variances = to_numpy(self.components_), to_numpy(self.explained_variance_)
        return axes.T * np.sqrt(variances)

    # ------------------------------------------------------------------ scores and back

    @lazy_on_collections
    def transform(self, X: Any) -> Array:
        """The scores of the rows of X: W((x − mean)/scale), each divided by its standard deviation if `whiten`.

        The mean is subtracted before the product, so a large one costs no digits. X may be a ``pathlib.Path`` or the
        result of `mercer.open_rows`, which are read block by block; sparse rows stay sparse.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            In single precision, if the rows and those of the fit are.
        """
        home = self._home_of_new(X, "transform")
        return home.bring(self._by_blocks(self._new_items(X)))

    def inverse_transform(self, X: Any) -> Array:
        """The rows with these scores in the plane of the axes: mean + scale·Wᵀz.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            The scores.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            In the units of the rows of the fit.
        """
        home = self._home_of_new(X, "inverse_transform")
        X = table(here(X))
        with told_where(X):
            scores = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        axes = self._number("components_")
        if scores.shape[1] != len(axes):
            raise ValueError(
                f"X has {scores.shape[1]} features, but the inverse transform is expecting {len(axes)}: one for each "
                "component."
            )
        if self.whiten:
            axes = self._deviations(axes)[:, None] * axes
        rows = self._product(scores, axes) * self._scale() + self._mean()
        return home.bring(rows.astype(np.result_type(scores.dtype, self._dtype), copy=False))

    def denoise(self, X: Any) -> Array:
        """The rows of X without what lies beside the axes: ``inverse_transform(transform(X))``.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Those of the plane of the axes that are nearest.
        """
        return self.inverse_transform(self.transform(X))

    def decorrelate(self, X: Any) -> Array:
        """X turned into the coordinates of all axes: nothing is lost, and the covariance of the scores is diagonal.

        Needs all components (``n_components=None`` and no fewer rows than columns); whitening is left out.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_features)
            As many columns as X has.
        """
        check_is_fitted(self)
        if self.n_components_ < self.n_features_in_:
            raise ValueError(
                f"decorrelate turns all {self.n_features_in_} columns, but only {self.n_components_} components were "
                "kept: fit with n_components=None, on at least as many rows as columns."
            )
        complete = LinearModel._new_items(self, X)  # what is missing has no coordinates, whatever a model makes of it
        return self._by_blocks(complete, lambda rows, threads: self._projected(rows, threads, False))

    def _home(self) -> Home:
        return Home.of(self.components_)

    def _new_items(self, X: Any) -> Items:
        check_is_fitted(self)
        return open_items(self, X, reset=False, mapped=True)

    def _scores(self, rows: Any, threads: int) -> Array:
        return self._projected(rows, threads, self.whiten)

    def _dtype_of_scores(self, items: Any) -> Any:
        return np.float32 if items.dtype == np.float32 and self._dtype == np.float32 else np.float64

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is told in a sentence
    def _projected(self, rows: Any, threads: int, whiten: bool) -> Array:
        """Scores of rows in memory, by pieces."""
        axes, mean = self._number("components_") / self._scale(), self._mean()
        if whiten:
            deviations = self._deviations(axes)
            axes = axes * np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)[:, None]
        if sparse.issparse(rows):
            return rows @ axes.T - axes @ mean
        dtype = self._dtype_of_scores(rows)
        out, turned = np.empty((len(rows), len(axes)), dtype=dtype), np.ascontiguousarray(axes.T.astype(dtype))

        @np.errstate(over="ignore", invalid="ignore")  # also in its own thread
        def work(piece: slice) -> None:
            moved = np.empty(rows[piece].shape, dtype=dtype)
            np.subtract(rows[piece], mean, out=moved, casting="same_kind")
            np.matmul(moved, turned, out=out[piece])

        run(work, cut(len(rows), _MOVED_ROWS), threads)
        return out

    def _product(self, A: Array, B: Array) -> Array:
        """AB on as many threads as its size is worth."""
        with self._within_limits(), blas_threads_for(A.size * B.shape[1]):
            return A @ B

    def _scale(self) -> Any:
        return self._number("scale_") if hasattr(self, "scale_") else 1.0

    def _mean(self) -> Array:
        public = to_numpy(self.mean_)
        return public.astype(np.float64) if self._exact is None else self._exact.mean_for(public)

    def _deviations(self, axes: Array) -> Array:
        """Along the axes."""
        variances = self._number("explained_variance_")
        if len(variances) != len(axes):
            raise BadData(
                f"There are {len(axes)} components_ and {len(variances)} entries of explained_variance_, which "
                "whitening divides by: set both names."
            )
        return np.sqrt(variances)

    def _number(self, name: str) -> Array:
        """A fitted array in double precision."""
        return to_numpy(getattr(self, name)).astype(np.float64, copy=False)

    # ------------------------------------------------------------------ the normal distribution that fits

    def get_covariance(self) -> Array:
        """Wᵀ diag(λ − σ²) W + σ²I: that of probabilistic PCA, with σ² = ``noise_variance_``, in the units of X.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            Of the columns.
        """
        check_is_fitted(self)
        along, noise, axes = self._variances()
        covariance = self._product(axes.T * (along - noise), axes)
        covariance.flat[:: len(covariance) + 1] += noise
        return self._as_fitted(covariance * np.multiply.outer(self._scales(), self._scales()))

    def get_precision(self) -> Array:
        """The inverse of `get_covariance`; of directions without variance nothing is said, as in a pseudo-inverse.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            Its inverse.
        """
        check_is_fitted(self)
        inverse, rest, axes = self._inverse_variances()
        precision = self._product(axes.T * (inverse - rest), axes)
        precision.flat[:: len(precision) + 1] += rest
        return self._as_fitted(precision / np.multiply.outer(self._scales(), self._scales()))

    def score_samples(self, X: Any) -> Array:
        """The log-likelihood of every row under that distribution.

        −½[d·log 2π + log|C| + (x − mean)ᵀC⁻¹(x − mean)], from the scores: no d×d matrix is made.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        likelihoods : ndarray of shape (n_samples,)
            Their logarithms.
        """
        self._home_of_new(X, "score_samples")
        parts = [scores for _, scores in self._scored(self._new_items(X), self._likelihood(), whole=False)]
        return self._as_fitted(np.concatenate(parts))

    def _likelihood(self) -> Callable[[Any, int], Array]:
        """From rows in memory, by blocks, as every one is made dense, to their log-likelihoods."""
        inverse, rest, axes = self._inverse_variances()
        factors = np.append(inverse, np.full(self.n_features_in_ - len(inverse), rest))
        there = factors > 0
        constant = np.log(factors[there]).sum() - 2 * np.log(self._scales()).sum() - there.sum() * np.log(2 * np.pi)

        def likelihood(block: Any, threads: int) -> Array:
            moved = (dense(block) - self._mean()) / self._scales()
            scores = moved @ axes.T
            with np.errstate(over="ignore", invalid="ignore"):
                distances = scores**2 @ (inverse - rest) + rest * np.einsum("ij,ij->i", moved, moved)
            if not np.isfinite(distances).all():
                raise BadData(OVERFLOW)
            return (constant - distances) / 2

        return likelihood

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows: what model selection compares.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        likelihood : float
            The mean of `score_samples`.
        """
        return float(np.mean(to_numpy(self.score_samples(X))))

    def _variances(self) -> tuple[Array, float, Array]:
        """Along every axis, around them, and the axes. (Whitened models are scikit-learn's: λ(λ − σ²) + σ².)"""
        variances, noise = self._number("explained_variance_"), float(self.noise_variance_)
        along = np.maximum(variances - noise, 0.0) * (variances if self.whiten else 1.0)
        return along + noise, noise, self._number("components_")

    def _inverse_variances(self) -> tuple[Array, float, Array]:
        along, noise, axes = self._variances()
        floor = np.finfo(float).eps * along.max(initial=noise)
        nothing = int(np.sum(along <= floor)) + (self.n_features_in_ - len(along) if noise <= floor else 0)
        if nothing:
            warn(
                f"The covariance is singular: {nothing} of {self.n_features_in_} directions have no variance. The "
                "likelihood is that of the others; keep fewer components for a proper one."
            )
        inverse = np.divide(1.0, along, out=np.zeros_like(along), where=along > floor)
        return inverse, 1 / noise if noise > floor else 0.0, axes

    def _scales(self) -> Array:
        return np.broadcast_to(self._scale(), (self.n_features_in_,))

    def _as_fitted(self, array: Array) -> Array:
        return self._home().bring(array.astype(self._dtype, copy=False))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def _completed(axes: Array, there: Array) -> Array:
    """Axes without variance are any at right angles to the others: always the same, whatever way they were found by.

    So they depend on the others alone, and not on how often a row came, the processor or the solver.
    """
    if there.all():
        return axes
    kept = axes[there].T
    fill = np.random.default_rng(0).standard_normal((axes.shape[1], int(np.sum(~there))))
    for _ in range(2):
        fill, R = np.linalg.qr(fill - kept @ (kept.T @ fill))
        fill *= np.where(np.diag(R) < 0, -1.0, 1.0)
    out = axes.copy()
    out[~there] = (fill * signs_by(fill)).T
    return out


def _stored(found: Axes, dtype: Any) -> Any:
    """The certificate of what the model keeps: in the unit of the rows, and of axes that were rounded to be stored."""
    rounded = 4 * (UNIT_SINGLE if dtype == np.float32 else UNIT)
    certificate = certificate_in(found.certificate, found.unit)
    return replace(certificate, angles=np.minimum(certificate.angles + rounded, 1.0))
