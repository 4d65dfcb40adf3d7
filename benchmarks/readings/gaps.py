"""Filling gaps: `ProbabilisticPCA.impute` beside scikit-learn's imputers and a soft-thresholded SVD.

python -m benchmarks.readings.gaps DATA SEEDS    # all systems on one set, in a process of its own, as JSON
"""

import json
import sys
import time
import warnings

import numpy as np

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Study

SHARE, SEEDS, FEWEST = 0.2, 8, 2
MADE = 10_000, 100, 10  # rows, columns and factors of the large set
COLUMNS = (
    "| rows | means of columns | KNNImputer | IterativeImputer | soft SVD | ProbabilisticPCA | components | best |"
)
SPEED = "| rows | components | CPU seconds | error | error of the truth |"
OURS = "ProbabilisticPCA"


def bundled(name):
    from sklearn import datasets

    if name == "linnerud":
        both = datasets.load_linnerud()
        return np.hstack([both.data, both.target])
    if name == "penguins":
        from palmerpenguins import load_penguins

        return (
            load_penguins()[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]].dropna().to_numpy()
        )
    return getattr(datasets, f"load_{name}")().data


SETS = ["wine", "breast_cancer", "diabetes", "iris", "penguins", "linnerud", "digits"]


def standardised(name):
    X = bundled(name)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def soft_svd(X, rng, steps=15, passes=200):
    """Singular values lowered by a threshold, again and again; the threshold by a tenth of the numbers held out."""
    there, mean = ~np.isnan(X), np.nanmean(X, axis=0)

    def path(known, thresholds):
        Y, Z, found = np.where(known, X - mean, 0.0), np.zeros(X.shape), []
        for threshold in thresholds:
            for _ in range(passes):
                U, s, Vt = np.linalg.svd(np.where(known, Y, Z), full_matrices=False)
                old, Z = Z, (U * np.maximum(s - threshold, 0.0)) @ Vt
                if np.sum((Z - old) ** 2) <= 1e-8 * np.sum(Z**2):
                    break
            found.append(Z + mean)
        return found

    thresholds = np.linalg.svd(np.where(there, X - mean, 0.0), compute_uv=False)[0] * np.geomspace(0.8, 0.005, steps)
    held = there & (rng.random(X.shape) < 0.1)
    errors = [np.mean((found - X)[held] ** 2) for found in path(there & ~held, thresholds)]
    return path(there, thresholds[: int(np.argmin(errors)) + 1])[-1]


def systems(rng):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    from mercer import ProbabilisticPCA

    def ours(X):
        model = ProbabilisticPCA(standardize=True).fit(X)
        return model.impute(X), model.n_components_

    return {
        "means of columns": lambda X: SimpleImputer().fit_transform(X),
        "KNNImputer": lambda X: KNNImputer().fit_transform(X),
        "IterativeImputer": lambda X: IterativeImputer(random_state=0).fit_transform(X),
        "soft SVD": lambda X: soft_svd(X, rng),
        OURS: ours,
    }


def measure(name, seeds):
    """Root mean square errors of numbers that were taken out by lot, in units of a column's deviation."""
    warnings.simplefilter("ignore")
    X, errors, found = standardised(name), {}, []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        gaps = rng.random(X.shape) < SHARE
        for system, fill in systems(rng).items():
            filled = fill(np.where(gaps, np.nan, X))
            if system == OURS:
                filled, k = filled
                found.append(int(k))
            errors.setdefault(system, []).append(float(np.sqrt(np.mean((filled - X)[gaps] ** 2))))
    return {"shape": X.shape, "errors": errors, "components": found}


