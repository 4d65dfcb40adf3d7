"""One row of a table of inputs: what is called, and what must come out of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn import decomposition, manifold

from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding, quality


@dataclass(frozen=True)
class Case:
    """Right (`right` holds of what is returned), warned of, or refused in one sentence; exactly what the row says."""

    name: str
    call: Callable[[], Any] = field(repr=False)
    right: Callable[[Any], Any] | None = field(default=None, repr=False)
    warns: str = ""
    refuses: str = ""
    kind: type[Exception] = ValueError


def rows():
    """Thirty rows of four columns on a bent surface: ordinary numbers, which every model takes without a word."""
    rng = np.random.default_rng(7)
    u, v = rng.uniform(0, 3, size=(2, 30))
    return np.column_stack([np.cos(u), np.sin(u), v, u * v / 3]) + 0.02 * rng.normal(size=(30, 4))


def wholes():
    """The same as whole numbers."""
    return np.round(100 * rows())


# ---------------------------------------------------------------------- scikit-learn as the oracle


def kernel_model(module=None):
    return (module.KernelPCA if module else KernelPCA)(2, kernel="rbf", gamma=0.5)


def local_model(module=None):
    return (module.LocallyLinearEmbedding if module else LocallyLinearEmbedding)(n_neighbors=8, n_components=2)


@cache
def oracle(which, data):
    """scikit-learn's model of clean rows, in double precision."""
    X = {"rows": rows, "wholes": wholes}[data]()
    if data == "wholes" and which == "kernel":
        return decomposition.KernelPCA(2, kernel="rbf", gamma=5e-5).fit(X)
    models = {
        "linear": lambda: decomposition.PCA(2),
        "kernel": lambda: kernel_model(decomposition),
        "local": lambda: local_model(manifold),
    }
    return models[which]().fit(X)


def near(one, other, tol=1e-6):
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return one.shape == other.shape and np.allclose(one, other, rtol=tol, atol=tol * np.abs(other).max())


# ---------------------------------------------------------------------- every way in for rows


@dataclass(frozen=True)
class Way:
    """A function that takes rows, and whether its answer is that of clean rows called `data`."""

    name: str
    call: Callable[[Any, str], Any]
    right: Callable[[Any, str, float], bool]


def _gamma(data):
    return 5e-5 if data == "wholes" else 0.5


def _clean(data):
    return {"rows": rows, "wholes": wholes}[data]()


@cache
def _fitted(which, data):
    models = {"linear": PCA(2), "kernel": KernelPCA(2, kernel="rbf", gamma=_gamma(data)), "local": local_model()}
    return models[which].fit(_clean(data))


def _variances(model, data, tol):
    return near(model.explained_variance_, oracle("linear", data).explained_variance_, tol)


def _scores(which):
    def right(scores, data, tol):
        theirs = oracle(which, data)
        wanted = theirs.embedding_ if which == "local" else theirs.transform(_clean(data))
        return near(np.abs(scores), np.abs(wanted), tol * (100 if which == "local" else 1))

    return right


FITS = [
    Way("PCA.fit", lambda X, data: PCA(2).fit(X), _variances),
    Way("IncrementalPCA.fit", lambda X, data: IncrementalPCA(2).fit(X), _variances),
    Way("IncrementalPCA.partial_fit", lambda X, data: IncrementalPCA(2).partial_fit(X), _variances),
    Way(
        "KernelPCA.fit",
        lambda X, data: KernelPCA(2, kernel="rbf", gamma=_gamma(data)).fit(X),
        lambda model, data, tol: near(model.eigenvalues_, oracle("kernel", data).eigenvalues_, tol),
    ),
    Way(
        "LocallyLinearEmbedding.fit",
        lambda X, data: local_model().fit(X),
        lambda model, data, tol: near(
            model.reconstruction_error_, oracle("local", data).reconstruction_error_, 1000 * tol
        ),
    ),
]
USES = [
    Way("PCA.transform", lambda X, data: _fitted("linear", data).transform(X), _scores("linear")),
    Way("KernelPCA.transform", lambda X, data: _fitted("kernel", data).transform(X), _scores("kernel")),
    Way("LocallyLinearEmbedding.transform", lambda X, data: _fitted("local", data).transform(X), _scores("local")),
    Way(
        "quality",
        lambda X, data: quality(X, rows()[:, :2], n_neighbors=4),
        lambda found, data, tol: near(
            found.trustworthiness, manifold.trustworthiness(_clean(data), rows()[:, :2], n_neighbors=4), tol
        ),
    ),
]
