"""PCA: results against scikit-learn and numpy, for every route and kind of input; behavior of all estimators."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context, decomposition
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.data.dataset import ArrayDataset
from mercer.errors import DataError, MemoryLimitError, MercerWarning, MissingValuesError, ParameterError
from mercer.estimators import PCA, IncrementalPCA, ProbabilisticPCA

SOLVERS = ["auto", "full", "covariance_eigh", "qr", "gram", "krylov", "arpack", "randomized"]
SPARSE_SOLVERS = ["auto", "covariance_eigh", "krylov", "arpack"]
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")


def rows(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0] if d <= 60 else sparse.eye_array(d)
    return rng.normal(size=(n, d)) * np.geomspace(5, 0.5, d) @ axes + 3.0


def assert_same(ours, theirs, rtol=1e-10, atol=1e-8):
    """Attributes of two fitted models; axes up to sign."""
    names = ["explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_"]
    for name in names:
        expected = getattr(theirs, name)
        assert_allclose(getattr(ours, name), expected, rtol=rtol, atol=rtol * np.max(expected, initial=0.0))
    assert_allclose(ours.mean_, theirs.mean_, rtol=max(rtol, 1e-12), atol=1e-12)
    assert ours.n_components_ == theirs.n_components_
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    assert_allclose(ours.components_, signs[:, None] * theirs.components_, atol=atol)


# ---------------------------------------------------------------------- results


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("shape", [(200, 6), (8, 40), (30, 30)], ids=str)
def test_components_match_scikit_learn(shape, svd_solver):
    X = rows(*shape)
    ours = PCA(3, svd_solver=svd_solver).fit(X)
    assert_same(ours, decomposition.PCA(3, svd_solver="full").fit(X))
    assert ours.certificate_.certified
    assert np.all(ours.components_[np.arange(3), np.abs(ours.components_).argmax(axis=1)] > 0)


@pytest.mark.parametrize("n_components", [None, 1, 4, 0.5, 0.99, "mle"])
@pytest.mark.parametrize("whiten", [False, True])
def test_parameters_mean_the_same_as_in_scikit_learn(n_components, whiten):
    X, new = rows(), rows(20, seed=1)
    ours, theirs = (kind(n_components, whiten=whiten).fit(X) for kind in (PCA, decomposition.PCA))
    assert_same(ours, theirs)
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    assert_allclose(ours.transform(new), theirs.transform(new) * signs, atol=1e-10)
    assert_allclose(
        ours.inverse_transform(theirs.transform(new) * signs), theirs.inverse_transform(theirs.transform(new))
    )
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-8)
    assert_allclose(ours.score_samples(new), theirs.score_samples(new))
    assert_allclose(ours.score(new), theirs.score(new))


@pytest.mark.parametrize("svd_solver", SOLVERS)
def test_standardized_columns(svd_solver):
    X, new = rows() * [1, 10, 100, 1e3, 1e-3, 1], rows(20, seed=1) * [1, 10, 100, 1e3, 1e-3, 1]
    ours = PCA(3, svd_solver=svd_solver, standardize=True).fit(X)
    scaler = StandardScaler().fit(X)
    theirs = decomposition.PCA(3, svd_solver="full").fit(scaler.transform(X) * np.sqrt(199 / 200))
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-10)
    assert_allclose(ours.scale_, X.std(axis=0, ddof=1), rtol=1e-12)
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    assert_allclose(
        ours.transform(new), theirs.transform(scaler.transform(new) * np.sqrt(199 / 200)) * signs, atol=1e-8
    )
    assert_allclose(
        ours.inverse_transform(PCA(standardize=True).fit(X).transform(X)[:, :3]).mean(axis=0), X.mean(axis=0)
    )
    assert_allclose(ours.loadings_, np.corrcoef(X.T, ours.transform(X).T)[:6, 6:], atol=1e-8)


@pytest.mark.parametrize("svd_solver", SPARSE_SOLVERS)
@pytest.mark.parametrize("params", [{}, {"standardize": True}, {"whiten": True}], ids=str)
def test_sparse_rows_mean_the_same_as_dense_ones(svd_solver, params):
    X = sparse.random_array((900, 40), density=0.1, rng=np.random.default_rng(1), format="csr")
    weights = np.random.default_rng(2).uniform(0.5, 2, size=900)
    ours = PCA(3, svd_solver=svd_solver, **params).fit(X, sample_weight=weights)
    dense = PCA(3, svd_solver="full", **params).fit(X.toarray(), sample_weight=weights)
    assert_same(ours, dense, rtol=1e-9, atol=1e-6)
    assert_allclose(ours.transform(X), dense.transform(X.toarray()), atol=1e-5)
    assert_allclose(ours.score_samples(X), dense.score_samples(X.toarray()), rtol=1e-6)


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("shape", [(200, 6), (6, 10), (4, 30)], ids=str)
@quiet
def test_weights_are_repeated_rows(shape, svd_solver):
    X, new = rows(*shape), rows(5, shape[1], seed=1)
    counts = np.arange(shape[0]) % 4 + (shape[0] < 10)
    k = None if svd_solver not in ("arpack", "krylov") else 3
    ours = PCA(k, svd_solver=svd_solver).fit(X, sample_weight=counts)
    repeated = PCA(k, svd_solver=svd_solver).fit(np.repeat(X, counts, axis=0))
    assert ours.n_components_ == repeated.n_components_
    assert_allclose(ours.singular_values_, repeated.singular_values_, rtol=1e-9, atol=1e-10)
    assert_allclose(ours.transform(new), repeated.transform(new), rtol=1e-6, atol=1e-7)
    assert ours.n_samples_ == np.sum(counts > 0)


@pytest.mark.parametrize("model", [PCA(4), PCA(4, svd_solver="full"), IncrementalPCA(4), ProbabilisticPCA(4)], ids=str)
def test_rows_of_weight_zero_do_not_count_in_files_either(tmp_path, model):
    X = np.random.default_rng(0).normal(size=(10, 5))
    np.save(tmp_path / "X.npy", X)
    for weights in (np.where(np.arange(10) < 3, 0.5, 0.0), np.where(np.arange(10) < 3, 1.0, 0.0)):
        for rows in (X, tmp_path / "X.npy"):
            with pytest.raises(ParameterError) as caught:
                clone(model).fit(rows, sample_weight=weights)
            assert caught.value.parameter == "n_components"


def test_rows_of_weight_zero_are_scored_but_not_used():
    X = rows()
    weights = np.r_[np.ones(190), np.zeros(10)]
    model = PCA(2)
    scores = model.fit_transform(X, sample_weight=weights)
    assert_same(model, decomposition.PCA(2).fit(X[:190]))
    assert_allclose(scores, model.transform(X))
    X[195, 1] = np.nan
    with pytest.raises(MissingValuesError):
        PCA(2).fit(X, sample_weight=weights)


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("fraction", [0.3, 0.9, 0.999])
def test_fractions_take_as_many_components_by_every_route(svd_solver, fraction):
    X = rows(700, 12)
    explained = np.cumsum(decomposition.PCA(svd_solver="full").fit(X).explained_variance_ratio_)
    model = PCA(fraction, svd_solver=svd_solver).fit(X)
    assert model.n_components_ == np.sum(explained <= fraction) + 1


def test_fractions_by_products_double_until_they_are_reached():
    X = np.random.default_rng(0).normal(size=(300, 2000)) * np.exp(-np.arange(2000) / 15)
    model, full = PCA(0.8, svd_solver="krylov").fit(X), PCA(0.8, svd_solver="full").fit(X)
    assert model.plan_.route == "products" and model.n_components_ == full.n_components_ > 10
    assert_allclose(model.explained_variance_, full.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("svd_solver", ["auto", "covariance_eigh", "gram", "full", "qr"])
def test_rules_by_name_see_variances_that_squares_would_hide(svd_solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) * [1, 1, 1, 1e-9, 1e-9, 1e-9]
    theirs = decomposition.PCA("mle", svd_solver="full").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        assert PCA("mle", svd_solver=svd_solver).fit(X).n_components_ == theirs.n_components_


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.bool_, np.int64, np.float16, np.float32])
def test_other_numbers_are_fitted_like_float64(dtype):
    X = np.random.default_rng(0).integers(0, 2 if dtype is np.bool_ else 100, size=(300, 5)).astype(dtype)
    for data in (
        X,
        ArrayDataset(X) if X.dtype.kind == "i" and X.itemsize < 4 else X,
        sparse.csr_array(X.astype(float)),
    ):
        model = PCA(2).fit(data)
        assert_same(model, decomposition.PCA(2).fit(X.astype(float)), rtol=1e-6 if dtype is np.float32 else 1e-12)
        assert_allclose(model.transform(data), decomposition.PCA(2).fit_transform(X.astype(float)), atol=1e-3)


@pytest.mark.parametrize("kind", ["array", "file", "sparse"])
def test_wide_noise_is_complete_from_memory_and_files(tmp_path, kind):
    """Its eigenvalues are close to each other: passes over the rows would leave it incomplete."""
    X = np.random.default_rng(0).integers(0, 3, size=(550, 7000)).astype(np.int8)
    np.save(tmp_path / "X.npy", X)
    model = PCA(20).fit({"array": X, "file": tmp_path / "X.npy", "sparse": sparse.csr_array(X)}[kind])
    assert model.plan_.route == "gram" and model.certificate_.certified and model.certificate_.n_complete == 20
    Y = X - X.mean(axis=0)
    assert_allclose(model.explained_variance_, np.linalg.eigvalsh(Y @ Y.T)[:-21:-1] / 549, rtol=1e-10)


def test_wide_integers_use_the_exact_gram_matrix():
    X = np.random.default_rng(0).integers(0, 3, size=(60, 9000)).astype(np.int8)
    model = PCA(3).fit(X)
    assert model.plan_.route == "gram" and model.certificate_.certified
    assert_same(model, decomposition.PCA(3, svd_solver="full").fit(X.astype(float)))


# ---------------------------------------------------------------------- files and blocks


@pytest.mark.parametrize("params", [{}, {"svd_solver": "qr"}, {"svd_solver": "krylov"}, {"standardize": True}], ids=str)
@pytest.mark.parametrize("shape", [(20_000, 5), (40, 7000)], ids=str)
def test_files_give_the_results_of_arrays(tmp_path, shape, params):
    X, path = rows(*shape), tmp_path / "rows.npy"
    np.save(path, X)
    model, expected = PCA(3, **params).fit(path), PCA(3, **params).fit(X)
    assert_same(model, expected, rtol=1e-11)
    assert_allclose(model.transform(path), expected.transform(X), atol=1e-7)
    assert_allclose(PCA(3, **params).fit_transform(path), model.transform(X))


@pytest.mark.parametrize("method", ["transform", "fit_transform", "denoise", "inverse_transform"])
@pytest.mark.parametrize("extension", [".npy", ".csv"])
def test_results_are_written_to_files(tmp_path, method, extension):
    X, path = rows(), tmp_path / f"out{extension}"
    model = PCA(2).fit(X)
    given = model.transform(X) if method == "inverse_transform" else X
    assert model.transform_to(given, path, method=method) == path
    found = np.load(path) if extension == ".npy" else pd.read_csv(path).to_numpy()
    assert_allclose(found, getattr(clone(model).fit(X) if method != "fit_transform" else model, method)(given))
    if extension == ".csv":
        scores = [f"pca{i}" for i in range(2)]
        assert list(pd.read_csv(path).columns) == (
            scores if "fit" in method or method == "transform" else model.feature_names
        )


def test_outputs_are_checked_before_the_work(tmp_path):
    model = PCA(2).fit(rows())
    with pytest.raises(ParameterError, match="method"):
        model.transform_to(rows(), tmp_path / "x.npy", method="impute")
    with pytest.raises((OSError, ParameterError)):
        model.transform_to(rows(), tmp_path / "none" / "x.npy")
    assert not list(tmp_path.iterdir())


def test_scores_in_blocks():
    X, model = rows(), PCA(2, whiten=True).fit(rows())
    data = model.open(X)
    parts = list(model.iter_scores(data, whiten=False))
    assert [start for start, _ in parts] == [0]
    assert_allclose(parts[0][1], (X - X.mean(axis=0)) @ model.components_.T, atol=1e-12)
    assert_allclose(np.concatenate([scores for _, scores in model.iter_scores(data)]), model.transform(X))


# ---------------------------------------------------------------------- the contract


def test_contract_of_a_fitted_model():
    X = rows()
    model = PCA(3, standardize=True).fit(pd.DataFrame(X, columns=list("abcdef")))
    spectrum, map = model.spectrum(), model.linear_map()
    assert_allclose(spectrum.variances, model.explained_variance_)
    assert np.all(spectrum.ratio_lower <= model.explained_variance_ratio_)
    assert np.all(model.explained_variance_ratio_ <= spectrum.ratio_upper)
    assert_allclose(spectrum.feature_variances, 1) and not spectrum.complete
    assert_allclose(
        ((X - map.mean) / map.scale) @ map.encoder.T, model.transform(pd.DataFrame(X, columns=list("abcdef")))
    )
    assert model.feature_names == list("abcdef") and model.training_set() is None and model.expansion() is None
    assert model.get_feature_names_out().tolist() == ["pca0", "pca1", "pca2"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_projections_and_bounds_on_their_rounding(dtype):
    X = rows().astype(dtype)
    model = PCA(2).fit(X)
    found = model.project(X, rounding=True)
    moved = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    axes = np.linalg.svd(moved.astype(float), full_matrices=False)[2][:2]
    axes = axes * np.sign(np.sum(axes * model.components_, axis=1))[:, None]
    exact = moved @ axes.astype(np.longdouble).T
    assert np.all(np.abs(found.scores - exact) <= found.scores_error + 1e-12)
    q = np.sum((moved - exact @ axes.astype(np.longdouble)) ** 2, axis=1)
    assert np.all(np.abs(found.q - q) <= found.q_error + 1e-11)
    everything = PCA().fit(X).project(X)
    assert not everything.q.any()  # rounding only


# ---------------------------------------------------------------------- state


@pytest.mark.parametrize("params", [{}, {"svd_solver": "krylov", "standardize": True}, {"whiten": True}], ids=str)
def test_copies_are_equal(params):
    X = rows()
    model = PCA(2, **params).fit(X)
    str(model.certificate_)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model).fit(X)):  # noqa: S301
        assert_array_equal(other.transform(X), model.transform(X))
        assert other.certificate_ == model.certificate_ and other.plan_ == model.plan_


def test_stored_attributes_are_all_there_is():
    model = PCA(2, standardize=True).fit(pd.DataFrame(rows(), columns=list("abcdef")))
    assert {stored.name for stored in model._stored_attributes} == set(vars(model)) - set(model.get_params())


@pytest.mark.parametrize(
    "scores",
    [
        np.full((3, 2), "2024-01-01", "datetime64[D]"),
        [["1", "2"], ["3", "4"]],
        np.ma.MaskedArray(np.ones((3, 2)), mask=[[0, 1], [0, 0], [0, 0]]),
    ],
    ids=["dates", "strings", "masked"],
)
def test_scores_that_numpy_would_take_for_numbers_are_refused(scores):
    with pytest.raises(DataError) as caught:
        PCA(2).fit(rows()).inverse_transform(scores)
    assert caught.value.row == 0


@pytest.mark.parametrize("whiten", [False, True])
def test_replaced_attributes_are_followed(whiten):
    X, new = rows(), rows(9, seed=1)
    models = [kind(4, whiten=whiten).fit(X) for kind in (PCA, decomposition.PCA)]
    for model in models:
        model.components_ = model.components_[:2] * [[-1.0], [2.0]] * np.sign(model.components_[:2, :1])
        model.explained_variance_ = np.array([4.0, 9.0])
        model.mean_ = model.mean_ + 1.0
    ours, theirs = models
    assert_allclose(ours.transform(new), theirs.transform(new))
    assert_allclose(ours.inverse_transform(ours.transform(new)), theirs.inverse_transform(theirs.transform(new)))
    ours.components_ = ours.components_[:1]
    if whiten:
        with pytest.raises(DataError, match="components_"):
            ours.transform(new)


@quiet
def test_the_mean_of_single_precision_rows_keeps_its_digits():
    X = (rows() + 1e6).astype(np.float32)
    model = PCA(2).fit(X)
    expected = (X.astype(float) - X.astype(float).mean(axis=0)) @ model.components_.T
    assert_allclose(model.transform(X), expected, atol=1e-4)
    assert model.transform(X).dtype == np.float32 and model.transform(X.astype(float)).dtype == np.float64
    model.mean_ = model.mean_ + np.float32(1)
    assert np.abs(model.transform(X) - expected).max() > 0.1


def test_a_failed_fit_changes_nothing():
    model = PCA(2, standardize=True).fit(rows())
    before = {name: value for name, value in vars(model).items()}
    bad = rows()
    bad[3, 2] = np.inf
    for X, params in ((bad, {}), (rows(), {"n_components": 99}), (rows(), {"svd_solver": "no"})):
        model.set_params(**params)
        with pytest.raises(ValueError):
            model.fit(X)
        model.set_params(n_components=2, svd_solver="auto")
        assert all(vars(model)[name] is value for name, value in before.items() if name.endswith("_"))
    assert not hasattr(model.set_params(standardize=False).fit(rows()), "scale_")


def test_one_generator_serves_a_fit():
    """Probes must be independent of the solver's start, and repeated fits equal."""
    model = PCA(2, random_state=5)
    rng = model._rng()
    assert rng() is rng() and model._rng()() is not rng()
    X = rows(900, 40)
    first, second = (PCA(3, svd_solver="krylov", random_state=seed).fit(X) for seed in (1, 1))
    assert_array_equal(first.components_, second.components_)
    assert first.certificate_ == second.certificate_


