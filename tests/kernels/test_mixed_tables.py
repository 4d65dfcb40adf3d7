"""Kernels on tables against their formulas, PCA, FAMD and the first edition; what is inferred, refused and reported."""

import datetime
import pickle
import warnings
from collections import Counter

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import rankdata
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer.kernels.tables.table_kernel as table_kernel_module
import mercer_old.kernels as old
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.table import Categories, as_table, from_arrow
from mercer.errors import DataError, MercerWarning, ParameterError, UsageError
from mercer.kernels.distance import RBF, Laplacian
from mercer.kernels.dot import Cosine, Linear, Sigmoid
from mercer.kernels.histograms import Tanimoto
from mercer.kernels.strings import Spectrum
from mercer.kernels.tables import Categorical, Datetime, Numeric, Ordinal, Sets, String, TableKernel
from mercer.kernels.tables.column_kinds import category_contrasts
from mercer.numerics.random_state import lazy_generator


def frame(n=80, seed=0):
    rng = np.random.default_rng(seed)
    color, size = rng.choice(["red", "green", "blue"], size=n, p=[0.6, 0.3, 0.1]), rng.choice(list("SML"), size=n)
    mass = 4000 + 300 * rng.normal(size=n) + 500 * (color == "red")
    when = pd.Timestamp("2023-06-01") + pd.to_timedelta(rng.integers(0, 700, size=n), unit="D")
    name = ["".join(rng.choice(list("abcde"), size=6)) for _ in range(n)]
    return pd.DataFrame({"mass": mass, "color": color, "size": size, "when": when, "name": name})


def hostile(n, seed=0):
    """Columns of every kind with missing cells; strings and sets that are empty."""
    rng = np.random.default_rng(seed)
    colors = [None, "red", "green", "blue", "violet"]
    tags = [None, {"a"}, {"a", "b"}, {"b", "c", "d"}, set()]
    strings = ["".join(rng.choice(list("abcd "), size=rng.integers(0, 14))) for _ in range(n)]
    return {
        "mass": np.where(rng.random(n) < 0.1, np.nan, 3000 + 500 * rng.normal(size=n)),
        "length": rng.integers(10, 60, size=n),
        "color": [colors[i] for i in rng.integers(0, 5, size=n)],
        "size": [["S", "M", "L"][i] for i in rng.integers(0, 3, size=n)],
        "day": np.datetime64("2024-01-01T06:00") + rng.integers(0, 10**6, size=n) * np.timedelta64(1, "m"),
        "tags": [tags[i] for i in rng.integers(0, 5, size=n)],
        "name": [None if i % 7 == 0 else string for i, string in enumerate(strings)],
    }


KINDS = {"mass": Numeric(), "color": Categorical(), "size": Ordinal("SML"), "when": Datetime(), "name": Spectrum(2)}
FAMD = {"mass": Numeric(), "color": Categorical(), "size": Categorical()}
ALL = {
    "mass": Numeric(),
    "length": Numeric(Laplacian(0.5)),
    "color": Categorical(),
    "size": Ordinal(["S", "M", "L"]),
    "day": Datetime(["year", "week"]),
    "tags": Sets(),
    "name": Spectrum(2),
}
ALL_OLD = {
    "mass": old.Numeric(),
    "length": old.Numeric(old.Laplacian(0.5)),
    "color": old.Category(),
    "size": old.Ordinal(["S", "M", "L"]),
    "day": old.Date(["year", "week"]),
    "tags": old.Sets(),
    "name": old.Spectrum(2),
}


def fitted(kernel, X, weights=None):
    return kernel.resolve(ArrayDataset(as_table(X), "table"), lazy_generator(0), weights)


def centered(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


# ---------------------------------------------------------------------- the formulas


@pytest.mark.parametrize("m", [1, 2, 3, 7, 64, 500])
def test_contrasts_have_the_products_of_the_formula_and_few_entries(m):
    counts = np.random.default_rng(m).integers(1, 1000, size=m)
    H = category_contrasts(tuple(counts.tolist()))
    assert H.shape == (m + 1, max(1, m - 1)) and not H[[m]].nnz
    H = H[:m]
    assert_allclose((H @ H.T).toarray(), np.diag(counts.sum() / counts) - 1.0, rtol=1e-12, atol=1e-12)
    assert np.diff(H.indptr).max() <= np.ceil(np.log2(m)) if m > 1 else H.nnz == 0


def test_categories_are_their_formula():
    cells = ["a", "b", "a", "a", "c", "b", None, "a"]
    kernel = fitted(TableKernel({"x": Categorical()}, balanced=False), {"x": cells})
    fractions = {label: count / 7 for label, count in Counter(filter(None, cells)).items()}
    known = [*cells, "never seen"]
    expected = [[(a == b) / fractions[a] - 1 if {a, b} <= {*fractions} else 0.0 for b in known] for a in known]
    assert_allclose(kernel({"x": known}, {"x": known}), expected, atol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e300, 1e-300])
