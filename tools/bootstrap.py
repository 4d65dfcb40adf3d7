"""Build the virtual environment that the Makefile works in, with nothing but Python's own library.

    python3 tools/bootstrap.py STAMP [app] [test] [lint]

installs this project (editable) into .venv together with the named extras and dependency groups of
pyproject.toml, then writes the file STAMP. The stamp comes last, so an interrupted set-up repairs itself.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def main(stamp: str, wanted: list[str]) -> None:
    if sys.version_info < OLDEST:
        here = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"mercer needs Python 3.11 or newer; this is {here}. Try: make PYTHON=python3.12 …")
    requirements = what_to_install(wanted)
    uv = shutil.which("uv")
    if not PYTHON.exists():
        create_environment(uv)
    install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(PYTHON)] if uv else [
        str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
    ]  # fmt: skip
    print(f"setting up .venv ({', '.join(['mercer', *wanted])}) …", file=sys.stderr)
    run([*install, *requirements])
    Path(stamp).write_text("\n".join(requirements) + "\n")


def what_to_install(wanted: list[str]) -> list[str]:
    """The project with its extras, and the requirements of the dependency groups written out.

    (`pip install --group` would do the latter, but the pip inside a fresh Python 3.11 is too old for it.)
    """
    import tomllib  # not at the top: an older Python must reach the sentence about its version

    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = [name for name in wanted if name in pyproject["project"]["optional-dependencies"]]
    groups = [name for name in wanted if name in pyproject["dependency-groups"]]
    unknown = sorted(set(wanted) - set(extras) - set(groups))
    if unknown:
        sys.exit(f"pyproject.toml has neither an extra nor a dependency group called {', '.join(unknown)}.")
    project = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    return ["-e", project, *(line for name in groups for line in pyproject["dependency-groups"][name])]


def create_environment(uv: "str | None") -> None:
    """With uv if it is there, else with venv; a Debian without ensurepip gets python3-venv first."""
    shutil.rmtree(VENV, ignore_errors=True)
    if uv:
        run([uv, "venv", "--quiet", "--python", sys.executable, str(VENV)])
        return
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        apt = ["apt-get", "install", "-y", "python3-venv"]
        if os.name == "nt" or not shutil.which("apt-get") or os.geteuid() != 0:
            sys.exit(f"This Python has no ensurepip, so it cannot create .venv. Run: sudo {' '.join(apt)}  then again.")
        run(["apt-get", "update", "-qq"])
        run(apt)
    run([sys.executable, "-m", "venv", str(VENV)])


def run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True)
    except subprocess.CalledProcessError as error:
        sys.exit(f"set-up stopped: `{' '.join(command[:4])} …` ended with code {error.returncode} (see above).")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
