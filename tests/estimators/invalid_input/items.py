"""Texts, tables, series and things of any kind: what people give that is none, or hardly enough."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from estimators.invalid_input.cases import Case
from estimators.invalid_input.parameters import BENT, refused
from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import Category, GlobalAlignment, MinMax, Numeric, Spectrum, Subsequence, TableKernel

NAMES = ["anna", "hannah", "otto", "bob", "robert", "bert", "berta", "alberta"]
TABLE = pd.DataFrame({"a": BENT[:, 0], "c": list("xyz") * 10, "id": [f"n{i}" for i in range(30)]})
MIXED = TABLE.assign(c=[1, "x", 2.5] * 10)
KINDS = TableKernel({"a": Numeric(), "c": Category()})
SERIES = [BENT[:7, 0], BENT[:9, 1], BENT[:8, 2]]


def fit(kernel, X, n_components=1, **params):
    return lambda: KernelPCA(n_components, kernel=kernel, **params).fit(X)


def overlap(a, b):
    """Positive semi-definite: a scalar product of indicators."""
    return float(len(set(a) & set(b)))


def apart(a, b):
    """A distance, which is no kernel."""
    return float(abs(len(a) - len(b)))


def is_zero(model):
    return not model.eigenvalues_.any()


ONE = [
    Case("one text", fit(Spectrum(2), ["anna"]), warns="one text alone to learn from.*at least two", right=is_zero),
    Case("one text that counts", lambda: fit_weighted([1, 0, 0]), warns="one text alone to learn from"),
    Case("one text by landmarks", fit(Spectrum(2), ["anna"], n_landmarks=1), warns="one text alone to learn from"),
    Case("one row", fit("rbf", BENT[:1]), warns="one row alone to learn from", right=is_zero),
    Case("one row of a table", fit(KINDS, TABLE[:1]), warns="one row alone to learn from", right=is_zero),
    refused("one row of a table by itself", fit("table", TABLE[:1]), "X has one row alone, .*give at least two"),
    Case("one series", fit(GlobalAlignment(), SERIES[:1]), warns="one series alone to learn from", right=is_zero),
    Case("one thing", fit(overlap, [{1, 2}]), warns="one item alone to learn from", right=is_zero),
    Case("two texts", fit(Spectrum(2), ["anna", "bob"]), right=lambda model: abs(model.eigenvalues_[0] - 1) < 1e-12),
    refused("LLE of one text", lambda: LocallyLinearEmbedding(metric=Spectrum(2)).fit(["anna"]), "n_samples = 1"),
]


def fit_weighted(weights):
    return KernelPCA(1, kernel=Spectrum(2)).fit(NAMES[: len(weights)], sample_weight=weights)


EQUAL = [
    Case("equal texts", fit(Spectrum(2), ["anna"] * 5), warns="texts equal, or too short", right=is_zero),
    Case("short texts", fit(Spectrum(3), ["a", "b", "cd"]), warns="texts equal, or too short", right=is_zero),
    Case("equal series", fit(GlobalAlignment(), SERIES[:1] * 4), warns="look the same", right=is_zero),
    Case("equal things", fit(overlap, [{1, 2}] * 4), warns="look the same", right=is_zero),
]

OTHERS = [
    refused("texts in a dict", fit(Spectrum(2), dict(enumerate(NAMES))), r"X is a dict, .*list\(X\.values\(\)\)"),
    refused("texts in a set", fit(Spectrum(2), set(NAMES)), r"X is a set, .*no order.*sorted\(X\)"),
    refused("series in a dict", fit(GlobalAlignment(), dict(enumerate(SERIES))), "X is a dict, .*list of arrays"),
    refused("a name of a file of texts", fit(Spectrum(2), "names.txt"), r"'names\.txt'.*pathlib\.Path\("),
    refused("a name of a file of a table", fit("table", "t.csv"), r"a text, 't\.csv'.*pathlib\.Path\('t\.csv'\)"),
    refused("a name of a file of series", fit(GlobalAlignment(), "s.csv"), r"not read from files.*list of arrays"),
    refused("a file of series", fit(GlobalAlignment(), Path("s.csv")), r"not read from files.*list of arrays"),
    refused("None for texts", fit(Spectrum(2), None), "X is None, and no text"),
    refused("None for series", fit(GlobalAlignment(), None), "X is None, and no list of series"),
    refused("numbers for texts", fit(Spectrum(2), BENT), r"table of numbers \(30×4\), and this kernel compares texts"),
    refused("texts for numbers", fit("rbf", NAMES), r"first 'anna' at row index 0.*kernel=mercer\.kernels\.Spectrum"),
    refused("None among texts", fit(Spectrum(2), [*NAMES, None]), "item 8 is missing"),
    refused("NaN among texts", fit(Spectrum(2), [*NAMES, np.nan]), "item 8 is missing"),
    refused("a number among texts", fit(Spectrum(2), [*NAMES, 3]), "item 8 is 3, which is no text"),
    refused("mixed cells", fit(KINDS, MIXED), "'c' of X mixes numbers .1 at row index 0. and text"),
    refused("no such column", fit(TableKernel({"z": Numeric()}), TABLE), "X has no column 'z'"),
    refused("a file that is not there", fit("table", Path("nowhere.csv")), "nowhere.csv: there is no such file"),
    refused("negative counts", fit(MinMax(), BENT), "a negative number, .* at row index 0"),
    refused("negative sparse counts", fit(MinMax(), sparse.csr_array(BENT)), "a negative number, .* at row index 0"),
    refused("a function without numbers", fit(lambda a, b: "x", NAMES), "returned 'x', which is no number"),
    refused("a function of NaN", fit(lambda a, b: np.nan, NAMES), "not finite, first for row index 0"),
    Case("a function that is no kernel", fit(apart, NAMES), warns="not positive semi-definite: it has an eigenvalue"),
    Case(
        "categories that are ids",
        fit(TableKernel({"a": Numeric(), "id": Category()}), TABLE),
        warns=r"Column 'id' has 30 categories in 30 rows: .*Leave it out, .*Spectrum\(3\)",
    ),
    Case(
        "numbers that are ids",
        fit(TableKernel({"a": Numeric(), "id": Category()}), TABLE.assign(id=range(30))),
        warns=r"Column 'id' has 30 categories in 30 rows: .*Numeric\(\)",
    ),
    Case("categories that come again", fit(KINDS, TABLE), right=lambda model: model.eigenvalues_[0] > 0),
    Case(
        "texts that are too short for their kernel",
        fit(TableKernel({"a": Numeric(), "c": Spectrum(3)}), TABLE),
        warns=r"All texts of column 'c' look the same to Spectrum\(.*they are equal, or too short",
    ),
    Case(
        "a lone surrogate", fit(Spectrum(2), [*NAMES, "an\ud800na"]), right=lambda model: model.similar("\ud800na", 1)
    ),
    Case(
        "a lone surrogate by subsequences", fit(Subsequence(2), [*NAMES, "an\ud800na"]), right=lambda model: model.plan_
    ),
]

METRICS = [
    refused(
        "texts for distances",
        lambda: LocallyLinearEmbedding(n_neighbors=3).fit(NAMES),
        r"first 'anna'.*metric=mercer\.kernels\.Spectrum\(3\)",
    ),
    refused(
        "numbers for texts by name",
        lambda: LocallyLinearEmbedding(n_neighbors=3, metric="spectrum").fit(BENT),
        "table of numbers .30×4., and this kernel compares texts",
    ),
    refused(
        "a metric that there is not",
        lambda: LocallyLinearEmbedding(n_neighbors=3, metric="spektrum").fit(NAMES),
        "'metric' parameter .*'spectrum'.* Got 'spektrum'",
    ),
]

CASES = [*ONE, *EQUAL, *OTHERS, *METRICS]
