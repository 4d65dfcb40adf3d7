"""How well pictures show rows: the definitions, what has to hold, and errors that cover."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import procrustes
from scipy.stats import spearmanr
from sklearn import manifold
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from mercer_old.readings import measures
from mercer_old.readings.measures import Measured, difference, label_hits, measure_new_rows, measure_pictures, moved
from mercer_old.readings.quality import co_ranking, continuity

rng = np.random.default_rng(0)
N, K = 80, 7
X = rng.normal(size=(N, 9))
FLAT = X[:, :2] + 0.3 * rng.normal(size=(N, 2))
CHANCE = rng.normal(size=(N, 2))
LABELS = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
ALL = np.arange(N)


@pytest.fixture(scope="module")
def found():
    return measure_pictures(X, {"flat": FLAT, "chance": CHANCE, "same": X}, ALL, n_neighbors=K, labels=LABELS)


@pytest.mark.parametrize(("name", "Y"), [("flat", FLAT), ("chance", CHANCE), ("same", X)])
def test_of_all_rows_neighbourhoods_are_measured_as_by_scikit_learn_and_by_co_ranking(found, name, Y):
    own = found[name]
    assert_allclose(own["trustworthiness"].value, manifold.trustworthiness(X, Y, n_neighbors=K), rtol=1e-12)
    assert_allclose(own["continuity"].value, continuity(X, Y, n_neighbors=K), rtol=1e-12)
    assert_allclose(own["lcmc"].value, co_ranking(X, Y, n_neighbors=K).lcmc[-1], rtol=0, atol=1e-12)


def test_distances_are_correlated_row_by_row(found):
    D, E = pairwise_distances(X), pairwise_distances(FLAT)
    naive = [spearmanr(np.delete(D[i], i), np.delete(E[i], i)).statistic for i in ALL]
    assert_allclose(found["flat"]["distances"].rows, naive, atol=1e-12)


def test_label_hits_are_nearest_neighbours_that_leave_out_the_row_that_is_judged(found):
    classes = (FLAT[:, 0] > 0).astype(int)  # of two classes an odd number of votes has no ties
    hits = measure_pictures(X, {"flat": FLAT}, ALL, n_neighbors=K, labels=classes)["flat"]["label_hit"].rows
    own = label_hits(FLAT, ALL, classes, K).rows
    for i in ALL:
        others = np.delete(ALL, i)
        vote = KNeighborsClassifier(K).fit(FLAT[others], classes[others]).predict(FLAT[[i]])[0]
        assert hits[i] == own[i] == (vote == classes[i])


def test_a_tie_of_votes_goes_to_the_nearest():
    assert measures._vote(np.array([3, 1, 1, 3])) == 3
    assert measures._vote(np.array([0, 2, 2])) == 2


def test_rows_of_a_sample_have_the_numbers_that_they_have_among_all(found):
    some = np.array([3, 17, 40, 79])
    sampled = measure_pictures(X, {"flat": FLAT}, some, n_neighbors=K, labels=LABELS)["flat"]
    for name, each in sampled.items():
        assert_allclose(each.rows, found["flat"][name].rows[some], atol=1e-14)


def test_a_picture_by_chance_has_what_is_said_of_chance(found):
    """One half, nothing, nothing; the errors are what tells it from them."""
    own = found["chance"]
    for name, expected in {"trustworthiness": 0.5, "lcmc": 0.0, "distances": 0.0}.items():
        assert abs(own[name].value - expected) < 4 * own[name].error + 2 / N


def test_error_bars_of_samples_cover_what_all_rows_have():
    """Two standard errors are 95 % of samples, or nearly: skewed numbers take a little."""
    wide = rng.normal(size=(600, 6))
    whole = measure_pictures(wide, {"a": wide[:, :2]}, np.arange(600), n_neighbors=5)["a"]
    for each in whole.values():
        covered = 0
        for _ in range(200):
            some = Measured(each.rows[rng.choice(600, 60, replace=False)])
            covered += abs(some.value - each.value) <= 2 * some.error
        assert covered / 200 > 0.88


def test_differences_are_taken_row_by_row():
    base = rng.normal(size=400)
    one, other = Measured(base + 0.02), Measured(base + 0.001 * rng.normal(size=400))
    gap, error = difference(one, other)
    assert gap == pytest.approx(0.02, abs=3e-4) and error < 1e-4
    assert one.error > 0.04  # beside which the gap would be nothing
    assert difference(one, Measured(base[:50]))[1] > one.error


def test_the_error_of_a_ratio_is_that_of_draws():
    total = rng.uniform(1, 3, size=300)
    lost = total * rng.uniform(0.2, 0.4, size=300)
    drawn = [rng.integers(300, size=300) for _ in range(2000)]
    spread = np.std([lost[some].sum() / total[some].sum() for some in drawn])
    assert Measured(lost, total).error == pytest.approx(spread, rel=0.1)
    assert Measured(lost, total).value == pytest.approx(lost.sum() / total.sum())


def test_one_number_has_no_error():
    assert np.isnan(Measured(np.array([0.3])).error)
    assert Measured(np.array([0.3])).in_short == "0.300"
    assert Measured(np.array([0.3, 0.3])).in_short == "0.300 ± 0"


# ---------------------------------------------------------------------- new rows


def test_trustworthiness_of_new_rows_is_that_of_each_joining_the_fit_alone():
    kept, new = np.arange(60), np.arange(60, N)
    found = measure_new_rows(X, {"flat": FLAT}, kept, new, n_neighbors=K)["flat"].rows
    for i, own in zip(new, found, strict=True):
        order = np.argsort(np.linalg.norm(X[kept] - X[i], axis=1))
        rank = np.argsort(order) + 1
        near = np.argsort(np.linalg.norm(FLAT[kept] - FLAT[i], axis=1))[:K]
        n = len(kept) + 1
        expected = 1 - 2 / (K * (2 * n - 3 * K - 1)) * np.maximum(rank[near] - K, 0).sum()
        assert own == pytest.approx(expected, abs=1e-12)


# ---------------------------------------------------------------------- two runs


def test_moved_is_the_disparity_of_procrustes():
    other = FLAT @ [[0.0, 2.0], [2.0, 0.0]] + 7 + rng.normal(size=FLAT.shape)
    assert moved(FLAT, other)[0] == pytest.approx(procrustes(FLAT, other)[2], rel=1e-9)
    assert moved(other, FLAT)[0] == pytest.approx(moved(FLAT, other)[0], rel=1e-9)


def test_a_picture_that_is_turned_mirrored_scaled_and_moved_is_the_same():
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0] * [1, -1]
    other = 3 * FLAT @ turn + 100
    off, onto = moved(FLAT, other)
    assert off == pytest.approx(0, abs=1e-12)
    assert_allclose(onto(other), FLAT, atol=1e-10)


def test_a_picture_of_one_point_has_nothing_in_common_but_with_another():
    point = np.ones((N, 2))
    assert moved(FLAT, point)[0] == moved(point, FLAT)[0] == 1.0
    assert moved(point, 2 * point)[0] == 0.0


# ---------------------------------------------------------------------- memory, ties


def test_no_square_array_is_held():
    many, flat = rng.normal(size=(20_000, 3)), rng.normal(size=(20_000, 2))
    tracemalloc.start()
    measure_pictures(many, {"a": flat, "b": flat}, np.arange(0, 20_000, 1000), n_neighbors=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6  # 20,000² numbers are 3,200 MB


def test_copies_ties_and_pictures_of_one_point_are_defined():
    copies = np.repeat(X[:10], 8, axis=0)
    found = measure_pictures(copies, {"point": np.zeros((N, 2)), "same": copies}, ALL, n_neighbors=K, labels=LABELS)
    assert found["same"]["trustworthiness"].value == 1.0
    assert all(np.isfinite(each.rows).all() for own in found.values() for each in own.values())
    assert found["point"]["distances"].value == 0.0
