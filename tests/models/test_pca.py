"""PCA and IncrementalPCA as users meet them: ways that agree, rows from anywhere, and words for bad input."""

import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from mercer import PCA, IncrementalPCA, textbook
from mercer.errors import BadData, MercerWarning, NoRoom
from mercer.limits import Limits
from mercer.plans.linear import LinearProblem, choose_linear_plan
from mercer.sources.held import HeldRows
from mercer.sweeps.lanes import sweep_scatter
from mercer.sweeps.spread import Spread
from mercer.sweeps.square import Square
from mercer.sweeps.triangle import Triangle
from support.registry import ALL_FILES, write_file

SOLVERS = ["auto", "full", "covariance_eigh", "qr", "gram", "krylov", "arpack", "randomized"]
SPARSE_SOLVERS = ["auto", "covariance_eigh", "krylov", "arpack"]
rng = np.random.default_rng(0)
TALL = rng.normal(size=(700, 12)) @ rng.normal(size=(12, 12)) + 100 * rng.normal(size=12)
WIDE = TALL[:9].T @ rng.normal(size=(9, 40))
WIDE = WIDE[:8] + rng.normal(size=(8, 40))
SPARSE = sparse.csr_array(np.maximum(np.random.default_rng(1).uniform(-9, 1, size=(900, 40)), 0.0))  # a tenth of it


def all_of(model):
    names = "components_ explained_variance_ explained_variance_ratio_ singular_values_ mean_ noise_variance_"
    return [np.asarray(getattr(model, name)) for name in [*names.split(), "total_variance_", "reconstruction_error_"]]


def assert_same(model, other, rtol=1e-9):
    for one, two in zip(all_of(model), all_of(other), strict=True):
        assert_allclose(one, two, rtol=rtol, atol=rtol * np.abs(two).max(initial=0.0))


