"""The neighbourhoods of all items: who is near, what hangs together, and what is there more than once."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from mercer_old.arrays import Array
from mercer_old.errors import BadData, joined
from mercer_old.progress import OnPass
from mercer_old.spaces.base import Neighbors, Space, graph_of

_TIE = 16 * np.finfo(float).eps  # distances that differ by less are the same but for rounding


@dataclass(frozen=True)
class Neighborhoods:
    """k nearest neighbours of every distinct item."""

    space: Space
    indices: Array  # n×k
    distances: Array  # n×k
    copies: Array | None = None  # which distinct item each given one is; None: they are the given ones
    n_distinct: int | None = None  # how many items are distinct, if that was looked at
    note: str = ""  # what a user should know about equal rows
    tied: int = 0  # items whose last neighbour is one of several that are equally near

    @property
    def parts(self) -> Array:
        """The part of the graph that each item is in (n,); 0 is the largest."""
        labels = connected_components(graph_of(self.indices), directed=True, connection="weak")[1]
        return _by_size(labels)

    @property
    def closed(self) -> Array:
        """Sizes of the groups that have all their neighbours among themselves and hang together, largest first."""
        count, labels = connected_components(graph_of(self.indices), directed=True, connection="strong")
        leaving = (labels[self.indices] != labels[:, None]).any(axis=1)
        is_open = np.zeros(count, dtype=bool)
        is_open[labels[leaving]] = True
        return np.sort(np.bincount(labels)[~is_open])[::-1]

    @property
    def seen_by_someone(self) -> Array:
        """The neighbours (n×k), where an item that is nobody's takes itself for the last of its own.

        A method that looks at neighbours only would not see it, and its place would be free.
        """
        unseen = np.setdiff1d(np.arange(self.space.n), self.indices)
        indices = self.indices.copy()
        indices[unseen, -1] = unseen
        return indices

    @property
    def too_few(self) -> bool:
        """Whether fewer items are distinct than neighbours were asked for: `note` says so."""
        return self.n_distinct is not None and self.copies is None

    def part(self, members: Array) -> "Neighborhoods":
        """Those of a part of the graph, which has no neighbours outside."""
        inside = np.searchsorted(members, self.indices[members])  # members are in order
        return Neighborhoods(self.space.take(members), inside.astype(np.int32), self.distances[members])

    def of_items(self, of_rows: Array) -> Array:
        """What is there for every row as it was given, for distinct items: that of the first of equal ones."""
        return of_rows if self.copies is None else of_rows[np.unique(self.copies, return_index=True)[1]]

    def all_rows(self, of_items: Array) -> Array:
        """What was found for distinct items, for every row as it was given."""
        return of_items if self.copies is None else of_items[self.copies]


def find_neighborhoods(space: Space, k: int, threads: int, on_pass: OnPass = None) -> Neighborhoods:
    """The k nearest of every item. If all k are equal to an item, equal ones are taken for one."""
    found, tied = _nearest_and_ties(space, k, threads, on_pass)
    refuse_infinite_distances(found.distances)
    if found.distances[:, -1].all():
        return Neighborhoods(space, found.indices, found.distances, tied=tied)
    groups = space.groups()
    collapsed = int(np.sum((groups[found.indices] == groups[:, None]).all(axis=1)))
    if not collapsed:
        _refuse_vanished(found.distances)
        return Neighborhoods(space, found.indices, found.distances, tied=tied)
    first = np.unique(groups, return_index=True)[1]
    items = np.sort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[groups[items]] = np.arange(len(items))
    if len(items) <= k:
        note = _few_distinct(len(items), space.n, k)
        return Neighborhoods(space, found.indices, found.distances, n_distinct=len(items), note=note)
    distinct = space.take(items)
    found, tied = _nearest_and_ties(distinct, k, threads, on_pass)
    note = (
        f"{collapsed:,} of {space.n:,} rows have {k} neighbours that are all equal to themselves, so their "
        f"neighbourhoods say nothing. The {len(items):,} distinct rows were embedded, and equal rows share a place."
    )
    return Neighborhoods(distinct, found.indices, found.distances, number[groups], len(items), note, tied)


def _nearest_and_ties(space: Space, k: int, threads: int, on_pass: OnPass) -> tuple[Neighbors, int]:
    """The k nearest of every item; and for how many the next one is as near, so that the order of rows has decided."""
    if k + 1 >= space.n:
        return space.nearest(k, threads, on_pass), 0
    found = space.nearest(k + 1, threads, on_pass)
    last, beyond = found.distances[:, k - 1], found.distances[:, k]
    tied = (beyond <= last * (1 + _TIE)) & (last > 0)
    return Neighbors(found.indices[:, :k].copy(), found.distances[:, :k].copy()), int(tied.sum())


@dataclass(frozen=True)
class Graph:
    """What the graph of neighbours looks like, and what a user should be told about it."""

    labels: Array  # the part that each distinct item is in; 0 is the largest
    separate: bool = False  # whether parts are embedded each on its own
    complaints: tuple[str, ...] = ()  # it does not hang together
    notes: tuple[str, ...] = ()  # equal rows, and ties

    @property
    def n_parts(self) -> int:
        return int(self.labels.max()) + 1


def look_at_graph(hoods: Neighborhoods, method: str, on_disconnected: str) -> Graph:
    """Whether it hangs together, as far as this method needs that."""
    notes = hoods.note, _about_ties(hoods)
    if hoods.n_distinct == 1:
        return Graph(np.zeros(hoods.space.n, dtype=np.int64), notes=notes)
    labels = hoods.parts
    separate = on_disconnected == "separate" and labels.max() > 0
    complaints = [] if hoods.too_few else _about_graph(hoods, labels, method, separate)
    if complaints and on_disconnected == "raise":
        raise BadData(complaints[0])
    return Graph(labels, separate, tuple(complaints), notes)


def _about_ties(hoods: Neighborhoods) -> str:
    """What a user should know where most neighbourhoods were a matter of order; of some, the count tells."""
    if 2 * hoods.tied <= hoods.space.n:
        return ""
    k = hoods.indices.shape[1]
    return (
        f"{hoods.tied:,} of {hoods.space.n:,} rows have more than {k} equally near neighbours, of which {k} were "
        "taken: another order of the rows would give another embedding. Rows on a grid, or of few values, have such "
        "ties; another n_neighbors, or a column that tells them apart, may break them."
    )


def refuse_infinite_distances(distances: Array) -> None:
    if not np.isfinite(distances).all():
        raise BadData("Distances between rows are not finite: an overflow. Scale the data down (StandardScaler).")


def _refuse_vanished(distances: Array) -> None:
    """Rows that are not equal, but have no distance that double precision could tell from zero."""
    vanished = int(np.sum(distances[:, -1] == 0))
    if vanished:
        raise BadData(
            f"{vanished:,} of {len(distances):,} rows are not equal to their neighbours, but their distances are zero. "
            "Next to a number that is far too large all others vanish: leave an outlier out, or scale the columns "
            "(StandardScaler). With a kernel, it cannot tell rows apart or is not positive semi-definite."
        )


def _few_distinct(distinct: int, n: int, k: int) -> str:
    if distinct == 1:
        return f"All {n:,} rows are the same, so there is no structure to find: the embedding is zero."
    return (
        f"Only {distinct:,} of {n:,} rows are distinct, too few for n_neighbors={k}: neighbourhoods of equal rows say "
        f"nothing. Give n_neighbors < {distinct:,}, or each row once."
    )


def _by_size(labels: Array) -> Array:
    """The same groups, numbered from the largest on; of equal ones the one with the first item."""
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[labels]


def _sizes_in_words(sizes: Array) -> str:
    """ "600, 300 and 100 rows"."""
    shown = [f"{size:,}" for size in sizes[:5]]
    more = len(sizes) - len(shown)
    if more:
        return f"{', '.join(shown)} … rows ({more:,} more)"
    return f"{joined(shown)} rows"


def _about_graph(hoods: Neighborhoods, labels: Array, method: str, separate: bool) -> list[str]:
    """What is wrong with the graph, if it does not hang together."""
    k = hoods.indices.shape[1]
    closed = hoods.closed if method == "standard" and not labels.any() else np.empty(0)
    sizes = np.bincount(labels)
    if len(sizes) > 1:
        meaning = (
            "Each was embedded on its own; where they lie relative to each other means nothing."
            if separate
            else 'The coordinates only tell the parts apart. Give more n_neighbors, or on_disconnected="separate" to '
            "embed each on its own."
        )
        return [
            f"The graph of the {k} nearest neighbours falls apart into {len(sizes):,} parts of "
            f"{_sizes_in_words(sizes)}. {meaning}"
        ]
    if len(closed) > 1:
        return [
            f"{len(closed):,} groups of rows ({_sizes_in_words(closed)}) have all their {k} nearest neighbours among "
            "themselves, though other rows look at several of them: the first coordinates only tell the groups apart. "
            "Give more n_neighbors."
        ]
    return []
