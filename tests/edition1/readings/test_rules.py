"""Rules for how many components: each against its definition, theory, other software, and awkward screes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import binom, norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from mercer.kernels import RBF, Linear
from mercer_old.readings.rules.drawn import drawn_numbers, flip, horn, kernel_parallel
from mercer_old.readings.rules.known import KERNEL_RULES, LINEAR_RULES
from mercer_old.readings.rules.labels import label_criterion, relevant_dimension
from mercer_old.readings.rules.noise import (
    deflated_parallel,
    gavish_donoho,
    marchenko_pastur,
    noise_level,
    parallel,
    patterson,
    tracy_widom,
    unequal_noise,
)
from mercer_old.readings.rules.scree import Scree
from mercer_old.readings.rules.shape import broken_stick, elbow, enough, kaiser, profile_likelihood, stick_lengths
from mercer_old.rule_names import RULES_OF

ASKED = {name: rule.ask for name, rule in LINEAR_RULES.items() if rule.ask}
NOISE = ["marchenko-pastur", "gavish-donoho", "tracy-widom", "parallel", "deflated-parallel"]


def centred(X, standardize=False):
    Z = X - X.mean(axis=0)
    return Z / Z.std(axis=0, ddof=1) if standardize else Z


def scree_of(X, k=None, standardize=False):
    """By LAPACK on the rows themselves."""
    Z, m = centred(X, standardize), len(X) - 1
    values, axes = np.linalg.svd(Z, full_matrices=False)[1] ** 2 / m, np.linalg.svd(Z, full_matrices=False)[2]
    k = len(values) if k is None else k
    return Scree(values[:k], values.sum(), len(X), X.shape[1], (Z**2).sum(axis=0) / m, axes[:k], k == len(values))


def factors(seed, n, d, strengths, noise=1.0):
    """So many factors of these strengths along random axes, and noise."""
    rng, k = np.random.default_rng(seed), len(strengths)
    axes = np.linalg.qr(rng.standard_normal((d, k)))[0]
    return rng.standard_normal((n, k)) * strengths @ axes.T + noise * rng.standard_normal((n, d))


def bare(values, n=100, **how):
    values = np.asarray(values, dtype=float)
    return Scree(values, float(values.sum()), n, len(values), **how)


# ---------------------------------------------------------------------- the shape of a scree


@pytest.mark.parametrize("seed", range(10))
def test_the_elbow_is_that_of_zhu_and_ghodsi(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.gamma(0.6, size=int(rng.integers(3, 40))))[::-1] + 1e-3
    p, likelihoods = len(values), []
    for q in range(1, p):
        left, right = values[:q], values[q:]
        pooled = (((left - left.mean()) ** 2).sum() + ((right - right.mean()) ** 2).sum()) / max(p - 2, 1)
        spread = np.sqrt(pooled)
        likelihoods.append(
            norm(left.mean(), spread).logpdf(left).sum() + norm(right.mean(), spread).logpdf(right).sum()
        )
    assert elbow(bare(values)).k == np.argmax(likelihoods) + 1
    moved = profile_likelihood(values * 2.0**40) - profile_likelihood(values)
    assert_allclose(moved, 0, atol=1e-6)  # the unit does not matter


@pytest.mark.parametrize(
    ("values", "k"),
    [([5, 5, 5, 1, 1, 1, 1], 3), ([9, 1, 1], 1), ([3, 2, 1, 0, 0, 0], 1), ([1e-200, 1e-203, 1e-203], 1)],
)
def test_two_levels_are_the_elbow_however_exact(values, k):
    assert elbow(bare(values)).k == k


def test_the_elbow_looks_at_a_hundred_variances_and_says_so():
    values = np.append(np.linspace(50, 40, 10), np.geomspace(5, 1e-3, 400))
    found = elbow(bare(values, n=1000))
    assert found.k == elbow(bare(values[:100])).k == 10
    assert "first 100 of 410" in found.why


def test_too_few_variances_have_no_elbow():
    found = elbow(bare([2, 1, 0, 0]))
    assert found.k is None and "there are 2" in found.why


@pytest.mark.parametrize("p", [1, 2, 7, 500])
def test_pieces_of_a_broken_stick_are_the_sum(p):
    direct = [sum(1 / j for j in range(i, p + 1)) / p for i in range(1, p + 1)]
    assert_allclose(stick_lengths(p), direct, rtol=1e-13)
    assert_allclose(stick_lengths(p).sum(), 1, rtol=1e-12)


def test_pieces_of_a_broken_stick_are_the_mean_of_random_ones():
    cuts = np.sort(np.random.default_rng(0).uniform(size=(40_000, 4)), axis=1)
    pieces = np.sort(np.diff(cuts, axis=1, prepend=0, append=1), axis=1)[:, ::-1]
    assert_allclose(pieces.mean(axis=0), stick_lengths(5), atol=5e-3)


def test_kaiser_says_nothing_of_more_columns_than_rows():
    found = kaiser(scree_of(np.random.default_rng(0).standard_normal((20, 50))))
    assert found.k is None and "50 columns and 20 rows" in found.why


def test_equal_is_not_more():
    """All variances the same, as those of orthogonal columns: no rule that compares keeps any of them."""
    even = bare([2.0] * 6)
    assert kaiser(even).k == broken_stick(even).k == 0
    stick = bare(stick_lengths(8))
    assert broken_stick(Scree(stick.values * 0.5, 0.5 * stick.total, 100, 8)).k == 0


def test_kaiser_is_the_mean_of_columns_and_one_for_standardized_ones():
    X = factors(0, 80, 12, [4, 3], 1.0)
    values = scree_of(X, standardize=True).values
    assert kaiser(scree_of(X, standardize=True)).k == np.sum(values > 1)
    values = scree_of(X).values
    assert kaiser(scree_of(X)).k == np.sum(values > values.mean())


@pytest.mark.parametrize(("share", "k"), [(0.5, 1), (0.500001, 2), (0.9, 3), (0.999, 4)])
def test_as_much_as_the_share_is_enough(share, k):
    assert enough(bare([5, 3, 1.5, 0.5]), share).k == k


# ---------------------------------------------------------------------- signal and noise

SPIKED = {
    "tall": (300, 40, [6, 5, 4, 3.5, 3]),
    "wide": (60, 150, [9, 8, 7, 6]),
    "square": (100, 100, [9, 8, 7]),
    "equal strengths": (200, 80, [8] * 6),
    "one factor": (150, 10, [5]),
}


@pytest.mark.parametrize("case", SPIKED)
@pytest.mark.parametrize("rule", NOISE)
def test_rules_of_noise_find_the_number_of_factors(rule, case):
    n, d, strengths = SPIKED[case]
    found = [ASKED[rule](scree_of(factors(seed, n, d, strengths))).k for seed in range(6)]
    assert sorted(found)[2:4] == [len(strengths)] * 2, found


@pytest.mark.parametrize("shape", [(200, 20), (40, 100), (60, 60)])
def test_noise_alone_has_no_components(shape):
    """Tests of 5 % keep one in twenty cases, an edge, by chance, in one of six, a threshold hardly ever."""
    screes = [scree_of(np.random.default_rng(seed).standard_normal(shape)) for seed in range(40)]
    wrong = {rule: sum(ASKED[rule](scree).k > 0 for scree in screes) for rule in [*NOISE, "patterson"]}
    often = {"tracy-widom": 0.05, "patterson": 0.05, "gavish-donoho": 0.001}
    for rule, count in wrong.items():
        assert binom.sf(count - 1, 40, often.get(rule, 0.17)) > 1e-3, (rule, count)


@pytest.mark.parametrize("seed", range(4))
def test_columns_of_unequal_noise_fool_rules_of_equal_noise_alone(seed):
    scree = scree_of(factors(seed, 300, 40, [12, 11, 10], np.geomspace(0.5, 3, 40)))
    assert parallel(scree).k == deflated_parallel(scree).k == 3
    assert min(ASKED[rule](scree).k for rule in ("marchenko-pastur", "gavish-donoho", "tracy-widom", "bic")) > 5
    assert "noise differs" in unequal_noise(scree)


@pytest.mark.parametrize("case", SPIKED)
@pytest.mark.parametrize("seed", range(3))
def test_equal_noise_is_taken_as_equal(case, seed):
    n, d, strengths = SPIKED[case]
    assert unequal_noise(scree_of(factors(seed, n, d, strengths))) == ""


@pytest.mark.parametrize("seed", range(4))
def test_a_large_factor_hides_small_ones_from_parallel_analysis_but_not_from_its_deflated_form(seed):
    scree = scree_of(factors(seed, 500, 60, [60, 3, 2.8, 2.6]))
    assert parallel(scree).k == 1
    assert deflated_parallel(scree).k == 4


@pytest.mark.parametrize("seed", range(4))
def test_deflation_is_that_of_the_rows(seed):
    """Components taken out of the rows themselves, and the variances of what is left of the columns."""
    from mercer_old.readings.rules.marchenko_pastur import noise_edge

    X = factors(seed, 120, 25, [6, 4, 3])
    Z, m = centred(X), len(X) - 1
    found = deflated_parallel(scree_of(X))
    for q, limit in enumerate(found.limits):
        U, s, V = np.linalg.svd(Z, full_matrices=False)
        left = Z - (U[:, :q] * s[:q]) @ V[:q]
        edge = noise_edge((left**2).sum(axis=0) / m, m) * m * 25 / ((m - q) * (25 - q))
        assert_allclose(limit, edge, rtol=1e-9)


@pytest.mark.parametrize("shape", [(80, 30), (30, 80), (50, 50)])
def test_thresholds_of_singular_values_are_those_of_gavish_and_donoho(shape):
    """Of a matrix Y with sides s ≤ l: σ > ω(s/l)·median σ, or λ*·√l·noise."""
    n, d = shape
    X = factors(3, n + 1, d, [9, 7, 3], 0.5)
    singular = np.linalg.svd(centred(X), compute_uv=False)[: min(n, d)]
    beta = min(n, d) / max(n, d)
    star = np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + np.sqrt(beta**2 + 14 * beta + 1)))
    found = gavish_donoho(scree_of(X), noise=0.25)
    assert_allclose(np.sqrt(found.limits * n), star * np.sqrt(max(n, d)) * 0.5, rtol=1e-12)
    assert found.k == np.sum(singular > star * np.sqrt(max(n, d)) * 0.5) == 3
    omega = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
    assert_allclose(np.sqrt(gavish_donoho(scree_of(X)).limits[0] * n), omega * np.median(singular), rtol=0.015)


@pytest.mark.parametrize("shape", [(400, 60), (60, 400), (150, 150)])
def test_the_level_of_noise_is_found(shape):
    found = noise_level(scree_of(factors(1, *shape, [30, 20], 0.7)), "any")
    assert_allclose(found, 0.49, rtol=0.08)


def test_p_values_fall_with_the_strength_and_are_told_one_after_the_other():
    found = tracy_widom(scree_of(factors(0, 300, 40, [6, 4, 3])))
    assert found.k == 3 and len(found.p_values) == 4
    assert (found.p_values[:3] < 1e-6).all() and found.p_values[3] > 0.05
    assert "λ4: p = 0." in found.why


def test_the_effective_number_of_columns_is_that_of_independent_ones_for_noise():
    """Every column four times: smartpca's number is that of the columns, the plain test takes copies for signal."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((60, 200)), 4, axis=1)
    assert patterson(scree_of(X)).k == 0
    assert tracy_widom(scree_of(X)).k > 0