def test_threads_do_not_change_a_bit():
    X = rows(30_000, 20)
    for params in ({}, {"svd_solver": "qr"}, {"svd_solver": "krylov"}):
        one, two = (PCA(3, n_jobs=n_jobs, **params).fit(X) for n_jobs in (1, 2))
        assert_array_equal(one.components_, two.components_)
        assert one.certificate_ == two.certificate_


# ---------------------------------------------------------------------- scikit-learn's manners


def test_sample_weight_is_not_requested_by_default():
    X, weights = rows(), np.arange(200) % 3
    with config_context(enable_metadata_routing=True):
        assert PCA().get_metadata_routing().fit.requests == {"sample_weight": False}
        plain = make_pipeline(PCA(2)).fit(X)
        assert_allclose(plain[0].mean_, X.mean(axis=0))
        requested = make_pipeline(PCA(2).set_fit_request(sample_weight=True)).fit(X, sample_weight=weights)
        assert_allclose(requested[0].mean_, np.average(X, axis=0, weights=weights))


def test_frames_in_and_out():
    X = load_iris(as_frame=True).data
    model = PCA(2).set_output(transform="pandas").fit(X)
    assert list(model.transform(X).columns) == ["pca0", "pca1"] and list(model.fit_transform(X).index) == list(X.index)
    assert model.feature_names == list(X.columns)


