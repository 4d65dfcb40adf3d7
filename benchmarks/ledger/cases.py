"""The cases of the ledger. The data are fixed: a case that has to change gets another name."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from sklearn import datasets, decomposition, kernel_approximation, manifold
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from benchmarks.ledger import yardsticks
from benchmarks.ledger.measure import ROOT, environment

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@dataclass(frozen=True)
class Pair:
    """What is measured, and what against: two functions without arguments."""

    ours: Callable
    yardstick: Callable
    units: float = 1.0  # the time of the yardstick is multiplied by it
    note: Callable | None = None  # of what `ours` returned: a fact that belongs to the time


@dataclass(frozen=True)
class Case:
    name: str
    against: str
    make: Callable  # (edition, whether in full size, folder for files) → Pair, or figures
    clock: str = "cpu"  # of one thread; or "wall", of all cores
    seconds: float = 2.0  # about how long its repetitions take
    sized: bool = False  # whether --full makes it larger


CASES = {}


def case(name, against, **options):
    """Register a function as the case of this name."""

    def register(make):
        CASES[name] = Case(name, against, make, **options)
        return make

    return register


def cloud(n, d, seed=0):
    """A Gaussian cloud whose variances fall from column to column."""
    return np.random.default_rng(seed).normal(size=(n, d)) * 0.9 ** np.arange(d)


def blobs(n, d):
    return datasets.make_blobs(n, d, centers=10, random_state=0)[0]


def digits():
    return datasets.load_digits().data


def fits(ours, theirs, X):
    return Pair(lambda: ours().fit(X), lambda: theirs().fit(X))


# ---------------------------------------------------------------------------------------------- PCA of small arrays


def small_pca(make, k, edition, full, folder):
    PCA = edition.estimator("PCA")
    return fits(lambda: PCA(k, n_jobs=1), lambda: decomposition.PCA(k), make())


for name, rows, components in [
    ("pca-150x4", lambda: datasets.load_iris().data, 2),
    ("pca-1000x20", partial(cloud, 1000, 20), 5),
    ("pca-5000x50", partial(cloud, 5000, 50), 10),
    ("pca-100x2500", lambda: np.random.default_rng(0).normal(size=(100, 2500)), 10),
    ("pca-digits", digits, None),
]:
    case(name, "scikit-learn's PCA")(partial(small_pca, rows, components))


@case("pca-transform-row", "scikit-learn's PCA.transform")
def pca_transform(edition, full, folder):
    X = cloud(1000, 20)
    ours, theirs = edition.estimator("PCA")(5, n_jobs=1).fit(X), decomposition.PCA(5).fit(X)
    return Pair(lambda: ours.transform(X[:1]), lambda: theirs.transform(X[:1]))


START = """
import json, time
start = time.process_time()
import numpy as np
from sklearn import decomposition
X = np.random.default_rng(0).normal(size=(150, 4))
decomposition.PCA(2).fit(X)
middle = time.process_time()
from {home} import PCA
PCA(2, n_jobs=1).fit(X)
print(json.dumps([time.process_time() - middle, middle - start]))
"""


@case("pca-start", "import of sklearn.decomposition and its first fit", seconds=8)
def pca_start(edition, full, folder):
    """What the import and the first fit take in a process that has done the same with scikit-learn."""
    edition.estimator("PCA")
    code = START.format(home=edition.HOMES[edition.name]["estimators"])
    runs = []
    for _ in range(6):  # the first writes bytecode
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT, env=environment()
        )
        runs.append(json.loads(done.stdout))
    ours, theirs = np.min(runs[1:], axis=0)
    figures = {"ratio": ours / theirs, "seconds": ours, "yardstick": theirs, "runs": len(runs) - 1}
    return figures | {"note": f"own part {1000 * ours:.0f} ms"}


# ---------------------------------------------------------------------------------------------- PCA of large data


def pca_stream(threads, edition, full, folder):
    """A float32 file with 256 columns as a memory map, k = 20."""
    PCA, n, rng = edition.estimator("PCA"), 600_000 if full else 200_000, np.random.default_rng(0)
    axes = rng.normal(size=(32, 256)).astype(np.float32)
    with (folder / "X.npy").open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (n, 256)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(0, n, 10_000):
            scores = rng.normal(size=(10_000, 32)).astype(np.float32) * np.float32(0.85) ** np.arange(32)
            noise = rng.normal(size=(10_000, 256)).astype(np.float32)
            file.write((1 + scores.astype(np.float32) @ axes + np.float32(0.1) * noise).tobytes())
    X = np.load(folder / "X.npy", mmap_mode="r")
    n_jobs = None if threads > 1 else 1
    return Pair(lambda: PCA(20, n_jobs=n_jobs).fit(X), lambda: yardsticks.sweep(X, threads), note=directions)


def directions(model):
    return f"certified directions {max(model.certificate_.angles):.1e}"


def completeness(model):
    certificate = model.certificate_
    return f"complete {certificate.n_complete} of {len(certificate.angles)}; {directions(model)}"


for name, clock, threads in [("pca-stream", "wall", CORES), ("pca-stream-cpu", "cpu", 1)]:
    case(name, "plain float32 sweep XᵀX", clock=clock, seconds=5, sized=True)(partial(pca_stream, threads))


@case("pca-wide", "Gram matrix of exact float32 blocks and eigh, by hand", seconds=4, sized=True)
def pca_wide(edition, full, folder):
    """Genotypes 0, 1, 2 as int8: four populations and noise, k = 20."""
    PCA, rng = edition.estimator("PCA"), np.random.default_rng(0)
    n, d = 2000, 100_000 if full else 25_000  # fewer rows would take another solver
    shared = rng.uniform(0.1, 0.9, d)
    own = np.clip(shared + rng.normal(scale=0.1, size=(4, d)), 0.01, 0.99)
    X = np.empty((n, d), np.int8)
    for i in range(n):
        X[i] = rng.binomial(2, own[i % 4])
    return Pair(lambda: PCA(20, n_jobs=1).fit(X), lambda: yardsticks.gram_pca(X, 20), note=completeness)


def topics(n, d, rng):
    """Counts of words as scikit-learn's users have them: 60 topics, about 7% of the entries."""
    words = rng.dirichlet(np.full(d, 0.05), size=60)
    mixtures = rng.dirichlet(np.full(60, 0.1), size=n)
    parts = [rng.poisson(0.085 * d * (mixtures[i : i + 2000] @ words)) for i in range(0, n, 2000)]
    return sparse.vstack([sparse.csr_array(part.astype(float)) for part in parts], format="csr")


