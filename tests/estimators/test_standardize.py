"""Columns in different units: what standardizing does, and what is said without it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA as TheirPCA
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.metrics.pairwise import rbf_kernel

import mercer
import mercer_old.errors
from mercer import PCA, KernelPCA, LocallyLinearEmbedding, locally_linear_embedding
from mercer.kernels import RBF, Laplacian, Matern
from mercer_old.errors import BadData, MercerWarning
from mercer_old.readings.columns import about_unit, about_units, constant, dominating
from mercer_old.sources.held import HeldRows
from mercer_old.sources.row_numbers import counting

WINE = load_wine().data
DEVIATIONS = WINE.std(axis=0, ddof=1)
COLUMNS = load_wine().feature_names
RNG = np.random.default_rng(7)
WEIGHTS = RNG.integers(0, 4, size=len(WINE)).astype(float)

# ---------------------------------------------------------------------- standardize=True


def as_kernel_pca(**params):
    return KernelPCA(3, **{"kernel": "rbf"} | params)


WAYS = {
    "LAPACK": dict(eigen_solver="dense"),
    "Krylov": dict(eigen_solver="krylov", tol=1e-12),
    "median": dict(gamma="median"),
    "linear": dict(kernel="linear"),
    "poly": dict(kernel="poly"),
    "cosine": dict(kernel="cosine"),
    "Matern": dict(kernel=Matern(length_scale=4.0)),
    "landmarks": dict(n_landmarks=70),
    "numbers": dict(landmarks=np.arange(0, 170, 2)),
    "refined": dict(n_landmarks=150, refine=2),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_standardizing_is_kernel_pca_of_divided_columns(way, kind):
    ours = as_kernel_pca(standardize=True, **WAYS[way]).fit(kind(WINE))
    other = as_kernel_pca(**WAYS[way]).fit(kind(WINE / DEVIATIONS))
    assert_allclose(ours.scale_, DEVIATIONS, rtol=1e-12)
    assert_allclose(ours.eigenvalues_, other.eigenvalues_, rtol=1e-8)
    assert_allclose(ours.total_variance_, other.total_variance_, rtol=1e-10)
    new = WINE[::3] + 0.1
    assert_allclose(ours.transform(kind(new)), other.transform(kind(new / DEVIATIONS)), atol=1e-6)
    assert_allclose(ours.transform(kind(WINE)), ours.fit_transform(kind(WINE)), atol=1e-6)


def test_standardized_explained_variance_makes_sense_of_wine():
    theirs = Theirs(kernel="rbf").fit(WINE / DEVIATIONS)
    total = theirs.eigenvalues_.sum()
    ours = as_kernel_pca(standardize=True).fit(WINE)
    assert_allclose(ours.explained_variance_ratio_, theirs.eigenvalues_[:3] / total, rtol=1e-6)
    assert ours.explained_variance_ratio_[0] > 0.15


def test_the_linear_kernel_standardized_is_pca_of_the_correlations():
    ours = KernelPCA(13, kernel="linear", standardize=True).fit(WINE)
    assert_allclose(ours.explained_variance_, TheirPCA().fit(WINE / DEVIATIONS).explained_variance_, rtol=1e-10)
    assert_allclose(ours.total_variance_, 13.0, rtol=1e-12)


def test_weights_count_in_the_standard_deviations():
    repeated = np.repeat(WINE, WEIGHTS.astype(int), axis=0)
    ours = as_kernel_pca(standardize=True).fit(WINE, sample_weight=WEIGHTS)
    assert_allclose(ours.scale_, repeated.std(axis=0, ddof=1), rtol=1e-12)
    other = as_kernel_pca(standardize=True).fit(repeated)
    assert_allclose(ours.eigenvalues_, other.eigenvalues_, rtol=1e-10)
    assert_allclose(np.abs(ours.transform(WINE)), np.abs(other.transform(WINE)), atol=1e-8)
    assert_allclose(ours.fit_transform(WINE, sample_weight=WEIGHTS), ours.transform(WINE), atol=1e-8)


def test_landmarks_are_given_and_kept_in_the_units_of_the_rows():
    numbers = np.arange(0, 170, 2)
    by_number = as_kernel_pca(standardize=True, landmarks=numbers).fit(WINE)
    assert_allclose(by_number.landmarks_, WINE[by_number.landmark_indices_], rtol=1e-14)
    by_row = as_kernel_pca(standardize=True, landmarks=WINE[numbers]).fit(WINE)
    assert_allclose(by_row.eigenvalues_, by_number.eigenvalues_, rtol=1e-10)
    again = as_kernel_pca(standardize=True, landmarks=sparse.csr_array(by_row.landmarks_)).fit(sparse.csr_array(WINE))
    assert_allclose(again.eigenvalues_, by_number.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("way", [{}, dict(n_landmarks=150), dict(n_landmarks=150, refine=5)], ids=str)
def test_the_inverse_gives_rows_in_their_own_units(way):
    params = dict(kernel="rbf", fit_inverse_transform=True, alpha=1e-3, **way)
    ours = KernelPCA(20, standardize=True, **params).fit(WINE)
    other = KernelPCA(20, **params).fit(WINE / DEVIATIONS)
    back = ours.inverse_transform(ours.transform(WINE))
    assert_allclose(back, other.inverse_transform(other.transform(WINE / DEVIATIONS)) * DEVIATIONS, rtol=1e-5)
    assert np.mean(((back - WINE) / DEVIATIONS) ** 2) < 0.2  # of the variance of a column


@pytest.mark.parametrize("params", [{}, dict(n_landmarks=60), dict(n_landmarks=150, refine=2)], ids=str)
def test_a_file_standardized_is_the_array_standardized(tmp_path, params):
    path = tmp_path / "wine.npy"
    np.save(path, WINE)
    from_file, from_array = (as_kernel_pca(standardize=True, **params) for _ in range(2))
    scores = from_file.fit_transform(path)
    assert_allclose(scores, from_array.fit_transform(WINE), rtol=1e-9, atol=1e-12)
    assert_allclose(from_file.scale_, from_array.scale_, rtol=1e-13)
    assert_allclose(from_file.transform(path), scores, atol=1e-7)
    weighted = [as_kernel_pca(standardize=True, **params).fit(X, sample_weight=WEIGHTS) for X in (path, WINE)]
    assert_allclose(weighted[0].eigenvalues_, weighted[1].eigenvalues_, rtol=1e-7)


def test_a_file_that_is_standardized_is_not_overwritten_by_its_scores(tmp_path):
    path = tmp_path / "wine.npy"
    np.save(path, WINE)
    model = as_kernel_pca(standardize=True).fit(path)
    with pytest.raises(mercer_old.errors.MercerError):
        model.transform_to(path, path)
    assert_allclose(np.load(path), WINE)


def test_narrow_rows_stay_narrow():
    rows = WINE.astype(np.float32)
    ours = as_kernel_pca(standardize=True).fit(rows)
    assert ours.scale_.dtype == ours.transform(rows).dtype == ours.X_fit_.dtype == np.float32
    assert_allclose(ours.eigenvalues_, as_kernel_pca(standardize=True).fit(WINE).eigenvalues_, rtol=1e-5)


def test_whole_numbers_are_divided_as_numbers():
    rows = RNG.integers(0, 1000, size=(60, 3)) * [1, 10, 1000]
    ours = as_kernel_pca(standardize=True).fit(rows)
    assert_allclose(ours.eigenvalues_, as_kernel_pca(standardize=True).fit(rows.astype(float)).eigenvalues_)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("model", [KernelPCA(2, kernel="rbf"), LocallyLinearEmbedding(n_neighbors=8)], ids=str)
def test_a_constant_column_is_left_as_it_is_and_said(model, kind):
    rows = np.insert(WINE, 3, 5.0, axis=1)
    model = clone(model).set_params(standardize=True)
    with pytest.warns(MercerWarning, match=r"1 of 14 columns are constant \(3\)"):
        model.fit(kind(rows))
    assert model.scale_[3] == 1.0
    assert_allclose(np.delete(model.scale_, 3), DEVIATIONS, rtol=1e-12)


def test_a_refit_without_standardizing_forgets_the_scale():
    for model in (KernelPCA(2, kernel="linear", standardize=True), LocallyLinearEmbedding(standardize=True)):
        rows = WINE[:, :3]
        model.fit(rows)
        scaled = model.transform(rows)
        model.set_params(standardize=False).fit(rows)
        assert not hasattr(model, "scale_")
        assert np.abs(model.transform(rows) - scaled).max() > 1e-3


def test_a_matrix_of_items_has_no_columns_to_standardize():
    for model in (KernelPCA(2, kernel="precomputed"), LocallyLinearEmbedding(metric="precomputed")):
        with pytest.raises(ValueError, match="has no columns"):
            model.set_params(standardize=True).fit(np.eye(30))


def test_squares_that_are_no_numbers_are_refused_in_words():
    rows = RNG.normal(size=(40, 2)) * [1, 1e200]
    for model in (KernelPCA(2, kernel="rbf"), LocallyLinearEmbedding()):
        with pytest.raises(BadData, match="far too large"):
            model.set_params(standardize=True).fit(rows)


def test_standardized_rows_are_part_of_the_plan():
    rows = RNG.normal(size=(2000, 50))
    rows /= rows.std(axis=0, ddof=1)
    plain, scaled = (KernelPCA(3, kernel="rbf", copy_X=False, standardize=s).plan(rows) for s in (False, True))
    assert scaled.memory - plain.memory == rows.nbytes
    plain, scaled = (LocallyLinearEmbedding(standardize=s).plan(rows) for s in (False, True))
    assert scaled.memory - plain.memory == rows.nbytes
    plain, scaled = (mercer.plan(2000, 50, copy_X=False, standardize=s) for s in (False, True))
    assert scaled.memory - plain.memory == rows.nbytes


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, "file"])
@pytest.mark.parametrize("method", ["standard", "modified"])
def test_standardizing_is_lle_of_divided_columns(kind, method, tmp_path):
    if kind == "file":
        np.save(tmp_path / "wine.npy", WINE)
        X = tmp_path / "wine.npy"
    else:
        X = kind(WINE)
    params = dict(n_neighbors=12, method=method, on_disconnected="raise")
    ours = LocallyLinearEmbedding(standardize=True, **params).fit(X)
    other = LocallyLinearEmbedding(**params).fit(WINE / DEVIATIONS)
    assert_allclose(ours.scale_, DEVIATIONS, rtol=1e-12)
    assert_allclose(ours.embedding_, other.embedding_, atol=1e-6)
    assert_allclose(ours.residuals_, other.residuals_, rtol=1e-6)
    new = WINE[::3] + 0.01 * DEVIATIONS
    assert_allclose(ours.place(new).embedding, other.place(new / DEVIATIONS).embedding, atol=1e-6)
    assert_allclose(ours.place(new).nearest, other.place(new / DEVIATIONS).nearest, rtol=1e-6)
    assert_allclose(ours.transform(X), ours.embedding_, atol=1e-8)


def test_lle_as_a_function_standardizes_too():
    Y, _ = locally_linear_embedding(WINE, n_neighbors=12, n_components=2, standardize=True)
    other, _ = locally_linear_embedding(WINE / DEVIATIONS, n_neighbors=12, n_components=2)
    assert_allclose(Y, other, atol=1e-6)


# ---------------------------------------------------------------------- what is said without it

# Arrests per 100,000 people and per cent of people in towns: a table of four units, as everybody has one.
CRIME = np.column_stack(
    [
        np.clip(RNG.normal(7.8, 4.4, size=60), 0.8, None).round(1),
        RNG.normal(171, 83, size=60).round(),
        RNG.normal(66, 14, size=60).round(),
        np.clip(RNG.normal(21, 9.4, size=60), 7, None).round(1),
    ]
)


def told(model, X, **params):
    """What a fit warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, **params)
    return [str(one.message) for one in caught if "The direction of component" not in str(one.message)]


