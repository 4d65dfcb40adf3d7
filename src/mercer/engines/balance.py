"""Which chunks should move, so that all workers have as much to do. Plain arithmetic: nobody is asked here."""

from collections.abc import Sequence

__all__ = ["moves"]


def moves(holders: Sequence[str | None], weights: Sequence[int], workers: Sequence[str]) -> dict[int, str]:
    """Chunks that should go to another worker than holds them, and to which: the largest first, and only where the one
    who gives has more left than the one who takes had before. A chunk that nobody holds is nobody's load."""
    loads = dict.fromkeys(workers, 0)
    for holder, weight in zip(holders, weights, strict=True):
        if holder in loads:
            loads[holder] += weight
    found = {}
    for i in sorted(range(len(weights)), key=lambda i: -weights[i]):
        holder, weight, least = holders[i], weights[i], min(loads, key=loads.__getitem__)
        if holder in loads and loads[least] + weight < loads[holder]:
            loads[holder] -= weight
            loads[least] += weight
            found[i] = least
    return found
