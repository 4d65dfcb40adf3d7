"""Kernel PCA of matrices that are not held: the same answer, inside a memory limit, stoppable, and told beforehand.

A small memory limit makes small data large.
"""

import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs, make_swiss_roll
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import KernelPCA
from mercer.kernels import RBF, Blockwise, Laplacian, Matern, Polynomial
from mercer_old.errors import BadData, MercerWarning, NoRoom
from mercer_old.progress import Progress
from mercer_old.solvers.warm import WarmKrylov
from support.peak import is_near, needs_peaks, peak_of

BLOBS = make_blobs(2500, 8, centers=5, random_state=0)[0]
ROLL = make_swiss_roll(2500, random_state=0)[0]
LITTLE = "40MB"  # K of 2 500 rows takes 50


def agree(a, b, tol):
    """Eigenvalues, variances and (up to what their residuals allow) scores of two fits."""
    assert a.plan_.held == "recomputed" and b.plan_.held != "recomputed"
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=max(tol**2 * 100, 1e-9))
    assert_allclose(a.total_variance_, b.total_variance_, rtol=1e-10)
    assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=max(tol**2 * 100, 1e-9))
    overlap = np.abs(np.sum(a.eigenvectors_ * b.eigenvectors_, axis=0))
    settled = [i for i in range(len(overlap)) if i not in a.certificate_.unresolved]
    assert np.all(overlap[settled] > 1 - 0.05**2)


@pytest.mark.parametrize(
    ("data", "params"),
    [
        (BLOBS, dict(kernel="rbf", gamma="median")),
        (BLOBS + 1e4, dict(kernel="rbf", gamma="median")),
        (BLOBS.astype(np.float32), dict(kernel="rbf", gamma="median")),
        (ROLL, dict(kernel=Laplacian(0.05))),
        (ROLL / 10, dict(kernel=Polynomial(5, 0.5))),
        *(
            pytest.param(ROLL, more, marks=pytest.mark.slow)
            for more in [
                dict(kernel=RBF("median")),
                dict(kernel="rbf", gamma=1e-4),
                dict(kernel=Matern(1.5, 5.0)),
                dict(kernel=RBF("median") + 0.5 * Matern(2.5, 9.0)),
            ]
        ),
    ],
    ids=lambda value: "" if isinstance(value, np.ndarray) else str(value["kernel"]),
)
def test_the_answer_does_not_depend_on_whether_the_matrix_is_held(data, params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)  # a last component that is not settled
        anew = KernelPCA(12, memory_limit=LITTLE, **params).fit(data)
        held = KernelPCA(12, **params).fit(data)
    assert anew.certificate_.certified and np.all(anew.certificate_.relative_residuals <= 1e-4)
    agree(anew, held, 1e-4)
    new = data[:50] * 1.01
    sure = [i for i in range(12) if i not in anew.certificate_.unresolved]
    signs = np.sign(np.sum(anew.eigenvectors_ * held.eigenvectors_, axis=0))
    scale = np.abs(held.transform(data)).max(axis=0)
    difference = np.abs(anew.transform(new) * signs - held.transform(new)) / scale
    assert np.all(difference[:, sure] < 0.05)


def test_a_tighter_tolerance_is_met():
    anew = KernelPCA(12, kernel="rbf", gamma="median", tol=1e-9, memory_limit=LITTLE).fit(BLOBS)
    held = KernelPCA(12, kernel="rbf", gamma="median").fit(BLOBS)
    assert np.all(anew.certificate_.relative_residuals <= 1e-9)
    assert_allclose(np.abs(anew.transform(BLOBS)), np.abs(held.transform(BLOBS)), atol=1e-6)


def test_fit_transform_is_fit_then_transform_to_rounding():
    model = KernelPCA(8, kernel="rbf", gamma="median", memory_limit=LITTLE)
    scores = model.fit_transform(BLOBS)
    assert model.plan_.held == "recomputed"
    assert_allclose(scores, model.transform(BLOBS), atol=1e-9 * np.abs(scores).max())