# ---------------------------------------------------------------------- against scikit-dimension 0.5.0

# lPCA(ver=…).fit(X).dimension_, X standardized with n − 1 where said; "parallel" with random_state=0.
SCIKIT_DIMENSION = {
    ("iris", False): dict(Kaiser=1, broken_stick=1, MP=2, GD=1, Minka=3, parallel=1),
    ("iris", True): dict(Kaiser=1, broken_stick=1, MP=2, GD=1, Minka=3, parallel=1),
    ("wine", False): dict(Kaiser=1, broken_stick=1, MP=6, GD=6, Minka=12, parallel=1),
    ("wine", True): dict(Kaiser=3, broken_stick=2, MP=4, GD=3, Minka=12, parallel=3),
    ("breast cancer", False): dict(Kaiser=1, broken_stick=1, MP=14, GD=13, Minka=29, parallel=1),
    ("breast cancer", True): dict(Kaiser=6, broken_stick=3, MP=14, GD=13, Minka=29, parallel=5),
}
LOADERS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
OURS = dict(Kaiser="kaiser", broken_stick="broken-stick", MP="marchenko-pastur", GD="gavish-donoho", Minka="mle")


@pytest.mark.parametrize(("name", "standardize"), SCIKIT_DIMENSION)
def test_counts_are_those_of_scikit_dimension(name, standardize):
    X = LOADERS[name]().data
    scree, theirs = scree_of(X, standardize=standardize), SCIKIT_DIMENSION[name, standardize]
    assert {their: ASKED[rule](scree).k for their, rule in OURS.items()} == {k: theirs[k] for k in OURS}
    assert horn(scree, centred(X, standardize), np.random.default_rng(0)).k == theirs["parallel"]


