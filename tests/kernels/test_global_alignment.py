"""The global alignment kernel against sums over all alignments, arithmetic of many digits and the first edition."""

import pickle
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb, prod

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer.kernels.series as series_module
from mercer.data.conversion import as_series
from mercer.data.dataset import ArrayDataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.series import GlobalAlignment, StepKernel, alignment_log_sums
from mercer.numerics.random_state import lazy_generator
from mercer_old.kernels import GlobalAlignment as FirstEdition


def walks(count, lengths=(1, 7), values=2, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(*lengths), values)).cumsum(axis=0) for _ in range(count)]


@cache
def all_alignments(m, n):
    if m == 1 and n == 1:
        return [[(0, 0)]]
    before = [(m - 1, n)] * (m > 1) + [(m, n - 1)] * (n > 1) + [(m - 1, n - 1)] * (m > 1 and n > 1)
    return [[*path, (m - 1, n - 1)] for sizes in before for path in all_alignments(*sizes)]


def by_definition(x, y, bandwidth, triangular=None):
    def step_kernel(i, j):
        near = 1.0 if triangular is None else max(0.0, 1 - abs(i - j) / triangular)
        g = near * np.exp(-np.sum((x[i] - y[j]) ** 2) / (2 * bandwidth**2))
        return float(g / (2 - g))

    values = [[step_kernel(i, j) for j in range(len(y))] for i in range(len(x))]
    return sum(prod(values[i][j] for i, j in path) for path in all_alignments(len(x), len(y)))


def in_many_digits(x, y, bandwidth):
    """The logarithm of the same recursion, with fifty digits and no underflow."""
    with mpmath.workdps(50):
        rate = mpmath.mpf(1) / (2 * mpmath.mpf(bandwidth) ** 2)
        sums = {}
        for i in range(len(x)):
            for j in range(len(y)):
                g = mpmath.exp(-rate * (mpmath.mpf(x[i]) - mpmath.mpf(y[j])) ** 2)
                before = [sums.get(cell, 0) for cell in ((i - 1, j), (i, j - 1), (i - 1, j - 1))]
                sums[i, j] = g / (2 - g) * (mpmath.fsum(before) if i or j else 1)
        return mpmath.log(sums[len(x) - 1, len(y) - 1])


def own_matrix(kernel, series):
    """k(X, X), by tiles that may use symmetry."""
    prepared = kernel.prepare(series)
    out = np.empty(prepared.shape)
    prepared.fill(slice(0, len(series)), slice(0, len(series)), out)
    return out


SHORT = walks(9)


@pytest.mark.parametrize("triangular", [None, 1, 2, 3, 20])
@pytest.mark.parametrize("bandwidth", [0.4, 1.5, 30.0])
def test_values_are_sums_over_all_alignments(bandwidth, triangular):
    truth = np.array([[by_definition(x, y, bandwidth, triangular) for y in SHORT] for x in SHORT])
    plain = GlobalAlignment(bandwidth, triangular, normalize=False)
    assert_allclose(plain(SHORT, SHORT), truth, rtol=1e-12)
    assert_allclose(plain.diag(SHORT), np.diag(truth), rtol=1e-12)
    roots = np.sqrt(np.diag(truth))
    kernel = GlobalAlignment(bandwidth, triangular)
    assert_allclose(kernel(SHORT, SHORT[:4]), truth[:, :4] / np.outer(roots, roots[:4]), rtol=1e-12)
    assert_allclose(own_matrix(kernel, SHORT), truth / np.outer(roots, roots), rtol=1e-12)
    assert_array_equal(kernel.diag(SHORT), 1.0)


def test_constant_series_have_as_many_alignments_as_delannoy_numbers():
    constant = [np.zeros(length) for length in range(1, 7)]
    counts = GlobalAlignment(1.0, normalize=False)(constant, constant)
    assert_allclose(np.diag(counts), [1, 3, 13, 63, 321, 1683], rtol=1e-12)


def test_values_are_those_of_tslearn():
    """Of tslearn 0.10: one value computed with it, two from its documentation."""
    block = lambda x, y, width: GlobalAlignment(width)([np.array(x, float)], [np.array(y, float)])[0, 0]  # noqa: E731
    assert block([1, 2, 2, 3], [1, 2, 3, 4], 2.0) == pytest.approx(0.6562966099203167, rel=1e-13)
    assert block([1, 2, 3], [1, 2, 2, 3], 2.0) == pytest.approx(0.839, abs=5e-4)
    assert block([1, 2, 3], [1, 2, 2, 3, 4], 1.0) == pytest.approx(0.273, abs=5e-4)


