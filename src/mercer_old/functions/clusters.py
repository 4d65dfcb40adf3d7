"""Clusters read off the components of a fitted model, with the reason why they are believed, or why not."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.blocks import some_of
from mercer_old.errors import BadData, counted, in_short, joined, warn
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.functions.asking import complete_items, plain_scores, require_components, seed_of
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.sides import variances_of
from mercer_old.readings.clustering import Grouping, candidate, nearest_centres, read_off, without_rounding

__all__ = ["Clusters", "clusters"]

_ROWS = 5000  # that clusters are looked for in
_ITEMS = 500  # whose similarities are looked at
_MOST = 20  # clusters that are looked for


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters, and whether they are there.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The cluster of every row, numbered as they come; all 0 if there is one.
    n_clusters : int
        How many.
    clear : bool
        Whether the components show them: they are nearly constant on each cluster, few rows lie midway, and their
        eigenvalues stand above the next, or each of them splits the rows in two by itself.
    components : tuple of int
        The components that tell them apart, counted from 0.
    centres : ndarray of shape (n_clusters, n_components_used)
        Where the clusters lie in these.
    sizes : ndarray of shape (n_clusters,)
        Rows in each, of those that were looked at.
    share : float
        Of the variance of a component, how much lies between clusters: of the one with the least.
    midway : float
        The share of rows that are more than half as far from their own centre as from the next.
    gap : float
        The eigenvalue of the last of the components over the one after it; nan if that was not fitted.
    similarity : tuple of (float, float) or None
        Mean k(x, y)/√(k(x, x)k(y, y)) of rows in one cluster, and of rows in two.
    why : str
        The reason, in a few sentences.
    warnings : list of str
        What speaks against them.
    """

    labels: Array
    n_clusters: int
    clear: bool
    components: tuple[int, ...]
    centres: Array
    sizes: Array
    share: float
    midway: float
    gap: float
    similarity: tuple[float, float] | None
    why: str
    warnings: list[str]
    model: Any

    def predict(self, X: Any) -> Array:
        """The cluster of every row of X: that of the nearest centre.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            Rows, or whatever else the model takes.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            As in `labels`.
        """
        scores = _scores(self.model, X)
        if self.n_clusters == 1:
            return np.zeros(len(scores), dtype=np.int64)
        return nearest_centres(scores[:, self.components], self.centres)

    def __str__(self) -> str:
        sizes = f", of {joined([f'{size:,}' for size in self.sizes])} rows" if self.n_clusters > 1 else ""
        return "\n".join([f"{counted(self.n_clusters, 'cluster')}{sizes}.", self.why, *self.warnings])


def clusters(model: Any, n_clusters: int | None = None, X: Any = None, random_state: Any = None) -> Clusters:
    """Clusters read off the components of kernel PCA (or PCA), with a verdict on whether they are there.

    A kernel that is narrow beside the gaps between clusters and wide beside those within makes K nearly block diagonal.
    Its leading eigenvectors are then nearly constant on every block: c clusters are c places in the space of c − 1
    components. Those are the leading ones if their eigenvalues stand above the next, or others that split the rows in
    two all by themselves. Rows are assigned by k-means in that space.

    Parameters
    ----------
    model : KernelPCA, PCA or IncrementalPCA
        A fitted one. c clusters take c − 1 components, and one more shows whether their eigenvalues stand out.
    n_clusters : int, default=None
        How many; None: as many as are clear, which may be one.
    X : default=None
        Rows, or whatever the model takes, to be assigned; None: those of the fit, if they were kept.
    random_state : int, RandomState or None, default=None
        Of the random starts of k-means, beside one that is not random. None is a fixed seed.

    Returns
    -------
    clusters : Clusters
        ``labels``, ``predict(X)``, ``clear``, ``why`` and ``warnings``; print it.

    Examples
    --------
    >>> from mercer import KernelPCA, clusters
    >>> from mercer.datasets import three_clusters
    >>> X, cluster = three_clusters(30)
    >>> found = clusters(KernelPCA(8, kernel="rbf", gamma=10.0).fit(X))
    >>> found.n_clusters, found.clear, found.components
    (3, True, (0, 1))
    """
    require_components(model, "clusters are read off components")
    values = variances_of(model)
    _refuse_wrong_number(n_clusters, len(values))
    scores, seed = _scores(model, X), seed_of(random_state)
    some = some_of(scores, _ROWS)
    if n_clusters is not None and not 1 <= n_clusters <= len(some):
        raise BadData(f"n_clusters={n_clusters} is more than the {counted(len(some), 'row')} there are.")
    best = _best(some, values, n_clusters, seed)
    if best is None or (n_clusters is None and not best.clear):
        return _one_cluster(model, scores, best)
    labels = best.labels if len(some) == len(scores) else nearest_centres(scores[:, best.components], best.centres)
    alike = _similarity(model, X, labels)
    against = [] if best.clear else best.against()
    if n_clusters is not None and not best.clear:
        warn(f"The components do not show {counted(n_clusters, 'cluster')} clearly. {against[0]}")
    return Clusters(
        labels=labels,
        n_clusters=len(best.centres),
        clear=best.clear,
        components=best.components,
        centres=best.centres,
        sizes=np.bincount(labels, minlength=len(best.centres)),
        share=best.share,
        midway=best.midway,
        gap=best.gap,
        similarity=alike,
        why=_why(best, alike),
        warnings=against + _about_kernel(alike),
        model=model,
    )