FRAME = pd.DataFrame(CRIME, columns=["murder", "assault", "urban", "rape"])
ASSAULT = f"{CRIME[:, 1].var() / CRIME.var(axis=0).sum():.1%}"


@pytest.mark.parametrize("params", [{}, dict(eigen_solver="krylov")], ids=str)
def test_rows_that_are_alone_are_told_in_one_warning_with_the_column_and_what_to_try(params):
    (message,) = told(KernelPCA(2, kernel="rbf", **params), FRAME)
    assert message.startswith("Every row is alone to this kernel")
    assert f"Column 'assault' has {ASSAULT} of the summed variance of all 4 columns" in message
    assert message.endswith('Try standardize=True or gamma="median".')
    assert not told(KernelPCA(2, kernel="rbf", standardize=True, **params), FRAME)


@pytest.mark.parametrize("limit", [None, "40MB"])  # the matrix held, and computed anew
def test_the_company_of_a_typical_row_is_what_the_formula_says(limit):
    X = RNG.normal(size=(2500, 3))
    weights = RNG.integers(1, 4, size=2500) / 7
    for gamma, w in ((90.0, None), (150.0, weights)):
        K = rbf_kernel(X, gamma=gamma) * (1.0 if w is None else w / w.mean())
        company = np.median(K.sum(axis=1) - np.diag(K))
        assert 1e-3 < company < 0.25
        model = KernelPCA(2, kernel="rbf", gamma=gamma, memory_limit=limit, eigen_solver="krylov", tol=1e-2)
        (message,) = told(model, X, sample_weight=w)
        assert f"sum up to {company:.2g}, against 1" in message
        assert f"gamma={gamma:g} is far too large" in message
        assert model.plan_.held == ("gram" if limit is None else "recomputed")


