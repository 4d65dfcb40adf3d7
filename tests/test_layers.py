"""Imports inside `src/mercer` flow downwards, and optional packages are loaded when they are needed.

The layers are a contract for import-linter in pyproject.toml. The checks below cover what it does not look at: imports
by name (`import_module("…")`), whether an upward import waits inside a function, and what is loaded at run time.
"""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "mercer"

# Modules that look names up in the first edition until their successors exist.
SHIMS = {f"mercer.{name}" for name in ("__init__", "__main__", "datasets", "textbook", "relatives", "errors")}
SHIMS |= {"mercer.kernels.__init__"}
# Modules that may import `mercer.cluster`, inside a function.
CLUSTER_ENTRIES = {"mercer.estimators._base", "mercer.estimators._kernel_fit", "mercer.cli.workers"}


class Import(NamedTuple):
    module: str
    target: str
    at_import: bool  # executed when the module is imported


def module_name(path: Path, package: Path) -> str:
    return ".".join(["mercer", *path.relative_to(package).with_suffix("").parts])


def find_imports(package: Path = PACKAGE) -> Iterator[Import]:
    """Every import of every module, also by `import_module("…")` or `__import__("…")`; type checking excepted."""
    for path in sorted(package.rglob("*.py")):
        name = module_name(path, package)
        for target, at_import in visit(ast.parse(path.read_text(encoding="utf-8")), name, at_import=True):
            yield Import(name, target, at_import)


def visit(node: ast.AST, name: str, at_import: bool) -> Iterator[tuple[str, bool]]:
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return
    if isinstance(node, ast.Import):
        yield from ((alias.name, at_import) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = name.split(".")[: -node.level] if node.level else []
        base = ".".join([*package, *([node.module] if node.module else [])])
        yield from ((f"{base}.{alias.name}", at_import) for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
        argument = node.args[0] if node.args else None
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value, at_import
    at_import = at_import and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from visit(child, name, at_import)


def within(target: str, package: str) -> bool:
    return target == package or target.startswith(f"{package}.")


def ignored_edges() -> list[tuple[str, str]]:
    """The upward imports that the contract of the layers permits."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract for contract in settings["contracts"] if contract["id"] == "layers")
    return [tuple(edge.split(" -> ")) for edge in layers["ignore_imports"]]


def violations(package: Path = PACKAGE) -> list[str]:
    """Every import that one of the rules below forbids, as 'rule: module -> target'."""
    edges, found = ignored_edges(), []
    for module, target, at_import in find_imports(package):
        broken = {
            "first edition": within(target, "mercer_old") and module not in SHIMS,
            "estimator": module.startswith("mercer.analysis.")
            and within(target, "mercer.estimators")
            and not (module == "mercer.analysis.tuning" and not at_import),
            "cluster": within(target, "mercer.cluster")
            and not module.startswith("mercer.cluster.")
            and (at_import or module not in CLUSTER_ENTRIES),
            "textbook": within(target, "mercer.textbook") and module != "mercer.textbook",
            "upwards at import": at_import
            and any(fnmatchcase(module, importer) and within(target, imported) for importer, imported in edges),
        }
        found += [f"{rule}: {module} -> {target}" for rule, is_broken in broken.items() if is_broken]
    return found


def run_linter(source: Path) -> subprocess.CompletedProcess[str]:
    """The contracts of pyproject.toml on the package below `source`, whichever one is installed."""
    path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    command += ["--no-cache", "--config", str(ROOT / "pyproject.toml")]
    return subprocess.run(
        command, cwd=source, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, encoding="utf-8"
    )


def test_layers_hold():
    done = run_linter(SOURCE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_imports_follow_the_rules():
    assert violations() == []


@pytest.fixture
def copy(tmp_path):
    """A copy of the package that a test may spoil."""
    shutil.copytree(PACKAGE, tmp_path / "mercer", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def append(path: Path, line: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + f"\n\n{line}\n", encoding="utf-8")


def test_contract_rejects_upward_imports(copy):
    append(copy / "mercer/linalg/dense.py", "def later():\n    from mercer.estimators.pca import PCA")
    append(copy / "mercer/text.py", "from mercer.errors import warn")
    done = run_linter(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    for edge in ("mercer.linalg.dense -> mercer.estimators.pca", "mercer.text -> mercer.errors"):
        assert edge in done.stdout


def test_contract_rejects_the_first_edition(copy):
    append(copy / "mercer/budget.py", "def later():\n    from mercer_old.limits import MemoryLimit")
    done = run_linter(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "mercer.budget -> mercer_old" in done.stdout


def test_contract_rejects_packages_without_a_layer(copy):
    (copy / "mercer/helpers").mkdir()
    (copy / "mercer/helpers/__init__.py").write_text("")
    done = run_linter(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "helpers" in done.stdout


@pytest.mark.parametrize(
    ("rule", "module", "line"),
    [
        ("first edition", "numerics/rounding", 'from importlib import import_module\nimport_module("mercer_old.sums")'),
        ("first edition", "numerics/rounding", "def later():\n    import mercer_old.sums"),
        ("estimator", "analysis/selection", "def later():\n    from mercer.estimators import pca"),
        ("cluster", "data/dataset", "def later():\n    from mercer import cluster"),
        ("cluster", "estimators/_base", "from mercer.cluster import open_collection"),
        ("textbook", "estimators/pca", "def later():\n    from mercer.textbook import pca"),
        ("upwards at import", "estimators/pca", "from mercer.plotting import plot"),
        ("upwards at import", "results", "from mercer.data.writers import table_writer"),
    ],
)
def test_rules_reject(copy, rule, module, line):
    append(copy / f"mercer/{module}.py", line)
    assert {found.partition(":")[0] for found in violations(copy / "mercer")} == {rule}


def test_rules_permit_entries_inside_functions(copy):
    append(copy / "mercer/estimators/_base.py", "def later():\n    from mercer.cluster import open_collection")
    append(copy / "mercer/estimators/pca.py", "def later():\n    from mercer.plotting import plot")
    assert violations(copy / "mercer") == []


def loaded_by(code: str) -> set[str]:
    """Names of all modules in a fresh Python after this code."""
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    code = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_import_mercer_loads_neither_scipy_nor_sklearn():
    loaded = packages(loaded_by("import mercer"))
    assert "mercer" in loaded
    assert not loaded & {"scipy", "sklearn", "mercer_old", "pandas", "pyarrow", "matplotlib", "dask"}


def test_import_pca_loads_no_optional_package():
    """Compared with scikit-learn alone, which imports pandas or pyarrow itself where they are installed."""
    without = packages(loaded_by("import sklearn.base, sklearn.utils.validation, scipy.linalg, scipy.sparse"))
    loaded = loaded_by("import mercer.estimators.pca")
    assert "mercer.estimators.pca" in loaded
    optional = {"pyarrow", "pandas", "polars", "dask", "distributed", "matplotlib", "h5py", "tqdm", "click", "rich"}
    assert packages(loaded) & optional <= without
    assert "mercer_old" not in packages(loaded)
    assert not {name for name in loaded if within(name, "mercer.cluster")}
