"""Solvers on spectra of every kind; the certificate's bounds against LAPACK; closed-form spectra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import subspace_angles
from sklearn.datasets import make_blobs, make_swiss_roll
from sklearn.utils.validation import _check_psd_eigenvalues

from mercer.certificates.residuals import certify
from mercer.fits.spectrum import bound_by_pivots, find_spectrum, rule_out_missed
from mercer.kernels import RBF
from mercer.limits import Limits
from mercer.operators.centering import Centered
from mercer.operators.features import FeatureGram
from mercer.operators.gram import HeldGram, RecomputedGram
from mercer.operators.held import HeldMatrix
from mercer.plans.kernel import Problem, choose_plan
from mercer.plans.plan import Plan
from mercer.solvers.base import Eigenpairs, clean_spectrum, rounding_floor, settle
from mercer.solvers.completeness import explore, explore_by_products
from mercer.solvers.feature_side import Factored
from mercer.solvers.krylov import BlockKrylov
from mercer.solvers.warm import WarmKrylov
from support.registry import ALL_OPERATORS, ALL_SOLVERS
from support.spectra import SPECTRA as SWEEP

SPECTRA = {
    "geometric": lambda n, rng: 0.7 ** np.arange(n),
    "algebraic": lambda n, rng: 1.0 / (1 + np.arange(n)),
    "slow": lambda n, rng: (1.0 + np.arange(n)) ** -0.5,
    "ten equal": lambda n, rng: np.concatenate([np.full(10, 1.0), 0.5 * 0.9 ** np.arange(n - 10)]),
    "thirty equal": lambda n, rng: np.concatenate([np.full(30, 1.0), 0.5 * 0.9 ** np.arange(n - 30)]),
    "k inside a cluster": lambda n, rng: np.concatenate(
        [0.8 ** np.arange(5), np.full(12, 0.2), 0.1 * 0.8 ** np.arange(n - 17)]
    ),
    "rank 6": lambda n, rng: np.concatenate([[6.0, 5, 4, 3, 2, 1], np.zeros(n - 6)]),
    "identity plus noise": lambda n, rng: 1 + 1e-3 * rng.normal(size=n),
    "identity": lambda n, rng: np.ones(n),
    "zero": lambda n, rng: np.zeros(n),
    "indefinite": lambda n, rng: np.concatenate([0.8 ** np.arange(n // 2), -0.7 * 0.8 ** np.arange(n - n // 2)]),
    "large": lambda n, rng: 1e150 * 0.8 ** np.arange(n),
    "tiny": lambda n, rng: 1e-150 * 0.8 ** np.arange(n),
}
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA)


def matrix_with(spectrum, n, rng):
    """A symmetric matrix with these eigenvalues and random eigenvectors; also its eigenvalues, largest first."""
    values = np.sort(SPECTRA[spectrum](n, rng))[::-1]
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = Q * values @ Q.T
    return (A + A.T) / 2, values


@pytest.mark.parametrize("solver", ALL_SOLVERS, ids=repr)
@pytest.mark.parametrize("name", ALL_OPERATORS)
def test_every_solver_solves_every_operator(solver, name):
    X = np.random.default_rng(0).normal(size=(60, 20)) * 0.8 ** np.arange(20)
    op = ALL_OPERATORS[name](X)
    true_values, true_vectors = np.linalg.eigh(op.dense())
    pairs = solver.solve(op, 4, np.random.default_rng(1))
    assert_allclose(pairs.values, true_values[::-1][:4], rtol=1e-10)
    assert_allclose(np.abs(np.sum(pairs.vectors * true_vectors[:, ::-1][:, :4], axis=0)), 1, atol=1e-9)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-12)
    assert_allclose(pairs.products, op.matmat(pairs.vectors), atol=1e-10 * pairs.values[0])


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 61.0)], ids=["plain", "weighted"])
@pytest.mark.parametrize("k", [4, 20, 35])
@pytest.mark.parametrize("hold", [lambda X: X, sparse.csr_array], ids=["dense", "sparse"])
def test_the_feature_side_has_the_same_eigenpairs(hold, k, weights):
    X = np.random.default_rng(0).normal(size=(60, 20)) * 0.8 ** np.arange(20)
    op = Centered(FeatureGram(hold(X)), weights)
    true_values, true_vectors = np.linalg.eigh(op.dense())
    pairs = Factored().solve(op, k, np.random.default_rng(1))
    rank = min(k, 20)
    assert_allclose(pairs.values[:rank], true_values[::-1][:rank], rtol=1e-9)
    assert_allclose(pairs.values[rank:], 0, atol=1e-12)
    assert_allclose(np.abs(np.sum(pairs.vectors * true_vectors[:, ::-1][:, :k], axis=0))[:rank], 1, atol=1e-8)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-10)
    assert_allclose(
        pairs.residuals,
        np.linalg.norm(op.dense() @ pairs.vectors - pairs.vectors * pairs.values, axis=0),
        atol=1e-10 * true_values[-1],
    )


@every_spectrum
@pytest.mark.parametrize("solver", ALL_SOLVERS, ids=repr)
def test_reported_residuals_are_true_and_meet_the_rule(spectrum, solver):
    rng = np.random.default_rng(2)
    A, values = matrix_with(spectrum, 80, rng)
    pairs = solver.solve(HeldMatrix(A), 12, rng)
    wide = np.longdouble(A) @ pairs.vectors - np.longdouble(pairs.vectors) * pairs.values
    true = np.sqrt(np.sum(wide**2, axis=0)).astype(float)  # squares of tiny numbers are numbers there
    noise = rounding_floor(80, np.abs(values).max())
    assert_allclose(pairs.residuals, true, atol=10 * noise)
    assert pairs.converged
    allowed = np.maximum(getattr(solver, "tol", 1e-8) * np.abs(pairs.values), 2 * noise)
    assert np.all(true <= allowed)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(len(pairs)), atol=1e-11)


@every_spectrum
@pytest.mark.parametrize("k", [1, 5, 12])
def test_spectrum_found_is_that_of_lapack(spectrum, k):
    """The solver with the search for missed pairs behind it, as a model runs it."""
    rng = np.random.default_rng(3)
    A, values = matrix_with(spectrum, 120, rng)
    op = HeldMatrix(A)
    plan = Plan(BlockKrylov(block=4), "given", 0, "a test")
    pairs, _, _ = rule_out_missed(plan, Uncentred(op), plan.solver.solve(op, k, rng), rng)
    assert_allclose(pairs.values, values[:k], rtol=1e-9, atol=1e-12 * np.abs(values).max())


class Uncentred(Centered):
    """A matrix as it is, in the clothes of a centred one."""

    def __init__(self, base):
        super().__init__(base)
        self.trace = float(base.diag().sum())

    def matmat(self, B):
        return self.base.matmat(B)

    dimension = property(lambda self: self.n)

    def project(self, B):
        return B.copy()

    def columns(self, indices):
        return self.base.columns(indices)

    def squared_norm(self, unit):
        return self.base.squared_norm(unit)


def bounds_hold(A, values, certificate, pairs):
    """Every statement of the certificate, checked on the true spectrum."""
    k = certificate.n_components
    slack = 1e-13 * np.abs(values).max()
    assert np.all(certificate.lower <= values[:k] + slack)
    assert np.all(certificate.upper >= values[:k] - slack)
    if k < len(values) and certificate.n_complete == k:
        assert values[k] <= certificate.bound_beyond + certificate.residuals.max() + slack
    vectors = np.linalg.eigh(A)[1][:, ::-1]
    for i in range(certificate.n_complete):
        inside = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
        angle = np.sin(subspace_angles(pairs.vectors[:, slice(*inside)], vectors[:, slice(*inside)]).max())
        assert angle <= certificate.angles[i] + 1e-7


@every_spectrum
@pytest.mark.parametrize("trial", range(24))
def test_certificate_holds_on_random_problems(spectrum, trial):
    rng = np.random.default_rng(100 + trial)
    n, k = int(rng.integers(40, 300 if trial % 4 == 0 else 90)), int(rng.integers(1, 20))
    A, values = matrix_with(spectrum, n, rng)
    tol = 10.0 ** -rng.integers(2, 9)
    plan = Plan(BlockKrylov(block=4, tol=tol), "given", 0, "a test")
    op = Uncentred(HeldMatrix(A))
    pairs, bound, level = rule_out_missed(plan, op, plan.solver.solve(op, k, rng), rng)
    bounds_hold(A, values, certify(pairs, tol=tol, bound=bound, level=level), pairs)


@every_spectrum
@pytest.mark.parametrize("trial", range(12))
def test_certificate_holds_when_a_pair_is_deliberately_missed(spectrum, trial):
    rng = np.random.default_rng(500 + trial)
    n, k = 60, int(rng.integers(1, 10))
    A, values = matrix_with(spectrum, n, rng)
    true_values, true_vectors = np.linalg.eigh(A)
    missed = int(rng.integers(0, k))
    kept = [i for i in range(k + 1) if i != missed]
    U = true_vectors[:, ::-1][:, kept]
    pairs = BlockKrylov().solve(HeldMatrix(A), k, rng)
    wrong = type(pairs)(
        values=true_values[::-1][kept],
        vectors=U,
        residuals=np.linalg.norm(A @ U - U * true_values[::-1][kept], axis=0),
        products=A @ U,
    )
    rest = explore(HeldMatrix(A), U, rng)
    assert rest.upper >= values[missed] * (1 - 1e-9) - 1e-300
    certificate = certify(wrong, tol=1e-8, bound=rest.upper, level="probes")
    bounds_hold(A, values, certificate, wrong)
    assert certificate.n_complete <= missed or values[missed] <= values[k] + 1e-12


def test_a_missed_pair_that_shows_itself_is_fetched():
    rng = np.random.default_rng(0)
    A, values = matrix_with("geometric", 80, rng)
    op = Uncentred(HeldMatrix(A))
    U = np.linalg.eigh(A)[1][:, ::-1][:, [0, 2, 3]]  # the second is missing
    plan = Plan(BlockKrylov(block=4), "given", 0, "a test")
    found = plan.solver.solve(op, 3, rng)
    wrong = type(found)(values=values[[0, 2, 3]], vectors=U, residuals=np.full(3, 1e-12), products=A @ U)
    pairs, _, _ = rule_out_missed(plan, op, wrong, rng)
    assert_allclose(pairs.values, values[:3], rtol=1e-10)


def test_probes_bound_the_rest_from_both_sides():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        A, values = matrix_with("algebraic", 70, rng)
        U = np.linalg.eigh(A)[1][:, ::-1][:, :5]
        rest = explore(HeldMatrix(A), U, rng)
        assert rest.seen <= values[5] * (1 + 1e-9)
        assert values[5] <= rest.upper <= 30 * values[5]


@pytest.mark.parametrize(
    ("n", "block", "k"), [(20, 16, 5), (30, 8, 28), (6, 4, 3), (6, 16, 6), (2, 4, 1), (70, 16, 20)]
)
@pytest.mark.parametrize("spectrum", ["slow", "geometric"])
def test_small_matrices_are_solved_however_wide_the_block(n, block, k, spectrum):
    rng = np.random.default_rng(n)
    values = np.sort((1.0 + np.arange(n)) ** -0.5 if spectrum == "slow" else 0.7 ** np.arange(n))[::-1]
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = Q * values @ Q.T
    pairs = BlockKrylov(block=block).solve(HeldMatrix((A + A.T) / 2), k, rng)
    assert pairs.converged
    assert_allclose(pairs.values, values[:k], rtol=1e-10)


def test_bounds_know_of_eigenvalues_that_are_large_and_negative():
    values = np.concatenate([[1.0, 0.5], np.full(58, -1e6)])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 60)))[0]
    A = Q * values @ Q.T
    A = (A + A.T) / 2
    true = np.linalg.eigvalsh(A)[::-1]
    pairs = ALL_SOLVERS[0].solve(HeldMatrix(A), 2, np.random.default_rng(0))
    certificate = certify(pairs, tol=1e-8, bound=0.0, level="LAPACK counts eigenvalues")
    assert np.all(certificate.upper - certificate.lower > 1e-11)
    assert np.all(certificate.lower <= true[:2]) and np.all(true[:2] <= certificate.upper)


DATA = {
    "swiss roll": lambda: make_swiss_roll(600, random_state=0)[0],
    "clusters": lambda: make_blobs(600, 10, centers=8, random_state=0)[0],
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("factor", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("k", [20, 50, 100])
def test_no_component_is_wrong_and_unreported(data, factor, k):
    """Angles against LAPACK over bandwidths: what is off by more than the bound is listed as unresolved."""
    X = DATA[data]()
    gamma = factor * RBF("median").resolved(X, np.random.default_rng(0)).gamma
    op = Centered(HeldGram(RBF(gamma), X))
    plan = Plan(BlockKrylov(tol=1e-8), "gram", 0, "a test")
    spectrum = find_spectrum(plan, op, k, np.random.default_rng(0))
    true = np.linalg.eigh(op.dense())[1][:, ::-1]
    certificate = spectrum.certificate
    for i in range(k):
        inside = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
        angle = np.sin(subspace_angles(spectrum.vectors[:, slice(*inside)], true[:, slice(*inside)]).max())
        assert angle <= certificate.angles[i] + 1e-7
        assert angle <= 0.05 or i in certificate.unresolved or spectrum.values[i] == 0


# ---------------------------------------------------------------------------- closed forms


def test_points_on_a_circle_have_a_circulant_spectrum():
    """The eigenvalues are the discrete Fourier transform of one row, in pairs; the constant one is centred away."""
    n = 64
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    row = np.exp(-0.8 * np.sum((X - X[0]) ** 2, axis=1))
    expected = np.sort(np.fft.fft(row).real[1:])[::-1]
    spectrum = find_spectrum(
        Plan(BlockKrylov(), "gram", 0, ""), Centered(HeldGram(RBF(0.8), X)), 8, np.random.default_rng(0)
    )
    assert_allclose(spectrum.values, expected[:8], rtol=1e-10)
    assert spectrum.certificate.clusters == ((0, 2), (2, 4), (4, 6), (6, 8))


def test_equidistant_points_have_one_eigenvalue():
    """K = (1 − a)I + a11ᵀ: all n − 1 centred eigenvalues are 1 − a."""
    n = 50
    spectrum = find_spectrum(
        Plan(BlockKrylov(block=4), "gram", 0, ""), Centered(HeldGram(RBF(0.3), np.eye(n))), 10, np.random.default_rng(0)
    )
    assert_allclose(spectrum.values, 1 - np.exp(-0.6), rtol=1e-10)
    assert spectrum.certificate.unresolved == tuple(range(10))  # ten axes out of an eigenspace of 49


def test_gaussian_data_under_a_gaussian_kernel_have_a_geometric_spectrum():
    """Uncentred, λᵢ/n → √(2a/A) Bⁱ with a = 1/4σ², b = γ, c = √(a² + 2ab), A = a + b + c, B = b/A."""
    X = np.random.default_rng(0).normal(size=(3000, 1))
    a, b = 0.25, 0.5
    A = a + b + np.sqrt(a * a + 2 * a * b)
    expected = np.sqrt(2 * a / A) * (b / A) ** np.arange(5)
    K = HeldGram(RBF(b), X, threads=2)
    values = BlockKrylov().solve(K, 5, np.random.default_rng(0)).values / 3000
    assert_allclose(values, expected, rtol=0.1)


# ---------------------------------------------------------------------------- conventions


def test_settle_orders_signs_and_cleans():
    values, vectors = settle(np.array([1.0, -1e-13, 3.0]), np.array([[1.0, 0, -2], [-3.0, 1, 1]]))
    assert_allclose(values, [3, 1, 0])
    assert_allclose(vectors, [[2, -1, 0], [-1, 3, 1]])


@pytest.mark.parametrize("values", [[5.0, 4e-12], [5.0, -5e-5], [5.0, 1.0], [0.0, 0.0], [3e-200, 1e-200]])
def test_cleaning_is_that_of_scikit_learn(values):
    assert_allclose(clean_spectrum(np.array(values)), _check_psd_eigenvalues(np.array(values)))


@pytest.mark.parametrize("values", [[5.0, -1.0], [-5.0, -1.0]])
def test_negative_spectra_are_refused_with_scikit_learns_words(values):
    with pytest.raises(ValueError) as theirs:
        _check_psd_eigenvalues(np.array(values))
    with pytest.raises(ValueError) as ours:
        clean_spectrum(np.array(values))
    assert str(theirs.value) in str(ours.value)


# ---------------------------------------------------------------------------- the plan

GB = 10**9


@pytest.mark.parametrize(
    ("problem", "memory", "solver", "held", "why"),
    [
        (Problem(n=300, k=5, width=10), GB, "Dense", "gram", "300 rows are few"),
        (Problem(n=5000, k=5, width=10), GB, "BlockKrylov", "gram", "K takes 200 MB and fits into 1 GB"),
        (Problem(n=5000, k=600, width=10), 2 * GB, "Dense", "gram", "600 of 5,000 components are so many"),
        (Problem(n=5000, k=None, width=10), 2 * GB, "Dense", "gram", "5,000 of 5,000 components"),
        (Problem(n=5000, k=5, width=10, n_features=10), GB, "Factored", "features", "10 exact features"),
        (Problem(n=10**6, k=5, width=50, n_features=50), GB, "Factored", "features", "a 50×50 problem"),
        (Problem(n=5000, k=5, width=784, n_features=784), GB, "BlockKrylov", "features", "5,000×784 features"),
        (Problem(n=5000, k=100, width=784, n_features=784), GB, "Factored", "features", "a 784×784 problem"),
        (Problem(n=60, k=5, width=6000, n_features=6000), GB, "Dense", "features", "60 rows are few"),
        (Problem(n=2000, k=5, width=9000, n_features=9000), GB, "BlockKrylov", "features", "never multiplied out"),
        (
            Problem(n=9000, k=5, width=30_000, n_features=30_000, sparse=True),
            GB,
            "BlockKrylov",
            "features",
            "30,000 features",
        ),
        (Problem(n=12_000, k=5, width=10), 4 * GB, "BlockKrylov", "gram", "K takes 1.15 GB and fits into 4 GB"),
        (
            Problem(n=12_000, k=5, width=10),
            GB // 2,
            "WarmKrylov",
            "recomputed",
            "K would take 1.15 GB, against a limit",
        ),
        (Problem(n=20_000, k=20, width=30), 12 * GB, "WarmKrylov", "recomputed", "faster than filling it once"),
        (Problem(n=20_000, k=20, width=30, tol=1e-9), 12 * GB, "BlockKrylov", "gram", "K takes 3.2 GB"),
        (Problem(n=20_000, k=20, width=30, entry_cost=2000), 12 * GB, "BlockKrylov", "gram", "K takes 3.2 GB"),
        (Problem(n=20_000, k=20, width=30, sparse=True), 12 * GB, "BlockKrylov", "gram", "K takes 3.2 GB"),
        (Problem(n=20_000, k=20, width=30, psd=False), GB, "BlockKrylov", "recomputed", "no warm start"),
        (Problem(n=80_000, k=20, width=30), 2 * GB, "WarmKrylov", "recomputed", "K would take 51.2 GB"),
        (Problem(n=200_000, k=20, width=30), 3 * GB, "WarmKrylov", "recomputed", "K would take 320 GB"),
        (Problem(n=400_000, k=20, width=30, max_passes=9), 12 * GB, "WarmKrylov", "recomputed", "K would take 1.28 TB"),
        (Problem(n=400_000, k=20, width=30), 12 * GB, "Landmarks", "landmarks", "so there is only one"),
        (
            Problem(n=10**7, k=20, width=30),
            12 * GB,
            "Landmarks",
            "landmarks",
            "a single pass over the matrix would take",
        ),
        (
            Problem(n=10**6, k=20, width=30),
            2 * GB,
            "Landmarks",
            "landmarks",
            "a single pass over the matrix would take",
        ),
        (Problem(n=200_000, k=20, width=30), GB // 2, "Landmarks", "landmarks", "nothing that certifies"),
        (Problem(n=9000, k=5, eigen_solver="landmark"), 12 * GB, "Landmarks", "landmarks", "landmarks were asked for"),
        (Problem(n=5000, k=5, width=10, eigen_solver="dense"), 2 * GB, "Dense", "gram", "asked for"),
        (Problem(n=5000, k=5, width=10, eigen_solver="arpack"), GB, "BlockKrylov", "gram", "fits"),
        (Problem(n=5000, k=5, width=5000, given=True), GB, "BlockKrylov", "given", "the matrix is there"),
    ],
)
def test_the_plan_follows_from_sizes_and_says_why(problem, memory, solver, held, why):
    plan = choose_plan(problem, Limits(memory, 2))
    assert (type(plan.solver).__name__, plan.held) == (solver, held)
    assert why in plan.why and why in str(plan)


@pytest.mark.parametrize("problem", [Problem(n=10**6, k=20, width=30, tol=1e-5), Problem(n=20_000, k=None, width=30)])
def test_what_does_not_fit_is_said_before_anything_is_allocated(problem):
    with pytest.raises(MemoryError, match="over the limit of 2 GB"):
        choose_plan(problem, Limits(2 * GB, 2))


# ---------------------------------------------------------------------------- warm starts


@pytest.mark.parametrize("precondition", [True, False], ids=["preconditioned", "plain"])
@pytest.mark.parametrize("spectrum", SWEEP)
def test_a_warm_start_is_never_worse_than_a_cold_one_by_more_than_one_pass(spectrum, precondition):
    n, k, rng = 600, 20, np.random.default_rng(7)
    values = np.sort(SWEEP[spectrum](n))[::-1]
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    op = HeldMatrix((Q * values) @ Q.T)
    cold = BlockKrylov(block=16, basis=192).solve(op, k, np.random.default_rng(0))
    warm = WarmKrylov(tol=1e-8, block=16, rank=150, precondition=precondition).solve(op, k, np.random.default_rng(0))
    assert warm.converged
    assert warm.passes <= cold.passes + 1
    assert np.all(warm.values <= values[:k] + 1e-10 * values[0])  # Cauchy: from below
    if spectrum != "flat":  # there the k largest of hundreds of equal ones are found by the search for missed ones
        assert_allclose(warm.values, values[:k], rtol=1e-8, atol=1e-11 * values[0])


@pytest.mark.parametrize("trial", range(30))
def test_certificates_of_recomputed_matrices_hold(trial):
    """Rough passes, one exact pass, pivots' bound, probes that came along: every statement against LAPACK."""
    rng = np.random.default_rng(trial)
    n, d, k = int(rng.integers(80, 400)), int(rng.integers(1, 8)), int(rng.integers(1, 20))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5 * rng.integers(0, 3, size=(n, 1))
    gamma = float(rng.choice([0.1, 1, 10])) * RBF("median").resolved(X, rng).gamma
    weights = rng.integers(1, 4, size=n).astype(float) if trial % 3 == 0 else None
    op = Centered(RecomputedGram(RBF(gamma), X), weights)
    solver = WarmKrylov(tol=1e-4, block=8, rank=int(rng.integers(k + 5, 60)))
    spectrum = find_spectrum(Plan(solver, "recomputed", 0, "", tol=1e-4), op, k, rng)
    A = Centered(HeldGram(RBF(gamma), X), weights).dense()
    true, vectors = np.linalg.eigh(A)
    certificate, slack = spectrum.certificate, 1e-11 * true[-1]
    assert certificate.certified
    residuals = np.linalg.norm(A @ spectrum.vectors - spectrum.vectors * spectrum.values, axis=0)
    assert np.all(residuals <= np.maximum(1.01e-4 * spectrum.values, slack))
    assert np.all(certificate.lower <= true[::-1][:k] + slack) and np.all(true[::-1][:k] <= certificate.upper + slack)
    for i in range(certificate.n_complete):
        start, stop = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
        angle = np.sin(subspace_angles(spectrum.vectors[:, start:stop], vectors[:, ::-1][:, start:stop]).max())
        assert angle <= certificate.angles[i] + 1e-6