@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e150])
def test_numbers_are_standardized_over_the_cells_that_are_present(offset, scale):
    x = np.array([1.0, 4.0, np.nan, 2.0, 9.0]) * scale + offset
    if np.nanmin(x) == np.nanmax(x):
        return
    kernel = fitted(TableKernel({"x": Numeric()}, balanced=False), {"x": x})
    exact = x.astype(np.longdouble)
    mean = np.nanmean(exact)
    largest = np.nanmax(np.abs(exact - mean))
    z = np.nan_to_num((exact - mean) / (largest * np.sqrt(np.nanmean(((exact - mean) / largest) ** 2))))
    error = 8 * np.finfo(float).eps * (1 + abs(offset) / np.nanstd(exact))
    assert_allclose(kernel({"x": x}, {"x": x}), np.outer(z, z).astype(float), atol=4 * error)


def test_ranks_are_mean_ranks():
    cells = list("SMLLMSSSMM")
    places = np.array(["SML".index(cell) for cell in cells])
    ranks = rankdata(places)
    z = (ranks - ranks.mean()) / ranks.std()
    declared = pd.DataFrame({"x": pd.Categorical(cells, list("SML"), ordered=True)})
    for kind, X in [(Ordinal("SML"), {"x": cells}), (Ordinal(), {"x": places}), (Ordinal(), declared)]:
        assert_allclose(fitted(TableKernel({"x": kind}), X)(X, X), np.outer(z, z), atol=1e-14)


def test_times_are_days_and_cycles_are_angles():
    times = np.array(["2024-02-28", "2024-03-01", "2023-12-31T12:00", "2025-07-04T18:00", "NaT"], dtype="M8[us]")
    kernel = fitted(TableKernel({"x": Datetime(["year", "week", "day"])}, balanced=False), {"x": times})
    rows = []
    for time in times[:4].tolist():
        start = datetime.datetime(time.year, 1, 1)
        year = (time - start) / (datetime.datetime(time.year + 1, 1, 1) - start)
        fractions = [year, (time.weekday() + time.hour / 24) / 7, time.hour / 24]
        rows.append([(time - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)])
        rows[-1] += [wave(2 * np.pi * fraction) for fraction in fractions for wave in (np.cos, np.sin)]
    rows = np.array(rows)
    rows -= rows.mean(axis=0)
    rows[:, 0] /= rows[:, 0].std()
    rows = np.vstack([rows, np.zeros(7)])
    assert_allclose(kernel({"x": times}, {"x": times}), rows @ rows.T, atol=1e-12)


@pytest.mark.parametrize("kernel", [None, Tanimoto()], ids=str)
def test_sets_are_compared_by_their_common_members(kernel):
    sets = [{"a", "b"}, ["b"], ("a", "b", "c"), set(), None, {"c"}]

    def similarity(a, b):
        if a is None or b is None or not (a and b):
            return 1.0 if kernel and a is not None and b is not None and not a and not b else 0.0
        common, either = len({*a} & {*b}), len({*a} | {*b})
        return common / (either if kernel else np.sqrt(len({*a}) * len({*b})))

    found = fitted(TableKernel({"x": Sets(kernel)}, balanced=False), {"x": sets})({"x": sets}, {"x": sets})
    assert_allclose(found, [[similarity(a, b) for b in sets] for a in sets], atol=1e-14)


def test_strings_are_compared_by_their_own_kernel():
    names = ["anna", "hannah", None, "bob", ""]
    kernel = fitted(TableKernel({"x": Spectrum(2)}, balanced=False), {"x": names})
    strings = np.array([name or "" for name in names], dtype=object)
    assert_allclose(kernel({"x": names}, {"x": names}), Spectrum(2)(strings, strings), atol=1e-15)


def test_a_sum_over_columns_of_variance_one():
    X, total = hostile(60), 0.0
    for name, kind in ALL.items():
        K = fitted(TableKernel({name: kind}, balanced=False), X)(X, X)
        K = K / (np.trace(centered(K)) / 60)
        assert_allclose(fitted(TableKernel({name: kind}), X)(X, X), K, rtol=1e-11, atol=1e-11)
        total = total + K
    kernel = fitted(TableKernel(ALL), X)
    K = kernel(X, X)
    assert_allclose(K, total, rtol=1e-11, atol=1e-11)
    assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-12)
    assert kernel.psd and np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)


# ---------------------------------------------------------------------- the first edition


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_the_first_edition(balanced, weighted):
    X, new = hostile(70), hostile(25, 3)
    weights = np.random.default_rng(1).random(70) if weighted else None
    kernel = fitted(TableKernel(ALL, balanced), X, weights)
    reference = old.TableKernel(ALL_OLD, balanced=balanced).resolved_by(X, np.random.default_rng(0), weights)
    assert_allclose([*kernel.variances.values()], [*reference.variances.values()], rtol=1e-11)
    assert_allclose(kernel(new, X), reference.block(new, X), rtol=1e-10, atol=1e-11)
    assert_allclose(kernel.diag(new), reference.diag(new), rtol=1e-10)


