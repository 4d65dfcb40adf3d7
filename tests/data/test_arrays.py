"""Datasets in memory and the validation of arrays: scikit-learn's rules, locations of bad values, small integers."""

import datetime
import pickle
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn import decomposition
from sklearn.base import BaseEstimator

from mercer.budget import Budget, format_bytes, parse_memory
from mercer.data.conversion import is_list_of_rows
from mercer.data.dataset import (
    SMALL_INTEGERS,
    ArrayDataset,
    Dataset,
    Metadata,
    Source,
    as_float,
    concatenate_samples,
    prefetch,
    regroup,
    scaled,
    with_columns,
    with_floats,
)
from mercer.data.numpy_files import MemmapDataset
from mercer.data.validation import (
    apply_sample_weight,
    as_dataset,
    check_sample_weight,
    has_missing,
    raise_nonfinite,
)
from mercer.errors import DataError, MercerWarning, MissingValuesError, ParameterError, collect_warnings, warn
from mercer.estimators.pca import PCA
from mercer_old.sources.held import HeldRows as OldRows
from mercer_old.sources.held import ScaledRows as OldScaled

X = np.round(np.random.default_rng(0).normal(size=(23, 4)), 1)
DIVISORS = np.array([1.0, 2.0, 4.0, 0.5])


class Estimator(BaseEstimator):
    """What `as_dataset` needs of an estimator."""


class Blocks(Dataset):
    """Rows that are read, in a thread of their own if asked for."""

    def __init__(self, rows):
        self.rows, self.shape, self.dtype, self.nbytes, self.closed = rows, rows.shape, rows.dtype, rows.nbytes, 0

    def blocks(self, size):
        try:
            for start in range(0, len(self), size):
                yield self.rows[start : start + size].copy()
        finally:
            self.closed += 1


def mapped(folder):
    np.save(folder / "rows.npy", X)
    return MemmapDataset(np.load(folder / "rows.npy", mmap_mode="r"))


DATASETS = {
    "dense": lambda folder: ArrayDataset(X),
    "float32": lambda folder: ArrayDataset(X.astype(np.float32)),
    "int8": lambda folder: ArrayDataset((10 * X).astype(np.int8)),
    "sparse": lambda folder: ArrayDataset(sparse.csr_array(X)),
    "sparse matrix": lambda folder: ArrayDataset(sparse.csr_matrix(X)),
    "memory map": mapped,
    "blocks": lambda folder: Blocks(X),
    "scaled": lambda folder: scaled(ArrayDataset(X), DIVISORS),
    "scaled blocks": lambda folder: scaled(Blocks(X), DIVISORS),
    "objects": lambda folder: ArrayDataset(np.array([*"abcdefghijklmnopqrstuvw"], dtype=object), "strings"),
}


def dense(samples):
    return samples.toarray() if sparse.issparse(samples) else samples


@pytest.mark.parametrize("name", DATASETS)
def test_blocks_take_and_load_agree(name, tmp_path):
    data = DATASETS[name](tmp_path)
    whole = dense(data.load())
    assert len(data) == len(whole) == 23 and data.dtype == whole.dtype
    for size in (1, 5, 23, 24):
        blocks = [dense(block) for block in data.blocks(size)]
        assert all(len(block) == size for block in blocks[:-1])
        assert_array_equal(np.concatenate(blocks), whole)
        assert_array_equal(np.concatenate([dense(block) for block in prefetch(data, size)]), whole)
    some = np.array([3, 0, 3, 22])
    assert_array_equal(dense(data.take(some)), whole[some])
    assert_array_equal(dense(data.take(np.array([], dtype=int))), whole[:0])
    mask = np.arange(23) % 3 == 0
    assert_array_equal(dense(data.load(mask)), whole[mask])
    assert_array_equal(np.concatenate(list(data.map_blocks(len_as_array, size=5))), [5, 5, 5, 5, 3])


def len_as_array(block):
    return np.array([block.shape[0]])


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize(
    ("indices", "error"),
    [([0.5], TypeError), ([True, False], TypeError), ([[1]], TypeError), ([23], IndexError), ([-1], IndexError)],
    ids=str,
)
def test_take_validates_indices(name, indices, error, tmp_path):
    with pytest.raises(error):
        DATASETS[name](tmp_path).take(np.array(indices))