def test_searches_and_pickled_errors():
    search = GridSearchCV(PCA(), {"n_components": [1, 2, 3]}, cv=3).fit(rows())
    theirs = GridSearchCV(decomposition.PCA(), {"n_components": [1, 2, 3]}, cv=3).fit(rows())
    assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_tags_depend_on_the_solver():
    assert (
        PCA().__sklearn_tags__().input_tags.sparse and not PCA(svd_solver="gram").__sklearn_tags__().input_tags.sparse
    )
    assert PCA().__sklearn_tags__().transformer_tags.preserves_dtype == ["float64", "float32"]
    with pytest.raises(TypeError, match="sparse"):
        PCA(2, svd_solver="full").fit(sparse.eye_array(9, format="csr"))


def test_to_sklearn():
    X = rows()
    for params in ({}, {"whiten": True}, {"standardize": True}):
        model = PCA(2, **params).fit(X)
        assert_allclose(model.to_sklearn().transform(X), model.transform(X), atol=1e-12)


def test_progress_never_decreases_and_may_stop_the_fit(tmp_path):
    np.save(tmp_path / "x.npy", rows(20_000, 60))
    seen = []
    PCA(2, svd_solver="krylov", progress=seen.append).fit(tmp_path / "x.npy")
    completed = [state.completed for state in seen]
    assert len(completed) > 2 and completed == sorted(completed) and 0 < completed[-1] <= 1

    def stop(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PCA(2, svd_solver="krylov", progress=stop).fit(rows())


def test_x_is_left_alone():
    for X in (rows(), sparse.csr_array(rows())):
        before = X.copy()
        PCA(2, copy=False, standardize=True).fit(X).transform(X)
        assert abs(X - before).max() == 0


def test_ordinary_data_cause_no_warning():
    X = load_iris().data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (PCA(), PCA(2, whiten=True), PCA(0.9, standardize=True), PCA("mle"), PCA(2, svd_solver="krylov")):
            assert model.fit(X).fit_warnings_ == ()
            model.transform(X)


# ---------------------------------------------------------------------- corner cases and errors


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "qr", "gram", "krylov"])
@pytest.mark.parametrize(
    "X", [np.full((30, 4), 1e9), np.ones((1, 3)), np.zeros((9, 3))], ids=["far", "one row", "zero"]
)
def test_equal_rows_have_no_variance(X, svd_solver):
    with pytest.warns(MercerWarning, match="The rows are equal") as said:
        model = PCA(1, svd_solver=svd_solver, whiten=True).fit(X)
    assert said[0].message.severity == "meaningless" and model.fit_warnings_ == (said[0].message,)
    assert model.explained_variance_.tolist() == [0.0] and not model.transform(X).any()
    assert_allclose(model.components_ @ model.components_.T, [[1.0]])
    assert_allclose(model.inverse_transform(model.transform(X)), X)


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "qr", "gram"])
def test_no_components_and_one_column(svd_solver):
    model = PCA(0, svd_solver=svd_solver).fit(rows())
    assert model.transform(rows()).shape == (200, 0) and model.certificate_.certified
    assert_allclose(model.noise_variance_, rows().var(axis=0, ddof=1).mean())
    one = PCA(svd_solver=svd_solver).fit(rows()[:, :1])
    assert_allclose(one.components_, [[1.0]], rtol=1e-15)
    assert_allclose(one.explained_variance_, rows()[:, :1].var(ddof=1), rtol=1e-12)


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_constant_columns_have_the_scale_one(svd_solver, container):
    """Also where the unit of the others is not one."""
    X, units = np.random.default_rng(0).normal(size=(60, 4)), np.array([1e-160, 1e-3, 1.0])
    deviations = X[:, 1:].std(axis=0, ddof=1)
    X[:, 0], X[:, 1:] = 0.0, X[:, 1:] * units
    if container is not np.asarray and svd_solver not in ("auto", "covariance_eigh", "krylov"):
        svd_solver = "auto"
    model = PCA(2, standardize=True, svd_solver=svd_solver).fit(container(X))
    assert model.scale_[0] == 1
    assert_allclose(model.scale_[1:], deviations * units, rtol=1e-12)


