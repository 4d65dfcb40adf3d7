"""Frequent Directions: intervals of eigenvalues, for any order of rows and merges."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.certificates.sketch import certify_sketch
from mercer.data.dataset import ArrayDataset
from mercer.linalg.scatter import accumulate, merged
from mercer.linalg.scatter_sketch import ScatterSketch
from mercer.numerics.rounding import UNIT

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(500, 30)) * 0.8 ** np.arange(30) + 10
WEIGHTS = rng.uniform(0.1, 2.0, 500)
SPARSE = sparse.csr_array(np.where(rng.random((400, 40)) < 0.2, rng.normal(size=(400, 40)) + 2, 0.0))


def sketched(X, weights=None, size=8, n_threads=1):
    return accumulate(ArrayDataset(X), weights, partial(ScatterSketch, size=size), n_threads)


def scatter_matrix(X, weights=None):
    X = (X.toarray() if sparse.issparse(X) else X).astype(np.longdouble)
    w = np.ones(len(X), np.longdouble) if weights is None else weights.astype(np.longdouble)
    for _ in range(2):
        X = X - w @ X / w.sum()
    return (X.T @ (w[:, None] * X)).astype(float)


def check(sketch, X, weights=None):
    """BᵀB ⪯ S ⪯ BᵀB + Δ up to rounding, and the a priori bound on Δ."""
    S = scatter_matrix(X, weights)
    lost = np.linalg.eigvalsh(S - sketch.rows.T @ sketch.rows)
    slack = sketch.sketch_error + 1e-14 * np.trace(S)
    assert lost[0] >= -slack
    assert lost[-1] <= sketch.shrinkage + slack
    values, ell = np.linalg.eigvalsh(S)[::-1], sketch.size
    tails = [(values[k:].sum() + slack) / (ell + 1 - k) for k in range(ell + 1)]
    assert sketch.shrinkage <= min(tails) * (1 + 1e-12)
    assert_allclose(sketch.squares, np.diag(S), rtol=1e-12)
    assert np.all(np.abs(sketch.squares - np.diag(S)) <= sketch.diagonal_error + 1e-15 * np.diag(S))
    assert slack < 1e-9 * np.trace(S)


@pytest.mark.parametrize(
    ("X", "weights"),
    [(ROWS, None), (ROWS + 1e6, WEIGHTS), (SPARSE, None), (SPARSE, WEIGHTS[:400]), (ROWS.astype(np.float32), None)],
    ids=["dense", "far with weights", "sparse", "sparse with weights", "float32"],
)
def test_the_scatter_lies_between_the_sketch_and_its_shrinkage(X, weights):
    sketch = sketched(X, weights)
    assert len(sketch.rows) <= 16 and sketch.shrinkage > 0
    check(sketch, X, weights)


def test_the_interval_would_be_wrong_without_the_shrinkage():
    sketch = sketched(ROWS)
    lost = np.linalg.eigvalsh(scatter_matrix(ROWS) - sketch.rows.T @ sketch.rows)
    assert lost[-1] > 0.3 * sketch.shrinkage


def test_rows_that_are_kept_have_the_errors_of_centering():
    """Equal moduli and weights, so that all entries are rounded alike; nothing shrinks."""
    worst = 0.0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        X = draw.choice([-1.0, 1.0], (16, 1)) * draw.uniform(0.5, 1) + draw.uniform(-1, 1)
        weights = np.full(16, draw.uniform(0.1, 3))
        sketch = sketched(X, weights)
        w, x = Fraction(float(weights[0])), [Fraction(float(value)) for value in X[:, 0]]
        S = w * (sum(value**2 for value in x) - sum(x) ** 2 / 16)
        error = float(abs(sum(Fraction(float(value)) ** 2 for value in sketch.rows[:, 0]) - S))
        assert error <= sketch.sketch_error
        worst = max(worst, error / float(S))
    assert worst >= 3 * UNIT  # more than one rounding each


def test_certified_intervals_and_angles_hold_for_the_worst_that_a_sketch_allows():
    """BᵀB = diag(3, 2), and S is off from BᵀB + Δ/2 by h = Δ/2 + r in every direction."""
    worst = 0.0
    for half in (0.01, 0.2, 0.4, 0.45):
        for rounding, error in ((0.0, 0.0), (half / 2, 0.0), (half / 4, half / 4)):
            shrinkage = 2 * (half - rounding - error)
            c = certify_sketch(
                np.array([3.0]), np.array([2.0]), error=error, sketch_size=1, shrinkage=shrinkage, rounding=rounding,
                total=5.0, total_error=0.0,
            )  # fmt: skip
            for turn in np.linspace(0, np.pi, 181):
                E = half * np.array([[np.cos(turn), np.sin(turn)], [np.sin(turn), -np.cos(turn)]])
                values, vectors = np.linalg.eigh(np.diag([3.0, 2.0]) + shrinkage / 2 * np.eye(2) + E)
                assert c.lower[0] - 1e-12 <= values[1] <= c.upper[0] + 1e-12 and values[0] <= c.bound_beyond + 1e-12
                sine = abs(vectors[1, 1])
                assert sine <= c.angles[0] + 1e-12
                worst = max(worst, sine / half)
    assert worst > 1.1  # half of the gap is not enough


def test_the_explained_ratio_holds_for_every_total_that_its_error_allows():
    c = certify_sketch(
        np.array([3.0, 2.0]), np.array([1.0]), error=0.0, sketch_size=2, shrinkage=0.0, rounding=0.0, total=6.0,
        total_error=0.5,
    )  # fmt: skip
    assert c.explained[0] <= 5 / 6.5 and c.explained[1] >= 5 / 5.5


def sums_of_squares_that_err_down(n_terms, n_sums):
    """Integers, so many terms times so many equal sums of squares, each of them rounded down as long as it can be."""
    total_bits = 60
    spacing = 2 ** (total_bits - 53)  # of numbers near the whole sum
    root = np.sqrt(2.0**total_bits / n_terms / n_sums)
    c = int(root) // 2 * 2  # squares of even numbers are multiples of four
    rest = range(spacing // 2 - 8, spacing // 2)  # after division by the spacing
    odd = next(d for d in range(1, spacing, 2) if (c * c * (n_terms - 1) + d * d) % spacing in rest)
    return np.append(np.full(n_terms - 1, float(c)), float(odd))


def test_a_shrunk_sketch_has_the_rounding_of_long_sums():
    """Two orthogonal rows of two million integers, whose squares add up to less than they are.

    What is subtracted comes from these sums, and S reaches up to it and the rounding.
    """
    piece = sums_of_squares_that_err_down(256, 8192)
    first = np.tile(piece, 8192)
    second = first * np.repeat(np.tile([1.0, -1.0], 4096), 256)
    sketch = ScatterSketch(len(first), 1)
    sketch._gather(np.stack([first, second, 0 * first]))
    exact = int(sum(int(x) ** 2 for x in piece)) * 8192
    kept = sketch.rows[0]
    assert abs(kept @ kept) < 1e-9 * exact  # both were equally long
    assert exact <= Fraction(sketch.shrinkage) + Fraction(sketch.sketch_error)
    assert exact > Fraction(sketch.shrinkage) * (1 + 1000 * Fraction(UNIT))


def test_squares_of_many_rows_are_known_to_their_rounding():
    piece = sums_of_squares_that_err_down(128, 8192)
    sketch = ScatterSketch(2, 2**20)
    sketch._take(np.tile(piece[:, None], (8192, 2)), np.zeros(2))
    exact = sum(int(x) ** 2 for x in piece) * 8192
    off = abs(Fraction(float(sketch.squares[0])) - exact)
    assert 1000 * UNIT * exact < off <= Fraction(float(sketch.diagonal_error[0]))


def test_means_of_long_sums_are_known_to_their_rounding():
    """After 128 zeros, 63 equal sums of integers, which add up to less than they are."""
    piece = np.full(128, 2.0**45)
    piece[0] += 15  # of 32 between numbers near the whole sum
    rows = np.append(np.zeros(128), np.tile(piece, 63))
    sketch = sketched(np.column_stack([rows, rows]))
    exact = sum(int(x) for x in rows)
    means = [
        Fraction(float(high)) + Fraction(float(low))
        for high, low in zip(sketch.mean_high, sketch.mean_low, strict=True)
    ]
    off = max(abs(mean - Fraction(exact, len(rows))) for mean in means)
    assert 4 * Fraction(UNIT) * exact / len(rows) < off <= Fraction(float(sketch.mean_error[0]))


def test_a_factor_of_which_the_root_is_rounded_scales_the_rows_by_something_else():
    sketch = sketched(np.array([[1.0], [-1.0]]), size=2)
    factor, before = 0.25 * (1 + 2.0**-52), sketch._rounding
    sketch._scale(factor)
    off = abs(Fraction(factor) * 2 - sum(Fraction(float(x)) ** 2 for x in sketch.rows[:, 0]))
    assert off > 0 and off <= Fraction(sketch._rounding - factor * before)


def test_merges_and_batches():
    parts = [sketched(ROWS[piece]) for piece in np.array_split(np.arange(500), 4)]
    both = merged(merged(parts[0], parts[1]), merged(parts[2], parts[3]))
    check(both, ROWS)
    assert both.n_samples == 500
    gathered = ScatterSketch(30, 8)
    for piece in np.array_split(np.arange(500), 7):
        gathered.add(ROWS[piece])
    check(gathered, ROWS)


def test_nothing_is_lost_up_to_twice_the_size():
    sketch = sketched(ROWS[:15])
    assert sketch.shrinkage == 0
    assert_allclose(sketch.rows.T @ sketch.rows, scatter_matrix(ROWS[:15]), atol=1e-13)


def test_forgetting_and_rescaling():
    sketch, other = sketched(ROWS[:300]), sketched(ROWS[300:])
    sketch.forget(0.25)
    sketch.merge(other)
    check(sketch, ROWS, np.repeat([0.25, 1.0], [300, 200]))
    sketch.rescale(2.0**-10)
    check(sketch, ROWS * 2.0**-10, np.repeat([0.25, 1.0], [300, 200]))


def test_state_and_threads():
    sketch = sketched(ROWS, n_threads=3)
    for name, value in sketched(ROWS).get_state().items():
        assert_array_equal(sketch.get_state()[name], value)
    copy = ScatterSketch.from_state(sketch.get_state())
    for each in (sketch, copy):
        each.add(ROWS[:40] * 2)
    assert_array_equal(copy.rows, sketch.rows)
    assert (copy.shrinkage, copy.sketch_error, copy.size) == (sketch.shrinkage, sketch.sketch_error, 8)


def test_rows_that_overflow_are_not_decomposed():
    with np.errstate(all="ignore"):
        sketch = sketched(ROWS * 1e200)
        assert not sketch.is_finite


def test_rounding_is_measured_not_assumed(monkeypatch):
    """A rotation that is not orthogonal widens the bound."""
    exact, eigh = sketched(ROWS).sketch_error, np.linalg.eigh

    def slightly_off(A):
        values, U = eigh(A)
        return values, U * (1 + 1e-9)

    monkeypatch.setattr(np.linalg, "eigh", slightly_off)
    sketch = sketched(ROWS)
    monkeypatch.undo()
    assert sketch.sketch_error > 100 * exact
    lost = np.linalg.eigvalsh(scatter_matrix(ROWS) - sketch.rows.T @ sketch.rows)
    assert lost[0] >= -sketch.sketch_error


def test_a_rotation_that_stretches_is_measured_even_if_its_values_fit(monkeypatch):
    """Values and vectors are those of UᵀGU = Λ with too long a U; another sketch inherits the error.

    No rows are lost by four columns in eight directions, so the sketch becomes larger than S.
    """
    eigh = np.linalg.eigh

    def stretched(A):
        values, U = eigh(A)
        return values * (1 + 1e-9) ** 2, U * (1 + 1e-9)

    rows = ROWS[:, :4]
    halves = sketched(rows[:250]), sketched(rows[250:])
    monkeypatch.setattr(np.linalg, "eigh", stretched)
    sketch, part = sketched(rows), sketched(rows[250:])
    monkeypatch.undo()
    both = merged(halves[0], part)
    for each in (sketch, both):
        S = scatter_matrix(rows)
        lost = np.linalg.eigvalsh(S - each.rows.T @ each.rows)
        assert -each.sketch_error <= lost[0] < -1e-10 * np.trace(S)
    assert both.sketch_error > 100 * merged(*halves).sketch_error
