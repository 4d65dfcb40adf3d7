"""The kernel of series against sums over all alignments, one by one, and models that learn from series."""

from functools import cache
from itertools import combinations_with_replacement, product
from math import prod

import mpmath
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF, GlobalAlignment, Spectrum, check_kernel
from mercer.kernels import alignment as of_alignment
from mercer_old.errors import BadData
from mercer_old.kernels.alignment import Local, log_sums_of_all, log_sums_of_each
from mercer_old.sources.series import Series

rng = np.random.default_rng(0)


def walks(count, lengths=(1, 7), values=2, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(*lengths), values)).cumsum(axis=0) for _ in range(count)]


@cache
def all_alignments(m, n):
    """Every one as a list of cells."""
    if m == 1 and n == 1:
        return [[(0, 0)]]
    before = [(m - 1, n)] * (m > 1) + [(m, n - 1)] * (n > 1) + [(m - 1, n - 1)] * (m > 1 and n > 1)
    return [[*path, (m - 1, n - 1)] for sizes in before for path in all_alignments(*sizes)]


def by_definition(x, y, bandwidth, triangular=None):
    """Σ over alignments of Πκ, term by term."""

    def local(i, j):
        near = 1.0 if triangular is None else max(0.0, 1 - abs(i - j) / triangular)
        g = near * np.exp(-np.sum((x[i] - y[j]) ** 2) / (2 * bandwidth**2))
        return float(g / (2 - g))

    table = [[local(i, j) for j in range(len(y))] for i in range(len(x))]
    return sum(prod(table[i][j] for i, j in path) for path in all_alignments(len(x), len(y)))


SHORT = walks(9)


@pytest.mark.parametrize("triangular", [None, 1, 2, 3, 20])
@pytest.mark.parametrize("bandwidth", [0.4, 1.5, 30.0])
def test_the_kernel_is_the_sum_over_all_alignments(bandwidth, triangular):
    truth = np.array([[by_definition(x, y, bandwidth, triangular) for y in SHORT] for x in SHORT])
    plain = GlobalAlignment(bandwidth, triangular, normalize=False)
    assert_allclose(plain.block(SHORT, SHORT), truth, rtol=1e-12)
    assert_allclose(plain.diag(SHORT), np.diag(truth), rtol=1e-12)
    own = np.sqrt(np.diag(truth))
    kernel = GlobalAlignment(bandwidth, triangular)
    assert_allclose(kernel.block(SHORT, SHORT[:4]), truth[:, :4] / np.outer(own, own[:4]), rtol=1e-12)
    assert_allclose(kernel.diag(SHORT), 1.0)


def test_there_are_as_many_alignments_as_delannoy_counted():
    same = [np.zeros(length) for length in range(1, 7)]
    counts = GlobalAlignment(1.0, normalize=False).block(same, same)
    delannoy = [len(all_alignments(length, length)) for length in range(1, 7)]
    assert delannoy == [1, 3, 13, 63, 321, 1683]
    assert_allclose(np.diag(counts), delannoy, rtol=1e-12)


def test_values_are_those_of_tslearn():
    """Of tslearn 0.10, by its own documentation and run once; where it is installed, also of more series."""
    block = lambda x, y, width: GlobalAlignment(width).block([np.array(x, float)], [np.array(y, float)])[0, 0]  # noqa: E731
    assert block([1, 2, 2, 3], [1, 2, 3, 4], 2.0) == pytest.approx(0.6562966099203167, rel=1e-13)
    assert block([1, 2, 3], [1, 2, 2, 3], 2.0) == pytest.approx(0.839, abs=5e-4)
    assert block([1, 2, 3], [1, 2, 2, 3, 4], 1.0) == pytest.approx(0.273, abs=5e-4)
    metrics = pytest.importorskip("tslearn.metrics")
    theirs = [[metrics.gak(x, y, sigma=1.3) for y in SHORT] for x in SHORT]
    assert_allclose(GlobalAlignment(1.3).block(SHORT, SHORT), theirs, rtol=1e-10, atol=1e-15)


def in_many_digits(x, y, bandwidth):
    """The same recursion with fifty digits and no end of exponents."""
    with mpmath.workdps(50):
        rate = mpmath.mpf(1) / (2 * mpmath.mpf(bandwidth) ** 2)
        sums = {}
        for i in range(len(x)):
            for j in range(len(y)):
                g = mpmath.exp(-rate * (mpmath.mpf(x[i]) - mpmath.mpf(y[j])) ** 2)
                before = [sums.get(cell, 0) for cell in ((i - 1, j), (i, j - 1), (i - 1, j - 1))]
                sums[i, j] = g / (2 - g) * (mpmath.fsum(before) if i or j else 1)
        return mpmath.log(sums[len(x) - 1, len(y) - 1])