# ---------------------------------------------------------------------------- all ways agree


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
def test_every_way_finds_what_the_textbook_finds(svd_solver, X):
    values, axes = textbook.pca_by_svd(X)
    model = PCA(4, svd_solver=svd_solver).fit(X)
    n = len(X)
    assert_allclose(model.explained_variance_, values[:4] * n / (n - 1), rtol=1e-9)
    assert_allclose(np.abs(model.components_ @ axes[:, :4]), np.eye(4), atol=1e-7)
    assert_allclose(model.reconstruction_error_, values[4:].sum(), rtol=1e-9)
    assert model.certificate_.certified


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("params", [dict(standardize=True), dict(whiten=True)], ids=str)
def test_options_mean_the_same_to_every_way(svd_solver, params):
    w = np.random.default_rng(2).integers(0, 4, size=len(TALL))
    model = PCA(3, svd_solver=svd_solver, **params).fit(TALL, sample_weight=w)
    full = PCA(3, svd_solver="full", **params).fit(np.repeat(TALL, w, axis=0))
    assert_same(model, full, rtol=1e-8)
    assert_allclose(model.transform(TALL), full.transform(TALL), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("svd_solver", SPARSE_SOLVERS)
@pytest.mark.parametrize("params", [{}, dict(standardize=True), dict(whiten=True)], ids=str)
def test_sparse_rows_mean_the_same_as_dense_ones(svd_solver, params):
    w = np.random.default_rng(2).uniform(0.5, 2, size=900)
    model = PCA(3, svd_solver=svd_solver, **params).fit(SPARSE, sample_weight=w)
    dense = PCA(3, svd_solver="full", **params).fit(SPARSE.toarray(), sample_weight=w)
    assert_same(model, dense, rtol=1e-6)
    assert_allclose(model.transform(SPARSE), dense.transform(SPARSE.toarray()), atol=1e-5)
    assert_allclose(model.score_samples(SPARSE), dense.score_samples(SPARSE.toarray()), rtol=1e-5)


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_share_of_the_variance_takes_as_many_components_by_every_way(svd_solver, share):
    explained = np.cumsum(PCA(svd_solver="full").fit(TALL).explained_variance_ratio_)
    model = PCA(share, svd_solver=svd_solver).fit(TALL)
    assert model.n_components_ == np.sum(explained <= share) + 1
    assert model.explained_variance_ratio_.sum() > share


def test_a_share_by_products_grows_until_it_is_reached():
    X = np.random.default_rng(0).normal(size=(300, 2000)) * np.exp(-np.arange(2000) / 15)
    model, full = PCA(0.8, svd_solver="krylov").fit(X), PCA(0.8, svd_solver="full").fit(X)
    assert model.plan_.held == "products" and model.n_components_ == full.n_components_ > 10
    assert_allclose(model.explained_variance_, full.explained_variance_, rtol=1e-8)


@pytest.mark.parametrize("kind", [Square, Triangle, Spread])
def test_threads_do_not_change_a_single_bit(kind):
    X = np.random.default_rng(0).normal(size=(30_000, 20))
    one, three = (sweep_scatter(kind, HeldRows(X), None, threads) for threads in (1, 3))
    assert np.array_equal(one.mean, three.mean) and np.array_equal(one.squares, three.squares)
    fits = [PCA(3, n_jobs=jobs).fit(X) for jobs in (1, 2)]
    assert np.array_equal(fits[0].components_, fits[1].components_)


def test_wide_rows_are_squared_by_tiles_and_by_products_to_the_same_end():
    X = np.random.default_rng(0).normal(size=(1700, 1600)) * 0.97 ** np.arange(1600) + 50
    squared, products = PCA(5, svd_solver="covariance_eigh").fit(X), PCA(5).fit(X)
    assert (squared.plan_.held, products.plan_.held) == ("scatter", "products")
    assert_same(squared, products, rtol=1e-7)
    assert_same(squared, PCA(5, svd_solver="full").fit(X), rtol=1e-10)


# ---------------------------------------------------------------------------- the plan


@pytest.mark.parametrize(
    ("sizes", "held"),
    [
        (dict(n=150, d=4, k=2), "rows"),
        (dict(n=2_000_000, d=256, k=20), "scatter"),
        (dict(n=2_000_000, d=256, k=20, held=False), "scatter"),
        (dict(n=20_000, d=5000, k=20), "products"),
        (dict(n=20_000, d=5000, k=20, held=False), "scatter"),
        (dict(n=20_000, d=5000, k=1000), "scatter"),
        (dict(n=500, d=100_000, k=20), "gram"),
        (dict(n=400, d=100_000, k=None), "rows"),
        (dict(n=100_000, d=20_000, k=20), "products"),
        (dict(n=100_000, d=20_000, k=20, held=False), "products"),
        (dict(n=1_000_000, d=20_000, k=20, sparse=True, density=0.001), "products"),
        (dict(n=100_000, d=2000, k=20, sparse=True, density=0.05), "scatter"),
        (dict(n=100_000, d=50, k=20, whole=True), "scatter"),
        (dict(n=100_000, d=50, k=20, solver="qr"), "triangle"),
        (dict(n=100_000, d=50, k=20, solver="full", held=False), "triangle"),
    ],
    ids=str,
)
def test_sizes_decide_and_the_plan_says_why(sizes, held):
    plan = choose_linear_plan(LinearProblem(**sizes), Limits(20_000_000_000, 2))
    assert plan.held == held and plan.why.endswith(".") and plan.memory > 0


def test_where_the_fastest_way_does_not_fit_another_is_taken_or_all_is_refused_at_once():
    problem = LinearProblem(n=100_000, d=4000, k=1000)
    assert choose_linear_plan(problem, Limits(10**10, 2)).held == "scatter"
    with pytest.raises(NoRoom, match=r"needs .* over the limit of 10 MB\. Give a larger memory_limit"):
        choose_linear_plan(problem, Limits(10**7, 2))
    few = LinearProblem(n=3_000_000, d=900, k=5)
    assert choose_linear_plan(few, Limits(10**8, 2)).held == "products"


def test_plan_touches_nothing_and_is_what_fit_does():
    model = PCA(2)
    plan = model.plan(TALL)
    assert not hasattr(model, "components_") and replace(plan, seconds=None) == model.fit(TALL).plan_


# ---------------------------------------------------------------------------- digits


def graded(n, d, smallest, seed=0):
    """Rows whose standard deviations along random axes go from 1 down to the smallest."""
    random = np.random.default_rng(seed)
    U, V = (np.linalg.qr(random.normal(size=(m, d)))[0] for m in (n, d))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    return (U * np.logspace(0, np.log10(smallest), d)) @ V.T


def test_digits_that_squares_would_lose_are_found_without_them():
    X = graded(3000, 6, 1e-6)
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    model = PCA().fit(X)
    assert model.plan_.held == "triangle" and "too few digits" in model.plan_.why
    assert_allclose(model.singular_values_, sigma, rtol=1e-8)
    assert PCA(3).fit(X).plan_.held == "scatter"  # those have digits enough


@pytest.mark.slow
def test_wide_rows_with_too_few_digits_are_not_squared_either():
    X = graded(3000, 6, 1e-6).T @ np.linalg.qr(np.random.default_rng(1).normal(size=(3000, 3000)))[0][:, :2000]
    model = PCA(4, svd_solver="gram").fit(X)
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assert_allclose(model.singular_values_, sigma[:4], rtol=1e-6)


def test_batches_say_how_many_digits_are_left():
    X = graded(3000, 6, 1e-6)
    with pytest.warns(MercerWarning, match=r"only [0-9] digits; PCA of dense rows"):
        IncrementalPCA().partial_fit(X).components_  # noqa: B018


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_single_precision_that_cannot_be_squared_is_not(scale):
    X = (TALL[:, :3] * scale).astype(np.float32)
    model = PCA(2, svd_solver="covariance_eigh").fit(X)
    exact = PCA(2, svd_solver="full").fit(X.astype(np.float64))
    assert_allclose(model.singular_values_ / scale, exact.singular_values_ / scale, rtol=1e-5)


def test_small_variances_of_single_precision_rows_are_summed_up_anew():
    X = graded(20_000, 5, 1e-3).astype(np.float32)
    model = PCA().fit(X)
    assert_allclose(model.singular_values_, PCA(svd_solver="full").fit(X.astype(float)).singular_values_, rtol=1e-6)


# ---------------------------------------------------------------------------- rows from anywhere


@pytest.mark.parametrize("kind", ALL_FILES)
@pytest.mark.parametrize("svd_solver", ["auto", "krylov", "qr"])
def test_files_of_every_kind_are_as_good_as_arrays(tmp_path, kind, svd_solver):
    X = np.random.default_rng(0).normal(size=(1500, 5)) * [5, 4, 3, 2, 1] + 7
    path = write_file(kind, tmp_path, X)
    params = dict(svd_solver=svd_solver, standardize=True)
    from_file, from_array = PCA(3, **params).fit(path), PCA(3, **params).fit(X)
    assert_same(from_file, from_array, rtol=1e-7)
    PCA(3, **params).fit_transform_to(path, tmp_path / "scores.npy")
    assert_allclose(np.load(tmp_path / "scores.npy"), from_array.transform(X), atol=1e-6)
    assert_same(IncrementalPCA(3).fit(path), PCA(3).fit(X))


def test_a_mapped_array_is_read_block_by_block(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for model in (PCA(2), IncrementalPCA(2)):
        assert_same(model.fit(mapped), PCA(2).fit(X), rtol=1e-5)
        assert_allclose(model.transform(mapped), model.transform(X))
    broken = np.load(tmp_path / "x.npy", mmap_mode="r+")
    broken[4321, 3] = np.nan
    with pytest.raises(BadData, match=r"missing value \(NaN\): row 4321, column 3"):
        IncrementalPCA(2).fit(broken)


@pytest.mark.parametrize(
    "frame", [pandas.DataFrame, polars.DataFrame, pyarrow.table], ids=["pandas", "polars", "arrow"]
)
def test_frames_bring_their_names(frame):
    columns = {name: TALL[:, j] for j, name in enumerate("abcd")}
    for model in (PCA(2), IncrementalPCA(2)):
        assert_allclose(model.fit(frame(columns)).components_, type(model)(2).fit(TALL[:, :4]).components_)
        if frame is not pyarrow.table:
            assert list(model.feature_names_in_) == list("abcd")


PEAK = """
import sys, numpy as np
from pathlib import Path
from mercer import PCA
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
path = Path(sys.argv[1])
def model():
    return {model}
model().fit(path.parent / "small.npy")
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
fitted = model().fit(path)
print(status("VmHWM") - before, fitted.plan_.memory, fitted.plan_.held)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("shape", "model", "limit"),
    [
        ((150_000, 200), 'PCA(5, memory_limit="100MB")', 100e6),
        pytest.param((3000, 8000), 'PCA(5, memory_limit="150MB")', 150e6, marks=pytest.mark.slow),
        pytest.param((150_000, 200), 'PCA(5, svd_solver="qr", memory_limit="150MB")', 150e6, marks=pytest.mark.slow),
        pytest.param((20_000, 1500), 'PCA(1000, memory_limit="400MB")', 400e6, marks=pytest.mark.slow),
    ],
)
def test_files_larger_than_the_limit_are_a_normal_case(tmp_path, shape, model, limit):
    X = np.random.default_rng(0).normal(size=shape) * 0.9 ** np.arange(shape[1])
    np.save(tmp_path / "small.npy", X[:1100])
    np.save(tmp_path / "large.npy", X)
    code = PEAK.format(model=model)
    arguments = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "large.npy")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    peak, planned, _ = done.stdout.split()
    assert int(peak) <= limit and int(planned) <= limit
    assert abs(int(peak) - int(planned)) <= max(0.25 * int(peak), 64e6)


SPARSE_PEAK = """
import numpy as np
from pathlib import Path
from scipy import sparse
from mercer import PCA, IncrementalPCA
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
rng = np.random.default_rng(0)
n, d, each = 100_000, 20_000, 5
X = sparse.csr_array((rng.normal(size=n * each), np.sort(rng.integers(0, 40, (n, each)) * 500, axis=1).ravel(),
                      np.arange(n + 1) * each), shape=(n, d))
PCA(3).fit(X[:2000])
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
PCA(3).fit(X).transform(X)
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
def test_sparse_rows_are_never_made_dense():
    done = subprocess.run([sys.executable, "-c", SPARSE_PEAK], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300e6  # 16 GB if they were


# ---------------------------------------------------------------------------- batches


def test_any_batches_give_what_all_rows_give():
    model = IncrementalPCA(3)
    for batch in np.split(TALL, [50, 51, 300, 302]):
        model.partial_fit(batch)
    assert_same(model, PCA(3).fit(TALL))
    assert model.n_samples_seen_ == 700
    assert_allclose(model.var_, TALL.var(axis=0))


def test_sparse_batches_and_files_are_batches_too(tmp_path):
    np.save(tmp_path / "rest.npy", SPARSE[600:].toarray())
    model = IncrementalPCA(3).partial_fit(SPARSE[:400]).partial_fit(SPARSE[400:600].toarray())
    assert_same(model.partial_fit(tmp_path / "rest.npy"), PCA(3).fit(SPARSE.toarray()))


def test_fit_and_partial_fit_go_on_from_each_other():
    model = IncrementalPCA(3).fit(TALL[:400]).partial_fit(TALL[400:])
    assert_same(model, PCA(3).fit(TALL))
    assert_same(model.fit(TALL[:50]), PCA(3).fit(TALL[:50]))


def test_axes_are_found_when_somebody_asks():
    model = IncrementalPCA(3).partial_fit(TALL)
    assert "components_" not in vars(model) and model.components_.shape == (3, 12)
    assert "components_" in vars(model) and "components_" not in vars(model.partial_fit(TALL))
    with pytest.raises(AttributeError, match="no attribute 'components_'"):
        IncrementalPCA(3).components_  # noqa: B018


def test_forgetting_is_weighting():
    batches = np.split(TALL, 7)
    model = IncrementalPCA(3, forget=0.5)
    for batch in batches:
        model.partial_fit(batch)
    weights = np.repeat(0.5 ** np.arange(6, -1, -1), 100)
    assert_same(model, PCA(3).fit(TALL, sample_weight=weights))
    assert_same(IncrementalPCA(3, forget=0.5, batch_size=100).fit(TALL), model)


def test_a_bad_batch_leaves_the_model_as_it_was():
    model = IncrementalPCA(2).partial_fit(TALL)
    before = all_of(model)
    bad = TALL[:5].copy()
    bad[3, 2] = np.nan
    for batch, message in [
        (bad, "contains NaN"),
        (TALL[:, :5], "12 features"),
        (np.full((5, 12), 1e300) * np.arange(5)[:, None], "far too large"),
        (np.full((5, 12), "a"), "holds text"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(batch)
    for old, new in zip(before, all_of(model), strict=True):
        assert np.array_equal(old, new)


def test_batches_too_wide_to_be_summed_up_are_refused_with_the_way_out():
    X = np.random.default_rng(0).normal(size=(60, 6000)) * 0.99 ** np.arange(6000)
    with pytest.raises(NoRoom, match=r"6,000×6,000 scatter matrix, which takes .* fit\(X\)"):
        IncrementalPCA(3, memory_limit="120MB").partial_fit(X)
    model = IncrementalPCA(3, memory_limit="120MB").fit(X)
    assert model.plan_.held == "gram"
    assert_allclose(model.explained_variance_, PCA(3, svd_solver="full").fit(X).explained_variance_, rtol=1e-9)
    with pytest.raises(NoRoom, match="without a scatter matrix"):
        model.partial_fit(X)


# ---------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            np.array([[1.0, 2], [np.nan, 3], [4, 5]]),
            "contains NaN[^°]*One value is not finite, first at row index 1, column 0",
        ),
        (np.array([[1.0, 2], [np.inf, 3], [4, 5]]), "contains infinity"),
        (np.array([["a", "b"], ["c", "d"]]), "Column 0 holds text, first .* at row index 0"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        (np.array([[1e300, 1], [-1e300, 2], [0, 3]]), "far too large"),
        (np.zeros(3), "Expected 2D array"),
        ("rows.csv", "pathlib.Path"),
    ],
    ids=["nan", "inf", "text", "no rows", "no columns", "overflow", "one-dimensional", "str"],
)
def test_bad_rows_get_one_clear_sentence(svd_solver, X, message):
    with pytest.raises(ValueError, match=message):
        PCA(1, svd_solver=svd_solver).fit(X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(700), "Negative values in data passed to `sample_weight`"),
        (np.zeros(700), "All sample weights are zero|at least one non-zero"),
        (np.ones(3), "inconsistent|sample_weight.shape"),
    ],
    ids=["negative", "all zero", "too few"],
)
def test_bad_weights_get_one_clear_sentence(weights, message):
    for model in (PCA(2), IncrementalPCA(2)):
        with pytest.raises(ValueError, match=message):
            model.fit(TALL, sample_weight=weights)


def test_more_components_than_there_are_is_refused():
    with pytest.raises(ValueError, match=r"n_components=13 must be between 0 and min\(n_samples, n_features\)=12"):
        PCA(13).fit(TALL)
    with pytest.raises(ValueError, match="n_components=13 invalid for n_features=12"):
        IncrementalPCA(13).fit(TALL)
    with pytest.raises(ValueError, match="n_components=5 must be less or equal to the batch number of samples 4"):
        IncrementalPCA(5).partial_fit(TALL[:4])


def test_constant_columns_cannot_be_standardized_and_are_named():
    X = pandas.DataFrame({"a": TALL[:, 0], "always": 3.7, "b": TALL[:, 1]})
    with pytest.warns(MercerWarning, match=r"1 of 3 columns are constant \('always'\) and cannot be scaled"):
        model = PCA(standardize=True).fit(X)
    assert_allclose(
        model.explained_variance_, [*PCA(standardize=True).fit(X[["a", "b"]]).explained_variance_, 0], atol=1e-12
    )


def test_constant_rows_have_no_variance_and_no_trouble():
    for X in (np.ones((30, 4)), np.full((30, 4), 1e9)):
        for svd_solver in SOLVERS:
            with pytest.warns(MercerWarning, match="All rows are the same"):
                model = PCA(2, svd_solver=svd_solver).fit(X)
            assert not model.explained_variance_.any() and not model.explained_variance_ratio_.any()
            assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)
            assert_allclose(model.inverse_transform(model.transform(X)), X)


