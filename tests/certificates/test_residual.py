"""Residual certificates: every bound against known eigenpairs, and what "certified" requires."""

import copy
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.certificates.residual import ANGLE, certify, direction_warnings
from mercer.linalg.eigen import Eigenpairs
from mercer.numerics.rounding import UNIT, UNIT_SINGLE

N = 12


def basis(seed=0, n=N):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


def perturbed_pairs(values, k, size, seed):
    """Ritz pairs of a random subspace near the k leading eigenvectors, and λ_max of the rest."""
    rng, Q = np.random.default_rng(seed), basis(seed)
    A = (Q * values) @ Q.T
    U = np.linalg.qr(Q[:, :k] + size * rng.normal(size=(N, k)))[0]
    theta, Y = np.linalg.eigh(U.T @ A @ U)
    U, theta = U @ Y[:, ::-1], theta[::-1]
    P = np.eye(N) - U @ U.T
    pairs = Eigenpairs(theta, U, np.linalg.norm(A @ U - U * theta, axis=0), A @ U, norm=float(values[0]))
    return A, Q, pairs, float(np.linalg.eigvalsh(P @ A @ P)[-1])


SPECTRA = {
    "linear": np.linspace(12, 1, N),
    "geometric": 0.5 ** np.arange(N),
    "cluster": np.array([5, 5 - 1e-9, 5 - 2e-9, 3, 2, 1.5, 1, 0.5, 0.4, 0.3, 0.2, 0.1]),
    "bulk": np.append([9.0, 7, 6], np.linspace(1.01, 1, N - 3)),
}


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.3])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_bounds_hold_for_pairs_of_any_quality(spectrum, size):
    values = SPECTRA[spectrum]
    for seed in range(20):
        A, Q, pairs, bound = perturbed_pairs(values, 4, size, seed)
        certificate = certify(pairs, tol=1e-8, bound=bound, evidence="known")
        true = np.linalg.eigvalsh(A)[::-1]
        slack = 1e-14 * true[0]
        assert np.all(certificate.lower <= true[:4] + slack) and np.all(true[:4] <= certificate.upper + slack)
        assert true[4] <= certificate.bound_beyond + slack
        groups = {i: (start, stop) for start, stop in certificate.clusters for i in range(start, stop)}
        for i in range(certificate.n_complete):
            start, stop = groups.get(i, (i, i + 1))
            sine = np.linalg.norm(np.delete(Q, range(start, stop), 1).T @ pairs.vectors[:, start:stop], 2)
            assert sine <= certificate.angles[i] + 1e-13


def nearly(seed):
    """A of 6 or 16 rows with leading eigenvalues close to each other, and two pairs that are no Ritz pairs of it."""
    rng, k = np.random.default_rng(seed), 2
    n = int(rng.choice([6, 16]))
    values = np.append(2 + np.cumsum(10.0 ** -rng.uniform(0, 2, 3))[::-1], rng.uniform(0, 2, n - 3))
    values, Q = np.sort(values)[::-1], basis(seed, n)
    A, size = (Q * values) @ Q.T, 10.0 ** -rng.uniform(0.5, 3)
    U = np.linalg.qr(Q[:, :k] + size * rng.normal(size=(n, k)))[0]
    theta = np.einsum("ij,ij->j", U, A @ U) + rng.choice([0, 0.3, 1]) * size * rng.normal(size=k)
    order = np.argsort(-theta)
    U, theta = U[:, order], theta[order]
    P = np.eye(n) - U @ U.T
    pairs = Eigenpairs(theta, U, np.linalg.norm(A @ U - U * theta, axis=0), A @ U, norm=float(values[0]))
    return values, Q, pairs, float(np.linalg.eigvalsh(P @ A @ P)[-1])


def test_bounds_hold_for_pairs_that_are_no_ritz_pairs():
    for seed in range(3000):
        values, Q, pairs, bound = nearly(seed)
        certificate = certify(pairs, tol=1e-8, bound=bound, evidence="known")
        assert np.all(certificate.lower <= values[:2] + 1e-13) and np.all(values[:2] <= certificate.upper + 1e-13), seed
        for start, stop in certificate.clusters or ((0, 1), (1, 2)):
            if stop <= certificate.n_complete:
                sine = np.linalg.norm(np.delete(Q, range(start, stop), 1).T @ pairs.vectors[:, start:stop], 2)
                assert sine <= certificate.angles[start] + 1e-13, seed


def exact_pairs(values, k, **options):
    values = np.asarray(values, float)
    U = np.eye(len(values))[:, :k]
    following = values[k:] if len(values) > k else np.empty(0)
    options = {"complete": True, "norm": float(np.abs(values).max()), **options}
    return Eigenpairs(values[:k], U, np.zeros(k), U * values[:k], following, np.zeros(len(following)), **options)


def exact_certificate(values, k, tol=1e-8, bound=None, **options):
    pairs = exact_pairs(values, k, **options)
    return certify(pairs, tol=tol, bound=float(max([0.0, *values[k:]])) if bound is None else bound, evidence="known")


