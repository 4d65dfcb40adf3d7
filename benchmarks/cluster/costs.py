"""What a pass over chunks costs on W workers: flops, bytes and memory, on paper and by simulation.

A pass is p tasks on chunks, a tree of p − 1 merges, and something that is shared with all. Four things take time: the
work itself, the scheduler (one task after the other), what is sent, and the merges along the longest branch. `Pass`
has the numbers of a method, `Machine` those of a cluster; `on_paper` adds them up, and `simulate` lets workers take one
task after the other, in the order of the tree, with a scheduler that hands out one at a time.
"""

import heapq
from dataclasses import dataclass
from math import ceil, log2


@dataclass(frozen=True)
class Machine:
    """A cluster: rates of one worker, and what all of them share."""

    workers: int
    flops: float  # a second, of the products that a pass is made of, on one worker
    bandwidth: float  # bytes a second between two of them
    task: float  # seconds that the scheduler takes for a task
    latency: float = 1e-3  # seconds until a task that is handed out begins
    reading: float = 5e8  # bytes a second that a worker reads rows with
    cores: int | None = None  # that workers share, if they share a machine

    @property
    def speed(self):
        """Workers that really work at once."""
        return self.workers if self.cores is None else min(self.workers, self.cores)


@dataclass(frozen=True)
class Pass:
    """One pass of a method over n rows in p chunks."""

    name: str
    rows: int
    chunks: int
    row_bytes: float  # of a row as it is read
    row_flops: float  # of a row
    state: float  # bytes of what a chunk is summed up to
    merge_flops: float  # of two such sums
    shared: float  # bytes that every worker is sent
    passes: int = 1
    read: bool = True  # whether rows are read anew in every pass, or lie in memory

    def seconds_of_chunk(self, machine):
        rows = self.rows / self.chunks
        reading = rows * self.row_bytes / machine.reading if self.read else 0.0
        return rows * self.row_flops / machine.flops + reading

    @property
    def worker_bytes(self):
        """Of memory that a worker needs: a chunk as it comes and as numbers, what is made of it, what is shared."""
        return 3 * self.rows / self.chunks * self.row_bytes + 3 * self.state + self.shared


def pca(n, d, chunks, **more):
    """Sums of squares: d² multiplications and additions a row, of which half are done; a state of d×d twice."""
    return Pass(f"PCA, {d:,} columns", n, chunks, 8 * d, d * d, 16 * d * d, 2 * d * d, 0, **more)


def landmarks(n, d, r, chunks, **more):
    """Kernel values (r products of d), features (a triangle: r²), moments (half of 2r²)."""
    flops = 2 * r * d + r * r + r * r + 20 * r
    return Pass(f"{r:,} landmarks, {d:,} columns", n, chunks, 8 * d, flops, 8 * r * r, r * r, 8 * r * (r + d), **more)


def tiles(n, d, b, chunks, **more):
    """A pass over the kernel matrix with b vectors: every tile once, used twice; each task returns half of n×b."""
    flops = n / 2 * (2 * d + 20 + 4 * b)
    name = f"kernel matrix, {d:,} columns, {b} vectors"
    return Pass(name, n, chunks, 8 * d, flops, 4 * n * b, n * b / 2, 8 * n * b + 8 * n * d, **{"read": False} | more)


def on_paper(what, machine):
    """Seconds of each part of a pass; they overlap, so a pass takes about the sum of work and what cannot overlap."""
    work = ceil(what.chunks / machine.speed) * what.seconds_of_chunk(machine)
    scheduler = (2 * what.chunks - 1) * machine.task
    depth = ceil(log2(what.chunks)) if what.chunks > 1 else 0
    merging = depth * (what.merge_flops / machine.flops + what.state / machine.bandwidth + machine.latency)
    sending = ceil(log2(machine.workers + 1)) * what.shared / machine.bandwidth
    parts = {"work": work, "scheduler": scheduler, "tree": merging, "sending": sending}
    parts["in all"] = max(work, scheduler) + merging + sending + machine.latency
    return parts


def simulate(what, machine):
    """Seconds of a pass if workers take chunks one after the other and merge as soon as both sides are there."""
    sides, above = _tree(what.chunks)
    start = ceil(log2(machine.workers + 1)) * what.shared / machine.bandwidth
    free = [(start, worker) for worker in range(machine.speed)]
    scheduler, done, ready, leaves = start, {}, [], iter(range(what.chunks))
    leaf = next(leaves)
    while (0, what.chunks) not in done:
        now, worker = heapq.heappop(free)
        if ready and (leaf is None or ready[0][0] <= now):
            when, node = heapq.heappop(ready)
            scheduler = max(scheduler, when) + machine.task
            sent = sum(what.state / machine.bandwidth for side in sides[node] if done[side][1] != worker)
            took = sent + what.merge_flops / machine.flops
        elif leaf is not None:
            node, leaf = (leaf, leaf + 1), next(leaves, None)
            scheduler = max(scheduler, now) + machine.task
            took = what.seconds_of_chunk(machine)
        else:  # nothing to do before somebody else is done
            heapq.heappush(free, (free[0][0] + 1e-9, worker))
            continue
        end = max(now, scheduler) + machine.latency + took
        done[node] = end, worker
        heapq.heappush(free, (end, worker))
        both = above.get(node)
        if both and all(side in done for side in sides[both]):
            heapq.heappush(ready, (max(done[side][0] for side in sides[both]), both))
    return done[(0, what.chunks)][0]


def _tree(count):
    """The tree of `mercer_old.engines.base.tree`: of every merge its two sides, and of every side its merge."""
    sides, above = {}, {}

    def grow(low, high):
        if high - low > 1:
            half = low + (high - low + 1) // 2
            sides[(low, high)] = (low, half), (half, high)
            for side in sides[(low, high)]:
                above[side] = (low, high)
                grow(*side)

    grow(0, count)
    return sides, above
