"""The pages of results: a table of all systems on all cases, and what its columns mean."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from statistics import median

import numpy as np
import scipy
import sklearn

from cases import BARE, SUITES

FILES = {"small": "RESULTS.md", "large": "LARGE.md", "landmark": "LANDMARK.md"}
TITLES = {
    "small": "# Benchmarks",
    "large": "# Benchmarks: matrices that are not held",
    "landmark": "# Benchmarks: landmarks",
}
TARGETS = {"small": "bench", "large": "bench-large", "landmark": "bench-landmark"}
CERTIFIED = (
    "*passes*: time in units of {}. *slower*: time against ours. *memory*: peak beyond the data, also in Gram matrices "
    "K. *residual*: worst ‖JKJu − ηu‖/η over the components."
)
MEANINGS = {
    "small": CERTIFIED.format("a fixed numpy product (5 000×5 000 by 64 columns), {:.0f} ms here"),
    "large": CERTIFIED.format(
        "a fixed numpy pass over the same number of rows (30 features, float32 tiles of the upper triangle, "
        "32 columns), {:.0f} ms at 20 000 rows here"
    ),
    "landmark": (
        "RBF kernel, γ one over the median squared distance (a hundredth of that for the far cluster), 20 features; "
        "1 000 landmarks or random features for every system (ours ends with fewer if they see enough). "
        "*than ours*: time against ours; for bare kernel blocks, which are evaluated and thrown away, our "
        "share of their speed. *memory*: peak beyond the data, or, where rows are in a file, beyond nothing; *more*: "
        "against ours. *captured*: tr(UᵀAU)/tr(A), A the true centred kernel matrix of 5 000 rows and U a basis of "
        "their scores; median over the runs, each with a seed of its own (five at 200 000 rows). Not here: nystrompca "
        "1.0.2, which calls Python for every entry of the kernel (by what 4 000 rows take, half an hour and 6 GB at "
        "200 000), and mlpack 4.8.0, whose Nyström kernel PCA takes no more landmarks than X has columns."
    ),
}
COLUMNS = {
    "small": "| case | system | seconds | passes | slower | memory | residual |",
    "large": "| case | system | seconds | passes | slower | memory | residual |",
    "landmark": "| case | system | seconds | than ours | memory | more | captured |",
}


def row(case, system, result, ours):
    """A line of the table; `ours` is what we had on the same case."""
    name, cells = case.name if system == "mercer" else "", landmark_cells if case.by_landmarks else certified_cells
    if "failed" in result:
        return f"| {name} | {system} | failed: {result['failed'][:60]} | | | | |"
    return f"| {' | '.join([name, system, *cells(case, system, result, ours)])} |"


def certified_cells(case, system, result, ours):
    best = min(result["times"])
    ratio = "" if system == "mercer" else f"{best / min(ours['times']):.1f}×"
    memory = f"{result['peak'] / 1e6:.0f} MB ({result['peak'] / (8 * case.n**2):.2g} K)"
    return f"{best:.3g}", f"{best / result['unit']:.1f}", ratio, memory, f"{result['residual']:.0e}"


def landmark_cells(case, system, result, ours):
    seconds, memory = f"{min(result['times']):.3g}", f"{result['peak'] / 1e6:.0f} MB"
    captured = f"{median(result['captured']):.2%}" if result["captured"] else ""
    if system == "mercer" or "failed" in ours:
        return seconds, "", memory, "", captured
    ratio = min(result["times"]) / min(ours["times"])
    if system == BARE:  # it keeps nothing, so that its memory says nothing
        return seconds, f"ours has {ratio:.0%} of its speed", "", "", ""
    return seconds, than_ours(ratio), memory, f"{result['peak'] / ours['peak']:.1f}×", captured


def than_ours(ratio):
    return f"{ratio:.1f}× slower" if ratio >= 1 else f"{1 / ratio:.1f}× faster"


def line(cells, columns):
    """A line of a table with these columns, of which the last may be empty."""
    return f"| {' | '.join([*cells, *[''] * (columns.count('|') - 1 - len(cells))])} |"


def peer(name):
    """ ", name 1.2.3", for the end of a list of versions."""
    try:
        return f", {name} {version(name)}"
    except PackageNotFoundError:
        return f", no {name}"


def opening(title, target, meaning, columns, peers=""):
    """A page as far as the rows of its table: how it came about, what its columns mean, on which machine."""
    return [
        title,
        "",
        f"Written by `make {target}`; do not edit. One process for each line, best of several runs, the "
        f"systems of a case right after each other. {meaning}",
        "",
        f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}{peers}.",
        "",
        columns,
        "|" + "---|" * (columns.count("|") - 1),
    ]


def page(suite, results):
    """The table of all results there are, in the order of the cases."""
    unit = results[next(iter(results))]["mercer"].get("base", 0)
    lines = opening(TITLES[suite], TARGETS[suite], MEANINGS[suite].format(unit * 1000), COLUMNS[suite])
    for case in SUITES[suite]:
        systems = results.get(case.name, {})
        lines += [row(case, system, result, systems["mercer"]) for system, result in systems.items()]
    return "\n".join(lines) + "\n"
