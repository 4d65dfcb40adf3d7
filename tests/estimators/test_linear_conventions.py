"""Manners of PCA: nothing is said about ordinary data, progress, signs, precisions, and rows that are left alone."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from mercer import PCA, IncrementalPCA
from mercer_old.errors import MercerWarning
from mercer_old.sweeps.lanes import sweep_scatter
from mercer_old.sweeps.square import Square
from support.linear import SPARSE, SVD_SOLVERS, TALL

# ---------------------------------------------------------------------- manners


def test_nothing_is_said_about_ordinary_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (
            PCA(),
            PCA(2, whiten=True),
            PCA(0.9, standardize=True),
            PCA("mle"),
            PCA("bic"),
            IncrementalPCA(2),
        ):
            model.fit(load_iris().data).transform(load_iris().data)


def test_progress_is_reported_and_may_stop_the_fit(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(100_000, 8)))
    seen = []
    PCA(2, progress=seen.append).fit(tmp_path / "x.npy")
    shares = [state.share for state in seen]
    assert len(shares) > 2 and shares == sorted(shares) and shares[-1] == 1

    def stop(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PCA(2, svd_solver="krylov", progress=stop).fit(TALL)


def test_rows_are_left_alone():
    for X in (TALL.copy(), SPARSE.copy()):
        before = X.copy()
        for model in (PCA(2, copy=False, standardize=True), IncrementalPCA(2, copy=False)):
            model.fit(X).transform(X)
            assert abs(X - before).max() == 0


def test_signs_follow_the_loadings():
    for svd_solver in SVD_SOLVERS:
        axes = PCA(5, svd_solver=svd_solver).fit(TALL).components_
        assert np.all(axes[np.arange(5), np.abs(axes).argmax(axis=1)] > 0)


@pytest.mark.parametrize("k", [5, 20])
@pytest.mark.filterwarnings("ignore:The direction of component")
def test_single_precision_rows_with_digits_enough_are_swept_over_once(monkeypatch, k):
    from mercer_old.fits.linear import summing

    sweeps = []
    monkeypatch.setattr(summing, "sweep_scatter", lambda kind, *rest: sweeps.append(kind) or sweep_scatter(kind, *rest))
    X = np.random.default_rng(0).normal(size=(30_000, 200)).astype(np.float32)[:, :200]
    PCA(10 * k).fit(X)
    assert sweeps == [Square]


# ---------------------------------------------------------------------- what a review found


def test_scores_have_the_precision_of_rows_and_model():
    single, double = TALL.astype(np.float32), TALL
    assert PCA(2).fit(single).transform(double).dtype == np.float64
    assert PCA(2).fit(single).transform(single).dtype == np.float32
    far = single[:, :3] + np.float32(1e5)
    assert_allclose(PCA(2).fit(far).transform(far).mean(axis=0), 0, atol=1e-3)


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "qr", "gram", "krylov"])
def test_one_row_has_no_variance_but_a_mean(svd_solver):
    """As in scikit-learn, whose searches fit pipelines to as few rows as there can be."""
    model = PCA(1, svd_solver=svd_solver, whiten=True)
    with pytest.warns(MercerWarning, match="All rows are the same"):
        model.fit([[1.0, 2.0, 3.0]])
    assert model.explained_variance_.tolist() == [0.0]
    assert model.transform([[1.0, 2.0, 3.0]]).tolist() == [[0.0]]
    np.testing.assert_allclose(np.linalg.norm(model.components_), 1.0)
