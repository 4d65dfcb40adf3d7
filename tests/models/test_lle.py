"""Locally linear embedding as users meet it: against slow twins, the lectures, scikit-learn and the truth."""

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from threading import Thread

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import block_diag, subspace_angles
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn import manifold
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import NearestNeighbors

import mercer
from mercer import KernelPCA, LocallyLinearEmbedding, locally_linear_embedding, textbook
from mercer.certificates.gaps import certify_gaps
from mercer.datasets import spiral
from mercer.errors import BadData, MercerWarning, NoRoom
from mercer.kernels import RBF, Cosine, Linear, Sigmoid
from mercer.operators import local_methods
from mercer.operators.alignment import align, weight_matrix
from mercer.operators.held import HeldMatrix
from mercer.solvers.shift_invert import BottomRitz, DenseBottom, Inverse, ShiftInvert, bound_beyond
from mercer.spaces.by_kernel import KernelRows
from mercer.spaces.given import Distances
from mercer.spaces.nearest import by_tiles, by_tree, smallest
from mercer.spaces.points import Points
from mercer.threads import one_blas_thread
from support import naive
from support.registry import BOTTOM_SOLVERS as SOLVERS
from support.registry import write_file
from support.strategies import seeds

METHODS = ["standard", "modified", "hessian", "ltsa"]
EPS = np.finfo(float).eps
every_method = pytest.mark.parametrize("method", METHODS)
every_solver = pytest.mark.parametrize("solver", SOLVERS)
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")


@pytest.fixture(scope="module", autouse=True)
def small_matrices_on_one_thread():
    with one_blas_thread():
        yield


def cloud(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def sheet(n=100, columns=3, seed=0):
    """A bent square of points, nearly a grid: every one of them is a neighbour of others."""
    rng, side = np.random.default_rng(seed), round(n**0.5)
    flat = (np.stack(np.meshgrid(*2 * [np.arange(side)]), axis=2).reshape(-1, 2) + rng.uniform(size=(n, 2)) / 2) / side
    bent = 0.5 * np.sin(flat @ rng.normal(size=(2, columns)) * 2 + rng.uniform(size=columns))
    return bent + flat @ np.linalg.qr(rng.normal(size=(columns, 2)))[0].T


def roll(n=500, seed=0):
    return make_swiss_roll(n, random_state=seed)


def neighbours_of(method):
    return dict(n_neighbors=12 if method == "standard" else 14, method=method)


def M_of(space, near, method, d, reg=1e-3, threads=1):
    return align(space, near, method, n_components=d, reg=reg, modified_tol=1e-12, threads=threads).toarray()


def assert_same_places(Y, Z, atol=1e-6):
    """The same columns up to sign."""
    assert Y.shape == Z.shape
    signs = np.sign(np.sum(Y * Z, axis=0))
    assert_allclose(Y, Z * signs, atol=atol * np.abs(Z).max())


def same_sets(near, other):
    return np.array_equal(np.sort(near, axis=1), np.sort(other, axis=1))


def silently(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        return call()


# ---------------------------------------------------------------------------- neighbourhoods against their slow twins


@every_method
@pytest.mark.parametrize(("columns", "k"), [(3, 8), (12, 7)], ids=["k > d", "d > k"])
@settings(max_examples=5)
@given(seeds)
def test_the_matrix_of_every_method_is_that_of_its_slow_twin(method, columns, k, seed):
    X = cloud(30, columns, seed)
    near = naive.nearest(naive.exact_distances(X), k)
    M = M_of(Points.of(X), near, method, 2)
    assert_allclose(M, naive.alignment(X, near, method, 2), atol=1e-10)
    assert_allclose(M @ np.ones(30), 0, atol=1e-12)
    assert np.linalg.eigvalsh(M)[0] > -1e-13 * np.abs(M).sum(axis=0).max()


@every_method
@pytest.mark.parametrize("d", [1, 3])
def test_other_numbers_of_components_too(method, d):
    X = cloud(40, 5, 7)
    near = naive.nearest(naive.exact_distances(X), 11)
    assert_allclose(M_of(Points.of(X), near, method, d), naive.alignment(X, near, method, d), atol=1e-10)


@every_method
def test_the_matrix_does_not_depend_on_how_many_threads_or_pieces(method, monkeypatch):
    X = cloud(90, 4)
    space = Points.of(X)
    near = space.nearest(10, 1).indices
    expected = M_of(space, near, method, 2)
    assert np.array_equal(M_of(space, near, method, 2, threads=2), expected)
    pieces = [slice(i, min(i + 7, 90)) for i in range(0, 90, 7)]
    monkeypatch.setattr("mercer.operators.alignment.rounds", lambda *_: iter([pieces[:3], pieces[3:9], pieces[9:]]))
    assert_allclose(M_of(space, near, method, 2, threads=2), expected, atol=1e-12)


@every_method
@pytest.mark.parametrize("columns", [4, 20])
def test_the_matrix_is_the_same_from_coordinates_a_kernel_and_distances(method, columns):
    X = cloud(40, columns, 3)
    near = naive.nearest(naive.exact_distances(X), 9)
    expected = M_of(Points.of(X), near, method, 2)
    for space in (
        KernelRows.seen_by(Linear(), X),
        KernelRows.seen_by(Linear(), sparse.csr_array(X)),
        Distances(naive.euclidean_distances(X)),
    ):
        assert_allclose(M_of(space, near, method, 2), expected, atol=1e-7)


@given(seeds)
def test_weights_sum_to_one_and_nothing_is_better(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 6))
    near = naive.nearest(naive.exact_distances(X), 4)
    W = weight_matrix(Points.of(X), near, 1e-12, 1).toarray()
    assert_allclose(W.sum(axis=1), 1)
    assert_allclose(W, textbook.lle_weight_matrix(X, 4, reg=1e-12), atol=1e-7)
    for i in range(20):
        best = np.sum((X[i] - W[i] @ X) ** 2)
        change = rng.normal(size=4)
        other = W[i].copy()
        other[near[i]] += change - change.mean()
        assert np.sum((X[i] - other @ X) ** 2) >= best - 1e-12


@given(seeds)
def test_weights_are_those_of_the_lectures(seed):
    X = cloud(25, 3, seed)
    near = naive.nearest(naive.exact_distances(X), 6)
    for reg in (1e-3, 0.1):
        W = weight_matrix(Points.of(X), near, reg, 1).toarray()
        assert_allclose(W, textbook.lle_weight_matrix(X, 6, reg=reg), atol=1e-8)


@pytest.mark.parametrize("zero", [0, 1, 2])
def test_without_a_ridge_a_neighbour_that_equals_the_point_takes_all_the_weight(zero):
    Z = np.diag([1.0, 2.0, 3.0])
    Z[zero] = 0.0  # this neighbour is the point itself: w = e_zero has residual 0, the least there is
    G = (Z @ Z.T)[None]
    w = local_methods.weights(G, 0.0)
    assert_allclose(local_methods.residuals(G, w), 0, atol=1e-12)
    assert_allclose(w[0], np.eye(3)[zero], atol=1e-9)


@pytest.mark.parametrize("method", ["standard", "modified"])
def test_the_ridge_reaches_both_methods_with_weights(method):
    X = cloud(50, 3)
    few, much = (LocallyLinearEmbedding(n_neighbors=8, method=method, reg=reg).fit(X) for reg in (1e-3, 1e-1))
    assert not np.allclose(np.abs(few.embedding_), np.abs(much.embedding_), atol=1e-3)
    near = naive.nearest(naive.exact_distances(X), 8)
    for model, reg in ((few, 1e-3), (much, 1e-1)):
        assert_same_places(model.embedding_, naive.bottom(naive.alignment(X, near, method, 2, reg), 2)[1])


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_the_ridge_does_not_reach_methods_without_weights(method):
    X = sheet()
    fits = [LocallyLinearEmbedding(n_neighbors=8, method=method, reg=reg).fit(X) for reg in (1e-3, 0.5)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)


def flat(n=80, seed=0):
    """A square turned into space, and its two coordinates."""
    rng = np.random.default_rng(seed)
    plane = rng.uniform(size=(n, 2))
    return plane @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T + 3.0, plane


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_flat_data_have_their_coordinates_in_the_null_space(method):
    X, plane = flat()
    near = naive.nearest(naive.exact_distances(X), 10)
    M = M_of(Points.of(X), near, method, 2)
    assert_allclose(M @ plane, 0, atol=1e-12)
    values = np.linalg.eigvalsh(M)
    assert_allclose(values[:3], 0, atol=1e-13)
    assert values[3] > 1e-6


def test_the_hessian_is_that_of_a_quadratic_function():
    """On a plane, Σᵢ‖Hᵢf‖² of f = a² − 3ab is what an affine fit leaves of f in every neighbourhood."""
    X, plane = flat(60, 1)
    near = naive.nearest(naive.exact_distances(X), 12)
    f = plane[:, 0] ** 2 - 3 * plane[:, 0] * plane[:, 1]
    M = M_of(Points.of(X), near, "hessian", 2)
    total = 0.0
    for some in near:
        linear = np.column_stack([np.ones(12), plane[some]])
        total += np.sum((f[some] - linear @ np.linalg.lstsq(linear, f[some], rcond=None)[0]) ** 2)
    assert_allclose(f @ M @ f, total, rtol=1e-9)  # a quadratic has no part that is neither affine nor quadratic


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
@quiet
def test_flat_data_come_back_up_to_an_affine_map(method):
    X, plane = flat(150)
    Y = LocallyLinearEmbedding(n_neighbors=10, method=method).fit_transform(X)
    basis = np.column_stack([np.ones(150), Y])
    assert_allclose(basis @ np.linalg.lstsq(basis, plane, rcond=None)[0], plane, atol=1e-8)


def test_hessian_is_not_the_tangent_space_alignment_of_scikit_learn():
    X, _ = roll(200)
    hessian, ltsa = (LocallyLinearEmbedding(n_neighbors=12, method=m).fit(X) for m in ("hessian", "ltsa"))
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=12, method="ltsa", eigen_solver="dense").fit(X)
    assert_same_places(ltsa.embedding_, theirs.embedding_, atol=1e-4)
    assert not np.allclose(np.abs(hessian.embedding_), np.abs(theirs.embedding_), atol=1e-3)


