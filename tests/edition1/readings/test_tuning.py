"""The formulas behind `mercer.tune`, each against its definition or a fit done anew."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import subspace_angles
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics import get_scorer

from mercer.kernels import RBF, Cosine, Laplacian, Linear, Matern, Polynomial, RationalQuadratic
from mercer_old.errors import BadData
from mercer_old.readings.targets import are_classes, as_labels, as_targets
from mercer_old.readings.tuning.candidates import FACTORS, Candidate, KnownDistances, candidates_of
from mercer_old.readings.tuning.comparing import compare_kernels, groups_of_equals
from mercer_old.readings.tuning.criteria import agreement, centred, effective_rank, kernel_target_alignment
from mercer_old.readings.tuning.folds import FoldScores, cut_into_folds
from mercer_old.readings.tuning.judges import Alignment, Downstream, WayBack
from mercer_old.readings.tuning.search import Trial, choose
from mercer_old.readings.tuning.way_back import Curved, leave_one_out_ridge
from mercer_old.readings.tuning.wording import doubts

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3)) @ RNG.standard_normal((3, 5)) + 0.1 * RNG.standard_normal((90, 5))


# ---------------------------------------------------------------------- criteria


def test_alignment_is_its_definition():
    K, Y = RBF(0.2).block(X, X), RNG.standard_normal((90, 2))
    J = np.eye(90) - 1 / 90
    A, B = J @ K @ J, J @ Y @ Y.T @ J
    expected = np.trace(A @ B) / np.sqrt(np.trace(A @ A) * np.trace(B @ B))
    assert kernel_target_alignment(K, Y) == pytest.approx(expected, rel=1e-12)


def test_alignment_of_the_labels_own_kernel_is_one_and_of_what_does_not_vary_zero():
    y = as_targets(np.array(["a", "b", "c"] * 10), classes=True)
    assert y.shape == (30, 3)
    assert kernel_target_alignment(3 * y @ y.T + 5, y) == pytest.approx(1.0)
    assert kernel_target_alignment(np.ones((30, 30)), y) == 0.0
    assert kernel_target_alignment(y @ y.T, np.ones((30, 1))) == 0.0


def test_alignment_of_no_similarity_is_one_over_the_root_of_rows():
    """K = I: A = J, so ⟨J, TTᵀ⟩/(√(n − 1)‖TTᵀ‖) = ‖T‖²/(√(n − 1)‖T‖²) for one column T."""
    y = as_targets(np.arange(30.0), classes=False)
    assert kernel_target_alignment(np.eye(30), y) == pytest.approx(1 / np.sqrt(29))


def test_effective_rank_counts_equal_eigenvalues():
    values = np.array([3.0, 3.0, 3.0])
    assert effective_rank(np.sum((values / values.sum()) ** 2)) == pytest.approx(3.0)
    assert effective_rank(0.0) == 0.0
    assert FoldScores(np.arange(4) % 2, 1, RNG).effective_rank(np.ones((4, 4))) == 0.0
    K = RBF(0.2).block(X, X)
    J = np.eye(90) - 1 / 90
    found = FoldScores(np.arange(90) % 2, 2, RNG).effective_rank(K)
    values = np.linalg.eigvalsh(J @ K @ J)
    assert found == pytest.approx(values.sum() ** 2 / np.sum(values**2), rel=1e-10)


def test_agreement_is_the_mean_cosine_squared_of_principal_angles():
    A, B, C = (RNG.standard_normal((40, 3)) for _ in range(3))
    pairs = [(A, B), (A, C), (B, C)]
    cosines = [np.mean(np.cos(subspace_angles(P - P.mean(axis=0), Q - Q.mean(axis=0))) ** 2) for P, Q in pairs]
    assert agreement([A, B, C]) == pytest.approx(np.mean(cosines), rel=1e-10)


def test_agreement_does_not_see_turns_and_scales_but_sees_lost_directions():
    A = RNG.standard_normal((40, 2))
    turn = np.array([[0.0, -3.0], [2.0, 0.0]])
    assert agreement([A, A @ turn + 7]) == pytest.approx(1.0)
    assert agreement([A, A * [1.0, 0.0]]) == pytest.approx(0.5)
    assert agreement([np.zeros((40, 2)), np.zeros((40, 2))]) == 1.0


# ---------------------------------------------------------------------- the way back


def refitted(F, T, penalty):
    """Ridge regression with an intercept that has no penalty, from its normal equations."""
    B = np.column_stack([np.ones(len(F)), F])
    P = penalty * np.eye(B.shape[1])
    P[0, 0] = 0.0
    return np.linalg.solve(B.T @ B + P, B.T @ T)


def left_out_by_refitting(F, T, penalty):
    errors = []
    for i in range(len(F)):
        kept = np.arange(len(F)) != i
        errors.append(T[i] - np.append(1.0, F[i]) @ refitted(F[kept], T[kept], penalty))
    return np.sum(np.square(errors))


@pytest.mark.parametrize("relative", [1e-6, 1e-3, 1.0])
def test_leaving_one_out_in_closed_form_is_refitting_without_it(relative):
    F, T = RNG.standard_normal((40, 6)) + 2, RNG.standard_normal((40, 3)) - 1
    ridge = leave_one_out_ridge(F, T, np.array([relative]))
    assert ridge.left_out == pytest.approx(left_out_by_refitting(F, T, ridge.penalty), rel=1e-8)
    assert ridge(F[:5]) == pytest.approx(np.column_stack([np.ones(5), F[:5]]) @ refitted(F, T, ridge.penalty), rel=1e-8)


def test_the_penalty_is_the_one_with_the_least_error():
    F = RNG.standard_normal((30, 25))
    T = F[:, :1] @ np.ones((1, 2)) + RNG.standard_normal((30, 2))
    penalties = 10.0 ** np.arange(-4, 2)
    errors = [leave_one_out_ridge(F, T, np.array([one])).left_out for one in penalties]
    assert leave_one_out_ridge(F, T, penalties).left_out == min(errors)
    assert int(np.argmin(errors)) not in (0, len(errors) - 1)


def test_features_of_scores_have_the_gaussian_kernel_of_centres():
    C = RNG.standard_normal((12, 2))
    curved = Curved.around(C)
    assert len(curved.centres) == 12
    F = curved(C)
    assert F[:, :2] * curved.unit == pytest.approx(C)
    assert F[:, 2:] @ F[:, 2:].T == pytest.approx(RBF(curved.gamma).block(C, C), abs=1e-7)


def test_equal_centres_count_once():
    assert len(Curved.around(np.repeat(RNG.standard_normal((5, 1)), 4, axis=0)).centres) <= 5
    assert Curved.around(np.zeros((6, 2)))(np.zeros((3, 2))).shape == (3, 3)


# ---------------------------------------------------------------------- matrices and candidates

KERNELS = [
    RBF(0.3), Matern(1.5, 2.0), Matern(0.5, 1.0), RationalQuadratic(2.0, 1.0), Laplacian(0.2), Linear(), Cosine(),
    Polynomial(3, 0.1),
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_matrices_from_distances_are_those_of_the_kernel(kernel):
    for offset in (0.0, 1e3):
        rows = X + offset
        # ‖x − y‖² from products is off by some u‖x − mean‖²: of copies, a kernel with a kink sees the root of that.
        found, expected = KnownDistances(rows).matrix(kernel), kernel.block(rows, rows)
        if isinstance(kernel, Linear):  # of rows around their mean: the same once it is centred
            found, expected = centred(found), centred(expected)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_bandwidths_are_spread_around_the_median_of_the_distance_that_gamma_multiplies():
    distances = KnownDistances(X)
    pairs = np.triu_indices(90, 1)
    squares = np.sum((X[:, None] - X) ** 2, axis=2)[pairs]
    city = np.sum(np.abs(X[:, None] - X), axis=2)[pairs]
    for kernel, between in ((RBF(), squares), (Laplacian(), city)):
        gammas = [each.gamma for each in candidates_of([kernel], distances, RNG)]
        assert gammas == pytest.approx(FACTORS / np.median(between), rel=1e-9)
    lengths = [each.kernel.length_scale for each in candidates_of(["matern"], distances, RNG)]
    assert lengths == pytest.approx(np.sqrt(np.median(squares) / (2 * FACTORS)), rel=1e-9)


def test_kernels_with_a_number_are_taken_as_they_are():
    given = [RBF(0.5), Linear(), Matern(2.5, 3.0)]
    assert [each.kernel for each in candidates_of(given, KnownDistances(X), RNG)] == given
    poly = list(candidates_of(["poly"], KnownDistances(X), RNG))
    assert [each.kernel.degree for each in poly] == [2, 3]


def test_equal_rows_have_no_bandwidth():
    with pytest.raises(BadData, match="All rows are the same"):
        list(candidates_of(["rbf"], KnownDistances(np.ones((5, 2))), RNG))


# ---------------------------------------------------------------------- folds


def test_folds_keep_equal_rows_together_and_are_even():
    rows = np.repeat(X[:20], 3, axis=0)
    fold = cut_into_folds(groups_of_equals(rows), 5, np.random.default_rng(0))
    assert (fold.reshape(20, 3) == fold[::3, None]).all()
    assert np.bincount(fold).tolist() == [12] * 5
    classes = np.repeat([0, 1], [15, 45])
    fold = cut_into_folds(np.arange(60), 5, np.random.default_rng(0), classes)
    assert np.bincount(fold[classes == 0]).tolist() == [3] * 5


def test_things_that_cannot_be_hashed_are_groups_of_their_own():
    things = np.empty(3, dtype=object)
    things[:] = [{1}, {1}, {2}]
    assert groups_of_equals(things).tolist() == [0, 1, 2]
    assert groups_of_equals(np.array(["a", "b", "a"], dtype=object)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("n", [90, 350])  # by LAPACK, and by products
@pytest.mark.parametrize("kernel", [RBF(0.1), Linear()], ids=repr)
def test_scores_without_a_fold_are_those_of_a_fit_without_it(n, kernel):
    rows = RNG.standard_normal((n, 6)) * [4, 3, 2, 1, 0.5, 0.2]
    fold = np.arange(n) % 3
    K = kernel.block(rows, rows)
    found = FoldScores(fold, 2, np.random.default_rng(0), tol=1e-10).of(K)
    for number, scores in enumerate(found):
        kept = fold != number
        theirs = SklearnKernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K[np.ix_(kept, kept)])
        expected = theirs.transform(K[:, kept])
        signs = np.sign(np.sum(expected * scores, axis=0))
        assert scores * signs == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_components_that_are_not_there_have_scores_of_zero():
    rows = RNG.standard_normal((40, 2))
    scores = FoldScores(np.arange(40) % 2, 4, RNG).of(rows @ rows.T)[0]
    assert np.abs(scores[:, :2]).max() > 0.1
    assert not scores[:, 2:].any()


# ---------------------------------------------------------------------- judges


def test_the_error_of_a_fold_is_that_of_everything_done_anew():
    rows, kernel = X[:45] + 3.0, RBF(0.1)
    fold = cut_into_folds(np.arange(45), 3, np.random.default_rng(1))
    judge = WayBack(rows, fold, np.random.default_rng(2))
    K = kernel.block(rows, rows)
    losses = judge.losses(K, FoldScores(fold, 2, np.random.default_rng(0)).of(K))
    for number, loss in enumerate(losses):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        model = SklearnKernelPCA(2, kernel="rbf", gamma=0.1).fit(rows[train])
        curved = Curved.around(model.transform(rows[judge.centres[number]]))
        F, G = curved(model.transform(rows[train])), curved(model.transform(rows[test]))
        top = np.linalg.svd(F - F.mean(axis=0), compute_uv=False)[0] ** 2
        errors = {p: left_out_by_refitting(F, rows[train], p * top) for p in 10.0 ** np.arange(-8, 1)}
        best = min(errors, key=errors.get)
        back = np.column_stack([np.ones(len(test)), G]) @ refitted(F, rows[train], best * top)
        spread = np.sum((rows[test] - rows[train].mean(axis=0)) ** 2)
        assert loss == pytest.approx(np.sum((rows[test] - back) ** 2) / spread, rel=1e-4)


def test_more_columns_than_rows_have_the_error_of_the_same_rows_with_fewer():
    rows = X[:40]
    turned = rows @ np.linalg.qr(RNG.standard_normal((60, 5)))[0].T + 100.0
    fold = np.arange(40) % 4
    K = RBF(0.1).block(rows, rows)
    scores = FoldScores(fold, 2, np.random.default_rng(0)).of(K)
    narrow, wide = (WayBack(some, fold, np.random.default_rng(0)).losses(K, scores) for some in (rows, turned))
    assert wide == pytest.approx(narrow, rel=1e-6)


def test_a_straight_line_leads_back_and_noise_does_not():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(60, 1)) @ np.array([[1.0, -2.0, 0.5]])
    fold = np.arange(60) % 5
    K = rows @ rows.T
    assert WayBack(rows, fold, rng).losses(K, FoldScores(fold, 1, rng).of(K)).max() < 1e-4
    noise = rng.standard_normal((200, 30))
    K = noise @ noise.T
    fold = np.arange(200) % 5
    assert WayBack(noise, fold, rng).losses(K, FoldScores(fold, 1, rng).of(K)).mean() > 0.9


def test_the_error_does_not_depend_on_the_unit_or_the_place_of_rows():
    fold, K = np.arange(90) % 5, RBF(0.1).block(X, X)
    scores = FoldScores(fold, 2, np.random.default_rng(0)).of(K)
    plain = WayBack(X, fold, np.random.default_rng(0)).losses(K, scores)
    for rows in (1e-200 * X, 1e200 * X, X + 1e6):
        assert WayBack(rows, fold, np.random.default_rng(0)).losses(K, scores) == pytest.approx(plain, rel=1e-6)


def test_alignment_leaves_one_fold_out_at_a_time_and_has_the_jackknifes_error():
    y, fold = as_targets((X[:, 0] > 0).astype(int), classes=True), np.arange(90) % 3
    K, judge = RBF(0.1).block(X, X), Alignment(y, fold)
    losses = judge.losses(K, [])
    some = [np.flatnonzero(fold != number) for number in range(3)]
    expected = [-kernel_target_alignment(K[np.ix_(kept, kept)], y[kept]) for kept in some]
    assert losses == pytest.approx(expected)
    assert judge.value(K, losses) == pytest.approx(-kernel_target_alignment(K, y))
    assert judge.standard_error(losses) == pytest.approx(np.sqrt(2 / 3 * np.sum((losses - losses.mean()) ** 2)))


# ---------------------------------------------------------------------- the choice


def trial(name, loss, error=0.1, stability=0.9, factor=None):
    return Trial(Candidate(name, Linear(), factor=factor), 3.0, loss, error, stability)


def test_the_first_kernel_that_is_as_good_is_chosen_and_its_best_bandwidth():
    trials = [trial("linear", 1.05), trial("rbf", 1.2), trial("rbf", 1.0), trial("poly", 1.08)]
    best, as_good, chosen = choose(trials)
    assert (best, chosen) == (trials[2], trials[0])
    assert len(as_good) == 3
    assert choose([trial("linear", 1.2), *trials[1:]])[2] == trials[2]


def test_what_is_less_stable_is_not_chosen_and_what_is_pruned_neither():
    shaky = trial("linear", 1.0, stability=0.5)
    steady = trial("rbf", 1.05)
    assert choose([shaky, steady])[2] == steady
    pruned = Trial(Candidate("linear", Linear()), 1.0, pruned="too wide")
    assert choose([pruned, steady])[2] == steady


def test_bandwidths_that_see_nothing_or_everything_are_pruned_unless_nothing_would_be_left():
    rows = RNG.standard_normal((60, 8))
    trials = compare_kernels(rows, ["rbf"], 2, 5, np.random.default_rng(0)).found.trials
    for each in trials:
        reason = "too wide" if each.effective_rank < 2 else "too narrow" if each.effective_rank > 12 else ""
        assert each.pruned == reason
    assert {"", "too narrow"} == {each.pruned for each in trials}
    few = compare_kernels(rows[:9], ["rbf"], 1, 3, np.random.default_rng(0)).found.trials
    judged = [each for each in few if not each.pruned]
    assert len(judged) == 1  # the one whose effective rank is nearest to 2, as a fifth of nine rows is less
    ranks = np.log([each.effective_rank for each in few])
    assert np.log(judged[0].effective_rank) == pytest.approx(ranks[np.argmin(np.abs(ranks - np.log(2)))])


def test_rounding_of_the_solver_does_not_change_what_is_compared():
    """The tolerance of the search against one that is seven digits finer, by products."""
    rows = np.random.default_rng(3).standard_normal((320, 12)) * np.linspace(3, 0.3, 12)
    fold, K = np.arange(320) % 4, RBF(0.02).block(rows, rows)
    judge = WayBack(rows, fold, np.random.default_rng(0))
    rough, fine = (
        judge.losses(K, FoldScores(fold, 3, np.random.default_rng(0), tol=tol).of(K)) for tol in (1e-3, 1e-10)
    )
    assert rough == pytest.approx(fine, rel=2e-3)


@pytest.mark.parametrize("size", [1e100, 1e-100])
def test_rows_of_any_size_whose_squares_are_numbers_are_compared(size):
    rows = RNG.standard_normal((40, 3)) * [3, 1, 1]
    plain, scaled = (
        compare_kernels(each, ["linear", "rbf", "laplacian"], 1, 4, np.random.default_rng(0)).found.trials
        for each in (rows, size * rows)
    )
    assert [each.effective_rank for each in scaled] == pytest.approx([each.effective_rank for each in plain], rel=1e-6)
    losses = [[each.loss for each in trials if not each.pruned] for trials in (plain, scaled)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


@pytest.mark.parametrize(("size", "words"), [(1e200, "down"), (1e-200, "up")])
def test_rows_whose_squares_are_no_numbers_are_told(size, words):
    with pytest.raises(BadData, match=f"scale them {words}"):
        compare_kernels(size * X, ["linear"], 1, 5, RNG)


def test_fewer_different_rows_than_folds_are_told_with_both_numbers():
    with pytest.raises(BadData, match=r"folds=5 takes as many different rows, and there are 3"):
        compare_kernels(np.repeat(X[:3], 4, axis=0), ["linear"], 1, 5, RNG)


# ---------------------------------------------------------------------- hostile rows and labels


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_the_linear_kernel_of_rows_far_from_zero_keeps_its_digits(offset):
    far = np.round(X, 3) + offset
    near = far - offset  # exact
    assert centred(KnownDistances(far).matrix(Linear())) == pytest.approx(
        centred(near @ near.T), abs=1e-9 * np.sum(near**2)
    )


def test_kernels_that_differ_by_rounding_alone_are_as_good():
    """Pairs of equal rows with labels that they share evenly: every alignment is zero, whatever its last digits."""
    rows, labels = np.repeat(np.eye(5), 6, axis=0), np.tile([0, 1], 15)
    targets = as_targets(labels, classes=True)
    found = compare_kernels(
        rows, ["linear", "rbf"], 2, 5, np.random.default_rng(0), judge_of=lambda fold, rng: Alignment(targets, fold)
    ).found
    assert found.chosen.candidate.name == "linear"
    trials = [trial("linear", 1e-16, 0.0), trial("rbf", -1e-16, 0.0, factor=100.0), trial("rbf", 0.0, 0.0, factor=1.0)]
    assert choose(trials, 1e-9)[2] == trials[0]
    assert choose(trials[1:], 1e-9)[2] == trials[2]  # of equals the usual bandwidth


def test_a_way_back_that_is_no_better_than_the_mean_is_told():
    noise = np.random.default_rng(1).permutation(np.repeat(np.eye(6), 5, axis=0))
    compared = compare_kernels(noise, ["rbf"], 2, 6, np.random.default_rng(0))
    assert compared.found.best.loss > 1
    assert any("any nearer than their mean" in said for said in doubts(compared))


@pytest.mark.parametrize(("scoring", "y"), [("r2", np.linspace(0, 1, 12)), ("roc_auc", np.arange(12) % 2)])
def test_scores_that_are_no_numbers_are_told(scoring, y):
    judge = Downstream(y, scoring != "r2", np.arange(12), get_scorer(scoring))
    with pytest.raises(BadData, match="no number on a fold of 1 row: give fewer folds"):
        judge.by_components([X[:12, :2]] * 12)


def test_a_class_that_one_fold_has_all_rows_of_is_told():
    with pytest.raises(BadData, match="all other rows have the same label"):
        Downstream(np.repeat([0, 1], [10, 2]), True, np.repeat([0, 1, 2], [5, 5, 2]), get_scorer("accuracy"))


def test_labels_are_classes_or_numbers_by_one_rule():
    assert are_classes(as_labels(["a", "b"])) and are_classes(as_labels([True, False]))
    assert are_classes(as_labels([0.0, 1.0, 2.0])) and not are_classes(as_labels([0.5, 1.0, 2.0]))
    assert not are_classes(as_labels(np.arange(21))) and are_classes(as_labels(np.arange(20)))
    assert not are_classes(as_labels(np.array([0.5, 2], dtype=object)))
    assert not are_classes(as_labels(np.eye(3, dtype=bool)))
    assert as_labels(np.ones((4, 1))).shape == (4,)
    assert as_targets(np.array(["b", "a", "b"]), True).tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("gap", [None, np.nan, np.inf, pd.NA, pd.NaT], ids=str)
@pytest.mark.parametrize("others", [["a", "b"], [1.5, 2.5]], ids=["texts", "numbers"])
def test_labels_that_are_missing_are_told(gap, others):
    with pytest.raises(BadData, match="y has 1 label that is missing or not finite"):
        as_labels(pd.Series([*others, gap], dtype=object))


def test_a_name_for_every_row_is_no_class():
    with pytest.raises(BadData, match="30 different labels of 30 rows"):
        as_targets(np.array([f"row {i}" for i in range(30)]), True)
