"""Frames: columns that are not features, strings and dates, and tables of all types of columns."""

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from mercer.data.dataset import ArrayDataset, Metadata, Source
from mercer.data.table import Categories, Table, UnusableColumn, as_table, concatenate_tables, values_of
from mercer.data.validation import as_dataset, looks_like_id, warn_about_columns
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy
from mercer.estimators.pca import PCA
from mercer_old.sources.cells import Coded, as_cells, kind_of, things_of

RNG = np.random.default_rng(0)
N = 40
A, B = RNG.normal(size=(2, N))
DAYS = pd.date_range("2024-01-01", periods=N)


class Estimator(BaseEstimator):
    """What `as_dataset` needs of an estimator."""


# ---------------------------------------------------------------------- columns that identify or count rows

COUNT, SHUFFLED = np.arange(N), RNG.permutation(N) + 10_000
FRAMES = {  # columns besides two of measurements, and those to be warned of
    "pandas index": ({"Unnamed: 0": COUNT}, ["Unnamed: 0"]),
    "id": ({"id": SHUFFLED}, ["id"]),
    "ID": ({"ID": SHUFFLED}, ["ID"]),
    "patient_id": ({"patient_id": SHUFFLED}, ["patient_id"]),
    "customerID": ({"customerID": SHUFFLED}, ["customerID"]),
    "row names of R": ({"rownames": COUNT + 1}, ["rownames"]),
    "sample": ({"sample": COUNT + 1}, ["sample"]),
    "index of another column": ({"stock index": A * 100}, []),
    "refractive index": ({"index": 1.3 + A / 100}, []),
    "a counter with another name": ({"Nr.": COUNT + 1}, ["Nr."]),
    "subjects with repeated measurements": ({"subject": COUNT // 4}, []),
    "years": ({"year": 1980 + COUNT}, []),
    "years and ids": ({"Year": 1980 + COUNT, "site_id": SHUFFLED}, ["site_id"]),
    "hours": ({"hour": COUNT}, []),
    "time axis": ({"t": COUNT}, []),
    "time in seconds": ({"time [s]": COUNT + 1.0}, []),
    "ages": ({"age": COUNT + 20}, []),
    "counts": ({"visits": RNG.poisson(5, N)}, []),
    "words that end in id": ({"fluid": SHUFFLED, "humid": RNG.permutation(N)}, []),
    "acids": ({"amino acid": SHUFFLED, "acidity": RNG.permutation(N)}, []),
    "a sorted measurement": ({"dose": np.sort(RNG.integers(0, 500, N))}, []),
    "pixel positions": ({"row": COUNT // 8, "col": COUNT % 8}, []),
    "zip codes": ({"zip": RNG.integers(10_000, 99_999, N)}, []),
}


@pytest.mark.parametrize("name", FRAMES)
def test_columns_that_identify_or_count_rows_are_warned_of(name, recwarn):
    columns, expected = FRAMES[name]
    frame = pd.DataFrame({"a": A, "b": B, **columns})
    for given in (frame, pl.from_pandas(frame)):
        as_dataset(given, Estimator(), reset=True)
        texts = [str(each.message) for each in recwarn]
        assert [column for column in columns if any(f"{column!r}" in text for text in texts)] == expected
        assert len(texts) == len(expected)
        recwarn.clear()
    as_dataset(frame, Estimator(), reset=True, keep_integers=False)
    assert len(recwarn) == len(expected)


def test_the_remedy_for_a_file_is_an_option_and_new_rows_are_not_looked_at(recwarn):
    data = ArrayDataset(np.column_stack([A, SHUFFLED]))
    data.feature_names, data.source = ("a", "row_id"), Source("x.csv", path=__file__)
    warn_about_columns(data)
    (warning,) = [each.message for each in recwarn]
    assert isinstance(warning, MercerWarning) and warning.remedies == (Remedy("drop", ["row_id"]),)
    recwarn.clear()
    frame = pd.DataFrame({"a": A, "b": B})
    model = PCA(1).fit(frame)
    model.transform(frame.assign(a=COUNT))
    as_dataset(np.column_stack([COUNT, A]), Estimator(), reset=True)  # an array has no names
    assert not len(recwarn)


def test_names_of_ids():
    yes = [
        "id",
        "Id",
        "idx",
        "Index",
        "row",
        "row.names",
        "row_number",
        "gene_id",
        "sample id",
        "userID",
        "Patient",
        "obs",
    ]
    no = [
        "",
        "area",
        "width",
        "grid",
        "solid",
        "paid",
        "rid",
        "idea",
        "rowing",
        "sampled",
        "patients_seen",
        "PID",
        "x1",
    ]
    assert [name for name in yes if not looks_like_id(name)] == [] == [name for name in no if looks_like_id(name)]


def test_every_fit_warns_and_keeps_the_warning():
    with pytest.warns(MercerWarning, match="'id'"):
        model = PCA(1).fit(pd.DataFrame({"a": A, "b": B, "id": SHUFFLED}))
    assert any("'id'" in warning.summary for warning in model.fit_warnings_)


# ---------------------------------------------------------------------- frames that are not numeric

FRAME = pd.DataFrame({"a": A, "b": B, "c": A + B})
NOT_NUMERIC = {
    "strings": (FRAME.assign(b=["x"] * N), ["b"]),
    "codes": (FRAME.assign(b=[f"{i:05d}" for i in range(N)]), ["b"]),
    "codes as categories": (FRAME.assign(b=pd.Categorical([f"{i:05d}" for i in range(N)])), ["b"]),
    "polars codes": (pl.DataFrame({"a": A, "b": [f"{i:05d}" for i in range(N)]}), ["b"]),
    "a string": (FRAME.assign(b=pd.Series([1.0, "lots", *range(N - 2)], dtype=object)), ["b"]),
    "categories": (FRAME.assign(c=pd.Categorical(["u", "v"] * (N // 2))), ["c"]),
    "dates": (FRAME.assign(a=DAYS), ["a"]),
    "dates with a zone": (FRAME.assign(a=DAYS.tz_localize("UTC")), ["a"]),
    "durations": (FRAME.assign(a=DAYS - DAYS[0]), ["a"]),
    "periods": (FRAME.assign(a=DAYS.to_period("M")), ["a"]),
    "several": (FRAME.assign(a=DAYS, c="x"), ["a", "c"]),
    "polars strings": (pl.from_pandas(FRAME.assign(b=["x"] * N)), ["b"]),
    "polars dates": (pl.DataFrame({"a": A, "when": DAYS.to_numpy()}), ["when"]),
    "polars times": (pl.DataFrame({"a": [datetime.time(1)] * 3, "b": [1, 2, 3]}), ["a"]),
    "Arrow strings": (pa.table({"a": A, "b": ["x"] * N}), ["b"]),
    "Arrow dates": (pa.table({"a": A, "b": DAYS.date}), ["b"]),
}


@pytest.mark.parametrize("name", NOT_NUMERIC)
def test_columns_that_are_not_numeric_are_named_with_a_model_that_accepts_them(name):
    frame, columns = NOT_NUMERIC[name]
    for reset in (True, False):
        estimator = Estimator() if reset else PCA(1).fit(A[:, None] * np.ones((1, frame.shape[1])) + B[:, None] ** 2)
        with pytest.raises(DataError, match=r"mercer\.KernelPCA\(kernel=mercer\.kernels\.TableKernel\(\)\)") as caught:
            as_dataset(frame, estimator, reset=reset)
        assert caught.value.column == repr(columns[0])
        assert all(repr(column) in str(caught.value) for column in columns)


def test_many_columns_that_are_not_numeric_are_left_out_by_one_call():
    frame = pd.DataFrame({f"s{j}": ["x"] * N for j in range(9)} | {"a": A, "b": B})
    with pytest.raises(DataError) as caught:
        PCA(1).fit(frame)
    assert len(str(caught.value)) < 500 and 'X.select_dtypes("number")' in str(caught.value)
    assert PCA(1).fit(frame.select_dtypes("number")).n_features_in_ == 2


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_without_columns_are_refused_in_the_words_of_scikit_learn(make):
    with pytest.raises(DataError, match=r"Found array with 0 feature\(s\) \(shape=\(\d, 0\)\)"):
        PCA(1).fit(make({}))


def test_a_column_of_strings_names_a_kernel_of_strings():
    class WithKernel(Estimator):
        kernel = "rbf"

    for X in (["homer", "marge"], np.array([["homer"], ["marge"]]), pd.DataFrame({"name": ["homer", "marge"]})):
        with pytest.raises(DataError, match=r"kernel=mercer\.kernels\.Spectrum\(3\)") as caught:
            as_dataset(X, WithKernel(), reset=True)
        assert (caught.value.row, caught.value.value) == (0, "homer")


def test_numbers_of_all_types_of_frames_are_accepted():
    frame = pd.DataFrame(
        {
            "nullable": pd.array(range(N), dtype="Int64"),
            "boolean": [True, False] * (N // 2),
            "category": pd.Categorical([1.5, 2.5] * (N // 2)),
            "objects": pd.Series(range(N), dtype=object),
            "year": 1980 + COUNT,
        }
    )
    expected = np.column_stack([COUNT, COUNT % 2 == 0, np.where(COUNT % 2, 2.5, 1.5), COUNT, 1980 + COUNT])
    with pytest.warns(MercerWarning, match="counts the rows"):
        assert_array_equal(as_dataset(frame, Estimator(), reset=True).load(), expected)


def test_missing_values_of_frames_where_they_are_accepted():
    frame = pd.DataFrame({"a": pd.Series([1.0, None, pd.NA], dtype=object), "b": pd.array([1, None, 3], dtype="Int64")})
    data = as_dataset(frame, Estimator(), reset=True, allow_nan=True)
    assert_array_equal(data.load(), [[1, 1], [np.nan, np.nan], [np.nan, 3]])
    assert data.feature_names == ("a", "b")


# ---------------------------------------------------------------------- tables of all types

COLUMNS = {
    "floats": [1, None, 2.5, float("nan")],
    "decimals": [Decimal("1.5"), None],
    "uint8": np.array([1, 2], dtype=np.uint8),
    "durations": [datetime.timedelta(hours=36), None],
    "dates": [datetime.date(2024, 1, 1), None],
    "numpy dates": np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
    "numpy minutes": np.array(["2024-01-01T10:01", "NaT"], dtype="datetime64[m]"),
    "numpy hours": np.array([36, "NaT"], dtype="timedelta64[h]"),
    "times with a zone": [datetime.datetime(2024, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))],
    "strings": ["b", "a", None, "b"],
    "strings with NaN": ["a", float("nan"), pd.NA],
    "bytes": [b"x", b"y", None],
    "Booleans": [True, None, np.True_, False],
    "sets": [{1, 2}, None, {3}],
    "lists of strings": [["a", "b"], ["b", "a"], []],
    "frozensets": [frozenset("ab"), frozenset("c")],
    "all missing": [None, float("nan")],
}
KINDS = {"numbers": "numbers", "dates": "dates", "text": "string", "truth": "boolean", "sets": "set"}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_those_of_the_first_edition(name):
    old = as_cells(COLUMNS[name])
    column = as_table({"x": COLUMNS[name]}).columns["x"]
    if isinstance(old, Coded):
        assert isinstance(column, Categories) and column.type == KINDS[old.kind]
        assert column.codes.tolist() == old.codes.tolist() and column.values.tolist() == old.values.tolist()
    else:
        assert column.dtype == ("datetime64[us]" if kind_of(old) == "dates" else np.float64)
        assert_array_equal(column, old)
    assert values_of(column) == things_of(old)


@pytest.mark.parametrize("values", [[1, "a"], [[1.5], [2.5]], [object()], [{"a": 1}]], ids=range(4))
def test_a_column_that_cannot_be_compared_does_not_fail_the_others(values):
    table = as_table({"odd": values, "x": np.arange(len(values))})
    assert isinstance(table.columns["odd"], UnusableColumn) and table.columns["odd"].reason
    assert values_of(table.columns["odd"]) == [None] * len(values) and table.columns["x"].tolist() == [
        *range(len(values))
    ]


def mixed(n=12):
    frame = pd.DataFrame({"mass": A[:n], "color": ["red", "blue", None] * (n // 3), "when": DAYS[:n], "ok": A[:n] > 0})
    frame.loc[3, "mass"] = None
    return frame


HOLDERS = {
    "pandas": lambda frame: frame,
    "pandas objects": lambda frame: frame.astype({"color": object}),
    "polars": pl.from_pandas,
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "Arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "Arrow batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
    "dict": lambda frame: {name: frame[name] for name in frame},
    "dict of lists": lambda frame: {name: frame[name].tolist() for name in frame},
}


@pytest.mark.parametrize("name", HOLDERS)
def test_tables_of_all_libraries_are_equal(name):
    table, reference = as_table(HOLDERS[name](mixed())), as_table(mixed())
    assert table.names == reference.names and list(table) == list(reference)


def test_structured_arrays_are_tables():
    rows = np.array([(1.5, "a"), (2.5, "b")], dtype=[("x", float), ("s", "U1")])
    assert list(as_table(rows)) == [(1.5, "a"), (2.5, "b")]


def test_declared_categories_keep_their_order_and_may_be_numbers():
    sizes = pd.Categorical(["L", "S", None], categories=["S", "M", "L"], ordered=True)
    column = as_table(pd.DataFrame({"size": sizes})).columns["size"]
    assert (
        column.ordered
        and column.declared
        and column.values.tolist() == ["S", "M", "L"]
        and column.codes.tolist() == [2, 0, -1]
    )
    table = as_table(pd.DataFrame({"x": pd.Categorical([3, 1, None]), "b": pd.Categorical([True, False, True])}))
    numbers, booleans = table.columns["x"], table.columns["b"]
    assert (numbers.type, numbers.declared, numbers.ordered) == ("numeric", True, False)
    assert (booleans.type, booleans.declared) == ("boolean", True)
    assert values_of(numbers) == [3, 1, None] and values_of(booleans) == [True, False, True]
    assert not as_table({"s": ["a", "b"]}).columns["s"].declared
    assert concatenate_tables([table, table[:1]]).columns["x"].declared


def test_tables_are_samples():
    table = as_table(mixed())
    data = ArrayDataset(table, "table")
    assert data.shape == (12, 4) and len(data) == 12 and 12 * 8 < data.nbytes < 12 * 100
    assert [len(block) for block in data.blocks(5)] == [5, 5, 2]
    rows = list(table)
    assert list(data.take(np.array([7, 3, 3]))) == [rows[i] for i in (7, 3, 3)]
    assert list(data.load(np.arange(12) < 2)) == rows[:2]
    assert list(concatenate_tables(list(data.blocks(5)))) == rows
    assert list(pickle.loads(pickle.dumps(table))) == rows  # noqa: S301
    assert isinstance(repr(table), str) and isinstance(table[:2], Table)


def test_parts_of_a_table_are_joined_by_value():
    one, other = as_table({"x": ["a", "b"], "y": [1, 2]}), as_table({"x": ["c", "b", None], "y": ["u", "v", "w"]})
    joined = concatenate_tables([one, other])
    assert values_of(joined.columns["x"]) == ["a", "b", "c", "b", None]
    assert isinstance(joined.columns["y"], UnusableColumn)


def test_as_dataset_stores_the_columns_of_a_table_and_finds_them_in_any_order():
    estimator = Estimator()
    data = as_dataset(mixed(), estimator, reset=True, kind="table")
    assert data.kind == "table" and estimator.n_features_in_ == 4
    assert estimator.feature_names_in_.tolist() == ["mass", "color", "when", "ok"]
    again = as_dataset(mixed()[["when", "ok", "color"]], estimator, reset=False, kind="table")
    assert again.samples.names == ["when", "ok", "color"]  # the kernel reports what is missing


@pytest.mark.parametrize(
    "X",
    ["t.csv", np.ones((3, 2)), [1, 2], {}, {"a": [1], "b": [1, 2]}, {"a": []},
     pd.DataFrame([[1, 2]], columns=["a", "a"])],
    ids=lambda X: f"{type(X).__name__} {len(X)}",
)  # fmt: skip
def test_what_is_not_a_table_is_refused(X):
    with pytest.raises(DataError):
        as_table(X)


def test_durations_are_days():
    assert_allclose(as_table({"x": [datetime.timedelta(hours=36)]}).columns["x"], [1.5])


def test_features_of_a_file_are_those_of_the_fit(tmp_path):
    """Roles are guessed when a model is fitted, not again for each file."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=[*"abc"]).assign(n=np.arange(1, 61))
    for name, rows in {"first": frame[:30], "second": frame[30:], "short": frame[:5]}.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.warns(MercerWarning, match="Ids from column 'n'"):
        model = PCA(2).fit(tmp_path / "first.csv")
    assert [*model.feature_names_in_] == [*"abc"]
    assert any("'n'" in warning.summary for warning in model.fit_warnings_)
    for name, rows in {"second": frame[30:], "short": frame[:5]}.items():
        assert_allclose(model.transform(tmp_path / f"{name}.csv"), model.transform(rows[[*"abc"]]), rtol=1e-12)


@pytest.mark.parametrize(
    ("method", "name", "options", "parameter"),
    [
        ("transform", "a.csv", {"size": 1}, "size"),
        ("transform", "a.csv", {"sample_weight": np.ones(20)}, "sample_weight"),
        ("denoise", "a.h5ad", {}, "path"),
    ],
)
def test_transform_to_rejects_what_it_would_ignore(tmp_path, method, name, options, parameter):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ParameterError) as caught:
        PCA(2).fit(X).transform_to(X, tmp_path / name, method=method, **options)
    assert caught.value.parameter == parameter and not (tmp_path / name).exists()


def test_numbers_of_either_byte_order_are_numbers():
    fields = [("a", ">f8"), ("b", "<i4"), ("c", ">U2")]
    table = as_table(np.array([(1.5, 2, "x"), (2.5, 3, "y")], dtype=fields))
    assert table.columns["a"].tolist() == [1.5, 2.5] and table.columns["b"].tolist() == [2, 3]
    assert values_of(table.columns["c"]) == ["x", "y"]


@pytest.mark.parametrize("value", [5, "abc", None])
def test_a_dict_needs_columns(value):
    with pytest.raises(DataError, match="'a'"):
        as_table({"a": value, "b": [1, 2, 3]})


def test_labels_with_underscores_are_not_numbers():
    metadata = Metadata({"batch": ["1_1", "11"], "n": ["1", "2"]})
    assert metadata.values("batch").tolist() == ["1_1", "11"] and metadata.values("n").tolist() == [1, 2]