@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
@pytest.mark.parametrize("columns", [3, 15])
def test_embeddings_are_those_of_scikit_learn(method, columns):
    X = roll(250)[0] if columns == 3 else cloud(120, 15)
    params = dict(n_neighbors=10, n_components=2, method=method)
    model = LocallyLinearEmbedding(**params).fit(X)
    theirs = manifold.LocallyLinearEmbedding(**params, eigen_solver="dense").fit(X)
    assert_same_places(model.embedding_, theirs.embedding_, atol=1e-4)
    assert_allclose(model.reconstruction_error_, theirs.reconstruction_error_, rtol=1e-4, atol=1e-12)


def test_embeddings_are_those_of_the_lectures():
    X = cloud(60, 4)
    Z = textbook.lle_embedding(textbook.lle_weight_matrix(X, 6), 3)
    assert_same_places(LocallyLinearEmbedding(n_neighbors=6, n_components=3).fit_transform(X), Z, atol=1e-8)


@pytest.mark.parametrize("n", [30, 31, 51])
def test_modified_weights_do_not_hang_on_the_last_digit(n):
    """A rotation changes nothing but rounding. η is the median of ρ: for odd n one ρᵢ *is* η."""
    for seed in range(4):
        X = cloud(n, 5, seed)
        Q = np.linalg.qr(cloud(5, 5, seed + 100))[0]
        near = naive.nearest(naive.exact_distances(X), 7)
        assert_allclose(M_of(Points.of(X @ Q), near, "modified", 2), M_of(Points.of(X), near, "modified", 2), atol=1e-8)


# ---------------------------------------------------------------------------- who is near


def nasty(columns):
    """Rows that cost digits; the distances are taken from the rows as given, in extended precision."""
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(150, columns))
    outlier, absurd, apart = X.copy(), X.copy(), X.copy()
    outlier[17], absurd[17] = 1e12, 1e22  # next to that, squares of all else hardly exist in single precision
    apart[:50] += 1e9
    return {
        "plain": X,
        "offset": np.round(X, 6) + 1e8,
        "clusters": X + 1e5 * rng.integers(0, 3, size=(150, 1)),
        "clusters, very far": apart,
        "one outlier": outlier,
        "one absurd outlier": absurd,
        "huge": X * 1e200,
        "tiny": X * 1e-200,
        "single, huge": (X * 1e30).astype(np.float32),
        "single, tiny": (X * 1e-30).astype(np.float32),
        "one long column": X * np.append(1e9, np.ones(columns - 1)),
    }


@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("way", ["tree", "tiles"])
@pytest.mark.parametrize("name", nasty(3))
def test_neighbours_are_the_nearest_in_nasty_data(columns, way, name):
    X = nasty(columns)[name]
    D = naive.exact_distances(X)
    found = Points.of(X, way=way).nearest(6, 1)
    expected = naive.nearest(D, 6)
    lengths = np.take_along_axis(D, expected, 1).astype(float)
    assert_allclose(np.take_along_axis(D, found.indices, 1).astype(float), lengths, rtol=1e-5)
    assert_allclose(found.distances, lengths, rtol=1e-4)
    assert not np.any(found.indices == np.arange(150)[:, None])


@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize("threads", [1, 2])
def test_trees_and_tiles_find_the_same(n, threads):
    X = cloud(n, 7)
    expected = naive.nearest(naive.exact_distances(X), 9)
    for found in (by_tree(cKDTree(X), 9, None, threads), by_tiles(X, 9, X, np.arange(n), threads)):
        assert np.array_equal(found.indices, expected)
    new = cloud(25, 7, 1)
    D = np.linalg.norm(new[:, None] - X, axis=2)
    for found in (by_tree(cKDTree(X), 9, new, threads), by_tiles(X, 9, new, None, threads)):
        assert np.array_equal(found.indices, np.argsort(D, axis=1)[:, :9])
        assert_allclose(found.distances, np.sort(D, axis=1)[:, :9])


@pytest.mark.parametrize("way", ["tree", "tiles"])
@pytest.mark.parametrize("k", [3, 12])
def test_equal_rows_are_neighbours_of_each_other_and_never_of_themselves(way, k):
    X = np.random.default_rng(0).integers(0, 3, size=(200, 3)).astype(float)  # 27 different rows, and many ties
    D = naive.exact_distances(X).astype(float)
    found = Points.of(X, way=way).nearest(k, 1)
    assert not np.any(found.indices == np.arange(200)[:, None])
    assert all(len(set(row)) == k for row in found.indices)
    assert_allclose(np.take_along_axis(D, found.indices, 1), np.take_along_axis(D, naive.nearest(D, k), 1), atol=1e-12)


@given(seeds)
def test_a_tournament_finds_the_smallest(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 300)), int(rng.integers(1, 8))
    D = rng.integers(0, 30, size=(5, n)).astype(float)  # with many ties
    near, largest = smallest(D.copy(), k)
    assert all(len(set(row)) == k for row in near)
    expected = np.sort(D, axis=1)[:, :k]
    assert np.array_equal(np.sort(np.take_along_axis(D, near, 1), axis=1), expected)
    assert np.array_equal(largest, expected[:, -1])


@pytest.mark.parametrize("columns", [3, 20])
def test_all_spaces_find_the_same(columns):
    X = cloud(80, columns)
    expected = naive.nearest(naive.exact_distances(X), 7)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for space, rows in [
        (Points.of(X), X),
        (KernelRows.seen_by(Linear(), X), X),
        (KernelRows.seen_by(Linear(), sparse.csr_array(X)), X),
        (KernelRows.seen_by(RBF(gamma=0.1), X), X),
        (Distances(naive.euclidean_distances(X)), X),
        (Points.of(X, unit=True), unit),
        (KernelRows.seen_by(Cosine(), X), unit),
    ]:
        expected = naive.nearest(naive.exact_distances(rows), 7)
        for threads in (1, 2):
            assert same_sets(space.nearest(7, threads).indices, expected)


def test_whole_numbers_are_good_distances():
    """Counts, such as edit distances, often come in small integers, whose squares do not fit there."""
    X = np.random.default_rng(0).permutation(200)[:60]
    D = np.abs(X[:, None] - X)
    for dtype in (np.uint8, np.int16, np.int32, np.float32):
        found = Distances(D.astype(dtype)).nearest(4, 1)
        assert_allclose(found.distances, np.sort(D + 1000 * np.eye(60, dtype=int), axis=1)[:, :4])


@pytest.mark.parametrize(("scale", "dtype"), [(1e200, float), (1e-200, float), (1e30, np.float32), (1e-30, np.float32)])
def test_distances_may_be_huge_or_tiny(scale, dtype):
    X = cloud(60, 5)
    D = naive.euclidean_distances(X)
    expected = LocallyLinearEmbedding(n_neighbors=8, metric="precomputed").fit_transform(D)
    scaled = LocallyLinearEmbedding(n_neighbors=8, metric="precomputed").fit_transform((D * scale).astype(dtype))
    assert_same_places(scaled, expected, atol=1e-3)


def test_sparse_rows_with_a_large_column_are_not_taken_for_equal():
    """Seconds since 1970, next to small numbers."""
    X = np.column_stack([cloud(120, 6), 1.7e9 + np.random.default_rng(1).uniform(size=120)])
    dense = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    thin = LocallyLinearEmbedding(n_neighbors=8).fit(sparse.csr_array(X))
    assert_same_places(thin.embedding_, dense.embedding_, atol=1e-3)


def test_cosine_does_not_see_the_length_of_rows():
    X = cloud(80, 4)
    lengths = 10.0 ** np.random.default_rng(1).uniform(-200, 200, size=(80, 1))
    params = dict(n_neighbors=8, metric="cosine")
    expected = LocallyLinearEmbedding(**params).fit_transform(X)
    assert_same_places(LocallyLinearEmbedding(**params).fit_transform(X * lengths), expected)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert_same_places(LocallyLinearEmbedding(n_neighbors=8).fit_transform(unit), expected)
    assert_same_places(LocallyLinearEmbedding(**params).fit_transform(sparse.csr_array(X)), expected)


@every_method
def test_spaces_give_the_same_embedding(method):
    X, _ = roll(150)
    params = neighbours_of(method)
    expected = LocallyLinearEmbedding(**params).fit_transform(X)
    for model, given_X in [
        (LocallyLinearEmbedding(**params, metric="precomputed"), naive.euclidean_distances(X)),
        (LocallyLinearEmbedding(**params, metric=Linear()), X),
        (LocallyLinearEmbedding(**params), sparse.csr_array(X)),
        (LocallyLinearEmbedding(**params), sparse.csc_array(X)),
        (LocallyLinearEmbedding(**params, neighbors_algorithm="brute"), X),
        (LocallyLinearEmbedding(**params, neighbors_algorithm="ball_tree"), X),
    ]:
        assert_same_places(model.fit_transform(given_X), expected, atol=1e-4)


# ---------------------------------------------------------------------------- the solver


def with_spectrum(values, seed):
    """A matrix that sends 1 to zero and has these eigenvalues besides."""
    n, rng = len(values) + 1, np.random.default_rng(seed)
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, n - 1))]))[0][:, 1:]
    M = Q * values @ Q.T
    return sparse.csc_array((M + M.T) / 2)


