"""Heavy imports wait until they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"


def test_textbook_needs_numpy_alone():
    """Imported by no module of the package: tests, documents and examples read it."""
    tree = ast.parse((SOURCE / "mercer_old" / "textbook.py").read_text())
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert {name.split(".")[0] for name in names} <= {"numpy", "collections", "typing"}


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
