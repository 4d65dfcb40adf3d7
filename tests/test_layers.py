"""Imports flow down the floors of the house, and heavy ones wait until they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "mercer"

# A module may import from lower floors and from its own room, nothing else.
FLOORS = {
    room: floor
    for floor, rooms in enumerate(
        [
            ["terminal", "limits", "blocks", "unpromised", "kernel_names"],
            ["errors"],
            ["arrays"],
            ["rounding", "blas", "inputs", "symmetric", "threads"],
            ["sums", "progress", "outlets"],
            ["squares"],
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
            ["datasets", "report", "functions"],
            ["commands"],
            ["cli"],
            ["__main__"],
        ]
    )
    for room in rooms
}
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


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_flow_down(module):
    for name in imports(module):
        if not name.startswith("mercer."):
            continue
        target = name.split(".")[1]
        if target in ("__version__", room(module)):
            continue
        assert target != TEXTBOOK, f"{module} imports the textbook, which tests, docs and examples read alone"
        assert FLOORS[target] < FLOORS[room(module)], f"{module} imports upwards: {name}"


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