def test_weights_are_repetitions_here_too():
    weights = np.random.default_rng(0).integers(1, 3, size=2500)
    anew = KernelPCA(6, kernel="rbf", gamma=0.01, memory_limit=LITTLE).fit(BLOBS, sample_weight=weights)
    held = KernelPCA(6, kernel="rbf", gamma=0.01).fit(np.repeat(BLOBS, weights, axis=0))
    assert anew.plan_.held == "recomputed"
    assert_allclose(anew.eigenvalues_, held.eigenvalues_, rtol=1e-7)
    assert_allclose(anew.explained_variance_, held.explained_variance_, rtol=1e-7)
    assert_allclose(np.abs(anew.transform(BLOBS[:20])), np.abs(held.transform(BLOBS[:20])), atol=1e-2)


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_a_share_of_the_variance_takes_the_same_number_of_components(share):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        anew = KernelPCA(share, kernel="rbf", gamma="median", memory_limit=LITTLE).fit(ROLL)
        held = KernelPCA(share, kernel="rbf", gamma="median").fit(ROLL)
    assert len(anew.eigenvalues_) == len(held.eigenvalues_)
    agree(anew, held, 1e-4)


def test_kernels_of_unknown_sign_are_solved_from_a_cold_start():
    kernel = Blockwise(lambda A, B: np.exp(-0.02 * ((A[:, None] - B[None]) ** 2).sum(axis=2)))
    anew = KernelPCA(4, kernel=kernel, memory_limit="45MB").fit(BLOBS[:, :2])
    assert anew.plan_.held == "recomputed" and "no warm start" in anew.plan_.why
    held = KernelPCA(4, kernel=RBF(0.02)).fit(BLOBS[:, :2])
    assert_allclose(anew.eigenvalues_, held.eigenvalues_, rtol=1e-7)


def test_a_kernel_with_a_negative_diagonal_is_solved_and_told():
    kernel = Blockwise(lambda A, B: A @ B.T - 3.0 * (A[:, None] == B[None]).all(axis=2))
    with pytest.warns(MercerWarning, match="not positive semi-definite"):
        model = KernelPCA(2, kernel=kernel, memory_limit="45MB").fit(BLOBS[:, :2])
    assert model.plan_.held == "recomputed" and np.isnan(model.explained_variance_ratio_).all()


def test_one_pass_is_certified_for_what_it_is():
    with pytest.warns(ConvergenceWarning, match="The solver stopped after 1 pass"):
        model = KernelPCA(12, kernel="rbf", gamma="median", max_iter=1, memory_limit=LITTLE).fit(BLOBS)
    exact = KernelPCA(12, kernel="rbf", gamma="median").fit(BLOBS).eigenvalues_
    certificate = model.certificate_
    assert certificate.passes == 1 and not certificate.certified and "NOT certified" in str(certificate)
    assert np.all(certificate.lower <= exact * (1 + 1e-9)) and np.all(exact <= certificate.upper * (1 + 1e-9))


# ---------------------------------------------------------------------------- memory

SMALL_FITS = """
from mercer import KernelPCA
from sklearn.datasets import make_blobs
X = make_blobs({n}, 20, centers=8, random_state=0)[0]
KernelPCA(3, kernel="rbf", gamma=0.01).fit(X[:600])
KernelPCA(3, kernel="rbf", gamma=0.01, memory_limit="40MB").fit(X[:2400])
"""


@needs_peaks
@pytest.mark.parametrize(
    ("n", "k", "limit", "more", "held"),
    [
        (6000, 20, 60e6, "", "recomputed"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                (9000, 20, 60e6, "", "recomputed"),
                (5000, 20, 1e9, "", "gram"),
                (5000, 0.9, 1e9, "", "gram"),
                (9000, 20, 150e6, "", "recomputed"),
                (9000, 50, 300e6, "", "recomputed"),
                (14_000, 10, 120e6, "", "recomputed"),
                (3000, 2000, 2e9, "", "gram"),
                (14_000, 20, 150e6, ", n_landmarks=500, refine=1", "landmarks"),
                (40_000, 20, 300e6, ", n_landmarks=1000, refine=1", "landmarks"),
            ]
        ),
    ],
)
def test_the_limit_is_kept_and_the_plan_is_right(n, k, limit, more, held):
    work = f'model = KernelPCA({k}, kernel="rbf", gamma="median", memory_limit={int(limit)}{more}).fit(X)'
    peak, planned, way = peak_of(work, SMALL_FITS.format(n=n), told="model.plan_.memory, model.plan_.held")
    assert way == held
    assert planned <= limit and peak <= limit
    assert is_near(peak, planned)


WIDE_AND_SPARSE = """
from scipy import sparse
from mercer import KernelPCA
rng = np.random.default_rng(0)
n, d, each = 120, 500_000, 40
X = sparse.csr_array((rng.normal(size=n * each), rng.integers(0, d, n * each), np.arange(n + 1) * each), shape=(n, d))
KernelPCA(3).fit(X[:50])
"""


