"""How far it goes: a model of costs, held against 1, 2 and 4 workers of this machine, and extended to 100 elsewhere."""

import logging
import time
import warnings
from functools import partial

import numpy as np

import mercer
from benchmarks.cluster.cluster import blobs, workers
from benchmarks.cluster.costs import Machine, landmarks, on_paper, pca, simulate, tiles
from benchmarks.shared.pages import head, machine, written_by
from benchmarks.shared.running import cores
from benchmarks.shared.suites import Study

CHUNKS, RUNS = 16, 3
NETWORK = 1.25e9  # bytes a second: ten gigabits
LARGE = 100_000_000  # rows


def rates(client):
    """Of this machine: seconds of the scheduler for a task, bytes a second between workers, seconds until an answer."""
    from mercer_old.engines.cluster import Cluster

    engine = Cluster(client)
    empty = [partial(int, 0)] * 400
    start = time.perf_counter()
    engine.reduce(max, engine.map(_nothing, empty))
    task = (time.perf_counter() - start) / (2 * len(empty) - 1)
    start = time.perf_counter()
    for _ in range(20):
        engine.reduce(max, engine.map(_nothing, empty[:1]))
    latency = (time.perf_counter() - start) / 20
    kept = engine.keep(engine.map(_megabytes, empty[:8]))
    start = time.perf_counter()
    engine.reduce(_first, engine.map(_itself, kept))
    bandwidth = 4 * 2**25 / max(time.perf_counter() - start - latency, 1e-3)
    return {"task": task, "latency": latency, "bandwidth": bandwidth}


def _nothing(chunk, own):
    return 0


def _megabytes(chunk, own):
    return np.zeros(2**22)


def _itself(chunk, own):
    return chunk


def _first(one, other):
    return one


def seconds_of(run):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def methods(scale):
    """Each with its rows, what is fitted, and its costs in so many passes."""
    n, m = round(400_000 * scale), round(200_000 * scale)
    normal = np.random.default_rng(0).normal(size=(n, 200))
    return {
        "PCA": (normal, lambda: mercer.PCA(5), pca(n, 200, CHUNKS, read=False)),
        "landmarks": (
            blobs(m),
            lambda: mercer.KernelPCA(5, kernel="rbf", gamma=0.02, landmarks=np.arange(0, m, m // 500)[:500]),
            landmarks(m, 30, 500, CHUNKS, read=False),
        ),
    }


def measure(scale):
    """Seconds of fits on 1, 2 and 4 workers, and what one process takes by one thread, from which the rate is taken."""
    import dask.array as da
    from distributed import wait

    found, speeds = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jobs = methods(scale)
        for name, (X, model, _) in jobs.items():
            speeds[name] = seconds_of(lambda X=X, model=model: model().set_params(n_jobs=1).fit(X))
        for count in (1, 2, 4):
            with workers(count) as client:
                found[count] = {"rates": rates(client)}
                for name, (X, model, _) in jobs.items():
                    rows = da.from_array(X, chunks=(-(-len(X) // CHUNKS), X.shape[1])).persist()
                    wait(rows)
                    found[count][name] = seconds_of(lambda rows=rows, model=model: model().fit(rows))
                    del rows
    return found, speeds, {name: job[2] for name, job in jobs.items()}


def write(scale):
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    found, speeds, costs = measure(scale)
    rows, figures = [], {}
    for name, cost in costs.items():
        flops = cost.rows * cost.row_flops / speeds[name]
        for count in (1, 2, 4):
            here = Machine(count, flops, **found[count]["rates"], cores=cores())
            paper, likely = on_paper(cost, here)["in all"], simulate(cost, here)
            seen = found[count][name]
            rows.append(f"| {cost.name} | {count} | {seen:.2f} | {paper:.2f} | {likely:.2f} | {seen / likely:.2f} |")
            figures[f"{name}, {count}"] = {"seen": seen, "paper": paper, "simulated": likely}
    some = found[2]["rates"]
    far = _far(costs, speeds, some)
    text = [
        f"# How far a cluster goes\n\n{written_by('scale')} A pass is tasks on chunks, a tree of merges, and what is "
        "shared with all; its costs are in `benchmarks/cluster/costs.py`. The rate of products is that of one thread "
        f"of one process on the same rows; measured here between two workers: {1e3 * some['task']:.2f} ms of the "
        f"scheduler for a task, {some['bandwidth'] / 1e6:,.0f} MB/s, {1e3 * some['latency']:.0f} ms until a task is "
        "answered.\n\n"
        f"{machine(('dask', 'distributed'))}\n",
        f"## Held against workers of this machine\n\nFits of rows in {CHUNKS} chunks in the memory of the workers, "
        f"best of {RUNS} runs. All workers share {cores()} cores, so four are no faster than two.\n",
        *head("| pass | workers | seconds | on paper | simulated | seconds/simulated |"),
        *rows,
        *far,
        "",
    ]
    return "\n".join(text), {"rates": found, "one thread": speeds, "passes": figures}


def _far(costs, speeds, rates_here):
    """A hundred million rows, by the rates of one thread here and a network of ten gigabits."""
    rate = {name: cost.rows * cost.row_flops / speeds[name] for name, cost in costs.items()}
    n = LARGE
    passes = [
        *[(pca(n, d, n // size), rate["PCA"]) for d, size in ((50, 100_000), (500, 50_000), (5000, 5000))],
        *[(landmarks(n, 50, r, n // 100_000), rate["landmarks"]) for r in (300, 1000, 3000)],
        *[(tiles(m, 50, 30, 100), rate["landmarks"]) for m in (200_000, 1_000_000)],
    ]
    parts = "work, s | scheduler, s | tree, s | sending, s"
    lines = [
        f"\n## {n:,} rows on paper\n\nThe same costs with {NETWORK / 1e9:g} GB/s between workers, rows that are read "
        "anew in every pass at 0.5 GB/s a worker (those of the kernel matrix lie in memory), and the scheduler of this "
        "machine. The bottleneck is what takes longest of work, scheduler, tree and sending.\n",
        *head(f"| pass | workers | chunks | memory a worker | {parts} | simulated, s | bottleneck |"),
    ]
    for what, flops in passes:
        for count in (10, 100, 1000):
            there = Machine(count, flops, NETWORK, rates_here["task"], rates_here["latency"])
            paper = on_paper(what, there)
            named = {name: paper[name] for name in ("work", "scheduler", "tree", "sending")}
            worst = max(named, key=named.get)
            shown = " | ".join(f"{seconds:.3g}" for seconds in named.values())
            size = f"{what.worker_bytes / 1e9:.2g} GB"
            name = f"{what.name}, {what.rows:,} rows" if count == 10 else ""
            lines.append(
                f"| {name} | {count:,} | {what.chunks:,} | {size} | {shown} | {simulate(what, there):.3g} | {worst} |"
            )
    return lines


STUDY = Study(
    name="scale",
    folder="cluster",
    question="How far would a cluster go, by a model of costs that is held against 1, 2 and 4 workers?",
    minutes=4,
    write=write,
)
