"""Locally linear embedding: how exact the answers of all systems on one case are, by the same matrix, as JSON."""

import json
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import spearmanr

from benchmarks.lle.cases import CASES
from benchmarks.lle.systems import ours, true_method
from benchmarks.shared.running import cores
from mercer_old.fits.local.neighborhoods import find_neighborhoods
from mercer_old.operators.alignment import align
from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers.shift_invert import bottom_floor, gaps, norm_of
from mercer_old.spaces.points import Points

THREADS = cores()
REG = 1e-3


def reference(case, X, method):
    """M of a method; its smallest eigenvalues but that of constants, their gaps, and how small a gap is rounding."""
    space, options = Points.of(X), case.options | {"method": method}
    near = find_neighborhoods(space, case.neighbors, THREADS).indices
    M = align(space, near, method, n_components=case.k, reg=REG, modified_tol=1e-12, threads=THREADS)
    op = HeldMatrix(M, THREADS)
    pairs = ours(**options).plan(X).solver.solve(op, case.k, np.random.default_rng(0))
    return M, gaps(np.append(pairs.values, pairs.beyond), np.inf)[: case.k], bottom_floor(norm_of(op))


def worst_residual(M, gap, noise, Y):
    """max ‖Mu − θu‖ over its gap for the columns of Y, θ = uᵀMu, smallest first; None if a gap is rounding."""
    U = Y / np.linalg.norm(Y, axis=0)
    products = M @ U
    theta = np.sum(U * products, axis=0)
    residuals = np.linalg.norm(products - U * theta, axis=0)[np.argsort(theta)]
    return float(np.max(residuals / gap)) if gap.min() > noise else None


def misplaced(case, X, new, found):
    """Largest distance of new points from their weights times the system's own embedding, relative to its extent."""
    Y, near = found["embedding"], KDTree(X).query(new, case.neighbors, workers=THREADS)[1]
    places = np.array([weights(X[some] - row) @ Y[some] for row, some in zip(new, near, strict=True)])
    return float(np.abs(places - found["placed"]).max() / np.abs(Y).max())


def weights(Z):
    """Of neighbours (k×d) as a point sees them: (G + reg·tr(G)·I)w ∝ 1."""
    G = Z @ Z.T
    w = np.linalg.solve(G + REG * np.trace(G) * np.eye(len(G)), np.ones(len(G)))
    return w / w.sum()


def in_order(Y, t):
    """|Spearman's ρ| of the place along the roll with the coordinate that knows it best."""
    return max(abs(float(spearmanr(column, t)[0])) for column in Y.T) if t is not None else None


def main(number, scale, folder):
    warnings.simplefilter("ignore")
    case = CASES[int(number)].scaled(float(scale))
    X, t = case.rows()
    by = cache(lambda method: reference(case, X, method))
    if case.job == "transform":
        new, t = case.rows(seed=1)
    judged = {}
    for path in Path(folder).glob("*.npz"):
        found = np.load(path)
        if case.job == "landmarks":  # no eigenvectors of the matrix of all rows
            exact = {"residual": ""}
        elif case.job == "fit":
            exact = {"residual": worst_residual(*by(true_method(path.stem, case.method)), found["placed"])}
        else:
            exact = {"residual": misplaced(case, X, new, found)}
        judged[path.stem] = exact | {"order": in_order(found["placed"], t)}
    print(json.dumps(judged))


if __name__ == "__main__":
    main(*sys.argv[1:])