def test_products_of_columns_are_products_of_kernels():
    """The first edition had them as an option: Π (1 + k_c/(m·v_c))."""
    names = ["mass", "color", "tags"]
    X, new = as_table(hostile(50)), as_table(hostile(10, 2))
    one, two, three = (1 + 1 / 3 * TableKernel({name: ALL[name]}) for name in names)
    kernel = fitted(one * two * three, X)
    reference = old.TableKernel({name: ALL_OLD[name] for name in names}, compose="product")
    reference = reference.resolved(hostile(50), np.random.default_rng(0))
    assert_allclose(kernel(new, X), reference.block(hostile(10, 2), hostile(50)), rtol=1e-11, atol=1e-12)
    assert kernel.psd and kernel.input_kind == "table"


def test_features_are_as_many_as_in_the_first_edition_and_have_its_products():
    X, new = hostile(70), hostile(25, 3)
    kinds, kinds_old = ({n: k for n, k in kinds.items() if n != "length"} for kinds in (ALL, ALL_OLD))
    kernel = fitted(TableKernel(kinds), X)
    reference = old.TableKernel(kinds_old).resolved(X, np.random.default_rng(0))
    found = kernel.feature_map(as_table(X))
    assert found.n_features == reference.feature_map(X).n_features() and found.sparse and not found.recomputable
    left, right = found.transform(new), found.transform(X)
    assert_allclose((left @ right.T).toarray(), kernel(new, X), atol=1e-11)
    assert found.nnz >= right.nnz
    assert len(found.get_feature_names_out()) == found.n_features


# ---------------------------------------------------------------------- what it contains as special cases


def famd_coding(table, numbers, categories):
    """Standardized numbers, and indicators (x − p)/√p."""
    Z = StandardScaler().fit_transform(table[numbers])
    indicators = pd.get_dummies(table[categories], dtype=float)
    return np.hstack([Z, (indicators - indicators.mean()) / np.sqrt(indicators.mean())])


def test_numbers_alone_are_pca_of_imputed_standardized_rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 4)) * [1, 10, 100, 1e6] + [0, 5, -1e3, 1e8]
    X[rng.random(X.shape) < 0.1] = np.nan
    table = {f"x{j}": X[:, j] for j in range(4)}
    features = fitted(TableKernel(), table).feature_map(as_table(table)).transform(table)
    filled = make_pipeline(SimpleImputer(), StandardScaler()).fit_transform(X)
    assert_allclose(features @ features.T, filled @ filled.T, rtol=1e-10, atol=1e-9)


def test_famd_is_its_linear_case():
    table = frame(120)
    kernel = fitted(TableKernel(FAMD, balanced=False), table)
    Z = famd_coding(table, ["mass"], ["color", "size"])
    assert_allclose(kernel(table, table), Z @ Z.T, rtol=1e-11, atol=1e-11)
    features = kernel.feature_map(as_table(table))
    assert features.n_features == 1 + 2 + 2 and not features.sparse and features.recomputable
    values = np.linalg.svd(features.transform(table), compute_uv=False) ** 2
    assert_allclose(values, np.linalg.svd(Z, compute_uv=False)[:5] ** 2, rtol=1e-11)
    assert_allclose(np.trace(centered(kernel(table, table))) / 120, 1 + 2 + 2, rtol=1e-12)


def test_famd_and_mca_of_prince():
    prince = pytest.importorskip("prince")
    table = frame(120)[["mass", "color", "size"]]
    kernel = fitted(TableKernel(FAMD, balanced=False), table)
    values = np.linalg.eigvalsh(centered(kernel(table, table)))[::-1][:3] / 120
    assert_allclose(values, prince.FAMD(n_components=3, random_state=0).fit(table).eigenvalues_, rtol=1e-8)
    table = table[["color", "size"]]
    kernel = fitted(TableKernel({"color": Categorical(), "size": Categorical()}, balanced=False), table)
    values = np.linalg.eigvalsh(centered(kernel(table, table)))[::-1][:3] / 120 / 2
    assert_allclose(values, prince.MCA(n_components=3, random_state=0).fit(table).eigenvalues_, rtol=1e-8)


# ---------------------------------------------------------------------- tiles, features and bounds


def test_tiles_of_prepared_tables():
    X, new = as_table(hostile(40)), as_table(hostile(15, 2))
    kernel = fitted(TableKernel(ALL), X)
    K, shift = kernel(X, X), 0.5
    prepared = pickle.loads(pickle.dumps(kernel.prepare(X, shift=shift)))  # noqa: S301
    assert prepared.shape == (40, 40)
    for rows, columns in [(slice(0, 7), slice(30, 40)), (slice(None), slice(None))]:
        out = np.empty(K[rows, columns].shape)
        prepared.fill(rows, columns, out)
        assert_allclose(out, K[rows, columns] - shift, atol=1e-12)
    assert_allclose(prepared.diag, np.diag(K) - shift, rtol=1e-12)
    other = prepared.against(new)
    out = np.empty((3, 40))
    other.fill(slice(2, 5), slice(None), out)
    assert other.shape == (15, 40)
    assert_allclose(out, kernel(new, X)[2:5] - shift, atol=1e-12)
    alone = np.vstack([kernel(new[i : i + 1], X) for i in range(15)])
    assert_allclose(alone, kernel(new, X), rtol=0, atol=1e-13 * np.abs(alone).max())