def measure_speed(n):
    """Rows of ten factors, a fifth of the numbers missing, every pattern different."""
    from mercer import ProbabilisticPCA

    _, d, k = MADE
    rng = np.random.default_rng(0)
    W = rng.standard_normal((k, d))
    X = rng.standard_normal((n, k)) @ W + rng.standard_normal((n, d))
    gaps, found = rng.random(X.shape) < SHARE, {}
    rows = np.where(gaps, np.nan, X)
    ProbabilisticPCA(k).fit(rows[:200])  # whatever is loaded on first use
    for asked in (k, "cv"):
        start = time.process_time()
        model = ProbabilisticPCA(asked).fit(rows)
        seconds = time.process_time() - start
        error = float(np.sqrt(np.mean((model.impute(rows) - X)[gaps] ** 2)))
        found[str(asked)] = {"seconds": seconds, "error": error, "components": int(model.n_components_)}
    truth = ProbabilisticPCA(k).fit(rows)
    truth.components_, sizes, _ = np.linalg.svd(W.T, full_matrices=False)
    truth.components_, truth.explained_variance_ = truth.components_.T, sizes**2 + 1
    truth.mean_, truth.noise_variance_ = np.zeros(d), 1.0
    best = float(np.sqrt(np.mean((truth.impute(rows) - X)[gaps] ** 2)))
    return {"shape": X.shape, "found": found, "best": best}


def told(errors):
    return f"{np.mean(errors):.3f} ± {np.std(errors, ddof=1) / np.sqrt(len(errors)):.3f}"


def cells(name, result):
    if "failed" in result:
        return [name, f"failed: {result['failed'][:60]}"]
    means = {system: np.mean(errors) for system, errors in result["errors"].items()}
    n, d = result["shape"]
    shown = [told(errors) for errors in result["errors"].values()]
    return [f"{name}, {n:,} × {d}", *shown, f"{np.median(result['components']):g}", min(means, key=means.get)]


def write(scale):
    seeds, lines, figures = max(FEWEST, round(SEEDS * min(scale, 1.0))), [], {}
    for name in SETS:
        figures[name] = run_alone("readings.gaps", name, seeds)
        lines.append(line(cells(name, figures[name]), COLUMNS))
        print(lines[-1], flush=True)
    n = max(500, round(MADE[0] * min(scale, 1.0)))
    fast = figures["speed"] = run_alone("readings.gaps", "speed", n)
    times = []
    for asked, run in fast.get("found", {}).items():
        first = [f"{n:,} × {MADE[1]}", f"{run['components']} ({'asked for' if asked != 'cv' else 'found'})"]
        times.append(line([*first, f"{run['seconds']:.1f}", f"{run['error']:.4f}", f"{fast['best']:.4f}"], SPEED))
    words = [
        written_by("gaps"), f"Columns are standardised, {SHARE:.0%} of the numbers taken out by lot, {seeds} times, "
        "and filled again: root mean square error in units of a column's deviation, mean ± standard error. KNNImputer "
        "and IterativeImputer are scikit-learn's as they come; soft SVD lowers singular values by a threshold, which a "
        "tenth of the numbers, held out, chose; ProbabilisticPCA(standardize=True) "
        "chose its number of components likewise (*components*: the median). Images of digits lie in no plane: there, "
        "neighbours fill best.",
    ]  # fmt: skip
    about = (
        "Rows of ten factors with noise of variance one, a fifth of the numbers missing, no two rows in the same "
        "places. "
        "*CPU seconds* of the fit, of all processors together. *Error of the truth*: by the distribution that the rows "
        "were drawn from."
    )
    text = f"# Filling gaps\n\n{' '.join(words)}\n\n{machine()}\n\n"
    text += "\n".join([*head(COLUMNS), *lines, ""])
    return text + f"\n## Time\n\n{about}\n\n" + "\n".join([*head(SPEED), *times, ""]), figures


STUDY = Study(
    name="gaps",
    folder="readings",
    question="How well are gaps filled, beside scikit-learn's imputers and a soft SVD?",
    minutes=12,
    write=write,
)

if __name__ == "__main__":
    name, number = sys.argv[1], int(sys.argv[2])
    print(json.dumps(measure_speed(number) if name == "speed" else measure(name, number)))
