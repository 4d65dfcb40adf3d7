"""Certificates of the smallest eigenpairs: every statement against the truth, with good vectors and spoiled ones."""

from dataclasses import replace

import numpy as np
import pytest

from mercer_old.certificates.gaps import certify_gaps
from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers.shift_invert import BottomRitz, DenseBottom, Inverse, ShiftInvert, bound_beyond
from support.bottom import EPS, truth, with_spectrum
from support.registry import BOTTOM_SOLVERS as SOLVERS


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
    return with_spectrum(values, seed)[0], k, solver


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
        M = with_spectrum(np.sort(10.0 ** rng.uniform(-6, 0, size=n - 1)), seed)[0]
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
    M = with_spectrum(np.array([0.1, 0.2, 0.3, *np.linspace(1, 2, 9)]), 0)[0]
    values, vectors = truth(M)
    mixed = vectors[:, [0]] + 0.05 * vectors[:, [1]]
    ritz = BottomRitz.of(HeldMatrix(M), np.column_stack([mixed, vectors[:, 2:5]]))
    pairs = DenseBottom().solve(HeldMatrix(M), 1, np.random.default_rng(0))
    pairs = replace(ritz.first(1), size=pairs.size, bound=float(values[1]) - 1e-3)
    c = certify_gaps(pairs, tol=1e-6)
    assert c.n_complete == 1 and c.gaps[0] <= values[1] - ritz.values[0]
    assert c.angles[0] >= np.linalg.norm(ritz.U[:, 0] - vectors[:, 0] * (vectors[:, 0] @ ritz.U[:, 0]))


def test_intervals_hold_to_the_last_digit():
    """Against eigenvalues of the same matrix in forty digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        for seed, spectrum in enumerate([np.logspace(-13, 0, 8), [0, 0, 1e-12, 1e-12, 1e-3, 1, 1, 1]]):
            M = with_spectrum(np.asarray(spectrum, dtype=float), seed)[0]
            exact = mpmath.matrix(M.toarray().tolist()) + mpmath.matrix(np.full((9, 9), 3 / 9).tolist())
            values = np.array([float(v) for v in sorted(mpmath.eigsy(exact, eigvals_only=True))])[:8]
            for solver in SOLVERS.values():
                c = certify_gaps(solver.solve(HeldMatrix(M), 4, np.random.default_rng(0)), tol=1e-6)
                assert np.all((c.lower <= np.maximum(values[:4], 0)) & (values[:4] <= c.upper))
                assert c.n_zero == np.sum(values[:4] < c.rounding)
