#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2"]
# ///
"""Sessions that CI runs; `nox -l` lists them. `make test` and `make demo` need Python and make alone."""

import re
from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "uv|virtualenv"

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)


def install(session: nox.Session, *groups: str) -> None:
    session.install("-e", ".[app]", *nox.project.dependency_groups(PROJECT, *groups))


@nox.session(python=PYTHONS, default=False)
def tests(session: nox.Session) -> None:
    """Run the test suite; arguments after -- go to pytest."""
    install(session, "test", "lint")
    session.run("pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session(default=False)
def tests_slow(session: nox.Session) -> None:
    """Run all tests, the slow ones included."""
    install(session, "test", "lint", "docs")
    session.run("pytest", "-n", "auto", "--dist", "worksteal", "-m", "", *session.posargs)


@nox.session(python="3.11", default=False)
def tests_lowest(session: nox.Session) -> None:
    """Test the library with the lowest versions that pyproject.toml allows."""
    session.run("python", "tools/versions.py", "lowest", *session.posargs)


@nox.session(default=False)
def tests_next(session: nox.Session) -> None:
    """Test with pre-releases of the dependencies, with and without scikit-learn's private names."""
    session.run("python", "tools/versions.py", "next", *session.posargs)


@nox.session(default=False)
def tests_cpus(session: nox.Session) -> None:
    """Run the numerical tests with the kernels that OpenBLAS and numpy use on other processors."""
    install(session, "test")
    session.run("python", "tools/cpus.py", *session.posargs)


@nox.session(default=False)
def attack(session: nox.Session) -> None:
    """Check every statement of every certificate on thousands of hostile problems."""
    install(session, "test")
    session.run("python", "-m", "attack", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session
def lint(session: nox.Session) -> None:
    """Check formatting, style, spelling, types and layers."""
    install(session, "test", "lint")
    session.install("pre-commit>=4")
    session.run("pre-commit", "run", "--all-files", "--show-diff-on-failure")
    session.run("mypy")
    session.run("lint-imports")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site in build/docs; a warning is an error."""
    install(session, "docs")
    session.run("python", "-m", "docs.site", *session.posargs)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the distribution, and run the demo from the wheel; `-- vX.Y.Z` also compares the version with a tag."""
    version = re.search(r'^__version__ = "(.*)"', Path("src/mercer/__init__.py").read_text(encoding="utf-8"), re.M)[1]
    cited = re.search(r"^version: (.*)$", Path("CITATION.cff").read_text(encoding="utf-8"), re.M)[1]
    if {*session.posargs, f"v{cited}"} != {f"v{version}"}:
        session.error(f"The package is {version}, CITATION.cff has {cited}, the tag is {session.posargs}.")
    session.install("build", "twine")
    for old in Path("dist").glob("mercer-*"):
        old.unlink()
    session.run("python", "-m", "build")
    distributions = sorted(map(str, Path("dist").glob("mercer-*")))
    session.run("twine", "check", "--strict", *distributions)
    wheel = next(path for path in distributions if path.endswith(".whl"))
    session.install("--force-reinstall", f"{wheel}[app]")
    with session.chdir(session.create_tmp()):  # away from the sources
        session.run("mercer", "doctor")
        session.run("mercer", "demo", "--only", "01")


if __name__ == "__main__":
    nox.main()
