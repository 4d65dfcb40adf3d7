"""Two local workers: beside dask-ml on the same collections, beside one process with two threads, and killed.

Rows lie in the memory of the workers before a clock starts (`persist`), but for those of Parquet. Every time is the
best of some runs of one process, the systems of a case right after each other.
"""

import json
import logging
import os
import signal
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import mercer
from benchmarks.shared.pages import head, machine, than_ours, written_by
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Study
from mercer.kernels import Edit

RUNS = 3
MILLIONS, COLUMNS, FILES = 10_000_000, 50, 20  # of rows in Parquet
KILLS = 20
LIMIT = 600  # seconds after which somebody is given up


@contextmanager
def workers(count=2, memory="4GiB"):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=memory,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count)
        yield client


# ---------------------------------------------------------------------- beside dask-ml


def tall(scale):
    rng = np.random.default_rng(0)
    return rng.normal(size=(round(2_000_000 * scale), 50)) * np.linspace(1, 3, 50), (100_000, 50), 10


def far(scale):
    X, cut, k = tall(scale / 4)
    return X + 1e7, cut, k


def wide(scale):
    rng = np.random.default_rng(1)
    n, d = 3000, round(40_000 * scale)
    return rng.normal(size=(n, 20)) @ rng.normal(size=(20, d)) + 0.3 * rng.normal(size=(n, d)), (500, 5000), 10


def square(scale):
    rng = np.random.default_rng(2)
    n = round(20_000 * scale)
    return rng.normal(size=(n, 30)) @ rng.normal(size=(30, 2000)) + rng.normal(size=(n, 2000)), (2000, 2000), 10


CASES = {
    "2 000 000 × 50": tall,
    "500 000 × 50, mean 1e7": far,
    "20 000 × 2 000": square,
    "3 000 × 40 000, in chunks of columns": wide,
}
SYSTEMS = ("mercer", "dask-ml, tsqr", "dask-ml, randomized")


def model_of(system, k):
    if system == "mercer":
        return mercer.PCA(k)
    from dask_ml.decomposition import PCA

    return PCA(k, svd_solver=system.split(", ")[1], random_state=0)


def exact_variances(X, k):
    """By LAPACK, of rows around their mean, in double precision."""
    Y = X - X.mean(axis=0)
    small = Y @ Y.T if len(Y) < Y.shape[1] else Y.T @ Y
    return np.linalg.eigvalsh(small)[::-1][:k] / (len(X) - 1)


def measure_peer(case, system, scale):
    """Seconds of a fit, and the largest error of a variance, relative to itself."""
    import dask.array as da

    X, cut, k = CASES[case](scale)
    with workers() as client, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = da.from_array(X, chunks=cut).persist()
        from distributed import wait

        wait(rows)
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            model = model_of(system, k).fit(rows)
            times.append(time.perf_counter() - start)
        del rows
        client.cancel([])
    error = np.abs(np.asarray(model.explained_variance_) / exact_variances(X, k) - 1).max()
    return {"seconds": min(times), "error": float(error)}


# ---------------------------------------------------------------------- beside threads


def blobs(n, d=30):
    rng = np.random.default_rng(3)
    return rng.normal(size=(10, d))[rng.integers(10, size=n)] * 3 + rng.normal(size=(n, d))


def roll(n):
    rng = np.random.default_rng(4)
    t = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n))
    return np.c_[t * np.cos(t), 21 * rng.uniform(size=n), t * np.sin(t)]


def words(n):
    """Of 4 to 11 letters, all different or nearly so."""
    rng = np.random.default_rng(7)
    return ["".join(rng.choice(list("abcdefgh"), size=rng.integers(4, 12))) for _ in range(n)]


def edits(**more):
    return mercer.KernelPCA(10, kernel=Edit(0.3), **more)


