"""tools/measures.py on a tiny package: sizes, names, private attributes, and a trace with a thread."""

import importlib
import sys

import pytest

import measures
from measures import Trace, Tree

FILES = {
    "__init__.py": "",
    "first/__init__.py": "",
    "first/a.py": '''
from concurrent.futures import ThreadPoolExecutor
from tiny.second.b import Box, work
LIMIT = 3
POOL = []
def start(n):
    if not POOL:
        POOL.append(ThreadPoolExecutor(1))
    return POOL[0].submit(lambda: work(n)).result() + Box().value()
def _shared(box):
    return box._size + box._own
class Mine:
    def __init__(self):
        self._own = 1
        self._inherited_elsewhere = 2
''',
    "second/__init__.py": "",
    "second/b.py": '''
LIMIT, OTHER = 4, 5
def work(n):
    return sum(i for i in range(n)) + work(n - 1) if n else 0
class Box:
    def __init__(self):
        self._size = 2
    def value(self):
        return self._size
def unused():
    return None
''',
    "second/a.py": '''
from tiny.first.a import _shared
def work(n):
    return n
class Sub:
    def value(self):
        return self._own
''',
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tiny"


@pytest.fixture
def start(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder.parent)
    module = importlib.import_module("tiny.first.a")
    yield module.start
    for pool in module.POOL:
        pool.shutdown()
    for name in [name for name in sys.modules if name.partition(".")[0] == "tiny"]:
        del sys.modules[name]


def test_sizes_count_every_line_file_function_and_class(folder):
    lines = sum(len(text.splitlines()) for text in FILES.values())
    assert Tree(folder).sizes() == {"lines": lines, "files": 6, "functions": 9, "classes": 3}


def test_repeated_names_are_those_at_the_top_of_two_modules(folder):
    tree = Tree(folder)
    assert tree.repeated_names() == {
        "LIMIT": ["first/a.py", "second/b.py"],
        "work": ["second/a.py", "second/b.py"],
    }
    assert tree.repeated_modules() == {"a": ["first/a.py", "second/a.py"]}


def test_private_reads_across_packages(folder):
    assert Tree(folder).private_reads() == ["first/a.py:11 _size (second)", "second/a.py:2 _shared (first)"]


@pytest.mark.parametrize("warm_up", [False, True])
def test_trace_has_every_function_hop_and_thread(folder, start, warm_up):
    trace = Trace(folder)
    trace.record(lambda: start(3), warm_up=warm_up)
    assert [step.function for step in trace.steps.values()] == [
        "start",
        "start.<locals>.<lambda>",
        "work",
        "work.<locals>.<genexpr>",
        "Box.__init__",
        "Box.value",
    ]
    counts = trace.counts()
    assert (counts["files"], counts["functions"], counts["of which comprehensions"]) == (2, 6, 1)
    assert trace.hops == {("first/a.py", "second/b.py")}
    depths = {step.function: step.depth for step in trace.steps.values()}
    assert (depths["start"], depths["start.<locals>.<lambda>"], depths["work"], depths["Box.value"]) == (0, 0, 1, 1)
    # start, lambda, 4 × work, 2 of Box, and generators that are resumed once for each item and once to end
    assert counts["calls"] == 1 + 1 + 4 + 2 + (4 + 3 + 2)


def test_profilers_are_restored(folder, start):
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        Trace(folder).record(lambda: 1 / 0)
    assert sys.getprofile() is before


def test_traces_of_fits_are_of_one_edition():
    trace = measures.trace("mercer", "PCA")
    assert {"estimators/pca.py", "estimators/_base.py"} <= set(trace.files)
    assert all((measures.ROOT / "src" / "mercer" / file).exists() for file in trace.files)
    with pytest.raises(measures.NotThereError):
        measures.trace("mercer.data", "PCA")
