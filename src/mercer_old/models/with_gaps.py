"""Rows with gaps: what a normal distribution says of them, and how one is fitted to them."""

from collections.abc import Callable
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, Home, as_narrow, dense, single_or_double
from mercer_old.certificates.filling import FillingCertificate
from mercer_old.certificates.residuals import Certificate
from mercer_old.errors import BadData, are, counted, in_short, warn, warn_each
from mercer_old.fits.door import open_items, read_once
from mercer_old.fits.gaps.columns import any_gaps, refuse_sparse_gaps
from mercer_old.fits.gaps.finding import find_factors
from mercer_old.fits.gaps.reading import Reading
from mercer_old.fits.gaps.task import Answer, GapsFound, GapsTask
from mercer_old.fits.gaps.telling import about_climb, certificate_of
from mercer_old.fits.lazily import rows_promised
from mercer_old.fits.linear.summing import OVERFLOW
from mercer_old.fits.linear.units import squared_units
from mercer_old.fits.training import Training, weigh
from mercer_old.models.base import generator_of
from mercer_old.models.linear import Exact
from mercer_old.models.pca import AtOnce
from mercer_old.models.upstairs import WithFilledFiles
from mercer_old.plans.gaps import gaps_plan
from mercer_old.plans.plan import Plan
from mercer_old.plans.sizes import Spread
from mercer_old.rounding import TINY
from mercer_old.solvers.expectation import Expectation
from mercer_old.sources.collections import is_collection
from mercer_old.sources.items import Items, all_finite
from mercer_old.sweeps.factors import Factors

_LEAST_NOISE = 1e-12  # of the largest variance: what stands for no noise where numbers are missing
_TOL = 1e-5  # nats for each number that is there: what a pass has to gain


