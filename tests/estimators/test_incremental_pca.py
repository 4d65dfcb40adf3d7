"""IncrementalPCA: any batches give the result of PCA on all rows; sketches keep their intervals."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context

from mercer.errors import DataError, MemoryLimitError, MercerWarning, ParameterError
from mercer.estimators import PCA, IncrementalPCA


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(600, 8)) @ rng.normal(size=(8, 8)) * np.geomspace(5, 0.5, 8) + 100.0


def in_batches(model, X, sizes, weights=None):
    start = 0
    for size in sizes:
        part = None if weights is None else weights[start : start + size]
        model.partial_fit(X[start : start + size], sample_weight=part)
        start += size
    return model


@pytest.mark.parametrize("sizes", [[600], [100] * 6, [3, 597], [599, 1], [7] * 85 + [5]])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_batches_do_not_change_the_result(X, sizes, offset):
    rows = np.round(X * 2**10) / 2**10 + offset
    expected = PCA(3).fit(rows - offset)
    model = in_batches(IncrementalPCA(3), rows, sizes)
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-12)
    assert_allclose(model.components_, expected.components_, atol=1e-11)
    assert_allclose(model.mean_, expected.mean_ + offset, rtol=1e-15)
    assert_allclose(model.var_, (rows - offset).var(axis=0), rtol=1e-12)
    assert_allclose(model.noise_variance_, expected.noise_variance_, rtol=1e-10)
    assert model.n_samples_seen_ == 600 and model.certificate_.certified


def test_fit_equals_one_batch_and_can_go_on(X):
    fitted = IncrementalPCA(3).fit(X[:400])
    assert_allclose(fitted.explained_variance_, PCA(3).fit(X[:400]).explained_variance_, rtol=1e-12)
    fitted.partial_fit(X[400:])
    assert_allclose(fitted.explained_variance_, PCA(3).fit(X).explained_variance_, rtol=1e-12)
    assert_allclose(fitted.fit(X[:50]).mean_, X[:50].mean(axis=0), rtol=1e-14)  # earlier rows are removed


@pytest.mark.parametrize("container", [sparse.csr_array, np.float32])
def test_sparse_and_single_precision_batches(X, container):
    rows = np.where(np.random.default_rng(1).uniform(size=X.shape) < 0.7, 0.0, X)
    given = container(rows) if container is sparse.csr_array else rows.astype(np.float32)
    model = IncrementalPCA(3).partial_fit(given[:200]).partial_fit(given[200:])
    tolerance = 1e-11 if container is sparse.csr_array else 1e-5
    assert_allclose(model.explained_variance_, PCA(3).fit(rows).explained_variance_, rtol=tolerance)
    assert model.components_.dtype == given.dtype


@pytest.mark.parametrize("sketch_size", [None, 8])
@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_single_precision_attributes_lie_in_their_intervals(X, n_rows, sketch_size):
    batches = [X[start : start + 20 * n_rows].astype(np.float32) for start in range(0, 600, 200)]
    in_parts = IncrementalPCA(3, sketch_size=sketch_size)
    for batch in batches:
        in_parts.partial_fit(batch)
    for model in (in_parts, IncrementalPCA(3, sketch_size=sketch_size).fit(np.concatenate(batches))):
        found = model.explained_variance_.astype(np.float64) * (60 * n_rows - 1)
        assert model.explained_variance_.dtype == np.float32
        assert np.all(model.certificate_.lower <= found) and np.all(found <= model.certificate_.upper)
        spectrum, ratio = model.spectrum(), model.explained_variance_ratio_.astype(np.float64)
        assert np.all(spectrum.ratio_lower <= ratio) and np.all(ratio <= spectrum.ratio_upper)


def test_weights_count_rows(X):
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    model = in_batches(IncrementalPCA(3), X, [200, 400], weights)
    repeated = PCA(3).fit(np.repeat(X, weights, axis=0))
    assert_allclose(model.explained_variance_, repeated.explained_variance_, rtol=1e-12)
    assert_allclose(model.mean_, repeated.mean_, rtol=1e-14)


def test_forgetting_weighs_old_batches_down(X):
    model = IncrementalPCA(3, forgetting_factor=0.5)
    for batch in np.array_split(X, 3):
        model.partial_fit(batch)
    weights = np.repeat([0.25, 0.5, 1.0], 200)
    expected = PCA(3).fit(X, sample_weight=weights)
    assert_allclose(model.mean_, expected.mean_, rtol=1e-13)
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-11)
    fitted = IncrementalPCA(3, forgetting_factor=0.5, batch_size=200).fit(X)
    assert_allclose(fitted.explained_variance_, model.explained_variance_, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:2 of 2 variances underflow")
def test_batches_of_very_different_sizes_of_numbers(X):
    tiny = in_batches(IncrementalPCA(2), (X - 100) * 1e-170, [300, 300])
    expected = PCA(2).fit(X - 100)
    assert_allclose(tiny.singular_values_ * 1e170, expected.singular_values_, rtol=1e-10)
    with pytest.raises(DataError, match="overflow"):
        IncrementalPCA(2).partial_fit(X).partial_fit(X * 1e160)


def test_failed_batch_leaves_the_sums_unchanged(X):
    model = IncrementalPCA(2).partial_fit(X[:300])
    before = model._scatter.get_state()
    with pytest.raises(DataError):
        model.partial_fit(np.full((5, 8), np.nan))
    with pytest.raises(DataError):
        model.partial_fit(np.full((5, 8), 1e200))
    for name, value in model._scatter.get_state().items():
        assert_array_equal(value, before[name])
    assert model.n_samples_seen_ == 300


def test_attributes_are_computed_when_read_and_stay_when_set(X):
    model = IncrementalPCA(2).partial_fit(X)
    assert "components_" not in vars(model)
    axes = model.components_.copy()
    assert "components_" in vars(model)
    model.partial_fit(X)
    assert "components_" not in vars(model)
    model.components_ = -axes
    assert model.explained_variance_.shape == (2,)
    assert_array_equal(model.components_, -axes)


@pytest.mark.parametrize("sketch_size", [None, 5])
def test_shallow_copies_have_sums_of_their_own(X, sketch_size):
    original = IncrementalPCA(2, sketch_size=sketch_size).partial_fit(X[:50])
    copied = copy.copy(original).partial_fit(X[50:])
    assert (original.n_samples_seen_, copied.n_samples_seen_) == (50, len(X))
    for found, rows in ((original, X[:50]), (copied, X)):
        expected = IncrementalPCA(2, sketch_size=sketch_size).fit(rows)
        assert_allclose(found.mean_, expected.mean_, rtol=1e-13)
        assert_allclose(found.total_variance_, expected.total_variance_, rtol=1e-12)


def test_copies_continue_independently(X):
    model = IncrementalPCA(2).partial_fit(X[:300])
    other = pickle.loads(pickle.dumps(model))  # noqa: S301
    other.partial_fit(X[300:])
    assert model.n_samples_seen_ == 300
    assert_allclose(other.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:The direction:mercer.errors.MercerWarning")
@pytest.mark.parametrize("sketch_size", [4, 8, 20])
def test_sketch_intervals_contain_the_exact_eigenvalues(sketch_size):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 30)) * np.geomspace(10, 0.1, 30) + 5
    model = in_batches(IncrementalPCA(3, sketch_size=sketch_size), rows, [100] * 5)
    centered = rows - rows.mean(axis=0)
    exact = np.linalg.svd(centered, compute_uv=False) ** 2
    certificate = model.certificate_
    assert np.all(certificate.lower <= exact[:3]) and np.all(exact[:3] <= certificate.upper)
    assert certificate.bound_beyond >= exact[3] * (1 - 1e-12)
    assert certificate.shrinkage <= exact[3:].sum() / (sketch_size + 1 - 3) * (1 + 1e-9)
    assert_allclose(model.total_variance_, rows.var(axis=0, ddof=1).sum(), rtol=1e-12)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:3]
    sines = np.sqrt(np.maximum(0, 1 - np.einsum("ij,ij->i", axes, model.components_) ** 2))
    assert np.all(sines <= certificate.angles + 1e-7)


def test_sketch_that_holds_all_rows_is_exact():
    rows = np.random.default_rng(0).normal(size=(15, 40)) * np.geomspace(9, 1, 40)
    model = IncrementalPCA(4, sketch_size=20).partial_fit(rows[:8]).partial_fit(rows[8:])
    assert_allclose(model.explained_variance_, PCA(4).fit(rows).explained_variance_, rtol=1e-10)
    assert model.certificate_.certified and "nothing but rounding" in model.certificate_.summary


def test_sketch_that_loses_something_is_not_certified():
    rows = np.random.default_rng(0).normal(size=(300, 40))
    with pytest.warns(MercerWarning):
        certificate = IncrementalPCA(3, sketch_size=5).partial_fit(rows).certificate_
    assert not certificate.certified
    assert "NOT certified" in str(certificate).splitlines()[0]


@pytest.mark.parametrize(
    ("parameters", "parameter"),
    [({"n_components": 9}, "n_components"), ({"n_components": 5, "sketch_size": 4}, "n_components")],
)
def test_invalid_parameters(X, parameters, parameter):
    with pytest.raises(ParameterError) as caught:
        IncrementalPCA(**parameters).partial_fit(X)
    assert caught.value.parameter == parameter


def test_changes_between_batches_raise(X):
    model = IncrementalPCA(2, sketch_size=4).partial_fit(X)
    with pytest.raises(ParameterError, match="sketch_size has changed from 4 to 5"):
        model.set_params(sketch_size=5).partial_fit(X)
    with pytest.raises(ValueError, match="X has 3 features, but IncrementalPCA is expecting 8 features"):
        IncrementalPCA(2).partial_fit(X).partial_fit(X[:, :3])


def test_batches_of_many_columns_keep_within_the_memory_limit():
    X = np.random.default_rng(0).normal(size=(20, 6000))
    with pytest.raises(MemoryLimitError) as caught:
        IncrementalPCA(3, memory_limit="120MB").partial_fit(X)
    assert caught.value.needed > 6 * 6000**2 and "sketch_size=200" in str(caught.value)
    assert IncrementalPCA(3, memory_limit="120MB", sketch_size=10).partial_fit(X).n_samples_seen_ == 20


def test_scatter_matrix_beyond_the_memory_limit_raises():
    with pytest.raises(MemoryLimitError):
        IncrementalPCA(2, memory_limit="50MB").partial_fit(np.zeros((10, 3000)) + np.arange(10)[:, None])


@pytest.mark.parametrize("parameters", [{"forgetting_factor": 0.9}, {"sketch_size": 6}])
def test_fit_warns_of_digits_that_squares_lose(parameters):
    X = np.random.default_rng(0).normal(size=(10, 6)) * [1, 1e3, 1e-3, 1e6, 1e-6, 1]
    with pytest.warns(MercerWarning):
        model = IncrementalPCA(**parameters).fit(X)
    assert any("correct digit" in str(warning) for warning in model.fit_warnings_)


@pytest.mark.filterwarnings("ignore:The direction of component")
def test_warnings_name_what_helps(X):
    model = IncrementalPCA().partial_fit(X * np.geomspace(1, 1e-6, 8))
    with pytest.warns(MercerWarning, match=r"only \d correct digits?\. PCA of all rows in one dense array"):
        assert len(model.components_) == 8
    noise = np.random.default_rng(0).normal(size=(300, 30))
    with pytest.warns(MercerWarning, match=r"not determined: .* Try sketch_size=10\."):
        IncrementalPCA(2, sketch_size=5).fit(noise)


def test_warnings_of_components_are_kept_when_they_are_computed():
    X = np.random.default_rng(0).normal(size=(10, 6)) * [1, 1e3, 1e-3, 1e6, 1e-6, 1]
    model = IncrementalPCA().partial_fit(X)
    assert not model.fit_warnings_
    with pytest.warns(MercerWarning):
        model.components_  # noqa: B018
    assert any("correct digit" in str(warning) for warning in model.fit_warnings_)


def test_sketch_of_equal_rows_is_certified():
    with pytest.warns(MercerWarning, match="equal"):
        certificate = IncrementalPCA(1, sketch_size=3).fit(np.full((10, 4), 2.5)).certificate_
    assert certificate.certified and not certificate.unresolved


def test_check_input_cannot_be_requested():
    with config_context(enable_metadata_routing=True), pytest.raises(TypeError, match="check_input"):
        IncrementalPCA().set_partial_fit_request(check_input=True)
