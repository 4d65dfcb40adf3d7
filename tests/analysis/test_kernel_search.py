"""Criteria, folds and the choice of kernels, each against its definition or a fit from scratch."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics.pairwise import rbf_kernel

from mercer.analysis.kernel_criteria import (
    ReconstructionError,
    RidgeFeatures,
    TargetAlignment,
    leave_one_out_ridge,
    target_alignment,
)
from mercer.analysis.kernel_search import (
    BANDWIDTH_FACTORS,
    Candidate,
    FoldScores,
    PairwiseDistances,
    Trial,
    choose,
    effective_rank,
    make_candidates,
    named_kernels,
    search_kernels,
    split_folds,
    subspace_agreement,
)
from mercer.analysis.labels import one_hot
from mercer.errors import DataError
from mercer.kernels.distance import RBF, Laplacian, Matern, RationalQuadratic
from mercer.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.histograms import ChiSquared

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3)) @ RNG.standard_normal((3, 5)) + 0.1 * RNG.standard_normal((90, 5))


def rng():
    return np.random.default_rng(0)


def centered(K):
    J = np.eye(len(K)) - 1 / len(K)
    return J @ K @ J


def search(rows, kernels, k, n_folds=5, targets=None):
    fold = split_folds(np.arange(len(rows)), n_folds, rng())
    criterion = ReconstructionError(rows, fold, rng()) if targets is None else TargetAlignment(targets, fold)
    return search_kernels(PairwiseDistances(rows), kernels, k, criterion, rng())


# ---------------------------------------------------------------------- formulas


def test_alignment_is_its_definition():
    K, Y = RBF(0.2)(X, X), RNG.standard_normal((90, 2))
    A, B = centered(K), centered(Y @ Y.T)
    expected = np.trace(A @ B) / np.sqrt(np.trace(A @ A) * np.trace(B @ B))
    assert target_alignment(K, Y) == pytest.approx(expected, rel=1e-12)


def test_alignment_is_one_for_the_kernel_of_the_labels_and_zero_without_variance():
    Y = one_hot(np.array(["a", "b", "c"] * 10))
    assert target_alignment(3 * Y @ Y.T + 5, Y) == pytest.approx(1.0)
    assert target_alignment(np.ones((30, 30)), Y) == 0.0
    assert target_alignment(Y @ Y.T, np.ones((30, 1))) == 0.0
    assert target_alignment(np.eye(30), np.arange(30.0)[:, None]) == pytest.approx(1 / np.sqrt(29))


def test_effective_rank_counts_equal_eigenvalues():
    assert effective_rank(np.diag([3.0, 3.0, 3.0, 0.0])) == pytest.approx(3.0)
    assert effective_rank(np.zeros((3, 3))) == 0.0
    assert effective_rank(1e-200 * np.eye(3)) == pytest.approx(3.0)
    values = np.linalg.eigvalsh(centered(RBF(0.2)(X, X)))
    found = effective_rank(PairwiseDistances(X).centered_matrix(RBF(0.2)))
    assert found == pytest.approx(values.sum() ** 2 / np.sum(values**2), rel=1e-10)


def test_agreement_is_the_mean_squared_cosine_of_principal_angles():
    A, B, C = (RNG.standard_normal((40, 3)) for _ in range(3))
    cosines = [
        np.mean(np.cos(subspace_angles(P - P.mean(axis=0), Q - Q.mean(axis=0))) ** 2)
        for P, Q in [(A, B), (A, C), (B, C)]
    ]
    assert subspace_agreement([A, B, C]) == pytest.approx(np.mean(cosines), rel=1e-10)


def test_agreement_ignores_rotations_and_scales_and_counts_lost_directions():
    A = RNG.standard_normal((40, 2))
    assert subspace_agreement([A, A @ [[0.0, -3.0], [2.0, 0.0]] + 7]) == pytest.approx(1.0)
    assert subspace_agreement([A, A * [1.0, 0.0]]) == pytest.approx(0.5)
    assert subspace_agreement([np.zeros((40, 2)), np.zeros((40, 2))]) == 1.0


# ---------------------------------------------------------------------- reconstruction


def refitted(F, T, penalty):
    """Ridge regression with an unpenalized intercept, from its normal equations."""
    B = np.column_stack([np.ones(len(F)), F])
    P = penalty * np.eye(B.shape[1])
    P[0, 0] = 0.0
    return np.linalg.solve(B.T @ B + P, B.T @ T)


def error_by_refitting(F, T, penalty):
    kept = ~np.eye(len(F), dtype=bool)
    errors = [T[i] - np.append(1.0, F[i]) @ refitted(F[k], T[k], penalty) for i, k in enumerate(kept)]
    return np.sum(np.square(errors))


@pytest.mark.parametrize("relative", [1e-6, 1e-3, 1.0])
def test_leave_one_out_error_in_closed_form_is_that_of_refitting(relative):
    F, T = RNG.standard_normal((40, 6)) + 2, RNG.standard_normal((40, 3)) - 1
    ridge = leave_one_out_ridge(F, T, np.array([relative]))
    assert ridge.left_out_error == pytest.approx(error_by_refitting(F, T, ridge.penalty), rel=1e-8)
    expected = np.column_stack([np.ones(5), F[:5]]) @ refitted(F, T, ridge.penalty)
    assert ridge.predict(F[:5]) == pytest.approx(expected, rel=1e-8)


def test_the_penalty_with_the_least_error_is_taken():
    F = RNG.standard_normal((30, 25))
    T = F[:, :1] @ np.ones((1, 2)) + RNG.standard_normal((30, 2))
    penalties = 10.0 ** np.arange(-4, 2)
    errors = [leave_one_out_ridge(F, T, np.array([one])).left_out_error for one in penalties]
    assert leave_one_out_ridge(F, T, penalties).left_out_error == min(errors)


def test_the_features_of_a_regression_have_its_kernel_as_scalar_product():
    scores = RNG.standard_normal((30, 3))
    features = RidgeFeatures.around(scores[:10])
    curved = features.transform(scores)[:, 3:]
    K = np.exp(-features.gamma * cdist(scores[:10], scores[:10], "sqeuclidean"))
    assert curved[:10] @ curved[:10].T == pytest.approx(K, abs=1e-7)
    assert RidgeFeatures.around(np.ones((4, 2))).transform(np.ones((2, 2))).shape == (2, 3)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_the_loss_of_a_fold_is_that_of_everything_done_from_scratch(load):
    rows = load(return_X_y=True)[0][::4]
    rows = rows / rows.std(axis=0) + 3.0
    n, gamma = len(rows), 0.5 / rows.shape[1]
    fold = split_folds(np.arange(n), 3, np.random.default_rng(1))
    criterion = ReconstructionError(rows, fold, np.random.default_rng(2))
    scores = FoldScores(fold, 2, rng()).compute(PairwiseDistances(rows).centered_matrix(RBF(gamma)))
    for i, loss in enumerate(criterion.losses_of_scores(scores)):
        train, test = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        model = SklearnKernelPCA(2, kernel="rbf", gamma=gamma).fit(rows[train])
        features = RidgeFeatures.around(model.transform(rows[criterion.centers[i]]))
        F, G = (features.transform(model.transform(rows[some])) for some in (train, test))
        top = np.linalg.svd(F - F.mean(axis=0), compute_uv=False)[0] ** 2
        best = min(10.0 ** np.arange(-8, 1), key=lambda p: error_by_refitting(F, rows[train], p * top))
        found = np.column_stack([np.ones(len(test)), G]) @ refitted(F, rows[train], best * top)
        of_mean = np.sum((rows[test] - rows[train].mean(axis=0)) ** 2)
        assert loss == pytest.approx(np.sum((rows[test] - found) ** 2) / of_mean, rel=1e-4)


def test_more_columns_than_rows_have_the_loss_of_a_rotation():
    rows = X[:40]
    wide = rows @ np.linalg.qr(RNG.standard_normal((60, 5)))[0].T + 100.0
    fold = np.arange(40) % 4
    scores = FoldScores(fold, 2, rng()).compute(PairwiseDistances(rows).centered_matrix(RBF(0.1)))
    narrow, other = (ReconstructionError(some, fold, rng()).losses_of_scores(scores) for some in (rows, wide))
    assert other == pytest.approx(narrow, rel=1e-6)


def test_a_line_is_reconstructed_and_noise_is_not():
    line = rng().uniform(size=(60, 1)) @ np.array([[1.0, -2.0, 0.5]])
    assert search(line, [Linear()], 1).best.loss < 1e-4
    assert search(rng().standard_normal((200, 30)), [Linear()], 1).best.loss > 0.9


@pytest.mark.parametrize("change", [lambda rows: 1e-100 * rows, lambda rows: 1e100 * rows, lambda rows: rows + 1e6])
def test_the_loss_does_not_depend_on_unit_and_origin(change):
    kernels = ["linear", "rbf", "laplacian"]
    plain, changed = (search(rows, kernels, 2).trials for rows in (X, change(X)))
    losses = [[trial.loss for trial in trials if not trial.skipped] for trials in (plain, changed)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_alignment_leaves_out_one_fold_at_a_time_with_the_jackknife_error():
    Y, fold = one_hot(X[:, 0] > 0), np.arange(90) % 3
    K, criterion = RBF(0.1)(X, X), TargetAlignment(Y, fold)
    losses = criterion.losses(K, [])
    kept = [np.flatnonzero(fold != i) for i in range(3)]
    assert losses == pytest.approx([-target_alignment(K[np.ix_(some, some)], Y[some]) for some in kept])
    assert criterion.loss(K, losses) == pytest.approx(-target_alignment(K, Y))
    assert criterion.standard_error(losses) == pytest.approx(np.sqrt(2 / 3 * np.sum((losses - losses.mean()) ** 2)))


# ---------------------------------------------------------------------- matrices and candidates


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.3),
        RBF(1e-9),
        Matern(nu=0.5, length_scale=2.0),
        RationalQuadratic(length_scale=3.0),
        Laplacian(0.2),
        Linear(),
        Cosine(),
        Polynomial(2, 0.1),
        Sigmoid(0.01),
        RBF(0.5) + 2 * Linear(),
    ],
    ids=repr,
)
def test_matrices_are_centered_kernel_matrices(kernel):
    found = PairwiseDistances(X).centered_matrix(kernel)
    expected = centered(kernel(X, X))
    assert found == pytest.approx(expected, abs=1e-12 * max(1.0, np.abs(expected).max()))


def test_wide_kernels_keep_the_digits_of_the_distances():
    """To first order, k − 1 is −γ‖x − y‖², so that the centered matrix is 2γ times that of the linear kernel."""
    found = PairwiseDistances(X).centered_matrix(RBF(1e-15)) / 2e-15
    assert found == pytest.approx(centered(X @ X.T), abs=1e-9)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_matrices_of_rows_far_from_zero_keep_their_digits(offset):
    far = np.round(X, 3) + offset
    near = far - offset  # exact
    for kernel in (Linear(), RBF(0.1)):
        found = PairwiseDistances(far).centered_matrix(kernel)
        assert found == pytest.approx(PairwiseDistances(near).centered_matrix(kernel), abs=1e-8)


def test_duplicates_have_distance_zero():
    rows = np.repeat(1e5 + X[:10], 3, axis=0)
    squares = PairwiseDistances(rows).squares
    assert not squares[np.repeat(np.arange(10), 3)[:, None] == np.repeat(np.arange(10), 3)].any()


def test_bandwidths_are_multiples_of_one_over_the_median_distance():
    pairs = np.triu_indices(90, 1)
    squares, city = (cdist(X, X, metric)[pairs] for metric in ("sqeuclidean", "cityblock"))
    for kernel, between in ((RBF(), squares), (Laplacian(), city), (Polynomial(3), squares)):
        found = make_candidates(named_kernels([kernel]), PairwiseDistances(X), rng())
        assert [each.gamma for each in found] == pytest.approx(BANDWIDTH_FACTORS / np.median(between), rel=1e-9)
    lengths = [c.kernel.length_scale for c in make_candidates(named_kernels(["matern"]), PairwiseDistances(X), rng())]
    assert lengths == pytest.approx(np.sqrt(np.median(squares) / (2 * BANDWIDTH_FACTORS)), rel=1e-9)
    counts = np.abs(X)
    found = list(make_candidates(named_kernels([ChiSquared()]), PairwiseDistances(counts), rng()))
    assert found[7].gamma == pytest.approx(1 / np.median(ChiSquared().distances(counts)))


def test_kernels_with_a_bandwidth_are_taken_as_they_are():
    kernels = [RBF(0.5), Linear(), Matern(2.5, 3.0), Polynomial(2, 0.1)]
    found = list(make_candidates(named_kernels(kernels), PairwiseDistances(X), rng()))
    assert [each.kernel for each in found] == kernels
    assert [each.gamma for each in found] == [0.5, None, None, 0.1]
    [median] = make_candidates(named_kernels([RBF("median")]), PairwiseDistances(X), rng())
    assert median.kernel == RBF(median.gamma)


def test_kernels_that_differ_have_names_that_differ():
    names = [name for name, _ in named_kernels(["poly", Matern(), Matern(nu=2.5), RBF(), Polynomial(2)])]
    assert names[:3] == ["poly", "poly", "Matern"] and names[4] == "RBF"
    assert len(set(names[2:])) == 4


def test_values_that_are_not_finite_are_an_error():
    with pytest.raises(DataError, match="overflows"):
        PairwiseDistances(1e120 * X).centered_matrix(Polynomial(3, 1.0))
    with pytest.raises(DataError, match="distances between rows of X are zero"):
        PairwiseDistances(np.ones((5, 2))).median(RBF())


# ---------------------------------------------------------------------- folds


def test_folds_keep_duplicates_together_and_are_even():
    fold = split_folds(np.repeat(RNG.permutation(20), 3), 5, rng())
    assert (fold.reshape(20, 3) == fold[::3, None]).all()
    assert np.bincount(fold).tolist() == [12] * 5
    classes = np.repeat([0, 1], [15, 45])
    fold = split_folds(np.arange(60), 5, rng(), classes)
    assert np.bincount(fold[classes == 0]).tolist() == [3] * 5


def test_folds_depend_on_the_order_of_samples_and_not_on_the_names_of_groups():
    groups = np.repeat(RNG.permutation(20), 2)
    assert (split_folds(groups, 4, rng()) == split_folds(1000 - groups, 4, rng())).all()


@pytest.mark.parametrize("n", [90, 350])  # by LAPACK, and by block Lanczos
@pytest.mark.parametrize("kernel", [RBF(0.1), Linear()], ids=repr)
def test_scores_without_a_fold_are_those_of_a_fit_without_it(n, kernel):
    rows = RNG.standard_normal((n, 6)) * [4, 3, 2, 1, 0.5, 0.2]
    fold, K = np.arange(n) % 3, kernel(rows, rows)
    found = FoldScores(fold, 2, rng(), tol=1e-10).compute(K)
    for i, scores in enumerate(found):
        kept = fold != i
        theirs = SklearnKernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K[np.ix_(kept, kept)])
        expected = theirs.transform(K[:, kept])
        signs = np.sign(np.sum(expected * scores, axis=0))
        assert scores * signs == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_components_without_variance_have_scores_of_zero():
    rows = RNG.standard_normal((40, 2))
    scores = FoldScores(np.arange(40) % 2, 4, rng()).compute(rows @ rows.T)[0]
    assert np.abs(scores[:, :2]).max() > 0.1
    assert not scores[:, 2:].any()


def test_the_tolerance_of_the_solver_does_not_change_what_is_compared():
    rows = np.random.default_rng(3).standard_normal((320, 12)) * np.linspace(3, 0.3, 12)
    fold, K = np.arange(320) % 4, rbf_kernel(rows, gamma=0.02)
    criterion = ReconstructionError(rows, fold, rng())
    coarse, fine = (criterion.losses_of_scores(FoldScores(fold, 3, rng(), tol=tol).compute(K)) for tol in (1e-3, 1e-10))
    assert coarse == pytest.approx(fine, rel=2e-3)


# ---------------------------------------------------------------------- the choice


def trial(name, loss, error=0.1, stability=0.9, factor=None):
    return Trial(Candidate(name, Linear(), factor=factor), 3.0, loss, error, stability)


def test_the_first_kernel_within_one_standard_error_is_chosen_with_its_best_bandwidth():
    trials = [trial("linear", 1.05), trial("rbf", 1.2), trial("rbf", 1.0), trial("poly", 1.08)]
    best, within_one_se, chosen = choose(trials)
    assert (best, chosen, len(within_one_se)) == (trials[2], trials[0], 3)
    assert choose([trial("linear", 1.2), *trials[1:]])[2] == trials[2]


def test_less_stable_and_skipped_kernels_are_not_chosen():
    stable = trial("rbf", 1.05)
    assert choose([trial("linear", 1.0, stability=0.5), stable])[2] == stable
    assert choose([Trial(Candidate("linear", Linear()), 1.0, skipped="too wide"), stable])[2] == stable


def test_losses_that_differ_by_rounding_are_equal():
    trials = [trial("linear", 1e-16, 0.0), trial("rbf", -1e-16, 0.0, factor=100.0), trial("rbf", 0.0, 0.0, factor=1.0)]
    assert choose(trials)[2] == trials[0]
    assert choose(trials[1:])[2] == trials[2]  # the bandwidth nearest to the median
    rows, labels = np.repeat(np.eye(5), 6, axis=0), np.tile([0, 1], 15)  # every alignment is zero
    assert search(rows, ["linear", "rbf"], 2, targets=one_hot(labels)).chosen.candidate.name == "linear"


def test_bandwidths_that_are_far_off_are_skipped_unless_none_is_left():
    rows = RNG.standard_normal((60, 8))
    trials = search(rows, ["rbf"], 2).trials
    for each in trials:
        assert each.skipped == (
            "too wide" if each.effective_rank < 2 else "too narrow" if each.effective_rank > 12 else ""
        )
    assert {each.skipped for each in trials} == {"", "too narrow"}
    few = search(rows[:9], ["rbf"], 1, n_folds=3).trials
    compared = [each for each in few if not each.skipped]
    assert len(compared) == 1  # the effective rank nearest to 2, as a fifth of nine rows is less
    distances = np.abs(np.log([each.effective_rank for each in few]) - np.log(2))
    assert compared[0] is few[int(np.argmin(distances))]


def test_the_number_of_components_is_the_smallest_within_one_standard_error():
    rows = RNG.standard_normal((80, 2)) @ RNG.standard_normal((2, 8)) + 0.01 * RNG.standard_normal((80, 8))
    result = search(rows, ["linear"], 4)
    assert result.numbers == [1, 2, 3, 4]
    means = result.losses.mean(axis=1)
    best = int(np.argmin(means))
    allowed = means[best] + result.losses[best].std(ddof=1) / np.sqrt(5)
    assert result.n_components == result.numbers[int(np.flatnonzero(means <= allowed)[0])] >= 2