def test_constant_columns_are_named_and_have_no_axis():
    X = pd.DataFrame({"a": rows()[:, 0], "always": 3.7, "b": rows()[:, 1]})
    with pytest.warns(MercerWarning, match="'always'"):
        model = PCA(standardize=True).fit(X)
    assert_allclose(model.explained_variance_[2], 0, atol=1e-12)
    assert_allclose(np.abs(model.components_[2]), [0, 1, 0], atol=1e-9)
    assert model.certificate_.certified


def test_tied_components_are_reported():
    X = np.vstack([np.eye(4), -np.eye(4)])
    with pytest.warns(
        MercerWarning, match="directions of components 1, 2 are not determined: another eigenvalue is too close"
    ):
        cut = PCA(2).fit(X)
    assert cut.certificate_.not_established == ("directions",)
    assert PCA(4).fit(X).certificate_.certified


@pytest.mark.parametrize(
    ("params", "parameter"),
    [
        ({"n_components": 7}, "n_components"),
        ({"n_components": -1}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
        ({"n_components": True}, "n_components"),
        ({"tol": -1.0}, "tol"),
        ({"svd_solver": "lanczos"}, "svd_solver"),
        ({"n_components": 10**400}, "n_components"),
        ({"n_components": "mle", "svd_solver": "arpack"}, "n_components"),
        ({"n_components": 6, "svd_solver": "arpack"}, "n_components"),
        ({"memory_limit": "many"}, "memory_limit"),
        ({"n_jobs": 0, "svd_solver": "krylov"}, "n_jobs"),
    ],
    ids=str,
)
def test_invalid_parameters(params, parameter):
    with pytest.raises(ParameterError) as caught:
        PCA(**params).fit(rows(20_000))
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_located(svd_solver, value):
    for X in (rows(), rows(7000, 40)):
        X[17, 4] = value
        with pytest.raises(MissingValuesError if np.isnan(value) else DataError) as caught:
            PCA(2, svd_solver=svd_solver).fit(X)
        assert (caught.value.row, caught.value.column) == (17, "4")


def test_scores_that_overflow_are_located():
    model = PCA(2).fit(rows())
    new = np.repeat(rows(30), 200, axis=0)
    new[4321] = np.finfo(float).max * np.where(model.components_[0] < 0, -1, 1)
    with pytest.raises(DataError) as caught:
        model.transform(new)
    assert caught.value.row == 4321


def test_a_memory_limit_is_respected():
    with pytest.raises(MemoryLimitError) as caught:
        PCA(5, memory_limit="1MB").fit(rows(20_000, 60))
    assert caught.value.needed > caught.value.limit == 10**6


def test_models_that_are_not_fitted_raise():
    for call in ("transform", "inverse_transform", "denoise", "score"):
        with pytest.raises(NotFittedError):
            getattr(PCA(2), call)(rows())
    with pytest.raises(NotFittedError):
        PCA(2).get_covariance()


def test_weights_that_are_not_counts():
    with pytest.warns(MercerWarning, match="weights"):
        model = PCA(2).fit(rows(), sample_weight=np.full(200, 1e-6))
    assert np.isnan(model.explained_variance_).all()
    assert_allclose(model.explained_variance_ratio_, PCA(2).fit(rows()).explained_variance_ratio_)
    assert PCA().fit(rows(6, 10), sample_weight=np.full(6, 2.5)).n_components_ == 6


def test_small_and_large_arrays_share_their_results():
    X = rows(3000, 6)
    assert PCA(3).plan(X).reason == "a small matrix."
    assert_same(PCA(3).fit(X), PCA(3).fit(X, sample_weight=np.ones(3000)), rtol=1e-12)
