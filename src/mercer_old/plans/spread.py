"""What it takes to share out a kernel matrix, in every pass or once: bytes that move, and memory of every worker."""

from dataclasses import replace

from mercer_old.errors import NoRoom, counted
from mercer_old.limits import bytes_in_words
from mercer_old.operators.spread_gram import even_pieces, pairs_of, small_pieces
from mercer_old.plans.plan import BUFFERS, Plan
from mercer_old.plans.sizes import Problem

_USABLE = 0.6  # of a worker's memory: from there on Dask writes what it has to a disk
_COMING = 25.0  # nanoseconds until an entry is here, and written twice
_WORTH_A_CLUSTER = 1.0  # seconds of one thread: to fill a matrix that takes less is not shared out
_SLOWER = 1.25  # than by all threads here: as good, for who has a cluster


def done_here(plan: Plan, reason: str = "as that is too little to be shared out") -> Plan:
    """The same plan, which says why workers have nothing to do."""
    return replace(plan, why=f"{plan.why} It is done here, {reason}.")


def gathered(p: Problem, plan: Plan, threads: int) -> Plan:
    """The plan for a matrix in memory, whose entries are evaluated by the workers of p, if that is worth it and they
    have room for it."""
    assert p.elsewhere is not None
    there, here = p.entry_cost / p.workers + _COMING, p.entry_cost / threads
    if p.n**2 / 2 * p.entry_cost * 1e-9 < _WORTH_A_CLUSTER:
        return done_here(plan)
    if there > _SLOWER * here:
        return done_here(plan, "as entries are evaluated sooner than they would come from workers")
    pieces, room = small_pieces(p.n), p.elsewhere.room
    part = 8 * (pieces[0].stop - pieces[0].start) ** 2
    needed = _of_worker(p, 0, len(pieces)) + 4 * part
    if room is not None and needed > _USABLE * room:
        return done_here(plan, f"as a worker would need {bytes_in_words(needed)}, and has {bytes_in_words(room)}")
    rows, entries, tasks = _rows_moved(p, len(pieces)), 4 * p.n * (p.n + 1), len(pairs_of(len(pieces)))
    why = (
        f"{plan.why} It is filled by {counted(p.workers, 'worker')}, in {counted(tasks, 'task')}: about "
        f"{bytes_in_words(rows)} of items move, and {bytes_in_words(entries)} of entries."
    )
    memory = plan.memory + 2 * part  # that wait here
    return replace(plan, held="gathered", why=why, cut=small_pieces, moved=rows + entries, memory=memory)


def shared_out(p: Problem, plan: Plan, columns: int, widest: int) -> Plan:
    """The plan with what goes to the workers of p and comes from them, where a pass has so many columns; refused if a
    worker has no room for the widest."""
    pieces, room = len(even_pieces(p.n)), None if p.elsewhere is None else p.elsewhere.room
    needed = _of_worker(p, widest, pieces)
    if room is not None and needed > _USABLE * room:
        raise NoRoom(
            f"A worker of the cluster needs {bytes_in_words(needed)} for its share of the kernel matrix of {p.n:,} "
            f"rows, and each of its threads has {bytes_in_words(room)}, of which Dask leaves about "
            f"{bytes_in_words(round(_USABLE * room))}: give workers more memory or fewer threads, ask for fewer "
            'n_components, or take landmarks (eigen_solver="landmark").'
        )
    rows, products = _rows_moved(p, pieces), 8 * p.n * columns * (p.workers + pieces)  # columns there, two pieces back
    why = (
        f"{plan.why} It is shared out to {counted(p.workers, 'worker')}, in {counted(len(pairs_of(pieces)), 'task')} a "
        f"pass between {counted(pieces, 'piece')} of the rows: about {bytes_in_words(rows)} of rows move once, and "
        f"{bytes_in_words(products)} of products in each pass."
    )
    here = 2 * 8 * p.n * widest  # what is sent, and what comes back
    moved = rows + plan.passes * products
    return replace(plan, why=why, cut=even_pieces, moved=moved, memory=plan.memory + here)


def _rows_moved(p: Problem, pieces: int) -> int:
    """Of rows: all come here, are cut into pieces, and a piece goes to each worker that has a pair with it."""
    return _size(p) * (2 + min(p.workers, pieces + 1))


def _of_worker(p: Problem, columns: int, pieces: int) -> int:
    """Bytes: its share of the rows, as they came and in pieces; the pieces of its tasks, two of them prepared; the
    columns, and parts of products that are merged."""
    tasks = -(-len(pairs_of(pieces)) // p.workers)
    size = _size(p)
    of_tasks = min(size, 2 * tasks * size // pieces)
    prepared = 2 * 8 * -(-p.n // pieces) * (4 * p.numbers_each + 8 + 2 * columns)
    return 2 * size // p.workers + of_tasks + prepared + BUFFERS + 4 * 8 * p.n * columns


def _size(p: Problem) -> int:
    """Bytes of all items; of those that are here anyway, about."""
    return p.loaded or 8 * p.n * p.numbers_each
