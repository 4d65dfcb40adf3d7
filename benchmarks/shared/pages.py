"""The pages of results: how a page came about, on which machine, and the lines of its table."""

import platform
from importlib.metadata import PackageNotFoundError, version

from benchmarks.shared.running import cores

LIBRARIES = "numpy", "scipy", "scikit-learn"


def than_ours(ratio):
    return f"{ratio:.1f}× slower" if ratio >= 1 else f"{1 / ratio:.1f}× faster"


def line(cells, columns):
    """A line of a table with these columns, of which the last may be empty."""
    return f"| {' | '.join([*cells, *[''] * (columns.count('|') - 1 - len(cells))])} |"


def head(columns):
    return [columns, "|" + "---|" * (columns.count("|") - 1)]


def written_by(name):
    """The sentence by which a page says who writes it."""
    return f"Written by `make bench SUITE={name}`; do not edit."


def machine(peers=()):
    """Processor, cores, and the versions of all that was measured."""
    libraries = [f"{name} {version(name)}" for name in LIBRARIES] + [_version(name) for name in peers]
    return f"{platform.machine()}, {cores()} cores, Python {platform.python_version()}, {', '.join(libraries)}."


def _version(name):
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"
