"""From neighbourhoods to one sparse matrix: M = Σᵢ SᵢᵀBᵢSᵢ, whose bottom eigenvectors are the embedding."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Matrix
from mercer_old.blocks import hoods_at_a_time, steps
from mercer_old.operators import local_methods
from mercer_old.progress import OnPass
from mercer_old.spaces.base import Space
from mercer_old.threads import run

_ROUND = 16  # such pieces before progress is reported, and parts are added up


def align(
    space: Space,
    indices: Array,
    method: str,
    *,
    n_components: int,
    reg: float,
    modified_tol: float,
    threads: int,
    on_pass: OnPass = None,
) -> Matrix:
    """M (n×n, CSC) of the neighbours (n×k) by one of the four methods."""
    if method == "standard":
        W = weight_matrix(space, indices, reg, threads, on_pass)
        rest = sparse.eye_array(space.n, format="csr") - W
        return _in_order(rest.T @ rest)
    if method == "modified":
        eta = float(np.median(over_blocks(space, indices, lambda G: local_methods.spill(G, n_components), threads)))
        local_matrices: Callable[[Array], Array] = local_methods.Modified(eta, reg, modified_tol)
        members = np.column_stack([np.arange(space.n, dtype=indices.dtype), indices])
    else:
        function = {"ltsa": local_methods.ltsa, "hessian": local_methods.hessian}[method]
        local_matrices, members = (lambda G: function(G, n_components)), indices
    return _in_order(_pairwise_sum(_patches(space, indices, members, local_matrices, threads, on_pass), space.n))


def weight_matrix(space: Space, indices: Array, reg: float, threads: int, on_pass: OnPass = None) -> Matrix:
    """W (n×n, CSR): row i has the weights by which its neighbours make up item i."""
    n, k = indices.shape
    w = over_blocks(space, indices, lambda G: local_methods.weights(G, reg), threads, k, on_pass)
    return sparse.csr_array((w.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


def over_blocks(
    space: Space,
    indices: Array,
    function: Callable[[Array], Array],
    threads: int,
    width: int = 0,
    on_pass: OnPass = None,
) -> Array:
    """function(G) of all neighbourhoods: a number for each, or `width` of them."""
    out = np.empty((len(indices), width) if width else len(indices))

    def work(rows: slice) -> None:
        out[rows] = function(space.gram(np.arange(rows.start, rows.stop), indices[rows]))

    for pieces in rounds(space, indices):
        run(work, pieces, threads)
        if on_pass:
            on_pass(pieces[-1].stop / len(indices))
    return out


def rounds(space: Space, indices: Array) -> Iterator[list[slice]]:
    """All items in pieces that fit into a thread's memory, some of them at a time."""
    n, k = indices.shape
    size = hoods_at_a_time(k, space.width)
    for some in steps(n, _ROUND * size):
        yield steps(some.stop, size, some.start)


def _patches(
    space: Space,
    indices: Array,
    members: Array,
    local_matrices: Callable[[Array], Array],
    threads: int,
    on_pass: OnPass,
) -> Iterator[Matrix]:
    """The sums of SᵢᵀBᵢSᵢ over pieces of all items, as sparse matrices."""
    n, q = members.shape
    parts: dict[int, Matrix] = {}  # by the first of their items

    def work(rows: slice) -> None:
        B = local_matrices(space.gram(np.arange(rows.start, rows.stop), indices[rows]))
        where = members[rows]
        entries = np.repeat(where, q, axis=1).ravel(), np.tile(where, (1, q)).ravel()
        parts[rows.start] = sparse.coo_array((B.ravel(), entries), shape=(n, n)).tocsr()

    for pieces in rounds(space, indices):
        run(work, pieces, threads)
        yield from (parts.pop(rows.start) for rows in pieces)
        if on_pass:
            on_pass(pieces[-1].stop / n)


def _pairwise_sum(parts: Iterable[Matrix], n: int) -> Matrix:
    """Their sum, always of two that are sums of equally many, so that an entry is moved a few times only."""
    waiting: list[tuple[int, Matrix]] = []
    for part in parts:
        level, total = 0, part
        while waiting and waiting[-1][0] == level:
            level, total = level + 1, waiting.pop()[1] + total
        waiting.append((level, total))
    total = sparse.csr_array((n, n))
    for _, part in reversed(waiting):
        total = total + part
    return total


def _in_order(M: Matrix) -> Matrix:
    """A symmetric matrix in CSC form with sorted entries, the same above and below the diagonal."""
    M = sparse.csc_array((M + M.T) / 2)
    M.sort_indices()
    return M
