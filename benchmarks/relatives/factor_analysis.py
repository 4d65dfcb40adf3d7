"""Factor analysis beside scikit-learn's EM: time, and what it is worth in log-likelihood."""

import time
import warnings

import numpy as np
from sklearn import datasets, decomposition

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.suites import Study
from mercer import FactorAnalysis

RUNS = 3
ITERATIONS = 20_000  # of EM, where it is to converge
COLUMNS = (
    "| rows | n × d, k | ours | EM, default | times ours | its likelihood | EM, converged | times ours "
    "| its likelihood |"
)
MEANING = (
    f"Seconds of the processor, the best of {RUNS} runs in one process. scikit-learn's EM as it is by default "
    f"(randomized, `tol=1e-2`), and until a step gains less than 1e-6 nats, {ITERATIONS:,} steps at most. Likelihoods "
    "are those of all rows, in nats, against ours: below zero is worse."
)


def made_up(n, d, k, noise, strength=1.0):
    """Rows of a true factor model."""
    rng = np.random.default_rng(0)
    W = strength * rng.normal(size=(k, d))
    low, high = np.log10(noise)
    return rng.normal(size=(n, k)) @ W + rng.normal(size=(n, d)) * 10 ** (rng.uniform(low, high, d) / 2)


CASES = {
    "digits": (lambda: varying(datasets.load_digits().data), 10),
    "breast cancer": (lambda: datasets.load_breast_cancer().data, 4),
    "breast cancer, columns of variance one": (lambda: standardized(datasets.load_breast_cancer().data), 4),
    "wine": (lambda: datasets.load_wine().data, 3),
    "diabetes": (lambda: datasets.load_diabetes().data, 3),
    "tall, noises alike": (lambda: made_up(20_000, 60, 5, (0.5, 2)), 5),
    "tall, noises from 0.001 to 10": (lambda: made_up(20_000, 60, 5, (1e-3, 10)), 5),
    "tall, weak factors": (lambda: made_up(5000, 200, 10, (0.5, 2), 0.2), 10),
    "tall, one factor too many": (lambda: made_up(5000, 40, 4, (0.1, 2)), 5),
    "many columns": (lambda: made_up(3000, 1000, 10, (0.1, 10)), 10),
    "wide, noises alike": (lambda: made_up(100, 1000, 5, (0.5, 2)), 5),
    "wide, noises from 0.001 to 10": (lambda: made_up(100, 1000, 5, (1e-3, 10)), 5),
    "wide: 50 digits": (lambda: varying(datasets.load_digits().data[:50]), 5),
}


def varying(X):
    return X[:, X.std(axis=0) > 0]


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def measured(make, X):
    """Seconds of the processor, the best of several, and the fitted model."""
    best = np.inf
    for _ in range(RUNS):
        start = time.process_time()
        model = make().fit(X)
        best = min(best, time.process_time() - start)
        if best > 10:
            break
    return best, model


def case(rows, k):
    X = rows()
    ours = measured(lambda: FactorAnalysis(k), X)
    default = measured(lambda: decomposition.FactorAnalysis(k), X)
    converged = measured(lambda: decomposition.FactorAnalysis(k, tol=1e-6, max_iter=ITERATIONS), X)
    top = ours[1].loglike_[-1]
    return {
        "size": f"{X.shape[0]:,} × {X.shape[1]:,}, {k}",
        "ours": ours[0],
        "default": default[0],
        "default_gap": default[1].loglike_[-1] - top,
        "converged": converged[0],
        "converged_gap": converged[1].loglike_[-1] - top,
        "iterations": [ours[1].n_iter_, default[1].n_iter_, converged[1].n_iter_],
    }


def cells(name, found):
    def gap(value):
        return "the same" if abs(value) < 0.005 else f"{value:+.2f}"

    ours = found["ours"]
    return [
        name,
        found["size"],
        f"{1000 * ours:.0f} ms, {found['iterations'][0]} steps",
        f"{1000 * found['default']:.0f} ms, {found['iterations'][1]} steps",
        f"{found['default'] / ours:.1f}",
        gap(found["default_gap"]),
        f"{1000 * found['converged']:.0f} ms, {found['iterations'][2]:,} steps",
        f"{found['converged'] / ours:.1f}",
        gap(found["converged_gap"]),
    ]


def summary(figures):
    """Geometric means of the ratios, and where EM is faster."""
    ways = ("default", "converged")
    by_default, to_the_end = (
        np.exp(np.mean([np.log(found[way] / found["ours"]) for found in figures.values()])) for way in ways
    )
    slower = [name for name, found in figures.items() if found["default"] < found["ours"]]
    where = f" By default it is faster on {'; '.join(slower)}: there a few steps do." if slower else ""
    times = f"EM takes {by_default:.1f} times our time by default, and {to_the_end:.0f} times until it has converged"
    return f"Over all lines (geometric mean) {times}.{where}"


def write(scale):
    figures = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (rows, k) in CASES.items():
            figures[name] = case(rows, k)
            print(line(cells(name, figures[name]), COLUMNS), flush=True)
    text = [
        "# Factor analysis beside scikit-learn",
        "",
        f"{written_by('factor_analysis')} {MEANING}",
        "",
        machine(),
        "",
        summary(figures),
        "",
        *head(COLUMNS),
        *(line(cells(name, found), COLUMNS) for name, found in figures.items()),
    ]
    return "\n".join(text) + "\n", figures


STUDY = Study(
    name="factor_analysis",
    folder="relatives",
    question="How fast is factor analysis, and how near to the top of its likelihood?",
    minutes=3,
    write=write,
)
