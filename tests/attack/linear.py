"""PCA under attack."""

import numpy as np
from scipy import sparse

from attack import rows as shapes
from attack.editions import estimator
from attack.precise import DD
from attack.problems import Problem, family
from attack.truth import known, linear_truth

DENSE = ("auto", "full", "covariance_eigh", "qr", "gram", "krylov", "arpack", "randomized")
SPARSE = ("auto", "covariance_eigh", "krylov", "arpack")


def some_number(rng, most, fewer):
    """Components to ask for: few, or all; or all but one, where scikit-learn's rules want that."""
    top = most - 1 if fewer else most
    return int(rng.integers(1, max(2, top + 1))) if rng.random() < 0.8 else max(1, top)


def pca(rng, X, words, weights=None, solver=None, standardize=False, truth=None, k=None, tol=0.0):
    """A problem for PCA by some solver; the truth is computed from the rows unless it is known."""
    solver = solver or str(rng.choice(SPARSE if sparse.issparse(X) else DENSE))
    k = k or some_number(rng, min(X.shape), solver == "arpack" or sparse.issparse(X))
    params = dict(svd_solver=solver, standardize=standardize, random_state=0, n_jobs=int(rng.integers(1, 3)), tol=tol)
    model = estimator("PCA", k, **params)
    return Problem(
        lambda: model.fit(X, sample_weight=weights),
        lambda _: truth() if truth else linear_truth(X, weights, standardize),
        f"PCA({k}, {solver}{f', tol={tol}' if tol else ''}) of {X.shape[0]}×{X.shape[1]}: {words}",
        asked=k,
    )


def shape(rng, most=50, widest=12):
    return int(rng.integers(3, most)), int(rng.integers(2, widest))


@family(140, "PCA")
def pca_ordinary(rng):
    n, d = int(rng.integers(20, 200)), int(rng.integers(2, 12))
    return pca(rng, shapes.ordinary(rng, n, d), "ordinary rows")


@family(20, "PCA")
def pca_ordinary_tall(rng):
    X = shapes.ordinary(rng, int(rng.integers(5_000, 20_000)), int(rng.integers(2, 8)))
    return pca(rng, X, "ordinary rows", solver=str(rng.choice(["auto", "covariance_eigh", "qr", "krylov"])))


@family(30, "PCA")
def pca_ordinary_sparse(rng):
    n, d = int(10 ** rng.uniform(2, 4)), int(rng.integers(2, 12))
    return pca(rng, sparse.csr_array(shapes.ordinary(rng, n, d) * (rng.random((n, d)) < 0.2)), "ordinary sparse rows")


@family(160, "PCA")
def pca_spectra(rng):
    kind = str(rng.choice(shapes.SPECTRA))
    return pca(rng, shapes.with_spectrum(rng, *shape(rng), kind), f"{kind} spectrum")


@family(120, "PCA")
def pca_offset(rng):
    kind, offset = str(rng.choice(shapes.SPECTRA)), 10.0 ** rng.uniform(2, 12)
    X = shapes.with_spectrum(rng, *shape(rng), kind) + offset * rng.normal(size=1)
    return pca(rng, X, f"{kind} spectrum at {offset:.0e}")


@family(120, "PCA")
def pca_scale(rng):
    kind, scale = str(rng.choice(shapes.SPECTRA)), 10.0 ** rng.uniform(-150, 150)
    X = shapes.with_spectrum(rng, *shape(rng), kind) * scale
    return pca(rng, X, f"{kind} spectrum times {scale:.0e}")


@family(100, "PCA")
def pca_weights(rng):
    kind, (n, d) = str(rng.choice(shapes.WEIGHTS)), shape(rng)
    X = shapes.with_spectrum(rng, n, d, str(rng.choice(shapes.SPECTRA))) + rng.choice([0.0, 1e3])
    return pca(rng, X, f"{kind} weights", shapes.some_weights(rng, n, kind))


@family(60, "PCA")
def pca_standardize(rng):
    n, d = shape(rng)
    binary = rng.random() < 0.4
    if binary:
        n = int(10 ** rng.uniform(0.7, 3.5))
    X = shapes.two_level(rng, n, d) if binary else shapes.ordinary(rng, n, d) * 10.0 ** rng.uniform(-6, 6, d)
    X = X + (np.arange(n) % 3)[:, None]  # never constant
    solver = str(rng.choice(DENSE)) if n < 500 else "auto"
    return pca(rng, X + rng.choice([0.0, 1e4]), "standardize", solver=solver, standardize=True)


