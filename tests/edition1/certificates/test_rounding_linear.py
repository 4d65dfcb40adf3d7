"""What linear PCA says about its own rounding, against sums in whole numbers: no digit of the truth is rounded."""

from fractions import Fraction
from math import fsum

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer import PCA, IncrementalPCA
from mercer_old.fits.linear import axes, ways
from mercer_old.operators.products import ScatterProducts
from mercer_old.rounding import UNIT, UNIT_SINGLE, gamma
from mercer_old.sources.held import HeldRows
from mercer_old.sums import (
    LONG,
    RunningSum,
    chain,
    column_squares,
    cross,
    inner,
    product,
    sum_chain,
    two_sum,
    weighted_sum,
)
from mercer_old.sweeps.lanes import sweep_scatter
from mercer_old.sweeps.spread import Spread
from mercer_old.sweeps.square import Square
from mercer_old.sweeps.triangle import Triangle
from support.registry import ALL_SCATTERS
from support.silence import quiet
from support.strategies import seeds

few = settings(max_examples=25)
SOLVERS = ["full", "qr", "covariance_eigh", "gram", "krylov"]


def dense(rows):
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=float)


def exact_scatter(rows, weights=None):
    """Mean and Σw(x − mean)(x − mean)ᵀ in fractions; equal rows are counted."""
    weights = [Fraction(1)] * rows.shape[0] if weights is None else [Fraction(w) for w in weights]
    groups = {}
    for row, weight in zip(dense(rows).tolist(), weights, strict=True):
        groups[tuple(row)] = groups.get(tuple(row), Fraction(0)) + weight
    total, d = sum(groups.values()), rows.shape[1]
    rows = [([Fraction(x) for x in row], weight) for row, weight in groups.items()]
    mean = [sum(w * x[j] for x, w in rows) / total for j in range(d)]
    moved = [([a - m for a, m in zip(x, mean, strict=True)], w) for x, w in rows]
    return mean, [[sum(w * x[i] * x[j] for x, w in moved) for j in range(d)] for i in range(d)]


def exact_values(S):
    """Eigenvalues in 40 digits, largest first."""
    with mpmath.workdps(40):
        values = mpmath.eigsy(
            mpmath.matrix([[mpmath.mpf(s.numerator) / s.denominator for s in row] for row in S]), eigvals_only=True
        )
        return sorted(values, reverse=True)


def holds(certificate, values):
    """Whether all eigenvalues are where the certificate says."""
    with mpmath.workdps(40):
        slack = values[0] * mpmath.mpf(10) ** -35
        k = certificate.n_components
        every = list(values) + [mpmath.mpf(0)] * max(k - len(values), 0)
        inside = all(
            low <= value + slack and value <= high + slack
            for low, value, high in zip(certificate.lower.tolist(), every[:k], certificate.upper.tolist(), strict=True)
        )
        return inside and all(value <= certificate.bound_beyond + slack for value in every[k:])


# ---------------------------------------------------------------------------- sums


