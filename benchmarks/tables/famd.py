"""Mixed tables: factor analysis of mixed data by a kernel of tables and by prince, on the same made-up frames.

python -m benchmarks.tables.famd SYSTEM ROWS    # one of them in a process of its own, as JSON
"""

import json
import sys
import warnings

import numpy as np
import pandas as pd

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.peak import give_back
from benchmarks.shared.running import run_alone, timed
from benchmarks.shared.suites import ALONE, Study
from mercer_old.blocks import cut

ROWS, FEWEST, K, RUNS = (10_000, 100_000, 1_000_000), 300, 5, 3  # rows, the fewest for trying things out, components
NUMBERS, LEVELS = 10, (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)  # columns of numbers, and categories of the others
SOME = 100_000  # rows up to which there are several runs
FEW, COMPANY = 1000, 50  # rows of the first run, which is not measured; rows that are placed once more, by themselves
OURS = "KernelPCA(TableKernel)"
COLUMNS = "| rows | system | seconds | peak MB | than ours | eigenvalues off by | rows placed anew |"


def frame(n):
    """Ten numbers and ten categories, all of which look at the same three hidden numbers."""
    rng = np.random.default_rng(0)
    hidden, columns = rng.normal(size=(n, 3)), {}
    for j in range(NUMBERS):
        columns[f"number {j}"] = hidden @ rng.normal(size=3) + rng.normal(size=n)
    for m in LEVELS:
        looks = hidden @ rng.normal(size=3) + rng.normal(size=n)
        level = np.searchsorted(np.quantile(looks, np.linspace(0, 1, m + 1)[1:-1]), looks)
        columns[f"{m} categories"] = np.array([f"level {i}" for i in range(m)], dtype=object)[level]
    return pd.DataFrame(columns)


def by_kernel(X):
    from mercer import KernelPCA
    from mercer.kernels import TableKernel

    model = KernelPCA(K, kernel=TableKernel.auto(X).with_params(balanced=False))
    scores = model.fit_transform(X)
    return model.eigenvalues_ / len(X), scores, model.transform


def by_prince(X):
    from prince import FAMD

    model = FAMD(n_components=K, random_state=0).fit(X)
    return model.eigenvalues_, np.asarray(model.row_coordinates(X)), lambda X: np.asarray(model.row_coordinates(X))


SYSTEMS = {OURS: by_kernel, "prince FAMD": by_prince}


def true_eigenvalues(X):
    """Of the scatter of standardised numbers and indicators (x − p)/√p, column after column."""
    numbers, names = X.select_dtypes("float"), X.columns[NUMBERS:]
    mean, spread = numbers.mean().to_numpy(), numbers.std(ddof=0).to_numpy()
    labels = {name: np.unique(X[name].to_numpy(str), return_counts=True) for name in names}
    scatter = 0.0
    for rows in cut(len(X), FEW):
        coded = [(numbers.iloc[rows].to_numpy() - mean) / spread]
        for name, (known, counts) in labels.items():
            ones = X[name].iloc[rows].to_numpy(str)[:, None] == known
            coded.append((ones - counts / len(X)) / np.sqrt(counts / len(X)))
        Z = np.hstack(coded)
        scatter = scatter + Z.T @ Z / len(X)
    return np.linalg.eigvalsh(scatter)[::-1][:K]


def measure(system, n):
    """Best of some runs: seconds and memory of a fit and the scores of its rows, and how right they are."""
    warnings.simplefilter("ignore")
    X, run = frame(n), SYSTEMS[system]
    run(frame(min(n, FEW)))
    runs = []
    for _ in range(RUNS if n <= SOME else 1):
        give_back()
        runs.append(timed(run, X))
    (values, scores, place), *_ = runs[0]
    some = place(X.iloc[:COMPANY])
    truth = true_eigenvalues(X)
    return {
        "seconds": min(seconds for _, seconds, _ in runs),
        "peak": max(peak for *_, peak in runs),
        "off": float(np.max(np.abs(values - truth) / truth)),
        "moved": float(np.max(np.abs(some - scores[:COMPANY]) / scores.std(axis=0))),
    }


def cells(result, ours):
    if "failed" in result:
        return [f"failed: {result['failed'][:60]}"]
    times, room = result["seconds"] / ours["seconds"], result["peak"] / ours["peak"]
    than = "" if result is ours else f"{times:.1f}× the time, {room:.1f}× the memory"
    moved = "where they were" if result["moved"] < 1e-9 else f"{result['moved']:.1g} deviations away"
    return [f"{result['seconds']:.2f}", f"{result['peak'] / 1e6:,.0f}", than, f"{result['off']:.0e}", moved]


def write(scale):
    lines, figures = [], {}
    for n in (max(FEWEST, round(n * scale)) for n in ROWS):
        found = {system: run_alone("tables.famd", system, n) for system in SYSTEMS}
        figures[str(n)] = found
        for system, result in found.items():
            first = [f"{n:,}" if system == OURS else "", system]
            lines.append(line([*first, *cells(result, found[OURS])], COLUMNS))
        print(*lines[-2:], sep="\n", flush=True)
    words = [
        written_by("famd"), ALONE, f"{NUMBERS} columns of numbers and {len(LEVELS)} of {LEVELS[0]} to {LEVELS[-1]} "
        f"categories, {K} components: a fit and the scores of its rows, `TableKernel` with `balanced=False`, which is "
        "FAMD. *Peak MB*: beyond the frame. *Eigenvalues off by*: the largest relative error, against those of the "
        "coded table by LAPACK. *Rows placed anew*: how far rows of the fit move, in deviations of the scores, when "
        f"{COMPANY} of them are placed by themselves.",
    ]  # fmt: skip
    text = f"# Mixed tables\n\n{' '.join(words)}\n\n{machine(('prince', 'pandas'))}\n\n"
    return text + "\n".join([*head(COLUMNS), *lines, ""]), figures


STUDY = Study(
    name="famd",
    folder="tables",
    question="What do mixed tables of numbers and categories take, beside prince's FAMD?",
    minutes=3,
    write=write,
)

if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
