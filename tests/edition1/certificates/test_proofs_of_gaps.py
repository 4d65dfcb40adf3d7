"""Terms of the proofs for the smallest eigenpairs: each is needed, or a statement is false."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer_old.certificates.gaps import about_eigenvalues, certify_gaps
from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers import shift_invert
from mercer_old.solvers.base import Eigenpairs
from mercer_old.solvers.factorisations import DenseFactor, SparseFactor, count_negative
from mercer_old.solvers.shift_invert import BottomRitz, DenseBottom, ShiftInvert, bound_by_inertia
from support.bottom import FACTORS, held_with

# ---------------------------------------------------------------------- locally linear embedding: what was missed


def test_a_pair_whose_residual_reaches_beyond_the_bound_is_not_complete():
    """Eigenvalues 0 and 1.2, and a mixture of both with θ = 1, ρ = √0.2.

    Only one eigenvalue is below 1.19, and θ is too. But the eigenvalue within ρ of θ is the other one, 1.2 ≤ θ + ρ:
    λ₁ = 0 is below θ − ρ = 0.55, so nobody may take θ for λ₁ because θ is below the bound.
    """
    op, vectors = held_with(np.array([0.0, 1.2]))
    mixture = np.sqrt(1 / 6) * vectors[:, :1] + np.sqrt(5 / 6) * vectors[:, 1:2]
    ritz = BottomRitz.of(op, mixture)
    assert_allclose([ritz.values[0], ritz.residuals[0]], [1.0, np.sqrt(0.2)], rtol=1e-12)
    found = DenseBottom().solve(op, 1, np.random.default_rng(0))
    pairs = replace(ritz.first(1), size=found.size, bound=1.19)
    assert certify_gaps(pairs, tol=1e-6).n_complete == 0
    near = replace(pairs, residuals=np.array([0.18]))  # if it were so near, an eigenvalue below 1.19 would be within ρ
    assert certify_gaps(near, tol=1e-6).n_complete == 1


def test_a_pair_that_is_below_the_bound_by_less_than_rounding_is_not_complete():
    """Eigenvalues 0 and 1.2, of which one is below 1.19; the other is found as 1.185, by rounding of 0.02.

    Nobody may take 1.185 for it because 1.185 is below the bound.
    """
    _, vectors = held_with(np.array([0.0, 1.2]))
    u, size = vectors[:, 1:], 0.02 / shift_invert.bottom_floor(1.0)
    pairs = Eigenpairs(np.array([1.185]), u, np.zeros(1), 1.185 * u, size=size, bound=1.19)
    assert certify_gaps(pairs, tol=1e-6).n_complete == 0


@FACTORS
def test_pivots_are_counted_against_the_pairs_that_were_found_and_the_constant_one(factor):
    """0.1, 0.2, 0.3, 1, …: between the second and the third are three eigenvalues below, that of 1 among them."""
    values = np.array([0.1, 0.2, 0.3, *np.linspace(1, 2, 7)])
    op, vectors = held_with(values)
    size, rng = shift_invert.norm_of(op), np.random.default_rng(0)
    whole = BottomRitz.of(op, vectors[:, :5])
    for k in (1, 2, 3, 4):
        bound, _ = bound_by_inertia(op, whole, k, size, factor, rng)
        assert_allclose(bound, (values[k - 1] + values[k]) / 2, atol=1e-9)
    without_one = BottomRitz.of(op, vectors[:, [0, 2, 3, 4]])  # 0.2 was missed: one eigenvalue too many is below
    for k in (2, 3):
        assert bound_by_inertia(op, without_one, k, size, factor, rng)[0] == -np.inf
    assert bound_by_inertia(op, without_one, 1, size, factor, rng)[0] <= 0.2  # half way from 0.1 to 0.3
    nothing_follows = BottomRitz.of(op, vectors[:, :2])
    assert bound_by_inertia(op, nothing_follows, 2, size, factor, rng)[0] == -np.inf


def test_fewer_negative_pivots_than_pairs_were_found_prove_nothing(monkeypatch):
    """So few cannot be: something went wrong, and a bound from it would be none."""
    op, vectors = held_with(np.array([0.1, 0.2, 0.3, 1.0, 2.0]))
    ritz = BottomRitz.of(op, vectors[:, :4])
    monkeypatch.setattr(shift_invert, "count_negative", lambda M, shift, factor, rng: (2, 0.0))
    assert bound_by_inertia(op, ritz, 2, shift_invert.norm_of(op), "dense", np.random.default_rng(0))[0] == -np.inf


def test_what_a_factorisation_got_wrong_comes_off_the_bound_by_counting(monkeypatch):
    """The count is that of a matrix that differs by 0.03: the eigenvalues of M may be lower by as much (Weyl)."""
    op, vectors = held_with(np.array([0.1, 0.2, 0.3, 1.0, 2.0]))
    ritz = BottomRitz.of(op, vectors[:, :4])
    monkeypatch.setattr(shift_invert, "count_negative", lambda M, shift, factor, rng: (3, 0.03))
    bound, _ = bound_by_inertia(op, ritz, 2, shift_invert.norm_of(op), "dense", np.random.default_rng(0))
    assert_allclose(bound, 0.25 - 0.03, atol=1e-12)


@FACTORS
@pytest.mark.parametrize("seed", range(5))
def test_negative_pivots_are_as_many_as_eigenvalues_below(factor, seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.uniform(-1, 1, size=30))
    M = held_with(values, seed)[0].sparse()
    every = np.sort(np.append(values, 0.0))
    for below in (0, 1, 7, 15, 30, 31):
        edges = np.concatenate([[-2.0], every, [2.0]])
        count, error = count_negative(M, (edges[below] + edges[below + 1]) / 2, factor, rng)
        assert count in (below, -1) if factor == "sparse" else count == below
        assert 0 < error < 1e-8 or count == -1


def test_pivots_of_two_have_one_of_each_sign():
    """Nothing on the diagonal: every pivot of LAPACK is a block of two, with eigenvalues ±1."""
    M = np.kron(np.eye(4), [[0.0, 1.0], [1.0, 0.0]])
    assert count_negative(M, 0.0, "dense", np.random.default_rng(0))[0] == 4


def test_the_error_of_a_factorisation_covers_what_it_got_wrong():
    """A shift next to an eigenvalue of a leading block makes a tiny pivot: LU without pivoting loses digits, and the
    error that it reports is at least as large as that of LU itself, found by multiplying the factors."""
    rng = np.random.default_rng(0)
    for tiny in (1e-3, 1e-8, 1e-12):
        M = rng.normal(size=(12, 12))
        M = (M + M.T) / 2
        M[0, 0] = 0.5 + tiny
        A = sparse.csc_array(M)
        count, error = count_negative(A, 0.5, "sparse", rng)
        if count < 0:
            continue
        assert count == np.sum(np.linalg.eigvalsh(M) < 0.5) or np.abs(np.linalg.eigvalsh(M) - 0.5).min() <= error


@pytest.mark.parametrize("kind", [SparseFactor, DenseFactor])
def test_the_shift_is_part_of_what_is_inverted(kind):
    op, vectors = held_with(np.linspace(0.1, 1, 9))
    solved = kind(op.sparse(), 0.5).solve(vectors[:, :3])
    assert_allclose(solved, vectors[:, :3] / (np.linspace(0.1, 1, 9)[:3] + 0.5), rtol=1e-10, atol=1e-12)


def test_a_bound_by_lapack_has_room_for_the_residual_of_what_it_saw_next(monkeypatch):
    """A Ritz value is no smaller than its eigenvalue: θ₃ alone is no bound on what follows the second."""
    op, vectors = held_with(np.array([0.1, 0.2, 0.3, *np.linspace(1, 2, 9)]))
    for error in (0.0, 0.01, 0.1):
        spoiled = BottomRitz.of(op, vectors[:, :6] + error * np.random.default_rng(0).normal(size=(13, 6)))
        with monkeypatch.context() as patch:
            patch.setattr(BottomRitz, "of", lambda op, V, spoiled=spoiled: spoiled)
            assert DenseBottom().solve(op, 2, np.random.default_rng(0)).bound < 0.3


@FACTORS
def test_eigenvalues_too_near_for_probes_are_told_apart_by_counting(factor):
    values = np.array([0.1, 0.2, *np.linspace(0.21, 2, 40)])
    op, _ = held_with(values)
    c = certify_gaps(ShiftInvert(factor).solve(op, 2, np.random.default_rng(0)), tol=1e-6)
    assert c.n_complete == 2 and 0.2 < c.bound_beyond <= 0.21 and "negative pivots" in c.level


@pytest.mark.parametrize("some", range(4))
def test_certificates_of_the_smallest_hold_whatever_rounding_has_done(some):
    """Pairs of a matrix that differs by a norm of ε = 0.02: as much as rounding may do to a matrix of that size."""
    size = 0.02 / shift_invert.bottom_floor(1.0)
    for seed in range(100 * some, 100 * some + 100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(7, 25))
        k = int(rng.integers(1, 4))
        op, Q = held_with(np.sort(rng.uniform(0, 2, n - 1)), seed)
        values, M = np.sort(np.linalg.eigvalsh(Q.T @ op.dense() @ Q)), op.dense()
        _, Y = np.linalg.eigh(Q.T @ M @ Q)
        vectors = Q @ Y
        u, any_way = vectors[:, [int(rng.integers(0, k + 1))]], rng.normal(size=(n, n))
        P = np.eye(n) - 1 / n
        E = P @ [P, -P, u @ u.T, -u @ u.T, any_way + any_way.T][seed % 5] @ P
        near = HeldMatrix(sparse.csc_array(M + 0.02 * E / np.linalg.norm(E, 2)))
        start = np.linalg.eigh(Q.T @ near.dense() @ Q)[1][:, : k + 2]
        error = float(rng.choice([0.0, 0.1]))
        ritz = BottomRitz.of(near, Q @ (start + error * rng.normal(size=start.shape) / np.sqrt(n)))
        pairs = replace(ritz.first(k), size=size, bound=float(values[k + 2 * (seed % 2)]))
        c = certify_gaps(pairs, tol=1e-6)
        assert np.all(values[:k] <= c.upper + 1e-12), seed
        assert c.bound_beyond <= values[k] + 1e-12, seed
        if c.n_complete == k:
            assert np.all(values[:k] >= c.lower - 1e-12), seed
        for i in range(c.n_complete):
            assert c.gaps[i] <= np.abs(np.delete(values, i) - c.values[i]).min() + 1e-12, seed
            sine = np.sqrt(max(1 - (vectors[:, i] @ ritz.U[:, i]) ** 2, 0.0))
            assert sine <= c.angles[i] + 1e-7, seed


# ---------------------------------------------------------------------- locally linear embedding: what is told of zeros


def told(values, k):
    """What is said of the first k eigenvalues of a matrix with this spectrum."""
    op, _ = held_with(np.asarray(values, dtype=float))
    pairs = DenseBottom().solve(op, k, np.random.default_rng(0))
    return " ".join(about_eigenvalues(certify_gaps(pairs, tol=1e-6)))


REST = np.linspace(0.5, 1.0, 12)


def test_zeros_that_were_all_kept_span_something():
    said = told([0, 0, *REST], 2)
    assert "2 of 2 coordinates have eigenvalues below working precision" in said
    assert "what they span is determined" in said and "not kept" not in said


def test_zeros_far_below_what_else_was_kept_span_something():
    said = told([0, 0, 0.3, *REST], 3)
    assert "2 of 3 coordinates have eigenvalues below working precision" in said
    assert "what they span is determined" in said and "mixed in" not in said
    near = told([0, 0, 1e-14, *REST], 3)
    assert "small eigenvalues next to them are mixed in" in near and "what they span is determined" not in near


def test_zeros_of_which_some_were_not_kept_determine_nothing():
    said = told([0, 0, 0, *REST], 2)
    assert "and so have some that were not kept" in said and "determined" not in said


def test_a_small_eigenvalue_next_to_zeros_is_mixed_in():
    said = told([0, 0, 1e-14, *REST], 2)
    assert "not kept" in said or "mixed in" in said
    assert "what they span is determined" not in said


def test_an_ordinary_spectrum_is_not_spoken_of():
    assert told([0.01, 0.1, *REST], 2) == ""