def truth(M):
    """All eigenvalues but that of 1, and their vectors."""
    M = M.toarray()
    values, vectors = np.linalg.eigh(M + 3 * np.abs(M).sum(axis=0).max() / len(M))
    return values[:-1], vectors[:, :-1]


SPECTRA = {
    "geometric": np.logspace(-12, 0, 59),
    "three zeros": np.append(np.zeros(3), np.logspace(-10, 0, 56)),
    "six equal": np.append(np.full(6, 1e-8), np.logspace(-6, 0, 53)),
    "pairs": np.repeat(np.logspace(-11, 0, 30), 2)[:59],
    "cut through a cluster": np.concatenate([[1e-9, 2e-9], np.full(10, 1e-7), np.logspace(-5, 0, 47)]),
    "nearly equal": 1e-6 * (1 + 1e-9 * np.arange(59)) + np.append(np.zeros(20), np.ones(39)),
    "identity": np.ones(59),
    "zero": np.zeros(59),
    "far above rounding": np.linspace(0.1, 1, 59),
    "below rounding": np.append([1e-17, 3e-17], np.logspace(-8, 0, 57)),
    "large": 1e8 * np.logspace(-12, 0, 59),
    "small": 1e-8 * np.logspace(-12, 0, 59),
}


@every_solver
@pytest.mark.parametrize(
    ("name", "k"), [(name, k) for name in SPECTRA for k in (1, 3)] + [(name, 50) for name in list(SPECTRA)[:4]]
)
def test_the_smallest_eigenpairs_are_found(solver, name, k):
    M = with_spectrum(SPECTRA[name], 0)
    values, vectors = truth(M)
    size = abs(M).sum(axis=0).max()
    pairs = SOLVERS[solver].solve(HeldMatrix(M), k, np.random.default_rng(0))
    U = pairs.vectors
    assert_allclose(pairs.values, values[:k], atol=20 * EPS * size)
    assert_allclose(U.T @ U, np.eye(k), atol=1e-12)
    assert_allclose(U.sum(axis=0), 0, atol=1e-12)
    assert_allclose(np.linalg.norm(M @ U - U * pairs.values, axis=0), pairs.residuals, atol=20 * EPS * size)
    assert pairs.residuals.max() <= 100 * EPS * size + 1e-6 * values[k]
    gap = values[k] - values[k - 1]
    if gap > 1e4 * EPS * size:
        assert np.sin(subspace_angles(U, vectors[:, :k])[0]) < 1e-4 + 100 * EPS * size / gap
    certificate = certify_gaps(pairs, tol=1e-6)
    assert certificate.converged
    sure = np.abs(values[:k] - certificate.rounding) > 10 * EPS * size
    assert certificate.n_zero >= np.sum((values[:k] < certificate.rounding) & sure)
    assert certificate.n_zero <= np.sum((values[:k] < certificate.rounding) | ~sure)


@every_solver
@pytest.mark.parametrize("n", [3, 4, 5, 12])
def test_all_eigenpairs_but_the_constant_one(solver, n):
    for seed in range(3):
        M = with_spectrum(np.logspace(-9, 0, n - 1), seed)
        for k in (1, n - 1):
            pairs = SOLVERS[solver].solve(HeldMatrix(M), k, np.random.default_rng(0))
            assert_allclose(pairs.values, truth(M)[0][:k], atol=40 * EPS)
            assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-12)
            assert_allclose(pairs.vectors.sum(axis=0), 0, atol=1e-12)


@every_solver
@pytest.mark.parametrize("sizes", [(20, 20), (30, 7, 7, 4)], ids=str)
def test_blocks_that_do_not_touch_have_a_large_null_space_without_the_constant_vector(solver, sizes):
    blocks = [with_spectrum(np.logspace(-3, 0, size - 1), size).toarray() for size in sizes]
    M, parts = sparse.csc_array(block_diag(*blocks)), len(sizes)
    pairs = SOLVERS[solver].solve(HeldMatrix(M), parts + 1, np.random.default_rng(0))
    label = np.repeat(np.arange(parts), sizes)
    assert_allclose(pairs.values[: parts - 1], 0, atol=1e-14)
    assert_allclose(pairs.values[parts - 1 :], 1e-3, rtol=1e-8)
    for part in range(parts):  # what tells parts apart is constant on each of them
        assert_allclose(np.ptp(pairs.vectors[label == part, : parts - 1], axis=0), 0, atol=1e-9)
    assert_allclose(pairs.vectors.sum(axis=0), 0, atol=1e-12)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(parts + 1), atol=1e-12)
    certificate = certify_gaps(pairs, tol=1e-6)
    assert certificate.n_zero == parts - 1


def random_problem(seed):
    """A matrix, how many pairs, and a solver, which may be made to stop too early."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 45))
    kind = rng.integers(4)
    values = np.sort(10.0 ** rng.uniform(-13, 0, size=n - 1))
    if kind == 1:
        values = np.round(np.log10(values) * 1.5)  # clusters
        values = 10 ** (values / 1.5)
    if kind == 2:
        values[: rng.integers(1, 4)] = 0.0
    if kind == 3:
        values = np.sort(rng.uniform(0, 1, size=n - 1))
    k = int(rng.integers(1, min(n, 9)))
    name = rng.choice(list(SOLVERS))
    solver = SOLVERS[name]
    if name != "lapack":
        solver = ShiftInvert(str(name), tol=float(rng.choice([1e-6, 1e-2])), max_passes=int(rng.choice([1, 2, 100])))
    return with_spectrum(values, seed), k, solver


def assert_sound(certificate, found, U, values, vectors, blur):
    """Every statement of a certificate, against the true eigenpairs, which are known up to `blur`.

    So many pairs were found, among them some that were not asked for; all others are beyond the bound.
    """
    c, k = certificate, certificate.n_components
    assert np.all(values[:k] <= c.upper + blur)
    if c.n_complete == k:
        assert np.all(values[:k] >= c.lower - blur)
    assert np.sum(values < c.bound_beyond - c.rounding - blur) <= found
    for i in range(c.n_complete):
        others = np.delete(values, i)
        assert c.gaps[i] <= np.abs(others - c.values[i]).min(initial=np.inf) + c.rounding + 2 * blur
        if c.angles[i] < 0.5:
            sine = np.linalg.norm(U[:, i] - vectors[:, i] * (vectors[:, i] @ U[:, i]))
            assert sine <= c.angles[i] + 2 * blur / np.abs(others - values[i]).min(initial=np.inf)
    assert np.all(np.asarray(c.unresolved, dtype=int) == np.flatnonzero(c.angles > 0.05))


@pytest.mark.parametrize("some", range(10))
def test_certificates_are_sound(some):
    for seed in range(20 * some, 20 * some + 20):
        M, k, solver = random_problem(seed)
        pairs = solver.solve(HeldMatrix(M), k, np.random.default_rng(seed))
        certificate = certify_gaps(pairs, tol=1e-6)
        size = abs(M).sum(axis=0).max()
        assert_sound(certificate, k + len(pairs.beyond), pairs.vectors, *truth(M), 4 * EPS * size)


def test_no_eigenvalue_but_those_asked_for_is_below_the_bound_that_is_told():
    """That is what a certificate prints. Pairs that the solver found and kept to itself are others, too."""
    for seed in range(40):
        M, k, solver = random_problem(seed)
        values, size = truth(M)[0], abs(M).sum(axis=0).max()
        pairs = solver.solve(HeldMatrix(M), k, np.random.default_rng(seed))
        if k < len(values):
            assert certify_gaps(pairs, tol=1e-6).bound_beyond <= values[k] + 20 * EPS * size


@pytest.mark.parametrize("error", [1e-10, 1e-6, 1e-3, 0.1, 1.0])
def test_certificates_of_bad_vectors_are_sound_too(error):
    """The solver's vectors, spoiled: bounds must widen accordingly."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n, k = 30, 3
        M = with_spectrum(np.sort(10.0 ** rng.uniform(-6, 0, size=n - 1)), seed)
        values, vectors = truth(M)
        op, size = HeldMatrix(M), abs(M).sum(axis=0).max()
        ritz = BottomRitz.of(op, vectors[:, : k + 4] + error * rng.normal(size=(n, k + 4)) / np.sqrt(n))
        bound, _ = bound_beyond(Inverse(op, 1e-13 * size, "dense", 1), ritz, k, rng)
        assert bound <= values[k + 4] + 20 * EPS * size
        pairs = DenseBottom().solve(op, k, rng)
        pairs = type(pairs)(
            values=ritz.values[:k],
            vectors=ritz.U[:, :k],
            residuals=ritz.residuals[:k],
            products=ritz.MU[:, :k],
            beyond=ritz.values[k:],
            beyond_residuals=ritz.residuals[k:],
            size=size,
            bound=min(bound, values[k]),
        )
        assert_sound(certify_gaps(pairs, tol=1e-6), k + 4, ritz.U, values, vectors, 4 * EPS * size)


def test_what_may_have_been_missed_counts_as_a_neighbour():
    """Eigenvalues 0.1, 0.2, 0.3, 1, …, of which the second was not found: gaps and angles know of it by the bound."""
    M = with_spectrum(np.array([0.1, 0.2, 0.3, *np.linspace(1, 2, 9)]), 0)
    values, vectors = truth(M)
    mixed = vectors[:, [0]] + 0.05 * vectors[:, [1]]
    ritz = BottomRitz.of(HeldMatrix(M), np.column_stack([mixed, vectors[:, 2:5]]))
    pairs = DenseBottom().solve(HeldMatrix(M), 1, np.random.default_rng(0))
    pairs = type(pairs)(**ritz.split(1), size=pairs.size, bound=float(values[1]) - 1e-3)
    c = certify_gaps(pairs, tol=1e-6)
    assert c.n_complete == 1 and c.gaps[0] <= values[1] - ritz.values[0]
    assert c.angles[0] >= np.linalg.norm(ritz.U[:, 0] - vectors[:, 0] * (vectors[:, 0] @ ritz.U[:, 0]))


