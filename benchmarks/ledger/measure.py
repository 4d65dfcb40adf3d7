"""Measure one case in a process of its own: interleaved repetitions of the case and of its yardstick, and minima.

    python -m benchmarks.ledger.measure CASE --edition new [--full]

Prints one JSON object: the figures, or `skipped` or `failed` with the reason.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}
SHORTEST = 2e-3  # seconds of one measurement: faster calls are repeated in a loop
LEAST_RUNS, MOST_RUNS = 3, 200
THREAD_VARIABLES = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"


class NotThereError(Exception):
    """This edition does not have the name that a case needs."""


class Edition:
    """The names of one edition: `old` are the public names of `mercer`, `new` those of `mercer.estimators`."""

    HOMES = {  # noqa: RUF012
        "old": {"estimators": "mercer", "strings": "mercer.kernels", "data": "mercer"},
        "new": {"estimators": "mercer.estimators", "strings": "mercer.kernels.strings", "data": "mercer.data"},
    }

    def __init__(self, name):
        self.name = name

    def get(self, group, *names):
        """The first of these names that the edition has."""
        home = self.HOMES[self.name][group]
        for name in names:
            try:
                found = getattr(importlib.import_module(home), name)
            except (ImportError, AttributeError):
                continue
            if self.name == "old" or not found.__module__.startswith("mercer_old"):
                return found
        raise NotThereError(f"{home} does not have {' or '.join(names)}")

    def estimator(self, name):
        return self.get("estimators", name)


def run_child(case, edition, full):
    """The figures of one case, from a process with one BLAS thread, or with all cores for a case on the wall clock."""
    options = ["--edition", edition, *(["--full"] if full else [])]
    return _child([case.name, *options], threads=1 if case.clock == "cpu" else None)


def machine_child():
    """What `machine` returns, from a process with one BLAS thread."""
    return _child(["machine"], threads=1)


def _child(arguments, threads):
    command = [sys.executable, "-m", "benchmarks.ledger.measure", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment(threads))
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def environment(threads=1):
    """Variables of a child: this checkout's sources first, bytecode kept, and so many BLAS threads (None: all)."""
    env = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), *filter(None, [env.get("PYTHONPATH")])])
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # imports without bytecode take four times as long
    if threads is not None:
        env.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    return env


def machine():
    """Processor, cores and BLAS kernels; the speed of a float64 product on one core; versions."""
    import numpy as np
    import scipy
    import sklearn
    from threadpoolctl import threadpool_info

    from benchmarks.ledger.cases import CORES

    kernels = sorted({library["architecture"] for library in threadpool_info() if "architecture" in library})
    words = [_processor(), f"{CORES} cores", *kernels]
    A = np.random.default_rng(0).normal(size=(1000, 1000))
    seconds = min(_seconds(lambda: A @ A) for _ in range(10))
    versions = f"numpy {np.__version__} scipy {scipy.__version__} scikit-learn {sklearn.__version__}"
    return {"machine": " ".join(words), "gflops": 2e-9 * len(A) ** 3 / seconds, "versions": versions}


def _processor():
    """The model's name, on Linux."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def interleave(ours, yardstick, seconds, clock):
    """Least times of both on both clocks, how often ours ran, and what it returned last.

    They alternate until `seconds` have passed on this clock, three times at least after a warm-up. A call that takes
    longer than all of that runs once, and the yardstick goes on alone.
    """
    best, loops, counts = {}, {ours: 1, yardstick: 1}, {ours: 0, yardstick: 0}
    read_clock = CLOCKS[clock]
    start = read_clock()

    def run_once(call, warm_up):
        before = {name: read() for name, read in CLOCKS.items()}
        for _ in range(loops[call]):
            result = call()
        took = {name: (read() - before[name]) / loops[call] for name, read in CLOCKS.items()}
        if warm_up and took["wall"] < seconds:
            loops[call] = max(1, round(SHORTEST / max(took["wall"], 1e-7)))
        else:
            best[call] = {name: min(took[name], best.get(call, took)[name]) for name in CLOCKS}
            counts[call] += 1
        return result

    for turn in range(MOST_RUNS + 1):
        result = run_once(ours, warm_up=turn == 0)
        run_once(yardstick, warm_up=turn == 0)
        elapsed = read_clock() - start
        if counts[ours] and (elapsed > 4 * seconds or (counts[ours] >= LEAST_RUNS and elapsed > seconds)):
            break
    while counts[yardstick] < LEAST_RUNS:
        run_once(yardstick, warm_up=False)
    return best[ours], best[yardstick], counts[ours], result


def measure(case, edition, full):
    """The figures of a case: ratio, seconds of both, repetitions and a note; or why it was skipped."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pair = case.make(Edition(edition), full, Path(folder))
        except NotThereError as error:
            return {"skipped": str(error)}
        if isinstance(pair, dict):  # the case has measured itself
            return pair
        ours, yardstick, runs, result = interleave(pair.ours, pair.yardstick, case.seconds, case.clock)
        notes = [pair.note(result)] if pair.note else []
    unit = {clock: pair.units * yardstick[clock] for clock in CLOCKS}
    if case.clock == "wall":
        notes.append(f"CPU ratio {ours['cpu'] / unit['cpu']:.3g}")
    seconds, unit = ours[case.clock], unit[case.clock]
    return {"ratio": seconds / unit, "seconds": seconds, "yardstick": unit, "runs": runs, "note": "; ".join(notes)}


def main():
    from benchmarks.ledger.cases import CASES

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=["machine", *CASES])
    parser.add_argument("--edition", choices=Edition.HOMES, default="old")
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args()
    print(json.dumps(machine() if given.case == "machine" else measure(CASES[given.case], given.edition, given.full)))


if __name__ == "__main__":
    main()
