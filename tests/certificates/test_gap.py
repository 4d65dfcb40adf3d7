"""Certificates of small eigenvalues: every statement against the exact eigenpairs of matrices that are known."""

import numpy as np
import pytest

from mercer.certificates.gap import GapCertificate, PlacementCertificate, certify_gaps, certify_placement
from mercer.linalg.eigen import Eigenpairs
from mercer.storable import from_state, get_state


def ritz_pairs(values, k, noise, seed=0, bound=None, **fields):
    """Ritz pairs of a diagonal matrix from a disturbed basis of its first eigenvectors; the true ones are columns."""
    rng = np.random.default_rng(seed)
    n = len(values)
    Q = np.linalg.qr(np.eye(n)[:, :k] + noise * rng.normal(size=(n, k)))[0]
    H = (Q.T * values) @ Q
    theta, Y = np.linalg.eigh((H + H.T) / 2)
    U = Q @ Y
    MU = values[:, None] * U
    residuals = np.linalg.norm(MU - U * theta, axis=0)
    bound = values[k] if bound is None else bound
    return Eigenpairs(theta, U, residuals, MU, norm=float(values.max()), bound=bound, evidence="known", **fields)


@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-8, 0.0])
@pytest.mark.parametrize("seed", range(30))
def test_intervals_and_angles_hold(noise, seed):
    rng = np.random.default_rng(seed)
    n, k = 40, int(rng.integers(1, 6))
    values = np.sort(10.0 ** rng.uniform(-4, 0, size=n))
    pairs = ritz_pairs(values, k, noise * values[0], seed)
    c = certify_gaps(pairs, tol=1e-6)
    if c.n_complete == k:
        assert (c.lower <= values[:k]).all() and (values[:k] <= c.upper).all()
        assert (c.gaps <= np.abs(pairs.values[:, None] - values + np.diag(np.full(n, np.inf))[:k]).min(axis=1)).all()
        for i in range(k):
            if not any(start <= i < stop for start, stop in c.clusters):
                sine = np.sqrt(max(1 - pairs.vectors[i, i] ** 2, 0.0))
                assert sine <= c.angles[i] + 1e-7
    if noise <= 1e-8:
        assert c.n_complete == k


def test_a_residual_larger_than_the_gap_is_no_direction():
    values = np.array([1e-6, 1.1e-6, 2e-6, 2.0])
    c = certify_gaps(ritz_pairs(values, 2, 1e-3), tol=1e-6)
    assert not c.converged and "residuals" in c.not_established and c.unresolved
    assert not c.certified and c.summary.startswith("2 components NOT certified: residuals")


def test_the_worst_case_of_two_dimensions_is_covered():
    """For a 2 x 2 matrix, sin 2φ = 2ρ/(gap of eigenvalues): the bound ρ/δ with δ from the Ritz value is attained."""
    for angle in (1e-3, 1e-2, 0.04):
        values = np.array([0.0, 1.0])
        u = np.array([[np.cos(angle)], [np.sin(angle)]])
        theta = float(np.sin(angle) ** 2)
        product = values[:, None] * u
        rho = np.linalg.norm(product - theta * u, axis=0)
        pairs = Eigenpairs(np.array([theta]), u, rho, product, norm=1.0, bound=1.0, evidence="known")
        c = certify_gaps(pairs, tol=1e-6)
        assert np.sin(angle) <= c.angles[0] <= np.sin(angle) * (1 + 3 * angle) + 1e-12
        assert c.lower[0] <= 0.0 <= c.upper[0]
        assert rho[0] ** 2 / c.gaps[0] >= theta * (1 - 1e-9)  # Kato and Temple: attained


@pytest.mark.parametrize("angle", np.linspace(0.02, 1.55, 30))
def test_what_is_called_complete_is_the_smallest_eigenvalue(angle):
    """One vector between those of 0 and 1: near the second one, its interval is about that."""
    u = np.array([[np.cos(angle)], [np.sin(angle)]])
    theta = float(np.sin(angle) ** 2)
    product = np.array([[0.0], [1.0]]) * u
    rho = np.linalg.norm(product - theta * u, axis=0)
    c = certify_gaps(Eigenpairs(np.array([theta]), u, rho, product, norm=1.0, bound=1.0, evidence="known"), tol=1e-6)
    assert (c.n_complete == 1) == (angle < np.pi / 4)
    assert not c.n_complete or c.lower[0] <= 0.0


@pytest.mark.parametrize("complete", [True, False])
def test_rounding_of_the_matrix_moves_the_next_eigenvalue_too(complete):
    """M − e·I has all eigenvalues lower by as much as rounding may move them; the next one was known exactly."""
    values = np.array([1e-12, 1e-3, 2e-3, 1.0])
    following = {"next_values": values[2:3], "next_residuals": np.zeros(1)}
    pairs = ritz_pairs(values, 2, 0.0, bound=values[2] if complete else values[1], **following)
    c = certify_gaps(pairs, tol=1e-6)
    assert (c.n_complete == 2) == complete
    assert np.all(c.lower <= np.maximum(values[:2] - c.rounding, 0.0))
    assert 1.9e-3 < c.bound_beyond <= values[2] - c.rounding


def test_rounding_of_the_matrix_turns_directions():
    """Entries next to the diagonal that are as large as the rounding, which no residual shows: tan 2φ = 2e/gap."""
    pairs = Eigenpairs(np.zeros(1), np.eye(3)[:, :1], np.zeros(1), np.zeros((3, 1)), norm=1.0, bound=1e-11)
    c = certify_gaps(pairs, tol=1e-6)
    turned = 0.5 * np.arctan(2 * c.rounding / 1e-11)
    assert np.sin(turned) <= c.angles[0] <= 1.01 * np.sin(turned)


