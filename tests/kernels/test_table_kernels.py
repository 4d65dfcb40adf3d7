"""Kernels of mixed tables against their formulas, against PCA, FAMD and MCA, and models that learn from tables."""

import datetime
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import PCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import (
    RBF,
    Category,
    Date,
    Laplacian,
    Numeric,
    Ordinal,
    Sets,
    Spectrum,
    TableKernel,
    Tanimoto,
    Text,
    check_kernel,
)
from mercer_old.errors import BadData, MercerWarning
from mercer_old.kernels.tables.contrasts import contrasts
from mercer_old.kernels.tables.parts import TableMap
from mercer_old.sources.frames import as_columns
from mercer_old.sources.held import groups_of
from support.registry import ALL_COLUMNS, FAMD, tables

rng = np.random.default_rng(0)


def frame(n=80, seed=0):
    some = np.random.default_rng(seed)
    color, size = some.choice(["red", "green", "blue"], size=n, p=[0.6, 0.3, 0.1]), some.choice(list("SML"), size=n)
    mass = 4000 + 300 * some.normal(size=n) + 500 * (color == "red")
    when = pd.Timestamp("2023-06-01") + pd.to_timedelta(some.integers(0, 700, size=n), unit="D")
    name = ["".join(some.choice(list("abcde"), size=6)) for _ in range(n)]
    return pd.DataFrame({"mass": mass, "color": color, "size": size, "when": when, "name": name})


KINDS = {"mass": Numeric(), "color": Category(), "size": Ordinal("SML"), "when": Date(), "name": Spectrum(2)}


def learned(kernel, table):
    return kernel.resolved(table, np.random.default_rng(0))


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


# ---------------------------------------------------------------------------- the formulas


@pytest.mark.parametrize("m", [1, 2, 3, 7, 64, 500])
def test_contrasts_of_categories_have_the_products_of_the_formula_and_few_entries(m):
    counts = rng.integers(1, 1000, size=m)
    H = contrasts(tuple(counts.tolist()))[:m]
    assert_allclose((H @ H.T).toarray(), np.diag(counts.sum() / counts) - 1.0, rtol=1e-12, atol=1e-12)
    assert np.diff(H.indptr).max() <= np.ceil(np.log2(m)) if m > 1 else H.nnz == 0


def test_categories_are_their_formula():
    cells = ["a", "b", "a", "a", "c", "b", None, "a"]
    kernel = learned(TableKernel({"x": Category()}, balanced=False), {"x": cells})
    share = {label: count / 7 for label, count in Counter(filter(None, cells)).items()}
    known = [*cells, "never seen"]
    expected = [[(a == b) / share[a] - 1 if a in share and b in share else 0.0 for b in known] for a in known]
    assert_allclose(kernel.block({"x": known}, {"x": known}), expected, atol=1e-14)


def test_numbers_are_standardised_over_the_cells_that_are_there():
    x = np.array([1.0, 4.0, np.nan, 2.0, 9.0])
    kernel = learned(TableKernel({"x": Numeric()}, balanced=False), {"x": x})
    z = np.nan_to_num((x - np.nanmean(x)) / np.nanstd(x))
    assert_allclose(kernel.block({"x": x}, {"x": x}), np.outer(z, z), atol=1e-15)


def test_ranks_are_mean_ranks():
    cells = list("SMLLMSSSMM")
    places = ["SML".index(cell) for cell in cells]
    ranks = rankdata(places)
    kernel = learned(TableKernel({"x": Ordinal("SML")}), {"x": cells})
    z = (ranks - ranks.mean()) / ranks.std()
    assert_allclose(kernel.block({"x": cells}, {"x": cells}), np.outer(z, z), atol=1e-14)
    numbers = learned(TableKernel({"x": Ordinal()}), {"x": np.array(places)})  # which have an order of their own
    assert_allclose(numbers.block({"x": places}, {"x": places}), np.outer(z, z), atol=1e-14)


