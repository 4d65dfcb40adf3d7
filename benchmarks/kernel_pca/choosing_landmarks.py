"""How good so many landmarks are: random pivots, uniform rows and k-means centres, beside Fourier features.

The error is the same for all systems: the share of the true components' variance that the span of the scores misses,
1 − tr(UᵀJKJU)/Σλ. `docs/pictures/draw/landmarks.py` draws the figures.
"""

import warnings
from itertools import product

import numpy as np
from scipy.linalg import orth
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer
from threadpoolctl import threadpool_limits

from benchmarks.kernel_pca.cases import GAMMA, far_cluster, median_gamma, twenty_features
from benchmarks.shared.pages import written_by
from benchmarks.shared.suites import Study
from mercer import KernelPCA

N, FEWEST, K, SEEDS = 5_000, 600, 10, 5  # rows, the fewest for trying things out, components
COUNTS = (25, 50, 100, 200, 400)
FLOOR = 1e-12  # of errors: what is below is rounding
PIVOTS, UNIFORM, MEANS, FOURIER = SYSTEMS = [
    "random pivots (default)", "uniform rows", "k-means centres", "random Fourier features",
]  # fmt: skip
WIDTH, SAMPLE = "proven width", "chosen from"


def around(radius, angle):
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def smile(n):
    """As in the paper on randomly pivoted Cholesky: a tenth of the rows in the mouth, √n in each eye."""
    rng, mouth, eye = np.random.default_rng(0), n // 10, round(n**0.5)
    face = around(10, rng.uniform(0, 2 * np.pi, n - mouth - 2 * eye))
    lips = around(6, rng.uniform(1.2 * np.pi, 1.8 * np.pi, mouth))
    eyes = around(np.sqrt(rng.uniform(size=2 * eye)), rng.uniform(0, 2 * np.pi, 2 * eye))
    return np.concatenate([face, lips, eyes + np.repeat([[-4, 4], [4, 4]], eye, axis=0)])


def spiral(n):
    """Rows even in the angle of an exponential spiral, so sparse far out."""
    angle = np.random.default_rng(0).uniform(0, 24, n)
    return around(np.exp(0.15 * angle), angle)


# γ is so many times one over the median squared distance: the paper's for the smile; for the others a spectrum that
# ends neither at once nor never, and for the far cluster one that has about half of the ten components in either part.
DATA = {
    "smile": (smile, 20),
    "spiral": (spiral, 5),
    "clustered": (twenty_features, 1),
    "far cluster": (far_cluster, GAMMA["far cluster"]),
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
        model.set_params(landmarks=np.random.default_rng(seed).choice(len(X), count, replace=False))
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


def table(n, results):
    lines = [
        f"# Error by number of landmarks\n\n{written_by('choosing_landmarks')}\n",
        f"{n:,} rows, radial kernel, {K} components; medians of {SEEDS} seeds. *Error*: share of the variance of the "
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


def write(scale):
    n = max(FEWEST, round(N * scale))
    with threadpool_limits(1), warnings.catch_warnings():  # one thread: the same digits every time
        warnings.simplefilter("ignore")
        results = {name: measure(make(n), multiple) for name, (make, multiple) in DATA.items()}
    figures = {name: {column: cells.tolist() for column, cells in found.items()} for name, found in results.items()}
    return table(n, results), figures


STUDY = Study(
    name="choosing_landmarks",
    folder="kernel_pca",
    question="How good are so many landmarks, by who chooses them?",
    minutes=1,
    write=write,
)
