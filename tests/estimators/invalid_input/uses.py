"""Weights, extreme numbers, models in use, files and plans: what goes wrong after the parameters are right."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from scipy.spatial.distance import cdist

import mercer
from estimators.invalid_input.cases import Case, local_model, near, oracle, rows
from estimators.invalid_input.parameters import BENT, DISTANCES, refused
from mercer import PCA, IncrementalPCA, KernelPCA, ProbabilisticPCA, co_ranking, kernels, open_rows, quality

ONES = np.ones(30)
FLAT = BENT[:, :2]

# ---------------------------------------------------------------------- weights

WEIGHTED = {
    "PCA.fit": lambda w: PCA(2).fit(BENT, sample_weight=w),
    "IncrementalPCA.fit": lambda w: IncrementalPCA(2).fit(BENT, sample_weight=w),
    "IncrementalPCA.partial_fit": lambda w: IncrementalPCA(2).partial_fit(BENT, sample_weight=w),
    "ProbabilisticPCA.fit": lambda w: ProbabilisticPCA(2).fit(BENT, sample_weight=w),
    "KernelPCA.fit": lambda w: KernelPCA(2, kernel="rbf", gamma=0.5).fit(BENT, sample_weight=w),
    "KernelPCA by landmarks": lambda w: KernelPCA(2, kernel="rbf", gamma=0.5, n_landmarks=20).fit(
        BENT, sample_weight=w
    ),
}
BAD_WEIGHTS = [
    ("negative", -ONES, "Negative values in data passed to `sample_weight`"),
    ("one negative", np.where(np.arange(30) == 3, -1e-9, ONES), "Negative values"),
    ("all zero", 0 * ONES, "at least one non-zero|no row is left"),
    ("NaN", np.where(np.arange(30) == 3, np.nan, ONES), "sample_weight contains NaN.*row index 3"),
    ("infinite", np.where(np.arange(30) == 3, np.inf, ONES), "sample_weight contains infinity.*row index 3"),
    ("too few", ONES[:7], r"sample_weight\.shape == \(7,\), expected \(30,\)"),
    ("too many", np.ones(31), r"sample_weight\.shape == \(31,\), expected \(30,\)"),
    ("a table", np.ones((30, 2)), "Sample weights must be 1D.*2D"),
    ("a column", np.ones((30, 1)), "Sample weights must be 1D.*2D"),
    ("huge", 1e308 * ONES, r"Sample weights from 1e\+308 to 1e\+308 .*scale them"),
    ("one huge", np.where(np.arange(30) == 3, 1e308, ONES), r"Sample weights from 1 to 1e\+308 .*scale them"),
    ("tiny", 1e-320 * ONES, r"Sample weights from 1e-320 to 1e-320 .*scale them"),
    ("texts", np.array(["a"] * 30), "text"),
    ("one text", np.array([*ONES[:29], "a"], dtype=object), "text.*row index 29"),
    ("dates", ONES.astype("datetime64[D]"), "sample_weight holds dates"),
    ("complex", ONES + 0j, "Complex data not supported"),
    ("masked", np.ma.MaskedArray(ONES, ONES > 0), "sample_weight is a masked array that hides 30"),
    ("a dict", {"a": 1}, "sample_weight is a dict"),
    ("a word", "balanced", "sample_weight is a text"),
]


def weighted_values(w):
    """Eigenvalues of the weighted covariance, by the definition."""
    mean = w @ BENT / w.sum()
    moved = BENT - mean
    return np.linalg.eigvalsh(moved.T @ (w[:, None] * moved))[::-1][:2] / (w.sum() - 1)


RAMP = np.arange(1.0, 31.0)
WEIGHTS = [
    *[
        refused(f"{way}: {name} weights", lambda call=call, w=w: call(w), what)
        for way, call in WEIGHTED.items()
        for name, w, what in BAD_WEIGHTS
    ],
    *[
        Case(
            f"{way}: {name} weights",
            lambda call=call, w=w: call(w),
            right=lambda m, w=w: near(m.explained_variance_, weighted_values(np.asarray(w, dtype=float)), 1e-9),
        )
        for way, call in list(WEIGHTED.items())[:3]
        for name, w in [
            ("ordinary", RAMP),
            ("whole", RAMP.astype(np.uint64)),
            ("true and false", RAMP > 5),
            ("listed", RAMP.tolist()),
            ("column-major", np.asfortranarray(np.column_stack([RAMP, RAMP]))[:, 0]),
        ]
    ],
    refused("LLE: weights", lambda: local_model().fit(BENT, sample_weight=ONES), "sample_weight", TypeError),
]

# ---------------------------------------------------------------------- extreme numbers


def scaled(factor, offset=0.0, dtype=float):
    return (factor * rows() + offset).astype(dtype)


@cache
def spread():
    return np.linalg.eigvalsh(np.cov(rows().T))[::-1][:2]


STEPS = r"steps of .* digits?"
NUMBERS = [
    *[
        Case(
            f"PCA of {dtype.__name__} times {factor:g}",
            lambda factor=factor, dtype=dtype: PCA(2).fit(scaled(factor, dtype=dtype)),
            right=lambda m, f=factor: near(np.float64(m.explained_variance_) / f / f, spread(), 1e-5),
        )
        for dtype, factor in [
            (float, 1e140),
            (float, 1e-140),
            (np.float32, 1e15),
            (np.float32, 1e30),
            (np.float32, 1e37),
            (np.float32, 1e-30),
        ]
    ],
    *[
        Case(
            f"LLE of {dtype.__name__} times {factor:g}",
            lambda factor=factor, dtype=dtype: local_model().fit(scaled(factor, dtype=dtype)),
            right=lambda m: near(m.reconstruction_error_, oracle("local", "rows").reconstruction_error_, 0.02),
        )
        for dtype, factor in [(float, 1e140), (float, 1e-140), (np.float32, 1e30), (np.float32, 1e-30)]
    ],
    *[
        Case(
            f"KernelPCA of {dtype.__name__} times {factor:g}",
            lambda factor=factor, dtype=dtype: KernelPCA(2, kernel="rbf", gamma=0.5 / factor**2).fit(
                scaled(factor, dtype=dtype)
            ),
            right=lambda m: near(m.eigenvalues_, oracle("kernel", "rows").eigenvalues_, 1e-4),
        )
        for dtype, factor in [(float, 1e140), (float, 1e-140), (np.float32, 1e30), (np.float32, 1e-30)]
    ],
    *[
        Case(f"{name} with an offset of {offset:g}", lambda fit=fit, X=X: fit(X), warns=STEPS)
        for name, fit in {
            "PCA": lambda X: PCA(2).fit(X),
            "IncrementalPCA": lambda X: IncrementalPCA(2).fit(X),
            "KernelPCA": lambda X: KernelPCA(2, kernel="rbf", gamma=0.5).fit(X),
            "LLE": lambda X: local_model().fit(X),
        }.items()
        for offset, X in [(1e15, scaled(1, 1e15)), (1e5, scaled(1, 1e5, np.float32))]
    ],
    *[
        Case(
            f"{name} of whole numbers beyond 2**53",
            lambda fit=fit: fit(np.array([[2**60 + i, (-1) ** i * 2**61] for i in range(30)], dtype=object)),
            right=lambda m: m.n_features_in_ == 2,
        )
        for name, fit in {"PCA": lambda X: PCA(1).fit(X), "IncrementalPCA": lambda X: IncrementalPCA(1).fit(X)}.items()
    ],
    refused("PCA of numbers whose squares overflow", lambda: PCA(2).fit(scaled(1e200)), "far too large.*[Ss]cale"),
    refused(
        "KernelPCA of numbers whose squares overflow", lambda: KernelPCA(2, kernel="rbf").fit(scaled(1e200)), "scale"
    ),
    refused("quality of numbers whose squares overflow", lambda: quality(scaled(1e200), FLAT), "scale"),
    *[
        Case(
            f"PCA of {kind.__name__} columns called {names}",
            lambda kind=kind, names=names: PCA(2).fit(kind({name: BENT[:, j] for j, name in enumerate(names)})),
            right=lambda m: near(m.explained_variance_, spread(), 1e-9),
        )
        for kind in (pd.DataFrame, pl.DataFrame)
        for names in (["X", "obs", "a", "b"], ["shape", "dtype", "columns", "T"], ["date", "time", "day", "hour"])
    ],
    Case("PCA of one value", lambda: PCA(2).fit(np.full((30, 4), 3.0)), warns="All rows are the same"),
    Case(
        "KernelPCA of one value", lambda: KernelPCA(2, kernel="rbf").fit(np.full((30, 4), 3.0)), warns="look the same"
    ),
    Case("LLE of one value", lambda: local_model().fit(np.full((30, 4), 3.0)), warns="the same|copies"),
    Case("PCA of zeros", lambda: PCA(2).fit(np.zeros((30, 4))), warns="All rows are the same"),
    Case("PCA of sparse zeros", lambda: PCA(2).fit(sparse.csr_array((30, 4))), warns="All rows are the same"),
]

# ---------------------------------------------------------------------- models in use


@cache
def model(name):
    makers = {
        "PCA": lambda: PCA(2),
        "IncrementalPCA": lambda: IncrementalPCA(2),
        "KernelPCA": lambda: KernelPCA(2, kernel="rbf", gamma=0.5, fit_inverse_transform=True),
        "LLE": local_model,
    }
    return makers[name]().fit(BENT)


def unfitted(name):
    kinds = {"PCA": PCA, "IncrementalPCA": IncrementalPCA, "KernelPCA": KernelPCA}
    return kinds[name]() if name in kinds else local_model()


NAMES = ("PCA", "IncrementalPCA", "KernelPCA", "LLE")
USED = [
    *[
        refused(
            f"{name}.transform of {d} columns", lambda n=name, d=d: model(n).transform(np.ones((3, d))), f"{d} features"
        )
        for name in NAMES
        for d in (3, 5)
    ],
    *[
        refused(f"{name}.transform before fit", lambda n=name: unfitted(n).transform(BENT), "not fitted yet")
        for name in NAMES
    ],
    *[
        refused(f"{name}.inverse_transform of {what}", lambda n=name, Z=Z: model(n).inverse_transform(Z), words)
        for name in NAMES[:3]
        for what, Z, words in [
            ("three columns", np.ones((5, 3)), r"3 features.*expecting 2"),
            ("one dimension", np.ones(2), "Expected 2D array"),
            ("NaN", np.full((5, 2), np.nan), "contains NaN.*row index 0, column 0"),
            ("text", np.array([["a", "b"]]), "text"),
            ("dates", np.ones((5, 2)).astype("datetime64[D]"), "dates"),
            ("hidden scores", np.ma.MaskedArray(np.ones((5, 2)), True), "hides 10"),
            ("None", None, "X is None"),
        ]
    ],
    refused("LLE.place of NaN", lambda: model("LLE").place(BENT * np.nan), "contains NaN.*row index 0"),
    refused("LLE.place of three columns", lambda: model("LLE").place(BENT[:, :3]), "3 features"),
    refused("PCA.score of numbers whose squares overflow", lambda: model("PCA").score(1e200 * BENT), "far too large"),
    refused("PCA.score of text", lambda: model("PCA").score(BENT.astype(str)), "text"),
    refused("PCA.score_samples of three columns", lambda: model("PCA").score_samples(BENT[:, :3]), "3 features"),
    refused("PCA.decorrelate with fewer components", lambda: model("PCA").decorrelate(BENT), "only 2 components"),
    refused(
        "KernelPCA.component_functions of NaN", lambda: model("KernelPCA").component_functions(BENT * np.nan), "NaN"
    ),
    refused("no way back", lambda: KernelPCA(2).fit(BENT).inverse_transform(FLAT), "fit_inverse_transform"),
    refused(
        "a way back from a matrix",
        lambda: KernelPCA(2, kernel="precomputed", fit_inverse_transform=True).fit(BENT @ BENT.T),
        "precomputed",
    ),
    refused("an oblong kernel matrix", lambda: KernelPCA(2, kernel="precomputed").fit(BENT), "square matrix.*30x4"),
    refused(
        "a file as kernel matrix", lambda: KernelPCA(2, kernel="precomputed").fit(stored("rows.npy")), "numpy.load"
    ),
    refused(
        "a complex operator",
        lambda: KernelPCA(2, kernel="precomputed").fit(aslinearoperator(BENT @ BENT.T + 0j)),
        "Complex data not supported",
    ),
    refused("an oblong operator", lambda: KernelPCA(2, kernel="precomputed").fit(aslinearoperator(BENT)), "square"),
    refused("a lopsided operator", lambda: KernelPCA(2, kernel="precomputed").fit(lopsided()), "not symmetric"),
    Case(
        "a kernel matrix that is not symmetric",
        lambda: KernelPCA(2, kernel="precomputed").fit(BENT @ BENT.T + np.triu(np.ones((30, 30)))),
        warns="not symmetric",
    ),
    refused("distances for a kernel matrix", lambda: KernelPCA(2, kernel="precomputed").fit(DISTANCES), "negative eig"),
    refused("a kernel of several numbers", lambda: KernelPCA(2, kernel=lambda x, y: x * y).fit(BENT), r"shape \(4,\)"),
    refused("a kernel that is NaN", lambda: KernelPCA(2, kernel=lambda x, y: np.nan).fit(BENT), "finite|NaN|nan"),
    refused("a second batch of three columns", lambda: two_batches(BENT[:, :3]), "3 features"),
    refused(
        "sparse rows and sums of moduli",
        lambda: KernelPCA(2, kernel=kernels.Laplacian()).fit(sparse.csr_array(BENT)),
        "takes dense rows only",
    ),
    refused("a second batch too far away", lambda: two_batches(BENT - 1e154), "squares of the data.*far too large"),
    refused("a second batch of NaN", lambda: two_batches(BENT * np.nan), "contains NaN"),
    refused("a first batch of one row", lambda: IncrementalPCA(2).partial_fit(BENT[:1]), "n_components=2.*samples 1"),
    refused(
        "writing to a folder that is not there",
        lambda: model("PCA").transform_to(BENT, "/nowhere/at/all.npy"),
        "all.npy",
    ),
    refused("writing to an unknown kind", lambda: model("PCA").transform_to(BENT, "scores.xyz"), "xyz"),
]


def lopsided():
    return aslinearoperator(np.triu(np.ones((30, 30))))


def two_batches(X):
    return IncrementalPCA(2).partial_fit(BENT).partial_fit(X)


# ---------------------------------------------------------------------- files, plans and measures


@cache
def stored(name):
    path = Path(tempfile.mkdtemp()) / name
    if path.suffix == ".npy":
        np.save(path, BENT)
    else:
        np.savetxt(path, BENT, delimiter=",", header="a,b,ab,d", comments="")
    return path


OPENED = [
    Case("columns as one name", lambda: open_rows(stored("x.csv"), columns="ab"), right=lambda r: r.shape == (30, 1)),
    Case(
        "columns as a list", lambda: open_rows(stored("x.csv"), columns=["ab", "a"]), right=lambda r: r.shape == (30, 2)
    ),
    Case("drop as one name", lambda: open_rows(stored("x.csv"), drop="ab"), right=lambda r: r.names == ("a", "b", "d")),
    refused("columns as a number", lambda: open_rows(stored("x.csv"), columns=2), "columns"),
    refused("columns as numbers", lambda: open_rows(stored("x.csv"), columns=[0, 1]), "no column"),
    refused("columns that are not there", lambda: open_rows(stored("x.csv"), columns=["q"]), "no column 'q'"),
    refused("columns asked for twice", lambda: open_rows(stored("x.csv"), columns=["a", "a"]), "more than once"),
    refused("no columns at all", lambda: open_rows(stored("x.csv"), columns=[]), "0 columns"),
    refused("all columns dropped", lambda: open_rows(stored("x.csv"), drop=["a", "b", "ab", "d"]), "0 columns"),
    refused("columns of a matrix", lambda: open_rows(stored("x.npy"), columns=["a"]), "no column names"),
    *[
        refused(f"{name} as a number", lambda name=name: open_rows(stored("x.csv"), **{name: 3}), f"{name} has to be")
        for name in (
            "id",
            "label",
            "keep",
            "delimiter",
            "decimal",
            "encoding",
            "format",
            "array",
            "layer",
            "obsm",
            "resize",
        )
    ],
    refused("keep as numbers", lambda: open_rows(stored("x.csv"), keep=[0]), "no column 0"),
    refused(
        "names that are not there", lambda: open_rows(stored("x.csv"), id="AB"), "no column 'AB'.*Did you mean 'ab'"
    ),
    refused("a label of a matrix", lambda: open_rows(stored("x.npy"), label="a"), "no column names"),
    refused("a decimal mark of a matrix", lambda: open_rows(stored("x.npy"), decimal=","), "is no text"),
    refused("an unknown format", lambda: open_rows(stored("x.csv"), format="docx"), "files of this kind"),
    Case(
        "a feature that is kept",
        lambda: open_rows(stored("x.csv"), "a", keep="a"),
        right=lambda r: r.names == ("a",) and list(r.beside["a"]) == list(BENT[:, 0]),
    ),
    refused("a feature that names rows", lambda: open_rows(stored("x.csv"), "a", id="a"), "as the names of rows"),
    refused("all columns kept", lambda: open_rows(stored("x.csv"), keep=["a", "b", "ab", "d"]), "0 columns"),
    refused(
        "a label and the other way round", lambda: open_rows(stored("x.csv"), label="a", transpose=True), "columns are"
    ),
    refused("a path that is None", lambda: open_rows(None), "None"),
    refused("a path that is a number", lambda: open_rows(3), "int"),
    refused("a file that is not there", lambda: open_rows("nowhere.csv"), "nowhere.csv: there is no such file"),
    refused("a folder", lambda: open_rows(stored("x.csv").parent), "cannot be read|folder"),
    refused("a file of an unknown kind", lambda: open_rows("table.xlsx"), "cannot be read"),
]
PLANS = [
    *[
        refused(f"plan({name}={value!r})", lambda name=name, value=value: plan(**{name: value}), words or name)
        for name, values, words in [
            ("n_rows", [0, -1, 2.5, "many", None, np.nan, 10**30, [5]], ""),
            ("n_features", [0, -1, 2.5, "many", None, np.inf, 10**30], ""),
            ("n_components", [0, -1, 1.5, "two", np.nan, True], ""),
            ("method", ["umap", None, 3, ["pca"]], ""),
            ("memory_limit", ["lots", -1, 0, np.nan, True], ""),
            ("n_jobs", [0, "two", 1.5, True], ""),
            ("kernel", ["foo", None], ""),
            ("colour", ["red"], ""),
        ]
        for value in values
    ],
    refused(
        "plan of LLE with too many neighbours", lambda: mercer.plan(5, 3, 2, method="lle"), "n_neighbors < n_samples"
    ),
    refused("plan of PCA with too many components", lambda: mercer.plan(50, 3, 7, method="pca"), "n_components=7"),
]
MEASURES = [
    *[
        refused(f"{measure.__name__}({name}={value!r})", lambda m=measure, p={name: value}: m(BENT, FLAT, **p), words)
        for measure in (quality, co_ranking)
        for name, values, words in [
            ("n_neighbors", [0, -1, 2.5, True, "all", np.nan, 30, 10**30], "n_neighbors"),
            ("metric", ["l1", 3, ["cosine"]], "metric"),
            ("sample", [0, 1, 31, 2.5, True, "all"], "sample"),
            ("n_jobs", [0, "two", 1.5, True], "n_jobs"),
            ("random_state", ["a", 1.5, -1, True], "random_state"),
        ]
        for value in values
    ],
    refused("quality without an embedding", lambda: quality(BENT, None), "Y is None"),
    refused("quality of another embedding", lambda: quality(BENT, FLAT[:20]), "X has 30 rows and Y has 20"),
    refused("quality of an embedding with NaN", lambda: quality(BENT, FLAT * np.nan), "Input Y contains NaN"),
    refused("quality of dates", lambda: quality(BENT, FLAT.astype("datetime64[D]")), "Y holds dates"),
    refused("quality of similarities", lambda: quality(np.exp(-DISTANCES), FLAT, metric="precomputed"), "similarit"),
    refused("quality of oblong distances", lambda: quality(BENT, FLAT, metric="precomputed"), "square"),
    Case(
        "quality of distances",
        lambda: quality(cdist(BENT, BENT), FLAT, metric="precomputed"),
        right=lambda found: found.trustworthiness == quality(BENT, FLAT).trustworthiness,
    ),
]


def plan(**params):
    return mercer.plan(**dict(n_rows=1000, n_features=10, n_components=2) | params)


CASES = [*WEIGHTS, *NUMBERS, *USED, *OPENED, *PLANS, *MEASURES]
