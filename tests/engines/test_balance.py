"""Which chunks move so that all workers have as much to do."""

from hypothesis import given
from hypothesis import strategies as st

from mercer.engines.balance import moves

WORKERS = ["a", "b", "c"]


def loads(holders, weights, workers):
    return {worker: sum(w for h, w in zip(holders, weights, strict=True) if h == worker) for worker in workers}


def moved(holders, found):
    return [found.get(i, holder) for i, holder in enumerate(holders)]


def test_one_of_five_goes_to_who_has_three():
    holders = ["a", "b", "b", "b", "a", "b", "b", "a"]
    found = moves(holders, [1] * 8, ["a", "b"])
    assert len(found) == 1
    assert loads(moved(holders, found), [1] * 8, ["a", "b"]) == {"a": 4, "b": 4}


def test_nothing_moves_for_nothing():
    assert moves(["a", "a", "b"], [1, 1, 1], ["a", "b"]) == {}  # the other would have as much too much
    assert moves(["a", "a"], [5, 5], ["a"]) == {}
    assert moves([None, None, "gone"], [9, 9, 9], ["a", "b"]) == {}
    assert moves([], [], ["a"]) == {}


@given(st.lists(st.tuples(st.sampled_from([*WORKERS, None]), st.integers(0, 10**9)), max_size=40))
def test_the_busiest_never_gets_more_and_nothing_is_lost(chunks):
    holders, weights = [holder for holder, _ in chunks], [weight for _, weight in chunks]
    found = moves(holders, weights, WORKERS)
    before, after = loads(holders, weights, WORKERS), loads(moved(holders, found), weights, WORKERS)
    assert max(after.values()) <= max(before.values())
    assert sum(after.values()) == sum(before.values())
    assert all(holders[i] in WORKERS and home != holders[i] for i, home in found.items())


@given(st.lists(st.sampled_from(WORKERS), max_size=40))
def test_chunks_of_one_size_end_up_as_even_as_they_can_be(holders):
    weights = [7] * len(holders)
    after = loads(moved(holders, moves(holders, weights, WORKERS)), weights, WORKERS)
    assert max(after.values()) - min(after.values()) <= 7