@pytest.mark.parametrize(
    "kernel", [Matern(1.5, 1e-3), Laplacian(1e3), 3.0 * RBF(1e6), RBF(1e3) * Matern(0.5, 1e-3)], ids=repr
)
def test_every_kernel_that_falls_with_distance_is_looked_at(kernel):
    (message,) = told(KernelPCA(2, kernel=kernel), CRIME)
    assert "Every row is alone" in message and "Column 1" in message and "standardize=True" in message
    (message,) = told(KernelPCA(2, kernel=kernel, standardize=True), CRIME)
    assert "Every row is alone" in message and ("too narrow" in message or "too large" in message)
    assert "standardize" not in message


@pytest.mark.parametrize("kernel", [Matern(1.5, 1e5), Laplacian(1e-6), 3.0 * RBF(1e-8)], ids=repr)
@pytest.mark.parametrize("params", [{}, dict(n_landmarks=50)], ids=str)
def test_rows_that_look_nearly_the_same_are_told(kernel, params):
    apart = 1 - kernel.block(CRIME, CRIME).mean() / kernel.diag(CRIME[:1])[0]
    assert 0 < apart < 1e-3
    (message,) = told(KernelPCA(1, kernel=kernel, **params), CRIME)
    assert (
        f"All rows look nearly the same to this kernel: on average the similarity of two of them is 1 − {apart:.1g}"
        in message
    )
    assert "for the scale of the data. Try standardize=True" in message


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(2, kernel="rbf", gamma="median"),
        KernelPCA(2, kernel="rbf", gamma=1e-3, n_landmarks=50),
        LocallyLinearEmbedding(n_neighbors=10),
        LocallyLinearEmbedding(n_neighbors=10, metric=RBF(1e-5)),
    ],
    ids=str,
)
def test_a_column_that_decides_alone_is_told(model, kind):
    (message,) = told(clone(model), kind(CRIME))
    assert "Column 1 has 9" in message and message.endswith("try standardize=True.")
    assert not told(clone(model).set_params(standardize=True), kind(CRIME))


