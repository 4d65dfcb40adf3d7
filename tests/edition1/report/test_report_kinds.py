"""Every kind of model has a page, made of what JSON keeps, without a warning, and with the chapters that apply."""

import json
import warnings

import numpy as np
import pandas as pd
from scipy import sparse

from mercer import (
    PCA,
    IncrementalPCA,
    KernelPCA,
    LocallyLinearEmbedding,
    NoveltyDetector,
    ProbabilisticPCA,
    open_rows,
)
from mercer_old.report.chapters.subject import subject_of
from mercer_old.report.facts import Facts
from mercer_old.report.gathering import gathered
from mercer_old.report.model_page import model_page
from support.together import check_each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)) @ RNG.normal(size=(2, 6)) + 0.2 * RNG.normal(size=(60, 6))
GAPS = np.where(np.arange(360).reshape(60, 6) == 20, np.nan, X)
BITS = sparse.csr_matrix(np.where(X > 0, X, 0))
WORDS = ["".join(RNG.choice(list("abcd"), 6)) for _ in range(40)]
MIXED = pd.DataFrame(X[:, :3], columns=list("abc")).assign(
    kind=["u", "v", "w"] * 20, day=pd.date_range("2024-01-01", periods=60), name=[f"n{i}" for i in range(60)]
)
DISTANCES = np.linalg.norm(X[:, None] - X, axis=2)
NOISE = np.random.default_rng(0).normal(size=(60, 4))
LINEAR, KERNEL = "cloud columns walk novelty sureness", "cloud columns walk sweep novelty sureness"


def kernel(name, k=3, **options):
    return KernelPCA(k, kernel=name, **options)


# Of each: the model, its rows, and the chapters with rows and without.
CASES = {
    "incremental": (IncrementalPCA(2), X, LINEAR, "columns"),
    "whitened": (PCA(3, whiten=True), X, LINEAR, "columns"),
    "in single precision": (PCA(3), X.astype("f4"), LINEAR, "columns"),
    "of one column": (PCA(1), X[:, :1], LINEAR, "columns"),
    "of a plane": (PCA(2), X[:, :2], f"{LINEAR} fields", "columns"),
    "sparse": (PCA(3), BITS, LINEAR, "columns"),
    "of many columns": (PCA(4), RNG.normal(size=(30, 1000)), LINEAR, "columns"),
    "of a constant": (PCA(2), np.column_stack([X[:, :2], np.ones(60)]), LINEAR, "columns"),
    "of two rows": (PCA(1), X[:2], "cloud columns novelty", "columns"),
    "of large numbers": (PCA(2), 1e150 * X, LINEAR, "columns"),
    "of tiny numbers": (PCA(2), 1e-150 * X, LINEAR, "columns"),
    "without a component": (PCA("parallel"), NOISE, "columns novelty", "columns"),
    "probabilistic": (ProbabilisticPCA(2), X, LINEAR, "columns"),
    "with gaps": (ProbabilisticPCA(2), GAPS, "cloud columns walk novelty", "columns"),
    "rbf": (kernel("rbf"), X, KERNEL, "cloud columns walk sweep sureness"),
    "rbf of one component": (kernel("rbf", 1), X, KERNEL, "cloud columns walk sweep sureness"),
    "rbf of sparse rows": (kernel("rbf"), BITS, "cloud columns sweep novelty sureness", "cloud columns sweep sureness"),
    "rbf with a way back": (
        kernel("rbf", fit_inverse_transform=True), X, KERNEL, "cloud columns walk sweep sureness",
    ),
    "laplacian": (kernel("laplacian", standardize=True), X, KERNEL, "cloud columns walk sweep sureness"),
    "polynomial": (kernel("poly"), X, LINEAR, "cloud columns walk sureness"),
    "landmarks": (kernel("rbf", n_landmarks=20), X, KERNEL, "columns"),
    "of a matrix": (kernel("precomputed", 2), X @ X.T, "cloud sureness", "cloud"),
    "of a function": (
        KernelPCA(2, kernel=lambda a, b: float(a @ b)), X, "cloud walk novelty sureness", "cloud walk sureness",
    ),
    "of a table": (kernel("table", 2), MIXED, "cloud walk novelty sureness", "cloud walk"),
    "of words": (kernel("spectrum", 2), WORDS, "cloud columns walk novelty sureness", "cloud columns walk sureness"),
    "of words without grams": (
        kernel("weighted_degree", 2), WORDS, "cloud walk novelty sureness", "cloud walk sureness",
    ),
    "of distances": (LocallyLinearEmbedding(n_neighbors=20, metric="precomputed"), DISTANCES, "cloud", "cloud"),
    "of neighbours": (LocallyLinearEmbedding(n_neighbors=20), X, "cloud", "cloud"),
    "a detector": (NoveltyDetector(PCA(2), statistic="t2"), X, "cloud columns walk novelty", "columns"),
    "a detector by kernel": (NoveltyDetector(), X, "cloud columns walk sweep novelty", "columns"),
    "a detector of words": (
        NoveltyDetector(kernel("spectrum", 2), alpha=0.3), WORDS, "cloud columns walk novelty", "cloud columns walk",
    ),
    "a detector of tables": (
        NoveltyDetector(kernel("table", 2), alpha=0.3), MIXED, "cloud walk novelty", "cloud walk",
    ),
}  # fmt: skip
CHAPTERS = "cloud", "columns", "fields", "walk", "sweep", "novelty", "sureness"