# ---------------------------------------------------------------------- draws


def drawn_by_hand(rng, Z, draws, change):
    values = [np.linalg.svd(change(rng, Z), compute_uv=False) ** 2 / (len(Z) - 1) for _ in range(draws)]
    return np.sort(values, axis=0)


def test_limits_of_horn_are_the_second_largest_of_thirty_nine_permutations():
    X = factors(0, 40, 12, [4, 3])
    Z, by_hand = centred(X), np.random.default_rng(5)
    expected = drawn_by_hand(by_hand, Z, 39, lambda rng, Z: rng.permuted(Z, axis=0))[-2]
    found = horn(scree_of(X), Z, np.random.default_rng(5))
    assert_allclose(found.limits, expected, rtol=1e-9)
    assert found.k == 2


def test_limits_of_flips_are_of_the_largest():
    X = factors(0, 40, 12, [4, 3])

    def change(rng, Z):
        return np.where(rng.integers(0, 2, size=Z.shape, dtype=np.int8), Z, -Z)

    expected = drawn_by_hand(np.random.default_rng(5), centred(X), 39, change)[-2, 0]
    found = flip(scree_of(X), centred(X), np.random.default_rng(5))
    assert_allclose(found.limits, np.full(12, expected), rtol=1e-9)
    assert found.k == np.sum(scree_of(X).values > expected) == 1


