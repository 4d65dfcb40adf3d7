"""Squared distances: four steps, each held against fractions, which round nothing."""

from fractions import Fraction

import numpy as np
import pytest

from mercer_old.rounding import gamma
from mercer_old.squares import (
    Moved,
    differences,
    differences_to,
    first_of_equals,
    from_products,
    medians,
    multiply,
    own_at_least,
    screen_of,
    squares_but_own,
)
from mercer_old.sums import LESS_SHORT, LONG, chain

rng = np.random.default_rng(0)
ROWS = {
    "normal": rng.normal(size=(9, 7)),
    "far from zero": 1e6 + rng.normal(size=(9, 7)),
    "two far apart": np.repeat([[0.0], [1e8]], [5, 4], axis=0) + rng.normal(size=(9, 7)),
    "thirds": rng.integers(0, 4, size=(9, 12)) / 3,
    "wide": rng.normal(size=(5, 600)),
    "single": rng.normal(size=(9, 7)).astype(np.float32),
}
EACH = pytest.mark.parametrize("X", ROWS.values(), ids=list(ROWS))


def exact(X, Y):
    """‖x − y‖² of all pairs as fractions."""
    X, Y = ([[Fraction(float(value)) for value in row] for row in rows] for rows in (X, Y))
    return [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in Y] for x in X]


def off(found, true):
    """How far each is off."""
    return np.array(
        [
            [float(abs(Fraction(float(f)) - t)) for f, t in zip(*pair, strict=True)]
            for pair in zip(found, true, strict=True)
        ]
    )


def by_product(X, Y, centre, short=LESS_SHORT):
    Z, W, out = Moved(X, centre), Moved(Y, centre), np.empty((len(X), len(Y)))
    multiply(Z.left(times=-2.0), W.right(), out, short)
    return out, Z.squares[:, None] + W.squares


@EACH
@pytest.mark.parametrize("short", [LESS_SHORT, LONG])
def test_a_product_is_off_by_no_more_than_its_chain_allows(X, short):
    d = X.shape[1]
    for centre in (X.mean(axis=0, dtype=np.float64), medians(X), np.zeros(d)):
        found, moduli = by_product(X, X[::-1], centre, short)
        assert (off(found, exact(X, X[::-1])) <= gamma(3 * chain(d, short) + 27) * moduli).all()


@EACH
def test_differences_are_known_to_so_many_roundings_of_themselves(X):
    X = X.astype(np.float64)
    true = exact(X, X)
    near = np.tile(np.arange(len(X)), (len(X), 1))
    for found in (differences(X, X), differences_to(X, X, near)):
        assert (off(found, true) <= gamma(X.shape[1] + 8) * np.array(true, dtype=float)).all()
        assert not np.diag(found).any()


@EACH
def test_what_single_precision_compares_never_proves_too_much(X):
    P = X.astype(np.float64) - medians(X)
    true = np.array(exact(P, P), dtype=float)
    for dtype in (np.float32, np.float64):
        out = np.empty((len(P), len(P)), dtype=dtype)
        squares_but_own(P, screen_of(P, dtype), out)
        least = out + own_at_least(P, np.sqrt(true.max(axis=1)), dtype)[:, None]
        assert (least <= true).all()
        # and says something: (2‖q‖ + radius)² ≤ 16·max‖p‖², and three halves of d + 8 roundings
        slack = 24 * (P.shape[1] + 8) * np.finfo(dtype).eps * np.square(P).sum(axis=1).max()
        assert (least >= true - 2 * slack).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 30, 5000])
def test_what_a_comparison_allows_for_rounding_has_room_for_every_sum_in_it(d, dtype):
    """‖p‖² and the squared radius by themselves (d terms, in double precision), and then d + 1 products."""
    u, v = np.finfo(dtype).eps / 2, np.finfo(float).eps / 2
    allowed = -own_at_least(np.zeros((1, d)), np.ones(1), dtype)[0]  # all p lie on a sphere around q = 0
    assert allowed >= (d + 1) * u + d * v + (d + 2) * v
    assert allowed <= 4 * (d + 9) * u


def test_powers_of_two_and_signs_round_nothing():
    X, centre = ROWS["thirds"], medians(ROWS["thirds"])
    Z, found = Moved(X, centre), {}
    for times in (1.0, -2.0, 0.25):
        found[times] = np.empty((len(X), len(X)))
        multiply(Z.left(times), Z.right(), found[times])
    assert np.array_equal(found[-2.0], -2 * found[1.0]) and np.array_equal(found[0.25], found[1.0] / 4)
    squares, plus, minus = np.einsum("ij,ij->i", X, X), X @ X.T, X @ X.T
    from_products(plus, squares, squares)
    from_products(minus, squares, squares, times=-1.0)
    assert np.array_equal(plus, -minus)
    np.testing.assert_allclose(plus, differences(X, X), atol=1e-13)


def test_rows_are_the_same_however_they_lie_in_memory():
    X = rng.normal(size=(40, 300))
    one, other = (Moved(rows, medians(rows), 0.3) for rows in (X, np.asfortranarray(X)))
    assert np.array_equal(one.squares, other.squares) and np.array_equal(one.right(), other.right())


def test_the_first_of_equals_is_found_among_rows_of_equal_sums():
    third, none = 1 / 3, np.zeros(9)
    one, other = np.zeros((2, 9))
    one[8], other[[0, 3]] = third, third  # √9 = √1 + √4
    X = np.array([one, other, none, other, one, rng.normal(size=9), -none, other])
    assert first_of_equals(X, none).tolist() == [0, 1, 2, 1, 0, 5, 2, 1]
    assert first_of_equals(X[[0, 1, 2, 5]], none) is None
    assert first_of_equals(rng.normal(size=(50, 9)), none) is None


def test_equal_rows_are_found_piece_by_piece(monkeypatch):
    monkeypatch.setattr("mercer_old.squares._AT_ONCE", 40)
    X = rng.integers(0, 2, size=(200, 5)) / 7
    expected = [next(j for j in range(200) if (X[j] == row).all()) for row in X]
    assert first_of_equals(X, medians(X)).tolist() == expected
