"""`make bench`, `make bench-large` and `make bench-landmark`: every system on every case, one process each.

    python benchmarks/run.py [--suite small|large|landmark] [--only TEXT]

Writes benchmarks/RESULTS.md, LARGE.md or LANDMARK.md, from the figures in small.json, large.json or landmark.json next
to it. --only runs the cases whose name contains the text anew, and leaves the others as they were. Times on a shared
machine are unstable: compare ratios within a case, not seconds between runs.
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from threadpoolctl import threadpool_limits

from cases import MAKERS, SUITES, thirty_features
from pages import FILES, page, row
from running import HERE, run_alone, run_cases


def best_of(count, work):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def held_pass(n):
    """The yardstick of small cases: a float64 product of a 5 000×5 000 matrix with 64 columns, best of 20."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5000, 5000)), rng.normal(size=(5000, 64))
    return best_of(20, lambda: A @ B)


def recomputed_pass(n, rows=20_000, tile=500, columns=32):
    """The yardstick of large cases: an RBF kernel matrix in 30 dimensions evaluated tile by tile in float32, upper
    triangle only, each tile applied to 32 columns twice, a thread a core; measured at 20 000 rows and scaled by n²."""
    X = thirty_features(rows)
    Z = (X - X.mean(axis=0)) / np.sqrt(60)
    h = 0.5 * np.sum(Z * Z, axis=1)
    left = np.column_stack([Z, -h, np.ones(rows)]).astype(np.float32)
    right = np.column_stack([Z, np.ones(rows), -h]).astype(np.float32)
    B = np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
    strips = [slice(i, i + tile) for i in range(0, rows, tile)]
    cores = len(os.sched_getaffinity(0))

    def share(worker):
        out, buffer = np.zeros((rows, columns)), np.empty((tile, tile), dtype=np.float32)
        for i in range(worker, len(strips), cores):
            for j in strips[i:]:
                np.matmul(left[strips[i]], right[j].T, out=buffer)
                np.exp(np.minimum(buffer, 0, out=buffer), out=buffer)
                out[strips[i]] += buffer @ B[j]
                out[j] += buffer.T @ B[strips[i]]
        return out

    with threadpool_limits(1), ThreadPoolExecutor(cores) as pool:
        return best_of(3, lambda: list(pool.map(share, range(cores)))) * (n / rows) ** 2


YARDSTICKS = {"small": held_pass, "large": recomputed_pass}


def measure_case(suite, case, base):
    """All systems on one case; `base` is the yardstick, if the suite has one, `unit` the yardstick at this size."""
    about, number = {"n": case.n, "k": case.k, "data": case.data}, SUITES[suite].index(case)
    if base:
        about |= {"unit": base * (1.0 if suite == "small" else (case.n / 20_000) ** 2), "base": base}
    systems = {"mercer": "mercer"} | {peer if " " in peer else f"scikit-learn {peer}": peer for peer in case.peers}
    with TemporaryDirectory() as folder:
        files = [write_rows(case, Path(folder))] if case.file else []
        return {
            name: run_alone("measure.py", suite, number, system, *files) | about for name, system in systems.items()
        }


def write_rows(case, folder):
    """The rows of a case in a file, so that the process that is measured never has them all."""
    X, path = MAKERS[case.data](case.n), folder / f"rows{case.file}"
    if case.file == ".npy":
        np.save(path, X)
    else:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({f"x{j}": column for j, column in enumerate(X.T)}), path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default="small")
    parser.add_argument("--only", default="")
    suite, only = parser.parse_args().suite, parser.parse_args().only
    base = YARDSTICKS[suite](20_000) if suite in YARDSTICKS else None

    def report(case, results):
        for system, result in results[case.name].items():
            print(row(case, system, result, results[case.name]["mercer"]), flush=True)
        (HERE / FILES[suite]).write_text(page(suite, results), encoding="utf-8")

    run_cases(SUITES[suite], only, HERE / f"{suite}.json", lambda case: measure_case(suite, case, base), report)


if __name__ == "__main__":
    main()
