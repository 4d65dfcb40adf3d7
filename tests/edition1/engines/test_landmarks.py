"""Landmarks of rows in chunks: drawn by the law of the sequential method, the same wherever the chunks lie."""

import os
import signal
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chisquare

from edition1.solvers.test_pivoted import probability
from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF, Linear
from mercer_old.fits.kernel.pivots import SpreadRest, spread_landmarks
from mercer_old.operators.centering import Weighted
from mercer_old.operators.gram import RecomputedGram
from mercer_old.operators.held import HeldMatrix
from mercer_old.plans.sizes import Spread
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.pivoted import draw_pivots, pivoted_cholesky
from mercer_old.sources.collections import open_collection
from support.together import check_each

da = pytest.importorskip("dask.array", reason="the extra `dask` is not installed")

UNEVEN = (300, 1, 0, 257, 1, 441)  # a chunk of no row, chunks of one


def normal(n=1000, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def in_chunks(X, rows=UNEVEN):
    return da.from_array(X, chunks=(rows, X.shape[1]))


def rest_of(X, kernel, weights=None, rows=UNEVEN):
    return SpreadRest(kernel, open_collection(in_chunks(X, rows)).chunks, weights)


def here(X, kernel, weights=None):
    op = RecomputedGram(kernel, X)
    return op if weights is None else Weighted(op, np.sqrt(weights))


def some_weights(n=1000, seed=1):
    return np.random.default_rng(seed).integers(0, 4, size=n).astype(float)


# ---------------------------------------------------------------------- the law


@pytest.mark.parametrize("proposed", [pytest.param(2, marks=pytest.mark.slow), 40])
def test_pivots_of_chunks_have_exactly_the_law_of_the_sequential_method(proposed):
    """Of rows that count differently, in chunks of one, two and three: frequencies against exact probabilities."""
    X = np.array([[0.0, 0], [0.2, 0], [1, 1], [2, 0], [2.1, 0.1], [4, 4]])
    weights, kernel, draws = np.array([1, 4, 1, 0.25, 1, 2.25]), RBF(0.4), 1500
    K = kernel.block(X, X) * np.sqrt(np.multiply.outer(weights, weights))
    orders = list(permutations(range(6), 3))
    expected = np.array([probability(K, order) for order in orders]) * draws
    rng, seen = np.random.default_rng(proposed), dict.fromkeys(orders, 0)
    chunks = open_collection(in_chunks(X, (1, 2, 3))).chunks.kept()
    for _ in range(draws):
        rest = SpreadRest(kernel, chunks, weights)
        seen[tuple(draw_pivots(rest, 3, rng, proposed=proposed).tolist())] += 1
    often, observed = expected >= 5, np.array(list(seen.values()))
    observed = np.append(observed[often], observed[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    assert chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > 1e-3


def test_the_same_draws_choose_the_same_rows_as_where_all_rows_are_at_hand():
    """Whatever the chunks: of dense and sparse rows, with and without weights, of rows that come twice."""
    X, twice, few = normal(), np.repeat(normal(20), 50, axis=0), normal() * (normal(seed=4) > 0.5)
    tables = {"rows": X, "rows in twenty places": twice, "single": X.astype(np.float32), "wide": normal(d=40)}
    weights = {"equal": None, "weighted": some_weights()}
    cuts = {"one chunk": (1000,), "uneven": UNEVEN, "many": (50,) * 20}
    cases = [(a, b, c) for a in tables for b in weights for c in cuts]

    def check(case):
        rows, w, cut = tables[case[0]], weights[case[1]], cuts[case[2]]
        kernel = RBF(0.3 if rows.shape[1] < 10 else 0.02)
        expected = pivoted_cholesky(here(rows, kernel, w), 60, np.random.default_rng(5)).pivots
        rest = rest_of(rows, kernel, w, cut)
        assert_array_equal(draw_pivots(rest, 60, np.random.default_rng(5)), expected)
        assert_array_equal(rest.chosen, rows[expected])
        assert len(expected) == (20 if rows is twice else 60)

    check_each(cases, check)
    stored = in_chunks(few).map_blocks(sparse.csr_array)
    rest = SpreadRest(RBF(0.3), open_collection(stored).chunks, None)
    expected = pivoted_cholesky(here(sparse.csr_array(few), RBF(0.3)), 40, np.random.default_rng(5)).pivots
    assert_array_equal(draw_pivots(rest, 40, np.random.default_rng(5)), expected)
    assert_array_equal(rest.chosen.toarray(), few[expected])


def test_what_is_left_is_the_diagonal_of_the_schur_complement():
    X, kernel, w = normal(400, seed=2), RBF(0.2), some_weights(400)
    rest = rest_of(X, kernel, w, (150, 1, 249))
    pivots = draw_pivots(rest, 30, np.random.default_rng(0))
    K = kernel.block(X, X) * np.sqrt(np.multiply.outer(w, w))
    left = np.trace(K) - np.trace(K[:, pivots] @ np.linalg.solve(K[np.ix_(pivots, pivots)], K[pivots]))
    assert_allclose(rest.total, left, rtol=1e-8)
    assert_allclose(rest.total, pivoted_cholesky(HeldMatrix(K), 30, np.random.default_rng(0)).error, rtol=1e-8)


def test_rows_on_which_the_kernel_is_zero_have_one_landmark():
    source, settings = open_collection(in_chunks(np.zeros((30, 2)), (10, 20))), Landmarks(5, spread=True)
    rows, numbers = spread_landmarks(Linear(), source, None, settings, np.random.default_rng(0))
    assert rows.shape == (1, 2) and numbers.tolist() == [0]


# ---------------------------------------------------------------------- fits


def fitted(X, weights=None, **others):
    return KernelPCA(4, kernel="rbf", gamma=0.3, n_landmarks=60, random_state=3, **others).fit(X, sample_weight=weights)


@pytest.mark.parametrize("weights", [None, some_weights()], ids=["equal", "weighted"])
@pytest.mark.parametrize("standardize", [False, True])
def test_chunks_have_the_components_of_their_rows(weights, standardize):
    X = normal() * [1, 3, 0.5]
    of_rows, of_chunks = (fitted(rows, weights, standardize=standardize) for rows in (X, in_chunks(X)))
    assert_array_equal(of_chunks.landmark_indices_, of_rows.landmark_indices_)
    assert_allclose(of_chunks.eigenvalues_, of_rows.eigenvalues_, rtol=1e-9)
    assert_allclose(of_chunks.transform(X), of_rows.transform(X), atol=1e-7)
    assert weights is None or weights[of_chunks.landmark_indices_].all()


def test_where_the_factor_has_no_room_landmarks_are_drawn_among_a_sample_and_the_plan_says_so():
    X = normal(60_000, 2)
    wide = KernelPCA(2, gamma=0.3, n_landmarks=60, random_state=0, memory_limit="1GB")
    narrow = KernelPCA(2, gamma=0.3, n_landmarks=60, random_state=0, memory_limit="34MB")
    chunks = in_chunks(X, (6000,) * 10)
    assert "among all 60,000 rows, where they lie" in str(wide.plan(chunks))
    assert "among a sample: among all 60,000, this process would need" in str(narrow.plan(chunks))
    narrow.fit(chunks)
    assert narrow.plan_.solver.sample < 60_000
    assert_allclose(narrow.eigenvalues_, wide.fit(chunks).eigenvalues_, rtol=1e-3)
    given = KernelPCA(2, gamma=0.3, landmarks=np.arange(60), random_state=0)
    assert "drawn" not in str(given.plan(chunks))


def test_what_a_worker_needs_is_counted_in_whole_chunks():
    """Three chunks on two workers: one of them has two."""
    spread = Spread(3, 1000, 2, room=10**9)
    two = spread.factor_bytes(3000, 50, 300, 37)
    assert 8 * 2000 * 350 < two < 8 * 2000 * 350 * 1.5 + 8 * 1000 * 600
    assert spread.most(10**12) == 5 * 10**8
    ten_million = Spread(100, 100_000, 2, room=10**9)
    assert ten_million.factor_bytes(10**7, 50, 300, 37) > ten_million.most(10**12)


# ---------------------------------------------------------------------- embeddings


def test_a_roll_in_chunks_unrolls_as_its_rows_do():
    from sklearn.datasets import make_swiss_roll

    X, along = make_swiss_roll(2000, random_state=0)
    model = LocallyLinearEmbedding(n_components=2, n_neighbors=12, n_landmarks=500, random_state=0)
    expected = model.fit(X).embedding_
    found = model.fit(in_chunks(X, (700, 0, 1, 1299)))
    assert_array_equal(found.embedding_, expected)
    assert abs(np.corrcoef(along, found.embedding_[:, 0])[0, 1]) > 0.9
    all_of_it = LocallyLinearEmbedding(n_components=2, n_neighbors=12, random_state=0)
    assert_array_equal(all_of_it.fit(in_chunks(X[:400], (399, 1))).embedding_, all_of_it.fit(X[:400]).embedding_)


def test_parts_of_a_graph_are_told_apart_in_chunks():
    X = np.concatenate([normal(400), normal(400, seed=1) + 50])[np.random.default_rng(0).permutation(800)]
    model = LocallyLinearEmbedding(n_components=1, n_neighbors=8, n_landmarks=200, on_disconnected="separate")
    model.set_params(random_state=0)
    with pytest.warns(UserWarning):
        expected = model.fit(X)
        labels, embedding = expected.part_labels_, expected.embedding_
        found = model.fit(in_chunks(X, (500, 299, 1)))
    assert_array_equal(found.part_labels_, labels)
    assert_array_equal(found.embedding_, embedding)
    assert_array_equal(labels == labels[0], (X[:, 0] > 25) == (X[0, 0] > 25))


# ---------------------------------------------------------------------- on a cluster


def test_a_cluster_finds_the_same_bits_as_a_loop(cluster):
    from distributed import Client

    X, w = normal(), some_weights()
    roll = LocallyLinearEmbedding(n_components=2, n_neighbors=12, n_landmarks=300, random_state=0)
    by_loop, places = fitted(in_chunks(X), w), roll.fit(in_chunks(X)).embedding_
    with Client(cluster):
        by_cluster = fitted(in_chunks(X), w)
        assert_array_equal(roll.fit(in_chunks(X)).embedding_, places)
    assert "among all 1,000 rows" in by_cluster.plan_.why
    assert_array_equal(by_cluster.landmark_indices_, by_loop.landmark_indices_)
    assert_array_equal(by_cluster.eigenvalues_, by_loop.eigenvalues_)


def test_a_worker_that_is_killed_between_pivots_costs_time_alone(own_client):
    X, kernel, killed = normal(), RBF(0.3), []

    def kill(share):
        if not killed and share > 0.2:
            killed.extend(own_client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    rest = rest_of(X, kernel, rows=(250,) * 4)
    found = draw_pivots(rest, 60, np.random.default_rng(5), on_pass=kill)
    assert killed
    assert_array_equal(found, pivoted_cholesky(here(X, kernel), 60, np.random.default_rng(5)).pivots)


def test_histograms_are_compared_where_they_lie_and_a_negative_count_in_a_late_chunk_is_named(client):
    counts = np.random.default_rng(2).poisson(3.0, size=(1000, 6)).astype(float)
    fitted = KernelPCA(3, kernel="chi2", gamma=0.1, n_landmarks=40, random_state=0).fit(in_chunks(counts))
    assert "drawn among all 1,000 rows, where they lie" in fitted.plan_.why
    whole = KernelPCA(3, kernel="chi2", gamma=0.1, n_landmarks=40, random_state=0).fit(counts)
    assert_allclose(fitted.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    counts[995, 4] = -2.0
    with pytest.raises(ValueError, match=r"-2 at row index 995, column 4"):
        KernelPCA(3, kernel="chi2", gamma=0.1, n_landmarks=40).fit(in_chunks(counts))
