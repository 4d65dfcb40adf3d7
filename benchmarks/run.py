"""`make bench`: every system on every case, one process each, side by side; writes benchmarks/RESULTS.md.

    python benchmarks/run.py [--only TEXT]

--only runs the cases whose name contains the text and prints them; the file is written only by a full run.
Times on a shared machine are unstable: compare ratios within one run, not seconds between runs.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy
import sklearn
from cases import CASES

HERE = Path(__file__).parent


def measure(number, system):
    done = subprocess.run(
        [sys.executable, str(HERE / "measure.py"), str(number), system], capture_output=True, text=True, cwd=HERE
    )
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(done.stdout)


def reference_pass():
    """The yardstick: a float64 product of a 5 000×5 000 matrix with 64 columns, best of 20."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5000, 5000)), rng.normal(size=(5000, 64))
    best = np.inf
    for _ in range(20):
        start = time.perf_counter()
        A @ B
        best = min(best, time.perf_counter() - start)
    return best


def row(case, system, result, ours, unit):
    if "failed" in result:
        return f"| | {system} | failed: {result['failed'][:60]} | | | | |"
    best = min(result["times"])
    ratio = "" if system == "mercer" else f"{best / min(ours['times']):.1f}×"
    gram = 8 * case.n**2
    memory = f"{result['peak'] / 1e6:.0f} MB ({result['peak'] / gram:.2f} K)"
    return (
        f"| {case.name if system == 'mercer' else ''} | {system} | {best:.3f} | {best / unit:.1f} | {ratio} | {memory} "
        f"| {result['residual']:.0e} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    unit = reference_pass()
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`; do not edit. One process for each line, best of several runs, the systems of a case "
        "right after each other. *passes*: time in units of a fixed numpy product (5 000×5 000 by 64 columns), "
        f"{unit * 1000:.0f} ms here. *slower*: time against ours. *memory*: peak beyond the data, also in Gram "
        "matrices K. *residual*: worst ‖JKJu − ηu‖/η over the components.",
        "",
        f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}.",
        "",
        "| case | system | seconds | passes | slower | memory | residual |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, case in enumerate(CASES):
        if only not in case.name:
            continue
        ours = measure(number, "mercer")
        results = {"mercer": ours} | {f"scikit-learn {peer}": measure(number, peer) for peer in case.peers}
        for system, result in results.items():
            lines.append(row(case, system, result, ours, unit))
            print(lines[-1], flush=True)
    if not only:
        (HERE / "RESULTS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