def in_chunks(X, count=8):
    """An array of Dask; of texts, a bag."""
    import dask.array as da
    import dask.bag as db

    if isinstance(X, list):
        return db.from_sequence(X, npartitions=count)
    return da.from_array(X, chunks=(-(-len(X) // count), X.shape[1]))


SHARED_OUT = {
    "PCA, 200 000 × 300": (
        lambda s: np.random.default_rng(5).normal(size=(round(200_000 * s), 300)),
        lambda: mercer.PCA(10),
    ),
    "kernel PCA by 500 landmarks, 200 000 × 30": (
        lambda s: blobs(round(200_000 * s)),
        lambda: mercer.KernelPCA(10, kernel="rbf", gamma=0.02, n_landmarks=500),
    ),
    "kernel PCA by 500 given landmarks, 200 000 × 30": (
        lambda s: blobs(round(200_000 * s)),
        lambda: mercer.KernelPCA(10, kernel="rbf", gamma=0.02, landmarks=np.arange(500)),
    ),
    "kernel PCA, exact, 30 000 × 30": (
        lambda s: blobs(round(30_000 * s)),
        lambda: mercer.KernelPCA(10, kernel="rbf", gamma=0.02, memory_limit="2GB"),
    ),
    "kernel PCA of edit distances, exact, 3 000 words": (lambda s: words(round(3000 * s)), edits),
    "LLE by 3 000 landmarks, 200 000 × 3": (
        lambda s: roll(round(200_000 * s)),
        lambda: mercer.LocallyLinearEmbedding(n_components=2, n_neighbors=12, n_landmarks=3000),
    ),
}


def measure_overhead(case, count, scale):
    """Seconds of a fit: by threads of one process on an array (0) or on chunks ("chunks"), or by so many workers; and
    its first eigenvalue or variance."""
    make, model = SHARED_OUT[case]
    X = make(scale)
    rows = in_chunks(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if count in (0, "chunks"):
            return _timed(model, rows if count else X)
        with workers(count):
            from distributed import wait

            rows = rows.persist()
            wait(rows)
            return _timed(model, rows)


def _timed(model, X):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        fitted = model().fit(X)
        times.append(time.perf_counter() - start)
    names = "explained_variance_", "reconstruction_error_"
    value = next(np.atleast_1d(getattr(fitted, name))[0] for name in names if hasattr(fitted, name))
    return {"seconds": min(times), "value": float(value)}


# ---------------------------------------------------------------------- ten million rows of Parquet


def write_parquet(folder, scale):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(6)
    centres, n = 3 * rng.normal(size=(10, COLUMNS)), round(MILLIONS * scale) // FILES
    for number in range(FILES):
        X = centres[rng.integers(10, size=n)] + rng.normal(size=(n, COLUMNS))
        table = pa.table({f"x{j}": X[:, j] for j in range(COLUMNS)})
        pq.write_table(table, folder / f"part{number:02}.parquet", row_group_size=100_000, compression="none")
    return n * FILES


def measure_millions(scale):
    """Landmark kernel PCA on two workers of a gigabyte each: seconds, and the most that a worker held."""
    with tempfile.TemporaryDirectory() as name:
        n = write_parquet(Path(name), scale)
        with workers(2, "1GiB") as client, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = set(client.run(os.getpid).values())
            start = time.perf_counter()
            model = mercer.KernelPCA(5, kernel="rbf", gamma=0.01, n_landmarks=300).fit(Path(name))
            seconds = time.perf_counter() - start
            peaks = client.run(_peak)
            lost = len(before - set(client.run(os.getpid).values()))
    ratios = model.explained_variance_ratio_
    return {"rows": n, "seconds": seconds, "peak": max(peaks.values()), "lost": lost, "ratio": float(ratios.sum())}


def _peak():
    """The most that this process ever held: `getrusage` counts whoever started it as well."""
    from benchmarks.shared.peak import memory

    return memory("VmHWM")


# ---------------------------------------------------------------------- kills


def measure_kills(scale):
    """Fits during each of which a worker is killed (SIGKILL): how many gave the same bits as one in peace."""
    import dask.array as da

    rows = da.random.RandomState(0).normal(size=(round(60_000 * scale), 20), chunks=(round(3000 * scale), 20))
    fewer, texts = in_chunks(blobs(round(14_000 * scale)), 20), in_chunks(words(round(3000 * scale)), 20)
    makers = {
        "PCA": lambda hear: mercer.PCA(5, progress=hear).fit(rows),
        "PCA by products": lambda hear: mercer.PCA(5, svd_solver="krylov", progress=hear).fit(rows),
        "kernel PCA by landmarks": lambda hear: mercer.KernelPCA(
            5, kernel="rbf", gamma=1e-3, n_landmarks=100, progress=hear
        ).fit(rows),
        "kernel PCA, exact": lambda hear: mercer.KernelPCA(
            5, kernel="rbf", gamma=0.02, memory_limit="1GB", progress=hear
        ).fit(fewer),
        "… of edit distances": lambda hear: edits(n_jobs=1, progress=hear).fit(texts),
        "LLE by landmarks": lambda hear: mercer.LocallyLinearEmbedding(
            n_components=2, n_neighbors=10, n_landmarks=500, progress=hear
        ).fit(rows),
    }
    log = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with workers():
            peace = {name: _numbers(make(False)) for name, make in makers.items()}
        for number in range(KILLS):
            name = list(makers)[number % len(makers)]
            when, heard = 1 + (3 * number) % 17, []
            with workers() as client:  # others each time: one that is killed as it begins is not replaced

                def hear(progress, heard=heard, when=when, which=number % 2, client=client):
                    heard.append(progress)
                    if len(heard) == when:
                        os.kill(sorted(client.run(os.getpid).values())[which], signal.SIGKILL)

                start = time.perf_counter()
                found = _numbers(makers[name](hear))
                seconds = time.perf_counter() - start
            apart = max(float(np.abs(found[key] - peace[name][key]).max()) for key in found)
            apart = apart if len(heard) >= when else np.inf  # nobody was killed
            log.append({"fit": name, "when": when, "apart": apart, "seconds": seconds})
    return {"log": log, "rows": int(rows.shape[0]), "fewer": int(fewer.shape[0]), "texts": round(3000 * scale)}


def _numbers(model):
    names = "components_", "eigenvalues_", "embedding_", "mean_"
    return {name: np.array(getattr(model, name)) for name in names if hasattr(model, name)}


# ---------------------------------------------------------------------- the page


def write(scale):
    peers = {case: {system: alone("peer", case, system, scale) for system in SYSTEMS} for case in CASES}
    shared = {
        case: {count: alone("overhead", case, count, scale) for count in (0, "chunks", 1, 2)} for case in SHARED_OUT
    }
    millions, kills = alone("millions", scale), alone("kills", scale)
    text = [
        f"# On a cluster\n\n{written_by('cluster')} Two workers of one thread each on this machine; the scheduler and "
        f"the client share its cores. Best of {RUNS} runs.\n\n{machine(('dask', 'distributed', 'dask-ml'))}\n",
        "## Beside dask-ml\n\nPCA of ten components, of rows that lie in the workers' memory. The error is the "
        "largest of a variance, relative to itself, against LAPACK.\n",
        *head("| case | system | seconds | against ours | error |"),
        *[row for case, found in peers.items() for row in _peer_rows(case, found)],
        "\n## Beside threads of one process\n\nThe same fit by two threads of one process on the rows in its own "
        "memory, as an array and in eight chunks, and by one and two workers on the same chunks. Landmarks that are "
        "not given are drawn among all rows in chunks, and of an array among a sample: there, only the second column "
        "is the same work. The last column is how far the first variance (of LLE the error) is from that of the "
        "array.\n",
        *head(
            "| fit | array, s | chunks, s | one worker, s | two workers, s | two workers against the array "
            "| … against chunks | differs by |"
        ),
        *[_overhead_row(case, found) for case, found in shared.items()],
        "\n## Ten million rows of Parquet\n",
        _millions_words(millions),
        f"\n## {KILLS} kills\n\nDuring each fit one of the two workers is killed (SIGKILL), at another moment each "
        "time; its nanny starts another. The answer is compared bit by bit with that of a fit in peace.\n",
        _kills_words(kills),
        *_kills_rows(kills),
        "",
    ]
    return "\n".join(text), {"peers": peers, "shared": shared, "millions": millions, "kills": kills}


def alone(*what):
    return run_alone("cluster.cluster", *what, limit=LIMIT * 3)


def _peer_rows(case, found):
    ours = found["mercer"]
    for system, result in found.items():
        first = case if system == "mercer" else ""
        if "failed" in result:
            yield f"| {first} | {system} | failed: {result['failed'][:100]} | | |"
            continue
        against = "" if system == "mercer" or "failed" in ours else than_ours(result["seconds"] / ours["seconds"])
        yield f"| {first} | {system} | {result['seconds']:.2f} | {against} | {result['error']:.1e} |"


def _overhead_row(case, found):
    if failed := [result["failed"] for result in found.values() if "failed" in result]:
        return f"| {case} | failed: {failed[0][:100]} | | | | | | |"
    apart = abs(found[2]["value"] / found[0]["value"] - 1)
    times = [one["seconds"] for one in found.values()]
    ratios = times[-1] / times[0], times[-1] / times[1]
    return f"| {case} | {' | '.join(f'{each:.2f}' for each in (*times, *ratios))} | {apart:.1e} |"


def _millions_words(found):
    if "failed" in found:
        return f"Failed: {found['failed'][:200]}"
    return (
        f"{found['rows']:,} rows of {COLUMNS} columns in {FILES} files, through kernel PCA by 300 landmarks on two "
        f"workers of 1 GiB each: {found['seconds']:.0f} s; no worker held more than {found['peak'] / 2**20:,.0f} MiB, "
        f"{found['lost']} were lost; five components explain {found['ratio']:.1%}."
    )


def _kills_words(found):
    if "failed" in found:
        return f"Failed: {found['failed'][:200]}\n"
    log = found["log"]
    same, near = sum(one["apart"] == 0 for one in log), sum(one["apart"] < 1e-10 for one in log)
    told = f"**{same} of {len(log)}** gave the same bits, {near} the same to 1e-10"
    exact = f"exact kernel PCA of {found['fewer']:,} rows and of {found['texts']:,} words"
    return f"{told}: {exact}, all others of {found['rows']:,} rows.\n"


def _kills_rows(found):
    if "failed" in found:
        return []
    rows = [
        f"| {i} | {one['fit']} | {one['when']} | {one['apart']:.0e} | {one['seconds']:.1f} |"
        for i, one in enumerate(found["log"], 1)
    ]
    return [*head("| kill | fit | at its word number | differs by | seconds |"), *rows]


STUDY = Study(
    name="cluster",
    folder="cluster",
    question="What do two workers of a Dask cluster take, beside dask-ml and beside threads, and what do kills change?",
    minutes=15,
    write=write,
)

if __name__ == "__main__":
    import sys

    what, *given = sys.argv[1:]
    measures = {
        "peer": measure_peer,
        "overhead": measure_overhead,
        "millions": measure_millions,
        "kills": measure_kills,
    }
    numbers = [int(word) if word.isdigit() else word for word in given[:-1]]
    print(json.dumps(measures[what](*numbers, float(given[-1]))))