@pytest.mark.parametrize(
    ("x", "y", "bandwidth"),
    [
        (np.zeros(60), np.zeros(60), 1.0),  # more alignments than 1e44
        (np.zeros(5), np.full(7, 300.0), 1.0),  # κ of e^−45000
        (np.sin(np.arange(50)), 40 * np.cos(np.arange(40)), 1.0),
        (np.arange(70.0), np.arange(70.0) + 0.5, 0.01),  # a single alignment counts, and it hardly does
        (np.arange(30) * 1e9, np.arange(30) * 1e9 + 1.0, 1.0),
    ],
)
def test_logarithms_are_true_whatever_their_size(x, y, bandwidth):
    series, local = ([x[:, None]], [y[:, None]]), GlobalAlignment(bandwidth).local
    truth = float(in_many_digits(x, y, bandwidth))
    assert log_sums_of_all(*series, local)[0, 0] == pytest.approx(truth, rel=1e-12, abs=1e-11)


def test_what_is_too_small_for_sums_is_found_by_logarithms(monkeypatch):
    """Both ways agree where both can; series of 800 steps, of whose alignments with themselves hardly one counts."""
    series, local = walks(6, (3, 40), 1), Local(0.5)
    plain = log_sums_of_all(series, series, local), log_sums_of_each(series, local)
    monkeypatch.setattr(of_alignment, "_SAFE", np.inf)
    assert_allclose(log_sums_of_all(series, series, local), plain[0], rtol=1e-12, atol=1e-11)
    assert_allclose(log_sums_of_each(series, local), plain[1], rtol=1e-12, atol=1e-11)
    monkeypatch.undo()
    long = [np.arange(800.0), np.arange(800.0) + 0.25]
    K = GlobalAlignment(0.05).block(long, long)
    assert np.diag(K) == pytest.approx(1.0, abs=1e-12)
    each = np.exp(-(0.25**2) / (2 * 0.05**2))
    assert K[0, 1] == 0.0 and log_sums_of_all(*([one[:, None]] for one in long), GlobalAlignment(0.05).local)[
        0, 0
    ] == pytest.approx(800 * np.log(each / (2 - each)), rel=1e-9)


def test_series_with_themselves_are_compared_once(monkeypatch):
    monkeypatch.setattr(of_alignment, "_ENTRIES", 40)  # a few series at a time
    series, local = walks(23, (1, 9)), Local(0.3)
    both_ways = log_sums_of_all(series, series, local)
    assert_allclose(log_sums_of_all(series, series, local, same=True), both_ways, rtol=1e-12, atol=1e-12)
    out = np.empty((23, 23))
    GlobalAlignment(1.0).prepare(series).fill(slice(0, 23), slice(0, 23), out)
    assert_allclose(out, GlobalAlignment(1.0).block(series, series), rtol=1e-12)


def test_rounding_is_within_its_bound():
    """Against fifty digits: entries, relative to the roots of their diagonal."""
    series = [np.random.default_rng(i).normal(size=45).cumsum() for i in range(4)]
    for bandwidth in (0.3, 3.0, 100.0):
        kernel = GlobalAlignment(bandwidth)
        pairs = list(combinations_with_replacement(range(4), 2))
        logs = {(i, j): in_many_digits(series[i], series[j], bandwidth) for i, j in pairs}
        truth = {(i, j): float(mpmath.exp(logs[i, j] - (logs[i, i] + logs[j, j]) / 2)) for i, j in pairs}
        K = kernel.block(series, series)
        off = max(abs(K[place] - truth[min(place), max(place)]) for place in product(range(4), range(4)))
        assert off <= kernel.entry_rounding(series, series) < 1e-11


@pytest.mark.parametrize("triangular", [None, 4])
def test_gram_matrices_are_positive_semidefinite_where_those_of_the_best_alignment_are_not(triangular):
    series = [
        np.array(one, float) for one in ([0], [0, 1], [0, 1, 1, 1], [1], [1, 0, 0], [0, 1, 0, 1, 0], [1, 1, 0], [0, 0])
    ]
    for bandwidth in (0.2, 0.7, 3.0):
        kernel = GlobalAlignment(bandwidth, triangular)
        assert np.linalg.eigvalsh(kernel.block(series, series))[0] > -1e-13
        assert check_kernel(kernel, series)


