"""One book of BLAS threads: who wants how many, who restores them, and what a fit of some size gets."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from scipy import linalg
from threadpoolctl import ThreadpoolController

from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding, ProbabilisticPCA
from mercer.kernels import Blockwise
from mercer_old import threads
from mercer_old.threads import blas_threads_for, one_blas_thread, run

pytestmark = pytest.mark.pools
LARGE, SMALL = threads.WORTH_BLAS_THREADS, threads.WORTH_BLAS_THREADS - 1


class Library:
    """A BLAS of four threads as threadpoolctl sees it: since 3.8, a thread that has set a number keeps others out."""

    threading_layer = "pthreads"

    def __init__(self):
        self.count, self.owner = 4, None

    @property
    def num_threads(self):
        return self.count

    def set_num_threads(self, count):
        me = threading.current_thread()
        if self.owner in (None, me) or not self.owner.is_alive():
            self.count, self.owner = count, me

    def clear_controlling_thread(self):
        if self.owner is threading.current_thread():
            self.owner = None


class LibraryOfThreads:
    """A BLAS on OpenMP: every thread has a number of its own."""

    threading_layer = "openmp"

    def __init__(self):
        self.counts = {}

    @property
    def num_threads(self):
        return self.counts.get(threading.get_ident(), 4)

    def set_num_threads(self, count):
        self.counts[threading.get_ident()] = count


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setattr(threads, "_pools", [threads._Pool(made)])
    return made


class Visitor:
    """Another thread, which enters a context and leaves it when it is told to."""

    def __init__(self, context):
        self._inside, self._leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._visit, args=(context,))
        self._thread.start()
        assert self._inside.wait(60)

    def _visit(self, context):
        with context:
            self._inside.set()
            assert self._leave.wait(60)

    def leave(self):
        self._leave.set()
        self._thread.join()


# ---------------------------------------------------------------------- who restores


@pytest.mark.parametrize("first_out", ["the first one in", "the second one in"])
def test_the_last_one_out_restores_whoever_was_first_in(library, first_out):
    first = Visitor(one_blas_thread())
    second = Visitor(one_blas_thread())
    order = [first, second] if first_out == "the first one in" else [second, first]
    order[0].leave()
    assert library.count == 1  # the other still needs it
    order[1].leave()
    assert library.count == 4 and library.owner is None


def test_the_real_libraries_are_restored_by_a_thread_that_did_not_set_them():
    libraries = [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
    before = [library.num_threads for library in libraries]
    first = Visitor(one_blas_thread())
    with one_blas_thread():
        first.leave()
        assert {library.num_threads for library in libraries} == {1}
    assert [library.num_threads for library in libraries] == before


def test_an_error_in_a_thread_reaches_the_caller_and_restores_the_pools(library):
    def fail(task):
        assert library.count == 1
        raise ValueError(f"task {task}")

    with pytest.raises(ValueError, match="task 0"):
        run(fail, range(5), threads=2)
    assert library.count == 4 and not threads._wishes


def test_ctrl_c_while_entering_or_leaving_leaves_nothing_behind(library, monkeypatch):
    settle = threads._settle
    for at in (1, 2):  # the first call enters, the second leaves
        calls = []

        def interrupted(at=at, calls=calls):
            calls.append(None)
            if len(calls) == at:
                raise KeyboardInterrupt
            settle()

        monkeypatch.setattr(threads, "_settle", interrupted)
        with pytest.raises(KeyboardInterrupt), one_blas_thread():
            assert library.count == 1
        assert library.count == 4 and not threads._wishes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_inside_keeps_its_own_wish_and_drops_those_of_threads_it_does_not_have(library):
    other = Visitor(one_blas_thread())
    with one_blas_thread(allowed=3), blas_threads_for(LARGE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
        assert library.count == 1  # because of the other
        child = os.fork()
        if child == 0:
            seen = [library.count]
            with one_blas_thread():
                seen.append(library.count)
            seen.append(library.count)
            os._exit(0 if seen == [3, 1, 3] and len(threads._wishes) == 2 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    other.leave()
    assert library.count == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_that_leaves_what_its_parent_entered_restores_the_pools(library):
    child = -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with one_blas_thread():
            child = os.fork()
        if child == 0:
            after = library.count
            with one_blas_thread():
                inside = library.count
            os._exit(0 if (after, inside, library.count) == (4, 1, 4) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert library.count == 4


# ---------------------------------------------------------------------- beside others who set a number


class Limit:
    """What `threadpool_limits` does: sets a number, and back to what it found."""

    def __init__(self, library, count):
        self.library, self.count = library, count

    def __enter__(self):
        self.before = self.library.count
        self.library.set_num_threads(self.count)

    def __exit__(self, *error):
        self.library.set_num_threads(self.before)
        self.library.clear_controlling_thread()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_limit_of_somebody_else_that_ends_while_we_are_inside_is_not_brought_back(library, count):
    theirs = Visitor(Limit(library, count))
    with one_blas_thread():
        theirs.leave()
        with one_blas_thread():
            assert library.count == 1
        assert library.count == 1
    assert library.count == 4


@pytest.mark.parametrize("count", [1, 2])
def test_a_limit_of_the_caller_holds_before_and_after(library, count):
    with Limit(library, count):
        with one_blas_thread(allowed=4), blas_threads_for(LARGE):
            assert library.count == count
        assert library.count == count
    assert library.count == 4


def test_a_limit_inside_of_ours_is_lifted_with_it(library):
    with one_blas_thread():
        with Limit(library, 2), one_blas_thread():
            assert library.count == 1
        assert library.count == 1
    assert library.count == 4


def test_a_number_set_for_good_meanwhile_has_the_last_word(library):
    with one_blas_thread():
        library.set_num_threads(3)
    assert library.count == 3


def test_where_every_thread_has_its_own_number_each_restores_its_own(monkeypatch):
    library = LibraryOfThreads()
    monkeypatch.setattr(threads, "_pools", [threads._Pool(library)])
    first = Visitor(one_blas_thread())
    with one_blas_thread():
        assert set(library.counts.values()) == {1} and len(library.counts) == 2
        first.leave()
        assert sorted(library.counts.values()) == [1, 4]
    assert set(library.counts.values()) == {4}


# ---------------------------------------------------------------------- how many


def test_large_calls_get_what_is_allowed_small_ones_a_single_thread(library):
    with one_blas_thread(allowed=2):
        for size, count in [(LARGE, 2), (SMALL, 1)]:
            with blas_threads_for(size):
                assert library.count == count
            assert library.count == 1
        with one_blas_thread(), blas_threads_for(LARGE):  # allowed by whoever is outside
            assert library.count == 2
    with one_blas_thread(allowed=1), blas_threads_for(LARGE):
        assert library.count == 1
    with one_blas_thread(allowed=100), blas_threads_for(LARGE):
        assert library.count == 4  # no more than there were


def test_the_smallest_wish_of_all_threads_is_granted(library):
    with one_blas_thread(allowed=2), blas_threads_for(LARGE):
        other = Visitor(one_blas_thread())
        assert library.count == 1
        other.leave()
        assert library.count == 2


# ---------------------------------------------------------------------- fits

LAPACK = [(np.linalg, name) for name in ("eigh", "eigvalsh", "svd", "qr", "solve", "inv", "cholesky")]
LAPACK += [(linalg, name) for name in ("eigh", "svd", "cho_factor", "cho_solve", "solve")]

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))


def tile(rows, columns):
    """A kernel of the user's: what he computes in here has one thread as well."""
    TILES.append(np.linalg.eigvalsh(np.eye(2)))  # seen by the watch on LAPACK
    return np.exp(-((rows[:, None] - columns) ** 2).sum(axis=2))


