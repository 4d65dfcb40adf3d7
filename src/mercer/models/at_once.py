"""What PCA and ProbabilisticPCA share: rows that are looked at all at once, and how a fit of them goes."""

from dataclasses import dataclass
from typing import Any

from mercer.arrays import Array, Home, single_or_double
from mercer.drop_in.svd_solvers import resolve_svd_solver
from mercer.fits.door import open_items
from mercer.fits.foretold import with_linear_share
from mercer.fits.linear.task import LinearTask, linear_problem
from mercer.fits.linear.ways import find_axes
from mercer.fits.training import Training, weigh
from mercer.models.base import all_or_nothing
from mercer.models.linear import LinearModel
from mercer.plans.linear import choose_linear_plan
from mercer.plans.pace import linear_plan_ahead
from mercer.plans.plan import Plan
from mercer.sources.items import Items
from mercer.unpromised import fits


@dataclass(frozen=True)
class _Asked:
    """What a fit asks of its model, where the number of components may have been found by then."""

    n_components: int | float | str | None
    svd_solver: str
    tol: float


class AtOnce(LinearModel):
    """A linear model that is fitted to all rows at once, by one of the ways to principal axes."""

    n_components: int | float | str | None
    svd_solver: str
    tol: float
    standardize: bool
    n_samples_: int

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the scores of the rows of X as ``fit(X).transform(X)`` does.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        y : Ignored
            Present for compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            As of `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            One row for each row of X, also for those of weight zero.
        """
        scores = self._by_blocks(self._fit_for_scores(X, sample_weight)[0])
        return Home.of(self.components_).bring(scores)

    @all_or_nothing
    @fits
    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, None]:
        return self._fit(X, sample_weight), None

    def _fit(self, X: Any, sample_weight: Any) -> Items:
        """From rows to fitted names; returns the rows as they were given, checked."""
        home = self._home_of(X)
        task, given = self._task(X, sample_weight)
        found = find_axes(task, choose_linear_plan(task.problem, task.limits))
        self.n_samples_ = task.problem.n
        self._keep(found, home)
        return given

    def _task(self, X: Any, sample_weight: Any) -> tuple[LinearTask, Items]:
        training = weigh(self._training_items(X), sample_weight)
        if training.kept is not None:  # rows that are left out are scored all the same
            self._look_at_left_out(X)
        rows = training.items.as_rows()
        self._dtype = single_or_double(rows.dtype)
        asked = _Asked(self._number_asked(training), self.svd_solver, self.tol)
        self._fit_svd_solver = resolve_svd_solver(asked, (training.copies, rows.width), rows.sparse)
        problem, limits = linear_problem(asked, training.count, rows.width, rows, training.copies), self._limits()
        if isinstance(asked.n_components, float):
            problem = with_linear_share(
                problem, rows, training.weights, asked.n_components, limits, self._rng(), self.standardize
            )
        task = LinearTask(
            rows=rows,
            weights=training.weights,
            problem=problem,
            limits=limits,
            rng=self._rng,
            asked=asked.n_components,
            standardize=self.standardize,
            names=getattr(self, "feature_names_in_", None),
            progress=self.progress,
            look=lambda: self._look(X),
        )
        return task, training.all_items

    def _training_items(self, X: Any) -> Items:
        """The items of a fit: whoever sums them up sees what is not finite."""
        return open_items(self, X, reset=True, mapped=True, finite=False)

    def _look(self, X: Any) -> None:
        """For numbers that are not finite, with words for them."""
        open_items(self, X, reset=False)

    def _look_at_left_out(self, X: Any) -> None:
        """The same, of rows that do not count."""
        self._look(X)

    def _number_asked(self, training: Training) -> int | float | str | None:
        """How many components: a number, a share, a rule that looks at variances, or None for all of them."""
        return self.n_components

    def _home_of(self, X: Any) -> Home:
        """Where the rows are at home."""
        return Home.of(X)

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        task, _ = self._task(X, sample_weight)
        return linear_plan_ahead(task.problem, task.limits)
