"""Eigensolvers against matrices with known spectra; completeness against eigenvalues that were missed on purpose."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg
from sklearn.utils.validation import _check_psd_eigenvalues

from mercer.errors import DataError
from mercer.linalg import dense
from mercer.linalg.completeness import (
    N_PROBES,
    Probes,
    bound_by_norm,
    bound_by_start,
    deflate,
    exclude_missed,
    probe_outside,
    shortest_image,
)
from mercer.linalg.dense import Dense, leading_eigenpairs, leading_singular_pairs
from mercer.linalg.eigen import (
    Eigenpairs,
    apply_conventions,
    clean_eigenvalues,
    column_signs,
    remeasure,
    solve_fraction,
)
from mercer.linalg.krylov import BlockKrylov
from mercer.linalg.operators import MatrixOperator
from mercer.numerics.random_state import lazy_generator

N = 200
SPECTRA = {
    "algebraic": 1 / np.arange(1, N + 1),
    "slow": 1 / np.arange(1, N + 1) ** 0.3,
    "geometric": 0.8 ** np.arange(N),
    "steep": 10.0 ** -np.minimum(np.arange(N), 12),
    "pairs": np.repeat(1 / np.arange(1, N // 2 + 1), 2),
    "bulk": np.append(np.linspace(10, 3, 6), np.linspace(1, 0.1, N - 6)),
    "deficient": np.append(np.linspace(2, 1, 5), np.zeros(N - 5)),
    "indefinite": np.append(np.linspace(2, 1, 20), np.linspace(0.5, -1.5, N - 20)),
}
SOLVERS = [Dense(), BlockKrylov(1e-10), BlockKrylov(1e-10, 16), BlockKrylov(1e-10, 3)]


def matrix(values, seed=0):
    """A symmetric matrix with these eigenvalues, and its eigenvectors."""
    values = np.sort(values)[::-1]
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return MatrixOperator((A + A.T) / 2), Q


def solve(solver, A, k, seed=0):
    return solver.solve(A, k, lazy_generator(seed))


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_leading_eigenpairs_are_found_and_measured(spectrum, solver):
    A, _ = matrix(SPECTRA[spectrum])
    pairs = solve(solver, A, 4)
    true = np.linalg.eigvalsh(A.matrix)[::-1]
    assert pairs.converged
    assert_allclose(pairs.values, true[:4], rtol=1e-12, atol=1e-14)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-13)
    assert_allclose(pairs.products, A.matrix @ pairs.vectors, atol=1e-14 * true[0] * np.sqrt(pairs.n_combined) * 10)
    measured = np.linalg.norm(A.matrix @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert_allclose(pairs.residuals, measured, rtol=0.1, atol=1e-13 * true[0])
    assert pairs.norm >= true[0] * (1 - 1e-9)


@pytest.mark.parametrize("k", [1, 7, 50, 199, 200])
def test_block_lanczos_finds_any_number(k):
    A, _ = matrix(SPECTRA["algebraic"])
    pairs = solve(BlockKrylov(1e-9), A, k)
    assert pairs.converged and len(pairs.values) == k
    assert_allclose(pairs.values, SPECTRA["algebraic"][:k], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("unit", [1e-14, 1e-20])
def test_tiny_eigenvalues_meet_the_tolerance_too(unit):
    """ARPACK's tolerance is absolute for them."""
    A, _ = matrix(unit * SPECTRA["geometric"])
    pairs = solve(BlockKrylov(1e-9), A, 10)
    assert pairs.converged and np.all(pairs.residuals <= 1e-9 * pairs.values)


def test_a_limit_of_passes_returns_what_there_is():
    A, _ = matrix(SPECTRA["slow"])
    pairs = solve(BlockKrylov(1e-10, 8, max_passes=4), A, 10)
    assert not pairs.converged and pairs.n_passes <= 4 and len(pairs.values) == 10
    assert np.all(pairs.values <= SPECTRA["slow"][:10] + 1e-12)  # Ritz values