def test_large_integers_do_not_overflow():
    X = np.random.default_rng(0).integers(-(2**31), 2**31 - 1, size=(500, 3), dtype=np.int32)
    assert_same(PCA(2).fit(X), PCA(2).fit(X.astype(float)))
    small = (X % 256).astype(np.uint8)
    assert_same(IncrementalPCA(2).fit(small), PCA(2).fit(small.astype(float)))


def test_decorrelate_needs_all_axes():
    with pytest.raises(ValueError, match="only 2 components were kept: fit with n_components=None"):
        PCA(2).fit(TALL).decorrelate(TALL)


def test_weights_that_are_no_counts_leave_variances_unknown_but_not_ratios():
    with pytest.warns(MercerWarning, match="weights are counts"):
        model = PCA(2).fit(TALL, sample_weight=np.full(700, 1e-6))
    assert np.isnan(model.explained_variance_).all()
    assert_allclose(model.explained_variance_ratio_, PCA(2).fit(TALL).explained_variance_ratio_)


def test_a_degenerate_likelihood_is_told():
    X = load_iris().data[:3]
    with pytest.warns(MercerWarning, match="The covariance is singular: 2 of 4 directions"):
        assert np.isfinite(PCA().fit(X).score(X))


# ---------------------------------------------------------------------------- manners


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
    for svd_solver in SOLVERS:
        axes = PCA(5, svd_solver=svd_solver).fit(TALL).components_
        assert np.all(axes[np.arange(5), np.abs(axes).argmax(axis=1)] > 0)


