"""How good so many landmarks are: random pivots, uniform rows, k-means centres and random Fourier features.

    python benchmarks/landmarks.py

Writes benchmarks/LANDMARKS.md and docs/landmarks.png. The error of a system is the variance that the span of its ten
scores leaves out, of what the true ten components have: 1 − tr(UᵀJKJU)/Σλ, the same for all.
"""

import warnings
from itertools import product
from pathlib import Path

import numpy as np
from cases import median_gamma
from scipy.linalg import orth
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer
from threadpoolctl import threadpool_limits

from mercer import KernelPCA
from mercer.report import figures

HERE = Path(__file__).parent
N, K = 5_000, 10
COUNTS, SEEDS = (25, 50, 100, 200, 400), range(5)
FLOOR = 1e-12  # errors below are rounding
SYSTEMS = {
    "random pivots (mercer)": (figures.BLUE, "o"),
    "uniform rows": (figures.ORANGE, "s"),
    "k-means centres": (figures.GREEN, "^"),
    "random Fourier features": (figures.PINK, "D"),
}
OURS = next(iter(SYSTEMS))


# ---------------------------------------------------------------------- data


def around(radius, angle, centre=(0.0, 0.0)):
    return np.asarray(centre) + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def smile(rng):
    """That of the paper on randomly pivoted Cholesky: a face, a tenth of the rows in its mouth, 71 in either eye."""
    eye, mouth = 71, N // 10
    return np.concatenate(
        [
            around(10, rng.uniform(0, 2 * np.pi, N - mouth - 2 * eye)),
            around(6, rng.uniform(1.2 * np.pi, 1.8 * np.pi, mouth)),
            *(around(np.sqrt(rng.uniform(size=eye)), rng.uniform(0, 2 * np.pi, eye), (x, 4)) for x in (-4, 4)),
        ]
    )


def spiral(rng):
    """Rows even in the angle of an exponential spiral, so that they are sparse far out."""
    angle = rng.uniform(0, 24, N)
    return around(np.exp(0.15 * angle), angle)


def clustered(rng):
    """Ten Gaussian clusters in 20 dimensions."""
    return make_blobs(N, 20, centers=10, random_state=0)[0]


def far_cluster(rng):
    """A Gaussian cloud in 20 dimensions, and 1 % of the rows far away and spread more widely."""
    spread, far = 0.7 ** np.arange(20), N // 100
    return np.concatenate(
        [rng.normal(size=(N - far, 20)) * spread, 50 + 10 * rng.normal(size=(far, 20)) * spread[::-1]]
    )


# γ is so many times one over the median squared distance; 20 is about the bandwidth of the paper.
DATA = {"smile": (smile, 20), "spiral": (spiral, 5), "clustered": (clustered, 1), "far cluster": (far_cluster, 0.01)}
TITLES = {
    "smile": "smile: few rows in the eyes",
    "spiral": "spiral: sparse far out",
    "clustered": "ten equal clusters",
    "far cluster": "far cluster: 1 % of the rows",
}


# ---------------------------------------------------------------------- systems


def fit(system, X, gamma, count, seed):
    """The scores of all rows, and the model that proves something about them, if it does."""
    if system == "random Fourier features":
        features = RBFSampler(gamma=gamma, n_components=count, random_state=seed).fit_transform(X)
        return PCA(K).fit_transform(features), None
    model = KernelPCA(K, kernel="rbf", gamma=gamma, eigen_solver="landmark", n_landmarks=count, random_state=seed)
    if system == "uniform rows":
        model.set_params(landmarks=np.random.default_rng(seed).choice(N, count, replace=False))
    if system == "k-means centres":
        model.set_params(landmarks=KMeans(count, n_init=1, random_state=seed).fit(X).cluster_centers_)
    return model.fit_transform(X), model


