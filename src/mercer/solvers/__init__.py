"""Who finds eigenvectors: of a symmetric matrix that is known by its answers.

Each solver holds settings and no data, and its docstring says which questions of `mercer.symmetric` it asks. What it
returns was measured: values, vectors, residuals and what was seen beyond them. Solvers do not know operators, and judge
nothing: whether a pair was missed is asked by `completeness`, what is proven by `mercer.certificates`.
"""

from mercer.solvers.among import AmongLandmarks
from mercer.solvers.base import (
    Eigenpairs,
    Solver,
    clean_spectrum,
    measured_anew,
    rounding_floor,
    settle,
    settle_pairs,
    signs_by,
)
from mercer.solvers.completeness import PROBES, Rest, explore, explore_by_products, probes_in_words, rule_out_missed
from mercer.solvers.dense import Dense, leading_eigenpairs
from mercer.solvers.factorisations import measure_fill, symmetric_lu
from mercer.solvers.feature_side import Factored, FactoredKrylov
from mercer.solvers.krylov import GUARD, BlockKrylov
from mercer.solvers.landmarks import Landmarks
from mercer.solvers.shift_invert import BottomSolver, DenseBottom, ShiftInvert, bottom_floor, gaps
from mercer.solvers.svd import Svd
from mercer.solvers.warm import WarmKrylov, start_columns

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
