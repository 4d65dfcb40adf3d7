"""Manners of the model: rows from anywhere, copies, progress, plans, and nothing that it should not touch."""

import pickle

import numpy as np
import pandas
import polars
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import spearmanr
from sklearn import manifold
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

import mercer
from mercer import LocallyLinearEmbedding, locally_linear_embedding
from mercer.kernels import RBF
from support import naive
from support.alike import assert_same_places
from support.local import apart, cloud, every_method, neighbours_of, roll
from support.peak import is_near, needs_peaks, peak_of
from support.registry import write_file
from support.silence import quiet, silently

# ---------------------------------------------------------------------- new rows


def test_the_last_stage_is_reported_too():
    shares = []
    LocallyLinearEmbedding(n_neighbors=12, progress=lambda state: shares.append(state.share)).fit(roll(500)[0])
    assert shares[-1] == 1.0 and shares == sorted(shares)


# ---------------------------------------------------------------------- rows from anywhere


@pytest.mark.parametrize("kind", [".npy", ".csv", ".parquet", ".feather"])
def test_rows_of_a_file_are_rows(tmp_path, kind):
    X, _ = roll(350)
    path = write_file(kind, tmp_path, X)
    expected = LocallyLinearEmbedding(n_neighbors=12).fit(X)
    for given_X in (path, mercer.open_rows(path)):
        model = LocallyLinearEmbedding(n_neighbors=12).fit(given_X)
        assert_same_places(model.embedding_, expected.embedding_, atol=1e-9)
        assert np.array_equal(model.transform(path), model.embedding_)
        assert np.array_equal(model.place(path).embedding, model.embedding_)
        out = model.transform_to(path, tmp_path / "places.npy")
        assert np.array_equal(np.load(out), model.embedding_)
    fitted = LocallyLinearEmbedding(n_neighbors=12).fit_transform_to(path, tmp_path / "fitted.npy")
    assert_same_places(np.load(fitted), expected.embedding_, atol=1e-9)
    assert LocallyLinearEmbedding(n_neighbors=12).plan(path).memory > 0


def test_tables_give_tables_if_asked_for():
    X = cloud(50, 3)
    names = ["locallylinearembedding0", "locallylinearembedding1"]
    frame = pandas.DataFrame(X, columns=list("abc"), index=np.arange(50) + 100)
    model = LocallyLinearEmbedding(n_neighbors=7).set_output(transform="pandas").fit(frame)
    assert list(model.get_feature_names_out()) == names and list(model.feature_names_in_) == list("abc")
    for out in (model.transform(frame), model.fit_transform(frame)):
        assert list(out.columns) == names and list(out.index) == list(frame.index)
        assert np.array_equal(out.to_numpy(), model.embedding_)
    out = LocallyLinearEmbedding(n_neighbors=7).set_output(transform="polars").fit_transform(polars.from_pandas(frame))
    assert isinstance(out, polars.DataFrame) and out.columns == names
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["b", "a", "c"]])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, bool])
@quiet
def test_numbers_of_every_kind_are_numbers(dtype):
    X = (np.random.default_rng(0).integers(-128, 128, size=(60, 4)) if dtype is not bool else cloud(60, 8) > 0).astype(
        dtype
    )
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    expected = LocallyLinearEmbedding(n_neighbors=9).fit(X.astype(float))
    assert model.embedding_.dtype == np.float64
    assert_allclose(model.embedding_, expected.embedding_, atol=1e-12)


# ---------------------------------------------------------------------- manners


def test_the_function_is_the_class():
    X = cloud(60, 3)
    model = LocallyLinearEmbedding(n_neighbors=7, method="modified", reg=1e-2).fit(X)
    for given_X in (X, NearestNeighbors(n_neighbors=7).fit(X)):
        Y, error = locally_linear_embedding(given_X, n_neighbors=7, n_components=2, method="modified", reg=1e-2)
        assert np.array_equal(Y, model.embedding_) and error == model.reconstruction_error_
    assert locally_linear_embedding(X, n_neighbors=7, n_components=1, metric="cosine")[0].shape == (60, 1)


def test_parameters_and_defaults_are_those_of_scikit_learn():
    ours, theirs = LocallyLinearEmbedding().get_params(), manifold.LocallyLinearEmbedding().get_params()
    assert {name: ours[name] for name in theirs} == theirs


