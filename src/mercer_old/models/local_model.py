"""Locally linear embedding from the inside: from rows to fitted names, and from new rows to places."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, single_or_double
from mercer_old.certificates.gaps import GapCertificate, PartsCertificate
from mercer_old.certificates.placed import PlacedCertificate
from mercer_old.errors import warn, warn_each
from mercer_old.fits.door import open_items
from mercer_old.fits.local.choosing import NeighborsFound, choose_neighbors
from mercer_old.fits.local.embedding import Places, Recipe, find_embedding
from mercer_old.fits.local.landmarks import ChosenItems, choose_landmarks, foretold_plan, place_rows
from mercer_old.fits.local.neighborhoods import Graph, Neighborhoods, find_neighborhoods, look_at_graph
from mercer_old.fits.local.placing import Placement, place
from mercer_old.fits.local.task import (
    asked_metric,
    finds_neighbors,
    given_distances,
    local_problem,
    open_space,
    refuse_negative_distances,
)
from mercer_old.fits.scale import in_units, refuse_matrix, standardized
from mercer_old.fits.training import Training
from mercer_old.kernels.base import Kernel, kind_of_items
from mercer_old.kernels.domain import without_negative
from mercer_old.models.base import Model, all_or_nothing, refuse_infinite
from mercer_old.plans.local import LocalProblem, choose_local_plan
from mercer_old.plans.pace import local_plan_ahead
from mercer_old.plans.plan import Plan
from mercer_old.progress import saying, working
from mercer_old.readings.columns import about_units
from mercer_old.solvers.shift_invert import BottomSolver
from mercer_old.sources.items import Items
from mercer_old.spaces.base import Space
from mercer_old.unpromised import fits

_STAGES = 3  # of a fit: neighbours, neighbourhoods, eigenvectors; with landmarks, one more for all other rows
_SINGULAR = (
    "Error in determining null-space with ARPACK. Error message: '{}'. Note that eigen_solver='arpack' can fail when "
    "the weight matrix is singular or otherwise ill-behaved; eigen_solver='auto' warns instead."
)


@dataclass(frozen=True)
class _Opened:
    """Rows, checked, and what will be done with them."""

    items: Items  # as they were given
    training: Training  # as the model sees them: in units of their scale
    problem: LocalProblem  # the sizes of the work
    plan: Plan
    space: Space | None  # where all rows have their distances; None: landmarks are chosen first
    dtype: Any  # of the answer
    search: NeighborsFound | None = None  # for a number of neighbours


class LocalModel(Model):
    """What `LocallyLinearEmbedding` does with its parameters."""

    embedding_: Array
    reconstruction_error_: float
    certificate_: GapCertificate | PartsCertificate | PlacedCertificate
    plan_: Plan
    part_labels_: Array
    n_parts_: int
    n_ties_: int
    n_neighbors_: int
    n_neighbors_reason_: str
    landmark_indices_: Array
    scale_: Array
    n_features_in_: int
    feature_names_in_: Array

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, Array]:
        if sample_weight is not None:
            raise ValueError("Locally linear embedding has no weights of rows; leave out sample_weight.")
        return self._fit(X), self.embedding_

    def _fit(self, X: Any) -> Items:
        """From items to fitted names; returns those that were embedded."""
        limits, rng = self._limits(), self._rng()
        with working(self.progress, _STAGES, "neighbourhoods", threads=limits.threads) as on_pass:
            opened = self._open(X)
            chosen = None
            if opened.space is None:
                chosen = choose_landmarks(self, opened.training.items, opened.problem, opened.plan, limits)
            work = chosen or opened
            space, problem, plan = work.space, work.problem, work.plan
            assert space is not None and isinstance(plan.solver, BottomSolver)
            if on_pass and chosen:
                on_pass.expected += 1
            hoods = find_neighborhoods(space, problem.neighbors, limits.threads, on_pass)
            if hoods.n_distinct == 1 and self.eigen_solver == "arpack":
                raise ValueError(_SINGULAR.format(hoods.note))
            graph = look_at_graph(hoods, self.method, self.on_disconnected)
            found = find_embedding(hoods, graph, self._recipe(problem), plan.solver, rng, limits.threads, on_pass)
            embedding, labels = hoods.all_rows(found.coordinates), hoods.all_rows(graph.labels)
            places = Places(embedding, labels, found.error, found.certificate, found.warnings)
            if chosen:
                rows, how = opened.training.items, (self.reg, limits.threads)
                saying(on_pass, "placing rows")
                places = place_rows(rows, chosen.indices, hoods, graph, found, *how, on_pass)
        self._keep(hoods, graph, places, replace(opened, plan=plan), chosen)
        return opened.items

    def _open(self, X: Any) -> _Opened:
        """The rows, checked, and the plan for them."""
        if given_distances(self):
            refuse_matrix(self.standardize, "distance")
        items = open_items(
            self, X, reset=True, square=given_distances(self), matrix="distance", kind=kind_of_items(self.metric)
        )
        metric = asked_metric(self)
        if isinstance(metric, Kernel):
            metric.admit(items, items.label)
        if isinstance(metric, Kernel) and metric.non_negative:
            items = without_negative(items, metric, self)
        limits, training, dtype = self._limits(), Training(items, own=False), single_or_double(items.dtype)
        loaded = items.nbytes if not items.held or (self.standardize and not items.sparse) else 0
        problem = local_problem(self, (len(items), items.width), loaded=loaded, items=items)
        unseen = loaded > 0 or self.n_landmarks is not None or problem.kept > limits.memory
        plan = choose_local_plan(problem, limits) if unseen else None  # may refuse before anything is read
        if self.standardize:
            training = standardized(training, getattr(self, "feature_names_in_", None), limits.threads)
        search = None
        if finds_neighbors(self):
            search = choose_neighbors(self, training.items, self._recipe(problem), limits)
            problem = replace(problem, neighbors=search.k)
            plan = plan and choose_local_plan(problem, limits)
        if plan is None or not plan.approximate:
            space, problem = open_space(self, training.in_memory().items, problem.neighbors, loaded)
            plan = choose_local_plan(problem, limits)
            if not plan.approximate:
                return _Opened(items, training, problem, plan, space, dtype, search)
        return _Opened(items, training, problem, plan, None, dtype, search)

    def _recipe(self, problem: LocalProblem) -> Recipe:
        return Recipe(self.method, problem.k, self.reg, self.modified_tol, problem.tol)

    def _keep(
        self,
        hoods: Neighborhoods,
        graph: Graph,
        found: Places,
        opened: _Opened,
        chosen: ChosenItems | None,
    ) -> None:
        """All fitted names, in one place."""
        dtype, training = opened.dtype, opened.training
        about_rows = [opened.plan.notice, *training.notes, *graph.notes, *self._about_units(hoods.space)]
        for name in ("scale_", "landmark_indices_", "n_neighbors_reason_"):
            self.__dict__.pop(name, None)
        self.n_neighbors_ = hoods.indices.shape[1]
        if opened.search is not None:
            self.n_neighbors_reason_ = opened.search.reason
        if training.scale is not None:
            self.scale_ = training.scale.astype(dtype)
        if chosen is not None:
            self.landmark_indices_ = chosen.indices
        self._dtype, self._hoods = dtype, hoods
        self._apart = graph.labels if graph.separate else None
        self.embedding_ = found.embedding.astype(dtype, copy=False)
        self.reconstruction_error_ = found.error
        self.certificate_, self.plan_ = found.certificate, opened.plan
        self.part_labels_, self.n_parts_ = found.labels, graph.n_parts
        self.n_ties_ = hoods.tied
        warn_each([*about_rows, *found.warnings])
        if not found.certificate.converged:
            warn(
                "The solver stopped before every coordinate met the tolerance; see certificate_. Give a larger "
                "max_iter or tol.",
                ConvergenceWarning,
            )

    def _about_units(self, space: Space) -> list[str]:
        """Whether one column decides alone who is near, where that is a matter of its unit."""
        by_distance = self.metric.by_distance if isinstance(self.metric, Kernel) else self.metric == "euclidean"
        if self.standardize or not by_distance or space.rows is None:
            return []
        return about_units(space.rows, getattr(self, "feature_names_in_", None))

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        opened = self._open(X)
        plan = opened.plan
        if opened.space is None:
            plan = foretold_plan(self, opened.training.items, opened.problem, plan, self._limits())
        return local_plan_ahead(plan)

    # ------------------------------------------------------------------ using

    def _new_items(self, X: Any) -> Items:
        check_is_fitted(self)
        items = open_items(
            self, X, reset=False, square=given_distances(self), matrix="distance", kind=kind_of_items(self.metric)
        )
        if given_distances(self):
            refuse_negative_distances(items.load())
        self._hoods.space.admit(items)
        if isinstance(self.metric, Kernel) and self.metric.non_negative:
            items = without_negative(items, self.metric, self)
        return in_units(items, getattr(self, "scale_", None))

    def _scores(self, rows: Any, threads: int) -> Array:
        return self._placed(rows, threads).embedding

    def _scored(self, items: Items, function: Any = None, whole: bool = True) -> Iterator[tuple[int, Array]]:
        """Block after block of places; of rows that are far away, all are told of at the end."""
        far, (farthest, distance), start = 0, (0, 0.0), 0

        def watched(block: Any, threads: int) -> Array:
            nonlocal far, farthest, distance, start
            placed = self._placed(block, threads)
            refuse_infinite(placed.embedding, start)
            away = np.where(placed.far, placed.nearest, 0.0)
            if away.max() > distance:
                farthest, distance = start + int(away.argmax()), float(away.max())
            far, start = far + int(placed.far.sum()), start + len(away)
            return placed.embedding

        yield from super()._scored(items, watched, whole)
        if far:
            warn(
                f"{far:,} of {start:,} rows are farther from the training rows than those are from their own "
                f"neighbours (row index {farthest} is {distance:.3g} away): there the embedding is a guess."
            )

    def _placed(self, rows: Any, threads: int) -> Placement:
        with self._within_limits():
            return place(self._hoods, self._places, self.reg, rows, threads, self._apart)

    @property
    def _places(self) -> Array:
        """Of all distinct items that new rows are compared with."""
        return self._of_items(self.embedding_)

    def _of_items(self, of_rows: Any) -> Array:
        """What is there for every row of the fit, for these items alone."""
        chosen, of_rows = vars(self).get("landmark_indices_"), np.asarray(of_rows)
        return self._hoods.of_items(of_rows if chosen is None else of_rows[chosen])

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]
