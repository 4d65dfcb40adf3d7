"""Three verbs, by a loop and by a cluster: the same results to the last bit."""

import sys
from functools import partial
from types import ModuleType

import numpy as np
import pytest

from mercer_old.engines.base import tree
from mercer_old.engines.cluster import Cluster
from mercer_old.engines.loop import Loop
from mercer_old.errors import BadData, ClusterFailed
from mercer_old.sources.collections import engine_for


def plus(chunk, own, shared):
    return chunk + own + shared


def joined(one, other):
    return f"({one}{other})"


def refuse(chunk, own):
    if chunk == own:
        raise BadData(f"chunk {chunk} is bad")
    return chunk


def numbers(count):
    return [partial(int, i) for i in range(count)]


@pytest.fixture(autouse=True)
def known_to_workers():
    """These functions travel with their code, as those of a notebook do: workers do not have the file."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture(params=["loop", "cluster"])
def engine(request):
    return Loop() if request.param == "loop" else Cluster(request.getfixturevalue("client"))


def test_a_tree_depends_on_the_number_of_results_alone():
    shapes = {n: tree([str(i) for i in range(n)], joined) for n in (1, 2, 3, 5)}
    assert shapes == {1: "0", 2: "(01)", 3: "((01)2)", 5: "(((01)2)(34))"}


def test_work_is_mapped_shared_and_reduced_in_order(engine):
    shared = engine.share(100)
    mapped = engine.map(plus, numbers(5), [10, 20, 30, 40, 50], shared)
    assert list(engine.bring(mapped)) == engine.collect(mapped) == [110, 121, 132, 143, 154]
    words = engine.map(lambda chunk, own: str(chunk), numbers(5))
    assert engine.reduce(joined, words) == "(((01)2)(34))"
    assert engine.reduce(joined, words[:1]) == "0"


@pytest.mark.parametrize("evenly", [False, True])
def test_what_is_kept_can_be_asked_for_again(engine, evenly):
    kept = engine.keep(engine.map(lambda chunk, own: np.arange(chunk + 1.0), numbers(3)), evenly)
    for _ in range(2):
        assert engine.reduce(np.add, engine.map(lambda chunk, own: chunk.sum(), kept)) == 0 + 1 + 3
        assert [len(array) for array in engine.collect(kept)] == [1, 2, 3]
        assert len(engine.reduce(lambda one, other: np.append(one, other), kept)) == 6


def test_who_has_more_than_others_leaves_some_to_them(client):
    """All rows lie on one of two workers: what is made of them is kept by both."""
    home, other = client.scheduler_info()["workers"]
    rows = [client.submit(np.full, 1000, float(i), workers=[home], pure=False) for i in range(6)]
    engine = Cluster(client)
    kept = engine.keep(engine.map(lambda chunk, own: 2 * chunk, rows), evenly=True)
    assert [float(one[0]) for one in engine.collect(kept)] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    at = [client.who_has([one])[one.key] for one in kept]
    assert sorted(map(len, at)) == [1] * 6
    assert sum(workers == (other,) for workers in at) == 3


def where_it_lies(chunk, own, array):
    return array.ctypes.data % array.itemsize, np.arange(chunk + 1.0)


def test_arrays_lie_where_numbers_belong_wherever_they_were_sent(engine):
    """What comes over the network begins at any byte: products of it would be summed in another order."""
    for _ in range(4):  # keys and addresses before the numbers are of different lengths
        sent = engine.share(np.arange(40.0))
        answers = list(engine.bring(engine.map(where_it_lies, numbers(8), None, sent)))
        assert {there for there, _ in answers} == {0}
        assert {array.ctypes.data % array.itemsize for _, array in answers} == {0}


def test_a_list_of_chunks_is_one_piece_of_work(engine):
    pairs = [[one, other] for one, other in zip(numbers(3), numbers(4)[1:], strict=True)]
    assert list(engine.bring(engine.map(lambda chunks, own: sum(chunks), pairs))) == [1, 3, 5]


def test_progress_is_told_to_the_end(engine):
    heard = []
    engine.reduce(max, engine.map(lambda chunk, own: chunk, numbers(4)), heard.append)
    assert heard == [0.25, 0.5, 0.75, 1.0]
    heard.clear()
    list(engine.bring(engine.map(lambda chunk, own: chunk, numbers(4)), heard.append))
    assert heard == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("way", ["reduce", "bring", "collect", "keep", "keep evenly"])
def test_errors_of_ours_come_back_as_they_are_and_the_engine_goes_on(engine, way):
    bad = engine.map(refuse, numbers(4), [2] * 4)
    with pytest.raises(BadData, match=r"^chunk 2 is bad$"):
        {
            "reduce": lambda: engine.reduce(max, bad),
            "bring": lambda: list(engine.bring(bad)),
            "collect": lambda: engine.collect(bad),
            "keep": lambda: engine.collect(engine.keep(bad)),  # a cluster tells who asks
            "keep evenly": lambda: engine.keep(bad, evenly=True),
        }[way]()
    assert engine.reduce(max, engine.map(refuse, numbers(4), [9] * 4)) == 3


def test_a_cluster_without_workers_is_one_sentence(another_cluster):
    distributed = pytest.importorskip("distributed")
    with (
        another_cluster(n_workers=0) as empty,
        distributed.Client(empty) as client,
        pytest.raises(ClusterFailed, match=r"has no workers: start some"),
    ):
        Cluster(client)


def test_workers_with_other_versions_are_named(client, monkeypatch):
    monkeypatch.setattr("mercer_old.__version__", "9.9.9")
    with pytest.raises(ClusterFailed, match=r"mercer 9\.9\.9.*mercer \d+\.\d+\.\d+ on tcp://127\.0\.0\.1"):
        Cluster(client).share(1)
    with pytest.raises(ClusterFailed, match=r"mercer 9\.9\.9"):
        engine_for()


def test_what_workers_cannot_import_is_named_and_costs_no_worker(client, monkeypatch):
    """A message that a worker cannot read would end it, and all others after it."""
    elsewhere = ModuleType("not_on_workers")
    exec("def work(chunk, own): return chunk", vars(elsewhere))  # noqa: S102
    monkeypatch.setitem(sys.modules, "not_on_workers", elsewhere)
    engine, before = Cluster(client), set(client.scheduler_info()["workers"])
    with pytest.raises(ClusterFailed, match=r"No module named 'not_on_workers'\. Install it where the workers run"):
        engine.reduce(max, engine.map(elsewhere.work, numbers(3)))
    assert set(client.scheduler_info()["workers"]) == before
