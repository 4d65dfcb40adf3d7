"""Kernel PCA from the inside: from rows to fitted names, and from new rows to scores."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, Home, here, to_numpy
from mercer_old.certificates.intervals import IntervalCertificate
from mercer_old.certificates.residuals import Certificate
from mercer_old.drop_in.current import Current
from mercer_old.errors import counted, warn, warn_each
from mercer_old.fits.door import open_items
from mercer_old.fits.kernel.certified import find_certified
from mercer_old.fits.kernel.landmarks import find_by_landmarks
from mercer_old.fits.kernel.opening import is_precomputed, open_task
from mercer_old.fits.kernel.place import about_moving, place
from mercer_old.fits.kernel.scale import sense_of_scale
from mercer_old.fits.kernel.task import Components, Task
from mercer_old.fits.scale import in_units, in_units_of_input
from mercer_old.fits.training import Training
from mercer_old.kernels import Kernel
from mercer_old.kernels.base import kind_of_items
from mercer_old.kernels.check import refuse_non_finite
from mercer_old.kernels.domain import without_negative
from mercer_old.models.base import all_or_nothing
from mercer_old.models.similar import FindsSimilar
from mercer_old.plans.kernel import choose_plan
from mercer_old.plans.pace import plan_ahead
from mercer_old.plans.plan import Plan
from mercer_old.readings.preimage import learn_inverse
from mercer_old.sources.held import by_columns
from mercer_old.sources.items import Items
from mercer_old.sources.weights import about_total_weight
from mercer_old.sums import row_squares
from mercer_old.threads import one_blas_thread
from mercer_old.unpromised import fits


class KernelModel(FindsSimilar):
    """What `KernelPCA` does with its parameters."""

    eigenvalues_: Array
    eigenvectors_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    total_variance_: float
    certificate_: Certificate | IntervalCertificate
    plan_: Plan
    kernel_: Kernel
    gamma_: float
    X_fit_: Any
    scale_: Array
    landmarks_: Any
    landmark_indices_: Array
    dual_coef_: Array
    X_transformed_fit_: Array
    n_features_in_: int
    feature_names_in_: Array

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, Array | None]:
        training = self._fit(X, sample_weight)
        return self._of_items_that_count(training.all_items), self._training if training.given is None else None

    def _fit(self, X: Any, sample_weight: Any) -> Training:
        """From items to fitted names; what it returns are those that were learned from."""
        limits = self._limits()
        with one_blas_thread(limits.threads):
            task = open_task(self, X, sample_weight, limits)
            plan = place(choose_plan(task.problem, task.limits), task)
            if not plan.streams:
                task = replace(task, training=task.training.in_memory(plan.cut))
            found = find_by_landmarks(task, plan) if plan.held == "landmarks" else find_certified(task, plan)
            warnings = sense_of_scale(found, task.kernel, self, getattr(self, "feature_names_in_", None))
            self._keep(replace(found, warnings=warnings), task)
            if self.fit_inverse_transform:
                self._learn_inverse(task, found)
        return task.training

    def _keep(self, found: Components, task: Task) -> None:
        """All fitted names, in one place; those that this fit does not have are forgotten."""
        training, home, per_degree = task.training, task.home, found.per_degree_of_freedom()
        self._forget_search()
        self.kernel_, self.gamma_, scale = task.kernel, task.gamma, training.scale
        self._kept_items, self._dtype = training.kept, task.dtype
        names = {
            "plan_": found.plan,
            "certificate_": found.certificate,
            "eigenvalues_": found.values,
            "eigenvectors_": found.vectors,
            "total_variance_": found.total * per_degree,
            "explained_variance_": found.values * per_degree,
            "explained_variance_ratio_": found.ratios,
            "X_fit_": found.rows,
            "scale_": None if scale is None else scale.astype(self._dtype),
            "landmarks_": in_units_of_input(found.landmarks, scale),
            "landmark_indices_": found.landmark_indices,
            "dual_coef_": None,
            "X_transformed_fit_": None,
            "n_samples_seen_": None,
            "_stream": found.stream,
            "_kept_ways": None,
        }
        for name, value in names.items():
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, home.bring(value))
        self._projection = Current.of(self, found.projection, found.centring, found.scores)
        warn_each(
            [
                about_total_weight(found.total_weight, found.n),
                found.plan.notice,
                about_moving(found.plan, home),
                *training.notes,
                *found.warnings,
            ]
        )
        certificate, approximate = found.certificate, found.plan.approximate
        if isinstance(certificate, Certificate) and not (certificate.converged or approximate):
            warn(
                f"The solver stopped after {counted(certificate.passes, 'pass')} before every component met the "
                "tolerance; see certificate_. Give a larger max_iter or tol.",
                ConvergenceWarning,
            )

    def _learn_inverse(self, task: Task, found: Components) -> None:
        """The way back from scores to rows: to those that were fitted, or to the landmarks, in the units of X."""
        threads = task.limits.threads
        scores: Any = self._training
        if found.landmarks is None:
            rows, weights = task.training.data, task.training.weights
        else:  # of all the others, none is read again
            rows, weights, scores = found.landmarks, None, found.projection.scores(found.landmarks, threads)
        coefficients = learn_inverse(self.kernel_, scores, rows, self.alpha, weights, threads)
        if task.training.scale is not None:
            coefficients *= task.training.scale
        for name, array in (("X_transformed_fit_", scores), ("dual_coef_", coefficients)):
            setattr(self, name, task.home.bring(array.astype(self._dtype)))

    # ------------------------------------------------------------------ using

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        task = open_task(self, X, sample_weight, self._limits(), look=False)
        return place(plan_ahead(task.problem, task.kernel, task.training.items, task.limits), task)

    def _scores(self, rows: Any, threads: int) -> Array:
        return self._finish(self._projection.now(self).scores(rows, threads))

    def _new_items(self, X: Any) -> Items:
        check_is_fitted(self)
        items = open_items(self, X, reset=False, square=is_precomputed(self), kind=kind_of_items(self.kernel))
        self.kernel_.admit(items, items.label)
        if self.kernel_.non_negative:
            items = without_negative(items, self.kernel_, self)
        return self._of_items_that_count(in_units(items, getattr(self, "scale_", None)))

    def _of_items_that_count(self, items: Items) -> Items:
        """Of a kernel matrix, the columns of items with a weight; others as they are."""
        return items if self._kept_items is None else items.against(self._kept_items)

    def _finish(self, scores: Array) -> Array:
        refuse_non_finite(scores, self.kernel_)
        return scores.astype(self._dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the variance of the rows of X that the components capture, with the training mean.

        Σ scores² over Σ ‖φ(x) − mean‖² with ‖φ(x) − mean‖² = k(x, x) − 2·mean_j k(x, xⱼ) + mean_ij k(xᵢ, xⱼ): between
        0 and 1 for any Mercer kernel, the higher the better. Of the training rows of an exact fit it is the sum of
        ``explained_variance_ratio_``; of rows held out it is less, by what was fitted to chance. It is what a grid
        search maximises. A wide kernel sees little and captures most of it, so `mercer.tune` compares kernels and
        bandwidths by their errors in the units of X instead.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows, best those that were held out.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        share : float
            Zero where there is nothing to capture; nan if the kernel turned out not to be positive semi-definite.

        Examples
        --------
        >>> from mercer import KernelPCA
        >>> from mercer.datasets import rings
        >>> X, ring = rings(60)
        >>> model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X[::2])
        >>> bool(0 < model.score(X[1::2]) < 1)
        True
        """
        self._home_of_new(X, "score")
        captured = total = 0.0
        for _, squares in self._scored(self._new_items(X), self._squares, whole=False):
            captured, total = captured + float(squares[:, 0].sum()), total + float(squares[:, 1].sum())
        if np.isnan(to_numpy(self.explained_variance_ratio_)).any():
            return float("nan")
        return captured / max(total, captured) if captured > 0 else 0.0

    def _squares(self, rows: Any, threads: int) -> Array:
        """Of each row Σ scores² and ‖φ(x) − mean‖²."""
        scores, squares = self._projection.now(self).scores_and_lengths(rows, threads)
        refuse_non_finite(scores, self.kernel_)
        return np.column_stack([row_squares(scores), squares])

    # ------------------------------------------------------------------ scikit-learn's ways

    @property
    def _centerer(self) -> Any:
        """scikit-learn's private name; PyOD reads it."""
        from mercer_old.drop_in.as_sklearn import centerer_of

        return centerer_of(self)

    def _get_kernel(self, X: Any, Y: Any = None) -> Array:
        """Another one: the kernel between rows in the units of the input, or of X_fit_, which is divided already."""
        if is_precomputed(self):
            return np.asarray(X)
        X, Y = self._as_fitted(X), self._as_fitted(X if Y is None else Y)
        return self.kernel_.block(X, Y)

    def _as_fitted(self, rows: Any) -> Any:
        """Rows in memory with their columns divided; X_fit_, and views of it, as they are."""
        scale, fitted = here(getattr(self, "scale_", None)), getattr(self, "X_fit_", None)
        if scale is None or rows is fitted:
            return here(rows)
        rows, fitted = rows if sparse.issparse(rows) else to_numpy(rows), here(fitted)
        dense = isinstance(rows, np.ndarray) and isinstance(fitted, np.ndarray)
        return rows if dense and np.may_share_memory(rows, fitted) else by_columns(np.divide, rows, scale)

    def _home(self) -> Home:
        return Home.of(self.eigenvalues_)

    @property
    def _n_features_out(self) -> int:
        return self.eigenvalues_.shape[0]
