"""From a model's parameters and whatever X is to a task: items through the door, weights, scale, kernel, sizes."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer_old.arrays import Array, Home
from mercer_old.engines.base import Engine
from mercer_old.fits.door import open_items
from mercer_old.fits.foretold import with_share
from mercer_old.fits.kernel.searching import search_bandwidth
from mercer_old.fits.kernel.task import Parameters, Task
from mercer_old.fits.scale import divided, refuse_matrix, standardized
from mercer_old.fits.training import Training, weigh
from mercer_old.inputs import table
from mercer_old.kernels import Kernel, Precomputed
from mercer_old.kernels.base import kind_of_items, n_rows
from mercer_old.kernels.domain import refuse_inverse, without_negative
from mercer_old.kernels.features import FeatureMap
from mercer_old.kernels.resolve import as_said, learned_from
from mercer_old.limits import Limits
from mercer_old.plans.share import number_to_plan_for
from mercer_old.plans.sizes import Problem, Spread
from mercer_old.readings.rules.shape import MOST_IN_ELBOW
from mercer_old.sources.chunked_items import ChunkedItems
from mercer_old.sources.collections import helpers_for
from mercer_old.sources.items import Items


def open_task(model: Parameters, X: Any, sample_weight: ArrayLike | None, limits: Limits, look: bool = True) -> Task:
    """What `model.fit(X)` is asked for; columns are looked at for a scale, unless it does not matter which."""
    asked = model.n_components
    share = None if asked is None or isinstance(asked, (Integral, str)) else float(asked)
    training = open_training(model, X, sample_weight, limits, look or share is not None)  # its plan needs a scale
    training = replace(training, helpers=_helpers_for(model, training))
    kernel = kernel_for(model, training.items, training.weights, limits.memory)
    if look and isinstance(model.gamma, str) and model.gamma == "cv":
        kernel, training = search_bandwidth(model, training, kernel, limits)
    learned = training.learn_features(kernel)
    gamma = _gamma_of(model, training.items, kernel)
    problem = describe(model, training.items, kernel, learned, helpers=training.helpers)
    if share is not None:
        problem = with_share(problem, kernel, training, share, limits, model._rng())
    return Task(
        training,
        kernel,
        problem,
        limits,
        gamma=gamma,
        rng=model._rng,
        asked=model.n_components,
        landmarks=model.landmarks,
        by_modulus=model.eigen_solver == "randomized",
        drop_zeros=model.remove_zero_eig or model.n_components is None,
        copy=model.copy_X and not is_precomputed(model),
        progress=model.progress,
        learned=learned,
        home=Home.of(X),
    )


def _helpers_for(model: Parameters, training: Training) -> Engine | None:
    """Who may be sent items that are here, to compare all with all: who has more than these, or a cluster at work."""
    return None if _by_landmarks(model) else training.elsewhere or helpers_for(training.all_items)


def _by_landmarks(model: Parameters) -> bool:
    """Whether items are compared with landmarks alone."""
    return asked_solver(model) == "landmark" and not model.refine


def open_training(model: Parameters, X: Any, sample_weight: ArrayLike | None, limits: Limits, look: bool) -> Training:
    """The items, checked and weighed, with their columns divided if that was asked for."""
    given = is_precomputed(model)
    if given:
        refuse_matrix(model.standardize, "kernel")
    if model.fit_inverse_transform and given:
        raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
    if asked_solver(model) == "landmark" and given:
        raise ValueError(
            'eigen_solver="landmark" asks for a few columns of the kernel matrix, so it takes rows and a kernel, '
            "not a precomputed matrix. A matrix that is too large to be computed is given as numbers of items, "
            "np.arange(n)[:, None], and mercer.kernels.Blockwise(function), which is asked for those columns alone."
        )
    asked = asked_kernel(model)
    if model.fit_inverse_transform:
        refuse_inverse(asked)
    items = open_items(model, X, reset=True, square=given, kind=kind_of_items(model.kernel), chunked=True)
    if isinstance(items, ChunkedItems) and not _by_landmarks(model):  # all are compared with all
        items = items.here_and_there(limits.memory)
    items.look_closer(limits.memory, model._rng())
    asked.admit(items.at_hand, items.label)
    if asked.non_negative:
        items = without_negative(items, asked, model)
    if model.fit_inverse_transform and items.kind == "things":
        raise ValueError("fit_inverse_transform finds rows of numbers, and X has things of another kind: leave it out.")
    if model.fit_inverse_transform and items.sparse:
        raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
    training = weigh(items, sample_weight)
    if not model.standardize:
        return training
    names = getattr(model, "feature_names_in_", None)
    return standardized(training, names, limits.threads) if look else divided(training, np.ones(items.width))


def is_precomputed(model: Parameters) -> bool:
    """Whether X is the kernel matrix itself."""
    return isinstance(model.kernel, Precomputed) or (isinstance(model.kernel, str) and model.kernel == "precomputed")


def asked_kernel(model: Parameters) -> Kernel:
    """The kernel that was asked for, with what is left to the data left to it; a γ to be searched is not known yet."""
    gamma = "median" if isinstance(model.gamma, str) else model.gamma
    return as_said(model.kernel, gamma=gamma, degree=model.degree, coef0=model.coef0, params=model.kernel_params)


def kernel_for(model: Parameters, items: Items, weights: Array | None = None, memory: float = float("inf")) -> Kernel:
    """The same with numbers in it; texts in chunks may be brought here for them, if they take no more memory."""
    return learned_from(asked_kernel(model), items, model._rng(), weights, memory)


def _gamma_of(model: Parameters, items: Items, kernel: Kernel) -> float:
    """The γ of the kernel; of one that has none, what it would have been."""
    said = None if isinstance(model.gamma, str) else model.gamma
    return getattr(kernel, "gamma", 1.0 / items.width if said is None else said)


def describe(
    model: Parameters,
    items: Items,
    kernel: Kernel,
    learned: FeatureMap | None = None,
    n: int | None = None,
    helpers: Engine | None = None,
) -> Problem:
    """The sizes on which a plan is based: those of the items, with whom they may be lent to, or of n that are like
    these."""
    asked, given, count = model.n_components, isinstance(kernel, Precomputed), len(items) if n is None else n
    columns = None if given else _n_features(kernel, items) if learned is None else learned.n_features()
    copies = (model.copy_X or model.standardize) and items.held and not (given or items.sparse or items.brought)
    return Problem(
        n=count,
        width=items.width,
        working=0 if given else kernel.working(items.at_hand),
        k=min(MOST_IN_ELBOW, count) if isinstance(asked, str) else number_to_plan_for(asked),
        n_features=columns,
        free_features=kernel.features_are_rows,
        sparse=items.sparse,
        sparse_features=kernel.sparse_features and columns is not None,
        stored=_stored(items, columns, learned) * count // max(len(items), 1),
        cheap_features=learned is not None and learned.cheap,
        given=given,
        copied=items.nbytes * count // max(len(items), 1) if copies else 0,
        loaded=0 if items.held and not items.brought else items.nbytes,
        reading=items.overhead,
        psd=kernel.psd,
        entry_cost=kernel.cost(items.at_hand),
        inverse=model.fit_inverse_transform,
        eigen_solver=asked_solver(model),
        tol=model.tol,
        max_passes=model.max_iter,
        n_landmarks=model.n_landmarks if model.landmarks is None else max(1, n_rows(model.landmarks)),
        refine=int(model.refine),
        chunks=None if items.chunks is None else Spread.of(items.chunks),
        lent=None if helpers is None else Spread(1, count, helpers.workers, helpers.room),
        drawn=model.landmarks is None,
    )


def _n_features(kernel: Kernel, items: Items) -> int | None:
    """Of texts and tables in chunks nobody counts them: landmarks were asked for."""
    return None if isinstance(items, ChunkedItems) else kernel.n_features(items)


def _stored(items: Items, columns: int | None, learned: FeatureMap | None) -> int:
    """Numbers of sparse features that are not zero: counted, or those of the rows where features are as wide."""
    counted = 0 if learned is None else learned.stored()
    as_wide = items.sparse and columns == items.width
    return counted or (round(getattr(items, "density", 1.0) * len(items) * items.width) if as_wide else 0)


def asked_solver(model: Parameters) -> str:
    """The solver that was asked for: who says something about landmarks wants them."""
    said = [name for name in ("n_landmarks", "landmarks", "refine") if getattr(model, name) is not None]
    said = [name for name in said if name != "refine" or model.refine]
    if {"n_landmarks", "landmarks"} <= set(said):
        raise ValueError("Give n_landmarks or the landmarks themselves, not both.")
    if model.landmarks is not None and _is_one(model.landmarks, kind_of_items(model.kernel)):
        raise ValueError(f"landmarks must be numbers of rows, or rows; got {model.landmarks!r}.")
    if said and model.eigen_solver in ("dense", "krylov"):
        raise ValueError(f'{said[0]} is for eigen_solver="landmark"; eigen_solver={model.eigen_solver!r} has none.')
    return "landmark" if said else str(model.eigen_solver)


def _is_one(landmarks: Any, kind: str) -> bool:
    """Whether it is a single thing, not several."""
    return np.ndim(table(landmarks, "landmarks")) == 0 if kind == "rows" else not hasattr(landmarks, "__len__")