def test_dates_are_days_and_cycles_are_angles():
    days = np.array(["2024-02-28", "2024-03-01", "2023-12-31T12:00", "2025-07-04T18:00", "NaT"], dtype="datetime64[us]")
    kernel = learned(TableKernel({"x": Date(["year", "week", "day"])}, balanced=False), {"x": days})
    rows = []
    for day in days[:4].tolist():
        start = datetime.datetime(day.year, 1, 1)
        year = (day - start) / (datetime.datetime(day.year + 1, 1, 1) - start)
        hours = day.hour / 24
        parts = [year, (day.weekday() + hours) / 7, hours]
        rows.append([(day - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)])
        rows[-1] += [wave(2 * np.pi * part) for part in parts for wave in (np.cos, np.sin)]
    rows = np.array(rows)
    rows -= rows.mean(axis=0)
    rows[:, 0] /= rows[:, 0].std()
    rows = np.vstack([rows, np.zeros(7)])
    assert_allclose(kernel.block({"x": days}, {"x": days}), rows @ rows.T, atol=1e-12)


@pytest.mark.parametrize("kernel", [None, Tanimoto()], ids=str)
def test_sets_are_compared_by_what_they_share(kernel):
    sets = [{"a", "b"}, ["b"], ("a", "b", "c"), set(), None, {"c"}]
    table = learned(TableKernel({"x": Sets(kernel)}, balanced=False), {"x": sets})

    def alike(a, b):
        if a is None or b is None or not (a and b):
            return 1.0 if a == b == set() and kernel else 0.0
        shared = len(set(a) & set(b))
        return shared / (len(set(a) | set(b)) if kernel else np.sqrt(len(set(a)) * len(set(b))))

    expected = [[alike(a, b) for b in sets] for a in sets]
    assert_allclose(table.block({"x": sets}, {"x": sets}), expected, atol=1e-14)


def test_texts_are_compared_by_their_own_kernel():
    names = ["anna", "hannah", None, "bob", ""]
    table = learned(TableKernel({"x": Spectrum(2)}, balanced=False), {"x": names})
    texts = [name or "" for name in names]
    assert_allclose(table.block({"x": names}, {"x": names}), Spectrum(2).block(texts, texts), atol=1e-15)


def one_by_one(X, compose):
    """The composed kernel from kernels of one column each, with the variances of their own centred matrices."""
    whole = 0.0 if compose == "sum" else 1.0
    for name, kind in ALL_COLUMNS.items():
        K = learned(TableKernel({name: kind}, balanced=False), X).block(X, X)
        K = K / (np.trace(centred(K)) / len(K))
        whole = whole + K if compose == "sum" else whole * (1 + K / len(ALL_COLUMNS))
    return whole


@pytest.mark.parametrize("compose", ["sum", "product"])
def test_columns_of_one_variance_are_added_up_or_multiplied(compose):
    X = tables(60)
    kernel = learned(TableKernel(ALL_COLUMNS, compose), X)
    assert_allclose(kernel.block(X, X), one_by_one(X, compose), rtol=1e-11, atol=1e-11)
    assert check_kernel(kernel, X)


def test_every_column_carries_one_variance():
    X = tables(70)
    for name, kind in {**ALL_COLUMNS, "length": RBF(0.7)}.items():
        kernel = learned(TableKernel({name: kind}), X)
        assert_allclose(np.trace(centred(kernel.block(X, X))) / 70, 1.0, rtol=1e-11)


# ---------------------------------------------------------------------------- what it is the general case of


def test_numbers_alone_are_pca_of_what_is_filled_in_and_standardised():
    X = rng.normal(size=(50, 4)) * [1, 10, 100, 1e6] + [0, 5, -1e3, 1e8]
    X[rng.random(X.shape) < 0.1] = np.nan
    model = KernelPCA(3, kernel=TableKernel()).fit({f"x{j}": X[:, j] for j in range(4)})
    filled = make_pipeline(SimpleImputer(), StandardScaler()).fit_transform(X)
    twin = PCA(3).fit(filled)
    assert_allclose(model.explained_variance_, twin.explained_variance_, rtol=1e-10)
    scores = model.transform({f"x{j}": X[:, j] for j in range(4)})
    assert_allclose(np.abs(scores), np.abs(twin.transform(filled)), atol=1e-9)


def coded(table, numbers, categories):
    """FAMD's coding: standardised numbers, and indicators (x − p)/√p."""
    Z = StandardScaler().fit_transform(table[numbers])
    ones = pd.get_dummies(table[categories], dtype=float)
    return np.hstack([Z, (ones - ones.mean()) / np.sqrt(ones.mean())])


