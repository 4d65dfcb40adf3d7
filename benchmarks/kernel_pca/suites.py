"""Kernel PCA against scikit-learn: matrices that are held, matrices that are not, landmarks."""

from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.kernel_pca.cases import BARE, MAKERS, SUITES
from benchmarks.kernel_pca.yardsticks import ROWS, held_pass, recomputed_pass
from benchmarks.shared.pages import than_ours
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Suite

CERTIFIED = (
    "*passes*: time in units of {}. *slower*: time against ours. *memory*: peak beyond the data, also in Gram matrices "
    "K. *residual*: worst ‖JKJu − ηu‖/η over the components."
)
COLUMNS = "| case | system | seconds | passes | slower | memory | residual |"


def measure(suite, yardstick, case, number, scale):
    """All systems on one case; `base` is the yardstick, if the suite has one, `unit` the yardstick at this size."""
    about = {"n": case.n, "k": case.k, "data": case.data} | yardstick(case)
    with TemporaryDirectory() as folder:
        files = [write_rows(case, Path(folder))] if case.file else []
        return {
            system: run_alone("kernel_pca.measure", suite, number, scale, system, *files) | about
            for system in case.systems
        }


def held(case):
    return {"unit": held_pass(), "base": held_pass()}


def recomputed(case):
    return {"unit": recomputed_pass() * (case.n / ROWS) ** 2, "base": recomputed_pass()}


def write_rows(case, folder):
    """The rows of a case in a file, so that the process that is measured never has them all."""
    X, path = MAKERS[case.data](case.n), folder / f"rows{case.file}"
    if case.file == ".npy":
        np.save(path, X)
    else:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({f"x{j}": column for j, column in enumerate(X.T)}), path)
    return path


def certified_cells(case, system, result, ours):
    best = min(result["times"])
    ratio = "" if system == "mercer" or "failed" in ours else f"{best / min(ours['times']):.1f}×"
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


def passes_of(unit, results):
    """What the columns mean; the yardstick is that of the first case."""
    base = next(iter(next(iter(results.values())).values()))["base"]
    return CERTIFIED.format(unit.format(base * 1000))


Certified = partial(Suite, folder="kernel_pca", columns=COLUMNS, cells=certified_cells)
HELD = Certified(
    name="kernel_pca",
    question="How fast is kernel PCA where the matrix fits, up to 10 000 rows?",
    minutes=10,
    title="Benchmarks: kernel PCA, matrices that are held",
    cases=SUITES["kernel_pca"],
    measure=partial(measure, "kernel_pca", held),
    meaning=partial(passes_of, "a fixed numpy product (5 000×5 000 by 64 columns), {:.0f} ms here"),
)
LARGE = Certified(
    name="large",
    question="And where it does not fit, up to 200 000 rows?",
    minutes=30,
    title="Benchmarks: kernel PCA, matrices that are not held",
    cases=SUITES["large"],
    measure=partial(measure, "large", recomputed),
    meaning=partial(
        passes_of,
        "a fixed numpy pass over the same number of rows (30 features, float32 tiles of the upper triangle, 32 "
        "columns), {:.0f} ms at 20 000 rows here",
    ),
)
LANDMARKS = Suite(
    name="landmarks",
    folder="kernel_pca",
    question="What do landmarks take and see, up to a million rows, beside Nyström and random features?",
    minutes=20,
    title="Benchmarks: kernel PCA, landmarks",
    cases=SUITES["landmarks"],
    measure=partial(measure, "landmarks", lambda case: {}),
    columns="| case | system | seconds | than ours | memory | more | captured |",
    cells=landmark_cells,
    meaning=lambda results: (
        "RBF kernel, γ one over the median squared distance (a hundredth of that for the far cluster), 20 features; "
        "1 000 landmarks or random features for every system (ours ends with fewer if they see enough). "
        "*than ours*: time against ours; for bare kernel blocks, which are evaluated and thrown away, our "
        "share of their speed. *memory*: peak beyond the data, or, where rows are in a file, beyond nothing; *more*: "
        "against ours. *captured*: tr(UᵀAU)/tr(A), A the true centred kernel matrix of 5 000 rows and U a basis of "
        "their scores; median over the runs, each with a seed of its own (five at 200 000 rows). Not here: nystrompca "
        "1.0.2, which calls Python for every entry of the kernel (by what 4 000 rows take, half an hour and 6 GB at "
        "200 000), and mlpack 4.8.0, whose Nyström kernel PCA takes no more landmarks than X has columns."
    ),
)