@pytest.mark.parametrize("k", [5, 20])
@pytest.mark.filterwarnings("ignore:The direction of component")
def test_single_precision_rows_with_digits_enough_are_swept_over_once(monkeypatch, k):
    from mercer.fits.linear import digits

    sweeps = []
    monkeypatch.setattr(digits, "sweep_scatter", lambda kind, *rest: sweeps.append(kind) or sweep_scatter(kind, *rest))
    X = np.random.default_rng(0).normal(size=(30_000, 200)).astype(np.float32)[:, :200]
    PCA(10 * k).fit(X)
    assert sweeps == [Square]


# ---------------------------------------------------------------------------- what a review found


def test_variances_that_squares_do_not_see_are_found_all_the_same():
    X = np.random.default_rng(0).normal(size=(3000, 2)) * [1e5, 1e-4]
    model = PCA().fit(X)
    assert_allclose(model.singular_values_, np.linalg.svd(X - X.mean(axis=0), compute_uv=False), rtol=1e-6)
    assert_allclose(PCA(1).fit(X).noise_variance_, model.explained_variance_[1], rtol=1e-6)


def test_rows_of_less_than_full_rank_are_squared_and_nothing_more():
    X = np.random.default_rng(0).normal(size=(3000, 3)) @ np.random.default_rng(1).normal(size=(3, 6))
    model = PCA().fit(X)
    assert model.plan_.held == "scatter" and model.certificate_.n_zero == 3
    assert not model.explained_variance_[3:].any()