def test_famd_is_its_linear_case():
    table = frame(120)
    kernel = TableKernel({"mass": Numeric(), "color": Category(), "size": Category()}, balanced=False)
    model = KernelPCA(4, kernel=kernel).fit(table)
    Z = coded(table, ["mass"], ["color", "size"])
    values = np.linalg.svd(Z, compute_uv=False)[:4] ** 2
    assert_allclose(model.eigenvalues_, values, rtol=1e-11)
    assert_allclose(model.total_variance_ * 119 / 120, 1 + 2 + 2, rtol=1e-12)  # a number, and categories less one


def test_famd_of_prince():
    prince = pytest.importorskip("prince")
    table = frame(120)[["mass", "color", "size"]]
    theirs = prince.FAMD(n_components=3, random_state=0).fit(table)
    model = KernelPCA(3, kernel=TableKernel(FAMD_KINDS, balanced=False)).fit(table)
    assert_allclose(model.eigenvalues_ / 120, theirs.eigenvalues_, rtol=1e-8)
    assert_allclose(model.explained_variance_ratio_ * 100, theirs.percentage_of_variance_, rtol=1e-8)
    assert_allclose(np.abs(model.transform(table)), np.abs(theirs.row_coordinates(table)), atol=1e-6)


FAMD_KINDS = {"mass": Numeric(), "color": Category(), "size": Category()}


def test_mca_of_prince():
    prince = pytest.importorskip("prince")
    table = frame(120)[["color", "size"]]
    theirs = prince.MCA(n_components=3, random_state=0).fit(table)
    model = KernelPCA(3, kernel=TableKernel({"color": Category(), "size": Category()}, balanced=False)).fit(table)
    assert_allclose(model.eigenvalues_ / 120 / 2, theirs.eigenvalues_, rtol=1e-8)
    ours = model.transform(table) / np.sqrt(2)  # MCA divides by the number of columns
    assert_allclose(np.abs(ours), np.abs(theirs.row_coordinates(table)), atol=1e-6)


# ---------------------------------------------------------------------------- models


@pytest.mark.parametrize("compose", ["sum", "product"])
@pytest.mark.parametrize("kinds", [KINDS, {**KINDS, "mass": RBF(0.5)}, FAMD_KINDS], ids=["text", "rbf", "famd"])
def test_new_rows_lie_where_they_lie_alone_or_together(kinds, compose):
    model = KernelPCA(3, kernel=TableKernel(kinds, compose)).fit(frame())
    new = frame(20, 1)
    together = model.transform(new)
    alone = np.vstack([model.transform(new.iloc[i : i + 1]) for i in range(20)])
    assert_allclose(alone, together, rtol=0, atol=1e-12 * np.abs(together).max())
    assert_allclose(model.transform(frame()), model.fit_transform(frame()), atol=1e-7)


def test_kernel_pca_of_a_table_is_that_of_its_matrix():
    X = tables(90)
    kernel = learned(TableKernel(ALL_COLUMNS), X)
    twin = KernelPCA(4, kernel="precomputed").fit(kernel.block(X, X))
    for solver in ("auto", "krylov", "dense"):
        model = KernelPCA(4, kernel=TableKernel(ALL_COLUMNS), eigen_solver=solver).fit(X)
        assert model.kernel_ == kernel
        assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-9)
        new = tables(15, 3)
        assert_allclose(np.abs(model.transform(new)), np.abs(twin.transform(kernel.block(new, X))), atol=1e-7)


def test_eigenvalues_lie_in_their_intervals():
    """Against the centred matrix of the formula, in long double."""
    table = frame(150)
    model = KernelPCA(5, kernel=TableKernel(FAMD_KINDS, balanced=False)).fit(table)
    x = table["mass"].to_numpy().astype(np.longdouble)
    z = (x - np.longdouble(model.kernel_.columns["mass"].mean)) / np.longdouble(model.kernel_.columns["mass"].scale)
    K = np.multiply.outer(z, z)
    for name in ("color", "size"):
        cells = table[name].to_numpy()
        counts = np.array([np.sum(cells == cell) for cell in cells], dtype=np.longdouble)
        K = K + (cells[:, None] == cells) * (150 / counts) - 1
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    truth = np.linalg.eigvalsh(K.astype(np.float64))[::-1][:5]
    slack = 1e-13 * truth[0]  # of LAPACK, which finds the truth
    assert np.all(model.certificate_.lower <= truth + slack) and np.all(truth - slack <= model.certificate_.upper)


