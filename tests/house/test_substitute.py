"""A painless substitute: what people do with scikit-learn's models besides calling fit and transform."""

import ast
import copy
import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import mercer
from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding
from mercer.datasets import rings
from mercer.drop_in.current import ENTRIES
from mercer.kernels import RBF, Polynomial
from support.registry import ALL_KERNELS, MERCER_KERNELS, for_each, minimum
from support.silence import quiet

SOURCE = Path(__file__).parents[2] / "src" / "mercer"


# ---------------------------------------------------------------------- scikit-learn's private names


def private_names(path):
    """Every private name of scikit-learn that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sklearn":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("sklearn")]
        else:
            continue
        yield from (name for name in names if "._" in name)


def test_private_names_of_scikit_learn_are_imported_in_one_module_alone():
    found = {path.name for path in SOURCE.rglob("*.py") if list(private_names(path))}
    assert found == {"unpromised.py"}
    assert len(list(private_names(SOURCE / "unpromised.py"))) >= 5  # so the search does find them


WITHOUT = """
import sys; sys.path.insert(0, {tests!r})
import support.sklearn_next
import numpy as np, sklearn, mercer, mercer.unpromised
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

assert mercer.unpromised.Interval.__module__ == "mercer.unpromised"
X = np.random.default_rng(0).normal(size=(40, 4))
models = [mercer.PCA(2), mercer.IncrementalPCA(2), mercer.KernelPCA(2, kernel="rbf"),
          mercer.LocallyLinearEmbedding(n_neighbors=6)]
for model in models:
    scores = model.fit_transform(X)
    assert np.allclose(model.transform(X), scores, atol=1e-9)
    for bad in ({{"n_components": -1}}, {{"n_jobs": "two"}}, {{"memory_limit": -3}}, {{"progress": 2}}):
        try:
            sklearn.clone(model).set_params(**bad).fit(X)
        except ValueError as error:
            name = next(iter(bad))
            assert f"The {{name!r}} parameter of {{type(model).__name__}} must be" in str(error), error
        else:
            raise AssertionError(f"{{model}} took {{bad}}")
mercer.locally_linear_embedding(NearestNeighbors().fit(X), n_neighbors=6, n_components=2)
mercer.PCA(2, random_state=np.random.RandomState(0)).fit(sparse.csr_array(X), sample_weight=np.arange(40))
mercer.IncrementalPCA(2).partial_fit(X).partial_fit(X)

import array_api_strict
with sklearn.config_context(array_api_dispatch=True):
    scores = mercer.PCA(2).fit_transform(array_api_strict.asarray(X))
    assert type(scores).__module__.startswith("array_api_strict")
    assert np.allclose(np.from_dlpack(scores), models[0].transform(X))