# ---------------------------------------------------------------------------- the bandwidth


def test_the_median_bandwidth_is_that_of_steps_times_the_root_of_the_length():
    series = [np.array([0.0, 1.0]), np.array([0.0, 3.0]), np.array([1.0, 0.0])]
    found = GlobalAlignment().resolved(Series(series), rng).bandwidth
    apart = [abs(a - b) for k, a in enumerate(np.concatenate(series)) for b in np.concatenate(series)[:k] if a != b]
    assert found == pytest.approx(np.median(apart) * np.sqrt(2))
    assert KernelPCA(1, kernel=GlobalAlignment()).fit(series).kernel_.bandwidth == pytest.approx(found)
    with pytest.raises(ValueError, match="needs two different steps"):
        KernelPCA(1, kernel=GlobalAlignment()).fit([np.zeros(3), np.zeros(4)])


# ---------------------------------------------------------------------------- models

WAVES = [np.sin(np.linspace(0, 6, 20 + i % 7) + (i % 3)) + 0.1 * np.cos(i * np.arange(20 + i % 7)) for i in range(40)]


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "landmark"])
def test_kernel_pca_of_series_is_that_of_their_matrix(solver):
    kernel, new = GlobalAlignment(2.0), [*WAVES[:5], np.ones(15)]
    many = {"n_landmarks": len(WAVES)} if solver == "landmark" else {}
    model = KernelPCA(3, kernel=kernel, eigen_solver=solver, **many).fit(WAVES)
    twin = KernelPCA(3, kernel="precomputed").fit(kernel.block(WAVES, WAVES))
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-7)
    assert_allclose(np.abs(model.transform(new)), np.abs(twin.transform(kernel.block(new, WAVES))), atol=1e-5)


def test_series_alone_and_in_company_are_placed_alike():
    model = KernelPCA(2, kernel=GlobalAlignment()).fit(WAVES)
    new = [np.ones(9), np.linspace(0, 1, 30), WAVES[3]]
    together = model.transform(new)
    assert_allclose(np.concatenate([model.transform([one]) for one in new]), together, rtol=1e-10, atol=1e-12)


def test_weights_landmarks_clones_and_neighbours_of_series():
    kernel, weights = GlobalAlignment(3.0), np.ones(len(WAVES))
    weights[5:9] = 0
    kept = [one for one, weight in zip(WAVES, weights, strict=True) if weight]
    model = clone(KernelPCA(2, kernel=kernel)).fit(WAVES, sample_weight=weights)
    assert_allclose(model.eigenvalues_, KernelPCA(2, kernel=kernel).fit(kept).eigenvalues_, rtol=1e-9)
    assert KernelPCA(2, kernel=kernel, landmarks=[0, 3, 7, 11]).fit(WAVES).landmark_indices_.shape == (4,)
    lle = LocallyLinearEmbedding(metric=kernel, n_neighbors=18).fit(WAVES + WAVES[:2])  # copies among them
    assert lle.embedding_.shape == (42, 2)
    assert lle.transform(WAVES[:3]).shape == (3, 2)
    assert KernelPCA(2, kernel=kernel).plan(WAVES).held == "gram"


