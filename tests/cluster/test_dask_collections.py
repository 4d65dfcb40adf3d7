"""Linear models of Dask collections, on workers and in this process, against models of the same rows in memory."""

import pickle
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.errors import ClusterError, DataError, MemoryLimitError, MissingValuesError, ParameterError
from mercer.estimators import PCA, FactorAnalysis, IncrementalPCA, ProbabilisticPCA

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

from mercer.cluster import Executor, open_collection  # noqa: E402
from mercer.cluster.executor import Sealed, active_client, pairwise  # noqa: E402

CHUNKS = {
    "even": (250, 6),
    "columns in several chunks": (300, 4),
    "one chunk": (1000, 6),
    "uneven": ((1, 990, 9), (6,)),
    "an empty chunk": ((600, 0, 400), (6,)),
}
MODELS = {
    "scatter": lambda: PCA(3),
    "qr": lambda: PCA(3, svd_solver="qr"),
    "products": lambda: PCA(2, svd_solver="krylov"),
    "fraction": lambda: PCA(0.8),
    "rule": lambda: PCA("parallel"),
    "standardized": lambda: PCA(3, standardize=True),
    "whitened": lambda: PCA(3, whiten=True),
    "batches": lambda: IncrementalPCA(3, batch_size=170),
    "probabilistic": lambda: ProbabilisticPCA(3),
    "cross-validated": lambda: ProbabilisticPCA("cv"),
    "factors": lambda: FactorAnalysis(2, tol=1e-6),
}
WEIGHTED = ("scatter", "qr", "products", "standardized", "batches", "probabilistic")


