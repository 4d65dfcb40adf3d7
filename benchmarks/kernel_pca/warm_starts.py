"""What a warm start and a preconditioner are worth: passes over the matrix, and time where it is evaluated anew.

*cold*: block Krylov from a random start. *warm*: from the eigenvectors of a randomly pivoted Cholesky factor.
*preconditioned*: the same, with residuals corrected by the factor as well, where the solver trusts it.
"""

import time
from dataclasses import replace

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.kernel_pca.cases import LARGE_DATA, clustered, median_gamma, swiss_roll
from benchmarks.shared.pages import head, written_by
from benchmarks.shared.spectra import SPECTRA
from benchmarks.shared.suites import Study
from mercer.kernels import RBF
from mercer_old.operators.centering import Centered
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.warm import WarmKrylov
from mercer_old.threads import one_blas_thread

MADE_UP, REAL, ANEW, FEWEST = 1_500, 3_000, 20_000, 600  # rows: made up, real, evaluated anew, for trying things out
ROWS = {
    "clusters, d = 50": clustered,
    "swiss roll": swiss_roll,
    "digits": lambda n: load_digits().data[:n],
    "one Gaussian, d = 10": lambda n: np.random.default_rng(0).normal(size=(n, 10)),
}


def solve(solver, op, k):
    return solver.solve(op, k, np.random.default_rng(0))


def three(op, k, tol, block, rank):
    """Passes of the three ways, with the same block and basis."""
    warm = WarmKrylov(tol=tol, block=block, rank=rank, precondition=False, threads=2)
    cold = BlockKrylov(tol=tol, block=block, threads=2, basis=k + 12 + 10 * block)
    return [solve(solver, op, k).passes for solver in (cold, warm, replace(warm, precondition=True))]


def made_up(name, n):
    values = SPECTRA[name](n)
    Q = np.linalg.qr(np.random.default_rng(7).normal(size=(n, n)))[0]
    return three(HeldMatrix(Q * values @ Q.T), 20, 1e-8, 16, 200)


def real(name, factor, n):
    X = ROWS[name](n)
    return three(Centered(HeldGram(RBF(factor * median_gamma(X)), X, 2)), 20, 1e-4, 20, 260)


def timed(name, k, n):
    """Seconds of the three ways on a matrix that is evaluated anew, rough passes first."""
    X = LARGE_DATA[name](n)
    kernel, block, rank = RBF(median_gamma(X)), min(32, k), max(8 * k + 100, 400)

    class Cold(WarmKrylov):
        def solve(self, op, k, rng, start=None):
            roughly = BlockKrylov(0.5 * self.tol, block, threads=2).solve(op.rough, k, rng)
            start = np.concatenate([roughly.vectors, roughly.spare], axis=1)
            return BlockKrylov(self.tol, block, threads=2).solve(op, k, rng, start)

    times = []
    for kind, precondition in ((Cold, False), (WarmKrylov, False), (WarmKrylov, True)):
        op, start = Centered(RecomputedGram(kernel, X, 2)), time.perf_counter()
        solve(kind(tol=1e-4, block=block, rank=rank, precondition=precondition, threads=2), op, k)
        times.append(time.perf_counter() - start)
    return times


def table(title, rows):
    lines = [f"| {name} | {' | '.join(map(str, cells))} |" for name, cells in rows]
    return [title, "", *head("| | cold | warm | preconditioned |"), *lines, ""]


def write(scale):
    made, drawn, anew = (max(FEWEST, round(n * scale)) for n in (MADE_UP, REAL, ANEW))
    with one_blas_thread():
        lines = ["# Passes over the matrix", "", written_by("warm_starts"), ""]
        lines += table(
            f"Spectra with random eigenvectors: {made:,} rows, 20 components to 10⁻⁸, blocks of 16, 200 pivots.",
            [(name, made_up(name, made)) for name in SPECTRA],
        )
        lines += table(
            "RBF kernels, γ × median squared distance as said: 20 components to 10⁻⁴, blocks of 20, 260 pivots.",
            [(f"{name}, γ × {factor:g}", real(name, factor, drawn)) for name in ROWS for factor in (0.25, 1, 4, 16)],
        )
        lines += table(
            f"Seconds on a matrix evaluated anew: {anew:,} rows, median γ, components to 10⁻⁴.",
            [
                (f"{name}, {k} components", [f"{seconds:.1f}" for seconds in timed(name, k, anew)])
                for name in LARGE_DATA
                for k in (20, 50)
            ],
        )
    return "\n".join(lines), None


STUDY = Study(
    name="warm_starts",
    folder="kernel_pca",
    question="What are a warm start and a preconditioner worth?",
    minutes=3,
    write=write,
)
