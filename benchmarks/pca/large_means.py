"""The offset table: how far variances are off when every column has a large mean."""

import numpy as np
from sklearn.decomposition import PCA as Theirs

from benchmarks.shared.pages import written_by
from benchmarks.shared.suites import Study
from mercer import PCA as Ours

ROWS, FEWEST = 20_000, 600  # the latter for trying things out
OFFSETS = 0.0, 1e2, 1e4, 1e6, 1e7, 1e8
SYSTEMS = {
    "scikit-learn, default": lambda: Theirs(),
    'scikit-learn, `svd_solver="full"`': lambda: Theirs(svd_solver="full"),
    "mercer, default": lambda: Ours(),
    'mercer, `svd_solver="krylov"`': lambda: Ours(10, svd_solver="krylov"),
}


def rows(n, digits, smallest=0.01):
    """So many rows of 20 columns, so rounded that adding an offset is exact."""
    rng = np.random.default_rng(0)
    turned = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    X = (rng.normal(size=(n, 20)) * np.geomspace(1, smallest, 20)) @ turned
    return np.round(X * 2**digits) / 2**digits


def worst_error(model, X, truth):
    """The largest relative error of a variance."""
    found = np.asarray(model.fit(X).explained_variance_, dtype=float)
    return float(np.max(np.abs(found / truth[: len(found)] - 1)))


def table(n, dtype, digits, offsets, smallest=0.01):
    X = rows(n, digits, smallest)
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (len(X) - 1)
    lines = ["| mean of the columns | " + " | ".join(f"{offset:.0e}" for offset in offsets) + " |"]
    lines.append("|---" * (len(offsets) + 1) + "|")
    for name, make in SYSTEMS.items():
        cells = [f"{worst_error(make(), (X + offset).astype(dtype), truth):.0e}" for offset in offsets]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write(scale):
    n = max(FEWEST, round(ROWS * scale))
    text = f"""# Large means

Largest relative error of a variance. {n:,} rows of 20 columns, so rounded that adding an offset is exact. So the true
variances are the same in every column of the table.
{written_by("large_means")}

float64, all standard deviations 1:

{table(n, np.float64, 20, OFFSETS, smallest=1.0)}

float64, standard deviations from 1 to 0.01, so that the largest error is that of the smallest variance:

{table(n, np.float64, 20, OFFSETS)}

float32, standard deviations from 1 to 0.01 (rows have four digits after the point in
binary, so that a mean of 1e6 can still be stored exactly):

{table(n, np.float32, 4, OFFSETS[:4])}
"""
    return text, None


STUDY = Study(
    name="large_means",
    folder="pca",
    question="How far off are variances when every column has a large mean?",
    minutes=1,
    write=write,
)
