"""Threads: the smallest request counts, the last one out restores, and tasks see their caller's context."""

import os
import threading
import warnings

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from mercer.numerics import threads
from mercer.numerics.threads import blas_threads, blas_threads_for_size, limit_threads, parallel, threads_for, working

LARGE = threads.WORTH_BLAS_THREADS


class Library:
    """A BLAS of four threads as threadpoolctl sees it: since 3.8, a thread that has set a number keeps others out."""

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


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setattr(threads, "_blas_libraries", lambda: [made])
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


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_last_one_out_restores(library, order):
    visitors = [Visitor(blas_threads(1)), Visitor(blas_threads(1))]
    visitors[order[0]].leave()
    assert library.count == 1
    visitors[order[1]].leave()
    assert library.count == 4 and library.owner is None


def test_the_smallest_request_of_all_threads_counts_and_the_innermost_of_each(library):
    with blas_threads(1):
        with blas_threads(3):
            assert library.count == 3
            other = Visitor(blas_threads(2))
            assert library.count == 2
        assert library.count == 1
        other.leave()
        assert library.count == 1  # one who leaves early does not raise it for the others
        with blas_threads(9):
            assert library.count == 4  # never more than there were
    assert library.count == 4


def test_the_real_libraries_are_restored_by_a_thread_that_did_not_set_them():
    libraries = [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
    before = [library.num_threads for library in libraries]
    first = Visitor(blas_threads(1))
    with blas_threads(1):
        first.leave()
        assert {library.num_threads for library in libraries} == {1}
    assert [library.num_threads for library in libraries] == before


def test_calls_of_lapack_get_threads_by_size(library):
    with blas_threads(1):
        with blas_threads_for_size(LARGE, 3):
            assert library.count == 3
        with limit_threads(2), blas_threads_for_size(LARGE, 3):
            assert library.count == 2
    with blas_threads_for_size(LARGE - 1, 3):
        assert library.count == 1
    with blas_threads_for_size(1000, 3):
        assert library.count == 4  # not worth the bookkeeping


def test_an_interrupt_while_entering_or_leaving_leaves_nothing_behind(library, monkeypatch):
    apply = threads._limit.apply
    for at in (1, 2):
        calls = []

        def interrupted(at=at, calls=calls):
            calls.append(None)
            if len(calls) == at:
                raise KeyboardInterrupt
            apply()

        monkeypatch.setattr(threads._limit, "apply", interrupted)
        with pytest.raises(KeyboardInterrupt), blas_threads(1):
            assert library.count == 1
        assert library.count == 4 and not threads._limit.requests


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(n_threads):
    assert parallel(lambda i: i**2, range(20), n_threads) == [i**2 for i in range(20)]
    assert parallel(str, [], n_threads) == []


def test_the_first_error_reaches_the_caller_and_stops_the_others(library):
    started = []

    def fail(i):
        assert library.count == 1
        started.append(i)
        raise ValueError(f"item {i}")

    with pytest.raises(ValueError, match="item"):
        parallel(fail, range(1000), 2)
    assert len(started) <= 2
    assert library.count == 4 and not threads._limit.requests


def test_tasks_run_in_the_context_of_the_caller():
    both = threading.Barrier(2, timeout=60)  # so that there is a task on each thread

    def overflow(i):
        both.wait()
        return float(np.float64(1e300) * np.float64(1e300)), threading.get_ident()

    with np.errstate(over="ignore"):
        found = parallel(overflow, range(2), 2)
    assert len({thread for _, thread in found}) == 2
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        parallel(overflow, range(2), 2)


def test_nested_calls_do_not_wait_for_each_other():
    def inner(i):
        return sum(parallel(lambda j: i * j, range(4), 4))

    assert parallel(inner, range(8), 4) == [6 * i for i in range(8)]


def test_workers_limit_threads():
    seen = set()
    with limit_threads(1):
        parallel(lambda i: seen.add(threading.get_ident()), range(50), 4)
    assert seen == {threading.get_ident()}


def test_small_work_stays_on_one_thread():
    assert threads_for(3_900_000, 4) == 1
    assert threads_for(5_000_000, 4) == 4


def test_work_reports_progress_and_ignores_overflow(library):
    seen = []
    with working(seen.append, 2, "passes", 2) as progress:
        assert library.count == 1
        assert np.isinf(np.float64(1e300) * 1e300)
        progress(0.5)
    assert (seen[0].n_expected, seen[0].fraction, seen[0].text) == (2, 0.5, "passes")
    with working(False, 1, "passes", 1) as progress:
        assert progress is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_keeps_its_own_request_and_drops_those_of_other_threads(library):
    other = Visitor(blas_threads(1))
    parallel(abs, range(4), 2)  # the child must not wait for these threads
    with blas_threads(1), blas_threads(3), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn about forks next to threads
        assert library.count == 1
        child = os.fork()
        if child == 0:
            seen = [library.count]
            with blas_threads(1):
                seen.append(library.count)
            values = parallel(abs, range(4), 2)
            os._exit(0 if seen == [3, 1] and library.count == 3 and values == [0, 1, 2, 3] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    other.leave()
    assert library.count == 4
