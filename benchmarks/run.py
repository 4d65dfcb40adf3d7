"""`make bench` and `make bench-large`: every system on every case, one process each, side by side.

    python benchmarks/run.py [--suite small|large] [--only TEXT]

Writes benchmarks/RESULTS.md or benchmarks/LARGE.md, from the figures in small.json or large.json next to it. --only
runs the cases whose name contains the text anew, and leaves the others as they were. Times on a shared machine are
unstable: compare ratios within a case, not seconds between runs.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy
import sklearn
from cases import SUITES, thirty_features
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent


def measure(suite, number, system):
    done = subprocess.run(
        [sys.executable, str(HERE / "measure.py"), suite, str(number), system], capture_output=True, text=True, cwd=HERE
    )
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(done.stdout)


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


YARDSTICKS = {
    "small": (held_pass, "a fixed numpy product (5 000×5 000 by 64 columns), {:.0f} ms here"),
    "large": (
        recomputed_pass,
        "a fixed numpy pass over the same number of rows (30 features, float32 tiles of the upper triangle, "
        "32 columns), {:.0f} ms at 20 000 rows here",
    ),
}
FILES = {"small": "RESULTS.md", "large": "LARGE.md"}


def row(case, system, result, ours):
    if "failed" in result:
        return f"| | {system} | failed: {result['failed'][:60]} | | | | |"
    best = min(result["times"])
    ratio = "" if system == "mercer" else f"{best / min(ours['times']):.1f}×"
    memory = f"{result['peak'] / 1e6:.0f} MB ({result['peak'] / (8 * case.n**2):.2g} K)"
    return (
        f"| {case.name if system == 'mercer' else ''} | {system} | {best:.3g} | {best / result['unit']:.1f} | {ratio} "
        f"| {memory} | {result['residual']:.0e} |"
    )


def page(suite, results):
    """The table of all results there are, in the order of the cases."""
    unit = results[next(iter(results))]["mercer"]["base"]
    lines = [
        "# Benchmarks" if suite == "small" else "# Benchmarks: matrices that are not held",
        "",
        f"Written by `make {'bench' if suite == 'small' else 'bench-large'}`; do not edit. One process for each line, "
        "best of several runs, the systems of a case right after each other. *passes*: time in units of "
        f"{YARDSTICKS[suite][1].format(unit * 1000)}. *slower*: time against ours. *memory*: peak beyond the data, "
        "also in Gram matrices K. *residual*: worst ‖JKJu − ηu‖/η over the components.",
        "",
        f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}.",
        "",
        "| case | system | seconds | passes | slower | memory | residual |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in SUITES[suite]:
        systems = results.get(case.name, {})
        lines += [row(case, system, result, systems["mercer"]) for system, result in systems.items()]
    return "\n".join(lines) + "\n"


def measure_case(suite, number, case, base):
    """All systems on one case; `base` is the yardstick, `unit` the yardstick at this size."""
    unit = base * (1.0 if suite == "small" else (case.n / 20_000) ** 2)
    systems = {"mercer": "mercer"} | {peer if " " in peer else f"scikit-learn {peer}": peer for peer in case.peers}
    return {
        name: measure(suite, number, system) | {"n": case.n, "k": case.k, "data": case.data, "unit": unit, "base": base}
        for name, system in systems.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default="small")
    parser.add_argument("--only", default="")
    suite, only = parser.parse_args().suite, parser.parse_args().only
    kept = HERE / f"{suite}.json"
    results = json.loads(kept.read_text(encoding="utf-8")) if only and kept.exists() else {}
    base = YARDSTICKS[suite][0](20_000)
    for number, case in enumerate(SUITES[suite]):
        if only not in case.name:
            continue
        results[case.name] = measure_case(suite, number, case, base)
        for system, result in results[case.name].items():
            print(row(case, system, result, results[case.name]["mercer"]), flush=True)
        kept.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        (HERE / FILES[suite]).write_text(page(suite, results), encoding="utf-8")


if __name__ == "__main__":
    main()
