"""The contract of an operator, looped over all of them; tiles, threads, shifts, centring with weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import textbook
from mercer.kernels import RBF, Linear, Polynomial
from mercer_old.operators import tiles
from mercer_old.operators.centering import Centered
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.projection import as_projection
from support.registry import ALL_KERNELS, ALL_OPERATORS, for_each


def far_rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3)) + 5.0


rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3)) + 5.0
B = rng.normal(size=(40, 4))


@pytest.mark.parametrize("name", ALL_OPERATORS)
def test_operator_keeps_its_contract(name):
    op, true = ALL_OPERATORS[name](X), X @ X.T
    if name.startswith("centred"):
        true = textbook.centre_gram(true)
    size = np.abs(X @ X.T).max()
    assert op.n == 40
    assert_allclose(op.dense(), true, atol=1e-12 * size)
    assert_allclose(op.matmat(B), true @ B, atol=1e-11 * size)
    assert_allclose(op.diag(), np.diag(true), atol=1e-12 * size)
    assert_allclose(op.columns(np.array([3, 0, 39])), true[:, [3, 0, 39]], atol=1e-12 * size)


@pytest.mark.parametrize("name", [name for name in ALL_OPERATORS if not name.startswith("centred")])
def test_the_shift_is_lost_in_centring(name):
    op = ALL_OPERATORS[name](X)
    centred = textbook.centre_gram(X @ X.T)
    shifted = op.shifted_columns(np.arange(40))
    assert_allclose(textbook.centre_gram(shifted), centred, atol=1e-10)
    assert_allclose(np.diag(shifted), op.shifted_diag(), atol=1e-10)
    assert_allclose(shifted @ B, op.shifted_matmat(B), atol=1e-9)
    if op.shifted_norm() is not None:
        assert_allclose(op.shifted_norm(), np.linalg.norm(shifted), rtol=1e-10)
    if op.shifted_moduli() is not None:
        assert op.shifted_moduli() >= (1 - 1e-12) * np.linalg.norm(shifted)


@for_each(ALL_KERNELS, far_rows)
@pytest.mark.parametrize("threads", [1, 2])
def test_held_gram_is_the_kernel_matrix(kernel, items, threads):
    X = items(40)
    gram = HeldGram(kernel, X, threads)
    assert_allclose(gram.dense(), kernel.block(X, X), rtol=1e-9, atol=1e-12)
    assert np.array_equal(gram.values, gram.values.T)


def test_threads_and_tile_sizes_do_not_change_the_matrix(monkeypatch):
    one = HeldGram(RBF(0.3), X, threads=1).values
    for size in (7, 16, 1000):
        monkeypatch.setattr(tiles, "TILE", size)
        for threads in (1, 2, 5):
            assert_allclose(HeldGram(RBF(0.3), X, threads).values, one, atol=1e-14)


def test_wide_kernels_are_shifted_and_narrow_ones_are_not():
    assert HeldGram(RBF(1e-9), X).shift == 1.0
    assert HeldGram(RBF(100.0), X).shift == 0.0
    assert HeldGram(Linear(), X).shift == 0.0


def test_a_very_wide_kernel_keeps_its_digits():
    """k = 1 − γ‖x − y‖² + …: centred, it is 2γ times the linear kernel, which plain float64 would lose below 1e-16."""
    gamma = 1e-12
    A = Centered(HeldGram(RBF(gamma), X)).dense()
    assert_allclose(A, 2 * gamma * textbook.centre_gram(X @ X.T), rtol=1e-6, atol=1e-22)


def test_features_with_a_huge_offset_keep_their_digits():
    A = Centered(FeatureGram(X + 1e8)).dense()
    moved = (X + 1e8) - 1e8  # what is left of X in float64 at that offset
    assert_allclose(A, textbook.centre_gram(moved @ moved.T), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kernel", [RBF(0.1), Linear(), Polynomial(2, 0.1, 1.0)], ids=repr)
def test_weights_are_repetitions(kernel):
    weights = rng.integers(1, 4, size=40)
    repeated = np.repeat(np.arange(40), weights)
    op = Centered(HeldGram(kernel, X), weights.astype(float))
    plain = Centered(HeldGram(kernel, X[repeated]))
    ours, theirs = np.linalg.eigvalsh(op.dense())[::-1][:5], np.linalg.eigvalsh(plain.dense())[::-1][:5]
    assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * theirs[0])
    assert_allclose(op.trace, plain.trace, rtol=1e-10)
    assert_allclose(op.matmat(B), op.dense() @ B, atol=1e-9 * theirs[0])
    assert_allclose(op.dense() @ op.null, 0, atol=1e-10 * theirs[0])


def test_trace_and_norm_are_those_of_the_centred_matrix():
    op = Centered(HeldGram(RBF(0.1), X))
    assert_allclose(op.trace, np.trace(op.dense()))
    value, error = op.squared_norm(unit=1.0)
    assert abs(value - np.sum(op.dense() ** 2)) <= error < 1e-9 * value


@pytest.mark.parametrize(
    "hold", [HeldGram, lambda kernel, X: FeatureGram(kernel.features(X), learned=kernel.feature_map(X))]
)
def test_projection_is_the_textbooks(hold):
    kernel, new = Polynomial(2, 0.1, 1.0), rng.normal(size=(7, 3)) + 5
    K, K_new = kernel.block(X, X), kernel.block(new, X)
    eta, V = textbook.kernel_pca(K, 3)
    project = as_projection(kernel, X, Centered(hold(kernel, X)), eta, V * np.sqrt(eta))
    assert_allclose(project.scores(new, 1), textbook.scores(K_new, K, V), atol=1e-8)
    assert_allclose(project.functions(new, 2), textbook.component_functions(K_new, V), rtol=1e-7, atol=1e-7)


def test_applying_tiles_is_the_product(monkeypatch):
    monkeypatch.setattr(tiles, "TILE", 8)
    new = rng.normal(size=(30, 3))
    out = np.empty((30, 4))
    for threads in (1, 3):
        tiles.apply(RBF(0.3).prepare(new, X), 30, 40, B, out, threads)
        assert_allclose(out, RBF(0.3).block(new, X) @ B, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 511, 512, 513, 1500])
def test_symmetric_plan_covers_every_entry_once(n):
    seen = np.zeros((n, n), dtype=int)
    for rows, columns in tiles.plan_symmetric(n):
        assert rows.stop - rows.start <= tiles.TILE
        seen[rows, columns] += 1
        if rows != columns:
            seen[columns, rows] += 1
    assert np.all(seen == 1)


@for_each(ALL_KERNELS, far_rows)
def test_recomputed_is_held_in_double_and_nearly_so_in_single_precision(kernel, items, monkeypatch):
    monkeypatch.setattr(tiles, "STRIP", 7)
    X = items(40)
    held, anew = HeldGram(kernel, X), RecomputedGram(kernel, X)
    size = np.abs(held.dense()).max()
    assert_allclose(anew.matmat(B), held.matmat(B), atol=1e-11 * size)
    assert_allclose(anew.shifted_norm(), held.shifted_norm(), rtol=1e-9, atol=1e-12)
    assert_allclose(anew.rough.matmat(B), held.matmat(B), atol=1e-5 * size)
    assert_allclose(Centered(anew).matmat(B), Centered(held).matmat(B), atol=1e-10 * size)
    assert anew.coarse == 0 and (anew.rough is anew) != kernel.has_single(anew.shift)


def test_products_have_the_same_bits_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(tiles, "STRIP", 9)
    a, b, c = (RecomputedGram(RBF(0.3), X, threads).matmat(B) for threads in (1, 2, 5))
    assert np.array_equal(a, b) and np.array_equal(a, c)


def test_rough_entries_are_as_good_as_float32_allows_wherever_the_rows_are():
    """Far rows, wide and narrow kernels, a large offset: the exponent keeps its digits."""
    for rows, gamma in [
        (X, 1e-5),
        (X, 0.1),
        (100 * X, 0.01),
        (X + 1e5, 0.1),
        (np.append(X, [[900.0] * 3], axis=0), 0.1),
    ]:
        exact = RBF(gamma).block(rows, rows)
        shift = 1.0 if exact.mean() > 0.5 else 0.0
        out = np.empty(exact.shape, dtype=np.float32)
        RBF(gamma).prepare(rows, shift=shift, dtype=np.float32).fill(slice(0, len(rows)), slice(0, len(rows)), out)
        true = RBF(gamma).block(rows, rows) - shift
        off = ~np.eye(len(rows), dtype=bool)
        assert_allclose(out[off], true[off], rtol=2e-4 if shift else 2e-5, atol=1e-7 * np.abs(true).max())


def test_the_means_come_with_the_first_product(monkeypatch):
    passes = []
    plain = RecomputedGram.shifted_matmat
    monkeypatch.setattr(
        RecomputedGram, "shifted_matmat", lambda self, B: (passes.append(B.shape[1]), plain(self, B))[1]
    )
    for weights in (None, np.arange(1.0, 41.0)):
        passes.clear()
        op = Centered(RecomputedGram(RBF(0.3), X), weights)
        product = op.matmat(B)
        means, _ = op.means, op.matmat(B)
        assert passes == [5, 4]
        alone = Centered(HeldGram(RBF(0.3), X), weights)
        assert_allclose(means, alone.means, rtol=1e-12)
        assert_allclose(product, alone.matmat(B), atol=1e-12)


def test_a_pass_says_how_far_it_is_and_can_be_stopped(monkeypatch):
    monkeypatch.setattr(tiles, "STRIP", 8)
    seen = []
    RecomputedGram(RBF(0.3), X, 2, on_pass=seen.append).matmat(B)
    assert len(seen) == 5 and seen == sorted(seen) and seen[-1] == 1

    def stop(fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RecomputedGram(RBF(0.3), X, 2, on_pass=stop).matmat(B)


def test_sparse_features_are_multiplied_with_any_number_of_columns(monkeypatch):
    """A few at a time, and by pieces of rows."""
    monkeypatch.setattr("mercer_old.operators.features.sparse_rows", lambda width, density: 9)
    rng = np.random.default_rng(7)
    X, B = np.where(rng.random((50, 30)) < 0.2, rng.normal(size=(50, 30)), 0.0), rng.normal(size=(50, 35))
    op, K = FeatureGram(sparse.csr_array(X), threads=2), X @ X.T
    for columns in (0, 1, 16, 17, 35):
        some = B[:, :columns]
        assert_allclose(op.matmat(some), K @ some, atol=1e-12)
        assert_allclose(op.shifted_matmat(some), K @ some, atol=1e-12)
        assert_allclose(op.transposed_times(some), X.T @ some, atol=1e-13)
    assert_allclose(op.columns(np.array([3, 41, 3])), K[:, [3, 41, 3]], atol=1e-13)
    assert_allclose(op.shifted_columns(np.array([3, 41, 3])), K[:, [3, 41, 3]], atol=1e-13)