def test_restarts_do_not_lose_what_was_found():
    values = np.append(np.linspace(1.02, 1.0, 40), np.linspace(0.99, 0.5, 1460))
    A, _ = matrix(values)
    solver = BlockKrylov(1e-7, 4)
    pairs = solve(solver, A, 2)
    assert pairs.n_passes * 4 > solver._most_columns(A.n, 2)  # so there were some
    assert_allclose(pairs.values, np.sort(values)[::-1][:2], rtol=1e-10)


# ---------------------------------------------------------------------- LAPACK


def test_pairs_that_lapack_leaves_out_without_an_error_are_noticed(monkeypatch):
    A, _ = matrix(SPECTRA["pairs"])
    some = dense._some
    monkeypatch.setattr(dense, "_some", lambda A, k: tuple(part[..., 1:] for part in some(A, k)))
    assert_allclose(leading_eigenpairs(A.matrix, 5).values, SPECTRA["pairs"][:5], rtol=1e-12)


def test_a_failing_svd_is_repeated_by_the_slower_driver(monkeypatch):
    X, drivers, svd = np.random.default_rng(0).normal(size=(9, 4)), [], linalg.svd

    def fails(X, lapack_driver="gesdd", **options):
        drivers.append(lapack_driver)
        if lapack_driver == "gesdd":
            raise linalg.LinAlgError
        return svd(X, lapack_driver=lapack_driver, **options)

    monkeypatch.setattr(dense.linalg, "svd", fails)
    assert_allclose(leading_singular_pairs(X, 2).values, svd(X)[1][:2], rtol=1e-14)
    assert drivers == ["gesdd", "gesvd"]


def test_singular_pairs_keep_small_values():
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(m, 4)))[0] for m in (30, 6))
    pairs = leading_singular_pairs((left * [1, 1e-4, 1e-8, 1e-12]) @ right.T, 4)
    assert_allclose(pairs.values, [1, 1e-4, 1e-8, 1e-12], rtol=1e-3, atol=1e-15)
    assert pairs.residuals.max() < 1e-14


def test_lowest_eigenvalue_of_an_indefinite_matrix_is_seen():
    A, _ = matrix(SPECTRA["indefinite"])
    assert solve(Dense(), A, 3).lowest < -1.0
    assert solve(Dense(), MatrixOperator(A.matrix, psd=True), 3).lowest == 0.0  # not looked for


# ---------------------------------------------------------------------- completeness


@pytest.mark.parametrize("block", [8, 16])
@pytest.mark.parametrize("spectrum", ["algebraic", "slow", "geometric", "bulk"])
def test_the_random_start_shows_that_nothing_was_missed(spectrum, block):
    values, established = SPECTRA[spectrum], 0
    for seed in range(10):
        A, _ = matrix(values, seed)
        for k in (1, 5, 12):
            pairs = solve(BlockKrylov(1e-8, block), A, k, seed)
            assert values[k] <= pairs.bound * (1 + 1e-12)
            established += pairs.bound < pairs.values[-1]
    assert established >= 25  # of 30


@pytest.mark.parametrize(("copies", "k"), [(10, 9), (8, 6), (3, 2)])
def test_copies_of_an_eigenvalue_that_the_block_cannot_show_are_not_excluded(copies, k):
    """A Krylov space of eight columns has at most eight copies of an eigenvalue."""
    values = np.append(np.full(copies, 2.0), 1 / np.arange(1, N + 1))
    for seed in range(5):
        pairs = solve(BlockKrylov(1e-8, 8), matrix(values, seed)[0], k, seed)
        assert pairs.bound >= np.sort(values)[::-1][k]


def test_rounding_of_products_may_take_what_residuals_leave():
    """Products of many sparse rows may be off by more than the residuals."""
    values = np.concatenate([np.linspace(1, 0.9, 20), 0.5 * np.arange(1, N - 19) ** -0.5])
    A, _ = matrix(values)

    class Rounded(MatrixOperator):
        product_error = 1e-8

    pairs = solve(BlockKrylov(1e-8, 16), Rounded(A.matrix, psd=True), 10)
    assert values[10] <= pairs.bound < pairs.values[-1]


