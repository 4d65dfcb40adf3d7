"""`make bench-pca`: linear PCA by every system on every case, one process each.

    python benchmarks/linear.py [--only TEXT] [--scale 0.01]

Writes benchmarks/PCA.md from the figures in pca.json next to it. --only runs the cases whose name contains the text
anew, and leaves the others as they were. --scale shrinks rows and columns to try things out; figures and page go to a
temporary folder then. The systems and their peers are in `linear_systems.py`; `make bench-pca` installs the peers.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np

from linear_cases import BLOCK, CASES, DRAWS, TOPICS
from linear_systems import BATCH, SQUARE
from pages import line, opening, peer, than_ours
from running import HERE, run_alone, run_cases

PEERS = ("scikit-learn-intelex", "dask-ml")
COLUMNS = "| case | system | seconds | than ours | memory | more | error | residual |"
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


def row(case, system, result, ours):
    """A line of the table; `ours` is what we had on the same case."""
    cells = [f"failed: {result['failed'][:60]}"] if "failed" in result else cells_of(case, system, result, ours)
    return line([case.name if system == case.ours else "", system, *cells], COLUMNS)


def cells_of(case, system, result, ours):
    best, memory = min(result["times"]), f"{result['peak'] / 1e6:.0f} MB"
    worst = [f"{result[name]:.0e}" if result.get(name) is not None else "" for name in ("error", "residual")]
    if system == case.ours or "failed" in ours:
        return f"{best:.3g}", "", memory, "", *worst
    ratio = best / min(ours["times"])
    than = f"ours has {ratio:.0%} of its speed" if system == SQUARE else than_ours(ratio)
    return f"{best:.3g}", than, memory, f"{result['peak'] / max(ours['peak'], 1e6):.1f}×", *worst


def page(cases, results):
    """The table of all results there are, in the order of the cases."""
    lines = opening("# Benchmarks: linear PCA", "bench-pca", MEANING, COLUMNS, "".join(map(peer, PEERS)))
    for case in cases:
        systems = results.get(case.name, {})
        lines += [row(case, system, result, systems[case.ours]) for system, result in systems.items()]
    return "\n".join(lines) + "\n"


def measure_case(number, case, scale):
    with TemporaryDirectory() as folder:
        files = [write_rows(case, Path(folder))] if case.file else []
        about = {"n": case.n, "d": case.d, "k": case.k}
        return {
            system: run_alone("linear_measure.py", number, scale, system, *files) | about for system in case.systems
        }


def write_rows(case, folder):
    """The rows of a case in a file, so that the process that is measured never has them all."""
    path = folder / "rows.npy"
    rows = case.make(
        case.n, case.d, lambda shape, dtype: np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    )
    rows.flush()
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    asked = parser.parse_args()
    cases = [case.scaled(asked.scale) for case in CASES]
    folder = HERE if asked.scale == 1 else Path(mkdtemp())

    def report(case, results):
        for system, result in results[case.name].items():
            print(row(case, system, result, results[case.name][case.ours]), flush=True)
        (folder / "PCA.md").write_text(page(cases, results), encoding="utf-8")

    run_cases(
        cases,
        asked.only,
        folder / "pca.json",
        lambda case: measure_case(cases.index(case), case, asked.scale),
        report,
    )
    print(folder / "PCA.md")


if __name__ == "__main__":
    main()
