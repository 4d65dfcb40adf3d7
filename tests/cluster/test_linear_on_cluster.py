"""PCA and its relatives on rows in chunks: of any cut, here or on workers, the same model."""

import pickle
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import PCA, FactorAnalysis, IncrementalPCA, KernelPCA, ProbabilisticPCA
from mercer_old.errors import BadData, NoRoom
from mercer_old.sources.held import HeldRows
from mercer_old.sweeps import Spread, Square, Triangle, sweep_scatter

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
sizeof = pytest.importorskip("dask.sizeof").sizeof

CUTS = {
    "even": (250, 6),
    "columns cut": (300, 4),
    "one chunk": (1000, 6),
    "tiny": (25, 1),
    "uneven": ((1, 990, 9), (6,)),
}
MODELS = {
    "PCA": lambda: PCA(3),
    "qr": lambda: PCA(3, svd_solver="qr"),
    "krylov": lambda: PCA(2, svd_solver="krylov"),
    "share": lambda: PCA(0.8),
    "rule": lambda: PCA("parallel"),
    "standardized": lambda: PCA(3, standardize=True),
    "incremental": lambda: IncrementalPCA(3),
    "sketch": lambda: IncrementalPCA(2, sketch_size=5),
    "probabilistic": lambda: ProbabilisticPCA(3),
    "factors": lambda: FactorAnalysis(2),
}
COLUMNS = list("abcdef")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(1000, 2)) * [3, 2] @ rng.normal(size=(2, 6))
    return few + rng.normal(size=(1000, 6)) * [1, 1.2, 1.4, 1.6, 1.8, 2] + 1e3


def same(one, other, within=1e-9):
    size = np.abs(other.components_).max()
    assert one.components_.shape == other.components_.shape
    assert np.abs(one.components_ - other.components_).max() <= within * size


@pytest.mark.parametrize("name", MODELS)
def test_every_cut_gives_the_model_of_all_rows(X, name):
    whole = MODELS[name]().fit(X)
    for cut in CUTS.values():
        same(MODELS[name]().fit(da.from_array(X, chunks=cut)), whole, 1e-6 if name in ("factors", "sketch") else 1e-9)


def test_eigenvalues_of_every_cut_lie_within_the_certificate_of_every_other(X):
    models = [PCA(4).fit(da.from_array(X, chunks=cut)) for cut in CUTS.values()]
    for one in models:
        for other in models:
            values = other.explained_variance_ * (len(X) - 1)
            slack = 4 * np.finfo(float).eps * values
            assert np.all(one.certificate_.lower - slack <= values)
            assert np.all(values <= one.certificate_.upper + slack)


OF_THE_SAME_SUMS = "share", "rule", "standardized", "probabilistic"  # as PCA


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in OF_THE_SAME_SUMS else []) for name in MODELS],
)
def test_workers_and_a_loop_give_the_same_bits(X, name, client, in_a_loop):
    D = da.from_array(X, chunks=(300, 4))
    on_workers = MODELS[name]().fit(D)
    with in_a_loop():
        here = MODELS[name]().fit(D)
    assert np.array_equal(on_workers.mean_, here.mean_)
    assert np.array_equal(on_workers.components_, here.components_)


def test_one_worker_gives_the_bits_of_two(X, client, another_cluster):
    from distributed import Client

    D = da.from_array(X, chunks=(100, 6))
    two = PCA(3).fit(D)
    with another_cluster(n_workers=1, threads_per_worker=3) as one_alone, Client(one_alone):
        one = PCA(3).fit(D)
    assert np.array_equal(one.components_, two.components_)


@pytest.mark.parametrize("kind", [Square, Triangle, Spread])
def test_a_cluster_knows_what_sums_weigh(X, kind):
    """It has them merged where the heavier one is. An array that came from elsewhere owns none of its memory."""
    sums = sweep_scatter(kind, HeldRows(X), None, 1)
    buffers = []
    sent = pickle.dumps(sums, protocol=5, buffer_callback=buffers.append)
    heavy = sum(buffer.raw().nbytes for buffer in buffers)
    assert heavy >= 2 * sums.squares.nbytes
    arrived = pickle.loads(sent, buffers=[bytearray(buffer.raw()) for buffer in buffers])  # noqa: S301  our own
    assert min(sizeof(sums), sizeof(arrived)) >= heavy


def test_weights_are_dealt_out_with_the_rows(X):
    weights = np.random.default_rng(1).integers(0, 4, size=len(X)).astype(float)
    D = da.from_array(X, chunks=(170, 6))
    for make in (MODELS["PCA"], MODELS["qr"], MODELS["krylov"], MODELS["standardized"]):
        same(make().fit(D, sample_weight=weights), make().fit(X, sample_weight=weights))
        same(make().fit(D, sample_weight=weights), make().fit(np.repeat(X, weights.astype(int), axis=0)))