def test_one_of_twenty_noises_exceeds_its_permutations():
    wrong = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 6)) * rng.gamma(1.0, size=6)
        wrong += horn(scree_of(X), centred(X), rng, draws=19).k > 0
    assert binom.sf(wrong - 1, 120, 0.05) > 1e-3 and binom.cdf(wrong, 120, 0.05) > 1e-3


def test_flipping_bears_noise_that_differs_from_row_to_row():
    """Half of the rows five times as noisy: permuting mixes them, and what is large in some rows looks like signal."""
    sizes, wrong = np.repeat([1.0, 5.0], 50)[:, None], 0
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((100, 60)) * sizes
        wrong += flip(scree_of(X), centred(X), np.random.default_rng(0), draws=19).k > 0
    assert wrong <= 4


def test_parallel_analysis_of_a_linear_kernel_is_that_of_horn():
    X = factors(2, 60, 9, [4, 3])
    linear = kernel_parallel(Linear(), centred(X), 60, np.random.default_rng(3))
    straight = horn(scree_of(X), centred(X), np.random.default_rng(3), draws=19)
    assert linear.k == straight.k == 2
    assert_allclose(linear.limits[:9], straight.limits, rtol=1e-8)


def test_parallel_analysis_of_kernels_sees_a_ring_and_not_a_square():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((300, 2))
    square = rng.uniform(-1, 1, (300, 2))
    kernel = RBF(gamma=1.0)
    assert kernel_parallel(kernel, ring, 300, np.random.default_rng(1)).k >= 2
    assert kernel_parallel(kernel, square, 300, np.random.default_rng(1)).k == 0


def test_a_column_alone_has_nothing_to_be_compared_with():
    found = kernel_parallel(RBF(gamma=1.0), np.arange(9.0)[:, None], 9, np.random.default_rng(0))
    assert found.k is None and "one column" in found.why


