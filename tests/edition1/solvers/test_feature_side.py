"""Krylov steps on the side of the features, and what is proven about the rows from there."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from mercer.kernels import Spectrum
from mercer_old.errors import BadData
from mercer_old.fits.spectrum import find_spectrum
from mercer_old.operators.centering import Centered
from mercer_old.operators.features import FeatureGram
from mercer_old.plans.plan import Plan
from mercer_old.rounding import lengths
from mercer_old.solvers.base import Eigenpairs
from mercer_old.solvers.feature_side import FactoredKrylov
from mercer_old.solvers.krylov import BlockKrylov

rng = np.random.default_rng(0)


def words(n, letters="abcdefgh", longest=9):
    return ["".join(rng.choice(list(letters), size=rng.integers(3, longest))) for _ in range(n)]


TEXTS = {
    "words": words(300),
    "copies": words(20) * 12,
    "ties": [a + b + a for a in "abcdefghij" for b in "klmnopqrst"],  # letters that may be swapped
    "one letter": ["a" * (3 + i % 40) for i in range(200)],
    "one gram": ["abc"] * 100 + [""] * 60,
    "all the same": ["abcde"] * 150,
    "none has a gram": ["a", "b"] * 60,
    "more grams than texts": words(40, "abcdefghijklmnopqrstuvwxyz", 60),
    "one long text": ["abc" * 3000, *words(100)],
}


def held(texts):
    learned = Spectrum(3).feature_map(texts)
    return FeatureGram(learned.features(texts), learned=learned)


def centred_matrix(features, weights):
    """P S K S P, multiplied out."""
    w = np.ones(features.shape[0]) if weights is None else weights
    rows = features.toarray()
    rows = np.sqrt(w)[:, None] * (rows - w @ rows / w.sum())
    return rows @ rows.T


@pytest.mark.parametrize("texts", TEXTS)
@pytest.mark.parametrize("levels", [None, pytest.param((1.0, 3.0), marks=pytest.mark.slow), (1e-6, 1e6)], ids=str)
@pytest.mark.parametrize("k", [1, 5, 30])
def test_certificates_hold_whatever_the_texts_are(texts, levels, k):
    op = held(TEXTS[texts])
    weights = None if levels is None else np.random.default_rng(1).choice(levels, size=op.n)
    matrix = Centered(op, weights)
    found = find_spectrum(
        Plan(FactoredKrylov(BlockKrylov(block=4)), "features", 0, ""), matrix, k, np.random.default_rng(2)
    )
    A = centred_matrix(op.factor, weights)
    truth, c, U = np.linalg.eigvalsh(A)[::-1], found.certificate, found.vectors
    rounding = 1e-13 * truth[0]  # of this test's own matrix
    assert c.converged
    assert np.all(c.lower <= truth[:k] + rounding) and np.all(truth[:k] <= c.upper + rounding)
    zero = 2e-12 * truth[0]  # by convention, as in scikit-learn
    assert_allclose(found.values, truth[:k], rtol=1e-9, atol=c.rounding + zero)
    assert_allclose(U.T @ U, np.eye(k), atol=1e-11)
    assert np.all(lengths(A @ U - U * found.values) <= c.residuals + c.rounding + zero)
    outside = np.eye(op.n) - U @ U.T
    assert np.linalg.norm(outside @ A @ outside, 2) <= c.bound_beyond + rounding


def test_both_sides_find_the_same():
    op = held(words(2000, "abcdefghijklmno"))
    found = [
        find_spectrum(Plan(solver, "features", 0, ""), Centered(op), 8, np.random.default_rng(3))
        for solver in (BlockKrylov(tol=1e-10, block=8), FactoredKrylov(BlockKrylov(tol=1e-10, block=8)))
    ]
    assert_allclose(found[0].values, found[1].values, rtol=1e-12)
    assert_allclose(found[0].scores, found[1].scores, atol=1e-7)
    assert found[1].certificate.rounding <= 2 * found[0].certificate.rounding


def test_a_share_is_grown_from_what_was_found():
    texts = words(400, "abcd", 7)
    op, solver = held(texts), FactoredKrylov(BlockKrylov(block=4))
    plan = Plan(solver, "features", 0, "")
    found = find_spectrum(plan, Centered(op), 0.9, np.random.default_rng(0), replan=lambda k: plan)
    truth = np.linalg.eigvalsh(centred_matrix(op.factor, None))[::-1]
    count = int(np.searchsorted(np.cumsum(truth) / truth.sum(), 0.9)) + 1
    assert len(found.values) == count
    c = found.certificate
    assert np.all(c.lower <= truth[:count] + 1e-12) and np.all(truth[:count] <= c.upper + 1e-12)


@dataclass(frozen=True)
class Misled(BlockKrylov):
    """Ritz pairs in a space that has nothing to do with the matrix, told to be converged."""

    def solve(self, op, k, rng, start=None, precondition=None):
        Q = np.linalg.qr(rng.standard_normal((op.n, k)))[0]
        values, Y = np.linalg.eigh(Q.T @ op.matmat(Q))
        V, theta = Q @ Y[:, ::-1], values[::-1]
        products = op.matmat(V)
        return Eigenpairs(theta, V, lengths(products - V * theta), products, size=theta[0], open=np.ones(k, dtype=bool))


@given(st.integers(0, 10_000))
def test_what_is_left_of_the_rows_is_no_more_than_what_is_left_of_the_features(seed):
    """Also where the solver found nothing worth finding: ‖QΦ‖² ≤ ‖ΦV⊥‖²."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 40)), int(rng.integers(2, 12))
    X = rng.normal(size=(n, d)) * rng.choice([1.0, 0.1, 1e-9], size=d)
    op, k = Centered(FeatureGram(sparse.csr_array(X))), int(rng.integers(1, d + 1))
    pairs = FactoredKrylov(Misled()).solve(op, k, rng)
    outside = np.eye(n) - pairs.vectors @ pairs.vectors.T
    A = centred_matrix(sparse.csr_array(X), None)
    left = np.linalg.norm(outside @ A @ outside, 2)
    assert left <= pairs.rest + 1e-14 * np.linalg.norm(A, 2)
    fewer = pairs.first(k - 1)
    outside = np.eye(n) - fewer.vectors @ fewer.vectors.T
    assert np.linalg.norm(outside @ A @ outside, 2) <= fewer.rest + 1e-14 * np.linalg.norm(A, 2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_features_without_finite_squares_are_refused():
    op = Centered(FeatureGram(sparse.csr_array(np.eye(30)[:, :5] * 1e200)))
    with pytest.raises(BadData, match="not finite"):
        FactoredKrylov(BlockKrylov()).solve(op, 2, rng)