@pytest.mark.parametrize("in_logarithms", [False, True])
def test_sums_of_long_constant_series_do_not_overflow(in_logarithms, monkeypatch):
    """Their numbers of alignments have hundreds of digits; Python's integers have them all."""
    monkeypatch.setattr(series_module, "_MOST_STEPS", 0 if in_logarithms else 700)
    m, n = 650, 480
    delannoy = lambda a, b: sum(comb(a, k) * comb(b, k) * 2**k for k in range(min(a, b) + 1))  # noqa: E731
    expected = mpmath.mpf(delannoy(m - 1, n - 1)) / mpmath.sqrt(delannoy(m - 1, m - 1) * delannoy(n - 1, n - 1))
    kernel = GlobalAlignment(1.0)
    found = kernel([np.zeros(m)], [np.ones(n), np.zeros(n)])
    assert abs(found[0, 1] - float(expected)) <= kernel.prepare([np.zeros(m)]).entry_error()
    assert found[0, 1] == pytest.approx(float(expected), rel=1e-10)


@pytest.mark.parametrize(("lengths", "values"), [((1, 9), 1), ((2, 60), 3), ((30, 40), 1), ((5, 150), 1)])
@pytest.mark.parametrize("bandwidth", [0.05, 2.0, 50.0])
@pytest.mark.parametrize("triangular", [None, 7])
def test_values_are_those_of_the_first_edition(lengths, values, bandwidth, triangular):
    series = walks(12, lengths, values, seed=5)
    expected = FirstEdition(bandwidth, triangular).block(series, series)
    assert_allclose(GlobalAlignment(bandwidth, triangular)(series, series), expected, rtol=1e-11, atol=1e-250)
    prepared = GlobalAlignment(bandwidth, triangular).prepare(series)
    assert np.abs(own_matrix(GlobalAlignment(bandwidth, triangular), series) - expected).max() <= (
        2 * prepared.entry_error()
    )