def test_every_kind_of_model_has_a_page_of_what_json_keeps():
    check_each(CASES, has_a_page)


def has_a_page(name):
    model, rows, with_rows, without = CASES[name]
    with warnings.catch_warnings(action="ignore"):
        model.fit(rows)
    for given, chapters in ((rows, with_rows), (None, without)):
        with warnings.catch_warnings(action="error"):
            facts = gathered(model, given)
            page = model_page(facts)
        again = Facts.from_dict(json.loads(json.dumps(facts.as_dict(), allow_nan=False)))
        assert again == facts and model_page(again) == page
        there = {chapter for chapter in CHAPTERS if getattr(facts.chapters, chapter) is not None}
        assert there == set(chapters.split()), (given is not None, facts.chapters.notes)
        assert len(page.encode()) < 300_000


def test_rows_of_a_distribution_are_known_to_be_those_of_its_fit():
    """Its scores are drawn to the mean, and its variances are sums of squares over n, not n − 1."""
    for whiten in (False, True):
        model = ProbabilisticPCA(2, whiten=whiten).fit(X)
        known = gathered(model, X)
        assert not known.origin.others and not known.chapters.said_of("sureness")
        assert gathered(model, X + 1).origin.others
    assert not gathered(ProbabilisticPCA(2).fit(GAPS), GAPS).origin.others


def test_a_page_knows_no_address_of_memory_and_promises_nothing_of_a_generator():
    model = PCA(2, random_state=np.random.RandomState(3)).fit(X)
    facts = gathered(model, X)
    assert facts.parameters["random_state"] == "RandomState(MT19937)"
    assert "same answer" not in next(line.words for line in facts.card if line.name == "by chance")
    assert " at 0x" not in KernelPCA(2, kernel=lambda a, b: a @ b).fit(X).report(X)


def test_of_many_sparse_columns_only_those_that_are_shown_are_made_dense():
    rows = sparse.random(300, 20_000, 0.001, format="csr", random_state=0)
    model = PCA(2).fit(rows)
    subject = subject_of(model, rows)
    shown = subject.columns()
    assert len(shown) == subject.most_columns
    np.testing.assert_array_equal(shown["x7"], rows[:, [7]].toarray()[:, 0])
    assert "multiplications" in gathered(model, rows).chapters.said_of("sureness")[0]


def test_labels_that_are_given_come_before_a_column_of_the_file_of_the_same_name(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(X, columns=list("abcdef")).assign(kind="of the file").to_csv(path, index=False)
    rows = open_rows(path, label="kind")
    model = PCA(2).fit(rows)
    assert set(subject_of(model, rows).labels["kind"]) == {"of the file"}
    assert set(subject_of(model, rows, {"kind": ["given"] * 60}).labels["kind"]) == {"given"}