TILES = []
FITS = {
    "KernelPCA": lambda n_jobs: KernelPCA(3, kernel="rbf", fit_inverse_transform=True, n_jobs=n_jobs),
    "KernelPCA by Krylov": lambda n_jobs: KernelPCA(3, kernel="rbf", eigen_solver="krylov", n_jobs=n_jobs),
    "KernelPCA by features": lambda n_jobs: KernelPCA(3, kernel="poly", fit_inverse_transform=True, n_jobs=n_jobs),
    "KernelPCA by landmarks": lambda n_jobs: KernelPCA(3, kernel="rbf", n_landmarks=30, n_jobs=n_jobs),
    "KernelPCA of a user's kernel": lambda n_jobs: KernelPCA(3, kernel=Blockwise(tile), n_jobs=n_jobs),
    "KernelPCA, median": lambda n_jobs: KernelPCA(3, kernel="rbf", gamma="median", n_jobs=n_jobs),
    "PCA": lambda n_jobs: PCA(3, n_jobs=n_jobs),
    "PCA by share": lambda n_jobs: PCA(0.9, n_jobs=n_jobs),
    "PCA by QR": lambda n_jobs: PCA(3, svd_solver="qr", n_jobs=n_jobs),
    "PCA by SVD": lambda n_jobs: PCA(3, svd_solver="full", n_jobs=n_jobs),
    "PCA by Gram": lambda n_jobs: PCA(3, svd_solver="gram", n_jobs=n_jobs),
    "PCA by Krylov": lambda n_jobs: PCA(3, svd_solver="krylov", n_jobs=n_jobs),
    "IncrementalPCA": lambda n_jobs: IncrementalPCA(3, batch_size=50, n_jobs=n_jobs),
    "ProbabilisticPCA": lambda n_jobs: ProbabilisticPCA(n_jobs=n_jobs),
    "LLE": lambda n_jobs: LocallyLinearEmbedding(n_neighbors=8, n_jobs=n_jobs),
    "LLE by LAPACK": lambda n_jobs: LocallyLinearEmbedding(n_neighbors=8, eigen_solver="dense", n_jobs=n_jobs),
}


