"""Run the library's tests on other versions of what it needs, each in an environment of its own.

make test-lowest    the lowest that pyproject.toml promises: a bound that no longer holds shows up
make test-next      the newest of scikit-learn there is, pre-releases too; and that without its private names
"""

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "lowest": [
        "kernels",
        "data/test_metadata_columns.py",
        "data/test_rows_from_files.py",
        "estimators",
        "cluster",
        "compat/test_estimator_checks.py",
        "compat/test_sklearn_own_tests.py",
        *(f"edition1/{name}" for name in ("spaces", "operators", "solvers", "engines")),
        "edition1/readings/test_quality.py",
        "edition1/report/test_gallery.py",
    ],
    "next": ["estimators", "compat"],
}
TOOLS = {
    # scikit-learn 1.6 hands pytest a generator, which pytest 9 refuses; typer 0.16 asks click for what 8.3 warns of.
    "lowest": ["pytest>=8,<9", "click<8.2", "mpmath>=1.3"],
    "next": ["pytest>=8", "array-api-strict>=2.3", "mpmath>=1.3", "pandas>=2.2", "polars>=1.1"],
}
FRAMES = ("pandas", "polars")  # nobody needs them, and many bring them: the tests say from which versions on


def main(which: str, options: list[str]) -> None:
    python = environment(which)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    newest = ["--pre", "--upgrade"] if which == "next" else []
    wanted = requirements(which)
    subprocess.run([*pip, *newest, *wanted], check=True)
    subprocess.run([*pip, *TOOLS[which], "hypothesis>=6.100"], check=True)
    subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=True)
    print(f"{which}:", *wanted)
    failed = run_tests(python, which, options)
    if which == "next":
        print("the same without the private names of scikit-learn")
        failed |= run_tests(python, which, ["-p", "support.sklearn_next", *options])
    sys.exit(failed)


def requirements(which: str) -> list[str]:
    """What pyproject.toml asks for, at its lower bounds, or scikit-learn at its newest."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = told["project"]["optional-dependencies"]
    wanted = told["project"]["dependencies"] + extras["app"]
    if which == "next":
        return wanted
    frames = [requirement for requirement in told["dependency-groups"]["test"] if requirement.startswith(FRAMES)]
    return [re.sub(r">=([0-9.]+)", r"==\1.*", requirement) for requirement in [*wanted, *extras["dask"], *frames]]


def environment(which: str) -> Path:
    """The Python of a virtual environment, which is made if need be."""
    home = ROOT / f".venv-{which}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(home, with_pip=True)
    return python


def run_tests(python: Path, which: str, options: list[str]) -> int:
    tests = [str(ROOT / "tests" / name) for name in TESTS[which]]
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [str(python), "-m", "pytest", *tests, *options]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}).returncode


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