def rows(n=1000):
    """Six columns with two factors, far from zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) + 3 * rng.normal(size=(n, 2)) @ rng.normal(size=(2, 6))
    return X + 100 * np.arange(1.0, 7.0)


@pytest.fixture(params=["workers", "process"])
def where(request):
    """With an active client, and without."""
    if request.param == "workers":
        request.getfixturevalue("client")
    return request.param


def check_equal(model, expected):
    """The same fit: eigenvalues within their certified intervals, axes within the certified angles."""
    assert model.n_components_ == expected.n_components_
    assert_allclose(model.mean_, expected.mean_, rtol=1e-13)
    if isinstance(model, FactorAnalysis):  # two searches that end within tol of the same optimum
        assert_allclose(model.components_, expected.components_, rtol=1e-5, atol=1e-5)
        assert_allclose(model.noise_variance_, expected.noise_variance_, rtol=1e-5)
        return
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-12)
    assert_allclose(model.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-12)
    sines = np.linalg.norm(model.components_ - expected.components_, axis=1)
    assert (sines <= 1e-10 + model.certificate_.angles + expected.certificate_.angles).all()
    assert model.certificate_.n_complete == expected.certificate_.n_complete


@pytest.mark.parametrize("name", MODELS)
def test_fit_equals_the_fit_in_memory(where, name):
    X = rows()
    model, expected = MODELS[name]().fit(da.from_array(X, chunks=(250, 4))), MODELS[name]().fit(X)
    check_equal(model, expected)
    if not isinstance(model, FactorAnalysis):
        assert_allclose(model.score(da.from_array(X, chunks=300)), expected.score(X), rtol=1e-12)


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_chunks_do_not_matter(client, chunks):
    X = rows()
    check_equal(PCA(3).fit(da.from_array(X, chunks=(250, 6)).rechunk(chunks)), PCA(3).fit(X))


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights(client, name):
    X, weights = rows(), np.random.default_rng(1).integers(0, 4, 1000) / 2
    model = MODELS[name]().fit(da.from_array(X, chunks=170), sample_weight=weights)
    check_equal(model, MODELS[name]().fit(X, sample_weight=weights))


def test_frames(where):
    frame = pd.DataFrame(rows(), columns=list("abcdef"))
    frame["f"] = frame["f"].round().astype("Int64")  # a nullable type
    X = dd.from_pandas(frame, npartitions=4)
    model = PCA(3).fit(X)
    check_equal(model, PCA(3).fit(frame.astype(float)))
    assert list(model.feature_names_in_) == list("abcdef")
    other = X[list("fedcba")]
    assert_allclose(model.transform(other).compute(), model.transform(frame.astype(float)), rtol=1e-9, atol=1e-9)


def test_frames_with_other_columns_are_rejected():
    frame = pd.DataFrame(rows(), columns=list("abcdef"))
    X = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(DataError, match=r"not numbers: 'g'"):
        PCA(2).fit(X.assign(g="text"))
    with pytest.raises(DataError, match=r"unseen at fit time:\n- z"):
        PCA(2).fit(X).transform(X.rename(columns={"a": "z"}))
    wrong = X.map_partitions(lambda part: part.rename(columns={"a": "z"}), meta=X._meta, enforce_metadata=False)
    with pytest.raises(DataError, match=r"has the columns 'z', 'b'.*but Dask reports 'a', 'b'"):
        PCA(2).fit(wrong)


def test_columns_of_a_partition_are_found_by_name(where):
    frame = pd.DataFrame(rows(), columns=list("abcdef"))
    X = dd.from_pandas(frame, npartitions=2)
    turned = X.map_partitions(
        lambda part: part[sorted(part.columns, reverse=part.index[0] > 0)], meta=X._meta, enforce_metadata=False
    )
    check_equal(PCA(3).fit(turned), PCA(3).fit(frame))


def test_unknown_lengths_are_counted(where):
    X = rows()
    D = da.from_array(X, chunks=(250, 6))
    few = D[D[:, 0] > 100]  # of lengths that Dask does not know
    check_equal(PCA(3).fit(few), PCA(3).fit(X[X[:, 0] > 100]))
    none = D[D[:, 0] > 1e9]
    with pytest.raises(DataError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 6\)\)"):
        PCA(3).fit(none)


def test_wrong_lengths_are_rejected(client):
    wrong = da.from_array(rows(), chunks=(250, 6)).map_blocks(lambda block: block[:-1], dtype=float)
    with pytest.raises(DataError, match=r"from row index \d+ has 249 rows, but Dask reports 250.*compute_chunk_sizes"):
        PCA(3).fit(wrong)


def test_sparse_blocks(where):
    X = rows() * (np.random.default_rng(2).random((1000, 6)) < 0.3)
    D = da.from_array(X, chunks=(300, 6)).map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 6)))
    data = open_collection(D)
    assert data.is_sparse
    assert data.nnz == np.count_nonzero(X)
    check_equal(PCA(3).fit(D), PCA(3).fit(sparse.csr_array(X)))


def test_masked_blocks_have_missing_values(client):
    X = rows()
    D = da.ma.masked_greater(da.from_array(X, chunks=(500, 6)), X.max() - 1e-9)
    with pytest.raises(MissingValuesError, match="missing value in row index"):
        PCA(3).fit(D)


def test_missing_values_are_located(where):
    X = rows()
    X[612, 4] = np.nan
    with pytest.raises(MissingValuesError, match="row index 612, column 4"):
        PCA(3).fit(da.from_array(X, chunks=250))
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=4)
    with pytest.raises(MissingValuesError, match="row index 612, column 'e'"):
        PCA(3).fit(frame)
    model = PCA(3).fit(X[:500])
    with pytest.raises(DataError, match=r"from row index 500: .*row index 612, column 4"):
        model.transform(da.from_array(X, chunks=250)).compute()


def test_missing_values_of_probabilistic_pca(where):
    X = rows(300)
    X[::7, 2] = np.nan
    D = da.from_array(X, chunks=100)
    model, expected = ProbabilisticPCA(2).fit(D), ProbabilisticPCA(2).fit(X)
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-8)
    imputed = model.impute(D)
    assert isinstance(imputed, da.Array)
    assert_allclose(imputed.compute(), expected.impute(X), rtol=1e-6)
    with pytest.raises(ParameterError, match="return_std"):
        model.impute(D, return_std=True)


def test_float32_stays(where):
    X = rows().astype(np.float32)
    D = da.from_array(X, chunks=300)
    model = PCA(3).fit(D)
    assert model.components_.dtype == model.transform(D).dtype == model.transform(D).compute().dtype == np.float32
    assert model.transform(da.from_array(rows(), chunks=300)).dtype == np.float64


def test_squares_out_of_range(where):
    X = rows()
    for factor in (1e-100, 1e100):
        model = PCA(3, svd_solver="krylov" if factor > 1 else "auto").fit(da.from_array(X * factor, chunks=300))
        assert_allclose(model.components_, PCA(3).fit(X * factor).components_, atol=1e-7)


def test_scores_are_lazy(where):
    X, n_computed = rows(), []

    def count(block):
        n_computed.append(len(block))
        return block

    model = PCA(3).fit(X)
    D = da.from_array(X, chunks=(300, 6))
    lazy = model.transform(D.map_blocks(count, dtype=float, meta=np.empty((0, 0))) if where == "process" else D)
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.chunks[0], n_computed) == ((1000, 3), (300, 300, 300, 100), [])
    assert_allclose(lazy.compute(), model.transform(X), rtol=1e-9, atol=1e-9)
    assert_allclose(model.inverse_transform(lazy).compute(), model.inverse_transform(model.transform(X)), rtol=1e-12)
    assert_allclose(model.denoise(D).compute(), model.denoise(X), rtol=1e-12)
    assert_allclose(model.transform(X=D)[610:620].compute(), model.transform(X[610:620]), rtol=1e-9, atol=1e-9)


def test_fit_transform_is_lazy_after_the_fit(where):
    X = rows()
    scores = PCA(3).fit_transform(da.from_array(X, chunks=300))
    assert isinstance(scores, da.Array)
    assert_allclose(scores.compute(), PCA(3).fit_transform(X), rtol=1e-9, atol=1e-9)


def test_lazy_scores_check_the_features_at_once():
    model, D = PCA(2).fit(rows()), da.from_array(rows(), chunks=300)
    with pytest.raises(DataError, match="X has 5 features, but PCA is expecting 6"):
        model.transform(D[:, :5])
    with pytest.raises(DataError, match="X has 6 features, but inverse_transform expects 2"):
        model.inverse_transform(D)
    with pytest.raises(ParameterError, match="set_output requests 'pandas'"):
        model.set_output(transform="pandas").transform(D)


def test_a_listener_is_not_sent_to_workers(client):
    X, listener = da.from_array(rows(), chunks=300), threading.Lock()  # which cannot be pickled
    model = PCA(2, progress=lambda state: listener.locked()).fit(X)
    with pytest.raises(TypeError):
        pickle.dumps(listener)
    assert model.transform(X).compute().shape == (1000, 2)
    assert np.isfinite(model.score(X))


def test_progress_never_decreases(where):
    states = []
    PCA(2, svd_solver="krylov", progress=states.append).fit(da.from_array(rows(), chunks=50))
    completed = [state.completed for state in states]
    assert len(completed) > 10
    assert completed == sorted(completed)
    assert states[-1].fraction == 1


def test_plan_and_dataset(client):
    D = da.from_array(rows(), chunks=300)
    data = open_collection(D)
    assert (data.n_partitions, data.n_workers, data.in_memory, data.shape) == (4, 2, False, (1000, 6))
    assert PCA(3).plan(D).route == PCA(3).fit(D).plan_.route
    assert_array_equal(data.take([999, 0, 300, 299, 0]), rows()[[999, 0, 300, 299, 0]])
    assert_array_equal(data.take([]), np.empty((0, 6)))
    assert_array_equal(data.load(rows()[:, 0] > 100), rows()[rows()[:, 0] > 100])
    assert [len(block) for block in data.blocks(450)] == [450, 450, 100]
    assert_array_equal(np.concatenate(list(data.blocks(450))), rows())
    seen = data.view(lambda block, first: block[:, :6] + first, np.float64)
    assert_array_equal(seen.load()[[299, 300]], rows()[[299, 300]] + [[0], [300]])
    with data.persist() as kept:
        assert_array_equal(kept.load(), rows())


def test_chunks_that_workers_cannot_hold_are_rejected(client):
    large = da.ones((40_000_000, 3), chunks=(20_000_000, 3))
    with pytest.raises(
        MemoryLimitError, match=r"20,000,000 rows takes about 1.44 GB .* at most [\d,]+ rows: X.rechunk"
    ):
        PCA(2).fit(large)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: da.ones(5), DataError, r"Expected 2D array, got 1D array instead, of shape \(5,\)"),
        (lambda: da.ones((5, 2), dtype=complex), DataError, "values of type complex128.*imaginary parts"),
        (lambda: da.ones((5, 2)).astype(object), DataError, r"X.astype\(float\)"),
        (lambda: dd.from_pandas(pd.Series([1.0, 2.0]), npartitions=1), DataError, "to_frame"),
        (lambda: pytest.importorskip("dask").delayed(np.ones)((5, 2)), TypeError, "from_delayed"),
    ],
)
def test_other_collections_are_rejected(make, error, match):
    with pytest.raises(error, match=match):
        PCA(1).fit(make())


def test_values_that_are_not_numbers(client):
    wrong = da.from_array(rows(), chunks=500).map_blocks(lambda block: np.full(block.shape, "x", object), dtype=float)
    with pytest.raises(DataError, match=r"from row index \d+ has values that are not numbers"):
        PCA(2).fit(wrong)


def test_a_partial_fit(where):
    X, model = rows(), IncrementalPCA(3)
    for part in da.from_array(X, chunks=500).partitions:
        model.partial_fit(part)
    check_equal(model, IncrementalPCA(3).fit(X))


# ---------------------------------------------------------------------- executor


@pytest.mark.parametrize("n", range(1, 20))
def test_pairwise_keeps_the_order_and_is_balanced(n):
    depth = pairwise([(0, [i]) for i in range(n)], lambda a, b: (max(a[0], b[0]) + 1, a[1] + b[1]))
    assert depth[1] == list(range(n))
    assert depth[0] == int(np.ceil(np.log2(n)))


def send(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301  made here


def test_values_travel_closed():
    """A message that cannot be unpickled would end the worker."""
    travelled = send(Sealed(lambda: 7))
    assert travelled._value is None
    again = send(travelled)  # from worker to worker, unopened
    assert again.open()() == travelled.open()() == 7
    assert send(again).open()() == 7  # and opened


def test_workers_use_one_blas_thread(client):
    def n_threads():
        from threadpoolctl import threadpool_info

        return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

    executor = Executor(client)
    assert executor.gather([executor.task(n_threads)]) == [1]


def test_a_fit_inside_a_task_uses_no_client(client):
    def fit():
        X = da.from_array(rows(), chunks=300)
        return active_client() is None, PCA(2).fit(X).explained_variance_

    alone, values = client.submit(fit).result()
    assert alone
    assert_allclose(values, PCA(2).fit(rows()).explained_variance_, rtol=1e-12)


def test_errors_of_tasks_arrive_as_they_are(client):
    def fail(block):
        raise FileNotFoundError("rows.npy")  # an OSError, which is not that of a connection

    with pytest.raises(FileNotFoundError, match=r"rows\.npy"):
        PCA(2).fit(da.from_array(rows(), chunks=300).map_blocks(fail, dtype=float, meta=np.empty((0, 0))))


def test_other_versions_are_reported(client, monkeypatch):
    monkeypatch.setattr("mercer.__version__", "9.9")
    with pytest.raises(ClusterError, match=r"mercer 0\.\S+ on tcp.*Install the same versions"):
        PCA(2).fit(da.from_array(rows(), chunks=300))


def test_an_asynchronous_client_is_reported(client, monkeypatch):
    monkeypatch.setattr(type(client), "asynchronous", True)
    with pytest.raises(ClusterError, match=r"is asynchronous.*asyncio\.to_thread"):
        PCA(2).fit(da.from_array(rows(), chunks=300))