def test_two_columns_of_thirty_that_decide_alone_are_told():
    X = load_breast_cancer(as_frame=True).data
    share = (X["worst area"].var() + X["mean area"].var()) / X.var().sum()
    (message,) = told(KernelPCA(2, kernel="rbf", gamma="median"), X)
    assert message.startswith(f"Columns 'worst area' and 'mean area' have {share:.1%} of the summed variance")


@pytest.mark.parametrize("load", [load_iris, load_diabetes, load_digits])
@pytest.mark.parametrize(
    "model", [KernelPCA(2, kernel="rbf", gamma="median"), KernelPCA(3, kernel="rbf", standardize=True)], ids=str
)
def test_ordinary_data_are_not_complained_about(load, model):
    said = told(clone(model), load().data)
    assert [message for message in said if "columns are constant" not in message] == []


@pytest.mark.parametrize("kernel", ["linear", "poly", "cosine", "sigmoid"])
def test_pca_of_raw_units_is_nobody_elses_business(kernel):
    for message in told(KernelPCA(2, kernel=kernel, gamma=1e-6), CRIME):
        assert "standardize" not in message


def test_one_column_that_varies_beside_constant_ones_is_no_matter_of_units():
    X = np.column_stack([RNG.normal(size=50), np.full(50, 1e6), np.full(50, 0.1)])
    assert not told(KernelPCA(1, kernel="rbf", gamma=0.5), X)


def test_landmarks_that_see_little_are_told_once():
    (message,) = told(KernelPCA(2, n_landmarks=30), np.eye(300))
    assert "The 30 landmarks see only 1" in message and "Give more n_landmarks or refine=1." in message
    (message,) = told(
        KernelPCA(2, kernel="rbf", gamma=1e-4, n_landmarks=30), np.eye(300)
    )  # though K is nearly constant
    assert message.startswith("The 30 landmarks see only ")
    X = RNG.uniform(size=(600, 6))
    model = KernelPCA(2, kernel="rbf", gamma=10.0, n_landmarks=30)
    (message,) = told(model, X)
    captured = model.certificate_.captured
    assert captured < 0.25 and f"The 30 landmarks see only {captured:.1%} of the variance for certain" in message
    assert "Give more n_landmarks, refine=1 or a smaller gamma." in message