def test_certified_means_residuals_completeness_and_directions():
    good = exact_certificate([4.0, 3, 2, 1], 3)
    assert good.certified and good.not_established == () and "certified" in good.summary
    coarse = certify(
        Eigenpairs(np.array([4.0]), np.eye(4)[:, :1], np.array([0.05]), np.eye(4)[:, :1] * 4, norm=4.0),
        tol=1e-8, bound=1.0, evidence="known",
    )  # fmt: skip
    assert coarse.not_established == ("residuals",) and "NOT certified: residuals" in str(coarse).splitlines()[0]
    missed = exact_certificate([4.0, 3, 2, 1], 3, bound=2.5, complete=False)
    assert missed.n_complete == 2 and missed.not_established[0] == "completeness" and not missed.certified
    cut = exact_certificate([4.0, 3, 3, 1], 2)
    assert cut.not_established == ("directions",) and cut.unresolved == (1,)
    assert "directions" in str(cut).splitlines()[0] and len(direction_warnings(cut)) == 1


def test_equal_eigenvalues_are_fine_as_a_span_if_all_are_kept():
    certificate = exact_certificate([4.0, 3, 3, 3, 1], 4)
    assert certificate.certified and certificate.clusters == ((1, 4),) and not certificate.unresolved
    assert "2–4 are determined as a span" in str(certificate)
    assert exact_certificate([2.0, 2, 2], 3).certified  # isotropic, all kept


def test_components_without_variance_need_no_direction():
    certificate = exact_certificate([4.0, 3, 0, 0], 3)
    assert certificate.certified and certificate.is_zero.tolist() == [False, False, True] and certificate.n_zero == 1
    assert certificate.lower[2] <= 0 <= certificate.upper[2]
    probed = exact_certificate([4.0, 3, 0, 0], 3, complete=False)  # zeros are not "missed" either
    assert probed.n_complete == 3 and probed.certified


def test_a_direction_next_to_a_missed_eigenvalue_is_not_called_known():
    values = np.append([5.2, 5.05], np.linspace(1, 0.1, N - 2))
    Q = basis()
    A = (Q * values) @ Q.T
    U = np.column_stack([np.cos(0.05) * Q[:, 0] + np.sin(0.05) * Q[:, 1], Q[:, 2]])
    theta = np.sum(U * (A @ U), axis=0)
    pairs = Eigenpairs(theta, U, np.linalg.norm(A @ U - U * theta, axis=0), A @ U, norm=5.2)
    P = np.eye(N) - U @ U.T
    certificate = certify(pairs, tol=1e-2, bound=float(np.linalg.eigvalsh(P @ A @ P)[-1]), evidence="known")
    assert not certificate.certified
    assert np.all(certificate.angles[: certificate.n_complete] >= np.sin(0.05) - 1e-9)


