"""The plan for rows with gaps: pass after pass over all of them, in memory or where their chunks lie."""

from mercer_old.errors import NoRoom, counted
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.plans.plan import BUFFERS, Plan, within
from mercer_old.plans.sizes import Spread
from mercer_old.solvers.expectation import Expectation
from mercer_old.sources.collections import COPIES

__all__ = ["MOST_TRIED", "gaps_plan"]

MOST_TRIED = 100  # components, where their number is to be found

_FEW = 5_000_000  # numbers: passes over so many take less time here than messages to workers
_COPIES = 6  # of the rows: as they are, moved, in the order of their patterns; the same with some numbers held out
_KEPT = 2  # of them, where they lie in chunks: all numbers, and all but those that are held out
_DRAWN = 32  # bytes of a number that is held out: its cell, and later its row, its column and itself
_WORKED_ON = 30_000_000  # bytes that a thread holds
_PASSES = 30


def gaps_plan(
    n: int,
    d: int,
    k: int | None,
    solver: Expectation,
    limits: Limits,
    chunks: Spread | None = None,
    held_out: float = 0.0,
) -> Plan:
    """Rows of d numbers, some of them missing, and k components (None: to be found); they may lie in chunks."""
    most = min(n, d, MOST_TRIED) if k is None else k
    few = n * d < _FEW and _memory_here(n, d, most, limits) <= limits.memory
    if chunks is None or n < d or few:
        return _in_memory(n, d, most, solver, limits, _why_here(n, d, chunks))
    return _in_chunks(n, d, most, solver, limits, chunks, held_out)


def _why_here(n: int, d: int, chunks: Spread | None) -> str:
    if chunks is None:
        return "numbers are missing."
    if n < d:
        return f"numbers are missing, and all {n:,} rows take less room here than products of {d:,} columns."
    return f"numbers are missing, and {n:,}×{d:,} of them are so few that all rows come here."


def _in_memory(n: int, d: int, k: int, solver: Expectation, limits: Limits, why: str) -> Plan:
    plan = Plan(
        solver=solver,
        held="gapped",
        memory=_memory_here(n, d, k, limits),
        why=why,
        tol=solver.tol,
        passes=_PASSES,
    )
    return within(limits, plan, "Give a larger memory_limit, fewer rows, or fewer columns.")


def _memory_here(n: int, d: int, k: int, limits: Limits) -> int:
    columns = _sums(d, k) * (4 + limits.threads)
    start = 8 * 4 * min(n, d) ** 2  # principal axes of the rows, with means in their gaps
    return 8 * _COPIES * n * d + max(columns, start) + _WORKED_ON * limits.threads + BUFFERS


def _in_chunks(n: int, d: int, k: int, solver: Expectation, limits: Limits, chunks: Spread, held_out: float) -> Plan:
    """Who works on a chunk keeps it; factors go there in each pass, and sums come back."""
    worker = _of_worker(n, d, k, chunks, held_out)
    if not chunks.here and chunks.room is not None and worker > chunks.most(limits.memory):
        raise NoRoom(
            f"A worker of the cluster needs {bytes_in_words(worker)} for its share of {n:,} rows with gaps, which it "
            f"keeps, and each of its threads has {bytes_in_words(chunks.room)}, of which Dask leaves about half: give "
            "more workers, or workers with more memory or fewer threads, or smaller chunks."
        )
    who = "one after the other, in this process" if chunks.here else f"by {counted(chunks.workers, 'worker')}"
    kept = "" if chunks.here else f", each of which keeps its rows and needs {bytes_in_words(worker)}"
    start = 8 * 5 * d**2  # products of all columns, summed up, and their axes
    here = max(6 * _sums(d, k), start) + BUFFERS
    plan = Plan(
        solver=solver,
        held="gapped chunks",
        memory=here + (worker + _WORKED_ON * limits.threads if chunks.here else 0),
        why=f"numbers are missing: sums over {counted(chunks.count, 'chunk')} are made where they lie, {who}{kept}.",
        tol=solver.tol,
        passes=_PASSES,
        moved=0 if chunks.here else _PASSES * _sums(d, k) * (chunks.workers + 1) + 8 * d**2,
    )
    return within(limits, plan, "Give a larger memory_limit, or fewer columns.")


def _of_worker(n: int, d: int, k: int, chunks: Spread, held_out: float) -> int:
    """Bytes: its share of the rows with their patterns, a chunk in several forms, and sums that are merged."""
    row = 9 * d + 24  # numbers, which of them are there, a weight and two places
    drawn = round(_DRAWN * held_out * d)
    kept = (_KEPT * row + drawn) * chunks.rows_of_one(n)
    chunk = COPIES * 8 * chunks.largest * d
    return kept + chunk + max(4 * _sums(d, k), 3 * 8 * d**2) + _WORKED_ON


def _sums(d: int, k: int) -> int:
    """Bytes of a matrix k×k for each column."""
    return 8 * d * (k + 1) ** 2