def test_intervals_hold_to_the_last_digit():
    """Against eigenvalues of the same matrix in forty digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        for seed, spectrum in enumerate([np.logspace(-13, 0, 8), [0, 0, 1e-12, 1e-12, 1e-3, 1, 1, 1]]):
            M = with_spectrum(np.asarray(spectrum, dtype=float), seed)
            exact = mpmath.matrix(M.toarray().tolist()) + mpmath.matrix(np.full((9, 9), 3 / 9).tolist())
            values = np.array([float(v) for v in sorted(mpmath.eigsy(exact, eigvals_only=True))])[:8]
            for solver in SOLVERS.values():
                c = certify_gaps(solver.solve(HeldMatrix(M), 4, np.random.default_rng(0)), tol=1e-6)
                assert np.all((c.lower <= np.maximum(values[:4], 0)) & (values[:4] <= c.upper))
                assert c.n_zero == np.sum(values[:4] < c.rounding)


def test_a_certificate_speaks_plainly():
    X, _ = roll(400)
    model = LocallyLinearEmbedding(n_neighbors=12).fit(X)
    text = str(model.certificate_)
    assert "2 components certified: each residual at most 1e-06 of the gap" in text
    assert "Nothing was missed" in text and "Directions: off by at most" in text
    values = np.linalg.eigvalsh(M_of(Points.of(X), Points.of(X).nearest(12, 1).indices, "standard", 2))[1:]
    assert_allclose(model.certificate_.values, values[:2], atol=1e-13)
    assert float(text.split("no other eigenvalue is below ")[1].split()[0]) <= 1.001 * values[2]


@quiet
def test_a_certificate_of_all_eigenvalues_says_nothing_about_infinity():
    model = LocallyLinearEmbedding(n_neighbors=3, n_components=5, metric=RBF(gamma=0.1)).fit(cloud(6, 3))
    assert "inf" not in str(model.certificate_)


@quiet
def test_stopping_too_early_is_told(monkeypatch):
    monkeypatch.setattr("mercer.solvers.shift_invert.POLISHING", 1)
    model = LocallyLinearEmbedding(n_neighbors=12, max_iter=1, tol=0.0, n_components=20)
    with pytest.warns(ConvergenceWarning, match="before every coordinate met the tolerance"):
        model.fit(cloud(600, 25))
    assert not model.certificate_.converged


@pytest.mark.parametrize("method", ["standard", "modified"])
def test_eigenvalues_that_are_far_apart_are_not_said_to_be_nearly_equal(method):
    """Rows without structure: no eigenvalue is small, so bounds by the inverse are weak. That is no equality."""
    X = cloud(400, 40)
    M = M_of(Points.of(X), Points.of(X).nearest(12, 1).indices, method, 1)
    values = naive.bottom(M, 2)[0]
    assert values[1] > 1.01 * values[0]  # a gap of 1 % and residuals of rounding: the direction is known very well
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LocallyLinearEmbedding(n_neighbors=12, n_components=1, method=method).fit(X)
    assert model.certificate_.n_complete == 1 and not model.certificate_.unresolved
    assert_same_places(model.embedding_, naive.bottom(M, 1)[1], atol=1e-5)


@pytest.mark.filterwarnings("ignore:The direction of coordinate")
def test_equal_eigenvalues_are_no_failure_of_the_solver():
    """A circle has pairs of equal eigenvalues: no gap, so residuals have to be rounding, which LAPACK's are."""
    for n in (100, 300, 400):
        angle = 2 * np.pi * np.arange(n) / n
        model = LocallyLinearEmbedding(n_neighbors=10).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
        assert model.certificate_.converged and model.certificate_.unresolved == (0, 1)
        waves = np.column_stack([np.cos(angle), np.sin(angle)])
        assert np.sin(subspace_angles(model.embedding_, waves)[0]) < 1e-6


@pytest.mark.parametrize("eigen_solver", ["arpack", "dense", "auto"])
@pytest.mark.parametrize("method", ["standard", "ltsa"])
def test_every_way_finds_the_embedding_that_lapack_finds(eigen_solver, method):
    X, _ = roll(420)
    near = Points.of(X).nearest(12, 1).indices
    values, vectors = naive.bottom(M_of(Points.of(X), near, method, 2), 2)
    model = LocallyLinearEmbedding(n_neighbors=12, method=method, eigen_solver=eigen_solver).fit(X)
    assert_same_places(model.embedding_, vectors, atol=1e-4)
    assert_allclose(model.reconstruction_error_, values.sum(), rtol=1e-4)
    assert model.certificate_.certified and model.certificate_.n_complete == 2


def test_the_constant_vector_never_comes_back():
    for X in (cloud(40, 3), np.concatenate([cloud(20, 3), cloud(20, 3) + 100])):
        for solver in ("auto", "arpack", "dense"):
            Y = silently(lambda X=X, s=solver: LocallyLinearEmbedding(n_neighbors=6, eigen_solver=s).fit_transform(X))
            assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
            assert_allclose(Y.T @ Y, np.eye(2), atol=1e-12)


@every_solver
@quiet
def test_as_many_components_as_rows_allow(solver):
    X = cloud(9, 8)
    eigen_solver = {"lapack": "auto", "sparse": "arpack", "dense": "dense"}[solver]
    model = LocallyLinearEmbedding(n_neighbors=5, n_components=8, eigen_solver=eigen_solver).fit(X)
    assert_allclose(model.embedding_.T @ model.embedding_, np.eye(8), atol=1e-10)
    assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-10)
    M = naive.alignment(X, naive.nearest(naive.exact_distances(X), 5), "standard", 8)
    assert_allclose(model.reconstruction_error_, np.trace(M), rtol=1e-9)


@pytest.mark.parametrize(("n", "k"), [(3, 1), (3, 2), (4, 3), (5, 4), (12, 5), (20, 12), (60, 59)])
@pytest.mark.parametrize("eigen_solver", ["auto", "arpack", "dense"])
@quiet
def test_few_rows_or_many_neighbours_are_no_trouble(n, k, eigen_solver):
    X = cloud(n, 3)
    model = LocallyLinearEmbedding(n_neighbors=k, n_components=1, eigen_solver=eigen_solver).fit(X)
    M = naive.alignment(X, naive.nearest(naive.exact_distances(X), k), "standard", 1)
    y = model.embedding_[:, 0]
    assert_allclose(y @ M @ y, naive.bottom(M, 1)[0][0], atol=1e-10)


def test_more_neighbours_than_the_pieces_that_are_looked_at_first():
    X, k = cloud(310, 5), 160
    model = LocallyLinearEmbedding(n_neighbors=k).fit(X)
    assert_same_places(
        model.embedding_, naive.bottom(M_of(Points.of(X), Points.of(X).nearest(k, 1).indices, "standard", 2), 2)[1]
    )


@pytest.mark.parametrize(("n", "k"), [pytest.param(1300, 600, marks=pytest.mark.slow), (310, 309)])
def test_nobody_is_asked_for_more_neighbours_than_there_are(n, k, monkeypatch):
    """A tree answers with a row that does not exist, and what is made of that writes past the end of its memory."""
    nearest = Points.nearest

    def checked(self, k, *rest):
        assert k < self.n
        return nearest(self, k, *rest)

    monkeypatch.setattr(Points, "nearest", checked)
    assert LocallyLinearEmbedding(n_neighbors=k).plan(cloud(n)).memory > 0


# ---------------------------------------------------------------------------- what cannot change the answer


@every_method
@pytest.mark.parametrize("columns", [3, 12])
def test_moved_turned_and_scaled_rows_have_the_same_embedding(method, columns):
    X = sheet(100, columns, 1)
    Q = np.linalg.qr(cloud(columns, columns, 2))[0]
    params = dict(n_neighbors=9, method=method)
    model = LocallyLinearEmbedding(**params).fit(X)
    for other in (X @ Q, X + 1e3, X * 1e-9, X * 1e12, -X, 3.7 * X @ Q + 11.0):
        moved = LocallyLinearEmbedding(**params).fit(other)
        assert_same_places(moved.embedding_, model.embedding_, atol=1e-5)
        assert_allclose(moved.reconstruction_error_, model.reconstruction_error_, rtol=1e-6)


@every_method
def test_the_order_of_rows_does_not_matter(method):
    X, order = sheet(100, 4, 1), np.random.default_rng(0).permutation(100)
    params = dict(n_neighbors=9, method=method)
    model, mixed = LocallyLinearEmbedding(**params).fit(X), LocallyLinearEmbedding(**params).fit(X[order])
    assert_same_places(mixed.embedding_, model.embedding_[order])
    assert_allclose(mixed.residuals_, model.residuals_[order], atol=1e-10)


def test_residuals_grow_with_the_data_and_are_those_of_the_lectures():
    X = cloud(50, 6)
    W = textbook.lle_weight_matrix(X, 5)
    for scale in (1.0, 1e5, 1e-150):
        model = LocallyLinearEmbedding(n_neighbors=5).fit(scale * X)
        assert_allclose(model.residuals_, scale * np.linalg.norm(X - W @ X, axis=1), rtol=1e-8)


