"""Fitted models are plain values: any format saves them, and transform follows the arrays that are set."""

import copy

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import mercer
import mercer_old.errors
from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding, ProbabilisticPCA
from mercer.datasets import rings
from mercer.kernels import RBF
from mercer_old.drop_in.current import ENTRIES
from support.silence import quiet
from support.substitute import KERNELS, NEW, sample

# ---------------------------------------------------------------------- fitted models as files


FITTED = [
    PCA(2),
    PCA(2, svd_solver="krylov", standardize=True),
    IncrementalPCA(2),
    ProbabilisticPCA(2),
    ProbabilisticPCA(2, standardize=True, whiten=True),
    KernelPCA(2, kernel="rbf"),
    KernelPCA(2, kernel="poly", fit_inverse_transform=True),
    KernelPCA(2, kernel="rbf", n_landmarks=20),
    LocallyLinearEmbedding(),
    LocallyLinearEmbedding(n_components=1, metric="cosine", on_disconnected="separate"),
    LocallyLinearEmbedding(metric=RBF(), n_neighbors=8),
    LocallyLinearEmbedding(n_neighbors=8, n_landmarks=20),
]
PLAIN = (type(None), str, int, float, np.generic, type)


def strangers(thing, place, seen):
    """What a fitted model holds besides numbers, texts, arrays, containers and objects of ours."""
    if (
        id(thing) in seen
        or isinstance(thing, (type(None), str, int, float, np.generic, type))
        or sparse.issparse(thing)
    ):
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        if thing.dtype != object:
            return
        parts = {}
    elif isinstance(thing, dict):
        parts = thing
    elif isinstance(thing, (list, tuple, set)):
        parts = dict(enumerate(thing))
    elif type(thing).__module__.startswith("mercer_old."):
        parts = thing.__getstate__() or {}
    else:
        yield f"{place}: {type(thing)}"
        return
    for name, part in parts.items():
        yield from strangers(part, f"{place}.{name}", seen)


@pytest.mark.parametrize("model", FITTED, ids=str)
@quiet
def test_fitted_models_hold_arrays_and_plain_values_so_that_any_format_can_save_them(model):
    fitted = clone(model).fit(load_iris().data)
    fitted.transform(load_iris().data)
    assert list(strangers(fitted, type(model).__name__, {})) == []


@quiet
def test_the_search_for_strangers_finds_a_tree():
    space = LocallyLinearEmbedding().fit(rings(60)[0])._hoods.space
    assert "cKDTree" in str(list(strangers(vars(space), "", {})))