def test_landmarks_of_many_small_heaps_are_not_alone():
    """Landmarks far from each other, each with nine rows on top of it: they see everything."""
    X = np.repeat(100 * RNG.normal(size=(60, 3)), 10, axis=0) + 1e-3 * RNG.normal(size=(600, 3))
    assert not [m for m in told(KernelPCA(2, kernel="rbf", n_landmarks=60), X) if "alone" in m or "see only" in m]
    assert "Every row is alone" in told(KernelPCA(2, kernel="rbf", n_landmarks=60), 1e6 * X)[0]


def test_no_warning_about_scale_is_given_of_so_few_rows_that_nothing_is_known():
    assert not told(KernelPCA(2, kernel="rbf"), 100 * RNG.normal(size=(10, 3)))


# ---------------------------------------------------------------------- columns that are no features


@pytest.mark.parametrize("name", ["Unnamed: 0", "id", "index", "ID"])
@pytest.mark.parametrize(
    "model", [PCA(2), KernelPCA(2, kernel="rbf", standardize=True), LocallyLinearEmbedding(standardize=True)], ids=str
)
def test_an_index_that_became_a_column_is_told(model, name, tmp_path):
    frame = FRAME.copy()
    frame.insert(0, name, np.arange(5, 65))
    frame.to_csv(tmp_path / "crime.csv", index=False)
    words = f"Column {name!r} counts rows: as a feature it says nothing but their order. Leave it out."
    assert told(clone(model), frame)[:1] == [words]
    in_file = told(clone(model), tmp_path / "crime.csv")
    assert in_file[:1] == [words] if name != "Unnamed: 0" else not in_file  # names of rows, by the way they are written
    assert not told(clone(model), frame.rename(columns={name: "day"}))  # which may be meant
    frame[name] = RNG.permutation(60)
    assert not told(clone(model), frame)


@pytest.mark.parametrize(
    ("column", "counts"),
    [
        (np.arange(40), True),
        (np.arange(1, 41, dtype=np.float32), True),
        (np.arange(-3, 37, dtype=np.int8), True),
        (np.arange(40) + 0.5, False),
        (np.arange(40)[::-1], False),
        (2 * np.arange(40), False),
        (np.arange(40) % 39, False),
        (np.ones(40), False),
        (np.arange(40) % 2 == 1, False),
        (np.arange(1e16, 1e16 + 40), False),
        (np.arange(10), False),
    ],
)
def test_columns_that_count_rows(column, counts):
    rows = np.column_stack([column, column])
    assert counting(rows) == ([0, 1] if counts else [])


@pytest.mark.parametrize("n", [60, 3000])
def test_a_column_that_counts_rows_does_not_hide_the_one_whose_unit_decides(n):
    """Among ids of variance n²/12 it has too little of the sum, and beyond some number of rows hardly any."""
    columns = np.random.default_rng(3).normal([7.8, 171, 66, 21], [4.4, 120, 14, 9.4], size=(n, 4))
    rows = np.column_stack([np.arange(n), columns])
    share = f"{rows[:, 2].var() / rows[:, 1:].var(axis=0).sum():.1%}"
    assert dominating(rows).columns.tolist() == [2]
    if n <= 1000:  # all of them are looked at
        assert about_unit(rows, list("iabcd")) == (
            f"Column 'b' has {share} of the summed variance of the 4 columns that do not count rows"
        )
    assert dominating(np.column_stack([np.arange(n), columns[:, 3] / 100])).columns.tolist() == [0]


def test_several_columns_decide_in_the_plural():
    X = RNG.normal(size=(60, 30)) * np.where(np.arange(30) < 2, 1e4, 1.0)
    (words,) = about_units(X, None)
    assert words.startswith("Columns ") and "which decide alone who is near. Unless their sizes are meant" in words


def test_constant_columns_are_found_and_reading_ends_when_none_is_left(monkeypatch):
    monkeypatch.setattr("mercer_old.readings.columns.rows_at_a_time", lambda width: 100)
    X = RNG.normal(size=(1000, 4))
    X[:, 1], X[:450, 2] = 3.0, 7.0
    assert constant(HeldRows(X)) == ([1], 1000)
    assert constant(HeldRows(X[:, [0, 2, 3]])) == ([], 500)
    assert constant(HeldRows(X[:, [0, 3]])) == ([], 100)
    monkeypatch.setattr("mercer_old.readings.columns.MOST", 1000)
    assert constant(HeldRows(X)) == ([1, 2], 300)
