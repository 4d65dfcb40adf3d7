"""Terms of the proofs, one by one: problems on which a statement is false as soon as a term is left out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from mercer.models.embedding import about
from mercer.operators.held import HeldMatrix
from mercer.solvers import inverse
from mercer.solvers.factors import DenseFactor, SparseFactor, count_negative
from mercer.solvers.gaps import certify_gaps
from mercer.solvers.interval import certify_landmarks
from mercer.solvers.inverse import BottomRitz, DenseBottom, bound_by_count

EPS = np.finfo(float).eps
FACTORS = pytest.mark.parametrize("factor", ["sparse", "dense"])


def with_spectrum(values, seed=0):
    """A matrix that sends 1 to zero and has these eigenvalues besides, and their vectors."""
    n, rng = len(values) + 1, np.random.default_rng(seed)
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, n - 1))]))[0][:, 1:]
    M = Q * values @ Q.T
    return HeldMatrix(sparse.csc_array((M + M.T) / 2)), Q


# ---------------------------------------------------------------------- landmarks

ROUNDING = 0.05  # far more than there ever is, so that every term shows


def intervals(values, left, total):
    return certify_landmarks(
        values, landmarks=9, seen=float(values.sum()), left=left, total=total, rounding=ROUNDING, standing="proven"
    )


@given(
    seen=st.lists(st.floats(0, 10), min_size=1, max_size=5),
    left=st.floats(0, 3),
    off=st.floats(-ROUNDING, ROUNDING),
    more=st.floats(-ROUNDING, ROUNDING),
    where=st.integers(0, 4),
)
def test_intervals_of_landmarks_hold_for_all_that_rounding_may_hide(seen, left, off, more, where):
    """Every sum that went into them is known up to rounding: whatever the true ones are, the truth lies inside.

    The true λ̂ differ by `off` at one place, tr(E) by `more`; all of tr(E) is spent to lift the first i eigenvalues to
    one level, or not at all: so the λᵢ are as large, or as small, as they can be.
    """
    values = np.sort(seen)[::-1].copy()
    true = values.copy()
    true[where % len(true)] += off
    true, spent = np.sort(np.maximum(true, 0.0))[::-1], max(left + more, 0.0)
    total = float(values.sum() + left)
    certificate = intervals(values, left, (total, total))
    for i in range(len(true)):
        lifted = true.copy()
        lifted[: i + 1] = np.maximum(true[: i + 1], level_of(true[: i + 1], spent))
        for answer in (true, lifted):
            assert np.all(certificate.lower <= answer + 1e-12) and np.all(answer <= certificate.upper + 1e-12)


def level_of(depths, amount):
    """By bisection: the level at which Σ max(level − depth, 0) is the amount."""
    low, high = depths.min(), depths.max() + amount + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(middle - depths, 0).sum() <= amount else (low, middle)
    return low


def test_each_bound_of_landmarks_has_room_for_rounding_in_each_of_its_parts():
    """λ̂₁ = 4 may be 4 ± r, tr(E) = 1 may be 1 + r, all variance 6 … 7 may be 6 − r … 7 + r."""
    r = ROUNDING
    c = intervals(np.array([4.0]), 1.0, (6.0, 7.0))
    assert c.upper[0] >= 4 + r + 1 + r and c.lower[0] <= 4 - r and c.left >= 1 + r
    assert c.total[0] <= 6 - r and c.total[1] >= 7 + r
    assert c.explained[0] <= (4 - r) / (7 + r) and c.explained[1] >= (4 + 1 + r) / (6 - r)
    assert c.captured <= (4 - r) / (7 + r)
    assert intervals(np.array([4.0]), 100.0, (6.0, 7.0)).upper[0] >= 7 + r  # no more than there is, known up to r


# ---------------------------------------------------------------------- locally linear embedding: what was missed


def test_a_pair_whose_residual_reaches_beyond_the_bound_is_not_complete():
    """Eigenvalues 0 and 1.2, and a mixture of both with θ = 1, ρ = √0.2.

    Only one eigenvalue is below 1.19, and θ is too. But the eigenvalue within ρ of θ is the other one, 1.2 ≤ θ + ρ:
    λ₁ = 0 is below θ − ρ = 0.55, so nobody may take θ for λ₁ because θ is below the bound.
    """
    op, vectors = with_spectrum(np.array([0.0, 1.2]))
    mixture = np.sqrt(1 / 6) * vectors[:, :1] + np.sqrt(5 / 6) * vectors[:, 1:2]
    ritz = BottomRitz.of(op, mixture)
    assert_allclose([ritz.values[0], ritz.residuals[0]], [1.0, np.sqrt(0.2)], rtol=1e-12)
    found = DenseBottom().solve(op, 1, np.random.default_rng(0))
    pairs = type(found)(**ritz.split(1), size=found.size, bound=1.19)
    assert certify_gaps(pairs, tol=1e-6).n_complete == 0
    near = replace(pairs, residuals=np.array([0.18]))  # if it were so near, an eigenvalue below 1.19 would be within ρ
    assert certify_gaps(near, tol=1e-6).n_complete == 1


@FACTORS
def test_pivots_are_counted_against_the_pairs_that_were_found_and_the_constant_one(factor):
    """0.1, 0.2, 0.3, 1, …: between the second and the third are three eigenvalues below, that of 1 among them."""
    values = np.array([0.1, 0.2, 0.3, *np.linspace(1, 2, 7)])
    op, vectors = with_spectrum(values)
    size, rng = inverse.norm_of(op), np.random.default_rng(0)
    whole = BottomRitz.of(op, vectors[:, :5])
    for k in (1, 2, 3, 4):
        bound, _ = bound_by_count(op, whole, k, size, factor, rng)
        assert_allclose(bound, (values[k - 1] + values[k]) / 2, atol=1e-9)
    without_one = BottomRitz.of(op, vectors[:, [0, 2, 3, 4]])  # 0.2 was missed: one eigenvalue too many is below
    for k in (2, 3):
        assert bound_by_count(op, without_one, k, size, factor, rng)[0] == -np.inf
    assert bound_by_count(op, without_one, 1, size, factor, rng)[0] <= 0.2  # half way from 0.1 to 0.3
    nothing_follows = BottomRitz.of(op, vectors[:, :2])
    assert bound_by_count(op, nothing_follows, 2, size, factor, rng)[0] == -np.inf


def test_fewer_negative_pivots_than_pairs_were_found_prove_nothing(monkeypatch):
    """So few cannot be: something went wrong, and a bound from it would be none."""
    op, vectors = with_spectrum(np.array([0.1, 0.2, 0.3, 1.0, 2.0]))
    ritz = BottomRitz.of(op, vectors[:, :4])
    monkeypatch.setattr(inverse, "count_negative", lambda M, shift, factor, rng: (2, 0.0))
    assert bound_by_count(op, ritz, 2, inverse.norm_of(op), "dense", np.random.default_rng(0))[0] == -np.inf


def test_what_a_factorisation_got_wrong_comes_off_the_bound_by_counting(monkeypatch):
    """The count is that of a matrix that differs by 0.03: the eigenvalues of M may be lower by as much (Weyl)."""
    op, vectors = with_spectrum(np.array([0.1, 0.2, 0.3, 1.0, 2.0]))
    ritz = BottomRitz.of(op, vectors[:, :4])
    monkeypatch.setattr(inverse, "count_negative", lambda M, shift, factor, rng: (3, 0.03))
    bound, _ = bound_by_count(op, ritz, 2, inverse.norm_of(op), "dense", np.random.default_rng(0))
    assert_allclose(bound, 0.25 - 0.03, atol=1e-12)


@FACTORS
@pytest.mark.parametrize("seed", range(5))
def test_negative_pivots_are_as_many_as_eigenvalues_below(factor, seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.uniform(-1, 1, size=30))
    M = with_spectrum(values, seed)[0].sparse()
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
    op, vectors = with_spectrum(np.linspace(0.1, 1, 9))
    solved = kind(op.sparse(), 0.5).solve(vectors[:, :3])
    assert_allclose(solved, vectors[:, :3] / (np.linspace(0.1, 1, 9)[:3] + 0.5), rtol=1e-10, atol=1e-12)


# ---------------------------------------------------------------------- locally linear embedding: what is told of zeros


def told(values, k):
    """What is said of the first k eigenvalues of a matrix with this spectrum."""
    op, _ = with_spectrum(np.asarray(values, dtype=float))
    pairs = DenseBottom().solve(op, k, np.random.default_rng(0))
    return " ".join(about(certify_gaps(pairs, tol=1e-6)))


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
