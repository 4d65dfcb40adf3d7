"""Which chunks should move, so that all threads of workers have as much to do. Plain arithmetic, which asks nobody."""

from collections.abc import Mapping, Sequence

__all__ = ["moves"]


def moves(holders: Sequence[str | None], weights: Sequence[int], threads: Mapping[str, int]) -> dict[int, str]:
    """Chunks that should go to another worker than holds them, and to which, by how many threads each has: the largest
    first, and only where each thread of who takes has less then than each of who gives had before. A chunk that nobody
    holds is nobody's load."""
    loads = dict.fromkeys(threads, 0)
    for holder, weight in zip(holders, weights, strict=True):
        if holder in loads:
            loads[holder] += weight
    found = {}
    for i in sorted(range(len(weights)), key=lambda i: -weights[i]):
        holder, weight = holders[i], weights[i]
        if holder not in loads or not weight:
            continue
        then = {worker: (load + weight) / threads[worker] for worker, load in loads.items()}
        taker = min(then, key=then.__getitem__)
        if then[taker] < loads[holder] / threads[holder]:
            loads[holder] -= weight
            loads[taker] += weight
            found[i] = taker
    return found
