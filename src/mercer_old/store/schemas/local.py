"""LocallyLinearEmbedding: places, neighbourhoods, and the space in which new rows find their neighbours."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.fits.local.neighborhoods import Neighborhoods
from mercer_old.kernels.dot import Linear
from mercer_old.models.lle import LocallyLinearEmbedding
from mercer_old.spaces.base import Space
from mercer_old.spaces.by_kernel import KernelRows
from mercer_old.spaces.given import Distances
from mercer_old.spaces.points import Points, SparsePoints
from mercer_old.store.facts import count, flag, integers, items, kernel, number, numbers, scales, word
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas.base import DTYPES, Facts, Schema, dtype_named, set_fitted, taken
from mercer_old.store.schemas.points import as_points

__all__ = ["LLE"]

_FITTED = (
    count("n_features_in"),
    numbers("embedding", "N k"),
    number("reconstruction_error"),
    integers("part_labels", "N"),
    count("n_parts"),
    count("n_ties"),
    scales("scale", "d", optional=True),
    integers("landmark_indices", "m", optional=True, below="N"),
    count("n_neighbors", "q", optional=True),  # older files do not say it
    word("n_neighbors_reason", optional=True),
)
_FACTS = (
    *_FITTED,
    word("dtype", *DTYPES),
    # Where neighbourhoods live.
    word("space", "points", "sparse points", "kernel", "distances"),
    items("rows", "n", "d", optional=True),
    numbers("centre", "d", optional=True),
    number("unit", optional=True),  # a power of two that points were divided by
    flag("directions", optional=True),  # whether rows were brought to length one
    word("way", "auto", "tree", "tiles", optional=True),
    kernel("kernel", optional=True),
    numbers("diag", "n", optional=True),
    integers("filled_columns", "c", optional=True, below="d"),
    numbers("medians", "c", optional=True),
    numbers("matrix", "n n", optional=True),
    integers("matrix_columns", "n", optional=True, below="N"),
    # Who is near whom, among distinct items.
    integers("neighbors", "n q", below="n"),
    numbers("distances", "n q"),
    integers("copies", "e", optional=True, below="n"),  # of the rows that were embedded: all of them, or landmarks
    count("n_distinct", optional=True),
    word("note"),
    integers("apart", "n", optional=True),
)


def _take(model: LocallyLinearEmbedding) -> Facts:
    hoods: Neighborhoods = model._hoods
    return (
        taken(model, [fact.name for fact in _FITTED])
        | {"dtype": dtype_named(model), "apart": model._apart}
        | {"neighbors": hoods.indices, "distances": hoods.distances, "copies": hoods.copies}
        | {"n_distinct": hoods.n_distinct, "note": hoods.note}
        | _take_space(hoods.space)
    )


def _take_space(space: Space) -> Facts:
    if isinstance(space, Distances):
        return {"space": "distances", "matrix": space.matrix, "matrix_columns": space.columns}
    if isinstance(space, Points):
        how = {"unit": space.scale, "directions": space.unit, "way": space.way}
        return {"space": "points", "rows": space.rows, "centre": space.centre} | how
    if isinstance(space, SparsePoints):
        moved = {"filled_columns": space.columns, "medians": space.medians, "directions": space.unit}
        return {"space": "sparse points", "rows": space.rows, "diag": space.diag} | moved
    assert isinstance(space, KernelRows)
    return {"space": "kernel", "rows": space.rows, "kernel": space.kernel, "diag": space.diag}


def _give(model: LocallyLinearEmbedding, found: Facts) -> None:
    space = _GIVEN[found["space"]](found)
    copies, n_places = found["copies"], _count_embedded(found)
    if copies is not None and len(copies) != n_places:
        raise Unusable(f"it tells equal rows of {len(copies):,}, and {n_places:,} were embedded")
    if (n_places if copies is None else len(np.unique(copies))) != space.n:
        raise Unusable(f"it has {space.n:,} items, and places of {n_places:,} that are not theirs")
    _refuse_hoods(found["neighbors"], found["apart"])
    rows, columns = found["rows"], found["n_features_in"]
    if rows is not None and len(rows.shape) == 2 and rows.shape[1] != columns:
        raise Unusable(f"its rows have {rows.shape[1]:,} columns, and n_features_in is {columns:,}")
    set_fitted(model, found, [fact.name for fact in _FITTED])
    model.n_neighbors_ = found["neighbors"].shape[1]
    model._dtype, model._apart = np.dtype(found["dtype"]).type, found["apart"]
    model._hoods = Neighborhoods(
        space,
        found["neighbors"],
        found["distances"],
        found["copies"],
        found["n_distinct"],
        found["note"],
        found["n_ties"],
    )


def _count_embedded(found: Facts) -> int:
    """How many rows were embedded: all that have places, or the landmarks, each of them once."""
    chosen = found["landmark_indices"]
    if chosen is None:
        return len(found["embedding"])
    if not len(chosen) or (np.diff(chosen.astype(np.int64)) <= 0).any():
        raise Unusable("its landmarks are not in order")
    return len(chosen)


def _refuse_hoods(neighbors: Array, apart: Array | None) -> None:
    """There is somebody near, and no more than there are; parts know nobody outside of themselves."""
    n, q = neighbors.shape
    if not 1 <= q <= n:
        raise Unusable(f"it has {q:,} neighbors of each of {n:,} items")
    if apart is None:
        return
    if (apart[neighbors] != apart[:, None]).any() or np.unique(apart, return_counts=True)[1].min() < q:
        raise Unusable("its parts are not apart")


def _needed(found: Facts, *names: str) -> list[Any]:
    for name in names:
        if found[name] is None:
            raise Unusable(f"{name} of its {found['space']} is missing")
    return [found[name] for name in names]


def _points(found: Facts) -> Space:
    rows, centre, unit, directions, way = _needed(found, "rows", "centre", "unit", "directions", "way")
    return as_points(rows, centre, unit, directions, way)


def _sparse_points(found: Facts) -> Space:
    rows, diag, columns, medians, unit = _needed(found, "rows", "diag", "filled_columns", "medians", "directions")
    return SparsePoints(rows, Linear(), diag, columns, medians, unit)


def _by_kernel(found: Facts) -> Space:
    return KernelRows(*_needed(found, "rows", "kernel", "diag"))


def _distances(found: Facts) -> Space:
    (matrix,), columns = _needed(found, "matrix"), found["matrix_columns"]
    if columns is None and len(matrix) != found["n_features_in"]:
        raise Unusable(f"distances are between {len(matrix):,} items, and n_features_in is {found['n_features_in']:,}")
    return Distances(matrix, columns, columns)


_GIVEN: dict[str, Callable[[Facts], Space]] = {
    "points": _points,
    "sparse points": _sparse_points,
    "kernel": _by_kernel,
    "distances": _distances,
}
LLE = Schema(LocallyLinearEmbedding, _FACTS, _take, _give)