def test_errors_are_within_their_bounds():
    """Categories whose counts are far apart, and numbers with an offset, in long double."""
    rng = np.random.default_rng(0)
    cells = np.array(["a"] * 990 + list("bcdefghijk"))
    table = {"c": cells, "x": rng.normal(size=1000) + 1e3}
    kernel = fitted(TableKernel({"c": Categorical(), "x": Numeric()}), table)
    some = {"c": cells[980:], "x": table["x"][980:]}
    counts = np.array([np.sum(cells == cell) for cell in cells[980:]], dtype=np.longdouble)
    number = kernel.columns["x"]
    z = (some["x"].astype(np.longdouble) - np.longdouble(number.mean)) / np.longdouble(number.scale)
    K = (some["c"][:, None] == some["c"]) * (1000 / counts) - 1
    truth = K / np.longdouble(kernel.variances["c"]) + np.multiply.outer(z, z) / np.longdouble(kernel.variances["x"])
    prepared = kernel.prepare(as_table(some))
    out = np.empty((20, 20))
    prepared.fill(slice(None), slice(None), out)
    error = np.abs(out - truth)
    assert error.max() <= prepared.entry_error() < 1e-10
    assert np.all(np.abs(out) <= np.sqrt(np.outer(prepared.magnitudes, prepared.magnitudes)) * (1 + 1e-12))
    weights = rng.integers(1, 5, size=20).astype(float)
    whole = np.sqrt(weights)[:, None] * error.astype(float) * np.sqrt(weights)
    assert np.linalg.norm(whole, 2) <= prepared.matrix_error(weights, out @ weights, None) < 1e-9
    assert prepared.likely_error() <= prepared.entry_error()