def test_loose_pairs_do_not_establish_completeness():
    A, _ = matrix(SPECTRA["slow"])
    assert solve(BlockKrylov(0.5, 16, max_passes=2), A, 5).bound == np.inf


@pytest.mark.parametrize(("rows", "columns"), [(1, 6), (2, 6), (4, 8)])
def test_shortest_images_of_gaussian_matrices(rows, columns):
    rng, failure = np.random.default_rng(0), 0.05
    epsilon = shortest_image(rows, columns, failure)
    smallest = np.linalg.svd(rng.normal(size=(4000, rows, columns)), compute_uv=False)[:, -1]
    assert np.mean(smallest < epsilon) <= failure
    assert epsilon > shortest_image(rows, columns, failure / 100) > 0


@pytest.mark.parametrize("spectrum", ["algebraic", "geometric", "steep"])
@pytest.mark.parametrize("missing", [0, 2, 4])
def test_a_pair_that_was_removed_is_found_again(spectrum, missing):
    values = SPECTRA[spectrum]
    A, Q = matrix(values)
    kept = np.delete(np.arange(6), missing)
    pairs = Eigenpairs(values[kept], Q[:, kept], np.zeros(5), A.matrix @ Q[:, kept], norm=1.0)
    found, bound, _ = exclude_missed(BlockKrylov(1e-10), A, pairs, lazy_generator(0))
    assert_allclose(found.values, values[:5], rtol=1e-9)
    assert values[5] <= bound


def test_probes_bound_the_rest_and_see_part_of_it():
    for seed in range(30):
        A, Q = matrix(SPECTRA["algebraic"], seed)
        pairs = Eigenpairs(SPECTRA["algebraic"][:5], Q[:, :5], np.zeros(5), A.matrix @ Q[:, :5], norm=1.0)
        for U in (None, Q[:, :5]):
            probes = Probes(A, np.random.default_rng(seed), U)
            while probes.wanted:
                probes.add(A.matmat(probes.columns[-1]))
            found = probe_outside(pairs, probes, A.product_error)
            assert found.seen <= SPECTRA["algebraic"][5] * (1 + 1e-9)
            assert SPECTRA["algebraic"][5] <= found.bound <= 10 * SPECTRA["algebraic"][5]


def probed(A, columns):
    """Probes with these columns in place of random ones, and their powers."""
    probes = Probes(A, np.random.default_rng(0))
    probes.columns, probes.log_sizes = [columns], [0.0]
    while probes.wanted:
        probes.add(A.matmat(probes.columns[-1]))
    return probes


def test_probes_that_hardly_meet_the_largest_eigenvalue_leave_room_for_it():
    """Ten probes, all of which see a third of its vector: as happens once in a few hundred times."""
    n = 40
    A = MatrixOperator(np.diag(np.append([1.0], np.zeros(n - 1))))
    nothing = Eigenpairs(np.empty(0), np.empty((n, 0)), np.empty(0), np.empty((n, 0)), norm=1.0)
    columns = np.random.default_rng(0).normal(size=(n, N_PROBES))
    columns[0] = np.linspace(-1 / 3, 1 / 3, N_PROBES)
    assert 1 <= probe_outside(nothing, probed(A, columns), A.product_error).bound <= 4


def test_residuals_of_the_pairs_hide_what_the_probes_saw():
    """A probe ω = u + x with Bx = −R: the powers that follow from R vanish, although B does not."""
    values = np.array([3.0, 1.0, 0.9, 0.8, 0.7, 0.6])
    A, Q = matrix(values)
    u = Q @ np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    u = (u / np.linalg.norm(u))[:, None]
    product, P = A.matmat(u), np.eye(6) - u @ u.T
    theta = float((u.T @ product)[0, 0])
    B, R = P @ A.matrix @ P, product - theta * u
    omega = u - np.linalg.pinv(B, rcond=1e-10) @ R
    pairs = Eigenpairs(np.array([theta]), u, np.linalg.norm(R, axis=0), product, norm=3.0)
    found = probe_outside(pairs, probed(A, np.repeat(omega, N_PROBES, axis=1)), A.product_error)
    assert found.bound >= np.linalg.norm(B, 2)