print("done")
"""


def test_models_go_on_without_scikit_learns_private_names():
    code = WITHOUT.format(tests=str(SOURCE.parents[1] / "tests"))
    settings = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=settings)
    assert done.stdout.strip() == "done", done.stderr[-2000:]


# ---------------------------------------------------------------------- pipelines that hand weights on


WITH_WEIGHTS = [PCA(2), IncrementalPCA(2), KernelPCA(2, kernel="rbf")]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("model", WITH_WEIGHTS, ids=lambda m: type(m).__name__)
def test_weights_of_a_pipeline_go_past_a_model_that_does_not_ask_for_them(model, routing):
    X, y, w = *load_iris(return_X_y=True), np.arange(150.0)
    last = LogisticRegression().set_fit_request(sample_weight=True)
    fitted = make_pipeline(clone(model), last).fit(X, y, sample_weight=w)
    alone = clone(model).fit(X)
    np.testing.assert_array_equal(fitted[0].transform(X), alone.transform(X))
    np.testing.assert_allclose(fitted[1].coef_, clone(last).fit(alone.transform(X), y, sample_weight=w).coef_)


@pytest.mark.parametrize("model", WITH_WEIGHTS, ids=lambda m: type(m).__name__)
def test_weights_of_a_pipeline_come_where_they_are_asked_for(model, routing):
    X, y, w = *load_iris(return_X_y=True), np.arange(150.0)
    asking = clone(model).set_fit_request(sample_weight=True)
    fitted = make_pipeline(asking, LogisticRegression().set_fit_request(sample_weight=False)).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(fitted[0].transform(X), clone(model).fit(X, sample_weight=w).transform(X))


def test_batches_take_weights_on_request(routing):
    assert not IncrementalPCA().get_metadata_routing().partial_fit.requests["sample_weight"]
    asking = IncrementalPCA().set_partial_fit_request(sample_weight=True)
    assert asking.get_metadata_routing().partial_fit.requests["sample_weight"]


# ---------------------------------------------------------------------- fitted models as files


FITTED = [
    PCA(2),
    PCA(2, svd_solver="krylov", standardize=True),
    IncrementalPCA(2),
    KernelPCA(2, kernel="rbf"),
    KernelPCA(2, kernel="poly", fit_inverse_transform=True),
    KernelPCA(2, kernel="rbf", n_landmarks=20),
    LocallyLinearEmbedding(),
    LocallyLinearEmbedding(n_components=1, metric="cosine", on_disconnected="separate"),
    LocallyLinearEmbedding(metric=RBF(), n_neighbors=8),
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
    elif type(thing).__module__.startswith("mercer."):
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


def sample(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * [5, 3, 2, 1, 0.5] + 3.0


NEW = sample(20, seed=1)


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


KERNELS = [
    {"kernel": "rbf", "gamma": 0.1},
    {"kernel": "poly", "degree": 2},
    {"kernel": "linear"},
    {"kernel": "sigmoid", "gamma": 0.001},
    {"kernel": "cosine"},
]


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
    with pytest.warns(mercer.errors.MercerWarning, match="All rows look the same"):
        assert KernelPCA(kernel="rbf").fit(X).transform(X).shape[0] == 5


def test_an_embedding_that_is_turned_turns_new_rows():
    model = LocallyLinearEmbedding(n_neighbors=10).fit(sample())
    before = model.transform(NEW)
    model.embedding_ = -model.embedding_[:, ::-1]
    np.testing.assert_allclose(model.transform(NEW), -before[:, ::-1], atol=1e-14)


# ---------------------------------------------------------------------- scikit-learn's own objects


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


# ---------------------------------------------------------------------- private names that others read


@pytest.mark.parametrize("params", KERNELS, ids=lambda p: p["kernel"])
@quiet
def test_reconstruction_errors_as_pyod_computes_them(params):
    """From a subclass, by the private names `_centerer` and `_get_kernel`."""

    def errors(base):
        class Detector(base):
            def __init__(self, n_components=None, kernel="rbf", gamma=None, degree=3):
                super().__init__(n_components=n_components, kernel=kernel, gamma=gamma, degree=degree)

        model = Detector(3, **params)
        scores, centerer = model.fit_transform(sample()), model._centerer
        own = np.array([model._get_kernel(row[None])[0, 0] for row in sample()])
        fitted = own - 2 * centerer.K_fit_rows_ + centerer.K_fit_all_ - (scores**2).sum(axis=1)
        K = model._get_kernel(NEW, model.X_fit_)
        own = np.array([model._get_kernel(row[None])[0, 0] for row in NEW])
        new = own - 2 * K.mean(axis=1) + centerer.K_fit_all_ - (model.transform(NEW) ** 2).sum(axis=1)
        return fitted, new, centerer.transform(K)

    for ours, theirs in zip(errors(KernelPCA), errors(decomposition.KernelPCA), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize("params", KERNELS, ids=lambda p: p["kernel"])
@quiet
def test_kernels_between_rows_in_their_own_units_are_those_of_divided_rows(params):
    model = KernelPCA(3, standardize=True, **params).fit(sample())
    divided, new = sample() / sample().std(axis=0, ddof=1), NEW / sample().std(axis=0, ddof=1)
    theirs = decomposition.KernelPCA(3, eigen_solver="dense", **params).fit(divided)
    for X, Y, expected in (
        (NEW, model.X_fit_, theirs._get_kernel(new, theirs.X_fit_)),
        (NEW, model.X_fit_[:7], theirs._get_kernel(new, theirs.X_fit_[:7])),
        (NEW, sample(), theirs._get_kernel(new, theirs.X_fit_)),
        (NEW, None, theirs._get_kernel(new)),
        (model.X_fit_, None, theirs._get_kernel(theirs.X_fit_)),
    ):
        np.testing.assert_allclose(model._get_kernel(X, Y), expected, rtol=1e-10, atol=1e-12)


# ---------------------------------------------------------------------- transform and fit_transform agree


def differences(model, X, K, weights=None):
    """Of fit_transform and transform of the same rows: relative to each component's own deviation, and its bound.

    A score is a sum of n terms k(x, xᵢ)vᵢ/√λ, rounded by γₙ·√n·max|k|/√λ at most, and its deviation is √(λ/n).
    """
    fitted = model.fit_transform(X, sample_weight=weights)
    values, n = model.eigenvalues_, len(K)
    there = values > 0
    found = np.abs(fitted - model.transform(X)).max(axis=0) / np.where(there, np.sqrt(values / n), 1.0)
    bound = n * np.finfo(float).eps * n * np.abs(K).max() / np.where(there, values, 1.0)
    return found, np.where(there, bound, 0.0)


@pytest.mark.parametrize("weights", [None, np.tile([1.0, 2.0, 0.5], 20)], ids=["alike", "weighted"])
@for_each(ALL_KERNELS, sample)
@quiet
def test_transform_gives_the_training_rows_their_scores_in_every_component(kernel, items, weights):
    X = items(60)
    model = KernelPCA(kernel=kernel)
    found, bound = differences(model, X, kernel.resolved(X, np.random.default_rng(0)).block(X, X), weights)
    assert (found <= bound).all(), (found / bound).max()


@pytest.mark.parametrize("weights", [None, np.tile([1.0, 2.0, 0.5], 20)], ids=["alike", "weighted"])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.02), Polynomial(degree=3, gamma=0.3, coef0=0.5)], ids=repr)
@quiet
def test_transform_gives_the_items_of_a_matrix_their_scores_in_every_component(kernel, weights):
    K = kernel.block(sample(), sample())
    found, bound = differences(KernelPCA(kernel="precomputed"), K, K, weights)
    assert (found <= bound).all(), (found / bound).max()


@pytest.mark.parametrize("kernel", [RBF(gamma=0.02), Polynomial(degree=3, gamma=0.3, coef0=0.5)], ids=repr)
@quiet
def test_transform_gives_the_training_rows_their_scores_by_landmarks(kernel):
    X = sample()
    model = KernelPCA(kernel=kernel, n_landmarks=40)
    np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))


@quiet
def test_reconstructions_from_all_components_are_those_of_scikit_learn():
    """Its example of kernel PCA as a denoiser: all components, a narrow kernel, and the way back."""
    X = make_circles(n_samples=300, factor=0.3, noise=0.05, random_state=0)[0]
    params = dict(n_components=None, kernel="rbf", gamma=10, fit_inverse_transform=True, alpha=0.1)
    ours, theirs = KernelPCA(**params).fit(X), decomposition.KernelPCA(**params).fit(X)
    errors = [np.sqrt(np.mean((m.inverse_transform(m.transform(X)) - X) ** 2)) for m in (ours, theirs)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)


@for_each([entry for entry in MERCER_KERNELS if entry[0] != RBF(gamma=1e-6)], sample)
@quiet
def test_weights_and_repeated_rows_have_as_many_components(kernel, items):
    X, counts = items(60), np.tile([1, 2, 3], 20)
    weighted = KernelPCA(kernel=kernel).fit(X, sample_weight=counts)
    repeated = KernelPCA(kernel=kernel).fit(np.repeat(X, counts, axis=0))
    assert len(weighted.eigenvalues_) == len(repeated.eigenvalues_)
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-6)
