"""scikit-learn's own objects, made from our fitted models: the same scores."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF
from support.registry import minimum
from support.silence import quiet
from support.substitute import KERNELS, NEW, sample


def same_scores(ours, theirs, rtol=1e-10):
    """Equal, relative to the deviation of each component."""
    deviations = np.maximum(ours.std(axis=0), np.finfo(float).tiny)
    assert (np.abs(ours - theirs) <= rtol * deviations).all(), (np.abs(ours - theirs) / deviations).max()


WEIGHTS = np.tile([1.0, 2.0, 0.0, 0.5], 15)
CONVERTED = [
    (PCA(3), None),
    (PCA(3), WEIGHTS),
    (PCA(0.8, whiten=True, svd_solver="qr"), None),
    (PCA("bic"), None),
    (PCA(3, standardize=True), None),
    (IncrementalPCA(3, whiten=True), None),
    (IncrementalPCA(3), WEIGHTS),
    *((KernelPCA(3, **params), weights) for params in KERNELS for weights in (None, WEIGHTS)),
    (KernelPCA(0.9, kernel=RBF(gamma=0.1)), None),
    (KernelPCA(2, kernel="rbf", gamma="median", fit_inverse_transform=True), None),
    (KernelPCA(2, kernel=minimum), None),
    (KernelPCA(2, kernel="rbf", standardize=True, fit_inverse_transform=True), None),
    (KernelPCA(2, kernel="poly", standardize=True), WEIGHTS),
    (LocallyLinearEmbedding(n_neighbors=10), None),
    (LocallyLinearEmbedding(n_neighbors=10, standardize=True), None),
]


@pytest.mark.parametrize(
    ("model", "weights"), CONVERTED, ids=lambda v: "" if v is None else str(v).partition(" at 0x")[0][:60]
)
@quiet
def test_scikit_learns_own_object_gives_the_same_scores(model, weights):
    X = sample()
    ours = clone(model).fit(X) if weights is None else clone(model).fit(X, sample_weight=weights)
    theirs = ours.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.")
    same_scores(ours.transform(NEW), theirs.transform(NEW))
    if isinstance(model, (PCA, IncrementalPCA)) or getattr(model, "fit_inverse_transform", False):
        scores = ours.transform(NEW)
        np.testing.assert_allclose(theirs.inverse_transform(scores), ours.inverse_transform(scores), rtol=1e-9)
    assert list(theirs.get_feature_names_out()) == list(ours.get_feature_names_out())
    assert theirs.n_features_in_ == 5
    clone(theirs).fit(X)  # its parameters are scikit-learn's too


@pytest.mark.parametrize("weights", [None, WEIGHTS + 1], ids=["alike", "weighted"])
@quiet
def test_scikit_learns_own_object_of_a_kernel_matrix(weights):
    X = sample()
    ours = KernelPCA(3, kernel="precomputed").fit(np.tanh(X @ X.T / 1000), sample_weight=weights)
    new = np.tanh(NEW @ X.T / 1000)
    same_scores(ours.transform(new), ours.to_sklearn().transform(new))


def test_scikit_learns_own_object_keeps_the_names_of_columns():
    frame = pd.DataFrame(sample(), columns=list("abcde"))
    for model in (PCA(2), KernelPCA(2), PCA(2, standardize=True)):
        theirs = clone(model).fit(frame).to_sklearn()
        assert list(theirs.feature_names_in_) == list("abcde")
        theirs.transform(frame)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (KernelPCA(2, kernel="rbf", n_landmarks=20), "no model by landmarks"),
        (KernelPCA(2, kernel=RBF() + RBF(gamma=3.0)), "its kernels are cosine, linear"),
        (LocallyLinearEmbedding(metric="cosine"), "Euclidean"),
        (LocallyLinearEmbedding(metric=RBF()), "Euclidean"),
    ],
    ids=str,
)
def test_what_scikit_learn_has_no_object_for_is_refused_with_a_sentence(model, match):
    with pytest.raises(ValueError, match=match):
        clone(model).fit(sample()).to_sklearn()


def test_a_model_that_is_not_fitted_has_no_object():
    for model in (PCA(), IncrementalPCA(), KernelPCA(), LocallyLinearEmbedding()):
        with pytest.raises(NotFittedError):
            model.to_sklearn()
