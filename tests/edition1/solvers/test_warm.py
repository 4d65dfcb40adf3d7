"""Warm starts: never much worse than cold ones, and clusters that no pivot hit are found all the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_swiss_roll

from benchmarks.shared.spectra import SPECTRA as SWEEP
from mercer.kernels import RBF
from mercer_old.operators.centering import Centered
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.warm import WarmKrylov


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


def test_passes_are_no_more_than_asked_for():
    X = make_swiss_roll(450, random_state=0)[0]
    for most in (1, 2, 3, 5):
        op = Centered(RecomputedGram(RBF(1.0), X))
        solver = WarmKrylov(tol=1e-12, block=4, rank=30, max_passes=most)
        assert solver.solve(op, 9, np.random.default_rng(0)).passes <= most
