"""IncrementalPCA: batch after batch, and yet exact."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import metadata_routing

from mercer_old.arrays import Array, single_or_double
from mercer_old.blocks import MOST_FEATURES
from mercer_old.certificates.residuals import Certificate
from mercer_old.certificates.sketches import SketchCertificate
from mercer_old.fits.door import open_items
from mercer_old.fits.linear.batches import from_sums, number_by_batch, refuse_to_go_on, share_unit
from mercer_old.fits.linear.digits import about_digits
from mercer_old.fits.linear.summing import refuse_far_apart
from mercer_old.fits.linear.task import LinearTask
from mercer_old.fits.linear.units import find_scatter_in_range, refuse_too_large, squared_units, without_units
from mercer_old.fits.linear.ways import find_axes, with_enough_digits
from mercer_old.fits.training import weigh
from mercer_old.models.base import WEIGHTS_ON_REQUEST, all_or_nothing
from mercer_old.models.linear import Exact, LinearModel
from mercer_old.plans.linear import LinearProblem, choose_linear_plan, refuse_too_wide
from mercer_old.plans.pace import linear_plan_ahead
from mercer_old.plans.plan import Plan
from mercer_old.progress import OnPass, reporting, working
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Items, Rows
from mercer_old.sweeps.lanes import Maker
from mercer_old.sweeps.sketch import Sketches
from mercer_old.sweeps.square import Square
from mercer_old.unpromised import Interval, fits

_SOLVED = {
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "total_variance_",
    "reconstruction_error_",
    "certificate_",
    "plan_",
}  # names that follow from the sums, and are found when somebody asks


class IncrementalPCA(LinearModel):
    """Principal component analysis from batches of rows: exact, whatever the batches were.

    Keeps the number of rows, their mean and their d×d scatter matrix, which batches are added to without loss: what
    rounding takes from a sum is kept beside it (16·d² bytes: 1 MB for 256 columns, 400 MB for 5 000). A drop-in for
    ``sklearn.decomposition.IncrementalPCA``, which keeps k axes and drops the rest of every batch: here the answer is
    that of PCA on all rows at once, in any order and any number of batches.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components. None: as many as the first batch has rows, or columns if those are fewer.
    whiten : bool, default=False
        Divide every score by its standard deviation.
    copy : bool, default=True
        Accepted for compatibility: X is never changed.
    batch_size : int or None, default=None
        Rows after which ``fit`` forgets, if ``forget`` is below 1; the answer does not depend on it otherwise. None:
        five times the number of columns.
    forget : float, default=1.0
        Before every batch, let all rows so far count so much less: 0.9 makes a batch that is ten batches old count a
        third. 1: nothing is ever forgotten.
    n_jobs : int, default=None
        Threads, those of LAPACK among them; small fits take one. None: as many as the machine has, as limited by
        the environment.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the machine's or container's memory.
    progress : bool or callable, default=False
        As in `PCA`, for ``fit``.
    sketch_size : int or None, default=None
        Keep no matrix, but a sketch of up to twice so many rows, for streams with very many columns; no fewer than
        components, better several times as many. None: the d×d matrix.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, most variance first. This and what follows from it are computed when first asked for after
        ``partial_fit``; all are as those of `PCA`.
    explained_variance_ : ndarray of shape (n_components,)
        The variance of every score.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of ``total_variance_``.
    singular_values_ : ndarray of shape (n_components,)
        Of the centred rows.
    noise_variance_ : float
        The mean of the variances that were left out.
    total_variance_ : float
        The variance of all columns together.
    reconstruction_error_ : float
        Mean squared distance of the rows from what is left of them.
    loadings_ : ndarray of shape (n_features, n_components)
        Axes times standard deviations.
    certificate_ : Certificate or SketchCertificate
        What is proven about the answer; the latter of a sketch.
    plan_ : Plan
        What was done, and why.
    mean_ : ndarray of shape (n_features,)
        Of the columns.
    var_ : ndarray of shape (n_features,)
        Their variance, with 1/n.
    n_samples_seen_ : int
        Rows so far.
    n_components_ : int
        How many components.
    batch_size_ : int
        Rows in a batch of ``fit``.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.

    See Also
    --------
    PCA : The same from all rows at once.

    Notes
    -----
    Beyond 5 000 columns ``fit`` goes the way of `PCA`, often a few sweeps of products with the rows, and keeps no
    scatter matrix; ``partial_fit`` goes on exactly as long as the matrix fits into the memory limit, and refuses to
    begin if it does not.

    With ``sketch_size=ℓ``, Frequent Directions keeps rows B (2ℓ×d, 16·ℓ·d bytes) for which BᵀB ⪯ S ⪯ BᵀB + Δ·I, S the
    scatter matrix: every eigenvalue lies in [σᵢ²(B), σᵢ²(B) + Δ], and its middle is reported. Δ is known, in
    ``certificate_``, and at most (λₖ₊₁ + λₖ₊₂ + …)/(ℓ + 1 − k) for every k ≤ ℓ; it is zero for up to 2ℓ rows. Mean,
    ``var_`` and ``total_variance_`` are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PCA, IncrementalPCA
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> model = IncrementalPCA(2)
    >>> for batch in np.array_split(X, 7):
    ...     model = model.partial_fit(batch)
    >>> bool(np.allclose(model.components_, PCA(2).fit(X).components_))
    True
    """

    var_: Array
    n_samples_seen_: int
    batch_size_: int

    __metadata_request__fit: ClassVar[dict] = WEIGHTS_ON_REQUEST
    __metadata_request__partial_fit: ClassVar[dict] = {"check_input": metadata_routing.UNUSED} | WEIGHTS_ON_REQUEST

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "whiten": ["boolean"],
        "copy": ["boolean"],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "forget": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": [None, Integral],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "progress": ["boolean", callable],
        "sketch_size": [Interval(Integral, 1, None, closed="left"), None],
    }
    certificate_: Certificate | SketchCertificate  # type: ignore[assignment]
    _scatter: Any = None  # Square or Sketch
    _unit: float = 1.0  # a power of two that rows were divided by, if their squares are no numbers
    random_state = None  # of the certificate's probes: a fixed seed

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        forget: float = 1.0,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
        sketch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.forget = forget
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress
        self.sketch_size = sketch_size

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the rows of X, and forget all rows before.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; a file of rows, or what `mercer.open_rows` made of one; a memory-mapped array.
        y : Ignored
            Present for compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as that row twice; a row of weight 0 is left out.

        Returns
        -------
        self : IncrementalPCA
            The fitted model.
        """
        self._start_anew()
        rows, weights, n = self._checked(X, sample_weight, reset=True)
        d = rows.shape[1]
        self.batch_size_ = self.batch_size or 5 * d
        self._set_number(n, d, first=True)
        task = self._task(rows, weights, n, d)
        if self.forget < 1 or self.sketch_size:
            refuse_too_wide(task.problem, task.limits)
            self._in_batches(task)
            self._seen()
            self._solve()
            return self
        plan = choose_linear_plan(task.problem, task.limits)
        if plan.held != "scatter":
            found = find_axes(task, plan)
            self.n_samples_seen_ = found.count
            self.var_ = squared_units(found.squares / found.weight, found.unit).astype(self._dtype)
        else:
            with working(self.progress, 1, "rows", threads=task.limits.threads) as on_pass:
                task, scatter = find_scatter_in_range(task, Square, on_pass)
                found, self._scatter = with_enough_digits(task, plan, on_pass, scatter)
            found = without_units(found, task)
            self._unit = found.unit
            self._seen()
        self._keep(found)
        return self

    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, None]:
        self.fit(X, sample_weight=sample_weight)
        return self._new_items(X), None

    @all_or_nothing
    @fits
    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True, sample_weight: Any = None) -> Self:
        """Add a batch of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The batch; the first one has to have at least n_components rows.
        y : Ignored
            Present for compatibility.
        check_input : bool, default=True
            Accepted for compatibility: rows are always checked.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as that row twice; a row of weight 0 is left out.

        Returns
        -------
        self : IncrementalPCA
            The model with one batch more.
        """
        first = not hasattr(self, "n_samples_seen_")
        if not first:
            refuse_to_go_on(self._scatter, self.sketch_size, self.n_features_in_)
        rows, weights, n = self._checked(X, sample_weight, reset=first)
        self._set_number(n, rows.shape[1], first)
        task = self._task(rows, weights, n, rows.shape[1])
        if first:
            refuse_too_wide(task.problem, task.limits)
        self._take(task)
        self._seen()
        return self

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        rows, weights, n = self._checked(X, sample_weight, reset=True)
        self._set_number(n, rows.shape[1], first=True)
        task = self._task(rows, weights, n, rows.shape[1])
        return linear_plan_ahead(task.problem, task.limits)

    # ------------------------------------------------------------------ batches

    def _start_anew(self) -> None:
        for name in [*_SOLVED, "_scatter", "n_samples_seen_", "n_components_", "mean_", "var_"]:
            self.__dict__.pop(name, None)
        self._scatter = None

    def __sklearn_is_fitted__(self) -> bool:
        return "n_samples_seen_" in vars(self) or "components_" in vars(self)

    def _checked(self, X: Any, sample_weight: Any, *, reset: bool) -> tuple[Rows, Array | None, int]:
        """The rows, their weights, and how many there are: of weight two, two."""
        training = weigh(open_items(self, X, reset=reset, mapped=True), sample_weight)
        if reset:
            self._dtype = single_or_double(training.items.dtype)
        return training.items.as_rows(), training.weights, training.copies

    def _set_number(self, n: int, d: int, first: bool) -> None:
        before = None if first else self.n_components_
        self.n_components_ = number_by_batch(self.n_components, n, d, before, self.sketch_size)

    def _in_batches(self, task: LinearTask) -> None:
        """Batch after batch, each of which makes those before count less; all at once, if it does not."""
        if self.forget == 1:
            with working(self.progress, 1, "rows", threads=task.limits.threads) as on_pass:
                return self._take(task, on_pass)
        start = 0
        with reporting(self.progress, 1, "rows") as on_pass:
            for block in task.rows.blocks(self.batch_size_):
                stop = start + block.shape[0]
                weights = None if task.weights is None else task.weights[start:stop]
                self._take(replace(task, rows=HeldRows(block), weights=weights))
                start = stop
                if on_pass:
                    on_pass(start / task.rows.shape[0])

    def _take(self, task: LinearTask, on_pass: OnPass = None) -> None:
        """One more batch, in double precision, as its rows do not come twice; those before count less."""
        with np.errstate(over="ignore", invalid="ignore"):
            kind: Maker[Any] = Sketches(self.sketch_size) if self.sketch_size else Square
            task, batch = find_scatter_in_range(task, kind, on_pass, exact=True)
            unit = 1.0 if task.units is None else float(task.units[0])
            refuse_too_large(batch.squares, unit)
            if self._scatter is None:
                self._scatter, self._unit = batch, unit
                return
            refuse_far_apart(self._scatter, self._unit, batch, unit)
            self._unit = share_unit(self._scatter, self._unit, batch, unit)
            self._scatter.forget(self.forget)
            self._scatter.merge(batch)

    def _seen(self) -> None:
        """What is known at once; the rest when somebody asks."""
        scatter = self._scatter
        for name in _SOLVED:
            self.__dict__.pop(name, None)
        self.n_samples_seen_ = scatter.count
        mean = scatter.mean * self._unit
        self._exact = Exact(mean)
        self.mean_ = mean.astype(self._dtype)
        self.var_ = squared_units(scatter.squares / scatter.weight, self._unit).astype(self._dtype)

    def __getattr__(self, name: str) -> Any:
        """The names that follow from the sums."""
        if name not in _SOLVED or self.__dict__.get("_scatter") is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._solve()
        return self.__dict__[name]

    def _solve(self) -> None:
        scatter = self._scatter
        task = self._task(None, None, scatter.copies, scatter.width)
        with self._within_limits():
            found = from_sums(task, scatter)
        found = replace(found, mean=found.mean * self._unit, unit=self._unit)
        already = {name: self.__dict__[name] for name in [*_SOLVED, "mean_"] if name in self.__dict__}
        self._keep(replace(found, warnings=[*found.warnings, *about_digits(found)]))
        self.__dict__ |= already  # what somebody has set stays

    def _task(self, rows: Any, weights: Array | None, n: int, d: int) -> LinearTask:
        problem = self._problem(n, d, rows)
        return LinearTask(
            rows, weights, problem, self._limits(), self._rng, min(self.n_components_, n, d), progress=self.progress
        )

    def _problem(self, n: int, d: int, rows: Any = None) -> LinearProblem:
        return LinearProblem(
            n=n,
            d=d,
            k=min(self.n_components_, n, d),
            sparse=rows is not None and rows.sparse,
            held=rows is None or rows.held,
            itemsize=8 if rows is None else rows.dtype.itemsize,
            reading=0 if rows is None else rows.overhead,
            solver="covariance_eigh" if d <= MOST_FEATURES else "auto",
            sketch=self.sketch_size or 0,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