def noise(n, d, rng):
    """Uniform numbers at random places, in parts: drawing all places at once takes 8 bytes for each entry of X."""
    parts = [sparse.random_array((2000, d), density=0.05, format="csr", rng=rng) for _ in range(0, n, 2000)]
    return sparse.vstack(parts, format="csr")


def sparse_pca(make, edition, full, folder):
    PCA = edition.estimator("PCA")
    X = make(*((300_000, 2000) if full else (60_000, 1000)), np.random.default_rng(0))

    def note(model):
        return f"density {X.nnz / X.shape[0] / X.shape[1]:.1%}; {completeness(model)}"

    theirs = decomposition.PCA(50, svd_solver="arpack", random_state=0)
    return Pair(lambda: PCA(50, n_jobs=1).fit(X), lambda: theirs.fit(X), note=note)


for name, rows in [("pca-sparse-topics", topics), ("pca-sparse-noise", noise)]:
    case(name, "scikit-learn's PCA, arpack", seconds=5, sized=True)(partial(sparse_pca, rows))


# ---------------------------------------------------------------------------------------------- relatives of PCA


@case("incremental-pca", "scikit-learn's IncrementalPCA.partial_fit")
def incremental_pca(edition, full, folder):
    """20 batches of 1,000 rows and 50 columns."""
    batches = np.split(cloud(20_000, 50), 20)

    def run(make):
        model = make()
        for batch in batches:
            model.partial_fit(batch)

    ours = partial(edition.estimator("IncrementalPCA"), 10)
    return Pair(lambda: run(ours), lambda: run(partial(decomposition.IncrementalPCA, 10)))


