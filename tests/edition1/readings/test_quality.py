"""How well an embedding keeps neighbourhoods: the definitions, what has to hold, samples, and words for bad input."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import manifold
from sklearn.metrics import pairwise_distances

from mercer_old.errors import BadData
from mercer_old.readings import distances
from mercer_old.readings import quality as measures
from mercer_old.readings import ranks as ranking
from mercer_old.readings.quality import co_ranking, continuity, quality, trustworthiness
from mercer_old.readings.ranks import ranks, smallest_in_order
from support import naive

rng = np.random.default_rng(0)
WIDE = rng.normal(size=(60, 12))
FLAT = WIDE[:, :2] + 0.3 * rng.normal(size=(60, 2))
# Equal rows, in X and in Y, of numbers that round: distances by products must not tell them apart.
REPEATED = np.repeat(rng.normal(size=(12, 20)) + 100 / 3, 5, axis=0)[rng.permutation(60)]
GRID = rng.integers(0, 3, size=(60, 10)).astype(float)
ZEROS = np.where(rng.uniform(size=(60, 1)) < 0.2, 0.0, WIDE)
# Clusters so far apart that the squares of their places swallow the distances within them.
CLUSTERS = WIDE + 1e9 * np.repeat(np.eye(12)[:3], 20, axis=0)


@pytest.fixture
def small_steps(monkeypatch):
    """Blocks and tiles as of many rows."""
    monkeypatch.setattr(ranking, "_BLOCK", 16 * 60 * 7)
    monkeypatch.setattr(distances, "_WIDTH", 17)
    monkeypatch.setattr(distances.RowDistances, "width", 17)
    monkeypatch.setattr(ranking, "_SORTED_MEANWHILE", 12)


def assert_is_naive(D_x, D_y, found, curves, k):
    assert_allclose(found.trustworthiness, naive.trustworthiness(D_x, D_y, k), rtol=1e-13)
    assert_allclose(found.continuity, naive.continuity(D_x, D_y, k), rtol=1e-13)
    assert_allclose(found.q_nx, naive.q_nx(D_x, D_y, k), rtol=1e-13)
    assert_allclose(curves.q_nx[[0, k - 1]], [naive.q_nx(D_x, D_y, 1), found.q_nx], rtol=1e-13)


# ---------------------------------------------------------------------------- the definitions


@pytest.mark.parametrize("k", [1, 5, 29])
@pytest.mark.parametrize("X", [WIDE, FLAT, CLUSTERS], ids=["wide", "flat", "clusters"])
def test_it_is_the_definition(X, k, small_steps):
    Y = FLAT[::-1]
    D_x, D_y = naive.euclidean_distances(X), naive.euclidean_distances(Y)
    assert_is_naive(D_x, D_y, quality(X, Y, n_neighbors=k), co_ranking(X, Y), k)


@pytest.mark.parametrize("Y", [FLAT, np.round(FLAT), np.zeros((60, 2))], ids=["different", "grid", "all the same"])
@pytest.mark.parametrize("X", [REPEATED, GRID, 1e6 + GRID], ids=["repeated", "grid", "grid far out"])
def test_equal_distances_count_by_index(X, Y, small_steps):
    D_x, D_y = naive.euclidean_distances(X), naive.euclidean_distances(Y)
    assert_is_naive(D_x, D_y, quality(X, Y, n_neighbors=7), co_ranking(X, Y, n_neighbors=7), 7)


@pytest.mark.parametrize("X", [WIDE, ZEROS, REPEATED, WIDE[:, :3]], ids=["wide", "zeros", "repeated", "narrow"])
def test_cosine_distances(X, small_steps):
    rng = np.random.default_rng(4)
    D_x, D_y = naive.cosine_distances(X), naive.euclidean_distances(FLAT)
    found = quality(X, FLAT, metric="cosine")
    assert_is_naive(D_x, D_y, found, co_ranking(X, FLAT, metric="cosine"), 5)
    assert quality(2.0 ** rng.integers(-9, 9, size=(60, 1)) * X, FLAT, metric="cosine") == found


def test_precomputed_distances():
    rng = np.random.default_rng(4)
    D = naive.euclidean_distances(WIDE)
    assert quality(D, FLAT, metric="precomputed") == quality(D**2, FLAT, metric="precomputed") == quality(WIDE, FLAT)
    one_way = rng.uniform(size=(60, 60))  # a distance there need not be the distance back
    np.fill_diagonal(one_way, 0.0)
    found, curves = quality(one_way, FLAT, metric="precomputed"), co_ranking(one_way, FLAT, metric="precomputed")
    assert_is_naive(one_way, naive.euclidean_distances(FLAT), found, curves, 5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_mean_the_same_as_dense_ones(metric, small_steps):
    rng = np.random.default_rng(1)
    X = sparse.csc_array(np.where(rng.uniform(size=(60, 30)) < 0.2, rng.normal(size=(60, 30)), 0.0))
    dense = quality(X.toarray(), FLAT, metric=metric)
    assert quality(X, FLAT, metric=metric) == dense
    curves = co_ranking(X, sparse.coo_array(FLAT), metric=metric)
    assert np.array_equal(curves.q_nx, co_ranking(X.toarray(), FLAT, metric=metric).q_nx)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_trustworthiness_is_that_of_scikit_learn(metric, k):
    X = np.random.default_rng(3).normal(size=(400, 15)) + 2
    Y = X[:, :2] ** 3
    rows = pairwise_distances(X, metric="cityblock") if metric == "precomputed" else X
    expected = manifold.trustworthiness(rows, Y, n_neighbors=k, metric=metric)
    assert_allclose(trustworthiness(rows, Y, n_neighbors=k, metric=metric), expected, rtol=1e-12)


def test_a_table_and_single_precision_are_welcome():
    table = pandas.DataFrame(WIDE.astype(np.float32))
    assert quality(table, FLAT.tolist()) == quality(WIDE.astype(np.float32).astype(float), FLAT)


@pytest.mark.parametrize("few", [0, 300])
def test_ranks_and_nearest_of_equal_numbers(few, monkeypatch):
    monkeypatch.setattr(ranking, "_FEW_RANKS", few)
    monkeypatch.setattr(ranking, "_SORTED_MEANWHILE", 1)
    d = np.random.default_rng(5).integers(0, 30, size=300).astype(float)
    order = sorted(range(300), key=lambda j: (d[j], j))
    for k in (1, 3, 70, 300):
        assert smallest_in_order(d, k).tolist() == order[:k]
    assert ranks(d, np.array(order)).tolist() == list(range(1, 301))


# ---------------------------------------------------------------------------- what has to hold


def test_the_same_rows_keep_everything():
    curves = co_ranking(WIDE, WIDE)
    assert np.all(curves.q_nx == 1) and len(curves.k) == 58
    assert_allclose(curves.r_nx, 1)
    found = quality(WIDE, WIDE)
    assert (found.trustworthiness, found.continuity, found.q_nx) == (1, 1, 1)


@pytest.mark.parametrize("X", [WIDE, FLAT], ids=["by products", "by differences"])
def test_turned_stretched_and_moved_rows_keep_everything(X):
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    for factor, offset in [(1e-60, 0.0), (3.0, 1e6), (1e60, 0.0)]:
        assert np.all(co_ranking(X, factor * (X @ turn) + offset).q_nx == 1)
        assert quality(factor * (X @ turn) + offset, FLAT) == quality(X, FLAT)


def test_swapping_the_roles_swaps_the_measures():
    assert continuity(WIDE, FLAT) == trustworthiness(FLAT, WIDE) != trustworthiness(WIDE, FLAT)
    there, back = co_ranking(WIDE, FLAT), co_ranking(FLAT, WIDE)
    assert np.array_equal(there.q_nx, back.q_nx)


def test_a_random_embedding_keeps_what_chance_keeps():
    """For an embedding that knows nothing of X, all ranks of a pair are equally likely and independent.

    So E Q_NX(K) = K/(n − 1), and E max(0, r − k) = (n − 1 − k)(n − k)/(2(n − 1)) of every neighbour.
    """
    rng = np.random.default_rng(4)
    n, k, times = 60, 5, 40
    pairs = [(rng.normal(size=(n, 10)), rng.normal(size=(n, 2))) for _ in range(times)]
    lcmc = np.array([co_ranking(X, Y).lcmc for X, Y in pairs])
    trust = np.array([trustworthiness(X, Y, n_neighbors=k) for X, Y in pairs])
    expected = 1 - (n - 1 - k) * (n - k) / (n - 1) / (2 * n - 3 * k - 1)
    assert np.all(np.abs(lcmc.mean(axis=0)) < 4.5 * lcmc.std(axis=0) / np.sqrt(times))
    assert abs(trust.mean() - expected) < 4.5 * trust.std() / np.sqrt(times)


def test_the_curves_follow_from_each_other():
    curves = co_ranking(WIDE, FLAT)
    assert curves.k.tolist() == list(range(1, 59))
    assert_allclose(curves.lcmc, [curves.q_nx[k - 1] - k / 59 for k in curves.k])
    assert_allclose(curves.r_nx, [(59 * curves.q_nx[k - 1] - k) / (59 - k) for k in curves.k])
    assert curves.best_k == max(curves.k, key=lambda k: curves.q_nx[k - 1] - k / 59)
    assert np.array_equal(co_ranking(WIDE, FLAT, n_neighbors=9).q_nx, curves.q_nx[:9])


def test_neighbourhoods_of_the_size_of_clusters_are_kept_best():
    """20 rows a cluster, in random order in the embedding: the 19 others stay, and nothing smaller does."""
    rng = np.random.default_rng(4)
    Y = np.repeat(np.eye(3), 20, axis=0) + 0.01 * rng.normal(size=(60, 3))
    assert co_ranking(CLUSTERS, Y).best_k == 19
    assert quality(CLUSTERS, Y, n_neighbors=19).q_nx == 1


# ---------------------------------------------------------------------------- a sample of rows


def test_a_sample_is_within_its_standard_error():
    X, times = np.random.default_rng(7).normal(size=(300, 10)), 50
    full = quality(X, X[:, :2])
    some = [quality(X, X[:, :2], sample=60, random_state=seed) for seed in range(times)]
    for name in ("trustworthiness", "continuity", "q_nx"):
        values, errors = (np.array([getattr(one, which) for one in some]) for which in (name, f"{name}_error"))
        off = (values - getattr(full, name)) / errors
        assert abs(off.mean()) < 4 / np.sqrt(times) and 0.7 < off.std() < 1.4, name
        assert getattr(full, f"{name}_error") == 0


def test_curves_of_a_sample_are_within_their_standard_errors():
    X = np.random.default_rng(7).normal(size=(300, 10))
    full, part = (co_ranking(X, X[:, :2], n_neighbors=200, sample=m, random_state=1) for m in (300, 60))
    assert (part.rows, part.n) == (60, 300) and not full.standard_error.any()
    assert np.all(np.abs(part.q_nx - full.q_nx) < 5 * part.standard_error)
    five = quality(X, X[:, :2], sample=60, random_state=1)
    assert_allclose([part.q_nx[4], part.standard_error[4]], [five.q_nx, five.q_nx_error], rtol=1e-9)


def test_many_rows_are_sampled_unless_asked_otherwise(monkeypatch):
    monkeypatch.setattr(measures, "_ALL_ROWS", 50)
    monkeypatch.setattr(measures, "_SOME_ROWS", 20)
    assert quality(WIDE, FLAT).rows == 20 and quality(WIDE[:50], FLAT[:50]).rows == 50
    assert quality(WIDE, FLAT, sample=60).rows == 60
    assert quality(WIDE, FLAT) == quality(WIDE, FLAT, random_state=None) != quality(WIDE, FLAT, random_state=1)
    for state in (np.random.RandomState, np.random.default_rng):
        assert quality(WIDE, FLAT, random_state=state(3)) == quality(WIDE, FLAT, random_state=state(3))


def test_threads_do_not_change_a_single_bit(monkeypatch):
    monkeypatch.setattr(ranking, "_LONG", 0)
    monkeypatch.setattr(distances, "_WIDTH", 1000)
    X = np.random.default_rng(8).normal(size=(6000, 20))
    one, three = (quality(X, X[:, :3], sample=100, n_jobs=jobs) for jobs in (1, 3))
    assert one == three
    one, three = (co_ranking(X, X[:, :3], sample=100, n_jobs=jobs) for jobs in (1, 3))
    assert np.array_equal(one.q_nx, three.q_nx) and np.array_equal(one.standard_error, three.standard_error)


# ---------------------------------------------------------------------------- words


def test_answers_read_as_sentences():
    text = str(quality(WIDE, FLAT, n_neighbors=1))
    assert text.startswith("With 1 neighbour of all 60 rows: trustworthiness 0.") and "±" not in text
    text = str(quality(WIDE, FLAT, sample=30))
    assert "of 30 random rows among 60" in text and text.endswith("(± one standard error).")
    assert "best (of all 60 rows)" in str(co_ranking(WIDE, FLAT)) and "larger" not in str(co_ranking(WIDE, FLAT))
    assert "the largest K looked at" in str(co_ranking(WIDE, WIDE, n_neighbors=1))


HOLE, ENDLESS = WIDE.copy(), WIDE.copy()
HOLE[3, 2], ENDLESS[4, 1] = np.nan, -np.inf


@pytest.mark.parametrize(
    ("X", "Y", "params", "words"),
    [
        (HOLE, FLAT, {}, "Input X contains NaN.*row index 3, column 2"),
        (WIDE, ENDLESS, {}, "Input Y contains infinity.*row index 4, column 1"),
        (sparse.csr_array(HOLE), FLAT, {}, "Input X contains NaN.*row index 3, column 2"),
        (WIDE[:50], FLAT, {}, "X has 50 rows and Y has 60"),
        (WIDE[0], FLAT, {}, r"X: Expected 2D array, got 1D array instead: its shape is \(12,\)"),
        (WIDE, FLAT[:, 0], {}, r"Y: Expected 2D array, got 1D array instead: its shape is \(60,\)"),
        (WIDE[:2], FLAT[:2], {}, "X has 2 rows: neighbours can be compared from 3 rows on"),
        (WIDE, FLAT, dict(n_neighbors=0), "n_neighbors must be a whole number from 1 on; got 0"),
        (WIDE, FLAT, dict(n_neighbors=2.5), "n_neighbors must be a whole number"),
        (WIDE, FLAT, dict(n_neighbors=True), "n_neighbors must be a whole number"),
        (WIDE, FLAT, dict(sample=0), "sample must be a whole number"),
        (WIDE, FLAT, dict(sample=1), r"sample \(1\) should be from 2 to the number of rows \(60\)"),
        (WIDE, FLAT, dict(sample=61), r"sample \(61\) should be from 2 to the number of rows \(60\)"),
        (WIDE, FLAT, dict(metric="l1"), "metric='l1' is unknown"),
        (WIDE, FLAT, dict(metric="precomputed"), r"square matrix of distances; its shape is \(60, 12\)"),
        (-np.ones((60, 60)), FLAT, dict(metric="precomputed"), "has to hold distances; its smallest number is -1"),
        (sparse.eye_array(60), FLAT, dict(metric="precomputed"), "X has to be dense"),
        (1e200 * WIDE, FLAT, {}, r"spread over .e\+200 cannot be squared: scale the data"),
        (WIDE / np.abs(WIDE).max() * 1.5e308, FLAT, {}, "cannot be squared"),
        (WIDE, 1e-200 * FLAT, {}, r"spread over .e-200 cannot be squared: scale the data"),
    ],
)
def test_bad_input_gets_one_sentence(X, Y, params, words):
    for measure in (quality, trustworthiness, continuity, co_ranking):
        with pytest.raises(ValueError, match=words) as caught:
            measure(X, Y, **params)
        assert "\n" not in str(caught.value) and str(caught.value).endswith((".", ")")), measure


def test_too_many_neighbours_are_refused_as_in_scikit_learn():
    for measure in (trustworthiness, continuity, quality):
        with pytest.raises(ValueError, match=r"n_neighbors \(30\) should be less than n_samples / 2 \(30\.0\)"):
            measure(WIDE, FLAT, n_neighbors=30)
    assert quality(WIDE, FLAT, n_neighbors=29).n_neighbors == 29
    with pytest.raises(ValueError, match=r"n_neighbors \(59\) should be at most n_samples - 2 \(58\)"):
        co_ranking(WIDE, FLAT, n_neighbors=59)


def test_bad_data_have_their_own_exit_code():
    with pytest.raises(BadData, match="NaN"):
        quality(HOLE, FLAT)
