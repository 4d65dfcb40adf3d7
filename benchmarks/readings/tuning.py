"""Choosing a kernel and its bandwidth: `mercer.tune` beside a grid search over scikit-learn's KernelPCA.

python -m benchmarks.readings.tuning SYSTEM DATA ROWS    # one of them in a process of its own, as JSON
"""

import json
import sys
import time
import warnings

import numpy as np

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Study

ROWS, FEWEST, COLUMNS_OF_X, K, FOLDS, SAMPLE = 10_000, 400, 50, 10, 5, 1000
GRID = np.logspace(-2, 2, 15)  # of 1/median: the bandwidths that tune tries
ALL, RBF_ALONE = "mercer.tune, six kernels", "mercer.tune, RBF alone"
SAMPLED, WHOLE = "GridSearchCV, the same rows", "GridSearchCV, all rows"
COLUMNS = "| rows | system | CPU seconds | than ours | passes | chosen | gamma × median | error on new rows |"


def clusters(n, rng):
    """Ten clusters in as many directions, and noise in all fifty."""
    centres = 2 * np.random.default_rng(0).standard_normal((10, COLUMNS_OF_X))
    return centres[rng.integers(10, size=n)] + rng.standard_normal((n, COLUMNS_OF_X))


def knot(n, rng):
    """A closed curve that winds three times, in ten harmonics, turned into fifty columns."""
    angle, turn = rng.uniform(0, 2 * np.pi, n), np.random.default_rng(0).standard_normal((20, COLUMNS_OF_X))
    sizes = 1 / (1 + np.abs(np.arange(1, 11) - 3))
    harmonics = np.arange(1, 11) * angle[:, None]
    curve = np.hstack([sizes * np.cos(harmonics), sizes * np.sin(harmonics)]) @ np.linalg.qr(turn.T)[0].T
    return curve + 0.05 * rng.standard_normal((n, COLUMNS_OF_X))


DATA = {"clusters": (clusters, K), "knot": (knot, 2)}


def timed(run, *given):
    """What a run returns, and its seconds of all processors together: others may be at work on the machine."""
    start = time.process_time()
    out = run(*given)
    return out, time.process_time() - start


def median_of(X):
    from scipy.spatial.distance import pdist

    return float(np.median(pdist(X[:SAMPLE], "sqeuclidean")))


def by_tune(X, k, kernels):
    import mercer

    found = mercer.tune(X, n_components=k, **({} if kernels is None else {"kernels": kernels}))
    chosen = next(row for row in found.table if row["chosen"])
    return found.estimator(n_components=k), chosen["kernel"], chosen["factor"], found.passes


def way_back_error(model, X, y=None):
    """Minus the mean squared distance of rows to where scikit-learn's own way back leads."""
    return -np.mean((X - model.inverse_transform(model.transform(X))) ** 2)


def by_grid(X, k):
    from sklearn.decomposition import KernelPCA
    from sklearn.model_selection import GridSearchCV, KFold

    median = median_of(X)
    model = KernelPCA(k, kernel="rbf", fit_inverse_transform=True, random_state=0)
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(model, {"gamma": GRID / median}, scoring=way_back_error, cv=folds, refit=False).fit(X)
    gamma = search.best_params_["gamma"]
    return gamma, gamma * median


def one_of_the_grid(X, k):
    """One fold of one bandwidth."""
    from sklearn.decomposition import KernelPCA

    train, test = X[len(X) // FOLDS :], X[: len(X) // FOLDS]
    model = KernelPCA(k, kernel="rbf", gamma=1 / median_of(X), fit_inverse_transform=True, random_state=0).fit(train)
    return way_back_error(model, test)


def led_back(model, train, new):
    """How well rows that nobody has seen are found again from their components, by nearest neighbours among others."""
    from sklearn.neighbors import KNeighborsRegressor

    scores = model.fit_transform(train)
    back = KNeighborsRegressor(5).fit(scores, train).predict(model.transform(new))
    return float(np.sum((new - back) ** 2) / np.sum((new - train.mean(axis=0)) ** 2))


def measure(system, data, n):
    """Seconds, what was chosen, and how good that is for rows of the same kind."""
    from mercer import KernelPCA

    warnings.simplefilter("ignore")
    make, k = DATA[data]
    rng = np.random.default_rng(1)
    X, new = make(n, rng), make(1000, rng)
    some = X[np.sort(rng.choice(n, min(SAMPLE, n), replace=False))]
    if system == WHOLE:
        _, seconds = timed(one_of_the_grid, X, k)
        return {"seconds": seconds * len(GRID) * FOLDS}
    if system == SAMPLED:
        (gamma, factor), seconds = timed(by_grid, some, k)
        model, name, passes = KernelPCA(k, kernel="rbf", gamma=gamma), "rbf", None
    else:
        kernels = None if system == ALL else ("rbf",)
        by_tune(X[:200], k, kernels)  # whatever is loaded or compiled on first use
        (model, name, factor, passes), seconds = timed(by_tune, X, k, kernels)
    error = led_back(model, some, new)
    return {"seconds": seconds, "chosen": name, "factor": factor, "passes": passes, "error": error}


def cells(result, ours):
    if "failed" in result:
        return [f"failed: {result['failed'][:60]}"]
    ratio = result["seconds"] / ours["seconds"]
    shown = [f"{result['seconds']:,.1f}", "" if result is ours else f"{ratio:,.1f}×"]
    if "error" not in result:
        return shown
    passes = "" if result["passes"] is None else f"{result['passes']:.1f}"
    factor = "" if result["factor"] is None else f"{result['factor']:.2g}"
    return [*shown, passes, result["chosen"], factor, f"{result['error']:.3f}"]


def write(scale):
    n, lines, figures = max(FEWEST, round(ROWS * scale)), [], {}
    for data in DATA:
        found = {system: run_alone("readings.tuning", system, data, n) for system in (ALL, RBF_ALONE, SAMPLED, WHOLE)}
        figures[data] = found
        for system, result in found.items():
            first = [f"{data}, {n:,} × {COLUMNS_OF_X}" if system == ALL else "", system]
            lines.append(line([*first, *cells(result, found[ALL])], COLUMNS))
        print(*lines[-4:], sep="\n", flush=True)
    words = [
        written_by("tuning"), "One process for each line. Kernels and bandwidths are compared by the cross-validated "
        f"error of the way back, {FOLDS} folds, {K} components (of the knot 2). `mercer.tune` looks at {SAMPLE:,} "
        "rows; six kernels with 49 candidates, or the fifteen bandwidths of RBF. The grid search has the same fifteen "
        "and scikit-learn's own way back (`fit_inverse_transform`), on as many rows; on all rows, *one* fold of one "
        "bandwidth was measured, and the seconds are 75 times that. *CPU seconds*: of all processors together. "
        "*Passes*: entries of matrices evaluated or multiplied, over those of the kernel matrix of all rows. *Error on "
        "new rows*: of 1000 rows that nobody saw, led back from the components of what was chosen by their five "
        "nearest neighbours: neither system's own way.",
    ]  # fmt: skip
    text = f"# Choosing a kernel\n\n{' '.join(words)}\n\n{machine()}\n\n"
    return text + "\n".join([*head(COLUMNS), *lines, ""]), figures


STUDY = Study(
    name="tuning",
    folder="readings",
    question="What does choosing a kernel and its bandwidth take, beside a grid search?",
    minutes=4,
    write=write,
)

if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