def test_the_sum_of_all_squares_bounds_the_rest():
    values = np.append([1.0, 0.5, 1e-3], np.zeros(N - 3))
    A, Q = matrix(values)
    pairs = Eigenpairs(values[:2], Q[:, :2], np.zeros(2), A.matrix @ Q[:, :2], norm=1.0)
    assert 1e-3 <= bound_by_norm(A, pairs) <= 1.001e-3


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.1, 1.0])
@pytest.mark.parametrize("spectrum", [[3.0, 2.0, 1.0, 0.5, 0.1], [3.0, 2.9, 1.0, 0.0, -1.5]])
def test_the_sum_of_all_squares_bounds_the_rest_of_pairs_of_any_quality(spectrum, size):
    A, Q = matrix(np.array(spectrum))
    for seed in range(20):
        U = np.linalg.qr(Q[:, :2] + size * np.random.default_rng(seed).normal(size=(5, 2)))[0]
        theta, Y = np.linalg.eigh(U.T @ A.matrix @ U)
        U, theta = U @ Y[:, ::-1], theta[::-1]
        pairs = Eigenpairs.measured(theta, U, A.matrix @ U, 2, norm=3.0)
        rest = np.linalg.norm(deflate(deflate(A.matrix, U).T, U), 2)
        bound = bound_by_norm(A, pairs)
        assert theta[-1] < 0 or max(*np.abs(spectrum[2:]), rest) <= bound * (1 + 1e-12)


def test_a_vector_that_the_start_hardly_shows_is_not_excluded():
    """The start contains the first vector, and 0.03 of the second: its Ritz value is 1e-5, and its eigenvalue 0.9."""
    start = np.zeros((30, 8))
    start[0, 0] = 3.0
    start[1, 1:] = 0.03 / np.sqrt(7)
    start[2:, 1:] = np.random.default_rng(0).normal(size=(28, 7))
    A = np.diag(np.append([1.0, 0.9], np.zeros(28)))
    Q = np.linalg.qr(start)[0]
    AQ = A @ Q
    H = Q.T @ AQ
    values, Y = np.linalg.eigh((H + H.T) / 2)
    assert values[-2] < 1e-3
    bound = bound_by_start(start, Q, AQ, H, (values[::-1], Y[:, ::-1]), 1, 1e-16)
    assert bound >= 0.9


@pytest.mark.parametrize("turn", [1e-3, 0.1, 0.5])
def test_the_bound_of_fewer_pairs_is_above_what_a_vector_missed(turn):
    """The second vector is turned from that of 2 to that of 1, so its Ritz value is below 2."""
    A = np.diag([3.0, 2.0, 1.0])
    U = np.array([[1.0, 0.0], [0.0, np.cos(turn)], [0.0, np.sin(turn)]])
    theta = np.array([3.0, 2 * np.cos(turn) ** 2 + np.sin(turn) ** 2])
    rest = np.array([0.0, -np.sin(turn), np.cos(turn)])
    pairs = Eigenpairs.measured(theta, U, A @ U, 2, norm=3.0, bound=float(rest @ A @ rest))
    assert pairs.first(1).bound >= 2.0 > theta[1]


def test_products_with_vectors_of_lapack_are_known_to_their_error():
    A = np.full((40, 40), 0.1) + np.diag(np.linspace(0.1, 0.7, 40))
    pairs = leading_eigenpairs(A, 3)
    exact = [[Fraction(float(a)) for a in row] for row in A]
    for i in range(3):
        u = [Fraction(float(x)) for x in pairs.vectors[:, i]]
        rows = [sum(a * x for a, x in zip(row, u, strict=True)) for row in exact]
        off = [float(Fraction(float(p)) - r) for p, r in zip(pairs.products[:, i], rows, strict=True)]
        assert 0 < np.linalg.norm(off) <= pairs.product_error