@pytest.mark.parametrize("compose", ["sum", "product"])
def test_entries_are_off_by_no_more_than_the_kernel_says(compose):
    """Categories whose shares are far apart, and numbers, in long double."""
    cells = np.array(["a"] * 990 + list("bcdefghijk"))
    table = {"c": cells, "x": rng.normal(size=1000) + 1e3}
    kernel = learned(TableKernel({"c": Category(), "x": Numeric()}, compose), table)
    some = {"c": cells[980:], "x": table["x"][980:]}
    counts = np.array([np.sum(cells == cell) for cell in cells[980:]], dtype=np.longdouble)
    x, number = some["x"].astype(np.longdouble), kernel.columns["x"]
    z = (x - np.longdouble(number.mean)) / np.longdouble(number.scale)
    K = (some["c"][:, None] == some["c"]) * (1000 / counts) - 1
    parts = K / np.longdouble(kernel.variances["c"]), np.multiply.outer(z, z) / np.longdouble(kernel.variances["x"])
    truth = parts[0] + parts[1] if compose == "sum" else (1 + parts[0] / 2) * (1 + parts[1] / 2)
    off = np.abs(kernel.block(some, some) - truth)
    assert off.max() <= kernel.entry_rounding(some, some) < 1e-10
    weights = rng.integers(1, 5, size=20).astype(float)
    whole = np.sqrt(weights)[:, None] * off.astype(float) * np.sqrt(weights)
    assert np.linalg.norm(whole, 2) <= kernel.rounding(some, weights)


def test_weights_are_rows_that_come_so_often():
    table, weights = frame(40), rng.integers(0, 4, size=40)
    model = KernelPCA(3, kernel=TableKernel(KINDS)).fit(table, sample_weight=weights)
    twin = KernelPCA(3, kernel=TableKernel(KINDS)).fit(table.loc[np.repeat(np.arange(40), weights)])
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-9)
    assert_allclose(model.kernel_.columns["mass"].mean, twin.kernel_.columns["mass"].mean, rtol=1e-14)
    assert model.kernel_.columns["color"] == twin.kernel_.columns["color"]
    assert_allclose(np.abs(model.transform(table)), np.abs(twin.transform(table)), atol=1e-7)


def test_landmarks_of_a_table():
    table = frame(60)
    seen = KernelPCA(2, kernel=TableKernel(KINDS), n_landmarks=60).fit(table)
    assert_allclose(seen.eigenvalues_, KernelPCA(2, kernel=TableKernel(KINDS)).fit(table).eigenvalues_, rtol=1e-7)
    few = KernelPCA(2, kernel=TableKernel(KINDS), landmarks=[0, 5, 9, 20, 33]).fit(table)
    assert len(few.landmarks_) == 5 and few.transform(table).shape == (60, 2)


def test_plans_and_memory_limits_of_a_table():
    table = frame(300)
    assert "features" in str(KernelPCA(2, kernel=TableKernel(FAMD_KINDS)).plan(table))
    product = KernelPCA(2, kernel=TableKernel(FAMD_KINDS, "product"), memory_limit="100 MB")
    assert product.fit(table).plan_.memory <= 1e8


