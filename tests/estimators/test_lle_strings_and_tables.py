"""Locally linear embedding of strings and of tables of mixed columns with missing values."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DataError, MercerWarning, MissingValuesError, ParameterError
from mercer.estimators import LocallyLinearEmbedding
from mercer.kernels.base import get_kernel
from mercer.kernels.strings.counting import Spectrum
from mercer.kernels.strings.subsequence import Subsequence
from mercer.kernels.tables.column_kinds import Numeric
from mercer.kernels.tables.table_kernel import TableKernel

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
STRING_METRICS = ["spectrum", "gapped_kmer", "mismatch", "weighted_degree", "subsequence", Spectrum(2), Subsequence(2)]


def strings(n=90, seed=0):
    """Distinct strings between two prototypes, so that near neighbors have few characters exchanged."""
    rng = np.random.default_rng(seed)
    start, end = "abacabadabacaba", "cdcdbdcdadcdbdc"
    found = {}
    while len(found) < n:
        place = rng.uniform()
        noisy = [b if rng.uniform() < place else a for a, b in zip(start, end, strict=True)]
        noisy[rng.integers(len(noisy))] = rng.choice(list("abcd"))
        found["".join(noisy)] = None
    return list(found)


def table(n=120, seed=0):
    """Numbers, classes, dates and strings along one parameter; a tenth of the cells of three columns is missing."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 3, size=n))
    frame = pd.DataFrame(
        {
            "length": np.cos(t) + 0.02 * rng.normal(size=n),
            "weight": 50 * np.sin(t) + rng.normal(size=n),
            "class": np.array(["low", "middle", "high"])[np.minimum(t, 2).astype(int)],
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta((300 * t).round(), unit="D"),
            "name": np.array(["anna", "annabel", "isabel"])[np.minimum(t + 0.5, 2).astype(int)],
        }
    )
    for name in ("length", "class", "date"):
        frame.loc[rng.uniform(size=n) < 0.1, name] = None
    return frame


def fit(X, **params):
    return LocallyLinearEmbedding(**{"n_neighbors": 8} | params).fit(X)


def distances(kernel, X, Y):
    own, others = kernel.diag(X), kernel.diag(Y)
    return np.sqrt(np.maximum(np.asarray(own)[:, None] + np.asarray(others) - 2 * kernel(X, Y), 0.0))


def same_up_to_signs(Y, Z, atol):
    signs = np.sign((Y * Z).sum(axis=0))
    np.testing.assert_allclose(Y, Z * signs, atol=atol)


def with_new(model, new):
    return np.vstack([model.embedding_, model.transform(new)])


# ---------------------------------------------------------------------- strings


@quiet
@pytest.mark.parametrize("metric", STRING_METRICS, ids=str)
def test_strings_are_embedded_by_their_distances_in_the_feature_space(metric):
    X, new = strings(), strings(100)[90:]
    model = fit(X, metric=metric)
    kernel = model._graph.space.kernel
    as_objects, new_objects = np.array(X, dtype=object), np.array(new, dtype=object)
    by_distances = fit(distances(kernel, as_objects, as_objects), metric="precomputed")
    assert model.certificate_.certified and model.n_features_in_ == 1
    np.testing.assert_allclose(model.neighbor_distances_, by_distances.neighbor_distances_, atol=1e-7)
    n_others = np.sum(np.any(np.sort(model.neighbors_) != np.sort(by_distances.neighbors_), axis=1))
    assert n_others <= model.n_ties_
    if n_others:  # rounding decided between neighbors that are equally near
        return
    same_up_to_signs(model.embedding_, by_distances.embedding_, 1e-6)
    found = by_distances.transform(distances(kernel, new_objects, as_objects))
    same_up_to_signs(
        np.vstack([model.embedding_, model.transform(new)]), np.vstack([by_distances.embedding_, found]), 1e-6
    )


@quiet
@pytest.mark.parametrize("convert", [np.array, partial(np.array, dtype=object), pd.Series, tuple], ids="UOST")
def test_strings_in_any_container_are_the_same(convert):
    X = strings()
    model, first = fit(convert(X), metric="spectrum"), fit(X, metric="spectrum")
    np.testing.assert_array_equal(model.embedding_, first.embedding_)
    np.testing.assert_array_equal(model.transform(convert(X)), first.embedding_)


