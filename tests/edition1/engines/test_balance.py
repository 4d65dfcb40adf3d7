"""Which chunks move so that all threads of workers have as much to do."""

from hypothesis import given
from hypothesis import strategies as st

from mercer_old.engines.balance import moves

WORKERS = ["a", "b", "c"]
THREADS = dict.fromkeys(WORKERS, 1)
TWO = {"a": 1, "b": 1}


def loads(holders, weights, workers):
    return {worker: sum(w for h, w in zip(holders, weights, strict=True) if h == worker) for worker in workers}


def moved(holders, found):
    return [found.get(i, holder) for i, holder in enumerate(holders)]


def test_one_of_five_goes_to_who_has_three():
    holders = ["a", "b", "b", "b", "a", "b", "b", "a"]
    found = moves(holders, [1] * 8, TWO)
    assert len(found) == 1
    assert loads(moved(holders, found), [1] * 8, ["a", "b"]) == {"a": 4, "b": 4}


def test_nothing_moves_for_nothing():
    assert moves(["a", "a", "b"], [1, 1, 1], TWO) == {}  # the other would have as much too much
    assert moves(["a", "a"], [5, 5], {"a": 1}) == {}
    assert moves([None, None, "gone"], [9, 9, 9], TWO) == {}
    assert moves([], [], TWO) == {}
    assert moves(["b", "b"], [0, 3], TWO) == {}  # what weighs nothing is no load


def test_who_has_more_threads_takes_more():
    threads = {"a": 1, "b": 4}
    assert moves(["b"] * 4 + ["a"], [1] * 5, threads) == {}
    found = moves(["a"] * 10, [1] * 10, threads)
    assert loads(moved(["a"] * 10, found), [1] * 10, WORKERS) == {"a": 2, "b": 8, "c": 0}


@given(
    st.lists(st.tuples(st.sampled_from([*WORKERS, None]), st.integers(0, 10**9)), max_size=40),
    st.lists(st.integers(1, 8), min_size=3, max_size=3),
)
def test_the_busiest_never_gets_more_and_nothing_is_lost(chunks, counts):
    holders, weights = [holder for holder, _ in chunks], [weight for _, weight in chunks]
    threads = dict(zip(WORKERS, counts, strict=True))
    found = moves(holders, weights, threads)
    before, after = loads(holders, weights, WORKERS), loads(moved(holders, found), weights, WORKERS)
    assert max(after[w] / threads[w] for w in WORKERS) <= max(before[w] / threads[w] for w in WORKERS)
    assert sum(after.values()) == sum(before.values())
    assert all(holders[i] in WORKERS and home != holders[i] for i, home in found.items())


@given(st.lists(st.sampled_from(WORKERS), max_size=40))
def test_chunks_of_one_size_end_up_as_even_as_they_can_be(holders):
    weights = [7] * len(holders)
    after = loads(moved(holders, moves(holders, weights, THREADS)), weights, WORKERS)
    assert max(after.values()) - min(after.values()) <= 7
