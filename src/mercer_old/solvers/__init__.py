"""Who finds eigenvectors: of a symmetric matrix that is known by its answers.

Each solver holds settings and no data, and its docstring says which questions of `mercer.symmetric` it asks. What it
returns was measured: values, vectors, residuals and what was seen beyond them. Solvers do not know operators, and judge
nothing: whether a pair was missed is asked by `completeness`, what is proven by `mercer.certificates`.
"""

from mercer_old.solvers.among import AmongLandmarks
from mercer_old.solvers.base import (
    Eigenpairs,
    Solver,
    clean_spectrum,
    measured_anew,
    rounding_floor,
    settle,
    settle_pairs,
    signs_by,
)
from mercer_old.solvers.completeness import PROBES, Rest, explore, explore_by_products, probes_in_words, rule_out_missed
from mercer_old.solvers.dense import Dense, leading_eigenpairs
from mercer_old.solvers.factorisations import measure_fill, symmetric_lu
from mercer_old.solvers.feature_side import Factored, FactoredKrylov
from mercer_old.solvers.krylov import GUARD, BlockKrylov
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.shift_invert import BottomSolver, DenseBottom, ShiftInvert, bottom_floor, gaps
from mercer_old.solvers.svd import Svd
from mercer_old.solvers.warm import WarmKrylov, start_columns

__all__ = [
    "GUARD",
    "PROBES",
    "AmongLandmarks",
    "BlockKrylov",
    "BottomSolver",
    "Dense",
    "DenseBottom",
    "Eigenpairs",
    "Factored",
    "FactoredKrylov",
    "Landmarks",
    "Rest",
    "ShiftInvert",
    "Solver",
    "Svd",
    "WarmKrylov",
    "bottom_floor",
    "clean_spectrum",
    "explore",
    "explore_by_products",
    "gaps",
    "leading_eigenpairs",
    "measure_fill",
    "measured_anew",
    "probes_in_words",
    "rounding_floor",
    "rule_out_missed",
    "settle",
    "settle_pairs",
    "signs_by",
    "start_columns",
    "symmetric_lu",
]
