"""Locally linear embedding under attack: the truth is that of M as it was assembled."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from scipy import sparse

from attack.editions import attacked, estimator
from attack.precise import DD
from attack.problems import Problem, family
from attack.truth import truth_of
from mercer.estimators import _local_embedding as new_embedding
from mercer.kernels import RBF, Laplacian
from mercer_old.fits.local import embedding as old_embedding

METHODS = ("standard", "modified", "hessian", "ltsa")
SOLVERS = ("auto", "arpack", "dense")


def bottom_truth(M):
    """Of −JMJ without the constant vector, which is sent to the far end and left out: the smallest of M come first."""
    n, peak = len(M), float(np.abs(M).max())
    exponent = -int(np.frexp(peak)[1]) if peak > 0 else 0
    A = DD(np.ldexp(M, exponent))
    means = A.sum() / float(n)
    mean = means.sum() / float(n)
    A = A - DD(means.hi[None], means.lo[None]) - DD(means.hi[:, None], means.lo[:, None]) + mean
    found = truth_of(-A - 8.0, exponent=exponent)  # 8·11ᵀ: no eigenvalue of M reaches that
    return replace(found, values=found.values[:-1], vectors=found.vectors[:, :-1], size=n - 1)


def lle(rng, X, words, **settings):
    """A problem for LLE; M is kept as it is assembled, one for every part of the graph that is embedded on its own."""
    n, d = X.shape
    k = int(rng.integers(1, min(d, 3) + 1))
    least = max(k * (k + 3) // 2 + 1, k + 2)
    settings = {
        "n_components": k,
        "n_neighbors": min(int(rng.integers(least, least + 8)), n - 1),
        "method": str(rng.choice(METHODS)),
        "eigen_solver": str(rng.choice(SOLVERS)),
    } | settings
    model = estimator("LocallyLinearEmbedding", **settings, random_state=0, n_jobs=1)
    home, name = (old_embedding, "align") if attacked() == "old" else (new_embedding, "alignment_matrix")
    kept, align = [], getattr(home, name)

    def assembled(*arguments, **more):
        kept.append(align(*arguments, **more))
        return kept[-1]

    def fit():
        with patch.object(home, name, assembled):
            return model.fit(X)

    said = ", ".join(str(value) for value in settings.values())
    return Problem(
        fit,
        lambda _: [bottom_truth(np.asarray(M.toarray() if sparse.issparse(M) else M)) for M in kept],
        f"LLE({said}) of {n}×{d}: {words}",
    )


def sheet(rng, n):
    u = rng.uniform(size=(n, 2))
    return np.column_stack([u[:, 0] * 3, u[:, 1], np.sin(3 * u[:, 0])])


def circle(rng, n):
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def grid(rng, n):
    side = max(3, int(np.sqrt(n)))
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(float)


def groups(rng, n):
    return np.concatenate([rng.normal(size=(n // 2, 3)), rng.normal(size=(n - n // 2, 3)) + 50])


def repeated(rng, n):
    X = rng.normal(size=(n, 3))
    X[n // 2 :] = X[rng.integers(0, n // 2, n - n // 2)]
    return X


def line(rng, n):
    return np.outer(np.sort(rng.uniform(size=n)), [1.0, 2.0, -1.0])


def outlier(rng, n):
    X = rng.normal(size=(n, 3))
    X[0] += 1e4
    return X


SHAPES = {
    "sheet": sheet,
    "circle": circle,
    "grid": grid,
    "two groups": groups,
    "repeated rows": repeated,
    "a line": line,
    "outlier": outlier,
    "cloud": lambda rng, n: rng.normal(size=(n, 3)),
    "far away": lambda rng, n: sheet(rng, n) + 1e6,
    "tiny": lambda rng, n: sheet(rng, n) * 1e-100,
    "huge": lambda rng, n: sheet(rng, n) * 1e100,
}


@family(220, "LocallyLinearEmbedding")
def lle_shapes(rng):
    name = str(rng.choice(list(SHAPES)))
    return lle(rng, SHAPES[name](rng, int(rng.integers(14, 60))), name)


@family(30, "LocallyLinearEmbedding")
def lle_metrics(rng):
    """Neighbourhoods by the angle, or in the feature space of a kernel."""
    name, metric = (
        str(rng.choice(["sheet", "cloud", "far away"])),
        ["cosine", RBF(0.5), Laplacian(0.5)][rng.integers(3)],
    )
    return lle(rng, SHAPES[name](rng, int(rng.integers(16, 50))), name, metric=metric)


@family(30, "LocallyLinearEmbedding", editions=("old",))
def lle_parts(rng):
    """Groups far from each other, each embedded on its own with its own certificate."""
    X = groups(rng, int(rng.integers(40, 70)))
    return lle(rng, X, "parts", on_disconnected="separate", n_components=1, n_neighbors=int(rng.integers(3, 7)))


@family(8, "LocallyLinearEmbedding")
def lle_sparse_factor(rng):
    """More rows than LAPACK takes whole: factors, probes and counted pivots."""
    name = str(rng.choice(["sheet", "cloud", "grid", "circle"]))
    return lle(rng, SHAPES[name](rng, int(rng.integers(301, 313))), name)


@family(30, "LocallyLinearEmbedding")
def lle_landmarks(rng):
    """Some rows are embedded, and what is said of them is true of their own matrix."""
    name = str(rng.choice(list(SHAPES)))
    n = int(rng.integers(40, 90))
    return lle(rng, SHAPES[name](rng, n), f"{name}, landmarks", n_landmarks=int(rng.integers(25, 36)))