@pytest.mark.parametrize(
    ("x", "y", "bandwidth"),
    [
        (np.zeros(60), np.zeros(60), 1.0),  # more than 1e44 alignments
        (np.sin(np.arange(50)), 4 * np.cos(np.arange(40)), 1.0),
        (np.arange(70.0), np.arange(70.0) + 0.01, 0.01),  # one alignment counts, and hardly
        (np.arange(30) * 1e9, np.arange(30) * 1e9 + 1.0, 1.0),
    ],
)
@pytest.mark.parametrize("in_logarithms", [False, True])
def test_logarithms_of_sums_are_those_of_many_digits(x, y, bandwidth, in_logarithms, monkeypatch):
    monkeypatch.setattr(series_module, "_MOST_STEPS", 0 if in_logarithms else 700)
    first = np.zeros(1, dtype=int)
    found = alignment_log_sums([x[:, None]], [y[:, None]], first, first, StepKernel(0.5 / bandwidth**2))[0]
    assert found == pytest.approx(float(in_many_digits(x, y, bandwidth)), rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("length", [699, 800])
def test_sums_of_long_series_do_not_underflow(length):
    """Of hundreds of steps that are far from each other, only the diagonal counts: k is κ to the length."""
    apart = 0.01
    series = [np.arange(float(length)), np.arange(float(length)) + apart]
    K = GlobalAlignment(0.1)(series, series)
    g = np.exp(-(apart**2) / (2 * 0.1**2))
    assert_allclose(np.diag(K), 1.0, atol=1e-12)
    assert_allclose(K[0, 1], (g / (2 - g)) ** length, rtol=1e-9)


@pytest.mark.parametrize("gap", [3.0, 8.0, 30.0])
def test_an_underflow_changes_nothing_that_counts(gap):
    """Paths that start well and end at a wall, against the only one that passes and is far smaller on the way."""
    x = np.concatenate([np.zeros(90), np.full(90, gap)])
    y = np.concatenate([np.zeros(12), np.full(150, gap), np.zeros(12)])
    truth = np.exp(in_long_double(x, y) - (in_long_double(x, x) + in_long_double(y, y)) / 2)
    kernel = GlobalAlignment(1.0)
    assert abs(kernel([x], [y])[0, 0] - truth) <= kernel.prepare([x, y]).entry_error()


def in_long_double(x, y):
    """The recursion in logarithms, one anti-diagonal after the other."""
    t = 0.5 * (x.astype(np.longdouble)[:, None] - y.astype(np.longdouble)) ** 2
    log_kappa = -t - np.log(2 - np.exp(-t))
    sums = np.full((len(x) + 1, len(y) + 1), -np.inf, dtype=np.longdouble)
    sums[0, 0] = 0.0
    for a in range(len(x) + len(y) - 1):
        i = np.arange(max(0, a - len(y) + 1), min(len(x) - 1, a) + 1)
        before = np.logaddexp(np.logaddexp(sums[i, a - i + 1], sums[i + 1, a - i]), sums[i, a - i])
        sums[i + 1, a - i + 1] = log_kappa[i, a - i] + before
    return sums[-1, -1]


def test_series_whose_lengths_differ_by_the_band_have_no_alignment():
    kernel = GlobalAlignment(1.0, triangular=3)
    series = [np.zeros(2), np.zeros(4), np.zeros(5), np.zeros(9)]
    K = kernel(series, series)
    assert K[0, 2] == 0.0 and K[0, 3] == 0.0 and K[1, 3] == 0.0 and K[0, 1] > 0.0
    assert_allclose(np.diag(K), 1.0)


@pytest.mark.parametrize("entries", [1, 40, 1 << 15])
def test_entries_do_not_depend_on_their_company(entries, monkeypatch):
    """One by one, in batches of any size, from either side: up to rounding of exp, which processors vectorize."""
    series = walks(8, (1, 60), 1)
    kernel = GlobalAlignment(1.0)
    alone = np.array([[kernel([x], [y])[0, 0] for y in series] for x in series])
    monkeypatch.setattr(series_module, "_ENTRIES", entries)
    K = own_matrix(kernel, series)
    assert_allclose(K, alone, rtol=1e-11, atol=0)
    assert_array_equal(K, K.T)
    assert_allclose(kernel(series[3:5], series), K[3:5], rtol=1e-11, atol=0)


@pytest.mark.parametrize("bandwidth", [0.3, 3.0, 100.0])
def test_errors_are_within_their_bound(bandwidth):
    series = [np.random.default_rng(i).normal(size=45).cumsum() for i in range(4)]
    kernel = GlobalAlignment(bandwidth)
    logs = {
        (i, j): in_many_digits(series[i], series[j], bandwidth) for i, j in combinations_with_replacement(range(4), 2)
    }
    truth = {(i, j): float(mpmath.exp(logs[i, j] - (logs[i, i] + logs[j, j]) / 2)) for i, j in logs}
    K = own_matrix(kernel, series)
    error = max(abs(K[place] - truth[min(place), max(place)]) for place in product(range(4), range(4)))
    prepared = kernel.prepare(series)
    assert error <= prepared.entry_error() < 1e-11
    weights = np.array([1.0, 3.0, 0.5, 2.0])
    assert prepared.entry_error() * weights.max() <= prepared.matrix_error(weights, K @ weights, None) * 4


@pytest.mark.parametrize("triangular", [None, 4])
def test_matrices_are_positive_semidefinite(triangular):
    series = [[0], [0, 1], [0, 1, 1, 1], [1], [1, 0, 0], [0, 1, 0, 1, 0], [1, 1, 0], [0, 0]]
    for bandwidth in (0.2, 0.7, 3.0):
        kernel = GlobalAlignment(bandwidth, triangular)
        assert np.linalg.eigvalsh(own_matrix(kernel, [np.array(one, float) for one in series]))[0] > -1e-13
    assert GlobalAlignment().psd


def test_the_median_bandwidth_is_that_of_steps_times_the_root_of_the_median_length():
    series = [np.array([0.0, 1.0]), np.array([0.0, 3.0]), np.array([1.0, 0.0])]
    data = ArrayDataset(as_series(series), "series")
    found = GlobalAlignment().resolve(data, lazy_generator(0)).bandwidth
    steps = np.concatenate(series)
    distances = [abs(a - b) for k, a in enumerate(steps) for b in steps[:k] if a != b]
    assert found == pytest.approx(np.median(distances) * np.sqrt(2))
    assert GlobalAlignment(3.0).resolve(data, lazy_generator(0)) == GlobalAlignment(3.0)
    many = walks(300, (3, 30), 2)
    same = FirstEdition().resolved(many, np.random.default_rng(0)).bandwidth
    assert GlobalAlignment().resolve(ArrayDataset(as_series(many), "series"), lazy_generator(0)).bandwidth == same
    with pytest.raises(DataError, match="needs two different steps"):
        GlobalAlignment().resolve(ArrayDataset(as_series([np.zeros(3)] * 2), "series"), lazy_generator(0))


def test_prepared_series_can_be_pickled_compared_and_shifted():
    series, new = walks(6, (2, 8)), walks(3, (2, 8), seed=4)
    kernel = GlobalAlignment(2.0)
    prepared = pickle.loads(pickle.dumps(kernel.prepare(series, shift=0.25)))  # noqa: S301
    out = np.empty((6, 6))
    prepared.fill(slice(None), slice(None), out)
    assert_allclose(out, kernel(series, series) - 0.25, atol=1e-15)
    assert_allclose(prepared.diag, 0.75)
    other = prepared.against(new)
    out = np.empty((2, 3))
    other.fill(slice(1, 3), slice(0, 3), out)
    assert other.shape == (3, 6)
    assert_array_equal(out, kernel(new, series)[1:3, :3] - 0.25)
    assert prepared.nbytes == 2 * 6 * 8


def test_costs_are_those_of_pairs_of_steps():
    short, long = (ArrayDataset(as_series([np.zeros((length, 2))] * 4), "series") for length in (10, 100))
    assert GlobalAlignment().entry_cost(long) > 10 * GlobalAlignment().entry_cost(short)
    assert GlobalAlignment(triangular=5).entry_cost(long) < GlobalAlignment().entry_cost(long) / 5
    assert GlobalAlignment().sample_width(long) == 201


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: GlobalAlignment(0.0), "bandwidth=0.0 must be a positive number"),
        (lambda: GlobalAlignment("mean"), "bandwidth='mean' must be a positive number"),
        (lambda: GlobalAlignment(1e-200), "bandwidth=1e-200 must be between 1e-150 and 1e150"),
        (lambda: GlobalAlignment(1.0, triangular=0), "triangular=0 must be None or a positive integer"),
        (lambda: GlobalAlignment(1.0, triangular=2.5), "triangular=2.5 must be None or a positive integer"),
        (lambda: GlobalAlignment(1.0, triangular=True), "triangular=True must be None or a positive integer"),
    ],
)
def test_parameters_that_cannot_be_used_are_reported(mistake, message):
    with pytest.raises(ParameterError, match=message):
        mistake()


