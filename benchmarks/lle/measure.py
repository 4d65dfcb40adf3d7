"""Locally linear embedding: one system on one case in a process of its own: times and peak memory, as JSON.

What it found goes to a file, for `judge.py`.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from benchmarks.lle.cases import CASES
from benchmarks.lle.systems import SYSTEMS
from benchmarks.shared.peak import give_back
from benchmarks.shared.running import timed

FEW = 500  # rows for the first run, which is not measured


def fitted(system, case, X):
    model = SYSTEMS[system](**case.options)
    model.fit(X)
    return model


def measured(case, run):
    """What the last run returned, the seconds of all runs, and the highest peak."""
    times, peak = [], 0
    while len(times) < case.repeats and sum(times) < case.patience:
        give_back()
        found, seconds, used = timed(run)
        times.append(seconds)
        peak = max(peak, used)
    return found, {"times": times, "peak": peak}


def main(number, scale, system, folder):
    warnings.simplefilter("ignore")
    case = CASES[int(number)].scaled(float(scale))
    X, _ = case.rows()
    few = fitted(system, case, X[:FEW])  # imports, thread pools, first-call costs
    if case.job != "transform":
        model, result = measured(case, lambda: fitted(system, case, X))
        placed = model.embedding_
    else:
        new, _ = case.rows(seed=1)
        few.transform(new[:FEW])
        model = fitted(system, case, X)
        placed, result = measured(case, lambda: model.transform(new))
    np.savez(Path(folder) / f"{system}.npz", embedding=model.embedding_, placed=placed)
    said = {what: str(getattr(model, f"{what}_", "")) for what in ("certificate", "plan")}
    print(json.dumps(result | said))


if __name__ == "__main__":
    main(*sys.argv[1:])
