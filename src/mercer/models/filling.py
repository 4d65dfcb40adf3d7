"""What a normal distribution says of rows of which some numbers are missing: scores, densities, and the numbers."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, dense
from mercer.errors import BadData, are, counted, in_short, warn
from mercer.fits.door import open_items
from mercer.fits.gaps.reading import Reading
from mercer.models.at_once import AtOnce
from mercer.models.base import generator_of
from mercer.sources.items import Items, all_finite
from mercer.sweeps.factors import Factors

_LEAST_NOISE = 1e-12  # of the largest variance: what stands for no noise where numbers are missing


class FillsGaps(AtOnce):
    """A linear model of which rows may have gaps: NaN, masked, null, or an empty cell of a file."""

    def _new_items(self, X: Any) -> Items:
        check_is_fitted(self)
        return open_items(self, X, reset=False, mapped=True, gaps=True)

    # ------------------------------------------------------------------ scores

    def _scores(self, rows: Any, threads: int) -> Array:
        """E[t | x]: those of PCA, each times 1 − σ²/λ; of rows with gaps, given what is there."""
        if sparse.issparse(rows):
            _refuse_sparse_gaps(rows)
        if sparse.issparse(rows) or all_finite(rows):
            return self._projected(rows, threads, False) * self._shrinkage().astype(self._dtype_of_scores(rows))
        found = Reading.of(self._factors(), self._moved(rows)).scores()
        return found if self.whiten else found * self._lengths()

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
            _refuse_sparse_gaps(rows)
        return self._moved(rows)

    # ------------------------------------------------------------------ densities

    def _likelihood(self) -> Callable[[Any, int], Array]:
        """Of what is there: the marginal density."""
        of_complete: Callable[[Any, int], Array] | None = None

        def likelihood(block: Any, threads: int) -> Array:
            nonlocal of_complete
            if sparse.issparse(block):
                _refuse_sparse_gaps(block)
            if sparse.issparse(block) or all_finite(block):
                of_complete = of_complete or super(FillsGaps, self)._likelihood()
                return of_complete(block, threads)
            there = ~np.isnan(np.asarray(block))
            density = Reading.of(self._factors(), self._moved(block)).log_density()
            return np.asarray(density - there @ np.log(self._scales()))

        return likelihood

    # ------------------------------------------------------------------ what is missing

    def impute(self, X: Any, n_draws: int | None = None, random_state: Any = None, *, return_std: bool = False) -> Any:
        """Fill the gaps of rows with what the other numbers of each row say; numbers that are there stay as they are.

        What is missing is normal given what is there: E[x_M | x_O] = mean_M + W_M E[z | x_O], with the covariance
        W_M Cov[z | x_O] W_Mᵀ + σ²I. A row without any number gets the mean.

        Parameters
        ----------
        X : {array-like, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; of a file, all of them are read into memory.
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
            In double precision.
        std : ndarray of shape (n_samples, n_features)
            Only if ``return_std``.
        """
        check_is_fitted(self)
        if n_draws is not None and (isinstance(n_draws, bool) or not isinstance(n_draws, Integral) or n_draws < 1):
            raise ValueError(f"n_draws is a whole number of at least 1, or None; got {in_short(n_draws)}.")
        rows = dense(self._new_items(X).load(), np.float64)
        with self._within_limits():
            return self._imputed(rows, n_draws, random_state, return_std)

    def _imputed(self, rows: Array, n_draws: int | None, random_state: Any, return_std: bool) -> Any:
        there, reading = ~np.isnan(rows), Reading.of(self._factors(), self._moved(rows))
        _tell_of_empty(there)
        if n_draws is None:
            filled = self._filled(rows, there, reading.told())
        else:
            rng = generator_of(random_state)
            filled = np.stack([self._filled(rows, there, reading.drawn(rng)) for _ in range(n_draws)])
        if not return_std:
            return filled
        return filled, np.where(there, 0.0, reading.deviations() * self._scales())

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


def _refuse_sparse_gaps(rows: Any) -> None:
    """An entry that is not stored is zero; one that is missing has no place in a sparse matrix."""
    missing = int(np.isnan(rows.data).sum()) if rows.data.dtype.kind == "f" else 0
    if missing:
        raise BadData(
            f"X is sparse and has {counted(missing, 'number')} missing (NaN): gaps are for dense rows, as what is not "
            "stored in sparse ones is zero. Give X.toarray()."
        )


def _tell_of_empty(there: Array) -> None:
    empty = int(np.sum(~there.any(axis=1)))
    if empty:
        warn(
            f"{counted(empty, 'row')} {are(empty)} without any number: filled with the mean, as nothing else is known."
        )