def test_products_find_small_variances_too():
    X = np.random.default_rng(0).normal(size=(1700, 1600))
    X[:, 10:] = 0
    X *= np.append(np.logspace(0, -7, 10), np.zeros(1590))
    model = PCA(10).fit(X)
    sigma = np.linalg.svd((X - X.mean(axis=0))[:, :10], compute_uv=False)
    assert_allclose(model.singular_values_, sigma, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The direction of component")
def test_sparse_rows_far_from_zero_say_how_many_digits_are_left():
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(300, 5)) + 1e7)
    for svd_solver in SPARSE_SOLVERS:
        with pytest.warns(MercerWarning, match="only [01] digits"):
            PCA(2, svd_solver=svd_solver).fit(X)


def test_entries_given_twice_are_added_up():
    once = SPARSE.copy()
    twice = sparse.csr_array(
        (np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), once.indptr * 2), shape=once.shape
    )
    for svd_solver in SPARSE_SOLVERS:
        assert_same(PCA(2, svd_solver=svd_solver).fit(twice), PCA(2, svd_solver=svd_solver).fit(once))
    assert twice.nnz == 2 * once.nnz  # and stay as they were given


@pytest.mark.filterwarnings("ignore:The direction of component")
def test_certificates_of_large_single_precision_sums_hold():
    X = np.random.default_rng(0).normal(1e5, 3, (20_000, 250)).astype(np.float32)
    model = PCA(1).fit(X)
    exact = np.linalg.eigvalsh(np.cov(X.astype(np.float64).T) * 19_999)[-1]
    assert model.certificate_.lower[0] <= exact <= model.certificate_.upper[0]
    assert_allclose(model.explained_variance_[0] * 19_999, exact, rtol=2e-5)