@pytest.mark.parametrize("eigen_solver", ["arpack", "dense"])
def test_threads_do_not_change_a_single_bit(eigen_solver):
    X, _ = roll(700)
    fits = [LocallyLinearEmbedding(n_neighbors=12, eigen_solver=eigen_solver, n_jobs=jobs).fit(X) for jobs in (1, 2)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert fits[0].certificate_ == fits[1].certificate_
    wide = cloud(700, 20)
    fits = [LocallyLinearEmbedding(n_neighbors=12, n_jobs=jobs).fit(wide) for jobs in (1, 2)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert np.array_equal(fits[0].transform(cloud(30, 20, 1)), fits[1].transform(cloud(30, 20, 1)))


def test_the_same_seed_gives_the_same_answer_and_other_seeds_nearly_so():
    X, _ = roll(500)
    fits = [LocallyLinearEmbedding(n_neighbors=12, random_state=seed).fit(X) for seed in (None, None, 3, 3, 4)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert np.array_equal(fits[2].embedding_, fits[3].embedding_)
    assert_same_places(fits[4].embedding_, fits[0].embedding_)
    rs = LocallyLinearEmbedding(n_neighbors=12, random_state=np.random.RandomState(0)).fit(X)
    assert_same_places(rs.embedding_, fits[0].embedding_)


def test_two_models_fitted_at_once_agree_with_those_fitted_alone():
    rolls = [roll(500, seed)[0] for seed in (0, 1)]
    alone = [LocallyLinearEmbedding(n_neighbors=12).fit(X).embedding_ for X in rolls]
    models = [LocallyLinearEmbedding(n_neighbors=12) for _ in rolls]
    threads = [Thread(target=model.fit, args=(X,)) for model, X in zip(models, rolls, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model, expected in zip(models, alone, strict=True):
        assert np.array_equal(model.embedding_, expected)


# ---------------------------------------------------------------------------- the lectures: LLE unrolls, kernel PCA not


@every_method
@quiet
def test_the_spiral_is_unrolled(method):
    X, place = spiral(300)
    y = LocallyLinearEmbedding(n_neighbors=12, n_components=1, method=method).fit_transform(X)[:, 0]
    expected = naive.bottom(naive.alignment(X, naive.nearest(naive.exact_distances(X), 12), method, 1), 1)[1]
    assert_same_places(y[:, None], expected)
    assert abs(spearmanr(y, place)[0]) > dict(modified=0.97, hessian=0.9999).get(method, 1 - 1e-9)


@every_method
def test_the_swiss_roll_is_unrolled(method):
    X, t = roll(2000)
    model = LocallyLinearEmbedding(**neighbours_of(method)).fit(X)
    assert model.certificate_.certified
    assert abs(spearmanr(model.embedding_[:, 0], t)[0]) >= 0.99


def test_kernel_pca_unrolls_no_swiss_roll_with_any_bandwidth():
    X, t = roll(500)
    for length in np.geomspace(0.5, 100, 8):
        Y = silently(lambda g=1 / (2 * length**2): KernelPCA(2, kernel="rbf", gamma=g).fit_transform(X))
        assert max(abs(spearmanr(column, t)[0]) for column in Y.T) < 0.99


# ---------------------------------------------------------------------------- graphs that fall apart


def apart(sizes=(49, 36), gap=1000.0, d=3):
    return np.concatenate([sheet(size, d, i) + gap * i for i, size in enumerate(sizes)])


@every_method
def test_parts_are_counted_and_told(method):
    X = apart((25, 64, 36))
    with pytest.warns(MercerWarning, match=r"10 nearest neighbours falls apart into 3 parts of 64, 36 and 25 rows\."):
        model = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    assert model.n_parts_ == 3
    assert np.array_equal(model.part_labels_, np.repeat([2, 0, 1], [25, 64, 36]))
    assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-12)
    assert model.certificate_.n_zero == 2
    for part in range(3):  # two coordinates of three parts: each is a point
        assert_allclose(np.ptp(model.embedding_[model.part_labels_ == part], axis=0), 0, atol=1e-6)


@every_method
def test_parts_can_be_refused(method):
    with pytest.raises(ValueError, match=r"falls apart into 2 parts of 49 and 36 rows"):
        LocallyLinearEmbedding(n_neighbors=8, method=method, on_disconnected="raise").fit(apart())
    LocallyLinearEmbedding(n_neighbors=8, method=method, on_disconnected="raise").fit(sheet())


@every_method
@pytest.mark.parametrize("eigen_solver", ["auto", "arpack"])
def test_parts_can_be_embedded_on_their_own(method, eigen_solver):
    sizes = 64, 36
    X = apart(sizes)
    params = dict(n_neighbors=8, method=method, eigen_solver=eigen_solver)
    with pytest.warns(MercerWarning, match=r"2 parts of 64 and 36 rows\. Each was embedded on its own"):
        model = LocallyLinearEmbedding(**params, on_disconnected="separate").fit(X)
    for i, part in enumerate((slice(0, 64), slice(64, None))):
        alone = LocallyLinearEmbedding(**params).fit(X[part])
        assert_same_places(model.embedding_[part], alone.embedding_ * np.sqrt(sizes[i] / 100), atol=1e-5)
        assert_allclose(model.certificate_.parts[i].values, alone.certificate_.values, rtol=1e-6, atol=1e-13)
    assert model.certificate_.certified and model.certificate_.sizes == sizes
    assert str(model.certificate_).startswith("Part 1 (64 rows): 2 components certified")
    assert np.array_equal(model.transform(X), model.embedding_)


def test_parts_too_small_to_be_embedded_are_named():
    X = apart((36, 4), d=5)
    with pytest.raises(ValueError, match="The smallest of 2 parts has 4 rows, too few for n_components=4"):
        LocallyLinearEmbedding(n_neighbors=3, n_components=4, on_disconnected="separate").fit(X)


def bridged():
    """Two groups whose rows look at nobody else, and some between them who look at both, and at whom nobody looks."""
    rng = np.random.default_rng(0)
    groups = [0.1 * rng.normal(size=(15, 2)) + [x, 0.0] for x in (-3.0, 3.0)]
    return np.concatenate([*groups, [[0.0, 0.0]]])


@pytest.mark.filterwarnings("ignore:Column 0 has 99.9% of the summed variance")
def test_groups_that_nobody_leaves_are_told_though_the_graph_hangs_together():
    X = bridged()
    near = naive.nearest(naive.exact_distances(X), 6)
    near_middle = set(near[30])
    assert near_middle & set(range(15)) or near_middle & set(range(15, 30))
    X[:15, 0] -= X[near[30], 0].mean()  # as many on one side as on the other
    X[30, 0] = (X[:15, 0].max() + X[15:30, 0].min()) / 2
    near = naive.nearest(naive.exact_distances(X), 6)
    assert set(near[30]) & set(range(15)) and set(near[30]) & set(range(15, 30)) and 30 not in near[:30]
    M = naive.alignment(X, near, "standard", 1)
    assert np.linalg.eigvalsh(M)[1] < 1e-13 < np.linalg.eigvalsh(M)[2]  # the null space has dimension two
    with pytest.warns(MercerWarning, match=r"2 groups of rows \(15 and 15 rows\) have all their 6 nearest neighbours"):
        model = LocallyLinearEmbedding(n_neighbors=6, n_components=1).fit(X)
    assert model.n_parts_ == 1 and model.certificate_.n_zero == 1
    with pytest.raises(ValueError, match="2 groups of rows"):
        LocallyLinearEmbedding(n_neighbors=6, on_disconnected="raise").fit(X)


def test_warnings_point_at_the_line_of_the_user():
    with pytest.warns(MercerWarning) as told:
        LocallyLinearEmbedding(n_neighbors=8).fit(apart())
    assert {one.filename for one in told} == {__file__}


def test_nothing_is_said_about_ordinary_data():
    X, _ = roll(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in METHODS:
            model = LocallyLinearEmbedding(**neighbours_of(method)).fit(X)
            model.transform(X[:20] + 0.01)
            assert model.n_parts_ == 1 and not model.part_labels_.any()


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_rows_that_nobody_looks_at_are_held_all_the_same(method):
    """Neighbourhoods of these methods are made of neighbours only: who is nobody's can be anywhere at no cost."""
    X = cloud(50, 3)
    near = naive.nearest(naive.exact_distances(X), 8)
    lonely = np.setdiff1d(np.arange(50), near)
    assert len(lonely) == 1 and not M_of(Points.of(X), near, method, 2)[lonely].any()
    near[lonely, -1] = lonely  # so it is put among its own
    model = LocallyLinearEmbedding(n_neighbors=8, method=method).fit(X)
    M = M_of(Points.of(X), near, method, 2)
    assert M[lonely, lonely] > 0.01
    assert_same_places(model.embedding_, naive.bottom(M, 2)[1], atol=1e-6)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_what_was_not_kept_is_only_said_to_be_as_good_if_it_is(method):
    """On a plane two eigenvalues are zero and the third is not: a rotation among the two is all that is free."""
    X, _ = flat(150)
    with pytest.warns(MercerWarning, match="what they span is determined, but any rotation among them") as told:
        model = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    assert model.certificate_.bound_beyond > 1e3 * model.certificate_.rounding
    assert not any("that were not kept" in str(one.message) for one in told)


# ---------------------------------------------------------------------------- equal rows


def test_few_equal_rows_are_rows_like_others():
    X = cloud(80, 4)
    X[[10, 30]] = X[[11, 31]]
    model = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    assert_same_places(model.embedding_, textbook.lle_embedding(textbook.lle_weight_matrix(X, 8), 2), atol=1e-4)


def test_rows_have_their_own_places_though_another_row_is_equal():
    X = cloud(80, 4)
    X[[10, 30]] = X[[11, 31]]
    model = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    expected = model.embedding_.copy()
    expected[[11, 31]] = expected[[10, 30]]  # what is given twice has two places, and new rows get the first
    assert np.array_equal(model.transform(X), expected)


@every_method
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_whole_neighbourhoods_of_equal_rows_are_taken_for_one(method, hold):
    X = sheet(64, 4)
    order = np.random.default_rng(0).permutation(64 + 30)
    which = np.append(np.arange(64), np.repeat([3, 8, 20], 10))[order]
    params = dict(n_neighbors=8, method=method)
    with pytest.warns(MercerWarning, match=r"33 of 94 rows have 8 neighbours that are all equal .* 64 distinct rows"):
        model = LocallyLinearEmbedding(**params).fit(hold(X[which]))
    assert_same_places(model.embedding_, LocallyLinearEmbedding(**params).fit_transform(X)[which], atol=1e-5)
    assert np.array_equal(model.embedding_[which == 3], np.tile(model.embedding_[which == 3][:1], (11, 1)))
    assert np.array_equal(model.transform(hold(X[which])), model.embedding_)
    assert model.part_labels_.shape == (94,) and model.residuals_.shape == (94,)


def test_equal_items_of_a_matrix_of_distances_are_taken_for_one():
    X = cloud(40, 4)
    which = np.append(np.arange(40), np.full(9, 5))
    D = naive.euclidean_distances(X)[np.ix_(which, which)]
    with pytest.warns(MercerWarning, match="10 of 49 rows have 6 neighbours that are all equal"):
        model = LocallyLinearEmbedding(n_neighbors=6, metric="precomputed").fit(D)
    assert_same_places(model.embedding_, LocallyLinearEmbedding(n_neighbors=6).fit_transform(X)[which], atol=1e-5)


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("value", [0.0, 1.0, 1e9])
def test_rows_that_are_all_the_same_have_no_structure(hold, value):
    X = hold(np.full((20, 3), value))
    for eigen_solver in ("auto", "dense"):
        with pytest.warns(MercerWarning, match="All 20 rows are the same"):
            model = LocallyLinearEmbedding(eigen_solver=eigen_solver).fit(X)
        assert not model.embedding_.any() and model.embedding_.shape == (20, 2)
        assert not model.transform(X).any() and model.reconstruction_error_ == 0
    with pytest.raises(ValueError, match="Error in determining null-space with ARPACK"):
        LocallyLinearEmbedding(eigen_solver="arpack").fit(X)


@every_method
@quiet
def test_three_distinct_rows_are_too_few(method):
    X = cloud(3, 4)[np.arange(30) % 3]
    with pytest.warns(MercerWarning, match="Only 3 of 30 rows are distinct, too few for n_neighbors=7"):
        model = LocallyLinearEmbedding(n_neighbors=7, method=method).fit(X)
    assert np.isfinite(model.embedding_).all()


# ---------------------------------------------------------------------------- new rows


@every_method
@pytest.mark.parametrize("columns", [3, 15])
def test_training_rows_get_their_own_places(method, columns):
    X = sheet(100, columns)
    model = LocallyLinearEmbedding(n_neighbors=9, method=method)
    Y = model.fit_transform(X)
    assert np.array_equal(model.transform(X), Y) and np.array_equal(Y, model.embedding_)
    mixed = np.random.default_rng(0).permutation(100)
    assert np.array_equal(model.transform(X[mixed]), Y[mixed])


@pytest.mark.parametrize("columns", [3, 15])
@quiet
def test_new_rows_go_where_the_lectures_put_them(columns):
    X, new = cloud(70, columns), cloud(30, columns, 1)
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    placed = model.place(new)
    expected = np.array([textbook.lle_new_point(x, X, model.embedding_, 9) for x in new])
    assert_allclose(placed.embedding, expected, atol=1e-10)
    assert_allclose(model.transform(new), expected, atol=1e-10)
    one_by_one = np.concatenate([model.transform(x[None]) for x in new])
    assert_allclose(one_by_one, expected, atol=1e-10)
    D = np.linalg.norm(new[:, None] - X, axis=2)
    assert_allclose(placed.nearest, D.min(axis=1))
    reach = np.sort(naive.euclidean_distances(X), axis=1)[:, 9]
    around = np.argsort(D, axis=1)[:, :9]
    assert np.array_equal(placed.far, D.min(axis=1) > 1.25 * reach[around].max(axis=1))
    for x, residual in zip(new, placed.residuals, strict=True):
        near = textbook.nearest_neighbours(x, X, 9)
        assert_allclose(residual, np.linalg.norm(x - textbook.lle_weights(x, X[near]) @ X[near]), rtol=1e-6, atol=1e-9)


def test_new_rows_are_placed_as_by_scikit_learn():
    X, _ = roll(250)
    new = X[::5] + 0.05
    model = LocallyLinearEmbedding(n_neighbors=10).fit(X)
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=10, eigen_solver="dense").fit(X)
    assert_same_places(model.transform(new), theirs.transform(new), atol=1e-4)


@pytest.mark.parametrize(
    ("params", "hold"),
    [
        (dict(metric=Linear()), np.asarray),
        (dict(), sparse.csr_array),
        (dict(metric="cosine"), np.asarray),
        (dict(metric=RBF(gamma=0.05)), np.asarray),
    ],
    ids=["linear kernel", "sparse", "cosine", "rbf"],
)
@quiet
def test_new_rows_in_other_spaces(params, hold):
    X, new = cloud(60, 4), cloud(10, 4, 1)
    model = LocallyLinearEmbedding(n_neighbors=8, **params).fit(hold(X))
    assert_allclose(model.transform(hold(X)), model.embedding_, atol=1e-12)
    if params.get("metric") == "cosine":
        X, new = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, new))
    if not isinstance(params.get("metric"), RBF):
        expected = np.array([textbook.lle_new_point(x, X, model.embedding_, 8) for x in new])
        assert_allclose(model.transform(hold(new)), expected, atol=1e-6)


def test_new_items_by_their_distances():
    X, new = cloud(60, 4), cloud(10, 4, 1)
    model = LocallyLinearEmbedding(n_neighbors=8, metric="precomputed").fit(naive.euclidean_distances(X))
    expected = np.array([textbook.lle_new_point(x, X, model.embedding_, 8) for x in new])
    placed = model.place(np.linalg.norm(new[:, None] - X, axis=2))
    assert_allclose(placed.embedding, expected, atol=1e-7)
    assert np.array_equal(model.transform(naive.euclidean_distances(X)), model.embedding_)


def test_sparse_new_rows_for_dense_training_rows_and_the_other_way_round():
    X, new = cloud(60, 4), cloud(60, 4) + 0.01
    dense, thin = (
        LocallyLinearEmbedding(n_neighbors=8).fit(X),
        LocallyLinearEmbedding(n_neighbors=8).fit(sparse.csr_array(X)),
    )
    assert_allclose(thin.transform(new), thin.transform(sparse.csr_array(new)), atol=1e-9)
    assert_allclose(dense.transform(sparse.csr_array(new)), dense.transform(new), atol=1e-9)


def test_far_rows_are_told():
    X = cloud(70, 3)
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    new = np.concatenate([X[:3] + 0.01, [[100.0, 0, 0], [0, 5000.0, 0]]])
    with pytest.warns(MercerWarning, match=r"2 of 5 rows are farther .*row index 4 is 5e\+03 away"):
        Y = model.transform(new)
    assert np.isfinite(Y).all()
    assert np.array_equal(model.place(new).far, [False, False, False, True, True])


@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("size", [1e15, 1e60, 1e200])
def test_absurdly_far_rows_are_told_too(columns, size):
    """Either placed as a guess, with a warning, or refused in words; no crash, and no warning of numpy's."""
    model = LocallyLinearEmbedding(n_neighbors=9).fit(cloud(70, columns))
    with pytest.warns(MercerWarning, match="1 of 2 rows are farther"):
        Y = model.transform(np.array([np.full(columns, size), np.zeros(columns)]))
    assert np.isfinite(Y).all()


def test_single_precision_stays_single():
    X = cloud(70, 4).astype(np.float32)
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    assert model.embedding_.dtype == model.transform(X).dtype == model.place(X).embedding.dtype == np.float32
    assert np.array_equal(model.transform(X), model.embedding_)
    double = LocallyLinearEmbedding(n_neighbors=9).fit(X.astype(float))
    assert double.embedding_.dtype == np.float64
    assert_same_places(model.embedding_.astype(float), double.embedding_, atol=1e-5)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (np.zeros((2, 5)), "X has 5 features, but LocallyLinearEmbedding is expecting 4 features"),
        (np.full((2, 4), np.nan), "NaN"),
        (np.array([[1.0, np.inf, 0, 0]]), "infinity"),
        (np.zeros(4), "1D array|Expected 2D"),
        (np.empty((0, 4)), "0 sample"),
        ([["a", "b", "c", "d"]], "holds text"),
    ],
    ids=["columns", "nan", "inf", "one-dimensional", "no rows", "text"],
)
def test_bad_new_rows_get_one_clear_sentence(new, message):
    model = LocallyLinearEmbedding(n_neighbors=9).fit(cloud(70, 4))
    for use in (model.transform, model.place):
        with pytest.raises(ValueError, match=message):
            use(new)