@family(60, "PCA")
def pca_float32(rng):
    n, d = int(rng.integers(5, 400)), int(rng.integers(2, 10))
    X = shapes.two_level(rng, n, d) if rng.random() < 0.3 else shapes.ordinary(rng, n, d)
    return pca(rng, (X * 10.0 ** rng.uniform(-3, 3) + rng.choice([0.0, 1e2])).astype(np.float32), "float32")


@family(100, "PCA")
def pca_two_level(rng):
    n, d = int(10 ** rng.uniform(1, 3.5)), int(rng.integers(1, 9))
    solver = str(rng.choice(["auto", "full", "covariance_eigh", "qr", "krylov"] if n > 500 else DENSE))
    X = shapes.two_level(rng, n, d) * (1 if rng.random() < 0.5 else rng.uniform(0.1, 3))
    return pca(rng, X, "two levels", solver=solver)


@family(30, "PCA")
def pca_tall(rng):
    """Long sums: of the same numbers, which err in one direction, or of ordinary ones far from zero."""
    n, d = int(10 ** rng.uniform(3.7, 4.7)), int(rng.integers(2, 5))
    X = shapes.two_level(rng, n, d) * rng.uniform(0.1, 3) if rng.random() < 0.7 else shapes.ordinary(rng, n, d) + 1e8
    return pca(rng, X, "tall", solver=str(rng.choice(["auto", "covariance_eigh", "qr", "krylov"])))


@family(30, "PCA")
def pca_tall_float32(rng):
    n, d = int(10 ** rng.uniform(2.5, 4.5)), int(rng.integers(2, 5))
    X = shapes.two_level(rng, n, d) if rng.random() < 0.7 else shapes.ordinary(rng, n, d)
    X = (X * rng.uniform(0.1, 3) + rng.choice([0.0, 0.0, 10.0])).astype(np.float32)
    return pca(rng, X, "tall, float32", solver=str(rng.choice(["auto", "covariance_eigh", "qr", "krylov"])))


@family(120, "PCA")
def pca_anything(rng):
    """All at once: any spectrum, mean, unit, weights and precision."""
    n, d = shape(rng, 120)
    X = (
        shapes.two_level(rng, n, d)
        if rng.random() < 0.3
        else shapes.with_spectrum(rng, n, d, rng.choice(shapes.SPECTRA))
    )
    X = X + rng.choice([0.0, 0.0, 1.0, 1e5]) * rng.normal(size=d)
    X = X * 10.0 ** rng.choice([0, 0, 0, -30, 15, 60, -60])
    weights = shapes.some_weights(rng, n, str(rng.choice(shapes.WEIGHTS))) if rng.random() < 0.4 else None
    if rng.random() < 0.2 and 1e-20 < np.abs(X).max() < 1e15:
        X = X.astype(np.float32)
    elif rng.random() < 0.2:
        X = sparse.csr_array(X * (rng.random((n, d)) < 0.6))
    standardize = not sparse.issparse(X) and rng.random() < 0.2 and bool(np.all(np.ptp(X, axis=0) > 0))
    return pca(rng, X, f"anything, {X.dtype}", weights, standardize=standardize)


@family(60, "PCA")
def pca_copies(rng):
    few, groups = shapes.copies(rng, int(rng.integers(20, 2000)), int(rng.integers(2, 6)), int(rng.integers(2, 8)))
    solver = str(rng.choice(["auto", "full", "covariance_eigh", "qr", "krylov"]))
    X = few[groups] + rng.choice([0.0, 1e5])
    return pca(rng, X, "copies of few rows", solver=solver)


@family(100, "PCA")
def pca_sparse(rng):
    n, d, density = int(10 ** rng.uniform(1, 4.3)), int(rng.integers(2, 9)), rng.choice([0.05, 0.3, 0.7])
    X = np.where(rng.random((n, d)) < density, 1.0, 0.0) * rng.choice([0.1, 1.0, 1 / 3, 1e3])
    if rng.random() < 0.3:
        X = X * rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X[:, 0] = 0.1  # constant, and every entry is there
    return pca(rng, sparse.csr_array(X), f"sparse, density {density}")