@pytest.mark.parametrize("model", [PCA(2), IncrementalPCA(2)], ids=["PCA", "IncrementalPCA"])
def test_rows_of_weight_zero_in_a_file_do_not_count(tmp_path, model):
    np.save(tmp_path / "x.npy", TALL[:10])
    weights = np.array([1, 0, 2, 0, 0, 1, 0, 3, 0, 0.0])
    from_file = model.fit(tmp_path / "x.npy", sample_weight=weights)
    assert_same(from_file, type(model)(2).fit(TALL[:10], sample_weight=weights))
    with pytest.raises(ValueError, match="n_components=8"):  # the weights count seven rows
        type(model)(8).fit(tmp_path / "x.npy", sample_weight=weights)


def test_gaps_are_refused_wherever_they_are():
    gap = TALL[:20].copy()
    gap[3, 2] = np.nan
    for X, weights in [
        (gap, np.arange(20) != 3.0),  # in a row that is left out
        ([[1, 2], [None, 3], [3, 4.0], [4, 5]], None),
        (pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64"), "b": [1.0, 2, 4]}), None),
        (sparse.csr_array(gap), None),
    ]:
        with pytest.raises(ValueError, match=r"One value is not finite, first at row index [13], column"):
            PCA(1).fit(X, sample_weight=weights)
    model = PCA(1).fit(TALL)
    with pytest.raises(ValueError, match="NaN"):
        model.transform(sparse.csr_array(gap))


def test_a_fit_that_failed_leaves_no_half_of_a_model():
    bad = TALL.copy()
    bad[600] = np.nan
    for model in (IncrementalPCA(2, forget=0.5, batch_size=20), IncrementalPCA(2)):
        for given in (bad, np.full((30, 3), 1e300) * np.arange(30)[:, None]):
            with pytest.raises(ValueError, match=r"NaN|far too large"):
                model.fit(given)
            with pytest.raises(NotFittedError):
                model.transform(TALL)


def test_batches_leave_nothing_but_their_sums():
    import pickle

    model = IncrementalPCA(2).partial_fit(np.random.default_rng(0).normal(size=(2000, 100)))
    assert len(pickle.dumps(model)) < 1.1 * 2 * 8 * 100**2  # with what rounding took from them


def test_wide_rows_from_a_file_are_loaded_if_they_fit(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3000))
    np.save(tmp_path / "x.npy", X)
    model = PCA(5).fit(tmp_path / "x.npy")
    assert model.plan_.held == "gram"
    assert_same(model, PCA(5).fit(X))