def test_frames_bring_their_names_and_need_not_know_their_lengths(X):
    frame = pd.DataFrame(X, columns=COLUMNS)
    parts = dd.from_pandas(frame, npartitions=5)
    model = PCA(3).fit(parts)
    assert model.feature_names_in_.tolist() == COLUMNS
    same(model, PCA(3).fit(frame))
    scores = model.transform(parts)
    assert np.isnan(scores.shape[0])
    assert np.array_equal(scores.compute(), model.transform(frame))
    some = parts[parts["a"] > X[:, 0].mean()]  # partitions of unknown length
    same(PCA(3).fit(some), PCA(3).fit(frame[frame["a"] > X[:, 0].mean()]))
    with pytest.raises(ValueError, match=r"feature names should match"):
        model.transform(parts[COLUMNS[::-1]]).compute()


def test_arrays_of_unknown_length_are_counted(X):
    D = da.from_array(X, chunks=(300, 6))
    some = D[D[:, 0] > X[:, 0].mean()]
    assert np.isnan(some.shape[0])
    same(PCA(3).fit(some), PCA(3).fit(X[X[:, 0] > X[:, 0].mean()]))


def test_sparse_blocks_stay_sparse():
    S = sparse.random(900, 40, density=0.05, random_state=0, format="csr")
    blocks = [da.from_array(S[a : a + 300], chunks=(300, 40), asarray=False) for a in (0, 300, 600)]
    D = da.concatenate(blocks).map_blocks(sparse.csr_array, dtype=float, meta=sparse.csr_array((0, 0)))
    for make in (lambda: PCA(3), lambda: PCA(3, svd_solver="covariance_eigh"), lambda: IncrementalPCA(3)):
        same(make().fit(D), make().fit(S), 1e-6)


def test_sparse_blocks_of_pydata_stay_sparse_too(X):
    pydata = pytest.importorskip("sparse")
    blocks = da.from_array(np.where(np.abs(X) > np.abs(X).mean(), X, 0.0), chunks=(300, 6))
    rows = blocks.map_blocks(pydata.COO.from_numpy)
    for model in (PCA(3), KernelPCA(3, kernel="rbf", gamma=1e-3, n_landmarks=20, random_state=0)):
        expected = model.fit_transform(blocks.compute())
        assert_allclose(np.abs(model.fit(rows).transform(rows).compute()), np.abs(expected), atol=1e-6)


def test_scores_are_promised_and_then_those_of_the_rows(X):
    D = da.from_array(X, chunks=(300, 4))
    for name, make in MODELS.items():
        model = make()
        scores = model.fit_transform(D)
        assert isinstance(scores, da.Array), name
        assert scores.shape == (1000, len(model.components_))
        assert np.allclose(scores.compute(), model.transform(X), rtol=0, atol=1e-9 * np.abs(X).max()), name


def test_rows_of_less_than_full_rank_keep_their_digits(X):
    """Variances that squares hide are found without squares, on chunks as well."""
    tiny = np.hstack([X, 1e-9 * np.random.default_rng(2).normal(size=(1000, 1))])
    for cut in ((300, 7), (1000, 7)):
        model = PCA(7).fit(da.from_array(tiny, chunks=cut))
        assert abs(model.explained_variance_[-1] / PCA(7).fit(tiny).explained_variance_[-1] - 1) < 1e-3


def test_wide_rows_in_chunks_of_columns():
    rng = np.random.default_rng(3)
    W = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 9000)) + 0.1 * rng.normal(size=(60, 9000))
    D = da.from_array(W, chunks=(20, 1000))
    same(PCA(3).fit(D), PCA(3).fit(W), 1e-6)
    same(PCA(3, svd_solver="krylov").fit(D), PCA(3).fit(W), 1e-3)


def test_single_precision_is_kept(X):
    D = da.from_array(X.astype(np.float32), chunks=(300, 6))
    model = PCA(2).fit(D)
    assert model.components_.dtype == np.float32
    assert model.transform(D).dtype == np.float32
    assert model.transform(D).compute().dtype == np.float32
    assert PCA(2).fit(da.from_array(X.astype(int), chunks=(300, 6))).components_.dtype == np.float64


def test_gaps_are_filled_in_chunks_too(X):
    gapped = np.where(np.random.default_rng(4).uniform(size=X.shape) < 0.1, np.nan, X)
    model = ProbabilisticPCA(2).fit(da.from_array(gapped, chunks=(300, 4)))
    same(model, ProbabilisticPCA(2).fit(gapped))


