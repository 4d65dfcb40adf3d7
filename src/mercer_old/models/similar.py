"""Searching the items of a fit: what is prepared for one question is there for the next."""

from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, here
from mercer_old.fits.door import one_or_more
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.fits.scale import in_units_of_input
from mercer_old.kernels.base import Kernel, kind_of_items
from mercer_old.models.base import Model
from mercer_old.readings.similar import Similar, find_similar, refuse_wrong_question, seen_by
from mercer_old.spaces.base import Space
from mercer_old.spaces.points import Points

__all__ = ["FindsSimilar"]


class FindsSimilar(Model):
    """A model that keeps its items, and says which of them are like others."""

    kernel: Any
    kernel_: Kernel
    X_fit_: Any
    landmarks_: Any
    _kept_items: Array | None
    _projection: Any
    _searched: dict[str, tuple[tuple[Any, ...], Space]]  # what was prepared, after what it was made of

    def similar(self, X: Any, n: int = 5, by: str = "components") -> Similar:
        """The items of the fit that are most like X: the nearest ones, in the space of the kept components or of all.

        An item that was there is its own nearest. By landmarks only those are kept, and the nearest of them are found.
        The first question prepares an index of the texts, or a tree of the scores, and the next ones use it.

        Parameters
        ----------
        X : item, or several
            A text, or a row of numbers; or as many as `transform` takes.
        n : int, default=5
            How many; fewer if there are no more.
        by : {"components", "kernel"}, default="components"
            "components": by the distance between scores, in which only the kept components have a say. "kernel": by
            √(k(x, x) + k(t, t) − 2k(x, t)), which is that of all components there are, and never smaller; a text
            that has nothing in common with any, itself included, counts as if it were as long as the longest.

        Returns
        -------
        similar : Similar
            Numbers, items, distances and similarities k(x, t), nearest first; of several items, a row for each.

        Examples
        --------
        >>> from mercer import KernelPCA
        >>> from mercer.datasets import VOC
        >>> from mercer.kernels import Spectrum
        >>> model = KernelPCA(10, kernel=Spectrum(3)).fit(VOC)
        >>> sorted(model.similar("flanders", 3).items)
        ['flanders ned', 'flanders rod', 'flanders todd']
        """
        check_is_fitted(self)
        refuse_wrong_question(n, by)
        if is_precomputed(self):
            raise ValueError("similar compares items, and a precomputed kernel matrix has none: compare its rows.")
        kind = "things" if getattr(self, "_fitted_to_things", False) else kind_of_items(self.kernel)
        new, one = one_or_more(X, kind)
        threads = self._limits().threads
        with self._within_limits():
            new, (items, numbers) = self._new_items(new).load(), self._known_items()
            kernel = self._projection.kernel(self)
            seen = self._scores(new, threads) if by == "components" else new
            places, *found = find_similar(self._space(by, items, kernel), seen, kernel, items, new, int(n), threads)
        if any(space.nbytes > self._limits().memory for _, space in self._searched.values()):
            self._forget_search()  # too large to be kept
        near = in_units_of_input(items[places.ravel()], getattr(self, "scale_", None))
        near = near if sparse.issparse(near) else near.reshape(*places.shape, *near.shape[1:])
        answer = Similar(numbers[places], near, *found)
        return answer[0] if one else answer

    @property
    def _training(self) -> Array | None:
        """The scores of the training rows, if the fit had them along the way."""
        return cast("Array | None", self._projection.training)

    def _known_items(self) -> tuple[Any, Array]:
        """The items that a fit has kept, as the kernel compares them, and their numbers."""
        if hasattr(self, "X_fit_"):
            items = here(self.X_fit_)
            numbers = np.arange(items.shape[0]) if self._kept_items is None else np.flatnonzero(self._kept_items)
        else:
            items = self._as_fitted(self.landmarks_)
            numbers = here(getattr(self, "landmark_indices_", np.arange(items.shape[0])))
        return items, numbers

    def _known_scores(self, items: Any) -> Array:
        """Those of the fit, unless its names have changed since."""
        if self._training is not None and hasattr(self, "X_fit_") and self._projection.is_as_fitted(self):
            return self._training
        return self._scores(here(items), self._limits().threads)

    def _space(self, by: str, items: Any, kernel: Kernel) -> Space:
        """Where the items have their distances. It is kept, with the tree or the index by which it is searched, for as
        long as what it was made of is the same."""
        of = self._made_of(by, kernel)
        known = self.__dict__.setdefault("_searched", {}).get(by)
        if known is not None and of and all(one is other for one, other in zip(of, known[0], strict=True)):
            return cast(Space, known[1])
        space = Points.of(self._known_scores(items)) if by == "components" else seen_by(kernel, items)
        if of:
            self.__dict__["_searched"][by] = of, space
        return space

    def _made_of(self, by: str, kernel: Kernel) -> tuple[Any, ...]:
        """The kept items as they are known to the model, and what they are seen by; nothing, of scores that are made
        anew for every question, by names that were set since the fit."""
        kept = self.X_fit_ if hasattr(self, "X_fit_") else self.landmarks_
        if by == "kernel":
            return kept, kernel
        return (kept, self._projection) if self._projection.is_as_fitted(self) else ()

    def __getstate__(self) -> Any:
        """Without what can be prepared again."""
        return {name: value for name, value in super().__getstate__().items() if name != "_searched"}

    def _forget_search(self) -> None:
        self.__dict__.pop("_searched", None)