def test_models_can_be_copied_kept_and_set():
    X, new = cloud(60, 3), cloud(5, 3, 1) / 10
    model = LocallyLinearEmbedding(n_neighbors=7, metric=RBF(gamma=0.1)).fit(X)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.transform(new), model.transform(new))
    assert copy.certificate_ == model.certificate_ and np.array_equal(copy.residuals_, model.residuals_)
    fresh = clone(model)
    assert not hasattr(fresh, "embedding_") and fresh.get_params() == model.get_params()
    assert np.array_equal(fresh.fit(X).embedding_, model.embedding_)
    model.set_params(n_neighbors=9, metric="euclidean").fit(X)
    assert_same_places(model.embedding_, LocallyLinearEmbedding(n_neighbors=9).fit_transform(X))
    assert model.nbrs_.kneighbors(X, return_distance=False).shape == (60, 9)


def test_a_second_fit_forgets_the_first():
    model = LocallyLinearEmbedding(n_neighbors=7, on_disconnected="separate")
    silently(lambda: model.fit(apart()))
    model.fit(cloud(40, 5).astype(np.float32))
    assert model.n_parts_ == 1 and model.embedding_.shape == (40, 2) and model.n_features_in_ == 5


def test_rows_are_left_alone():
    for X in (cloud(50, 3), cloud(50, 12), sparse.csr_array(cloud(50, 3)), naive.euclidean_distances(cloud(50, 3))):
        before = X.copy()
        metric = "precomputed" if X.shape[0] == X.shape[1] else "euclidean"
        model = LocallyLinearEmbedding(n_neighbors=7, metric=metric).fit(X)
        model.transform(X)
        model.plan(X)
        assert abs(X - before).max() == 0


def test_what_fit_gave_away_is_not_what_the_model_keeps():
    X = cloud(50, 3)
    model = LocallyLinearEmbedding(n_neighbors=7)
    Y = model.fit_transform(X)
    expected = model.transform(X)
    Y[:] = 0
    assert np.array_equal(model.transform(X), expected)


def test_progress_is_reported_and_may_stop_the_fit():
    X, _ = roll(500)
    seen = []
    LocallyLinearEmbedding(n_neighbors=12, progress=seen.append).fit(X)
    shares = [state.share for state in seen]
    assert len(shares) > 1 and shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1

    def stop(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocallyLinearEmbedding(n_neighbors=12, progress=stop).fit(X)


def test_plans_say_what_fits_do_and_leave_a_fitted_model_alone():
    X, _ = roll(500)
    model = LocallyLinearEmbedding(n_neighbors=12).fit(X[:100])
    before = model.embedding_
    plan = model.plan(X)
    assert model.embedding_ is before and model.n_features_in_ == 3
    assert plan.why == model.fit(X).plan_.why and plan.solver == model.plan_.solver
    assert LocallyLinearEmbedding(n_neighbors=12).plan(X[:200]).why == "200 rows are few: LAPACK."
    for eigen_solver, factor in (("arpack", "sparse"), ("dense", "dense")):
        plan = LocallyLinearEmbedding(n_neighbors=12, eigen_solver=eigen_solver).plan(X)
        assert plan.solver.factor == factor and f'eigen_solver="{eigen_solver}" was asked for' in plan.why


@pytest.mark.slow
@every_method
def test_the_swiss_roll_of_many_points_is_unrolled(method):
    X, t = roll(10_000)
    model = LocallyLinearEmbedding(**neighbours_of(method)).fit(X)
    assert model.certificate_.certified and abs(spearmanr(model.embedding_[:, 0], t)[0]) >= 0.99


SMALL_FIT = """
from sklearn.datasets import make_swiss_roll
from mercer import LocallyLinearEmbedding
X = {X}
LocallyLinearEmbedding(n_neighbors=12, n_jobs=2).fit(X[:400])
"""


@pytest.mark.slow
@needs_peaks
@pytest.mark.parametrize(
    ("X", "method", "most"),
    [
        ("make_swiss_roll(100_000, random_state=0)[0]", "standard", 1.5e9),
        ("make_swiss_roll(50_000, random_state=0)[0]", "modified", 0.75e9),
        ("np.random.default_rng(0).uniform(size=(6000, 6))", "standard", 1e9),
        ("np.random.default_rng(0).normal(size=(6000, 2)) @ np.ones((2, 300))", "ltsa", 1e9),
    ],
)
def test_the_plan_knows_what_memory_a_fit_takes(X, method, most):
    work = f"model = LocallyLinearEmbedding(n_neighbors=12, n_jobs=2, method={method!r}).fit(X)"
    peak, planned = peak_of(work, SMALL_FIT.format(X=X))
    assert peak <= most and is_near(peak, planned)
