"""What drives a component: gradients against differences of scores, influence against loadings, grams by name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import PCA as TheirPCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding, influence
from mercer.datasets import VOC
from mercer.kernels import (
    RBF,
    ChiSquared,
    Cosine,
    Edit,
    GappedKmer,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    Mismatch,
    Polynomial,
    Spectrum,
    Subsequence,
    TableKernel,
    Tanimoto,
)
from mercer_old.errors import MercerWarning, NoRoom
from mercer_old.readings.influence import ByAxes, Functions, along_chords, mean_slopes

rng = np.random.default_rng(0)
UNITS = np.array([1.0, 20.0, 0.05, 3.0])
X = np.abs(rng.normal(size=(60, 4)) + 1.0) * UNITS
STEP = 1e-4

KERNELS = [
    RBF(0.2),
    Matern(2.5, 2.0),
    Laplacian(0.2),
    Linear(),
    Polynomial(2, 0.1, 1.0),
    Polynomial(4, 0.01, 1.0),
    Cosine(),
    Tanimoto(),
    ChiSquared(0.3),
    HistogramIntersection(),
    RBF(0.1) * Polynomial(2, 0.1, 1.0) + 0.5 * Linear(),
]


def by_differences(model, rows, units):
    """∂f/∂x (m×k×d) of what `transform` says."""
    steps = STEP * units * np.eye(4)
    return np.stack(
        [(model.transform(rows + step) - model.transform(rows - step)) / (2 * step.sum()) for step in steps], axis=2
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("standardize", [False, True])
def test_gradients_are_differences_of_scores(kernel, standardize):
    rows = X / UNITS if not standardize else X
    model = KernelPCA(3, kernel=kernel, standardize=standardize).fit(rows)
    new = rows[:7] * 1.01
    found = influence(model, new, per_row=True)
    unit = UNITS if standardize else np.ones(4)
    expected = by_differences(model, new, unit)
    assert_allclose(found.gradients * unit, expected * unit, atol=2e-7 * np.abs(expected * unit).max())
    assert_allclose(found.scores, model.transform(new))


def test_gradients_by_landmarks_are_differences_of_scores():
    model = KernelPCA(3, kernel="rbf", gamma=0.3, n_landmarks=20, standardize=True).fit(X)
    found = influence(model, X[:9], per_row=True).gradients
    expected = by_differences(model, X[:9], UNITS)
    assert_allclose(found * UNITS, expected * UNITS, atol=1e-7 * np.abs(expected * UNITS).max())


def test_sparse_rows_have_the_influence_of_dense_ones():
    rows = np.where(rng.random(X.shape) < 0.5, 0.0, X / UNITS)
    dense, thin = (KernelPCA(2, kernel="rbf", gamma=0.3).fit(some) for some in (rows, sparse.csr_array(rows)))
    assert_allclose(influence(thin).values, influence(dense).values, rtol=1e-8)
    assert_allclose(influence(thin).between, influence(dense).between, rtol=1e-6)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("make", [PCA, KernelPCA])
def test_of_a_linear_kernel_they_are_the_loadings(make, standardize):
    params = {"kernel": "linear"} if make is KernelPCA else {}
    model = make(3, standardize=standardize, **params).fit(X)
    reference = PCA(3, standardize=standardize).fit(X)
    found = influence(model, X)
    scale = X.std(axis=0, ddof=1) if standardize else np.ones(4)
    sign = np.sign((reference.loadings_ * found.loadings).sum(axis=0))
    size = np.abs(reference.loadings_).max()
    assert_allclose(found.loadings * sign, reference.loadings_, atol=1e-10 * size)
    # |loadings| are influences times the standard deviation of the score, for columns in units of their own deviation.
    relative = found.values / (X.std(axis=0, ddof=1) / scale)[:, None] * np.sqrt(reference.explained_variance_)
    assert_allclose(relative, np.abs(reference.loadings_), atol=1e-10 * size)
    assert_allclose(found.values, np.abs(reference.components_.T) * (X.std(axis=0, ddof=1) / scale)[:, None], atol=1e-9)
    assert_array_equal(found.between, found.values)
    assert set(np.unique(found.rising)) <= {0.0, 1.0}


def test_incremental_pca_is_read_as_pca():
    found = influence(IncrementalPCA(2, batch_size=20).fit(X / UNITS), X / UNITS)
    assert_allclose(found.values, influence(PCA(2).fit(X / UNITS), X / UNITS).values, rtol=1e-6)


def test_shares_of_standardised_columns_are_their_contributions():
    model = PCA(2, standardize=True).fit(X)
    assert_allclose(influence(model).shares, model.components_.T**2, atol=1e-12)


def test_whitening_changes_the_unit_of_scores_and_no_influence():
    plain, white = (influence(PCA(2, whiten=whiten).fit(X), X, per_row=True) for whiten in (False, True))
    assert_array_equal(plain.values, white.values)
    assert_allclose(plain.scores, white.scores)


def test_influence_is_the_root_mean_square_of_gradients_times_deviations():
    model = KernelPCA(3, kernel="rbf", gamma=0.2).fit(X / UNITS)
    found = influence(model, per_row=True)
    deviations = (X / UNITS).std(axis=0, ddof=1)
    assert_allclose(found.values, np.sqrt((found.gradients**2).mean(axis=0)).T * deviations[:, None], rtol=1e-12)
    assert_allclose(found.mean, found.gradients.mean(axis=0).T * deviations[:, None], rtol=1e-9, atol=1e-14)
    assert_array_equal(found.rising, (found.gradients > 0).mean(axis=0).T)
    assert found.n_rows == 60


def test_units_do_not_matter_once_columns_are_standardised():
    found, others = (
        influence(KernelPCA(2, kernel="rbf", gamma=0.2, standardize=True).fit(rows)) for rows in (X, X / UNITS)
    )
    assert_allclose(found.values, others.values, rtol=1e-9)
    assert_allclose(found.between, others.between, rtol=1e-9)
    assert_allclose(found.deviations, others.deviations * UNITS, rtol=1e-12)


def test_a_row_of_weight_two_counts_as_two():
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    model = KernelPCA(2, kernel="rbf", gamma=0.2)
    weighted = influence(model.fit(X / UNITS, sample_weight=weights))
    repeated = influence(model.fit(np.repeat(X / UNITS, weights.astype(int), axis=0)))
    assert_allclose(weighted.values, repeated.values, rtol=1e-7)
    assert_allclose(weighted.rising, repeated.rising)


def test_a_mean_of_a_million_costs_no_digits():
    near = influence(KernelPCA(2, kernel="rbf", gamma=0.2).fit(X / UNITS))
    far = influence(KernelPCA(2, kernel="rbf", gamma=0.2).fit(X / UNITS + 2.0**20))
    assert_allclose(far.values, near.values, rtol=1e-6)
    linear = influence(KernelPCA(2, kernel="linear").fit(X / UNITS + 2.0**20))
    assert_allclose(linear.values, influence(PCA(2).fit(X / UNITS), X / UNITS).values, rtol=1e-6)


def test_threads_and_blocks_change_no_digit(monkeypatch):
    model = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X / UNITS)
    monkeypatch.setattr("mercer_old.readings.influence.rows_at_a_time", lambda *widths: 7)
    one = influence(model.set_params(n_jobs=1))
    two = influence(model.set_params(n_jobs=2))
    assert_array_equal(one.values, two.values)
    assert_array_equal(one.between, two.between)
    monkeypatch.undo()
    assert_allclose(one.values, influence(model).values, rtol=1e-12)


# ---------------------------------------------------------------------------- between rows


class Separable(Functions):
    """f(x) = sin 2x₀ + x₁²: what each column adds from row to row is known."""

    def gradients(self, Z):
        return np.stack([2 * np.cos(2 * Z[:, 0]), 2 * Z[:, 1]], axis=1)[:, None]

    def at_a_time(self):
        return 11


def test_along_a_chord_every_column_adds_what_it_changes():
    A, B = rng.normal(size=(2, 40, 2))
    parts = np.stack([np.sin(2 * B[:, 0]) - np.sin(2 * A[:, 0]), B[:, 1] ** 2 - A[:, 1] ** 2], axis=1)
    found, missed = along_chords(Separable(), A, B, parts.sum(axis=1, keepdims=True))
    assert_allclose(found[:, 0], np.sqrt((parts**2).mean(axis=0) / 2), rtol=1e-6)
    assert missed < 1e-6


def test_what_is_missed_along_chords_is_told():
    A, B = rng.normal(size=(2, 40, 2))
    _, missed = along_chords(Separable(), A, B, np.ones((40, 1)))
    assert missed > 0.5


def test_columns_add_up_to_differences_of_scores():
    for gamma in (0.05, 1.0):
        found = influence(KernelPCA(3, kernel="rbf", gamma=gamma).fit(X / UNITS))
        assert found.missed <= 0.01


def test_what_tells_groups_apart_is_seen_between_rows():
    """Two groups far apart in the first column, and wide in the second: each is level along the first."""
    groups = np.where(np.arange(100) < 50, -5.0, 5.0)
    rows = np.column_stack([groups + 0.1 * rng.normal(size=100), rng.normal(size=100)])
    found = influence(
        KernelPCA(1, kernel="rbf", gamma=3.0, standardize=True).fit(rows), feature_names=["group", "noise"]
    )
    assert found.top(0, 1, by="pairs")[0].name == "group"
    assert found.top(0, 1, by="rows")[0].name == "noise"


def test_pairs_are_the_same_for_the_same_seed():
    model = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X / UNITS)
    assert_array_equal(influence(model).between, influence(model).between)
    assert_array_equal(influence(model, random_state=3).between, influence(model, random_state=3).between)
    assert not np.array_equal(influence(model, random_state=3).between, influence(model).between)


# ---------------------------------------------------------------------------- texts


@pytest.mark.parametrize("n", [2, 3])
def test_grams_of_names_have_the_loadings_of_their_counts(n):
    """Against scikit-learn: its counts of grams, divided by their lengths, and its PCA of them."""
    counter = CountVectorizer(analyzer="char", ngram_range=(n, n), lowercase=False)
    counts = normalize(counter.fit_transform(VOC).astype(float)).toarray()
    theirs = TheirPCA(3).fit(counts)
    expected = np.abs(theirs.components_.T) * counts.std(axis=0, ddof=1)[:, None]
    found = influence(KernelPCA(3, kernel=Spectrum(n)).fit(VOC))
    order = [counter.vocabulary_[name] for name in found.names]
    assert sorted(order) == list(range(counts.shape[1]))
    assert_allclose(found.values, expected[order], atol=1e-9)


@pytest.mark.parametrize("kernel", [Spectrum(2, shortest=1, counts="min"), Subsequence(2), Mismatch(2, 1)], ids=repr)
def test_a_name_for_every_column_of_texts(kernel):
    texts = ["abab", "abc", "cab", "bca"]
    found = influence(KernelPCA(2, kernel=kernel).fit(texts))
    assert len(found.names) == len(set(found.names)) == len(found.values)
    assert {"ab", "ca"} <= set(found.names)
    if kernel == Spectrum(2, shortest=1, counts="min"):
        assert {"a (2 times)", "ab (2 times)"} <= set(found.names)


def test_words_and_graphemes_are_names_as_they_are_read():
    names = influence(
        KernelPCA(1, kernel=Spectrum(2, by="words")).fit(["new york city", "york city hall", "a b"])
    ).names
    assert sorted(names) == ["a b", "city hall", "new york", "york city"]
    names = influence(KernelPCA(1, kernel=Spectrum(1, by="graphemes")).fit(["e\u0301a", "ab", "b"])).names
    assert sorted(names) == ["a", "b", "e\u0301"]


def test_sums_and_multiples_of_kernels_of_texts_keep_their_names():
    found = influence(KernelPCA(1, kernel=2 * (Spectrum(2) + Spectrum(1))).fit(["ab", "bc", "bca"]))
    assert found.names == ["ab", "bc", "ca", "a", "b", "c"]


def test_texts_of_landmarks_are_warned_of_and_others_are_taken_if_given():
    model = KernelPCA(2, kernel=Spectrum(3), n_landmarks=20).fit(VOC)
    with pytest.warns(MercerWarning, match="Only 20 landmarks"):
        influence(model)
    assert influence(model, VOC).n_rows == 35


# ---------------------------------------------------------------------------- what is read


def test_what_is_printed_and_tabulated():
    model = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X / UNITS)
    found = influence(model, feature_names=list("abcd"))
    assert str(found).splitlines()[0] == "Influence over 60 rows: the score per standard deviation of a column."
    assert len(str(found).splitlines()) == 5
    table = found.table()
    assert table["feature"][:2] == ["a", "a"]
    assert table["component"][:2] == ["kernelpca0", "kernelpca1"]
    assert_array_equal(np.reshape(table["influence"], (4, 2)), found.values)
    top = found.top(1, 2)
    assert [one.name for one in top] == [list("abcd")[i] for i in np.argsort(-found.values[:, 1])[:2]]
    assert_allclose(sum(one.share for one in found.top(1)), 1.0)


def test_arrows_of_cells_are_means_of_their_rows():
    model = KernelPCA(3, kernel="rbf", gamma=0.2).fit(X / UNITS)
    found = influence(model, per_row=True)
    whole = found.arrows((0, 2))
    assert_allclose(whole.arrows[0], found.mean[:, [0, 2]], rtol=1e-9, atol=1e-14)
    cells = found.arrows((0, 2), regions=3)
    assert cells.counts.sum() == 60
    assert len(cells.counts) > 3
    assert_allclose((cells.counts[:, None, None] * cells.arrows).sum(axis=0) / 60, whole.arrows[0], atol=1e-14)
    assert_allclose(cells.counts @ cells.places / 60, found.scores[:, [0, 2]].mean(axis=0), atol=1e-14)
    assert_allclose(influence(model).arrows((0, 2)).arrows, whole.arrows, rtol=1e-12)


def test_of_pca_arrows_are_loadings_in_every_cell():
    model = PCA(2, standardize=True).fit(X)
    cells = influence(model, X, per_row=True).arrows(regions=4)
    assert_allclose(cells.arrows, np.broadcast_to(model.components_.T, cells.arrows.shape), atol=1e-12)


# ---------------------------------------------------------------------------- bad input


def test_constant_columns_have_no_influence():
    rows = np.column_stack([X / UNITS, np.full(60, 7.0)])
    for kernel in ("rbf", "linear", "poly"):
        assert_array_equal(influence(KernelPCA(2, kernel=kernel).fit(rows)).values[4], 0.0)


def test_copies_are_one_row_that_counts_more_often():
    rows = np.repeat(X[:10] / UNITS, 5, axis=0)
    found = influence(KernelPCA(2, kernel="laplacian", gamma=0.3).fit(rows))
    assert np.isfinite(found.values).all()
    assert found.values.max() > 0


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_rows_that_are_all_the_same_are_driven_by_nothing():
    found = influence(KernelPCA(2, kernel="rbf", gamma=1.0).fit(np.ones((9, 3))))
    assert_array_equal(found.values, 0.0)
    assert str(found)


def test_one_new_row_is_seen_by_the_deviations_of_the_fit():
    model = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X / UNITS)
    found = influence(model, X[:1] / UNITS)
    assert found.n_rows == 1
    assert_allclose(found.deviations, (X / UNITS).std(axis=0, ddof=1), rtol=1e-12)
    with pytest.raises(ValueError, match="two rows at least"):
        influence(PCA(2).fit(X), X[:1])


def with_one_axis(fitted):
    """As somebody cuts it who forgets the variances."""
    fitted.components_ = fitted.components_[:1]
    return fitted


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: influence(KernelPCA(2, kernel="precomputed").fit(X @ X.T)), "no columns that could drive"),
        (lambda: influence(KernelPCA(2, kernel=lambda x, y: float(np.minimum(x, y).sum())).fit(X)), "has no gradient"),
        (lambda: influence(KernelPCA(2, kernel=GappedKmer(3, 1)).fit(VOC)), "columns of texts are grams"),
        (lambda: influence(KernelPCA(2, kernel=Spectrum(2, normalize="dice")).fit(VOC)), "columns of texts are grams"),
        (lambda: influence(PCA(2).fit(X)), "keeps no rows"),
        (lambda: influence(LocallyLinearEmbedding(n_neighbors=8).fit(X)), "no component functions"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X), feature_names=["a"]), "1 name, but there are 4 columns"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X), np.full((2, 4), np.nan)), "NaN"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X), X[:, :3]), "3 features"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X)).top(2), "from 0 to 1"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X)).top(0, by="columns"), "by must be"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X)).top(0, -1), "at least 0"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X), random_state="x"), "random_state must be"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X)).arrows(regions=2), "per_row=True"),
        (lambda: influence(KernelPCA(2, kernel="rbf").fit(X), per_row=True).arrows(regions=0), "at least 1"),
        (lambda: influence(KernelPCA(1, kernel="rbf").fit(X)).arrows(), "from 0 to 0"),
        (lambda: influence(KernelPCA(2, kernel=Spectrum(2)).fit(VOC), per_row=True), "linear in their grams"),
        (lambda: influence(PCA(2, standardize=True).fit(X), per_row=True), "keeps no rows"),
        (lambda: influence(with_one_axis(PCA(2).fit(X)), X), "1 components_ and 2 entries .* set both names"),
    ],
)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_what_cannot_be_read_is_said_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_kernels_of_tables_say_that_they_have_no_gradient():
    frame = {"mass": [1.0, 2.0, 3.0, 5.0, 8.0], "color": ["a", "b", "a", "b", "b"]}
    with pytest.raises(ValueError, match="compares tables"):
        influence(KernelPCA(1, kernel=TableKernel.auto(frame)).fit(frame))


def test_texts_without_features_say_so():
    with pytest.raises(ValueError, match="columns of texts are grams"):
        influence(KernelPCA(2, kernel=Edit(0.3)).fit(VOC))


def test_gradients_of_too_many_rows_are_refused_before_they_are_made():
    model = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X / UNITS).set_params(memory_limit=1000)
    with pytest.raises(NoRoom, match="The gradients of 60 rows"):
        influence(model, per_row=True)


def test_sums_over_pieces_are_means_over_rows():
    class Squares(Functions):
        def gradients(self, Z):
            return (2 * Z)[:, None]

        def at_a_time(self):
            return 4

    rows, weights = rng.normal(size=(30, 3)), rng.random(30)
    found = mean_slopes(Squares(), [rows[:13], rows[13:]], weights)
    assert_allclose(found.mean[:, 0], np.average(2 * rows, axis=0, weights=weights))
    assert_allclose(found.size[:, 0], np.sqrt(np.average(4 * rows**2, axis=0, weights=weights)))
    axes = rng.normal(size=(3, 2))
    same = mean_slopes(ByAxes(axes), [rows], weights, keep=lambda first, some: None)
    assert_allclose(same.mean, axes)
    assert_allclose(same.size, np.abs(axes))