TIMES = {
    "within seconds": np.datetime64("2024-05-01", "us") + np.arange(0, 9_000_000, 700_001),
    "within microseconds": np.datetime64("2024-05-01", "us") + np.arange(12),
    "decades": np.datetime64("1969-12-31T23:59:59", "us") + np.arange(12) * 86_400_000_000 * 1001,
    "far": np.array(["-200000-01-01", "1970-01-01", "2024-01-01", "200000-12-31"], "datetime64[us]"),
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("cycles", [(), ("day",), ("week", "day")], ids=repr)
def test_times_close_to_each_other_keep_their_digits(times, cycles):
    X = as_table({"t": times})
    kernel = fitted(TableKernel({"t": Datetime(cycles)}), X)
    kind, day = kernel.columns["t"], 86_400_000_000
    origin = round(kind.mean * day)
    with mpmath.workdps(40):
        rows = []
        for time in times.astype(np.int64).tolist():
            row = [mpmath.mpf(time - origin) / day / kind.scale]
            for i, cycle in enumerate(cycles):
                length = {"day": 1, "week": 7}[cycle] * day
                angle = 2 * mpmath.pi * ((time + 3 * day) % length) / length
                row += [mpmath.cos(angle) - kind.means[2 * i], mpmath.sin(angle) - kind.means[2 * i + 1]]
            rows.append(row)
        exact = [[mpmath.fdot(x, y) / kernel.variances["t"] for y in rows] for x in rows]
        prepared, found = kernel.prepare(X), kernel(X, X)
        error = max(abs(found[i, j] - value) for i, row in enumerate(exact) for j, value in enumerate(row))
    assert error <= prepared.entry_error() < 1e-12
    assert len(set(np.diag(found).tolist())) > 1


@pytest.mark.parametrize(
    "kind", [Numeric(), Numeric(RBF(1.0)), Numeric(Sigmoid(1.0, 0.0)), Ordinal(), Datetime(["day"])], ids=repr
)
def test_bounds_of_new_rows_count_both_sides(kind):
    cells = np.arange(10.0) ** 2
    new = np.array([1e6, 40.0, np.nan, 16.0, 1.0])
    if isinstance(kind, Datetime):
        cells, new = (np.datetime64("2024-01-01", "us") + x.astype("timedelta64[s]") for x in (cells, new))
    kernel = fitted(TableKernel({"x": kind}), {"x": cells})
    X, others = as_table({"x": cells}), as_table({"x": new})
    prepared = kernel.prepare(X).against(others)
    out = np.empty(prepared.shape)
    prepared.fill(slice(None), slice(None), out)
    size = np.sqrt(np.outer(prepared.left_magnitudes, prepared.magnitudes))
    assert np.all(np.abs(out) <= size * (1 + 1e-12))
    assert prepared.largest_entry >= np.abs(out).max() * (1 - 1e-12)
    assert np.finfo(float).eps * np.abs(out).max() <= prepared.entry_error()
    features = kernel.feature_map(X)
    assert features is None or np.all(features.cancelled_squares(others) >= 0)


def test_times_that_microseconds_cannot_hold_are_reported():
    for unit, year in (("s", 300_000), ("D", 5_000_000), ("h", -300_000)):
        times = np.array([np.datetime64(f"{year}-01-01", unit), np.datetime64("2024-01-01", unit)])
        forms = [times] if unit == "h" else [times, pa.array(times)]
        for table in ({"t": form} for form in forms):
            with pytest.raises(DataError, match="292,000 years from 1970"):
                fitted(TableKernel({"t": Datetime()}), table)
    durations = from_arrow(pa.table({"d": pa.array([10**17, 1], pa.duration("s"))}))
    with pytest.raises(DataError, match="292,000 years"):
        fitted(TableKernel({"d": Numeric()}), durations)


def test_many_categories_stay_sparse():
    rng = np.random.default_rng(0)
    table = {"city": [f"c{i}" for i in rng.integers(0, 700, size=3000)], "x": rng.normal(size=3000)}
    kernel = fitted(TableKernel({"city": Categorical(), "x": Numeric()}), table)
    found = kernel.feature_map(as_table(table))
    features = found.transform(table)
    assert sparse.issparse(features) and found.nnz == features.nnz <= 3000 * (np.ceil(np.log2(700)) + 1)
    assert_allclose((features[:50] @ features.T).toarray(), kernel(as_table(table)[:50], table), atol=1e-9)


def test_the_variance_of_a_kernel_without_features_is_that_of_a_sample(monkeypatch):
    X = {"x": np.random.default_rng(0).normal(size=300)}
    X["x"][::5] = np.nan
    whole = fitted(TableKernel({"x": RBF(0.7)}), X)
    K = fitted(TableKernel({"x": RBF(0.7)}, balanced=False), X)(X, X)
    assert_allclose(whole.variances["x"], np.trace(centered(K)) / 300, rtol=1e-12)
    monkeypatch.setattr(table_kernel_module, "_SAMPLE", 100)
    assert fitted(TableKernel({"x": RBF(0.7)}), X).variances["x"] == pytest.approx(whole.variances["x"], rel=0.2)


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    table, weights = hostile(40), rng.integers(0, 4, size=40)
    again = as_table(table)[np.repeat(np.arange(40), weights)]
    rows = np.flatnonzero(weights)
    found = fitted(TableKernel(ALL), as_table(table)[rows], weights[rows].astype(float))
    twin = fitted(TableKernel(ALL), again)
    assert_allclose(found.columns["mass"].mean, twin.columns["mass"].mean, rtol=1e-14)
    assert found.columns["color"] == twin.columns["color"] and found.columns["size"] == twin.columns["size"]
    assert_allclose(found(table, table), twin(table, table), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", [Numeric(), Categorical(), Ordinal(), Datetime(["year"])], ids=repr)
@pytest.mark.parametrize("factor", [1e-200, 1 / 3, 1e200, 1e307])
def test_only_ratios_of_weights_count(kind, factor):
    cells, weights = np.array([3, 1, 4, 1, 5, 1, 2]), np.array([0.3, 0.1, 1.0, 0.7, 0.2, 0.5, 0.9])
    if isinstance(kind, Datetime):
        cells = np.datetime64("2024-01-01", "us") + cells.astype("timedelta64[D]")
    X = as_table({"x": cells})
    expected = fitted(TableKernel({"x": kind}), X, weights)(X, X)
    assert_allclose(fitted(TableKernel({"x": kind}), X, weights * factor)(X, X), expected, rtol=1e-10, atol=1e-12)


def test_a_table_that_does_not_fit_is_sampled(monkeypatch):
    table = as_table(frame(400))
    monkeypatch.setattr(table_kernel_module, "parse_memory", lambda limit: 8 * table.nbytes // 4)

    class Remote(ArrayDataset):
        in_memory = False
        nbytes = 10 * table.nbytes

        def load(self, mask=None):
            raise AssertionError

    data: Dataset = Remote(table, "table")
    with pytest.warns(MercerWarning, match="X does not fit into memory, .* a sample of 10 of 400 rows"):
        found = TableKernel({"mass": Numeric()}).resolve(data, lazy_generator(0))
    some = np.sort(np.random.default_rng(0).choice(400, 10, replace=False))
    assert found.columns["mass"].mean == pytest.approx(frame(400)["mass"].to_numpy()[some].mean())


def test_costs_grow_with_strings_and_columns():
    def cost(kinds, table):
        data = ArrayDataset(as_table(table), "table")
        kernel = TableKernel(kinds).resolve(data, lazy_generator(0))
        return kernel.entry_cost(data), kernel.sample_width(data)

    one, two = cost({"mass": Numeric()}, frame()), cost({"mass": Numeric(RBF(1.0)), "name": Spectrum(2)}, frame())
    assert two[0] > one[0] > 0 and two[1] > one[1] > 0


@pytest.mark.parametrize("kinds", [KINDS, {**KINDS, "mass": Laplacian(0.5)}], ids=["features", "matrix"])
@pytest.mark.parametrize("weights", [None, np.arange(80) % 3 + 0.5], ids=["equal", "weighted"])
def test_contributions_of_columns_are_what_they_add_to_an_eigenvalue(kinds, weights):
    """λ = vᵀKv = Σ vᵀK_c v over columns, v a unit eigenvector of the centered matrix."""
    table, w = frame(), np.ones(80) if weights is None else weights
    kernel = fitted(TableKernel(kinds), table, weights)
    P = np.eye(80) - np.outer(np.sqrt(w), np.sqrt(w)) / w.sum()
    values, V = np.linalg.eigh(P @ (np.sqrt(w)[:, None] * kernel(table, table) * np.sqrt(w)) @ P)
    values, V = values[::-1][:3], V[:, ::-1][:, :3]
    found = kernel.column_contributions(table, V / np.sqrt(w)[:, None] * np.sqrt(values), weights)
    assert_allclose(np.sum(list(found.values()), axis=0), 1.0)
    for name in kinds:
        part = TableKernel({name: kernel.columns[name]}, variances={name: kernel.variances[name]})
        A = P @ (np.sqrt(w)[:, None] * part(table, table) * np.sqrt(w)) @ P
        assert_allclose(found[name], np.sum(V * (A @ V), axis=0) / values, atol=1e-10)


# ---------------------------------------------------------------------- new tables


def test_columns_may_come_in_another_order_and_with_others():
    kernel, new = fitted(TableKernel(KINDS), frame()), frame(20, 1)
    expected = kernel(new, frame())
    assert_array_equal(kernel(new[new.columns[::-1]].assign(other=1.0), frame()), expected)


def test_an_entirely_missing_column_may_have_any_type():
    kernel, new = fitted(TableKernel(ALL), hostile(50)), hostile(6, 1)
    for name in ALL:
        nothing = {**new, name: [None] * 6}
        kernel.validate(as_table(nothing))
        found = kernel(nothing, hostile(50))
        others = TableKernel(
            {n: k for n, k in kernel.columns.items() if n != name},
            variances={n: v for n, v in kernel.variances.items() if n != name},
        )
        assert_allclose(found, others(new, hostile(50)), atol=1e-12)


def test_new_categories_count_as_missing_and_are_reported():
    kernel = fitted(TableKernel(KINDS), frame())
    new = frame(6, 1).assign(color=["red", "pink", "pink", "red", "grey", None])
    with pytest.warns(
        MercerWarning, match=r"'color' has 3 cells with categories that were not in the fit \('pink', 'grey'"
    ):
        kernel.validate(as_table(new))
    missing = new.assign(color=["red", None, None, "red", None, None])
    assert_array_equal(kernel(new, frame()), kernel(missing, frame()))


def test_integral_numbers_and_integers_are_equal_categories():
    fit, new = {"x": np.array([1, 2, 2, 3])}, {"x": np.array([1.0, 2.0, np.nan])}
    kernel = fitted(TableKernel({"x": Categorical()}), fit)
    assert kernel.columns["x"].counts == {1: 1, 2: 2, 3: 1}
    assert all(type(label) is int for label in kernel.columns["x"].counts)
    declared = pd.DataFrame({"x": pd.Categorical([1.0, 2.0, None])})
    assert_array_equal(kernel(new, fit), kernel(declared, fit))
    assert_array_equal(kernel(new, fit)[:2], kernel(fit, fit)[:2])


# ---------------------------------------------------------------------- inference


def test_kinds_are_inferred_from_what_columns_contain():
    rng = np.random.default_rng(0)
    table = frame(100)
    table["grade"] = pd.Categorical(rng.choice(["low", "high"], size=100), ["low", "high"], ordered=True)
    table["group"] = pd.Categorical(rng.choice([1, 2, 3], size=100))
    table["plate"] = pd.Categorical([f"plate {i}" for i in range(50)] * 2)  # too many, but declared
    table["city"] = [f"town {i % 15}" for i in range(100)]
    table["smokes"] = rng.random(100) < 0.5
    table["tags"] = [["a", "b"][: 1 + i % 2] for i in range(100)]
    table["zone"] = pd.date_range("2024-01-01", periods=100, tz="Europe/Berlin")
    table["lasted"] = pd.to_timedelta(rng.integers(1, 900, size=100), unit="m")
    expected = dict(mass=Numeric(), color=Categorical(), size=Categorical(), when=Datetime(), name=String(Spectrum(3)))
    expected |= dict(grade=Ordinal(("low", "high")), group=Categorical(), plate=Categorical(), city=Categorical())
    expected |= dict(smokes=Categorical(), tags=Sets(), zone=Datetime(), lasted=Numeric())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = TableKernel.infer(table)
        assert dict(kernel.columns) == expected
        found = fitted(TableKernel(), table)
    assert {n: type(k) for n, k in found.columns.items()} == {n: type(k) for n, k in expected.items()}
    days = table["lasted"].dt.total_seconds() / 86400
    assert found.columns["lasted"].mean == pytest.approx(days.mean(), rel=1e-12)
    utc = table["zone"].dt.tz_convert("UTC").dt.tz_localize(None)
    twin = fitted(TableKernel({"zone": Datetime()}), table.assign(zone=utc))
    assert twin.columns["zone"] == found.columns["zone"]


def test_enums_of_polars_are_ordinal_and_other_categories_are_not():
    grades = ["low", "high", "low"] * 10
    table = pl.DataFrame({"grade": grades, "kind": grades}, {"grade": pl.Enum(["low", "high"]), "kind": pl.Categorical})
    assert dict(TableKernel.infer(table).columns) == dict(grade=Ordinal(("low", "high")), kind=Categorical())


def test_short_strings_are_categories_however_many_there_are():
    codes = [a + b for a in "abcdefg" for b in "uvwxyz"]
    table = {"state": codes, "mass": np.arange(42) ** 2.0, "name": [f"{code} and more" for code in codes]}
    columns = TableKernel.infer(table).columns
    assert isinstance(columns["state"], Categorical) and isinstance(columns["name"], String)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (np.arange(80), "counts the rows"),
        (np.random.default_rng(0).permutation(80) + 1000.0, "counts the rows"),
        ([f"A{i:04}" for i in range(80)], "has a different code in each of 80 rows"),
        ([3.0] * 80, "has the same value in all rows"),
        (["yes"] * 79 + [None], "has one value and missing values"),
        ([None] * 80, "has no values"),
        ([1, "a"] * 40, "cannot be converted"),
        ([object()] * 80, "cannot be converted"),
        ([[0.5, 0.1]] * 80, "holds lists of double, which are not sets"),
        ([{"a": 1}] * 80, "holds values of type struct"),
    ],
    ids=range(10),
)
def test_columns_that_do_not_distinguish_rows_are_left_out_with_a_warning(column, words):
    table = frame().assign(other=column)
    with pytest.warns(MercerWarning) as caught:
        kernel = TableKernel.infer(table)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("Column 'other'") and words in text and text.endswith("It is left out.")
    assert "other" not in kernel.columns


def test_tables_without_useful_columns_are_refused():
    with pytest.raises(DataError, match="X has one row"):
        TableKernel.infer(frame(1))
    with pytest.raises(DataError, match="No column of X distinguishes rows: 'a' has the same value in all rows"):
        TableKernel.infer({"a": [1.0, 1.0], "b": [None, None]})


# ---------------------------------------------------------------------- errors and warnings


def broken(**columns):
    return {**{name: frame()[name].tolist() for name in frame()}, **columns}


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (frame().drop(columns="mass"), "X has no column 'mass'. Its columns are 'color', 'size', 'when', 'name'."),
        (broken(mass=["heavy"] * 80), "Column 'mass' of X has strings, such as 'heavy', but Numeric needs numbers."),
        (broken(mass=[1.0, np.inf] * 40), "Column 'mass' of X has an infinite value (inf) at row index 1."),
        (broken(mass=[None] * 80), "Column 'mass' has no value in any of the 80 rows."),
        (broken(color=[1, "a"] * 40), "Column 'color' of X cannot be converted"),
        (broken(color=[{"a"}, {"b"}] * 40), "Column 'color' of X has sets, such as"),
        (
            broken(when=["2020-01-01"] * 80),
            "such as '2020-01-01', but Datetime needs dates or times. Use Categorical()",
        ),
        (broken(name=[1.5] * 80), "Column 'name' of X has numbers, such as 1.5, but String needs strings."),
        (broken(size=["S"] * 79 + ["XXL"]), "has 'XXL' at row index 79, which is not in the order of its Ordinal"),
        (broken(mass=[1e308, -1e308] * 40), "whose difference overflows"),
    ],
    ids=range(10),
)
def test_tables_that_cannot_be_compared_are_reported(X, words):
    with pytest.raises(DataError) as caught:
        fitted(TableKernel(KINDS), X)
    assert words in str(caught.value) and caught.value.column in KINDS


