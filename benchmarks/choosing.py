"""How good so many landmarks are: random pivots, uniform rows and k-means centres, beside Fourier features.

    python benchmarks/choosing.py

Writes benchmarks/CHOOSING.md and docs/landmarks.png, in about a minute. The error is the same for all systems: the
share of the true components' variance that the span of the scores misses, 1 − tr(UᵀJKJU)/Σλ.
"""

import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy.linalg import orth
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer
from threadpoolctl import threadpool_limits

from cases import GAMMA, far_cluster, median_gamma, twenty_features
from mercer import KernelPCA
from mercer.report import look

HERE = Path(__file__).parent
N, K, SEEDS = 5_000, 10, 5
COUNTS = (25, 50, 100, 200, 400)
FLOOR = 1e-12  # of errors: what is below is rounding
PIVOTS, UNIFORM, MEANS, FOURIER = SYSTEMS = [
    "random pivots (default)", "uniform rows", "k-means centres", "random Fourier features",
]  # fmt: skip
WIDTH, SAMPLE = "proven width", "chosen from"


def around(radius, angle):
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def smile():
    """As in the paper on randomly pivoted Cholesky: a tenth of the rows in the mouth, √n in each eye."""
    rng, mouth, eye = np.random.default_rng(0), N // 10, round(N**0.5)
    face = around(10, rng.uniform(0, 2 * np.pi, N - mouth - 2 * eye))
    lips = around(6, rng.uniform(1.2 * np.pi, 1.8 * np.pi, mouth))
    eyes = around(np.sqrt(rng.uniform(size=2 * eye)), rng.uniform(0, 2 * np.pi, 2 * eye))
    return np.concatenate([face, lips, eyes + np.repeat([[-4, 4], [4, 4]], eye, axis=0)])


def spiral():
    """Rows even in the angle of an exponential spiral, so sparse far out."""
    angle = np.random.default_rng(0).uniform(0, 24, N)
    return around(np.exp(0.15 * angle), angle)


# γ is so many times one over the median squared distance: the paper's for the smile; for the others a spectrum that
# ends neither at once nor never, and for the far cluster one that has about half of the ten components in either part.
DATA = {
    "smile": (smile, 20),
    "spiral": (spiral, 5),
    "clustered": (lambda: twenty_features(N), 1),
    "far cluster": (lambda: far_cluster(N), GAMMA["far cluster"]),
}


def fit(system, X, gamma, count, seed):
    """The scores of all rows, and the model if it proves something about them."""
    if system == FOURIER:
        sampler = RBFSampler(gamma=gamma, n_components=count, random_state=seed)
        return PCA(K).fit_transform(sampler.fit_transform(X)), None
    # So small a tolerance that pivots do not end before their number is reached.
    model = KernelPCA(K, kernel="rbf", gamma=gamma, eigen_solver="landmark", tol=1e-14, random_state=seed)
    if system == PIVOTS:
        model.set_params(n_landmarks=count)
    if system == UNIFORM:
        model.set_params(landmarks=np.random.default_rng(seed).choice(N, count, replace=False))
    if system == MEANS:
        model.set_params(landmarks=KMeans(count, n_init=1, random_state=seed).fit(X).cluster_centers_)
    return model.fit_transform(X), model


def measure(X, multiple):
    """A number for every count and seed: the errors of all systems, and what random pivots proved and chose from."""
    gamma = multiple * median_gamma(X)
    true = KernelPCA(K, kernel="rbf", gamma=gamma, tol=1e-10).fit(X)
    share, JKJ = true.explained_variance_ratio_.sum(), KernelCenterer().fit_transform(rbf_kernel(X, gamma=gamma))
    results = {column: np.empty((len(COUNTS), SEEDS)) for column in (*SYSTEMS, WIDTH, SAMPLE)}
    for system, (i, count), seed in product(SYSTEMS, enumerate(COUNTS), range(SEEDS)):
        scores, model = fit(system, X, gamma, count, seed)
        U = orth(scores - scores.mean(axis=0))
        results[system][i, seed] = max(FLOOR, 1 - np.sum(U * (JKJ @ U)) / true.eigenvalues_.sum())
        if model is None:
            continue
        low, high = model.certificate_.explained
        if not low <= share <= high:
            raise AssertionError(f"{count} {system}, seed {seed}: {share} is not between {low} and {high}.")
        if system == PIVOTS:
            results[WIDTH][i, seed], results[SAMPLE][i, seed] = high - low, model.plan_.solver.sample
    return results


def table(results):
    lines = [
        "# Error by number of landmarks\n\nWritten by `python benchmarks/choosing.py`; do not edit.\n",
        f"{N:,} rows, radial kernel, {K} components; medians of {SEEDS} seeds. *Error*: share of the variance of the "
        f"true components that the span of the scores misses; {FLOOR:.0e} is rounding. *{WIDTH.capitalize()}*: of the "
        f"interval for the variance explained, and *{SAMPLE}*: so many rows, both of random pivots. The truth was in "
        "every interval, those of uniform rows and k-means centres too.\n",
        f"| | landmarks | {' | '.join((*SYSTEMS, WIDTH, SAMPLE))} |",
        "|---|" + "---:|" * (len(SYSTEMS) + 3),
    ]
    for (name, columns), (i, count) in product(results.items(), enumerate(COUNTS)):
        cells = [f"{np.median(columns[column][i]):.1e}" for column in (*SYSTEMS, WIDTH)]
        lines.append(f"| {name} | {count} | {' | '.join(cells)} | {np.median(columns[SAMPLE][i]):,.0f} |")
    return "\n".join([*lines, ""])


def draw(rows, results):
    figure, axes = look.panels(2, 2, width=9, height=6.4, sharex=True, sharey=True)
    colours = [look.BLUE, look.ORANGE, look.GREEN, look.PINK]
    for ax, (name, columns) in zip(axes.flat, results.items(), strict=True):
        for system, colour, marker in zip(SYSTEMS, colours, look.MARKERS, strict=False):
            errors, front = columns[system], 3 if system == PIVOTS else 2
            ax.fill_between(COUNTS, errors.min(axis=1), errors.max(axis=1), color=colour, alpha=0.2, linewidth=0)
            ax.loglog(COUNTS, np.median(errors, axis=1), marker=marker, color=colour, label=system, zorder=front)
        picture = ax.inset_axes((0.02, 0.04, 0.2, 0.36), aspect="equal")
        look.scatter(picture, rows[name][:, :2], s=2, linewidths=0, color=look.GREY)
        look.without_axes(picture)
        ax.set(title=name, xticks=COUNTS, xticklabels=COUNTS)
        ax.set_yticks([1, 1e-3, 1e-6, 1e-9, FLOOR], ["1", "10⁻³", "10⁻⁶", "10⁻⁹", "rounding"])
        ax.minorticks_off()
        ax.grid(axis="y")
    figure.supxlabel(f"landmarks, or features (median and range of {SEEDS} seeds)", fontsize=10)
    figure.supylabel(f"share of the true {K} components' variance that is missed", fontsize=10)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(SYSTEMS), fontsize=9)
    return figure


def main():
    rows = {name: make() for name, (make, _) in DATA.items()}
    with threadpool_limits(1), warnings.catch_warnings():  # one thread: the same digits every time
        warnings.simplefilter("ignore")
        results = {name: measure(rows[name], multiple) for name, (_, multiple) in DATA.items()}
    (HERE / "CHOOSING.md").write_text(table(results), encoding="utf-8")
    (HERE.parent / "docs" / "landmarks.png").write_bytes(look.as_png(lambda: draw(rows, results)))
    print(table(results))


if __name__ == "__main__":
    main()