def measure(name):
    """Errors {system: count × seed}, and of the random pivots the widths proven and the rows they were chosen from."""
    make, multiple = DATA[name]
    X = make(np.random.default_rng(0))
    gamma = multiple * median_gamma(X)
    true = KernelPCA(K, kernel="rbf", gamma=gamma, tol=1e-10).fit(X)
    share, matrix = true.explained_variance_ratio_.sum(), KernelCenterer().fit_transform(rbf_kernel(X, gamma=gamma))
    errors = {system: np.empty((len(COUNTS), len(SEEDS))) for system in SYSTEMS}
    widths, chosen_from = np.empty((len(COUNTS), len(SEEDS))), np.empty(len(COUNTS), dtype=int)
    for system, i, seed in product(SYSTEMS, range(len(COUNTS)), SEEDS):
        scores, model = fit(system, X, gamma, COUNTS[i], seed)
        U = orth(scores - scores.mean(axis=0))
        errors[system][i, seed] = max(FLOOR, 1 - np.sum(U * (matrix @ U)) / true.eigenvalues_.sum())
        if model:
            low, high = model.certificate_.explained
            if not low <= share <= high:
                raise AssertionError(f"{name}, {COUNTS[i]} {system}: {share} is not between {low} and {high}.")
        if system == OURS:
            widths[i, seed], chosen_from[i] = high - low, model.plan_.solver.sample
    return errors, widths, chosen_from


# ---------------------------------------------------------------------- table and figure


def table(results):
    lines = [
        "# Error against the number of landmarks",
        "",
        "Written by `python benchmarks/landmarks.py`; do not edit.",
        "",
        f"{N:,} rows, radial kernel, {K} components, medians of {len(SEEDS)} seeds. *Error*: the share of the variance of "
        f"the true {K} components that the span of a system's {K} scores leaves out; {FLOOR:.0e} is rounding. *Proven "
        "width*: of the interval for the share of variance explained, with random pivots; the truth was in it every "
        "time, as it was in those of uniform rows and k-means centres. *Chosen among*: the rows that random pivots were "
        "drawn from.",
        "",
        f"| | landmarks | {' | '.join(SYSTEMS)} | proven width | chosen among |",
        "|---|" + "---:|" * (len(SYSTEMS) + 3),
    ]
    for name, (errors, widths, chosen_from) in results.items():
        for i, count in enumerate(COUNTS):
            medians = [f"{np.median(value):.1e}" for value in (*(e[i] for e in errors.values()), widths[i])]
            lines.append(f"| {name} | {count} | {' | '.join(medians)} | {chosen_from[i]:,} |")
    return "\n".join([*lines, ""])


def draw(results):
    figure, axes = figures.panels(2, 2, width=10, height=7, sharex=True, sharey=True)
    figure.set_dpi(130)
    for ax, (name, (errors, *_)) in zip(axes.flat, results.items(), strict=True):
        for system, (colour, marker) in SYSTEMS.items():
            values = errors[system]
            ax.fill_between(COUNTS, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.2, linewidth=0)
            ax.loglog(COUNTS, np.median(values, axis=1), marker=marker, color=colour, label=system)
        ax.set(title=TITLES[name], xticks=COUNTS, xticklabels=COUNTS, ylim=(FLOOR / 3, 1))
        ax.minorticks_off()
        ax.grid(axis="y")
    for ax in axes[:, 0]:
        ax.set_ylabel("variance left out")
    for ax in axes[-1]:
        ax.set_xlabel("landmarks (or features)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(SYSTEMS))
    return figure


def main():
    with threadpool_limits(1), warnings.catch_warnings():  # with more threads, k-means differs from run to run
        warnings.simplefilter("ignore")
        results = {name: measure(name) for name in DATA}
    text = table(results)
    (HERE / "LANDMARKS.md").write_text(text, encoding="utf-8")
    (HERE.parent / "docs" / "landmarks.png").write_bytes(figures.as_png(lambda: draw(results)))
    print(text)


if __name__ == "__main__":
    main()
