"""Linear PCA: one system on one case in a process of its own: times, peak memory and accuracy, as JSON."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.pca.cases import CASES, blocks
from benchmarks.pca.systems import SYSTEMS
from benchmarks.shared.peak import Own, Resident, give_back
from benchmarks.shared.running import timed

ENTRIES = 2**22  # numbers of a block in double precision
AFFORDABLE = 1000  # rows or columns up to which all variances are computed to compare with
FEW_ROWS, FEW_COLUMNS = 2000, 1000  # for the first run, which is not measured


# ---------------------------------------------------------------------- running


def run(system, model, X):
    """Fitted as far as names that people read: some estimators find them when first asked."""
    system.fit(model, X)
    return model.components_, model.explained_variance_


def few(X, path):
    """A small corner of the rows, in a file of its own if they are in one."""
    corner = X[:FEW_ROWS, :FEW_COLUMNS]
    if path is None:
        return corner.copy()
    beside = Path(path).with_name("few.npy")
    np.save(beside, corner)
    return np.load(beside, mmap_mode="r")


# ---------------------------------------------------------------------- accuracy


def pieces(X):
    """Dense rows in double precision, a block at a time."""
    for rows in blocks(X.shape[0], max(1, ENTRIES // X.shape[1])):
        yield np.asarray(X[rows], dtype=float)


def means(X):
    """Of the columns: sums of what is left beyond the mean of the first block, which are right at any mean."""
    if sparse.issparse(X):
        return np.asarray(X.mean(axis=0)).ravel()
    near = next(pieces(X)).mean(axis=0)
    return near + sum((block - near).sum(axis=0) for block in pieces(X)) / X.shape[0]


def scatter_times(X, mean, V):
    """XcᵀXcV, with Xc the centred rows."""
    if sparse.issparse(X):
        scores = X @ V - mean @ V
        return X.T @ scores - np.outer(mean, scores.sum(axis=0))
    return sum((block - mean).T @ ((block - mean) @ V) for block in pieces(X))


def true_variances(X, mean, k):
    """The k largest, from the smaller of XcᵀXc and XcXcᵀ; None if both are large."""
    n, d = X.shape
    if sparse.issparse(X) or min(n, d) > AFFORDABLE:
        return None
    if d <= n:
        square = sum((block - mean).T @ (block - mean) for block in pieces(X))
    else:
        centred = X - mean
        square = centred @ centred.T
    return np.linalg.eigvalsh(square)[::-1][:k] / (n - 1)


def accuracy(X, components, variances):
    """Worst relative error of the variances, where all can be computed, and worst residual ‖Sv − λv‖/λ, S = XcᵀXc."""
    if components is None:
        return {}
    mean, V = means(X), np.asarray(components, dtype=float).T
    variances = np.asarray(variances, dtype=float)
    values = (X.shape[0] - 1) * variances
    residual = np.linalg.norm(scatter_times(X, mean, V) - V * values, axis=0) / values
    true = true_variances(X, mean, len(values))
    error = None if true is None else float(np.max(np.abs(variances / true - 1)))
    return {"error": error, "residual": float(np.max(residual))}


def main(number, scale, name, path=None):
    warnings.simplefilter("ignore")
    case, system = CASES[int(number)].scaled(float(scale)), SYSTEMS[name]
    X = np.load(path, mmap_mode="r") if case.file else case.make(case.n, case.d)
    run(system, system.model(2), few(X, path))  # imports, thread pools, first-call costs
    times, peak = [], 0
    while len(times) < case.repeats and sum(times) < case.patience:
        model = system.model(case.k)
        give_back()
        found, seconds, used = timed(run, system, model, X, meter=Own if case.file else Resident)
        times.append(seconds)
        peak = max(peak, used)
    said = {what: str(getattr(model, f"{what}_", "")) for what in ("certificate", "plan")}
    print(json.dumps({"times": times, "peak": peak} | accuracy(X, *found) | said))


if __name__ == "__main__":
    main(*sys.argv[1:])
