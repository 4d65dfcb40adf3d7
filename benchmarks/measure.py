"""One system on one case in a process of its own: times, peak memory beyond the data, and accuracy, as JSON."""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from cases import MAKERS, SUITES, median_gamma, model_of


def memory(field):
    """Bytes in memory now ("VmRSS") or at the most since `forget_peak` ("VmHWM")."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


SAMPLE = 10_000  # rows on which residuals of large cases are measured


def worst_residual(model, X, gamma):
    """Largest ‖JKJu − θu‖/θ over the components, in float64, by blocks of rows; from a sample of rows if n is large."""
    U, theta = np.asarray(model.eigenvectors_, dtype=float), np.asarray(model.eigenvalues_, dtype=float)
    squares = np.sum(X * X, axis=1)
    U = U - U.mean(axis=0)
    sample = np.sort(np.random.default_rng(0).permutation(len(X))[:SAMPLE])
    product = np.empty((len(sample), U.shape[1]))
    for i in range(0, len(sample), 500):
        rows = sample[i : i + 500]
        distances = np.maximum(squares[rows, None] + squares - 2 * X[rows] @ X.T, 0)
        product[i : i + 500] = np.exp(-gamma * distances) @ U
    residual = product - U[sample] * theta
    residual -= residual.mean(axis=0)  # J: a residual has mean zero, as Ju = u
    return float(np.max(np.linalg.norm(residual, axis=0) * np.sqrt(len(X) / len(sample)) / theta))


def main(suite, number, system):
    warnings.simplefilter("ignore")
    case = SUITES[suite][number]
    X = MAKERS[case.data](case.n)
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
    certificate = str(model.certificate_) if system == "mercer" else ""
    residual = worst_residual(model, X, gamma)
    print(json.dumps({"times": times, "peak": peak, "residual": residual, "certificate": certificate}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