class FillsGaps(WithFilledFiles, AtOnce):
    """A linear model of which rows may have gaps: NaN, masked, null, or an empty cell of a file."""

    def _new_items(self, X: Any) -> Items:
        check_is_fitted(self)
        return open_items(self, X, reset=False, mapped=True, gaps=True)

    # ------------------------------------------------------------------ scores

    def _scores(self, rows: Any, threads: int) -> Array:
        """E[t | x]: those of PCA, each times 1 − σ²/λ; of rows with gaps, given what is there."""

        def of_complete(some: Any) -> Array:
            return self._projected(some, threads, False) * self._shrinkage().astype(self._dtype_of_scores(rows))

        def of_gapped(some: Array) -> Array:
            found = Reading.of(self._factors(), self._moved(some)).scores()
            return found if self.whiten else found * self._lengths()

        return _each_by_its_own(rows, of_complete, of_gapped)

    def _lengths(self) -> Array:
        """√(λ − σ²): of the columns of the loadings."""
        variances, noise, _ = self._variances()
        return np.sqrt(np.maximum(variances - noise, 0.0))

    def _shrinkage(self) -> Array:
        """From scores of PCA to posterior means."""
        variances, _, _ = self._variances()
        lengths = self._lengths()
        top = lengths if self.whiten else lengths**2
        return np.divide(top, variances, out=np.zeros_like(variances), where=variances > 0)

    def _variances(self) -> tuple[Array, float, Array]:
        variances, noise = self._number("explained_variance_"), float(self.noise_variance_)
        return np.maximum(variances, noise), noise, self._number("components_")

    def _deviations(self, axes: Array) -> Array:
        super()._deviations(axes)  # with words, where there are not as many
        return self._lengths()

    def _factors(self) -> Factors:
        """Of rows that are moved to the mean and divided by the scale; without any noise, with next to none."""
        variances, noise, axes = self._variances()
        least = _LEAST_NOISE * float(variances.max(initial=0.0))
        return Factors(axes.T * self._lengths(), max(noise, least) or 1.0, np.zeros(axes.shape[1]))

    def _moved(self, rows: Any) -> Array:
        return np.asarray((dense(rows, np.float64) - self._mean()) / self._scales())

    def posterior(self, X: Any) -> tuple[Array, Array]:
        """The scores of every row as a normal distribution, given what is there of the row.

        For z with the prior N(0, I), of the observed columns O: covariance C = (I + W_OᵀW_O/σ²)⁻¹ and mean
        C·W_Oᵀ(x_O − mean_O)/σ². Of a row without any number they are those of the prior. As in `transform`, they are in
        the units of the data, t = (Λ − σ²I)^½ z, unless `whiten`.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows, which may have gaps.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_components)
            As `transform` has it.
        covariance : ndarray of shape (n_samples, n_components, n_components)
            Of complete rows, it is the same for all.
        """
        parts, factors = [], self._factors()
        lengths = np.ones(factors.k) if self.whiten else self._lengths()
        for _, moved in self._scored(self._new_items(X), lambda rows, threads: self._checked(rows), whole=False):
            reading = Reading.of(factors, moved)
            parts.append((reading.scores() * lengths, reading.covariances() * np.multiply.outer(lengths, lengths)))
        means, covariances = (np.concatenate(part) for part in zip(*parts, strict=True))
        return means, covariances

    def _checked(self, rows: Any) -> Array:
        if sparse.issparse(rows):
            refuse_sparse_gaps(rows)
        return self._moved(rows)

    # ------------------------------------------------------------------ densities

    def _likelihood(self) -> Callable[[Any, int], Array]:
        """Of what is there: the marginal density."""
        of_complete, factors = super()._likelihood(), self._factors()
        variances, noise, _ = self._variances()
        floor = np.finfo(float).eps * variances.max(initial=noise)

        def of_gapped(some: Array) -> Array:
            reading, there = Reading.of(factors, self._moved(some)), ~np.isnan(some)
            enough = noise >= factors.noise
            density = reading.log_density() if enough else reading.log_density_above(noise, floor)
            return np.asarray(density - there @ np.log(self._scales()))

        return lambda block, threads: _each_by_its_own(block, lambda some: of_complete(some, threads), of_gapped)

    # ------------------------------------------------------------------ what is missing

    def impute(self, X: Any, n_draws: int | None = None, random_state: Any = None, *, return_std: bool = False) -> Any:
        """Fill the gaps of rows with what the other numbers of each row say; numbers that are there stay as they are.

        What is missing is normal given what is there: E[x_M | x_O] = mean_M + W_M E[z | x_O], with the covariance
        W_M Cov[z | x_O] W_Mᵀ + σ²I. A row without any number gets the mean.

        Parameters
        ----------
        X : {array-like, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; of a file, all of them are read into memory. A collection of Dask is filled chunk by chunk, when
            somebody asks for it, and warnings are then where that is done; with ``n_draws``, all of it comes here.
        n_draws : int, default=None
            So many tables in which gaps are filled with draws from their distribution, for multiple imputation. The
            parameters of the model are taken as known: with few rows, fit to several resamples instead.
        random_state : int, RandomState or None, default=None
            Of the draws. None is a fixed seed.
        return_std : bool, default=False
            Also return the standard deviation of every number that was filled in, 0 for those that were there.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features) or (n_draws, n_samples, n_features)
            In double precision; of a collection, an array of Dask.
        std : ndarray of shape (n_samples, n_features)
            Only if ``return_std``.
        """
        check_is_fitted(self)
        if n_draws is not None and (isinstance(n_draws, bool) or not isinstance(n_draws, Integral) or n_draws < 1):
            raise ValueError(f"n_draws is a whole number of at least 1, or None; got {in_short(n_draws)}.")
        if is_collection(X) and n_draws is None:
            filled = rows_promised(self, X, type(self).impute)
            return (filled, rows_promised(self, X, _deviations_of)) if return_std else filled
        given = self._new_items(X).load()
        if sparse.issparse(given):
            refuse_sparse_gaps(given)
        rows = dense(given, np.float64)
        with self._within_limits():
            return self._imputed(rows, n_draws, random_state, return_std)

    def _imputed(self, rows: Array, n_draws: int | None, random_state: Any, return_std: bool) -> Any:
        there, reading = ~np.isnan(rows), Reading.of(self._factors(), self._moved(rows))
        _tell_of_empty(there)
        noise = float(self.noise_variance_)
        if n_draws is None:
            filled = self._filled(rows, there, reading.told())
        else:
            filled = np.empty((int(n_draws), *rows.shape))
            for i, drawn in enumerate(reading.drawn(len(filled), noise, generator_of(random_state))):
                filled[i] = self._filled(rows, there, drawn)
        if not return_std:
            return filled
        return filled, np.where(there, 0.0, reading.deviations(noise) * self._scales())

    def _filled(self, rows: Array, there: Array, told: Array) -> Array:
        return np.where(there, rows, told * self._scales() + self._mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the distribution: mean + scale·(Wz + ε), z ~ N(0, I), ε ~ N(0, σ²I).

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState or None, default=None
            Of the draws. None is a fixed seed.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            In the units of the rows of the fit.
        """
        check_is_fitted(self)
        if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(f"n_samples is a whole number of at least 1; got {in_short(n_samples)}.")
        rng, (_, noise, axes) = generator_of(random_state), self._variances()
        scores = rng.standard_normal((int(n_samples), len(axes))) * self._lengths()
        rows = self._product(scores, axes) + np.sqrt(noise) * rng.standard_normal((int(n_samples), axes.shape[1]))
        return self._as_fitted(rows * self._scales() + self._mean())


class WithGaps(FillsGaps):
    """A linear model that is fitted to rows of which numbers may be missing; of complete ones, as ever."""

    prior: str | None
    held_out: float
    max_iter: int
    n_missing_: Array
    loglike_: float
    n_iter_: int
    certificate_: Certificate | FillingCertificate  # type: ignore[assignment]

    def _fit(self, X: Any, sample_weight: Any) -> Items:
        """Nobody looks for gaps beforehand: whoever sums up the rows stumbles over them."""
        X = read_once(self, X, gaps=True)
        with suppress(GapsFound):
            return super()._fit(X, sample_weight)
        return self._fit_with_gaps(X, sample_weight)  # what stumbled is forgotten, with all that it has kept

    def _training_items(self, X: Any) -> Items:
        return open_items(self, X, reset=True, mapped=True, finite=False, gaps=True)

    def _look_at_left_out(self, X: Any) -> None:
        open_items(self, X, reset=False, gaps=True)

    def _look(self, X: Any) -> None:
        """Numbers that are not finite are gaps, or too large to be squared; infinite ones are refused."""
        self._stumble(open_items(self, X, reset=False, gaps=True))

    def _stumble(self, items: Items) -> None:
        if any_gaps(items):
            raise GapsFound

    def _fit_with_gaps(self, X: Any, sample_weight: Any) -> Items:
        """By expectation and maximisation: over rows in memory, or where their chunks lie."""
        home, training = self._home_of(X), weigh(self._training_items(X), sample_weight)
        plan = self._plan_for_gaps(training)
        training = training if plan.held == "gapped chunks" else training.in_memory()
        rows = training.items.as_rows()
        self._dtype, self.n_samples_ = single_or_double(rows.dtype), training.count
        found = find_factors(
            GapsTask(
                rows=rows,
                weights=training.weights,
                asked="cv" if self.n_components == "cv" else self._number_of((training.count, rows.width)),
                prior=self.prior,
                tol=self.tol or _TOL,
                most_passes=int(self.max_iter),
                held_out=float(self.held_out),
                standardize=self.standardize,
                limits=self._limits(),
                rng=self._rng,
                names=getattr(self, "feature_names_in_", None),
                progress=self.progress,
            )
        )
        self._keep_answer(found, plan, training, home)
        return training.all_items

    def _number_of(self, shape: tuple[int, int]) -> int:
        most = min(shape)
        if isinstance(self.n_components, (str, float)):
            raise BadData(
                f"n_components={self.n_components!r} looks at the variances of complete rows, and numbers are missing: "
                'give a whole number, or "cv", which holds some numbers out.'
            )
        if self.n_components is None:
            return most
        if not 1 <= self.n_components <= most:
            raise ValueError(
                f"n_components={self.n_components} must be between 1 and min(n_samples, n_features)={most} where "
                "numbers are missing."
            )
        return int(self.n_components)

    def _plan_for_gaps(self, training: Training) -> Plan:
        rows = training.items.as_rows()
        if rows.sparse:
            raise BadData(
                "X is sparse and has numbers missing (NaN): gaps are for dense rows, as what is not stored in sparse "
                "ones is zero. Give X.toarray()."
            )
        k = None if self.n_components == "cv" else self._number_of((training.count, rows.width))
        solver = Expectation(self.prior, self.tol or _TOL, int(self.max_iter))
        chunks = None if rows.chunks is None else Spread.of(rows.chunks)
        return gaps_plan(training.count, rows.width, k, solver, self._limits(), chunks, float(self.held_out))

    def _keep_answer(self, found: Answer, plan: Plan, training: Training, home: Home) -> None:
        """All fitted names that follow from factors."""
        W, d = found.factors.W, len(found.centre)
        lengths = np.sqrt((W**2).sum(axis=0))
        unit = 1.0 if self.standardize else float(found.scale[0])
        weight = float(training.count if training.weights is None else training.weights.sum())
        axes = np.divide(W, lengths, out=_any_axes(W), where=lengths > 0).T
        noise, variances = found.factors.noise, lengths**2 + found.factors.noise
        total = float((lengths**2).sum()) + d * noise
        refuse_out_of_range(total, unit)
        arrays = {
            "components_": axes,
            "explained_variance_": squared_units(variances, unit),
            "explained_variance_ratio_": variances / total if total > 0 else np.zeros(len(variances)),
            "singular_values_": np.sqrt(weight * variances) * unit,
            "mean_": found.centre + found.scale * found.factors.mean,
        }
        for name, array in arrays.items():
            setattr(self, name, home.bring(as_narrow(array, self._dtype)))
        self.__dict__.pop("scale_", None)
        if self.standardize:
            self.scale_ = home.bring(found.scale.astype(self._dtype))
        self.n_components_ = len(variances)
        self.noise_variance_, self.total_variance_ = squared_units(noise, unit), squared_units(total, unit)
        self.reconstruction_error_ = squared_units((d - len(variances)) * noise, unit)
        columns = squared_units((W**2).sum(axis=1) + noise, unit)
        self._exact = Exact(arrays["mean_"], columns, weight)
        self.n_missing_ = home.bring(found.extent.missing)
        self.loglike_, self.n_iter_ = found.likelihood, max(1, found.passes)
        known = certificate_of(found, self.prior)
        self.plan_, self.certificate_ = plan, known
        warn_each([*found.warnings, *about_climb(known, int(self.max_iter))])

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        """Whether numbers are missing is known once all were read: they are looked for first."""
        try:
            self._stumble(self._training_items(X))
            return super()._plan(X, sample_weight)
        except GapsFound:
            return self._plan_for_gaps(weigh(self._training_items(X), sample_weight))


def _deviations_of(model: FillsGaps, rows: Any) -> Array:
    """Of filled numbers alone."""
    return np.asarray(model.impute(rows, return_std=True)[1])


def _each_by_its_own(rows: Any, of_complete: Callable[[Any], Array], of_gapped: Callable[[Array], Array]) -> Array:
    """What belongs to every row: of complete ones by the short way, so that others beside them change nothing."""
    if sparse.issparse(rows):
        refuse_sparse_gaps(rows)
    if sparse.issparse(rows) or all_finite(rows):
        return of_complete(rows)
    rows = np.asarray(rows)
    gapped = np.isnan(rows).any(axis=1)
    found = of_gapped(rows[gapped])
    out = np.empty((len(rows), *found.shape[1:]))
    out[gapped], out[~gapped] = found, of_complete(rows[~gapped])
    return out


def refuse_out_of_range(total: float, unit: float) -> None:
    """Variances that are no numbers: all that is said of rows weighs some of them against others."""
    found = float(squared_units(total, unit))
    if not np.isfinite(found):
        raise BadData(OVERFLOW)
    if total > 0 and found < TINY:
        raise BadData(
            "The squares of these rows are too small for a number of 64 bits, and so are the noise and the variances "
            "that scores and filled gaps follow from: give the rows in another unit, or standardize=True."
        )


def _tell_of_empty(there: Array) -> None:
    empty = int(np.sum(~there.any(axis=1)))
    if empty:
        warn(
            f"{counted(empty, 'row')} {are(empty)} without any number: filled with the mean, as nothing else is known."
        )


def _any_axes(W: Array) -> Array:
    """Directions at right angles to the others, for factors without length."""
    return np.asarray(
        np.linalg.qr(np.hstack([W, np.random.default_rng(0).standard_normal(W.shape)]))[0][:, : W.shape[1]]
    )