def test_features_of_a_table_are_made_block_by_block(monkeypatch):
    """Never all of them at once; eigenvalues are those of the whole array."""
    table, sizes, make = {f"x{j}": rng.normal(size=40_000) + j for j in range(60)}, [], TableMap.features
    table["c"] = rng.choice(list("abcdef"), size=40_000, p=[0.4, 0.3, 0.15, 0.1, 0.04, 0.01])
    monkeypatch.setattr(TableMap, "features", lambda self, X: sizes.append(len(X)) or make(self, X))
    model = KernelPCA(4, kernel=TableKernel()).fit(table)
    assert sum(sizes) >= 3 * 40_000 and max(sizes) <= 20_000
    features = model.kernel_.features(table)
    twin = PCA(4).fit(features)
    assert features.shape == (40_000, 65)
    assert_allclose(model.explained_variance_, twin.explained_variance_, rtol=1e-10)
    assert model.certificate_.converged


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_many_categories_stay_sparse():
    n = 3000
    table = {"city": [f"c{i}" for i in rng.integers(0, 700, size=n)], "x": rng.normal(size=n)}
    model = KernelPCA(3, kernel=TableKernel({"city": Category(), "x": Numeric()})).fit(table)
    features = model.kernel_.features(table)
    assert features.nnz <= n * (np.ceil(np.log2(700)) + 1)
    twin = KernelPCA(3, kernel="precomputed").fit(model.kernel_.block(table, table))
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-7)


def test_tables_in_pipelines_clones_and_parameters():
    table = frame()
    model = clone(KernelPCA(2, kernel=TableKernel(KINDS)).set_params(kernel__columns__mass=Numeric(RBF(0.5))))
    assert model.kernel.columns["mass"] == Numeric(RBF(0.5))
    model.set_params(kernel__balanced=False)
    assert not model.kernel.balanced
    scaled = make_pipeline(model, StandardScaler()).fit(table)
    assert scaled.transform(table).shape == (80, 2)
    assert model.n_features_in_ == 5 and model.feature_names_in_.tolist() == list(table.columns)
    assert model.get_feature_names_out().tolist() == ["kernelpca0", "kernelpca1"]


def test_locally_linear_embedding_of_a_table():
    table = frame(100)
    kernel = TableKernel({"mass": Numeric(), "when": Date(), "name": Spectrum(1)})
    found = learned(kernel, table)
    K = found.block(table, table)
    own = np.diag(K)
    distances = np.sqrt(np.maximum(own[:, None] + own - 2 * K, 0.0))
    np.fill_diagonal(distances, 0.0)
    model = LocallyLinearEmbedding(n_neighbors=10, metric=kernel).fit(table)
    twin = LocallyLinearEmbedding(n_neighbors=10, metric="precomputed").fit((distances + distances.T) / 2)
    assert_allclose(model.reconstruction_error_, twin.reconstruction_error_, rtol=1e-5)
    assert_allclose(model.transform(table.iloc[:5]), model.embedding_[:5])  # rows that are there are found again


def test_rows_are_the_same_if_all_their_cells_are():
    table = frame(60)
    table.loc[0, "mass"], table.loc[1, "color"] = None, None
    groups = groups_of(as_columns(pd.concat([table, table.iloc[:10]])))
    assert groups[60:].tolist() == groups[:10].tolist() and len(set(groups)) == 60


def test_similar_rows_are_found_by_their_columns():
    model = KernelPCA(3, kernel=TableKernel(KINDS)).fit(frame())
    found = model.similar(frame().iloc[[7, 3]], 2)
    assert found.numbers[:, 0].tolist() == [7, 3]
    assert found.items[0, 0]["name"] == frame()["name"][7] and found.items[1, 0]["mass"] == frame()["mass"][3]


def test_a_mixed_frame_that_is_given_to_a_kernel_of_rows_is_told_of_this_one():
    with pytest.raises(BadData, match=r"To compare columns of all kinds: kernel=mercer.kernels.TableKernel\(\)"):
        KernelPCA(2).fit(frame()[["mass", "color"]])


# ---------------------------------------------------------------------------- shares


@pytest.mark.parametrize("kinds", [KINDS, {**KINDS, "mass": Laplacian(0.5)}], ids=["features", "matrix"])
@pytest.mark.parametrize("weights", [None, np.arange(80) % 3 + 0.5], ids=["alike", "weighted"])
def test_shares_are_what_each_column_adds_to_an_eigenvalue(kinds, weights):
    """λ = vᵀKv = Σ vᵀK_c v over columns, v a unit eigenvector of the centred matrix."""
    table = frame()
    model = KernelPCA(3, kernel=TableKernel(kinds)).fit(table, sample_weight=weights)
    shares = model.kernel_.shares(table, model.transform(table), weights)
    assert_allclose(np.sum(list(shares.values()), axis=0), 1.0)
    w = np.ones(80) if weights is None else weights
    for name in kinds:
        part = TableKernel({name: model.kernel_.columns[name]}, variances={name: model.kernel_.variances[name]})
        P = np.eye(80) - np.outer(np.sqrt(w), np.sqrt(w)) / w.sum()
        A = P @ (np.sqrt(w)[:, None] * part.block(table, table) * np.sqrt(w)) @ P
        V = np.sqrt(w)[:, None] * model.transform(table) / np.sqrt(model.eigenvalues_)
        assert_allclose(shares[name], np.sum(V * (A @ V), axis=0) / model.eigenvalues_, atol=1e-7)


