"""What locally linear embedding is asked: where rows live, whether their number will do, and the sizes of a plan."""

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, Held
from mercer_old.blocks import some_of
from mercer_old.errors import warn
from mercer_old.inputs import refuse_diagonal
from mercer_old.kernels.base import Kernel, kind_of_items
from mercer_old.kernels.resolve import as_said
from mercer_old.operators.tiles import plan_symmetric
from mercer_old.plans.fill import probe_fill
from mercer_old.plans.local import LAPACK_ITEMS, LocalProblem
from mercer_old.sources.items import Items
from mercer_old.spaces.base import Space
from mercer_old.spaces.by_kernel import KernelRows
from mercer_old.spaces.given import Distances
from mercer_old.spaces.points import Points, SparsePoints
from mercer_old.squares import SOME

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

_TOL = 1e-6
_USUAL_NEIGHBORS = 12  # of a plan, where they are to be found
_SPARSE_COST = 30.0  # nominal nanoseconds of a product of two sparse rows


class LocalParameters(Protocol):
    """What a fit asks of its model: parameters by their names, and where chance comes from."""

    n_components: int
    n_neighbors: int | str
    metric: str | Kernel
    method: str
    neighbors_algorithm: str
    eigen_solver: str
    tol: float
    max_iter: int
    n_landmarks: int | None

    def _rng(self) -> np.random.Generator: ...


def given_distances(model: LocalParameters) -> bool:
    return isinstance(model.metric, str) and model.metric == "precomputed"


def asked_metric(model: LocalParameters) -> str | Kernel:
    """The metric; of a name in the table of kernels of texts and of whole tables, the kernel."""
    return as_said(model.metric) if kind_of_items(model.metric) in ("texts", "tables") else model.metric


def space_of(model: LocalParameters, items: Items, tell: bool = True) -> Space:
    """Where the items have their distances; `tell`: warn if those are none."""
    if given_distances(model):
        return Distances(_checked_distances(items, tell))
    rows = items.load()
    metric = asked_metric(model)
    if isinstance(metric, Kernel):
        kernel = metric.resolved(rows, model._rng())
        if tell:
            _about_kernel(kernel, rows)
        return KernelRows.seen_by(kernel, rows.copy())
    if items.sparse:
        return SparsePoints.of(rows, unit=metric == "cosine")
    way = {"auto": "auto", "brute": "tiles"}.get(model.neighbors_algorithm, "tree")
    return Points.of(rows, unit=metric == "cosine", way=way)


def open_space(
    model: LocalParameters, items: Items, neighbors: int | None = None, loaded: int = 0
) -> tuple[Space, LocalProblem]:
    """The items where they have their distances, with the sizes of the work and what a small piece of it tells."""
    return probed(model, items, space_of(model, items), neighbors, loaded)


def probed(
    model: LocalParameters, items: Items, space: Space, neighbors: int | None = None, loaded: int = 0
) -> tuple[Space, LocalProblem]:
    """The same for a space that is there already; of some of the items, if it has fewer."""
    problem = local_problem(model, (space.n, items.width), loaded=loaded, neighbors=neighbors, items=items)
    many = problem.n > LAPACK_ITEMS
    fill = probe_fill(space, problem.neighbors, model._rng()) if many else None
    metric = asked_metric(model)
    cost = metric.cost(items) if isinstance(metric, Kernel) else problem.entry_cost
    return space, replace(problem, fill=fill, kept=space.nbytes, entry_cost=cost)


def finds_neighbors(model: LocalParameters) -> bool:
    """Whether the number of neighbours is to be found."""
    return isinstance(model.n_neighbors, str)


