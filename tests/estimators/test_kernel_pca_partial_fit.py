"""Kernel PCA of rows in batches: landmarks join and leave, and the truth stays in the intervals."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import mercer
import mercer_old.fits.kernel.landmarks
import mercer_old.sweeps.landmarks
from mercer import KernelPCA
from mercer.kernels import RBF, Laplacian, Linear, Matern, Polynomial
from mercer_old.certificates.intervals import Stretched, angles, certify_landmarks
from mercer_old.errors import MercerWarning, NoRoom
from mercer_old.fits.kernel.landmarks import _stretched
from mercer_old.sources.held import HeldRows
from mercer_old.sweeps.growing import Stream, grow, most_telling
from mercer_old.sweeps.landmarks import LandmarkMap, sweep_moments
from support.landmarks import BLOBS, assert_truth_in_interval, centred, eigenvalues

pytestmark = pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")

KERNELS = [RBF(0.1), RBF(3.0), RBF(1e-4), Laplacian(0.3), Matern(0.5), Polynomial(3, 0.3, 1.0), Linear()]


def in_batches(model, X, cuts, weights=None):
    for some in np.split(np.arange(X.shape[0]), cuts):
        if len(some):
            model.partial_fit(X[some], sample_weight=None if weights is None else weights[some])
    return model


def scattered(seed, n=60):
    """Rows on several scales, with copies among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * rng.choice([0.1, 1.0, 3.0], size=(n, 1))
    X[2 * n // 3 :] = X[: n - 2 * n // 3] if seed % 2 else X[2 * n // 3 :]
    return X


# ---------------------------------------------------------------------- the truth lies in the intervals


@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(KERNELS),
    r=st.integers(1, 12),
    k=st.integers(1, 8),
    cuts=st.lists(st.integers(1, 59), max_size=6).map(sorted),
    weighted=st.booleans(),
    offset=st.sampled_from([0.0, 10.0]),
    fewer=st.integers(1, 20),
)
def test_the_truth_lies_in_the_intervals_however_rows_are_cut(seed, kernel, r, k, cuts, weighted, offset, fewer):
    X = scattered(seed) + offset
    weights = np.random.default_rng(seed).uniform(0.1, 5, size=60) if weighted else None
    model = in_batches(KernelPCA(k, kernel=kernel, n_landmarks=r, random_state=seed % 1000), X, cuts, weights)
    assert_truth_in_interval(model, kernel.block(X, X), weights)
    assert np.all(model.certificate_.lower <= model.eigenvalues_ + 1e-12 * model.eigenvalues_[0])
    model.compress(fewer)
    assert_truth_in_interval(model, kernel.block(X, X), weights)
    again = scattered(seed + 1, 12) + offset
    model.partial_fit(again, sample_weight=None if weights is None else weights[:12])
    both = np.concatenate([X, again])
    assert_truth_in_interval(
        model, kernel.block(both, both), None if weights is None else np.append(weights, weights[:12])
    )


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear(), Polynomial(2, 0.3, 1.0)], ids=repr)
def test_one_row_at_a_time(kernel):
    X = scattered(3, 40)
    model = in_batches(KernelPCA(3, kernel=kernel), X, np.arange(1, 40))
    assert_truth_in_interval(model, kernel.block(X, X))
    assert model.n_samples_seen_ == 40


@pytest.mark.parametrize("kernel", [RBF(0.05), Linear(), Polynomial(2, 0.3, 1.0)], ids=repr)
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_rows_far_from_zero(kernel, offset):
    X = scattered(4) + offset
    model = in_batches(KernelPCA(3, kernel=kernel, n_landmarks=8), X, [7, 20, 41])
    assert_truth_in_interval(model, kernel.block(X, X))


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=repr)
@pytest.mark.parametrize(
    "X",
    [
        np.ones((30, 2)),
        np.zeros((30, 2)),
        np.repeat([[0.0, 0.0], [0.0, 1.0], [3.0, 1.0]], 10, axis=0),  # zero rows first, then others
        np.repeat(np.eye(3), 10, axis=0),
        np.tile(np.eye(3), (10, 1)),
    ],
    ids=["constant", "zero", "grown from zero", "one-hot in turn", "one-hot mixed"],
)
def test_constant_rows_copies_and_ties(kernel, X):
    model = in_batches(KernelPCA(2, kernel=kernel, n_landmarks=4), X, [10, 20])
    assert_truth_in_interval(model, kernel.block(X, X))
    assert np.isfinite(model.transform(X)).all()
    assert len(model.landmarks_) <= max(len(np.unique(X, axis=0)), 1)  # copies never join


