"""From scores back to rows, and to texts: what `KernelPCA` finds in input space."""

from typing import Any, cast

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, Home, here, to_numpy
from mercer_old.blocks import cut
from mercer_old.errors import are, counted, in_short, joined, warn
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.fits.scale import in_units_of_input
from mercer_old.inputs import table, told_where
from mercer_old.kernels.base import is_sparse
from mercer_old.kernels.features import MadeFeatures
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.upstairs import WithRowsInFiles
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.projection import ByKernel
from mercer_old.progress import OnPass, reporting
from mercer_old.readings.preimage import apply_inverse
from mercer_old.readings.preimages import (
    PREIMAGES,
    Expansion,
    WaysBack,
    are_numbered,
    distances_reached,
    is_linear,
    nearest_items,
    number_outside,
    search_texts,
)
from mercer_old.readings.preimages.radial import Radial

__all__ = ["WithWayBack"]

_PIECE = 500  # rows that are found before progress is told


class WithWayBack(WithRowsInFiles, KernelModel):
    """A kernel model whose scores lead back to items."""

    preimage: str | None
    fit_inverse_transform: bool

    def inverse_transform(self, X: Any, return_error: bool = False) -> Any:
        """The rows (or texts) whose images come nearest to the points of feature space that have the scores X.

        With ``preimage=None`` this is scikit-learn's: a kernel ridge regression that was learned by
        ``fit_inverse_transform=True``. Any other value finds pre-images of any fitted model, and may be set after the
        fit. The point with the scores y is p = Σᵢ cᵢφ(xᵢ) with c = αy + w/Σw, and a pre-image z of it has a small

            ‖p − φ(z)‖² = k(z, z) − 2Σᵢ cᵢk(z, xᵢ) + ‖p‖².

        Of the linear kernel "auto" is the reconstruction of `PCA`. Kernels of texts give texts; those of tables,
        series and other things, and functions that look up items by their numbers, give the item of the fit that is
        nearest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.
        return_error : bool, default=False
            Also return ‖p − φ(z)‖ of every row that was found.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), or (n_samples,) of items
            In the units of the rows of the fit.
        errors : ndarray of shape (n_samples,)
            How far each image is from its point, only if `return_error`.

        Examples
        --------
        >>> from mercer import KernelPCA
        >>> from mercer.datasets import rings
        >>> X, ring = rings(60)
        >>> model = KernelPCA(20, kernel="rbf", gamma=0.5, preimage="auto").fit(X)
        >>> rows, errors = model.inverse_transform(model.transform(X[:3]), return_error=True)
        >>> bool(abs(rows - X[:3]).max() < 0.02)
        True
        """
        check_is_fitted(self)
        if self.preimage is None and not (self.fit_inverse_transform and hasattr(self, "dual_coef_")):
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                'transform is not available. Set it, or take preimage="auto", which needs no other fit: '
                'model.set_params(preimage="auto").'
            )
        home = self._home_of_new(X, "inverse_transform")
        return _at_home(home, self._found(self._checked_scores(X), self.preimage, return_error))

    def denoise(self, X: Any, return_error: bool = False) -> Any:
        """The pre-images of the projections of X onto the components: what is left without the directions not kept.

        With ``preimage`` None or "auto", and a kernel of Euclidean distances, each row tells the level of its noise by
        its own distance ‖φ(x) − p‖ from the components. What is learned from rows of the fit with such noise on them
        then takes it off: s·line(ridge(y)) + (1 − s)·neighbours(y). Rows that tell no noise, and those of other
        kernels, are drawn to their neighbours if they lie beside these farther than rows do. Texts, tables and things
        become the item of the fit that is nearest. Any other ``preimage`` is taken as it is.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features), or items
            The rows, or texts.
        return_error : bool, default=False
            As of `inverse_transform`.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), or (n_samples,) of items
            In the units of the rows of the fit.
        errors : ndarray of shape (n_samples,)
            How far each image is from the projection of its row, only if `return_error`.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> from mercer.datasets import rings
        >>> X, ring = rings(60)
        >>> model = KernelPCA(8, kernel="rbf", gamma=0.5).fit(X)
        >>> noisy = X + 0.2 * np.random.default_rng(0).normal(size=X.shape)
        >>> bool(((model.denoise(noisy) - X) ** 2).sum() < ((noisy - X) ** 2).sum())
        True
        """
        home, items = self._home_of_new(X, "denoise"), self._new_items(X)
        scores = self._by_blocks(items).astype(np.float64)
        method = "auto" if self.preimage is None else self.preimage
        return _at_home(home, self._found(scores, method, return_error, self._beside(items)))

    # ------------------------------------------------------------------ how

    def _beside(self, items: Any) -> Array:
        """‖φ(x) − p‖ of every item: how far it is from the space of the components; 0 where none is asked for."""
        radial = self.preimage in (None, "auto") and Radial.of(self.kernel_, np.empty((0, 0))) is not None
        if not radial:
            return np.zeros(len(items))
        squares = np.concatenate([squares for _, squares in self._scored(items, self._squares)])
        return np.sqrt(np.maximum(squares[:, 1] - squares[:, 0], 0.0))

    def _checked_scores(self, X: Any) -> Array:
        X = table(here(X))
        with told_where(X):
            scores = check_array(X, input_name="X", dtype=np.float64)
        expected = self._n_features_out if self.preimage is not None else self.X_transformed_fit_.shape[1]
        if scores.shape[1] != expected:
            raise ValueError(
                f"X has {scores.shape[1]} features, but the inverse transform of KernelPCA is expecting {expected}: "
                "one for each component."
            )
        return np.asarray(scores)

    def _found(self, scores: Array, method: str | None, return_error: bool, noisy: Array | None = None) -> Any:
        """Items for scores, and how far their images are from where the scores are."""
        if method not in (None, *PREIMAGES):  # set since the fit, which has looked at it as well
            raise ValueError(f"preimage={in_short(method)} is no way back: take {joined(PREIMAGES, 'or')}, or None.")
        with self._within_limits():
            if method is None and not return_error:
                return self._by_learned_inverse(scores)
            ways = self._ways_back()
            if method is None:
                rows = self._by_learned_inverse(scores)
                seen = np.asarray(self._as_fitted(rows), dtype=np.float64)
            else:
                self._warn_of_outside(ways.expansion, scores)
                with reporting(self.progress, 1, "rows found") as on_pass:
                    seen = self._in_pieces(ways, scores, method, noisy, on_pass)
                rows = self._as_given(seen)
            return (rows, distances_reached(ways.expansion, seen, scores)) if return_error else rows

    def _in_pieces(self, ways: WaysBack, scores: Array, method: str, noisy: Array | None, on_pass: OnPass) -> Any:
        """The items of all scores, some after the other, telling how far it is."""
        found = []
        whole = on_pass is None or ways.expansion.kernel.takes == "tables"
        for some in [slice(0, len(scores))] if whole else cut(len(scores), _PIECE):
            found.append(self._items(ways, scores[some], method, None if noisy is None else noisy[some]))
            if on_pass:
                on_pass(some.stop / len(scores))
        return np.concatenate(found) if len(found) > 1 else found[0]

    def _items(self, ways: WaysBack, scores: Array, method: str, noisy: Array | None) -> Any:
        """As the kernel compares them."""
        expansion = ways.expansion
        things = getattr(self, "_fitted_to_things", False) or expansion.kernel.takes not in ("rows", "anything")
        if not things and not are_numbered(expansion.kernel, expansion.rows):
            return ways.rows(scores, method, noisy, self._limits())
        if method not in ("auto", "local"):
            other = "other things" if things else "items by their numbers"
            raise ValueError(
                f"preimage={method!r} computes with rows of numbers, and {in_short(expansion.kernel)} compares "
                f'{other}: take "auto", or "local" for the nearest of the fit.'
            )
        if expansion.kernel.takes == "texts" and method == "auto" and noisy is None:
            return search_texts(expansion, scores)
        return expansion.rows[nearest_items(expansion, scores)]

    def _as_given(self, items: Any) -> Any:
        """In the units of the input and the precision of the fit."""
        if not isinstance(items, np.ndarray):  # rows of a table
            return items.reshape(items.shape[0])
        if items.dtype == object:
            return items
        return np.asarray(in_units_of_input(items, getattr(self, "scale_", None))).astype(self._dtype, copy=False)

    def _warn_of_outside(self, expansion: Expansion, scores: Array) -> None:
        if is_linear(expansion.kernel):  # where every score is that of a row
            return
        known = expansion.scores
        by_landmarks = self._projection.centring is None  # those of all rows spread wider
        deviations = np.sqrt(to_numpy(self.explained_variance_)) if by_landmarks else known.std(axis=0)
        outside = number_outside(known, deviations, scores)
        if outside:
            warn(
                f"{counted(outside, 'row')} of X {are(outside)} far outside: with a score more than twice as large as "
                "any of the fit. What is found for such scores means little."
            )

    def _ways_back(self) -> WaysBack:
        """Made once for a fit, as long as its names are as it left them."""
        as_fitted = self._projection.is_as_fitted(self)
        rows = getattr(self, "X_fit_", None)
        kept, of = getattr(self, "_kept_ways", (None, None))
        if as_fitted and kept is not None and rows is of:
            return cast(WaysBack, kept)
        centring = self._projection.centring
        ways = WaysBack(self._expansion(), None if centring is None else centring.weights)
        if as_fitted:
            self._kept_ways = ways, rows
        return ways

    def __getstate__(self) -> Any:
        """Without what can be learned again."""
        return {name: value for name, value in super().__getstate__().items() if name != "_kept_ways"}

    def _expansion(self) -> Expansion:
        """Where scores lie in feature space, by the components as they are now."""
        if is_precomputed(self):
            raise ValueError(
                "The way back leads to items, and a precomputed kernel matrix has none: give items and their kernel."
            )
        by, centring = self._projection.now(self), self._projection.centring
        if centring is None:
            return Expansion.of(by.kernel, by.rows, by.alpha, by.mean, self._limits().threads)
        rows = here(self.X_fit_)
        if isinstance(by, ByKernel):
            seen = np.asarray(self._known_scores(rows), dtype=np.float64) + by.offset
            return Expansion(by.kernel, rows, by.alpha, by.mean, seen, centring.means, by.shift)
        alpha = centring.dual(to_numpy(self.eigenvalues_), to_numpy(self.eigenvectors_))[0]
        hollow = self.kernel_.sparse_features or is_sparse(rows)
        made = by.map.features(rows) if hollow else MadeFeatures(by.map, rows)
        products = FeatureGram(made, self._limits().threads).matmat(np.column_stack([alpha, centring.shares]))
        return Expansion(self.kernel_, rows, alpha, centring.shares, products[:, :-1], products[:, -1])

    def _by_learned_inverse(self, scores: Array) -> Array:
        """scikit-learn's way."""
        out = apply_inverse(
            self.kernel_,
            scores,
            to_numpy(self.X_transformed_fit_).astype(np.float64, copy=False),
            to_numpy(self.dual_coef_).astype(np.float64, copy=False),
            self._limits().threads,
        )
        return out.astype(self._dtype, copy=False)


def _at_home(home: Home, found: Any) -> Any:
    """Rows, and their errors if they were asked for, where the scores came from."""
    return tuple(home.bring(each) for each in found) if isinstance(found, tuple) else home.bring(found)
