"""What drives a component: the influence of every column on every score, from the gradients of component functions."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held, dense, here
from mercer_old.blocks import rows_at_a_time
from mercer_old.errors import BadData, NoRoom, counted, in_short, warn
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.functions.asking import (
    complete_items,
    names_of_columns,
    plain_scores,
    require_components,
    seed_of,
    weights_of_fit,
)
from mercer_old.limits import bytes_in_words
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.sides import variances_of
from mercer_old.readings.driving import Influence
from mercer_old.readings.influence import ByAxes, BySums, Functions, along_chords, axes_of_sums, mean_slopes
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Items
from mercer_old.sweeps.lanes import sweep_scatter
from mercer_old.sweeps.spread import Spread

__all__ = ["influence"]

_ROWS = 2000  # of a fit, at which gradients are taken
_PAIRS = 256  # of rows


def influence(
    model: Any, X: Any = None, feature_names: Any = None, *, per_row: bool = False, random_state: Any = None
) -> Influence:
    """Which columns drive the components of PCA or kernel PCA: gradients of the component functions, in closed form.

    A component is a function f(x) = Σᵢ αᵢk(x, xᵢ), and its gradient Σᵢ αᵢ∂k(x, xᵢ)/∂x says how it changes with every
    column. Influence is the root mean square of ∂f/∂x over the rows times the standard deviation of the column, so that
    units do not matter. Of a linear function it is |wᵢⱼ|sᵢ, the same at every row. A second reading is taken between
    rows, as components that tell groups apart are level where the rows are.

    Parameters
    ----------
    model : KernelPCA, PCA or IncrementalPCA
        A fitted one. Of kernels of texts with exact features (`Spectrum`, `Subsequence`, `Mismatch`), columns are
        grams. Whitening is left out: it changes the unit of every score alone.
    X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features), default=None
        Rows at which gradients are taken. None: up to 2,000 of the fit, from all over, or the landmarks.
    feature_names : sequence of str, default=None
        Names of the columns; None: those that the model knows, or x0, x1, …
    per_row : bool, default=False
        Keep the gradients of every row, n_samples × n_components × n_features numbers, and their scores.
    random_state : int, Generator or None, default=None
        Which pairs of rows are looked at. None is a fixed seed.

    Returns
    -------
    influence : Influence
        Print it, or ask for ``top(component)``, ``table()``, ``arrows()``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA, influence
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) * [3.0, 1.0, 0.1]  # in three units
    >>> found = influence(KernelPCA(2, kernel="rbf", gamma=0.05).fit(X), feature_names=["long", "wide", "high"])
    >>> [column.name for column in found.top(0)]
    ['long', 'wide', 'high']
    """
    require_components(model, "influence is")
    variances = variances_of(model)
    asked = _of_kernel(model, X) if isinstance(model, KernelModel) else _of_axes(model, X)
    names = names_of_columns(model, len(asked.deviations), feature_names, asked.names)
    kept, keep = _room_for_rows(model, asked) if per_row else (None, None)
    threads = model._limits().threads
    with model._within_limits():
        slopes = mean_slopes(asked.functions, _blocks(asked), asked.weights, threads, keep)
        between, missed = _between(model, asked, np.random.default_rng(seed_of(random_state)))
    if kept is not None:
        kept[0][...] /= asked.scale
    values = slopes.size * asked.deviations[:, None]
    return Influence(
        values=values,
        between=values if between is None else between,
        mean=slopes.mean * asked.deviations[:, None],
        rising=slopes.rising,
        loadings=slopes.mean * np.sqrt(np.maximum(variances, 0.0)),
        names=names,
        components=[str(name) for name in model.get_feature_names_out()],
        deviations=asked.deviations * asked.scale,
        n_rows=asked.n_rows,
        missed=missed,
        noun="row" if asked.names is None else "text",
        gradients=None if kept is None else kept[0],
        scores=None if kept is None else kept[1],
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """Component functions of columns in the units of the kernel, z = x/scale, and the rows they are looked at."""

    functions: Functions
    rows: Items | None  # None: of PCA, whose gradient is the same everywhere
    n_rows: int
    deviations: Array  # of the columns of z
    scale: Array
    weights: Array | None = None
    names: list[str] | None = None  # of columns that are no columns of X


def _of_axes(model: LinearModel, X: Any) -> _Asked:
    axes = model._number("components_").T
    scale = np.broadcast_to(model._scale(), (len(axes),)).astype(np.float64)
    rows = None if X is None else complete_items(model, X).as_rows()
    if hasattr(model, "scale_"):
        deviations = np.ones(len(axes))
    elif rows is None:
        raise ValueError(
            f"{type(model).__name__} keeps no rows, and influence takes the standard deviation of every column: give "
            "the rows as X, or fit with standardize=True."
        )
    else:
        deviations = _deviations(rows, None, model) / scale
    return _Asked(ByAxes(axes), rows, 0 if rows is None else len(rows), deviations, scale)


def has_drivers(model: Any) -> bool:
    """Whether `influence` answers: of axes, of kernels with a gradient, and of texts whose grams have names."""
    if not isinstance(model, KernelModel) or is_precomputed(model):
        return isinstance(model, LinearModel)
    kernel, items, _ = model._projection.sums(model)
    if kernel.takes != "texts":
        return bool(kernel.differentiable)
    learned = kernel.feature_map(items[:1])
    return learned is not None and learned.names() is not None


def _of_kernel(model: KernelModel, X: Any) -> _Asked:
    if is_precomputed(model):
        raise ValueError("A precomputed kernel matrix has no columns that could drive a component: fit the rows.")
    kernel, items, alpha = model._projection.sums(model)
    if kernel.takes == "texts":
        return _of_grams(model, kernel, items, alpha, X)
    kernel.slopes(items[:1], items[:1])  # which refuses kernels without a gradient
    linear = kernel.features_are_rows
    functions: Functions = ByAxes(axes_of_sums(items, alpha)) if linear else BySums(kernel, items, alpha)
    scale = np.broadcast_to(here(getattr(model, "scale_", 1.0)), (items.shape[1],)).astype(np.float64)
    step, weights = -(-items.shape[0] // _ROWS), weights_of_fit(model)
    rows = HeldRows(items[::step]) if X is None else model._new_items(X).as_rows()
    weights = weights[::step] if X is None and weights is not None else None
    asked = _Asked(functions, rows, len(rows), scale, scale, weights)
    return replace(asked, deviations=_kernel_deviations(model, HeldRows(items), None if X is None else rows))


def _kernel_deviations(model: KernelModel, items: Any, rows: Any) -> Array:
    """Of the rows of the fit; where only landmarks were kept, of those given, or of the landmarks with a warning."""
    if hasattr(model, "X_fit_"):
        return _deviations(items, weights_of_fit(model), model)
    if hasattr(model, "scale_"):  # then all are 1, but for columns without any
        return np.where(_deviations(items, None, model) > 0, 1.0, 0.0)
    if rows is not None:
        return _deviations(rows, None, model)
    warn(
        f"Only {counted(len(items), 'landmark')} were kept, which lie farther out than others: gradients and standard "
        "deviations are theirs. Give the rows of the fit as X."
    )
    return _deviations(items, None, model)


def _of_grams(model: KernelModel, kernel: Any, items: Held, alpha: Array, X: Any) -> _Asked:
    """Of texts: the components are linear functions of exact features, which are how often grams are in a text."""
    learned = kernel.feature_map(items)
    names = None if learned is None else learned.names()
    if learned is None or names is None:
        raise ValueError(
            f"The columns of texts are grams, and {in_short(kernel)} has none with a name for every column; "
            "Spectrum(3), Subsequence(3) and Mismatch(3) have."
        )
    features = learned.features(items)
    rows = HeldRows(features if X is None else learned.features(model._new_items(X).load()))
    weights = weights_of_fit(model)
    axes, ones = axes_of_sums(features, alpha), np.ones(features.shape[1])
    deviations = _kernel_deviations(model, HeldRows(features), None if X is None else rows)
    return _Asked(ByAxes(axes), rows, len(rows), deviations, ones, weights if X is None else None, names)


def _between(model: Any, asked: _Asked, rng: np.random.Generator) -> tuple[Array | None, float]:
    """What columns add from row to row; None of linear functions, and of fewer than two rows."""
    if isinstance(asked.functions, ByAxes) or asked.rows is None or asked.n_rows < 2:
        return None, 0.0
    chance = None if asked.weights is None else asked.weights / asked.weights.sum()
    ends = np.array([rng.choice(asked.n_rows, size=_PAIRS, p=chance) for _ in range(2)])
    which, places = np.unique(ends, return_inverse=True)
    rows = dense(asked.rows[which], np.float64)
    scores, (a, b) = plain_scores(model, rows), places.reshape(ends.shape)
    return along_chords(asked.functions, rows[a], rows[b], scores[b] - scores[a], model._limits().threads)


def _deviations(rows: Any, weights: Array | None, model: Any) -> Array:
    """Standard deviations of columns, 0 of those that are constant."""
    if len(rows) < 2:
        raise BadData("The standard deviation of a column takes two rows at least, and X has one: give more rows.")
    spread = sweep_scatter(Spread, rows, weights, model._limits().threads, exact=True)
    return np.where(spread.constant, 0.0, spread.deviations)


def _blocks(asked: _Asked) -> Any:
    return [] if asked.rows is None else asked.rows.blocks(rows_at_a_time(asked.rows.width))


def _room_for_rows(model: Any, asked: _Asked) -> tuple[tuple[Array, Array], Any]:
    """Arrays for the gradients and scores of all rows, and what fills them."""
    if asked.rows is None:
        raise ValueError(f"{type(model).__name__} keeps no rows: give those whose gradients are asked for as X.")
    if asked.names is not None:
        raise ValueError("Components of texts are linear in their grams: every text has the same gradients, `mean`.")
    m, d, k = asked.n_rows, len(asked.deviations), len(model.get_feature_names_out())
    needed, limit = 8 * m * k * (d + 1), model._limits().memory
    if needed > limit:
        raise NoRoom(
            f"The gradients of {m:,} rows, {k} components and {d:,} columns take {bytes_in_words(needed)}, and the "
            f"limit is {bytes_in_words(limit)}: give fewer rows as X, or leave out per_row=True."
        )
    gradients, scores, start = np.empty((m, k, d)), np.empty((m, k)), 0
    for block in _blocks(asked):
        scores[start : start + block.shape[0]] = plain_scores(model, block)
        start += block.shape[0]

    def keep(first: int, some: Array) -> None:
        gradients[first : first + len(some)] = some

    return (gradients, scores), keep