def test_an_unfitted_model_says_so():
    for use in ("transform", "place"):
        with pytest.raises(NotFittedError):
            getattr(LocallyLinearEmbedding(), use)(cloud(5, 3))
    with pytest.raises(NotFittedError):
        _ = LocallyLinearEmbedding().residuals_


@quiet
def test_training_rows_may_be_changed_afterwards():
    for params, hold in [({}, np.asarray), (dict(metric=Linear()), np.asarray), ({}, sparse.csr_array)]:
        X = hold(cloud(50, 3))
        model = LocallyLinearEmbedding(n_neighbors=7, **params).fit(X)
        expected = model.transform(cloud(50, 3))
        X *= 0
        assert_allclose(model.transform(cloud(50, 3)), expected, atol=1e-9)


def test_distances_to_equal_items_that_were_taken_for_one_are_not_looked_at():
    X = cloud(120, 3)
    X = np.concatenate([X, np.repeat(X[:4], 12, axis=0)])
    D = naive.euclidean_distances(X)
    model = LocallyLinearEmbedding(n_neighbors=6, metric="precomputed")
    with pytest.warns(MercerWarning, match="The 120 distinct rows were embedded"):
        model.fit(D)
    assert np.array_equal(model.transform(D), model.embedding_)
    new = cloud(7, 3, 5)
    with pytest.warns(MercerWarning, match="distinct rows"):
        expected = LocallyLinearEmbedding(n_neighbors=6).fit(X).place(new)
    placed = model.place(np.linalg.norm(new[:, None] - X, axis=2))
    assert_same_places(placed.embedding, expected.embedding, atol=1e-6)