def test_some_rows_are_taken_where_they_lie_in_any_order(X):
    from mercer_old.sources.collections import open_collection

    rows = open_collection(da.from_array(X, chunks=(300, 4)))
    for numbers in ([], [999, 0, 5, 5, 301, 300, 299], np.arange(1000)[::-1]):
        numbers = np.asarray(numbers, dtype=int)
        assert np.array_equal(rows[numbers], X[numbers])
    kept = np.random.default_rng(5).uniform(size=1000) < 0.3
    assert np.array_equal(rows.load(kept), X[kept])
    assert [len(block) for block in rows.blocks(170)] == [170] * 5 + [150]
    assert np.array_equal(np.concatenate(list(rows.blocks(170))), X)


# ---------------------------------------------------------------------- bad input


def spoiled(X, row, column, value):
    Y = X.copy()
    Y[row, column] = value
    return Y


BAD = {
    "NaN in a late chunk": (
        lambda X: da.from_array(spoiled(X, 901, 3, np.nan), chunks=(300, 4)),
        r"missing value \(NaN\): row 901, column 3",
    ),
    "infinite, by name": (
        lambda X: dd.from_pandas(pd.DataFrame(spoiled(X, 901, 3, np.inf), columns=COLUMNS), npartitions=3),
        r"infinite value \(inf\): row 901, column 'd'",
    ),
    "no rows at all": (lambda X: da.from_array(X[:0], chunks=(300, 6)), r"0 sample\(s\)"),
    "only empty partitions": (
        lambda X: dd.from_pandas(pd.DataFrame(X, columns=COLUMNS), npartitions=3).query("a > 1e9"),
        r"0 sample\(s\).*no chunk of X has any \(3 chunks\)",
    ),
    "one dimension": (lambda X: da.from_array(X[:, 0], chunks=300), r"Expected 2D array, got 1D array"),
    "three dimensions": (lambda X: da.zeros((10, 2, 2)), r"Expected 2D array, got 3D array"),
    "complex": (lambda X: da.from_array(X + 1j, chunks=(300, 6)), r"complex128"),
    "texts in a frame": (
        lambda X: dd.from_pandas(pd.DataFrame({"a": X[:, 0], "name": ["x"] * 1000}), npartitions=3),
        r"no numbers: 'name'",
    ),
    "another width in a late chunk": (
        lambda X: da.from_array(X, chunks=(300, 6)).map_blocks(
            lambda block: block if len(block) == 300 else block[:, :5], dtype=float, chunks=((300, 300, 300, 100), (6,))
        ),
        r"the chunk from row 900 on has 5 columns, and the others have 6 columns",
    ),
    "no numbers in a late chunk": (
        lambda X: da.from_array(X, chunks=(300, 6)).map_blocks(
            lambda block: block if len(block) == 300 else block.astype(str).astype(object) + "m", dtype=float
        ),
        r"the chunk from row 900 on holds something that is no number \('.*m' in row 900, column 0\)",
    ),
    "a mask in a late chunk": (
        lambda X: da.from_array(np.ma.array(X, mask=np.arange(6000).reshape(1000, 6) == 5409), chunks=(300, 4)),
        r"missing value \(NaN\): row 901, column 3",
    ),
    "fewer rows than declared": (
        lambda X: da.from_array(X, chunks=(300, 6)).map_blocks(lambda block: block[:-7], dtype=float),
        r"the chunk from row \d+ on has \d+ rows, and Dask was told \d+: X\.compute_chunk_sizes\(\)",
    ),
    "a number that is NA": (
        lambda X: dd.from_pandas(pd.DataFrame(spoiled(X, 901, 3, np.nan), columns=COLUMNS).astype("Float64"), 3),
        r"missing value \(NaN\): row 901, column 'd'",
    ),
    "another column in a late chunk": (
        lambda X: _frame_of(X, ["a", "b", "c", "d", "e", "g"]),
        r"the chunk from row 500 on has other columns than Dask was told: 'g' instead of 'f'",
    ),
    "one name twice": (
        lambda X: dd.from_pandas(pd.DataFrame(X, columns=["a", "a", *COLUMNS[2:]]), npartitions=3),
        r"more than one column of the name 'a'",
    ),
    "a series": (lambda X: dd.from_pandas(pd.Series(X[:, 0], name="a"), npartitions=3), r"a Series of Dask; X\.to_f"),
    "no columns": (lambda X: da.from_array(X, chunks=(300, 6))[:, :0], r"0 feature\(s\) \(shape=\(1000, 0\)\)"),
}


def _frame_of(X, columns):
    """Two partitions, of which the second has its columns in another order, or others."""
    first, last = pd.DataFrame(X[:500], columns=COLUMNS), pd.DataFrame(X[500:], columns=columns)
    return dd.from_map(lambda part: part, [first, last], meta=first[:0], enforce_metadata=False)