def test_a_cluster_that_no_pivot_hit_is_found_all_the_same():
    """The start knows nothing of twelve rows far away; random columns and probes do."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(400, 3)), 40 + 0.05 * rng.normal(size=(12, 3))])
    held = Centered(HeldGram(RBF(0.05), X))
    start = np.linalg.eigh(held.dense())[1][:, ::-1]
    blind = start[:, np.abs(start[400:]).max(axis=0) < 1e-3][:, :10]
    solver = WarmKrylov(tol=1e-6, block=4, rank=40)
    pairs = solver.solve(held, 8, rng, start=blind)
    assert_allclose(pairs.values, np.linalg.eigvalsh(held.dense())[::-1][:8], rtol=1e-6)


def test_probes_that_came_along_bound_the_rest():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A, values = matrix_with("algebraic", 70, rng)
        U = np.linalg.eigh(A)[1][:, ::-1][:, :5]
        probes = rng.normal(size=(70, 10))
        rest = explore_by_products(U, A @ U, probes, A @ probes)
        assert rest.seen <= values[5] * (1 + 1e-9) and values[5] <= rest.upper <= 100 * values[5]


def test_one_pass_has_to_do_where_passes_take_minutes():
    few = choose_plan(Problem(n=200_000, k=20, width=30), Limits(12 * GB, 2))
    many = choose_plan(Problem(n=400_000, k=20, width=30), Limits(12 * GB, 2))
    asked = choose_plan(Problem(n=400_000, k=20, width=30, max_passes=9), Limits(12 * GB, 2))
    assert (few.solver.max_passes, many.solver.refine, asked.solver.max_passes) == (300, 1, 9)
    assert few.warning == asked.warning == "" and "there is only one" in many.notice and many.warning in str(many)
    assert many.solver.count >= 1000 and not many.streams


@pytest.mark.parametrize("n", [15_000, 80_000, 200_000])
@pytest.mark.parametrize("memory", [0.3, 0.5, 1, 2, 12])
def test_the_plan_stays_within_the_limit_or_says_so(n, memory):
    try:
        plan = choose_plan(Problem(n=n, k=20, width=30, eigen_solver="krylov"), Limits(int(memory * GB), 2))
    except MemoryError as error:
        assert "over the limit" in str(error) and n * memory > 2e4
        plan = choose_plan(Problem(n=n, k=20, width=30), Limits(int(memory * GB), 2))
        assert plan.streams and plan.memory <= memory * GB and "Landmarks are used instead" in plan.warning
    else:
        assert plan.memory <= memory * GB and plan.solver.rank >= 50


def test_the_pivots_bound_says_nothing_about_a_pair_that_was_missed():
    """Weyl bounds the eigenvalue after the k-th largest, not what is outside of the found ones."""
    values = np.array([10.0, 8, 6, 5, 1, 0.5, 0.1, 0])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    A = Q * values @ Q.T
    right, wrong = ([0, 1, 2], [0, 2, 3])
    for found in (right, wrong):
        pairs = Eigenpairs(values[found], Q[:, found], np.zeros(3), A @ Q[:, found], bound=5.01)
        assert bound_by_pivots(pairs) == (np.inf if found is wrong else pytest.approx(5.01))
        assert pairs.first(2).bound == np.inf


def test_a_direction_next_to_an_unfound_eigenvalue_is_not_called_sure():
    values = np.concatenate([[5.2, 5.05], np.linspace(1, 0.1, 28)])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    A = Q * values @ Q.T
    tilted = np.cos(0.05) * Q[:, [0]] + np.sin(0.05) * Q[:, [1]]
    U = np.concatenate([tilted, Q[:, [2]]], axis=1)
    theta = np.sum(U * (A @ U), axis=0)
    pairs = Eigenpairs(theta, U, np.linalg.norm(A @ U - U * theta, axis=0), A @ U)
    P = np.eye(30) - U @ U.T
    certificate = certify(pairs, tol=1e-2, bound=float(np.linalg.eigvalsh(P @ A @ P)[-1]), level="known")
    for i in range(certificate.n_complete):
        assert certificate.angles[i] >= np.sin(0.05) - 1e-9


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("gamma", [1e-3, 1e-2])
def test_the_bound_of_a_share_holds_for_what_is_left_out(share, gamma):
    X = make_swiss_roll(450, random_state=0)[0]
    op = Centered(RecomputedGram(RBF(gamma), X))
    plan = Plan(WarmKrylov(tol=1e-4, block=8, rank=100), "recomputed", 0, "", tol=1e-4)
    spectrum = find_spectrum(plan, op, share, np.random.default_rng(0))
    true = np.linalg.eigvalsh(Centered(HeldGram(RBF(gamma), X)).dense())[::-1]
    kept = len(spectrum.values)
    assert true[:kept].sum() >= share * true.sum() > true[: kept - 1].sum()
    assert true[kept] <= spectrum.certificate.bound_beyond * (1 + 1e-9) + 1e-9


def test_passes_are_no_more_than_asked_for():
    X = make_swiss_roll(450, random_state=0)[0]
    for most in (1, 2, 3, 5):
        op = Centered(RecomputedGram(RBF(1.0), X))
        solver = WarmKrylov(tol=1e-12, block=4, rank=30, max_passes=most)
        assert solver.solve(op, 9, np.random.default_rng(0)).passes <= most