@needs_peaks
def test_sparse_rows_of_very_many_columns_are_never_made_dense():
    peak, planned, way = peak_of(
        "model = KernelPCA(3).fit(X); model.transform(X)", WIDE_AND_SPARSE, "model.plan_.memory, model.plan_.held"
    )
    assert way == "gram" and is_near(peak, planned)  # 480 MB if they were


LONG_AND_SPARSE = """
from scipy import sparse
from mercer import KernelPCA
rng = np.random.default_rng(0)
n, d, each = 20_000, 100_000, 30
X = sparse.csr_array((rng.normal(size=n * each), rng.integers(0, d, n * each), np.arange(n + 1) * each), shape=(n, d))
X.sum_duplicates()
KernelPCA(3, kernel="cosine", max_iter=3).fit(X[:2000])
"""


@needs_peaks
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_the_plan_for_sparse_rows_counts_their_numbers_and_not_their_columns(kernel):
    peak, planned, way = peak_of(
        f"model = KernelPCA(3, kernel={kernel!r}, max_iter=3, n_jobs=2).fit(X)",
        LONG_AND_SPARSE,
        "model.plan_.memory, model.plan_.held",
    )
    assert way == "features" and peak < planned < 150e6  # 16 GB, if they were dense


@needs_peaks
def test_many_components_of_many_columns_are_made_a_few_at_a_time():
    wide = LONG_AND_SPARSE.replace("20_000, 100_000, 30", "6000, 400_000, 20")
    peak, planned, way = peak_of(
        "model = KernelPCA(60, max_iter=2, n_jobs=1).fit(X)", wide, "model.plan_.memory, model.plan_.held"
    )
    assert way == "features" and is_near(peak, planned)


def test_too_little_memory_is_said_at_once_with_the_way_out():
    with pytest.raises(NoRoom, match=r"needs .* over the limit of 2 MB\. Give a larger memory_limit"):
        KernelPCA(12, kernel="rbf", memory_limit="2MB").fit(BLOBS)
    with pytest.raises(NoRoom, match="the inverse transform"):
        KernelPCA(12, kernel="rbf", memory_limit=LITTLE, fit_inverse_transform=True, eigen_solver="krylov").fit(BLOBS)
    with pytest.raises(ValueError, match="'2 potatoes' is not a size"):
        KernelPCA(12, kernel="rbf", memory_limit="2 potatoes").fit(BLOBS)


# ---------------------------------------------------------------------------- bad data


@pytest.mark.parametrize("rows", [np.ones((2500, 3)), np.full((2500, 3), 1e8)])
def test_rows_that_are_all_equal_are_told(rows):
    with pytest.warns(MercerWarning, match="All rows look the same"):
        model = KernelPCA(3, kernel="rbf", gamma=1.0, memory_limit=LITTLE).fit(rows)
    assert model.plan_.held == "recomputed" and not model.eigenvalues_.any()


def test_duplicates_are_no_trouble():
    rows = np.repeat(ROLL[:100], 25, axis=0)
    anew = KernelPCA(12, kernel="rbf", gamma="median", memory_limit=LITTLE).fit(rows)
    few = KernelPCA(12, kernel="rbf", gamma=anew.gamma_).fit(ROLL[:100])
    assert_allclose(anew.eigenvalues_, 25 * few.eigenvalues_, rtol=1e-7)


@pytest.mark.parametrize("limit", [None, LITTLE])
def test_a_kernel_to_which_every_row_is_alone_is_told(limit):
    with pytest.warns(MercerWarning, match=r"Every row is alone to this kernel.*gamma=1e\+09 is far too large"):
        KernelPCA(3, kernel="rbf", gamma=1e9, memory_limit=limit).fit(ROLL)


@pytest.mark.filterwarnings("ignore:All rows look nearly the same")
@pytest.mark.parametrize("gamma", [1e-9, 1e-30, 1e-100])
def test_a_kernel_so_wide_that_it_is_constant_to_anybody_else_is_pca(gamma):
    """k = 1 − γ‖x − y‖²: what centring leaves is 2γ times the linear kernel, whose digits the shift has kept."""
    anew = KernelPCA(2, kernel="rbf", gamma=gamma, memory_limit=LITTLE).fit(ROLL)
    assert anew.plan_.held == "recomputed"
    assert_allclose(anew.eigenvalues_, 2 * gamma * KernelPCA(2).fit(ROLL).eigenvalues_, rtol=1e-5)


