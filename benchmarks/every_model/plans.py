"""What plans promise, against what fits take.

Every shape has a process of its own. The plan is made first, from the rows; then the fit is timed (the best of up to
three, if they are quick), and its peak memory looked at. On a busy machine `taskset -c 0` in front gives it one
processor, and the processor's seconds are compared, which say more then than the clock's.
"""

import json
import sys
import time
import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from sklearn.datasets import make_blobs, make_swiss_roll

from benchmarks.shared.peak import give_back
from benchmarks.shared.running import cores, run_alone, timed
from benchmarks.shared.suites import Suite
from mercer import PCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import Laplacian

JOBS = cores()
CLOCK = "cpu" if JOBS == 1 else "wall"
FEWEST = 450  # rows below which --scale does not go
TWICE, QUARTER, SLACK = 2.0, 1.25, 64e6  # times: how far time and memory may be off, and bytes that do not matter
REPEATS, PATIENCE = 3, 3.0  # runs of a shape, and seconds after which there is no other


def blobs(n, d):
    return make_blobs(n, d, centers=8, cluster_std=2.0, random_state=0)[0]


def roll(n, d):
    return make_swiss_roll(n, noise=0.3, random_state=0)[0]


def slow(n, d):
    """Variances that fall like 1/i: a share of them takes many components."""
    return np.random.default_rng(0).normal(size=(n, d)) / np.sqrt(1 + np.arange(d))


def thin(n, d):
    """Few numbers that are not zero, the first columns much larger than the last."""
    flat = sparse.random_array((n, d), density=0.01, format="csr", rng=np.random.default_rng(0))
    return sparse.csr_array(flat @ sparse.diags_array(1 / np.sqrt(1 + np.arange(d))))


@dataclass(frozen=True)
class Shape:
    """One fit: which way it is meant to take, of which rows."""

    way: str
    model: type
    n: int
    d: int
    rows: object = blobs
    options: dict = field(default_factory=dict)

    @property
    def name(self):
        said = ", ".join(f"{name}={value!r}" for name, value in self.options.items() if name != "kernel")
        kernel = f" {self.options['kernel']}" if "kernel" in self.options else ""
        return f"{self.way}: {self.model.__name__}{kernel}, {self.n:,} × {self.d:,}, {said}"

    @property
    def systems(self):
        return ("mercer",)

    def scaled(self, factor):
        """The same with fewer rows, to try things out."""
        return replace(self, n=max(min(self.n, FEWEST), round(self.n * factor)))

    def make(self):
        return self.model(**self.options | dict(n_jobs=JOBS))


def kernel(way, n, d, rows=blobs, **options):
    return Shape(way, KernelPCA, n, d, rows, dict(kernel="rbf", gamma="median") | options)


SHAPES = [
    kernel("LAPACK, few rows", 450, 10, n_components=5),
    kernel("LAPACK, all", 1500, 20, n_components=None),
    kernel("LAPACK, some", 3000, 20, n_components=400),
    kernel("held", 3000, 50, n_components=5),
    kernel("held", 8000, 50, n_components=20),
    kernel("held, many", 5000, 50, n_components=100),
    kernel("held, dear entries", 4000, 20, kernel=Laplacian(0.005), gamma=None, n_components=10),
    kernel("held, a share of few", 5000, 20, n_components=0.9),
    kernel("share of many", 3000, 200, slow, n_components=0.9),
    kernel("recomputed", 20_000, 30, n_components=10),
    kernel("recomputed", 40_000, 10, roll, n_components=20),
    kernel("recomputed, little memory", 8000, 20, n_components=10, memory_limit="200MB"),
    kernel("features", 100_000, 200, kernel="linear", gamma=None, n_components=10),
    kernel("features, wide", 10_000, 2000, slow, kernel="linear", gamma=None, n_components=10),
    kernel("landmarks", 50_000, 20, eigen_solver="landmark", n_components=10),
    kernel("landmarks, few", 200_000, 10, eigen_solver="landmark", n_components=5, n_landmarks=300),
    kernel("landmarks, one pass", 20_000, 20, eigen_solver="landmark", n_components=10, refine=1),
    Shape("rows", PCA, 450, 300, slow, dict(n_components=10)),
    Shape("scatter", PCA, 500_000, 50, slow, dict(n_components=10)),
    Shape("scatter", PCA, 20_000, 1200, slow, dict(n_components=50)),
    Shape("scatter, a share", PCA, 10_000, 1000, slow, dict(n_components=0.9)),
    Shape("gram", PCA, 1000, 20_000, slow, dict(n_components=20)),
    Shape("qr", PCA, 50_000, 200, slow, dict(n_components=10, svd_solver="qr")),
    Shape("products", PCA, 6000, 5000, slow, dict(n_components=20)),
    Shape("products, a share", PCA, 4000, 3000, slow, dict(n_components=0.5)),
    Shape("products, sparse", PCA, 50_000, 5000, thin, dict(n_components=10)),
    Shape("neighbourhoods, surface", LocallyLinearEmbedding, 10_000, 3, roll, dict(n_neighbors=12)),
    Shape("neighbourhoods, solid", LocallyLinearEmbedding, 3000, 20, blobs, dict(n_neighbors=15)),
]


