"""New points: between their neighbours among the training rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.limits import hoods_at_a_time
from mercer.models.neighborhoods import Neighborhoods
from mercer.operators import local
from mercer.symmetric import Array
from mercer.threads import run

FAR = 1.25  # times as far from the training rows as those are from their own neighbours: no neighbour of theirs


@dataclass(frozen=True)
class Placement:
    """Where new points go, and how much their neighbours know about them."""

    embedding: Array  # m×d
    residuals: Array  # (m,): distance of a point from what its neighbours make of it, in the units of the input
    nearest: Array  # (m,): distance to the nearest training row
    far: Array  # (m,): whether that is farther than the training rows there are from their own neighbours


def place(hoods: Neighborhoods, places: Array, reg: float, rows: Any, threads: int) -> Placement:
    """z = Σⱼ wⱼzⱼ over the k nearest items; a row that equals an item gets its place."""
    space, k = hoods.space, hoods.indices.shape[1]
    near = space.nearest_to(rows, k, threads)
    residuals, out = np.empty(len(near.indices)), np.empty((len(near.indices), places.shape[1]))

    def work(some: slice) -> None:
        G = space.gram_at(rows[some], near.indices[some])
        w = local.weights(G, reg)
        residuals[some] = local.residuals(G, w) * space.scale
        np.einsum("ij,ijl->il", w, places[near.indices[some]], out=out[some])

    size = hoods_at_a_time(k, space.width)
    run(work, [slice(i, min(i + size, len(out))) for i in range(0, len(out), size)], threads)
    nearest, reach = near.distances[:, 0], FAR * hoods.distances[near.indices, -1].max(axis=1)
    same = nearest == 0
    first = np.where(near.distances == 0, near.indices, len(places)).min(axis=1)  # of several that it equals
    out[same], residuals[same] = places[first[same]], 0.0
    return Placement(out.astype(places.dtype, copy=False), residuals, nearest, nearest > reach)