@quiet
def test_training_strings_have_their_own_coordinates_in_any_batch():
    X = strings()
    model = fit(X, metric="mismatch")
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(model.transform(X[17:18]), model.embedding_[17:18])
    travelled = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(travelled.transform(X), model.embedding_)
    new = strings(100)[90:]
    alone = np.vstack([model.transform([text]) for text in new])
    np.testing.assert_allclose(model.transform(new), alone, atol=1e-12)


@quiet
def test_distinct_strings_of_equal_counts_are_not_taken_for_each_other():
    """Both have the 2-grams ab, ba, ab once more: distance zero, and a place of their own."""
    X = [*strings(60), "abcabdab", "abdabcab"]
    kernel = Spectrum(2)
    assert distances(kernel, np.array(X[-2:-1], dtype=object), np.array(X[-1:], dtype=object))[0, 0] == 0
    model = fit(X, metric=kernel)
    assert model.neighbors_[-1, 0] == 60 and model.neighbors_[-2, 0] == 61
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_equal_strings_share_their_coordinates():
    X = strings(40)
    with pytest.warns(MercerWarning, match=r"480 of 480 rows equal all of their 8 neighbors\. The 40 distinct rows"):
        model = fit(X * 12, metric="spectrum")
    np.testing.assert_array_equal(model.embedding_, np.tile(model.embedding_[:40], (12, 1)))
    same_up_to_signs(
        model.embedding_[:40] / np.linalg.norm(model.embedding_[:40], axis=0),
        fit(X, metric="spectrum").embedding_,
        1e-6,
    )


@quiet
def test_landmarks_and_an_automatic_number_of_neighbors_take_strings(tmp_path):
    X = strings(200)
    path = tmp_path / "strings.txt"
    path.write_text("\n".join(X), encoding="utf-8")
    model = LocallyLinearEmbedding(metric="spectrum", n_neighbors="auto", n_landmarks=100).fit(X)
    assert 4 <= model.n_neighbors_ <= 40 and model.n_neighbors_reason_.startswith(f"n_neighbors={model.n_neighbors_}: ")
    assert model.certificate_.certified and model.embedding_.shape == (200, 2)
    np.testing.assert_array_equal(
        model.embedding_[model.landmark_indices_], model.transform(X)[model.landmark_indices_]
    )
    read = LocallyLinearEmbedding(metric="spectrum", n_neighbors="auto", n_landmarks=100).fit(path)
    np.testing.assert_array_equal(read.embedding_, model.embedding_)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([*strings(20), None], r"1 of 21 items are not strings\. Item 20 is missing"),
        (np.zeros((20, 3)), r"a matrix of numbers of shape \(20, 3\), but this kernel compares strings"),
        (strings(5), r"Expected n_neighbors < n_samples"),
    ],
)
def test_unusable_strings_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        fit(X, metric="spectrum")


@quiet
@pytest.mark.parametrize("kind", ["str", "bytes"])
def test_strings_and_bytes_do_not_mix(kind):
    X, other = strings(), [text.encode() for text in strings()]
    X, other = (X, other) if kind == "str" else (other, X)
    model = fit(X, metric="spectrum")
    with pytest.raises(DataError, match="Decode the bytes first"):
        model.transform(other[:3])


# ---------------------------------------------------------------------- tables


@quiet
def test_tables_are_embedded_by_their_distances_in_the_feature_space():
    frame, new = table(), table(40, seed=1)
    model = fit(frame, metric="table", n_neighbors=25)
    space = model._graph.space
    by_distances = fit(distances(space.kernel, space.samples, space.samples), metric="precomputed", n_neighbors=25)
    assert model.certificate_.certified
    same_up_to_signs(model.embedding_, by_distances.embedding_, 1e-6)
    rows = model.open(new).load()
    found = by_distances.transform(distances(space.kernel, rows, space.samples))
    same_up_to_signs(
        np.vstack([model.embedding_, model.transform(new)]), np.vstack([by_distances.embedding_, found]), 1e-6
    )
    assert list(model.feature_names_in_) == list(frame.columns) and model.n_features_in_ == 5
    with pytest.raises(AttributeError, match="nbrs_: scikit-learn has no search for the distance of a kernel"):
        _ = model.nbrs_