@pytest.mark.parametrize("terms", [1, 15, 16, 17, 63, 64, 65, 130, LONG, LONG + 1, 5 * LONG + 7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_numbers_add_up_within_the_chain_that_is_said(terms, dtype):
    unit = UNIT if dtype == np.float64 else UNIT_SINGLE
    for width in (1, 3, 70):  # side by side, and as BLAS adds to what is there
        Y = np.full((terms, width), dtype(0.1) * dtype(1.7))
        value = Fraction(float(Y[0, 0]))
        for found in (product(Y.T, Y), inner(Y, Y), inner(Y, Y.copy())):
            assert abs(Fraction(float(found[0, -1])) - terms * value**2) <= gamma(chain(terms), unit) * terms * value**2
        squares = column_squares(Y)
        assert abs(Fraction(float(squares[0])) - terms * value**2) <= gamma(chain(terms), unit) * terms * value**2
        total = weighted_sum(np.ones(terms, dtype=dtype), Y)
        assert abs(Fraction(float(total[0])) - terms * value) <= gamma(sum_chain(terms), unit) * terms * value


def test_one_chain_for_all_rows_would_break_that():
    terms, value = 100_000, Fraction(0.1)
    total = np.cumsum(np.full(terms, 0.1))[-1]  # one after the other
    assert abs(Fraction(float(total)) - terms * value) > gamma(sum_chain(terms)) * terms * value


@given(seeds, st.integers(1, 200), st.integers(1, 90))
@few
def test_products_in_pieces_are_products(seed, terms, width):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(terms, width)), rng.normal(size=(terms, 5))
    np.testing.assert_allclose(inner(A, B), A.T @ B, atol=1e-12)
    np.testing.assert_allclose(product(A.T, B), A.T @ B, atol=1e-12)
    np.testing.assert_allclose(np.triu(inner(A, A)), np.triu(A.T @ A), atol=1e-12)
    np.testing.assert_allclose(weighted_sum(A[:, 0], B), A[:, 0] @ B, atol=1e-12)
    np.testing.assert_allclose(column_squares(A), np.sum(A**2, axis=0), atol=1e-12)


@given(st.lists(st.floats(-1e100, 1e100), min_size=2, max_size=2))
def test_what_an_addition_loses_is_known_exactly(numbers):
    a, b = numbers
    total, rest = two_sum(a, b)
    assert Fraction(total) + Fraction(rest) == Fraction(a) + Fraction(b)


def test_a_running_sum_is_known_to_its_last_digit_however_long():
    running, parts = RunningSum((2,)), [0.1, 1e8, -1e8, 0.7] * 25_000
    for part in parts[:40_000]:
        running.add(np.array([part, 0.1]))
    expected = fsum(parts[:40_000]), fsum([0.1] * 40_000)
    np.testing.assert_allclose(running.settle(), expected, rtol=2 * UNIT)


@given(seeds)
@few
def test_cauchy_and_schwarz_bound_every_entry(seed):
    rng = np.random.default_rng(seed)
    a, b = np.abs(rng.normal(size=(2, 6)) * 10.0 ** rng.integers(-8, 8, (2, 6)))
    e = cross(a, b)
    assert np.all(np.outer(a, b) + np.outer(b, a) <= np.sqrt(np.outer(e, e)) * (1 + 1e-12))
    np.testing.assert_allclose(e.sum(), 2 * np.linalg.norm(a) * np.linalg.norm(b))


# ---------------------------------------------------------------------------- what an accumulator says of itself


def a_block(rng, d, kind, place):
    n = int(rng.integers(1, 40))
    if rng.uniform() < 0.4:
        rows = rng.choice([-1.0132, 1.0132], size=(n, d)) + place
    else:
        rows = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4) + place
    if kind == "csr":
        return sparse.csr_array(np.where(rng.uniform(size=(n, d)) < 0.5, rows, 0.0))
    return rows.astype(np.float32) if kind == "float32" else rows