def test_single_precision_stays_inside_the_intervals(monkeypatch):
    monkeypatch.setattr(mercer_old.sweeps.landmarks, "_WORTH_SINGLE", 0)
    kernel = RBF(0.1)
    model = in_batches(KernelPCA(5, kernel=kernel, n_landmarks=25), BLOBS, [50, 200])
    assert model._stream.features.single(len(BLOBS))
    assert_truth_in_interval(model, kernel.block(BLOBS, BLOBS))


# ---------------------------------------------------------------------- the same as at once, where it can be


def test_landmarks_that_stay_give_the_interval_of_one_fit():
    chosen, kernel = BLOBS[::10], RBF(0.05)
    once = KernelPCA(5, kernel=kernel, landmarks=chosen).fit(BLOBS)
    grown = in_batches(KernelPCA(5, kernel=kernel, landmarks=chosen), BLOBS, [33, 200, 201])
    assert grown.certificate_.stale == 0
    for name in ("lower", "upper", "total", "explained", "captured", "left"):
        assert_allclose(getattr(grown.certificate_, name), getattr(once.certificate_, name), rtol=1e-9, err_msg=name)
    assert_allclose(grown.transform(BLOBS[:20]), once.transform(BLOBS[:20]), atol=1e-9)


def test_what_the_first_batch_sees_of_all_needs_no_more_landmarks():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = in_batches(KernelPCA(3, kernel="linear"), X, [50, 100])
    once = KernelPCA(3, kernel="linear", eigen_solver="landmark").fit(X)
    assert len(model.landmarks_) == 3 and model.certificate_.stale == 0
    assert_allclose(model.eigenvalues_, once.eigenvalues_, rtol=1e-10)
    assert_allclose(model.eigenvalues_, KernelPCA(3).fit(X).eigenvalues_, rtol=1e-10)


def test_the_order_of_batches_moves_eigenvalues_within_their_intervals_alone():
    X, kernel, rng = scattered(8, 90), RBF(0.2), np.random.default_rng(0)
    parts = np.array_split(np.arange(90), 5)
    certificates = []
    for _ in range(4):
        model = KernelPCA(4, kernel=kernel, n_landmarks=9)
        for part in rng.permutation(5):
            model.partial_fit(X[parts[part]])
        certificates.append(model.certificate_)
    assert np.all(np.max([c.lower for c in certificates], axis=0) <= np.min([c.upper for c in certificates], axis=0))


def test_partial_fit_goes_on_from_a_fit():
    kernel = RBF(0.05)
    model = KernelPCA(4, kernel=kernel, n_landmarks=20).fit(BLOBS[:150]).partial_fit(BLOBS[150:])
    assert_truth_in_interval(model, kernel.block(BLOBS, BLOBS))
    assert model.n_samples_seen_ == len(BLOBS)
    assert not hasattr(model.fit(BLOBS), "n_samples_seen_")  # forgotten with all the rest


def test_weights_are_copies():
    X, counts = scattered(2, 30), np.random.default_rng(1).integers(0, 4, size=30)
    chosen = X[:9]
    weighted = in_batches(KernelPCA(3, kernel=RBF(0.2), landmarks=chosen), X, [10, 20], counts)
    copied = KernelPCA(3, kernel=RBF(0.2), landmarks=chosen).fit(np.repeat(X, counts, axis=0))
    assert_allclose(weighted.eigenvalues_, copied.eigenvalues_, rtol=1e-9)
    assert_allclose(weighted.certificate_.upper, copied.certificate_.upper, rtol=1e-9)