@quiet
def test_the_embedding_of_a_table_follows_what_its_columns_have_in_common():
    """The parameter along which rows were drawn comes back although a tenth of three columns is missing."""
    model = LocallyLinearEmbedding(n_neighbors=20, n_components=1, metric="table").fit(table())
    order = np.argsort(np.argsort(model.embedding_[:, 0]))
    assert abs(np.corrcoef(order, np.arange(120))[0, 1]) > 0.9


@quiet
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame,
        lambda frame: frame[frame.columns[::-1]],
        lambda frame: frame.assign(more=range(len(frame))),
        lambda frame: {name: list(frame[name]) for name in frame.columns[::-1]},
        lambda frame: frame.assign(**{"class": frame["class"].astype("category")}),
    ],
    ids=["same", "reversed columns", "one more column", "mapping", "declared categories"],
)
@pytest.mark.parametrize("n_landmarks", [None, 60])
def test_training_rows_of_a_table_have_their_own_coordinates(change, n_landmarks):
    frame = table()
    model = fit(frame, metric="table", n_landmarks=n_landmarks)
    own = slice(None) if n_landmarks is None else model.landmark_indices_
    np.testing.assert_array_equal(model.transform(change(frame))[own], model.embedding_[own])
    np.testing.assert_allclose(model.transform(change(frame)), model.embedding_, atol=1e-9)
    placed = model.place(change(frame))
    assert (placed.residuals[own] == 0).all() and (placed.nearest[own] == 0).all()


@quiet
def test_tables_in_files_are_embedded_like_frames(tmp_path):
    frame = table().drop(columns="date")
    frame.to_parquet(tmp_path / "table.parquet")
    for params in ({}, {"n_landmarks": 60}):
        model = fit(frame, metric="table", **params)
        read = fit(tmp_path / "table.parquet", metric="table", **params)
        np.testing.assert_allclose(read.embedding_, model.embedding_, atol=1e-12)
        np.testing.assert_allclose(model.transform(tmp_path / "table.parquet"), model.embedding_, atol=1e-9)


@quiet
def test_columns_of_a_table_may_be_chosen():
    frame = table()
    model = fit(frame, metric=TableKernel({"length": Numeric(), "weight": Numeric()}))
    narrow = fit(frame[["length", "weight"]], metric="table")
    assert model.embedding_.shape == narrow.embedding_.shape
    np.testing.assert_array_equal(model.transform(frame), model.embedding_)


@quiet
def test_values_that_the_fit_has_not_seen_are_placed():
    frame, new = table(), table(3, seed=5)
    new.loc[0, "class"] = "unheard of"
    new.loc[1, ["length", "class", "date"]] = None
    placed = fit(frame, metric="table").place(new)
    assert np.isfinite(placed.embedding).all() and (placed.nearest > 0).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda frame: frame[["length", "class", "date", "name"]], ValueError, "X has no column 'weight'"),
        (lambda frame: frame.assign(weight="heavy"), ValueError, "weight"),
        (lambda frame: np.zeros((3, 5)), ValueError, None),
    ],
    ids=["column missing", "other type", "numbers"],
)
@quiet
def test_tables_that_do_not_fit_the_model_are_refused(change, error, message):
    model = fit(table(), metric="table")
    with pytest.raises(error, match=message):
        model.transform(change(table(3, seed=1)))


def test_tables_have_no_columns_to_standardize_and_vectors_no_missing_values():
    with pytest.raises(ParameterError, match="standardize=True must be False for table"):
        fit(table(), metric="table", standardize=True)
    with pytest.raises(MissingValuesError):
        fit(table()[["length", "weight"]])


def test_a_table_in_two_groups_is_reported():
    frame = pd.DataFrame({"group": ["a"] * 30 + ["b"] * 30, "value": np.random.default_rng(0).uniform(size=60)})
    with pytest.warns(MercerWarning, match="2 connected components of 30 and 30 rows"):
        model = LocallyLinearEmbedding(n_neighbors=5, metric="table").fit(frame)
    np.testing.assert_array_equal(model.connected_component_labels_, np.repeat([0, 1], 30))
    with warnings.catch_warnings(), pytest.raises(DataError, match="is disconnected"):
        LocallyLinearEmbedding(n_neighbors=5, metric="table", on_disconnected="raise").fit(frame)


@quiet
def test_names_of_kernels_are_the_kernels():
    X = strings()
    by_name, by_kernel = fit(X, metric="spectrum"), fit(X, metric=get_kernel("spectrum"))
    np.testing.assert_array_equal(by_name.embedding_, by_kernel.embedding_)