def test_fewer_pairs_inherit_a_weaker_bound():
    A, _ = matrix(SPECTRA["algebraic"])
    pairs = solve(BlockKrylov(1e-8, 16), A, 5)
    fewer = pairs.first(3)
    assert fewer.bound >= SPECTRA["algebraic"][3] > pairs.bound
    assert_allclose(fewer.next_values[:2], pairs.values[3:])
    assert pairs.first(9) is pairs


# ---------------------------------------------------------------------- fractions and conventions


@pytest.mark.parametrize("fraction", [0.3, 0.9])
def test_pairs_are_added_until_a_fraction_is_reached(fraction):
    values, sizes = 0.9 ** np.arange(800), []
    A, _ = matrix(values)
    pairs = solve_fraction(BlockKrylov(1e-8), A, fraction, lazy_generator(0), sizes.append)
    assert pairs.values.sum() > fraction * values.sum() and sizes[0] == 10
    assert all(later == 2 * earlier for earlier, later in pairwise(sizes))
    assert_allclose(pairs.values, values[: len(pairs.values)], rtol=1e-9)


def test_a_fraction_that_takes_too_many_pairs_ends_the_search():
    A, _ = matrix(SPECTRA["slow"])
    pairs = solve_fraction(BlockKrylov(1e-6), A, 0.9, lazy_generator(0), most=N // 10)
    assert pairs.values.sum() < 0.9 * A.trace and len(pairs.values) == N // 10
    assert solve_fraction(BlockKrylov(1e-6), A, 0.9, lazy_generator(0)).values.sum() > 0.9 * A.trace


def test_signs_make_the_largest_entry_positive():
    V = np.array([[0.1, -0.9], [-0.8, 0.2]])
    assert column_signs(V).tolist() == [-1, -1] and column_signs(np.empty((3, 0))).shape == (0,)
    pairs = Eigenpairs(np.array([1.0, 2.0]), V, np.zeros(2), V.copy())
    ordered = apply_conventions(pairs, floor=0.0)
    assert ordered.values.tolist() == [2, 1]
    assert_allclose(ordered.vectors, -V[:, ::-1])
    weighted = apply_conventions(pairs, floor=0.0, root=np.array([100.0, 1.0]))
    assert np.all(weighted.vectors[1] * [1, -1] < 0) or np.all(weighted.vectors[1] > 0)


@pytest.mark.parametrize("values", [[5.0, 1, 1e-14], [5.0, -1e-13], [2.0, -1.0], [-1.0, -2.0], [0.0, 0.0]])
def test_negative_eigenvalues_are_treated_as_in_scikit_learn(values):
    values = np.array(values)
    try:
        expected = _check_psd_eigenvalues(values.copy())
    except ValueError:
        with pytest.raises(DataError, match="negative"):
            clean_eigenvalues(values)
    else:
        assert_allclose(clean_eigenvalues(values), expected)


def test_products_are_remeasured_only_where_rounding_shows():
    A, _ = matrix(SPECTRA["algebraic"])
    pairs = solve(BlockKrylov(1e-12), A, 3)
    again = remeasure(replace(pairs, product_error=1e-3), A)
    assert again.n_combined == 1 and again.n_passes == pairs.n_passes + 1
    assert_allclose(again.products, A.matrix @ pairs.vectors, atol=1e-15)
    assert remeasure(replace(pairs, product_error=0.0), A).n_combined > 1


def test_a_stored_matrix_knows_its_norm_and_trace():
    A, _ = matrix(SPECTRA["algebraic"])
    squares, error = A.squared_norm(2.0)
    assert_allclose(squares, np.sum((SPECTRA["algebraic"] / 2) ** 2), rtol=1e-12)
    assert 0 < error < 1e-10 and A.product_error > 0
    assert_allclose(A.trace, SPECTRA["algebraic"].sum(), rtol=1e-12)
    B = np.random.default_rng(0).normal(size=(N, 3))
    assert_allclose(A.matmat(B), A.matrix @ B, atol=1e-13)