def test_take_reads_no_further_than_the_last_index(monkeypatch):
    monkeypatch.setattr("mercer.data.dataset.block_rows", lambda n_features: 5)
    read = []

    class Counting(Blocks):
        def blocks(self, size):
            for block in super().blocks(size):
                read.append(len(block))
                yield block

    data = Counting(X)
    assert_array_equal(data.take(np.array([7, 2])), X[[7, 2]])
    assert len(read) == 2 and data.closed == 1


def test_prefetch_closes_the_reader_and_passes_its_errors_and_warnings_on():
    data = Blocks(X)
    for _ in prefetch(data, 5):
        break
    assert data.closed == 1

    class Failing(Blocks):
        def blocks(self, size):
            yield self.rows[:size]
            warn("odd")
            yield self.rows[:size]
            raise DataError("damaged")

    with collect_warnings() as found, pytest.warns(MercerWarning, match="odd"), pytest.raises(DataError):
        list(prefetch(Failing(X), 5))
    assert [warning.summary for warning in found] == ["odd"]


@pytest.mark.parametrize("sizes", [[1] * 23, [23], [7, 0, 16], [22, 1]], ids=str)
def test_regroup_gives_blocks_of_exactly_the_size(sizes):
    pieces = np.split(X, np.cumsum(sizes)[:-1])
    for size in (1, 4, 23, 30):
        blocks = list(regroup(iter(pieces), size))
        assert [len(block) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
        assert_array_equal(np.concatenate(blocks), X)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scaling_is_that_of_the_first_edition(make, dtype):
    rows = make(X.astype(dtype))
    before = dense(rows).copy()
    data = scaled(ArrayDataset(rows), DIVISORS)
    block = next(iter(data.blocks(23)))
    assert data.dtype == block.dtype == dtype and sparse.issparse(block) == sparse.issparse(rows)
    old = OldScaled(OldRows(rows), DIVISORS).load()
    assert_allclose(dense(block), dense(old), rtol=2 * np.finfo(dtype).eps)
    assert_array_equal(dense(rows), before)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_scaled_integers_are_float64(make):
    rows = make(np.array([[100, 3], [0, -5]], dtype=np.int8))
    data = scaled(ArrayDataset(rows), np.array([3.0, 0.01]))
    assert data.dtype == np.float64 and data.nbytes >= 2 * 8
    assert_array_equal(dense(data.load()), [[100 / 3.0, 3 / 0.01], [0, -5 / 0.01]])


def test_blocks_of_csr_share_the_entries_of_the_matrix():
    rows = sparse.csr_array(X)
    assert all(np.shares_memory(block.data, rows.data) for block in ArrayDataset(rows).blocks(5))


def test_reduce_makes_one_call_and_views_can_be_pickled():
    data = ArrayDataset(X)
    assert data.reduce(lambda d, w, k, progress=None: (d is data, w, k), 3, weights=DIVISORS)[0]
    again = pickle.loads(pickle.dumps(scaled(data, DIVISORS)))  # noqa: S301
    assert_array_equal(again.load(), X / DIVISORS)
    with data.persist() as kept:
        assert kept is data


def test_columns_in_another_order():
    for data in (ArrayDataset(X), ArrayDataset(sparse.csr_array(X)), Blocks(X)):
        data.feature_names = tuple("abcd")
        turned = with_columns(data, np.array([2, 0, 3, 1]))
        assert turned.feature_names == tuple("cadb") and data.feature_names == tuple("abcd")
        assert_array_equal(dense(turned.load()), X[:, [2, 0, 3, 1]])


def test_nbytes_of_objects_are_those_of_the_values():
    strings = np.array(["a" * 1000, "é" * 1000, "😀" * 1000], dtype=object)
    assert 6000 < ArrayDataset(strings, "strings").nbytes < 6500
    series = np.empty(2, dtype=object)
    series[:] = [np.zeros((5, 2)), np.zeros((7, 2))]
    assert ArrayDataset(series, "series").nbytes == 12 * 16 + 16
    assert concatenate_samples([strings[:1], strings[1:]]).shape == (3,)


def test_metadata():
    metadata = Metadata({"n": ["1.10", None, "x"], "c": [1, 2, 3], "f": [1, 2.5, None], "t": ["3", "4", "5"]}, "n", "c")
    assert metadata.ids == ["1.10", "", "x"] and Metadata().ids is None
    assert metadata.values("n").tolist() == ["1.10", None, "x"]
    assert metadata.values("c").dtype == int and metadata.values("t").tolist() == [3, 4, 5]
    assert_array_equal(metadata.values("f"), [1, 2.5, np.nan])
    taken = metadata.take(np.array([2, 0]))
    assert taken.ids == ["x", "1.10"] and taken.label_name == "c" and list(taken.columns["c"]) == [3, 1]
    assert pickle.loads(pickle.dumps(metadata)) == metadata  # noqa: S301
    assert Source("X").notes == ()


# ---------------------------------------------------------------------- what is accepted

ROWS = np.random.default_rng(1).normal(size=(30, 4))
WHOLE = np.random.default_rng(1).integers(-100, 100, size=(30, 4)).astype(float)


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return ROWS


GOOD = {
    "list": (lambda: ROWS.tolist(), ROWS),
    "tuple of arrays": (lambda: tuple(ROWS), ROWS),
    "Fortran order": (lambda: np.asfortranarray(ROWS), ROWS),
    "negative strides": (lambda: ROWS[::-1], ROWS[::-1]),
    "big-endian": (lambda: ROWS.astype(">f8"), ROWS),
    "long doubles": (lambda: ROWS.astype(np.longdouble), ROWS),
    "int64": (lambda: WHOLE.astype(int), WHOLE),
    "int32": (lambda: WHOLE.astype(np.int32), WHOLE),
    "half precision": (lambda: WHOLE.astype(np.float16), WHOLE),
    "objects": (lambda: ROWS.astype(object), ROWS),
    "Decimal": (lambda: np.array([[Decimal(repr(v)) for v in row] for row in ROWS.tolist()]), ROWS),
    "Fraction": (lambda: np.array([[Fraction(v) for v in row] for row in ROWS.tolist()]), ROWS),
    "mask that hides nothing": (lambda: np.ma.MaskedArray(ROWS, mask=np.zeros((30, 4), bool)), ROWS),
    "another array": (Wrapped, ROWS),
    "pandas": (lambda: pd.DataFrame(ROWS, columns=list("abcd")), ROWS),
    "CSC": (lambda: sparse.csc_array(ROWS), ROWS),
}


@pytest.mark.parametrize("name", GOOD)
def test_arrays_become_float64(name):
    make, rows = GOOD[name]
    data = as_dataset(make(), estimator := Estimator(), reset=True)
    assert data.dtype == np.float64 and estimator.n_features_in_ == 4
    assert_array_equal(dense(data.load()), rows)


def test_a_float_array_is_not_copied_and_belongs_to_the_user():
    for dtype in (np.float64, np.float32):
        rows = ROWS.astype(dtype)
        data = as_dataset(rows, Estimator(), reset=True)
        assert data.load() is rows and not data.owns_samples and data.dtype == dtype
    assert as_dataset(ROWS.tolist(), Estimator(), reset=True).owns_samples
    assert as_dataset(WHOLE.astype(int), Estimator(), reset=True).owns_samples
    for shared in (pd.DataFrame(ROWS), ROWS > 0, sparse.csr_array(ROWS)):
        assert not as_dataset(shared, Estimator(), reset=True).owns_samples


def test_names_of_an_earlier_fit_are_forgotten():
    estimator = Estimator()
    as_dataset(pd.DataFrame(ROWS, columns=list("abcd")), estimator, reset=True)
    for X in (ROWS, ROWS.tolist(), ArrayDataset(ROWS)):
        estimator.feature_names_in_ = np.array(list("abcd"), dtype=object)
        assert as_dataset(X, estimator, reset=True).feature_names is None
        assert not hasattr(estimator, "feature_names_in_")


@pytest.mark.parametrize("dtype", [*SMALL_INTEGERS, np.dtype(bool)], ids=str)
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array, "memmap", "frame"], ids=str)
def test_small_integers_are_kept(dtype, hold, tmp_path):
    rows = np.abs(WHOLE).astype(dtype)
    rows[0, 0] = True if dtype.kind == "b" else np.iinfo(dtype).max
    if hold == "memmap":
        np.save(tmp_path / "x.npy", rows)
        given = np.load(tmp_path / "x.npy", mmap_mode="r")
    else:
        given = pd.DataFrame(rows, columns=list("abcd")) if hold == "frame" else hold(rows)
    expected = np.dtype(np.uint8) if dtype.kind == "b" else dtype
    data = as_dataset(given, Estimator(), reset=True)
    assert data.dtype == expected and next(iter(data.blocks(5))).dtype == expected
    assert_array_equal(dense(data.load()), rows.astype(int))
    floats = as_dataset(given, Estimator(), reset=True, keep_integers=False)
    assert floats.dtype == np.float64 and next(iter(floats.blocks(5))).dtype == np.float64
    assert with_floats(data).dtype == np.float64 and as_float(data.take(np.array([1]))).dtype == np.float64