def test_strings_have_no_order_of_their_own():
    with pytest.raises(DataError, match=r"strings, whose order is not known.*Ordinal\(\['b', 'a'\]\)"):
        fitted(TableKernel({"x": Ordinal()}), {"x": ["b", "a"]})


def test_new_tables_are_refused_with_the_location():
    kernel = fitted(TableKernel(KINDS), frame())
    with pytest.raises(DataError, match="X has no column 'mass'"):
        kernel.validate(as_table(frame().drop(columns="mass")))
    with pytest.raises(DataError, match=r"infinite value \(-inf\) at row index 7") as caught:
        kernel.validate(as_table(frame().assign(mass=[1.0] * 7 + [-np.inf] + [2.0] * 72)))
    assert (caught.value.row, caught.value.column) == (7, "mass")


def test_constant_columns_are_ignored_with_a_warning():
    table = frame().assign(mass=3.0, size="M")
    with pytest.warns(MercerWarning, match="Columns 'mass' and 'size' have the same value in all rows and are ignored"):
        kernel = fitted(TableKernel(KINDS), table)
    twin = fitted(TableKernel({name: kind for name, kind in KINDS.items() if name not in ("mass", "size")}), table)
    assert_array_equal(kernel(table.assign(mass=7.0), table), twin(table, table))
    assert not kernel.column_contributions(table, np.arange(80.0)[:, None])["mass"].any()
    with pytest.warns(MercerWarning, match="All strings of column 'name' are equal for Spectrum"):
        fitted(TableKernel({"name": Spectrum(9), "mass": Numeric()}), frame())
    with pytest.warns(MercerWarning, match="Column 'x' has the same value"):
        kernel = fitted(TableKernel({"x": Numeric()}), {"x": [2.0, 2.0]})
    assert_array_equal(kernel({"x": [2.0, 5.0]}, {"x": [2.0]}), [[0.0], [0.0]])
    assert kernel.feature_map(as_table({"x": [2.0]})).n_features == 1


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([f"n{i}" for i in range(40)], "40 categories in 40 rows"),
        ([f"n{i}" for i in range(38)] + ["n0", "n1"], "38 categories in 40 rows"),
        ([f"n{i}" for i in range(30)] + [None] * 10, "30 categories in 30 rows"),
        (list(range(40)), "40 categories in 40 rows"),
        ([f"n{i % 20}" for i in range(40)], ""),
        ([f"n{i}" for i in range(9)] + [None] * 31, ""),
    ],
    ids=range(6),
)
def test_categories_that_are_as_many_as_the_rows_are_reported(ids, words):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted(TableKernel({"id": Categorical(), "mass": Numeric()}), {"id": ids, "mass": np.sin(np.arange(40.0))})
    assert [words in str(one.message) and "'id'" in str(one.message) for one in caught] == [True] * bool(words)