def test_a_value_that_is_too_large_does_not_part_the_next_one_from_it():
    """θ₁ is off by 0.08, so λ₁ is closer to θ₂ than it looks, and the angle of u₂ is larger."""
    turn = 0.02
    A, U = np.diag(np.append([2.0, 1.0], np.zeros(10))), np.eye(12)[:, :2]
    U[:2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    theta = np.einsum("ij,ij->j", U, A @ U) + np.array([0.08, 0.0])
    pairs = Eigenpairs(theta, U, np.linalg.norm(A @ U - U * theta, axis=0), A @ U, norm=2.0)
    certificate = certify(pairs, tol=1e-8, bound=0.0, evidence="known")
    assert not certificate.clusters and np.all(certificate.angles >= np.sin(turn))


def test_errors_of_products_in_one_direction_add_up():
    """Products of sixteen vectors all miss the same direction: no residual shows that an eigenvalue is far off."""
    k, error = 16, 1e-6
    A = np.eye(k + 1)
    A[:k, k] = A[k, :k] = error
    U = np.eye(k + 1)[:, :k]
    pairs = Eigenpairs(np.ones(k), U, np.zeros(k), U, norm=1.0, product_error=error)
    certificate = certify(pairs, tol=1e-8, bound=1.0, evidence="known")
    true = np.linalg.eigvalsh(A)[::-1]
    assert true[0] > 1 + 3.9 * error
    assert np.all(certificate.lower <= true[:k]) and np.all(true[:k] <= certificate.upper)


def test_a_pair_below_the_bound_is_not_called_complete_whatever_its_residual():
    """The second pair misses 2.05: its value is 2, and its residual is larger than what it is below the bound."""
    A = np.diag([4.0, 2.05, 2.0, 0.0])
    A[2, 3] = A[3, 2] = 0.1
    U = np.eye(4)[:, [0, 2]]
    theta = np.array([4.0, 2.0])
    pairs = Eigenpairs(theta, U, np.linalg.norm(A @ U - U * theta, axis=0), A @ U, norm=4.0)
    certificate = certify(pairs, tol=1e-1, bound=2.05, evidence="known")
    assert certificate.n_complete == 1 and "completeness" in certificate.not_established


def test_entry_errors_widen_everything():
    pairs = exact_pairs([4.0, 3, 2, 1], 3)
    exact, coarse = (certify(pairs, tol=1e-8, bound=1.0, evidence="", entry_error=e) for e in (0.0, 0.01))
    assert_allclose(coarse.upper - exact.upper, 0.01, rtol=1e-6)
    assert_allclose(exact.lower - coarse.lower, 0.01, rtol=1e-6)
    assert np.all(coarse.angles >= 0.01 / 1.0) and coarse.bound_beyond >= 1.01


def test_singular_values_are_certified_as_their_squares():
    sigma = np.array([3.0, 1.0, 1e-9])
    plain, squared = (
        certify(exact_pairs(sigma, 3), tol=1e-8, bound=0.0, evidence="", singular=singular)
        for singular in (False, True)
    )
    assert_allclose(squared.lower, np.maximum(plain.lower, 0) ** 2)
    assert_allclose(squared.upper, plain.upper**2)
    assert_allclose(squared.angles, plain.angles)
    assert squared.lower[2] > 0  # squares would have lost it
    assert exact_certificate(sigma**2, 3).lower[2] <= 0


def test_residuals_of_singular_values_are_those_of_their_squares():
    """A left and a right vector that miss σ by ρ give XᵀXv − σ²v of up to (2σ + ρ)·ρ."""
    pairs = Eigenpairs(np.array([30.0]), np.eye(4)[:, :1], np.array([1e-3]), np.eye(4)[:, :1] * 30, norm=30.0)
    certificate = certify(pairs, tol=1e-8, bound=0.0, evidence="", singular=True)
    assert_allclose(certificate.residuals, 2 * 30 * 1e-3, rtol=1e-3)
    assert not certificate.converged


@pytest.mark.parametrize("unit", [UNIT, UNIT_SINGLE])
def test_intervals_contain_the_values_as_they_are_stored(unit):
    certificate = exact_certificate([1 / 3, 1 / 7, 0.01], 2).for_attributes(1.0, unit)
    dtype = np.float32 if unit == UNIT_SINGLE else np.float64
    stored = (np.array([1 / 3, 1 / 7]) / 41).astype(dtype).astype(float)
    assert np.all(certificate.lower / 41 <= stored) and np.all(stored <= certificate.upper / 41)
    roots = np.sqrt([1 / 3, 1 / 7]).astype(dtype).astype(float)
    assert np.all(certificate.lower <= roots**2) and np.all(roots**2 <= certificate.upper)


def test_units_that_over_or_underflow_leave_valid_bounds():
    certificate = exact_certificate([4.0, 3, 2, 1], 3)
    small, large = (certificate.for_attributes(2.0**e, UNIT) for e in (-530, 520))
    assert np.all(small.lower <= 0) and np.all(small.upper > 0) and small.bound_beyond > 0
    assert np.isfinite(large.lower).all() and np.all(np.isinf(large.upper) | (large.upper >= large.lower))
    middle = certificate.for_attributes(2.0**100, UNIT)
    assert_allclose(middle.lower, certificate.lower * 2.0**200, rtol=1e-12)
    assert middle.certified


def test_reported_zeros_are_inside_their_intervals():
    certificate = exact_certificate([4.0, 3, 2, 1], 3).with_zeros(np.array([False, False, True]))
    assert certificate.lower[2] <= 0 and certificate.lower[1] > 0
    assert certificate.with_zeros(np.zeros(3, bool)) is certificate


def test_equal_proofs_are_equal_whatever_was_asked_of_them():
    one, other = exact_certificate([4.0, 3, 3, 1], 2), exact_certificate([4.0, 3, 3, 1], 2)
    str(one)
    assert one == other == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) and hash(one) == hash(other)  # noqa: S301
    assert one != exact_certificate([4.0, 3, 3, 1], 1) and one != "certificate"


def test_everything_is_plain_in_a_dictionary():
    found = exact_certificate([4.0, 3, 3, 1], 3).to_dict()
    assert json.loads(json.dumps(found))["clusters"] == [[1, 3]]
    assert {"lower", "upper", "angles", "n_complete", "bound_beyond", "certified", "summary"} <= set(found)


def test_no_components_are_nothing_to_certify():
    certificate = exact_certificate([4.0, 3], 0)
    assert certificate.certified and certificate.n_components == 0 and len(str(certificate).splitlines()) == 1


def test_separated_eigenvalues_are_known_to_their_own_errors():
    for seed in range(10):
        _, _, pairs, bound = perturbed_pairs(SPECTRA["linear"], 4, 1e-7, seed)
        certificate = certify(pairs, tol=1e-8, bound=bound, evidence="")
        assert certificate.is_separated and certificate.n_complete == 4 and certificate.clusters == ()
        radius = certificate.residuals + certificate.error + 1e-14
        assert np.all(certificate.values - radius <= certificate.lower)
        assert np.all(certificate.upper <= certificate.values + radius)
        gaps = certificate.values - np.append(certificate.values[1:], certificate.bound)
        gaps[1:] = np.minimum(gaps[1:], gaps[:-1])
        assert_allclose(certificate.angles, radius / gaps, rtol=0.05)
        assert certificate.angles.max() < ANGLE