def test_a_model_of_sparse_rows_takes_files_too(tmp_path):
    X, new = cloud(90, 4), cloud(20, 4, 1)
    np.save(tmp_path / "new.npy", new)
    model = LocallyLinearEmbedding(n_neighbors=8).fit(sparse.csr_array(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        assert_allclose(model.transform(tmp_path / "new.npy"), model.transform(new), atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_parts_that_were_embedded_apart_are_not_mixed_afterwards(metric):
    """A new row in the middle of two squares goes to one of them, and looks at no row of the other."""
    u = np.random.default_rng(0).uniform(size=(200, 2))
    X = np.concatenate([u[:100], u[100:] + np.array([2.5, 0])])
    new = np.array([[1.7, 0.5], [0.4, 0.4], [2.9, 0.6], [1.8, 0.2]])
    given, asked = X, new
    if metric == "precomputed":
        given, asked = naive.euclidean_distances(X), np.linalg.norm(new[:, None] - X, axis=2)
    with pytest.warns(MercerWarning, match="Each was embedded on its own"):
        model = LocallyLinearEmbedding(n_neighbors=8, on_disconnected="separate", metric=metric).fit(given)
    placed = model.place(asked)
    for x, z in zip(new, placed.embedding, strict=True):
        part = model.part_labels_ == model.part_labels_[np.linalg.norm(X - x, axis=1).argmin()]
        assert_allclose(z, textbook.lle_new_point(x, X[part], model.embedding_[part], 8), atol=1e-7)
    with pytest.warns(MercerWarning, match="Each was embedded"):
        assert np.array_equal(clone(model).fit(given).transform(given), model.embedding_)


def test_far_rows_of_a_file_are_told_once_with_their_numbers(tmp_path):
    X = cloud(70, 3)
    new = np.tile(X, (300, 1))
    new[20_000] += 1e4
    np.save(tmp_path / "new.npy", new)
    with pytest.warns(MercerWarning) as told:
        LocallyLinearEmbedding(n_neighbors=9).fit(X).transform(tmp_path / "new.npy")
    assert (
        len(told) == 1 and "1 of 21,000 rows" in str(told[0].message) and "row index 20000 is" in str(told[0].message)
    )


@quiet
def test_the_function_takes_the_metric_of_a_search():
    X = cloud(80, 3)
    expected = locally_linear_embedding(X, n_neighbors=8, n_components=2)[0]
    search = NearestNeighbors(metric="precomputed").fit(naive.euclidean_distances(X))
    assert_same_places(locally_linear_embedding(search, n_neighbors=8, n_components=2)[0], expected, atol=1e-6)
    by_angle = locally_linear_embedding(NearestNeighbors(metric="cosine").fit(X), n_neighbors=8, n_components=2)[0]
    assert_same_places(by_angle, locally_linear_embedding(X, n_neighbors=8, n_components=2, metric="cosine")[0])
    with pytest.raises(ValueError, match="metric='manhattan' is not supported"):
        locally_linear_embedding(NearestNeighbors(metric="manhattan").fit(X), n_neighbors=8, n_components=2)


def test_kernels_that_are_none_are_told():
    with pytest.warns(MercerWarning, match="is not positive semi-definite"):
        model = LocallyLinearEmbedding(n_neighbors=8, metric=Sigmoid(gamma=1.0, coef0=-1.0)).fit(cloud(80, 3) / 3)
    assert np.array_equal(model.transform(cloud(80, 3) / 3), model.embedding_)


@quiet
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_parallel_rows_are_equal_to_the_cosine(hold):
    X = np.abs(cloud(40, 3)) + 0.1
    many = np.concatenate([X, *(X[:3] * scale for scale in np.linspace(0.1, 7.3, 11))])
    with pytest.warns(MercerWarning, match="The 40 distinct rows were embedded"):
        model = LocallyLinearEmbedding(n_neighbors=6, metric="cosine").fit(hold(many))
    assert np.array_equal(model.embedding_[40:43], model.embedding_[:3])


def test_distances_that_are_not_symmetric_are_told():
    D = naive.euclidean_distances(cloud(40))
    D[3, 17] += 0.25
    with pytest.warns(MercerWarning, match=r"not symmetric, by up to 0\.25"):
        LocallyLinearEmbedding(metric="precomputed", n_neighbors=7).fit(D)


def test_negative_new_distances_are_refused():
    D = naive.euclidean_distances(cloud(30))
    model = LocallyLinearEmbedding(metric="precomputed", n_neighbors=7).fit(D)
    with pytest.raises(ValueError, match="distances cannot be negative"):
        model.transform(-D)


def test_a_file_that_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", np.zeros((3000, 1000)))
    monkeypatch.setattr("mercer.sources.items.Rows.load", lambda *_: pytest.fail("it was read"))
    with pytest.raises(NoRoom, match="over the limit of 20 MB"):
        LocallyLinearEmbedding(memory_limit="20MB").fit(tmp_path / "rows.npy")


def test_the_last_stage_is_reported_too():
    shares = []
    LocallyLinearEmbedding(n_neighbors=12, progress=lambda state: shares.append(state.share)).fit(roll(500)[0])
    assert shares[-1] == 1.0 and shares == sorted(shares)


# ---------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        (dict(n_neighbors=20), cloud(20), "Expected n_neighbors < n_samples, but n_samples = 20, n_neighbors = 20"),
        (dict(n_neighbors=3, n_components=5), cloud(5, 6), "n_components=5 must be less than n_samples=5"),
        (dict(n_components=4), cloud(20), "output dimension must be less than or equal to input dimension"),
        (
            dict(method="hessian", n_neighbors=5),
            cloud(20),
            r"n_neighbors must be greater than .*: n_neighbors=5, and 5",
        ),
        (dict(method="modified", n_neighbors=1), cloud(20), "modified LLE requires n_neighbors >= n_components"),
        (dict(method="ltsa", n_neighbors=2), cloud(20), "for method='ltsa', n_neighbors=2 must be greater than"),
        (dict(method="ltsa", n_neighbors=3), cloud(20), "for method='ltsa', n_neighbors=3 must be greater than"),
        ({}, np.full((20, 3), np.nan), "NaN"),
        ({}, np.where(np.eye(20, 3) > 0, np.inf, 1.0), "infinity"),
        ({}, np.array([["a"] * 3] * 20), "holds text"),
        ({}, cloud(20) * 1j, "Complex data not supported"),
        ({}, np.empty((0, 3)), "0 sample"),
        ({}, np.empty((20, 0)), "0 feature"),
        ({}, np.ones(20), "1D array|Expected 2D"),
        ({}, "rows.npy", "X is a text"),
        (dict(metric="precomputed"), cloud(20), "must be a square matrix. Input is a 20x3 matrix"),
        (dict(metric="precomputed"), -np.ones((20, 20)), "Negative values in data"),
        (dict(metric="precomputed"), sparse.eye_array(20, format="csr"), "Sparse distances are not supported"),
        (dict(metric="manhattan"), cloud(20), "metric"),
        (dict(method="isomap"), cloud(20), "method"),
        (dict(n_neighbors=0), cloud(20), "n_neighbors"),
        (dict(n_components=0), cloud(20), "n_components"),
        (dict(reg=-1.0), cloud(20), "reg"),
        (dict(on_disconnected="ignore"), cloud(20), "on_disconnected"),
        (dict(memory_limit="much"), cloud(20), "is not a size"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_what_cannot_be_is_refused_in_one_clear_sentence(params, X, message):
    with pytest.raises(ValueError, match=message):
        LocallyLinearEmbedding(**params).fit(X)


def test_a_fit_that_does_not_fit_is_refused_at_once_with_a_number_of_rows_that_does(monkeypatch):
    def never(*_):
        raise AssertionError("work was done")

    X, _ = roll(6000)
    for limit in ("35MB", "30MB", "20MB"):
        model = LocallyLinearEmbedding(n_neighbors=12, memory_limit=limit)
        with monkeypatch.context() as patch:
            patch.setattr("mercer.models.local_model.find_neighborhoods", never)
            with pytest.raises(NoRoom, match=r"over the limit of .* rows would fit") as refused:
                model.fit(X)
        rows = int(str(refused.value).split("About ")[1].split()[0].replace(",", ""))
        assert rows < 6000
        assert (
            model.plan(X[np.sort(np.random.default_rng(0).permutation(6000)[:rows])]).memory <= model._limits().memory
        )


def test_a_limit_below_what_any_fit_takes_promises_no_number_of_rows():
    model = LocallyLinearEmbedding(memory_limit="10MB")
    with pytest.raises(NoRoom) as refused:
        model.fit(cloud(5000))
    with pytest.raises(NoRoom, match="10 MB"):
        model.plan(cloud(40))  # not even so few
    assert "rows would fit" not in str(refused.value)


def test_overflowing_kernels_are_told():
    with np.errstate(all="ignore"), pytest.raises(BadData, match="not finite: an overflow"):
        LocallyLinearEmbedding(metric=Linear()).fit(cloud(20) * 1e200)


def test_weights_of_rows_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no weights of rows; leave out sample_weight"):
        LocallyLinearEmbedding().fit_transform_to(cloud(20), tmp_path / "y.npy", sample_weight=np.ones(20))


def test_a_fit_that_failed_leaves_a_fitted_model_as_it_was_or_unfitted():
    model = LocallyLinearEmbedding(n_neighbors=7)
    X = cloud(40)
    expected = model.fit(X).transform(X)
    model.set_params(on_disconnected="raise")
    with pytest.raises(ValueError, match="falls apart"):
        model.fit(apart().astype(np.float32))
    again = model.transform(X)
    assert again.dtype == expected.dtype and np.array_equal(again, expected)


# ---------------------------------------------------------------------------- rows from anywhere


@pytest.mark.parametrize("kind", [".npy", ".csv", ".parquet", ".feather"])
def test_rows_of_a_file_are_rows(tmp_path, kind):
    X, _ = roll(350)
    path = write_file(kind, tmp_path, X)
    expected = LocallyLinearEmbedding(n_neighbors=12).fit(X)
    for given_X in (path, mercer.open_rows(path)):
        model = LocallyLinearEmbedding(n_neighbors=12).fit(given_X)
        assert_same_places(model.embedding_, expected.embedding_, atol=1e-9)
        assert np.array_equal(model.transform(path), model.embedding_)
        assert np.array_equal(model.place(path).embedding, model.embedding_)
        out = model.transform_to(path, tmp_path / "places.npy")
        assert np.array_equal(np.load(out), model.embedding_)
    fitted = LocallyLinearEmbedding(n_neighbors=12).fit_transform_to(path, tmp_path / "fitted.npy")
    assert_same_places(np.load(fitted), expected.embedding_, atol=1e-9)
    assert LocallyLinearEmbedding(n_neighbors=12).plan(path).memory > 0


def test_tables_give_tables_if_asked_for():
    X = cloud(50, 3)
    names = ["locallylinearembedding0", "locallylinearembedding1"]
    frame = pandas.DataFrame(X, columns=list("abc"), index=np.arange(50) + 100)
    model = LocallyLinearEmbedding(n_neighbors=7).set_output(transform="pandas").fit(frame)
    assert list(model.get_feature_names_out()) == names and list(model.feature_names_in_) == list("abc")
    for out in (model.transform(frame), model.fit_transform(frame)):
        assert list(out.columns) == names and list(out.index) == list(frame.index)
        assert np.array_equal(out.to_numpy(), model.embedding_)
    out = LocallyLinearEmbedding(n_neighbors=7).set_output(transform="polars").fit_transform(polars.from_pandas(frame))
    assert isinstance(out, polars.DataFrame) and out.columns == names
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["b", "a", "c"]])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, bool])
@quiet
def test_numbers_of_every_kind_are_numbers(dtype):
    X = (np.random.default_rng(0).integers(-128, 128, size=(60, 4)) if dtype is not bool else cloud(60, 8) > 0).astype(
        dtype
    )
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    expected = LocallyLinearEmbedding(n_neighbors=9).fit(X.astype(float))
    assert model.embedding_.dtype == np.float64
    assert_allclose(model.embedding_, expected.embedding_, atol=1e-12)