@pytest.mark.parametrize("kind", ALL_SCATTERS)
@given(seeds, st.booleans(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_sums_and_means_are_no_farther_off_than_they_say(kind, seed, weighted, forgetting):
    rng = np.random.default_rng(seed)
    d, place = int(rng.integers(1, 4)), rng.choice([0.0, 1.0, 1e4, 1e9])
    names = ["float64", "float32", "csr"] if kind is not Triangle else ["float64", "float32"]
    scatter, every, weights = kind(np.zeros(d)), [], []
    for _ in range(int(rng.integers(1, 9))):
        place += rng.choice([0.0, 0.0, 1e3, -1e6])
        rows = a_block(rng, d, rng.choice(names), place)
        w = rng.uniform(0.01, 9, rows.shape[0]) if weighted else None
        if forgetting:
            scatter.forget(0.7)
            weights = [Fraction(0.7) * x for x in weights]
        if rng.uniform() < 0.5:
            scatter.add(rows, w)
        else:
            other = kind(np.zeros(d))
            other.add(rows, w)
            scatter.merge(other)
        every.append(dense(rows))
        weights += [Fraction(float(x)) for x in (np.ones(rows.shape[0]) if w is None else w)]
    mean, S = exact_scatter(np.concatenate(every), weights)
    for j in range(d):
        known = Fraction(float(scatter.origin[j])) + Fraction(float(scatter.offset[j]))
        assert abs(known - mean[j]) <= Fraction(float(scatter.doubt[j]))
        assert abs(scatter.offset[j]) <= UNIT * abs(scatter.origin[j])  # the origin follows the rows
    if kind is Triangle:
        for j in range(d):  # of columns whose lengths are off by the slack
            length = fsum((scatter.R[:, j] ** 2).tolist()) ** 0.5
            assert abs(length - float(S[j][j]) ** 0.5) <= scatter.slack[j] + 8 * UNIT * length
        return
    own = scatter.own_noise + 2 * UNIT * scatter.squares
    for j in range(d):
        assert abs(Fraction(float(scatter.squares[j])) - S[j][j]) <= Fraction(float(own[j]))
    if kind is Square:
        noise, found = scatter.noise + 4 * UNIT * scatter.squares, scatter.matrix
        for i in range(d):
            for j in range(d):
                most = Fraction(float(np.sqrt(noise[i] * noise[j]) * (1 + 1e-10)))
                assert abs(Fraction(float(found[i, j])) - S[i][j]) <= most


# ---------------------------------------------------------------------------- rows with structure


def two_levels(n, d, seed=0):
    return np.random.default_rng(seed).choice([-1.0132, 1.0132], size=(n, d))


STRUCTURED = {
    "two levels": lambda: two_levels(1024, 2),
    "two levels, far": lambda: two_levels(1024, 2) + 1e6,
    "three levels": lambda: np.random.default_rng(1).choice([0.1, 0.2, 0.7], size=(3000, 2)),
    "equal rows": lambda: np.full((3000, 3), 0.1),
    "equal sparse rows": lambda: sparse.csr_array(np.full((20_000, 3), 0.1)),
    "a constant sparse column": lambda: sparse.csr_array(two_levels(5000, 3) * [0.0, 1, 1] + [0.7, 0, 0]),
    "one-hot": lambda: np.eye(7)[np.arange(700) % 7],
    "sparse one-hot": lambda: sparse.csr_array(np.eye(7)[np.arange(700) % 7] * 0.3),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", STRUCTURED)
@quiet
def test_certificates_hold_where_all_roundings_go_the_same_way(name, solver):
    X = STRUCTURED[name]()
    if (sparse.issparse(X) and solver in ("full", "qr", "gram")) or (solver == "gram" and X.shape[0] > 1500):
        pytest.skip("not a way for these rows")
    values = exact_values(exact_scatter(X)[1])
    for k in {1, X.shape[1]}:
        assert holds(PCA(k, svd_solver=solver).fit(X).certificate_, values)


@pytest.mark.parametrize("count", [100, 1000])
@quiet
def test_certificates_of_many_equal_batches_hold(count):
    batch = two_levels(4, 3)
    model = IncrementalPCA(3)
    for _ in range(count):
        model.partial_fit(batch)
    assert holds(model.certificate_, exact_values(exact_scatter(batch, [count] * 4)[1]))


@pytest.mark.parametrize("jump", [0.0, 6e4, 1e6, 1e9])
@pytest.mark.parametrize("forget", [0.5, 0.9])
@quiet
def test_certificates_of_rows_that_drift_and_are_forgotten_hold_and_are_narrow(forget, jump):
    rng, model, rows, weights = np.random.default_rng(0), IncrementalPCA(2, forget=forget), [], []
    for i in range(40):
        rows.append(rng.normal(size=(5, 2)) + (jump if i < 3 else 0.0))
        model.partial_fit(rows[-1])
        weights = [w * Fraction(forget) for w in weights] + [Fraction(1)] * 5
    _, S = exact_scatter(np.concatenate(rows), weights)
    values = exact_values(S)
    assert holds(model.certificate_, values)
    left = forget**37 * jump**2 / float(values[1]) + 1  # of the rows before the jump
    assert np.all(model.certificate_.upper - model.certificate_.lower <= 1e-11 * left * float(values[0]))


# ---------------------------------------------------------------------------- noise is handed on


@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_are_told_what_rounding_does_to_rows_and_mean(solver, monkeypatch):
    said = []
    certify = ways.certify
    for module in (axes, ways):
        monkeypatch.setattr(module, "certify", lambda *a, **k: said.append(k["entries"]) or certify(*a, **k))
    X = np.random.default_rng(0).normal(size=(300, 5)) + 3.3
    PCA(svd_solver=solver).fit(X)
    total = float(np.sum((X - X.mean(axis=0)) ** 2))
    rows = {"full": UNIT * total**0.5, "qr": gamma(64) * total**0.5, "krylov": UNIT**2 * total}
    assert said[-1] >= rows.get(solver, gamma(chain(5) if solver == "gram" else chain(300)) * total)
    assert said[-1] <= 1000 * UNIT * (total**0.5 if solver in ("full", "qr") else total)


def test_chains_of_sparse_products_are_those_of_the_pieces_that_are_multiplied(monkeypatch):
    """However entries of a column lie among them: here side by side, where a block of another length would end."""
    there = sparse.random_array((9000, 700), density=0.05, random_state=np.random.default_rng(0), format="lil")
    there[2250:3375, 0] = 1.0
    rows, longest = HeldRows(sparse.csr_array(there)), [0]
    op = ScatterProducts(rows, sweep_scatter(Spread, rows, None, 1, exact=True))
    product = op._product

    def watched(X, *others):
        longest[0] = max(longest[0], int(np.diff(X.indptr).max() + np.bincount(X.indices).max()))
        return product(X, *others)

    monkeypatch.setattr(op, "_product", watched)
    op.matmat(np.ones((700, 2)))
    assert longest[0] >= 1125 and op.chain >= longest[0]