def test_columns_that_are_multiplied_have_no_shares():
    model = KernelPCA(2, kernel=TableKernel(KINDS, "product")).fit(frame())
    with pytest.raises(ValueError, match="carry no shares"):
        model.kernel_.shares(frame(), model.transform(frame()))


# ---------------------------------------------------------------------------- frames of all kinds, and the rule


def test_columns_may_have_any_names():
    X = rng.normal(size=(20, 3))
    numbered = KernelPCA(1, kernel="table").fit(pd.DataFrame(X))
    assert list(numbered.kernel_.columns) == [0, 1, 2] and not hasattr(numbered, "feature_names_in_")
    pairs = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    assert list(KernelPCA(1, kernel="table").fit(pd.DataFrame(X, columns=pairs)).kernel_.columns) == list(pairs)


HOLDERS = {
    "pandas": lambda table: table,
    "pandas with an index": lambda table: table.set_index(pd.Index(rng.permutation(len(table)))),
    "polars": pl.from_pandas,
    "lazy": lambda table: pl.from_pandas(table).lazy(),
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
    "dict of arrays": lambda table: {name: table[name].to_numpy() for name in table},
    "dict of lists": lambda table: {name: table[name].tolist() for name in table},
    "records": lambda table: table.to_records(index=False),
    "columns in another order": lambda table: table[table.columns[::-1]],
    "more columns": lambda table: table.assign(other=[object()] * len(table)),
}


@pytest.mark.parametrize("hold", HOLDERS)
def test_tables_come_in_frames_and_dicts(hold):
    table = frame()
    table.loc[3, "mass"], table.loc[7, "color"], table.loc[9, "when"] = None, None, None
    model = KernelPCA(2, kernel=TableKernel(KINDS)).fit(table)
    twin = KernelPCA(2, kernel=TableKernel(KINDS)).fit(HOLDERS[hold](table))
    assert twin.kernel_ == model.kernel_
    assert_allclose(twin.transform(HOLDERS[hold](table)), model.transform(table))


