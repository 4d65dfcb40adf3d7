"""One system on one case in a process of its own: times, peak memory beyond the data, and accuracy, as JSON."""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from cases import CASES, DATA, median_gamma, model_of


def memory(field):
    """Bytes in memory now ("VmRSS") or at the most since `forget_peak` ("VmHWM")."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def worst_residual(model, X, gamma):
    """Largest ‖JKJu − θu‖/θ over the components, in float64, by blocks of rows."""
    U, theta = np.asarray(model.eigenvectors_, dtype=float), np.asarray(model.eigenvalues_, dtype=float)
    squares = np.sum(X * X, axis=1)
    U = U - U.mean(axis=0)
    product = np.empty_like(U)
    for i in range(0, len(X), 1000):
        rows = slice(i, i + 1000)
        distances = np.maximum(squares[rows, None] + squares - 2 * X[rows] @ X.T, 0)
        product[rows] = np.exp(-gamma * distances) @ U
    product -= product.mean(axis=0)
    return float(np.max(np.linalg.norm(product - U * theta, axis=0) / theta))


def main(number, system):
    warnings.simplefilter("ignore")
    case = CASES[number]
    X = DATA[case.data](case.n)
    gamma = median_gamma(X)
    model_of(system, case, gamma).set_params(n_components=2).fit(X[:300])  # imports, thread pools, first-call costs
    run = {
        "fit": lambda model: model.fit(X),
        "inverse": lambda model: model.fit(X),
        "inverse scores": lambda model: model.fit_transform(X),
        "transform": lambda model: model.transform(X),
    }[case.job]
    peak, times = 0, []
    for _ in range(case.repeats):
        model = model_of(system, case, gamma)
        if case.job == "transform":
            model.fit(X)
        forget_peak()
        before = memory("VmRSS")
        start = time.perf_counter()
        run(model)
        times.append(time.perf_counter() - start)
        peak = max(peak, memory("VmHWM") - before)
        if sum(times) > 60:
            break
    print(json.dumps({"times": times, "peak": peak, "residual": worst_residual(model, X, gamma)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
