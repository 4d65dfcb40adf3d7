"""More rows than can be embedded: some of them, the landmarks, are, and all others are placed between them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.blocks import rows_at_a_time, steps
from mercer_old.certificates.placed import PlacedCertificate, certify_placed
from mercer_old.errors import NoRoom
from mercer_old.fits.local.embedding import Embedding, Places
from mercer_old.fits.local.neighborhoods import Graph, Neighborhoods, refuse_infinite_distances
from mercer_old.fits.local.placing import place
from mercer_old.fits.local.task import LocalParameters, given_distances, probed, space_of
from mercer_old.limits import Limits
from mercer_old.operators import local_methods
from mercer_old.operators.alignment import over_blocks
from mercer_old.plans.local import LocalProblem, fewest_landmarks, plan_of_landmarks
from mercer_old.plans.plan import Plan
from mercer_old.progress import OnPass
from mercer_old.solvers.among import AmongLandmarks
from mercer_old.sources.items import Items
from mercer_old.spaces.base import Space

_GROWTH = 0.5  # landmarks that are drawn at once, against those that are there


# ---------------------------------------------------------------------- which rows


@dataclass(frozen=True)
class ChosenItems:
    """Landmarks where they have their distances, and the plan for them."""

    space: Space
    indices: Array  # their numbers among all items, increasing
    problem: LocalProblem
    plan: Plan


def choose_landmarks(
    model: LocalParameters, items: Items, problem: LocalProblem, plan: Plan, limits: Limits
) -> ChosenItems:
    """As many as the plan says; fewer where their factor fills in more than it foretold, and nobody said how many."""
    solver, rng, n = plan.solver, model._rng(), len(items)
    assert isinstance(solver, AmongLandmarks)
    some = np.arange(n) if given_distances(model) else np.sort(rng.choice(n, size=solver.sample, replace=False))
    pool = space_of_some(model, items, some)
    order = well_spread(pool, solver.count, rng, limits.threads)
    return _settled(model, items, problem, plan, limits, pool, some, order)


def foretold_plan(model: LocalParameters, items: Items, problem: LocalProblem, plan: Plan, limits: Limits) -> Plan:
    """The same plan before it is done: as many rows drawn by lot tell how landmarks fill in."""
    solver, rng, n = plan.solver, model._rng(), len(items)
    assert isinstance(solver, AmongLandmarks)
    some = np.sort(rng.choice(n, size=solver.count, replace=False))
    order = rng.permutation(len(some))
    return _settled(model, items, problem, plan, limits, space_of_some(model, items, some), some, order).plan


def _settled(
    model: LocalParameters,
    items: Items,
    problem: LocalProblem,
    plan: Plan,
    limits: Limits,
    pool: Space,
    some: Array,
    order: Array,
) -> ChosenItems:
    """The first landmarks of the pool (whose numbers are `some`) in this order, as many as turn out to fit."""
    count = len(order)
    while True:
        chosen = np.sort(order[:count])
        space, few = probed(model, items, pool.take(chosen), problem.neighbors)
        few = replace(few, n_landmarks=None)
        try:
            return ChosenItems(space, some[chosen], few, plan_of_landmarks(problem, few, plan, limits))
        except NoRoom:
            if model.n_landmarks is not None or 0.8 * count < fewest_landmarks(few):
                raise
            count = int(0.8 * count)


def space_of_some(model: LocalParameters, items: Items, some: Array, tell: bool = True) -> Space:
    """Where these items (in order) have their distances; they are read from a file in one sweep."""
    if len(some) == len(items):
        return space_of(model, items, tell)
    if given_distances(model):
        return space_of(model, items, tell).take(some)
    kept = np.zeros(len(items), dtype=bool)
    kept[some] = True
    return space_of(model, items.in_memory(kept), tell)


def well_spread(space: Space, count: int, rng: np.random.Generator, threads: int) -> Array:
    """Numbers of so many items that lie apart from each other, in the order in which they were drawn.

    Each is drawn with a chance in proportion to its squared distance from those that were drawn before (k-means++;
    Arthur and Vassilvitskii 2007), a few at a time, so that the first ones are such a sample as well. Uniform draws
    leave gaps, where neighbourhoods of landmarks reach across to the next turn of a roll; the farthest item of all
    would always be an outlier. An item that equals another is drawn only when there are no others left.
    """
    items = space.as_new()
    order = [np.array([int(rng.integers(space.n))])]
    left = np.full(space.n, np.inf)
    drawn = 0
    while drawn + len(order[-1]) < count:
        drawn += len(order[-1])
        part = space.take(order[-1])
        for rows in steps(space.n, rows_at_a_time(part.n)):
            near = part.nearest_to(part.for_part(items[rows]), 1, threads)
            left[rows] = np.minimum(left[rows], near.distances[:, 0])
        refuse_infinite_distances(left)
        left[order[-1]] = 0.0
        farthest = float(left.max())
        if not farthest > 0:
            break
        chances = (left / farthest) ** 2
        size = max(1, min(count - drawn, int(_GROWTH * drawn)))
        new = rng.choice(space.n, size=size, p=chances / chances.sum())
        order.append(new[_firsts(space.take(new).groups())])
    found = np.concatenate(order)[:count]
    if len(found) < count:
        found = np.append(found, rng.permutation(np.setdiff1d(np.arange(space.n), found))[: count - len(found)])
    return found


def _firsts(values: Array) -> Array:
    """Where each value is met for the first time, in that order."""
    return np.sort(np.unique(values, return_index=True)[1])


# ---------------------------------------------------------------------- all other rows


def place_rows(
    items: Items,
    landmarks: Array,
    hoods: Neighborhoods,
    graph: Graph,
    found: Embedding,
    reg: float,
    threads: int,
    on_pass: OnPass = None,
) -> Places:
    """Every row between its landmarks, block by block; of rows that lie in chunks, where they lie.

    Landmarks have unit columns; all n rows shall have about unit columns, so places are √(m/n) times as large.
    """
    n, places = len(items), found.coordinates * np.sqrt(len(landmarks) / len(items))
    embedding, labels, residuals = np.empty((n, places.shape[1])), np.zeros(n, dtype=np.int64), np.empty(n)
    far, start = np.zeros(n, dtype=bool), 0
    for placed in _placed_parts(items, _Between(hoods, places, graph, reg), threads, on_pass):
        rows = slice(start, start + len(placed.far))
        embedding[rows], residuals[rows], far[rows] = placed.embedding, placed.residuals, placed.far
        labels[rows], start = placed.labels, rows.stop
    embedding[landmarks] = hoods.all_rows(places)
    far[landmarks] = False
    certificate = certify_placed(
        found.certificate,
        hoods.all_rows(hoods.distances[:, -1]),
        np.delete(residuals, landmarks),
        _returned(hoods, places, reg, threads),
        int(far.sum()),
    )
    return Places(embedding, labels, found.error, certificate, [*found.warnings, *_about_far(certificate)])


@dataclass(frozen=True)
class _Placed:
    """Some rows: their places, residuals, whether they are far away, and the part that each is in."""

    embedding: Array
    residuals: Array
    far: Array
    labels: Array


@dataclass(frozen=True)
class _Between:
    """The landmarks between which rows are placed."""

    hoods: Neighborhoods
    places: Array
    graph: Graph
    reg: float

    def place(self, rows: Held, threads: int) -> _Placed:
        graph, space = self.graph, self.hoods.space
        found = place(self.hoods, self.places, self.reg, rows, threads, graph.labels if graph.separate else None)
        labels = np.zeros(len(found.far), dtype=np.int64)
        if graph.n_parts > 1:
            labels[:] = graph.labels[space.nearest_to(space.prepare(rows), 1, threads).indices[:, 0]]
        return _Placed(found.embedding, found.residuals, found.far, labels)


def _placed_parts(items: Items, between: _Between, threads: int, on_pass: OnPass) -> Iterator[_Placed]:
    """All rows, some at a time and in order."""
    if items.chunks is not None:
        work = partial(_place_chunk, items.chunks.engine.threads(threads))
        yield from items.chunks.each(work, None, between, on_pass=on_pass)
        return
    start = 0
    for block in items.blocks(rows_at_a_time(items.width)):
        yield between.place(block, threads)
        start += block.shape[0]
        if on_pass:
            on_pass(start / len(items))


def _place_chunk(threads: int, items: Items, own: None, between: _Between) -> _Placed:
    parts = list(_placed_parts(items, between, threads, None))
    return _Placed(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(_Placed)))


def _returned(hoods: Neighborhoods, places: Array, reg: float, threads: int) -> Array:
    """How far landmarks are from where their own neighbours put them, in root mean square over the spread.

    By "standard" the mean square is yᵀMy/m = λ/m and the spread is 1/√m, so this is √λ.
    """
    w = over_blocks(
        hoods.space, hoods.indices, lambda G: local_methods.weights(G, reg), threads, width=hoods.indices.shape[1]
    )
    off = np.einsum("ij,ijl->il", w, places[hoods.indices]) - places
    spread = places.std(axis=0)
    return np.sqrt(np.mean(off**2, axis=0)) / np.where(spread > 0, spread, 1.0)


def _about_far(certificate: PlacedCertificate) -> list[str]:
    if not certificate.n_far:
        return []
    return [
        f"{certificate.n_far:,} of {certificate.n_placed:,} placed rows are farther from the landmarks than those are "
        "from their own neighbours: there the embedding is a guess. Give more n_landmarks."
    ]
