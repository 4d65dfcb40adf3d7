"""Imports flow down the floors of the house, and heavy ones wait until they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from support.together import check_each

SOURCE = Path(__file__).parents[2] / "src" / "mercer"

# A module may import from lower floors and from its own room, nothing else.
FLOORS = {
    room: floor
    for floor, rooms in enumerate(
        [
            ["terminal", "limits", "blocks", "unpromised", "parts", "startup", "colours"],
            ["errors"],
            ["arrays", "kernel_names", "rule_names"],
            ["rounding", "blas", "inputs", "symmetric", "threads", "annotated"],
            ["sums", "progress", "outlets", "look"],
            ["squares", "engines"],
            ["sources"],
            ["kernels"],
            ["spaces", "sweeps"],
            ["operators", "solvers"],
            ["certificates"],
            ["plans"],
            ["readings"],
            ["fits"],
            ["drop_in"],
            ["models"],
            ["relatives"],
            ["datasets", "functions", "studies", "conversions"],
            ["displays", "store"],
            ["report"],
            ["commands"],
            ["cli"],
            ["__main__"],
        ]
    )
    for room in rooms
}
LOOKS_UP = Path("models/upstairs.py")  # the one module that may, for methods of models that rooms above them carry out
TEXTBOOK = "textbook"  # numpy only, and imported by nobody in the package

MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room(module):
    """The first part of its name below `mercer`: a folder or a file."""
    return Path(module.parts[0]).stem


def imports(module):
    """Every imported name, in full, wherever in the file it stands."""
    for node in ast.walk(ast.parse((SOURCE / module).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_flow_down():
    check_each(MODULES, flow_down)


def flow_down(module):
    for name in imports(module):
        if not name.startswith("mercer."):
            continue
        target = name.split(".")[1]
        if target in ("__version__", room(module)):
            continue
        assert target != TEXTBOOK, f"{module} imports the textbook, which tests, docs and examples read alone"
        assert module == LOOKS_UP or FLOORS[target] < FLOORS[room(module)], f"{module} imports upwards: {name}"


def test_who_looks_up_waits_until_asked():
    at_once = [node for node in ast.parse((SOURCE / LOOKS_UP).read_text()).body if not isinstance(node, ast.ClassDef)]
    names = [ast.unparse(node) for node in at_once if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [name for name in names if "mercer" in name]


ROOMS = sorted({path.parent for path in SOURCE.rglob("*.py")})


@pytest.mark.parametrize("folder", ROOMS, ids=lambda folder: str(folder.relative_to(SOURCE.parent)))
def test_every_room_says_at_its_door_what_is_inside(folder):
    """What lives here, what it asks of others, what it never does; whatever is exported is said to be."""
    door = folder / "__init__.py"
    assert door.exists(), f"{folder} has modules and no __init__.py"
    tree = ast.parse(door.read_text())
    words = (ast.get_docstring(tree) or "").partition(">>>")[0]
    assert words.partition("\n")[0].endswith((".", ":")), f"{door} does not begin with a sentence about the room"
    if folder != SOURCE:
        assert words.count(".") >= 3, f"{door} says too little about the room: {words!r}"
    brought = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("mercer.")
        for alias in node.names
    }
    said = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert brought == set(said[0] if said else ()) - {"__version__"}, f"{door}: __all__ is not what is imported"
    if folder != SOURCE:
        hidden = brought & {path.stem for path in folder.iterdir()}
        assert not hidden, f"{door}: a name that is brought in hides the module {hidden}"


def test_textbook_needs_numpy_alone():
    allowed = {"numpy", "collections", "typing"}
    assert {name.split(".")[0] for name in imports(Path("textbook.py"))} <= allowed


def loaded_by(code):
    """The top-level packages in memory after running this code in a fresh Python."""
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light():
    assert not loaded_by("import mercer") & {"sklearn", "scipy", "matplotlib", "pandas", "typer", "rich"}


def test_help_loads_no_numerical_library():
    code = "import sys; sys.argv = ['mercer', '--help']\nfrom mercer.__main__ import main\n"
    code += "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()):\n"
    code += "    try: main()\n    except SystemExit: pass\n"
    assert not loaded_by(code) & {"numpy", "sklearn", "scipy", "matplotlib"}


ONE_ROW = """
import sys, tempfile, pathlib, numpy as np, mercer
from mercer_old.startup import meet_sklearn
meet_sklearn()  # as the command line does
rows = np.arange(12.0).reshape(4, 3) ** 2
with tempfile.TemporaryDirectory() as folder:
    path = mercer.PCA(1).fit(rows).save(pathlib.Path(folder) / "a.mercer")
    mercer.load(path).transform(rows[:1])
print(*sys.modules)
"""


def told_by(code):
    """What a fresh Python says."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_model_that_is_loaded_and_used_waits_for_nothing_that_it_does_not_need():
    slow = {"scipy.stats", "scipy.optimize", "sklearn.linear_model", "sklearn.metrics", "sklearn.neighbors"}
    slow |= {"sklearn.isotonic", "sklearn.cluster", "matplotlib", "typer"}
    assert not set(told_by(ONE_ROW).split()) & slow


def test_the_library_leaves_imports_of_others_as_they_are():
    loaded = told_by("import sys, mercer; mercer.PCA; mercer.load; print(*sys.modules)").split()
    assert "mercer_old.models.pca" in loaded and "mercer_old.startup" not in loaded


def test_scikit_learn_has_all_of_scipy_though_it_was_met_without_scipy_stats():
    told = told_by(
        "import sys\n"
        "from mercer_old.startup import meet_sklearn\n"
        "meet_sklearn()\n"
        "assert 'sklearn.base' in sys.modules and 'scipy.stats' not in sys.modules\n"
        "import scipy, sklearn.utils.fixes as fixes\n"
        "assert fixes.scipy.stats.norm.cdf(0.0) == 0.5\n"
        "import scipy.stats, importlib.machinery\n"
        "print(type(scipy.stats).__name__, scipy.stats is sys.modules['scipy.stats'], scipy.stats.__spec__.name)"
    )
    assert told.split() == ["module", "True", "scipy.stats"]


@pytest.mark.parametrize(
    "way",
    [
        "from scipy.stats import norm",
        pytest.param("import scipy.stats.distributions as norms; norm = norms.norm", marks=pytest.mark.slow),
    ],
)
def test_who_asks_for_scipy_stats_while_scikit_learn_is_met_has_it_at_once(way):
    """As a later scikit-learn may: here its part that asks is a module of ours, which takes the place of the real."""
    told = told_by(
        "import sys, types, importlib.abc, importlib.util\n"
        "class Asks(importlib.abc.MetaPathFinder, importlib.abc.Loader):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('sklearn'):\n"
        "            return importlib.util.spec_from_loader(name, self, is_package=True)\n"
        "    def exec_module(self, module):\n"
        f"        {way}\n"
        "        print(norm.cdf(0.0), type(sys.modules['scipy.stats']).__name__)\n"
        "sys.meta_path.insert(0, Asks())\n"
        "from mercer_old.startup import meet_sklearn\n"
        "meet_sklearn()\n"
        "print('scipy.stats' in sys.modules)"
    )
    assert told.split() == ["0.5", "module"] * 2 + ["True"]
