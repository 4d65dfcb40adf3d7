"""Run the library's tests on the lowest versions that pyproject.toml promises, in an environment of its own.

    make test-lowest

The lower bounds themselves are installed ("numpy>=2.0" as numpy==2.0.*), so a bound that no longer holds shows up.
"""

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv-lowest"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
TESTS = [
    "test_kernels.py",
    "test_operators.py",
    "test_solvers.py",
    "test_kernel_pca.py",
    "test_sklearn.py",
    "test_landmarks.py",
    "test_lle.py",
    "test_quality.py",
    "test_sources.py",
    "test_gallery.py",
]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["app"]
    lowest = [re.sub(r">=([0-9.]+)", r"==\1.*", requirement) for requirement in wanted]
    if not PYTHON.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [
            *pip,
            *lowest,
            "pytest>=8,<9",  # scikit-learn 1.6 hands pytest a generator, which pytest 9 refuses
            "hypothesis>=6.100",
            "pandas>=2.2",
            "polars>=1",
        ],
        check=True,
    )
    subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=True)
    print("lowest:", *lowest)
    tests = [str(ROOT / "tests" / name) for name in TESTS]
    sys.exit(subprocess.run([str(PYTHON), "-m", "pytest", *tests, *sys.argv[1:]], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
