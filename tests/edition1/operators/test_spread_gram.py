"""The kernel matrix by pairs of pieces, on a loop: the same matrix, and bits that follow from the rows alone."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer.kernels import RBF, Edit, Linear, Matern, Numeric, TableKernel
from mercer_old.blocks import share_out
from mercer_old.engines.base import tree
from mercer_old.operators import spread_gram, tiles
from mercer_old.operators.centering import Centered
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.spread_gram import GatheredGram, SpreadGram, even_pieces, pairs_of, small_pieces
from mercer_old.plans.sizes import Problem, Spread
from mercer_old.plans.spread import _of_worker
from mercer_old.rounding import gamma
from mercer_old.sources.frames import as_columns
from support.registry import ALL_KERNELS, SPARSE_KERNELS, in_chunks, texts
from support.together import check_each

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3)) + 5.0
B = rng.normal(size=(40, 4))
PIECES = [slice(0, 1), slice(1, 18), slice(18, 30), slice(30, 40)]


def spread(kernel, X, chunks=3, pieces=PIECES, **how):
    return SpreadGram(kernel, X, in_chunks(X, chunks).recut(pieces), **how)


def test_it_is_the_kernel_matrix_of_every_kernel_in_double_and_nearly_so_in_single_precision(monkeypatch):
    monkeypatch.setattr(tiles, "STRIP", 7)

    def check(case):
        kernel, items, as_given = case
        X = as_given(items(40))
        held, anew = HeldGram(kernel, X), spread(kernel, X)
        size = np.abs(held.dense()).max()
        assert_allclose(anew.matmat(B), held.matmat(B), atol=1e-11 * size)
        assert_allclose(anew.shifted_norm(), held.shifted_norm(), rtol=1e-9, atol=1e-12)
        assert_allclose(anew.rough.matmat(B), held.matmat(B), atol=1e-5 * size)
        for weights in (None, np.arange(1.0, 41.0)):
            A, twin = Centered(anew, weights), Centered(held, weights)
            assert_allclose(A.matmat(B), twin.matmat(B), atol=1e-9 * size)
        assert isinstance(anew.rough, SpreadGram)
        single = kernel.has_single(anew.shift) and not sparse.issparse(X)
        assert anew.coarse == 0 and (anew.rough is anew) != single

    check_each(cases_of_all_kernels(), check)


def cases_of_all_kernels():
    """Kernels of rows, texts, tables and series, and of sparse rows."""
    dense = [(kernel, items, lambda given: given) for kernel, items in ALL_KERNELS]
    return [*dense, *((kernel, items, sparse.csr_array) for kernel, items in SPARSE_KERNELS)]


def test_filled_by_others_it_is_the_matrix_that_is_held_here():
    def check(case):
        kernel, items, as_given = case
        X = as_given(items(40))
        here, there = HeldGram(kernel, X), GatheredGram(kernel, X, in_chunks(X, 3).recut(PIECES))
        assert_allclose(there.values, here.values, atol=1e-13 * np.abs(here.dense()).max())
        assert np.array_equal(there.values, there.values.T)
        assert np.array_equal(np.diag(there.values), np.diag(here.values))

    check_each(cases_of_all_kernels(), check)


def test_half_of_it_is_evaluated_and_told_of(monkeypatch):
    evaluated, seen, X = [], [], texts(40)
    monkeypatch.setattr(tiles, "TILE", 2)
    plain = Edit.prepare

    def counted(self, *given, **others):
        prepared = plain(self, *given, **others)
        fill = prepared.fill
        prepared.fill = lambda a, b, out: (evaluated.append(out.size), fill(a, b, out))
        return prepared

    monkeypatch.setattr(Edit, "prepare", counted)
    GatheredGram(Edit(0.3), X, in_chunks(X, 3).recut(share_out(40, 8)), on_pass=seen.append)
    assert 40 * 41 / 2 <= sum(evaluated) <= 40 * 42 / 2  # with squares of two on the diagonal
    assert seen == sorted(seen) and seen[-1] == 1 and len(seen) == 36


def test_small_pieces_are_small_and_many():
    for n in (1, 2, 9, 500, 10_000, 50_000):
        lengths = [piece.stop - piece.start for piece in small_pieces(n)]
        assert sum(lengths) == n and 1 <= min(lengths) <= max(lengths) <= 1024 and len(lengths) >= min(n, 10)


def test_bits_follow_from_the_pieces_whatever_the_chunks_were():
    whole, few, many = (spread(RBF(0.3), X, chunks).matmat(B) for chunks in (1, 3, 40))
    assert np.array_equal(whole, few) and np.array_equal(whole, many)


def test_pieces_are_even_and_follow_from_the_number_of_rows():
    for n in (1, 2, 511, 2048, 20_000, 200_000):
        pieces = even_pieces(n)
        lengths = [piece.stop - piece.start for piece in pieces]
        assert sum(lengths) == n and min(lengths) >= max(lengths) - 1
        assert len(pairs_of(len(pieces))) <= n / 1024 + len(pieces)
    assert len(pairs_of(len(even_pieces(200_000)))) == 190


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_are_rows(n):
    op = spread(RBF(0.3), X[:n], 1, [slice(i, i + 1) for i in range(n)])
    assert_allclose(op.matmat(B[:n]), RBF(0.3).block(X[:n], X[:n]) @ B[:n], atol=1e-14)


def test_marked_rows_alone_are_cut_out():
    marked = np.arange(40) % 3 > 0
    marked[:12] = False
    pieces = in_chunks(X, 7).recut([slice(0, 2), slice(2, marked.sum())], marked)
    assert np.array_equal(pieces.load(), X[marked])
    stored = in_chunks(sparse.csr_array(X), 7).recut([slice(0, 2), slice(2, marked.sum())], marked)
    assert np.array_equal(stored.load().toarray(), X[marked])


def test_a_pass_says_how_far_it_is_and_can_be_stopped():
    seen = []
    spread(RBF(0.3), X, on_pass=seen.append).matmat(B)
    assert len(seen) == 10 and seen == sorted(seen) and seen[-1] == 1

    def stop(fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spread(RBF(0.3), X, on_pass=stop).matmat(B)


# ---------------------------------------------------------------------- rounding


def test_no_entry_has_more_additions_behind_it_than_the_chain_says(monkeypatch):
    """With products of ones, what a pair returns is how many were added up; the tree is walked for its floors."""
    monkeypatch.setattr(tiles, "STRIP", 7)
    monkeypatch.setattr(tiles, "_buffered", lambda own, tiles, rows, columns, dtype: np.zeros((1, 1)))
    monkeypatch.setattr(tiles, "product", lambda *given, **others: 1.0)  # one addition to each row of the strip
    most = tiles.pair_chain(30) - tiles.chain(7)
    for m, other in [(30, 0), (30, 30), (30, 1), (1, 30), (7, 8), (29, 0)]:
        added, _ = tiles.multiply_pair(None, m, np.zeros((m + other, 1)), np.float64)
        assert added.max() <= most
        assert added[:m].min() == added[:m].max() == len(tiles.cut(other or m, 7))
    for pieces in range(1, 30):
        depth = tree([0] * len(pairs_of(pieces)), lambda one, other: max(one, other) + 1)
        op = spread(Linear(), X[:30], 1, share_out(30, pieces))
        assert op.shifted_chain >= tiles.pair_chain(max(op.chunks.counts)) + depth + 1


def exact_rbf(gamma, X):
    X = X.astype(np.longdouble)
    return np.exp(-gamma * np.sum((X[:, None] - X) ** 2, axis=2))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double has no more digits than double here")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_entries_are_as_good_as_the_rounding_of_all_rows_says(dtype):
    """Pieces that lie apart, each far from the mean of all, or near it where a single row is far out: what is prepared
    of a piece is what would be prepared of all rows, and so are its errors."""
    apart = rng.normal(size=(40, 3)) + 20 * np.repeat(np.arange(4), 10)[:, None]
    far = np.append(rng.normal(size=(39, 3)), [[3000.0] * 3], axis=0) + 1e4
    sides = np.append(0.5 * rng.normal(size=(39, 1)) + 30 * np.resize([[1], [-1]], (39, 1)), [[1e5]], axis=0)
    for some, width in [
        (sides, 1.0),
        (apart, 0.01),
        (apart + 1e6, 0.01),
        (apart, 1e-7),
        (far, 0.1),
        (far, 1e-9),
        (X, 0.3),
    ]:
        some = some.astype(dtype)
        half = RBF(width / 2)
        for kernel in (RBF(width), half * half, 0.5 * (RBF(width) + RBF(width))):
            op = spread(kernel, some)
            found = op.shifted_matmat(np.eye(40))
            true = exact_rbf(width, some) - np.longdouble(op.shift)
            error = np.linalg.norm((found - true).astype(float))
            summed = gamma(op.shifted_chain) * np.linalg.norm(np.abs(found) @ np.eye(40))
            assert error <= op.entry_rounding(None) + summed


def test_columns_of_a_table_are_prepared_by_all_of_its_rows(monkeypatch):
    asked, plain = [], RBF.prepares
    monkeypatch.setattr(RBF, "prepares", lambda self, X: asked.append(len(X)) or plain(self, X))
    table = {"mass": rng.normal(size=40) + 1e4}
    kernel = TableKernel({"mass": Numeric(RBF(0.1))}, compose="product").resolved(table, rng)
    spread(kernel, as_columns(table)).matmat(B)
    assert asked == [40]


def test_tiles_of_parts_are_tiles_of_the_whole():
    composed = RBF(0.3) + Linear(), 2.0 * RBF(0.01), RBF(0.3) * (Matern(2.5) + 1.0)
    for kernel in (RBF(1e-3), RBF(10.0), Matern(0.5), Matern(2.5), *composed):
        for dtype in (np.float64, np.float32):
            whole, part = np.empty((10, 12), dtype), np.empty((10, 12), dtype)
            kernel.prepare(X, dtype=dtype).fill(slice(5, 15), slice(20, 32), whole)
            kernel.prepares(X)(X[5:15], X[20:32], dtype=dtype).fill(slice(0, 10), slice(0, 12), part)
            assert_allclose(part, whole, rtol=1e-6 if dtype == np.float32 else 1e-13)


# ---------------------------------------------------------------------- what moves, and what it takes


def test_a_task_answers_for_two_pieces_and_takes_no_more_memory_than_planned(monkeypatch):
    n, d, width, sizes, peaks = 6000, 20, 30, [], []
    wide, columns = rng.normal(size=(n, d)), rng.normal(size=(n, width))
    plain = spread_gram._of_pair

    def traced(*given):
        tracemalloc.start()
        part = plain(*given)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(sum(len(some) for some in part.rows.values()))
        return part

    monkeypatch.setattr(spread_gram, "_of_pair", traced)
    op = SpreadGram(RBF(0.01), wide, in_chunks(wide, 5).recut(even_pieces(n)))
    assert_allclose(op.matmat(columns), RecomputedGram(RBF(0.01), wide).matmat(columns), rtol=1e-10, atol=1e-10)
    assert max(sizes) <= 2 * -(-n // 3) and len(sizes) == 6
    problem = Problem(n=n, k=5, width=d, loaded=wide.nbytes, chunks=Spread(2, n, 2))
    assert max(peaks) <= _of_worker(problem, width, 3) - wide.nbytes


def test_columns_are_sent_once_a_pass_and_what_prepares_once_for_all(monkeypatch):
    op, sent = spread(RBF(0.3), X), []
    monkeypatch.setattr(
        type(op.chunks.engine), "share", lambda self, value: sent.append(value) or partial(_same, value)
    )
    for _ in range(3):
        op.shifted_matmat(B)
    assert len(sent) == 4


def _same(value):
    return value
