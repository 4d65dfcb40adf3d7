"""A fitted model with its rows and labels, asked by every rule."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, dense, here, to_numpy
from mercer_old.errors import BadData, NoRoom, counted
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.limits import bytes_in_words
from mercer_old.models.pca import PCA
from mercer_old.progress import reporting
from mercer_old.readings.chance import generator_from
from mercer_old.readings.rules.drawn import drawn_numbers, flip, horn, kernel_parallel
from mercer_old.readings.rules.known import KERNEL_RULES, LINEAR_RULES
from mercer_old.readings.rules.labels import label_columns, relevant_dimension
from mercer_old.readings.rules.noise import unequal_noise
from mercer_old.readings.rules.scree import Opinion, Scree, explains_all, silent
from mercer_old.readings.rules.shape import enough
from mercer_old.readings.rules.suggestion import Suggestion
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Items
from mercer_old.sources.weights import check_weights

__all__ = ["OfColumns", "OfKernel", "Study"]

_SIDE = 5000  # rows or columns, whichever are fewer, up to which all variances are found anew
_SAME_WEIGHT = 1e-6  # sums of weights that differ by less are the same
_COPIES = 5  # of the rows, while they are permuted and multiplied
_LABELLED = "it needs labels: give them as y"
_UNWEIGHTED = "labels are compared row by row, and these have weights"


class Study(ABC):
    """A model with its rows and labels, and what all rules say of them."""

    rules = LINEAR_RULES

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any, random_state: Any) -> None:
        self.model, self.random_state = model, random_state
        generator_from(random_state)  # refuses what is none
        self.items: Items | None = None if X is None else model._new_items(X)
        if sample_weight is not None and self.items is None:
            raise BadData("sample_weight is that of the rows of X, and X is missing.")
        self.weights = (
            None if self.items is None or sample_weight is None else check_weights(sample_weight, len(self.items))
        )
        self.weighted = self.weights is not None
        self.labels = None if y is None else label_columns(y)
        self.scree = self.scree_of(model)

    @abstractmethod
    def scree_of(self, model: Any) -> Scree:
        """What is known of the variances of a fitted model."""

    def rng(self) -> np.random.Generator:
        """The same for every rule, so that the order in which they are asked does not matter."""
        return generator_from(self.random_state)

    def suggestion(self, share: float) -> Suggestion:
        opinions = [self.opinion(name, share) for name in self.rules]
        return Suggestion(tuple(opinions), self.scree, self.rules, unequal_noise(self.scree))

    def opinion(self, name: str, share: float) -> Opinion:
        ask = self.rules[name].ask
        if not len(self.scree.positive):
            return silent(
                name, "no component was fitted: give the rows as X" if self.scree.total > 0 else "nothing varies"
            )
        if name == "share":
            return enough(self.scree, share)
        return ask(self.scree) if ask else self.by_labels() if name == "labels" else self.drawn(name)

    @abstractmethod
    def drawn(self, name: str) -> Opinion:
        """What a rule says that draws noise from the rows."""

    def by_labels(self) -> Opinion:
        if self.labels is None:
            return silent("labels", _LABELLED)
        vectors = self.vectors()
        if isinstance(vectors, Opinion):
            return vectors
        if len(vectors) != len(self.labels):
            raise BadData(f"y has {counted(len(self.labels), 'label')}, and there are {counted(len(vectors), 'row')}.")
        return relevant_dimension(vectors, self.labels)

    @abstractmethod
    def vectors(self) -> Array | Opinion:
        """Unit vectors of the components, one number for each row; or why there are none."""

    def _of_scores(self) -> Array | Opinion:
        if self.items is None:
            return silent("labels", "it needs the rows: give them as X")
        scores = np.concatenate([block for _, block in self.model._scored(self.items)]).astype(np.float64)
        lengths = np.linalg.norm(scores, axis=0)
        there = (lengths > 0) & (self.scree.values > 0)  # scores along what does not vary are rounding
        return scores[:, there] / lengths[there]


class OfColumns(Study):
    """Of PCA."""

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any, random_state: Any) -> None:
        super().__init__(model, X, y, sample_weight, random_state)
        if self.items is None:
            return
        forgets = getattr(model, "forget", 1.0) < 1
        self._refuse_other_rows(forgets)
        self.weighted |= forgets
        if not self.scree.whole and not forgets and min(len(self.items), self.items.width) <= _SIDE:
            self._fit_all(X)

    def _refuse_other_rows(self, forgets: bool) -> None:
        """Rows, or weights, that cannot be those of the fit."""
        assert self.items is not None
        n = getattr(self.model, "n_samples_", getattr(self.model, "n_samples_seen_", len(self.items)))
        count = len(self.items) if self.weights is None else int(np.sum(self.weights > 0))
        if count != n:
            here = f"X has {counted(count, 'row')} that count"
            raise BadData(f"{here}, and the model was fitted to {n:,}: give the rows of the fit.")
        fitted, total = self.scree.weight, float(count if self.weights is None else self.weights.sum())
        if not forgets and abs(fitted - total) > _SAME_WEIGHT * total:
            there = f"The rows of the fit weighed {fitted:,.6g}, and those of X weigh {total:,.6g}"
            raise BadData(f"{there}: give the same sample_weight.")

    def _fit_all(self, X: Any) -> None:
        """All components, where they fit; as good as those that were kept if they do not."""
        assert self.items is not None
        way = "covariance_eigh" if self.items.sparse else "auto"  # which keeps the last one of sparse rows too
        every = PCA(standardize=hasattr(self.model, "scale_"), svd_solver=way, memory_limit=self.model.memory_limit)
        try:
            every.set_params(n_jobs=self.model.n_jobs, progress=self.model.progress).fit(X, None, self.weights)
        except NoRoom:
            return
        self.model, self.scree = every, self.scree_of(every)

    def scree_of(self, model: Any) -> Scree:
        values = to_numpy(model.explained_variance_).astype(np.float64)
        exact, n = model._exact, getattr(model, "n_samples_", getattr(model, "n_samples_seen_", 0))
        if not (np.isfinite(values).all() and np.isfinite(model.total_variance_)):
            raise BadData("The variances are no numbers, as weights sum to one or less, or by their size: scale them.")
        return Scree(
            values=values,
            total=float(model.total_variance_),
            weight=exact.weight if exact is not None and exact.weight else float(n),
            width=int(model.n_features_in_),
            columns=None if exact is None else exact.columns,
            axes=to_numpy(model.components_).astype(np.float64, copy=False),
            whole=len(values) >= min(n - 1, model.n_features_in_),
            floor=0.0,  # a fit reports as zero what may be
        )

    def drawn(self, name: str) -> Opinion:
        if self.items is None:
            return silent(name, "it needs the rows: give them as X")
        if self.weighted:
            return silent(name, "it draws from rows that count alike, and these have weights")
        size, limit = _COPIES * 8 * len(self.items) * self.items.width, self.model._limits().memory
        if size > limit:
            return silent(name, f"draws take {bytes_in_words(size)}, over the limit of {bytes_in_words(limit)}")
        rows = dense(self.items.load(), np.float64)
        rows = (rows - self.model._mean()) / self.model._scale()
        rule = {"horn": horn, "flip": flip}[name]
        with reporting(self.model.progress, 1, f"draws of {name}") as on_draw:
            return rule(self.scree, rows, self.rng(), on_draw=on_draw)

    def vectors(self) -> Array | Opinion:
        return silent("labels", _UNWEIGHTED) if self.weighted else self._of_scores()


class OfKernel(Study):
    """Of kernel PCA."""

    rules = KERNEL_RULES

    def scree_of(self, model: Any) -> Scree:
        values = np.asarray(to_numpy(model.explained_variance_), dtype=np.float64)
        total = float(model.total_variance_)
        if np.isnan(to_numpy(model.explained_variance_ratio_)).any() or not np.isfinite(total):
            raise BadData(
                "The kernel is not positive semi-definite here, or weights sum to one or less: nothing to share."
            )
        there = np.flatnonzero(values > 0)[:1]
        eigenvalues = to_numpy(model.eigenvalues_)
        weight = float(eigenvalues[there[0]] / values[there[0]]) + 1 if len(there) else 1.0  # η/λ = Σw − 1
        return Scree(
            values=values,
            total=total,
            weight=weight,
            width=max(1, round(weight)),
            whole=explains_all(values, total),
            by_kernel=True,
            floor=0.0,
        )

    @property
    def _centring(self) -> Any:
        return self.model._projection.centring

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any, random_state: Any) -> None:
        super().__init__(model, X, y, sample_weight, random_state)
        n = round(self.scree.weight)
        if self.items is not None and not self._has_weights and len(self.scree.positive) and len(self.items) != n:
            raise BadData(
                f"X has {counted(len(self.items), 'row')}, and the model was fitted to {n:,}: give the rows of the fit."
            )

    @property
    def _has_weights(self) -> bool:
        return self.weighted or (self._centring is not None and self._centring.weights is not None)

    def _rows(self) -> Items | Opinion:
        """The rows of the fit, in units of the kernel, if they are rows of numbers."""
        if is_precomputed(self.model):
            return silent("parallel", "it permutes columns, and a kernel matrix has none")
        if self._has_weights:
            return silent("parallel", "it permutes rows that count alike, and these have weights")
        items = self.items
        if items is None:
            if not hasattr(self.model, "X_fit_"):
                return silent("parallel", "it needs the rows, of which landmarks were kept: give them as X")
            fitted = here(self.model.X_fit_)
            numbers = sparse.issparse(fitted) or (isinstance(fitted, np.ndarray) and fitted.ndim == 2)
            if not (numbers and fitted.dtype.kind in "fiub"):
                return silent("parallel", "it permutes columns of numbers, and there are none")
            return HeldRows(fitted)
        return (
            items if items.kind == "rows" else silent("parallel", "it permutes columns of numbers, and there are none")
        )

    def drawn(self, name: str) -> Opinion:
        items = self._rows()
        if isinstance(items, Opinion):
            return items
        rng, known = self.rng(), len(self.scree.positive)
        with reporting(self.model.progress, 1, "draws of parallel") as on_draw:
            found = kernel_parallel(
                self.model.kernel_, items[drawn_numbers(len(items), rng)], len(items), rng, on_draw=on_draw
            )
        if found.k is None or found.k <= known:
            return found
        return replace(found, why=f"{found.why}; {counted(known, 'component')} were fitted")

    def vectors(self) -> Array | Opinion:
        if self._has_weights:
            return silent("labels", _UNWEIGHTED)
        if self.items is None and hasattr(self.model, "eigenvectors_"):
            vectors, values = to_numpy(self.model.eigenvectors_), to_numpy(self.model.eigenvalues_)
            return np.asarray(vectors, dtype=np.float64)[:, values > 0]
        return self._of_scores()