HOLDERS = {
    "list of lists": lambda X: X.tolist(),
    "table": np.asarray,
    "three dimensions": lambda X: X[:, :, None],
    "single precision": lambda X: X.astype(np.float32),
    "array of objects": lambda X: np.array([*X, None], dtype=object)[:-1],
    "frame": pd.DataFrame,
    "tuple of columns": lambda X: tuple(one[:, None] for one in X),
    "whole numbers": lambda X: X.astype(int),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_series_come_in_lists_tables_and_arrays(hold):
    X = np.random.default_rng(1).integers(-3, 4, size=(9, 12)).astype(float)
    expected = KernelPCA(2, kernel=GlobalAlignment(4.0)).fit_transform(list(X))
    assert_allclose(KernelPCA(2, kernel=GlobalAlignment(4.0)).fit_transform(hold(X)), expected, rtol=1e-9, atol=1e-12)


def test_items_count_cut_and_take_series():
    items = Series(WAVES)
    assert len(items) == 40 and items.width == int(np.mean([len(one) for one in WAVES]))
    assert items.nbytes == sum(8 * len(one) + 8 for one in WAVES)
    assert [len(block) for block in items.blocks(15)] == [15, 15, 10]
    assert items[np.array([3, 1])][0].shape == (len(WAVES[3]), 1)
    equal = Series(np.zeros((4, 3)))
    assert equal.load().shape == (4,) and equal.load()[0].shape == (3, 1)


# ---------------------------------------------------------------------------- bad input

GOOD = [np.arange(4.0), np.arange(3.0)]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            [*GOOD, np.array([1.0, np.nan, 2.0])],
            r"X: item 2 has a missing value \(NaN\) at step 1 of 3. .* list of arrays",
        ),
        ([*GOOD, np.array([np.inf])], "X: item 2 has an infinite value at step 0 of 1"),
        ([*GOOD, np.array([])], "X: item 2 is an empty series; leave it out"),
        ([*GOOD, np.zeros((3, 2))], "X: item 2 has 2 values at a step and item 0 has 1"),
        ([*GOOD, "abc"], "X: item 2 is 'abc', which is no series of numbers"),
        ([*GOOD, None], "X: item 2 "),
        ([*GOOD, 3.0], "X: item 2 has 0 dimensions"),
        ([*GOOD, np.zeros((2, 2, 2))], "X: item 2 has 3 dimensions"),
        ([], r"Found array with 0 sample\(s\): X has no series"),
        (np.arange(5.0), "X is one series of 5 numbers; give a list of series"),
        ("abc", "X is 'abc': series are not read from files"),
        (7, "X is 7, and no list of series: give a list of arrays"),
        (np.array([[1.0, np.nan], [1.0, 2.0]]), "X: item 0 has a missing value"),
    ],
)
def test_what_is_no_series_is_one_sentence(bad, words):
    with pytest.raises(BadData, match=words):
        KernelPCA(2, kernel=GlobalAlignment(1.0)).fit(bad)
    with pytest.raises(BadData, match=words):
        KernelPCA(2, kernel=GlobalAlignment(1.0)).fit(WAVES).transform(bad)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: GlobalAlignment(0.0), "bandwidth must be a positive number; got 0.0"),
        (lambda: GlobalAlignment("mean"), "bandwidth must be a positive number; got 'mean'"),
        (lambda: GlobalAlignment(1e-200), "bandwidth must lie between 1e-150 and 1e150"),
        (lambda: GlobalAlignment(1.0, triangular=0), "triangular must be None or a whole number from 1 on; got 0"),
        (lambda: GlobalAlignment(1.0, triangular=2.5), "triangular must be None or a whole number"),
        (lambda: GlobalAlignment(1.0) + Spectrum(3), "compares series and .* texts"),
        (lambda: GlobalAlignment(1.0) * RBF(1.0), "compares series and .* rows"),
        (
            lambda: KernelPCA(1, kernel=GlobalAlignment(1.0, normalize=False)).fit([np.zeros(500), np.ones(500)]),
            "10\\^3",
        ),
        (
            lambda: KernelPCA(2, kernel=GlobalAlignment(1.0)).fit(WAVES).transform([np.zeros((5, 2))]),
            "2 values at a step",
        ),
        (lambda: KernelPCA(2, kernel=GlobalAlignment(1.0), standardize=True).fit(WAVES), "and series have none"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence(mistake, sentence):
    with pytest.raises(ValueError, match=sentence):
        mistake()


def test_the_median_of_a_list_is_that_of_the_same_series_in_a_fit():
    series = [np.sin(np.arange(5.0 + i)) for i in range(9)]
    fitted = KernelPCA(1, kernel=GlobalAlignment()).fit(series).kernel_
    assert GlobalAlignment().resolved(series, np.random.default_rng(0)) == fitted


def test_one_series_and_equal_series_and_one_step_are_answered():
    with pytest.warns(UserWarning, match="one series alone"):
        assert KernelPCA(1, kernel=GlobalAlignment(1.0)).fit_transform([np.arange(5.0)]).tolist() == [[0.0]]
    with pytest.warns(UserWarning, match="look the same"):
        KernelPCA(1, kernel=GlobalAlignment(1.0)).fit([np.arange(5.0)] * 4)
    assert_allclose(GlobalAlignment(1.0).block([[0.0]], [[0.0], [100.0]]), [[1.0, 0.0]], atol=1e-300)
    assert_allclose(GlobalAlignment(2.0).block([[1e200]], [[-1e200]]), [[0.0]])
