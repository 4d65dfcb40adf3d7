"""New points: between their neighbours among the training rows."""

from dataclasses import dataclass, fields

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.blocks import hoods_at_a_time, rows_at_a_time, steps
from mercer_old.fits.local.neighborhoods import Neighborhoods
from mercer_old.operators import local_methods
from mercer_old.sources.held import width_of
from mercer_old.threads import run

_ENTRIES, _ROWS = 250_000, 64  # of neighbours' coordinates that stay in the cache, and rows that they are of at least
_OUTLYING = 1.25  # times as far from the training rows as those are from their own neighbours: no neighbour of theirs


@dataclass(frozen=True)
class Placement:
    """Where new points go, and how much their neighbours know about them."""

    embedding: Array  # m×d
    residuals: Array  # (m,): distance of a point from what its neighbours make of it, in the units of the input
    nearest: Array  # (m,): distance to the nearest training row
    far: Array  # (m,): whether that is farther than the training rows there are from their own neighbours

    @classmethod
    def joined(cls, parts: list["Placement"], order: Array | None = None) -> "Placement":
        """One after the other, or where `order` says that each of them goes."""
        columns = [np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)]
        return cls(*(columns if order is None else [column[np.argsort(order)] for column in columns]))


def place(
    hoods: Neighborhoods, places: Array, reg: float, rows: Held, threads: int, labels: Array | None = None
) -> Placement:
    """z = Σⱼ wⱼzⱼ over the k nearest items; a row that equals an item gets its place.

    With labels, places of different parts have nothing to do with each other: a row goes to the part that its nearest
    item is in, and looks at no other.
    """
    size, parts = rows_at_a_time(width_of(rows)), []
    for some in steps(rows.shape[0], size):
        new = hoods.space.prepare(rows[some])
        parts.append(
            _place_some(hoods, places, reg, new, threads)
            if labels is None
            else _place_by_parts(hoods, places, reg, new, threads, labels)
        )
    return Placement.joined(parts)


def _place_by_parts(
    hoods: Neighborhoods, places: Array, reg: float, new: Held, threads: int, labels: Array
) -> Placement:
    chosen = labels[hoods.space.nearest_to(new, 1, threads).indices[:, 0]]
    found, order = [], []
    for part in np.unique(chosen):
        members, some = np.flatnonzero(labels == part), np.flatnonzero(chosen == part)
        own = hoods.part(members)
        found.append(_place_some(own, places[members], reg, own.space.for_part(new[some]), threads))
        order.append(some)
    return Placement.joined(found, np.concatenate(order))


def _place_some(hoods: Neighborhoods, places: Array, reg: float, new: Held, threads: int) -> Placement:
    """The same for rows that the space has prepared."""
    space, k = hoods.space, hoods.indices.shape[1]
    near = space.nearest_to(new, k, threads)
    residuals, out = np.empty(len(near.indices)), np.empty((len(near.indices), places.shape[1]))

    def work(some: slice) -> None:
        G = space.gram_at(new[some], near.indices[some])
        w = local_methods.weights(G, reg)
        residuals[some] = local_methods.residuals(G, w) * space.scale
        np.einsum("ij,ijl->il", w, places[near.indices[some]], out=out[some])

    size = min(hoods_at_a_time(k, space.width), max(_ENTRIES // (k * space.width), _ROWS))
    run(work, steps(len(out), size), threads)
    equal = space.equal(new, near)
    same = equal.any(axis=1)
    first = np.where(equal, near.indices, len(places)).min(axis=1)  # of several that it equals
    out[same], residuals[same] = places[first[same]], 0.0
    nearest, reach = near.distances[:, 0], _OUTLYING * hoods.distances[near.indices, -1].max(axis=1)
    return Placement(out.astype(places.dtype, copy=False), residuals, nearest, nearest > reach)
