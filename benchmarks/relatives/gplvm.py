"""GPLVM by landmarks and some exact steps, beside exact steps alone from the same start."""

import json
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Study
from mercer import GPLVM

ROWS = 500, 1000, 1797
WAYS = {
    "100 landmarks and polish": {"n_landmarks": 100},
    "100 landmarks alone": {"n_landmarks": 100, "polish": 0},
    "exact, 30 steps": {"n_landmarks": 10_000, "max_iter": 30},
    "exact, 100 steps": {"n_landmarks": 10_000, "max_iter": 100},
    "exact, 300 steps": {"n_landmarks": 10_000, "max_iter": 300},
}
COLUMNS = "| rows | way | seconds | log-probability, exact | against the first | three nearest agree |"
MEANING = (
    "Handwritten digits (64 columns) in two coordinates, from PCA's places as a start and with the same length of the "
    "kernel. *Seconds*: of the processor, with one thread. *Log-probability*: of rows and places, exact wherever the "
    "search ended. *Three nearest agree*: share of rows whose digit is that of most of their three nearest neighbours "
    "in the picture (leave one out). Up to 600 rows the default is exact; beyond, it is landmarks and polish."
)


def measure(way, n):
    digits = load_digits()
    X, labels = digits.data[:n], digits.target[:n]
    start = time.process_time()
    model = GPLVM(2, n_jobs=1, length_scale=0.7, **WAYS[way]).fit(X)
    seconds = time.process_time() - start
    return {
        "seconds": seconds,
        "log_probability": probability(model, X),
        "agree": agreement(model.embedding_, labels),
    }


def probability(model, X):
    """log p(X, Z), exactly, where a search by landmarks has ended."""
    from mercer_old.fits.latent import Exact

    unit, Z = X.var(axis=0).mean(), model.embedding_
    Y = (X - X.mean(axis=0)) / np.sqrt(unit)
    exact = Exact(Y, Y.shape[1], model.kernel_)
    value = exact.value(Z / model.length_scale_, model.signal_variance_ / unit, model.noise_variance_ / unit)
    return -value - 0.5 * ((Z**2).sum() + Z.size * np.log(2 * np.pi))


def agreement(Z, labels):
    near = KNeighborsClassifier(3).fit(Z, labels).kneighbors(n_neighbors=3, return_distance=False)
    votes = np.array([np.bincount(labels[some], minlength=10).argmax() for some in near])
    return float((votes == labels).mean())


def pca_agreement(n):
    from mercer import PCA

    digits = load_digits()
    return agreement(PCA(2).fit_transform(digits.data[:n]), digits.target[:n])


def rows_of(n, found):
    """The lines of so many rows."""
    best = found[next(iter(WAYS))]["log_probability"]
    yield line([f"{n:,}", "PCA", "", "", "", f"{pca_agreement(n):.3f}"], COLUMNS)
    for way, result in found.items():
        gap = f"{result['log_probability'] - best:+,.0f}"
        cells = [f"{result['seconds']:.1f}", f"{result['log_probability']:,.0f}", gap, f"{result['agree']:.3f}"]
        yield line(["", way, *cells], COLUMNS)


def page(figures):
    text = f"# GPLVM by landmarks\n\n{written_by('gplvm')} {MEANING}\n\n{machine()}\n\n"
    return text + "\n".join(
        [*head(COLUMNS), *(row for n, found in figures.items() for row in rows_of(int(n), found)), ""]
    )


def write(scale):
    figures = {}
    for n in (max(100, round(n * scale)) for n in ROWS):
        figures[str(n)] = {way: run_alone("relatives.gplvm", way, n) for way in WAYS}
        print(*rows_of(n, figures[str(n)]), sep="\n", flush=True)
    return page(figures), figures


STUDY = Study(
    name="gplvm",
    folder="relatives",
    question="What does GPLVM by landmarks take, and how high does it end beside exact steps?",
    minutes=10,
    write=write,
)

if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