def test_small_integers_take_no_other_memory():
    rows = np.ones((400, 20_000), dtype=np.int8)
    as_dataset(rows[:2], Estimator(), reset=True)
    tracemalloc.start()
    data = as_dataset(rows, Estimator(), reset=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000 and data.load() is rows


def test_components_of_small_integers_are_those_of_floats():
    rows = np.random.default_rng(0).integers(0, 200, size=(300, 6)).astype(np.uint8)
    weights = np.arange(300) % 3
    for given in (rows, sparse.csr_array(rows)):
        for sample_weight in (None, weights):
            ours = PCA(2, svd_solver="covariance_eigh").fit(given, sample_weight=sample_weight)
            theirs = PCA(2, svd_solver="covariance_eigh").fit(rows.astype(float), sample_weight=sample_weight)
            assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-12)
            assert ours.components_.dtype == np.float64
            assert_allclose(ours.transform(given), theirs.transform(rows.astype(float)), atol=1e-9)


def test_duplicate_entries_of_sparse_integers_do_not_overflow():
    rows = sparse.csr_array((np.array([100, 100, 3], np.int8), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    data = as_dataset(rows, Estimator(), reset=True)
    assert_array_equal(data.load().toarray(), [[0, 200], [3, 0]])
    assert rows.nnz == 3  # the user's matrix is as it was


# ---------------------------------------------------------------------- what is not


def with_entry(value, dtype=object):
    table = ROWS.astype(dtype)
    table[4, 2] = value
    return table


def hidden():
    mask = np.zeros((30, 4), dtype=bool)
    mask[4, 2] = True
    return np.ma.MaskedArray(ROWS, mask=mask)


class Annotated:
    X, obs, shape = ROWS, object(), (30, 4)


class Endless:
    def __len__(self):
        return 10**9

    def __getitem__(self, index):
        return self


DAYS = np.datetime64("2024-01-01") + np.arange(30)
NOT_NUMERIC = {
    "dates": np.tile(DAYS, (4, 1)).T,
    "durations": np.ones((30, 4), "timedelta64[h]"),
    "a date": with_entry(datetime.date(2024, 1, 2)),
    "a duration": with_entry(np.timedelta64(5, "D")),
    "strings": ROWS.astype(str).astype(object) + "x",
    "digits": np.full((30, 4), "007"),
    "digits as objects": ROWS.astype(str).astype(object),
    "digits as bytes": ROWS.astype(bytes),
    "fixed strings": np.full((30, 4), "x"),
    "bytes": np.full((30, 4), b"x"),
    "a string": with_entry("lots"),
    "an integer beyond floats": with_entry(10**400),
}


@pytest.mark.parametrize("name", NOT_NUMERIC)
def test_arrays_that_are_not_numeric_name_the_column(name):
    with pytest.raises(DataError) as caught:
        as_dataset(NOT_NUMERIC[name], Estimator(), reset=True)
    first = caught.value.column
    assert first == ("2" if name.startswith(("a ", "an ")) else "0")
    if first == "2":
        assert caught.value.row == 4


@pytest.mark.parametrize(
    ("X", "error"),
    [
        ("x.csv", DataError),
        (None, DataError),
        (Annotated(), DataError),
        (Endless(), TypeError),
        ([Endless()] * 3, TypeError),
        ({"a": [1]}, TypeError),
        (b"abc", TypeError),
        (aslinearoperator(ROWS), TypeError),
        (np.ndarray, TypeError),
        (ROWS + 1j, DataError),
        (with_entry({"a": 1}), TypeError),
        (with_entry(object()), TypeError),
        (np.array([tuple(row) for row in ROWS], dtype=[(name, float) for name in "abcd"]), DataError),
        ([[1.0, 2.0], [3.0]], DataError),
        ([[1.0, 2.0], 3.0], DataError),
        (ROWS[0], DataError),
        (ROWS[:0], DataError),
        (ROWS[:, :0], DataError),
        (ROWS[None], DataError),
        (3.0, DataError),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, type) else value.__name__,
)
def test_what_is_not_a_matrix_of_numbers_is_refused(X, error):
    with pytest.raises(error):
        as_dataset(X, Estimator(), reset=True)


@pytest.mark.parametrize(
    ("X", "text"),
    [(ROWS[:0], "Found array with 0 sample"), (ROWS[0], "Expected 2D array"), (ROWS[:, :0], "0 feature")],
)
def test_wording_of_scikit_learn_is_kept(X, text):
    with pytest.raises(ValueError, match=text):
        as_dataset(X, Estimator(), reset=True)


MISSING = {
    "NaN": with_entry(np.nan, float),
    "float32": with_entry(np.nan, np.float32),
    "None": with_entry(None),
    "pd.NA": with_entry(pd.NA),
    "pd.NaT": with_entry(pd.NaT),
    "Decimal": with_entry(Decimal("nan")),
    "list": with_entry(None).tolist(),
    "sparse": sparse.csr_array(with_entry(np.nan, float)),
    "mask": hidden(),
    "frame": pd.DataFrame(with_entry(np.nan, float), columns=list("abcd")),
    "nullable": pd.DataFrame(with_entry(np.nan, float), columns=list("abcd")).convert_dtypes(),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_values_are_located_and_a_model_that_accepts_them_is_named(name):
    with pytest.raises(MissingValuesError, match="ProbabilisticPCA accepts missing values") as caught:
        as_dataset(MISSING[name], Estimator(), reset=True)
    assert caught.value.row == 4
    assert caught.value.column == ("'c'" if name in ("frame", "nullable") else "2")


@pytest.mark.parametrize("name", [name for name in MISSING if name not in ("sparse", "Decimal")])
def test_missing_values_become_nan_where_they_are_accepted(name):
    data = as_dataset(MISSING[name], Estimator(), reset=True, allow_nan=True)
    expected = with_entry(np.nan, float)
    assert_allclose(data.load(), expected, rtol=1e-7)
    assert has_missing(data) and not has_missing(ArrayDataset(ROWS))
    raise_nonfinite(data)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array, pd.DataFrame], ids=lambda hold: hold.__name__)
@pytest.mark.parametrize("allow_nan", [True, False])
def test_infinite_values_are_located(value, hold, allow_nan):
    with pytest.raises(DataError, match="contains infinity") as caught:
        as_dataset(hold(with_entry(value, float)), Estimator(), reset=True, allow_nan=allow_nan)
    error = caught.value
    assert (error.row, error.column, error.value) == (4, "2", value) and not isinstance(error, MissingValuesError)


def test_sums_that_overflow_are_not_infinite_values():
    for rows in (np.full((50, 4), 1e308), np.full((500, 4), 3e38, np.float32), -np.full((50, 4), 1e308)):
        rows[0, 0] = 0
        assert as_dataset(rows, Estimator(), reset=True).load() is rows
        raise_nonfinite(ArrayDataset(rows))


def test_locations_are_those_of_all_partitions():
    rows = with_entry(np.nan, float)
    rows[20, 1] = np.inf

    class Partitioned(Blocks):
        def reduce(self, func, *args, weights=None, combine=None, progress=None):
            found = [func(ArrayDataset(part), None, *args) for part in np.split(self.rows, [2, 3, 12])]
            return combine(combine(found[0], found[1]), combine(found[2], found[3]))

        def blocks(self, size):
            raise AssertionError("read outside of the workers")

    data = Partitioned(rows)
    with pytest.raises(MissingValuesError, match="2 values are not finite") as caught:
        raise_nonfinite(data)
    assert (caught.value.row, caught.value.column) == (4, "2") and has_missing(data)
    data.allow_nan = True
    with pytest.raises(DataError, match="One value is not finite") as caught:
        raise_nonfinite(data)
    assert (caught.value.row, caught.value.column) == (20, "1")


def test_fits_refuse_what_their_sums_reveal():
    with pytest.raises(MissingValuesError) as caught:
        PCA(1).fit(with_entry(np.nan, float))
    assert (caught.value.row, caught.value.column) == (4, "2")


def test_memory_maps_are_read_in_blocks_only_if_they_are_matrices(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    rows = np.load(tmp_path / "x.npy", mmap_mode="r+")
    data = as_dataset(rows, Estimator(), reset=True)
    assert isinstance(data, MemmapDataset)
    block = next(iter(data.blocks(5)))
    np.testing.assert_array_equal(block, ROWS[:5])
    assert not block.flags.writeable, "a block that is overwritten would change the file"
    with pytest.raises(DataError, match="Expected 2D"):
        as_dataset(rows[0], Estimator(), reset=True)


# ---------------------------------------------------------------------- features


def test_a_frame_may_have_its_columns_in_another_order():
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for hold in (lambda table: table, pl.from_pandas, pa.Table.from_pandas):
        model = PCA(2).fit(hold(frame))
        assert_array_equal(model.transform(hold(frame[list("dbca")])), model.transform(hold(frame)))
        data = model.open(hold(frame[list("dbca")]))
        assert data.feature_names == tuple("abcd")


def test_a_dataset_may_have_its_columns_in_another_order():
    model = PCA(2).fit(pd.DataFrame(ROWS, columns=list("abcd")))
    for data in (ArrayDataset(ROWS[:, ::-1]), Blocks(ROWS[:, ::-1])):
        data.feature_names = tuple("dcba")
        assert_allclose(model.transform(data), model.transform(pd.DataFrame(ROWS, columns=list("abcd"))), atol=1e-15)


@pytest.mark.parametrize("names", [list("abcz"), list("abc"), list("abcde")], ids="".join)
def test_other_feature_names_are_refused_in_the_words_of_scikit_learn(names):
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    model, theirs = PCA(1).fit(frame), decomposition.PCA(1).fit(frame)
    new = pd.DataFrame(np.ones((3, len(names))), columns=names)
    data = ArrayDataset(new.to_numpy())
    data.feature_names = tuple(names)
    with pytest.raises(ValueError, match="feature names") as expected:
        theirs.transform(new)
    for given in (new, data):
        with pytest.raises(ValueError) as caught:
            model.transform(given)
        assert str(caught.value) == str(expected.value)


def test_the_number_of_features_is_compared():
    model = PCA(1).fit(ROWS)
    for given in (ROWS[:, :3], sparse.csr_array(ROWS[:, :3]), ArrayDataset(ROWS[:, :3])):
        with pytest.raises(DataError, match="X has 3 features, but PCA is expecting 4 features as input"):
            model.transform(given)


def test_samples_of_another_kind_are_refused():
    with pytest.raises(DataError, match="strings"):
        PCA(1).fit(ArrayDataset(np.array(["a", "b"], dtype=object), "strings"))


def test_rows_and_objects_in_lists():
    assert is_list_of_rows([[1, 2], [3, None]]) and is_list_of_rows([(1.0, 2.0)])
    assert (
        not is_list_of_rows([[1, 2], [3]]) and not is_list_of_rows([{1}, {2}]) and not is_list_of_rows([["a"], ["b"]])
    )


# ---------------------------------------------------------------------- weights


@pytest.mark.parametrize(
    "weights",
    [np.ones((23, 1)), np.ones(22), np.zeros(23), -np.ones(23), np.full(23, np.nan), np.full(23, 1e300), 1e-300, "x"],
    ids=str,
)
def test_weights_that_cannot_be_used_are_refused(weights):
    with pytest.raises(ValueError):
        check_sample_weight(weights, 23)


@pytest.mark.parametrize(("value", "text"), [(np.nan, "NaN"), (np.inf, "infinity"), (-1e-9, "Negative values")])
def test_weights_that_cannot_be_used_are_located(value, text):
    with pytest.raises(DataError, match=text) as caught:
        check_sample_weight(np.where(np.arange(23) == 3, value, 1.0), 23)
    assert caught.value.row == 3 and caught.value.source == "sample_weight" and "row index 3" in str(caught.value)


@pytest.mark.parametrize(
    "weights",
    [
        ["1"] * 23,
        np.full(23, "1"),
        np.full(23, "2024-01-01", "datetime64[D]"),
        pd.Series(pd.date_range("2024-01-01", periods=23)),
        np.ma.MaskedArray(np.ones(23), mask=np.arange(23) < 5),
        [datetime.timedelta(1)] * 23,
    ],
    ids=lambda weights: type(weights).__name__,
)
def test_weights_that_numpy_would_take_for_numbers_are_refused(weights):
    with pytest.raises(DataError) as caught:
        check_sample_weight(weights, 23)
    assert caught.value.row == 0 and caught.value.source == "sample_weight"
    assert_array_equal(check_sample_weight(pd.Series([1, 2.5], dtype=object), 2), [1, 2.5])
    assert_array_equal(check_sample_weight(np.ma.MaskedArray([1.0, 2.0]), 2), [1, 2])


def test_rows_of_weight_zero_are_left_out_in_memory_after_a_check():
    weights = (np.arange(23) % 2).astype(float)
    for rows in (X, sparse.csr_array(X), (10 * X).astype(np.int8)):
        data = ArrayDataset(rows)
        data.metadata, data.feature_names = Metadata({"id": [f"r{i}" for i in range(23)]}, "id"), tuple("abcd")
        kept, left = apply_sample_weight(data, weights)
        assert_array_equal(dense(kept.load()), dense(rows)[1::2])
        assert len(left) == len(kept) == 11 and left.all() and kept.owns_samples
        assert kept.metadata.ids == [f"r{i}" for i in range(1, 23, 2)] and kept.feature_names == tuple("abcd")
    with pytest.raises(MissingValuesError):
        apply_sample_weight(ArrayDataset(np.where(np.arange(23)[:, None] == 2, np.nan, X)), weights)
    read, all_of_them = apply_sample_weight(Blocks(X), weights)
    assert len(read) == 23 and len(all_of_them) == 23
    assert_array_equal(apply_sample_weight(ArrayDataset(X), 2)[1], np.full(23, 2.0))


# ---------------------------------------------------------------------- precision


@pytest.mark.parametrize(
    ("rows", "warned"),
    [
        (ROWS, False),
        (ROWS + 1e6, False),
        (ROWS + 1e13, False),
        (ROWS + 1e15, True),
        ((ROWS + 1e5).astype(np.float32), True),
        ((ROWS + 100).astype(np.float32), False),
        (np.rint(ROWS) + 2**50, False),
        ((np.rint(ROWS) + 2**50).astype(np.int64), False),
        (np.full((30, 4), 1e15), False),
        (np.column_stack([ROWS, np.full(30, 1e15)]), False),
        (np.column_stack([ROWS, ROWS[:, 0] + 1e15]), True),
        (ROWS * 1e-300, False),
        (ROWS * 1e300, False),
        ((ROWS * 1e30).astype(np.float32), False),
        (WHOLE.astype(np.int16), False),
    ],
    ids=range(15),
)
def test_a_large_constant_that_leaves_few_digits_is_warned_of(rows, warned, recwarn):
    as_dataset(rows, Estimator(), reset=True)
    assert [type(each.message) for each in recwarn] == [MercerWarning] * warned


# ---------------------------------------------------------------------- budget


@pytest.mark.parametrize(
    ("text", "size"),
    [("2G", 2**31), ("2GiB", 2**31), ("2GB", 2 * 10**9), ("1.5 kB", 1500), ("7", 7), ("1e3B", 1000), (10.7, 10)],
)
def test_units_of_memory(text, size):
    assert parse_memory(text) == size and Budget.from_params(text, 1) == Budget(size, 1)


@pytest.mark.parametrize(
    "limit", ["", "2 XB", "-1GB", "GB", 0, -5, True, float("inf"), float("nan"), "1" * 30, 0.5, "0.2", [1], 2j]
)
def test_memory_that_cannot_be_parsed(limit):
    with pytest.raises(ParameterError):
        parse_memory(limit)


def test_bytes_and_threads(monkeypatch):
    assert [format_bytes(size) for size in (0, 999, 999.6, 51_234_567_890, 3e15)] == [
        "0 B",
        "999 B",
        "1 kB",
        "51.2 GB",
        "3e+03 TB",
    ]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert Budget.from_params(None, None).threads == 1 and Budget.from_params(None, 3).threads == 3
    with pytest.raises(ParameterError):
        Budget.from_params(None, 0)
