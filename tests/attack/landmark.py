"""Landmarks under attack: intervals, totals and shares, and exact passes after them."""

import numpy as np
from scipy import sparse

from attack import rows as shapes
from attack.batches import cut
from attack.editions import estimator
from attack.kernels import dense, kernel_matrix, whole_matrix
from attack.precise import DD, concatenate, sqrt
from attack.problems import Problem, family
from attack.truth import copied, kernel_truth
from mercer.kernels import RBF, Cosine, Laplacian, Linear, Matern, Polynomial

GONE = 1e-24  # of the largest pivot: what is left of a landmark that repeats others


def some_kernel(rng, d):
    gamma = 10.0 ** rng.uniform(-2, 1) / d
    kernels = [
        RBF(gamma),
        RBF(gamma),
        Laplacian(gamma),
        Matern(1.5, 1 / gamma),
        Linear(),
        Polynomial(2, gamma),
        Cosine(),
    ]
    return kernels[rng.integers(len(kernels))]


def landmark(rng, X, words, weights=None, groups=None, kernel=None, batches=(), **settings):
    """A problem for landmarks; `groups` as in kernel.py."""
    every, kernel = X if groups is None else X[groups], kernel or some_kernel(rng, X.shape[1])
    counts = weights if groups is None else np.bincount(groups).astype(float)
    k = settings.pop("k", None) or int(rng.integers(1, 6))
    model = estimator("KernelPCA", k, kernel=kernel, eigen_solver="landmark", random_state=0, n_jobs=1, **settings)

    def fit():
        for some in batches:
            model.partial_fit(every[some], sample_weight=None if weights is None else weights[some])
        return model if batches else model.fit(every, sample_weight=weights)

    def truth(model):
        found = kernel_truth(*kernel_matrix(model.kernel_, X), counts)
        return found if groups is None else copied(found, groups)

    def directions(model):
        scores = model.transform(every)
        return scores if weights is None else scores * np.sqrt(weights)[:, None]

    said = ", ".join(f"{name}={np.shape(value) or value}" for name, value in settings.items())
    return Problem(
        fit,
        truth,
        f"KernelPCA({k}, {kernel}, landmark, {said}) of {every.shape[0]}×{X.shape[1]}: {words}",
        asked=k if settings.get("refine") and not few(settings, k) else None,
        captured=lambda model: share_seen(model, X, counts),
        directions=directions,
    )


def few(settings, k):
    """Whether fewer landmarks than components were asked for."""
    return settings.get("n_landmarks", k) < k or len(np.atleast_1d(settings.get("landmarks", range(k)))) < k


def share_seen(model, X, weights):
    """tr(JΦΦᵀJ)/tr(JKJ), Φ the projection of all rows onto the span of the landmarks in feature space."""
    S, X = dense(model.landmarks_), dense(X)
    columns = seen_from_origin(model, np.concatenate([S, X]), S)
    factor = DD(np.zeros((len(S) + len(X), 0)))
    largest = float(np.max(np.diag(columns.hi[: len(S)])))
    for j in range(len(S)):
        left = columns[:, j] - (factor @ factor[j : j + 1].T)[:, 0]
        if left.hi[j] > GONE * largest:
            pivot = sqrt(left[j])
            column = left / DD(np.broadcast_to(pivot.hi, left.shape), np.broadcast_to(pivot.lo, left.shape))
            factor = concatenate([factor, DD(column.hi[:, None], column.lo[:, None])], axis=1)
    features = factor[len(S) :]
    w = DD(np.ones(len(X)) if weights is None else weights / weights.max())
    w = DD(w.hi[:, None], w.lo[:, None])
    centred = features - (features * w).sum() / w.sum()
    seen = float((centred * centred * w).sum(axis=None))
    full = kernel_matrix(model.kernel_, X)[0]
    means = (full * w).sum() / w.sum()
    diagonal = DD(np.diag(full.hi), np.diag(full.lo))
    total = float(((diagonal - means) * w[:, 0]).sum())
    return seen / total if total > 0 else 1.0


def seen_from_origin(model, X, S):
    """Scalar products of φ(x) − φ(o) and φ(s) − φ(o), where the second edition moves its kernel to a row o."""
    origin = getattr(model._centering.kernel, "origin", None) if hasattr(model, "_centering") else None
    if origin is None:
        return whole_matrix(model.kernel_, X, S)[0]
    count = len(X)
    K = whole_matrix(model.kernel_, np.vstack([X, origin]), np.vstack([S, origin]))[0]
    moved = K - DD(K.hi[:, -1:], K.lo[:, -1:])
    return (moved - DD(moved.hi[-1:], moved.lo[-1:]))[:count, :-1]


@family(40, "landmarks")
def landmark_ordinary(rng):
    n, d = int(rng.integers(20, 60)), int(rng.integers(1, 5))
    return landmark(rng, shapes.ordinary(rng, n, d), "ordinary rows", n_landmarks=int(rng.integers(5, n)))


