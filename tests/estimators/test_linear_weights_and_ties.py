"""Weights are counts, and shares that are met exactly are met by every way alike."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils import estimator_checks

from mercer import PCA, IncrementalPCA
from mercer_old.readings.components import fewest_for_share
from support.alike import same_axes
from support.linear import SOLVERS, few
from support.silence import quiet
from support.strategies import seeds, tall_tables

# ---------------------------------------------------------------------- any batches, any order, any tree


@pytest.mark.parametrize("model", [*(PCA(svd_solver=name) for name in SOLVERS), IncrementalPCA()], ids=repr)
@given(tall_tables, seeds)
@few
@quiet
def test_weights_are_repeated_rows(model, X, seed):
    w = np.random.default_rng(seed).integers(0, 4, len(X))
    w[: X.shape[1] + 2] = np.maximum(w[: X.shape[1] + 2], 1)  # no fewer rows than columns
    every = np.repeat(X, w, axis=0)
    model.fit(X, sample_weight=w)
    C = every - every.mean(axis=0)
    _, sigma, Vt = np.linalg.svd(C, full_matrices=False)
    degrees, total = len(every) - 1, np.sum(C**2)
    assert_allclose(model.explained_variance_ * degrees, sigma**2, rtol=1e-8, atol=1e-10 * total)
    assert_allclose(model.explained_variance_ratio_, sigma**2 / total, rtol=1e-8, atol=1e-10)
    assert_allclose(model.total_variance_ * degrees, total, rtol=1e-10)
    assert_allclose(model.mean_, every.mean(axis=0), rtol=1e-10, atol=1e-12 * np.abs(X).max())
    if sigma[0] > 1.01 * sigma[1]:
        same_axes(model.components_[:1], Vt[:1], atol=1e-6)


# ---------------------------------------------------------------------- ties


TIED = ["full", "covariance_eigh", "qr", "gram", "krylov"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", TIED)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_a_share_that_is_met_exactly_takes_one_more_component_as_in_scikit_learn(solver, dtype):
    """1 200 ties: the share is one of another fit's cumulated ratios, whichever way that was made."""
    wrong = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = (rng.normal(size=(30 + seed, 6)) * rng.uniform(0.3, 3, 6) + rng.choice([0.0, 10.0])).astype(dtype)
        other = PCA(svd_solver=TIED[seed % len(TIED)]).fit(X).explained_variance_ratio_
        for k, share in enumerate(np.cumsum(other)[:4], 1):
            ties = {float(share), float(np.sum(other[:k])), float(np.sum(other[:k], dtype=np.float64))}
            wrong += [(seed, k) for tie in ties if PCA(tie, svd_solver=solver).fit(X).n_components_ != k + 1]
    assert wrong == []


def test_ties_of_kernel_pca_and_landmarks_are_met_by_as_much():

    values = np.random.default_rng(0).uniform(0.1, 1, (100, 9))
    for row in -np.sort(-values, axis=1):
        for k, share in enumerate(np.cumsum(row / row.sum())[:8], 1):
            assert fewest_for_share(row, row.sum(), share, more=False) == k
            assert fewest_for_share(row, row.sum(), share) == k + 1


# ---------------------------------------------------------------------- weights are counts


EVERY_WAY = [*(PCA(svd_solver=name) for name in [*TIED, "auto"]), IncrementalPCA()]


@pytest.mark.parametrize("model", EVERY_WAY, ids=repr)
@pytest.mark.parametrize("shape", [(6, 10), (12, 5), (4, 30)])
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_weights_and_repeated_rows_give_the_same_components_however_few_rows_there_are(shape, model):
    """All of them, those without variance too, and the same scores of rows that were not there."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=shape), np.arange(shape[0]) % 4 + 1
    new = rng.normal(size=(5, shape[1]))
    repeated = np.repeat(X, weights, axis=0)
    first, second = clone(model).fit(repeated), clone(model).fit(X, sample_weight=weights)
    assert first.n_components_ == second.n_components_ == min(len(repeated), shape[1])
    assert_allclose(first.singular_values_, second.singular_values_, rtol=1e-9, atol=1e-12)
    assert_allclose(first.transform(new), second.transform(new), rtol=1e-6, atol=1e-9)
    assert_allclose(second.components_ @ second.components_.T, np.eye(second.n_components_), atol=1e-12)
    assert_allclose(first.noise_variance_, second.noise_variance_, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("model", EVERY_WAY, ids=repr)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_scikit_learn_finds_weights_equivalent_to_repetitions(model, kind):
    if kind == "sparse" and model.get_params().get("svd_solver") in ("full", "qr", "gram"):
        pytest.skip("not a way for sparse rows")
    check = getattr(estimator_checks, f"check_sample_weight_equivalence_on_{kind}_data")
    check(type(model).__name__, model)


def test_weights_that_are_no_counts_leave_the_number_of_rows():
    X = np.random.default_rng(0).normal(size=(6, 10))
    assert PCA().fit(X, sample_weight=np.full(6, 2.5)).n_components_ == 6
    assert PCA().fit(X, sample_weight=np.full(6, 2.0)).n_components_ == 10
