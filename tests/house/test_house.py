"""The house as its measures and walks see it."""

import re
from itertools import pairwise
from statistics import median

import reference
from house.test_layers import FLOORS, SOURCE
from measures import MEASURES, House
from walk import CONTRACTS, STORY, Hop, Walk, walks

SMALL_HOUSE = House(
    {
        "__init__.py": '__all__ = ["shown"]\n',
        "models/one.py": 'LIMIT = 1\n\n\ndef shown(a):\n    """A docstring\n    of two lines."""\n    return a\n',
        "fits/two.py": (
            "LIMIT, OTHER = 1, 2\n\n\ndef hidden(a):\n    if issparse(a) or isinstance(a, HeldRows):\n        a = 1\n"
            "    return a\n\n\ndef shown(a):\n    pass\n\n\ndef _own(a):\n    return sparse.issparse(a)\n"
        ),
        "kernels/three.py": "class Kernel:\n    def block(self, X):\n        return issparse(X)\n",
    }
)


def test_measures_count_what_they_say():
    found = {name: measure(SMALL_HOUSE) for name, measure in MEASURES.items()}
    assert found == {
        "files": 3,
        "lines": 7 + 15 + 3,
        "files in models/": 1,
        "lines of a file, median": 7,
        "lines of a file, at most": "15 (fits/two.py)",
        "files over 400 lines": 0,
        "lines of a function body, median": 1,
        "lines of a function body, at most": "3 (fits/two.py:hidden)",
        "function bodies over 60 lines": 0,
        "functions and classes without an underscore": 4,
        "… of which no `__all__` has the name": 2,
        "homonyms: functions and classes": 1,
        "homonyms: constants and aliases": 1,
        "`isinstance(…, …Rows)` outside sources/, kernels/": 1,
        "`issparse` outside sources/, kernels/": 2,
    }


def test_files_and_functions_stay_small_and_models_are_estimators_alone():
    house = House.as_it_stands()
    lengths = house.lengths()
    assert sum(path.startswith("models/") for path in lengths) <= 20  # estimators, what else they do, a look upwards
    assert median(lengths.values()) <= 130
    assert {path for path, lines in lengths.items() if lines > 400} <= {
        "textbook.py"
    }  # a book, read formula by formula
    assert [name for lines, name in house.bodies() if lines > 60] == []


def test_walks_come_through_every_room_from_sources_to_models():
    floors = {room for room in FLOORS if FLOORS["sources"] <= FLOORS[room] <= FLOORS["models"]}
    assert floors == STORY | CONTRACTS
    assert {room for room in floors if FLOORS[room] >= FLOORS["plans"]} == STORY


def test_only_coming_back_to_where_the_story_is_told_is_a_return():
    steps = [("models/a.py", False), ("fits/b.py", False), ("kernels/c.py", False), ("fits/b.py", True)]
    walk = Walk(
        "fit", [Hop(file, ["f"], back) for file, back in [*steps, ("kernels/c.py", True), ("fits/d.py", False)]]
    )
    assert walk.files == ["models/a.py", "fits/b.py", "kernels/c.py", "fits/d.py"]
    assert walk.returns == 1
    assert str(walk).splitlines()[1:] == [
        "models/a.py: f", "fits/b.py: f", "kernels/c.py: f", "↩ fits/b.py: f", "fits/d.py: f"
    ]  # fmt: skip


def test_walks_begin_at_the_model_and_know_where_they_have_been():
    for walk in walks():
        assert walk.files[0].startswith("models/")
        assert "fits/door.py" in walk.files
        seen = [hop.file for hop in walk.hops]
        assert [hop.back for hop in walk.hops] == [file in seen[:i] for i, file in enumerate(seen)]
        assert all(one != other for one, other in pairwise(seen))


def test_a_fit_is_told_in_fourteen_files_with_three_returns():
    for walk in walks():
        assert len(walk.told) <= 14, str(walk)
        assert walk.returns <= 3, str(walk)


HOUSE_PAGE = reference.HOUSE.read_text(encoding="utf-8")


def test_floors_of_the_page_are_those_of_the_house():
    assert reference.house(with_walks=False) == HOUSE_PAGE, "the house has changed: make reference"
    rooms = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    named = set(re.findall(r"`(\w+)(?:/|\.py)`", HOUSE_PAGE))
    assert rooms - {"__init__"} <= named


def test_paths_of_the_page_exist():
    paths = set(re.findall(r"`([\w/]+(?:\.py|\.md|/))`", HOUSE_PAGE)) | set(re.findall(r"`(tests/\w+)`", HOUSE_PAGE))
    assert len(paths) > 60
    root = SOURCE.parents[1]
    missing = {path for path in paths if not (root / path).exists() and not (SOURCE / path).exists()}
    assert missing == set()


def test_walks_of_the_page_come_through_the_files_of_the_fits():
    """The files; functions come and go, and are written anew by `make reference`."""
    told = HOUSE_PAGE.partition("<!-- walks -->")[2].partition("<!-- end of walks -->")[0]
    parts = re.split(r"^\*\*`(.+?)`\*\*.*$", told, flags=re.M)
    pages = {
        title: set(re.findall(r"^\d+\. (?:↩ )?`(.+?)`", part, re.M))
        for title, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert pages == {walk.title: set(walk.files) for walk in walks()}, "fits go another way by now: make reference"
