"""How clean held-out digits come out of `KernelPCA.denoise`, over levels of noise and numbers of components.

Models are fitted to clean rows, or to rows with the noise of the queries. scikit-learn gets the ridge that turns out
best on the queries themselves, which no user can know; ours has nothing to choose.
"""

import warnings

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from benchmarks.shared.pages import head, machine, written_by
from benchmarks.shared.suites import Study
from mercer.estimators import KernelPCA

SIGMAS = 0.0, 0.1, 0.15, 0.25, 0.5
COMPONENTS = 32, 64, 128
WIDTHS = 0.25, 0.5, 1.0  # γ times the median squared distance of the training rows
RIDGES = 1e-3, 1e-2, 0.1, 0.3, 1.0
METHODS = "auto", "ridge", "fixed-point", "kwok-tsang"
N_TRAIN, N_QUERIES = 1200, 300


def split(scale):
    """Training rows and queries, pixels from 0 to 1."""
    X = load_digits().data / 16
    order = np.random.default_rng(7).permutation(len(X))
    n = max(300, round(N_TRAIN * scale))
    return X[order[:n]], X[order[N_TRAIN : N_TRAIN + max(100, round(N_QUERIES * scale))]]


def error(found, truth):
    """Mean of ‖x̂ − x‖²."""
    return float(np.mean(np.sum((found - truth) ** 2, axis=1)))


def by_sklearn(train, queries, truth, gamma, k):
    """For every set of queries, the least error of scikit-learn's inverse transform over all ridges."""
    model = SklearnKernelPCA(k, kernel="rbf", gamma=gamma, eigen_solver="dense").fit(train)
    scores, new = model.transform(train), {sigma: model.transform(rows) for sigma, rows in queries.items()}
    model.fit_inverse_transform = True
    best = dict.fromkeys(queries, np.inf)
    for ridge in RIDGES:
        model.alpha = ridge
        model._fit_inverse_transform(scores, train)
        for sigma in queries:
            best[sigma] = min(best[sigma], error(model.inverse_transform(new[sigma]), truth))
    return best


def by_mercer(train, queries, truth, gamma, k):
    """For every set of queries, the errors of all methods."""
    model = KernelPCA(k, kernel="rbf", gamma=gamma).fit(train)
    return {
        sigma: {name: error(model.set_params(preimage=name).denoise(rows), truth) for name in METHODS}
        for sigma, rows in queries.items()
    }


def measure(scale, sigmas=SIGMAS, components=COMPONENTS, widths=WIDTHS):
    """{(training, σ, k): {width: {"scikit-learn": error, method: error}}}."""
    train, truth = split(scale)
    rng = np.random.default_rng(8)
    noise, own_noise = rng.normal(size=truth.shape), rng.normal(size=train.shape)
    unit, found = 1 / np.median(pdist(train[:1000], "sqeuclidean")), {}
    problems = [("clean", train, sigmas), *(("noisy", train + sigma * own_noise, [sigma]) for sigma in sigmas if sigma)]
    for training, rows, levels in problems:
        queries = {sigma: truth + sigma * noise for sigma in levels}
        for k in components:
            for width in widths:
                theirs = by_sklearn(rows, queries, truth, width * unit, k)
                ours = by_mercer(rows, queries, truth, width * unit, k)
                for sigma in levels:
                    cells = found.setdefault((training, sigma, k), {})
                    cells[width] = {"scikit-learn": theirs[sigma], **ours[sigma]}
    return found


def table(found):
    """Each system with its best width; the last column compares "auto" and "ridge" at every width."""
    names = ["scikit-learn", *METHODS]
    lines = head("| fitted to | σ | components | best ridge of scikit-learn | auto | ratio | ridge | fixed-point |"
                 " kwok-tsang | auto/ridge, largest |")  # fmt: skip
    for (training, sigma, k), cells in found.items():
        best = {name: min(cell[name] for cell in cells.values()) for name in names}
        largest = max(cell["auto"] / cell["ridge"] for cell in cells.values())
        numbers = [
            f"{best['scikit-learn']:.3f}",
            f"{best['auto']:.3f}",
            f"**{best['auto'] / best['scikit-learn']:.2f}**",
        ]
        numbers += [f"{best[name]:.3f}" for name in METHODS[1:]]
        lines.append(f"| {training} | {sigma:g} | {k} | {' | '.join(numbers)} | {largest:.2f} |")
    return lines


TOLD = f"""Kernel PCA (RBF) of {N_TRAIN:,} digits with pixels from 0 to 1, clean or with noise of standard deviation σ;
{N_QUERIES} other digits with that noise are denoised. Numbers are the mean of ‖x̂ − x‖² per image, each system with the
best of {len(WIDTHS)} bandwidths. *Best ridge of scikit-learn*: the best of {len(RIDGES)} values of alpha, chosen on
the clean queries themselves. *Auto*, *ridge*, *fixed-point*, *kwok-tsang*: `KernelPCA(k, preimage=…).denoise`, with
nothing to choose."""


def write(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = measure(scale)
    text = ["# Denoising over levels of noise\n", written_by("denoising_grid") + "\n", TOLD.replace("\n", " ") + "\n"]
    text += [machine() + "\n", *table(found), ""]
    figures = [{"training": t, "sigma": s, "components": k, "widths": cells} for (t, s, k), cells in found.items()]
    return "\n".join(text), {"errors": figures}


STUDY = Study(
    name="denoising_grid",
    folder="readings",
    question="How clean are held-out digits after denoise, over levels of noise, beside scikit-learn's best ridge?",
    minutes=10,
    write=write,
)