@pytest.fixture
def seen(library, monkeypatch):
    """The number of BLAS threads at every call of LAPACK."""
    counts = []

    def watched(plain):
        def call(*args, **kwargs):
            counts.append(library.count)
            return plain(*args, **kwargs)

        return call

    for module, name in LAPACK:
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    return counts


def use(model):
    """All that a fitted model is asked for."""
    model.fit(X)
    model.transform(X[:40])
    if hasattr(model, "inverse_transform") and getattr(model, "fit_inverse_transform", True):
        model.inverse_transform(model.transform(X[:40]))
    if hasattr(model, "get_precision"):
        model.get_precision()
        model.score_samples(X)


@pytest.mark.parametrize("name", FITS)
def test_a_small_fit_has_one_blas_thread_at_every_call_of_lapack(name, library, seen):
    use(FITS[name](n_jobs=3))
    assert seen and set(seen) == {1}
    assert library.count == 4


@pytest.mark.parametrize("name", FITS)
def test_n_jobs_is_the_most_that_lapack_gets_for_a_large_fit(name, library, seen, monkeypatch):
    monkeypatch.setattr(threads, "WORTH_BLAS_THREADS", 0)
    for n_jobs in (1, 3):
        seen.clear()
        use(FITS[name](n_jobs=n_jobs))
        assert seen and max(seen) <= n_jobs
    assert library.count == 4


@pytest.mark.parametrize(
    "name", ["KernelPCA", "KernelPCA by features", "PCA", "PCA by SVD", "PCA by Gram", "LLE by LAPACK"]
)
def test_a_large_eigenproblem_gets_the_threads_of_n_jobs(name, library, seen, monkeypatch):
    monkeypatch.setattr(threads, "WORTH_BLAS_THREADS", 0)
    use(FITS[name](n_jobs=3))
    assert max(seen) == 3


def test_in_a_fresh_process_the_blas_of_scipy_has_one_thread_although_nobody_has_loaded_it_yet():
    """As on a worker, whose first work loads what it needs when it is under way."""
    code = (
        "from mercer_old.threads import one_blas_thread\n"
        "with one_blas_thread(1):\n"
        "    import scipy.linalg\n"
        "    from threadpoolctl import threadpool_info\n"
        "    print(*[pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    )
    assert done.stdout.split() and set(done.stdout.split()) == {"1"}, done.stderr