def test_residuals_in_one_direction_add_up():
    """Three equal Ritz values whose residuals share a direction: an eigenvalue is farther off than any residual."""
    coupling = 0.1 * np.sqrt(3)
    M = np.eye(4)
    M[:3, 3] = M[3, :3] = 0.1
    M[3, 3] = 1 + coupling
    U = np.eye(4)[:, :3]
    R = M @ U - U
    pairs = Eigenpairs(np.ones(3), U, np.linalg.norm(R, axis=0), M @ U, norm=1.5, bound=1.25, evidence="known")
    true = np.linalg.eigvalsh(M)
    assert true[3] > 1.25 and true[0] < 1 - 0.1
    c = certify_gaps(pairs, tol=1e-6)
    assert c.n_complete == 3 and (c.lower <= true[:3]).all() and (true[:3] <= c.upper).all()


@pytest.mark.parametrize("values", [[1.0, 1.01, 3.0], [1.0, 2.99, 3.0]])
def test_the_nearer_neighbor_decides_about_a_direction(values):
    """Davis and Kahan: ρ over the distance to the eigenvalues on either side."""
    rho = np.full(3, 1e-4)
    pairs = Eigenpairs(np.array(values), np.eye(9)[:, :3], rho, np.eye(9)[:, :3], norm=9.0, bound=5.0, evidence="known")
    c = certify_gaps(pairs, tol=1e-6)
    assert c.angles[1] >= 1e-2 and not c.clusters


def test_equal_eigenvalues_have_a_span_and_no_directions():
    values = np.array([1e-6, 1e-6, 1e-3, 1.0])
    c = certify_gaps(ritz_pairs(values, 2, 0.0), tol=1e-6)
    assert c.clusters == ((0, 2),) and c.certified and not c.unresolved
    assert "determined as a span" in str(c)
    assert not c.eigenvalue_warnings()  # not zero, and resolved
    zeros = certify_gaps(ritz_pairs(np.array([0.0, 0.0, 1e-3, 1.0]), 2, 0.0), tol=1e-6)
    (warning,) = zeros.eigenvalue_warnings()
    assert "any rotation among them is as good" in warning.summary and warning.severity == "caution"
    open_span = certify_gaps(ritz_pairs(np.array([0.0, 0.0, 0.0, 1.0]), 2, 0.0), tol=1e-6)
    (warning,) = open_span.eigenvalue_warnings()
    assert "not kept" in warning.summary and warning.severity == "meaningless"
    assert not open_span.certified


def test_completeness_needs_a_bound_above_the_last_value():
    values = np.array([1e-3, 2e-3, 3e-3, 1.0])
    for bound, complete in ((3e-3, 2), (2e-3, 0), (1.5e-3, 1), (-np.inf, 0)):
        c = certify_gaps(ritz_pairs(values, 2, 0.0, bound=bound), tol=1e-6)
        assert c.n_complete == complete, bound
        assert ("completeness" in c.not_established) == (complete < 2)
    assert "after component 1" in str(certify_gaps(ritz_pairs(values, 2, 0.0, bound=1.5e-3), tol=1e-6))


def test_a_bound_within_rounding_of_a_value_decides_nothing():
    values = np.array([1e-3, 2e-3, 3e-3, 1.0])
    c = certify_gaps(ritz_pairs(values, 2, 0.0, bound=2e-3 + 1e-16), tol=1e-6)
    assert c.n_complete == 0


def test_caveats_stand_in_the_first_line():
    from dataclasses import replace

    c = certify_gaps(ritz_pairs(np.array([1e-3, 2e-3, 3e-3, 1.0]), 2, 0.0), tol=1e-6)
    assert c.certified and "Not meaningful" not in c.summary
    told = replace(c, caveats=("The graph is disconnected.", "Collapsed."))
    assert told.summary.endswith("Not meaningful: The graph is disconnected.")
    assert told.sentences()[1] == "Collapsed." and told.to_dict()["caveats"] == [*told.caveats]
    assert told != c


def test_certificates_are_stored_and_compared():
    c = certify_gaps(ritz_pairs(np.array([1e-3, 2e-3, 3e-3, 1.0]), 2, 0.0), tol=1e-6)
    again = from_state("GapCertificate", get_state(c))
    assert again == c and isinstance(again, GapCertificate) and str(again) == str(c)
    placed = certify_placement(c, np.array([1.0, 2.0, 3.0]), np.arange(101.0), np.array([0.1, 0.2]), 3)
    assert isinstance(placed, PlacementCertificate) and from_state("PlacementCertificate", get_state(placed)) == placed
    np.testing.assert_allclose(placed.residuals, [25.0, 47.5, 50.0])  # relative to the median radius, 2
    assert placed.certified and placed.n_landmarks == 3 and placed.n_placed == 101
    assert "Nothing is proven about the other 101 rows" in placed.summary
    assert "3 rows far from all landmarks" in str(placed)


def test_no_components_and_a_zero_matrix_say_so():
    empty = Eigenpairs(np.empty(0), np.empty((5, 0)), np.empty(0), np.empty((5, 0)), norm=1.0)
    assert certify_gaps(empty, tol=1e-6).summary == "No components, nothing to certify."
    zeros = Eigenpairs(np.zeros(2), np.zeros((5, 2)), np.zeros(2), np.zeros((5, 2)), bound=0.0)
    assert "zero" in certify_gaps(zeros, tol=1e-6).summary
