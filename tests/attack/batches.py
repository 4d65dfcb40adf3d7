"""IncrementalPCA under attack."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from attack import rows as shapes
from attack.editions import estimator
from attack.linear import some_number
from attack.precise import DD
from attack.problems import Problem, family
from attack.truth import known, linear_truth


def incremental(rng, X, batches, words, forget=1.0, weights=None):
    """Batch after batch; a batch that is b batches old counts forget^b."""
    k = some_number(rng, min(X.shape[1], batches[0].stop), False)

    model = estimator("IncrementalPCA", k, forget=forget, n_jobs=1)

    def fit():
        for some in batches:
            model.partial_fit(X[some], sample_weight=None if weights is None else weights[some])
        return model

    def truth(_):
        every = DD(np.ones(X.shape[0]) if weights is None else weights)
        factor = DD(np.ones(X.shape[0]))
        for some in batches[1:]:
            old = (np.arange(X.shape[0]) < some.start).astype(float)
            factor = factor * (old * forget + (1 - old))
        return linear_truth(X, every * factor)

    words = f"IncrementalPCA({k}, forget={forget:.3g}) of {X.shape[0]}×{X.shape[1]} in {len(batches)}: {words}"
    return Problem(fit, truth, words, asked=k)


def cut(n, count, first=1):
    """So many batches of about the same size, the first one of some rows at least."""
    edges = np.unique(np.append([0], np.maximum(np.linspace(0, n, count + 1).astype(int)[1:], first)))
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


@family(80, "IncrementalPCA")
def incremental_batches(rng):
    n, d = int(rng.integers(20, 600)), int(rng.integers(2, 8))
    pick = rng.random()
    X = shapes.two_level(rng, n, d) if pick < 0.4 else shapes.with_spectrum(rng, n, d, str(rng.choice(shapes.SPECTRA)))
    X = X + rng.choice([0.0, 1e3, 1e8])
    weights = shapes.some_weights(rng, n, "counts") if rng.random() < 0.3 else None
    return incremental(rng, X, cut(n, int(rng.integers(1, 60)), d), "batches", weights=weights)


@family(30, "IncrementalPCA")
def incremental_ordinary(rng):
    n, d = int(rng.integers(100, 2000)), int(rng.integers(2, 12))
    return incremental(rng, shapes.ordinary(rng, n, d), cut(n, int(rng.integers(1, 30)), d), "ordinary batches")


@family(15, "IncrementalPCA")
def incremental_one_hot(rng):
    """Levels that are all equally frequent, a batch for each time they occur."""
    levels, times = int(rng.integers(3, 90)), int(rng.integers(1, 6))
    X = np.tile(np.eye(levels), (times, 1))
    problem = incremental(rng, X, cut(len(X), times, levels), f"one-hot, {levels} levels")
    return replace(problem, truth=lambda _: known(np.append(np.full(levels - 1, float(times)), 0.0)))


@family(30, "IncrementalPCA")
def incremental_many(rng):
    """Up to a thousand batches, all of them the same."""
    d, times = int(rng.integers(2, 5)), int(10 ** rng.uniform(1.5, 3))
    batch = shapes.two_level(rng, 4, d) if rng.random() < 0.3 else rng.normal(size=(4, d)) + rng.choice([0.0, 10.0])
    X = np.tile(batch, (times, 1))
    return incremental(rng, X, cut(len(X), times, 4), "equal batches")


@family(20, "IncrementalPCA")
def incremental_rows(rng):
    """Row after row: as many merges as there are rows."""
    n, d = int(10 ** rng.uniform(1.5, 2.8)), int(rng.integers(1, 4))
    X = shapes.two_level(rng, n, d) * rng.uniform(0.1, 3) if rng.random() < 0.6 else rng.normal(size=(n, d)) + 100
    return incremental(rng, X, [slice(0, d), *(slice(i, i + 1) for i in range(d, n))], "row after row")


@family(60, "IncrementalPCA")
def incremental_forget(rng):
    """The documented use: old batches fade while the mean drifts or jumps."""
    n, d, count = int(rng.integers(40, 400)), int(rng.integers(2, 6)), int(rng.integers(3, 30))
    batches = cut(n, count, d)
    jump, X = 10.0 ** rng.uniform(0, 7), rng.normal(size=(n, d))
    for i, some in enumerate(batches):
        X[some] += jump * (i if rng.random() < 0.5 else float(i < len(batches) // 3))
    return incremental(rng, X, batches, f"drift of {jump:.0e}", forget=float(rng.choice([0.5, 0.9, 0.1, 0.75])))


@family(20, "IncrementalPCA")
def incremental_fit(rng):
    """`fit` that makes the batches itself, and forgets between them."""
    n, d, size = int(rng.integers(40, 300)), int(rng.integers(2, 6)), int(rng.integers(8, 60))
    X = rng.normal(size=(n, d)) + 10.0 ** rng.uniform(0, 6) * (np.arange(n) // 40)[:, None]
    forget = float(rng.choice([0.5, 0.9]))
    model = estimator("IncrementalPCA", d, forget=forget, batch_size=size, n_jobs=1)
    batch = np.arange(n) // size
    weights = DD(np.ones(n))
    for last in range(1, batch[-1] + 1):
        weights = weights * np.where(batch < last, forget, 1.0)
    words = f"IncrementalPCA({d}, forget={forget}, batch_size={size}).fit of {n}×{d}"
    return Problem(lambda: model.fit(X), lambda _: linear_truth(X, weights), words, asked=d)


@family(30, "IncrementalPCA")
def incremental_sparse(rng):
    n, d = int(rng.integers(30, 1000)), int(rng.integers(2, 8))
    X = sparse.csr_array((rng.random((n, d)) < 0.4) * rng.choice([0.1, 1.0, 1 / 3]))
    return incremental(rng, X, cut(n, int(rng.integers(1, 30)), d), "sparse batches")