def test_a_kernel_that_is_not_fitted_is_reported():
    with pytest.raises(UsageError, match="TableKernel is not fitted"):
        TableKernel(KINDS)(frame(), frame())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TableKernel({}), "columns={} must be a dict of at least one column"),
        (lambda: TableKernel({"x": "number"}), r"columns\['x'\]='number' must be Numeric\(\), Categorical\(\)"),
        (lambda: Numeric(Spectrum(3)), "must be a kernel on vectors for Numeric"),
        (lambda: Numeric(mean=np.inf), "mean=inf must be a finite number"),
        (lambda: Numeric(scale=-1.0), "scale=-1.0 must be a non-negative number"),
        (lambda: String(RBF()), "must be a kernel on strings for String"),
        (lambda: Datetime(["month"]), r"cycles=\['month'\] must be a list of some of year, week, day"),
        (lambda: Datetime("year"), "cycles='year' must be a list"),
        (lambda: Ordinal(["a", "a"]), "must be a list of categories, each once"),
        (lambda: Categorical({"a": -1}), "must be a positive number"),
        (lambda: TableKernel(KINDS) + RBF(1.0), "different kinds of samples"),
    ],
    ids=range(11),
)
def test_parameters_that_cannot_be_used_are_reported(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


# ---------------------------------------------------------------------- values, not objects


def test_equal_kernels_have_equal_hashes():
    one, other = Categorical({"a": 1, "b": 2}), Categorical({"b": 2, "a": 1})
    kernels = [TableKernel({"x": one, "y": Numeric()}), TableKernel({"y": Numeric(), "x": other})]
    assert one == other and hash(one) == hash(other)
    assert kernels[0] == kernels[1] and len({*kernels}) == 1
    for kind in ALL.values():
        assert hash(kind) == hash(pickle.loads(pickle.dumps(kind)))  # noqa: S301
    assert len({fitted(TableKernel(ALL), hostile(50)) for _ in range(2)}) == 1


def test_kernels_are_printed_as_they_are_written():
    assert repr(TableKernel(FAMD, balanced=False)) == (
        "TableKernel(columns={'mass': Numeric(), 'color': Categorical(), 'size': Categorical()}, balanced=False)"
    )


def test_one_column_can_be_changed():
    kernel = fitted(TableKernel(KINDS), frame())
    changed = kernel.with_params(columns__mass=Numeric(RBF(0.5)), balanced=False)
    assert changed.columns["mass"] == Numeric(RBF(0.5)) and changed.variances is None and not changed.balanced
    assert fitted(changed, frame())(frame(), frame()).shape == (80, 80)
    assert kernel.with_params(balanced=False).variances is not None


def test_kernels_of_columns_are_resolved_from_their_cells():
    kernel = fitted(TableKernel({"mass": RBF("median"), "tags": Sets(Linear())}), hostile(50))
    values = hostile(50)["mass"]
    z = (values[~np.isnan(values)] - np.nanmean(values)) / np.nanstd(values)
    z = np.append(z, np.zeros(np.isnan(values).sum()))  # encoded as the mean
    distances = (z[:, None] - z) ** 2
    assert kernel.columns["mass"].kernel.gamma == pytest.approx(1 / np.median(distances[distances > 0]))
    assert Sets().cell_kernel == Cosine()


def test_column_names_can_be_any_hashable_value():
    X = np.random.default_rng(0).normal(size=(20, 2))
    table = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    kernel = fitted(TableKernel(), table)
    assert [*kernel.columns] == [("a", 1), ("b", 2)]
    names = kernel.feature_map(as_table(table)).get_feature_names_out()
    assert names.tolist() == ["('a', 1)", "('b', 2)"]
    assert [*fitted(TableKernel(), {0: X[:, 0], 1: X[:, 1]}).columns] == [0, 1]


def test_set_order_does_not_matter():
    values = np.empty(2, dtype=object)
    values[:] = [frozenset(["b", "a", 3, 1]), frozenset(["c"])]
    kind = Sets().fit(Categories(np.array([0, 1]), values, "set"), np.ones(2), "x")
    assert kind.members == (1, 3, "a", "b", "c")