@pytest.mark.parametrize("model", FITTED, ids=str)
@quiet
def test_copies_of_a_fitted_model_give_the_same_scores(model, tmp_path):
    X = load_iris().data
    fitted = clone(model).fit(X)
    expected = fitted.transform(X[::3] + 0.01)
    joblib.dump(fitted, tmp_path / "model")
    for other in (copy.deepcopy(fitted), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(other.transform(X[::3] + 0.01), expected)


# ---------------------------------------------------------------------- fitted names are what transform uses


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("kind", ["PCA", "IncrementalPCA"])
def test_a_linear_model_follows_the_arrays_that_are_set(kind, whiten):
    """Cut, turned and moved, as scikit-learn's does."""
    ours, theirs = getattr(mercer, kind)(4, whiten=whiten), getattr(decomposition, kind)(4, whiten=whiten)
    theirs.set_params(**{"batch_size": 60} if kind == "IncrementalPCA" else {})  # one batch: its others are not exact
    for model in (ours.fit(sample()), theirs.fit(sample())):
        model.components_ = model.components_[:2] * [[-1.0], [2.0]]
        model.explained_variance_ = np.array([4.0, 9.0])
        model.mean_ = model.mean_ + 1.0
    scores = ours.transform(NEW)
    np.testing.assert_allclose(scores, theirs.transform(NEW), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.inverse_transform(scores), theirs.inverse_transform(scores), rtol=1e-10)
    assert list(ours.get_feature_names_out()) == [f"{kind.lower()}{i}" for i in range(2)]


@pytest.mark.parametrize("kind", [PCA, IncrementalPCA])
def test_an_array_that_is_changed_in_place_counts_too(kind):
    model = kind(2).fit(sample())
    before = model.transform(NEW)
    model.mean_ += [1.0, 0, 0, 0, 0]
    model.components_ *= -1
    np.testing.assert_allclose(model.transform(NEW), -(before - model.components_[:, 0] * -1), atol=1e-12)


@pytest.mark.parametrize("kind", [PCA, IncrementalPCA])
def test_a_fresh_model_with_components_and_mean_is_fitted(kind):
    fitted = decomposition.PCA(2).fit(sample())
    model = kind()
    with pytest.raises(NotFittedError):
        model.transform(NEW)
    model.components_, model.mean_ = fitted.components_, fitted.mean_
    np.testing.assert_allclose(model.transform(NEW), fitted.transform(NEW), atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(NEW[:, :2]), fitted.inverse_transform(NEW[:, :2]), atol=1e-12)


def test_axes_without_variances_are_whitened_with_a_sentence():
    model = PCA(3, whiten=True).fit(sample())
    model.components_ = model.components_[:2]
    with pytest.raises(ValueError, match="2 components_ and 3 entries of explained_variance_"):
        model.transform(NEW)


@quiet
def test_a_float32_model_keeps_its_mean_in_double_precision_as_long_as_it_is_its_own():
    X = (sample() + 1e6).astype(np.float32)
    model = PCA(2).fit(X)
    exact = X.astype(np.float64)
    expected = (exact - exact.mean(axis=0)) @ PCA(2).fit(exact).components_.T
    assert np.abs(model.transform(X) - expected).max() < 1e-3 < np.abs(exact.mean(axis=0) - model.mean_).max()
    model.mean_ = model.mean_.copy()
    assert np.abs(model.transform(X) - expected).max() < 1e-3  # the same numbers are the same mean
    model.mean_ = model.mean_ + 1
    moved = np.abs(model.transform(X) - expected).max()
    assert moved > 0.1


@pytest.mark.parametrize("params", KERNELS, ids=lambda p: p["kernel"])
@quiet
def test_kernel_pca_follows_the_arrays_that_are_set(params):
    ours, theirs = KernelPCA(3, **params), decomposition.KernelPCA(3, eigen_solver="dense", **params)
    for model in (ours.fit(sample()), theirs.fit(sample())):
        model.eigenvectors_ = model.eigenvectors_[:, :2] * [-1.0, 2.0]
        model.eigenvalues_ = model.eigenvalues_[:2] * 4
    np.testing.assert_allclose(ours.transform(NEW), theirs.transform(NEW), rtol=1e-8, atol=1e-10)


def test_kernel_pca_follows_vectors_that_are_changed_in_place():
    model = KernelPCA(2, kernel="rbf").fit(sample())
    before = model.transform(NEW)
    model.eigenvectors_[:, 0] *= -1
    np.testing.assert_allclose(model.transform(NEW), before * [-1, 1], atol=1e-12)
    model.gamma_ = 2 * model.gamma_
    other = decomposition.KernelPCA(2, kernel="rbf").fit(sample())
    other.eigenvectors_, other.gamma_ = model.eigenvectors_, model.gamma_
    np.testing.assert_allclose(model.transform(NEW), other.transform(NEW), atol=1e-10)


@pytest.mark.parametrize(
    "change", [np.negative, lambda v: v[::-1].copy(), lambda v: v + 1e-9], ids=["negative", "turned", "moved"]
)
def test_changes_in_place_between_the_entries_that_are_kept_of_large_arrays_are_seen(change):
    model = KernelPCA(30, kernel="linear").fit(np.random.default_rng(0).normal(size=(2400, 40)))
    row = 2301
    assert model.eigenvectors_.size > ENTRIES and row % -(-model.eigenvectors_.size // ENTRIES)  # none of those kept
    before = model._projection.traces["eigenvectors_"]
    assert before.fits(model.eigenvectors_.copy()) and before.fits(model.eigenvectors_)
    model.eigenvectors_[row] = change(model.eigenvectors_[row])
    assert not before.fits(model.eigenvectors_)


def test_kernel_pca_follows_one_entry_of_a_large_array():
    X = np.random.default_rng(0).normal(size=(2400, 40))
    model = KernelPCA(30, kernel="rbf", gamma=0.01).fit(X)
    before = model.transform(X[:3])
    model.eigenvectors_[2301] += 1.0
    added = model._centerer.transform(model._get_kernel(X[:3], X))[:, [2301]] / np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(model.transform(X[:3]) - before, added, atol=1e-9)


def test_vectors_of_the_wrong_shape_are_refused_with_a_sentence():
    model = KernelPCA(3, kernel="rbf").fit(sample())
    model.eigenvectors_ = model.eigenvectors_[:, :2]
    with pytest.raises(ValueError, match="60 training rows and 3 eigenvalues_"):
        model.transform(NEW)


def test_a_model_without_components_has_names_to_follow_too():
    X = np.ones((5, 2))
    with pytest.warns(mercer_old.errors.MercerWarning, match="All rows look the same"):
        assert KernelPCA(kernel="rbf").fit(X).transform(X).shape[0] == 5


def test_an_embedding_that_is_turned_turns_new_rows():
    model = LocallyLinearEmbedding(n_neighbors=10).fit(sample())
    before = model.transform(NEW)
    model.embedding_ = -model.embedding_[:, ::-1]
    np.testing.assert_allclose(model.transform(NEW), -before[:, ::-1], atol=1e-14)