def test_a_dict_of_arrays_needs_no_other_library(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    table = {"mass": rng.normal(size=9), "color": np.array(list("aabbccabc"))}
    assert KernelPCA(2, kernel=TableKernel(table_kinds := TableKernel.auto(table).columns)).fit(table)
    assert table_kinds == {"mass": Numeric(), "color": Category()}
    with pytest.raises(Exception, match=r'needs narwhals, which is not installed. Try: pip install "mercer\[tables\]"'):
        KernelPCA(2, kernel=TableKernel()).fit(pd.DataFrame(table))


def test_the_rule_goes_by_what_a_column_holds():
    table = frame(100)
    table["grade"] = pd.Categorical(rng.choice(["low", "high"], size=100), ["low", "high"], ordered=True)
    table["group"] = pd.Categorical(rng.choice([1, 2, 3], size=100))
    table["city"] = [f"town {i % 15}" for i in range(100)]
    table["smokes"] = rng.random(100) < 0.5
    table["tags"] = [["a", "b"][: 1 + i % 2] for i in range(100)]
    expected = dict(mass=Numeric(), color=Category(), size=Category(), when=Date(), name=Text(Spectrum(3)))
    expected |= dict(grade=Ordinal(("low", "high")), group=Category(), city=Category(), smokes=Category(), tags=Sets())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dict(TableKernel.auto(table).columns) == expected
        assert KernelPCA(2, kernel=TableKernel()).fit(table).transform(table).shape == (100, 2)


def test_enums_of_polars_are_ordinal_and_other_categories_are_not():
    grades = ["low", "high", "low"] * 10
    table = pl.DataFrame({"grade": grades, "kind": grades}, {"grade": pl.Enum(["low", "high"]), "kind": pl.Categorical})
    assert dict(TableKernel.auto(table).columns) == dict(grade=Ordinal(("low", "high")), kind=Category())


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (np.arange(80), "numbers the rows"),
        (rng.permutation(80) + 1000.0, "numbers the rows"),
        ([f"A{i:04}" for i in range(80)], "has a code of its own in each of 80 rows"),
        ([3.0] * 80, "is the same in all rows"),
        (["yes"] * 79 + [None], "has one value and gaps"),
        ([None] * 80, "has no values"),
        ([1, "a"] * 40, "mixes numbers (1 at row index 0) and text ('a' at row index 1)"),
        ([object()] * 80, "holds entries of type object"),
        ([[0.5, 0.1]] * 80, "holds lists of numbers"),
        ([{"a": 1}] * 80, "holds entries of type dict"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_columns_that_tell_nothing_are_left_out_and_named(column, words):
    table = frame().assign(other=column)
    with pytest.warns(MercerWarning) as told:
        kernel = TableKernel.auto(table)
    assert [str(one.message) for one in told] == [s for s in map(str, [told[0].message]) if "'other'" in s]
    assert words in str(told[0].message) and "it is left out" in str(told[0].message)
    assert "other" not in kernel.columns


# ---------------------------------------------------------------------------- what is refused, and what is told


def broken(**columns):
    return {**{name: frame()[name].tolist() for name in frame()}, **columns}


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (frame().drop(columns="mass"), "X has no column 'mass'; it has 'color', 'size', 'when', 'name'."),
        (broken(mass=["heavy"] * 80), "Column 'mass' of X holds text, such as 'heavy', and Numeric takes numbers"),
        (broken(mass=[1.0, np.inf] * 40), "'mass' of X has an infinite value (inf) at row index 1"),
        (broken(mass=[1.0, 10**400] * 40), "infinite"),
        (broken(mass=[None] * 80), "Column 'mass' has no value in any of the 80 rows"),
        (broken(color=[1, "a"] * 40), "Column 'color' of X mixes numbers (1 at row index 0) and text"),
        (broken(when=["2020-01-01"] * 80), "'when' of X holds text, such as '2020-01-01', and Date takes dates"),
        (broken(name=[1.5] * 80), "'name' of X holds numbers, such as 1.5, and Text takes text"),
        (broken(size=["XXL"] + ["S"] * 79), "holds 'XXL' at row index 0, which is not in the order of its Ordinal"),
        (broken(mass=[1e308, -1e308] * 40), "cannot be subtracted"),
        (broken(mass=[1.0]), "columns of different lengths: 'mass' has 1 row and 'color' 80"),
        (broken(mass="abc"), "Column 'mass' of X is no list of cells"),
        (broken(mass=np.ones((80, 2))), "Column 'mass' of X is no list of cells"),
        (pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]), "more than one column called 'a'"),
        (np.ones((3, 2)), "X is of type ndarray, whose columns have no names"),
        ([[1, 2]], "X is of type list, whose columns have no names"),
        (frame().iloc[:0], "X has no rows"),
        ({}, "X has no columns"),
        (None, "whose columns have no names"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_such_table_is_one_sentence(X, words):
    with pytest.raises(BadData) as error:
        KernelPCA(1, kernel=TableKernel(KINDS)).fit(X)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_new_tables_are_refused_with_their_place():
    model = KernelPCA(2, kernel=TableKernel(KINDS)).fit(frame())
    with pytest.raises(BadData, match="X has no column 'mass'"):
        model.transform(frame().drop(columns="mass"))
    with pytest.raises(BadData, match=r"infinite value .-inf. at row index 7"):
        model.transform(frame().assign(mass=[1.0] * 7 + [-np.inf] + [2.0] * 72))


def test_categories_that_the_fit_has_not_seen_are_gaps_and_told():
    model = KernelPCA(2, kernel=TableKernel(KINDS)).fit(frame())
    new = frame(6, 1).assign(color=["red", "pink", "pink", "red", "grey", None])
    with pytest.warns(MercerWarning, match="3 cells of column 'color' hold what the fit has not seen .'pink', 'grey'."):
        found = model.transform(new)
    assert_allclose(found, model.transform(new.assign(color=["red", None, None, "red", None, None])))


def test_columns_that_are_the_same_in_all_rows_count_for_nothing():
    table = frame().assign(mass=3.0)
    with pytest.warns(MercerWarning, match="Column 'mass' is the same in all rows"):
        model = KernelPCA(2, kernel=TableKernel(KINDS)).fit(table)
    twin = KernelPCA(2, kernel=TableKernel({name: KINDS[name] for name in KINDS if name != "mass"})).fit(table)
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-10)
    assert_allclose(model.transform(table.assign(mass=7.0)), model.transform(table))
    assert not model.kernel_.shares(table, model.transform(table))["mass"].any()


