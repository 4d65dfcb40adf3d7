"""What it takes to share out the passes over a kernel matrix: bytes that move, and memory of every worker."""

from dataclasses import replace

from mercer.errors import NoRoom, counted
from mercer.limits import bytes_in_words
from mercer.operators.spread_gram import even_pieces, pairs_of
from mercer.plans.plan import BUFFERS, Plan
from mercer.plans.sizes import Problem

_USABLE = 0.6  # of a worker's memory: from there on Dask writes what it has to a disk


def shared_out(p: Problem, plan: Plan, columns: int, widest: int) -> Plan:
    """The plan with what goes to the workers of p and comes from them, where a pass has so many columns; refused if a
    worker has no room for the widest."""
    needed, room = _of_worker(p, widest), None if p.chunks is None else p.chunks.room
    if room is not None and needed > _USABLE * room:
        raise NoRoom(
            f"A worker of the cluster needs {bytes_in_words(needed)} for its share of the kernel matrix of {p.n:,} "
            f"rows, and each of its threads has {bytes_in_words(room)}, of which Dask leaves about "
            f"{bytes_in_words(round(_USABLE * room))}: give workers more memory or fewer threads, ask for fewer "
            'n_components, or take landmarks (eigen_solver="landmark").'
        )
    rows, products = _rows_moved(p), _products_moved(p, columns)
    pieces = len(even_pieces(p.n))
    why = (
        f"{plan.why} It is shared out to {counted(p.workers, 'worker')}, in {counted(len(pairs_of(pieces)), 'task')} a "
        f"pass between {counted(pieces, 'piece')} of the rows: about {bytes_in_words(rows)} of rows move once, and "
        f"{bytes_in_words(products)} of products in each pass."
    )
    here = 2 * 8 * p.n * widest  # what is sent, and what comes back
    return replace(plan, why=why, moved=rows + plan.passes * products, memory=plan.memory + here)


def _rows_moved(p: Problem) -> int:
    """Of rows: all come here, are cut into pieces, and a piece goes to each worker that has a pair with it."""
    return p.loaded * (2 + min(p.workers, len(even_pieces(p.n)) + 1))


def _products_moved(p: Problem, columns: int) -> int:
    """In a pass: columns to all workers, and two pieces of products from each pair."""
    return 8 * p.n * columns * (p.workers + len(even_pieces(p.n)))


def _of_worker(p: Problem, columns: int) -> int:
    """Bytes: its share of the rows, as they came and in pieces; the pieces of its tasks, two of them prepared; the
    columns, and parts of products that are merged."""
    pieces = len(even_pieces(p.n))
    tasks = -(-len(pairs_of(pieces)) // p.workers)
    of_tasks = min(p.loaded, 2 * tasks * p.loaded // pieces)
    prepared = 2 * 8 * -(-p.n // pieces) * (4 * p.numbers_each + 8 + 2 * columns)
    return 2 * p.loaded // p.workers + of_tasks + prepared + BUFFERS + 4 * 8 * p.n * columns