def least_neighbors(model: LocalParameters) -> int:
    """With fewer, the method has nothing to go by."""
    wanted = int(model.n_components)
    return {"hessian": wanted * (wanted + 3) // 2 + 1, "modified": wanted, "ltsa": wanted + 2}.get(model.method, 1)


def most_neighbors(model: LocalParameters, n: int) -> int:
    """More than that are not there: all other rows, or all other landmarks."""
    return min(n, model.n_landmarks or n) - 1


def local_problem(
    model: LocalParameters,
    shape: tuple[int, int],
    *,
    loaded: int = 0,
    neighbors: int | None = None,
    items: Items | None = None,
) -> LocalProblem:
    """The sizes on which a plan is based; of items, and a number of neighbours, that need not be there yet."""
    n, d = shape
    is_sparse = items is not None and items.sparse
    if finds_neighbors(model):
        neighbors = neighbors or max(min(_USUAL_NEIGHBORS, most_neighbors(model, n)), least_neighbors(model))
    else:
        neighbors = int(model.n_neighbors)
    _refuse_sizes(model, n, d, neighbors)
    return LocalProblem(
        n=n,
        d=d,
        k=int(model.n_components),
        neighbors=neighbors,
        eigen_solver=model.eigen_solver,
        tol=_tolerance(model),
        max_passes=model.max_iter,
        loaded=loaded,
        kept=0 if given_distances(model) else items.nbytes if items is not None and is_sparse else 8 * n * d,
        entry_cost=_entry_cost(model, d, is_sparse),
        n_landmarks=None if model.n_landmarks is None else int(model.n_landmarks),
        given=given_distances(model),
    )


def _entry_cost(model: LocalParameters, d: int, is_sparse: bool) -> float:
    """Nominal nanoseconds to find one distance, where no tree of points saves us most of them."""
    metric = asked_metric(model)
    if isinstance(metric, Kernel):
        return metric.entry_cost(d)
    return _SPARSE_COST if is_sparse else 1.0 if given_distances(model) else 0.0


def _tolerance(model: LocalParameters) -> float:
    """Zero is the usual one."""
    return float(model.tol or _TOL)


def _refuse_sizes(model: LocalParameters, n: int, d: int, k: int) -> None:
    """What cannot be, with scikit-learn's words where it has them."""
    wanted = int(model.n_components)
    if model.metric in ("euclidean", "cosine") and wanted > d:
        raise ValueError(
            f"output dimension must be less than or equal to input dimension: n_components={wanted}, n_features={d}"
        )
    if k >= n:
        raise ValueError(f"Expected n_neighbors < n_samples, but n_samples = {n}, n_neighbors = {k}")
    if wanted >= n:
        raise ValueError(f"n_components={wanted} must be less than n_samples={n}.")
    if model.n_landmarks is not None and model.n_landmarks <= max(k, wanted):
        raise ValueError(
            f"n_landmarks={model.n_landmarks} must be more than n_neighbors={k} and n_components={wanted}: rows are "
            "placed between so many landmarks."
        )
    if model.method == "hessian" and k <= wanted * (wanted + 3) // 2:
        raise ValueError(
            "for method='hessian', n_neighbors must be greater than [n_components * (n_components + 3) / 2]: "
            f"n_neighbors={k}, and {wanted * (wanted + 3) // 2}"
        )
    if model.method == "modified" and k < wanted:
        raise ValueError(f"modified LLE requires n_neighbors >= n_components: {k} and {wanted}")
    if model.method == "ltsa" and k <= wanted + 1:
        raise ValueError(
            f"for method='ltsa', n_neighbors={k} must be greater than n_components + 1 = {wanted + 1}: so few points "
            "lie in so few dimensions anyhow, and leave nothing to align."
        )


def _about_kernel(kernel: Kernel, rows: Held) -> None:
    """A warning, if some rows show that the distances of a kernel are none."""
    if not kernel.psd:
        some = some_of(rows, SOME)
        values = np.linalg.eigvalsh(kernel.block(some, some))
        if values[0] < -1e-8 * abs(values[-1]):
            warn(
                f"The kernel {kernel!r} is not positive semi-definite (some rows have an eigenvalue of {values[0]:.3g} "
                f"against a largest of {values[-1]:.3g}): its distances are no distances, and neighbourhoods may mean "
                "nothing."
            )


def metric_of(search: "NearestNeighbors") -> str:
    """That of scikit-learn's search, in our words."""
    check_is_fitted(search)
    name = search.effective_metric_
    if name in ("euclidean", "l2", "cosine", "precomputed"):
        return "euclidean" if name == "l2" else name
    raise ValueError(f"A search by metric={name!r} is not supported: euclidean, cosine and precomputed are.")


def _checked_distances(items: Items, tell: bool) -> Array:
    if items.sparse or items.is_operator:
        raise ValueError(
            "Sparse distances are not supported: also those between the neighbours of an item are needed, so "
            'metric="precomputed" takes a dense matrix.'
        )
    matrix: Array = items.load()
    refuse_negative_distances(matrix)
    refuse_diagonal(matrix)
    if tell:
        _about_symmetry(matrix)
    return matrix


def _about_symmetry(matrix: Array) -> None:
    tiles = ((matrix[a, b], matrix[b, a].T) for a, b in plan_symmetric(len(matrix)))
    uneven = max(float(np.abs(np.subtract(one, other, dtype=np.float64)).max()) for one, other in tiles)
    if uneven > 1e-6 * float(matrix.max()):
        warn(
            f"The distances are not symmetric, by up to {uneven:.3g}: neighbours are taken from the rows, and between "
            "neighbours the mean of both is used."
        )


def refuse_negative_distances(matrix: Array) -> None:
    if matrix.min() < 0:
        raise ValueError(f"Negative values in data: distances cannot be negative; the smallest is {matrix.min():.3g}.")