def test_texts_of_one_or_two_letters_are_categories_however_many_there_are():
    codes = [a + b for a in "abcdefg" for b in "uvwxyz"]
    table = {"state": codes, "mass": np.arange(42) ** 2.0, "name": [f"{code} and more" for code in codes]}
    columns = TableKernel.auto(table).columns
    assert isinstance(columns["state"], Category) and isinstance(columns["name"], Text)


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        ([f"n{i}" for i in range(40)], "40 categories in 40 rows"),
        ([f"n{i}" for i in range(38)] + ["n0", "n1"], "38 categories in 40 rows"),
        ([f"n{i}" for i in range(30)] + [None] * 10, "30 categories in 30 rows"),
        (list(range(40)), "40 categories in 40 rows"),
        ([f"n{i % 20}" for i in range(40)], ""),
        ([f"n{i}" for i in range(9)] + [None] * 31, ""),
    ],
    ids=str,
)
def test_categories_that_number_the_rows_are_told_with_the_numbers(ids, told):
    table = {"id": ids, "mass": np.sin(np.arange(40.0))}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        TableKernel({"id": Category(), "mass": Numeric()}).resolved(table, np.random.default_rng(0))
    assert [told in str(one.message) and "'id'" in str(one.message) for one in said] == [True] * bool(told)


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_one_row_and_equal_rows_have_scores_of_zero():
    for table in (frame(1), frame().iloc[[4, 4, 4]]):
        model = KernelPCA(1, kernel=TableKernel(KINDS)).fit(table)
        assert_allclose(model.transform(table), 0.0, atol=1e-12)


def test_a_kernel_that_has_learned_nothing_says_so():
    with pytest.raises(ValueError, match="has yet to learn"):
        TableKernel(KINDS).block(frame(), frame())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TableKernel({}), "columns is a dict of at least one column"),
        (lambda: TableKernel({"x": "number"}), "Column 'x' is 'number'; it has to be Numeric"),
        (lambda: TableKernel({"x": Numeric()}, compose="mean"), "compose must be one of sum, product"),
        (lambda: Numeric(Spectrum(3)), "Numeric takes a kernel of rows"),
        (lambda: Text(RBF()), "Text takes a kernel of texts"),
        (lambda: Date(["month"]), "cycles are some of year, week, day"),
        (lambda: Ordinal(["a", "a"]), "order has to name categories, each once"),
        (lambda: Numeric(scale=-1.0), "scale must be a non-negative number"),
        (lambda: TableKernel(KINDS) + RBF(1.0), "compares tables and RBF"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_parameters_that_mean_nothing_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_tables_have_no_rows_of_numbers_to_standardize():
    with pytest.raises(ValueError, match="tables are brought to one scale by their kernel"):
        KernelPCA(2, kernel=TableKernel(KINDS), standardize=True).fit(frame())


def test_equal_kernels_have_equal_hashes():
    one, other = Category({"a": 1, "b": 2}), Category({"b": 2, "a": 1})
    kernels = [TableKernel({"x": one, "y": Numeric()}), TableKernel({"y": Numeric(), "x": other})]
    assert one == other and hash(one) == hash(other)
    assert kernels[0] == kernels[1] and len(set(kernels)) == 1


def test_kernels_are_printed_as_one_would_write_them():
    assert repr(TableKernel(FAMD, balanced=False)) == (
        "TableKernel(columns={'mass': Numeric(), 'length': Numeric(), 'color': Category()}, balanced=False)"
    )
