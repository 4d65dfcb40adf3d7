"""Workers keep memory at hand while they work, and give it back afterwards."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from mercer_old.engines import memory

# Settings of memory belong to a process, so this has one of its own. Arrays of 1 MB come and go, then 30 MB in pieces.
WORK = """
import resource
import numpy as np
from mercer_old.engines.memory import memory_at_hand

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def come_and_go(times=300):
    before = faults()
    for _ in range(times):
        np.ones(130_000).sum()
    return faults() - before

def held():
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * resource.getpagesize()

come_and_go()
without = come_and_go()
with memory_at_hand():
    with memory_at_hand():
        come_and_go()
    within = come_and_go()
    before = held()
    pieces = [np.ones(13_000) for _ in range(300)]
    most = held() - before
    del pieces
after = held() - before
print(without, within, come_and_go(), most, after)
"""


def told(**environment):
    done = subprocess.run(
        [sys.executable, "-c", WORK], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return [int(word) for word in done.stdout.split()]


@pytest.mark.skipif(memory._libc() is None or not hasattr(memory._libc(), "mallopt"), reason="memory of another kind")
def test_arrays_that_come_and_go_are_not_asked_for_anew_while_work_goes_on():
    """As Dask starts its workers: every array of 1 MB is some 250 pages that the system gives, and takes back."""
    without, within, afterwards, most, after = told(MALLOC_TRIM_THRESHOLD_="65536")
    assert without > 300 * 100  # else there is nothing to gain, and this shows nothing
    assert within < without / 20
    assert afterwards > 300 * 100  # as it was
    assert most > 20e6
    assert after < most / 4


def test_other_processes_are_left_as_they_are(monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    memory._as_told.cache_clear()
    with memory.memory_at_hand():
        assert memory._as_told() is None
        assert not memory._working
    memory._as_told.cache_clear()


def test_memory_is_given_back_when_work_fails(monkeypatch):
    monkeypatch.setattr(memory, "_as_told", lambda: {memory._TRIM: 65536, memory._MMAP: 5000})
    set_to, trimmed = [], []
    monkeypatch.setattr(memory, "_set", set_to.append)
    monkeypatch.setattr(memory, "_libc", lambda: SimpleNamespace(malloc_trim=trimmed.append))
    with pytest.raises(ValueError, match="no"), memory.memory_at_hand():
        raise ValueError("no")
    assert set_to == [memory._AT_HAND, {memory._TRIM: 65536, memory._MMAP: 5000}]
    assert trimmed == [0]
    assert memory._working == 0