# ---------------------------------------------------------------------- one shape, in a process of its own


def measure(shape):
    """What was planned, and what it took."""
    warnings.simplefilter("ignore")
    X = shape.rows(shape.n, shape.d)
    shape.make().fit(X[:400])  # imports, thread pools, first-call costs
    start = time.process_time()
    plan = shape.make().plan(X)
    planning, walls, cpus, peak = time.process_time() - start, [], [], 0
    while len(walls) < REPEATS and sum(walls) < PATIENCE:
        give_back()
        before = time.process_time()
        model, seconds, used = timed(lambda: shape.make().fit(X))
        cpus.append(time.process_time() - before)
        walls.append(seconds)
        peak = max(peak, used)
    return dict(
        planned=plan.seconds,
        memory=plan.memory,
        planning=planning,
        wall=min(walls),
        cpu=min(cpus),
        peak=peak,
        plan=str(plan),
        found=len(getattr(model, "explained_variance_", getattr(model, "embedding_", np.empty((0, 0))).T)),
    )


# ---------------------------------------------------------------------- the page


def time_is_right(result):
    return result["planned"] is not None and 1 / TWICE <= result["planned"] / result[CLOCK] <= TWICE


def memory_is_right(result):
    planned, peak = result["memory"], result["peak"]
    return abs(planned - peak) <= SLACK or 1 / QUARTER <= planned / peak <= QUARTER


def cells(shape, system, result, ours):
    planned, took = result["planned"], result[CLOCK]
    ratio = "" if planned is None else f"{planned / took:.2f}"
    marks = "" if time_is_right(result) else " **!**", "" if memory_is_right(result) else " **!**"
    return (
        "?" if planned is None else f"{planned:.2g}",
        f"{result['wall']:.2g}",
        f"{result['cpu']:.2g}",
        f"{ratio}{marks[0]}",
        f"{result['memory'] / 1e6:,.0f}",
        f"{result['peak'] / 1e6:,.0f}",
        f"{result['memory'] / max(result['peak'], 1):.2f}{marks[1]}",
        f"{result['found']}",
    )


def summary(results):
    good = [result for systems in results.values() for result in systems.values() if "failed" not in result]
    times, memories = sum(map(time_is_right, good)), sum(map(memory_is_right, good))
    said = f"Time within 2×: {times} of {len(results)}. Memory within 25 % or 64 MB: {memories} of {len(results)}."
    return [f"**{said}**", ""]


SUITE = Suite(
    name="plans",
    folder="every_model",
    question="Do fits take what their plans promise?",
    minutes=5,
    title="Plans against what fits take",
    cases=SHAPES,
    measure=lambda shape, number, scale: {"mercer": run_alone("every_model.plans", number, scale)},
    columns="| shape | planned s | wall s | CPU s | ratio | planned MB | peak MB | ratio | components |",
    cells=cells,
    meaning=lambda results: (
        f"n_jobs={JOBS}. The plan is made from the rows before the fit; its seconds are counts of operations at a "
        "nominal pace, scaled by a few tiles that are timed while it is made. *ratio*: planned against "
        f"{'CPU' if CLOCK == 'cpu' else 'wall'} seconds, and planned against measured peak memory beyond the rows."
    ),
    summary=summary,
)


if __name__ == "__main__":
    print(json.dumps(measure(SHAPES[int(sys.argv[1])].scaled(float(sys.argv[2])))))
