"""Kernel PCA: one system on one case in a process of its own: times, peak memory and accuracy, as JSON."""

import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.kernel_pca.cases import BARE, GAMMA, MAKERS, SUITES, median_gamma
from benchmarks.kernel_pca.systems import model_of
from benchmarks.shared.running import timed

SAMPLE = 10_000  # rows on which residuals of large cases are measured
CAPTURED = 5_000  # rows on which captured variance is
METHODS = {
    "fit": "fit",
    "inverse": "fit",
    "inverse scores": "fit_transform",
    "transform": "transform",
    "landmark scores": "fit_transform",
    "landmark file": "fit",
    "landmark transform": "transform",
}


def some_rows(n, count):
    """The same rows for every system."""
    return np.sort(np.random.default_rng(0).permutation(n)[:count])


def worst_residual(model, X, gamma):
    """Largest ‖JKJu − θu‖/θ over the components, in float64, by blocks of rows; from a sample of rows if n is large."""
    U, theta = np.asarray(model.eigenvectors_, dtype=float), np.asarray(model.eigenvalues_, dtype=float)
    squares = np.sum(X * X, axis=1)
    U = U - U.mean(axis=0)
    sample = some_rows(len(X), SAMPLE)
    product = np.empty((len(sample), U.shape[1]))
    for i in range(0, len(sample), 500):
        rows = sample[i : i + 500]
        distances = np.maximum(squares[rows, None] + squares - 2 * X[rows] @ X.T, 0)
        product[i : i + 500] = np.exp(-gamma * distances) @ U
    residual = product - U[sample] * theta
    residual -= residual.mean(axis=0)  # J: a residual has mean zero, as Ju = u
    return float(np.max(np.linalg.norm(residual, axis=0) * np.sqrt(len(X) / len(sample)) / theta))


def captured_variance(X, gamma, scores):
    """tr(UᵀAU)/tr(A) with A = JKJ of some rows and U a basis of their centred scores, for the scores of each seed."""
    from sklearn.metrics.pairwise import rbf_kernel

    K = rbf_kernel(X, gamma=gamma)
    total = np.trace(K) - K.sum() / len(K)
    bases = [np.linalg.qr(Y - Y.mean(axis=0))[0] for Y in scores]
    return [float(np.sum(U * (K @ U)) / total) for U in bases]  # JU = U, so that K will do for A


def rows_of(case, path):
    """The rows, and what a system is given: the same, or a file of which no more than a block is ever held."""
    if path is None:
        X = MAKERS[case.data](case.n)
        return X, X
    from mercer import open_rows

    return open_rows(path), Path(path)


def main(suite, number, scale, system, path=None):
    warnings.simplefilter("ignore")
    case = SUITES[suite][int(number)].scaled(float(scale))
    X, given = rows_of(case, path)
    gamma, method = GAMMA.get(case.data, 1) * median_gamma(X), METHODS[case.job]
    model_of(system, replace(case, k=2), gamma).fit(X[np.arange(300)])  # imports, thread pools, first-call costs
    peak, times, scores, sample = 0, [], [], some_rows(len(X), CAPTURED)
    for seed in range(case.repeats):
        model = model_of(system, case, gamma, seed)
        if method == "transform":
            model.fit(X)
        out, seconds, used = timed(getattr(model, method), given)
        times.append(seconds)
        peak = max(peak, used)
        if case.by_landmarks and system != BARE:
            scores.append(model.transform(X[sample]) if method == "fit" else out[sample])
        if sum(times) > case.patience:
            break
    accuracy = (
        {"captured": captured_variance(X[sample], gamma, scores)}
        if case.by_landmarks
        else {"residual": worst_residual(model, X, gamma)}
    )
    certificate = str(model.certificate_) if system == "mercer" else ""
    print(json.dumps({"times": times, "peak": peak, **accuracy, "certificate": certificate}))


if __name__ == "__main__":
    main(*sys.argv[1:])
