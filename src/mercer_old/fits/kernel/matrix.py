"""The kernel matrix in the form a plan names, with words for matrices that are none."""

import numpy as np
from scipy.sparse.linalg import LinearOperator

from mercer_old.arrays import HERE, Home, Matrix
from mercer_old.blocks import cut
from mercer_old.errors import BadData, warn
from mercer_old.fits.training import Training
from mercer_old.kernels import Kernel
from mercer_old.kernels.features import FeatureMap, MadeFeatures
from mercer_old.operators.centering import Centered
from mercer_old.operators.elsewhere import GramElsewhere
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.held import BlackBox, HeldMatrix
from mercer_old.operators.spread_gram import GatheredGram, SpreadGram
from mercer_old.operators.tiles import TILE
from mercer_old.plans.plan import Plan
from mercer_old.progress import OnPass
from mercer_old.rounding import UNIT
from mercer_old.solvers.feature_side import Factored
from mercer_old.symmetric import SymmetricOperator


def build_matrix(
    plan: Plan,
    kernel: Kernel,
    training: Training,
    threads: int,
    on_pass: OnPass = None,
    learned: FeatureMap | None = None,
    home: Home = HERE,
) -> Centered:
    """The centred kernel matrix of the rows, held as the plan says, and at their `home` if the plan says so; `learned`
    maps to features, if it is there."""
    return Centered(_hold(plan, kernel, training, threads, on_pass, learned, home), training.weights)


def _hold(
    plan: Plan,
    kernel: Kernel,
    training: Training,
    threads: int,
    on_pass: OnPass,
    learned: FeatureMap | None,
    home: Home,
) -> SymmetricOperator:
    rows = training.data
    if plan.there:
        return GramElsewhere(kernel, rows, home, plan.held == "gram", threads, on_pass)
    if plan.held == "features":
        learned = learned or kernel.feature_map(rows)
        assert learned is not None
        made = learned.cheap and isinstance(plan.solver, Factored)  # which asks for them a few times
        return FeatureGram(MadeFeatures(learned, rows) if made else learned.features(rows), threads, learned)
    if plan.held == "given" and training.items.is_operator:
        return BlackBox(_symmetric_operator(rows))
    if plan.held == "given":
        K, asymmetry = _symmetric_part(rows, training.items.sparse)
        return HeldMatrix(K, threads, asymmetry)
    if plan.held == "spread":
        assert training.chunks is not None, "a plan for workers has rows on them"
        return SpreadGram(kernel, rows, training.chunks, threads, on_pass=on_pass)
    if plan.held == "gathered":
        assert training.chunks is not None, "a plan for workers has items on them"
        return GatheredGram(kernel, rows, training.chunks, threads, on_pass)
    if plan.held == "recomputed":
        return RecomputedGram(kernel, rows, threads, on_pass=on_pass)
    return HeldGram(kernel, rows, threads, on_pass)


def _symmetric_operator(operator: LinearOperator) -> LinearOperator:
    """The operator, if xᵀAy = yᵀAx for two random vectors: there is no symmetric part to be had from products."""
    x, y = np.random.default_rng(0).standard_normal((2, operator.shape[0], 1))
    Ax, Ay = operator.matmat(x), operator.matmat(y)
    size = float(np.linalg.norm(Ax) * np.linalg.norm(y) + np.linalg.norm(Ay) * np.linalg.norm(x))
    difference = abs(float((x.T @ Ay)[0, 0] - (y.T @ Ax)[0, 0]))
    if difference > 1e-6 * size:
        raise BadData(
            f"The LinearOperator is not symmetric: xᵀAy and yᵀAx differ by {difference:.3g} for random x and y. "
            "A kernel matrix is; check the operator's matvec."
        )
    return operator


def _symmetric_part(K: Matrix, is_sparse: bool) -> tuple[Matrix, float]:
    """K itself if it is symmetric but for rounding, and for how much; else (K + Kᵀ)/2 with a warning that says so."""
    K = K.astype(np.float64, copy=False)
    pieces = [slice(None)] if is_sparse else cut(K.shape[0], TILE)  # by tiles: no second matrix is made
    difference = max(float(abs(K[rows] - K[:, rows].T).max()) for rows in pieces)
    if difference <= 1e-10 * max(float(abs(K[rows]).max()) for rows in pieces):
        return K, difference
    warn(
        f"The precomputed kernel matrix is not symmetric (entries differ by up to {difference:.3g}); "
        "its symmetric part (K + Kᵀ)/2 is used."
    )
    K = (K + K.T) / 2
    return K, UNIT * float(abs(K).max())