# ---------------------------------------------------------------------- which


def _best(scores: Array, values: Array, n: int | None, seed: int) -> Grouping | None:
    """What most speaks for, of any number of clusters or of this one; None if there is nothing to part."""
    if n == 1 or len(scores) < 2 or not np.any(values > 0):
        return None
    scores = without_rounding(scores, values)
    found = read_off(scores, values, _MOST, seed)
    if n is None:
        return found[0] if found else None
    found = [one for one in found if len(one.centres) == n]
    return found[0] if found else candidate(scores, values, tuple(range(n - 1)), seed)


def _one_cluster(model: Any, scores: Array, best: Grouping | None) -> Clusters:
    why = "No component splits the rows in two, and no leading ones stand above the next."
    if best is not None:
        why = f"No clusters are clear. Of {len(best.centres)}, the best that was tried: {' '.join(best.against())}"
    if isinstance(model, KernelModel) and hasattr(model.kernel_, "gamma"):
        why += f" Another width of the kernel may show others: gamma was {model.kernel_.gamma:.3g}."
    return Clusters(
        labels=np.zeros(len(scores), dtype=np.int64),
        n_clusters=1,
        clear=False,
        components=(),
        centres=np.zeros((1, 0)),
        sizes=np.array([len(scores)]),
        share=0.0 if best is None else best.share,
        midway=1.0 if best is None else best.midway,
        gap=np.nan if best is None else best.gap,
        similarity=None,
        why=why,
        warnings=[],
        model=model,
    )


# ---------------------------------------------------------------------- what is asked of a model


def _refuse_wrong_number(n: Any, components: int) -> None:
    if n is None:
        return
    if isinstance(n, bool) or not isinstance(n, Integral) or int(n) < 1:
        raise ValueError(f"n_clusters must be a whole number of at least 1, or None; got {in_short(n)}.")
    if int(n) > components + 1:
        raise ValueError(
            f"n_clusters={n} takes {counted(int(n) - 1, 'component')}, and {components} were fitted: fit one more than "
            "that, to see whether they stand out."
        )


def _scores(model: KernelModel | LinearModel, X: Any) -> Array:
    """Of rows, in double precision: not whitened, so that components count by their variance."""
    if X is not None:
        items = complete_items(model, X)
        return np.concatenate([scores for _, scores in model._scored(items, lambda rows, _: plain_scores(model, rows))])
    known = None if isinstance(model, LinearModel) or not hasattr(model, "X_fit_") else model._known_items()[0]
    if known is None or (is_precomputed(model) and model._training is None):
        raise ValueError(f"{type(model).__name__} has not kept the rows of its fit: give them as X.")
    return np.asarray(model._known_scores(known), dtype=np.float64)


def _similarity(model: KernelModel | LinearModel, X: Any, labels: Array) -> tuple[float, float] | None:
    """Mean similarity within and between clusters, of some items; None where the kernel is a matrix or PCA's."""
    if isinstance(model, LinearModel) or is_precomputed(model):
        return None
    items = model._known_items()[0] if X is None else model._new_items(X).load()
    step = max(1, len(labels) // _ITEMS)
    items, labels = items[::step], labels[::step]
    own = np.sqrt(np.maximum(model.kernel_.diag(items), np.finfo(float).tiny))
    K = model.kernel_.block(items, items) / own / own[:, None]
    same, other = labels[:, None] == labels, ~np.eye(len(labels), dtype=bool)
    within, between = K[same & other], K[~same]
    return (float(within.mean()), float(between.mean())) if len(within) and len(between) else None


# ---------------------------------------------------------------------- words


def _why(best: Grouping, alike: tuple[float, float] | None) -> str:
    if alike is None:
        return best.why()
    return (
        f"{best.why()} Similarities are {alike[0]:.2f} within clusters and {alike[1]:.2f} between them: the nearer K "
        "is to one block for each, the nearer components are to constants on each."
    )


def _about_kernel(alike: tuple[float, float] | None) -> list[str]:
    if alike is None:
        return []
    if alike[0] < 0.05:
        return ["Rows of one cluster hardly see each other: a wider kernel (a smaller gamma) would be surer of them."]
    if alike[1] > 0.5 * alike[0]:
        return ["Rows of different clusters see each other nearly as well: a narrower kernel would be surer of them."]
    return []