def test_scores_have_the_precision_of_rows_and_model():
    single, double = TALL.astype(np.float32), TALL
    assert PCA(2).fit(single).transform(double).dtype == np.float64
    assert PCA(2).fit(single).transform(single).dtype == np.float32
    far = single[:, :3] + np.float32(1e5)
    assert_allclose(PCA(2).fit(far).transform(far).mean(axis=0), 0, atol=1e-3)


def test_positions_of_partial_fit_are_those_of_scikit_learn():
    assert_same(IncrementalPCA(2).partial_fit(TALL, None, False), PCA(2).fit(TALL))


MEMORY = """
import sys, numpy as np
from pathlib import Path
from scipy import sparse
from mercer import PCA
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
rng = np.random.default_rng(0)
X = {X}
model = {model}
model.fit(X[:300])
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
model.fit(X)
print(status("VmHWM") - before, model.plan_.memory)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("X", "model"),
    [
        ("rng.normal(size=(400, 60_000)).astype(np.float32)", 'PCA(100, svd_solver="gram")'),
        ("sparse.random_array((50_000, 900), density=0.16, rng=rng, format='csr')", "PCA(20)"),
        pytest.param("rng.normal(size=(5000, 1400))", "PCA(standardize=True)", marks=pytest.mark.slow),
        pytest.param(
            "sparse.random_array((20_000, 2900), density=0.05, rng=rng, format='csr')",
            "PCA(20)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "sparse.random_array((50_000, 20_000), density=0.005, rng=rng, format='csr')",
            "PCA(5)",
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.slow
def test_the_plan_knows_what_memory_a_fit_takes(X, model):
    code = MEMORY.format(X=X, model=model)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    peak, planned = map(int, done.stdout.split())
    assert abs(peak - planned) <= max(0.25 * peak, 64e6)


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "qr", "gram", "krylov"])
def test_one_row_has_no_variance_but_a_mean(svd_solver):
    """As in scikit-learn, whose searches fit pipelines to as few rows as there can be."""
    model = PCA(1, svd_solver=svd_solver, whiten=True)
    with pytest.warns(MercerWarning, match="All rows are the same"):
        model.fit([[1.0, 2.0, 3.0]])
    assert model.explained_variance_.tolist() == [0.0]
    assert model.transform([[1.0, 2.0, 3.0]]).tolist() == [[0.0]]
    np.testing.assert_allclose(np.linalg.norm(model.components_), 1.0)


# ---------------------------------------------------------------------------- ties


TIED = ["full", "covariance_eigh", "qr", "gram", "krylov"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", TIED)
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
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
    from mercer.readings.components import components_for_share

    values = np.random.default_rng(0).uniform(0.1, 1, (100, 9))
    for row in -np.sort(-values, axis=1):
        for k, share in enumerate(np.cumsum(row / row.sum())[:8], 1):
            assert components_for_share(row, row.sum(), share, more=False) == k
            assert components_for_share(row, row.sum(), share) == k + 1


# ---------------------------------------------------------------------------- weights are counts


EVERY_WAY = [*(PCA(svd_solver=name) for name in [*TIED, "auto"]), IncrementalPCA()]


@pytest.mark.parametrize("model", EVERY_WAY, ids=repr)
@pytest.mark.parametrize("shape", [(6, 10), (12, 5), (4, 30)])
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
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
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_scikit_learn_finds_weights_equivalent_to_repetitions(model, kind):
    if kind == "sparse" and model.get_params().get("svd_solver") in ("full", "qr", "gram"):
        pytest.skip("not a way for sparse rows")
    check = getattr(estimator_checks, f"check_sample_weight_equivalence_on_{kind}_data")
    check(type(model).__name__, model)


def test_weights_that_are_no_counts_leave_the_number_of_rows():
    X = np.random.default_rng(0).normal(size=(6, 10))
    assert PCA().fit(X, sample_weight=np.full(6, 2.5)).n_components_ == 6
    assert PCA().fit(X, sample_weight=np.full(6, 2.0)).n_components_ == 10