def test_large_sets_are_compared_on_a_thousand_rows():
    some = drawn_numbers(5000, np.random.default_rng(0))
    assert len(some) == 1000 and (np.diff(some) > 0).all() and some.max() < 5000
    assert np.array_equal(drawn_numbers(7, np.random.default_rng(0)), np.arange(7))


def test_draws_that_take_too_long_are_left_out():
    rows = np.broadcast_to(0.0, (100_000, 1_000))
    for rule in (horn, flip):
        found = rule(bare(np.ones(5)), rows, np.random.default_rng(0))
        assert found.k is None and "take too long" in found.why


# ---------------------------------------------------------------------- labels


def labelled(seed, n=80, d=12, relevant=3, noise=0.3):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, d))]))[0][:, 1:]
    return U, U[:, :relevant] @ [3.0, -2.0, 2.5][:relevant] * np.sqrt(n) + noise * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(5))
def test_the_relevant_dimension_is_that_of_the_likelihood(seed):
    U, y = labelled(seed)
    y = y - y.mean()
    Q = np.linalg.qr(np.column_stack([U, np.random.default_rng(1).standard_normal((80, 80 - 12))]))[0]
    Q[:, :12] = U
    z = Q.T @ y  # in a full basis: both groups are at hand
    direct = [norm(0, np.sqrt(np.mean(z[:d] ** 2))).logpdf(z[:d]).sum() for d in range(1, 13)]
    direct = [inside + norm(0, np.sqrt(np.mean(z[d:] ** 2))).logpdf(z[d:]).sum() for d, inside in enumerate(direct, 1)]
    criterion = label_criterion(U, y[:, None])
    assert_allclose(np.diff(-80 / 2 * criterion), np.diff(direct), rtol=1e-8)
    assert relevant_dimension(U, y[:, None]).k == 3


def test_classes_count_all_their_columns():
    U, _ = labelled(0)
    classes = np.digitize(U[:, 0] + U[:, 1], [-0.05, 0.05])
    found = relevant_dimension(U, (classes[:, None] == [0, 1, 2]).astype(float))
    assert found.k == 2


def test_one_class_says_nothing_and_more_components_than_were_fitted_are_told():
    U, y = labelled(0)
    assert relevant_dimension(U, np.ones((80, 1))).k is None
    assert relevant_dimension(U, np.full((80, 1), 1e9 + 0.1)).k is None
    ended = relevant_dimension(U[:, :2], y[:, None])
    assert (ended.k, ended.at_least) == (2, True)
    assert not relevant_dimension(U, y[:, None]).at_least


# ---------------------------------------------------------------------- awkward screes


@pytest.mark.parametrize("rule", [name for name in ASKED if name not in ("mle", "bic")])
def test_columns_that_do_not_vary_change_nothing(rule):
    X = factors(0, 90, 15, [5, 4, 3])
    wide = np.column_stack([np.full((90, 7), 3.7), X, np.zeros(90)])
    assert ASKED[rule](scree_of(wide)).k == ASKED[rule](scree_of(X)).k


@pytest.mark.parametrize("factor", [1e-300, 1e-140, 1e-6, 1e6, 1e140, 1e300])
def test_the_unit_changes_nothing(factor):
    scree = scree_of(factors(1, 70, 12, [5, 3]))
    how = dict(axes=scree.axes)
    moved = Scree(scree.values * factor, scree.total * factor, 70, 12, scree.columns * factor, **how)
    for rule, asked in ASKED.items():
        assert asked(moved).k == asked(scree).k, rule


@pytest.mark.parametrize(
    "X",
    [
        np.ones((5, 3)),
        np.arange(3.0)[:, None],
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.repeat(np.eye(4), 5, axis=0),
        np.outer(np.arange(9.0), np.ones(4)),
        np.random.default_rng(0).standard_normal((3, 50)),
    ],
    ids=["constant", "one column", "two rows", "one-hot", "rank one", "three rows"],
)
def test_awkward_rows_get_a_number_in_range_or_a_reason(X):
    scree = scree_of(X)
    for rule, asked in ASKED.items():
        found = asked(scree)
        assert found.why, rule
        assert found.k is None or 0 <= found.k <= min(len(X), X.shape[1]), rule
        assert not found.at_least, rule


