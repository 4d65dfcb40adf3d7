"""Small fits, ours and scikit-learn's, alone and beside two busy processes.

Threads that wait for each other show beside other work: a fit of milliseconds then takes as long as scheduling does.
"""

import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import numpy as np
from sklearn import datasets, decomposition, manifold
from sklearn.preprocessing import StandardScaler

import mercer
from benchmarks.shared.pages import head, machine, written_by
from benchmarks.shared.suites import Study

MOST_RUNS, LEAST_RUNS, SECONDS = 25, 3, 3.0  # of one system on one case: two dozen, or as many as fit into the time
BUSY = 2  # processes
SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@dataclass(frozen=True)
class Case:
    """The same fit by both: the name of the class, its parameters, and the rows."""

    name: str
    model: str
    params: dict
    rows: np.ndarray

    def ours(self):
        return getattr(mercer, self.model)(**self.params)

    def theirs(self):
        home = manifold if self.model == "LocallyLinearEmbedding" else decomposition
        return getattr(home, self.model)(**self.params)


def cases():
    rng = np.random.default_rng(0)
    penguins = rng.normal(size=(333, 4)) + 3 * rng.integers(0, 3, size=(333, 1))
    iris, wine, digits = (
        load(return_X_y=True)[0] for load in (datasets.load_iris, datasets.load_wine, datasets.load_digits)
    )
    wide = rng.normal(size=(700, 30)) @ rng.normal(size=(30, 765)) + rng.normal(size=(700, 765))
    roll = datasets.make_swiss_roll(500, random_state=0)[0]
    scaled = StandardScaler().fit_transform(wine)
    rbf = {"n_components": 3, "kernel": "rbf"}
    return [
        Case("50×4, PCA(2)", "PCA", {"n_components": 2}, penguins[:50]),
        Case("50×4, KernelPCA(3), rbf", "KernelPCA", rbf, penguins[:50]),
        Case("iris 150×4, PCA(2)", "PCA", {"n_components": 2}, iris),
        Case("iris 150×4, KernelPCA(3), rbf", "KernelPCA", rbf, iris),
        Case("as penguins 333×4, KernelPCA(3), rbf", "KernelPCA", rbf, penguins),
        Case("wine 178×13, KernelPCA(3), rbf, inverse", "KernelPCA", rbf | {"fit_inverse_transform": True}, scaled),
        Case("wine 178×13, IncrementalPCA(5)", "IncrementalPCA", {"n_components": 5}, scaled),
        Case("700×765, PCA(50)", "PCA", {"n_components": 50}, wide),
        Case("digits 1797×64, PCA(20)", "PCA", {"n_components": 20}, digits),
        Case("digits 1797×64, KernelPCA(3), rbf", "KernelPCA", rbf | {"gamma": 1e-3}, digits),
        Case("Swiss roll 500×3, LLE(2)", "LocallyLinearEmbedding", {"n_neighbors": 12, "n_components": 2}, roll),
    ]


@contextmanager
def busy(count):
    """So many processes that do nothing, as fast as they can."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def measure(case, scale):
    """Seconds of every run of both, in turns."""
    times = {"ours": [], "theirs": []}
    for make in (case.ours, case.theirs):  # once for what is loaded and started at the first use
        make().fit(case.rows)
    for name, seconds in times.items():
        end = time.perf_counter() + SECONDS * scale
        while len(seconds) < LEAST_RUNS or (len(seconds) < MOST_RUNS and time.perf_counter() < end):
            model = getattr(case, name)()
            start = time.perf_counter()
            model.fit(case.rows)
            seconds.append(time.perf_counter() - start)
    return times


def cells(times):
    """Median and worst of both, and the ratio of the medians."""
    middle = {name: median(seconds) for name, seconds in times.items()}
    shown = [f"{1000 * middle[name]:.3g} ({1000 * max(times[name]):.3g})" for name in ("ours", "theirs")]
    return [*shown, f"{middle['ours'] / middle['theirs']:.2g}"]


def page(alone, beside):
    lines = [
        "# Small fits",
        "",
        f"{written_by('small_fits')} Milliseconds of `fit`: median (worst) of up to "
        f"{MOST_RUNS} runs in one process, ours and scikit-learn's with the threads they take by themselves; *ratio*: "
        f"our median over theirs. *Beside*: {BUSY} other processes use all the cores they can get.",
        "",
        machine(),
        "",
        *head("| fit | alone: mercer | scikit-learn | ratio | beside: mercer | scikit-learn | ratio |"),
    ]
    for name, times in alone.items():
        lines.append(f"| {' | '.join([name, *cells(times), *cells(beside[name])])} |")
    return "\n".join(lines) + "\n"


def write(scale):
    every, tables = cases(), []
    for count in (0, BUSY):
        with busy(count), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of components without a direction of their own, and the like
            tables.append({case.name: measure(case, scale) for case in every})
    return page(*tables), None


STUDY = Study(
    name="small_fits",
    folder="every_model",
    question="Are small fits quick, alone and beside two busy processes?",
    minutes=3,
    write=write,
)