@family(60, "landmarks")
def landmark_number(rng):
    """From one landmark to more than there are rows."""
    n, d = int(rng.integers(5, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) + rng.choice([0.0, 3.0, 100.0])
    return landmark(rng, X, "any number", n_landmarks=int(rng.integers(1, 2 * n)))


@family(60, "landmarks")
def landmark_given(rng):
    """By number or as rows, some of them twice."""
    n, d = int(rng.integers(8, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    chosen = rng.integers(0, n, size=int(rng.integers(1, n)))
    given = chosen if rng.random() < 0.5 else X[chosen] + (0.1 if rng.random() < 0.5 else 0.0)
    return landmark(rng, X, "given", landmarks=given)


@family(40, "landmarks")
def landmark_weights(rng):
    n, d, kind = int(rng.integers(8, 40)), int(rng.integers(1, 5)), str(rng.choice(shapes.WEIGHTS))
    X, weights = rng.normal(size=(n, d)), shapes.some_weights(rng, n, kind)
    return landmark(rng, X, f"{kind} weights", weights, n_landmarks=int(rng.integers(2, n)))


@family(60, "landmarks")
def landmark_copies(rng):
    """Many copies of few rows: sums over all rows err in one direction."""
    few, groups = shapes.copies(rng, int(10 ** rng.uniform(1.5, 4.7)), int(rng.integers(2, 9)), int(rng.integers(1, 6)))
    return landmark(rng, few, f"copies of {len(few)} rows", groups=groups, n_landmarks=int(rng.integers(1, 12)))


@family(60, "landmarks")
def landmark_refine(rng):
    n, d = int(rng.integers(70, 120)), int(rng.integers(1, 4))
    kernel = [RBF(0.5 / d), Laplacian(0.3), Matern(2.5, 3.0)][rng.integers(3)]
    count, refine = int(rng.integers(8, 50)), int(rng.integers(1, 4))
    return landmark(rng, rng.normal(size=(n, d)), "refined", kernel=kernel, n_landmarks=count, refine=refine)


@family(40, "landmarks")
def landmark_refine_copies(rng):
    few, groups = shapes.copies(rng, int(rng.integers(70, 900)), int(rng.integers(3, 12)), int(rng.integers(1, 6)))
    kernel = [RBF(0.5), Laplacian(0.3), Matern(1.5, 2.0)][rng.integers(3)]
    settings = dict(kernel=kernel, n_landmarks=int(rng.integers(4, 20)), refine=int(rng.integers(1, 4)), k=2)
    return landmark(rng, few, f"refined, copies of {len(few)} rows", groups=groups, **settings)


@family(40, "landmarks")
def landmark_offset(rng):
    """Kernels of a scalar product, of rows around a mean."""
    n, d, offset = int(rng.integers(8, 40)), int(rng.integers(1, 4)), 10.0 ** rng.uniform(0.5, 4)
    kernel = [Linear(), Polynomial(2, 1.0, 1.0), Cosine(), RBF(0.3)][rng.integers(4)]
    X = rng.normal(size=(n, d)) + offset * rng.normal(size=d)
    return landmark(rng, X, f"mean of {offset:.0e}", kernel=kernel, n_landmarks=int(rng.integers(2, n)))


@family(40, "landmarks")
def landmark_float32(rng):
    """Rows in single precision, many of them copies: sums over all rows are long."""
    few, groups = shapes.copies(rng, int(10 ** rng.uniform(1.5, 4)), int(rng.integers(2, 9)), int(rng.integers(1, 6)))
    few = (few + rng.choice([0.0, 3.0])).astype(np.float32)
    return landmark(
        rng, few, f"float32, copies of {len(few)} rows", groups=groups, n_landmarks=int(rng.integers(1, 12))
    )


@family(30, "landmarks")
def landmark_sparse(rng):
    n, d = int(rng.integers(10, 50)), int(rng.integers(2, 12))
    X = sparse.csr_array((rng.random((n, d)) < 0.4) * (rng.normal(size=(n, d)) * rng.choice([1.0, 0.1, 10.0])))
    kernel = [RBF(0.5), Linear(), Cosine(), Polynomial(2, 0.5, 1.0)][rng.integers(4)]
    return landmark(rng, X, "sparse rows", kernel=kernel, n_landmarks=int(rng.integers(2, n)))


@family(40, "landmarks")
def landmark_batches(rng):
    """Batches around places of their own: landmarks join later, and know less of the rows before."""
    n, d, count = int(rng.integers(12, 50)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    batches = cut(n, count)
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0])
    for i, some in enumerate(batches):
        X[some] += rng.choice([0.0, 1.0, 3.0]) * i
    weights = shapes.some_weights(rng, n, "counts") if rng.random() < 0.3 else None
    kernel = [RBF(10.0 ** rng.uniform(-1.5, 0.5) / d), Laplacian(0.5), Matern(2.5, 2.0), Linear()][rng.integers(4)]
    settings = dict(kernel=kernel, batches=batches, n_landmarks=int(rng.integers(2, n)))
    return landmark(rng, X, f"{len(batches)} batches", weights, **settings)