def test_series_that_take_minutes_are_rejected():
    long, short = np.zeros(100_000), np.zeros(10)
    for kernel in (
        GlobalAlignment(1.0),
        GlobalAlignment(1.0, normalize=False),
        GlobalAlignment(1.0, triangular=50_000),
    ):
        with pytest.raises(DataError, match=r"100,000 steps is too long .* triangular=1000"):
            kernel([long], [long, short])
    StepKernel(1.0, 1000).check_lengths(np.array([100_000]), np.array([100_000]))
    assert GlobalAlignment(1.0, normalize=False)([short], [short]).shape == (1, 1)


def test_short_series_next_to_long_ones_are_padded_a_few_at_a_time():
    m, n = np.ones(100_000, dtype=int), np.full(100_000, 50_000)
    for left, right in ((m, n), (n, m)):
        batches = list(series_module._similar_pairs(left, right, 3))
        assert_array_equal(np.sort(np.concatenate(batches)), np.arange(100_000))
        assert max(len(batch) for batch in batches) * 3 * 50_001 <= 1 << 21


def test_series_that_cannot_be_compared_are_reported():
    with pytest.raises(DataError, match="New series have 2 values at each step, but those of the fit have 1"):
        GlobalAlignment(1.0)([np.zeros((5, 2))], [np.zeros(5)])
    with pytest.raises(DataError, match=r"up to 10\^3\d\d, which overflows. Use normalize=True"):
        GlobalAlignment(1.0, normalize=False)([np.zeros(450)], [np.zeros(450)])
    with pytest.raises(DataError, match="item 0 has a missing or infinite value at step 1"):
        GlobalAlignment(1.0)([np.array([1.0, np.nan])], [np.zeros(5)])


def test_extreme_steps_are_compared():
    assert_allclose(GlobalAlignment(1.0)([[0.0]], [[0.0], [100.0]]), [[1.0, 0.0]], atol=1e-300)
    assert_allclose(GlobalAlignment(2.0)([[1e200]], [[-1e200]]), [[0.0]])
    assert_allclose(GlobalAlignment(2.0)([[1.7e308]], [[-1.7e308], [1.7e308]]), [[0.0, 1.0]])