def test_columns_of_a_late_partition_are_found_by_their_names(X):
    columns = ["b", "a", "d", "c", "f", "e"]
    whole = pd.concat([pd.DataFrame(X[:500], columns=COLUMNS), pd.DataFrame(X[500:], columns=columns)])
    same(PCA(3).fit(_frame_of(X, columns)), PCA(3).fit(whole))


def test_what_a_mask_hides_is_a_gap(X):
    hidden = np.ma.array(X, mask=np.random.default_rng(0).random(X.shape) < 0.1)
    models = [ProbabilisticPCA(2, random_state=0).fit(rows) for rows in (da.from_array(hidden, (250, 6)), hidden)]
    assert_allclose(models[0].mean_, models[1].mean_, rtol=1e-6)


def test_a_mask_travels_to_workers(X, client):
    make, words = BAD["a mask in a late chunk"]
    with pytest.raises(BadData, match=words):
        PCA(2).fit(make(X))


def test_promises_and_other_things_are_no_rows(X):
    from dask import delayed

    with pytest.raises(TypeError, match=r"X is a Delayed\w* of Dask, not an array or a frame"):
        PCA(2).fit(delayed(X))


def test_other_names_are_refused_at_once(X):
    frame = dd.from_pandas(pd.DataFrame(X, columns=COLUMNS), npartitions=3)
    with pytest.raises(ValueError, match=r"feature names should match .* column 0 of X is 'b', and 'a' was there"):
        PCA(2).fit(frame).transform(frame[["b", "a", *COLUMNS[2:]]])


@pytest.mark.parametrize("name", BAD)
def test_bad_collections_are_refused_in_one_sentence(X, name):
    make, words = BAD[name]
    for model in (PCA(2), KernelPCA(2, kernel="rbf", n_landmarks=5)):
        with pytest.raises(BadData, match=words):
            model.fit(make(X))


def test_empty_partitions_among_others_are_passed_over(X):
    frame = pd.DataFrame(X, columns=COLUMNS)
    parts = dd.concat([dd.from_pandas(frame[:0], npartitions=1), dd.from_pandas(frame, npartitions=3)])
    same(PCA(3).fit(parts), PCA(3).fit(frame))
    assert PCA(3).fit(frame).transform(frame).shape == PCA(3).fit(parts).transform(parts).compute().shape


def test_dtypes_that_differ_between_chunks_become_one(X):
    mixed = da.from_array(X, chunks=(300, 6)).map_blocks(
        lambda block: block.astype(np.float32) if len(block) == 100 else block, dtype=float
    )
    expected = np.vstack([X[:900], X[900:].astype(np.float32)])
    same(PCA(3).fit(mixed), PCA(3).fit(expected))


def test_new_rows_of_another_width_are_refused_at_once(X):
    model = PCA(2).fit(X)
    with pytest.raises(ValueError, match="X has 5 features, but PCA is expecting 6 features"):
        model.transform(da.from_array(X[:, :5], chunks=(300, 5)))


def test_what_is_wrong_with_a_promised_chunk_is_told_with_its_place(X):
    model = PCA(2).fit(X)
    with pytest.raises(BadData, match=r"In the chunk from row 900 on: .*row index 1, column 3"):
        model.transform(da.from_array(spoiled(X, 901, 3, np.nan), chunks=(300, 6))).compute()
    with pytest.raises(ValueError, match="set_output asks for pandas"):
        PCA(2).set_output(transform="pandas").fit(X).transform(da.from_array(X, chunks=(300, 6)))


def test_a_promise_keeps_its_type_and_no_listener_travels(X):
    lock = threading.Lock()  # which nobody can pickle
    model = PCA(2, progress=lambda state: lock.locked()).fit(X.astype(np.float32))
    scores = model.transform(da.from_array(X, chunks=(300, 6)))
    assert scores.dtype == scores.compute().dtype == np.float32


def test_a_chunk_too_large_for_a_worker_is_refused_before_it_is_read(client):
    with pytest.raises(
        NoRoom, match=r"chunk of 1,000,000 rows, which takes about .* give chunks of at most [\d,]+ rows"
    ):
        PCA(2).fit(da.zeros((2_000_000, 100), chunks=(1_000_000, 100)))


def test_rows_for_pass_after_pass_are_kept_by_workers_that_have_room(X, client, monkeypatch):
    from mercer_old.sources import chunked
    from mercer_old.sources.collections import open_collection

    rows = open_collection(da.from_array(X, chunks=(100, 3)))
    kept = rows.for_passes()
    assert kept is not rows and np.array_equal(kept.load(), X)
    assert all(future.done() for future in kept.chunks.handles)
    monkeypatch.setattr(chunked, "_KEPT", rows.nbytes / (4 * rows.chunks.engine.room * rows.chunks.engine.workers))
    assert rows.for_passes() is rows  # four times what there would be room for