def test_low_rank_has_no_level_of_noise():
    X = factors(0, 60, 4, [3, 2]) @ np.random.default_rng(1).standard_normal((4, 20))
    for rule in (marchenko_pastur, gavish_donoho):
        found = rule(scree_of(X))
        assert found.k is None and "half of the variances or more are zero" in found.why
    assert tracy_widom(scree_of(X)).k <= 4


@pytest.mark.parametrize("rule", ASKED)
def test_a_scree_that_ends_early_is_answered_rightly_or_told(rule):
    X = factors(0, 120, 30, [8, 7, 6, 5, 4])
    every, some, few = (ASKED[rule](scree_of(X, k)) for k in (None, 12, 3))
    if rule in ("mle", "bic", "marchenko-pastur", "gavish-donoho", "patterson"):
        assert some.k is few.k is None and "12 of 30 variances were fitted" in some.why
    elif rule != "elbow":  # which knows what it sees alone
        assert (some.k, some.at_least) == (min(every.k, 12), every.k > 12)
        assert (few.k, few.at_least) == (min(every.k, 3), every.k > 3)


def test_narrow_kernels_have_no_elbow():
    flat = Scree(np.full(50, 0.011), 1.1, 100, 100, whole=False, by_kernel=True)
    for rule in (elbow, broken_stick):
        found = rule(flat)
        assert found.k is None and "flat" in found.why
    assert elbow(Scree(np.append(0.5, np.full(49, 0.01)), 1.1, 100, 100, whole=False, by_kernel=True)).k == 1


@pytest.mark.parametrize("rule", [name for name in ASKED if name not in ("share", "elbow", "broken-stick")])
def test_kernels_have_no_columns_to_speak_of(rule):
    found = ASKED[rule](Scree(np.array([3.0, 2.0, 1.0]), 6.0, 50, 50, by_kernel=True))
    assert found.k is None and "kernel" in found.why


def test_names_of_rules_are_those_that_a_fit_can_ask():
    assert set(RULES_OF["pca"]) == {name for name, rule in LINEAR_RULES.items() if rule.ask} - {"share"}
    assert set(RULES_OF["kpca"]) == set(KERNEL_RULES) - {"share", "labels"}


# ---------------------------------------------------------------------- hostile rows


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_parallel_analysis_of_a_linear_kernel_bears_rows_far_from_zero(offset):
    far = np.round(factors(2, 60, 9, [4, 3]), 3) + offset
    near = far - offset  # exact
    by_near, by_far = (kernel_parallel(Linear(), rows, 60, np.random.default_rng(3)) for rows in (near, far))
    assert by_far.k == by_near.k == 2
    assert_allclose(by_far.limits[:9], by_near.limits[:9], rtol=1e-6)


def test_rows_that_are_too_wide_to_be_dense_are_not_permuted():
    rows = sparse.csr_array(([1.0, 2.0], ([3, 70], [5, 999_000])), shape=(100, 1_000_000))
    found = kernel_parallel(Linear(), rows, 100, np.random.default_rng(0))
    assert found.k is None and "100 dense rows of 1,000,000 columns" in found.why


@pytest.mark.parametrize("rule", ["mle", "bic"])
def test_columns_that_do_not_vary_are_no_noise_to_likelihoods(rule):
    """They would be directions without any noise, beside which all others are signal."""
    X = factors(0, 90, 15, [5, 4, 3])
    wide = np.column_stack([np.full((90, 7), 3.7), X, np.zeros(90)])
    assert ASKED[rule](scree_of(wide)).k == ASKED[rule](scree_of(X)).k == 3


def test_weights_of_few_rows_end_deflation_before_limits_are_no_numbers():
    """Of Σw − 1 = 2.5 rows nothing is left after three components."""
    scree = Scree(np.array([8.0, 4, 2, 1]), 15.0, 3.5, 6, np.full(6, 1e-6), np.zeros((4, 6)))
    found = deflated_parallel(scree)
    assert found.k == len(found.limits) == 3
    assert np.isfinite(found.limits).all()