# ---------------------------------------------------------------------------- manners


def test_the_function_is_the_class():
    X = cloud(60, 3)
    model = LocallyLinearEmbedding(n_neighbors=7, method="modified", reg=1e-2).fit(X)
    for given_X in (X, NearestNeighbors(n_neighbors=7).fit(X)):
        Y, error = locally_linear_embedding(given_X, n_neighbors=7, n_components=2, method="modified", reg=1e-2)
        assert np.array_equal(Y, model.embedding_) and error == model.reconstruction_error_
    assert locally_linear_embedding(X, n_neighbors=7, n_components=1, metric="cosine")[0].shape == (60, 1)


def test_parameters_and_defaults_are_those_of_scikit_learn():
    ours, theirs = LocallyLinearEmbedding().get_params(), manifold.LocallyLinearEmbedding().get_params()
    assert {name: ours[name] for name in theirs} == theirs


def test_models_can_be_copied_kept_and_set():
    X, new = cloud(60, 3), cloud(5, 3, 1) / 10
    model = LocallyLinearEmbedding(n_neighbors=7, metric=RBF(gamma=0.1)).fit(X)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(copy.transform(new), model.transform(new))
    assert copy.certificate_ == model.certificate_ and np.array_equal(copy.residuals_, model.residuals_)
    fresh = clone(model)
    assert not hasattr(fresh, "embedding_") and fresh.get_params() == model.get_params()
    assert np.array_equal(fresh.fit(X).embedding_, model.embedding_)
    model.set_params(n_neighbors=9, metric="euclidean").fit(X)
    assert_same_places(model.embedding_, LocallyLinearEmbedding(n_neighbors=9).fit_transform(X))
    assert model.nbrs_.kneighbors(X, return_distance=False).shape == (60, 9)


def test_a_second_fit_forgets_the_first():
    model = LocallyLinearEmbedding(n_neighbors=7, on_disconnected="separate")
    silently(lambda: model.fit(apart()))
    model.fit(cloud(40, 5).astype(np.float32))
    assert model.n_parts_ == 1 and model.embedding_.shape == (40, 2) and model.n_features_in_ == 5


def test_rows_are_left_alone():
    for X in (cloud(50, 3), cloud(50, 12), sparse.csr_array(cloud(50, 3)), naive.euclidean_distances(cloud(50, 3))):
        before = X.copy()
        metric = "precomputed" if X.shape[0] == X.shape[1] else "euclidean"
        model = LocallyLinearEmbedding(n_neighbors=7, metric=metric).fit(X)
        model.transform(X)
        model.plan(X)
        assert abs(X - before).max() == 0


def test_what_fit_gave_away_is_not_what_the_model_keeps():
    X = cloud(50, 3)
    model = LocallyLinearEmbedding(n_neighbors=7)
    Y = model.fit_transform(X)
    expected = model.transform(X)
    Y[:] = 0
    assert np.array_equal(model.transform(X), expected)


def test_progress_is_reported_and_may_stop_the_fit():
    X, _ = roll(500)
    seen = []
    LocallyLinearEmbedding(n_neighbors=12, progress=seen.append).fit(X)
    shares = [state.share for state in seen]
    assert len(shares) > 1 and shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1

    def stop(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocallyLinearEmbedding(n_neighbors=12, progress=stop).fit(X)


def test_plans_say_what_fits_do_and_leave_a_fitted_model_alone():
    X, _ = roll(500)
    model = LocallyLinearEmbedding(n_neighbors=12).fit(X[:100])
    before = model.embedding_
    plan = model.plan(X)
    assert model.embedding_ is before and model.n_features_in_ == 3
    assert plan.why == model.fit(X).plan_.why and plan.solver == model.plan_.solver
    assert LocallyLinearEmbedding(n_neighbors=12).plan(X[:200]).why == "200 rows are few: LAPACK."
    for eigen_solver, factor in (("arpack", "sparse"), ("dense", "dense")):
        plan = LocallyLinearEmbedding(n_neighbors=12, eigen_solver=eigen_solver).plan(X)
        assert plan.solver.factor == factor and f'eigen_solver="{eigen_solver}" was asked for' in plan.why


@pytest.mark.slow
@every_method
def test_the_swiss_roll_of_many_points_is_unrolled(method):
    X, t = roll(10_000)
    model = LocallyLinearEmbedding(**neighbours_of(method)).fit(X)
    assert model.certificate_.certified and abs(spearmanr(model.embedding_[:, 0], t)[0]) >= 0.99


MEMORY = """
from pathlib import Path
import numpy as np
from sklearn.datasets import make_swiss_roll
from mercer import LocallyLinearEmbedding
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
X = {X}
LocallyLinearEmbedding(n_neighbors=12, n_jobs=2).fit(X[:400])
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
model = LocallyLinearEmbedding(n_neighbors=12, n_jobs=2, method={method!r}).fit(X)
print(status("VmHWM") - before, model.plan_.memory)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("X", "method", "most"),
    [
        ("make_swiss_roll(100_000, random_state=0)[0]", "standard", 1.5e9),
        ("make_swiss_roll(50_000, random_state=0)[0]", "modified", 0.75e9),
        ("np.random.default_rng(0).uniform(size=(6000, 6))", "standard", 1e9),
        ("np.random.default_rng(0).normal(size=(6000, 2)) @ np.ones((2, 300))", "ltsa", 1e9),
    ],
)
def test_the_plan_knows_what_memory_a_fit_takes(X, method, most):
    code = MEMORY.format(X=X, method=method)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    peak, planned = map(int, done.stdout.split())
    assert peak <= most and abs(peak - planned) <= max(0.25 * peak, 64e6)


# ---------------------------------------------------------------------- ties


def test_ties_among_neighbours_are_counted():
    """Against all distances: of whole numbers, so that equal ones are equal."""
    X = load_digits(n_class=6).data
    squares = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    squares.sort(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        for k in (5, 30):
            assert (
                LocallyLinearEmbedding(n_neighbors=k).fit(X).n_ties_ == np.sum(squares[:, k - 1] == squares[:, k]) > 0
            )


def test_rows_without_ties_have_none():
    assert LocallyLinearEmbedding(n_neighbors=12, n_components=1).fit(spiral(300, 2)[0]).n_ties_ == 0


def test_a_grid_where_the_order_of_rows_decides_is_warned_of():
    """Inside a square grid a point has four nearest neighbours: with three of them, any is left out."""
    X = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    with pytest.warns(MercerWarning, match=r"\d+ of 144 rows have more than 3 equally near neighbours"):
        model = LocallyLinearEmbedding(n_neighbors=3, n_components=1).fit(X)
    assert model.n_ties_ == 100  # on the border a point has three or two at distance 1, and the next ones are alone
