"""Linear PCA beside scikit-learn, scikit-learn-intelex and dask-ml; `make bench SUITE=pca` installs the peers."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.pca.cases import BLOCK, CASES, DRAWS, TOPICS
from benchmarks.pca.systems import BATCH, SQUARE
from benchmarks.shared.pages import than_ours
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Suite

MEANING = (
    "Every case is `fit` with 20 components, until components and variances are known. "
    "*than ours*: time against the first line of the case. "
    "*memory*: peak beyond the data; where rows are in a file, beyond the imports, without pages of the mapped file, "
    "which the system drops when it needs the room. *more*: against ours, of which 1 MB is the least. "
    "*error*: worst relative error of `explained_variance_`, against all eigenvalues in double precision from centred "
    "rows; empty where rows and columns are too many for that. *residual*: worst ‖Sv − λv‖/λ over the components, "
    "S = XcᵀXc from centred rows in double precision, λ the variance that the system says times n − 1. Answers in "
    "single precision have about 1e-7 at best.\n\n"
    "The data: *tall* and *file* are the same correlated normal rows, every column with mean 1; *far from zero* is the "
    "same kind with mean 1 000 000; *wide* and *square* have a power law spectrum, 1/i, and noise; *sparse* rows are "
    f"counts of {DRAWS} draws from two of {TOPICS} topics, about 0.1 % of the entries. The file was written just "
    "before, so that it comes from the page cache if there is room for it, and the disk is not measured.\n\n"
    "*read and one GEMM*: every block read and multiplied by itself in single precision, and nothing else. "
    f"*partial_fit*: batches of {BATCH:,} rows, copied from the mapped file one after the other; `fit` of the same two "
    f"copies the whole file into memory first. dask-ml has blocks of {BLOCK:,} rows; its PCA and IncrementalPCA sketch "
    "at random, without power iterations, unless told otherwise; tsqr does not. scikit-learn's auto is randomized in "
    "the wide case.\n\n"
    "Not here: scikit-learn-intelex in the wide, square and sparse cases, as it has no randomized or arpack solver and "
    "takes no sparse rows, but runs scikit-learn's own code there; dask-ml in any case but the file, as its arrays are "
    "made for rows in pieces; libraries for graphics cards, as this machine has none. A peer that is not installed or "
    "fails says so in its line."
)


def measure(case, number, scale):
    with TemporaryDirectory() as folder:
        files = [write_rows(case, Path(folder))] if case.file else []
        about = {"n": case.n, "d": case.d, "k": case.k}
        return {system: run_alone("pca.measure", number, scale, system, *files) | about for system in case.systems}


def write_rows(case, folder):
    """The rows of a case in a file, so that the process that is measured never has them all."""
    path = folder / "rows.npy"
    rows = case.make(
        case.n, case.d, lambda shape, dtype: np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    )
    rows.flush()
    return path


def cells(case, system, result, ours):
    best, memory = min(result["times"]), f"{result['peak'] / 1e6:.0f} MB"
    worst = [f"{result[name]:.0e}" if result.get(name) is not None else "" for name in ("error", "residual")]
    if system == case.systems[0] or "failed" in ours:
        return f"{best:.3g}", "", memory, "", *worst
    ratio = best / min(ours["times"])
    than = f"ours has {ratio:.0%} of its speed" if system == SQUARE else than_ours(ratio)
    return f"{best:.3g}", than, memory, f"{result['peak'] / max(ours['peak'], 1e6):.1f}×", *worst


PCA = Suite(
    name="pca",
    folder="pca",
    question="How fast, frugal and right is linear PCA, in memory and from a file?",
    minutes=20,
    title="Benchmarks: linear PCA",
    cases=CASES,
    measure=measure,
    columns="| case | system | seconds | than ours | memory | more | error | residual |",
    cells=cells,
    meaning=lambda results: MEANING,
    peers=("scikit-learn-intelex", "dask-ml"),
)