@case("ppca-missing", "one step of EM by hand")
def ppca_missing(edition, full, folder):
    """2,000 × 20, five components, 10% of the entries are missing."""
    PPCA, rng = edition.estimator("ProbabilisticPCA"), np.random.default_rng(0)
    X = rng.normal(size=(2000, 5)) @ rng.normal(size=(5, 20)) + 0.5 * rng.normal(size=(2000, 20))
    X[rng.random(X.shape) < 0.1] = np.nan
    W = rng.normal(size=(20, 5))
    return Pair(lambda: PPCA(5).fit(X), lambda: yardsticks.em_step(X, W, 0.25))


@case("factor-analysis", "scikit-learn's FactorAnalysis")
def factor_analysis(edition, full, folder):
    """The digits without constant columns, ten factors."""
    X = digits()
    X = X[:, X.std(axis=0) > 0]
    return fits(partial(edition.estimator("FactorAnalysis"), 10), partial(decomposition.FactorAnalysis, 10), X)


# ---------------------------------------------------------------------------------------------- kernel PCA


def kernel_pca(n, d, k, gamma, solver, edition, full, folder):
    KernelPCA = edition.estimator("KernelPCA")
    X = datasets.load_iris().data if n == 150 else blobs(n, d)
    options = {"n_components": k, "kernel": "rbf", "gamma": gamma}
    theirs = partial(decomposition.KernelPCA, eigen_solver=solver, random_state=0, **options)
    return fits(partial(KernelPCA, n_jobs=1, **options), theirs, X)


for name, size, bandwidth, solver in [
    ("kpca-150x4", (150, 4, 3), None, "auto"),
    ("kpca-1000-k10", (1000, 10, 10), 0.01, "arpack"),
    ("kpca-5000-k5", (5000, 10, 5), 0.01, "arpack"),
    ("kpca-5000-k50", (5000, 10, 50), 0.01, "arpack"),
]:
    against = "scikit-learn's KernelPCA" + (", arpack" if solver == "arpack" else "")
    case(name, against, seconds=2 if size[0] <= 1000 else 4)(partial(kernel_pca, *size, bandwidth, solver))


@case("kpca-20000-k5", "one pass over the kernel matrix with 8 columns, by hand", seconds=5)
def kernel_pca_large(edition, full, folder):
    KernelPCA, X = edition.estimator("KernelPCA"), blobs(20_000, 10)
    B = np.random.default_rng(0).normal(size=(len(X), 8))
    ours = partial(KernelPCA, 5, kernel="rbf", gamma=0.01, n_jobs=1)
    return Pair(lambda: ours().fit(X), lambda: yardsticks.kernel_pass(X, 0.01, B))


@case("kpca-landmarks", "scikit-learn's Nystroem and PCA", seconds=4)
def landmarks(edition, full, folder):
    """The scores of 50,000 × 20 by 500 landmarks, ten components."""
    KernelPCA, X = edition.estimator("KernelPCA"), blobs(50_000, 20)
    options = {"kernel": "rbf", "gamma": 0.005, "random_state": 0}
    ours = partial(KernelPCA, 10, eigen_solver="landmark", n_landmarks=500, n_jobs=1, **options)
    nystroem = partial(kernel_approximation.Nystroem, n_components=500, n_jobs=1, **options)
    return Pair(
        lambda: ours().fit_transform(X),
        lambda: make_pipeline(nystroem(), decomposition.PCA(10)).fit_transform(X),
    )


# ---------------------------------------------------------------------------------------------- LLE


def lle(make, neighbors, edition, full, folder):
    LLE, options = edition.estimator("LocallyLinearEmbedding"), {"n_neighbors": neighbors, "n_components": 2}
    theirs = partial(manifold.LocallyLinearEmbedding, random_state=0, n_jobs=1, **options)
    return fits(partial(LLE, n_jobs=1, **options), theirs, make())


for name, rows, neighbors in [
    ("lle-150x4", partial(cloud, 150, 4), 10),
    ("lle-digits", digits, 12),
    ("lle-roll-5000", lambda: datasets.make_swiss_roll(5000, random_state=0)[0], 12),
]:
    case(name, "scikit-learn's LocallyLinearEmbedding")(partial(lle, rows, neighbors))