def test_underflow_is_told():
    with pytest.warns(MercerWarning, match=r"All rows look the same.*gamma far too small"):
        KernelPCA(2, kernel="rbf", gamma=1e-250, memory_limit=LITTLE).fit(ROLL)


def test_overflow_is_told():
    with pytest.raises(BadData, match="not finite"):
        KernelPCA(3, kernel=Polynomial(5, 1.0), memory_limit=LITTLE).fit(ROLL * 1e100)


# ---------------------------------------------------------------------------- progress, and stopping


def test_how_far_a_matrix_that_is_held_is_filled_is_told():
    seen, X = [], np.random.default_rng(0).normal(size=(700, 3))
    KernelPCA(2, kernel="rbf", gamma=0.1, progress=seen.append).fit(X)
    shares = [state.share for state in seen]
    assert {state.words for state in seen} == {"filling the kernel matrix"}
    assert len(shares) == 3 and 0.5 < shares[0] < shares[1] < shares[2] == 1  # a third of the rows has 5/9 of it


def test_progress_is_reported_and_what_the_callback_raises_stops_the_fit():
    seen = []
    model = KernelPCA(12, kernel="rbf", gamma="median", memory_limit=LITTLE, progress=seen.append).fit(BLOBS)
    assert all(isinstance(state, Progress) for state in seen)
    assert seen[-1].done + 1 == model.certificate_.passes and seen[-1].fraction == 1
    shares = [state.share for state in seen]
    assert min(shares) > 0 and max(shares) <= 1

    class Enough(Exception):
        pass

    def stop(state):
        raise Enough

    with pytest.raises(Enough):
        KernelPCA(12, kernel="rbf", gamma="median", memory_limit=LITTLE, progress=stop).fit(BLOBS)


def test_a_bar_is_shown_on_a_terminal_only(capfd):
    KernelPCA(2, kernel="rbf", gamma="median", memory_limit=LITTLE, progress=True).fit(ROLL)
    assert capfd.readouterr() == ("", "")


INTERRUPTED = """
from mercer import KernelPCA
from sklearn.datasets import make_blobs
X = make_blobs(20_000, 20, centers=8, random_state=0)[0]
def going(state):
    print("going", flush=True)
try:
    KernelPCA(20, kernel="rbf", gamma="median", memory_limit="60MB", progress=going).fit(X)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_stops_a_long_fit_and_leaves_nothing_behind():
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    for _ in range(3):  # of some thousand reports
        assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate()  # ends only when the process does: no thread is left
    assert rest.strip().endswith("stopped") and process.returncode == 0


# ---------------------------------------------------------------------------- plans


def test_plans_are_made_for_data_that_do_not_exist():
    plan = mercer.plan(n_rows=80_000, n_features=30, n_components=20, memory_limit="2GB")
    assert plan.held == "recomputed" and isinstance(plan.solver, WarmKrylov)
    assert plan.memory <= 2e9 and plan.seconds > 0 and "K would take 51.2 GB" in str(plan)
    small = mercer.plan(1000, 5)
    assert small.held == "gram" and small.seconds < plan.seconds
    assert mercer.plan(10**6, 50, kernel="linear").held == "features"
    with pytest.raises(ValueError, match="n_rows must be a whole number from 1"):
        mercer.plan(0.5, 3)
    with pytest.raises(NoRoom, match="10 MB"):
        mercer.plan(10**6, 30, memory_limit="10MB")


def test_the_plan_before_is_the_plan_after_but_for_the_time():
    model = KernelPCA(12, kernel="rbf", gamma="median", memory_limit=LITTLE)
    before = model.plan(BLOBS)
    assert before.seconds > 0
    after = model.fit(BLOBS).plan_
    assert (after.solver, after.memory, after.why) == (before.solver, before.memory, before.why)
    assert KernelPCA(12).plan(BLOBS).seconds > 0  # of explicit features, where there is no tile to time


def test_a_share_that_takes_more_than_fits_is_told():
    noise = np.random.default_rng(0).normal(size=(2500, 40))
    with pytest.raises(NoRoom, match=r"takes [0-9,]+ to [0-9,]+ components"):
        KernelPCA(0.9, kernel="rbf", gamma="median", memory_limit=LITTLE).fit(noise)