def test_sparse_rows_files_and_dense_ones_are_the_same_rows(tmp_path):
    X = np.where(np.random.default_rng(0).uniform(size=(60, 5)) < 0.4, scattered(6, 60) @ np.ones((3, 5)), 0.0)
    np.save(tmp_path / "rows.npy", X[30:])
    dense = in_batches(KernelPCA(3, kernel=RBF(0.1), n_landmarks=10), X, [30])
    csr = in_batches(KernelPCA(3, kernel=RBF(0.1), n_landmarks=10), sparse.csr_array(X), [30])
    read = KernelPCA(3, kernel=RBF(0.1), n_landmarks=10).partial_fit(X[:30]).partial_fit(tmp_path / "rows.npy")
    mixed = KernelPCA(3, kernel=RBF(0.1), n_landmarks=10).partial_fit(X[:30]).partial_fit(sparse.csr_array(X[30:]))
    for other in (csr, read, mixed):
        assert_allclose(other.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    assert sparse.issparse(csr.landmarks_) and not sparse.issparse(mixed.landmarks_)


def test_landmarks_have_their_numbers_among_all_rows():
    X = scattered(10, 60)
    counts = np.ones(60)
    counts[::7] = 0
    model = in_batches(KernelPCA(3, kernel=RBF(0.2), n_landmarks=6), X, [20, 40], counts)
    assert_array_equal(X[model.landmark_indices_], model.landmarks_)
    model.compress(5)
    assert_array_equal(X[model.landmark_indices_], model.landmarks_)
    assert (counts[model.landmark_indices_] > 0).all()


# ---------------------------------------------------------------------- growing and shrinking


def test_a_cluster_that_arrives_late_is_seen():
    rng = np.random.default_rng(0)
    early, late = 0.3 * rng.normal(size=(150, 2)), 0.3 * rng.normal(size=(50, 2)) + 20
    kernel, X = RBF(0.5), np.concatenate([early, late])
    model = KernelPCA(2, kernel=kernel, n_landmarks=15).partial_fit(early)
    before = len(model.landmarks_)
    model.partial_fit(late)
    assert len(model.landmarks_) > before
    assert_truth_in_interval(model, kernel.block(X, X))
    true = eigenvalues(centred(kernel.block(X, X)))
    assert model.eigenvalues_[0] > 0.9 * true[0] and model.certificate_.captured > 0.9
    first = model.transform(X)[:, 0]
    assert first[:150].max() < first[150:].min() or first[:150].min() > first[150:].max()


def test_more_of_the_same_rows_add_no_landmarks():
    model = KernelPCA(3, kernel=RBF(0.05), n_landmarks=40).partial_fit(BLOBS)
    before = model.landmarks_
    model.partial_fit(BLOBS)
    assert_array_equal(model.landmarks_, before)
    assert model.certificate_.stale == 0
    assert_allclose(model.eigenvalues_, 2 * KernelPCA(3, kernel=RBF(0.05), n_landmarks=40).fit(BLOBS).eigenvalues_)


def test_compress_says_what_it_loses():
    kernel = RBF(0.05)
    model = KernelPCA(3, kernel=kernel, n_landmarks=60).fit(BLOBS)
    seen = np.sum(_features(kernel, model.landmarks_, BLOBS) ** 2)
    lost = model.compress(12)
    assert len(model.landmarks_) == 12
    assert_allclose(lost * len(BLOBS), seen - np.sum(_features(kernel, model.landmarks_, BLOBS) ** 2), rtol=1e-8)
    same = KernelPCA(3, kernel=kernel, landmarks=model.landmarks_).fit(BLOBS)  # the rows looked at again
    assert_allclose(model.eigenvalues_, same.eigenvalues_, rtol=1e-9)
    assert_allclose(model.certificate_.upper, same.certificate_.upper, rtol=1e-6)
    assert_allclose(np.abs(model.transform(BLOBS)), np.abs(same.transform(BLOBS)), atol=1e-8)
    assert model.compress(12) == 0.0


def test_compress_keeps_what_sees_most():
    """One of three unit vectors is seen by 1, another by 2 and the third by 9 rows."""
    X = np.repeat(np.eye(3), [1, 2, 9], axis=0)
    model = KernelPCA(1, kernel="linear", n_landmarks=3).fit(X)
    assert_allclose(model.compress(1), 3 / 12)
    assert_array_equal(model.landmarks_, [[0, 0, 1]])


def test_the_way_back_is_learned_anew():
    model = KernelPCA(6, kernel=RBF(0.1), n_landmarks=40, fit_inverse_transform=True, alpha=1e-3)
    in_batches(model, BLOBS, [100])
    assert model.dual_coef_.shape[0] == len(model.landmarks_)
    back = model.inverse_transform(model.transform(BLOBS))
    assert np.mean((back - BLOBS) ** 2) < 0.2 * np.mean((BLOBS - BLOBS.mean(axis=0)) ** 2)


# ---------------------------------------------------------------------- the pieces


def test_a_grown_factor_is_that_of_all_landmarks():
    kernel = RBF(0.05)
    first, _ = LandmarkMap.of(kernel, BLOBS[:20])
    grown, joined = grow(first, np.concatenate([BLOBS[20:40], BLOBS[:3]]))
    assert set(joined) <= set(range(20))  # those that are there already stay away
    assert_allclose(grown.own @ grown.own.T, kernel.block(grown.rows, grown.rows), atol=1e-10)
    assert_array_equal(grown.own[:20, :20], first.own)
    assert_allclose(grown.features(BLOBS)[:, :20], first.features(BLOBS), atol=1e-9)


def test_coordinates_of_rows_that_are_gone_are_no_longer_than_what_was_left_of_them():
    kernel = RBF(0.2)
    first, _ = LandmarkMap.of(kernel, BLOBS[:10])
    grown, _ = grow(first, BLOBS[10:30])
    left = 1 - np.sum(first.features(BLOBS) ** 2, axis=1)
    assert np.all(np.sum(grown.features(BLOBS)[:, first.count :] ** 2, axis=1) <= left + 1e-10)


def test_sums_of_batches_are_sums_of_all_rows():
    features, _ = LandmarkMap.of(RBF(0.05), BLOBS[:30])
    whole = sweep_moments(features, HeldRows(BLOBS), None, 1)
    first = sweep_moments(features, HeldRows(BLOBS[:77]), None, 1)
    stream = Stream.of(features, first, 77, 77, None)
    rest = sweep_moments(features, HeldRows(BLOBS[77:]), None, 1, origin=first.origin)
    both = stream.with_rows(rest, len(BLOBS) - 77, len(BLOBS) - 77).moments
    for name in ("weight", "total", "square", "diagonal", "left", "roots"):
        assert_allclose(getattr(both, name), getattr(whole, name), rtol=1e-10, atol=1e-10, err_msg=name)


@given(seed=st.integers(0, 10**6), later=st.integers(1, 5), size=st.sampled_from([1e-6, 1e-2, 1.0]))
def test_the_ends_hold_for_any_coordinates_that_rows_may_have(seed, later, size):
    """A and B̃ known, Δ anything of Frobenius norm √ρ, as bad as the top directions make it; E = 0."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(30, 5)), rng.normal(size=(30, later))
    B[:20] = 0
    D = np.zeros_like(B)
    D[:20] = rng.normal(size=(20, later)) if seed % 2 else np.linalg.svd(A[:20])[0][:, :1] * rng.normal(size=later)
    D *= np.sqrt(size) / np.linalg.norm(D)
    known = eigenvalues(A @ A.T + B @ B.T)[:4]
    ends = [
        Stretched(theta, *(eigenvalues(A @ A.T + (1 + sign * theta) * B @ B.T)[:4] for sign in (-1, 1)))
        for theta in angles(known, size)
    ]
    total = float(np.sum(A**2) + np.sum((B + D) ** 2))
    certificate = certify_landmarks(
        known,
        landmarks=5 + later,
        seen=0.0,
        left=size,
        total=(total, total),
        rounding=0.0,
        standing="proven",
        stale=size,
        stretched=ends,
    )
    true = eigenvalues(A @ A.T + (B + D) @ (B + D).T)[:4]
    assert np.all(certificate.lower <= true + 1e-10) and np.all(true <= certificate.upper + 1e-10)
    assert certificate.explained[0] <= true.sum() / total + 1e-12 <= certificate.explained[1] + 2e-12
    assert np.all(certificate.lower >= eigenvalues(A @ A.T)[:4] - 1e-10)  # θ = 1


@pytest.mark.parametrize("gamma", [1e-4, 0.01, 0.1])
@pytest.mark.parametrize("most", [2, 300])
def test_bounds_from_few_eigenpairs_enclose_the_ends(gamma, most, monkeypatch):
    monkeypatch.setattr(mercer_old.fits.kernel.landmarks, "_MOST_SHARPENED", most)
    model = in_batches(KernelPCA(3, kernel=RBF(gamma), n_landmarks=12), BLOBS[np.argsort(BLOBS[:, 0])], [60, 200])
    stream = model._stream
    assert stream.stale and stream.settled < stream.features.count
    values, V = np.linalg.eigh(stream.moments.scatter)
    for q in (4, 8, stream.features.count):
        for one in _stretched(stream, np.maximum(values[::-1][:q], 0.0), V[:, ::-1][:, :q], 3):
            slack = 1e-13 * values[-1] * len(values)
            assert np.all(one.below <= eigenvalues(stream.stretched(1 - one.theta))[:3] + slack)
            assert np.all(one.above >= eigenvalues(stream.stretched(1 + one.theta))[:3] - slack)


def test_the_first_of_the_most_telling_is_the_best_single_one():
    rng = np.random.default_rng(0)
    own, root = np.tril(rng.normal(size=(6, 6))), rng.normal(size=(6, 6))
    M = root @ root.T
    gains = [row @ M @ row / (row @ row) for row in own]
    chosen = most_telling(own, M, 6)
    assert chosen[0] == np.argmax(gains)
    assert sorted(chosen) == list(range(6))


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("params", "X", "match"),
    [
        ({"kernel": "precomputed"}, np.eye(3), "entries between batches are missing"),
        ({"kernel": "spectrum"}, ["abc", "abd"], "partial_fit takes rows of numbers"),
        ({"kernel": "rbf", "eigen_solver": "dense"}, BLOBS, "by all rows at once"),
        ({"kernel": "rbf", "refine": 1}, BLOBS, "take refine=0"),
        ({"kernel": "rbf", "standardize": True}, BLOBS, "standardize divides by the spread of all rows"),
        ({"kernel": "rbf", "n_components": "parallel"}, BLOBS, "shuffles all rows"),
    ],
)
def test_what_batches_cannot_have_is_one_sentence(params, X, match):
    with pytest.raises(ValueError, match=match):
        KernelPCA(**params).partial_fit(X)


def test_an_exact_fit_has_nothing_to_go_on_from():
    model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(BLOBS)
    for refused in (lambda: model.partial_fit(BLOBS), lambda: model.compress(3)):
        with pytest.raises(ValueError, match="goes on from a fit by landmarks"):
            refused()
    assert not hasattr(model, "partial_fit") and hasattr(KernelPCA(2), "partial_fit")
    assert not hasattr(KernelPCA(2, eigen_solver="dense"), "partial_fit")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"gamma": 0.1}, {"gamma": 0.2}),
        ({"kernel": "rbf"}, {"kernel": "linear"}),
        ({"kernel": RBF(0.1) + Linear()}, {"kernel": RBF(0.2) + Linear()}),
        ({"kernel": "poly"}, {"degree": 2}),
    ],
)
def test_another_kernel_is_refused_in_between(before, after):
    model = KernelPCA(2, n_landmarks=20).set_params(kernel="rbf").set_params(**before).partial_fit(BLOBS[:200])
    model.partial_fit(BLOBS[200:]).set_params(**after)
    with pytest.raises(ValueError, match="the kernel of the rows before"):
        model.partial_fit(BLOBS)


@pytest.mark.parametrize(
    "params",
    [{"kernel": "rbf", "gamma": "median"}, {"kernel": "rbf"}, {"kernel": np.dot}],
    ids=["median", "rbf", "function"],
)
def test_the_kernel_of_the_first_batch_stays(params):
    model = KernelPCA(2, n_landmarks=20, **params).partial_fit(BLOBS[:200])
    kernel = model.kernel_
    assert model.partial_fit(10 * BLOBS[200:]).kernel_ == kernel
    assert_truth_in_interval(model, kernel.block(*2 * [np.concatenate([BLOBS[:200], 10 * BLOBS[200:]])]))


def test_things_are_refused_by_a_function_too():
    with pytest.raises(ValueError, match="things of another kind"):
        KernelPCA(2, kernel=lambda a, b: float(len(a & b))).partial_fit([{1}, {1, 2}, {3}])


@pytest.mark.parametrize("many", [0, -1, 2.5, "3", None])
def test_compress_takes_a_whole_number(many):
    model = KernelPCA(2, kernel="rbf", n_landmarks=20).fit(BLOBS)
    with pytest.raises(ValueError, match="n_landmarks must be a whole number"):
        model.compress(many)


def test_columns_are_those_of_the_first_batch():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(BLOBS, columns=list("abcd"))
    model = KernelPCA(2, kernel="rbf", n_landmarks=20).partial_fit(frame[:100])
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame[list("abdc")][100:])
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame[list("abc")])
    with pytest.raises(ValueError, match="3 features"):
        KernelPCA(2, kernel="rbf", n_landmarks=20).partial_fit(BLOBS).partial_fit(BLOBS[:, :3])


@pytest.mark.parametrize("bad", [np.full((3, 4), np.nan), BLOBS[:, :2], 1e200 * BLOBS], ids=["nan", "narrow", "huge"])
def test_a_refused_batch_leaves_the_model_as_it_was(bad):
    model = KernelPCA(2, kernel="linear", n_landmarks=20).partial_fit(BLOBS[:100])
    before, scores = dict(vars(model)), model.transform(BLOBS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(ValueError):
            model.partial_fit(bad)
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
    assert_array_equal(model.transform(BLOBS), scores)
    model.partial_fit(BLOBS[100:])


def test_too_many_landmarks_for_the_memory_are_refused_with_what_to_try():
    model = KernelPCA(2, kernel="rbf", n_landmarks=40).partial_fit(BLOBS[:100])
    model.set_params(memory_limit=10_000_000)
    with pytest.raises(NoRoom, match="n_landmarks"):
        model.partial_fit(BLOBS[100:])
    assert model.n_samples_seen_ == 100


def test_the_certificate_says_that_landmarks_joined():
    model = in_batches(KernelPCA(2, kernel=RBF(0.1), n_landmarks=60), BLOBS, [100])
    assert "Landmarks joined after rows had come" in str(model.certificate_)
    assert "refine" not in str(model.certificate_)  # rows that are gone have no exact pass
    assert "joined" not in str(KernelPCA(2, kernel=RBF(0.1), n_landmarks=10).fit(BLOBS).certificate_)


def test_a_grown_model_is_saved_as_one_by_landmarks(tmp_path):
    model = in_batches(KernelPCA(2, kernel=RBF(0.1), n_landmarks=60), BLOBS, [100])
    assert model.certificate_.stale > 0
    model.save(tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert_array_equal(loaded.transform(BLOBS), model.transform(BLOBS))
    assert str(loaded.certificate_) == str(model.certificate_)
    assert loaded.n_samples_seen_ == len(BLOBS)
    with pytest.raises(ValueError, match="loaded from a file"):
        loaded.partial_fit(BLOBS)


def test_warnings_of_later_batches_are_those_of_all_rows():
    model = KernelPCA(2, kernel=RBF(0.1), n_landmarks=10).partial_fit(BLOBS[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("error", MercerWarning)
        warnings.filterwarnings("ignore", message=".*landmarks see only.*")
        model.partial_fit(BLOBS[1:])


# ---------------------------------------------------------------------- by their formulas


def _features(kernel, S, X):
    """Of which the squared length is k(x, S)K_SS⁻¹k(S, x)."""
    return np.linalg.solve(np.linalg.cholesky(kernel.block(S, S)), kernel.block(S, X)).T