@case("lle-digits-transform", "scikit-learn's LocallyLinearEmbedding.transform")
def lle_transform(edition, full, folder):
    """500 new digits."""
    X, LLE = digits(), edition.estimator("LocallyLinearEmbedding")
    ours = LLE(n_neighbors=12, n_jobs=1).fit(X[:-500])
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=12, n_jobs=1, random_state=0).fit(X[:-500])
    return Pair(lambda: ours.transform(X[-500:]), lambda: theirs.transform(X[-500:]))


# ---------------------------------------------------------------------------------------------- strings


def names(n):
    """Made-up names of two to five syllables."""
    rng = np.random.default_rng(0)
    syllables = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "r")]
    return ["".join(rng.choice(syllables, count)) for count in rng.integers(2, 6, size=n)]


def reads(n, length):
    return ["".join(letters) for letters in np.random.default_rng(0).choice(list("ACGT"), size=(n, length))]


def matrix_of(kernel):
    """The function that returns the kernel matrix: a method in the first edition, the kernel itself in the second."""
    return getattr(kernel, "block", kernel)


@case("strings-spectrum", "scikit-learn's CountVectorizer, Normalizer and PCA, arpack", seconds=3)
def spectrum(edition, full, folder):
    """Kernel PCA of 20,000 names by their 3-grams, ten components."""
    KernelPCA, Spectrum = edition.estimator("KernelPCA"), edition.get("strings", "Spectrum")
    X = names(20_000)
    counts = CountVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False)
    pca = decomposition.PCA(10, svd_solver="arpack", random_state=0)
    return fits(
        lambda: KernelPCA(10, kernel=Spectrum(3), n_jobs=1), lambda: make_pipeline(counts, Normalizer(), pca), X
    )


@case("strings-subsequence", "np.cumsum over as many entries as the dynamic programs have cells", seconds=3)
def subsequence(edition, full, folder):
    """The kernel matrix of 300 reads of 100 letters, subsequences of length 3."""
    Subsequence, X = edition.get("strings", "Subsequence"), reads(300, 100)
    cells = len(X) * (len(X) + 1) / 2 * 3 * 100**2
    kernel = matrix_of(Subsequence(3))
    return Pair(lambda: kernel(X, X), yardsticks.running_sums(), units=cells / 1e6)


@case("strings-edit", "np.cumsum over as many entries as the dynamic programs have cells")
def edit(edition, full, folder):
    """Edit distances of 300 names to 300 others."""
    Edit, X = edition.get("strings", "Edit", "EditDistance"), names(600)
    cells = float(sum(map(len, X[:300])) * sum(map(len, X[300:])))
    pairs = 300 * 300
    run, unit = partial(matrix_of(Edit()), X[:300], X[300:]), yardsticks.running_sums()
    return Pair(run, unit, units=cells / 1e6, note=lambda _: f"{cells / pairs:.0f} cells a pair")


# ---------------------------------------------------------------------------------------------- files


def reading(path, read, edition):
    """All rows of a file in blocks, against a frame of them."""
    open_rows = edition.get("data", "open_rows", "open_dataset")

    def ours():
        return sum(len(block) for block in open_rows(path).blocks(65_536))

    return Pair(ours, lambda: read(path).to_numpy(), note=lambda rows: f"{rows:,} rows")


@case("csv-50mb", "pandas.read_csv", seconds=4)
def csv(edition, full, folder):
    """20 columns of numbers with six digits."""
    import pandas

    lines = pandas.DataFrame(cloud(14_000, 20)).to_csv(index=False, float_format="%.6g").partition("\n")
    path = folder / "rows.csv"
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(20)) + "\n")
        while file.tell() < 50e6:
            file.write(lines[2])
    return reading(path, pandas.read_csv, edition)


@case("parquet", "pandas.read_parquet")
def parquet(edition, full, folder):
    """500,000 × 20 float64 numbers."""
    import pandas

    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(500_000, 20)), columns=[f"x{j}" for j in range(20)])
    frame.to_parquet(folder / "rows.parquet", row_group_size=65_536)
    return reading(folder / "rows.parquet", pandas.read_parquet, edition)