@family(80, "PCA")
def pca_one_hot(rng):
    """Levels that are all equally frequent: all eigenvalues but one are the same."""
    levels, times = int(rng.integers(3, 120)), int(rng.integers(1, 4))
    X = np.tile(np.eye(levels), (times, 1))
    X = sparse.csr_array(X) if rng.random() < 0.5 else X
    values = np.append(np.full(levels - 1, float(times)), 0.0)
    return pca(rng, X, f"one-hot, {levels} levels", truth=lambda: known(values, error=0.0))


@family(60, "PCA")
def pca_hadamard(rng):
    """Orthogonal columns of ±s: the axes are those of the columns, with multiplicities."""
    n = int(2 ** rng.integers(3, 10))
    d = int(rng.integers(2, min(n, 40)))
    s = rng.choice([1.0, 1.0, 0.5, 2.0, 3.0, 1 + 2.0**-30], size=d)
    solver = str(rng.choice(DENSE if n < 200 else ["auto", "full", "covariance_eigh", "qr", "krylov"]))
    squares = DD(s) * s * float(n)
    return pca(rng, shapes.design(n, d) * s, "Hadamard columns", solver=solver, truth=lambda: known(squares, np.eye(d)))


@family(40, "PCA")
def pca_wide(rng):
    n, d = int(rng.integers(3, 25)), int(rng.integers(100, 3000))
    X = shapes.two_level(rng, n, d) if rng.random() < 0.4 else shapes.ordinary(rng, n, d) + rng.choice([0.0, 1e4])
    return pca(rng, X, "wide rows", solver=str(rng.choice(["auto", "full", "gram", "krylov"])))


@family(30, "PCA")
def pca_all(rng):
    """n_components left out: all there are."""
    X = shapes.with_spectrum(rng, *shape(rng), str(rng.choice(shapes.SPECTRA))) + rng.choice([0.0, 1e6])
    model = estimator("PCA", svd_solver=str(rng.choice(DENSE[:5])), random_state=0, n_jobs=1)
    words = f"PCA(None, {model.svd_solver}) of {X.shape[0]}×{X.shape[1]}"
    return Problem(lambda: model.fit(X), lambda _: linear_truth(X), words, asked=min(X.shape))


@family(40, "PCA")
def pca_constant(rng):
    """Rows that are all the same, or all but one column of them: what is constant has no variance."""
    n, d = int(10 ** rng.uniform(0.7, 4)), int(rng.integers(2, 6))
    X = np.tile(rng.choice([0.1, 1 / 3, 1e8 / 7, 1e-9, 0.7], size=d), (n, 1))
    if rng.random() < 0.5:
        X[:, 0] = rng.normal(size=n)
    if rng.random() < 0.4:
        return pca(rng, sparse.csr_array(X), "constant columns, sparse")
    return pca(rng, X, "constant columns", solver=str(rng.choice(["auto", "full", "covariance_eigh", "qr", "krylov"])))


@family(10, "PCA")
def pca_hadamard_large(rng):
    """More columns than LAPACK gets to see in a hurry: blocks of products, with multiplicities beyond their width."""
    d = int(rng.integers(510, 700))
    s = rng.choice([1.0, 2.0, 3.0], size=d)
    squares, solver = DD(s) * s * 1024.0, str(rng.choice(["auto", "krylov", "arpack", "covariance_eigh"]))
    X, k = shapes.design(1024, d) * s, int(rng.integers(1, 30))
    return pca(rng, X, "many Hadamard columns", solver=solver, k=k, truth=lambda: known(squares, np.eye(d)))


@family(60, "PCA")
def pca_krylov_noise(rng):
    """Noise has no gaps: an iteration that is stopped early must not claim that nothing was missed."""
    tol, k = float(rng.choice([0.5, 0.5, 0.1, 1e-3, 0.0])), int(rng.integers(1, 12))
    if rng.random() < 0.3:
        s = rng.choice([1.0, 1.0, 1.01, 2.0], size=200)
        squares = DD(s) * s * 256.0
        X, truth = shapes.design(256, 200) * s, lambda: known(squares, np.eye(200))
        return pca(rng, X, "Hadamard columns", solver="krylov", k=k, tol=tol, truth=truth)
    X = rng.normal(size=(int(rng.integers(40, 160)), int(rng.integers(20, 70)))) + rng.choice([0.0, 1e4])
    weights = shapes.some_weights(rng, len(X), "counts") if rng.random() < 0.2 else None
    X = sparse.csr_array(X) if rng.random() < 0.2 else X
    return pca(rng, X, "noise", weights, solver="krylov", k=k, tol=tol)
